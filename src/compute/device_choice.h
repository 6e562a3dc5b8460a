/* Which device computes. Everything that trains asks here; only prediction calls the CPU's kernels itself, so that a
 * program that only predicts is linked to nothing else (model/predict/predict.c). */
#ifndef BROAD_COMPUTE_DEVICE_CHOICE_H
#define BROAD_COMPUTE_DEVICE_CHOICE_H

#include "broad/broad.h"
#include "compute/device.h"

/* The device that the options ask for; NULL: the default one. */
const broad__device *broad__device_choose(const broad_options *options);

#endif
