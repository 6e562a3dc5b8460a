#include "model/train/configure.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "feature/marginal.h"
#include "model/train/gradients.h"

enum {
    BLOCKS = 2, /* as a trial has */
    NODES_LEAST = 400,
    ROUND_ROWS = 100,
    CLIMBS_FIRST = 2, /* to larger ranges in round 0; in further rounds these are among the choices */
    CLIMBS_NEXT = 1,
    RANGES_MOST = 5
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
static const double shares[BROAD__SHARES] = {1, 0.95, 0.85, 0.7};
static const double ALIKE = 1.5;
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

broad__attempt broad__configuration_attempt(const broad__configuration *c, const broad__directions *directions,
                                            size_t nodes)
{
    return (broad__attempt){
        .style = c->style, .range = c->range, .start = c->exponent, .directions = directions, .nodes = nodes};
}

broad__configuration broad__configuration_from(const broad__attempt *a)
{
    return (broad__configuration){
        .style = a->style, .range = a->range, .exponent = a->exponent, .square = a->square, .error = a->error};
}

broad__configuration broad__configuration_steeper(const broad__configuration *c)
{
    broad__configuration steeper = *c;
    steeper.range *= 2;
    if (steeper.exponent != 0) steeper.exponent = broad__exponent_steeper(steeper.exponent, 2);
    return steeper;
}

/* ---- trials ----------------------------------------------------------------------------------------------------- */

static broad__attempt attempt_of(const broad__configuring *g, const broad__choice *c, size_t nodes)
{
    return (broad__attempt){.style = c->style,
                            .range = c->range,
                            .start = c->exponent,
                            .directions = &g->directions[c->metric],
                            .nodes = nodes};
}

/* The least error of each style in the first round. */
static void note_errors(broad__configuring *g, const broad__attempt *attempts, size_t count)
{
    for (size_t i = 0; g->found.count == 0 && i < count; i++) {
        double *least = &g->found.least[attempts[i].style], error = attempts[i].part;
        if (!attempts[i].done || !isfinite(error) || (*least > 0 && error >= *least)) continue;
        *least = error;
        g->found.ranges[attempts[i].style] = attempts[i].range;
        g->found.exponents[attempts[i].style] = attempts[i].exponent;
    }
}

/* The best of them come first, as many as are kept. */
static void sort_choices(broad__configuring *g, const broad__attempt *attempts, size_t count)
{
    double squares[BROAD__KEPT];
    broad__choice best[BROAD__KEPT] = {0};
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!attempts[i].done) continue;
        size_t at = kept < BROAD__KEPT ? kept++ : BROAD__KEPT;
        for (; at > 0 && attempts[i].square < squares[at - 1]; at--) {
            if (at == BROAD__KEPT) continue;
            squares[at] = squares[at - 1];
            best[at] = best[at - 1];
        }
        if (at == BROAD__KEPT) continue;
        squares[at] = attempts[i].square;
        best[at] = g->choices[i];
        best[at].exponent = attempts[i].exponent;
    }
    memcpy(g->choices, best, kept * sizeof *best);
    g->choice_count = kept;
}

/* With few nodes. Where time is up, the best of those that were tried. */
static int screen(broad__configuring *g)
{
    broad__attempt attempts[BROAD__CHOICES];
    size_t count = g->choice_count;
    for (size_t i = 0; i < count; i++) {
        attempts[i] = attempt_of(g, &g->choices[i], g->sizes.screen);
        attempts[i].rough = 1;
    }
    int status = broad__trials_run(g->trials, attempts, count);
    const broad__attempt *best = broad__attempts_best(attempts, count);
    if (best) g->found.of[g->found.count] = broad__configuration_from(best);
    note_errors(g, attempts, count);
    sort_choices(g, attempts, count);
    return status;
}

