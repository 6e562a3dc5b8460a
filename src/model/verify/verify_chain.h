/* The chain: each layer fitted to the residual of those before it. */
#ifndef BROAD_MODEL_VERIFY_VERIFY_CHAIN_H
#define BROAD_MODEL_VERIFY_VERIFY_CHAIN_H

#include "model/verify/verification.h"

/* *norm: of E_0, and afterwards that of the residual of the last layer that was checked. */
int broad__verify_chain(broad__verification *v, double *norm, int *out_holds);

#endif
