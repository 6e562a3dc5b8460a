#include "layer/search.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "layer/supervise.h"
#include "rng/draw.h"

/* A value this little above the bound may still pass once the residual is computed directly. */
static const double SCREEN = 1e-6;
/* And one this much below it passes without a doubt: the norm from the sums is right to 1e-9 of what was there before. */
static const double CERTAIN = 1e-8;
/* Below this part of the norm before, cancellation leaves the sums too few digits of what is left. */
static const double LITTLE = 0.01;

typedef struct place {
    size_t feature, step, draw;
} place;

/* State of one run, besides the search itself. */
typedef struct run {
    broad__search *search;
    size_t features, steps, draws; /* extent of the table of values */
    place at;                      /* the draw that the solution belongs to */
    int fresh;                     /* it is there */
    place batch; /* first of the draws tried together, whose weights are there; the others follow it */
    size_t batch_count;
    size_t feature_now; /* Z belongs to this step */
    size_t tries;
} run;

static size_t index_of(const run *r, place p) { return (p.feature * r->steps + p.step) * r->draws + p.draw; }

static double *value_of(run *r, place p) { return &r->search->values[index_of(r, p)]; }

static double *slack_of(run *r, place p) { return &r->search->slack[index_of(r, p)]; }

static double *merit_of(run *r, place p) { return &r->search->merits[index_of(r, p)]; }

void broad__search_clear(broad__search *search)
{
    broad__ridge_clear(&search->ridge);
    broad__free(search->weight);
    broad__free(search->bias);
    broad__free(search->values);
    broad__free(search->merits);
    broad__free(search->slack);
    memset(search, 0, sizeof *search);
}

static broad__ridge_request wish_of(const broad__search *s)
{
    broad__ridge_request request = broad__supervise_wish(s->options);
    if (request.relative && s->chain_lambda > 0) request.lambda = s->chain_lambda;
    if (s->qr && s->qr->columns) {
        request.lambda_auto = 0;
        request.lambda = s->qr->lambda;
    }
    return request;
}

/* A chain: the candidate by itself against E. */
static int fit_alone(broad__search *s, const broad__kblock *piece)
{
    broad__ridge_request request = wish_of(s);
    int status = broad__residual_candidate(s->rows, piece, 1);
    return status == BROAD_OK ? broad__ridge_solve(&s->ridge, s->rows, &request) : status;
}

/* Everything so far and the candidate together: leave-one-out of the joint fit. */
static int fit_jointly(broad__search *s, const broad__kblock *piece)
{
    int status = BROAD_OK;
    if (s->qr->columns || !s->options->lambda_auto) {
        s->ridge.lambda = s->qr->columns ? s->qr->lambda : s->options->lambda;
        status = broad__residual_nodes(s->rows, piece, 1);
    } else {
        status = fit_alone(s, piece);
    }
    return status == BROAD_OK ? broad__growing_qr_try(s->qr, s->rows, s->y, s->ridge.lambda) : status;
}

static broad__kblock piece_of(const run *r, size_t slot)
{
    const broad__search *s = r->search;
    size_t features = s->rows->features;
    return (broad__kblock){{features, s->nodes, s->weight + slot * features * s->nodes, s->bias + slot * s->nodes,
                            s->options->activation, s->options->precision == BROAD_PRECISION_FLOAT},
                           s->first,
                           s->prefix};
}

/* Draws the nodes of `count` places from p on. */
static int draw(run *r, place p, size_t count)
{
    broad__search *s = r->search;
    const broad_options *o = s->options;
    size_t features = s->rows->features;
    r->fresh = 0;
    r->batch_count = 0;
    int status = p.feature != r->feature_now ? s->redraw(s->context, p.feature) : BROAD_OK;
    if (status < 0) return status;
    r->feature_now = p.feature;
    for (size_t i = 0; i < count; i++) {
        broad__stream stream = {o->seed, BROAD__FOR_ENHANCEMENT, (uint32_t)s->index, (uint16_t)p.step,
                                (uint16_t)(p.draw + i)};
        broad__draw_nodes(s->weight + i * features * s->nodes, s->bias + i * s->nodes, &stream, features, s->nodes,
                          s->range * o->range_steps[p.step], o->range_unit);
    }
    r->batch = p;
    r->batch_count = count;
    return BROAD_OK;
}

