#include "page/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page/html.h"

enum { WIDTH = 440, HEIGHT = 250, FONT = 12, TICS_MOST = 40 };

/* Of lines and areas by number; 4 is the ink of axes, 5 the grid, 7 lines upwards. */
const char *const cli_plot_style[] = {
    ":root{--k1:#1d747c;--k2:#b8391f;--k3:#8a6210;--k6:#b9d6d8}\n",
    "@media (prefers-color-scheme:dark){:root{--k1:#63bfc6;--k2:#f2785f;--k3:#dcb24f;--k6:#2c5358}}\n",
    "@media print{:root{--k1:#1d747c;--k2:#b8391f;--k3:#8a6210;--k6:#b9d6d8}}\n",
    "svg.plot{background:none}svg.plot text{font-size:12px}\n",
    ".k1,.k2,.k3,.k4,.k5,.k6{fill:none;stroke-linejoin:round}\n",
    ".k1{stroke:var(--k1)}.k2{stroke:var(--k2)}.k3{stroke:var(--k3)}.k4{stroke:var(--soft)}\n",
    ".k5{stroke:var(--line);stroke-dasharray:none}\n",
    ".k7{stroke:var(--soft);fill:none;stroke-dasharray:2,4}\n",
    ".k6{stroke:var(--k6)}.f1{fill:var(--k1)}.f2{fill:var(--k2)}.f3{fill:var(--k3)}.f4{fill:var(--soft)}\n",
    ".f6{fill:var(--k6)}\n",
    ".charts figure h3{margin-bottom:4px}\n",
    ".legend{display:flex;flex-wrap:wrap;gap:2px 16px;margin:0 0 6px;padding:0;list-style:none;font-size:.875rem;\n",
    "color:var(--soft)}\n",
    ".legend li{display:flex;align-items:center;gap:6px;margin:0}\n",
    ".legend i{display:block;width:20px;border-top:3px solid}\n",
    ".legend .points i{width:8px;height:8px;border:0;border-radius:50%;background:currentColor}\n",
    ".legend .bars i{width:12px;height:12px;border:0;background:currentColor}\n",
    ".legend .dashed i{border-top-style:dashed}.legend .dotted i{border-top-style:dotted}\n",
    ".l1 i{color:var(--k1)}.l2 i{color:var(--k2)}.l3 i{color:var(--k3)}.l4 i{color:var(--soft)}\n",
    ".l6 i{color:var(--k6)}\n",
    "summary{cursor:pointer;color:var(--link);font-size:.875rem;margin-top:6px}\n",
    ".tall{max-height:26em;overflow:auto}figure th{white-space:normal}\n",
    ".tall thead th{position:sticky;top:0;background:var(--paper);z-index:1}\n",
    "@media print{.tall{max-height:none;overflow:visible}}\n",
    0,
};

/* ---- making ---- */

static double *make_values(size_t count)
{
    double *values = malloc((count + 1) * sizeof *values);
    for (size_t i = 0; values && i < count; i++) values[i] = NAN;
    return values;
}

cli_plot *cli_plots_add(cli_plots *plots, const char *id, const char *heading, size_t count)
{
    if (plots->count == CLI_PLOTS_MAX) return NULL;
    cli_plot *plot = &plots->items[plots->count];
    *plot = (cli_plot){.id = id,
                       .heading = heading,
                       .words = "",
                       .count = count,
                       .x = make_values(count),
                       .x_range = {NAN, NAN},
                       .y_range = {NAN, NAN}};
    if (!plot->x) return NULL;
    plots->count++;
    return plot;
}

double *cli_plot_series(cli_plot *plot, const char *name, cli_mark mark, int colour)
{
    if (plot->series_count == CLI_SERIES_MAX) return NULL;
    cli_series *series = &plot->series[plot->series_count];
    *series = (cli_series){.name = name, .mark = mark, .colour = colour, .values = make_values(plot->count)};
    if (series->values) plot->series_count++;
    return series->values;
}

void cli_plots_clear(cli_plots *plots)
{
    for (size_t i = 0; i < plots->count; i++) {
        cli_plot *plot = &plots->items[i];
        for (size_t j = 0; j < plot->series_count; j++) free(plot->series[j].values);
        free(plot->x);
        free(plot->svg);
    }
    plots->count = 0;
}

/* ---- axes ---- */

static void widen(double range[2], const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) continue;
        if (!(values[i] >= range[0])) range[0] = values[i]; /* also where the range is not known yet */
        if (!(values[i] <= range[1])) range[1] = values[i];
    }
}

static void find_range(double out[2], const cli_plot *plot, int y)
{
    double found[2] = {NAN, NAN};
    const double *given = y ? plot->y_range : plot->x_range;
    if (!y) widen(found, plot->x, plot->count);
    for (size_t i = 0; y && i < plot->series_count; i++) widen(found, plot->series[i].values, plot->count);
    if (isnan(found[0])) found[0] = found[1] = 1;
    double room = plot->log_y && y ? 0 : 0.04 * (found[1] - found[0]);
    if (!(found[1] > found[0])) room = plot->log_y && y ? 0 : fmax(0.5, 0.1 * fabs(found[0]));
    out[0] = isnan(given[0]) ? found[0] - room : given[0];
    out[1] = isnan(given[1]) ? found[1] + room : given[1];
    if (!(plot->log_y && y)) return;
    out[0] /= 1.15;
    out[1] *= 1.15;
}

