/*
 * Chains and joint weights on a GPU: rows are made on the card by counters, and stay there.
 *
 * usage: bench_cuda CASE [ROWS]    CASE: one of the table below, fits or peak
 * Prints one line of JSON for each run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/status.h"
#include "compute/device_choice.h"
#include "layer/joint.h"
#include "layer/score.h"
#include "layer/search.h"
#include "model/preset.h"
#include "rng/draw.h"

static const broad__cuda_plugin *plugin;
static const broad__device *far;
static const broad__memory *memory;
static double peak; /* GFLOP/s of a large product */

static void must(int status)
{
    if (status >= 0) return;
    fprintf(stderr, "bench_cuda: %s\n", broad_error_message());
    exit(1);
}

static double *have(size_t count)
{
    double *at = NULL;
    must(memory->alloc(&at, count));
    return at;
}

/* ---- rows ---------------------------------------------------------------------------------------------------------- */

/* Inputs are uniform in [0, 1); targets are sums of waves of them. */
typedef struct problem {
    size_t rows, inputs, features, outputs, waves;
    uint64_t first;    /* number of the first row: others have other inputs */
    double *x, *block; /* all inputs, or of a block of rows; NULL: not there */
    size_t block_rows;
    double *weight, *bias;      /* of the feature nodes, inputs x features */
    double *wave, *phase, *mix; /* of the targets: inputs x waves, waves, waves x outputs */
} problem;

static void fill_inputs(const problem *p, double *out, size_t first, size_t n)
{
    const uint32_t words[3] = {0, 0, (uint32_t)BROAD__FOR_DEMO << 24};
    plugin->random(out, 1, words, (p->first + first) * p->inputs, n * p->inputs);
}

static const double *inputs_of(problem *p, size_t first, size_t n)
{
    if (p->x) return p->x + first * p->inputs;
    fill_inputs(p, p->block, first, n);
    return p->block;
}

static broad__nodes feature_nodes(const problem *p)
{
    return (broad__nodes){p->inputs, p->features, p->weight, p->bias, BROAD_ACTIVATION_TANH, 0, NULL, NULL, {0}};
}

static void make_z(void *context, double *out, size_t first, size_t n)
{
    problem *p = context;
    broad__nodes nodes = feature_nodes(p);
    for (size_t i = 0; i < n; i += p->block_rows) {
        size_t some = n - i < p->block_rows ? n - i : p->block_rows;
        far->nodes(out + i * p->features, p->features, &nodes, inputs_of(p, first + i, some), p->inputs, some);
    }
}

static void make_targets(problem *p, double *out, size_t first, size_t n)
{
    broad__nodes waves = {p->inputs, p->waves, p->wave, p->phase, BROAD_ACTIVATION_SINE, 0, NULL, NULL, {0}};
    double *height = have(p->block_rows * p->waves);
    memory->zero(out, n * p->outputs);
    for (size_t i = 0; i < n; i += p->block_rows) {
        size_t some = n - i < p->block_rows ? n - i : p->block_rows;
        far->nodes(height, p->waves, &waves, inputs_of(p, first + i, some), p->inputs, some);
        far->apply(out + i * p->outputs, p->outputs, 1, height, p->waves, some, p->mix, p->outputs, p->waves,
                   p->outputs);
    }
    memory->free(height);
}

static double *uniform(size_t count, uint32_t layer, double scale)
{
    broad__stream stream = {7, BROAD__FOR_SPLIT, layer, 0, 0};
    double *out = malloc(count * sizeof *out);
    if (!out) exit(1);
    broad__random_fill(out, &stream, 0, count);
    for (size_t i = 0; i < count; i++) out[i] = (2 * out[i] - 1) * scale;
    return out;
}

