/*
 * The one table of training options: every front end parses, explains and completes from it.
 *
 * A row says how its text becomes a field of broad_options; `expects` ends the message when it does not.
 */
#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/enum_names.h"
#include "base/status.h"
#include "broad/broad.h"
#include "model/kind.h"

_Static_assert(sizeof(broad_kind) == sizeof(int), "choices are read and written as int");

enum { NODES_MAX = 1000000, LAYERS_MAX = 100000, TRIES_MAX = 65535, THREADS_MAX = 1024, NUMBER_BYTES = 32 };
#define ALL_NODES_MAX 4294967295.0
#define SECONDS_MAX 1e9
#define BYTES_MAX 9e18

#define ABOVE_ZERO DBL_MIN
#define BELOW_ONE (1.0 - DBL_EPSILON)
#define LARGEST 1e100 /* its square is still a number */

typedef enum value_type {
    VALUE_CHOICE,        /* field: enum                                     */
    VALUE_SIZE,          /* field: size_t                                   */
    VALUE_UINT64,        /* field: uint64_t                                 */
    VALUE_REAL,          /* field: double                                   */
    VALUE_REAL_OR_AUTO,  /* field: double, partner: int, 1 for auto         */
    VALUE_SIZES,         /* "AxB". field: size_t A, partner: size_t B       */
    VALUE_SIZES_OR_AUTO, /* the same, or auto: features_auto */
    VALUE_REALS,         /* "a,b,c". field: double[], partner: size_t count */
    VALUE_GAMMA,         /* "harmonic:c", "constant:g" or "list:a,b,c"      */
    VALUE_BYTES,         /* "512M", "1.5G". field: size_t                   */
    VALUE_PART,          /* "12.5" or "30%". field: double, partner: int, 1 for a part of the whole */
    VALUE_TEXT           /* field: const char *, not copied                 */
} value_type;

typedef struct option_row {
    broad_option option;
    value_type type;
    size_t field, partner;
    double min, max;     /* of the value; of A for VALUE_SIZES */
    const char *expects; /* NULL for a choice: its choices say it */
    /* What else follows from a new value; `previous` is the options as they were. */
    void (*follow)(broad_options *options, const broad_options *previous);
} option_row;

static void follow_kind(broad_options *options, const broad_options *previous);
static void follow_preset(broad_options *options, const broad_options *previous);
static void follow_activation(broad_options *options, const broad_options *previous);
static void follow_weights(broad_options *options, const broad_options *previous);
static void follow_feature_weights(broad_options *options, const broad_options *previous);

#define FIELD(name) offsetof(broad_options, name)

