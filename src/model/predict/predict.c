#include "model/predict/predict.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "base/vector.h"
#include "compute/cpu/kernels.h"
#include "compute/pool.h"
#include "compute/single.h"
#include "model/predict/predict_far.h"

/* Work for which a thread is worth starting: some hundreds of microseconds. */
#define THREAD_FLOPS 1e7
enum { LINE = 8 }; /* numbers of a cache line, which no two threads should share */

/* The kernels are called directly, not through the device: a program that only predicts is linked to nothing else. */

/* ---- a block of rows ------------------------------------------------------------------------------------------- */

size_t broad__network_scratch(const broad__network *network, size_t rows)
{
    size_t scaled = network->direct ? 0 : network->scaling.columns;
    return rows * (scaled + network->features + network->widest);
}

/* Some rows on their way through the network. */
typedef struct row_block {
    const broad__network *network;
    const broad__kernels *kernels;
    size_t rows;
    double *scaled, *z, *h; /* rows x scaled inputs, features, nodes of a run */
} row_block;

static void compute_nodes(double *out, size_t stride, const row_block *b, const broad__nodes *nodes, const double *x,
                          size_t x_stride)
{
    if (nodes->single && !broad__fused()) broad__nodes_single(out, stride, nodes, x, x_stride, b->rows);
    else (nodes->single ? b->kernels->single->nodes : b->kernels->nodes)(out, stride, nodes, x, x_stride, b->rows);
}

static void feature_nodes(const row_block *b, const double *x, size_t stride)
{
    const broad__network *network = b->network;
    broad__scaling_apply(network->direct ? b->z : b->scaled, &network->scaling, x, b->rows, stride);
    for (size_t i = 0; i < network->part_count; i++) {
        const broad__feature_run *part = &network->parts[i];
        compute_nodes(b->z + part->first, network->features, b, &part->nodes, b->scaled, network->scaling.columns);
    }
}

/* scores += K_j W_j for the layers of a run, whose nodes are in b->h. */
static void add_layers(double *scores, const row_block *b, const broad__layer_run *run, const broad__layer_watch *watch)
{
    const broad__network *network = b->network;
    const double *h = b->h;
    size_t outputs = network->outputs;
    for (size_t j = run->first; j < run->first + run->count; j++) {
        const broad__term *term = &network->terms[j];
        if (term->prefix)
            b->kernels->apply(scores, outputs, 1.0, b->z + term->first, network->features, b->rows, term->output,
                              outputs, term->prefix, outputs);
        b->kernels->apply(scores, outputs, 1.0, h, run->nodes.nodes, b->rows, term->output + term->prefix * outputs,
                          outputs, term->nodes, outputs);
        h += term->nodes;
        if (watch) watch->after(watch->context, j, scores);
    }
}

void broad__network_layers(double *out, const broad__network *network, const double *x, size_t stride, size_t rows,
                           double *scratch, const broad__layer_watch *watch)
{
    double *z = scratch + (network->direct ? 0 : rows * network->scaling.columns), *h = z + rows * network->features;
    row_block b = {network, broad__kernels_predicting(), rows, scratch, z, h};
    memset(out, 0, rows * network->outputs * sizeof *out);
    if (network->run_count) feature_nodes(&b, x, stride);
    for (size_t i = 0; i < network->run_count; i++) {
        const broad__layer_run *run = &network->runs[i];
        compute_nodes(h, run->nodes.nodes, &b, &run->nodes, z, network->features);
        add_layers(out, &b, run, watch);
    }
}

void broad__network_values(double *out, const broad__network *network, const double *scores)
{
    for (size_t c = 0; c < network->outputs; c++) out[c] = scores[c] / network->factor[c] + network->shift[c];
}

static int all_finite(const double *x, size_t count) { return broad__all_within(x, count, DBL_MAX); }

int broad__network_block(double *out, const broad__network *network, const double *x, size_t stride, size_t rows,
                         double *scratch)
{
    broad__network_layers(out, network, x, stride, rows, scratch, NULL);
    for (size_t i = 0; i < rows; i++)
        broad__network_values(out + i * network->outputs, network, out + i * network->outputs);
    return all_finite(out, rows * network->outputs);
}

int broad__network_overflow(const broad__network *network, const double *out, size_t rows)
{
    size_t row = 0;
    while (row + 1 < rows && all_finite(out + row * network->outputs, network->outputs)) row++;
    return broad__fail(BROAD_BAD_DATA,
                       "row %zu: what the model computes is larger than any number; its inputs lie too far from the "
                       "training rows, or the model is damaged",
                       row + 1);
}

/* ---- inputs ---------------------------------------------------------------------------------------------------- */

static int fail_input(const broad__network *network, size_t row, size_t input, double value)
{
    const char *why = isnan(value) ? " (it was trained without missing values)" : "";
    if (network->input_names)
        return broad__fail(BROAD_BAD_DATA, "row %zu, input '%s': %g is not a number the model can take%s", row + 1,
                           network->input_names[input], value, why);
    return broad__fail(BROAD_BAD_DATA, "row %zu, input %zu: %g is not a number the model can take%s", row + 1,
                       input + 1, value, why);
}

static int input_fits(const broad__network *network, double value)
{
    return isfinite(value) || (isnan(value) && network->missing == BROAD_MISSING_MEAN);
}