/* With more nodes. What is the best of this round so far stays, with its metric. *out_better: one of them is that. */
static int try_more(broad__configuring *g, broad__choice *best, int *out_better, const broad__choice *choices,
                    size_t count)
{
    broad__configuration *kept = &g->found.of[g->found.count];
    broad__attempt attempts[BROAD__KEPT];
    for (size_t i = 0; i < count; i++) {
        attempts[i] = attempt_of(g, &choices[i], g->sizes.nodes);
        attempts[i].rough = 1;
        if (g->learned[0].values) attempts[i].metric = &g->learned[1 + i];
    }
    int status = broad__trials_run(g->trials, attempts, count);
    const broad__attempt *found = broad__attempts_best(attempts, count);
    *out_better = found && found->square < kept->square;
    if (!*out_better) return status;
    *kept = broad__configuration_from(found);
    *best = choices[found - attempts];
    best->exponent = found->exponent;
    g->learned_known = found->metric_known;
    if (found->metric) broad__metric_copy(&g->learned[0], found->metric);
    return status;
}

static int is_among(const broad__choice *c, const broad__choice *choices, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (choices[i].metric == c->metric && choices[i].style == c->style && choices[i].range == c->range) return 1;
    return 0;
}

/* The best of them with more nodes, and so many times with larger ranges, unless that was one of them. */
static int decide(broad__configuring *g, size_t climbs)
{
    broad__configuration *kept = &g->found.of[g->found.count];
    broad__configuration screened = *kept;
    broad__choice best = {0};
    int better = 0;
    kept->square = INFINITY;
    g->learned_known = 0;
    int status = try_more(g, &best, &better, g->choices, g->choice_count);
    for (size_t i = 0; status == BROAD_OK && better && i < climbs; i++) {
        broad__choice steeper = {best.metric, best.style, 2 * best.range, broad__exponent_steeper(best.exponent, 2)};
        if (is_among(&steeper, g->choices, g->choice_count)) break;
        status = try_more(g, &best, &better, &steeper, 1);
    }
    if (status < 0 && !isfinite(kept->square)) *kept = screened; /* where time is up, that is what there is */
    if (status < 0 || !isfinite(kept->square)) return status;
    if (g->metrics[best.metric].values) {
        status = broad__metric_open(&kept->metric, g->trials->columns);
        if (status == BROAD_OK) broad__metric_copy(&kept->metric, &g->metrics[best.metric]);
    }
    g->found.count += status == BROAD_OK;
    return status;
}

/* ---- rounds ----------------------------------------------------------------------------------------------------- */

/* Nodes that are not sampled have one style, and nodes of a given range one range. */
static void add_choice(broad__configuring *g, broad__choice c)
{
    const broad_options *o = &g->trainer->model->settings;
    int sampled = o->feature_weights == BROAD_FEATURE_WEIGHTS_SAMPLED;
    if (!sampled && c.style != BROAD__STYLE_DENSE) return;
    if (g->choice_count < BROAD__CHOICES) g->choices[g->choice_count++] = c;
}

static void list_first(broad__configuring *g)
{
    int open = g->trainer->model->settings.range_auto;
    g->choice_count = 0;
    for (size_t i = 0; i < COUNT_OF(first_round); i++)
        for (size_t r = 0; r < (open ? first_round[i].count : 1); r++)
            add_choice(g, (broad__choice){.style = first_round[i].style, .range = open ? first_round[i].ranges[r] : 1});
}

static void list_next(broad__configuring *g)
{
    const broad__configuration *last = &g->found.of[g->found.count - 1];
    int open = g->trainer->model->settings.range_auto;
    g->choice_count = 0;
    for (size_t i = 0; i < COUNT_OF(first_round); i++) {
        broad__style style = first_round[i].style;
        add_choice(g, (broad__choice){.style = style, .range = last->range});
        if (open) add_choice(g, (broad__choice){.style = style, .range = last->range * 2});
        if (open && style == last->style) add_choice(g, (broad__choice){.style = style, .range = last->range / 2});
    }
    for (size_t s = 1; s < g->share_count; s++) add_choice(g, (broad__choice){s, last->style, last->range, 0});
    for (size_t i = 0; g->marginal_known && i < COUNT_OF(first_round); i++)
        for (size_t r = 0; r < (open ? 2 : 1); r++)
            add_choice(g, (broad__choice){BROAD__MARGINAL, first_round[i].style, last->range * (double)(r + 1), 0});
}

/* ---- metrics to start from --------------------------------------------------------------------------------------- */

static int is_plain(broad__start start) { return start == BROAD__START_PLAIN || start == BROAD__START_REACH; }

