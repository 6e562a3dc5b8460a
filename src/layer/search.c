#include "layer/search.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "layer/score.h"
#include "layer/supervise.h"
#include "rng/draw.h"

/* A value this little above the bound may still pass once the residual is computed directly. */
static const double SCREEN = 1e-6;
/* And one this much below it passes without a doubt: the norm from the sums is right to 1e-9 of what was there before.
 * */
static const double CERTAIN = 1e-8;
/* Below this part of the norm before, cancellation leaves the sums too few digits of what is left. */
static const double LITTLE = 0.01;

typedef struct candidate {
    size_t feature, step, draw;
} candidate;

/* One run of the search. */
typedef struct run {
    broad__search *search;
    const broad__search_task *task;
    broad__search_result *out;
    size_t features, steps, draws; /* extent of the table of values */
    candidate at;                  /* the draw that the solution belongs to */
    int fresh;                     /* the solution is up to date */
    candidate batch; /* first of the draws tried together, whose weights have been drawn; the others follow it */
    size_t batch_count;
    size_t feature_now; /* Z belongs to this step */
    size_t tries;
} run;

static size_t index_of(const run *r, candidate c) { return (c.feature * r->steps + c.step) * r->draws + c.draw; }

static double *value_of(run *r, candidate c) { return &r->search->values[index_of(r, c)]; }

static double *slack_of(run *r, candidate c) { return &r->search->slack[index_of(r, c)]; }

static double *merit_of(run *r, candidate c) { return &r->search->merits[index_of(r, c)]; }

void broad__search_clear(broad__search *search)
{
    broad__ridge_clear(&search->ridge);
    broad__free(search->weight);
    broad__free(search->bias);
    broad__free(search->next_weight);
    broad__free(search->next_bias);
    broad__free(search->values);
    broad__free(search->merits);
    broad__free(search->slack);
    memset(search, 0, sizeof *search);
}

static broad__ridge_request request_of(const run *r)
{
    const broad__search_task *task = r->task;
    broad__ridge_request request = broad__supervise_request(task->options);
    if (request.relative && task->chain_lambda > 0) request.lambda = task->chain_lambda;
    if (task->qr && task->qr->columns) {
        request.lambda_auto = 0;
        request.lambda = task->qr->lambda;
    }
    return request;
}

static broad__draw draw_of(const run *r, size_t index, size_t step, size_t draw, size_t nodes)
{
    const broad_options *o = r->task->options;
    return (broad__draw){{o->seed, BROAD__FOR_ENHANCEMENT, (uint32_t)index, (uint16_t)step, (uint16_t)draw},
                         r->task->residual->z.features,
                         nodes,
                         r->task->range * o->range_steps[step],
                         o->range_unit};
}

static broad__drawing drawing_of(const broad__draw *draw)
{
    const broad__stream *s = &draw->stream;
    return (broad__drawing){1,
                            {s->layer, (uint32_t)s->step << 16 | s->draw, (uint32_t)s->purpose << 24},
                            s->seed,
                            draw->range,
                            broad__draw_scale(draw)};
}

static int same_draw(const broad__draw *a, const broad__draw *b)
{
    return a->stream.seed == b->stream.seed && a->stream.purpose == b->stream.purpose &&
           a->stream.layer == b->stream.layer && a->stream.step == b->stream.step && a->stream.draw == b->stream.draw &&
           a->inputs == b->inputs && a->nodes == b->nodes && a->range == b->range && a->unit == b->unit;
}

/* ---- the layer after this one, while the rows pass ---------------------------------------------------------------- */

/* Its first draw; and on a device of its own its nodes, which are computed while the processor solves for this one. */
static int begin_next(void *context)
{
    run *r = context;
    broad__search *s = r->search;
    const broad__search_task *task = r->task;
    broad__draw next = draw_of(r, task->index + 1, 0, 0, task->following);
    if (!s->next.nodes || !same_draw(&s->next, &next)) {
        broad__far_void_ahead(task->residual, s->next_weight);
        broad__draw_nodes(s->next_weight, s->next_bias, &next);
        s->next = next;
    }
    broad__kblock kblock = {{next.inputs, next.nodes, s->next_weight, s->next_bias, task->options->activation, 0, NULL,
                             NULL, drawing_of(&next)},
                            0,
                            0};
    return broad__far_compute_ahead(task->residual, &kblock);
}

