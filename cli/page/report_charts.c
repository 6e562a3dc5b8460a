#include "page/report_charts.h"

#include <math.h>
#include <stdlib.h>

#include "base/common.h"
#include "message.h"

enum { BINS = 20, SHADES = 5, FIRST_SHADE = 10, NEUTRAL = 1 };

static int no_memory(void) { return cli_fail(BROAD_NO_MEMORY, "out of memory: no room for the charts of a report"); }

/* The class of its colour, from good to bad, at a place between the least and the largest. */
static int shade(double part)
{
    static const double limits[SHADES - 1] = {0.2, 1 - CLI_CERTAIN, CLI_CERTAIN, 0.8};
    int found = 0;
    while (found < SHADES - 1 && part >= limits[found]) found++;
    return FIRST_SHADE + found;
}

/* What the charts are of: probabilities, which go from 0 to 1, else scores or values, which go as far as they go. */
typedef struct extent {
    double least, largest;
} extent;

static extent extent_of(const cli_findings *all)
{
    if (all->probabilities || all->count == 0) return (extent){0, 1};
    extent found = {NAN, NAN};
    for (size_t i = 0; i < all->count; i++) {
        double rank = all->items[i].rank;
        if (!isfinite(rank)) continue;
        found.least = fmin(found.least, rank);
        found.largest = fmax(found.largest, rank);
    }
    if (isnan(found.least)) return (extent){0, 1};
    if (found.largest <= found.least) found.largest = found.least + fmax(1, 1e-9 * fabs(found.least));
    return found;
}

static double part_of(extent range, double value) { return (value - range.least) / (range.largest - range.least); }

/* ---- histogram ---- */

static void count_ranks(double out[BINS], const cli_findings *all, extent range)
{
    for (size_t i = 0; i < BINS; i++) out[i] = 0;
    for (size_t i = 0; i < all->count; i++) {
        double place = floor(part_of(range, all->items[i].rank) * BINS);
        if (isfinite(place)) out[broad__whole(place, BINS - 1)]++;
    }
}

/* Of two classes the one that is not normal has a name. */
static void name_axis(cli_axis *axis, const cli_findings *all)
{
    int two = all->classes && broad_model_outputs(all->model) == 2;
    if (!all->classes) axis->name = broad_model_output_name(all->model, 0);
    else if (all->probabilities) axis->name = two ? "probability" : "probability that something is wrong";
    else axis->name = two ? "lead" : "lead of the classes that mean something is wrong";
    if (two) axis->of = broad_model_output_name(all->model, 1 - broad_model_normal(all->model));
}

static int add_histogram(cli_charts *charts, const cli_findings *all, extent range)
{
    cli_chart *chart = cli_charts_add(charts, "histogram", "Photos by value", BINS);
    double *counts = chart ? cli_chart_series(chart, "photos", CLI_BARS, NEUTRAL) : NULL;
    if (!counts || !(chart->tags = calloc(BINS, sizeof *chart->tags))) return no_memory();
    count_ranks(counts, all, range);
    double width = (range.largest - range.least) / BINS;
    for (size_t i = 0; i < BINS; i++) {
        chart->at[i] = range.least + ((double)i + 0.5) * width;
        chart->tags[i].colour = shade(((double)i + 0.5) / BINS);
    }
    chart->x.range[0] = range.least;
    chart->x.range[1] = range.largest;
    name_axis(&chart->x, all);
    chart->y.whole = 1;
    if (all->classes) chart->heading = all->probabilities ? "Photos by probability" : "Photos by score";
    chart->words = all->probabilities ? "histogram" : "histogram-values";
    return BROAD_OK;
}

/* ---- map ---- */

static const double degree_metres = 111320;

/* So that places on both sides of the date line lie together. */
static double turn(double degrees) { return degrees - 360 * floor((degrees + 180) / 360); }

/* Metres east and north of the first place. Good to a part in a thousand over some ten kilometres: a sketch needs no more. */
static int add_map(cli_charts *charts, const cli_findings *all, extent range)
{
    const broad_photo *first = NULL;
    cli_chart *chart = cli_charts_add(charts, "map", "Where the photos were taken", all->count);
    double *north = chart ? cli_chart_series(chart, "photos", CLI_POINTS, NEUTRAL) : NULL;
    if (!north || !(chart->tags = calloc(all->count, sizeof *chart->tags))) return no_memory();
    for (size_t i = 0; i < all->count; i++) {
        const broad_photo *photo = all->items[i].photo;
        if (!cli_finding_has_place(&all->items[i])) continue;
        if (!first) first = photo;
        double shrink = fmax(cos(first->latitude * M_PI / 180), 0.01);
        chart->at[i] = turn(photo->longitude - first->longitude) * shrink * degree_metres;
        north[i] = (photo->latitude - first->latitude) * degree_metres;
        chart->tags[i] = (cli_tag){
            .colour = shade(part_of(range, all->items[i].rank)), .number = i + 1, .linked = 1, .text = photo->name};
    }
    chart->map = chart->untabled = 1;
    chart->words = "map";
    return BROAD_OK;
}

int cli_report_charts(cli_charts *out, const cli_findings *findings)
{
    extent range = extent_of(findings);
    int status = add_histogram(out, findings, range);
    return status || !findings->places ? status : add_map(out, findings, range);
}