/* The solution of a place and what the test says of it. */
static int judge(run *r, place p, int status)
{
    broad__search *s = r->search;
    const broad_options *o = s->options;
    if (status < 0) return status;
    r->at = p;
    r->fresh = 1;
    int jointly = s->qr && o->supervise == BROAD_SUPERVISE_LOO;
    *value_of(r, p) = jointly ? s->qr->trial_loo / s->qr->loo : broad__supervise_value(o, &s->ridge, s->rows);
    *merit_of(r, p) = o->supervise == BROAD_SUPERVISE_OUTPUT ? s->ridge.estimate : *value_of(r, p);
    return BROAD_OK;
}

/* Draws the nodes of a place, computes K and solves. */
static int evaluate(run *r, place p)
{
    broad__search *s = r->search;
    int status = draw(r, p, 1);
    if (status < 0) return status;
    broad__kblock piece = piece_of(r, 0);
    int jointly = s->qr && s->options->supervise == BROAD_SUPERVISE_LOO;
    return judge(r, p, jointly ? fit_jointly(s, &piece) : fit_alone(s, &piece));
}

/* One of the draws tried together: solves it from its sums. */
static int evaluate_trial(run *r, place p)
{
    broad__search *s = r->search;
    size_t slot = p.draw - r->batch.draw;
    broad__kblock piece = piece_of(r, slot);
    broad__ridge_request request = wish_of(s);
    broad__residual_take(s->rows, &piece, slot);
    return judge(r, p, broad__ridge_solve(&s->ridge, s->rows, &request));
}

/* The sums of several draws in one pass. */
static int try_together(run *r, place p, size_t count)
{
    broad__kblock pieces[BROAD__TOGETHER];
    int status = draw(r, p, count);
    for (size_t i = 0; i < count; i++) pieces[i] = piece_of(r, i);
    return status == BROAD_OK ? broad__residual_trials(r->search->rows, pieces, count) : status;
}

/* Weights, sums and solution of a place, as they were when it was tried. */
static int evaluate_again(run *r, place p)
{
    if (r->fresh && memcmp(&r->at, &p, sizeof p) == 0) return BROAD_OK;
    int there = r->batch_count > 1 && p.feature == r->batch.feature && p.step == r->batch.step &&
                p.draw >= r->batch.draw && p.draw < r->batch.draw + r->batch_count;
    return there ? evaluate_trial(r, p) : evaluate(r, p);
}

/* How many draws may go into one pass: several where sums are all that the test needs. */
static size_t most_together(const broad__search *s)
{
    broad__ridge_request request = wish_of(s);
    if (s->qr || s->options->supervise == BROAD_SUPERVISE_NONE) return 1;
    if (request.lambda_auto || request.loo || request.operator_norm || request.outputs) return 1;
    return broad__residual_together(s->rows->rows, s->prefix + s->nodes);
}

/* The same for those from here on: one alone where the first is likely to do. */
static size_t together(const run *r, size_t drawn)
{
    const broad__search *s = r->search;
    size_t most = most_together(s), left = r->draws - drawn;
    if (s->options->select == BROAD_SELECT_FIRST && r->tries == 0 && s->tries <= 1) return 1;
    return left < most ? left : most;
}

static void certify(run *r, broad__bound bound, size_t relaxed, double tested, double after)
{
    broad__search *s = r->search;
    double before = s->rows->norm;
    s->certificate = (broad__certificate){
        .origin = s->origin,
        .test = s->options->supervise,
        .rows = s->rows->rows,
        .gamma = bound.gamma,
        .mu = bound.mu,
        .bound = bound.sum,
        .norm_before = before,
        .norm_after = after,
        .ratio = after / before,
        .tested = tested,
        .lambda = s->qr ? s->qr->lambda : s->ridge.lambda,
        .range = s->options->range_steps[r->at.step],
        .step = r->at.step,
        .draw = r->at.draw,
        .tries = r->tries,
        .relaxed = relaxed,
        .passed = 1,
    };
    if (!s->qr)
        broad__hash_text(s->certificate.weights, s->ridge.w, s->rows->width * s->rows->outputs * sizeof(double));
    broad__kblock piece = piece_of(r, r->at.draw - r->batch.draw);
    s->kept_weight = piece.nodes.weight;
    s->kept_bias = piece.nodes.bias;
    s->feature_step = r->at.feature;
    s->kept = 1;
    if (!s->deferred) broad__residual_commit(s->rows, after);
}

