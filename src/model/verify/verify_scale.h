/* The scaling of the inputs, by code of its own. */
#ifndef BROAD_MODEL_VERIFY_VERIFY_SCALE_H
#define BROAD_MODEL_VERIFY_VERIFY_SCALE_H

#include "model/verify/verification.h"

/* A column of a row's scaled inputs, from the row as it was read. */
double broad__verify_scaled(const broad_model *model, const double *x, size_t column);
/* 1 if the recorded scaling is that of the rows of the first fit. */
int broad__verify_scaling(broad__verification *v);

#endif
