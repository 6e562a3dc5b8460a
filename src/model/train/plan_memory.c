/*
 * Memory of a run. In memory the peak is that of the process: the table, Z, K, residuals, sums, weights. Under a limit
 * below that, all arrays that grow with the rows are spilled; what remains are the others, and a block of each spilled
 * array per thread. Without a limit of the caller's, half of the available memory is one; then Z and K are recomputed in each
 * pass first, which takes no files, and only what still does not fit is spilled.
 */
#include "model/train/plan_memory.h"

#include <math.h>
#include <stdint.h>

#include "base/available.h"
#include "base/common.h"
#include "base/spill.h"
#include "base/status.h"
#include "compute/shards.h"
#include "data/transform/rank.h"
#include "feature/phi.h"
#include "layer/joint_sums.h"
#include "layer/search.h"
#include "layer/supervise.h"
#include "layer/wide_sums.h"
#include "model/train/configure.h"
#include "model/train/pilot.h"

/* As in pilot.c, configure.c and feature/sample.c; NAME_BYTES: of an input's name, in the table, the model and the file. */
enum { METRICS_OF_ROUND = 10, SPREAD_ROWS = 256, NAME_BYTES = 120 };
enum { RANGE_ROWS = 4000, RANGE_NODES = 200, JOINT_SHARD_MAX = 256 }; /* the last as in layer/joint_sums.c */

/* Blocks of spilled arrays that are in memory at a time, as measured: those of each thread, of inputs or Z, residuals,
 * targets and roots; those of the residuals that a test looks at; and in place of all training, those of one pass over the
 * table. What products of wide matrices pack, for each thread; and what the process has before it reads anything. */
static const double THREAD_PIECES = 1.7e6, TESTED_PIECES = 2.8e6, TABLE_PIECES = 1e7, PACKED_BYTES = 5e5,
                    BASE_BYTES = 1e7;

/* ---- memory, in numbers of 8 bytes ----------------------------------------------------------------------------- */

/* Which memory is meant. */
typedef struct plan_case {
    int grown;      /* a model grows */
    int recomputed; /* Z and K are not stored */
    int spilled;    /* and the other arrays of the rows are not in memory */
    int worst;      /* draws are refused, and Cholesky breaks down; otherwise neither */
} plan_case;

static size_t size(double count) { return broad__whole(count, SIZE_MAX); }

/* Layers searched one by one: K, its sums and the factor; src/layer/candidate.c, ridge.c and spd.c have these arrays.
 * */
static double layer_numbers(const broad__sizes *s, const broad_options *o, plan_case how)
{
    double side = fmin(s->rows, s->first), shards = (double)broad__shard_count(size(s->rows));
    double k = how.recomputed ? 2 * s->threads * BROAD__BLOCK_ROWS * s->first : s->rows * s->first;
    double sums = shards * s->first * s->outputs;
    if (s->fitting == BROAD__FIT_STEPWISE && o->supervise == BROAD_SUPERVISE_LOO && !o->lambda_auto) return k;
    if (s->first <= 512 && s->rows >= s->first) sums += shards * s->first * s->first;
    /* Draws that are tried together, where the first is refused. */
    double more = how.worst && o->supervise == BROAD_SUPERVISE_RESIDUAL && o->tries > 1 && !o->lambda_auto
                      ? (double)broad__candidate_together(size(s->rows), size(s->nodes), 0) - 1
                      : 0;
    if (more > 0)
        sums += (1 + more + more * shards) * s->nodes * (s->nodes + s->outputs) + more * s->features * s->nodes;
    double system = 2 * side * side + 3 * s->first * s->outputs, spectral = 0, range = 0;
    broad__ridge_request request = broad__supervise_request(o);
    if (request.lambda_auto || request.loo || request.operator_norm)
        spectral = (s->rows < s->first ? 2 : 3) * side * side + 20 * side * (1 + s->outputs) +
                   350 * side * (request.penalty > 0);
    else if (!request.relative) spectral = 2 * side * side; /* where lambda is lost in rounding */
    sums += (shards + 1) * s->first * 2 * s->probes;
    system += (s->width + 2 * s->first) * s->probes; /* what layers subtract from the probes is kept */
    int raced = s->probes > 0 && o->range_steps_count > 1;
    if (!how.grown && (raced || (o->range_auto && o->feature_weights != BROAD_FEATURE_WEIGHTS_SAMPLED))) {
        side = fmin(fmin(s->rows, RANGE_ROWS), s->features + fmin(s->nodes, RANGE_NODES));
        range = 5 * side * side + 20 * side * (1 + s->outputs) + fmin(s->rows, RANGE_ROWS) * 2 * s->features;
        range += fmin(s->rows, RANGE_ROWS) * (side + 3 * fmax(s->probes, 20));
    }
    /* Parts of the sums of a wide layer are released before the system is factored. */
    double parts = 0, shared = (double)broad__candidate_shared(size(s->rows), size(s->first));
    if (shared > 0 && shared < s->first * s->first)
        parts = (double)broad__wide_parts(broad__shard_count(size(s->rows))) * shared - side * side;
    return fmax(k + sums + system + fmax(spectral, parts), range);
}

