#include "model/option_table.h"

#include <float.h>
#include <stddef.h>
#include <stdio.h>

#include "base/enum_names.h"
#include "model/preset.h"

_Static_assert(sizeof(broad_kind) == sizeof(int), "choices are read and written as int");

enum { NODES_MAX = 1000000, LAYERS_MAX = 100000, TRIES_MAX = 65535, THREADS_MAX = 1024 };
#define ALL_NODES_MAX 4294967295.0
#define SECONDS_MAX 1e9
#define BYTES_MAX 9e18

#define ABOVE_ZERO DBL_MIN
#define BELOW_ONE (1.0 - DBL_EPSILON)
#define BELOW_TWO (2.0 - DBL_EPSILON)
#define LARGEST 1e100 /* its square is still a number */

/* ---- what follows from a value --------------------------------------------------------------------------------- */

/* Each kind has its own defaults. */
static void follow_preset(broad_options *options) { broad__preset_apply(options, options->preset); }

/* An autoencoder's features are the codes themselves. */
static void follow_feature_weights(broad_options *options)
{
    if (options->feature_weights == BROAD_FEATURE_WEIGHTS_AUTOENCODER)
        options->feature_activation = BROAD_ACTIVATION_IDENTITY;
}

/* The three names that scn's publication uses come after those they stand for. */
static void follow_weights(broad_options *options)
{
    static const broad_weights meant[] = {BROAD_WEIGHTS_CHAIN, BROAD_WEIGHTS_WINDOW, BROAD_WEIGHTS_JOINT};
    int beyond = (int)options->weights - broad__enum_count(BROAD__WEIGHTS);
    if (beyond >= 0) options->weights = meant[beyond];
    broad__preset_test(options);
}

/* Each test has its own search for a layer. */
static void follow_supervise(broad_options *options) { broad__preset_search(options); }

static void follow_activation(broad_options *options) { options->feature_activation = options->activation; }

/* ---- the table ------------------------------------------------------------------------------------------------- */

#define FIELD(name) offsetof(broad_options, name)

