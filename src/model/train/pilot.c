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
    HALF_LEAST = 20,  /* rows, for a judgement that means anything */
    WITHOUT_MOST = 2, /* rounds that gain nothing */
    FINAL_CLIMBS = 2
};
static const double GAIN = 0.01; /* of the mean square: less is none */
/* Standard errors by which a metric must gain. */
static const double SPREAD = 2;
/* Beyond this the ratio of two errors says that one of them is next to nothing. */
static const double OPTIMISM_MOST = 2;

typedef struct pilot {
    broad_trainer *trainer;
    broad__effort_sizes sizes;
    broad_data *thin, *half[2];  /* some rows, and their halves */
    broad__trials trials[2];     /* on the halves */
    size_t ways;                 /* 2: each half is configured and judged by the other */
    broad__configuring way[2];   /* configured on this half */
    double *square[2];           /* [way]: squares of the residuals of the judging half's rows, round by round */
    size_t rounds;               /* that both ways have */
    broad__configurations whole; /* on all rows, without a metric; where there are few */
} pilot;

static void pilot_close(pilot *p)
{
    for (size_t w = 0; w < 2; w++) {
        broad__configuring_close(&p->way[w]);
        broad__trials_close(&p->trials[w]);
        broad__free(p->square[w]);
        broad__table_free(p->half[w]);
    }
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

/* The last round of one half on the rows of the other. */
static int judge(pilot *p, size_t way)
{
    const broad__configurations *found = &p->way[way].found;
    broad__trials *trials = &p->trials[1 - way];
    const broad__configuration *c = &found->of[found->count - 1];
    broad__directions directions = {0};
    int status = broad__directions_open(&directions, &c->metric, trials->columns, p->trainer->device);
    broad__attempt attempt = broad__configuration_attempt(c, &directions, p->sizes.nodes);
    attempt.squares = p->square[way] + (found->count - 1) * trials->rows;
    if (status == BROAD_OK) status = broad__trials_run(trials, &attempt, 1);
    broad__directions_close(&directions);
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
        seen += p->way[w].found.of[round].error;
        unseen += mean_square(p, w, round);
    }
    double ratio = unseen / seen;
    if (p->ways == 1) ratio *= p->way[0].found.of[0].error / mean_square(p, 0, 0);
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

enum { WITH, WITHOUT, SIDES, ENTRIES = 2 + 1 + BROAD__STYLE_COUNT };

typedef struct final {
    broad__trials trials;
    broad__directions directions[SIDES]; /* of the metric, and of none */
    broad__attempt entries[ENTRIES];
    size_t count;
    broad__attempt best[SIDES]; /* square INFINITY: there is none */
    size_t nodes;
} final;

static void final_close(final *f)
{
    broad__trials_close(&f->trials);
    for (size_t s = 0; s < SIDES; s++) broad__directions_close(&f->directions[s]);
}

static int final_open(final *f, const pilot *p, const broad_data *data, const broad__metric *metric)
{
    const broad__device *device = p->trainer->device;
    *f = (final){.nodes = p->sizes.final_nodes};
    for (size_t s = 0; s < SIDES; s++) f->best[s].square = f->best[s].error = INFINITY;
    int status = broad__trials_open(&f->trials, p->trainer, data, p->sizes.final_rows, f->nodes);
    size_t columns = f->trials.columns;
    if (status == BROAD_OK) status = broad__directions_open(&f->directions[WITH], metric, columns, device);
    if (status < 0) return status;
    return broad__directions_open(&f->directions[WITHOUT], &(broad__metric){0}, columns, device);
}

static void final_enter(final *f, size_t side, const broad__configuration *c)
{
    broad__attempt *entry = &f->entries[f->count];
    *entry = broad__configuration_attempt(c, &f->directions[side], f->nodes);
    entry->rough = 1;
    for (size_t i = 0; i < f->count; i++)
        if (f->entries[i].directions == entry->directions && f->entries[i].style == entry->style &&
            f->entries[i].range == entry->range)
            return;
    f->count++;
}

/* The best of each side stays. better: whether it is one of these entries. */
static int final_run(final *f, int better[SIDES])
{
    int status = broad__trials_run(&f->trials, f->entries, f->count);
    for (size_t s = 0; s < SIDES; s++) better[s] = 0;
    for (size_t i = 0; status == BROAD_OK && i < f->count; i++) {
        size_t side = f->entries[i].directions == &f->directions[WITH] ? WITH : WITHOUT;
        if (!(f->entries[i].square < f->best[side].square)) continue;
        f->best[side] = f->entries[i];
        better[side] = 1;
    }
    f->count = 0;
    return status;
}

/* What has won on either side with larger ranges: there are more nodes now. */
static int final_climb(final *f, int better[SIDES])
{
    int status = BROAD_OK;
    for (size_t i = 0; status == BROAD_OK && i < FINAL_CLIMBS && (better[WITH] || better[WITHOUT]); i++) {
        for (size_t s = 0; s < SIDES; s++) {
            broad__configuration steeper = broad__configuration_from(&f->best[s]);
            steeper.range *= 2;
            if (better[s]) final_enter(f, s, &steeper);
        }
        status = final_run(f, better);
    }
    return status;
}

/* The metric of a round with what suited each half; without one every style with the range that suited it, and the best
 * of them all. */
static int final_decide(final *f, const pilot *p, size_t round)
{
    const broad_options *o = &p->trainer->model->settings;
    const broad__configurations *found = p->whole.count ? &p->whole : &p->way[0].found;
    int better[SIDES], asked = round && o->metric == BROAD_LEARNED_YES;
    for (size_t w = 0; round && w < p->ways; w++) final_enter(f, WITH, &p->way[w].found.of[round]);
    if (!asked) final_enter(f, WITHOUT, &found->of[0]);
    for (size_t s = 0; !asked && s < BROAD__STYLE_COUNT; s++) {
        broad__configuration c = {.style = (broad__style)s, .range = found->ranges[s]};
        if (c.range > 0) final_enter(f, WITHOUT, &c);
    }
    int status = final_run(f, better);
    return status == BROAD_OK && o->range_auto ? final_climb(f, better) : status;
}

/* With the metric, if it has won so far or is asked for; or without, unless it is. */
static int use_final(pilot *p, double *out_range, const broad_data *data, size_t round)
{
    broad_model *model = p->trainer->model;
    const broad__metric none = {0}, *metric = round ? &p->way[0].found.of[round].metric : &none;
    final f;
    if (round && p->ways == 2) broad__metric_mean(&p->way[0].found.of[round].metric, &p->way[1].found.of[round].metric);
    int status = final_open(&f, p, data, metric);
    if (status == BROAD_OK) status = final_decide(&f, p, round);
    broad__configuration with = broad__configuration_from(&f.best[WITH]),
                         without = broad__configuration_from(&f.best[WITHOUT]);
    final_close(&f);
    if (status < 0) return status;
    if (model->optimism > 1) with.error *= model->optimism;
    with.metric = *metric;
    if (isinf(without.error) || with.error < without.error) return use(p, out_range, &with);
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
    if (model->settings.metric == BROAD_LEARNED_YES && !round) round = least_of(&p->way[0].found, p->rounds);
    if (round) model->optimism = 1 + (optimism_of(p, round) - 1) * (double)seen / (double)data->rows;
    return use_final(p, out_range, data, round);
}

/* ---- the run ------------------------------------------------------------------------------------------------------- */

/* Styles and ranges without a metric, on all rows that there are. */
static int configure_whole(pilot *p)
{
    if (p->ways == 1 && p->sizes.rounds) return BROAD_OK;
    broad__effort_sizes sizes = p->sizes;
    broad__trials trials;
    broad__configuring g = {0};
    sizes.rounds = 0;
    int status = broad__trials_open(&trials, p->trainer, p->thin, p->thin->rows, sizes.nodes);
    if (status == BROAD_OK) status = broad__configuring_open(&g, &trials, &sizes);
    if (status == BROAD_OK) status = broad__configuring_first(&g, NULL);
    p->whole = g.found;
    broad__configuring_close(&g);
    broad__trials_close(&trials);
    return status;
}

static int open_halves(pilot *p)
{
    int status = BROAD_OK;
    for (size_t h = 0; status == BROAD_OK && h < 2; h++)
        status = broad__trials_open(&p->trials[h], p->trainer, p->half[h], p->half[h]->rows, p->sizes.nodes);
    for (size_t w = 0; status == BROAD_OK && w < p->ways; w++) {
        status = broad__configuring_open(&p->way[w], &p->trials[w], &p->sizes);
        p->square[w] = broad__alloc_doubles(p->sizes.rounds + 1, p->half[1 - w]->rows);
        if (status == BROAD_OK && !p->square[w]) status = BROAD_NO_MEMORY;
    }
    return status;
}

/* Of all ways. *out_more: there may be another one after it. */
static int run_round(pilot *p, int *out_more)
{
    const broad__configuration *start = p->whole.count ? &p->whole.of[0] : NULL;
    int status = BROAD_OK;
    *out_more = 1;
    for (size_t w = 0; status == BROAD_OK && w < p->ways; w++) {
        broad__configuring *way = &p->way[w];
        status = p->rounds ? broad__configuring_next(way) : broad__configuring_first(way, start);
        if (status == BROAD_OK && way->found.count > p->rounds) status = judge(p, w);
        if (!way->learned_known || way->found.count == p->rounds) *out_more = 0;
    }
    for (size_t w = 0; w < p->ways; w++)
        if (p->way[w].found.count == p->rounds) return status;
    p->rounds += status == BROAD_OK;
    return status;
}

/* As long as rows that a metric has not seen gain by it. */
static int configure_halves(pilot *p)
{
    size_t without = 0;
    double least = INFINITY;
    int more = 1, status = p->sizes.rounds ? open_halves(p) : BROAD_OK;
    while (status == BROAD_OK && more && p->rounds <= p->sizes.rounds && p->sizes.rounds && without < WITHOUT_MOST) {
        double square = 0;
        status = run_round(p, &more);
        if (status < 0 || !p->rounds) break;
        for (size_t w = 0; w < p->ways; w++) square += mean_square(p, w, p->rounds - 1);
        without = square < (1 - GAIN) * least ? 0 : without + 1;
        least = fmin(least, square);
    }
    return status;
}

int broad__pilot_run(double *out_range, broad_trainer *t, const broad_data *data)
{
    pilot p = {.trainer = t};
    int status = pilot_open(&p, data);
    if (status == BROAD_OK) status = configure_whole(&p);
    if (status == BROAD_OK) status = configure_halves(&p);
    const broad__configurations *first = p.whole.count ? &p.whole : &p.way[0].found;
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
