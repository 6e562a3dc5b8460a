/* Activations over arrays, by polynomials that the compiler vectorises: the same bits whatever the vector width. */
#ifndef BROAD_COMPUTE_ACTIVATION_H
#define BROAD_COMPUTE_ACTIVATION_H

#include "broad/broad.h"

/* values[i] = activation(values[i]) */
void broad__activate(broad_activation activation, double *values, size_t count);
/* The same in single precision throughout, at twice the rate. */
void broad__activate_single(broad_activation activation, float *values, size_t count);

#endif
