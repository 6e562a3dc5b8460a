/* Heat maps: which parts of photos are evidence for a verdict (broad_photo_explain()), drawn over the photos. */
#ifndef BROAD_CLI_PAGE_HEATMAP_H
#define BROAD_CLI_PAGE_HEATMAP_H

#include <limits.h>

#include "arguments.h"
#include "page/heat.h"

/* What is needed for one model; any number of threads may use it at a time. */
typedef struct cli_heat_maker cli_heat_maker;

/* The model must be one of photos: BROAD_USAGE. It must outlive the maker. */
int cli_heat_maker_open(cli_heat_maker **out, const broad_model *model);
void cli_heat_maker_close(cli_heat_maker *maker); /* accepts NULL */
/* cli_heat.full of its heat maps. Of values: by the model's usual error; 0 without an estimate, so that the largest of each
 * picture set the scale. */
double cli_heat_full(const broad_model *model);

/* One photo of a batch: what is asked, and what comes of it. */
typedef struct cli_heat_task {
    const broad_photo *photo;
    size_t output; /* class or target */
    cli_heat heat;
} cli_heat_task;

/* A prediction has a fixed cost, so photos are judged in batches of this many; and it takes memory, so no more threads than
 * this should do so at once. */
enum { CLI_HEAT_BATCH = 8, CLI_HEAT_THREADS = 16 };
size_t cli_heat_threads(size_t threads); /* as many as asked for, 0: one per processor, but no more */

/* These fail through broad__fail(), as jobs must. */
/* At most CLI_HEAT_BATCH at a time; on failure none is made. */
int cli_heat_make(cli_heat_task *tasks, size_t count, const cli_heat_maker *maker);
void cli_heat_tasks_clear(cli_heat_task *tasks, size_t count); /* accepts those that are not made */
/* Class or target that a heat map is of: the verdict where that is a fault, else the most probable fault, so that warm colours
 * always mean that something is wrong; the first value. */
size_t cli_heat_output(const broad_model *model, const double *scores);

/* "000012-roof.jpg" for row 11, from 0: unique, in order, and safe whatever the photo's name is. */
void cli_heatmap_name(char out[NAME_MAX], const broad_photo *photo, size_t row);

/* predict --heatmap DIR: a picture of each photo, and cells.csv with the opinions, in a new folder, which appears complete or
 * not at all. `scores` are rows x
 * outputs. Both do nothing unless the option was given. */
int cli_heatmaps_write(const cli_arguments *arguments, const broad_model *model, const broad_data *data,
                       const double *scores, size_t threads);
/* Fails now, not after the work. */
int cli_heatmaps_check(const cli_arguments *arguments, const broad_model *model);

#endif