/* clang-format off */
static const option_row rows[] = {
    {{"kind", 0, "KIND", BROAD__KINDS, "bscrls",
      "kind of network: bscrls tests each layer before keeping it, brls keeps all layers, bls has one layer, scn and "
      "rvfl have no feature nodes; each kind has its own defaults"},
     VALUE_CHOICE, FIELD(kind), 0, 0, 0, NULL, follow_kind},
    {{"preset", 0, "NAME", BROAD__PRESETS, "auto",
      "defaults of all settings: auto chooses by leave-one-out, paper uses the published values"},
     VALUE_CHOICE, FIELD(preset), 0, 0, 0, NULL, follow_preset},
    {{"features", 0, "GxK|auto", NULL, NULL, "feature nodes: G groups of K nodes; auto: more for more rows"},
     VALUE_SIZES_OR_AUTO, FIELD(feature_groups), FIELD(feature_nodes), 1, NODES_MAX,
     "groups x nodes per group, such as 10x10, or auto", NULL},
    {{"enhance", 0, "QxL", NULL, NULL, "enhancement nodes: at most L layers of Q nodes each"},
     VALUE_SIZES, FIELD(enhance_nodes), FIELD(enhance_layers), 1, NODES_MAX,
     "nodes per layer x layers, such as 100x50", NULL},
    {{"activation", 0, "NAME", BROAD__ACTIVATIONS, NULL, "activation function of all nodes"},
     VALUE_CHOICE, FIELD(activation), 0, 0, 0, NULL, follow_activation},
    {{"feature-weights", 0, "HOW", BROAD__FEATURE_WEIGHTS, NULL,
      "weights of the feature nodes: random, fitted to the inputs by a sparse autoencoder, or sampled where the rows "
      "are"},
     VALUE_CHOICE, FIELD(feature_weights), 0, 0, 0, NULL, follow_feature_weights},
    {{"feature-activation", 0, "NAME", BROAD__ACTIVATIONS, NULL,
      "activation function of the feature nodes, if different"},
     VALUE_CHOICE, FIELD(feature_activation), 0, 0, 0, NULL, NULL},
    {{"precision", 0, "NAME", BROAD__PRECISIONS, "double",
      "precision in which nodes are computed: double, or float, which is faster but needs a lambda that is not too "
      "small"},
     VALUE_CHOICE, FIELD(precision), 0, 0, 0, NULL, NULL},
    {{"sparse-lambda", 0, "NUMBER", NULL, NULL, "sparsity penalty of the autoencoder"},
     VALUE_REAL, FIELD(sparse_lambda), 0, 0, LARGEST,
     "a number >= 0", NULL},
    {{"sparse-steps", 0, "COUNT", NULL, NULL, "number of ADMM iterations of the autoencoder"},
     VALUE_SIZE, FIELD(sparse_steps), 0, 1, 100000,
     "a whole number from 1 to 100000", NULL},
    {{"scale", 0, "NAME", BROAD__SCALES, NULL,
      "scaling of the inputs, from the training rows; rank: by rank; both: standard and rank side by side; whole: the "
      "same scale for all columns; auto: whole for photos, both otherwise"},
     VALUE_CHOICE, FIELD(scale), 0, 0, 0, NULL, NULL},
    {{"scale-target", 0, "NAME", "none|minmax|standard", NULL,
      "scaling of the targets; standard: the scores of classes start from the class frequencies"},
     VALUE_CHOICE, FIELD(scale_target), 0, 0, 0, NULL, NULL},
    {{"lambda", 0, "NUMBER|auto", NULL, NULL, "ridge parameter; auto: the value with the smallest leave-one-out error"},
     VALUE_REAL_OR_AUTO, FIELD(lambda), FIELD(lambda_auto), 0, LARGEST,
     "a number >= 0 or auto", NULL},
    {{"range", 0, "NUMBER|auto", NULL, NULL,
      "random weights are drawn from [-range, range]; auto: chosen from a small grid by leave-one-out"},
     VALUE_REAL_OR_AUTO, FIELD(range), FIELD(range_auto), ABOVE_ZERO, LARGEST,
     "a number > 0 or auto", NULL},
    {{"range-unit", 0, "UNIT", BROAD__RANGE_UNITS, NULL,
      "fan-in: divide the range by the square root of the node's number of inputs"},
     VALUE_CHOICE, FIELD(range_unit), 0, 0, 0, NULL, NULL},
    {{"supervise", 0, "TEST", BROAD__SUPERVISIONS, NULL,
      "the test a layer must pass: on its residual, its leave-one-out residual, the operator norm, the residual of "
      "every output (the test of scn), or none"},
     VALUE_CHOICE, FIELD(supervise), 0, 0, 0, NULL, NULL},
    {{"gamma", 0, "FORM:VALUES", NULL, NULL, "schedule of the bound: harmonic:C, constant:G or list:G1,G2,..."},
     VALUE_GAMMA, FIELD(gamma), FIELD(gamma_count), 0, 0,
     "harmonic:C with 0 < C < 2, constant:G with 0 <= G < 1, or list:G1,G2,... of such values", NULL},
    {{"tries", 0, "COUNT", NULL, NULL, "number of draws per range before the next range is tried"},
     VALUE_SIZE, FIELD(tries), 0, 1, TRIES_MAX,
     "a whole number from 1 to 65535", NULL},
    {{"range-steps", 0, "LIST", NULL, NULL, "multiples of the range, in the order in which they are tried"},
     VALUE_REALS, FIELD(range_steps), FIELD(range_steps_count), ABOVE_ZERO, LARGEST,
     "numbers > 0 separated by commas, such as 1,0.5,2", NULL},
    {{"relax", 0, "NUMBER", NULL, NULL, "if no draw passes, gamma moves towards 1 by this fraction"},
     VALUE_REAL, FIELD(relax), 0, ABOVE_ZERO, BELOW_ONE,
     "a number above 0 and below 1", NULL},
    {{"relax-count", 0, "COUNT", NULL, NULL,
      "maximum number of relaxations per layer; after that the run ends as 'stalled'"},
     VALUE_SIZE, FIELD(relax_count), 0, 0, 1000,
     "a whole number from 0 to 1000", NULL},
    {{"select", 0, "RULE", BROAD__SELECTIONS, NULL,
      "which draw of a range is kept: the first that passes, or the best"},
     VALUE_CHOICE, FIELD(select), 0, 0, 0, NULL, NULL},
    {{"weights", 0, "HOW", BROAD__WEIGHTS "|sc1|sc2|sc3", NULL,
      "how output weights are computed; chain: each layer is fitted to the residual of the layers before it; joint: "
      "one ridge regression over all nodes; window (scn): with each layer, the weights of the last nodes are solved "
      "again; sc1, sc2 and sc3 are aliases of chain, window and joint"},
     VALUE_CHOICE, FIELD(weights), 0, 0, 0, NULL, follow_weights},
    {{"window", 0, "NODES", NULL, NULL, "number of nodes whose weights are solved again with --weights window"},
     VALUE_SIZE, FIELD(window), 0, 1, NODES_MAX,
     "a whole number from 1 to 1000000", NULL},
    {{"loo", 0, "WHETHER", BROAD__LOOS, NULL,
      "estimate the error by leave-one-out, which probabilities and intervals need; auto: with joint weights, which "
      "have a closed form"},
     VALUE_CHOICE, FIELD(loo), 0, 0, 0, NULL, NULL},
    {{"class-weight", 0, "WEIGHTS", NULL, NULL,
      "weight of the rows of each class: balanced, or a list such as a:1,b:3; default: equal weights"},
     VALUE_TEXT, FIELD(class_weight), 0, 0, 0,
     "balanced, or weights such as a:1,b:3", NULL},
    {{"until", 0, "NORM|PERCENT%", NULL, "0",
      "stop once the norm ||E|| of the residual is at most this value, or this percentage of the initial norm; 0: no "
      "limit"},
     VALUE_PART, FIELD(until), FIELD(until_relative), 0, LARGEST,
     "a norm such as 12.5, or a percentage of the initial norm such as 30%", NULL},
    {{"until-accuracy", 0, "FRACTION", NULL, "0",
      "stop once this fraction of the held-out rows (or of the training rows, if none are held out) is classified "
      "correctly; 0: no limit"},
     VALUE_REAL, FIELD(until_accuracy), 0, 0, 1,
     "a number from 0 to 1, such as 0.95", NULL},
    {{"max-layers", 0, "COUNT", NULL, "0", "maximum number of layers, including existing ones; 0: no limit"},
     VALUE_SIZE, FIELD(max_layers), 0, 0, LAYERS_MAX,
     "a whole number from 0 to 100000", NULL},
    {{"max-nodes", 0, "COUNT", NULL, "0", "maximum number of nodes, including feature nodes; 0: no limit"},
     VALUE_SIZE, FIELD(max_nodes), 0, 0, ALL_NODES_MAX,
     "a whole number from 0 to 4294967295", NULL},
    {{"max-seconds", 0, "SECONDS", NULL, "0", "stop after this many seconds; 0: no limit"},
     VALUE_REAL, FIELD(max_seconds), 0, 0, SECONDS_MAX,
     "a number of seconds from 0 to 1e9", NULL},
    {{"patience", 0, "LAYERS", NULL, "0",
      "stop after this many layers without improvement on the held-out rows, and return to the best layer; 0: no "
      "limit"},
     VALUE_SIZE, FIELD(patience), 0, 0, LAYERS_MAX,
     "a whole number from 0 to 100000", NULL},
    {{"positive", 0, "LABEL", NULL, NULL, "the class that precision and recall refer to; default: the last one"},
     VALUE_TEXT, FIELD(positive), 0, 0, 0,
     "a class label", NULL},
    {{"seed", 0, "NUMBER", NULL, "0", "seed of all random numbers; the same seed gives the same bytes"},
     VALUE_UINT64, FIELD(seed), 0, 0, 0,
     "a whole number from 0 to 18446744073709551615", NULL},
    {{"threads", 0, "COUNT", NULL, "0", "number of threads; 0: one per processor; results do not depend on it"},
     VALUE_SIZE, FIELD(threads), 0, 0, THREADS_MAX,
     "a whole number from 0 to 1024", NULL},
    {{"memory", 0, "SIZE", NULL, "0",
      "memory limit, such as 2G; what does not fit is kept in temporary files; 0: no limit; results do not depend on "
      "it"},
     VALUE_BYTES, FIELD(memory), 0, 0, BYTES_MAX,
     "a number of bytes, optionally with K, M, G or T, such as 512M or 1.5G; 0: no limit", NULL},
};
/* clang-format on */

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* ---- presets --------------------------------------------------------------------------------------------------- */

