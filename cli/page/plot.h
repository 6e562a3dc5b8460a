/*
 * Pictures of figures: what is drawn, by gnuplot, and the same as a table. The two say the same thing, so that a page without
 * pictures is complete.
 */
#ifndef BROAD_CLI_PAGE_PLOT_H
#define BROAD_CLI_PAGE_PLOT_H

#include "io/output.h"
#include "page/gnuplot.h"

typedef enum cli_mark { CLI_LINE, CLI_DASHED, CLI_DOTTED, CLI_POINTS, CLI_LINE_POINTS, CLI_BARS } cli_mark;

enum { CLI_SERIES_MAX = 4, CLI_STARTS_MAX = 24, CLI_TICS_MAX = 12, CLI_PLOTS_MAX = 24 };

typedef struct cli_series {
    const char *name;
    cli_mark mark;
    int colour;     /* 1 to 3, and 6, a pale one: the classes of the page */
    double *values; /* owned; NaN: a gap */
} cli_series;

typedef struct cli_plot {
    const char *id, *heading, *words; /* words: HTML, what it shows and how to read it */
    const char *x_name;
    size_t count;
    double *x;          /* owned */
    int whole, whole_y; /* that axis counts something */
    size_t series_count;
    cli_series series[CLI_SERIES_MAX];
    int log_y, diagonal;           /* diagonal: where y = x */
    int points_only;               /* too many for a table, which would say nothing */
    double x_range[2], y_range[2]; /* NaN: as the figures go */
    size_t y_tic_count;            /* 0: as the figures go */
    double y_tics[CLI_TICS_MAX];
    size_t start_count; /* places to mark by a line upwards */
    double starts[CLI_STARTS_MAX];
    char *svg; /* owned; NULL: not drawn */
} cli_plot;

typedef struct cli_plots {
    size_t count;
    cli_plot items[CLI_PLOTS_MAX];
} cli_plots;

/* A further one with room for `count` figures in each series, all NaN. NULL: no memory. */
cli_plot *cli_plots_add(cli_plots *plots, const char *id, const char *heading, size_t count);
/* A further series of it, and its values. */
double *cli_plot_series(cli_plot *plot, const char *name, cli_mark mark, int colour);
/* Draws all of them by one gnuplot. 0: there are no pictures, `why` says why. */
int cli_plots_draw(cli_plots *plots, char why[CLI_GNUPLOT_WHY]);
void cli_plots_clear(cli_plots *plots);
/* The figure with that id, if there is one. */
void cli_plot_put(cli_output *output, const cli_plots *plots, const char *id);

extern const char *const cli_plot_style[]; /* CSS of these figures; lines, ending with NULL */

#endif