/* clang-format off */
static const broad__option_row rows[] = {
    {{"kind", 0, "KIND", BROAD__KINDS, "bscrls",
      "kind of network: bscrls keeps what passes a test, layers and, with preset auto, feature nodes; brls keeps all "
      "layers, each fitted to the residual of those before it; bls has one layer; scn and rvfl have no feature nodes; "
      "each kind has its own defaults"},
     BROAD__VALUE_CHOICE, FIELD(kind), 0, 0, 0, 0, NULL, follow_preset},
    {{"preset", 0, "NAME", BROAD__PRESETS, "auto",
      "defaults of all settings: auto chooses by leave-one-out; chain fits layer after layer, each kept only if the score of "
      "the chain falls; paper uses the published values"},
     BROAD__VALUE_CHOICE, FIELD(preset), 0, 0, 0, 0, NULL, follow_preset},
    {{"weights", 0, "HOW", BROAD__WEIGHTS "|sc1|sc2|sc3", NULL,
      "how output weights are computed; chain: each layer is fitted to the residual of the layers before it; joint: "
      "one ridge regression over all nodes; window (scn): with each layer, the weights of the last nodes are solved "
      "again; sc1, sc2 and sc3 are aliases of chain, window and joint"},
     BROAD__VALUE_CHOICE, FIELD(weights), 0, 0, BROAD_WEIGHTS_WINDOW, 0, NULL, follow_weights},
    {{"supervise", 0, "TEST", BROAD__SUPERVISIONS, NULL,
      "the test a layer must pass: gcv on the cross-validation score of the whole chain, residual on the norm of what it "
      "leaves, loo on its leave-one-out residual, operator on the operator norm, output on the residual of every output (the "
      "test of scn), or none; gcv also chooses lambda and the ranges by the score"},
     BROAD__VALUE_CHOICE, FIELD(supervise), 0, 0, 0, 0, NULL, follow_supervise},
    {{"penalty", 0, "NUMBER", NULL, NULL,
      "gcv: how often the score counts each degree of freedom (1.4, with preset chain 1.2); 1 is plain cross-validation, more is "
      "more careful"},
     BROAD__VALUE_REAL, FIELD(penalty), 0, 1, 100, 0, "a number from 1 to 100", NULL},
    {{"features", 0, "GxK|auto", NULL, NULL,
      "feature nodes: G groups of K nodes; auto: more for more rows, with kind bscrls only as long as leave-one-out "
      "gains by them"},
     BROAD__VALUE_SIZES_OR_AUTO, FIELD(feature_groups), FIELD(feature_nodes), 1, NODES_MAX, NODES_MAX,
     "groups x nodes per group, such as 10x10, or auto", NULL},
    {{"enhance", 0, "QxL", NULL, NULL, "enhancement nodes: at most L layers of Q nodes each"},
     BROAD__VALUE_SIZES, FIELD(enhance_nodes), FIELD(enhance_layers), 1, NODES_MAX, LAYERS_MAX,
     "nodes per layer x layers, such as 100x50", NULL},
    {{"activation", 0, "NAME", BROAD__ACTIVATIONS, NULL, "activation function of all nodes"},
     BROAD__VALUE_CHOICE, FIELD(activation), 0, 0, 0, 0, NULL, follow_activation},
    {{"feature-weights", 0, "HOW", BROAD__FEATURE_WEIGHTS, NULL,
      "weights of the feature nodes: random, fitted to the inputs by a sparse autoencoder, or sampled where the rows "
      "are"},
     BROAD__VALUE_CHOICE, FIELD(feature_weights), 0, 0, 0, 0, NULL, follow_feature_weights},
    {{"learned-metric", 0, "WHETHER", BROAD__LEARNEDS, NULL,
      "draw feature nodes with a metric learned from how a first small network moves with its inputs; auto: only where it "
      "predicts rows better that it has not seen"},
     BROAD__VALUE_CHOICE, FIELD(metric), 0, 0, 0, 0, NULL, NULL},
    {{"effort", 0, "LEVEL", BROAD__EFFORTS, "normal",
      "how much preset auto tries before it builds the network: fast is for a first look, thorough takes longer and may "
      "find better nodes"},
     BROAD__VALUE_CHOICE, FIELD(effort), 0, 0, 0, 0, NULL, NULL},
    {{"feature-activation", 0, "NAME", BROAD__ACTIVATIONS, NULL,
      "activation function of the feature nodes, if different"},
     BROAD__VALUE_CHOICE, FIELD(feature_activation), 0, 0, 0, 0, NULL, NULL},
    {{"sparse-lambda", 0, "NUMBER", NULL, NULL, "sparsity penalty of the autoencoder"},
     BROAD__VALUE_REAL, FIELD(sparse_lambda), 0, 0, LARGEST, 0,
     "a number >= 0", NULL},
    {{"sparse-steps", 0, "COUNT", NULL, NULL, "number of ADMM iterations of the autoencoder"},
     BROAD__VALUE_SIZE, FIELD(sparse_steps), 0, 1, 100000, 0, NULL, NULL},
    {{"scale", 0, "NAME", BROAD__SCALES, NULL,
      "scaling of the inputs, from the training rows; rank: by rank; both: standard and rank side by side; whole: the "
      "same scale for all columns; auto: whole for photos, both otherwise"},
     BROAD__VALUE_CHOICE, FIELD(scale), 0, 0, 0, 0, NULL, NULL},
    {{"scale-target", 0, "NAME", "none|minmax|standard", NULL,
      "scaling of the targets; standard: the scores of classes start from the class frequencies"},
     BROAD__VALUE_CHOICE, FIELD(scale_target), 0, 0, 0, 0, NULL, NULL},
    {{"lambda", 0, "NUMBER|auto", NULL, NULL, "ridge parameter; auto: the value with the smallest leave-one-out error, with gcv the smallest score"},
     BROAD__VALUE_REAL_OR_AUTO, FIELD(lambda), FIELD(lambda_auto), 0, LARGEST, 0,
     "a number >= 0 or auto", NULL},
    {{"range", 0, "NUMBER|auto", NULL, NULL,
      "random weights are drawn from [-range, range]; auto: chosen from a small grid by leave-one-out"},
     BROAD__VALUE_REAL_OR_AUTO, FIELD(range), FIELD(range_auto), ABOVE_ZERO, LARGEST, 0,
     "a number > 0 or auto", NULL},
    {{"range-unit", 0, "UNIT", BROAD__RANGE_UNITS, NULL,
      "fan-in: divide the range by the square root of the node's number of inputs"},
     BROAD__VALUE_CHOICE, FIELD(range_unit), 0, 0, 0, 0, NULL, NULL},
    {{"gamma", 0, "FORM:VALUES", NULL, NULL, "schedule of the bound: harmonic:C, constant:G or list:G1,G2,..."},
     BROAD__VALUE_GAMMA, FIELD(gamma), FIELD(gamma_count), 0, 0, 0,
     "harmonic:C with 0 < C < 2, constant:G with 0 <= G < 1, or list:G1,G2,... of such values", NULL},
    {{"tries", 0, "COUNT", NULL, NULL, "number of draws per range before the next range is tried"},
     BROAD__VALUE_SIZE, FIELD(tries), 0, 1, TRIES_MAX, 0, NULL, NULL},
    {{"range-steps", 0, "LIST", NULL, NULL, "multiples of the range, in the order in which they are tried"},
     BROAD__VALUE_REALS, FIELD(range_steps), FIELD(range_steps_count), ABOVE_ZERO, LARGEST, 0,
     "numbers > 0 separated by commas, such as 1,0.5,2", NULL},
    {{"relax", 0, "NUMBER", NULL, NULL, "if no draw passes, gamma moves towards 1 by this fraction"},
     BROAD__VALUE_REAL, FIELD(relax), 0, ABOVE_ZERO, BELOW_ONE, 0,
     "a number above 0 and below 1", NULL},
    {{"relax-count", 0, "COUNT", NULL, NULL,
      "maximum number of relaxations per layer; after that the run ends as 'stalled'"},
     BROAD__VALUE_SIZE, FIELD(relax_count), 0, 0, 1000, 0, NULL, NULL},
    {{"select", 0, "RULE", BROAD__SELECTIONS, NULL,
      "which draw of a range is kept: the first that passes, or the best"},
     BROAD__VALUE_CHOICE, FIELD(select), 0, 0, 0, 0, NULL, NULL},
    {{"window", 0, "NODES", NULL, NULL, "number of nodes whose weights are solved again when weights is window"},
     BROAD__VALUE_SIZE, FIELD(window), 0, 1, NODES_MAX, 0, NULL, NULL},
    {{"loo", 0, "WHETHER", BROAD__LOOS, NULL,
      "estimate the error on new rows, which probabilities and intervals need; auto: with joint weights by "
      "leave-one-out, of chains judged by gcv from their score"},
     BROAD__VALUE_CHOICE, FIELD(loo), 0, 0, 0, 0, NULL, NULL},
    {{"class-weight", 0, "WEIGHTS", NULL, NULL,
      "weight of the rows of each class: balanced, or a list such as a:1,b:3; default: equal weights"},
     BROAD__VALUE_TEXT, FIELD(class_weight), 0, 0, 0, 0,
     "balanced, or weights such as a:1,b:3", NULL},
    {{"until", 0, "NORM|PERCENT%", NULL, "0",
      "stop once the norm ||E|| of the residual is at most this value, or this percentage of the initial norm; 0: no "
      "limit"},
     BROAD__VALUE_PART, FIELD(until), FIELD(until_relative), 0, LARGEST, 0,
     "a norm such as 12.5, or a percentage of the initial norm such as 30%", NULL},
    {{"until-accuracy", 0, "FRACTION", NULL, "0",
      "stop once this fraction of the held-out rows (or of the training rows, if none are held out) is classified correctly; "
      "0: no limit"},
     BROAD__VALUE_REAL, FIELD(until_accuracy), 0, 0, 1, 0,
     "a number from 0 to 1, such as 0.95", NULL},
    {{"max-layers", 0, "COUNT", NULL, "0", "maximum number of layers, including existing ones; 0: no limit"},
     BROAD__VALUE_SIZE, FIELD(max_layers), 0, 0, LAYERS_MAX, 0, NULL, NULL},
    {{"max-nodes", 0, "COUNT", NULL, "0",
      "maximum number of nodes, including feature nodes; 0: no limit"},
     BROAD__VALUE_SIZE, FIELD(max_nodes), 0, 0, ALL_NODES_MAX, 0, NULL, NULL},
    {{"max-seconds", 0, "SECONDS", NULL, "0", "seconds for the whole run, from about 2: nodes and layers are as many as fit, so that the result depends on the "
      "machine; 0: no limit"},
     BROAD__VALUE_REAL, FIELD(max_seconds), 0, 0, SECONDS_MAX, 0,
     "a number of seconds from 0 to 1e9", NULL},
    {{"patience", 0, "LAYERS", NULL, "0",
      "stop after this many layers without improvement on the held-out rows, and return to the best layer; 0: no "
      "limit"},
     BROAD__VALUE_SIZE, FIELD(patience), 0, 0, LAYERS_MAX, 0, NULL, NULL},
    {{"positive", 0, "LABEL", NULL, NULL,
      "the class that precision and recall refer to; default: of two classes the one that is not normal"},
     BROAD__VALUE_TEXT, FIELD(positive), 0, 0, 0, 0,
     "a class label", NULL},
    {{"normal", 0, "CLASS", NULL, NULL,
      "the class that means nothing is wrong; default: one with a name such as clean, ok, good, normal, none, healthy or "
      "no_damage, otherwise the most frequent"},
     BROAD__VALUE_TEXT, FIELD(normal), 0, 0, 0, 0,
     "a class label", NULL},
    {{"seed", 0, "NUMBER", NULL, "0", "seed of all random numbers; the same seed gives the same bytes"},
     BROAD__VALUE_UINT64, FIELD(seed), 0, 0, 0, 0,
     "a whole number from 0 to 18446744073709551615", NULL},
    {{"threads", 0, "COUNT", NULL, "0", "number of threads; 0: one per processor; results do not depend on it"},
     BROAD__VALUE_SIZE, FIELD(threads), 0, 0, THREADS_MAX, 0, NULL, NULL},
    {{"device", 0, "DEVICE", BROAD__DEVICES, "cpu",
      "where to compute: cpu, or cuda, a GPU, which pays with many rows; results agree up to rounding"},
     BROAD__VALUE_CHOICE, FIELD(device), 0, 0, 0, 0, NULL, NULL},
    {{"memory", 0, "SIZE", NULL, "0",
      "memory limit, such as 2G; what does not fit is recomputed or kept in temporary files; 0: half of the available "
      "memory; results do not depend on it"},
     BROAD__VALUE_BYTES, FIELD(memory), 0, 0, BYTES_MAX, 0,
     "a number of bytes, optionally with K, M, G or T, such as 512M or 1.5G; 0: half of the available memory", NULL},
};
/* clang-format on */

size_t broad__option_rows(const broad__option_row **out)
{
    *out = rows;
    return sizeof rows / sizeof rows[0];
}

broad__limits broad__gamma_limits(broad_gamma_form form)
{
    return form == BROAD_GAMMA_HARMONIC ? (broad__limits){ABOVE_ZERO, BELOW_TWO} : (broad__limits){0, BELOW_ONE};
}

const char *broad__option_expects(char out[BROAD__EXPECTS_BYTES], const broad__option_row *row)
{
    if (row->expects) snprintf(out, BROAD__EXPECTS_BYTES, "%s", row->expects);
    else if (row->option.choices) snprintf(out, BROAD__EXPECTS_BYTES, "one of %s", row->option.choices);
    else snprintf(out, BROAD__EXPECTS_BYTES, "a whole number from %.0f to %.0f", row->min, row->max);
    return out;
}
