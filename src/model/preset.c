#include "model/preset.h"

#include <string.h>

#include "model/kind.h"

/* `paper` has the paper's sizes. `auto` has wider and fewer layers and looks at fewer draws: a layer that leave-one-out
 * refuses is seldom saved by another range, and each draw costs an eigendecomposition. A brls has no joint weights that
 * would make one layer of several. */
static void preset_sizes(broad_options *o, int paper)
{
    size_t layers = o->kind == BROAD_KIND_BRLS ? 10 : 1;
    o->features_auto = !paper;
    o->feature_groups = paper ? 10 : 20;
    o->feature_nodes = paper ? 10 : 100;
    o->enhance_nodes = 100;
    o->enhance_layers = paper ? 50 : layers;
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

/* A chain is what brls is; bscrls is published as one, and does better with joint weights. */
static void preset_weights(broad_options *o, int paper)
{
    const broad__kind *kind = broad__kind_of(o->kind);
    int chain = o->kind == BROAD_KIND_BRLS || (o->kind == BROAD_KIND_BSCRLS && paper);
    o->weights = chain ? BROAD_WEIGHTS_CHAIN : BROAD_WEIGHTS_JOINT;
    o->supervise = kind->test;
    o->window = 20;
    o->loo = BROAD_LOO_AUTO;
}

void broad__preset_apply(broad_options *o, broad_preset preset)
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
    if (o->kind == BROAD_KIND_RVFL && !paper) o->enhance_nodes = 2000; /* it has no feature nodes */
}

void broad__options_default(broad_options *out)
{
    memset(out, 0, sizeof *out);
    out->size = sizeof *out;
    out->kind = BROAD_KIND_BSCRLS;
    broad__preset_apply(out, BROAD_PRESET_AUTO);
}