/* `paper` has the paper's sizes. `auto` has wider and fewer layers and looks at fewer draws: a layer that leave-one-out
 * refuses is seldom saved by another range, and each draw costs an eigendecomposition. */
static void preset_sizes(broad_options *o, int paper)
{
    o->features_auto = !paper;
    o->feature_groups = paper ? 10 : 20;
    o->feature_nodes = paper ? 10 : 100;
    o->enhance_nodes = 100;
    o->enhance_layers = paper ? 50 : 1;
    o->tries = paper ? 10 : 1;
}

/* The schedule is as tight as it can be while the first draw of a sound range still passes, also on targets that are
 * pure noise; tighter ones cost ten times the draws, gain nothing on the tables in docs/tables.md and over-fit the
 * small ones. */
static void preset_supervision(broad_options *o, int paper)
{
    static const double steps[] = {1, 0.5, 2, 0.2, 5, 0.1, 10, 0.05, 20};
    o->gamma_form = BROAD_GAMMA_HARMONIC;
    memset(o->gamma, 0, sizeof o->gamma);
    o->gamma[0] = 0.005;
    o->gamma_count = 1;
    memset(o->range_steps, 0, sizeof o->range_steps);
    o->range_steps_count = paper ? sizeof steps / sizeof steps[0] : 3;
    memcpy(o->range_steps, steps, o->range_steps_count * sizeof steps[0]);
    o->relax = 0.3;
    o->relax_count = 3;
    o->select = BROAD_SELECT_FIRST;
}

