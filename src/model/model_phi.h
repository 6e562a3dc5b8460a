/* phi of some of a model's feature groups. */
#ifndef BROAD_MODEL_MODEL_PHI_H
#define BROAD_MODEL_MODEL_PHI_H

#include "feature/phi.h"
#include "model/model.h"

/* Of `count` groups from `first` on. *out_weights gets their weights and biases side by side, which phi points to; it
 * is the caller's to free. pool: whose threads put them there; NULL: the caller alone does. */
int broad__model_phi(broad__phi *out, double **out_weights, const broad_model *model, const broad__device *device,
                     broad__pool *pool, size_t first, size_t count);

#endif
