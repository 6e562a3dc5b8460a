#include "layer/shard_sums.h"

#include <stdatomic.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "comm/comm.h"
#include "compute/shards.h"

/* SLICE: numbers of the shard sums that one thread adds up at a time, where ranks do it together. HOLDERS: workers that use
 * their places again. */
enum { SLICE = 4096, HOLDERS = 64 };

/*
 * Where the sums of the shards lie, one place each, as they are added up: a thread adds two of them as soon as both are
 * there, while it has at least one of them in its cache, and uses the place that becomes free for its next shard.
 */
typedef struct places {
    atomic_size_t fresh;                   /* the first that was never used */
    unsigned short of[BROAD__SHARDS_MAX];  /* of a shard, and of the sums that begin with it */
    atomic_uchar there[BROAD__SHARDS_MAX]; /* of the two sums whose second begins with this shard: how many are there */
    unsigned short spare[HOLDERS];         /* free ones of a worker: the last one and 1; 0: none */
    unsigned short before[BROAD__SHARDS_MAX]; /* of a free one: that became free before it, and 1 */
} places;

typedef struct shard_run {
    broad__residual *residual;
    broad__shard_job job;
    void *context;
    size_t doubles, stride; /* numbers of a shard, and how far apart those of two shards lie */
    size_t first, count;    /* shards of this rank, from the first on */
    int begun;              /* what came of that which is done meanwhile */
    places places;
    /* Where ranks add up together: the step of the tree, and the parts that this rank adds to. */
    size_t step;
    unsigned char own[BROAD__SHARDS_MAX];
} shard_run;

/* Rows of spilled arrays that are processed before they are released: whole blocks, about a megabyte of E. */
static size_t stretch(const broad__residual *residual)
{
    size_t blocks = ((size_t)1 << 20) / (residual->outputs * sizeof(double)) / BROAD__BLOCK_ROWS;
    return (blocks < 64 ? 64 : blocks) * BROAD__BLOCK_ROWS;
}

void broad__residual_release(const broad__residual *residual, size_t first, size_t end)
{
    size_t bytes = (end - first) * sizeof(double);
    if (!residual->spill) return;
    broad__spill_done(residual->spill, residual->e + first * residual->outputs, bytes * residual->outputs);
    broad__spill_done(residual->spill, residual->next + first * residual->outputs, bytes * residual->outputs);
    const broad__probes *probes = &residual->probes;
    if (probes->count) {
        broad__spill_done(residual->spill, probes->u + first * 2 * probes->count, bytes * 2 * probes->count);
        broad__spill_done(residual->spill, probes->next + first * probes->count, bytes * probes->count);
    }
    const broad__z_supply *z = &residual->z;
    if (z->stored) broad__spill_done(residual->spill, z->stored + first * z->features, bytes * z->features);
}

static double *sums_of(const shard_run *run, size_t shard)
{
    return run->residual->shard_sums + run->places.of[shard] * run->stride;
}

/* A place for the sums of a shard; ranks, which tell each other about them, have one for each. */
static size_t take_place(shard_run *run, size_t shard, size_t worker)
{
    places *p = &run->places;
    if (run->residual->divided) return shard;
    if (worker >= HOLDERS || !p->spare[worker]) return atomic_fetch_add(&p->fresh, 1);
    size_t place = p->spare[worker] - 1U;
    p->spare[worker] = p->before[place];
    return place;
}

static void leave_place(shard_run *run, size_t place, size_t worker)
{
    places *p = &run->places;
    if (worker >= HOLDERS) return;
    p->before[place] = p->spare[worker];
    p->spare[worker] = (unsigned short)(place + 1);
}

/* As far up the tree of broad__tree_sum() as both sums are there: the thread that comes second adds them. */
static void add_up(shard_run *run, size_t shard, size_t worker)
{
    size_t shards = broad__shard_count(run->residual->rows);
    for (size_t step = 1; step < shards; step *= 2) {
        shard = shard / (2 * step) * (2 * step);
        if (shard + step >= shards) continue;
        if (!atomic_fetch_add_explicit(&run->places.there[shard + step], 1, memory_order_acq_rel)) return;
        double *to = sums_of(run, shard);
        const double *from = sums_of(run, shard + step);
        for (size_t k = 0; k < run->doubles; k++) to[k] += from[k];
        leave_place(run, run->places.of[shard + step], worker);
    }
}

/* What is to be done during this pass. */
static int do_meanwhile(broad__residual *residual)
{
    int (*meanwhile)(void *) = residual->meanwhile;
    residual->meanwhile = NULL;
    return meanwhile ? meanwhile(residual->meanwhile_context) : BROAD_OK;
}

static void shard_run_one(void *context, size_t index, size_t worker)
{
    shard_run *run = context;
    size_t first, end, shard = run->first + index;
    if (index == run->count) {
        run->begun = do_meanwhile(run->residual);
        return;
    }
    broad__shard_rows(&first, &end, shard, run->residual->rows);
    run->places.of[shard] = (unsigned short)take_place(run, shard, worker);
    double *sums = sums_of(run, shard);
    memset(sums, 0, run->stride * sizeof(double));
    size_t step = run->residual->spill ? stretch(run->residual) : end - first;
    for (size_t i = first; i < end && !broad__watch_stopped(); i += step) {
        size_t stop = end - i < step ? end : i + step;
        run->job(run->context, i, stop, sums, worker);
        broad__residual_release(run->residual, i, stop);
    }
    if (!run->residual->divided) add_up(run, shard, worker);
}

