#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "page/html.h"
#include "page/report_html.h"

int cli_report_shade(double part)
{
    static const double limits[] = {0.2, 1 - CLI_CERTAIN, CLI_CERTAIN, 0.8};
    int shade = 0;
    while (shade < 4 && part >= limits[shade]) shade++;
    return shade;
}

/* What the drawings are of: probabilities, which go from 0 to 1, else scores or values, which go as far as they go. */
typedef struct extent {
    double least, largest;
} extent;

static extent extent_of(const cli_findings *all)
{
    if (all->probabilities || all->count == 0) return (extent){0, 1};
    extent found = {all->items[all->count - 1].rank, all->items[0].rank}; /* worst first */
    if (found.largest <= found.least) found.largest = found.least + 1;
    return found;
}

static double part_of(extent range, double value) { return (value - range.least) / (range.largest - range.least); }

/* ---- histogram ---- */

enum { BINS = 20, CHART_WIDTH = 420, CHART_HEIGHT = 210, LEFT = 36, RIGHT = 12, TOP = 12, BOTTOM = 40 };

/* A round number, with a half that is whole, that is at least `count`. */
static size_t round_up(size_t count)
{
    static const size_t few[] = {2, 4, 6, 8}, steps[] = {10, 12, 16, 20, 30, 40, 50, 60, 80};
    for (size_t i = 0; i < sizeof few / sizeof few[0]; i++)
        if (few[i] >= count) return few[i];
    for (size_t unit = 1;; unit *= 10)
        for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
            if (steps[i] * unit >= count) return steps[i] * unit;
}

static void put_bars(cli_output *output, const size_t counts[BINS], size_t most)
{
    double width = (double)(CHART_WIDTH - LEFT - RIGHT) / BINS, height = CHART_HEIGHT - TOP - BOTTOM;
    for (size_t i = 0; i < BINS; i++) {
        double tall = height * (double)counts[i] / (double)most;
        if (counts[i] == 0) continue;
        if (tall < 1.5) tall = 1.5; /* one photo among thousands is seen */
        cli_output_print(output,
                         "<rect class=\"c%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"1\">"
                         "<title>%zu</title></rect>\n",
                         cli_report_shade(((double)i + 0.5) / BINS), LEFT + (double)i * width + 1,
                         CHART_HEIGHT - BOTTOM - tall, width - 2, tall, counts[i]);
    }
}

static void put_axes(cli_output *output, extent range, size_t most)
{
    int floor_y = CHART_HEIGHT - BOTTOM;
    for (int i = 0; i <= 2; i++) {
        double y = floor_y - (double)(floor_y - TOP) * i / 2;
        cli_output_print(output,
                         "<path class=\"axis\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT,
                         y, CHART_WIDTH - RIGHT, LEFT - 6, y + 4);
        cli_html_count(output, most * (size_t)i / 2);
        cli_output_print(output, "</text>\n");
    }
    for (int i = 0; i <= 4; i++) {
        double part = i / 4.0, x = LEFT + part * (CHART_WIDTH - LEFT - RIGHT);
        cli_output_print(output, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%.3g</text>\n", x, floor_y + 16,
                         i == 4 ? "end" : "middle", range.least + part * (range.largest - range.least));
    }
}

static void put_axis_title(cli_output *output, const cli_findings *all)
{
    cli_output_print(output, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", LEFT + (CHART_WIDTH - LEFT - RIGHT) / 2,
                     CHART_HEIGHT - 6);
    if (!all->classes) cli_html_text(output, broad_model_output_name(all->model, 0));
    else {
        cli_output_print(output, all->probabilities ? "probability of " : "score of ");
        cli_html_text(output, broad_model_output_name(all->model, broad_model_positive(all->model)));
    }
    cli_output_print(output, "</text>\n");
}

void cli_report_histogram(cli_output *output, const cli_findings *findings)
{
    size_t counts[BINS] = {0}, most = 1;
    extent range = extent_of(findings);
    for (size_t i = 0; i < findings->count; i++) {
        double place = floor(part_of(range, findings->items[i].rank) * BINS);
        counts[place < 0 ? 0 : place >= BINS ? BINS - 1 : (size_t)place]++;
    }
    for (size_t i = 0; i < BINS; i++)
        if (counts[i] > most) most = counts[i];
    most = round_up(most);
    cli_output_print(
        output, "<figure><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Histogram: number of photos by %s\">\n",
        CHART_WIDTH, CHART_HEIGHT, findings->probabilities ? "probability" : "value");
    put_axes(output, range, most);
    put_bars(output, counts, most);
    put_axis_title(output, findings);
    cli_output_print(output, "</svg>\n");
    if (findings->probabilities)
        cli_output_print(output, "<figcaption>Number of photos by probability. Two heaps at the ends are good; "
                                 "photos in the middle are those to look at.</figcaption>");
    else cli_output_print(output, "<figcaption>Number of photos by what the model gives.</figcaption>");
    cli_output_print(output, "</figure>\n");
}