/* Whether the draw passes without a doubt, so that E can wait for the next pass. */
static int certain(int *out, const run *r, broad__bound bound)
{
    broad__search *s = r->search;
    broad_supervise test = s->options->supervise;
    double norm = s->rows->norm;
    *out = 0;
    if (!s->may_defer || s->qr || s->rows->dual) return BROAD_OK;
    if (test != BROAD_SUPERVISE_RESIDUAL && test != BROAD_SUPERVISE_NONE) return BROAD_OK;
    int status = broad__ridge_refine(&s->ridge, s->rows);
    *out =
        s->ridge.settled && s->ridge.estimate <= bound.sum * (1 - CERTAIN) * norm && s->ridge.estimate >= LITTLE * norm;
    return status;
}

/* The residual with the draw in rows->next, computed directly, and its norm. */
static int residual_with(double *out_norm, run *r)
{
    broad__search *s = r->search;
    int status = BROAD_OK, tried = s->options->supervise == BROAD_SUPERVISE_LOO;
    if (!s->qr) status = broad__ridge_finish(&s->ridge, s->rows);
    else if (!tried) status = broad__growing_qr_try(s->qr, s->rows, s->y, s->ridge.lambda);
    *out_norm = s->qr ? s->qr->trial_norm : s->ridge.norm;
    return status;
}

/* Keeps the draw if it also holds with the residual computed directly; otherwise it counts with what that gave, and a
 * relaxed bound may still take it. */
static int keep(run *r, place p, broad__bound bound, size_t relaxed)
{
    broad__search *s = r->search;
    broad_supervise test = s->options->supervise;
    double norm = 0;
    int status = evaluate_again(r, p);
    if (status < 0) return status;
    status = certain(&s->deferred, r, bound);
    if (s->deferred) norm = s->ridge.estimate;
    else if (status == BROAD_OK) status = residual_with(&norm, r);
    if (status < 0) return status;
    r->fresh = 0;
    double ratio = norm / s->rows->norm, tested = *value_of(r, p);
    if (test == BROAD_SUPERVISE_RESIDUAL || test == BROAD_SUPERVISE_NONE) tested = ratio;
    double whole = test == BROAD_SUPERVISE_OUTPUT ? ratio * ratio : ratio;
    if (tested <= bound.sum && whole <= bound.sum) {
        status = s->qr ? broad__growing_qr_accept(s->qr) : BROAD_OK;
        if (status == BROAD_OK) certify(r, bound, relaxed, tested, norm);
    } else {
        *value_of(r, p) = isfinite(norm) ? fmax(tested, whole) : INFINITY;
        *slack_of(r, p) = 0;
    }
    return status;
}

/* The place to keep among those evaluated so far, in the order of the search; 0 if none passes. */
static int choose(place *out, run *r, double bound)
{
    for (size_t f = 0; f < r->features; f++)
        for (size_t step = 0; step < r->steps; step++) {
            double least = INFINITY;
            for (size_t draw = 0; draw < r->draws; draw++) {
                place p = {f, step, draw};
                double value = *value_of(r, p), merit = *merit_of(r, p);
                if (!(value <= bound * (1 + *slack_of(r, p))) || !(merit < least)) continue;
                *out = p;
                if (r->search->options->select == BROAD_SELECT_FIRST) return 1;
                least = merit;
            }
            if (least < INFINITY) return 1;
        }
    return 0;
}

