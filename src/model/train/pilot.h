/*
 * What is determined on a part of the rows before a network is built: which directions its feature nodes have, their range,
 * and the metric that they are drawn with (model/train/configure.h).
 *
 * A metric that has seen a row predicts it too well. So the rows are cut into halves (data/halves.h): each round's
 * configuration is found on one half and judged by the leave-one-out error that it gives on the other, whose rows it has
 * not seen; with few rows also the other way round. A metric is used only where it wins by more than the spread of its
 * gain from row to row, and then once more on all rows, against every style without one. What leave-one-out is too small
 * by, on rows that the metric has seen, is measured in a network on all rows against those that it has not seen, and kept as
 * the model's optimism: the estimate of the error is enlarged by it.
 */
#ifndef BROAD_MODEL_TRAIN_PILOT_H
#define BROAD_MODEL_TRAIN_PILOT_H

#include "model/train/trainer.h"

enum { BROAD__CROSSED_ROWS = 2000 }; /* with fewer rows both halves are configured and judged */

/* Whether there is anything that it would determine. */
int broad__pilot_wanted(const broad_options *options);
/* Whether a metric is among it. */
int broad__pilot_learns(const broad_options *options);

/* Sets *out_range, as a multiple of the base range, and the model's style, relevance, metric and optimism. */
int broad__pilot_run(double *out_range, broad_trainer *trainer, const broad_data *data);
/* How well rows can be told at all: the least leave-one-out error of any style with few nodes, as a part of the targets'
 * square; 0: there is none. The first of what broad__pilot_run() tries, and no more. */
int broad__pilot_glance(double *out, broad_trainer *trainer, const broad_data *data);

#endif