/* ---- map ---- */

enum { MAP_WIDTH = 420, MAP_HEIGHT = 260, MAP_EDGE = 20, MAP_FOOT = 30 };

/* Metres east and north of a place. Good to a part in a thousand over some ten kilometres, which a sketch need not be. */
typedef struct sketch {
    double latitude, longitude; /* of the middle */
    double east_metres;         /* of a degree of longitude there */
    double scale;               /* pixels a metre */
} sketch;

static const double degree_metres = 111320;

/* So that places on both sides of the date line lie together. */
static double turn(double degrees) { return degrees - 360 * floor((degrees + 180) / 360); }

static sketch survey(const cli_findings *all)
{
    double first = NAN, west = INFINITY, east = -INFINITY, south = INFINITY, north = -INFINITY;
    for (size_t i = 0; i < all->count; i++) {
        const broad_photo *photo = all->items[i].photo;
        if (!cli_finding_has_place(&all->items[i])) continue;
        if (isnan(first)) first = photo->longitude;
        double away = turn(photo->longitude - first);
        west = fmin(west, away);
        east = fmax(east, away);
        south = fmin(south, photo->latitude);
        north = fmax(north, photo->latitude);
    }
    sketch found = {.latitude = (south + north) / 2, .longitude = first + (west + east) / 2};
    found.east_metres = degree_metres * fmax(cos(found.latitude * M_PI / 180), 0.01);
    double wide = fmax((east - west) * found.east_metres, 5), tall = fmax((north - south) * degree_metres, 5);
    found.scale = fmin((MAP_WIDTH - 2 * MAP_EDGE) / wide, (MAP_HEIGHT - MAP_FOOT - 2 * MAP_EDGE) / tall);
    return found;
}

static void put_place(cli_output *output, const cli_report_page *page, const sketch *map, size_t index, double part)
{
    const broad_photo *photo = page->findings->items[index].photo;
    double x = MAP_WIDTH / 2.0 + turn(photo->longitude - map->longitude) * map->east_metres * map->scale;
    double y = (MAP_HEIGHT - MAP_FOOT) / 2.0 - (photo->latitude - map->latitude) * degree_metres * map->scale;
    int linked = index < page->card_count;
    if (linked) cli_output_print(output, "<a href=\"#p%zu\">", index + 1);
    cli_output_print(output,
                     "<circle class=\"c%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"><title>%zu: ", cli_report_shade(part), x, y,
                     index + 1);
    cli_html_text(output, photo->name);
    cli_output_print(output, "</title></circle>%s\n", linked ? "</a>" : "");
}

/* A length of 1, 2 or 5 times a power of ten that fills a quarter of the sketch at most. */
static void put_scale_bar(cli_output *output, const sketch *map)
{
    double room = MAP_WIDTH / 4.0 / map->scale, unit = pow(10, floor(log10(room)));
    double metres = room >= 5 * unit ? 5 * unit : room >= 2 * unit ? 2 * unit : unit, y = MAP_HEIGHT - 10;
    cli_output_print(output, "<path class=\"ink\" d=\"M%d %.1fv6h%.1fv-6\"/>\n", MAP_EDGE, y - 6, metres * map->scale);
    cli_output_print(output, "<text x=\"%.1f\" y=\"%.1f\">%g %s</text>\n", MAP_EDGE + metres * map->scale + 8, y,
                     metres >= 1000 ? metres / 1000 : metres, metres >= 1000 ? "km" : "m");
}

void cli_report_map(cli_output *output, const cli_report_page *page)
{
    const cli_findings *all = page->findings;
    sketch map = survey(all);
    extent range = extent_of(all);
    size_t placed = 0;
    cli_output_print(output,
                     "<figure class=\"map\"><svg viewBox=\"0 0 %d %d\" role=\"img\" "
                     "aria-label=\"Sketch of where the photos were taken\">\n",
                     MAP_WIDTH, MAP_HEIGHT);
    cli_output_print(output, "<rect class=\"plot\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n", MAP_WIDTH,
                     MAP_HEIGHT - MAP_FOOT);
    for (size_t i = all->count; i-- > 0;) { /* the worst come last, on top */
        if (!cli_finding_has_place(&all->items[i])) continue;
        put_place(output, page, &map, i, part_of(range, all->items[i].rank));
        placed++;
    }
    put_scale_bar(output, &map);
    cli_output_print(output,
                     "<path class=\"arrow\" d=\"M%d %dl6 20l-6 -5l-6 5z\"/><text x=\"%d\" y=\"%d\" "
                     "text-anchor=\"middle\">N</text>\n",
                     MAP_WIDTH - 24, MAP_HEIGHT - 26, MAP_WIDTH - 44, MAP_HEIGHT - 10);
    cli_output_print(
        output,
        "</svg>\n<figcaption>Where %zu of %zu photos were taken, north up, by the coordinates in the files; "
        "the colours are those of the histogram.</figcaption></figure>\n",
        placed, all->count);
}
