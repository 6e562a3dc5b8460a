/* Entry points of broad.h: what a model was made from. */
#include "base/status.h"
#include "data/photo/photo_rows.h"
#include "model/kind.h"
#include "model/model.h"

static int missing_argument(const char *function)
{
    return broad__fail(BROAD_USAGE, "%s: an argument is NULL", function);
}

int broad_model_settings(broad_options *out, const broad_model *model)
{
    if (!out || !model) return missing_argument("broad_model_settings");
    *out = model->settings;
    return BROAD_OK;
}

broad_fitting broad_model_fitting(const broad_model *model)
{
    return (broad_fitting)broad__fitting_of(&model->settings);
}

const char *broad_fitting_name(broad_fitting fitting)
{
    static const char *const names[] = {"chain", "joint", "stepwise", "window", "at_once"};
    return (unsigned)fitting < sizeof names / sizeof names[0] ? names[fitting] : "unknown";
}

int broad_model_is_compact(const broad_model *model) { return model->compact; }

/* ---- rows ------------------------------------------------------------------------------------------------------ */

int broad_model_split(broad_split *out, const broad_model *model)
{
    if (!out || !model) return missing_argument("broad_model_split");
    broad_split_init(out);
    out->holdout = model->split_holdout;
    out->seed = model->split_seed;
    return BROAD_OK;
}

size_t broad_model_segments(const broad_model *model) { return model->segment_count; }

size_t broad_model_segment_rows(const broad_model *model, size_t segment)
{
    return segment < model->segment_count ? model->segments[segment].rows : 0;
}

const char *broad_model_target_name(const broad_model *model) { return model->target_name; }

const char *broad_model_group_name(const broad_model *model) { return model->group_name; }

const char *broad_model_weight_name(const broad_model *model) { return model->weight_name; }

int broad_model_weighs_classes(const broad_model *model) { return model->class_weights != NULL; }

/* ---- columns of categories ------------------------------------------------------------------------------------- */

size_t broad_model_categories(const broad_model *model) { return model->categories.count; }

const char *broad_model_category_name(const broad_model *model, size_t category)
{
    return category < model->categories.count ? model->categories.items[category].name : NULL;
}

size_t broad_model_category_levels(const broad_model *model, size_t category)
{
    return category < model->categories.count ? model->categories.items[category].count : 0;
}

const char *broad_model_category_level(const broad_model *model, size_t category, size_t level)
{
    return level < broad_model_category_levels(model, category) ? model->categories.items[category].levels[level]
                                                                : NULL;
}

/* ---- photos ---------------------------------------------------------------------------------------------------- */

void broad_photo_spec_init(broad_photo_spec *out) { *out = (broad_photo_spec){.size = sizeof *out}; }

int broad_model_photo(broad_photo_spec *out, const broad_model *model)
{
    if (!out || !model) return missing_argument("broad_model_photo");
    if (out->size != sizeof *out)
        return broad__fail(BROAD_USAGE, "broad_model_photo: call broad_photo_spec_init() on the result first");
    const broad__photo_spec *from = &model->photo;
    *out = (broad_photo_spec){.size = sizeof *out,
                              .maps = (unsigned)from->maps,
                              .side = from->side,
                              .crop = from->crop,
                              .each_box = from->each_box,
                              .components = from->components,
                              .augment = from->augment};
    return BROAD_OK;
}

unsigned broad_model_maps(const broad_model *model) { return (unsigned)model->photo.maps; }

/* ---- nodes ----------------------------------------------------------------------------------------------------- */

size_t broad_model_feature_groups(const broad_model *model) { return model->group_count; }

broad_feature_source broad_model_feature_source(const broad_model *model)
{
    return model->group_count ? (broad_feature_source)model->groups[0].source : BROAD_FEATURE_SOURCE_NONE;
}

const char *broad_feature_source_name(broad_feature_source source)
{
    static const char *const names[] = {"drawn", "direct", "autoencoder", "sampled"};
    return (unsigned)source < sizeof names / sizeof names[0] ? names[source] : "none";
}

void broad_pilot_init(broad_pilot *out) { *out = (broad_pilot){.size = sizeof *out}; }

int broad_model_pilot(broad_pilot *out, const broad_model *model)
{
    static const char *const names[] = {"mix", "dense", "difference"};
    if (!out || !model) return missing_argument("broad_model_pilot");
    if (out->size != sizeof *out)
        return broad__fail(BROAD_USAGE, "broad_model_pilot: call broad_pilot_init() on the result first");
    *out = (broad_pilot){.size = sizeof *out, .known = model->pilot[0] > 0, .chosen = (size_t)model->style};
    for (size_t i = 0; i < BROAD_PILOT_STYLES; i++) {
        out->styles[i].name = names[i];
        out->styles[i].error = model->pilot[i];
    }
    return BROAD_OK;
}
