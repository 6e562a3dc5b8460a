#include "model/train/configure.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "model/train/gradients.h"

enum {
    BLOCKS = 2,
    NODES_LEAST = 400,
    ROUND_ROWS = 100,
    KEPT = 2,
    CLIMBS = 2,
    TRIALS_MOST = 24,
    RANGES_MOST = 5,
    SHARES = 4,
    WITHOUT_MOST = 2
};

/* Ranges to try for each style in round 0. */
typedef struct style_ranges {
    broad__style style;
    size_t count;
    double ranges[RANGES_MOST];
} style_ranges;

static const style_ranges first_round[] = {
    {BROAD__STYLE_MIX, 5, {0.5, 1, 2, 4, 8}},
    {BROAD__STYLE_DENSE, 4, {0.5, 1, 2, 4}},
    {BROAD__STYLE_SPARSE, 4, {0.5, 1, 2, 4}},
    {BROAD__STYLE_DIFFERENCE, 4, {0.5, 1, 2, 4}},
};
/* Of the diagonal that is left where inputs are dropped; the first: none are. */
static const double shares[SHARES] = {1, 0.95, 0.85, 0.7};
static const double GAIN = 0.01;  /* of the mean square: less is no gain */
static const double CAUTION = 20; /* rows per column at which a diagonal alone is trusted by half */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

broad__effort_sizes broad__effort_sizes_of(const broad_options *options, size_t rows)
{
    static const broad__effort_sizes sizes[] = {
        {600, 200, 500, 2, 1500, 600}, {1200, 300, 800, 4, 3000, 1000}, {2500, 300, 1500, 7, 4096, 1600}};
    broad__effort_sizes s = sizes[options->effort];
    size_t whole = options->feature_groups * options->feature_nodes, half = rows / 2 < s.rows ? rows / 2 : s.rows;
    double share = (double)whole * (double)half / (double)(rows ? rows : 1);
    size_t nodes = share > NODES_LEAST ? (size_t)share : NODES_LEAST;
    nodes = nodes > s.nodes ? s.nodes : nodes;
    nodes = nodes > whole ? whole : nodes;
    s.nodes = nodes < BLOCKS ? BLOCKS : nodes / BLOCKS * BLOCKS;
    if (s.screen > s.nodes) s.screen = s.nodes;
    size_t least = options->metric == BROAD_LEARNED_YES, most = half / ROUND_ROWS;
    if (s.rounds > most) s.rounds = most > least ? most : least;
    if (s.final_nodes > whole) s.final_nodes = whole;
    if (s.final_nodes < s.nodes) s.final_nodes = s.nodes;
    return s;
}

/* A trial to be made: number of the share of the metric, style, range. */
typedef struct choice {
    size_t share;
    broad__style style;
    double range, square;
} choice;

typedef struct configuring {
    broad_trainer *trainer;
    broad__trial trial;
    broad__effort_sizes sizes;
    broad__metric metrics[SHARES]; /* of this round */
    broad__directions directions[SHARES];
    size_t share_count;
    broad__metric next; /* of the best trial of this round */
    int next_known;
    choice choices[TRIALS_MOST];
    size_t choice_count;
    broad__configurations *out;
} configuring;

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
    model->has_relevance = model->settings.feature_weights != BROAD_FEATURE_WEIGHTS_SAMPLED;
    *directions = (broad__directions){0};
}

void broad__configurations_clear(broad__configurations *list)
{
    for (size_t i = 0; i < list->count; i++) broad__metric_close(&list->of[i].metric);
    *list = (broad__configurations){0};
}

/* ---- trials ----------------------------------------------------------------------------------------------------- */

int broad__configuration_try(broad__trial *trial, broad__configuration *c, const broad__directions *directions,
                             size_t nodes)
{
    broad__trial_block block = {c->style, c->range, directions->relevance, directions->root, nodes / BLOCKS};
    int status = BROAD_OK;
    broad__trial_restart(trial);
    for (size_t b = 0; status == BROAD_OK && b < BLOCKS; b++) status = broad__trial_add(trial, &block);
    if (status == BROAD_OK) status = broad__trial_fit(trial);
    if (status < 0) return status;
    size_t rows = trial->joint.sample_count;
    c->exponent = trial->exponent;
    c->square = rows ? trial->joint.loo * trial->joint.loo / (double)rows : INFINITY;
    return broad__trial_mean_square(&c->error, trial);
}

