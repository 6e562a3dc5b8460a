/*
 * Each kind of work is a piece of about a millisecond, done again and again for a short while. The rate of one thread is
 * that of its best piece: what disturbs can only make it slower. The rate of all is their sum over the whole while, because
 * what they disturb in each other is part of it. Both by the processor's time: work of others is not.
 */
#include "compute/speed.h"

#include <math.h>
#include <string.h>

#include "base/cache.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "compute/cpu/peak.h"
#include "compute/device.h"
#include "compute/shards.h"

enum {
    SIDE = 384,            /* of the large product                     */
    NODES = 100,           /* of a layer, and features: the paper's    */
    OUTPUTS = 10,          /* of it                                    */
    BLOCKS = 8,            /* of rows that one piece of it takes       */
    PEAK_STEPS = 300000,   /* of the peak's loop in a piece            */
    PIECE_BYTES = 1 << 23, /* of memory that one piece reads or copies */
    SPACE_DOUBLES = 3 * SIDE * SIDE,
};
static const double window_seconds = 0.05, quick_seconds = 0.02;
static const size_t memory_least = (size_t)128 << 20, memory_most = (size_t)256 << 20, memory_quick = (size_t)64 << 20;

typedef struct worker {
    double *space;        /* SPACE_DOUBLES */
    uint64_t *memory;     /* its share of what is read */
    size_t words, at;     /* of it; where the next piece begins */
    double best, mean;    /* rates of the last window */
    double wall, used;    /* seconds of all windows, and the processor's among them */
    volatile double sink; /* unused results, so that they are computed */
} worker;

/* Does one piece; returns its operations or bytes. */
typedef double (*piece)(worker *w);

typedef struct measuring {
    broad__pool *pool;
    size_t threads;
    worker *workers;
    double *spaces;
    uint64_t *memory;
    /* of the window in progress */
    piece work;
    double seconds;
} measuring;

/* ---- pieces of work -------------------------------------------------------------------------------------------- */

static double peak_piece(worker *w)
{
    broad__peak peak = broad__peak_loop(0);
    w->sink = peak.run(PEAK_STEPS);
    return peak.flops * PEAK_STEPS;
}

static double product_piece(worker *w)
{
    double *a = w->space, *b = a + SIDE * SIDE, *c = b + SIDE * SIDE;
    broad__device_cpu()->outer(c, SIDE, a, SIDE, SIDE, b, SIDE, SIDE, SIDE);
    return 2.0 * SIDE * SIDE * SIDE;
}

static broad__nodes layer_nodes(const worker *w)
{
    const double *weight = w->space + BROAD__BLOCK_ROWS * 2 * NODES;
    return (broad__nodes){NODES, NODES, weight, weight + NODES * NODES, BROAD_ACTIVATION_SIGMOID, 0, NULL, NULL, {0}};
}

static double nodes_piece(worker *w)
{
    broad__nodes nodes = layer_nodes(w);
    double *z = w->space, *h = z + BROAD__BLOCK_ROWS * NODES;
    for (int i = 0; i < BLOCKS; i++) broad__device_cpu()->nodes(h, NODES, &nodes, z, NODES, BROAD__BLOCK_ROWS);
    return 2.0 * BLOCKS * BROAD__BLOCK_ROWS * NODES * NODES;
}

static double gram_piece(worker *w)
{
    double *h = w->space + BROAD__BLOCK_ROWS * NODES, *g = w->space + 2 * SIDE * SIDE;
    for (int i = 0; i < BLOCKS; i++) broad__device_cpu()->gram(g, NODES, h, NODES, BROAD__BLOCK_ROWS, NODES);
    return 1.0 * BLOCKS * BROAD__BLOCK_ROWS * NODES * (NODES + 1);
}

/* What one pass over the rows does with a block: nodes, sums, residual. */
static double layer_piece(worker *w)
{
    const broad__device *cpu = broad__device_cpu();
    broad__nodes nodes = layer_nodes(w);
    double *z = w->space, *h = z + BROAD__BLOCK_ROWS * NODES, *g = w->space + 2 * SIDE * SIDE, *b = g + NODES * NODES,
           *e = b + NODES * OUTPUTS, *weights = e + BROAD__BLOCK_ROWS * OUTPUTS;
    for (int i = 0; i < BLOCKS; i++) {
        cpu->nodes(h, NODES, &nodes, z, NODES, BROAD__BLOCK_ROWS);
        cpu->gram(g, NODES, h, NODES, BROAD__BLOCK_ROWS, NODES);
        cpu->cross(b, OUTPUTS, h, NODES, NODES, e, OUTPUTS, OUTPUTS, BROAD__BLOCK_ROWS);
        cpu->apply(e, OUTPUTS, i % 2 ? 1 : -1, h, NODES, BROAD__BLOCK_ROWS, weights, OUTPUTS, NODES, OUTPUTS);
    }
    return 1.0 * BLOCKS * BROAD__BLOCK_ROWS * (2.0 * NODES * NODES + NODES * (NODES + 1.0) + 4.0 * NODES * OUTPUTS);
}

/* The next words of the worker's share, from the start again at its end. */
static uint64_t *next_words(worker *w, size_t count)
{
    if (w->at + count > w->words) w->at = 0;
    w->at += count;
    return w->memory + w->at - count;
}

