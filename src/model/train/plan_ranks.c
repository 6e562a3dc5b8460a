/*
 * With N rows in S shards on P ranks, of which one has at most ceil(S / P), a layer of w columns, c outputs and s probes:
 *
 *   sums        d = w^2 + wc + 2ws + 2 numbers, and one that says whether to stop
 *   refinement  wc + 1 numbers of a second pass, and one that says whether to stop
 *   messages    a sum reaches one rank by r messages that it receives, and goes back to all in one broadcast; whether to
 *               stop is asked once per layer: log2 P messages of four bytes, and a broadcast
 *   rows        8 bytes of each feature node, of each column of the widest layer, of E twice and of the probes three times
 */
#include "model/train/plan_ranks.h"

#include <math.h>

#include "base/common.h"
#include "base/status.h"
#include "comm/comm.h"
#include "compute/shards.h"
#include "model/train/plan.h"

/* Wider layers are not shared out: layer/candidate.c. */
enum { WIDTH_MOST = 512 };

static int is_divided(const broad__sizes *s, size_t rows, size_t ranks)
{
    int chain = s->fitting == BROAD__FIT_CHAIN || s->fitting == BROAD__FIT_WINDOW;
    return chain && ranks > 1 && rows >= broad__comm_least_rows && s->first <= WIDTH_MOST && s->rows >= s->first;
}

/* Numbers of the sums of a layer. */
static double sums_of(const broad__sizes *s, double width)
{
    return width * width + width * s->outputs + 2 * width * s->probes + 2;
}

/* What rank 0 receives and broadcasts for a layer. */
static double layer_bytes(const broad__sizes *s, double width, double received, double rounds)
{
    double numbers = sums_of(s, width) + 1 + width * s->outputs + 2;
    return (received + 1) * sizeof(double) * numbers + (rounds + 1) * sizeof(int);
}

static void plan_messages(broad_ranks_plan *out, const broad__sizes *s, size_t shards, size_t ranks)
{
    double received = (double)broad__comm_received(shards, ranks), layers = s->layers,
           rounds = ceil(log2((double)ranks));
    out->sums = sums_of(s, s->nodes);
    out->messages_layer = 2 * (received + 1) + rounds + 1;
    out->steps_layer = 2 * (received + rounds) + 2 * rounds;
    out->bytes_layer = layer_bytes(s, s->nodes, received, rounds);
    out->bytes_first = layer_bytes(s, s->first, received, rounds);
    out->bytes_total = layers > 0 ? out->bytes_first + (layers - 1) * out->bytes_layer : 0;
}

/* The solution of a layer, which every rank computes: of what the plan counts the part that does not grow with the rows. */
static double solve_flops(const broad__sizes *s)
{
    double side = fmin(s->rows, s->nodes), first = fmin(s->rows, s->first), cubes = side * side * side * s->layers;
    cubes += first * first * first - side * side * side;
    return cubes / 3 + (s->probes > 0 ? 9 * cubes : 0);
}

int broad__plan_ranks(broad_ranks_plan *out, const broad_options *options, size_t rows, size_t inputs, size_t outputs,
                      size_t ranks)
{
    broad_plan plan;
    if (!ranks) return broad__fail(BROAD_USAGE, "a plan needs at least one rank");
    int status = broad__plan_run(&plan, options, NULL, rows, inputs, outputs);
    if (status < 0) return status;
    broad__sizes s = broad__plan_sizes(options, NULL, rows, inputs, outputs);
    size_t shards = broad__shard_count(rows), used = broad__min(ranks, shards);
    int divided = is_divided(&s, rows, ranks);
    double share = divided ? (double)broad__comm_most_shards(shards, ranks) / (double)shards : 1;
    double same = divided ? solve_flops(&s) : 0;
    *out = (broad_ranks_plan){.ranks = (double)used, .divided = divided, .rows = ceil(share * s.rows)};
    out->flops_rows = (plan.flops_total - same) * share;
    out->flops_same = same + plan.flops_trials;
    out->bytes_rows = 8 * share * s.rows * (s.features + s.first + 2 * s.outputs + 3 * s.probes);
    out->bytes_sums =
        8 * (divided ? (double)broad__comm_most_shards(shards, ranks) : (double)shards) * sums_of(&s, s.first);
    if (divided) plan_messages(out, &s, shards, ranks);
    return BROAD_OK;
}