/* The least of 1, 2, 5, 10, ... that cuts a length into eight pieces at most. */
static double whole_step(double length)
{
    static const double heads[] = {1, 2, 5};
    double unit = 1;
    while (length / unit > 80) unit *= 10;
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        if (length / (heads[i] * unit) <= 8) return heads[i] * unit;
    return 10 * unit;
}

static void put_tic_list(FILE *script, const double *tics, size_t count)
{
    fprintf(script, "set ytics (");
    for (size_t i = 0; i < count; i++) fprintf(script, "%s%.9g", i ? "," : "", tics[i]);
    fprintf(script, ")\n");
}

/* 1, 2 and 5 times powers of ten, or powers alone where these are too many. */
static void put_log_tics(FILE *script, const double range[2])
{
    static const double heads[] = {1, 2, 5};
    double tics[TICS_MOST];
    size_t count = 0;
    double decades = log10(range[1] / range[0]);
    int step = decades > 8 ? (int)ceil(decades / 6) : 1, last = (int)floor(log10(range[1]));
    for (int power = (int)floor(log10(range[0])); power <= last; power += step)
        for (int i = 0; i < (decades > 2.2 ? 1 : 3); i++) {
            double tic = heads[i] * pow(10, power);
            if (tic >= range[0] && tic <= range[1] && count < TICS_MOST) tics[count++] = tic;
        }
    if (count) put_tic_list(script, tics, count);
}

static void put_axes(FILE *script, const cli_plot *plot)
{
    double x[2], y[2];
    find_range(x, plot, 0);
    find_range(y, plot, 1);
    fprintf(script, "set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\n", x[0], x[1], y[0], y[1]);
    if (plot->log_y) fprintf(script, "set logscale y\n");
    if (plot->y_tic_count) put_tic_list(script, plot->y_tics, plot->y_tic_count);
    else if (plot->log_y) put_log_tics(script, y);
    if (plot->whole_y) fprintf(script, "set ytics %.9g\n", whole_step(y[1] - y[0]));
    if (plot->whole) fprintf(script, "set xtics %.9g\n", whole_step(x[1] - x[0]));
    for (size_t i = 0; i < plot->start_count; i++)
        fprintf(script, "set arrow from %.9g, graph 0 to %.9g, graph 1 nohead lc rgb '#000007'\n", plot->starts[i],
                plot->starts[i]);
    fprintf(script, "set xlabel '%s' offset 0,0.6 textcolor rgb '#000004'\n", plot->x_name);
}

/* ---- the script ---- */

static void put_data(FILE *script, const cli_plot *plot)
{
    fprintf(script, "$figures << EOD\n");
    for (size_t i = 0; i < plot->count; i++) {
        fprintf(script, "%.9g", plot->x[i]);
        for (size_t j = 0; j < plot->series_count; j++) {
            double value = plot->series[j].values[i];
            if (isfinite(value)) fprintf(script, " %.9g", value);
            else fprintf(script, " NaN");
        }
        fprintf(script, "\n");
    }
    fprintf(script, "EOD\n");
}

static void put_script(FILE *script, const cli_plot *plot)
{
    static const char *const marks[] = {
        [CLI_LINE] = "lines lw 2",
        [CLI_DASHED] = "lines lw 2 dt (7,4)",
        [CLI_DOTTED] = "lines lw 2 dt (2,3)",
        [CLI_POINTS] = "points pt 7 ps 0.45",
        [CLI_LINE_POINTS] = "linespoints lw 2 pt 7 ps 0.6",
        [CLI_BARS] = "boxes",
    };
    fprintf(script,
            "reset\nset encoding utf8\nset terminal svg size %d,%d dynamic font 'sans-serif,%d' noenhanced\n"
            "unset key\nset border 3 lc rgb '#000004'\nset tics nomirror scale 0.5 textcolor rgb '#000004'\n"
            "set format '%%g'\nset grid noxtics ytics lc rgb '#000005' lw 1 dt solid\n"
            "set samples 2\nset style fill solid noborder\nset boxwidth 0.7 relative\nset lmargin at screen 0.14\n"
            "set rmargin at screen 0.965\nset tmargin at screen 0.97\nset bmargin at screen 0.17\n",
            WIDTH, HEIGHT, FONT);
    put_axes(script, plot);
    put_data(script, plot);
    fprintf(script, "plot ");
    if (plot->diagonal) fprintf(script, "x with lines lw 1 dt (4,3) lc rgb '#000004', ");
    for (size_t j = 0; j < plot->series_count; j++)
        fprintf(script, "%s$figures using 1:%zu with %s lc rgb '#00000%d'", j ? ", " : "", j + 2,
                marks[plot->series[j].mark], plot->series[j].colour);
    fprintf(script, "\n");
}