/* During the next pass, if that is worth anything. On the processor its nodes have no more room than they take, so that the
 * layer can have it as it is. */
static int expect_next(run *r)
{
    broad__search *s = r->search;
    const broad__search_task *task = r->task;
    int far = task->residual->at->memory != NULL;
    size_t weights = task->residual->z.features * task->following, biases = task->following;
    if (!task->following || (far && !task->may_defer)) return BROAD_OK;
    if (far) weights = broad__max(weights, s->weight_capacity), biases = broad__max(biases, s->bias_capacity);
    if (weights > s->next_weight_capacity || biases > s->next_bias_capacity) {
        broad__far_void_ahead(task->residual, s->next_weight);
        s->next.nodes = 0;
    }
    int status = broad__reserve_unset(&s->next_weight, &s->next_weight_capacity, weights);
    if (status == BROAD_OK) status = broad__reserve_unset(&s->next_bias, &s->next_bias_capacity, biases);
    if (status == BROAD_OK) task->residual->meanwhile = begin_next, task->residual->meanwhile_context = r;
    return status;
}

/* A draw that has been made ahead is taken over. */
static int take_next(run *r, const broad__draw *wanted)
{
    broad__search *s = r->search;
    if (!s->next.nodes || !same_draw(&s->next, wanted)) return 0;
    double *weight = s->weight, *bias = s->bias;
    size_t weights = s->weight_capacity, biases = s->bias_capacity;
    s->weight = s->next_weight, s->bias = s->next_bias;
    s->weight_capacity = s->next_weight_capacity, s->bias_capacity = s->next_bias_capacity;
    s->next_weight = weight, s->next_bias = bias;
    s->next_weight_capacity = weights, s->next_bias_capacity = biases;
    s->next.nodes = 0;
    return 1;
}

/* A chain: the candidate by itself against E. */
static int fit_alone(run *r, const broad__kblock *kblock)
{
    broad__search *s = r->search;
    const broad__search_task *task = r->task;
    broad__ridge_request request = request_of(r);
    int status = expect_next(r);
    if (status == BROAD_OK) status = broad__candidate_compute(task->residual, kblock, 1);
    task->residual->meanwhile = NULL;
    return status == BROAD_OK ? broad__ridge_solve(&s->ridge, task->residual, &request) : status;
}

/* Everything so far and the candidate together: leave-one-out of the joint fit. */
static int fit_jointly(run *r, const broad__kblock *kblock)
{
    broad__search *s = r->search;
    const broad__search_task *task = r->task;
    int status = BROAD_OK;
    if (task->qr->columns || !task->options->lambda_auto) {
        s->ridge.lambda = task->qr->columns ? task->qr->lambda : task->options->lambda;
        status = broad__candidate_nodes(task->residual, kblock, 1);
    } else {
        status = fit_alone(r, kblock);
    }
    return status == BROAD_OK ? broad__growing_qr_try(task->qr, task->residual, task->y, s->ridge.lambda) : status;
}

static broad__kblock kblock_of(const run *r, size_t slot)
{
    broad__search *s = r->search;
    const broad__search_task *task = r->task;
    size_t features = task->residual->z.features;
    broad__draw draw = draw_of(r, task->index, r->batch.step, r->batch.draw + slot, task->nodes);
    return (broad__kblock){{features, task->nodes, s->weight + slot * features * task->nodes,
                            s->bias + slot * task->nodes, task->options->activation,
                            task->options->precision == BROAD_PRECISION_FLOAT, NULL, NULL, drawing_of(&draw)},
                           task->first,
                           task->prefix};
}

