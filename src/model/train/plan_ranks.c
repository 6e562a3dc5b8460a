/*
 * With N rows in S shards on P ranks, of which one has at most ceil(S / P), a layer of w columns, c outputs and s probes:
 *
 *   sums        d = w^2 + wc + 2ws + 2 numbers, and one that says whether to stop; a wide layer has about half of w^2, and
 *               the two of the update before it in a sum of their own
 *   refinement  wc + 1 numbers of a second pass, and one that says whether to stop
 *   messages    a sum reaches one rank by r messages that it receives, and goes back to all in one broadcast; whether to
 *               stop is asked once per layer: log2 P messages of four bytes, and a broadcast
 *   table       8 bytes of each input of the rank's rows, and of each target of all rows
 *   for a while hashes of as many rows as the rank has, in a table that is at most half full; where there are copies, 8 bytes
 *               of each row of all, the first that is equal to it (data/copies.c)
 *   told        two hashes of each row and its target, as they are read; its predictions at the end
 *   in order    all inputs for the fingerprint; for the sums of columns in stretches, with which the ranks are busy at the same
 *               time: data/transform/column_sums.c
 *   rows        8 bytes of each feature node, of each column of the widest layer, of E twice and of the probes three times
 *
 * Joint weights of p columns, of which the first layer of a chain has those before q: about q(p - q/2) + qc numbers, in as
 * many sums as M has bands (layer/joint_sums.c); Z of the rows that are left out, a broadcast of each rank; pc + 1 numbers of
 * a pass that finds the residual, and of each that refines the weights.
 */
#include "model/train/plan_ranks.h"

#include <math.h>
#include <stdint.h>

#include "base/common.h"
#include "base/status.h"
#include "comm/comm.h"
#include "compute/shards.h"
#include "data/transform/column_sums.h"
#include "data/transform/scale.h"
#include "layer/joint_sums.h"
#include "layer/wide_sums.h"
#include "model/train/plan.h"
#include "model/train/plan_card.h"

static size_t size(double count) { return broad__whole(count, SIZE_MAX); }

/* As model/train/rowset.c and layer/candidate.c decide it. */
static int is_divided(const broad__sizes *s, size_t rows, size_t ranks)
{
    if (ranks < 2 || rows < broad__comm_least_rows || s->fitting == BROAD__FIT_STEPWISE) return 0;
    if (s->fitting == BROAD__FIT_CHAIN || s->fitting == BROAD__FIT_WINDOW)
        return broad__candidate_shared(rows, size(s->first)) > 0;
    return broad__wide_has_shards(rows) && s->rows >= s->width;
}

/* Numbers of the sums of a layer. */
static double sums_of(const broad__sizes *s, double width)
{
    double gram = (double)broad__candidate_shared(size(s->rows), size(width));
    return (gram > 0 ? gram : width * width) + width * s->outputs + 2 * width * s->probes + 2;
}

/* Whether the update before a layer has a sum of its own. */
static int settles(const broad__sizes *s, double width)
{
    size_t shared = broad__candidate_shared(size(s->rows), size(width));
    return shared && (double)shared < width * width;
}

/* How sums cross ranks. */
typedef struct crossing {
    double received, rounds; /* messages that rank 0 receives for a sum; steps of a message that goes to all */
    double ranks;            /* that own rows */
} crossing;

/* What rank 0 receives and broadcasts for a layer. */
static double layer_bytes(const broad__sizes *s, double width, const crossing *x, int first)
{
    double numbers = sums_of(s, width) + 1 + width * s->outputs + 2;
    if (s->fitting == BROAD__FIT_AT_ONCE) return 0;
    if (settles(s, width)) numbers += first ? -2 : 1;
    return (x->received + 1) * sizeof(double) * numbers + (x->rounds + 1) * sizeof(int);
}

static void plan_layers(broad_ranks_plan *out, const broad__sizes *s, const crossing *x)
{
    int at_once = s->fitting == BROAD__FIT_AT_ONCE;
    double sums = settles(s, s->nodes) ? 3 : 2, layers = s->layers;
    out->sums = at_once ? 0 : sums_of(s, s->nodes);
    out->messages_layer = at_once ? 0 : sums * (x->received + 1) + x->rounds + 1;
    out->steps_layer = at_once ? 0 : sums * (x->received + x->rounds) + 2 * x->rounds;
    out->bytes_layer = layer_bytes(s, s->nodes, x, 0);
    out->bytes_first = layer_bytes(s, s->first, x, 1);
    out->bytes_total = layers > 0 ? out->bytes_first + (layers - 1) * out->bytes_layer : 0;
}