static problem problem_of(size_t rows, size_t inputs, size_t features, size_t outputs)
{
    problem p = {.rows = rows, .inputs = inputs, .features = features, .outputs = outputs, .waves = 20};
    int stored = (double)rows * (double)inputs < 0.25 * (double)memory->room();
    p.block_rows = stored ? rows : memory->block / (inputs > 128 ? inputs : 128);
    p.weight = malloc(inputs * features * sizeof(double)), p.bias = malloc(features * sizeof(double));
    broad__draw draw = {{0, BROAD__FOR_FEATURES, 0, 0, 0}, inputs, features, 1, BROAD_RANGE_FAN_IN};
    broad__draw_nodes(p.weight, p.bias, &draw);
    p.wave = malloc(inputs * p.waves * sizeof(double)), p.phase = uniform(p.waves, 2, 3);
    for (size_t i = 0; i < inputs * p.waves; i++) /* along what a few of the feature nodes see */
        p.wave[i] = 4 * p.weight[i / p.waves * features + i % p.waves % 6];
    p.mix = uniform(p.waves * outputs, 3, 1);
    if (stored) fill_inputs(&p, p.x = have(rows * inputs), 0, rows);
    else p.block = have(p.block_rows * inputs);
    return p;
}

static void problem_close(problem *p)
{
    memory->free(p->x), memory->free(p->block);
    free(p->weight), free(p->bias), free(p->wave), free(p->phase), free(p->mix);
}

/* The rows on the card, with E = Y; Z is stored if it fits, and is made here: that is part of training. */
static void rows_open(broad__residual *out, problem *p, int stored)
{
    must(broad__residual_open(out, plugin->device, NULL, p->outputs));
    out->at = far;
    out->rows = p->rows;
    out->z.features = p->features;
    out->e = have(p->rows * p->outputs), out->next = have(p->rows * p->outputs);
    make_targets(p, out->e, 0, p->rows);
    out->far.make = make_z, out->far.context = p;
    out->far.z = stored ? have(p->rows * p->features) : NULL;
}

static void measure_norm(broad__residual *r)
{
    double sum = 0, *at = have(1);
    memory->zero(at, 1);
    far->squares(at, r->e, r->rows * r->outputs);
    must(memory->get(&sum, at, 1));
    memory->free(at);
    r->norm = sqrt(sum);
}

/* Signs for the degrees of freedom, as many columns as training would take. */
static void probe(broad__residual *r)
{
    broad__probes *probes = &r->probes;
    broad__stream stream = {9, BROAD__FOR_PROBES, 0, 0, 0};
    probes->wanted = 1;
    probes->count = broad__probes_columns(&probes->exact, r->rows);
    probes->rows = r->rows, probes->weight = (double)r->rows;
    size_t count = probes->count, numbers = r->rows * count;
    double *u = malloc(2 * numbers * sizeof *u), *random = malloc(numbers * sizeof *random);
    if (!u || !random) exit(1);
    broad__random_fill(random, &stream, 0, numbers);
    for (size_t i = 0; i < r->rows; i++)
        for (size_t j = 0; j < count; j++)
            u[i * 2 * count + j] = u[i * 2 * count + count + j] = random[i * count + j] < 0.5 ? -1 : 1;
    probes->u = have(2 * numbers), probes->next = have(numbers);
    memory->put(probes->u, u, 2 * numbers);
    probes->inner = (double)numbers;
    free(u), free(random);
}

/* ---- chains -------------------------------------------------------------------------------------------------------- */

typedef struct chain {
    size_t layers, nodes;
    broad__kblock *kblocks;
    double **w;
} chain;

static double *copy_of(const double *from, size_t count)
{
    double *out = malloc(count * sizeof *out);
    if (!out) exit(1);
    return memcpy(out, from, count * sizeof *out);
}

static void keep_layer(chain *c, size_t j, broad__residual *r, const broad__search_task *task,
                       const broad__search_result *found)
{
    size_t features = r->z.features, width = task->prefix + task->nodes;
    broad__nodes nodes = {features,
                          task->nodes,
                          copy_of(found->weight, features * task->nodes),
                          copy_of(found->bias, task->nodes),
                          task->options->activation,
                          0,
                          NULL,
                          NULL,
                          {0}};
    c->kblocks[j] = (broad__kblock){nodes, task->first, task->prefix};
    c->w[j] = copy_of(found->w, width * r->outputs);
    const double *kept = NULL;
    if (found->probe_w) must(broad__probes_keep(&kept, &r->probes, found->probe_w, width));
    if (!found->deferred) return;
    broad__residual_defer(r, &c->kblocks[j], c->w[j], found->certificate.norm_after);
    if (kept) broad__residual_defer_probes(r, kept, found->inner);
}