/* One ridge over all columns. */
static double joint_numbers(const broad__sizes *s, const broad_options *o, plan_case how)
{
    broad__joint_extent extent = {
        .rows = size(s->rows),
        .columns = size(s->width),
        .outputs = size(s->outputs),
        .features = size(s->features),
        .threads = size(s->threads),
        .loo = o->lambda_auto || o->loo != BROAD_LOO_NO,
        .spectral = how.worst && !o->lambda_auto && o->lambda < 1e-13 * s->rows * s->width,
        .spare = o->lambda_auto && !(o->memory > 0) && s->fitting == BROAD__FIT_FINALLY && s->old == 0 &&
                 s->layers == 1 && s->rows >= s->width,
    };
    return broad__joint_numbers(&extent);
}

/* The growing fit of all layers so far. */
typedef struct growing {
    double have;     /* columns */
    double capacity; /* for which there is room, in the factorisation; it doubles */
    int dual;
    double held; /* numbers */
} growing;

/* One layer more in the factorisation: src/layer/growing_qr.c. Returns the peak. */
static double grow_columns(growing *g, const broad__sizes *s, double width)
{
    double have = g->have + width, c = s->outputs;
    double larger = have <= g->capacity ? g->capacity : fmax(have, 2 * g->capacity);
    double moved = larger > g->capacity ? g->capacity : 0;
    double there = s->rows * (larger + moved) + 2 * (larger * larger + moved * moved) + larger * c;
    *g = (growing){.have = have, .capacity = larger, .held = s->rows * larger + 2 * larger * larger};
    return there + s->rows * (width + 3) + 3 * have * width;
}

/* The same in the dual form: src/layer/growing_dual.c. What the factorisation held is there until the layer is
 * accepted. */
static double grow_rows(growing *g, const broad__sizes *s, double width)
{
    enum { CHUNK = 64 };
    double n = s->rows, c = s->outputs, old = n * g->have, all = old + n * width;
    double roots = 2 * n * n + n * c, trial = n * (width + c), chunks = 3 * n * fmin(width, CHUNK);
    double peak = roots + old + trial + fmax(chunks, all);
    if (!g->dual) {
        double start = n * n + 2 * old + g->have * g->have;
        peak = fmax(peak, g->held + fmax(start, roots + trial + fmax(chunks, 2 * old)));
    }
    *g = (growing){.have = g->have + width, .dual = 1, .held = roots + all};
    return peak;
}

/* *out_kept: what the fit holds when it has grown. */
static double growing_numbers(double *out_kept, const broad__sizes *s, const broad_options *o)
{
    growing g = {.have = s->old_width, .capacity = s->old_width};
    double peak = 0;
    int may_turn = o->lambda_auto || o->lambda > 0;
    if (may_turn && g.have > s->rows) grow_rows(&g, s, 0);
    for (size_t made = 0; made < size(s->layers); made++) {
        double width = g.have == 0 ? s->first : (s->width - s->old_width) / s->layers;
        int rows = g.dual || (may_turn && g.have + width > s->rows);
        peak = fmax(peak, rows ? grow_rows(&g, s, width) : grow_columns(&g, s, width));
    }
    *out_kept = g.held;
    return fmax(peak, *out_kept);
}

