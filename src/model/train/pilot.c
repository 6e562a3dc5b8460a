#include "model/train/pilot.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "data/halves.h"
#include "model/kind.h"
#include "model/train/configure.h"
#include "model/train/gradients.h"

enum {
    HALF_LEAST = 20, /* rows, for a judgement that means anything */
    FINAL_CLIMBS = 2
};
/* Standard errors by which a metric must gain. */
static const double SPREAD = 2;
/* Beyond this the ratio of two errors says that one of them is next to nothing. */
static const double OPTIMISM_MOST = 2;

typedef struct pilot {
    broad_trainer *trainer;
    broad__effort_sizes sizes;
    broad_data *thin, *half[2];            /* some rows, and their halves */
    size_t ways;                           /* 2: each half is configured and judged by the other */
    broad__configurations found[2], whole; /* whole: on all rows, without a metric; where there are few */
    double *square[2]; /* [way]: squares of the residuals of the judging half's rows, round by round */
    size_t rounds;     /* that both ways have */
} pilot;

static void pilot_close(pilot *p)
{
    for (size_t w = 0; w < 2; w++) {
        broad__configurations_clear(&p->found[w]);
        broad__free(p->square[w]);
        broad__table_free(p->half[w]);
    }
    broad__configurations_clear(&p->whole);
    broad__table_free(p->thin);
}

int broad__pilot_learns(const broad_options *o)
{
    return broad__kind_of(o->kind)->nodes == BROAD__NODES_FEATURES && o->metric != BROAD_LEARNED_NO &&
           o->feature_weights != BROAD_FEATURE_WEIGHTS_AUTOENCODER && broad__slope_known(o->feature_activation);
}

int broad__pilot_wanted(const broad_options *o)
{
    int ranges = o->feature_weights == BROAD_FEATURE_WEIGHTS_SAMPLED && o->range_auto;
    return broad__pilot_learns(o) || (ranges && broad__kind_of(o->kind)->nodes == BROAD__NODES_FEATURES);
}

static int pilot_open(pilot *p, const broad_data *data)
{
    const broad_options *o = &p->trainer->model->settings;
    p->sizes = broad__effort_sizes_of(o, data->rows);
    size_t most = 2 * p->sizes.rows, rows = data->rows < most ? data->rows : most;
    int status = broad__table_thin(&p->thin, data, rows);
    if (status == BROAD_OK) status = broad__halves_make(p->half, p->thin, o->seed);
    int judged = p->half[0] && p->half[1] && p->half[0]->rows >= HALF_LEAST && p->half[1]->rows >= HALF_LEAST;
    if (!judged || !broad__pilot_learns(o)) p->sizes.rounds = 0;
    p->ways = rows < BROAD__CROSSED_ROWS ? 2 : 1;
    return status;
}

/* ---- judged by the other half ------------------------------------------------------------------------------------ */

/* The configurations of one half on the rows of the other. */
static int judge(pilot *p, size_t way)
{
    const broad_data *rows = p->half[1 - way];
    broad__configurations *found = &p->found[way];
    broad__trial trial;
    p->square[way] = broad__alloc_doubles(found->count, rows->rows);
    if (!p->square[way]) return BROAD_NO_MEMORY;
    int status = broad__trial_open(&trial, p->trainer, rows, rows->rows, p->sizes.nodes);
    for (size_t r = 0; status == BROAD_OK && r < found->count; r++) {
        broad__directions directions = {0};
        broad__configuration c = found->of[r];
        status = broad__directions_open(&directions, &c.metric, trial.columns, p->trainer->device);
        if (status == BROAD_OK) status = broad__configuration_try(&trial, &c, &directions, p->sizes.nodes);
        if (status == BROAD_OK) status = broad__trial_squares(p->square[way] + r * rows->rows, &trial);
        broad__directions_close(&directions);
    }
    broad__trial_close(&trial);
    return status;
}

/* What one row gains in round r over round 0; 0 where there is no residual. */
static double gain_of(const pilot *p, size_t way, size_t r, size_t row)
{
    size_t rows = p->half[1 - way]->rows;
    double first = p->square[way][row], now = p->square[way][r * rows + row];
    return first < 0 || now < 0 ? 0 : first - now;
}

/* Adds the gains of one half, and their squares: of each row, or of all rows of a group together. units: zeros, one for
 * each group. */
static void add_gains(double *sum, double *squares, const pilot *p, size_t way, size_t r, double *units)
{
    const broad_data *rows = p->half[1 - way];
    for (size_t i = 0; i < rows->rows; i++) {
        double gain = gain_of(p, way, r, i), *unit = &units[rows->groups ? rows->groups[i] : i];
        *sum += gain;
        *squares += gain * (gain + 2 * *unit); /* (unit + gain)^2 - unit^2 */
        *unit += gain;
    }
}

