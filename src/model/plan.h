/* Memory and floating-point operations of a run, before it starts. */
#ifndef BROAD_MODEL_PLAN_H
#define BROAD_MODEL_PLAN_H

#include "model/model.h"

int broad__plan(broad_plan *out, const broad_options *options, const broad_model *model, size_t rows, size_t inputs,
                size_t outputs);

#endif
