#include "run/relevance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/choices.h"

enum { PARTS_SHOWN = 20, BAR = 30, NAME = 32, TERMS = 5 };
/* Less than this of all, and less than this part of the largest weight, is not worth a line or a term. */
static const double PART_LEAST = 0.0005, SHARE_LEAST = 0.05, TERM_LEAST = 0.2;

static int compare_falling(const void *a, const void *b)
{
    const broad_relevance *x = a, *y = b;
    return (x->share < y->share) - (x->share > y->share);
}

int cli_relevance_make(cli_relevance *out, const broad_model *model)
{
    size_t inputs = broad_model_inputs(model), directions = broad_model_directions(model);
    *out = (cli_relevance){.model = model, .count = broad_model_relevance_parts(model)};
    broad_learned_metric_init(&out->metric);
    int status = broad_model_metric(&out->metric, model);
    if (status || !out->count) return status;
    out->direction_count = directions < CLI_DIRECTIONS ? directions : CLI_DIRECTIONS;
    out->parts = calloc(out->count, sizeof *out->parts);
    out->weight = calloc(CLI_DIRECTIONS * inputs, sizeof *out->weight);
    if (!out->parts || !out->weight) status = cli_fail(BROAD_NO_MEMORY, "out of memory: no room for the relevance");
    if (!status) broad_relevance_init(out->parts);
    if (!status) status = broad_model_find_relevance(out->parts, model);
    if (!status && out->direction_count)
        status = broad_model_find_directions(out->share, out->weight, model, out->direction_count);
    if (status) cli_relevance_clear(out);
    else qsort(out->parts, out->count, sizeof *out->parts, compare_falling);
    return status;
}

void cli_relevance_clear(cli_relevance *relevance)
{
    free(relevance->parts);
    free(relevance->weight);
    memset(relevance, 0, sizeof *relevance);
}

/* ---- text ---- */

size_t cli_directions_shown(const cli_relevance *relevance)
{
    size_t shown = 0;
    if (broad_model_maps(relevance->model)) return 0; /* of principal components, which say nothing to anyone */
    while (shown < relevance->direction_count && relevance->share[shown] >= SHARE_LEAST) shown++;
    return shown;
}

/* The largest weight below `below` in size that is at least `least`; the number of inputs if there is none. Equal ones come
 * in their order, from `after` on. */
static size_t next_term(const double *weight, size_t inputs, double below, size_t after, double least)
{
    size_t best = inputs;
    for (size_t j = 0; j < inputs; j++) {
        double size = fabs(weight[j]);
        if (size < least || size > below || (size == below && j <= after)) continue;
        if (best == inputs || size > fabs(weight[best])) best = j;
    }
    return best;
}

const char *cli_direction_words(char out[CLI_DIRECTION_TEXT], const cli_relevance *relevance, size_t direction)
{
    size_t inputs = broad_model_inputs(relevance->model), used = 0, terms = 0;
    const double *weight = relevance->weight + direction * inputs;
    size_t at = next_term(weight, inputs, INFINITY, 0, 0);
    double least = at < inputs ? TERM_LEAST * fabs(weight[at]) : 0;
    out[0] = 0;
    for (; at < inputs && terms < TERMS; terms++) {
        const char *sign = weight[at] < 0 ? "- " : terms ? "+ " : "";
        int length = snprintf(out + used, CLI_DIRECTION_TEXT - used, "%s%s%.2f %.40s", terms ? " " : "", sign,
                              fabs(weight[at]), broad_model_input_name(relevance->model, at));
        used += length > 0 ? (size_t)length : 0;
        at = next_term(weight, inputs, fabs(weight[at]), at, least);
    }
    if (at < inputs && used + 5 < CLI_DIRECTION_TEXT) snprintf(out + used, CLI_DIRECTION_TEXT - used, " ...");
    return out;
}

/* Parts with anything to show, unless they are too many. */
static size_t parts_shown(const cli_relevance *relevance)
{
    size_t shown = 0;
    while (shown < relevance->count && relevance->parts[shown].share >= PART_LEAST) shown++;
    return shown <= PARTS_SHOWN + 1 ? shown : PARTS_SHOWN;
}