/* Groups, or rows without any, are numbered below this. */
static size_t unit_count(const pilot *p)
{
    const broad_data *thin = p->thin;
    size_t count = thin->rows;
    for (size_t i = 0; thin->groups && i < thin->rows; i++)
        if (thin->groups[i] >= count) count = thin->groups[i] + 1;
    return count;
}

/* *out: the round that the other half's rows are for; 0: no metric. */
static int find_round(size_t *out, const pilot *p)
{
    size_t units = unit_count(p);
    double most = 0, *of_unit = broad__alloc_doubles(units, 1);
    if (!of_unit) return BROAD_NO_MEMORY;
    *out = 0;
    for (size_t r = 1; r < p->rounds; r++) {
        double sum = 0, squares = 0;
        for (size_t w = 0; w < p->ways; w++) {
            memset(of_unit, 0, units * sizeof(double));
            add_gains(&sum, &squares, p, w, r, of_unit);
        }
        if (!(sum > most) || !(sum > SPREAD * sqrt(squares))) continue;
        most = sum;
        *out = r;
    }
    broad__free(of_unit);
    return BROAD_OK;
}

static double mean_square(const pilot *p, size_t way, size_t round)
{
    size_t rows = p->half[1 - way]->rows, count = 0;
    double sum = 0;
    for (size_t i = 0; i < rows; i++) {
        double square = p->square[way][round * rows + i];
        if (square < 0) continue;
        sum += square;
        count++;
    }
    return count ? sum / (double)count : 0;
}

/* What the residuals of unseen rows are larger by, squared, than those of rows that the configuration was found on. With
 * both ways these are the same rows; with one, how the halves differ anyway cancels out. */
static double optimism_of(const pilot *p, size_t round)
{
    double seen = 0, unseen = 0;
    for (size_t w = 0; w < p->ways; w++) {
        seen += p->found[w].of[round].error;
        unseen += mean_square(p, w, round);
    }
    double ratio = unseen / seen;
    if (p->ways == 1) ratio *= p->found[0].of[0].error / mean_square(p, 0, 0);
    return ratio > 1 ? fmin(ratio, OPTIMISM_MOST) : 1; /* also where it is not a number */
}

/* ---- the choice ---------------------------------------------------------------------------------------------------- */

/* Nodes that are drawn from the seed alone need nothing but a metric. */
static int use(pilot *p, double *out_range, const broad__configuration *c)
{
    broad_model *model = p->trainer->model;
    broad__directions directions = {0};
    size_t columns = broad__model_columns(model);
    *out_range = c->range;
    model->style = c->style;
    model->exponent = c->exponent;
    if (!c->metric.values && model->settings.feature_weights != BROAD_FEATURE_WEIGHTS_SAMPLED) return BROAD_OK;
    int status = broad__directions_open(&directions, &c->metric, columns, p->trainer->device);
    if (status < 0) return status;
    broad__model_take_directions(model, &directions);
    return BROAD_OK;
}

/* ---- the final: more rows and nodes than the halves had ---------------------------------------------------------- */

typedef struct final {
    broad__trial trial;
    broad__directions directions;
    broad__configuration best;
    size_t nodes;
} final;

static void final_close(final *f)
{
    broad__trial_close(&f->trial);
    broad__directions_close(&f->directions);
}

/* Between configurations that have this metric, or none. */
static int final_open(final *f, const pilot *p, const broad_data *data, const broad__metric *metric)
{
    broad_trainer *t = p->trainer;
    *f = (final){.nodes = p->sizes.final_nodes, .best = {.square = INFINITY}};
    int status = broad__trial_open(&f->trial, t, data, p->sizes.final_rows, f->nodes);
    f->trial.rough = 1;
    return status == BROAD_OK ? broad__directions_open(&f->directions, metric, f->trial.columns, t->device) : status;
}

static int final_try(final *f, int *out_better, broad__configuration c)
{
    int status = broad__configuration_try(&f->trial, &c, &f->directions, f->nodes);
    *out_better = status == BROAD_OK && c.square < f->best.square;
    if (*out_better) f->best = c;
    return status;
}

/* The best one with larger ranges: there are more nodes now. */
static int final_climb(final *f, int open)
{
    int status = BROAD_OK, better = open;
    for (size_t i = 0; status == BROAD_OK && better && i < FINAL_CLIMBS; i++) {
        broad__configuration steeper = f->best;
        steeper.range *= 2;
        status = final_try(f, &better, steeper);
    }
    return status;
}

/* With the metric of a round: as each half would have it. */
static int best_with_metric(broad__configuration *out, const pilot *p, const broad_data *data, size_t round)
{
    final f;
    int better = 0, status = final_open(&f, p, data, &p->found[0].of[round].metric);
    for (size_t w = 0; status == BROAD_OK && w < p->ways; w++) {
        broad__configuration c = p->found[w].of[round];
        c.metric = p->found[0].of[round].metric;
        status = final_try(&f, &better, c);
    }
    if (status == BROAD_OK) status = final_climb(&f, p->trainer->model->settings.range_auto);
    *out = f.best;
    final_close(&f);
    return status;
}

