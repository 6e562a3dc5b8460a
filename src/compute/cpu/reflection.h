/* Householder reflections H = I - tau v v' whose first number of v is 1. */
#ifndef BROAD_COMPUTE_CPU_REFLECTION_H
#define BROAD_COMPUTE_CPU_REFLECTION_H

#include <stddef.h>

/* H turns (alpha, v) into (beta, 0): v becomes the rest of its vector, *alpha becomes beta. Returns tau; 0 where v is 0. */
double broad__reflection_make(double *alpha, double *v, size_t count);

/* H_1 H_2 ... H_wide = I - V T V', with V's columns the vectors: the upper triangle t (zeros below) of V'V in `gram`.
 * Both wide x wide (Schreiber and Van Loan, 1989). */
void broad__reflections_join(double *t, const double *gram, const double *tau, size_t wide);

#endif
