#include "model/preset.h"

#include <string.h>

#include "model/kind.h"

/* `paper` has the paper's sizes. `chain` has as many nodes as chains of sampled nodes gain by (docs/experiments.md). `auto`
 * has wider and fewer layers and looks at fewer draws: a layer that leave-one-out refuses is seldom saved by another
 * range, and each draw costs an eigendecomposition. A brls has no joint weights that would make one layer of several. */
static void preset_sizes(broad_options *o, int paper)
{
    size_t layers = o->kind == BROAD_KIND_BRLS ? 10 : 1;
    o->features_auto = !paper;
    o->feature_groups = paper ? 10 : 20;
    o->feature_nodes = paper ? 10 : 100;
    o->enhance_nodes = 100;
    o->enhance_layers = paper ? 50 : layers;
    if (o->preset != BROAD_PRESET_CHAIN || broad__kind_of(o->kind)->at_once) return;
    o->features_auto = 0;
    o->feature_groups = 6;
    o->feature_nodes = 50;
    o->enhance_nodes = 200;
    o->enhance_layers = 50;
}

/* The schedule is as tight as it can be while the first draw of a sound range still passes, also on targets that are
 * pure noise; tighter ones cost ten times the draws, gain nothing on the tables in docs/tables.md and over-fit the
 * small ones. */
static void preset_supervision(broad_options *o)
{
    o->gamma_form = BROAD_GAMMA_HARMONIC;
    memset(o->gamma, 0, sizeof o->gamma);
    o->gamma[0] = 0.005;
    o->gamma_count = 1;
    o->relax = 0.3;
    o->select = BROAD_SELECT_FIRST;
    o->penalty = o->preset == BROAD_PRESET_CHAIN ? 1.2 : 1.4;
}

static void set_steps(broad_options *o, const double *steps, size_t count)
{
    memset(o->range_steps, 0, sizeof o->range_steps);
    memcpy(o->range_steps, steps, count * sizeof *steps);
    o->range_steps_count = count;
}

/* SCN as published: nodes one by one, the best of T draws from the first range in which any keeps the inequality, r closer
 * and closer to 1. */
static void preset_scn(broad_options *o, int paper)
{
    o->enhance_nodes = paper ? 1 : 10;
    o->enhance_layers = paper ? 100 : 50;
    o->gamma_form = BROAD_GAMMA_CONSTANT;
    o->gamma[0] = 0.9;
    o->range_auto = 0;
    o->relax = 0.9;
    o->select = BROAD_SELECT_BEST;
}

/* Around the range that the score has chosen from six decades (model/train/race_ranges.h). */
static const double scored_steps[] = {1, 3.1622776601683795, 0.31622776601683794, 10, 0.1};
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void search_as_preset(broad_options *o)
{
    static const double steps[] = {1, 0.5, 2, 0.2, 5, 0.1, 10, 0.05, 20};
    static const double scn[] = {0.5, 1, 5, 10, 30, 50, 100, 150, 200, 250}, scn_fewer[] = {0.5, 1, 2, 5, 10, 20};
    int paper = o->preset == BROAD_PRESET_PAPER;
    o->lambda_auto = !paper;
    o->relax_count = o->kind == BROAD_KIND_SCN ? 6 : 3;
    if (o->kind == BROAD_KIND_SCN) {
        o->tries = paper ? 100 : 20;
        set_steps(o, paper ? scn : scn_fewer, paper ? COUNT_OF(scn) : COUNT_OF(scn_fewer));
    } else {
        o->tries = paper ? 10 : 1;
        set_steps(o, steps, paper ? COUNT_OF(steps) : 3);
    }
}

/* Lambda is chosen by the score, and so are the ranges. Few draws, and no relaxation: of many that are good for nothing one
 * looks good by chance. */
void broad__preset_search(broad_options *o)
{
    int scored = o->range_steps_count == COUNT_OF(scored_steps);
    for (size_t i = 0; scored && i < COUNT_OF(scored_steps); i++) scored = o->range_steps[i] == scored_steps[i];
    if (o->supervise == BROAD_SUPERVISE_GCV) {
        o->lambda_auto = 1;
        o->tries = 2;
        o->relax_count = 0;
        set_steps(o, scored_steps, COUNT_OF(scored_steps));
    } else if (scored) {
        search_as_preset(o);
    }
}

void broad__preset_test(broad_options *o)
{
    int chain = o->weights == BROAD_WEIGHTS_CHAIN && o->preset != BROAD_PRESET_PAPER;
    broad_supervise own = broad__kind_of(o->kind)->test;
    if (o->kind == BROAD_KIND_BSCRLS && chain && o->supervise == own) o->supervise = BROAD_SUPERVISE_GCV;
    else if (o->supervise == BROAD_SUPERVISE_GCV && !chain) o->supervise = own;
    broad__preset_search(o);
}

/* A chain is what brls is; bscrls is published as one, and does better with joint weights. */
static void preset_weights(broad_options *o, int paper)
{
    const broad__kind *kind = broad__kind_of(o->kind);
    int chain = o->kind == BROAD_KIND_BRLS ||
                ((o->kind == BROAD_KIND_BSCRLS || o->kind == BROAD_KIND_SCN) && o->preset == BROAD_PRESET_CHAIN) ||
                (o->kind == BROAD_KIND_BSCRLS && paper);
    o->weights = chain ? BROAD_WEIGHTS_CHAIN : BROAD_WEIGHTS_JOINT;
    o->supervise = kind->test;
    search_as_preset(o);
    if (o->preset == BROAD_PRESET_CHAIN && kind->tests >> BROAD_SUPERVISE_GCV & 1 && o->kind != BROAD_KIND_BRLS)
        o->supervise = BROAD_SUPERVISE_GCV;
    broad__preset_search(o);
    o->window = 20;
    o->loo = BROAD_LOO_AUTO;
}

void broad__preset_apply(broad_options *o, broad_preset preset)
{
    int paper = preset == BROAD_PRESET_PAPER;
    o->preset = preset;
    preset_sizes(o, paper);
    preset_supervision(o);
    preset_weights(o, paper);
    o->activation = o->feature_activation = paper ? BROAD_ACTIVATION_SIGMOID : BROAD_ACTIVATION_TANH;
    o->feature_weights = paper || broad__kind_of(o->kind)->nodes != BROAD__NODES_FEATURES
                             ? BROAD_FEATURE_WEIGHTS_RANDOM
                             : BROAD_FEATURE_WEIGHTS_SAMPLED;
    o->sparse_lambda = 1e-3;
    o->sparse_steps = 50;
    o->scale = paper ? BROAD_SCALE_MINMAX : BROAD_SCALE_AUTO;
    o->scale_target = paper ? BROAD_SCALE_NONE : BROAD_SCALE_STANDARD;
    o->lambda = 1e-8;
    o->range = 1;
    o->range_auto = !paper;
    o->metric = paper ? BROAD_LEARNED_NO : BROAD_LEARNED_AUTO;
    o->range_unit = paper ? BROAD_RANGE_ABSOLUTE : BROAD_RANGE_FAN_IN;
    if (o->kind == BROAD_KIND_SCN) preset_scn(o, paper);
    if (o->kind == BROAD_KIND_RVFL && !paper) o->enhance_nodes = 2000; /* it has no feature nodes */
}

void broad__options_default(broad_options *out)
{
    memset(out, 0, sizeof *out);
    out->size = sizeof *out;
    out->kind = BROAD_KIND_BSCRLS;
    out->effort = BROAD_EFFORT_NORMAL;
    broad__preset_apply(out, BROAD_PRESET_AUTO);
}