/* Evaluates draws of one range from *drawn on; stops early at one that passes where the first such is to be kept. */
static int sweep_range(run *r, size_t feature, size_t step, size_t *drawn, double bound)
{
    broad__search *s = r->search;
    int first = s->options->select == BROAD_SELECT_FIRST, passes = 0, status = BROAD_OK;
    while (*drawn < r->draws && !s->stopped && !(first && passes)) {
        size_t count = together(r, *drawn);
        if (count > 1) status = try_together(r, (place){feature, step, *drawn}, count);
        for (size_t i = 0; status == BROAD_OK && i < count && !(first && passes); i++) {
            place p = {feature, step, (*drawn)++};
            status = count > 1 ? evaluate_trial(r, p) : evaluate(r, p);
            r->tries++;
            passes = status == BROAD_OK && *value_of(r, p) <= bound * (1 + SCREEN);
        }
        if (status < 0) return status;
        if (!passes && s->watch && s->watch(s->context, r->tries)) s->stopped = 1;
    }
    return BROAD_OK;
}

/* Keeps the first choice that also holds directly. */
static int keep_chosen(run *r, broad__bound bound, size_t relaxed)
{
    place chosen;
    int status = BROAD_OK;
    while (status == BROAD_OK && !r->search->kept && choose(&chosen, r, bound.sum))
        status = keep(r, chosen, bound, relaxed);
    return status;
}

static int sweep(run *r, broad__bound bound)
{
    broad__search *s = r->search;
    for (size_t f = 0; f < r->features; f++)
        for (size_t step = 0; step < r->steps; step++)
            for (size_t draw = 0; draw < r->draws;) {
                int status = sweep_range(r, f, step, &draw, bound.sum);
                if (status == BROAD_OK && !s->stopped) status = keep_chosen(r, bound, 0);
                if (status < 0 || s->stopped || s->kept) return status;
            }
    return BROAD_OK;
}

static int relax(run *r)
{
    broad__search *s = r->search;
    for (size_t level = 1; level <= s->options->relax_count && !s->kept; level++) {
        int status = keep_chosen(r, broad__schedule(s->options, s->index + 1, level), level);
        if (status < 0) return status;
    }
    return BROAD_OK;
}

static int prepare(run *r)
{
    broad__search *s = r->search;
    const broad_options *o = s->options;
    int supervised = o->supervise != BROAD_SUPERVISE_NONE;
    r->steps = supervised ? o->range_steps_count : 1;
    r->draws = supervised ? o->tries : 1;
    r->features = supervised && s->redraw ? o->range_steps_count : 1;
    size_t count = r->features * r->steps * r->draws;
    int status = broad__reserve(&s->values, &s->values_room, count);
    if (status == BROAD_OK) status = broad__reserve(&s->merits, &s->merits_room, count);
    if (status == BROAD_OK) status = broad__reserve(&s->slack, &s->slack_room, count);
    size_t slots = most_together(s);
    if (status == BROAD_OK) status = broad__reserve(&s->weight, &s->weight_room, slots * s->rows->features * s->nodes);
    if (status == BROAD_OK) status = broad__reserve(&s->bias, &s->bias_room, slots * s->nodes);
    if (status == BROAD_OK) status = broad__supervise_possible(o, s->rows->rows, s->prefix + s->nodes);
    for (size_t i = 0; status == BROAD_OK && i < count; i++) {
        s->values[i] = NAN;
        s->slack[i] = SCREEN;
    }
    return status;
}

int broad__search_run(broad__search *search)
{
    run r = {.search = search};
    search->kept = search->stopped = search->deferred = 0;
    int status = prepare(&r);
    if (status == BROAD_OK) status = sweep(&r, broad__schedule(search->options, search->index + 1, 0));
    if (status == BROAD_OK && !search->kept && !search->stopped) status = relax(&r);
    search->tries = r.tries;
    if (status < 0 || search->kept) return status;
    search->best = INFINITY;
    for (size_t i = 0; i < r.features * r.steps * r.draws; i++)
        if (search->values[i] < search->best) search->best = search->values[i];
    /* Z goes back to the first range, so that the rows are as they were. */
    return r.feature_now ? search->redraw(search->context, 0) : BROAD_OK;
}