static double read_piece(worker *w)
{
    size_t count = PIECE_BYTES / sizeof(uint64_t);
    if (count > w->words) count = w->words / 64 * 64;
    const uint64_t *words = next_words(w, count);
    uint64_t sums[32] = {0};
    for (size_t i = 0; i + 32 <= count; i += 32)
        for (size_t j = 0; j < 32; j++) sums[j] ^= words[i + j];
    for (size_t j = 1; j < 32; j++) sums[0] ^= sums[j];
    w->sink = (double)sums[0];
    return (double)count * sizeof(uint64_t);
}

static double copy_piece(worker *w)
{
    size_t count = PIECE_BYTES / sizeof(uint64_t);
    if (2 * count > w->words) count = w->words / 2;
    uint64_t *words = next_words(w, 2 * count);
    memcpy(words + count, words, count * sizeof(uint64_t));
    return 2.0 * (double)count * sizeof(uint64_t);
}

/* ---- windows --------------------------------------------------------------------------------------------------- */

static void run_window(void *context, size_t index, size_t number)
{
    (void)number;
    measuring *m = context;
    worker *w = &m->workers[index];
    double began = broad__seconds(), total = 0, used = 0;
    w->best = 0;
    do {
        double start = broad__thread_seconds(), amount = m->work(w), took = broad__thread_seconds() - start;
        total += amount;
        used += took;
        if (took > 0 && amount / took > w->best) w->best = amount / took;
    } while (broad__seconds() - began < m->seconds);
    w->mean = used > 0 ? total / used : 0;
    w->wall += broad__seconds() - began;
    w->used += used;
}

static double rate_of_one(measuring *m, piece work, double seconds)
{
    m->work = work;
    m->seconds = seconds;
    run_window(m, 0, 0);
    return 1e-9 * m->workers[0].best;
}

static double rate_of_all(measuring *m, piece work)
{
    double sum = 0;
    m->work = work;
    m->seconds = window_seconds;
    broad__pool_run(m->pool, m->threads, run_window, m);
    for (size_t i = 0; i < m->threads; i++) sum += m->workers[i].mean;
    return 1e-9 * sum;
}

static broad_rate rate_of(measuring *m, piece work)
{
    broad_rate rate = {rate_of_one(m, work, window_seconds), 0};
    rate.all = m->threads > 1 ? rate_of_all(m, work) : rate.one;
    return rate;
}

/* ---- all of them ----------------------------------------------------------------------------------------------- */

/* More than the caches hold, as far as that is known. */
static size_t memory_bytes(int quick)
{
    if (quick) return memory_quick;
    size_t bytes = 4 * broad__cache_bytes(3);
    return bytes < memory_least ? memory_least : bytes > memory_most ? memory_most : bytes;
}

/* Each worker's share of the memory; one thread alone has all of it. */
static void share_memory(measuring *m, size_t words, size_t threads)
{
    for (size_t i = 0; i < threads; i++) {
        m->workers[i].words = words / threads;
        m->workers[i].memory = m->memory + i * (words / threads);
        m->workers[i].at = 0;
    }
}

static int measuring_open(measuring *m, broad__pool *pool, size_t bytes)
{
    *m = (measuring){.pool = pool, .threads = broad__pool_threads(pool)};
    m->workers = broad__alloc_array(m->threads, sizeof *m->workers);
    m->spaces = broad__alloc_doubles(m->threads, SPACE_DOUBLES);
    m->memory = broad__alloc(bytes);
    if (!m->workers || !m->spaces || !m->memory) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < m->threads * SPACE_DOUBLES; i++) m->spaces[i] = 1e-3 * (double)(i % 1021) - 0.5;
    for (size_t i = 0; i < m->threads; i++) m->workers[i].space = m->spaces + i * SPACE_DOUBLES;
    return BROAD_OK;
}

static void measuring_close(measuring *m)
{
    broad__free(m->workers);
    broad__free(m->spaces);
    broad__free(m->memory);
}

static void measure_all(broad_speed *out, measuring *m, size_t words)
{
    if (broad__peak_loop(0).run) out->peak = rate_of(m, peak_piece);
    out->dgemm = rate_of(m, product_piece);
    out->nodes = rate_of(m, nodes_piece);
    out->gram = rate_of(m, gram_piece);
    out->layer = rate_of(m, layer_piece);
    out->read.one = rate_of_one(m, read_piece, window_seconds);
    out->copy.one = rate_of_one(m, copy_piece, window_seconds);
    share_memory(m, words, m->threads);
    out->read.all = rate_of_all(m, read_piece);
    out->copy.all = rate_of_all(m, copy_piece);
    if (out->peak.one > 0) {
        double again = rate_of_one(m, peak_piece, window_seconds);
        out->spread = fabs(again - out->peak.one) / fmax(again, out->peak.one);
        out->peak.one = fmax(again, out->peak.one);
    }
    double wall = 0, used = 0;
    for (size_t i = 0; i < m->threads; i++) wall += m->workers[i].wall, used += m->workers[i].used;
    out->busy = wall > used ? 1 - used / wall : 0;
}

int broad__speed_measure(broad_speed *out, broad__pool *pool, int quick)
{
    measuring m;
    size_t bytes = memory_bytes(quick), words = bytes / sizeof(uint64_t);
    int status = measuring_open(&m, pool, bytes);
    if (status == BROAD_OK) {
        *out = (broad_speed){.threads = m.threads, .instructions = broad__peak_loop(0).name};
        share_memory(&m, words, 1);
        if (!quick) measure_all(out, &m, words);
        if (quick && broad__peak_loop(0).run) out->peak.one = rate_of_one(&m, peak_piece, quick_seconds);
        if (quick) out->read.one = rate_of_one(&m, read_piece, quick_seconds);
    }
    measuring_close(&m);
    return status;
}
