/*
 * Columns made orthonormal where they lie:
 *
 *   [ top    ]   [ Q ]
 *   [ bottom ] = [ B ] R,     Q'Q + B'B = I
 *
 * by Cholesky of their Gram matrix where that works, else column by column. One round leaves the rounding of a Gram
 * matrix, a second one none that matters.
 */
#ifndef BROAD_LAYER_ORTHONORMAL_H
#define BROAD_LAYER_ORTHONORMAL_H

#include "compute/device.h"
#include "compute/pool.h"

/* A column of which less than this part is new adds nothing but rounding. */
#define BROAD__NOTHING_NEW 1e-12

typedef struct broad__orthonormal {
    /* Given, and not owned. */
    const broad__device *device;
    broad__pool *pool;
    size_t rows, below, width;
    double *top;    /* rows x width */
    double *bottom; /* below x width, its upper triangle where it is square */
    double *r;      /* width x width: multiplied from the left by the factor of each round; NULL: not wanted */

    double *corner; /* width x width */
    double *before; /* width: squared lengths of the columns to begin with */
    int *dead;      /* width: columns that bring nothing new */
} broad__orthonormal;

int broad__orthonormal_open(broad__orthonormal *block); /* what is given has been set, the columns too */
void broad__orthonormal_close(broad__orthonormal *block);

/* Columns of which next to nothing is left become zero, and stay so. */
void broad__orthonormal_drop(broad__orthonormal *block);
void broad__orthonormal_round(broad__orthonormal *block);

#endif
