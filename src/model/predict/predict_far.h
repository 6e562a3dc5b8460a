/* Prediction on a device with memory of its own: rows pass through it (compute/row_stream.h). */
#ifndef BROAD_MODEL_PREDICT_PREDICT_FAR_H
#define BROAD_MODEL_PREDICT_PREDICT_FAR_H

#include "compute/pool.h"
#include "model/predict/network.h"

/* Whether these rows are worth the way, and the device can compute this network. */
int broad__predict_may_pass(const broad__network *network, const broad__device *device, size_t rows);
/* out: rows x outputs, in the units of the targets. BROAD_NO_MEMORY: the device has too little of it. */
int broad__predict_far(double *out, const broad__network *network, const broad__device *device, broad__pool *pool,
                       const double *x, size_t rows, size_t stride);

#endif
