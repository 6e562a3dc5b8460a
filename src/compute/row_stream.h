/*
 * Rows that pass through a device with memory of its own, block by block: while the device computes with one block, the
 * processor prepares the next one and it travels. Nothing of a row stays there.
 */
#ifndef BROAD_COMPUTE_ROW_STREAM_H
#define BROAD_COMPUTE_ROW_STREAM_H

#include "compute/device.h"

typedef struct broad__row_stream {
    const broad__device *at;
    size_t rows, columns, results; /* numbers of a row that go there, and that come back */
    size_t held;                   /* that `compute` needs there for a row, besides */
    double flops;                  /* of a row */
    void *context;
    /* Writes n rows from `first` on, for the device; in the processor's memory. */
    void (*fill)(void *context, double *to, size_t first, size_t n);
    /* out (n x results) from x (n x columns), with `held` numbers for each row; all in the device's memory. */
    void (*compute)(void *context, double *out, const double *x, double *held, size_t n);
} broad__row_stream;

/* Whether so much work is worth the way: it is not for some thousands of rows, nor where the processor could do it while they
 * travel. numbers: of a row, there and back. */
int broad__row_stream_worth(const broad__device *device, size_t rows, double row_flops, size_t numbers);
/* out: rows x results, `stride` numbers from row to row. BROAD_NO_MEMORY: the device or the processor has too little of it,
 * and nothing else went wrong. */
int broad__row_stream_run(double *out, size_t stride, const broad__row_stream *stream);

#endif