/* SCN as published: nodes one by one, the best of T draws from the first range in which any keeps the inequality, r closer
 * and closer to 1. */
static void preset_scn(broad_options *o, int paper)
{
    static const double steps[] = {0.5, 1, 5, 10, 30, 50, 100, 150, 200, 250}, fewer[] = {0.5, 1, 2, 5, 10, 20};
    o->enhance_nodes = paper ? 1 : 10;
    o->enhance_layers = paper ? 100 : 50;
    o->tries = paper ? 100 : 20;
    o->gamma_form = BROAD_GAMMA_CONSTANT;
    o->gamma[0] = 0.9;
    memset(o->range_steps, 0, sizeof o->range_steps);
    o->range_steps_count = paper ? sizeof steps / sizeof steps[0] : sizeof fewer / sizeof fewer[0];
    memcpy(o->range_steps, paper ? steps : fewer, o->range_steps_count * sizeof steps[0]);
    o->range_auto = 0;
    o->relax = 0.9;
    o->relax_count = 6;
    o->select = BROAD_SELECT_BEST;
}

static void preset_weights(broad_options *o, int paper)
{
    const broad__kind *kind = broad__kind_of(o->kind);
    int joint = o->kind == BROAD_KIND_SCN || !(kind->weights >> BROAD_WEIGHTS_CHAIN & 1);
    o->weights = joint || !paper ? BROAD_WEIGHTS_JOINT : BROAD_WEIGHTS_CHAIN;
    o->supervise = kind->test;
    o->window = 20;
    o->loo = BROAD_LOO_AUTO;
}

