/*
 * One chart as SVG. Colours are classes (k1, k2, ...) that assets/chart.css makes light or dark. A figure that is not finite,
 * or that has no place on its axis, is left out: it leaves a gap in a line, and no mark elsewhere.
 *
 *   chart = cli_charts_add(...), fill in chart->at, cli_chart_series(...), fill in the values, cli_chart_svg(...)
 */
#ifndef BROAD_CLI_PAGE_CHART_H
#define BROAD_CLI_PAGE_CHART_H

#include "io/output.h"

typedef enum cli_mark {
    CLI_LINE,
    CLI_DASHED,
    CLI_DOTTED,
    CLI_STEPS, /* a level for each figure */
    CLI_POINTS,
    CLI_LINE_POINTS,
    CLI_BARS,
    CLI_BAND, /* from `low` up to `values` */
} cli_mark;

enum { CLI_SERIES_MAX = 4, CLI_STARTS_MAX = 24, CLI_TICKS_MAX = 40, CLI_CHARTS_MAX = 24, CLI_TICK_TEXT = 40 };

typedef struct cli_series {
    const char *name;
    cli_mark mark;
    int colour;           /* class kN */
    double *values, *low; /* owned; NaN: none */
} cli_series;

/* What one point or bar has of its own. */
typedef struct cli_tag {
    int colour;
    size_t number;    /* 0: none */
    int linked;       /* to the element with the id pNUMBER */
    const char *text; /* NULL: its value is shown */
} cli_tag;

typedef struct cli_axis {
    const char *name, *of; /* "probability", "class 1" */
    int log, whole;        /* whole: it counts something */
    double range[2];       /* NaN: as the figures go */
    size_t tick_count;
    double ticks[CLI_TICKS_MAX]; /* none: they are chosen */
} cli_axis;

typedef struct cli_chart {
    const char *id, *heading, *words; /* words: the template of its caption */
    double width, height;
    cli_axis x, y;
    size_t count;
    double *at; /* owned: x of each figure */
    size_t series_count;
    cli_series series[CLI_SERIES_MAX];
    cli_tag *tags; /* owned, one for each figure; NULL: none */
    int diagonal;  /* a line where y = x */
    int bare, map; /* no axes; of a map, in metres, with a scale bar and an arrow to the north instead */
    int untabled;  /* too many figures for a table */
    size_t start_count;
    double starts[CLI_STARTS_MAX]; /* places on the x axis to mark by a vertical line */
    const unsigned char *cells;    /* side x side classes from the top left, over the whole area; colours k7, k8 */
    size_t cell_side;
} cli_chart;

typedef struct cli_charts {
    size_t count;
    cli_chart items[CLI_CHARTS_MAX];
} cli_charts;

/* A further chart with room for `count` figures in each series, all NaN. NULL: no memory. */
cli_chart *cli_charts_add(cli_charts *charts, const char *id, const char *heading, size_t count);
const cli_chart *cli_charts_find(const cli_charts *charts, const char *id); /* NULL: there is none */
void cli_charts_clear(cli_charts *charts);
/* A further series; its values. NULL: no memory. */
double *cli_chart_series(cli_chart *chart, const char *name, cli_mark mark, int colour);
/* Room for the lower edge of the last series, a band. NULL: no memory. */
double *cli_chart_low(cli_chart *chart);

/* What the axis is called, as HTML. */
void cli_axis_name(cli_output *output, const cli_axis *axis);
/* The <svg> of one chart within a page, with a title and a description for those who hear it. */
void cli_chart_svg(cli_output *output, const cli_chart *chart);
/* A file of its own: all charts side by side under their headings, with legends. */
void cli_charts_picture(cli_output *output, const cli_charts *charts, const char *title);

/* Places for ticks within a range, at most about `most` of them; returns how many. *out_step: their distance, or 0 where
 * they have none in common. */
size_t cli_ticks(double out[CLI_TICKS_MAX], double *out_step, const double range[2], const cli_axis *axis, size_t most);
const char *cli_tick_text(char out[CLI_TICK_TEXT], double value, double step);

#endif
