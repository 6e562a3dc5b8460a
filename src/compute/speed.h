/* How fast this machine is at what training does, measured. */
#ifndef BROAD_COMPUTE_SPEED_H
#define BROAD_COMPUTE_SPEED_H

#include "broad/broad.h"
#include "compute/pool.h"

/* quick: of one thread alone, the peak and reading; the rest is 0. The device is held by the caller. */
int broad__speed_measure(broad_speed *out, broad__pool *pool, int quick);

#endif