static int is_ranked(const broad_options *o)
{
    return o->scale == BROAD_SCALE_RANK || o->scale == BROAD_SCALE_BOTH || o->scale == BROAD_SCALE_AUTO;
}

/* Of the model, without the output weights: what a column is scaled by, its name (in bytes: NAME), and the nodes. */
static double model_numbers(const broad__sizes *s, const broad_options *o)
{
    double knots = is_ranked(o) ? 2 * BROAD__KNOTS * s->inputs : 0;
    return knots + 3 * s->columns + NAME_BYTES / 8.0 * s->inputs + s->drawn * s->columns;
}

/* Matrices of the metrics: those of a round with their roots, and what each round of both halves has found, from every
 * start. */
static double metric_numbers(const broad__sizes *s, double rounds, double ways)
{
    if (rounds == 0) return 0;
    double starts = BROAD__START_COUNT - (s->columns > s->inputs ? 0 : BROAD__STARTS_PLAIN);
    double found = starts * (BROAD__ROUNDS_MOST + 1);
    return ways * (starts * METRICS_OF_ROUND + found) * s->columns *
           (s->columns <= BROAD__METRIC_COLUMNS ? s->columns : 1);
}

/* Trials side by side: their rows, then of each its nodes, either what further nodes are sampled from or the gradients, and
 * its joint fit. */
static double trials_numbers(const broad__sizes *s, const broad_options *o, double rows, double nodes, int learns)
{
    size_t count = broad__trials_at_a_time(o, size(s->threads), size(rows), size(s->columns), size(nodes));
    double side = fmin(rows, nodes), sampling = nodes / 2 + fmin(rows, SPREAD_ROWS) + (rows <= nodes / 2 ? rows : 0);
    double each = s->columns * (nodes + fmax(sampling, learns ? rows : 0)) + 4 * rows * nodes + 3 * side * side;
    return rows * s->inputs + (double)count * each;
}

/* Trials on some rows before the network is built: src/model/train/pilot.c. The rows and their halves, the trials on one
 * set of rows or on both halves, and the metrics. */
static double pilot_numbers(const broad__sizes *s, const broad_options *o)
{
    if (!broad__pilot_wanted(o) || s->drawn == 0) return 0;
    broad__effort_sizes sizes = broad__effort_sizes_of(o, size(s->rows));
    int learns = broad__pilot_learns(o);
    double rounds = learns ? (double)sizes.rounds : 0, taken = fmin(s->rows, 2 * (double)sizes.rows);
    double ways = taken < BROAD__CROSSED_ROWS ? 2 : 1, nodes = fmin(s->drawn, (double)sizes.nodes), trials = 0;
    if (!learns || ways == 2) trials = trials_numbers(s, o, taken, nodes, 0);
    if (learns) trials = fmax(trials, 2 * trials_numbers(s, o, taken / 2, nodes, 1));
    if (learns) {
        double rows = fmin(s->rows, (double)sizes.final_rows);
        trials = fmax(trials, trials_numbers(s, o, rows, (double)sizes.final_nodes, 0));
    }
    return 2 * taken * s->inputs + trials + metric_numbers(s, rounds, ways);
}