/* A diagonal, of all columns of an input alike that count. */
static int start_from(broad__configuring *g, size_t which, const double *of_input)
{
    size_t columns = g->trials->columns, inputs = g->trainer->model->inputs;
    broad__metric *metric = &g->metrics[which];
    for (size_t j = 0; j < (is_plain(g->start) ? inputs : columns); j++)
        broad__metric_set_diagonal(metric, j, of_input[j % inputs]);
    int status = g->unit ? broad__metric_pool(metric, inputs, g->unit) : BROAD_OK;
    if (status < 0 || !broad__metric_settle(metric)) return status;
    return broad__directions_open(&g->directions[which], metric, columns, g->trainer->device);
}

/* What each input tells by itself. */
static int start_marginal(broad__configuring *g)
{
    const broad__trial *trial = &g->trials->of[0];
    const broad_data *rows = trial->rows;
    double *told = broad__alloc_doubles(rows->inputs, 1);
    int status = told ? broad__metric_open(&g->metrics[BROAD__MARGINAL], trial->columns) : BROAD_NO_MEMORY;
    if (status == BROAD_OK)
        status = broad__marginal(told, rows->x, rows->inputs, trial->y, g->trainer->model->outputs, rows->rows);
    if (status == BROAD_OK) status = start_from(g, BROAD__MARGINAL, told);
    g->marginal_known = g->directions[BROAD__MARGINAL].relevance != NULL;
    broad__free(told);
    return status;
}

/* What each tells together with another one. No directions: no pair tells more than chance. */
static int start_pairs(broad__configuring *g)
{
    const broad__trial *trial = &g->trials->of[0];
    const broad_data *rows = trial->rows;
    double sum, *told = broad__alloc_doubles(rows->inputs, 1);
    int status = told ? broad__metric_open(&g->metrics[0], trial->columns) : BROAD_NO_MEMORY;
    if (status == BROAD_OK)
        status =
            broad__marginal_pairs(told, &sum, rows->x, rows->inputs, trial->y, g->trainer->model->outputs, rows->rows);
    if (status == BROAD_OK) status = start_from(g, 0, told);
    broad__free(told);
    return status;
}

/* One over the square of how far the values of an input reach; 0 where they are all one. */
static double narrowness(const broad_data *rows, size_t input, double factor)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < rows->rows; i++) {
        least = fmin(least, rows->x[i * rows->inputs + input]); /* a missing value is neither */
        most = fmax(most, rows->x[i * rows->inputs + input]);
    }
    double reach = (most - least) * factor;
    return reach > 0 ? 1 / (reach * reach) : 0;
}

/* Whether they are so nearly equal that it is as if all were: what are 0 do not count. */
static int are_alike(const double *values, size_t count)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < count; i++) {
        if (values[i] > 0) least = fmin(least, values[i]);
        most = fmax(most, values[i]);
    }
    return most <= ALIKE * least;
}

/* Without the ranks. No directions: by how far they reach inputs are scaled as by their deviations. */
static int start_plain(broad__configuring *g)
{
    const broad_model *model = g->trainer->model;
    const broad_data *rows = g->trials->of[0].rows;
    double *of_input = broad__alloc_doubles(model->inputs, 1);
    int status = of_input ? broad__metric_open(&g->metrics[0], g->trials->columns) : BROAD_NO_MEMORY;
    for (size_t j = 0; of_input && j < model->inputs; j++)
        of_input[j] = g->start == BROAD__START_REACH ? narrowness(rows, j, model->input_factor[j]) : 1;
    int same = g->start == BROAD__START_REACH && of_input && are_alike(of_input, model->inputs);
    if (status == BROAD_OK && !same) status = start_from(g, 0, of_input);
    broad__free(of_input);
    return status;
}

/* The metric of the last round's best trial, and the same with fewer inputs. A diagonal is softened instead: it belongs
 * to many columns, of which few rows cannot tell. */