/* Draws the nodes of `count` places from c on. */
static int draw(run *r, candidate c, size_t count)
{
    broad__search *s = r->search;
    const broad__search_task *task = r->task;
    size_t features = task->residual->z.features;
    r->fresh = 0;
    r->batch_count = 0;
    int status = c.feature != r->feature_now ? task->redraw(task->context, c.feature) : BROAD_OK;
    if (status == BROAD_OK) r->feature_now = c.feature;
    broad__draw first = draw_of(r, task->index, c.step, c.draw, task->nodes);
    int taken = status == BROAD_OK && count == 1 && take_next(r, &first);
    /* What was drawn for this layer ahead of time may have room for one draw alone. */
    if (status == BROAD_OK)
        status = broad__reserve_unset(&s->weight, &s->weight_capacity, count * features * task->nodes);
    if (status == BROAD_OK) status = broad__reserve_unset(&s->bias, &s->bias_capacity, count * task->nodes);
    if (status < 0) return status;
    if (!taken) broad__far_void_ahead(task->residual, s->weight);
    for (size_t i = taken ? count : 0; i < count; i++) {
        broad__draw draw = draw_of(r, task->index, c.step, c.draw + i, task->nodes);
        broad__draw_nodes(s->weight + i * features * task->nodes, s->bias + i * task->nodes, &draw);
    }
    r->batch = c;
    r->batch_count = count;
    return BROAD_OK;
}

/* The solution of a candidate and what the test says of it. */
static int judge(run *r, candidate c, int status)
{
    broad__search *s = r->search;
    const broad__search_task *task = r->task;
    const broad_options *o = task->options;
    if (status < 0) return status;
    r->at = c;
    r->fresh = 1;
    int jointly = task->qr && o->supervise == BROAD_SUPERVISE_LOO;
    *value_of(r, c) =
        jointly ? task->qr->trial_loo / task->qr->loo : broad__supervise_value(o, &s->ridge, task->residual);
    *merit_of(r, c) = o->supervise == BROAD_SUPERVISE_OUTPUT ? s->ridge.estimate : *value_of(r, c);
    return BROAD_OK;
}

/* Draws the nodes of a candidate, computes K and solves. */
static int evaluate(run *r, candidate c)
{
    const broad__search_task *task = r->task;
    int status = draw(r, c, 1);
    if (status < 0) return status;
    broad__kblock kblock = kblock_of(r, 0);
    int jointly = task->qr && task->options->supervise == BROAD_SUPERVISE_LOO;
    return judge(r, c, jointly ? fit_jointly(r, &kblock) : fit_alone(r, &kblock));
}

/* One of the draws tried together: solves it from its sums. */
static int evaluate_trial(run *r, candidate c)
{
    broad__search *s = r->search;
    const broad__search_task *task = r->task;
    size_t slot = c.draw - r->batch.draw;
    broad__kblock kblock = kblock_of(r, slot);
    broad__ridge_request request = request_of(r);
    broad__candidate_take(task->residual, &kblock, slot);
    return judge(r, c, broad__ridge_solve(&s->ridge, task->residual, &request));
}

/* The sums of several draws in one pass. */
static int try_together(run *r, candidate c, size_t count)
{
    broad__kblock kblocks[BROAD__TOGETHER];
    int status = draw(r, c, count);
    for (size_t i = 0; i < count; i++) kblocks[i] = kblock_of(r, i);
    return status == BROAD_OK ? broad__candidate_trials(r->task->residual, kblocks, count) : status;
}

/* Weights, sums and solution of a candidate, as they were when it was tried. */
static int evaluate_again(run *r, candidate c)
{
    if (r->fresh && memcmp(&r->at, &c, sizeof c) == 0) return BROAD_OK;
    int there = r->batch_count > 1 && c.feature == r->batch.feature && c.step == r->batch.step &&
                c.draw >= r->batch.draw && c.draw < r->batch.draw + r->batch_count;
    return there ? evaluate_trial(r, c) : evaluate(r, c);
}

/* How many draws may go into one pass: several where sums are all that the test needs. */
static size_t max_together(const run *r)
{
    const broad__search_task *task = r->task;
    broad__ridge_request request = request_of(r);
    if (task->qr || task->options->supervise == BROAD_SUPERVISE_NONE) return 1;
    int spectral = request.lambda_auto && !(request.penalty > 0);
    if (spectral || request.loo || request.operator_norm || request.outputs) return 1;
    return broad__candidate_together(task->residual->rows, task->prefix + task->nodes, task->residual->probes.count);
}

/* The same for those from here on: one alone where the first is likely to do. */
static size_t together(const run *r, size_t drawn)
{
    broad__search *s = r->search;
    const broad__search_task *task = r->task;
    size_t max = max_together(r), left = r->draws - drawn;
    if (task->options->select == BROAD_SELECT_FIRST && r->tries == 0 && s->tries <= 1) return 1;
    return broad__min(left, max);
}