/* Without: every style with the range that suited it, and the best of them all. */
static int best_without(broad__configuration *out, const pilot *p, const broad_data *data)
{
    const broad__configurations *found = p->whole.count ? &p->whole : &p->found[0];
    final f;
    int better = 0, status = final_open(&f, p, data, &(broad__metric){0});
    if (status == BROAD_OK) status = final_try(&f, &better, found->of[0]);
    for (size_t s = 0; status == BROAD_OK && s < BROAD__STYLE_COUNT; s++) {
        broad__configuration c = {.style = (broad__style)s, .range = found->ranges[s]};
        int tried = c.style == found->of[0].style && c.range == found->of[0].range;
        if (c.range > 0 && !tried) status = final_try(&f, &better, c);
    }
    if (status == BROAD_OK) status = final_climb(&f, p->trainer->model->settings.range_auto);
    *out = f.best;
    final_close(&f);
    return status;
}

/* With the metric, if it has won so far or is asked for; or without, unless it is. */
static int use_final(pilot *p, double *out_range, const broad_data *data, size_t round)
{
    broad_model *model = p->trainer->model;
    int asked = round && model->settings.metric == BROAD_LEARNED_YES, status = BROAD_OK;
    broad__configuration with = {.error = INFINITY}, without = {.error = INFINITY};
    if (round && p->ways == 2) broad__metric_mean(&p->found[0].of[round].metric, &p->found[1].of[round].metric);
    if (round) status = best_with_metric(&with, p, data, round);
    if (status == BROAD_OK && !asked) status = best_without(&without, p, data);
    if (status < 0) return status;
    if (model->optimism > 1) with.error *= model->optimism;
    if (asked || with.error < without.error) return use(p, out_range, &with);
    model->optimism = 0;
    return use(p, out_range, &without);
}

/* Of the rounds with a metric the one that does best on its own rows; 0: there is none. */
static size_t least_of(const broad__configurations *found, size_t rounds)
{
    size_t best = 0;
    for (size_t r = 1; r < rounds; r++)
        if (best == 0 || found->of[r].square < found->of[best].square) best = r;
    return best;
}

static int choose(pilot *p, double *out_range, const broad_data *data)
{
    broad_model *model = p->trainer->model;
    size_t round = 0, seen = p->ways == 2 ? p->thin->rows : p->half[0]->rows;
    int status = find_round(&round, p);
    if (status < 0) return status;
    if (model->settings.metric == BROAD_LEARNED_YES && !round) round = least_of(&p->found[0], p->rounds);
    if (round) model->optimism = 1 + (optimism_of(p, round) - 1) * (double)seen / (double)data->rows;
    return use_final(p, out_range, data, round);
}

/* ---- the run ------------------------------------------------------------------------------------------------------- */

/* Styles and ranges without a metric, on all rows that there are. */
static int configure_whole(pilot *p)
{
    if (p->ways == 1 && p->sizes.rounds) return BROAD_OK;
    broad__effort_sizes sizes = p->sizes;
    sizes.rounds = 0;
    return broad__configure(&p->whole, p->trainer, p->thin, &sizes);
}

static int configure_halves(pilot *p)
{
    int status = BROAD_OK;
    p->rounds = p->sizes.rounds ? SIZE_MAX : 0;
    for (size_t w = 0; status == BROAD_OK && p->sizes.rounds && w < p->ways; w++) {
        status = broad__configure(&p->found[w], p->trainer, p->half[w], &p->sizes);
        if (status == BROAD_OK) status = judge(p, w);
        if (p->found[w].count < p->rounds) p->rounds = p->found[w].count;
    }
    return status;
}

int broad__pilot_run(double *out_range, broad_trainer *t, const broad_data *data)
{
    pilot p = {.trainer = t};
    int status = pilot_open(&p, data);
    if (status == BROAD_OK) status = configure_whole(&p);
    if (status == BROAD_OK) status = configure_halves(&p);
    const broad__configurations *first = p.whole.count ? &p.whole : &p.found[0];
    memcpy(t->model->pilot, first->least, sizeof first->least);
    int chosen = status == BROAD_OK && p.rounds;
    if (chosen) status = choose(&p, out_range, data);
    if (first->count && (status == BROAD_OK ? !chosen : broad__watch_late())) {
        /* No metric is wanted, or the time is up: the caller forgives that. */
        int used = use(&p, out_range, &first->of[0]);
        if (status == BROAD_OK || used < 0) status = used;
        t->model->optimism = 0;
    }
    pilot_close(&p);
    return status;
}
