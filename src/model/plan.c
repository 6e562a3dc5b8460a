#include "model/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/status.h"
#include "compute/shards.h"
#include "layer/joint.h"
#include "layer/supervise.h"
#include "model/kind.h"

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

enum { RANGE_ROWS = 4000, RANGE_NODES = 200 };

/* The sizes that count. */
typedef struct sizes {
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
} sizes;

static double scaled_columns(const broad_options *o, double inputs)
{
    return o->scale == BROAD_SCALE_BOTH || o->scale == BROAD_SCALE_AUTO ? 2 * inputs : inputs;
}

/* A fit: what comes first of all. */
static void sizes_of_fit(sizes *s, const broad_options *o)
{
    broad__node_plan plan = broad__kind_of(o->kind)->nodes;
    s->drawn = plan == BROAD__NODES_FEATURES ? (double)o->feature_groups * (double)o->feature_nodes : 0;
    s->features = plan == BROAD__NODES_FEATURES ? s->drawn : s->columns;
    s->first = s->nodes + (plan == BROAD__NODES_HIDDEN ? 0 : s->features);
    s->width = s->first + s->nodes * (s->layers - 1);
}

/* Growth: what is added to a model. */
static void sizes_of_growth(sizes *s, const broad_options *o, const broad_model *model)
{
    double groups = (double)o->feature_groups, group_nodes = (double)o->feature_nodes;
    s->old = (double)broad__model_nodes(model);
    s->features = (double)broad__model_feature_nodes(model, model->group_count) + groups * group_nodes;
    s->drawn = broad__kind_of(model->settings.kind)->nodes == BROAD__NODES_FEATURES ? s->features : 0;
    s->first = groups > 0 ? group_nodes + s->nodes : s->nodes;
    if (groups > 0) s->layers = groups;
    s->width = s->first * s->layers;
    for (size_t j = 0; j < model->layer_count; j++) {
        s->first = fmax(s->first, (double)model->layers[j].width);
        s->old_width += (double)model->layers[j].width;
    }
    s->width += s->old_width;
}

static sizes sizes_of(const broad_options *options, const broad_model *model, size_t rows, size_t inputs,
                      size_t outputs)
{
    broad_options o = *options;
    const broad_options *lasting = model ? &model->settings : &o;
    if (!model) broad__size_features(&o, rows);
    sizes s = {.fitting = broad__fitting_of(lasting),
               .rows = (double)rows,
               .inputs = (double)inputs,
               .outputs = (double)outputs,
               .threads = (double)o.threads,
               .columns = model ? (double)broad__model_columns(model) : scaled_columns(&o, (double)inputs),
               .nodes = (double)o.enhance_nodes,
               .layers = (double)o.enhance_layers};
    if (o.threads == 0) s.threads = fmax(1, (double)sysconf(_SC_NPROCESSORS_ONLN));
    if (model) sizes_of_growth(&s, &o, model);
    else sizes_of_fit(&s, &o);
    if (s.fitting == BROAD__FIT_WINDOW) s.first = fmax(s.first, fmin(s.width, (double)lasting->window));
    return s;
}

/* ---- memory, in numbers of 8 bytes ----------------------------------------------------------------------------- */

/* Layers searched one by one: K, its sums and the system; src/layer/rows.c, ridge.c and system.c have these arrays. */
static double layer_numbers(const sizes *s, const broad_options *o, int grown)
{
    double side = fmin(s->rows, s->first), shards = (double)broad__shard_count((size_t)s->rows);
    double k = s->rows * s->first;
    double sums = shards * s->first * s->outputs;
    if (s->fitting == BROAD__FIT_STEPWISE && o->supervise == BROAD_SUPERVISE_LOO && !o->lambda_auto) return k;
    if (s->first <= 512 && s->rows >= s->first) sums += shards * s->first * s->first;
    double system = 2 * side * side + 3 * s->first * s->outputs, spectral = 0, range = 0;
    broad__ridge_wish wish = broad__supervise_wish(o);
    if (wish.lambda_auto || wish.loo || wish.operator_norm) spectral = 3 * side * side + 20 * side * (1 + s->outputs);
    else if (!wish.relative) spectral = 2 * side * side; /* where lambda is lost in rounding */
    if (o->range_auto && !grown && o->feature_weights != BROAD_FEATURES_SAMPLED) {
        side = fmin(fmin(s->rows, RANGE_ROWS), s->features + fmin(s->nodes, RANGE_NODES));
        range = 5 * side * side + 20 * side * (1 + s->outputs) + fmin(s->rows, RANGE_ROWS) * 2 * s->features;
    }
    return fmax(k + sums + system + spectral, range);
}

/* One ridge over all columns. */
static double joint_numbers(const sizes *s, const broad_options *o)
{
    broad__joint_extent extent = {
        .rows = (size_t)s->rows,
        .columns = (size_t)s->width,
        .outputs = (size_t)s->outputs,
        .features = (size_t)s->features,
        .threads = (size_t)s->threads,
        .loo = o->lambda_auto || o->loo != BROAD_LOO_NO,
        .spectral = !o->lambda_auto && o->lambda < 1e-13 * s->rows * s->width,
    };
    return broad__joint_numbers(&extent);
}

