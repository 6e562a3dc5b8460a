#include "model/train/trials.h"

#include <math.h>
#include <stdatomic.h>

#include "base/memory.h"
#include "base/watch.h"
#include "layer/joint_loo.h"
#include "model/train/gradients.h"

enum {
    BLOCKS = 2,
    WAVE = 8 /* attempts that are made side by side; the next ones know what came of these */
};
/* What twice the range mostly adds to the exponent of lambda. */
static const double DOUBLED = 0.5;
/* For all of them together, in numbers: beyond this fewer at a time. */
static const double NUMBERS_MOST = 6e7;

/* ---- directions ------------------------------------------------------------------------------------------------- */

int broad__directions_open(broad__directions *out, const broad__metric *metric, size_t columns,
                           const broad__device *device)
{
    int status = BROAD_OK;
    *out = (broad__directions){.relevance = broad__alloc_doubles(columns, 1)};
    if (!out->relevance) return BROAD_NO_MEMORY;
    if (metric->values) broad__metric_relevance(out->relevance, metric);
    for (size_t j = 0; !metric->values && j < columns; j++) out->relevance[j] = 1;
    if (!metric->values || !metric->full) return BROAD_OK;
    out->root = broad__alloc_doubles(columns, columns);
    status = out->root ? broad__metric_root(out->root, metric, device) : BROAD_NO_MEMORY;
    if (status < 0) broad__directions_close(out);
    return status;
}

void broad__directions_close(broad__directions *directions)
{
    broad__free(directions->root);
    broad__free(directions->relevance);
    *directions = (broad__directions){0};
}