/* Where share i begins: all shares have about as many rows, so that no thread waits for the others. */
static size_t share_begin(void *context, size_t i, size_t shares)
{
    const shard_run *run = context;
    size_t low = 0, high = run->count, from, to, first, end;
    broad__shard_rows(&from, &end, run->first, run->residual->rows);
    broad__shard_rows(&first, &to, run->first + run->count - 1, run->residual->rows);
    size_t wanted = from + (to - from) / shares * i;
    while (low < high) {
        size_t middle = (low + high) / 2;
        broad__shard_rows(&first, &end, run->first + middle, run->residual->rows);
        if (first + (end - first) / 2 < wanted) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* ---- several ranks ------------------------------------------------------------------------------------------------ */

/* Behind the numbers of the shards stands one that counts the ranks that were asked to stop: those that are late by
 * this much. */
enum { LATE_RANK = 1 << 16 };

double broad__stop_count(void)
{
    int end = broad__watch_asked();
    return end == BROAD__WATCH_LATE ? LATE_RANK : end != 0;
}

void broad__stop_agree(double count)
{
    if (count > 0) broad__watch_agreed(count < LATE_RANK ? BROAD__WATCH_ASKED : BROAD__WATCH_LATE);
}

/* One step of the tree, for a slice of the sums: of those parts that this rank adds up. */
static void add_step_slice(void *context, size_t slice, size_t worker)
{
    (void)worker;
    const shard_run *run = context;
    size_t at = slice * SLICE, length = broad__min(run->stride - at, SLICE);
    size_t shards = broad__shard_count(run->residual->rows);
    for (size_t i = 0; i + run->step < shards; i += 2 * run->step) {
        double *to = run->residual->shard_sums + i * run->stride + at;
        const double *from = to + run->step * run->stride;
        if (!run->own[i]) continue;
        for (size_t k = 0; k < length; k++) to[k] += from[k];
    }
}

/* The sums of all ranks, on all of them, in the first part; and whether to stop. */
static int add_ranks(shard_run *run)
{
    broad__residual *residual = run->residual;
    size_t shards = broad__shard_count(residual->rows), slices = (run->stride + SLICE - 1) / SLICE;
    double *sums = residual->shard_sums, *asked = sums + run->doubles;
    memset(run->own + run->first, 1, run->count);
    if (run->count) sums[run->first * run->stride + run->doubles] = broad__stop_count();
    int status = BROAD_OK;
    for (size_t step = 1; status == BROAD_OK && step < shards; step *= 2) {
        status = broad__comm_step(sums, shards, run->stride, run->stride, step);
        run->step = step;
        if (status == BROAD_OK && run->count) broad__pool_run(residual->pool, slices, add_step_slice, run);
    }
    if (status == BROAD_OK)
        status = broad__comm_broadcast(broad__comm_owner(0, shards), sums, run->stride * sizeof *sums);
    if (status < 0) return status;
    broad__stop_agree(*asked);
    return BROAD_OK;
}

/* Far away all rows of a rank are one shard: the sums depend on the number of ranks, as they do on the device. */
static int far_sums(double **out, broad__residual *residual, size_t doubles, broad__shard_job job, void *context)
{
    const broad__memory *memory = residual->at->memory;
    broad__far_rows *far = &residual->far;
    size_t first, end;
    int status = broad__reserve(&residual->shard_sums, &residual->shard_sums_capacity, 2 * doubles);
    if (status == BROAD_OK) status = broad__rows_reserve(&far->sums, &far->sums_capacity, residual, doubles);
    if (status < 0) return status;
    broad__far_own_rows(&first, &end, residual);
    memory->zero(far->sums, doubles);
    if (first < end) job(context, first, end, far->sums, 0);
    if (memory->ask) memory->ask(far->sums, doubles);
    int begun = do_meanwhile(residual);
    status = memory->get(residual->shard_sums, far->sums, doubles);
    if (status == BROAD_OK) status = begun;
    if (status == BROAD_OK && residual->divided) {
        int asked = broad__comm_most(broad__watch_asked());
        status = broad__comm_add(residual->shard_sums, residual->shard_sums + doubles, doubles);
        broad__watch_agreed(asked);
    }
    *out = residual->shard_sums;
    return broad__watch_check(status);
}

int broad__shard_sums(double **out, broad__residual *residual, size_t doubles, broad__shard_job job, void *context)
{
    if (residual->at->memory) return far_sums(out, residual, doubles, job, context);
    size_t shards = broad__shard_count(residual->rows), stride = doubles + (residual->divided ? 1 : 0), count, end;
    if (broad__multiply(&count, shards, stride) < 0) return broad__fail_memory(SIZE_MAX);
    int status = broad__reserve(&residual->shard_sums, &residual->shard_sums_capacity, count);
    if (status < 0) return status;
    shard_run run = {.residual = residual, .job = job, .context = context, .doubles = doubles, .stride = stride};
    run.count = shards;
    if (residual->divided) {
        broad__comm_own_shards(&run.first, &end, shards);
        run.count = end - run.first;
    }
    /* Behind the shards, for the thread that is done with its own first; not worth waking one up for. */
    int aside = residual->meanwhile && run.count > 1;
    broad__pool_run_stretches(residual->pool, run.count + (size_t)aside, shard_run_one, &run, share_begin);
    if (residual->meanwhile) run.begun = do_meanwhile(residual);
    if (residual->divided) status = add_ranks(&run);
    if (status == BROAD_OK) status = run.begun;
    *out = residual->divided ? residual->shard_sums : sums_of(&run, 0);
    return broad__watch_check(status);
}