static void print_parts(const cli_relevance *relevance)
{
    double most = relevance->parts[0].share, rest = 0;
    size_t shown = parts_shown(relevance);
    for (size_t i = 0; i < shown; i++) {
        const broad_relevance *part = &relevance->parts[i];
        int length = most > 0 ? (int)(BAR * part->share / most + 0.5) : 0;
        cli_print("  %-*.*s %5.1f %%%s%.*s\n", NAME, NAME, part->part, 100 * part->share, length ? "  " : "", length,
                  "##############################");
    }
    for (size_t i = shown; i < relevance->count; i++) rest += relevance->parts[i].share;
    if (shown < relevance->count)
        cli_print("  and %zu more, with %.1f %% together\n", relevance->count - shown, 100 * rest);
}

void cli_print_relevance(const cli_relevance *relevance)
{
    size_t directions = cli_directions_shown(relevance);
    char words[CLI_DIRECTION_TEXT];
    const char *reason = cli_metric_reason(relevance->model)->words;
    if (!relevance->count) {
        cli_print("relevance  not known: the nodes look at all inputs alike, without a learned metric, since %s\n",
                  reason);
        return;
    }
    cli_print("relevance of %s, by the metric that the nodes were drawn with\n",
              broad_model_maps(relevance->model) ? "what is seen in the photos" : "the columns");
    print_parts(relevance);
    if (directions) cli_print("\ndirections in which the output changes most, and their parts of that change\n");
    for (size_t d = 0; d < directions; d++)
        cli_print("  %5.1f %%  %s\n", 100 * relevance->share[d], cli_direction_words(words, relevance, d));
    cli_print("\nmetric   is used: %s\n", reason);
    if (relevance->metric.optimism > 1)
        cli_print(
            "         squared errors of the estimate are enlarged by %.1f %%, since the metric has seen the rows\n",
            100 * (relevance->metric.optimism - 1));
    if (broad_model_maps(relevance->model)) return;
    cli_print(
        "note     relevance is how far the output moves with a column; importance, which 'broad info' shows, is how "
        "much worse\n         predictions become when the column is shuffled\n");
}

/* ---- JSON ---- */

static json_t *parts_json(const cli_relevance *relevance)
{
    json_t *list = json_array();
    for (size_t i = 0; i < relevance->count; i++) {
        json_t *object = json_object();
        cli_json_put(object, "part", cli_json_text(relevance->parts[i].part));
        cli_json_put(object, "share", cli_json_real(relevance->parts[i].share));
        cli_json_append(list, object);
    }
    return list;
}

static json_t *directions_json(const cli_relevance *relevance)
{
    size_t inputs = broad_model_inputs(relevance->model);
    if (!relevance->direction_count) return json_null();
    json_t *list = json_array();
    for (size_t d = 0; d < relevance->direction_count; d++) {
        json_t *object = json_object(), *weights = json_array();
        for (size_t j = 0; j < inputs; j++) cli_json_append(weights, cli_json_real(relevance->weight[d * inputs + j]));
        cli_json_put(object, "share", cli_json_real(relevance->share[d]));
        cli_json_put(object, "weights", weights);
        cli_json_append(list, object);
    }
    return list;
}

json_t *cli_metric_json(const cli_relevance *relevance)
{
    json_t *object = json_object();
    cli_json_put(object, "form", cli_json_text(broad_enum_name(BROAD_ENUM_METRIC_FORM, (int)relevance->metric.form)));
    cli_json_put(object, "reason", cli_json_text(cli_metric_reason(relevance->model)->words));
    cli_json_put(object, "optimism", cli_json_real(relevance->metric.optimism));
    cli_json_put(object, "parts", parts_json(relevance));
    cli_json_put(object, "directions", directions_json(relevance));
    return object;
}

json_t *cli_model_metric_json(const broad_model *model)
{
    cli_relevance relevance;
    if (cli_relevance_make(&relevance, model)) return json_null();
    json_t *object = cli_metric_json(&relevance);
    cli_relevance_clear(&relevance);
    return object;
}
