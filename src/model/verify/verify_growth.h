/* Networks whose weights are solved for again with every layer: all of them, or the last ones. */
#ifndef BROAD_MODEL_VERIFY_VERIFY_GROWTH_H
#define BROAD_MODEL_VERIFY_VERIFY_GROWTH_H

#include "model/verify/verification.h"

/* *out_norm: where the last layer ends. */
int broad__verify_stepwise(broad__verification *v, double *out_norm, int *out_holds);
int broad__verify_window(broad__verification *v, double *out_norm, int *out_holds);

#endif
