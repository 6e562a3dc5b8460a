/* Activations over arrays, by polynomials that the compiler vectorises: the same bits whatever the vector width. */
#ifndef BROAD_COMPUTE_ACTIVATION_H
#define BROAD_COMPUTE_ACTIVATION_H

#include "broad/broad.h"

/* values[i] = activation(values[i]) */
void broad__activate(broad_activation activation, double *values, size_t count);

#endif
