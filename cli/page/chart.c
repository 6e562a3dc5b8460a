#include "page/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "page/assets.h"
#include "page/html.h"

enum { WIDTH = 400, HEIGHT = 240, LETTER = 7, EDGE = 10, FOOT = 38, HEAD = 40, SCALE_FOOT = 30 };

static const double largest = 1e300; /* so that the length of a range is finite */

/* ---- making ---- */

static double *make_values(size_t count)
{
    double *values = malloc((count + 1) * sizeof *values);
    for (size_t i = 0; values && i < count; i++) values[i] = NAN;
    return values;
}

cli_chart *cli_charts_add(cli_charts *charts, const char *id, const char *heading, size_t count)
{
    if (charts->count == CLI_CHARTS_MAX) return NULL;
    cli_chart *chart = &charts->items[charts->count];
    *chart = (cli_chart){.id = id, .heading = heading, .words = "", .count = count, .width = WIDTH, .height = HEIGHT};
    chart->x = chart->y = (cli_axis){.name = "", .of = "", .range = {NAN, NAN}};
    chart->at = make_values(count);
    if (!chart->at) return NULL;
    charts->count++;
    return chart;
}

const cli_chart *cli_charts_find(const cli_charts *charts, const char *id)
{
    for (size_t i = 0; i < charts->count; i++)
        if (strcmp(charts->items[i].id, id) == 0) return &charts->items[i];
    return NULL;
}

double *cli_chart_series(cli_chart *chart, const char *name, cli_mark mark, int colour)
{
    if (chart->series_count == CLI_SERIES_MAX) return NULL;
    cli_series *series = &chart->series[chart->series_count];
    *series = (cli_series){.name = name, .mark = mark, .colour = colour, .values = make_values(chart->count)};
    if (series->values) chart->series_count++;
    return series->values;
}

double *cli_chart_low(cli_chart *chart)
{
    return chart->series[chart->series_count - 1].low = make_values(chart->count);
}

void cli_charts_clear(cli_charts *charts)
{
    for (size_t i = 0; i < charts->count; i++) {
        cli_chart *chart = &charts->items[i];
        for (size_t j = 0; j < chart->series_count; j++) {
            free(chart->series[j].values);
            free(chart->series[j].low);
        }
        free(chart->at);
        free(chart->tags);
    }
    charts->count = 0;
}

/* ---- ranges ---- */

static int has_place(double value, int log_scale)
{
    return isfinite(value) && fabs(value) <= largest && (!log_scale || value > 0);
}

static void widen(double range[2], const double *values, size_t count, int log_scale)
{
    for (size_t i = 0; values && i < count; i++) {
        if (!has_place(values[i], log_scale)) continue;
        if (!(values[i] >= range[0])) range[0] = values[i]; /* also where the range is not known yet */
        if (!(values[i] <= range[1])) range[1] = values[i];
    }
}

/* Room around the figures; a single one stands in the middle. */
static void loosen(double range[2], int log_scale)
{
    double size = fmax(fabs(range[0]), fabs(range[1])), room = 0.04 * (range[1] - range[0]);
    if (log_scale) {
        range[0] /= 1.15;
        range[1] *= 1.15;
        return;
    }
    if (range[1] - range[0] <= 1e-12 * size || size < 1 / largest) room = size > 1e-290 ? 0.1 * size : 0.5;
    range[0] -= room;
    range[1] += room;
}

static void find_range(double out[2], const cli_chart *chart, int upward)
{
    const cli_axis *axis = upward ? &chart->y : &chart->x;
    int bars = 0;
    double found[2] = {NAN, NAN};
    if (!upward) widen(found, chart->at, chart->count, axis->log);
    for (size_t i = 0; upward && i < chart->series_count; i++) {
        widen(found, chart->series[i].values, chart->count, axis->log);
        widen(found, chart->series[i].low, chart->count, axis->log);
        bars |= chart->series[i].mark == CLI_BARS;
    }
    if (bars) widen(found, (const double[]){0}, 1, axis->log);
    if (isnan(found[0])) found[0] = found[1] = 1;
    out[0] = found[0];
    out[1] = found[1];
    loosen(out, axis->log);
    if (bars && found[0] == 0) out[0] = 0;
    for (int end = 0; end < 2; end++)
        if (has_place(axis->range[end], axis->log)) out[end] = axis->range[end];
    if (!(out[1] > out[0])) out[1] = axis->log ? 10 * out[0] : out[0] + 1;
}