/* Peak of what training holds besides the table and the model: Z and what is computed from it, after the trials. */
static double network_numbers(const broad__sizes *s, const broad_options *o, plan_case how)
{
    int chain = s->fitting == BROAD__FIT_CHAIN, joint = s->fitting == BROAD__FIT_AT_ONCE || broad__joint_beside(o);
    double z = how.recomputed ? 0 : s->rows * s->features * (s->old > 0 ? 2 : 1); /* a grown Z is copied */
    double residuals = how.spilled ? 0
                                   : (chain && s->probes == 0 ? 2 * s->outputs : 3 * s->outputs + 1) * s->rows +
                                         3 * s->rows * s->probes;
    double targets = how.spilled ? 0 : s->rows * s->outputs;
    double fit = s->fitting == BROAD__FIT_AT_ONCE ? 0 : layer_numbers(s, o, how);
    double kept = 0, grown_fit = s->fitting == BROAD__FIT_STEPWISE ? growing_numbers(&kept, s, o) : 0;
    double blocks = how.recomputed ? s->threads * BROAD__BLOCK_ROWS * s->features : 0;
    fit += grown_fit;
    /* The first sums of a chain are kept for the joint weights, everything else of the layers is released before these
     * are solved. */
    if (s->fitting == BROAD__FIT_FINALLY) fit += fmin(s->rows, s->first) * s->first;
    if (joint) fit = fmax(fit, kept + joint_numbers(s, o, how));
    /* The targets are released before the layers are searched; not where they are needed again. */
    return blocks + z + residuals + (how.recomputed ? fit + targets : fmax(fit, targets));
}

/* Besides the table: the model, the scaled inputs of some rows, and the largest of trials, network and the file in memory. */
static double training_bytes(const broad__sizes *s, const broad_options *o, plan_case how)
{
    int joint = s->fitting == BROAD__FIT_AT_ONCE || broad__joint_beside(o);
    double model = model_numbers(s, o), enhancement = s->old + s->nodes * s->layers;
    double weights = enhancement * (s->features + s->outputs) + (joint ? s->width * s->outputs : 0);
    int whole = is_ranked(o) || o->precision == BROAD_PRECISION_FLOAT || s->drawn == 0;
    double scaled = s->threads * (double)broad__phi_scratch(size(s->columns), size(s->rows), whole);
    double network = network_numbers(s, o, how) + weights + s->drawn * s->columns;
    return 8 * (model + scaled + fmax(fmax(pilot_numbers(s, o), network), model + 2 * weights));
}

/* ---- a limit --------------------------------------------------------------------------------------------------- */

/* What Z costs to compute and to read back, per thread and second: a usual disk and an ordinary core. */
static const double DISK_BYTES = 1e9, CORE_FLOPS = 20e9, RANKED_INPUTS = 2e7, ACTIVATION_SECONDS = 2e-9;
/* A byte of fresh memory, first written to and then read in each pass; less than so many bytes take no time. */
static const double FRESH_SECONDS = 2e-9, FRESH_LEAST = 6.4e7;

/* recomputed: the passes read inputs, and Z otherwise. */
static double block_bytes(const broad__sizes *s, const broad_options *o, int recomputed)
{
    double blocks = 8 * s->threads * BROAD__BLOCK_ROWS * (recomputed ? s->inputs : s->features);
    return s->threads * (THREAD_PIECES + (o->supervise == BROAD_SUPERVISE_NONE ? 0 : TESTED_PIECES)) + blocks;
}

/* Seconds per row: for computing its Z from its inputs, and for reading Z. */
static double make_seconds(const broad__sizes *s, const broad_options *o)
{
    return 2 * s->columns * s->drawn / (s->threads * CORE_FLOPS) + 8 * s->inputs / DISK_BYTES +
           (is_ranked(o) ? s->inputs / (s->threads * RANKED_INPUTS) : 0);
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
    int chain = s->fitting == BROAD__FIT_CHAIN && s->probes == 0;
    double residuals = 8 * s->rows * (chain ? 3 * s->outputs : 4 * s->outputs + 2 + 4 * s->probes);
    out->spilled = 1;
    out->passes = passes(s, o);
    out->bytes_disk = (out->bytes_data > out->memory / 4 ? out->bytes_data : 0) + residuals;
    out->features_recomputed =
        out->passes * made <= out->passes * read + made + read || out->bytes_disk + z > out->bytes_disk_free;
    if (!out->features_recomputed) out->bytes_disk += z;
}

/* Where there is memory enough: whether writing Z and the columns of a layer to fresh memory takes longer than computing
 * them in each pass. */
