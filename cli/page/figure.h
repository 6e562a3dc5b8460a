/* A chart on a page: heading, legend, picture, caption, and its figures as a table. */
#ifndef BROAD_CLI_PAGE_FIGURE_H
#define BROAD_CLI_PAGE_FIGURE_H

#include "page/chart.h"

/* The chart with that id, if there is one. Its caption is a template of `asset`. */
void cli_figure_put(cli_output *output, const cli_charts *charts, const char *id, const char *asset);

#endif
