#include "model/kind.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/enum_names.h"
#include "base/status.h"

#define TEST(name) (1u << BROAD_SUPERVISE_##name)
#define WEIGHTS(name) (1u << BROAD_WEIGHTS_##name)

static const broad__kind kinds[] = {
    [BROAD_KIND_BSCRLS] = {BROAD__NODES_FEATURES, TEST(RESIDUAL) | TEST(LOO) | TEST(OPERATOR) | TEST(NONE) | TEST(GCV),
                           WEIGHTS(CHAIN) | WEIGHTS(JOINT), 0, BROAD_SUPERVISE_RESIDUAL},
    [BROAD_KIND_BRLS] = {BROAD__NODES_FEATURES, TEST(NONE) | TEST(GCV), WEIGHTS(CHAIN) | WEIGHTS(JOINT), 0,
                         BROAD_SUPERVISE_NONE},
    [BROAD_KIND_BLS] = {BROAD__NODES_FEATURES, TEST(NONE), WEIGHTS(JOINT), 1, BROAD_SUPERVISE_NONE},
    [BROAD_KIND_SCN] = {BROAD__NODES_HIDDEN, TEST(OUTPUT) | TEST(GCV),
                        WEIGHTS(CHAIN) | WEIGHTS(JOINT) | WEIGHTS(WINDOW), 0, BROAD_SUPERVISE_OUTPUT},
    [BROAD_KIND_RVFL] = {BROAD__NODES_LINKED, TEST(NONE), WEIGHTS(JOINT), 1, BROAD_SUPERVISE_NONE},
};

const broad__kind *broad__kind_of(broad_kind kind) { return &kinds[kind]; }

int broad__kind_exists(broad_kind kind)
{
    if ((unsigned)kind < sizeof kinds / sizeof kinds[0]) return BROAD_OK;
    return broad__fail(BROAD_USAGE, "option kind: value %d is none of %s", (int)kind, BROAD__KINDS);
}

broad__fitting broad__fitting_of(const broad_options *options)
{
    if (kinds[options->kind].at_once) return BROAD__FIT_AT_ONCE;
    if (options->weights == BROAD_WEIGHTS_WINDOW) return BROAD__FIT_WINDOW;
    if (options->weights == BROAD_WEIGHTS_CHAIN) return BROAD__FIT_CHAIN;
    return options->supervise == BROAD_SUPERVISE_LOO || options->kind == BROAD_KIND_SCN ? BROAD__FIT_STEPWISE
                                                                                        : BROAD__FIT_FINALLY;
}

int broad__joint_beside(const broad_options *options)
{
    broad__fitting fitting = broad__fitting_of(options);
    return fitting == BROAD__FIT_FINALLY || (fitting == BROAD__FIT_STEPWISE && options->lambda_auto);
}

enum { AUTO_GROUPS = 20, AUTO_LEAST = 3000, AUTO_MOST = 5000, AUTO_ROWS = 4000, AUTO_PER_ROW = 8 };
/* Multiplications for the sums over all rows: about a minute of two cores with all that follows, beyond which nodes are fewer. */
static const double AUTO_WORK = 3e12;

double broad__size_for_rows(size_t rows) { return AUTO_LEAST * pow((double)rows / AUTO_ROWS, 0.4); }

void broad__size_features(broad_options *options, size_t rows)
{
    if (!options->features_auto) return;
    double nodes = fmax(AUTO_LEAST, fmin(AUTO_MOST, broad__size_for_rows(rows)));
    nodes = fmin(nodes, fmin(AUTO_PER_ROW * (double)rows, sqrt(AUTO_WORK / (double)rows)));
    options->feature_groups = AUTO_GROUPS;
    options->feature_nodes = (size_t)fmax(1, nodes / AUTO_GROUPS);
}

int broad__grows_by_gain(const broad_options *o)
{
    return o->features_auto && o->supervise != BROAD_SUPERVISE_NONE && kinds[o->kind].nodes == BROAD__NODES_FEATURES &&
           o->feature_weights == BROAD_FEATURE_WEIGHTS_SAMPLED;
}

/* The words of `choices` whose bits are set. */
static void list_words(char *out, size_t bytes, const char *choices, unsigned bits)
{
    char word[BROAD__ENUM_BYTES];
    out[0] = 0;
    for (int i = 0; i < broad__enum_count(choices); i++) {
        if (!(bits >> i & 1)) continue;
        broad__enum_name(word, choices, i);
        size_t used = strlen(out);
        snprintf(out + used, bytes - used, "%s%s", used ? " or " : "", word);
    }
}

static int check_bit(const broad_options *options, const char *option, int value, const char *choices, unsigned bits)
{
    if (bits >> value & 1) return BROAD_OK;
    char kind[BROAD__ENUM_BYTES], given[BROAD__ENUM_BYTES], possible[128];
    broad__enum_name(kind, BROAD__KINDS, (int)options->kind);
    broad__enum_name(given, choices, value);
    list_words(possible, sizeof possible, choices, bits);
    return broad__fail(BROAD_USAGE,
                       "option kind %s does not go with option %s %s; give option %s %s, or choose another kind", kind,
                       option, given, option, possible);
}

int broad__kind_check(const broad_options *options)
{
    const broad__kind *kind = &kinds[options->kind];
    int status = check_bit(options, "supervise", (int)options->supervise, BROAD__SUPERVISIONS, kind->tests);
    if (status == BROAD_OK)
        status = check_bit(options, "weights", (int)options->weights, BROAD__WEIGHTS, kind->weights);
    broad__fitting fitting = status == BROAD_OK ? broad__fitting_of(options) : BROAD__FIT_CHAIN;
    if (options->supervise == BROAD_SUPERVISE_GCV && fitting != BROAD__FIT_CHAIN && fitting != BROAD__FIT_FINALLY)
        status = broad__fail(BROAD_USAGE,
                             "option supervise gcv judges a chain, in which each layer is fitted to the residual of "
                             "those before it; give option weights chain, or another test");
    if (status == BROAD_OK && options->feature_weights != BROAD_FEATURE_WEIGHTS_RANDOM &&
        kind->nodes != BROAD__NODES_FEATURES)
        status =
            broad__fail(BROAD_USAGE, "this kind has no feature nodes: leave out option feature-weights, or give option "
                                     "kind bls, brls or bscrls");
    return status;
}
