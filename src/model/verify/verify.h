/* Checking a certificate against the data, by a path of its own. */
#ifndef BROAD_MODEL_VERIFY_VERIFY_H
#define BROAD_MODEL_VERIFY_VERIFY_H

#include "data/table.h"
#include "model/model.h"

int broad__verify(broad_verdict *out, const broad_model *model, const broad_data *data, size_t threads);

#endif