/* ---- ticks ---- */

static size_t even_ticks(double out[CLI_TICKS_MAX], double *step, const double range[2], int whole, size_t most)
{
    static const double heads[] = {1, 2, 5, 10};
    double least = (range[1] - range[0]) / (double)most, unit = pow(10, floor(log10(least)));
    if (whole && unit < 1) unit = 1;
    *step = 0;
    for (size_t i = 0; i < 4 && !(*step >= least * (1 - 1e-9)); i++) *step = heads[i] * unit;
    if (!(*step > 0) || !isfinite(*step)) return 0;
    double first = ceil(range[0] / *step - 1e-9), last = floor(range[1] / *step + 1e-9);
    size_t count = 0;
    for (; first + (double)count <= last && count < CLI_TICKS_MAX; count++)
        out[count] = (first + (double)count) * *step;
    return count;
}

/* 1, 2 and 5 times powers of ten, or powers alone where these are too many. */
static size_t log_ticks(double out[CLI_TICKS_MAX], const double range[2])
{
    static const double heads[] = {1, 2, 5};
    size_t count = 0;
    double decades = log10(range[1]) - log10(range[0]), last = floor(log10(range[1]));
    if (!isfinite(decades)) return 0;
    double step = decades > 8 ? ceil(decades / 6) : 1;
    double power = floor(log10(range[0]));
    while (power <= last) {
        for (int i = 0; i < (decades > 3 ? 1 : 3); i++) {
            double tick = heads[i] * pow(10, power);
            if (tick >= range[0] && tick <= range[1] && count < CLI_TICKS_MAX) out[count++] = tick;
        }
        power += step;
    }
    return count;
}

size_t cli_ticks(double out[CLI_TICKS_MAX], double *out_step, const double range[2], const cli_axis *axis, size_t most)
{
    *out_step = 0;
    if (axis->tick_count) memcpy(out, axis->ticks, axis->tick_count * sizeof *out);
    size_t count = axis->tick_count ? axis->tick_count : axis->log ? log_ticks(out, range) : 0;
    return count > 1 || axis->tick_count ? count : even_ticks(out, out_step, range, axis->whole, most);
}

const char *cli_tick_text(char out[CLI_TICK_TEXT], double value, double step)
{
    double size = fabs(value);
    if (size < 1e-6 * step) value = 0;
    double digits = step > 0 ? fmin(fmax(floor(log10(size) + 1e-9) - floor(log10(step) + 1e-9) + 1, 1), 15) : 4;
    int decimals = (int)broad__whole(ceil(-log10(step) - 1e-9), 15);
    if (value == 0) snprintf(out, CLI_TICK_TEXT, "0");
    else if (step > 0 && size >= 1e-4 && size < 1e6) snprintf(out, CLI_TICK_TEXT, "%.*f", decimals, value);
    else snprintf(out, CLI_TICK_TEXT, "%.*g", (int)broad__whole(digits, 15), value);
    char *exponent = strchr(out, 'e');
    if (exponent) snprintf(exponent + 1, 8, "%ld", strtol(exponent + 1, NULL, 10)); /* 1e-05: 1e-5 */
    return out;
}

/* ---- the frame ---- */

typedef struct frame {
    cli_output *output;
    const cli_chart *chart;
    double left, right, top, bottom, x[2], y[2], spacing; /* spacing: least distance of two figures, in pixels */
    size_t x_count, y_count;
    double x_ticks[CLI_TICKS_MAX], y_ticks[CLI_TICKS_MAX], x_step, y_step;
} frame;

/* Part of the way along an axis; NaN: no place on it. */
static double part_of(const cli_axis *axis, const double range[2], double value)
{
    if (!has_place(value, axis->log)) return NAN;
    double part = axis->log ? (log(value) - log(range[0])) / (log(range[1]) - log(range[0]))
                            : (value - range[0]) / (range[1] - range[0]);
    return part >= -1e-9 && part <= 1 + 1e-9 ? part : NAN;
}