/* What the record says of the chain's degrees of freedom: with `inner` after the layer. */
static void certify_score(run *r, double after, double inner)
{
    const broad__residual *residual = r->task->residual;
    broad__certificate *c = &r->out->certificate;
    if (c->test != BROAD_SUPERVISE_GCV) return;
    c->penalty = r->task->options->penalty;
    c->probes = residual->probes.exact ? 0 : residual->probes.count;
    c->df_before = broad__probes_df(&residual->probes);
    c->df = broad__probes_df_of(&residual->probes, inner);
    c->score = broad__score(&residual->probes, after, inner, c->penalty);
}

static void certify(run *r, broad__bound bound, size_t relaxed, double tested, double after)
{
    broad__search *s = r->search;
    const broad__search_task *task = r->task;
    double before = task->residual->norm;
    r->out->certificate = (broad__certificate){
        .origin = task->origin,
        .test = task->options->supervise,
        .rows = task->residual->rows,
        .gamma = bound.gamma,
        .mu = bound.mu,
        .bound = bound.sum,
        .norm_before = before,
        .norm_after = after,
        .ratio = after / before,
        .tested = tested,
        .lambda = task->qr ? task->qr->lambda : s->ridge.lambda,
        .range = task->options->range_steps[r->at.step],
        .step = r->at.step,
        .draw = r->at.draw,
        .tries = r->tries,
        .relaxed = relaxed,
        .passed = 1,
    };
    if (!task->qr)
        broad__hash_text(r->out->certificate.weights, s->ridge.w,
                         task->residual->candidate.width * task->residual->outputs * sizeof(double));
    broad__kblock kblock = kblock_of(r, r->at.draw - r->batch.draw);
    certify_score(r, after, s->ridge.inner);
    r->out->w = task->qr ? NULL : s->ridge.w;
    r->out->probe_w = task->residual->probes.count ? s->ridge.probe_w : NULL;
    r->out->inner = s->ridge.inner;
    r->out->weight = kblock.nodes.weight;
    r->out->bias = kblock.nodes.bias;
    r->out->passed = 1;
    if (r->out->deferred) return;
    broad__residual_commit(task->residual, after);
    if (task->residual->probes.count) broad__probes_commit(task->residual, s->ridge.inner);
}

/* Whether the draw passes without a doubt, so that E can wait for the next pass. */
static int certain(int *out, const run *r, broad__bound bound)
{
    broad__search *s = r->search;
    const broad__search_task *task = r->task;
    broad_supervise test = task->options->supervise;
    double norm = task->residual->norm;
    *out = 0;
    if (!task->may_defer || task->qr || task->residual->candidate.dual) return BROAD_OK;
    int scored = test == BROAD_SUPERVISE_GCV;
    if (test != BROAD_SUPERVISE_RESIDUAL && test != BROAD_SUPERVISE_NONE && !scored) return BROAD_OK;
    int status = broad__ridge_refine(&s->ridge, task->residual);
    *out =
        s->ridge.settled && s->ridge.estimate <= bound.sum * (1 - CERTAIN) * norm && s->ridge.estimate >= LITTLE * norm;
    if (scored) *out &= broad__supervise_value(task->options, &s->ridge, task->residual) <= bound.sum * (1 - CERTAIN);
    return status;
}

/* The residual with the draw in next, computed directly, and its norm. */
static int residual_with(double *out_norm, run *r)
{
    broad__search *s = r->search;
    const broad__search_task *task = r->task;
    int status = BROAD_OK, tried = task->options->supervise == BROAD_SUPERVISE_LOO;
    if (!task->qr) status = broad__ridge_finish(&s->ridge, task->residual);
    if (status == BROAD_OK && task->residual->probes.count)
        status = broad__probes_next(&s->ridge.inner, task->residual, s->ridge.probe_w);
    if (task->qr && !tried) status = broad__growing_qr_try(task->qr, task->residual, task->y, s->ridge.lambda);
    *out_norm = task->qr ? task->qr->trial_norm : s->ridge.norm;
    return status;
}