static int row_fits(const broad__network *network, const double *row)
{
    if (all_finite(row, network->inputs)) return 1;
    for (size_t j = 0; j < network->inputs; j++)
        if (!input_fits(network, row[j])) return 0;
    return 1;
}

int broad__network_check(const broad__network *network, const double *x, size_t rows, size_t stride)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; !row_fits(network, x + i * stride); j++)
            if (!input_fits(network, x[i * stride + j])) return fail_input(network, i, j, x[i * stride + j]);
    return BROAD_OK;
}

/* ---- many rows ------------------------------------------------------------------------------------------------- */

typedef struct prediction {
    double *out;
    const broad__network *network;
    const double *x;
    size_t rows, stride;
    double *scratch; /* per worker */
    size_t scratch_each;
    atomic_int refused;    /* some input does not fit */
    atomic_int overflowed; /* some output is not finite */
} prediction;

static size_t block_rows(const prediction *p, size_t block)
{
    size_t left = p->rows - block * BROAD__PREDICT_ROWS;
    return left < BROAD__PREDICT_ROWS ? left : BROAD__PREDICT_ROWS;
}

static void check_block(void *context, size_t block, size_t worker)
{
    prediction *p = context;
    size_t first = block * BROAD__PREDICT_ROWS;
    (void)worker;
    for (size_t i = first; i < first + block_rows(p, block); i++)
        if (!row_fits(p->network, p->x + i * p->stride)) atomic_store(&p->refused, 1);
}

double broad__network_flops(const broad__network *network)
{
    double flops = network->direct ? 0 : 2 * (double)network->features * (double)network->scaling.columns;
    for (size_t i = 0; i < network->run_count; i++)
        flops += 2 * (double)network->runs[i].nodes.nodes * (double)network->runs[i].nodes.inputs;
    for (size_t i = 0; i < network->term_count; i++)
        flops += 2 * (double)(network->terms[i].prefix + network->terms[i].nodes) * (double)network->outputs;
    return flops;
}

static void predict_block(void *context, size_t block, size_t worker)
{
    prediction *p = context;
    size_t first = block * BROAD__PREDICT_ROWS, rows = block_rows(p, block);
    broad__profile_span span = broad__profile_start();
    int finite = broad__network_block(p->out + first * p->network->outputs, p->network, p->x + first * p->stride,
                                      p->stride, rows, p->scratch + worker * p->scratch_each);
    if (!finite) atomic_store(&p->overflowed, 1);
    broad__profile_stop(span, BROAD__STAGE_PREDICT, (double)rows * broad__network_flops(p->network),
                        (double)(rows * (p->network->inputs + p->network->outputs)) * sizeof(double));
}

size_t broad__network_threads(const broad__network *network, size_t rows, size_t threads)
{
    double worth = (double)rows * broad__network_flops(network) / THREAD_FLOPS;
    if (rows <= BROAD__PREDICT_ROWS || worth < 2) return 1;
    return threads == 0 || (double)threads < worth ? threads : (size_t)worth;
}

/* What the device, or each thread, computes of the rows. */
static int compute_rows(prediction *p, broad__pool *pool, size_t blocks, const broad__device *device)
{
    int status = BROAD_NO_MEMORY;
    if (device && broad__predict_may_pass(p->network, device, p->rows))
        status = broad__predict_far(p->out, p->network, device, pool, p->x, p->rows, p->stride);
    if (status != BROAD_NO_MEMORY) {
        if (status == BROAD_OK && !all_finite(p->out, p->rows * p->network->outputs)) atomic_store(&p->overflowed, 1);
        return status;
    }
    return broad__pool_run_watched(pool, blocks, predict_block, p);
}

static int predict_rows(prediction *p, size_t threads, const broad__device *device)
{
    size_t blocks = (p->rows + BROAD__PREDICT_ROWS - 1) / BROAD__PREDICT_ROWS;
    broad__pool *pool = NULL;
    int status = broad__pool_open(&pool, broad__network_threads(p->network, p->rows, threads));
    if (status < 0) return status;
    p->scratch_each = broad__network_scratch(p->network, block_rows(p, 0)) + LINE;
    p->scratch = broad__alloc_doubles(broad__pool_threads(pool), p->scratch_each);
    if (!p->scratch) status = BROAD_NO_MEMORY;
    if (status == BROAD_OK) broad__pool_run(pool, blocks, check_block, p);
    if (status == BROAD_OK && atomic_load(&p->refused))
        status = broad__network_check(p->network, p->x, p->rows, p->stride);
    if (status == BROAD_OK) status = compute_rows(p, pool, blocks, device);
    if (status == BROAD_OK && atomic_load(&p->overflowed))
        status = broad__network_overflow(p->network, p->out, p->rows);
    broad__pool_close(pool);
    broad__free(p->scratch);
    return status;
}

int broad__predict(double *out, const broad_model *model, const double *x, size_t rows, size_t stride, size_t threads,
                   const broad__device *device)
{
    broad__network network;
    if (rows == 0) return BROAD_OK;
    /* Weights are put side by side where there are enough rows to pay for it. */
    int status = broad__network_make(&network, model, NULL, rows >= 2 * BROAD__PREDICT_ROWS);
    if (status < 0) return status;
    prediction p = {.out = out, .network = &network, .x = x, .rows = rows, .stride = stride};
    status = predict_rows(&p, threads, device);
    broad__network_clear(&network);
    return status;
}
