/* Entry points of broad.h: what a model was made from. */
#include <stddef.h>

#include "api/api_check.h"
#include "data/photo/photo_rows.h"
#include "model/kind.h"
#include "model/model.h"

int broad_model_settings(broad_options *out, const broad_model *model)
{
    if (!out || !model) return broad__missing_argument("broad_model_settings");
    int status = broad__struct_check(out, sizeof *out, "broad_options");
    if (status == BROAD_OK) broad__result_give(out, &model->settings, sizeof *out);
    return status;
}

broad_fitting broad_model_fitting(const broad_model *model)
{
    return model ? (broad_fitting)broad__fitting_of(&model->settings) : BROAD_FITTING_CHAIN;
}

int broad_model_is_compact(const broad_model *model) { return model ? model->compact : 0; }

/* ---- rows ------------------------------------------------------------------------------------------------------ */

int broad_model_split(broad_split *out, const broad_model *model)
{
    if (!out || !model) return broad__missing_argument("broad_model_split");
    broad_split full = {.size = sizeof full, .holdout = model->split_holdout, .seed = model->split_seed};
    int status = broad__struct_check(out, sizeof *out, "broad_split");
    if (status == BROAD_OK) broad__result_give(out, &full, sizeof full);
    return status;
}

size_t broad_model_segments(const broad_model *model) { return model ? model->segment_count : 0; }

size_t broad_model_segment_rows(const broad_model *model, size_t segment)
{
    return segment < broad_model_segments(model) ? model->segments[segment].rows : 0;
}

double broad_model_segment_weight(const broad_model *model, size_t segment)
{
    return segment < broad_model_segments(model) ? model->segments[segment].weight : 1;
}

const char *broad_model_target_name(const broad_model *model) { return model ? model->target_name : NULL; }

const char *broad_model_group_name(const broad_model *model) { return model ? model->group_name : NULL; }

const char *broad_model_weight_name(const broad_model *model) { return model ? model->weight_name : NULL; }

int broad_model_weighs_classes(const broad_model *model) { return model && model->class_weights; }

/* ---- columns of categories ------------------------------------------------------------------------------------- */

size_t broad_model_categories(const broad_model *model) { return model ? model->categories.count : 0; }

const char *broad_model_category_name(const broad_model *model, size_t category)
{
    return category < broad_model_categories(model) ? model->categories.items[category].name : NULL;
}

size_t broad_model_category_levels(const broad_model *model, size_t category)
{
    return category < broad_model_categories(model) ? model->categories.items[category].count : 0;
}

const char *broad_model_category_level(const broad_model *model, size_t category, size_t level)
{
    return level < broad_model_category_levels(model, category) ? model->categories.items[category].levels[level]
                                                                : NULL;
}

/* ---- photos ---------------------------------------------------------------------------------------------------- */

int broad_model_photo(broad_photo_spec *out, const broad_model *model)
{
    if (!out || !model) return broad__missing_argument("broad_model_photo");
    const broad__photo_spec *from = &model->photo;
    broad_photo_spec full = {.maps = (unsigned)from->maps,
                             .side = from->side,
                             .crop = from->crop,
                             .each_box = from->each_box,
                             .components = from->components,
                             .augment = from->augment,
                             .distances = model->projection.limit > 0};
    int status = broad__struct_check(out, sizeof *out, "broad_photo_spec");
    if (status == BROAD_OK) broad__result_give(out, &full, sizeof full);
    return status;
}

unsigned broad_model_maps(const broad_model *model) { return model ? (unsigned)model->photo.maps : 0; }

/* ---- nodes ----------------------------------------------------------------------------------------------------- */

size_t broad_model_feature_groups(const broad_model *model) { return model ? model->group_count : 0; }

broad_feature_source broad_model_feature_source(const broad_model *model)
{
    return broad_model_feature_groups(model) ? (broad_feature_source)model->groups[0].source
                                             : BROAD_FEATURE_SOURCE_NONE;
}

/* Styles that the caller's struct has room for: version 0.1 knew three, and looks up the chosen one among these. */
static size_t pilot_room(const broad_pilot *out)
{
    size_t before = offsetof(broad_pilot, styles);
    return out->size < before ? 0 : (out->size - before) / sizeof out->styles[0];
}

int broad_model_pilot(broad_pilot *out, const broad_model *model)
{
    static const char *const names[] = {"mix", "dense", "difference", "sparse"};
    if (!out || !model) return broad__missing_argument("broad_model_pilot");
    int status = broad__struct_check(out, sizeof *out, "broad_pilot");
    if (status < 0) return status;
    broad_pilot full = {.known = model->pilot[0] > 0, .chosen = (size_t)model->style};
    for (size_t i = 0; i < BROAD_PILOT_STYLES; i++) {
        full.styles[i].name = names[i];
        full.styles[i].error = model->pilot[i];
    }
    if (full.chosen >= pilot_room(out)) full.known = 0, full.chosen = 0;
    broad__result_give(out, &full, sizeof full);
    return BROAD_OK;
}
