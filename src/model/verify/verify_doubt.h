/*
 * How far rounding may have moved the nodes of a layer: followed through the network, row by row.
 *
 *   z = f(b + sum x w) is off by what f makes of u (|b| + sum |x w|), h by what it makes of the same and of sum dz |w|
 *
 * with u the rounding of one sum. Where rows hardly differ in the direction of a node, its terms cancel, and all of its
 * column is rounding: this file and training then have different columns. It costs a pass over the rows, and is
 * counted only where the equations do not hold without it.
 */
#ifndef BROAD_MODEL_VERIFY_VERIFY_DOUBT_H
#define BROAD_MODEL_VERIFY_VERIFY_DOUBT_H

#include "model/verify/verification.h"

/* A layer's columns over the rows [from, from + rows), and the weights that they have in the output. */
typedef struct broad__doubted {
    const broad__verification *v;
    const broad__layer *layer;
    const double *w; /* width x outputs */
    size_t from, rows;
} broad__doubted;

/* columns: squares of what each column may have moved by. Adds to *moved by how much that moves E. */
int broad__verify_doubt(double *columns, double *moved, const broad__doubted *d);

#endif