/* Of the chain with the draw, whose residual has this norm, and before it. */
static double score_ratio(const run *r, double norm)
{
    const broad__search_task *task = r->task;
    double penalty = task->options->penalty;
    return broad__score(&task->residual->probes, norm, r->search->ridge.inner, penalty) /
           broad__score_now(task->residual, penalty);
}

/* What is left of the worst output, again by orthogonal columns where lambda is next to nothing: the sums do not tell that of
 * nodes that depend on each other. */
static int test_again(run *r, candidate c)
{
    const broad__search_task *task = r->task;
    const broad__candidate *k = &task->residual->candidate;
    double lambda = r->search->ridge.lambda, size = 0;
    if (!task->qr || task->options->supervise != BROAD_SUPERVISE_OUTPUT) return BROAD_OK;
    size_t side = k->dual ? task->residual->rows : k->width;
    for (size_t i = 0; i < side; i++) size += k->matrix[i * side + i];
    if (!broad__growing_qr_negligible(lambda, size, k->width)) return BROAD_OK;
    return broad__growing_qr_alone(value_of(r, c), task->residual, lambda);
}

/* Keeps the draw if it also holds with the residual computed directly; otherwise it counts with what that gave, and a
 * relaxed bound may still take it. */
static int keep(run *r, candidate c, broad__bound bound, size_t relaxed)
{
    broad__search *s = r->search;
    const broad__search_task *task = r->task;
    broad_supervise test = task->options->supervise;
    double norm = 0;
    int status = evaluate_again(r, c);
    if (status == BROAD_OK) status = test_again(r, c);
    if (status == BROAD_OK && !task->qr) status = broad__ridge_complete(&s->ridge, task->residual);
    if (status < 0) return status;
    status = certain(&r->out->deferred, r, bound);
    if (r->out->deferred) norm = s->ridge.estimate;
    else if (status == BROAD_OK) status = residual_with(&norm, r);
    if (status < 0) return status;
    r->fresh = 0;
    double ratio = norm / task->residual->norm, tested = *value_of(r, c);
    if (test == BROAD_SUPERVISE_RESIDUAL || test == BROAD_SUPERVISE_NONE) tested = ratio;
    if (test == BROAD_SUPERVISE_GCV) tested = score_ratio(r, norm);
    double whole = test == BROAD_SUPERVISE_OUTPUT ? ratio * ratio : ratio;
    if (tested <= bound.sum && whole <= bound.sum) {
        status = task->qr ? broad__growing_qr_accept(task->qr) : BROAD_OK;
        if (status == BROAD_OK) certify(r, bound, relaxed, tested, norm);
    } else {
        *value_of(r, c) = isfinite(norm) ? fmax(tested, whole) : INFINITY;
        *slack_of(r, c) = 0;
    }
    return status;
}

/* The candidate to keep among those evaluated so far, in the order of the search; 0 if none passes. */
static int choose(candidate *out, run *r, double bound)
{
    for (size_t f = 0; f < r->features; f++)
        for (size_t step = 0; step < r->steps; step++) {
            double least = INFINITY;
            for (size_t draw = 0; draw < r->draws; draw++) {
                candidate c = {f, step, draw};
                double value = *value_of(r, c), merit = *merit_of(r, c);
                if (!(value <= bound * (1 + *slack_of(r, c))) || !(merit < least)) continue;
                *out = c;
                if (r->task->options->select == BROAD_SELECT_FIRST) return 1;
                least = merit;
            }
            if (least < INFINITY) return 1;
        }
    return 0;
}

/* Evaluates draws of one range from *drawn on; stops early at one that passes where the first such is to be kept. */
static int sweep_range(run *r, size_t feature, size_t step, size_t *drawn, double bound)
{
    const broad__search_task *task = r->task;
    int first = task->options->select == BROAD_SELECT_FIRST, passes = 0, status = BROAD_OK;
    while (*drawn < r->draws && !r->out->stopped && !(first && passes)) {
        size_t count = together(r, *drawn);
        if (count > 1) status = try_together(r, (candidate){feature, step, *drawn}, count);
        for (size_t i = 0; status == BROAD_OK && i < count && !(first && passes); i++) {
            candidate c = {feature, step, (*drawn)++};
            status = count > 1 ? evaluate_trial(r, c) : evaluate(r, c);
            r->tries++;
            passes = status == BROAD_OK && *value_of(r, c) <= bound * (1 + SCREEN);
        }
        if (status < 0) return status;
        if (!passes && task->watch && task->watch(task->context, r->tries)) r->out->stopped = 1;
    }
    return BROAD_OK;
}