static double x_of(const frame *f, double value)
{
    return f->left + (f->right - f->left) * part_of(&f->chart->x, f->x, value);
}

static double y_of(const frame *f, double value)
{
    return f->bottom - (f->bottom - f->top) * part_of(&f->chart->y, f->y, value);
}

static size_t longest(const double *ticks, size_t count, double step)
{
    char text[CLI_TICK_TEXT];
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(cli_tick_text(text, ticks[i], step));
        if (length > most) most = length;
    }
    return most;
}

/* As many ticks as their texts have room for. */
static void choose_ticks(frame *f)
{
    const cli_chart *chart = f->chart;
    f->y_count = cli_ticks(f->y_ticks, &f->y_step, f->y, &chart->y, 7);
    f->left = fmin(EDGE + LETTER * (double)longest(f->y_ticks, f->y_count, f->y_step) + 4, chart->width / 2);
    for (size_t most = 8; most > 0; most--) {
        f->x_count = cli_ticks(f->x_ticks, &f->x_step, f->x, &chart->x, most);
        size_t letters = longest(f->x_ticks, f->x_count, f->x_step) + 2;
        f->right = chart->width - EDGE - LETTER * (double)(letters - 2) / 2;
        if (LETTER * (double)(letters * f->x_count) <= f->right - f->left) return;
    }
}

/* Both axes in the same unit, the figures in the middle. */
static void even_out(frame *f)
{
    double wide = f->right - f->left, tall = f->bottom - f->top;
    double unit = fmax(fmax(f->x[1] - f->x[0], 5) / (wide - 2 * EDGE), fmax(f->y[1] - f->y[0], 5) / (tall - 2 * EDGE));
    double middle[2] = {f->x[0] / 2 + f->x[1] / 2, f->y[0] / 2 + f->y[1] / 2};
    for (int end = 0; end < 2; end++) {
        f->x[end] = middle[0] + (end - 0.5) * unit * wide;
        f->y[end] = middle[1] + (end - 0.5) * unit * tall;
    }
}

static frame make_frame(cli_output *output, const cli_chart *chart)
{
    frame f = {.output = output, .chart = chart, .right = chart->width, .bottom = chart->height};
    find_range(f.x, chart, 0);
    find_range(f.y, chart, 1);
    if (chart->map) {
        f.bottom -= SCALE_FOOT;
        even_out(&f);
    } else if (!chart->bare) {
        f.top = EDGE;
        f.bottom -= *chart->x.name ? FOOT : FOOT / 2;
        choose_ticks(&f);
    }
    f.spacing = f.right - f.left;
    for (size_t i = 1; i < chart->count; i++) {
        double gap = fabs(x_of(&f, chart->at[i]) - x_of(&f, chart->at[i - 1]));
        if (gap > 0 && gap < f.spacing) f.spacing = gap;
    }
    return f;
}

void cli_axis_name(cli_output *output, const cli_axis *axis)
{
    cli_html_text(output, axis->name);
    if (*axis->of) cli_html_put(output, " of ");
    cli_html_text(output, axis->of);
}

