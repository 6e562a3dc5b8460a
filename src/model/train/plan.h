/* Memory, disk space and floating-point operations of a run, before it starts. */
#ifndef BROAD_MODEL_TRAIN_PLAN_H
#define BROAD_MODEL_TRAIN_PLAN_H

#include "model/model.h"
#include "model/train/plan_memory.h"
#include "model/train/rowset.h"

int broad__plan_run(broad_plan *out, const broad_options *options, const broad_model *model, size_t rows, size_t inputs,
                    size_t outputs);

/* The sizes that a plan is made from. */
broad__sizes broad__plan_sizes(const broad_options *options, const broad_model *model, size_t rows, size_t inputs,
                               size_t outputs);

/* Of the work of joint weights, what does not grow with the rows. */
double broad__plan_joint_same(const broad__sizes *sizes, const broad_options *options);

/* How the rows' arrays of such a run are stored, by options->memory; refused where that is impossible. The spill is
 * the caller's. */
int broad__plan_storage(broad__storage *out, const broad_options *options, const broad_model *model, size_t rows,
                        size_t inputs, size_t outputs);

#endif
