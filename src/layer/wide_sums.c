#include "layer/wide_sums.h"

#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "comm/comm.h"
#include "compute/shards.h"
#include "layer/shard_sums.h"

enum { SLICE = 1 << 16, SPARES = 16 }; /* numbers that a thread adds at a time; parts that wait to be used again */

size_t broad__wide_least_rows = (size_t)1 << 18;

typedef struct wide_run {
    const broad__residual *residual;
    size_t numbers,
        stride; /* of a part; with one that counts the ranks that were asked to stop, where there are ranks */
    size_t shards, first, end; /* of this rank */
    double *part[BROAD__SHARDS_MAX], *spare[SPARES];
    size_t spares;
    double *to; /* being added to */
    const double *from;
} wide_run;

int broad__wide_has_shards(size_t rows) { return rows >= broad__wide_least_rows; }

size_t broad__wide_parts(size_t shards)
{
    size_t parts = 1;
    for (size_t step = 1; step < shards; step *= 2) parts++;
    return parts;
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

static double *take_part(wide_run *run)
{
    if (run->spares) return run->spare[--run->spares];
    return broad__alloc_unset(run->stride, sizeof(double));
}

static void return_part(wide_run *run, size_t index)
{
    double *part = run->part[index];
    run->part[index] = NULL;
    if (part && run->spares < SPARES) run->spare[run->spares++] = part;
    else broad__free(part);
}

static void add_slice(void *context, size_t slice, size_t worker)
{
    (void)worker;
    const wide_run *run = context;
    size_t at = slice * SLICE, end = broad__min(at + SLICE, run->stride);
    for (size_t i = at; i < end; i++) run->to[i] += run->from[i];
}

/* Part i += part i + step, which is no longer needed. */
static void merge(wide_run *run, size_t i, size_t step)
{
    run->to = run->part[i];
    run->from = run->part[i + step];
    broad__pool_run(run->residual->pool, (run->stride + SLICE - 1) / SLICE, add_slice, run);
    return_part(run, i + step);
}

/* The shards of this rank, each added to those before it as far as the tree adds these two. */
static int add_shards(wide_run *run, broad__wide_job job, void *context)
{
    for (size_t s = run->first; s < run->end && !broad__watch_stopped(); s++) {
        size_t first, end;
        run->part[s] = take_part(run);
        if (!run->part[s]) return BROAD_NO_MEMORY;
        memset(run->part[s], 0, run->stride * sizeof(double));
        broad__shard_rows(&first, &end, s, run->residual->rows);
        job(context, first, end, run->part[s]);
        for (size_t step = 1; (s + 1) % (2 * step) == 0 && s + 1 >= run->first + 2 * step; step *= 2)
            merge(run, s + 1 - 2 * step, step);
    }
    return BROAD_OK;
}

/* ---- the rest of the tree ---------------------------------------------------------------------------------------- */

/* Part i + step of this rank goes to the one that has part i, or comes from the one that has it. */
static int move_part(wide_run *run, size_t i, size_t step)
{
    size_t to = broad__comm_owner(i, run->shards), from = broad__comm_owner(i + step, run->shards);
    double **part = &run->part[i + step];
    int receives = run->part[i] != NULL, sends = *part != NULL;
    if (to == from || (!receives && !sends)) return BROAD_OK;
    if (receives) *part = take_part(run);
    if (!*part) return BROAD_NO_MEMORY;
    int status = broad__comm_move(*part, run->stride, from, to);
    if (sends) return_part(run, i + step);
    return status;
}

static int add_parts(wide_run *run)
{
    int status = BROAD_OK;
    for (size_t step = 1; step < run->shards; step *= 2)
        for (size_t i = 0; status == BROAD_OK && i + step < run->shards; i += 2 * step) {
            if (run->residual->divided) status = move_part(run, i, step);
            if (status == BROAD_OK && run->part[i] && run->part[i + step]) merge(run, i, step);
        }
    return status;
}

/* The sums of all ranks, on all of them; and whether to stop. */
static int share(wide_run *run)
{
    if (!run->part[0]) run->part[0] = take_part(run);
    if (!run->part[0]) return BROAD_NO_MEMORY;
    int status = broad__comm_broadcast(broad__comm_owner(0, run->shards), run->part[0], run->stride * sizeof(double));
    if (status == BROAD_OK) broad__stop_agree(run->part[0][run->numbers]);
    return status;
}

int broad__wide_sums(double **out, const broad__residual *residual, size_t numbers, broad__wide_job job, void *context)
{
    wide_run run = {.residual = residual, .numbers = numbers, .stride = numbers + (residual->divided ? 1 : 0)};
    run.shards = run.end = broad__shard_count(residual->rows);
    if (residual->divided) broad__comm_own_shards(&run.first, &run.end, run.shards);
    /* Ranks are stopped here, or after the sums, all of them. */
    int status = broad__watch_check(BROAD_OK);
    if (status == BROAD_OK) status = add_shards(&run, job, context);
    if (status == BROAD_OK && residual->divided && run.first < run.end)
        run.part[run.first][numbers] = broad__stop_count();
    if (status == BROAD_OK) status = add_parts(&run);
    if (status == BROAD_OK && residual->divided) status = share(&run);
    status = broad__watch_check(status);
    if (status == BROAD_OK) *out = run.part[0], run.part[0] = NULL;
    for (size_t i = 0; i < run.shards; i++) broad__free(run.part[i]);
    while (run.spares) broad__free(run.spare[--run.spares]);
    return status;
}
