/* A Cholesky factor after more rows: R'R += b'b. */
#ifndef BROAD_COMPUTE_CPU_UPDATE_H
#define BROAD_COMPUTE_CPU_UPDATE_H

#include <stddef.h>

/* As broad__device.update. */
int broad__factor_update(double *r, size_t n, double *b, size_t k);

#endif