/* Keeps the first choice that also holds directly. */
static int keep_chosen(run *r, broad__bound bound, size_t relaxed)
{
    candidate chosen;
    int status = BROAD_OK;
    while (status == BROAD_OK && !r->out->passed && choose(&chosen, r, bound.sum))
        status = keep(r, chosen, bound, relaxed);
    return status;
}

static int sweep(run *r, broad__bound bound)
{
    for (size_t f = 0; f < r->features; f++)
        for (size_t step = 0; step < r->steps; step++)
            for (size_t draw = 0; draw < r->draws;) {
                int status = sweep_range(r, f, step, &draw, bound.sum);
                if (status == BROAD_OK && !r->out->stopped) status = keep_chosen(r, bound, 0);
                if (status < 0 || r->out->stopped || r->out->passed) return status;
            }
    return BROAD_OK;
}

static int relax(run *r)
{
    const broad__search_task *task = r->task;
    for (size_t level = 1; level <= task->options->relax_count && !r->out->passed; level++) {
        int status = keep_chosen(r, broad__schedule(task->options, task->index + 1, level), level);
        if (status < 0) return status;
    }
    return BROAD_OK;
}

static int prepare(run *r)
{
    broad__search *s = r->search;
    const broad__search_task *task = r->task;
    const broad_options *o = task->options;
    int supervised = o->supervise != BROAD_SUPERVISE_NONE;
    r->steps = supervised ? o->range_steps_count : 1;
    r->draws = supervised ? o->tries : 1;
    /* The score has chosen the ranges of the features before. */
    int redrawn = supervised && task->redraw && o->supervise != BROAD_SUPERVISE_GCV;
    r->features = redrawn ? o->range_steps_count : 1;
    size_t count = r->features * r->steps * r->draws;
    int status = broad__reserve(&s->values, &s->values_capacity, count);
    if (status == BROAD_OK) status = broad__reserve(&s->merits, &s->merits_capacity, count);
    if (status == BROAD_OK) status = broad__reserve(&s->slack, &s->slack_capacity, count);
    if (status == BROAD_OK) status = broad__supervise_possible(o, task->residual->rows, task->prefix + task->nodes);
    for (size_t i = 0; status == BROAD_OK && i < count; i++) {
        s->values[i] = NAN;
        s->slack[i] = SCREEN;
    }
    return status;
}

/* An array that is the search's, as a whole where it has no more room than that; otherwise a copy. */
static double *take(double **own, size_t *capacity, const double *found, size_t count)
{
    double *taken = NULL;
    if (found == *own && *capacity == count) {
        taken = *own;
        *own = NULL;
        *capacity = 0;
    } else if ((taken = broad__alloc_unset(count, sizeof *taken))) {
        memcpy(taken, found, count * sizeof *taken);
    }
    return taken;
}

void broad__search_take_nodes(double **out_weight, double **out_bias, broad__search *search,
                              const broad__search_result *found, size_t inputs, size_t nodes)
{
    *out_weight = take(&search->weight, &search->weight_capacity, found->weight, inputs * nodes);
    *out_bias = take(&search->bias, &search->bias_capacity, found->bias, nodes);
}

int broad__search_run(broad__search_result *out, broad__search *search, const broad__search_task *task)
{
    run r = {.search = search, .task = task, .out = out};
    *out = (broad__search_result){0};
    int status = prepare(&r);
    if (status == BROAD_OK) status = sweep(&r, broad__schedule(task->options, task->index + 1, 0));
    if (status == BROAD_OK && !out->passed && !out->stopped) status = relax(&r);
    search->tries = r.tries;
    if (status < 0 || out->passed) return status;
    out->best = INFINITY;
    for (size_t i = 0; i < r.features * r.steps * r.draws; i++)
        if (search->values[i] < out->best) out->best = search->values[i];
    /* Z goes back to the first range, so that the rows are as they were. */
    return r.feature_now ? task->redraw(task->context, 0) : BROAD_OK;
}