static char *make_script(const cli_plots *plots)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *script = open_memstream(&text, &bytes);
    if (!script) return NULL;
    for (size_t i = 0; i < plots->count; i++) put_script(script, &plots->items[i]);
    if (fclose(script) == 0) return text;
    free(text);
    return NULL;
}

/* All or none. */
static int take_pictures(cli_plots *plots, const char *svg, char why[CLI_GNUPLOT_WHY])
{
    size_t taken = 0;
    while (taken < plots->count && cli_svg_take(&plots->items[taken].svg, &svg)) taken++;
    if (taken == plots->count) return 1;
    for (size_t i = 0; i < taken; i++) {
        free(plots->items[i].svg);
        plots->items[i].svg = NULL;
    }
    snprintf(why, CLI_GNUPLOT_WHY, "what gnuplot made of picture %zu cannot be used", taken + 1);
    return 0;
}

int cli_plots_draw(cli_plots *plots, char why[CLI_GNUPLOT_WHY])
{
    char *svg = NULL, *script = NULL;
    why[0] = 0;
    if (plots->count == 0) return 1;
    script = make_script(plots);
    if (!script) snprintf(why, CLI_GNUPLOT_WHY, "out of memory");
    int done = script && cli_gnuplot_run(&svg, why, script) && take_pictures(plots, svg, why);
    free(script);
    free(svg);
    return done;
}

/* ---- on the page ---- */

static void put_legend(cli_output *output, const cli_plot *plot)
{
    static const char *const classes[] = {
        [CLI_LINE] = "",          [CLI_DASHED] = " dashed",      [CLI_DOTTED] = " dotted",
        [CLI_POINTS] = " points", [CLI_LINE_POINTS] = " points", [CLI_BARS] = " bars",
    };
    cli_html_put(output, "<ul class=\"legend\">");
    for (size_t i = 0; i < plot->series_count; i++) {
        const cli_series *series = &plot->series[i];
        cli_output_print(output, "<li class=\"l%d%s\"><i></i>", series->colour, classes[series->mark]);
        cli_html_text(output, series->name);
        cli_html_put(output, "</li>");
    }
    if (plot->diagonal) cli_html_put(output, "<li class=\"l4 dashed\"><i></i>where both are the same</li>");
    cli_html_put(output, "</ul>\n");
}

static void put_cell(cli_output *output, double value)
{
    if (isfinite(value)) cli_output_print(output, "<td class=\"n\">%.6g</td>", value);
    else cli_html_put(output, "<td class=\"n\"></td>");
}

static void put_table(cli_output *output, const cli_plot *plot)
{
    cli_html_put(output, "<div class=\"scroll tall\"><table>\n<thead><tr><th scope=\"col\" class=\"n\">");
    cli_html_text(output, plot->x_name);
    cli_html_put(output, "</th>");
    for (size_t j = 0; j < plot->series_count; j++) {
        cli_html_put(output, "<th scope=\"col\" class=\"n\">");
        cli_html_text(output, plot->series[j].name);
        cli_html_put(output, "</th>");
    }
    cli_html_put(output, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < plot->count; i++) {
        if (isnan(plot->x[i])) continue;
        cli_html_put(output, "<tr>");
        put_cell(output, plot->x[i]);
        for (size_t j = 0; j < plot->series_count; j++) put_cell(output, plot->series[j].values[i]);
        cli_html_put(output, "</tr>\n");
    }
    cli_html_put(output, "</tbody>\n</table></div>\n");
}

static void put_picture(cli_output *output, const cli_plot *plot)
{
    put_legend(output, plot);
    cli_output_print(output,
                     "<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"%s-title\">\n"
                     "<title id=\"%s-title\">",
                     WIDTH, HEIGHT, plot->id, plot->id);
    cli_html_text(output, plot->heading);
    cli_html_put(output, "</title>\n");
    cli_html_put(output, plot->svg);
    cli_html_put(output, "</svg>\n");
}

void cli_plot_put(cli_output *output, const cli_plots *plots, const char *id)
{
    const cli_plot *plot = NULL;
    for (size_t i = 0; i < plots->count; i++)
        if (strcmp(plots->items[i].id, id) == 0) plot = &plots->items[i];
    if (!plot) return;
    cli_output_print(output, "<figure id=\"%s\">\n<h3>", id);
    cli_html_text(output, plot->heading);
    cli_html_put(output, "</h3>\n");
    if (plot->svg) put_picture(output, plot);
    else put_table(output, plot);
    cli_html_put(output, "<figcaption>");
    cli_html_put(output, plot->words);
    if (plot->start_count)
        cli_html_put(output, " A vertical line marks where the network was grown in another way, or on "
                             "further rows.");
    cli_html_put(output, "</figcaption>\n");
    if (plot->svg && !plot->points_only) {
        cli_html_put(output, "<details><summary>The same as a table</summary>\n");
        put_table(output, plot);
        cli_html_put(output, "</details>\n");
    }
    cli_html_put(output, "</figure>\n");
}