static void preset_apply(broad_options *o, broad_preset preset)
{
    int paper = preset == BROAD_PRESET_PAPER;
    preset_sizes(o, paper);
    preset_supervision(o, paper);
    preset_weights(o, paper);
    o->preset = preset;
    o->activation = o->feature_activation = paper ? BROAD_ACTIVATION_SIGMOID : BROAD_ACTIVATION_TANH;
    o->feature_weights = paper || broad__kind_of(o->kind)->nodes != BROAD__NODES_FEATURES
                             ? BROAD_FEATURE_WEIGHTS_RANDOM
                             : BROAD_FEATURE_WEIGHTS_SAMPLED;
    o->sparse_lambda = 1e-3;
    o->sparse_steps = 50;
    o->scale = paper ? BROAD_SCALE_MINMAX : BROAD_SCALE_AUTO;
    o->scale_target = paper ? BROAD_SCALE_NONE : BROAD_SCALE_STANDARD;
    o->lambda = 1e-8;
    o->lambda_auto = !paper;
    o->range = 1;
    o->range_auto = !paper;
    o->range_unit = paper ? BROAD_RANGE_ABSOLUTE : BROAD_RANGE_FAN_IN;
    if (o->kind == BROAD_KIND_SCN) preset_scn(o, paper);
    if (o->kind == BROAD_KIND_RVFL && !paper) o->enhance_nodes = 2000; /* there are no feature nodes besides */
}

void broad_options_init(broad_options *out)
{
    memset(out, 0, sizeof *out);
    out->size = sizeof *out;
    out->kind = BROAD_KIND_BSCRLS;
    preset_apply(out, BROAD_PRESET_AUTO);
}

static int options_check(const broad_options *options)
{
    if (options && options->size == sizeof *options) return BROAD_OK;
    return broad__fail(BROAD_USAGE, "the options were not set up; call broad_options_init() first");
}

int broad_options_preset(broad_options *options, broad_preset preset)
{
    int status = options_check(options);
    if (status) return status;
    if ((int)preset < 0 || (int)preset >= broad__enum_count(BROAD__PRESETS))
        return broad__fail(BROAD_USAGE, "preset number %d does not exist", (int)preset);
    preset_apply(options, preset);
    return BROAD_OK;
}

static void follow_preset(broad_options *options, const broad_options *previous)
{
    (void)previous;
    preset_apply(options, options->preset);
}

/* Each kind has starting values of its own. */
static void follow_kind(broad_options *options, const broad_options *previous)
{
    (void)previous;
    preset_apply(options, options->preset);
}

/* An autoencoder's features are the codes themselves. */
static void follow_feature_weights(broad_options *options, const broad_options *previous)
{
    (void)previous;
    if (options->feature_weights == BROAD_FEATURE_WEIGHTS_AUTOENCODER)
        options->feature_activation = BROAD_ACTIVATION_IDENTITY;
}

/* The names of scn's three ways come after those they stand for. */
static void follow_weights(broad_options *options, const broad_options *previous)
{
    static const broad_weights meant[] = {BROAD_WEIGHTS_CHAIN, BROAD_WEIGHTS_WINDOW, BROAD_WEIGHTS_JOINT};
    (void)previous;
    int beyond = (int)options->weights - broad__enum_count(BROAD__WEIGHTS);
    if (beyond >= 0) options->weights = meant[beyond];
}

static void follow_activation(broad_options *options, const broad_options *previous)
{
    (void)previous;
    options->feature_activation = options->activation;
}

/* ---- text to value --------------------------------------------------------------------------------------------- */

static void *field_at(broad_options *options, size_t offset) { return (char *)options + offset; }

static const void *field_of(const broad_options *options, size_t offset) { return (const char *)options + offset; }

static int fail_value(const option_row *row, const char *value, const char *what)
{
    return broad__fail(BROAD_USAGE, "--%s: '%.200s' is not %s; give %s", row->option.name, value, what, row->expects);
}

/* The number that starts at `text`, with a point whatever the program's locale; *end is where it stops. */
static int parse_real(double *out, const char *text, const char **end)
{
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (c == (locale_t)0) return -1;
    locale_t previous = uselocale(c);
    size_t length = strspn(text, "+-.0123456789eE");
    char *stop = NULL;
    *out = strtod(text, &stop);
    uselocale(previous);
    freelocale(c);
    *end = stop;
    return stop == text || stop != text + length || !isfinite(*out) ? -1 : 0;
}