static int take_metric(broad__configuring *g)
{
    size_t columns = g->trials->columns, inputs = g->trainer->model->inputs;
    double rows = (double)g->trials->rows;
    int status = BROAD_OK;
    g->share_count = 0;
    for (size_t s = 0; status == BROAD_OK && s < (g->learned[0].full ? BROAD__SHARES : 1); s++) {
        broad__metric *metric = &g->metrics[s];
        if (!metric->values) status = broad__metric_open(metric, columns);
        if (status < 0) break;
        broad__metric_copy(metric, &g->learned[0]);
        if (g->unit) status = broad__metric_pool(metric, inputs, g->unit);
        if (status < 0) break;
        if (!metric->full) broad__metric_soften(metric, rows / (rows + CAUTION * (double)columns));
        if (s && !broad__metric_prune(metric, inputs, g->unit, shares[s])) break;
        broad__directions_close(&g->directions[s]);
        status = broad__directions_open(&g->directions[s], metric, columns, g->trainer->device);
        g->share_count = s + 1;
    }
    return status;
}

int broad__configuring_next(broad__configuring *g)
{
    int open = g->trainer->model->settings.range_auto, status = take_metric(g);
    g->marginal_known = 0;
    if (status == BROAD_OK && g->found.count == 1) status = start_marginal(g);
    if (status == BROAD_OK) list_next(g);
    if (status == BROAD_OK) status = screen(g);
    return status == BROAD_OK ? decide(g, open ? CLIMBS_NEXT : 0) : status;
}

static int open_directions(broad__configuring *g)
{
    if (is_plain(g->start)) return start_plain(g);
    if (g->start == BROAD__START_PAIRS) return start_pairs(g);
    return broad__directions_open(&g->directions[0], &g->metrics[0], g->trials->columns, g->trainer->device);
}

int broad__configuring_screen(broad__configuring *g)
{
    int status = open_directions(g);
    list_first(g);
    return status == BROAD_OK ? screen(g) : status;
}

int broad__configuring_first(broad__configuring *g, const broad__configuration *start)
{
    int open = g->trainer->model->settings.range_auto, status = open_directions(g);
    if (status < 0 || !g->directions[0].relevance) return status; /* nothing to start from: no round */
    if (start) {
        g->choices[0] = (broad__choice){.style = start->style, .range = start->range, .exponent = start->exponent};
        g->choice_count = 1;
    } else {
        list_first(g);
        status = screen(g);
    }
    if (status == BROAD_OK) status = decide(g, open && !start ? CLIMBS_FIRST : 0);
    const broad__configuration *best = &g->found.of[0];
    if (status < 0 && broad__watch_late() && best->square > 0 && isfinite(best->square)) g->found.count = 1;
    return status;
}

void broad__configuring_close(broad__configuring *g)
{
    for (size_t i = 0; i < g->found.count; i++) broad__metric_close(&g->found.of[i].metric);
    for (size_t i = 0; i <= BROAD__KEPT; i++) broad__metric_close(&g->learned[i]);
    for (size_t s = 0; s < BROAD__METRICS; s++) {
        broad__metric_close(&g->metrics[s]);
        broad__directions_close(&g->directions[s]);
    }
    broad__free(g->unit);
    *g = (broad__configuring){0};
}

/* Of each input the first of its column. */
static int list_units(size_t **out, const broad_model *model)
{
    *out = broad__alloc_array(model->inputs, sizeof **out);
    if (!*out) return BROAD_NO_MEMORY;
    for (size_t j = 0; j < model->inputs; j++) (*out)[j] = j;
    for (size_t k = 0; k < model->categories.count; k++) {
        const broad__category *c = &model->categories.items[k];
        for (size_t i = 0; i < c->count; i++) (*out)[c->first + i] = c->first;
    }
    return BROAD_OK;
}

int broad__configuring_open(broad__configuring *out, broad__trials *trials, const broad__effort_sizes *sizes,
                            broad__start start)
{
    int status = BROAD_OK;
    *out = (broad__configuring){.trainer = trials->trainer, .trials = trials, .sizes = *sizes, .start = start};
    for (size_t i = 0; status == BROAD_OK && sizes->rounds && i <= BROAD__KEPT; i++)
        status = broad__metric_open(&out->learned[i], trials->columns);
    if (status == BROAD_OK && start == BROAD__START_UNITS) status = list_units(&out->unit, trials->trainer->model);
    return status;
}