/* The least error of each style in the first round. */
static void note_error(configuring *g, broad__style style, double range)
{
    double *least = &g->out->least[style], error = broad__trial_error(&g->trial);
    if (g->out->count || !isfinite(error) || (*least > 0 && error >= *least)) return;
    *least = error;
    g->out->ranges[style] = range;
}

static int try_choice(configuring *g, const choice *c, broad__configuration *out, size_t nodes)
{
    *out = (broad__configuration){.style = c->style, .range = c->range};
    return broad__configuration_try(&g->trial, out, &g->directions[c->share], nodes);
}

/* With few nodes; the best KEPT of them come first. */
static int screen(configuring *g)
{
    int status = BROAD_OK;
    broad__configuration tried;
    g->trial.rough = 1;
    for (size_t i = 0; status == BROAD_OK && i < g->choice_count; i++) {
        choice c = g->choices[i];
        size_t at = i < KEPT ? i : KEPT;
        status = try_choice(g, &c, &tried, g->sizes.screen);
        if (status < 0) break;
        note_error(g, c.style, c.range);
        c.square = tried.square;
        for (; at > 0 && c.square < g->choices[at - 1].square; at--)
            if (at < KEPT) g->choices[at] = g->choices[at - 1];
        if (at < KEPT) g->choices[at] = c;
    }
    g->trial.rough = 0;
    return status;
}

/* With more nodes. What is the best of this round so far stays, with its metric. *out_better: it is that. */
static int try_more(configuring *g, choice *best, int *out_better, choice c)
{
    broad__configuration tried, *kept = &g->out->of[g->out->count];
    int status = try_choice(g, &c, &tried, g->sizes.nodes);
    *out_better = status == BROAD_OK && tried.square < kept->square;
    if (!*out_better) return status;
    *kept = tried;
    *best = c;
    return g->next.values ? broad__trial_metric(&g->next, &g->next_known, &g->trial) : BROAD_OK;
}

/* The best of them with more nodes, and with larger ranges. */
static int decide(configuring *g)
{
    broad__configuration *kept = &g->out->of[g->out->count];
    size_t count = g->choice_count < KEPT ? g->choice_count : KEPT;
    choice best = {0};
    int status = BROAD_OK, better = 0;
    kept->square = INFINITY;
    g->next_known = 0;
    for (size_t i = 0; status == BROAD_OK && i < count; i++) status = try_more(g, &best, &better, g->choices[i]);
    better = g->trainer->model->settings.range_auto && isfinite(kept->square);
    for (size_t i = 0; status == BROAD_OK && better && i < CLIMBS; i++) {
        choice steeper = {best.share, best.style, 2 * best.range, 0};
        status = try_more(g, &best, &better, steeper);
    }
    if (status < 0 || !isfinite(kept->square)) return status;
    if (g->metrics[best.share].values) {
        status = broad__metric_open(&kept->metric, g->trial.columns);
        if (status == BROAD_OK) broad__metric_copy(&kept->metric, &g->metrics[best.share]);
    }
    g->out->count += status == BROAD_OK;
    return status;
}

/* ---- rounds ----------------------------------------------------------------------------------------------------- */

/* Nodes that are not sampled have one style, and nodes of a given range one range. */
static void add_choice(configuring *g, choice c)
{
    const broad_options *o = &g->trainer->model->settings;
    int sampled = o->feature_weights == BROAD_FEATURE_WEIGHTS_SAMPLED;
    if (!sampled && c.style != BROAD__STYLE_DENSE) return;
    if (g->choice_count < TRIALS_MOST) g->choices[g->choice_count++] = c;
}

static void list_first(configuring *g)
{
    int open = g->trainer->model->settings.range_auto;
    g->choice_count = 0;
    for (size_t i = 0; i < COUNT_OF(first_round); i++)
        for (size_t r = 0; r < (open ? first_round[i].count : 1); r++)
            add_choice(g, (choice){.style = first_round[i].style, .range = open ? first_round[i].ranges[r] : 1});
}

