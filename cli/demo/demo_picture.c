/* Two charts on a ground of their own: decision regions, and the norm after each layer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "demo/demo_picture.h"
#include "io/output.h"
#include "page/chart.h"

enum { CELLS = 150, PANEL = 420, LEFT_CLASS = 7, LAST_LINE = 1, OTHER_LINES = 4 };

static int no_memory(void) { return cli_fail(BROAD_NO_MEMORY, "out of memory: no room for the picture"); }

/* Class of the model at each cell's centre, row by row from the top. */
static int classify_cells(unsigned char *out, const broad_model *model, double extent)
{
    double *x = malloc(sizeof(double) * CELLS * CELLS * 2), *scores = malloc(sizeof(double) * CELLS * CELLS * 2);
    int status = x && scores ? BROAD_OK : no_memory();
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

/* Rows of both classes over the regions of one network. */
static int add_regions(cli_charts *charts, const char *heading, const broad_data *shown, const unsigned char *cells,
                       double extent)
{
    size_t rows = broad_data_rows(shown);
    cli_chart *chart = cli_charts_add(charts, "regions", heading, rows);
    for (int class_number = 0; class_number < 2; class_number++) {
        double *y = chart ? cli_chart_series(chart, "", CLI_POINTS, LEFT_CLASS + class_number) : NULL;
        if (!y) return no_memory();
        for (size_t i = 0; i < rows; i++) {
            chart->at[i] = broad_data_row(shown, i)[0];
            if (broad_data_class(shown, i) == (size_t)class_number) y[i] = broad_data_row(shown, i)[1];
        }
    }
    chart->width = chart->height = PANEL;
    chart->bare = 1;
    chart->cells = cells;
    chart->cell_side = CELLS;
    chart->x.range[0] = chart->y.range[0] = -extent;
    chart->x.range[1] = chart->y.range[1] = extent;
    return BROAD_OK;
}

/* As a part of the norm of the targets. */
static double norm_after(const broad_model *model, size_t layers)
{
    broad_layer layer = {.size = sizeof layer};
    double first = broad_model_layer(&layer, model, 0) ? 1 : layer.norm_before;
    if (layers == 0 || first <= 0 || broad_model_layer(&layer, model, layers - 1)) return 1;
    return layer.norm_after / first;
}

static int add_norms(cli_charts *charts, const demo_network networks[DEMO_NETWORKS], char names[DEMO_NETWORKS][96])
{
    size_t most = 0;
    for (size_t i = 0; i < DEMO_NETWORKS; i++) {
        size_t layers = broad_model_layers(networks[i].model);
        if (layers > most) most = layers;
    }
    cli_chart *chart = cli_charts_add(charts, "norms", "Norm of the training error, as a part of the first", most + 1);
    if (!chart) return no_memory();
    for (size_t i = 0; i < DEMO_NETWORKS; i++) {
        size_t layers = broad_model_layers(networks[i].model);
        int last = i + 1 == DEMO_NETWORKS;
        snprintf(names[i], sizeof names[i], "%s, %zu layers, accuracy %.3f", networks[i].name, layers,
                 networks[i].accuracy);
        double *norm = cli_chart_series(chart, names[i], last ? CLI_LINE : CLI_DASHED, last ? LAST_LINE : OTHER_LINES);
        if (!norm) return no_memory();
        for (size_t j = 0; j <= layers; j++) norm[j] = norm_after(networks[i].model, j);
    }
    for (size_t j = 0; j <= most; j++) chart->at[j] = (double)j;
    chart->width = PANEL + 40;
    chart->height = PANEL;
    chart->x.name = "layer";
    chart->x.whole = chart->y.log = 1;
    chart->x.range[0] = 0;
    return BROAD_OK;
}

int demo_write_picture(const char *path, const demo_network networks[DEMO_NETWORKS], const broad_data *shown,
                       double extent)
{
    const demo_network *last = &networks[DEMO_NETWORKS - 1];
    cli_output output;
    cli_charts charts = {0};
    char heading[96], names[DEMO_NETWORKS][96];
    unsigned char *cells = calloc(CELLS, CELLS);
    snprintf(heading, sizeof heading, "Decision regions of %s, with rows it never saw", last->name);
    int status = cells ? classify_cells(cells, last->model, extent) : no_memory();
    if (!status) status = add_regions(&charts, heading, shown, cells, extent);
    if (!status) status = add_norms(&charts, networks, names);
    if (!status) {
        cli_output_open(&output, path);
        cli_charts_picture(&output, &charts, "Two spirals: decision regions and the norm of the training error");
        status = cli_output_close(&output);
    }
    cli_charts_clear(&charts);
    free(cells);
    return status;
}