static void put_axes(const frame *f)
{
    char text[CLI_TICK_TEXT];
    cli_output *to = f->output;
    for (size_t i = 0; i < f->y_count; i++) {
        double y = y_of(f, f->y_ticks[i]);
        if (isnan(y)) continue;
        cli_output_print(to, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", f->left, y, f->right);
        cli_output_print(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", f->left - 6, y + 4,
                         cli_tick_text(text, f->y_ticks[i], f->y_step));
    }
    for (size_t i = 0; i < f->x_count; i++) {
        double x = x_of(f, f->x_ticks[i]);
        if (isnan(x)) continue;
        cli_output_print(to, "<path class=\"axis\" d=\"M%.1f %.1fv4\"/>", x, f->bottom);
        cli_output_print(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", x, f->bottom + 16,
                         cli_tick_text(text, f->x_ticks[i], f->x_step));
    }
    cli_output_print(to, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", f->left, f->top, f->bottom, f->right);
    if (!*f->chart->x.name) return;
    cli_output_print(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", f->left / 2 + f->right / 2,
                     f->bottom + 33);
    cli_axis_name(to, &f->chart->x);
    cli_html_put(to, "</text>\n");
}

/* A length of 1, 2 or 5 times a power of ten that fills a quarter of the map at most, and where north is. */
static void put_scale_bar(const frame *f)
{
    double unit = (f->right - f->left) / (f->x[1] - f->x[0]), room = f->right / 4 / unit;
    double power = pow(10, floor(log10(room))), y = f->chart->height - 10;
    double metres = room >= 5 * power ? 5 * power : room >= 2 * power ? 2 * power : power;
    cli_output_print(f->output, "<path class=\"axis\" d=\"M%d %.1fv6h%.1fv-6\"/>\n", EDGE, y - 6, metres * unit);
    cli_output_print(f->output, "<text x=\"%.1f\" y=\"%.1f\">%g %s</text>\n", EDGE + metres * unit + 8, y,
                     metres >= 1000 ? metres / 1000 : metres, metres >= 1000 ? "km" : "m");
    cli_output_print(f->output,
                     "<path class=\"arrow\" d=\"M%.1f %.1fl6 20l-6 -5l-6 5z\"/><text x=\"%.1f\" y=\"%.1f\" "
                     "text-anchor=\"middle\">N</text>\n",
                     f->right - 24, y - 16, f->right - 44, y);
}

/* ---- marks ---- */

static const char *dashes(const cli_series *series)
{
    return series->mark == CLI_DASHED ? " dashed" : series->mark == CLI_DOTTED ? " dotted" : "";
}

static void put_line(const frame *f, const cli_series *series)
{
    int drawing = 0;
    double half = series->mark == CLI_STEPS ? f->spacing / 2 : 0;
    cli_output_print(f->output, "<path class=\"line%s\" d=\"", dashes(series));
    for (size_t i = 0; i < f->chart->count; i++) {
        double x = x_of(f, f->chart->at[i]), y = y_of(f, series->values[i]);
        int there = !isnan(x) && !isnan(y);
        if (there) cli_output_print(f->output, "%c%.1f %.1f", drawing ? 'L' : 'M', x - half, y);
        if (there && half > 0) cli_output_print(f->output, "H%.1f", x + half);
        drawing = there;
    }
    cli_html_put(f->output, "\"/>\n");
}

/* Forth along the upper edge and back along the lower one, once for each run without a gap. */
static void put_band(const frame *f, const cli_series *series)
{
    const cli_chart *chart = f->chart;
    for (size_t first = 0, end; first < chart->count; first = end + 1) {
        for (end = first; end < chart->count && !isnan(x_of(f, chart->at[end])) &&
                          !isnan(y_of(f, series->values[end])) && !isnan(y_of(f, series->low[end]));)
            end++;
        if (end == first) continue;
        cli_html_put(f->output, "<polygon class=\"band\" points=\"");
        for (size_t i = first; i < end; i++)
            cli_output_print(f->output, "%.1f,%.1f ", x_of(f, chart->at[i]), y_of(f, series->values[i]));
        for (size_t i = end; i-- > first;)
            cli_output_print(f->output, "%.1f,%.1f ", x_of(f, chart->at[i]), y_of(f, series->low[i]));
        cli_html_put(f->output, "\"/>\n");
    }
}

/* What belongs to one mark: its colour, its text, where it leads. */
static void open_mark(const frame *f, size_t index, const char *element)
{
    const cli_tag *tag = f->chart->tags ? &f->chart->tags[index] : NULL;
    if (tag && tag->linked) cli_output_print(f->output, "<a href=\"#p%zu\">", tag->number);
    cli_html_put(f->output, element);
    if (tag) cli_output_print(f->output, " class=\"k%d\"", tag->colour);
}

static void close_mark(const frame *f, size_t index, const char *element, double value)
{
    const cli_tag *tag = f->chart->tags ? &f->chart->tags[index] : NULL;
    if (!tag) {
        cli_html_put(f->output, "/>\n");
        return;
    }
    cli_html_put(f->output, "><title>");
    if (tag->number) cli_output_print(f->output, "%zu: ", tag->number);
    if (tag->text) cli_html_text(f->output, tag->text);
    else cli_output_print(f->output, "%g", value);
    cli_output_print(f->output, "</title></%s>%s\n", element, tag->linked ? "</a>" : "");
}

/* From the last to the first: what comes first in the data is on top. */
static void put_points(const frame *f, const cli_series *series)
{
    double radius = f->chart->map ? 5 : series->mark == CLI_LINE_POINTS ? 3 : 2;
    for (size_t i = f->chart->count; i-- > 0;) {
        double x = x_of(f, f->chart->at[i]), y = y_of(f, series->values[i]);
        if (isnan(x) || isnan(y)) continue;
        open_mark(f, i, "<circle");
        cli_output_print(f->output, " cx=\"%.1f\" cy=\"%.1f\" r=\"%g\"", x, y, radius);
        close_mark(f, i, "circle", series->values[i]);
    }
}

static void put_bars(const frame *f, const cli_series *series)
{
    double base = y_of(f, fmax(f->y[0], 0)), width = fmin(0.8 * f->spacing, 40);
    for (size_t i = 0; i < f->chart->count; i++) {
        double x = x_of(f, f->chart->at[i]), y = y_of(f, series->values[i]);
        if (isnan(x) || isnan(y) || isnan(base) || series->values[i] == 0) continue;
        double tall = fmax(fabs(base - y), 1.5); /* one among thousands is seen */
        open_mark(f, i, "<rect");
        cli_output_print(f->output, " x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"1\"", x - width / 2,
                         y <= base ? base - tall : base, width, tall);
        close_mark(f, i, "rect", series->values[i]);
    }
}

static void put_series(const frame *f, const cli_series *series)
{
    cli_output_print(f->output, "<g class=\"k%d\">\n", series->colour);
    if (series->mark == CLI_BARS) put_bars(f, series);
    else if (series->mark == CLI_BAND && series->low) put_band(f, series);
    else if (series->mark != CLI_POINTS) put_line(f, series);
    if (series->mark == CLI_POINTS || series->mark == CLI_LINE_POINTS) put_points(f, series);
    cli_html_put(f->output, "</g>\n");
}

/* Cells of a class as runs, row by row. */
static void put_cells(const frame *f)
{
    size_t side = f->chart->cell_side;
    for (unsigned char class_number = 0; side && class_number < 2; class_number++) {
        cli_output_print(f->output, "<path class=\"k%d region\" transform=\"scale(%.6f %.6f)\" d=\"", 7 + class_number,
                         f->right / (double)side, f->bottom / (double)side);
        for (size_t row = 0; row < side; row++)
            for (size_t column = 0, end; column < side; column = end + 1) {
                for (end = column; end < side && f->chart->cells[row * side + end] == class_number;) end++;
                if (end > column)
                    cli_output_print(f->output, "M%zu %zuh%zuv1h-%zuz", column, row, end - column, end - column);
            }
        cli_html_put(f->output, "\"/>\n");
    }
}

static void put_body(const frame *f)
{
    const cli_chart *chart = f->chart;
    if (chart->bare || chart->map)
        cli_output_print(f->output, "<rect class=\"ground\" width=\"%.1f\" height=\"%.1f\"/>\n", f->right, f->bottom);
    else put_axes(f);
    put_cells(f);
    for (size_t i = 0; i < chart->start_count; i++)
        if (!isnan(x_of(f, chart->starts[i])))
            cli_output_print(f->output, "<path class=\"start\" d=\"M%.1f %.1fV%.1f\"/>\n", x_of(f, chart->starts[i]),
                             f->top, f->bottom);
    double low = fmax(f->x[0], f->y[0]), high = fmin(f->x[1], f->y[1]);
    if (chart->diagonal && low < high)
        cli_output_print(f->output, "<path class=\"same\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", x_of(f, low), y_of(f, low),
                         x_of(f, high), y_of(f, high));
    for (size_t i = 0; i < chart->series_count; i++) put_series(f, &chart->series[i]);
    if (chart->map) put_scale_bar(f);
}

/* ---- the picture ---- */

/* Of each series how many figures it has, and from where to where they go. */
static void put_description(cli_output *output, const cli_chart *chart)
{
    for (size_t i = 0; i < chart->series_count; i++) {
        const cli_series *series = &chart->series[i];
        double range[2] = {NAN, NAN};
        size_t count = 0;
        widen(range, series->values, chart->count, 0);
        for (size_t j = 0; j < chart->count; j++) count += isfinite(series->values[j]) != 0;
        cli_html_text(output, series->name);
        cli_output_print(output, ": %zu value%s", count, count == 1 ? "" : "s");
        if (count && !chart->map) cli_output_print(output, " from %.4g to %.4g", range[0], range[1]);
        cli_html_put(output, i + 1 < chart->series_count ? "; " : "");
    }
    if (*chart->x.name) cli_html_put(output, ", by ");
    cli_axis_name(output, &chart->x);
}

void cli_chart_svg(cli_output *output, const cli_chart *chart)
{
    frame f = make_frame(output, chart);
    cli_output_print(output,
                     "<svg class=\"chart\" viewBox=\"0 0 %g %g\" role=\"img\" aria-labelledby=\"%s-title\" "
                     "aria-describedby=\"%s-desc\">\n<title id=\"%s-title\">",
                     chart->width, chart->height, chart->id, chart->id, chart->id);
    cli_html_text(output, chart->heading);
    cli_output_print(output, "</title><desc id=\"%s-desc\">", chart->id);
    put_description(output, chart);
    cli_html_put(output, "</desc>\n");
    put_body(&f);
    cli_html_put(output, "</svg>\n");
}

/* Within the upper right corner. */
static void put_key(const frame *f)
{
    size_t letters = 0;
    for (size_t i = 0; i < f->chart->series_count; i++)
        letters = (size_t)fmax((double)letters, (double)strlen(f->chart->series[i].name));
    double x = f->right - LETTER * (double)letters - 40, y = f->top + 8;
    for (size_t i = 0; i < f->chart->series_count; i++) {
        const cli_series *series = &f->chart->series[i];
        if (!*series->name) continue;
        y += 20;
        cli_output_print(f->output, "<path class=\"line k%d%s\" d=\"M%.1f %.1fh30\"/><text x=\"%.1f\" y=\"%.1f\">",
                         series->colour, dashes(series), x, y - 4, x + 38, y);
        cli_html_text(f->output, series->name);
        cli_html_put(f->output, "</text>\n");
    }
}

void cli_charts_picture(cli_output *output, const cli_charts *charts, const char *title)
{
    double width = HEAD, height = 0, x = HEAD;
    for (size_t i = 0; i < charts->count; i++) {
        width += charts->items[i].width + HEAD;
        height = fmax(height, charts->items[i].height + 2.5 * HEAD);
    }
    cli_output_print(output,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 %g %g\" width=\"%g\" "
                     "height=\"%g\" role=\"img\" font-family=\"sans-serif\">\n<title>",
                     width, height, width, height);
    cli_html_text(output, title);
    cli_html_put(output, "</title>\n<style>\n");
    cli_html_put(output, cli_asset_colours_css);
    cli_html_put(output, cli_asset_chart_css);
    cli_output_print(output, "</style>\n<rect class=\"paper\" width=\"%g\" height=\"%g\" rx=\"10\"/>\n", width, height);
    for (size_t i = 0; i < charts->count; i++) {
        const cli_chart *chart = &charts->items[i];
        frame f = make_frame(output, chart);
        cli_output_print(output, "<text class=\"heading\" x=\"%g\" y=\"%d\">", x, HEAD);
        cli_html_text(output, chart->heading);
        cli_output_print(output, "</text>\n<svg x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\">\n", x, 1.5 * HEAD,
                         chart->width, chart->height);
        put_body(&f);
        put_key(&f);
        cli_html_put(output, "</svg>\n");
        x += chart->width + HEAD;
    }
    cli_html_put(output, "</svg>\n");
}