/* Returns the number of layers that were kept. *spectral: for how many of them Cholesky would not do;
 * *tries: draws in all. */
static size_t chain_train(size_t *spectral, size_t *tries, chain *c, broad__residual *r, problem *p,
                          const broad_options *o)
{
    broad__search search = {0};
    broad__search_result found = {0};
    size_t j = 0;
    *spectral = *tries = 0;
    if (r->far.z) make_z(p, r->far.z, 0, p->rows);
    measure_norm(r);
    for (; j < c->layers; j++) {
        broad__search_task task = {.options = o,
                                   .range = o->range,
                                   .residual = r,
                                   .index = j,
                                   .nodes = c->nodes,
                                   .prefix = j ? 0 : p->features,
                                   .following = j + 1 < c->layers ? c->nodes : 0,
                                   .may_defer = 1};
        must(broad__search_run(&found, &search, &task));
        if (!found.passed) break;
        *spectral += (size_t)search.ridge.spd.spectral;
        *tries += found.certificate.tries;
        keep_layer(c, j, r, &task, &found);
    }
    must(broad__residual_settle(r));
    must(plugin->settle());
    broad__search_clear(&search);
    return j;
}

static void chain_close(chain *c, size_t layers)
{
    for (size_t j = 0; j < layers; j++)
        free((void *)c->kblocks[j].nodes.weight), free((void *)c->kblocks[j].nodes.bias), free(c->w[j]);
    free(c->kblocks), free(c->w);
}

/* ||Y - prediction|| / ||Y|| of a million rows that the chain has not seen. */
static double fresh_error(const problem *p, const chain *c, size_t layers)
{
    problem fresh = *p;
    broad__residual r;
    fresh.rows = p->rows < 1000000 ? p->rows : 1000000;
    fresh.first = p->rows;
    if (fresh.block_rows > fresh.rows) fresh.block_rows = fresh.rows;
    fresh.x = NULL, fresh.block = have(fresh.block_rows * fresh.inputs);
    rows_open(&r, &fresh, 1);
    make_z(&fresh, r.far.z, 0, fresh.rows);
    measure_norm(&r);
    double before = r.norm;
    for (size_t j = 0; j < layers; j++) must(broad__residual_follow(&r, &c->kblocks[j], c->w[j], NULL));
    double after = r.norm;
    broad__residual_close(&r);
    memory->free(fresh.block);
    return after / before;
}

/* Additions and multiplications that the plain method takes. */
static double chain_flops(const problem *p, const chain *c, size_t layers)
{
    double n = (double)p->rows, f = (double)p->features, q = (double)c->nodes, out = (double)p->outputs;
    double width = f + q,
           flops = 2 * n * (double)p->inputs * f + n * width * (width + 1) + 2 * n * width * (q + 2 * out);
    return flops + (double)(layers - 1) * (2 * n * f * q + n * q * (q + 1) + 4 * n * q * out);
}

typedef struct size {
    size_t rows, inputs, features, nodes, layers, outputs;
} size;

