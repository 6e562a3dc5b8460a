#include "model/options_check.h"

#include <math.h>
#include <stdint.h>

#include "base/enum_names.h"
#include "base/status.h"
#include "model/kind.h"

enum { NODES_MAX = 1000000, STEPS_MAX = UINT16_MAX };

static int check_choice(const char *name, int value, const char *choices)
{
    if (value >= 0 && value < broad__enum_count(choices)) return BROAD_OK;
    return broad__fail(BROAD_USAGE, "option %s: value %d is none of %s", name, value, choices);
}

static int check_size(const char *name, size_t value, size_t least, size_t most)
{
    if (value >= least && value <= most) return BROAD_OK;
    return broad__fail(BROAD_USAGE, "option %s: %zu is not between %zu and %zu", name, value, least, most);
}

static int check_real(const char *name, double value, double least, double most, const char *rule)
{
    if (isfinite(value) && value >= least && value <= most) return BROAD_OK;
    return broad__fail(BROAD_USAGE, "option %s: %g is not %s", name, value, rule);
}

static int check_choices(const broad_options *o)
{
    int status = check_choice("kind", (int)o->kind, BROAD__KINDS);
    if (status == BROAD_OK) status = check_choice("preset", (int)o->preset, BROAD__PRESETS);
    if (status == BROAD_OK) status = check_choice("activation", (int)o->activation, BROAD__ACTIVATIONS);
    if (status == BROAD_OK) status = check_choice("feature-activation", (int)o->feature_activation, BROAD__ACTIVATIONS);
    if (status == BROAD_OK) status = check_choice("scale", (int)o->scale, BROAD__SCALES);
    if (status == BROAD_OK) status = check_choice("scale-target", (int)o->scale_target, "none|minmax|standard");
    if (status == BROAD_OK) status = check_choice("precision", (int)o->precision, BROAD__PRECISIONS);
    if (status == BROAD_OK) status = check_choice("range-unit", (int)o->range_unit, BROAD__RANGE_UNITS);
    if (status == BROAD_OK) status = check_choice("supervise", (int)o->supervise, BROAD__SUPERVISIONS);
    if (status == BROAD_OK) status = check_choice("gamma", (int)o->gamma_form, BROAD__GAMMA_FORMS);
    if (status == BROAD_OK) status = check_choice("select", (int)o->select, BROAD__SELECTIONS);
    if (status == BROAD_OK) status = check_choice("weights", (int)o->weights, BROAD__WEIGHTS);
    if (status == BROAD_OK) status = check_choice("loo", (int)o->loo, BROAD__LOOS);
    if (status == BROAD_OK) status = check_choice("feature-weights", (int)o->feature_weights, BROAD__FEATURE_WEIGHTS);
    return status;
}

static int check_sizes(const broad_options *o)
{
    int status = check_size("features (groups)", o->feature_groups, 1, NODES_MAX);
    if (status == BROAD_OK) status = check_size("features (nodes)", o->feature_nodes, 1, NODES_MAX);
    if (status == BROAD_OK) status = check_size("enhance (nodes)", o->enhance_nodes, 1, NODES_MAX);
    if (status == BROAD_OK) status = check_size("enhance (layers)", o->enhance_layers, 1, NODES_MAX);
    if (status == BROAD_OK) status = check_size("tries", o->tries, 1, STEPS_MAX);
    if (status == BROAD_OK) status = check_size("window", o->window, 1, NODES_MAX);
    if (status == BROAD_OK) status = check_size("sparse-steps", o->sparse_steps, 1, 100000);
    if (status == BROAD_OK) status = check_size("relax-count", o->relax_count, 0, 1000);
    if (status == BROAD_OK) status = check_size("gamma (values)", o->gamma_count, 1, BROAD_LIST_MAX);
    if (status == BROAD_OK) status = check_size("range-steps (values)", o->range_steps_count, 1, BROAD_LIST_MAX);
    return status;
}

static int check_reals(const broad_options *o)
{
    int status = check_real("lambda", o->lambda, 0, 1e300, "a number of at least 0");
    if (status == BROAD_OK) status = check_real("range", o->range, 1e-300, 1e100, "a number above 0");
    if (status == BROAD_OK) status = check_real("relax", o->relax, 0, 1, "a number from 0 to 1");
    if (status == BROAD_OK) status = check_real("sparse-lambda", o->sparse_lambda, 0, 1e100, "a number of at least 0");
    int harmonic = o->gamma_form == BROAD_GAMMA_HARMONIC;
    for (size_t i = 0; status == BROAD_OK && i < o->gamma_count; i++)
        status = check_real("gamma", o->gamma[i], 0, harmonic ? 2 : 1,
                            harmonic ? "a number from 0 to 2" : "a number from 0 to 1");
    for (size_t i = 0; status == BROAD_OK && i < o->range_steps_count; i++)
        status = check_real("range-steps", o->range_steps[i], 1e-300, 1e100, "a number above 0");
    return status;
}

/* An estimate that was asked for must not be left out in silence; what a file says about it is past. */
static int check_loo(const broad_options *o)
{
    broad__fitting fitting = broad__fitting_of(o);
    if (o->loo != BROAD_LOO_YES || (fitting != BROAD__FIT_CHAIN && fitting != BROAD__FIT_WINDOW)) return BROAD_OK;
    return broad__fail(BROAD_USAGE,
                       "--loo yes: leave-one-out has no closed form where each layer is fitted to what the "
                       "others left over; give --weights joint, or leave out --loo");
}

int broad__options_check(const broad_options *options)
{
    if (options->size != sizeof *options)
        return broad__fail(BROAD_USAGE, "the options were not set up with broad_options_init(), or by another version");
    int status = check_choices(options);
    if (status == BROAD_OK) status = check_sizes(options);
    if (status == BROAD_OK) status = check_reals(options);
    if (status == BROAD_OK) status = broad__kind_check(options);
    if (status == BROAD_OK) status = check_loo(options);
    return status;
}