static int faster_recomputed(const broad__sizes *s, const broad_options *o)
{
    double z = 2 * s->columns * s->drawn / CORE_FLOPS + s->features * ACTIVATION_SECONDS;
    double again = passes(s, o) * z + 0.5 * s->layers * 2 * s->features * s->nodes / CORE_FLOPS;
    double bytes = 8 * (s->features + (s->fitting == BROAD__FIT_AT_ONCE ? 0 : s->first));
    if (!can_spill(s) || s->old > 0 || s->rows * bytes < FRESH_LEAST) return 0;
    return again < bytes * FRESH_SECONDS;
}

static void plan_limit(broad_plan *out, const broad__sizes *s, const broad_options *o, double here, int grown)
{
    double budget = fmin(out->memory, here + out->bytes_available);
    plan_case recomputed = {.grown = grown, .worst = 1, .recomputed = 1};
    int enough = here + out->bytes_training + (out->memory_automatic ? 0 : block_bytes(s, o, 1)) <= budget;
    if (!out->can_spill || (enough && !(out->memory_automatic && faster_recomputed(s, o)))) return;
    if (out->memory_automatic && here + training_bytes(s, o, recomputed) <= budget) {
        out->features_recomputed = 1;
        out->passes = passes(s, o);
    } else {
        plan_spilling(out, s, o);
    }
}

/* The limit in force: the caller's, or half of what is available besides what the process has. */
static void choose_limit(broad_plan *out, size_t asked, double here)
{
    out->bytes_available = broad__memory_available();
    out->memory = asked == SIZE_MAX ? 0 : (double)asked;
    out->memory_automatic = asked == 0 && isfinite(out->bytes_available);
    if (out->memory_automatic) out->memory = here + floor(out->bytes_available / 2);
}

static int plan_fits(const broad_plan *plan)
{
    if (plan->bytes_training > plan->bytes_available || plan->bytes_disk > plan->bytes_disk_free) return 0;
    return plan->memory_automatic || plan->memory == 0 || plan->bytes_least <= plan->memory;
}

void broad__plan_memory(broad_plan *out, const broad__sizes *s, const broad_options *o, size_t asked, int grown)
{
    double resident = broad__memory_resident(), peak = broad__memory_peak();
    double here = isfinite(resident) ? resident : BASE_BYTES;
    plan_case worst = {.grown = grown, .worst = 1}, likely = {.grown = grown};
    choose_limit(out, asked, here);
    out->bytes_data = 8 * s->rows * (s->inputs + 1);
    out->bytes_training = training_bytes(s, o, worst);
    out->can_spill = can_spill(s);
    out->bytes_disk_free = broad__spill_room();
    if (out->memory > 0) plan_limit(out, s, o, here, grown);
    worst.spilled = likely.spilled = out->spilled;
    worst.recomputed = likely.recomputed = out->spilled || out->features_recomputed;
    int large = (s->fitting == BROAD__FIT_AT_ONCE || broad__joint_beside(o)) && s->width > JOINT_SHARD_MAX;
    double blocks = out->spilled ? block_bytes(s, o, out->features_recomputed) : 0,
           packed = large ? s->threads * PACKED_BYTES : 0;
    out->bytes_training = training_bytes(s, o, worst) + blocks;
    if (out->spilled) out->bytes_training = fmax(out->bytes_training, TABLE_PIECES);
    /* The table has been read already, unless the plan is for sizes alone. */
    int read = out->spilled || (out->memory > 0 && !out->memory_automatic);
    double before = read ? here : fmax(here, BASE_BYTES + out->bytes_data);
    out->bytes_peak = before + training_bytes(s, o, likely) + blocks + packed;
    if (isfinite(peak)) out->bytes_peak = fmax(out->bytes_peak, peak);
    out->bytes_least = out->memory > 0 ? here + out->bytes_training + packed : 0;
    out->fits = plan_fits(out);
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
    if (plan->memory_automatic)
        return broad__fail(
            BROAD_NO_MEMORY,
            "this run needs %.1f GB of memory besides the table, and %.1f GB are available; use fewer nodes, "
            "layers or rows",
            plan->bytes_training / 1e9, plan->bytes_available / 1e9);
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
