/*
 * What `auto` determines on a sample of the rows before the network is built: which directions sampled feature nodes
 * have, their range, and how much each column of the inputs counts.
 *
 * A trial is a joint ridge over feature nodes alone, its lambda and its error by leave-one-out (model/train/trial.h).
 * First the ranges one after the other for each style, with few nodes, and the best of these again with more; then,
 * twice, columns weighted by how much the best trial so far moves with them:
 *
 *   g_j = mean over rows of |d prediction / d x_j|^2,   s_j^2 = w g_j / mean(g) + 1 - w,   w = n / (n + 20 columns)
 *
 * and ranges around the best one again. A round counts only if it is better by leave-one-out.
 */
#ifndef BROAD_MODEL_TRAIN_PILOT_H
#define BROAD_MODEL_TRAIN_PILOT_H

#include "model/train/trainer.h"

/* Sets *out_range, as a multiple of the base range, and the model's style and relevance. */
int broad__pilot_run(double *out_range, broad_trainer *trainer, const broad_data *data);

#endif
