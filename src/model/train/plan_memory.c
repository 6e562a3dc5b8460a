/*
 * Memory of a run. In memory the peak is that of the process: the table, Z, K, residuals, sums, weights. Under a limit
 * below that, all arrays that grow with the rows are spilled; what remains are the others, and a block of each spilled
 * array per thread.
 */
#include "model/train/plan_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/spill.h"
#include "base/status.h"
#include "compute/shards.h"
#include "layer/joint_sums.h"
#include "layer/search.h"
#include "layer/supervise.h"

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

/* What the machine, the container and the process's own limit leave. */
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

enum { RANGE_ROWS = 4000, RANGE_NODES = 200, JOINT_SHARD_MAX = 256 }; /* the last as in layer/joint_sums.c */

/* Blocks of spilled arrays that are in memory at a time, as measured: those of each thread, of inputs or Z, residuals,
 * targets and roots; and in place of all training, those of one pass over the table. What products of wide
 * matrices pack, for each thread; and what the process has before it reads anything. */
static const double THREAD_PIECES = 3e6, TABLE_PIECES = 1e7, PACKED_BYTES = 5e5, BASE_BYTES = 1e7;

/* ---- memory, in numbers of 8 bytes ----------------------------------------------------------------------------- */

/* Which memory is meant. */
typedef struct plan_case {
    int grown;   /* a model grows */
    int spilled; /* the arrays of the rows are not in memory */
    int worst;   /* draws are refused, and Cholesky breaks down; otherwise neither */
} plan_case;

/* Layers searched one by one: K, its sums and the factor; src/layer/candidate.c, ridge.c and spd.c have these arrays.
 * */
static double layer_numbers(const broad__sizes *s, const broad_options *o, plan_case how)
{
    double side = fmin(s->rows, s->first), shards = (double)broad__shard_count((size_t)s->rows);
    double k = how.spilled ? 2 * s->threads * BROAD__BLOCK_ROWS * s->first : s->rows * s->first;
    double sums = shards * s->first * s->outputs;
    if (s->fitting == BROAD__FIT_STEPWISE && o->supervise == BROAD_SUPERVISE_LOO && !o->lambda_auto) return k;
    if (s->first <= 512 && s->rows >= s->first) sums += shards * s->first * s->first;
    /* Draws that are tried together, where the first is refused. */
    double more = how.worst && o->supervise == BROAD_SUPERVISE_RESIDUAL && o->tries > 1 && !o->lambda_auto
                      ? (double)broad__candidate_together((size_t)s->rows, (size_t)s->nodes) - 1
                      : 0;
    if (more > 0)
        sums += (1 + more + more * shards) * s->nodes * (s->nodes + s->outputs) + more * s->features * s->nodes;
    double system = 2 * side * side + 3 * s->first * s->outputs, spectral = 0, range = 0;
    broad__ridge_request request = broad__supervise_request(o);
    if (request.lambda_auto || request.loo || request.operator_norm)
        spectral = (s->rows < s->first ? 2 : 3) * side * side + 20 * side * (1 + s->outputs);
    else if (!request.relative) spectral = 2 * side * side; /* where lambda is lost in rounding */
    if (o->range_auto && !how.grown && o->feature_weights != BROAD_FEATURE_WEIGHTS_SAMPLED) {
        side = fmin(fmin(s->rows, RANGE_ROWS), s->features + fmin(s->nodes, RANGE_NODES));
        range = 5 * side * side + 20 * side * (1 + s->outputs) + fmin(s->rows, RANGE_ROWS) * 2 * s->features;
    }
    return fmax(k + sums + system + spectral, range);
}

/* One ridge over all columns. */
static double joint_numbers(const broad__sizes *s, const broad_options *o, plan_case how)
{
    broad__joint_extent extent = {
        .rows = (size_t)s->rows,
        .columns = (size_t)s->width,
        .outputs = (size_t)s->outputs,
        .features = (size_t)s->features,
        .threads = (size_t)s->threads,
        .loo = o->lambda_auto || o->loo != BROAD_LOO_NO,
        .spectral = how.worst && !o->lambda_auto && o->lambda < 1e-13 * s->rows * s->width,
    };
    return broad__joint_numbers(&extent);
}

