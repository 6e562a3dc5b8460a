/*
 * Ranks: processes that make one call together (broad_comm of broad.h).
 *
 * Every rank runs the same calls and comes to the same decisions, so that what is not shared out has the same bits
 * everywhere without a word. What is shared out are passes over many rows. The shards of the rows (compute/shards.h) are
 * dealt out in runs, rank by rank. A rank adds up the shards that it owns; where the fixed tree adds the sums of two ranks,
 * those of the higher one travel to the lower. The order of all additions is that of one process, and so are the bits.
 *
 * The ranks of a call are known to the thread that made it. Nothing here may be called from a job of a pool.
 */
#ifndef BROAD_COMM_COMM_H
#define BROAD_COMM_COMM_H

#include <stddef.h>

#include "broad/broad.h"

/* Fewer rows than these are not worth a message. Changed by tests alone. */
extern size_t broad__comm_least_rows;

/* BROAD_USAGE: it is not one. NULL: this process alone. */
int broad__comm_check(const broad_comm *comm);
/* That of a call which begins on this thread; returns the one before, for broad__comm_leave(). */
const broad_comm *broad__comm_enter(const broad_comm *comm);
void broad__comm_leave(const broad_comm *before);

const broad_comm *broad__comm_current(void);           /* NULL: this process alone */
size_t broad__comm_ranks(void);                        /* 1: this process alone */
int broad__comm_divides(size_t rows);                  /* whether passes over this many rows are shared out */
size_t broad__comm_owner(size_t shard, size_t shards); /* the rank that adds up this shard */
/* The shards, and the rows, that this rank owns. */
void broad__comm_own_shards(size_t *out_first, size_t *out_end, size_t shards);
void broad__comm_own_rows(size_t *out_first, size_t *out_end, size_t rows);
/* The rows that another rank owns. */
void broad__comm_rows_of(size_t *out_first, size_t *out_end, size_t rank, size_t rows);

/* Of so many ranks: the shards of the one that has most, and how many messages the one that ends up with a sum receives. */
size_t broad__comm_most_shards(size_t shards, size_t ranks);
size_t broad__comm_received(size_t shards, size_t ranks);

/* What the fixed tree needs of other ranks for its step of this width: part i + step comes to where part i is added up. Part
 * i lies at parts + i * stride, `length` numbers each. */
int broad__comm_step(double *parts, size_t count, size_t stride, size_t length, size_t step);
/* The numbers of one rank become those of another. */
int broad__comm_move(double *numbers, size_t count, size_t from, size_t to);
/* The sums of all ranks' numbers, on all of them, in an order that depends on the number of ranks. scratch: as many. */
int broad__comm_add(double *sums, double *scratch, size_t count);
/* The bytes of one rank become those of all. */
int broad__comm_broadcast(size_t from, void *bytes, size_t count);
/* An array with `bytes` for each of the rows of which every rank has its own: all of it on all of them. */
int broad__comm_share(void *array, size_t rows, size_t bytes);
/* An array with `width` numbers for each of these rows, of which every rank has filled in those that it owns: all of it on
 * all of them. of_rows: how many there are to own. */
int broad__comm_collect(double *array, const size_t *rows, size_t count, size_t width, size_t of_rows);
/* A state that grows with the rows in their order, such as a sum that is not cut into shards: it comes from the rank before,
 * add() adds the rows of this rank, and it goes on to the next. The last rank has the result, which
 * broad__comm_broadcast_last() gives to all; until then the others may go on with something else. */
int broad__comm_pass(void *state, size_t bytes, void (*add)(void *context), void *context);
int broad__comm_broadcast_last(void *bytes, size_t count);
/* Whole numbers below 2^53 of all ranks, added up on all of them. */
int broad__comm_add_counts(size_t *counts, size_t count);
/* The smallest of all ranks' numbers, on all of them. */
int broad__comm_least(size_t *number);
/* BROAD_OK if it is that of all ranks; otherwise the failure of the lowest rank that has one, with its message, on all. */
int broad__comm_settle(int status);
/* The largest of all ranks' numbers, none of which is negative; what cannot be told is this rank's own, and then nothing else
 * can be told in this call either. */
int broad__comm_most(int own);
/* A number that only one machine knows, such as a time: rank 0's. */
double broad__comm_agree(double own);
/* The status of a call at its end: BROAD_IO if a message was lost that no function could report. */
int broad__comm_whole(int status);

#endif
