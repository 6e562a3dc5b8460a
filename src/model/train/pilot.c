#include "model/train/pilot.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "data/halves.h"
#include "feature/marginal.h"
#include "layer/joint_loo.h"
#include "model/kind.h"
#include "model/train/configure.h"
#include "model/train/gradients.h"

enum {
    HALF_LEAST = 20, /* rows, for a judgement that means anything */
    FINAL_CLIMBS = 3
};
/* Of the mean square. Less is none; what is worth a round too many; and what says that few directions matter. */
static const double GAIN = 0.01, LARGE = 0.2, DECISIVE = 0.5;
/* Standard errors by which a metric must gain. */
static const double SPREAD = 2;
/* Of the best square: what is further behind does not climb. */
static const double BEHIND = 1.05;
/* And what with its first lambda is further behind than this is given up. */
static const double FAR = 1.15;
/* Of the exponent of lambda: a search that begins too high by this takes no more steps. */
static const double HALF_STEP = 0.5;
/* Beyond this the ratio of two errors says that one of them is next to nothing. */
static const double OPTIMISM_MOST = 2;

/* Rounds from one start. */
typedef struct path {
    broad__configuring way[2]; /* configured on this half */
    double *square[2];         /* [way]: squares of the residuals of the judging half's rows, round by round */
    size_t rounds;             /* that both ways have */
    double first, least;       /* sums of the ways' means of these squares, in the first round and in the best */
} path;

enum { ALL = BROAD__START_ALL, UNITS = BROAD__START_UNITS, PAIRS = BROAD__START_PAIRS, PATHS = BROAD__START_COUNT };

typedef struct pilot {
    broad_trainer *trainer;
    broad__effort_sizes sizes;
    broad_data *thin, *half[2]; /* some rows, and their halves */
    unsigned char *half_of;     /* of each of these rows */
    broad__trials trials[2];    /* on the halves */
    size_t ways;                /* 2: each half is configured and judged by the other */
    path paths[PATHS];
    broad__configurations whole; /* on all rows, without a metric; where there are few */
} pilot;

static void pilot_close(pilot *p)
{
    for (size_t w = 0; w < 2; w++) {
        for (size_t k = 0; k < PATHS; k++) {
            broad__configuring_close(&p->paths[k].way[w]);
            broad__free(p->paths[k].square[w]);
        }
        broad__trials_close(&p->trials[w]);
        broad__table_free(p->half[w]);
    }
    broad__table_free(p->thin);
    broad__free(p->half_of);
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
    p->half_of = broad__alloc_array(rows, sizeof *p->half_of);
    if (status == BROAD_OK && !p->half_of) status = BROAD_NO_MEMORY;
    if (status == BROAD_OK) status = broad__halves_make(p->half, p->half_of, p->thin, o->seed);
    int judged = p->half[0] && p->half[1] && p->half[0]->rows >= HALF_LEAST && p->half[1]->rows >= HALF_LEAST;
    if (!judged || !broad__pilot_learns(o)) p->sizes.rounds = 0;
    p->ways = rows < BROAD__CROSSED_ROWS ? 2 : 1;
    return status;
}

/* ---- judged by the other half ------------------------------------------------------------------------------------ */

/* The last round of one half on the rows of the other. */
static int judge(pilot *p, path *on, size_t way)
{
    const broad__configurations *found = &on->way[way].found;
    broad__trials *trials = &p->trials[1 - way];
    const broad__configuration *c = &found->of[found->count - 1];
    broad__directions directions = {0};
    int status = broad__directions_open(&directions, &c->metric, trials->columns, p->trainer->device);
    broad__attempt attempt = broad__configuration_attempt(c, &directions, p->sizes.nodes);
    attempt.squares = on->square[way] + (found->count - 1) * trials->rows;
    if (status == BROAD_OK) status = broad__trials_run(trials, &attempt, 1);
    broad__directions_close(&directions);
    return status;
}

/* A round of one of the paths; those of all columns begin without a metric. */
typedef struct round_of {
    path *on;
    size_t round;
} round_of;

static int has_metric(const pilot *p, round_of r)
{
    return r.round || (r.on != &p->paths[ALL] && r.on != &p->paths[UNITS]);
}