static int parse_uint64(uint64_t *out, const char *text, const char **end)
{
    size_t length = strspn(text, "0123456789");
    if (length == 0) return -1;
    char *stop = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &stop, 10);
    *out = value;
    *end = stop;
    return errno ? -1 : 0;
}

static int set_choice(broad_options *options, const option_row *row, const char *value)
{
    int found = broad__enum_find(row->option.choices, value);
    if (found < 0)
        return broad__fail(BROAD_USAGE, "--%s: there is no '%.200s'; give one of %s", row->option.name, value,
                           row->option.choices);
    *(int *)field_at(options, row->field) = found;
    return BROAD_OK;
}

static int set_whole(broad_options *options, const option_row *row, const char *value)
{
    uint64_t number = 0;
    const char *end = "";
    if (parse_uint64(&number, value, &end) || *end) return fail_value(row, value, "a whole number in range");
    if (row->type == VALUE_UINT64) {
        *(uint64_t *)field_at(options, row->field) = number;
        return BROAD_OK;
    }
    if (number < (uint64_t)row->min || number > (uint64_t)row->max) return fail_value(row, value, "in range");
    *(size_t *)field_at(options, row->field) = (size_t)number;
    return BROAD_OK;
}

static int set_real(broad_options *options, const option_row *row, const char *value)
{
    int automatic = row->type == VALUE_REAL_OR_AUTO && strcmp(value, "auto") == 0;
    double number = 0;
    const char *end = "";
    if (!automatic) {
        if (parse_real(&number, value, &end) || *end) return fail_value(row, value, "a number");
        if (!(number >= row->min && number <= row->max)) return fail_value(row, value, "in range");
        *(double *)field_at(options, row->field) = number;
    }
    if (row->type == VALUE_REAL_OR_AUTO) *(int *)field_at(options, row->partner) = automatic;
    return BROAD_OK;
}

static int set_sizes(broad_options *options, const option_row *row, const char *value)
{
    int may_be_auto = row->type == VALUE_SIZES_OR_AUTO;
    if (may_be_auto && strcmp(value, "auto") == 0) {
        options->features_auto = 1;
        return BROAD_OK;
    }
    uint64_t first = 0, second = 0;
    const char *end = "";
    int bad = parse_uint64(&first, value, &end) || (*end != 'x' && *end != 'X');
    bad = bad || parse_uint64(&second, end + 1, &end) || *end;
    if (bad) return fail_value(row, value, "of the form AxB");
    uint64_t second_max = row->field == FIELD(enhance_nodes) ? LAYERS_MAX : NODES_MAX;
    if (first < 1 || second < 1 || first > (uint64_t)row->max || second > second_max || first * second > UINT32_MAX)
        return fail_value(row, value, "in range");
    *(size_t *)field_at(options, row->field) = (size_t)first;
    *(size_t *)field_at(options, row->partner) = (size_t)second;
    if (may_be_auto) options->features_auto = 0;
    return BROAD_OK;
}

static int parse_reals(double out[BROAD_LIST_MAX], size_t *out_count, const char *text, double min, double max)
{
    size_t count = 0;
    for (;; text++) {
        if (count == BROAD_LIST_MAX || parse_real(&out[count], text, &text)) return -1;
        if (!(out[count] >= min && out[count] <= max)) return -1;
        count++;
        if (*text == 0) break;
        if (*text != ',') return -1;
    }
    *out_count = count;
    return 0;
}

static int set_reals(broad_options *options, const option_row *row, const char *value)
{
    double numbers[BROAD_LIST_MAX] = {0};
    size_t count = 0;
    if (parse_reals(numbers, &count, value, row->min, row->max))
        return fail_value(row, value, "such a list (at most 256 values)");
    memcpy(field_at(options, row->field), numbers, sizeof numbers);
    *(size_t *)field_at(options, row->partner) = count;
    return BROAD_OK;
}

