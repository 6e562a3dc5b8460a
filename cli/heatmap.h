/*
 * Which parts of a photo speak for a verdict.
 *
 * A grid is laid over the part of the photo that the model looks at. What a cell contributes is the model's opinion of the
 * whole less its opinion with that cell left out; the inputs without each cell come from one pass over the picture
 * (broad__photo_occlude), and all of them are judged in one batch. The opinion is
 *
 *   classes with probabilities   log(p / (1 - p)) of the class in question
 *   classes without              its score less the largest of the others
 *   values                       the value
 *
 * A picture with as many cells as this, each of which contributes e / cells, has an opinion of about e. A contribution is
 * called clear where e is 1 (odds of 2.7 to 1), 0.5 for scores, and for values the leave-one-out RMSE.
 */
#ifndef BROAD_CLI_HEATMAP_H
#define BROAD_CLI_HEATMAP_H

#include "cli.h"
#include "heat.h"

/* What is needed for one model; any number of threads may use it at a time. */
typedef struct cli_heat_maker cli_heat_maker;

/* The model must be one of photos: BROAD_USAGE. It must outlive the maker. */
int cli_heat_maker_open(cli_heat_maker **out, const broad_model *model);
void cli_heat_maker_close(cli_heat_maker *maker); /* accepts NULL */

/* Of the part of a photo that was looked at, for class or target `output`; smoothed. Fails through broad__fail(), as jobs
 * must. */
int cli_heat_make(cli_heat *out, const cli_heat_maker *maker, const broad__image *part, size_t output);

/* Class or target that a heat map is of: of two classes the positive one, of more the one found; the first value. */
size_t cli_heat_output(const broad_model *model, const double *scores);

/* predict --heatmap DIR: a picture of each photo in a new folder, which appears complete or not at all. `scores` are rows x
 * outputs. Both do nothing unless the option was given. */
int cli_heatmaps_write(const cli_arguments *arguments, const broad_model *model, const broad_data *data,
                       const double *scores, size_t threads);
/* Fails now, not after the work. */
int cli_heatmaps_check(const cli_arguments *arguments, const broad_model *model);

#endif