/* The growing factorisation, whose capacity doubles: src/layer/growing_qr.c. *out_kept: what it holds when it has
 * grown. */
static double basis_numbers(double *out_kept, const broad__sizes *s)
{
    double capacity = s->old_width, have = s->old_width, peak = 0, c = s->outputs;
    for (size_t made = 0; made < (size_t)s->layers; made++) {
        double width = have == 0 ? s->first : (s->width - s->old_width) / s->layers;
        have += width;
        double larger = have <= capacity ? capacity : fmax(have, 2 * capacity),
               moved = larger > capacity ? capacity : 0;
        double there = s->rows * (larger + moved) + 2 * (larger * larger + moved * moved) + larger * c;
        peak = fmax(peak, there + s->rows * (width + 3) + 3 * have * width);
        capacity = larger;
    }
    *out_kept = s->rows * capacity + 2 * capacity * capacity;
    return fmax(peak, *out_kept);
}

/* Peak of what training holds besides the table. Spilled: without the arrays of the rows. */
static double training_bytes(const broad__sizes *s, const broad_options *o, plan_case how)
{
    int chain = s->fitting == BROAD__FIT_CHAIN, joint = s->fitting == BROAD__FIT_AT_ONCE || broad__joint_beside(o);
    double z = s->rows * s->features * (s->old > 0 ? 2 : 1); /* a grown Z is copied */
    double residuals = (chain ? 2 : 3) * s->rows * s->outputs, targets = s->rows * s->outputs;
    double enhancement = s->old + s->nodes * s->layers;
    double weights =
        2 * s->drawn * s->columns + enhancement * (s->features + s->outputs) + (joint ? s->width * s->outputs : 0);
    double fit = s->fitting == BROAD__FIT_AT_ONCE ? 0 : layer_numbers(s, o, how);
    double kept = 0, grown_fit = s->fitting == BROAD__FIT_STEPWISE ? basis_numbers(&kept, s) : 0;
    double blocks = s->threads * BROAD__BLOCK_ROWS * (s->features + s->columns);
    fit += grown_fit;
    /* The first sums of a chain are kept for the joint weights, everything else of the layers is released before these
     * are solved. */
    if (s->fitting == BROAD__FIT_FINALLY) fit += fmin(s->rows, s->first) * s->first;
    if (joint) fit = fmax(fit, kept + joint_numbers(s, o, how));
    if (how.spilled) return 8 * (blocks + weights + fit);
    /* The targets are released before the layers are searched. */
    return 8 * (z + residuals + weights + fmax(fit, targets));
}

/* ---- a limit --------------------------------------------------------------------------------------------------- */

/* What Z costs to compute and to read back, per thread and second: a usual disk and an ordinary core. */
static const double DISK_BYTES = 1e9, CORE_FLOPS = 20e9, RANKED_INPUTS = 2e7;

static double block_bytes(const broad__sizes *s)
{
    double blocks = 8 * s->threads * BROAD__BLOCK_ROWS * s->inputs;
    return s->threads * THREAD_PIECES + blocks;
}

/* Seconds per row: for computing its Z from its inputs, and for reading Z. */
static double make_seconds(const broad__sizes *s, const broad_options *o)
{
    int ranked = o->scale == BROAD_SCALE_RANK || o->scale == BROAD_SCALE_BOTH || o->scale == BROAD_SCALE_AUTO;
    return 2 * s->columns * s->drawn / (s->threads * CORE_FLOPS) + 8 * s->inputs / DISK_BYTES +
           (ranked ? s->inputs / (s->threads * RANKED_INPUTS) : 0);
}

static double read_seconds(const broad__sizes *s) { return 8 * s->features / DISK_BYTES; }

/* Each layer takes one pass, some two; joint weights three more. */
static double passes(const broad__sizes *s, const broad_options *o)
{
    int joint = s->fitting == BROAD__FIT_AT_ONCE || broad__joint_beside(o);
    return (s->fitting == BROAD__FIT_AT_ONCE ? 0 : 1.5 * s->layers + s->old / fmax(1, s->nodes)) + (joint ? 3 : 0);
}

/* What needs all columns of all rows in memory: fits that are solved again with each layer, and those with more columns
 * than rows, where the matrix has as many rows as the data. */