static int set_gamma(broad_options *options, const option_row *row, const char *value)
{
    char form[BROAD__ENUM_BYTES] = {0};
    const char *colon = strchr(value, ':');
    size_t length = colon ? (size_t)(colon - value) : 0;
    if (!colon || length >= sizeof form) return fail_value(row, value, "a schedule");
    memcpy(form, value, length);
    int found = broad__enum_find(BROAD__GAMMA_FORMS, form);
    if (found < 0) return fail_value(row, value, "a schedule");

    int harmonic = found == BROAD_GAMMA_HARMONIC;
    double numbers[BROAD_LIST_MAX] = {0};
    size_t count = 0;
    if (parse_reals(numbers, &count, colon + 1, harmonic ? ABOVE_ZERO : 0, harmonic ? 2 - DBL_EPSILON : BELOW_ONE))
        return fail_value(row, value, "a schedule");
    if (count > 1 && found != BROAD_GAMMA_LIST) return fail_value(row, value, "a schedule");
    options->gamma_form = (broad_gamma_form)found;
    options->gamma_count = count;
    memcpy(options->gamma, numbers, sizeof numbers);
    return BROAD_OK;
}

static int set_part(broad_options *options, const option_row *row, const char *value)
{
    double number = 0;
    const char *end = "";
    if (parse_real(&number, value, &end)) return fail_value(row, value, "a number");
    int relative = strcmp(end, "%") == 0;
    if (*end && !relative) return fail_value(row, value, "a number");
    if (!(number >= row->min && number <= (relative ? 100 : row->max))) return fail_value(row, value, "in range");
    *(double *)field_at(options, row->field) = relative ? number / 100 : number;
    *(int *)field_at(options, row->partner) = relative;
    return BROAD_OK;
}

/* Powers of 1024, which K, M, G and T stand for; more of the unit may follow ("GB", "GiB"). */
static int byte_power(const char *unit)
{
    static const char letters[] = "KMGT";
    const char *letter = *unit ? strchr(letters, *unit >= 'a' && *unit <= 'z' ? *unit - 'a' + 'A' : *unit) : NULL;
    const char *rest = letter ? unit + 1 : unit;
    if (*rest && strcasecmp(rest, "B") != 0 && !(letter && strcasecmp(rest, "iB") == 0)) return -1;
    return letter ? (int)(letter - letters) + 1 : 0;
}

static int set_bytes(broad_options *options, const option_row *row, const char *value)
{
    double number = 0;
    const char *end = "";
    int power = parse_real(&number, value, &end) ? -1 : byte_power(end);
    if (power < 0) return fail_value(row, value, "a size");
    number = floor(ldexp(number, 10 * power));
    if (!(number >= row->min && number <= row->max)) return fail_value(row, value, "in range");
    *(size_t *)field_at(options, row->field) = (size_t)number;
    return BROAD_OK;
}

static int set_value(broad_options *options, const option_row *row, const char *value)
{
    switch (row->type) {
    case VALUE_CHOICE: return set_choice(options, row, value);
    case VALUE_SIZE:
    case VALUE_UINT64: return set_whole(options, row, value);
    case VALUE_REAL:
    case VALUE_REAL_OR_AUTO: return set_real(options, row, value);
    case VALUE_SIZES:
    case VALUE_SIZES_OR_AUTO: return set_sizes(options, row, value);
    case VALUE_REALS: return set_reals(options, row, value);
    case VALUE_GAMMA: return set_gamma(options, row, value);
    case VALUE_BYTES: return set_bytes(options, row, value);
    case VALUE_PART: return set_part(options, row, value);
    case VALUE_TEXT: *(const char **)field_at(options, row->field) = *value ? value : NULL; return BROAD_OK;
    }
    return broad__fail(BROAD_BUG, "option '%s' has no type", row->option.name);
}

static int row_find(const option_row **out, const char *name)
{
    for (size_t i = 0; name && i < ROW_COUNT; i++) {
        if (strcmp(rows[i].option.name, name) == 0) {
            *out = &rows[i];
            return BROAD_OK;
        }
    }
    return broad__fail(BROAD_USAGE, "there is no option '%.100s'", name ? name : "");
}

int broad_options_set(broad_options *options, const char *name, const char *value)
{
    const option_row *row = NULL;
    int status = options_check(options);
    if (!status) status = row_find(&row, name);
    if (status) return status;
    if (!value) return broad__fail(BROAD_USAGE, "--%s needs a value", name);
    broad_options previous = *options;
    status = set_value(options, row, value);
    if (!status && row->follow) row->follow(options, &previous);
    return status;
}

