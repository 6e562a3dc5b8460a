/* Eigenvalues of diag(d) + rho z z': the roots of 1 + rho sum_i z_i^2 / (d_i - x). */
#ifndef BROAD_COMPUTE_CPU_SECULAR_H
#define BROAD_COMPUTE_CPU_SECULAR_H

#include <stddef.h>

/* d rises strictly, no z is 0, rho > 0. */
typedef struct broad__secular {
    const double *d, *z;
    size_t count;
    double rho;
} broad__secular;

/* Root i, between d[i] and d[i + 1]: d[*out_origin] + *out_offset, whose distances to all d are then known with small
 * relative errors. gaps: count numbers; d[j] - root. */
void broad__secular_root(size_t *out_origin, double *out_offset, double *gaps, const broad__secular *s, size_t i);
/* gaps[j] = d[j] - root, as above. */
void broad__secular_gaps(double *gaps, const broad__secular *s, size_t origin, double offset);

#endif