/* The growing factorisation, whose room doubles: src/layer/basis.c. *out_kept: what is there when it has grown. */
static double basis_numbers(double *out_kept, const sizes *s)
{
    double room = s->old_width, have = s->old_width, peak = 0, c = s->outputs;
    for (size_t made = 0; made < (size_t)s->layers; made++) {
        double wide = have == 0 ? s->first : (s->width - s->old_width) / s->layers;
        have += wide;
        double larger = have <= room ? room : fmax(have, 2 * room), moved = larger > room ? room : 0;
        double there = s->rows * (larger + moved) + 2 * (larger * larger + moved * moved) + larger * c;
        peak = fmax(peak, there + s->rows * (wide + 3) + 3 * have * wide);
        room = larger;
    }
    *out_kept = s->rows * room + 2 * room * room;
    return fmax(peak, *out_kept);
}

/* Peak of what training holds besides the table. */
static double training_bytes(const sizes *s, const broad_options *o, int grown)
{
    int chain = s->fitting == BROAD__FIT_CHAIN, joint = s->fitting == BROAD__FIT_AT_ONCE || broad__joint_beside(o);
    double z = s->rows * s->features * (s->old > 0 ? 2 : 1); /* a grown Z is copied */
    double residuals = (chain ? 4 : 6) * s->rows * s->outputs;
    double enhancement = s->old + s->nodes * s->layers;
    double weights =
        2 * s->drawn * s->columns + enhancement * (s->features + s->outputs) + (joint ? s->width * s->outputs : 0);
    double fit = s->fitting == BROAD__FIT_AT_ONCE ? 0 : layer_numbers(s, o, grown);
    double kept = 0, grown_fit = s->fitting == BROAD__FIT_STEPWISE ? basis_numbers(&kept, s) : 0;
    fit += fmax(grown_fit, kept + (joint ? joint_numbers(s, o) : 0));
    return 8 * (z + residuals + weights + fit);
}

/* ---- work ------------------------------------------------------------------------------------------------------ */

/* The nodes of a layer of this width and its ridge. */
static double layer_flops(const sizes *s, double width)
{
    double side = fmin(s->rows, width), nodes = 2 * s->rows * s->features * s->nodes;
    return nodes + s->rows * width * side + 8 * s->rows * width * s->outputs + side * side * side / 3;
}

/* lambda by leave-one-out looks at about ten of them. */
static double joint_flops(const sizes *s, const broad_options *o)
{
    double p = s->width, side = fmin(s->rows, p), factor = side * side * side / 3;
    double leave_out = s->rows < p ? factor : fmin(s->rows, BROAD__LOO_ROWS) * p * p;
    return 2 * s->rows * s->features * p + s->rows * p * side + 8 * s->rows * p * s->outputs +
           (o->lambda_auto ? 10 : 1) * (factor + leave_out);
}

static void plan_work(broad_plan *out, const sizes *s, const broad_options *o, const broad_model *model)
{
    double before = model ? (double)broad__model_feature_nodes(model, model->group_count) : 0;
    out->flops_features = 2 * s->rows * s->columns * (s->drawn - (s->drawn > 0 ? before : 0));
    if (model && s->drawn > 0) out->flops_features += 2 * s->rows * s->columns * before;
    out->flops_layer =
        s->fitting == BROAD__FIT_AT_ONCE ? 2 * s->rows * s->features * s->nodes : layer_flops(s, s->nodes);
    out->flops_total = out->flops_features + out->flops_layer * s->layers;
    if (s->fitting != BROAD__FIT_AT_ONCE && !model && s->layers > 0)
        out->flops_total += layer_flops(s, s->first) - layer_flops(s, s->nodes);
    if (s->fitting == BROAD__FIT_STEPWISE) out->flops_total += 4 * s->rows * s->width * s->width;
    if (s->fitting == BROAD__FIT_AT_ONCE || broad__joint_beside(o)) out->flops_total += joint_flops(s, o);
    /* Old layers are run again when a model is taken up. */
    if (model) out->flops_total += 2 * s->rows * s->old * (s->features + s->outputs);
}

int broad__plan(broad_plan *out, const broad_options *options, const broad_model *model, size_t rows, size_t inputs,
                size_t outputs)
{
    if (rows == 0 || inputs == 0 || outputs == 0)
        return broad__fail(BROAD_USAGE, "a plan needs at least one row, one input and one output");
    const broad_options *lasting = model ? &model->settings : options;
    sizes s = sizes_of(options, model, rows, inputs, outputs);
    double features =
        s.drawn - (model && s.drawn > 0 ? (double)broad__model_feature_nodes(model, model->group_count) : 0);
    *out = (broad_plan){
        .rows = s.rows,
        .inputs = s.inputs,
        .outputs = s.outputs,
        .nodes = s.old + features + s.nodes * s.layers,
        .bytes_data = 8 * s.rows * (s.inputs + 1),
        .bytes_training = training_bytes(&s, lasting, model != NULL),
        .bytes_available = memory_available(),
    };
    plan_work(out, &s, lasting, model);
    out->fits = out->bytes_training <= out->bytes_available;
    return BROAD_OK;
}
