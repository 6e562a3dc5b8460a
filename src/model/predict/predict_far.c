#include "model/predict/predict_far.h"

#include "base/common.h"
#include "base/profile.h"
#include "base/status.h"
#include "compute/row_stream.h"
#include "model/predict/predict.h"

/* Rows on their way through the network, in the device's memory. */
typedef struct passing {
    const broad__network *network;
    const broad__device *at;
    broad__pool *pool;
    const double *x; /* of all rows, in the processor's memory */
    size_t stride;
    double *to; /* where the block goes that is prepared */
    size_t first, n;
} passing;

static void scale_piece(void *context, size_t piece, size_t worker)
{
    const passing *p = context;
    const broad__scaling *scaling = &p->network->scaling;
    size_t i = piece * BROAD__PREDICT_ROWS, n = broad__min(p->n - i, BROAD__PREDICT_ROWS);
    (void)worker;
    broad__scaling_apply(p->to + i * scaling->columns, scaling, p->x + (p->first + i) * p->stride, n, p->stride);
}

static void fill(void *context, double *to, size_t first, size_t n)
{
    passing *p = context;
    p->to = to;
    p->first = first;
    p->n = n;
    broad__pool_run(p->pool, (n + BROAD__PREDICT_ROWS - 1) / BROAD__PREDICT_ROWS, scale_piece, p);
}

/* out += what the layers of a run add, whose nodes are in h. */
static void add_layers(double *out, const passing *p, const broad__layer_run *run, const double *z, const double *h,
                       size_t n)
{
    const broad__network *network = p->network;
    size_t outputs = network->outputs;
    for (size_t j = run->first; j < run->first + run->count; j++) {
        const broad__term *term = &network->terms[j];
        if (term->prefix)
            p->at->apply(out, outputs, 1, z + term->first, network->features, n, term->output, outputs, term->prefix,
                         outputs);
        if (term->nodes)
            p->at->apply(out, outputs, 1, h, run->nodes.nodes, n, term->output + term->prefix * outputs, outputs,
                         term->nodes, outputs);
        h += term->nodes;
    }
}

static void compute(void *context, double *out, const double *x, double *held, size_t n)
{
    const passing *p = context;
    const broad__network *network = p->network;
    const double *z = network->direct ? x : held;
    double *h = held + (network->direct ? 0 : n * network->features);
    p->at->memory->zero(out, n * network->outputs);
    for (size_t i = 0; i < network->part_count; i++) {
        const broad__feature_run *part = &network->parts[i];
        p->at->nodes(held + part->first, network->features, &part->nodes, x, network->scaling.columns, n);
    }
    for (size_t i = 0; i < network->run_count; i++) {
        const broad__layer_run *run = &network->runs[i];
        if (run->nodes.nodes) p->at->nodes(h, run->nodes.nodes, &run->nodes, z, network->features, n);
        add_layers(out, p, run, z, h, n);
    }
}

int broad__predict_may_pass(const broad__network *network, const broad__device *device, size_t rows)
{
    for (size_t i = 0; i < network->part_count; i++)
        if (network->parts[i].nodes.single) return 0;
    for (size_t i = 0; i < network->run_count; i++)
        if (network->runs[i].nodes.single) return 0;
    return network->run_count && broad__row_stream_worth(device, rows, broad__network_flops(network),
                                                         network->scaling.columns + network->outputs);
}

/* From the network's units to those of the targets. */
typedef struct scores {
    double *at;
    const broad__network *network;
    size_t rows;
} scores;

static void value_piece(void *context, size_t piece, size_t worker)
{
    const scores *s = context;
    size_t first = piece * BROAD__PREDICT_ROWS, end = broad__min(first + BROAD__PREDICT_ROWS, s->rows);
    (void)worker;
    for (size_t i = first; i < end; i++)
        broad__network_values(s->at + i * s->network->outputs, s->network, s->at + i * s->network->outputs);
}

int broad__predict_far(double *out, const broad__network *network, const broad__device *device, broad__pool *pool,
                       const double *x, size_t rows, size_t stride)
{
    passing p = {.network = network, .at = device->far, .pool = pool, .x = x, .stride = stride};
    broad__row_stream stream = {.at = device->far,
                                .rows = rows,
                                .columns = network->scaling.columns,
                                .results = network->outputs,
                                .held = network->widest + (network->direct ? 0 : network->features),
                                .flops = broad__network_flops(network),
                                .context = &p,
                                .fill = fill,
                                .compute = compute};
    broad__profile_span span = broad__profile_start();
    int status = broad__row_stream_run(out, network->outputs, &stream);
    scores s = {out, network, rows};
    if (status == BROAD_OK)
        broad__pool_run(pool, (rows + BROAD__PREDICT_ROWS - 1) / BROAD__PREDICT_ROWS, value_piece, &s);
    broad__profile_stop(span, BROAD__STAGE_PREDICT, (double)rows * stream.flops,
                        (double)(rows * (network->inputs + network->outputs)) * sizeof(double));
    return status;
}