void broad__model_take_directions(broad_model *model, broad__directions *directions)
{
    broad__free(model->relevance);
    broad__free(model->root);
    model->relevance = directions->relevance;
    model->root = directions->root;
    model->has_root = model->root != NULL;
    model->has_relevance = model->relevance && model->settings.feature_weights != BROAD_FEATURE_WEIGHTS_SAMPLED;
    *directions = (broad__directions){0};
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

size_t broad__trials_at_a_time(const broad_options *run, size_t threads, size_t rows, size_t columns, size_t nodes)
{
    double each = (double)nodes * (2 * (double)columns + 4 * (double)rows + 3 * (double)nodes);
    double most = run->memory > 0 ? 1 : fmin(NUMBERS_MOST / each, BROAD__TRIALS_MOST);
    size_t count = most > 1 ? (size_t)most : 1;
    return count < threads ? count : threads;
}

void broad__trials_close(broad__trials *trials)
{
    for (size_t i = trials->count; i-- > 0;) broad__trial_close(&trials->of[i]);
    broad__pool_close(trials->alone);
    *trials = (broad__trials){0};
}

int broad__trials_open(broad__trials *out, broad_trainer *t, const broad_data *data, size_t rows, size_t nodes)
{
    *out = (broad__trials){.trainer = t, .count = 1};
    int status = broad__trial_open(&out->of[0], t, data, rows, nodes);
    if (status < 0) return status;
    out->rows = out->of[0].rows->rows;
    out->columns = out->of[0].columns;
    size_t count = broad__trials_at_a_time(&t->run, broad__pool_threads(t->pool), out->rows, out->columns, nodes);
    for (; status == BROAD_OK && out->count < count; out->count++)
        status = broad__trial_open_beside(&out->of[out->count], &out->of[0]);
    return status == BROAD_OK ? broad__pool_open(&out->alone, 1) : status;
}

/* ---- the trials ------------------------------------------------------------------------------------------------- */

static int fit(broad__trial *trial, const broad__attempt *a)
{
    broad__trial_block block = {a->style, a->range, a->directions->relevance, a->directions->root, a->nodes / BLOCKS};
    int status = BROAD_OK;
    trial->rough = a->rough;
    trial->scores_alone = a->metric == NULL;
    trial->hopeless = a->most > 0 ? a->most : 0;
    broad__trial_restart(trial);
    for (size_t b = 0; status == BROAD_OK && b < BLOCKS; b++) status = broad__trial_add(trial, &block);
    return status == BROAD_OK ? broad__trial_fit(trial) : status;
}

static int attempt(broad__trial *trial, broad__attempt *a)
{
    int status = fit(trial, a);
    if (status < 0) return status;
    size_t rows = broad__trial_judged(trial);
    a->exponent = trial->exponent;
    a->square = rows ? trial->joint.loo * trial->joint.loo / (double)rows : INFINITY;
    a->part = broad__trial_error(trial);
    a->given_up = trial->joint.given_up;
    a->error = INFINITY;
    a->metric_known = 0;
    if (!a->given_up) status = broad__trial_mean_square(&a->error, trial);
    if (status == BROAD_OK && a->squares) status = broad__trial_squares(a->squares, trial);
    if (status == BROAD_OK && a->metric && !a->given_up)
        status = broad__trial_metric(a->metric, &a->metric_known, trial);
    a->done = status == BROAD_OK;
    return status;
}

double broad__exponent_steeper(double exponent, double times)
{
    return broad__joint_exponent(exponent + DOUBLED * round(log2(times)));
}

/* Where the search for lambda of an attempt begins; 0: nothing is known. */
static double start_of(const broad__trials *trials, const broad__attempt *a)
{
    if (a->start != 0 || trials->exponent == 0) return a->start;
    return broad__exponent_steeper(trials->exponent, a->range / trials->range);
}

typedef struct batch {
    broad__trials *trials;
    broad__attempt *attempts;
    size_t count;
    atomic_size_t next;
} batch;

/* One trial makes attempts as long as there are any. The first of them that fails is kept. */
static void run_trial(void *context, size_t index, size_t worker)
{
    (void)worker;
    batch *b = context;
    broad__trials *trials = b->trials;
    broad__trial *trial = &trials->of[index];
    for (size_t i; (i = atomic_fetch_add(&b->next, 1)) < b->count;) {
        double start = start_of(trials, &b->attempts[i]);
        trial->exponent = start != 0 ? start : BROAD__TRIAL_EXPONENT;
        int status = attempt(trial, &b->attempts[i]);
        if (status == BROAD_OK) continue;
        broad__failure_take(&trials->failed[index], status);
        trials->failed_at[index] = i;
        return;
    }
}

/* One by itself works with all threads; of several, each thread makes some. */
static void run_batch(broad__trials *trials, broad__attempt *attempts, size_t count)
{
    broad__pool *pool = trials->trainer->pool;
    batch b = {.trials = trials, .attempts = attempts, .count = count};
    size_t together = count < trials->count ? count : trials->count;
    for (size_t i = 0; i < together; i++) broad__trial_use_pool(&trials->of[i], together > 1 ? trials->alone : pool);
    broad__pool_run(pool, together, run_trial, &b);
}

static int first_failure(const broad__trials *trials)
{
    const broad__failure *first = NULL;
    size_t at = 0;
    for (size_t i = 0; i < trials->count; i++) {
        if (!trials->failed[i].status || (first && trials->failed_at[i] > at)) continue;
        first = &trials->failed[i];
        at = trials->failed_at[i];
    }
    return first ? broad__failure_pass(first) : broad__watch_check(BROAD_OK);
}

broad__attempt *broad__attempts_best(broad__attempt *attempts, size_t count)
{
    broad__attempt *best = NULL;
    for (size_t i = 0; i < count; i++)
        if (attempts[i].done && (!best || attempts[i].square < best->square)) best = &attempts[i];
    return best;
}

static int has_failed(const broad__trials *trials)
{
    for (size_t i = 0; i < trials->count; i++)
        if (trials->failed[i].status) return 1;
    return 0;
}

static void set_limits(broad__attempt *attempts, size_t count, const broad__attempt *best)
{
    for (size_t i = 0; best && i < count; i++)
        if (attempts[i].most == 0 || attempts[i].most > BROAD__HOPELESS * best->square)
            attempts[i].most = BROAD__HOPELESS * best->square;
}

/* The first of all by itself, unless it knows where to begin: the others begin their search for lambda where it ended. */
int broad__trials_run(broad__trials *trials, broad__attempt *attempts, size_t count)
{
    for (size_t i = 0; i < trials->count; i++) trials->failed[i].status = BROAD_OK;
    for (size_t i = 0; i < count; i++) attempts[i].done = 0;
    for (size_t at = 0, size; at < count && !has_failed(trials); at += size) {
        size = start_of(trials, &attempts[at]) == 0 ? 1 : count - at < WAVE ? count - at : WAVE;
        set_limits(attempts + at, size, broad__attempts_best(attempts, at));
        run_batch(trials, attempts + at, size);
        const broad__attempt *best = broad__attempts_best(attempts, at + size);
        if (!best) continue;
        trials->exponent = best->exponent;
        trials->range = best->range;
    }
    return first_failure(trials);
}