static void run_chain(const char *name, size s, broad_supervise supervise, int runs)
{
    problem p = problem_of(s.rows, s.inputs, s.features, s.outputs);
    broad_options o;
    broad__options_default(&o);
    o.kind = supervise == BROAD_SUPERVISE_GCV ? BROAD_KIND_BSCRLS : BROAD_KIND_BRLS;
    must(broad_options_preset(&o, BROAD_PRESET_PAPER));
    o.supervise = supervise;
    o.range = 3, o.range_unit = BROAD_RANGE_FAN_IN;
    o.lambda = 1e-8, o.lambda_auto = 0;
    if (supervise == BROAD_SUPERVISE_GCV) o.penalty = 1.2;
    size_t spectral = 0, tries = 0;
    double best = INFINITY, kept = 0, left = 0, fresh = 0, flops = 0;
    for (int i = 0; i < runs; i++) {
        broad__residual r;
        chain c = {s.layers, s.nodes, calloc(s.layers, sizeof *c.kblocks), calloc(s.layers, sizeof *c.w)};
        rows_open(&r, &p, (double)s.rows * (double)s.features < 0.4 * (double)memory->room());
        if (supervise == BROAD_SUPERVISE_GCV) probe(&r);
        must(plugin->settle());
        double began = broad__seconds();
        measure_norm(&r);
        double first = r.norm;
        size_t layers = chain_train(&spectral, &tries, &c, &r, &p, &o);
        double seconds = broad__seconds() - began;
        if (seconds < best) best = seconds;
        kept = (double)layers, left = r.norm / first, flops = chain_flops(&p, &c, layers);
        broad__residual_close(&r);
        if (i + 1 == runs) fresh = fresh_error(&p, &c, layers);
        chain_close(&c, layers);
    }
    printf("{\"case\": \"%s\", \"rows\": %zu, \"inputs\": %zu, \"features\": %zu, \"nodes\": %zu, \"layers\": %.0f, "
           "\"outputs\": %zu, \"seconds\": %.5g, \"gflops\": %.5g, \"of_peak\": %.3g, \"left\": %.6g, \"fresh\": %.6g, "
           "\"spectral\": %zu, \"draws\": %zu}\n",
           name, s.rows, s.inputs, s.features, s.nodes, kept, s.outputs, best, 1e-9 * flops / best,
           1e-9 * flops / best / peak, left, fresh, spectral, tries);
    fflush(stdout);
    problem_close(&p);
}

/* ---- joint weights ------------------------------------------------------------------------------------------------- */

/* One block of nodes on the features: sums, factor, weights, and the residual once. */
static void run_joint(const char *name, size s)
{
    problem p = problem_of(s.rows, s.inputs, s.features, s.outputs);
    broad__residual r;
    broad__joint joint = {.factored = -1};
    broad__pool *pool = NULL;
    must(broad__pool_open(&pool, 0));
    rows_open(&r, &p, (double)s.rows * (double)s.features < 0.2 * (double)memory->room());
    r.pool = pool;
    double *weight = malloc(s.features * s.nodes * sizeof *weight), *bias = malloc(s.nodes * sizeof *bias);
    double *y = malloc(s.rows * s.outputs * sizeof *y);
    if (!weight || !bias || !y) exit(1);
    broad__draw draw = {{0, BROAD__FOR_ENHANCEMENT, 0, 0, 0}, s.features, s.nodes, 3, BROAD_RANGE_FAN_IN};
    broad__draw_nodes(weight, bias, &draw);
    must(memory->get(y, r.e, s.rows * s.outputs));
    broad__kblock kblock = {
        {s.features, s.nodes, weight, bias, BROAD_ACTIVATION_TANH, 0, NULL, NULL, {0}}, 0, s.features};
    double width = (double)(s.features + s.nodes), rows = (double)s.rows;
    broad__joint_task task = {.residual = &r, .y = y, .kblocks = &kblock, .count = 1, .lambda = 1e-9 * rows};
    must(plugin->settle());
    double began = broad__seconds();
    if (r.far.z) make_z(&p, r.far.z, 0, p.rows);
    measure_norm(&r);
    double first = r.norm;
    must(broad__joint_fit(&joint, &task));
    double seconds = broad__seconds() - began;
    chain c = {1, s.nodes, &kblock, &joint.w};
    double flops = 2 * rows * (double)(s.inputs * s.features) + 2 * rows * (double)(s.features * s.nodes) +
                   rows * width * (width + 1) + width * width * width / 3;
    printf(
        "{\"case\": \"%s\", \"rows\": %zu, \"inputs\": %zu, \"features\": %zu, \"nodes\": %zu, \"outputs\": %zu, "
        "\"seconds\": %.5g, \"gflops\": %.5g, \"of_peak\": %.3g, \"left\": %.6g, \"fresh\": %.6g, \"passes\": %zu}\n",
        name, s.rows, s.inputs, s.features, s.nodes, s.outputs, seconds, 1e-9 * flops / seconds,
        1e-9 * flops / seconds / peak, joint.norm / first, fresh_error(&p, &c, 1), joint.passes);
    fflush(stdout);
    broad__joint_clear(&joint);
    broad__residual_close(&r);
    broad__pool_close(pool);
    free(weight), free(bias), free(y);
    problem_close(&p);
}