static void list_next(configuring *g)
{
    const broad__configuration *last = &g->out->of[g->out->count - 1];
    int open = g->trainer->model->settings.range_auto;
    g->choice_count = 0;
    for (size_t i = 0; i < COUNT_OF(first_round); i++) {
        broad__style style = first_round[i].style;
        add_choice(g, (choice){.style = style, .range = last->range});
        if (open) add_choice(g, (choice){.style = style, .range = last->range * 2});
        if (open && style == last->style) add_choice(g, (choice){.style = style, .range = last->range / 2});
    }
    for (size_t s = 1; s < g->share_count; s++) add_choice(g, (choice){s, last->style, last->range, 0});
}

/* The metric of the last round's best trial, and the same with fewer inputs. A diagonal is softened instead: it belongs
 * to many columns, of which few rows cannot tell. */
static int take_metric(configuring *g)
{
    size_t columns = g->trial.columns, inputs = g->trainer->model->inputs;
    double rows = (double)g->trial.rows->rows;
    int status = BROAD_OK;
    g->share_count = 0;
    for (size_t s = 0; status == BROAD_OK && s < (g->next.full ? SHARES : 1); s++) {
        broad__metric *metric = &g->metrics[s];
        if (!metric->values) status = broad__metric_open(metric, columns);
        if (status < 0) break;
        broad__metric_copy(metric, &g->next);
        if (!metric->full) broad__metric_soften(metric, rows / (rows + CAUTION * (double)columns));
        if (s && !broad__metric_prune(metric, inputs, shares[s])) break;
        broad__directions_close(&g->directions[s]);
        status = broad__directions_open(&g->directions[s], metric, columns, g->trainer->device);
        g->share_count = s + 1;
    }
    return status;
}

static int next_round(configuring *g)
{
    int status = take_metric(g);
    if (status == BROAD_OK) list_next(g);
    if (status == BROAD_OK) status = screen(g);
    return status == BROAD_OK ? decide(g) : status;
}

/* Where time is up, the best that was tried. */
static void settle_for_less(configuring *g)
{
    broad__configuration *first = &g->out->of[0];
    const choice *c = &g->choices[0];
    if (!(first->square > 0) || !isfinite(first->square)) {
        if (!(c->square > 0) || !isfinite(c->square)) return;
        *first = (broad__configuration){
            .style = c->style, .range = c->range, .exponent = g->trial.exponent, .square = c->square};
    }
    g->out->count = 1;
}

static int first_of_rounds(configuring *g)
{
    int status = broad__directions_open(&g->directions[0], &g->metrics[0], g->trial.columns, g->trainer->device);
    if (status == BROAD_OK) list_first(g);
    if (status == BROAD_OK) status = screen(g);
    if (status == BROAD_OK) status = decide(g);
    if (status < 0 && broad__watch_late()) settle_for_less(g);
    return status;
}

static void configuring_close(configuring *g)
{
    broad__trial_close(&g->trial);
    broad__metric_close(&g->next);
    for (size_t s = 0; s < SHARES; s++) {
        broad__metric_close(&g->metrics[s]);
        broad__directions_close(&g->directions[s]);
    }
}

int broad__configure(broad__configurations *out, broad_trainer *t, const broad_data *rows,
                     const broad__effort_sizes *sizes)
{
    configuring g = {.trainer = t, .out = out, .sizes = *sizes};
    double least = INFINITY;
    size_t without = 0, rounds = sizes->rounds;
    *out = (broad__configurations){0};
    if (rounds > BROAD__ROUNDS_MOST) rounds = BROAD__ROUNDS_MOST;
    int status = broad__trial_open(&g.trial, t, rows, rows->rows, g.sizes.nodes);
    if (status == BROAD_OK && rounds) status = broad__metric_open(&g.next, g.trial.columns);
    if (status == BROAD_OK) status = first_of_rounds(&g);
    for (size_t r = 0; status == BROAD_OK && r < rounds && g.next_known && without < WITHOUT_MOST; r++) {
        double square = out->of[out->count - 1].square;
        without = square < (1 - GAIN) * least ? 0 : without + 1;
        least = fmin(least, square);
        if (without < WITHOUT_MOST) status = next_round(&g);
    }
    configuring_close(&g);
    return status;
}
