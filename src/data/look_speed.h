/* How fast one thread goes over the rows of a table that is larger than the caches, measured: what several ranks do one after the
 * other (comm/comm.h). */
#ifndef BROAD_DATA_LOOK_SPEED_H
#define BROAD_DATA_LOOK_SPEED_H

/* GB/s of the fingerprint, and of the sums and squares of columns; millions of rows per second among which copies are looked
 * for. */
int broad__look_speed(double *out_hash, double *out_sums, double *out_search);

#endif
