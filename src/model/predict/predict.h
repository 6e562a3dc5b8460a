/* Prediction: sum_j K_j W_j. A block of rows goes through all layers while its Z is in cache; a row's scores do not
 * depend on the rows it comes with, nor on the number of threads. */
#ifndef BROAD_MODEL_PREDICT_PREDICT_H
#define BROAD_MODEL_PREDICT_PREDICT_H

#include "model/predict/network.h"

enum { BROAD__PREDICT_ROWS = 256 }; /* rows that go through together */

/* Numbers of scratch that broad__network_block() needs. */
size_t broad__network_scratch(const broad__network *network, size_t rows);

/* Told what the scores are after each layer: rows x outputs, in the network's units. */
typedef struct broad__layer_watch {
    void (*after)(void *context, size_t layer, const double *scores);
    void *context;
} broad__layer_watch;

/* out: rows x outputs, in the network's units; watch may be NULL. Otherwise as broad__network_block(). */
void broad__network_layers(double *out, const broad__network *network, const double *x, size_t stride, size_t rows,
                           double *scratch, const broad__layer_watch *watch);
/* Of one row, from the network's units to those of the targets. */
void broad__network_values(double *out, const broad__network *network, const double *scores);

/* out: rows x outputs, in the units of the targets. No allocation, no lock; any number of threads, each with a scratch
 * of its own. The inputs have been checked. Returns 0 where a number of `out` is not finite. */
int broad__network_block(double *out, const broad__network *network, const double *x, size_t stride, size_t rows,
                         double *scratch);
/* The failure for such a number: it names the first row that has one. */
int broad__network_overflow(const broad__network *network, const double *out, size_t rows);

double broad__network_flops(const broad__network *network); /* for a row */
/* Threads worth starting for this many rows, at most `threads`; 0: one per processor. */
size_t broad__network_threads(const broad__network *network, size_t rows, size_t threads);

/* Whether the network can take all inputs: BROAD_BAD_DATA names the first that it cannot. */
int broad__network_check(const broad__network *network, const double *x, size_t rows, size_t stride);

/* All rows of x with the network's model, by at most `threads` threads (0: one per processor). device: where they pass through
 * if there are many; it is held. NULL: the processor. */
int broad__predict(double *out, const broad_model *model, const double *x, size_t rows, size_t stride, size_t threads,
                   const broad__device *device);

#endif