/* ---- all of them --------------------------------------------------------------------------------------------------- */

typedef struct chain_case {
    const char *name;
    size size;
    broad_supervise supervise;
    int runs; /* of which the fastest counts; 0: joint weights, once */
} chain_case;

static const chain_case cases[] = {
    {"small", {60000, 784, 100, 100, 50, 10}, BROAD_SUPERVISE_NONE, 9},
    {"tall", {1000000, 1000, 100, 100, 50, 10}, BROAD_SUPERVISE_NONE, 5},
    {"gcv-small", {60000, 784, 100, 100, 50, 10}, BROAD_SUPERVISE_GCV, 9},
    {"gcv-tall", {1000000, 1000, 100, 100, 50, 10}, BROAD_SUPERVISE_GCV, 5},
    {"wide1000", {1000000, 1000, 100, 1000, 10, 10}, BROAD_SUPERVISE_NONE, 2},
    {"wide5000", {1000000, 1000, 100, 5000, 4, 10}, BROAD_SUPERVISE_NONE, 2},
    {"joint", {1000000, 1000, 100, 10000, 1, 10}, BROAD_SUPERVISE_NONE, 0},
    {"ten-thousand", {20000000, 9, 100, 9900, 1, 1}, BROAD_SUPERVISE_NONE, 0},
    {"billion", {1000000000, 9, 100, 100, 50, 1}, BROAD_SUPERVISE_NONE, 1},
    {"billion-joint", {1000000000, 9, 100, 2900, 1, 1}, BROAD_SUPERVISE_NONE, 0},
};
enum { CASES = sizeof cases / sizeof *cases, FITS = 1000 };

/* Memory that is left after each of a thousand fits must be what was left after the first. */
static void run_fits(void)
{
    size_t first = 0, last = 0;
    fflush(stdout);
    FILE *said = stdout;
    stdout = fopen("/dev/null", "w");
    for (int i = 0; stdout && i < FITS; i++) {
        run_chain("fit", (size){2000, 10, 20, 30, 3, 2}, i % 2 ? BROAD_SUPERVISE_GCV : BROAD_SUPERVISE_NONE, 1);
        run_joint("fit", (size){2000, 10, 20, 500, 1, 2});
        last = memory->room();
        if (i == 1) first = last;
    }
    stdout = said;
    printf("{\"case\": \"fits\", \"fits\": %d, \"room_first\": %zu, \"room_last\": %zu}\n", 2 * FITS, first, last);
}

static void run_case(const char *name, size_t rows)
{
    if (strcmp(name, "peak") == 0) return;
    if (strcmp(name, "fits") == 0) {
        run_fits();
        return;
    }
    for (size_t i = 0; i < CASES; i++) {
        if (strcmp(name, cases[i].name) != 0) continue;
        size s = cases[i].size;
        if (rows) s.rows = rows;
        if (cases[i].runs) run_chain(name, s, cases[i].supervise, cases[i].runs);
        else run_joint(name, s);
        return;
    }
    fprintf(stderr, "bench_cuda: no case '%s'\n", name), exit(2);
}

int main(int count, char **words)
{
    const char *reason = NULL;
    broad__cuda_facts facts;
    plugin = broad__cuda_load(&reason);
    if (!plugin || !plugin->random) {
        fprintf(stderr, "bench_cuda: no device: %s\n", plugin ? "this one makes no random numbers" : reason);
        return 77;
    }
    far = plugin->device->far, memory = far->memory;
    must(plugin->inspect(&facts, 1));
    peak = facts.gigaflops;
    printf("{\"device\": \"%s\", \"memory\": %zu, \"dgemm_gflops\": %.5g, \"copy_gigabytes\": %.5g}\n", facts.name,
           facts.memory, facts.gigaflops, facts.gigabytes);
    fflush(stdout);
    if (count < 2) return 0;
    run_case(words[1], count > 2 ? strtoull(words[2], NULL, 10) : 0);
    return 0;
}