/* Whether its metric is to be used in any case. */
static int is_asked(const pilot *p, round_of r)
{
    return has_metric(p, r) && p->trainer->model->settings.metric == BROAD_LEARNED_YES;
}

/* What one row gains over no metric; 0 where there is no residual. */
static double gain_of(const pilot *p, round_of r, size_t way, size_t row)
{
    size_t rows = p->half[1 - way]->rows;
    double first = p->paths[ALL].square[way][row], now = r.on->square[way][r.round * rows + row];
    return first < 0 || now < 0 ? 0 : first - now;
}

/* Adds the gains of one half, and their squares: of each row, or of all rows of a group together. units: zeros, one for
 * each group. */
static void add_gains(double *sum, double *squares, const pilot *p, round_of r, size_t way, double *units)
{
    const broad_data *rows = p->half[1 - way];
    for (size_t i = 0; i < rows->rows; i++) {
        double gain = gain_of(p, r, way, i), *unit = &units[rows->groups ? rows->groups[i] : i];
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

/* Whether it gains by more than the spread, and more than the most so far, which it then is. */
static int is_most(double *most, const pilot *p, round_of r, double *of_unit, size_t units)
{
    double sum = 0, squares = 0;
    for (size_t w = 0; w < p->ways; w++) {
        memset(of_unit, 0, units * sizeof(double));
        add_gains(&sum, &squares, p, r, w, of_unit);
    }
    if (!(sum > *most) || !(sum > SPREAD * sqrt(squares))) return 0;
    *most = sum;
    return 1;
}

/* *out: the round that the other half's rows are for; the first of all columns: no metric. */
static int find_round(round_of *out, pilot *p)
{
    size_t units = unit_count(p);
    double most = 0, *of_unit = broad__alloc_doubles(units, 1);
    if (!of_unit) return BROAD_NO_MEMORY;
    *out = (round_of){&p->paths[ALL], 0};
    for (size_t k = 0; k < PATHS; k++)
        for (size_t i = 0; i < p->paths[k].rounds; i++) {
            round_of r = {&p->paths[k], i};
            if (has_metric(p, r) && is_most(&most, p, r, of_unit, units)) *out = r;
        }
    broad__free(of_unit);
    return BROAD_OK;
}

static double mean_square(const pilot *p, round_of r, size_t way)
{
    size_t rows = p->half[1 - way]->rows, count = 0;
    double sum = 0;
    for (size_t i = 0; i < rows; i++) {
        double square = r.on->square[way][r.round * rows + i];
        if (square < 0) continue;
        sum += square;
        count++;
    }
    return count ? sum / (double)count : 0;
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

enum { WITH, WITHOUT, SIDES };
/* Nodes with the metric, and each style without one: each climbs by itself. */
enum { LANES = 1 + BROAD__STYLE_COUNT, ENTRIES = 2 + LANES };

typedef struct final {
    broad__trials trials;
    broad__directions directions[SIDES]; /* of the metric, and of none */
    broad__attempt entries[ENTRIES];
    size_t count;
    broad__attempt best[LANES]; /* square INFINITY: there is none */
    double *squares;            /* of the rows: of each lane's best, then of each entry, then of the plain one */
    double *plain;              /* the last of these: what was best without a metric in the pilot */
    double optimism;            /* that the metric has at most, as far as it is known */
    double less;                /* exponent of lambda that the plain one has gained by more rows and nodes; at most 0 */
    size_t nodes;
} final;

static void final_close(final *f)
{
    broad__trials_close(&f->trials);
    broad__free(f->squares);
    for (size_t s = 0; s < SIDES; s++) broad__directions_close(&f->directions[s]);
}

static int final_open(final *f, const pilot *p, const broad_data *data, const broad__metric *metric)
{
    const broad__device *device = p->trainer->device;
    *f = (final){.nodes = p->sizes.final_nodes, .optimism = OPTIMISM_MOST};
    for (size_t l = 0; l < LANES; l++) f->best[l].square = f->best[l].error = INFINITY;
    int status = broad__trials_open(&f->trials, p->trainer, data, p->sizes.final_rows, f->nodes);
    size_t columns = f->trials.columns;
    if (status == BROAD_OK) f->squares = broad__alloc_doubles(LANES + ENTRIES + 1, f->trials.rows);
    if (status == BROAD_OK && !f->squares) status = BROAD_NO_MEMORY;
    if (status == BROAD_OK) f->plain = f->squares + (LANES + ENTRIES) * f->trials.rows;
    if (status == BROAD_OK) status = broad__directions_open(&f->directions[WITH], metric, columns, device);
    if (status < 0) return status;
    return broad__directions_open(&f->directions[WITHOUT], &(broad__metric){0}, columns, device);
}

static size_t lane_of(const final *f, const broad__attempt *a)
{
    return a->directions == &f->directions[WITH] ? 0 : 1 + (size_t)a->style;
}

static size_t side_of(size_t lane) { return lane ? WITHOUT : WITH; }

static const broad__attempt *final_best(const final *f, size_t side)
{
    const broad__attempt *best = side == WITH ? &f->best[0] : &f->best[1];
    for (size_t l = 2; side == WITHOUT && l < LANES; l++)
        if (f->best[l].square < best->square) best = &f->best[l];
    return best;
}

/* So many times the best square of a side; of nodes without a metric no more than what would beat those with one. */
static double final_reach(const final *f, size_t side, double times)
{
    double with = f->optimism * final_best(f, WITH)->square * FAR;
    return fmin(times * final_best(f, side)->square, side == WITHOUT ? with : INFINITY);
}

/* Above this an entry would not win. */
static double final_limit(const final *f, size_t side)
{
    double most = final_reach(f, side, FAR);
    return isfinite(most) ? most : -1;
}

static void final_enter(final *f, size_t side, const broad__configuration *c)
{
    broad__attempt *entry = &f->entries[f->count];
    *entry = broad__configuration_attempt(c, &f->directions[side], f->nodes);
    entry->most = final_limit(f, side);
    entry->squares = f->squares + (LANES + f->count) * f->trials.rows;
    for (size_t i = 0; i < f->count; i++)
        if (f->entries[i].directions == entry->directions && f->entries[i].style == entry->style &&
            f->entries[i].range == entry->range)
            return;
    f->count++;
}

/* The best of each lane stays. better: whether it is one of these entries. */
static int final_run(final *f, int better[LANES])
{
    int status = broad__trials_run(&f->trials, f->entries, f->count);
    for (size_t l = 0; l < LANES; l++) better[l] = 0;
    for (size_t i = 0; status == BROAD_OK && i < f->count; i++) {
        size_t lane = lane_of(f, &f->entries[i]);
        if (!(f->entries[i].square < f->best[lane].square)) continue;
        f->best[lane] = f->entries[i];
        f->best[lane].squares = f->squares + lane * f->trials.rows;
        memcpy(f->best[lane].squares, f->entries[i].squares, f->trials.rows * sizeof(double));
        better[lane] = 1;
    }
    f->count = 0;
    return status;
}

/* What has won in a lane with larger ranges: there are more nodes now, and where there are more rows as well, more than the
 * rows that the ranges were found on could tell. */
static int final_climb(final *f, int better[LANES])
{
    int status = BROAD_OK;
    for (size_t i = 0; status == BROAD_OK && i < FINAL_CLIMBS; i++) {
        for (size_t l = 0; l < LANES; l++) {
            broad__configuration best = broad__configuration_from(&f->best[l]),
                                 steeper = broad__configuration_steeper(&best);
            if (!better[l] || !(best.square < final_reach(f, side_of(l), BEHIND))) continue;
            final_enter(f, side_of(l), &steeper);
            if (l) f->trials.trainer->climbed |= 1u << (l - 1);
        }
        if (!f->count) break;
        status = final_run(f, better);
    }
    return status;
}

static const broad__configurations *found_without(const pilot *p)
{
    return p->whole.count ? &p->whole : &p->paths[ALL].way[0].found;
}

/* The metric of a round with what suited each half, beside what did best without one. */
static int final_begin(final *f, const pilot *p, round_of r, int better[LANES])
{
    for (size_t w = 0; has_metric(p, r) && w < p->ways; w++) final_enter(f, WITH, &r.on->way[w].found.of[r.round]);
    size_t plain = f->count;
    const broad__configuration *first = &found_without(p)->of[0];
    final_enter(f, WITHOUT, first);
    int status = final_run(f, better);
    if (status == BROAD_OK && first->exponent != 0)
        f->less = fmin(f->entries[plain].exponent - first->exponent + HALF_STEP, 0);
    if (status == BROAD_OK) memcpy(f->plain, f->entries[plain].squares, f->trials.rows * sizeof(double));
    return status;
}

/* Without a metric every style with the range that suited it. */
static int final_styles(final *f, const pilot *p, int better[LANES])
{
    const broad__configurations *found = found_without(p);
    int before[LANES];
    for (size_t s = 0; s < BROAD__STYLE_COUNT; s++) {
        broad__configuration c = {.style = (broad__style)s, .range = found->ranges[s], .exponent = found->exponents[s]};
        int plain = c.style == found->of[0].style && c.range == found->of[0].range;
        if (c.exponent != 0) c.exponent = broad__joint_exponent(c.exponent + f->less);
        if (c.range > 0 && !plain) final_enter(f, WITHOUT, &c);
    }
    memcpy(before, better, sizeof before);
    int status = final_run(f, better);
    for (size_t l = 0; l < LANES; l++) better[l] |= before[l];
    return status;
}

/* ---- optimism ------------------------------------------------------------------------------------------------------ */

/* Squares of the rows of two networks on all rows of the final. */
typedef struct comparison {
    broad__directions directions[2];
    const double *squares[2];
    double *own[2]; /* where they were computed for it */
} comparison;

static void comparison_close(comparison *c)
{
    for (size_t i = 0; i < 2; i++) {
        broad__directions_close(&c->directions[i]);
        broad__free(c->own[i]);
    }
}

/* Each with the metric of one half. with: the nodes that have won with the metric. */
static int compare_halves(comparison *c, const pilot *p, final *f, round_of r, const broad__configuration *with)
{
    broad__attempt attempts[2];
    int status = BROAD_OK;
    for (size_t i = 0; status == BROAD_OK && i < 2; i++) {
        const broad__metric *metric = &r.on->way[i].found.of[r.round].metric;
        status = broad__directions_open(&c->directions[i], metric, f->trials.columns, p->trainer->device);
        c->squares[i] = c->own[i] = broad__alloc_doubles(f->trials.rows, 1);
        if (status == BROAD_OK && !c->own[i]) status = BROAD_NO_MEMORY;
        attempts[i] = broad__configuration_attempt(with, &c->directions[i], f->nodes);
        attempts[i].squares = c->own[i];
        attempts[i].most = -1;
    }
    return status == BROAD_OK ? broad__trials_run(&f->trials, attempts, 2) : status;
}

/* With one way the metric is that of one half, and the second network is without one: both are there. */
static int comparison_run(comparison *c, const pilot *p, final *f, round_of r, const broad__configuration *with)
{
    if (p->ways == 2) return compare_halves(c, p, f, r, with);
    c->squares[0] = final_best(f, WITH)->squares;
    c->squares[1] = f->plain;
    return BROAD_OK;
}

/* The mean size of the residuals of one half's rows. Squares would be those of a few rows, where these are far larger than
 * all others. The rows of the final begin with those of the pilot: both are the first in the same order. */
static double mean_size(const pilot *p, const final *f, const double *squares, unsigned char half)
{
    size_t rows = p->thin->rows < f->trials.rows ? p->thin->rows : f->trials.rows, count = 0;
    double sum = 0;
    for (size_t i = 0; i < rows; i++) {
        if (squares[i] < 0 || p->half_of[i] != half) continue;
        sum += sqrt(squares[i]);
        count++;
    }
    return count ? sum / (double)count : 0;
}

/* What the squares of rows that the metric has not seen are larger by, in the same network, than those of rows that it has
 * seen. With both ways these are the same rows; in the metric in use, the mean of both, each counts half as much, but gains
 * nearly as much by that. With one, how the halves differ anyway cancels out. */
static double optimism_of(const pilot *p, const final *f, const comparison *c)
{
    double size[2][2];
    for (unsigned char h = 0; h < 2; h++)
        for (size_t i = 0; i < 2; i++) size[i][h] = mean_size(p, f, c->squares[i], h);
    double ratio = p->ways == 2 ? (size[0][1] + size[1][0]) / (size[0][0] + size[1][1])
                                : size[0][1] / size[0][0] * size[1][0] / size[1][1];
    return ratio > 1 ? fmin(ratio * ratio, OPTIMISM_MOST) : 1; /* also where it is not a number */
}

/* The same for all rows, of which the metric has seen this share: the others are right as they are. */
static double shared_optimism(double optimism, double share) { return optimism / (share + (1 - share) * optimism); }

static int measure_optimism(double *out, const pilot *p, final *f, round_of r, const broad__configuration *with)
{
    comparison c = {0};
    int status = comparison_run(&c, p, f, r, with);
    if (status == BROAD_OK) *out = optimism_of(p, f, &c);
    comparison_close(&c);
    return status;
}

/* What is known of the optimism so far bounds what nodes without a metric are worth trying for. */
static int final_decide(final *f, const pilot *p, round_of r)
{
    int better[LANES], status = final_begin(f, p, r, better);
    broad__configuration with = broad__configuration_from(final_best(f, WITH));
    if (status == BROAD_OK && isfinite(with.square) && p->ways == 1)
        status = measure_optimism(&f->optimism, p, f, r, &with);
    if (status == BROAD_OK && !is_asked(p, r)) status = final_styles(f, p, better);
    return status == BROAD_OK && p->trainer->model->settings.range_auto ? final_climb(f, better) : status;
}

/* Whether the metric wins. Where there are more rows than those of the final, by more than the spread: a metric says less, the
 * more rows there are to tell directions apart. optimism: of the squares of rows that it has seen. */
static int metric_wins(const final *f, double optimism, size_t all_rows)
{
    const broad__attempt *with = final_best(f, WITH), *without = final_best(f, WITHOUT);
    double sum = 0, squares = 0;
    if (isinf(without->error) || isinf(with->error)) return isinf(without->error);
    for (size_t i = 0; i < f->trials.rows; i++) {
        if (with->squares[i] < 0 || without->squares[i] < 0) continue;
        double gain = without->squares[i] - optimism * with->squares[i];
        sum += gain;
        squares += gain * gain;
    }
    return sum > (all_rows > f->trials.rows ? SPREAD * sqrt(squares) : 0);
}

/* With the metric, if it has won so far or is asked for; or without, unless it is. */
static int use_final(pilot *p, double *out_range, const broad_data *data, round_of r)
{
    broad_model *model = p->trainer->model;
    const broad__metric none = {0};
    broad__metric *learned = &r.on->way[0].found.of[r.round].metric, mean = {0};
    double seen = (double)(p->ways == 2 ? p->thin->rows : p->half[0]->rows), optimism = 1;
    final f;
    int both = learned->values && p->ways == 2, status = both ? broad__metric_open(&mean, learned->columns) : BROAD_OK;
    if (status < 0) return status;
    if (both) broad__metric_copy(&mean, learned);
    if (both) broad__metric_mean(&mean, &r.on->way[1].found.of[r.round].metric);
    const broad__metric *metric = !has_metric(p, r) ? &none : both ? &mean : learned;
    status = final_open(&f, p, data, metric);
    if (status == BROAD_OK) status = final_decide(&f, p, r);
    broad__configuration with = broad__configuration_from(final_best(&f, WITH)),
                         without = broad__configuration_from(final_best(&f, WITHOUT));
    if (status == BROAD_OK && isfinite(with.square)) status = measure_optimism(&optimism, p, &f, r, &with);
    with.metric = *metric;
    double of_final = shared_optimism(optimism, fmin(1, seen / (double)f.trials.rows));
    int used = status == BROAD_OK && (is_asked(p, r) || metric_wins(&f, of_final, data->rows));
    final_close(&f);
    model->optimism = used && has_metric(p, r) ? shared_optimism(optimism, seen / (double)data->rows) : 0;
    if (status == BROAD_OK) status = use(p, out_range, used ? &with : &without);
    broad__metric_close(&mean);
    return status;
}

/* Of the rounds with a metric the one that does best on its own rows; 0: there is none. */
static size_t least_of(const path *on)
{
    const broad__configurations *found = &on->way[0].found;
    size_t best = 0;
    for (size_t r = 1; r < on->rounds; r++)
        if (best == 0 || found->of[r].square < found->of[best].square) best = r;
    return best;
}

static int choose(pilot *p, double *out_range, const broad_data *data)
{
    broad_model *model = p->trainer->model;
    round_of r = {0};
    int status = find_round(&r, p);
    if (status < 0) return status;
    if (model->settings.metric == BROAD_LEARNED_YES && !has_metric(p, r)) r.round = least_of(r.on);
    return use_final(p, out_range, data, r);
}

/* ---- the run ------------------------------------------------------------------------------------------------------- */

/* On all rows that there are, without a metric: what `step` makes of round 0. */
static int on_whole(pilot *p, int (*step)(broad__configuring *))
{
    broad__effort_sizes sizes = p->sizes;
    broad__trials trials;
    broad__configuring g = {0};
    sizes.rounds = 0;
    int status = broad__trials_open(&trials, p->trainer, p->thin, p->thin->rows, sizes.nodes);
    if (status == BROAD_OK) status = broad__configuring_open(&g, &trials, &sizes, BROAD__START_ALL);
    if (status == BROAD_OK) status = step(&g);
    p->whole = g.found;
    broad__configuring_close(&g);
    broad__trials_close(&trials);
    return status;
}

static int first_round(broad__configuring *g) { return broad__configuring_first(g, NULL); }

/* Styles and ranges. */
static int configure_whole(pilot *p) { return p->ways == 1 && p->sizes.rounds ? BROAD_OK : on_whole(p, first_round); }

static int open_halves(pilot *p)
{
    int status = BROAD_OK;
    for (size_t h = 0; status == BROAD_OK && h < 2; h++)
        status = broad__trials_open(&p->trials[h], p->trainer, p->half[h], p->half[h]->rows, p->sizes.nodes);
    return status;
}

static int open_path(pilot *p, size_t which)
{
    path *on = &p->paths[which];
    int status = BROAD_OK;
    on->first = on->least = INFINITY;
    for (size_t w = 0; status == BROAD_OK && w < p->ways; w++) {
        status = broad__configuring_open(&on->way[w], &p->trials[w], &p->sizes, (broad__start)which);
        on->square[w] = broad__alloc_doubles(BROAD__ROUNDS_MOST + 1, p->half[1 - w]->rows);
        if (status == BROAD_OK && !on->square[w]) status = BROAD_NO_MEMORY;
    }
    return status;
}

/* The nodes of round 0 where they are known: of all rows, or from the first path. */
static const broad__configuration *start_of(const pilot *p, const path *on, size_t way)
{
    if (on == &p->paths[UNITS]) return &p->paths[ALL].way[way].found.of[0];
    return p->whole.count && on == &p->paths[ALL] ? &p->whole.of[0] : NULL;
}

/* Of all ways. *out_more: there may be another one after it. */
static int run_round(pilot *p, path *on, int *out_more)
{
    int status = BROAD_OK;
    *out_more = 1;
    for (size_t w = 0; status == BROAD_OK && w < p->ways; w++) {
        broad__configuring *way = &on->way[w];
        status = on->rounds ? broad__configuring_next(way) : broad__configuring_first(way, start_of(p, on, w));
        if (status == BROAD_OK && way->found.count > on->rounds) status = judge(p, on, w);
        if (!way->learned_known || way->found.count == on->rounds) *out_more = 0;
    }
    for (size_t w = 0; w < p->ways; w++)
        if (on->way[w].found.count == on->rounds) return status;
    on->rounds += status == BROAD_OK;
    return status;
}

/* Whether another round is worth it. gain: of the last one, by rows that the metric has not seen. Beyond the rounds that
 * the effort allows, and behind the best of another path, only a large one counts. */
static int goes_on(const pilot *p, const path *on, double gain)
{
    int behind = 0, late = on->rounds > p->sizes.rounds;
    for (const path *other = p->paths; other < on; other++) behind |= on->least > other->least;
    return on->rounds <= BROAD__ROUNDS_MOST && gain > (behind || late ? LARGE : GAIN);
}

/* As long as rows that a metric has not seen gain by it. */
static int run_path(pilot *p, size_t which)
{
    path *on = &p->paths[which];
    int more = 1, status = open_path(p, which);
    while (status == BROAD_OK && more) {
        size_t before = on->rounds;
        double square = 0;
        status = run_round(p, on, &more);
        if (status < 0 || on->rounds == before) break;
        for (size_t w = 0; w < p->ways; w++) square += mean_square(p, (round_of){on, before}, w);
        double gain = before ? 1 - square / on->least : 1;
        if (!before) on->first = square;
        on->least = fmin(on->least, square);
        more = more && goes_on(p, on, gain);
    }
    return status;
}

/* Whether a column of categories has levels that could count alike, and the first path has begun. */
static int has_levels(const pilot *p)
{
    const broad__categories *all = &p->trainer->model->categories;
    for (size_t k = 0; k < all->count; k++)
        if (all->items[k].count > 2) return p->paths[ALL].rounds > 0;
    return 0;
}

/* What networks of the first path leave, at least, of the targets' square, by leave-one-out; 0: nothing is known. */
static double least_left(const pilot *p)
{
    const broad__trial *trial = &p->trials[0].of[0];
    const broad__configurations *found = &p->paths[ALL].way[0].found;
    size_t count = trial->rows->rows * p->trainer->model->outputs;
    double squares = 0, least = INFINITY;
    for (size_t i = 0; i < count; i++) squares += trial->y[i] * trial->y[i];
    for (size_t i = 0; i < found->count; i++) least = fmin(least, found->of[i].square);
    return squares > 0 && isfinite(least) ? least * (double)trial->rows->rows / squares : 0;
}

/* Whether pairs of inputs, each by the means of a few cells, tell more together than the best of these networks. */
static int pairs_tell_more(int *out, const pilot *p)
{
    const broad__trial *trial = &p->trials[0].of[0];
    const broad_data *rows = trial->rows;
    double sum, left = least_left(p), *told = broad__alloc_doubles(rows->inputs, 1);
    int status = told ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK)
        status =
            broad__marginal_pairs(told, &sum, rows->x, rows->inputs, trial->y, p->trainer->model->outputs, rows->rows);
    *out = status == BROAD_OK && left > 0 && sum > 1 - left;
    broad__free(told);
    return status;
}

/* Other starts are tried where the metric has gained so much that few directions seem to matter; and where there are
 * categories, whether their levels had better count alike. */
static int configure_halves(pilot *p)
{
    const path *all = &p->paths[ALL];
    if (!p->sizes.rounds) return BROAD_OK;
    int status = open_halves(p);
    if (status == BROAD_OK) status = run_path(p, ALL);
    int pairs = 0;
    if (status == BROAD_OK) status = pairs_tell_more(&pairs, p);
    int others = p->trials[0].columns > p->trainer->model->inputs && all->least < DECISIVE * all->first;
    for (size_t k = ALL + 1; status == BROAD_OK && k < PATHS; k++)
        if (k == UNITS ? has_levels(p) : k == PAIRS ? pairs : others) status = run_path(p, k);
    return status;
}

int broad__pilot_run(double *out_range, broad_trainer *t, const broad_data *data)
{
    pilot p = {.trainer = t};
    int status = pilot_open(&p, data);
    if (status == BROAD_OK) status = configure_whole(&p);
    if (status == BROAD_OK) status = configure_halves(&p);
    for (const path *on = p.paths; on < p.paths + PATHS; on++)
        if (on->rounds > t->rounds + 1) t->rounds = on->rounds - 1;
    const broad__configurations *first = found_without(&p);
    memcpy(t->model->pilot, first->least, sizeof first->least);
    int chosen = status == BROAD_OK && p.paths[ALL].rounds;
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

int broad__pilot_glance(double *out, broad_trainer *t, const broad_data *data)
{
    pilot p = {.trainer = t};
    int status = pilot_open(&p, data);
    if (status == BROAD_OK) status = on_whole(&p, broad__configuring_screen);
    *out = 0;
    for (size_t i = 0; i < BROAD__STYLE_COUNT; i++)
        if (p.whole.least[i] > 0 && (*out == 0 || p.whole.least[i] < *out)) *out = p.whole.least[i];
    pilot_close(&p);
    return status;
}
