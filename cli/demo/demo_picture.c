/* Two panels of SVG on a ground of their own, so that they read the same on a light and on a dark page. */
#include <math.h>
#include <stdlib.h>

#include "demo/demo.h"
#include "io/output.h"

enum { CELLS = 150, PANEL = 420, MARGIN = 60, TOP = 64, GAP = 90 };

static const char *const region_colours[2] = {"#dbe9f8", "#fbe3cd"};
static const char *const point_colours[2] = {"#1f5f9e", "#c4570c"};
static const char *const line_colours[DEMO_NETWORKS] = {"#6b6b6b", "#0b7a4b"};
static const char *const line_dashes[DEMO_NETWORKS] = {"5 3", "none"};

/* Class of the model at each cell's centre, row by row from the top. */
static int classify_cells(unsigned char *out, const broad_model *model, double extent)
{
    double *x = malloc(sizeof(double) * CELLS * CELLS * 2), *scores = malloc(sizeof(double) * CELLS * CELLS * 2);
    int status = x && scores ? BROAD_OK : cli_fail(BROAD_NO_MEMORY, "out of memory: no room for the picture");
    for (size_t i = 0; !status && i < CELLS * CELLS; i++) {
        size_t row = i / CELLS, column = i % CELLS;
        x[2 * i] = extent * (2 * ((double)column + 0.5) / CELLS - 1);
        x[2 * i + 1] = extent * (1 - 2 * ((double)row + 0.5) / CELLS);
    }
    if (!status) status = broad_predict(scores, model, x, CELLS * CELLS, 2);
    for (size_t i = 0; !status && i < CELLS * CELLS; i++)
        out[i] = (unsigned char)broad_best_class(model, &scores[2 * i]);
    free(x);
    free(scores);
    return status;
}

/* The second class as runs of cells over a ground of the first one's colour. */
static void put_regions(cli_output *to, const unsigned char *cells)
{
    cli_output_print(to, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", MARGIN, TOP, PANEL,
                     PANEL, region_colours[0]);
    cli_output_print(
        to, "<g transform=\"translate(%d %d) scale(%.6f)\"><path fill=\"%s\" shape-rendering=\"crispEdges\" d=\"",
        MARGIN, TOP, (double)PANEL / CELLS, region_colours[1]);
    for (int row = 0; row < CELLS; row++) {
        for (int column = 0; column < CELLS;) {
            int end = column;
            while (end < CELLS && cells[row * CELLS + end] == 1) end++;
            if (end > column) cli_output_print(to, "M%d %dh%dv1h-%dz", column, row, end - column, end - column);
            column = end + 1;
        }
    }
    cli_output_print(to, "\"/></g>\n");
}

static void put_points(cli_output *to, const broad_data *data, double extent)
{
    for (size_t class_number = 0; class_number < 2; class_number++) {
        cli_output_print(to, "<g fill=\"%s\">\n", point_colours[class_number]);
        for (size_t i = 0; i < broad_data_rows(data); i++) {
            const double *row = broad_data_row(data, i);
            if (broad_data_class(data, i) != class_number) continue;
            cli_output_print(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.7\"/>\n",
                             MARGIN + PANEL * (row[0] / extent + 1) / 2, TOP + PANEL * (1 - row[1] / extent) / 2);
        }
        cli_output_print(to, "</g>\n");
    }
}

typedef struct curve_axes {
    double left, lowest; /* lowest: common logarithm at the bottom of the panel */
    size_t layers;
} curve_axes;

static double norm_after(const broad_model *model, size_t layers)
{
    broad_layer layer = {.size = sizeof layer};
    double first = broad_model_layer(&layer, model, 0) ? 1 : layer.norm_before;
    if (layers == 0 || first <= 0 || broad_model_layer(&layer, model, layers - 1)) return 1;
    return layer.norm_after / first;
}

static curve_axes choose_axes(const demo_network networks[DEMO_NETWORKS])
{
    curve_axes axes = {MARGIN + PANEL + GAP, -0.5, 1};
    for (size_t i = 0; i < DEMO_NETWORKS; i++) {
        size_t layers = broad_model_layers(networks[i].model);
        double low = log10(fmax(norm_after(networks[i].model, layers), 1e-6));
        if (layers > axes.layers) axes.layers = layers;
        if (low < axes.lowest) axes.lowest = low;
    }
    axes.lowest = floor(axes.lowest * 10) / 10;
    return axes;
}

