#include "model/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/status.h"
#include "compute/shards.h"

/* The first number in a file of the system, times `unit`; INFINITY where there is none. */
static double number_in(const char *path, const char *key, double unit)
{
    FILE *file = fopen(path, "r");
    double value = INFINITY;
    char line[128];
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, key, strlen(key)) != 0) continue;
        char *digits = line + strlen(key), *end;
        unsigned long long number = strtoull(digits, &end, 10);
        if (end == digits) continue;
        value = unit * (double)number;
        break;
    }
    if (file) fclose(file);
    return value;
}

/* What the machine, the container around us and the process's own limit leave. */
static double memory_available(void)
{
    double machine = number_in("/proc/meminfo", "MemAvailable:", 1024);
    double group = number_in("/sys/fs/cgroup/memory.max", "", 1) - number_in("/sys/fs/cgroup/memory.current", "", 1);
    struct rlimit limit;
    double own = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
                     ? (double)limit.rlim_cur - number_in("/proc/self/statm", "", 4096)
                     : INFINITY;
    if (isnan(group)) group = INFINITY;
    return fmin(machine, fmin(group, own));
}

/* The sizes that count. */
typedef struct sizes {
    double rows, inputs, outputs;
    double features; /* columns of Z at the end */
    double first;    /* width of the widest layer */
    double nodes;    /* enhancement nodes of a layer */
    double layers;   /* to be made */
    double old;      /* nodes there are already */
} sizes;

static sizes sizes_of(const broad_options *o, const broad_model *model, size_t rows, size_t inputs, size_t outputs)
{
    sizes s = {.rows = (double)rows, .inputs = (double)inputs, .outputs = (double)outputs};
    double groups = (double)o->feature_groups, group_nodes = (double)o->feature_nodes;
    s.nodes = (double)o->enhance_nodes;
    s.features = groups * group_nodes;
    s.layers = (double)o->enhance_layers;
    s.first = s.features + s.nodes;
    if (model) {
        s.old = (double)broad__model_nodes(model);
        s.features += (double)broad__model_feature_nodes(model, model->group_count);
        s.first = groups > 0 ? group_nodes + s.nodes : s.nodes;
        if (groups > 0) s.layers = groups;
        for (size_t j = 0; j < model->layer_count; j++) s.first = fmax(s.first, (double)model->layers[j].width);
    }
    return s;
}

/* Peak of what training holds besides the table; src/layer/rows.c, ridge.c and system.c have these arrays. */
static double training_bytes(const sizes *s, const broad_options *o, int grown)
{
    double side = fmin(s->rows, s->first), shards = (double)broad__shard_count((size_t)s->rows);
    double z = s->rows * s->features * (s->old > 0 ? 2 : 1); /* a grown Z is copied */
    double residuals = 4 * s->rows * s->outputs;
    double k = s->rows * s->first;
    double sums = shards * (s->first * s->first + s->first * s->outputs);
    double system = 2 * side * side + 3 * s->first * s->outputs;
    int loo = o->lambda_auto || (o->range_auto && !grown) || o->supervise == BROAD_SUPERVISE_LOO;
    double spectral = loo ? 3 * side * side + 20 * side * (1 + s->outputs) : 0;
    double weights = s->features * s->inputs * 2 + (s->old + s->nodes * s->layers) * (s->features + s->outputs);
    if (s->first > 512 || s->rows < s->first) sums = shards * s->first * s->outputs;
    return 8 * (z + residuals + k + sums + system + spectral + weights);
}

int broad__plan(broad_plan *out, const broad_options *options, const broad_model *model, size_t rows, size_t inputs,
                size_t outputs)
{
    if (rows == 0 || inputs == 0 || outputs == 0)
        return broad__fail(BROAD_USAGE, "a plan needs at least one row, one input and one output");
    sizes s = sizes_of(options, model, rows, inputs, outputs);
    double side = fmin(s.rows, s.nodes);
    double layer = 2 * s.rows * s.features * s.nodes + s.rows * s.nodes * side + 8 * s.rows * s.nodes * s.outputs +
                   side * side * side / 3;
    double first_side = fmin(s.rows, s.first);
    double first = 2 * s.rows * s.features * s.nodes + s.rows * s.first * first_side +
                   8 * s.rows * s.first * s.outputs + first_side * first_side * first_side / 3;
    *out = (broad_plan){
        .rows = s.rows,
        .inputs = s.inputs,
        .outputs = s.outputs,
        .nodes = s.old +
                 (model ? s.features - (double)broad__model_feature_nodes(model, model->group_count) : s.features) +
                 s.nodes * s.layers,
        .bytes_data = 8 * s.rows * (s.inputs + 1),
        .bytes_training = training_bytes(&s, model ? &model->settings : options, model != NULL),
        .bytes_available = memory_available(),
        .flops_features = 2 * s.rows * s.inputs * s.features,
        .flops_layer = layer,
        .flops_total = 2 * s.rows * s.inputs * s.features + first + layer * (s.layers - 1),
    };
    /* Old layers are run again when a model is taken up. */
    if (model) out->flops_total += 2 * s.rows * s.old * (s.features + s.outputs);
    out->fits = out->bytes_training <= out->bytes_available;
    return BROAD_OK;
}
