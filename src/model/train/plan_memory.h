/* Memory and disk space of a run. */
#ifndef BROAD_MODEL_TRAIN_PLAN_MEMORY_H
#define BROAD_MODEL_TRAIN_PLAN_MEMORY_H

#include "model/kind.h"
#include "model/model.h"

/* The sizes that count. */
typedef struct broad__sizes {
    broad__fitting fitting;
    double rows, inputs, outputs, threads;
    double columns;   /* of the inputs as they are scaled */
    double features;  /* columns of Z at the end */
    double drawn;     /* of these, nodes with weights of their own */
    double first;     /* width of the widest layer */
    double nodes;     /* enhancement nodes of a layer */
    double layers;    /* to be made */
    double old;       /* nodes there are already */
    double old_width; /* columns of all layers there are already */
    double width;     /* columns of all layers at the end */
    double probes;    /* columns that follow the targets through a chain: layer/probes.h; groups may need more */
} broad__sizes;

/* Fills in what the plan says about memory and disk space. `o`: the settings of the network; `asked`: the limit of the run, 0:
 * half of the available memory, SIZE_MAX: none. */
void broad__plan_memory(broad_plan *out, const broad__sizes *s, const broad_options *o, size_t asked, int grown);
/* The message of a plan that does not fit its limit. */
int broad__plan_refuse(const broad_plan *plan);

#endif
