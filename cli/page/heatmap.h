/*
 * Which parts of a photo are evidence for a verdict.
 *
 * A grid of n cells is laid over the part of the photo that the model looks at. The inputs with each cell left out come from
 * one pass over the picture (broad__photo_occlude), and all of them are judged in one batch. The model's opinion f is
 *
 *   classes with probabilities   log(p / (1 - p)) of the class in question
 *   classes without              its score less the largest of the others
 *   values                       the value
 *
 * The inputs are means over places. If f were linear, it would be the mean of the opinions g of the cells, and leaving out
 * cell c would change it by f - f_c = (g_c - f) / (n - 1). So the opinion of a cell is taken to be
 *
 *   g_c = f + (n - 1) (f - f_c),    for values less f,
 *
 * and then smoothed over its neighbours.
 */
#ifndef BROAD_CLI_PAGE_HEATMAP_H
#define BROAD_CLI_PAGE_HEATMAP_H

#include "arguments.h"
#include "image/image.h"
#include "page/heat.h"

/* What is needed for one model; any number of threads may use it at a time. */
typedef struct cli_heat_maker cli_heat_maker;

/* The model must be one of photos: BROAD_USAGE. It must outlive the maker. */
int cli_heat_maker_open(cli_heat_maker **out, const broad_model *model);
void cli_heat_maker_close(cli_heat_maker *maker); /* accepts NULL */

/* One photo of a batch: what is asked, and what comes of it. */
typedef struct cli_heat_task {
    const broad_photo *photo;
    size_t output; /* class or target */
    cli_heat heat;
    broad__image seen; /* the picture that the model was shown */
} cli_heat_task;

/* A prediction has a fixed cost, so photos are judged in batches of this many; and it takes memory, so no more threads than
 * this should do so at once. */
enum { CLI_HEAT_BATCH = 8, CLI_HEAT_THREADS = 16 };
size_t cli_heat_threads(size_t threads); /* as many as asked for, 0: one per processor, but no more */

/* These fail through broad__fail(), as jobs must. */
int cli_heat_make(cli_heat_task *tasks, size_t count, const cli_heat_maker *maker); /* on failure none is made */
void cli_heat_tasks_clear(cli_heat_task *tasks, size_t count); /* accepts those that are not made */
/* The picture to draw it on, with a longer side of at most `side`: the same view as `seen`, from the photo as it was decoded
 * where that has more to show. */
int cli_heat_canvas(broad__image *out, const cli_heat_maker *maker, const broad_photo *photo, const broad__image *seen,
                    const broad__image *whole, size_t side);

/* Class or target that a heat map is of: of two classes the positive one, of more the one found; the first value. */
size_t cli_heat_output(const broad_model *model, const double *scores);

/* predict --heatmap DIR: a picture of each photo, and cells.csv with the opinions, in a new folder, which appears complete or
 * not at all. `scores` are rows x
 * outputs. Both do nothing unless the option was given. */
int cli_heatmaps_write(const cli_arguments *arguments, const broad_model *model, const broad_data *data,
                       const double *scores, size_t threads);
/* Fails now, not after the work. */
int cli_heatmaps_check(const cli_arguments *arguments, const broad_model *model);

#endif
