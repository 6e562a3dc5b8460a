#include "layer/search.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "layer/supervise.h"
#include "rng/draw.h"

/* A value this little above the bound may still pass once the residual is computed directly. */
static const double SCREEN = 1e-6;

typedef struct place {
    size_t feature, step, draw;
} place;

/* State of one run, besides the search itself. */
typedef struct run {
    broad__search *search;
    size_t features, steps, draws; /* extent of the table of values */
    place at;                      /* the draw that weights, K and solution belong to */
    int fresh;                     /* they are there */
    size_t feature_now;            /* Z belongs to this step */
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

/* A chain: the candidate by itself against E. */
static int fit_alone(broad__search *s, const broad__piece *piece)
{
    broad__ridge_wish wish = broad__supervise_wish(s->options);
    if (wish.relative && s->chain_lambda > 0) wish.lambda = s->chain_lambda;
    if (s->basis && s->basis->columns) {
        wish.lambda_auto = 0;
        wish.lambda = s->basis->lambda;
    }
    int status = broad__rows_candidate(s->rows, piece, 1);
    return status == BROAD_OK ? broad__ridge_solve(&s->ridge, s->rows, &wish) : status;
}

/* Everything so far and the candidate together: leave-one-out of the joint fit. */
static int fit_jointly(broad__search *s, const broad__piece *piece)
{
    int status = BROAD_OK;
    if (s->basis->columns || !s->options->lambda_auto) {
        s->ridge.lambda = s->basis->columns ? s->basis->lambda : s->options->lambda;
        status = broad__rows_nodes(s->rows, piece, 1);
    } else {
        status = fit_alone(s, piece);
    }
    return status == BROAD_OK ? broad__basis_try(s->basis, s->rows, s->y, s->ridge.lambda) : status;
}

/* Draws the nodes of a place, computes K and solves. */
static int evaluate(run *r, place p)
{
    broad__search *s = r->search;
    const broad_options *o = s->options;
    int status = BROAD_OK, jointly = s->basis && o->supervise == BROAD_SUPERVISE_LOO;
    r->fresh = 0;
    if (p.feature != r->feature_now) {
        status = s->redraw(s->context, p.feature);
        if (status < 0) return status;
        r->feature_now = p.feature;
    }
    broad__stream stream = {o->seed, BROAD__FOR_ENHANCEMENT, (uint32_t)s->index, (uint16_t)p.step, (uint16_t)p.draw};
    broad__draw_nodes(s->weight, s->bias, &stream, s->rows->features, s->nodes, s->range * o->range_steps[p.step],
                      o->range_unit);
    broad__piece piece = {{s->rows->features, s->nodes, s->weight, s->bias, o->activation, 0}, s->first, s->prefix};
    status = jointly ? fit_jointly(s, &piece) : fit_alone(s, &piece);
    if (status < 0) return status;
    r->at = p;
    r->fresh = 1;
    *value_of(r, p) = jointly ? s->basis->trial_loo / s->basis->loo : broad__supervise_value(o, &s->ridge, s->rows);
    *merit_of(r, p) = o->supervise == BROAD_SUPERVISE_OUTPUT ? s->ridge.estimate : *value_of(r, p);
    return BROAD_OK;
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
        .lambda = s->basis ? s->basis->lambda : s->ridge.lambda,
        .range = s->options->range_steps[r->at.step],
        .step = r->at.step,
        .draw = r->at.draw,
        .tries = r->tries,
        .relaxed = relaxed,
        .passed = 1,
    };
    if (!s->basis)
        broad__hash_text(s->certificate.weights, s->ridge.w, s->rows->width * s->rows->outputs * sizeof(double));
    s->feature_step = r->at.feature;
    s->kept = 1;
    broad__rows_commit(s->rows, after);
}

/* The residual with the draw in rows->next, computed directly, and its norm. */
static int residual_with(double *out_norm, run *r)
{
    broad__search *s = r->search;
    int status = BROAD_OK, tried = s->options->supervise == BROAD_SUPERVISE_LOO;
    if (!s->basis) status = broad__ridge_finish(&s->ridge, s->rows);
    else if (!tried) status = broad__basis_try(s->basis, s->rows, s->y, s->ridge.lambda);
    *out_norm = s->basis ? s->basis->trial_norm : s->ridge.norm;
    return status;
}

/* Keeps the draw if it also holds with the residual computed directly; otherwise it counts with what that gave, and a
 * relaxed bound may still take it. */
static int keep(run *r, place p, broad__bound bound, size_t relaxed)
{
    broad__search *s = r->search;
    broad_supervise test = s->options->supervise;
    double norm = 0;
    int status = BROAD_OK;
    if (!r->fresh || memcmp(&r->at, &p, sizeof p) != 0) status = evaluate(r, p);
    if (status == BROAD_OK) status = residual_with(&norm, r);
    if (status < 0) return status;
    r->fresh = 0;
    double ratio = norm / s->rows->norm, tested = *value_of(r, p);
    if (test == BROAD_SUPERVISE_RESIDUAL || test == BROAD_SUPERVISE_NONE) tested = ratio;
    double whole = test == BROAD_SUPERVISE_OUTPUT ? ratio * ratio : ratio;
    if (tested <= bound.sum && whole <= bound.sum) {
        status = s->basis ? broad__basis_accept(s->basis) : BROAD_OK;
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

/* Evaluates draws of one range from *draw on; stops early at one that passes where the first such is to be kept. */
static int sweep_range(run *r, size_t feature, size_t step, size_t *draw, double bound)
{
    broad__search *s = r->search;
    int first = s->options->select == BROAD_SELECT_FIRST, passes = 0;
    while (*draw < r->draws && !s->stopped && !(first && passes)) {
        place p = {feature, step, (*draw)++};
        int status = evaluate(r, p);
        if (status < 0) return status;
        r->tries++;
        passes = *value_of(r, p) <= bound * (1 + SCREEN);
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
    if (status == BROAD_OK) status = broad__reserve(&s->weight, &s->weight_room, s->rows->features * s->nodes);
    if (status == BROAD_OK) status = broad__reserve(&s->bias, &s->bias_room, s->nodes);
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
    search->kept = search->stopped = 0;
    int status = prepare(&r);
    if (status == BROAD_OK) status = sweep(&r, broad__schedule(search->options, search->index + 1, 0));
    if (status == BROAD_OK && !search->kept && !search->stopped) status = relax(&r);
    if (status < 0 || search->kept) return status;
    search->best = INFINITY;
    for (size_t i = 0; i < r.features * r.steps * r.draws; i++)
        if (search->values[i] < search->best) search->best = search->values[i];
    /* Z goes back to the first range, so that the rows are as they were. */
    return r.feature_now ? search->redraw(search->context, 0) : BROAD_OK;
}
