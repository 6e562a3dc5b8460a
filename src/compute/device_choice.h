/* Which device computes. Everything that trains asks here; only prediction calls the CPU's kernels itself, so that a
 * program that only predicts is linked to nothing else (model/predict/predict.c). */
#ifndef BROAD_COMPUTE_DEVICE_CHOICE_H
#define BROAD_COMPUTE_DEVICE_CHOICE_H

#include "broad/broad.h"
#include "compute/cuda/plugin.h"
#include "compute/device.h"

/* The device that the options ask for; NULL: the default one. One that is not there cannot be held. */
const broad__device *broad__device_choose(const broad_options *options);
const broad__device *broad__device_named(broad_device device);

/* The plug-in of CUDA, loaded with the first call; NULL where there is none, and *reason says why. */
const broad__cuda_plugin *broad__cuda_load(const char **reason);

#endif