static int can_spill(const broad__sizes *s)
{
    if (s->fitting == BROAD__FIT_STEPWISE || s->fitting == BROAD__FIT_WINDOW) return 0;
    return s->rows >= (s->fitting == BROAD__FIT_CHAIN ? s->first : s->width);
}

static void plan_spilling(broad_plan *out, const broad__sizes *s, const broad_options *o)
{
    double made = make_seconds(s, o), read = read_seconds(s), z = 8 * s->rows * s->features;
    double residuals = 8 * s->rows * s->outputs * (s->fitting == BROAD__FIT_CHAIN ? 3 : 4);
    out->spilled = 1;
    out->passes = passes(s, o);
    out->bytes_disk = (out->bytes_data > out->memory / 4 ? out->bytes_data : 0) + residuals;
    out->features_recomputed =
        out->passes * made <= out->passes * read + made + read || out->bytes_disk + z > out->bytes_disk_free;
    if (!out->features_recomputed) out->bytes_disk += z;
}

static void plan_limit(broad_plan *out, const broad__sizes *s, const broad_options *o, double here)
{
    double budget = fmin(out->memory, here + out->bytes_available);
    if (here + out->bytes_training + block_bytes(s) > budget && out->can_spill) plan_spilling(out, s, o);
}

void broad__plan_memory(broad_plan *out, const broad__sizes *s, const broad_options *o, int grown)
{
    double resident = number_in("/proc/self/status", "VmRSS:", 1024),
           peak = number_in("/proc/self/status", "VmHWM:", 1024);
    double here = isfinite(resident) ? resident : BASE_BYTES;
    plan_case worst = {.grown = grown, .worst = 1}, likely = {.grown = grown};
    out->bytes_data = 8 * s->rows * (s->inputs + 1);
    out->bytes_training = training_bytes(s, o, worst);
    out->bytes_available = memory_available();
    out->can_spill = can_spill(s);
    out->bytes_disk_free = broad__spill_room();
    if (out->memory > 0) plan_limit(out, s, o, here);
    worst.spilled = likely.spilled = out->spilled;
    int large = (s->fitting == BROAD__FIT_AT_ONCE || broad__joint_beside(o)) && s->width > JOINT_SHARD_MAX;
    double blocks = out->spilled ? block_bytes(s) : 0, packed = large ? s->threads * PACKED_BYTES : 0;
    if (out->spilled) out->bytes_training = training_bytes(s, o, worst) + blocks;
    if (out->spilled) out->bytes_training = fmax(out->bytes_training, TABLE_PIECES);
    /* The table has been read already, unless the plan is for sizes alone. */
    double before = out->spilled || out->memory > 0 ? here : fmax(here, BASE_BYTES + out->bytes_data);
    out->bytes_peak = before + training_bytes(s, o, likely) + blocks + packed;
    if (isfinite(peak)) out->bytes_peak = fmax(out->bytes_peak, peak);
    out->bytes_least = out->memory > 0 ? here + out->bytes_training + packed : 0;
    out->fits = out->memory > 0 ? out->bytes_least <= out->memory && out->bytes_training <= out->bytes_available &&
                                      out->bytes_disk <= out->bytes_disk_free
                                : out->bytes_training <= out->bytes_available;
}

int broad__plan_refuse(const broad_plan *plan)
{
    double least = ceil(plan->bytes_least / 1048576), limit = plan->memory / 1048576;
    if (plan->bytes_disk > plan->bytes_disk_free)
        return broad__fail(
            BROAD_NO_MEMORY,
            "this run needs %.1f GB for rows that do not fit in memory, and %s has %.1f GB free; set TMPDIR "
            "to a folder on a disk with room",
            plan->bytes_disk / 1e9, broad__spill_folder(), plan->bytes_disk_free / 1e9);
    if (!plan->can_spill)
        return broad__fail(
            BROAD_NO_MEMORY,
            "these settings keep the nodes of all rows in memory: %.0fM are needed, and option memory allows "
            "%.0fM; give option weights chain with option supervise residual or none, fewer nodes than rows, or "
            "more memory",
            least, limit);
    return broad__fail(
        BROAD_NO_MEMORY,
        "option memory: %.0fM is too little for this run, even with all rows in files; give at least %.0fM, or use "
        "fewer nodes or threads",
        limit, least);
}
