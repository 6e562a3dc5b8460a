/*
 * How the outputs of a fitted network move with its scaled inputs, as the metric of feature/metric.h: in closed form, since
 * the output is a sum of activations. Where an activation's value does not tell its slope (sine, gaussian), nothing is known.
 * Inputs that do not differ from row to row have no part in it.
 */
#ifndef BROAD_MODEL_TRAIN_GRADIENTS_H
#define BROAD_MODEL_TRAIN_GRADIENTS_H

#include "feature/metric.h"
#include "model/train/trial.h"

/* Whether the slope of an activation follows from its value. */
int broad__slope_known(broad_activation activation);
/* Slope of the activation whose value is z; 0 where it is not known. */
double broad__slope(broad_activation activation, double z);

/* Of a trial that has been fitted. *out is open, and becomes settled; *out_known is 0 where the gradients say nothing. */
int broad__trial_metric(broad__metric *out, int *out_known, const broad__trial *trial);

#endif