/* ---- value to text --------------------------------------------------------------------------------------------- */

typedef struct text_out {
    char *text;
    size_t room, used;
} text_out;

__attribute__((format(printf, 2, 3))) static void put(text_out *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t left = out->used < out->room ? out->room - out->used : 0;
    int length = vsnprintf(left ? out->text + out->used : NULL, left, format, arguments);
    va_end(arguments);
    if (length > 0) out->used += (size_t)length;
}

/* The shortest text that reads back as the same number. */
static void put_real(text_out *out, double value)
{
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t previous = c == (locale_t)0 ? (locale_t)0 : uselocale(c);
    char text[NUMBER_BYTES];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    if (c != (locale_t)0) {
        uselocale(previous);
        freelocale(c);
    }
    put(out, "%s", text);
}

static void put_reals(text_out *out, const double *values, size_t count)
{
    for (size_t i = 0; i < count && i < BROAD_LIST_MAX; i++) {
        if (i) put(out, ",");
        put_real(out, values[i]);
    }
}

/* The percentage that `part` was made from. A hundredth is rounded, so 100 * part may miss it by a bit: 15 digits are
 * tried first, then the neighbours. */
static double percent_of(double part)
{
    char text[NUMBER_BYTES];
    double percent = 100 * part;
    snprintf(text, sizeof text, "%.15g", percent);
    const double candidates[] = {strtod(text, NULL), percent, nextafter(percent, 0), nextafter(percent, LARGEST)};
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++)
        if (candidates[i] / 100 == part) return candidates[i];
    return percent;
}

static void put_choice(text_out *out, const char *choices, int value)
{
    char name[BROAD__ENUM_BYTES];
    broad__enum_name(name, choices, value);
    put(out, "%s", name);
}

static void put_value(text_out *out, const broad_options *options, const option_row *row)
{
    const void *field = field_of(options, row->field);
    const void *partner = field_of(options, row->partner);
    switch (row->type) {
    case VALUE_CHOICE: put_choice(out, row->option.choices, *(const int *)field); break;
    case VALUE_SIZE:
    case VALUE_BYTES: put(out, "%zu", *(const size_t *)field); break;
    case VALUE_UINT64: put(out, "%llu", (unsigned long long)*(const uint64_t *)field); break;
    case VALUE_REAL: put_real(out, *(const double *)field); break;
    case VALUE_REAL_OR_AUTO:
        if (*(const int *)partner) put(out, "auto");
        else put_real(out, *(const double *)field);
        break;
    case VALUE_SIZES_OR_AUTO:
        if (options->features_auto) {
            put(out, "auto");
            break;
        }
        /* fall through */
    case VALUE_SIZES: put(out, "%zux%zu", *(const size_t *)field, *(const size_t *)partner); break;
    case VALUE_REALS: put_reals(out, field, *(const size_t *)partner); break;
    case VALUE_GAMMA:
        put_choice(out, BROAD__GAMMA_FORMS, (int)options->gamma_form);
        put(out, ":");
        put_reals(out, options->gamma, options->gamma_count);
        break;
    case VALUE_PART:
        put_real(out, *(const int *)partner ? percent_of(*(const double *)field) : *(const double *)field);
        if (*(const int *)partner) put(out, "%%");
        break;
    case VALUE_TEXT: put(out, "%s", *(const char *const *)field ? *(const char *const *)field : ""); break;
    }
}

int broad_options_get(char *out, size_t bytes, const broad_options *options, const char *name)
{
    const option_row *row = NULL;
    int status = options_check(options);
    if (!status) status = row_find(&row, name);
    if (status) return status;
    text_out text = {out, bytes, 0};
    put_value(&text, options, row);
    if (text.used < bytes) return BROAD_OK;
    return broad__fail(BROAD_USAGE, "the value of '%s' needs %zu bytes, but %zu were given", name, text.used + 1,
                       bytes);
}

size_t broad_option_count(void) { return ROW_COUNT; }

const broad_option *broad_option_at(size_t index) { return index < ROW_COUNT ? &rows[index].option : NULL; }