static double curve_x(const curve_axes *axes, double layer)
{
    return axes->left + PANEL * layer / (double)axes->layers;
}

static double curve_y(const curve_axes *axes, double norm)
{
    return TOP + PANEL * log10(fmax(norm, 1e-6)) / axes->lowest;
}

static void put_axes(cli_output *to, const curve_axes *axes)
{
    static const double ticks[] = {1, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001};
    cli_output_print(to, "<rect x=\"%.0f\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#888\"/>\n",
                     axes->left, TOP, PANEL, PANEL);
    for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++) {
        double y = curve_y(axes, ticks[i]);
        if (y > TOP + PANEL) continue;
        cli_output_print(
            to,
            "<path d=\"M%.0f %.1fh%d\" stroke=\"#ddd\"/><text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
            axes->left, y, PANEL, axes->left - 6, y + 4, ticks[i]);
    }
    size_t step = (axes->layers + 4) / 5;
    for (size_t layer = 0; layer <= axes->layers; layer += step)
        cli_output_print(to, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%zu</text>\n",
                         curve_x(axes, (double)layer), TOP + PANEL + 18, layer);
    cli_output_print(to, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">layers</text>\n", axes->left + PANEL / 2.0,
                     TOP + PANEL + 36);
}

static void put_curve(cli_output *to, const curve_axes *axes, const demo_network *network, size_t index)
{
    size_t layers = broad_model_layers(network->model);
    cli_output_print(to, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2.2\" stroke-dasharray=\"%s\" points=\"",
                     line_colours[index], line_dashes[index]);
    for (size_t i = 0; i <= layers; i++)
        cli_output_print(to, "%.1f,%.1f ", curve_x(axes, (double)i), curve_y(axes, norm_after(network->model, i)));
    double y = TOP + 24 + 22 * (double)index, x = axes->left + PANEL - 262;
    cli_output_print(to, "\"/>\n<path d=\"M%.0f %.0fh30\" stroke=\"%s\" stroke-width=\"2.2\" stroke-dasharray=\"%s\"/>",
                     x, y - 4, line_colours[index], line_dashes[index]);
    cli_output_print(to, "<text x=\"%.0f\" y=\"%.0f\">%s, %zu layers, accuracy %.3f</text>\n", x + 38, y, network->name,
                     layers, network->accuracy);
}

static void put_picture(cli_output *to, const demo_network networks[DEMO_NETWORKS], const broad_data *shown,
                        const unsigned char *cells, double extent)
{
    int width = 2 * (MARGIN + PANEL) + GAP - 20, height = TOP + PANEL + 60;
    curve_axes axes = choose_axes(networks);
    cli_output_print(to,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
                     "font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n",
                     width, height, width, height);
    cli_output_print(to,
                     "<title>Two spirals: decision regions and the norm of the residual</title>\n"
                     "<rect width=\"%d\" height=\"%d\" rx=\"10\" fill=\"#ffffff\" stroke=\"#bbbbbb\"/>\n",
                     width, height);
    cli_output_print(to, "<text x=\"%d\" y=\"36\" font-size=\"16\">What %s decides, with rows it never saw</text>\n",
                     MARGIN, networks[DEMO_NETWORKS - 1].name);
    put_regions(to, cells);
    put_points(to, shown, extent);
    cli_output_print(
        to,
        "<text x=\"%.0f\" y=\"36\" font-size=\"16\">Norm of the training residual, relative to the targets</text>\n",
        axes.left);
    put_axes(to, &axes);
    for (size_t i = 0; i < DEMO_NETWORKS; i++) put_curve(to, &axes, &networks[i], i);
    cli_output_print(to, "</svg>\n");
}

int demo_write_picture(const char *path, const demo_network networks[DEMO_NETWORKS], const broad_data *shown,
                       double extent)
{
    cli_output output;
    unsigned char *cells = calloc(CELLS, CELLS);
    if (!cells) return cli_fail(BROAD_NO_MEMORY, "out of memory: no room for the picture");
    int status = classify_cells(cells, networks[DEMO_NETWORKS - 1].model, extent);
    if (!status) {
        status = cli_output_open(&output, path);
        if (!status) put_picture(&output, networks, shown, cells, extent);
        status = cli_output_close(&output);
    }
    free(cells);
    return status;
}
