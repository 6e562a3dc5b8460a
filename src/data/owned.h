/*
 * The rows that this rank has of a table which several ranks have read together (comm/comm.h): the run of fixed shards that it
 * adds up. Inputs of the other rows are at the other ranks; their addresses are reserved here, so that row i lies at
 * x + i * inputs everywhere, and touching one ends the process. Targets, groups and weights of all rows are at every rank.
 *
 * What needs all inputs brings them together first, on all ranks: broad__owned_gather().
 */
#ifndef BROAD_DATA_OWNED_H
#define BROAD_DATA_OWNED_H

#include <stddef.h>

#include "broad/broad.h"

typedef struct broad__owned {
    const broad_comm *comm;
    size_t rows, first, end; /* of the table; those that are here: [first, end) */
    int whole;               /* all of them have been brought here */
    void *block;             /* reserved; NULL: they lie in a file that is mapped, whose other rows are not touched */
    size_t bytes;
} broad__owned;

/* For the ranks of the call. x NULL: the inputs lie in a file; otherwise *x becomes the reserved block, with memory for the own
 * rows. */
int broad__owned_new(broad__owned **out, double **x, size_t rows, size_t inputs);
void broad__owned_free(broad__owned *owned); /* with the block; accepts NULL */

/* Whether rows are at other ranks alone. Accepts NULL: all are here. */
int broad__owned_divided(const broad__owned *owned);
/* The rows of [first, first + count) that are here. owned NULL: all of them. */
void broad__owned_rows(size_t *out_first, size_t *out_end, const broad__owned *owned, size_t first, size_t count);

/* The ranks of the table, where none are known to the call; returns what broad__comm_leave() takes. Accepts NULL. */
const broad_comm *broad__owned_enter(const broad__owned *owned);

/* All of these are called by all ranks. All inputs, on every rank; nothing to do for NULL. */
int broad__owned_gather(broad__owned *owned, double *x, size_t inputs);
/* An array with `bytes` for each of `count` rows from `first` on, of which every rank has its own: all of it on all of them. */
int broad__owned_share(const broad__owned *owned, void *array, size_t first, size_t count, size_t bytes);

#endif