static void plan_joint(broad_ranks_plan *out, const broad__sizes *s, const broad_options *o, const crossing *x)
{
    size_t sums = 0, p = size(s->width), from = s->fitting == BROAD__FIT_AT_ONCE ? 0 : size(s->first);
    double numbers = 0, pass = s->width * s->outputs + 2, each = (x->received + 1) * sizeof(double);
    int left_out = o->lambda_auto || o->loo != BROAD_LOO_NO;
    broad__joint_sums_needed(&sums, &numbers, p, broad__min(from, p), size(s->outputs));
    out->messages_joint = (double)(sums + 1) * (x->received + 1) + (left_out ? x->ranks : 0) + x->rounds + 1;
    out->steps_joint = (double)(sums + 1) * (x->received + x->rounds) + (left_out ? x->ranks : 0) * x->rounds;
    out->bytes_refine = each * pass;
    out->bytes_joint = each * (numbers + (double)sums + pass) + (x->rounds + 1) * sizeof(int);
    if (left_out) out->bytes_joint += sizeof(double) * fmin(s->rows, BROAD__LOO_ROWS) * s->features;
    out->bytes_total += out->bytes_joint;
}

/* The solution of a layer, which every rank computes: of what the plan counts the part that does not grow with the rows. */
static double solve_flops(const broad__sizes *s)
{
    double side = fmin(s->rows, s->nodes), first = fmin(s->rows, s->first), cubes = side * side * side * s->layers;
    if (s->fitting == BROAD__FIT_AT_ONCE) return 0;
    cubes += first * first * first - side * side * side;
    return cubes / 3 + (s->probes > 0 ? 9 * cubes : 0);
}

/* M, its factor and the rows that are left out; in place of the sums of layers, which are released before. */
static double joint_bytes(const broad__sizes *s, const broad_options *o)
{
    broad__joint_extent extent = {.rows = size(s->rows),
                                  .columns = size(s->width),
                                  .outputs = size(s->outputs),
                                  .features = size(s->features),
                                  .threads = size(s->threads),
                                  .loo = o->lambda_auto || o->loo != BROAD_LOO_NO};
    return 8 * broad__joint_numbers(&extent);
}

/* Reading, the fingerprint and the scaling. */
static void plan_look(broad_ranks_plan *out, const broad__sizes *s, const broad_options *o)
{
    enum { HASHES = 16, SLOT = 24 }; /* bytes */
    double ranks = out->divided ? out->ranks : 1, passes = broad__scaling_needs_squares(o->scale) ? 2 : 1;
    double columns = s->inputs, threads = fmax(s->threads, 1), numbers = s->rows * (s->inputs + 1);
    double stretch = (double)broad__column_sums_stretch(size(columns), size(threads));
    double stretches = ceil(columns / stretch), width = fmin(stretch, columns);
    double side = fmin(threads, ceil(width / BROAD__COLUMN_SUMS_LINE)); /* threads that have columns of their own */
    out->bytes_read = out->bytes_data;
    out->rows_searched = out->rows;
    out->bytes_hashed = 8 * numbers;
    out->bytes_summed = 8 * passes * s->rows * columns;
    if (!out->divided) return;
    out->bytes_search = (HASHES + 2 * SLOT) * out->rows;
    out->bytes_told = 8 * s->rows * (2 + 1 + s->outputs);
    out->bytes_summed = 8 * passes * (ranks + stretches - 1) * s->rows / ranks * width / side;
}

int broad__plan_ranks(broad_ranks_plan *out, const broad_options *options, size_t rows, size_t inputs, size_t outputs,
                      size_t ranks)
{
    broad_plan plan;
    if (!ranks) return broad__fail(BROAD_USAGE, "a plan needs at least one rank");
    if (ranks > UINT32_MAX) return broad__fail(BROAD_USAGE, "a plan is for at most %u ranks", UINT32_MAX);
    int status = broad__plan_run(&plan, options, NULL, rows, inputs, outputs);
    if (status < 0) return status;
    broad__sizes s = broad__plan_sizes(options, NULL, rows, inputs, outputs);
    size_t shards = broad__shard_count(rows), used = broad__min(ranks, shards);
    int divided = is_divided(&s, rows, ranks), at_once = s.fitting == BROAD__FIT_AT_ONCE;
    int joint = at_once || broad__joint_beside(options), wide = settles(&s, s.first);
    crossing x = {(double)broad__comm_received(shards, ranks), ceil(log2((double)ranks)), (double)used};
    double most = divided ? (double)broad__comm_most_shards(shards, ranks) : (double)shards,
           share = most / (double)shards;
    double same = divided ? solve_flops(&s) + (joint ? broad__plan_joint_same(&s, options) : 0) : 0;
    *out = (broad_ranks_plan){.ranks = (double)used, .divided = divided, .rows = ceil(share * s.rows)};
    out->bytes_data = plan.bytes_data - 8 * (1 - share) * s.rows * (double)inputs;
    out->flops_rows = (plan.flops_total - same) * share;
    out->flops_same = same + plan.flops_trials;
    out->bytes_rows = 8 * share * s.rows * (s.features + (at_once ? 0 : s.first) + 2 * s.outputs + 3 * s.probes);
    if (!at_once) out->bytes_sums = 8 * (wide ? (double)broad__wide_parts(shards) : most) * sums_of(&s, s.first);
    if (joint) out->bytes_sums = fmax(out->bytes_sums, joint_bytes(&s, options));
    if (divided) plan_layers(out, &s, &x);
    if (divided && joint) plan_joint(out, &s, options, &x);
    plan_look(out, &s, options);
    broad__plan_card(out, &s, options);
    return BROAD_OK;
}
