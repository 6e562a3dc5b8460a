#include "store/describe.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "base/enum_names.h"
#include "base/memory.h"
#include "base/status.h"
#include "model/normal.h"
#include "model/predict/estimate.h"
#include "rng/philox.h"
#include "store/fields.h"

#define WHOLE_MAX 0x1p40 /* far above any count, and sums of counts still fit */
#define INDEX_MAX 65535  /* of a range or a draw: 16 bits of the counter */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { WHERE_BYTES = 40 };

#define COUNT(name, type, member, least) name, BROAD__FIELD_COUNT, offsetof(type, member), 0, NULL, least, WHOLE_MAX
#define INDEX(name, type, member) name, BROAD__FIELD_COUNT, offsetof(type, member), 0, NULL, 0, INDEX_MAX
#define CHOICE(name, type, member, words) name, BROAD__FIELD_CHOICE, offsetof(type, member), 0, words, 0, 0
#define NUMBER(name, type, member, ...) name, BROAD__FIELD_NUMBER, offsetof(type, member), 0, NULL, __VA_ARGS__
#define PLAIN(name, kind, type, member) name, kind, offsetof(type, member), 0, NULL, 0, 0
#define ELSEWHERE(name) name, BROAD__FIELD_ELSEWHERE, 0, 0, NULL, 0, 0
#define ANY -DBL_MAX, DBL_MAX
#define NOT_NEGATIVE 0, DBL_MAX
#define ABOVE_ZERO DBL_TRUE_MIN, DBL_MAX

/* Left out on purpose: threads, progress and the number of layers asked for. A model grown later must equal one made at
 * once, by any number of threads. */
static const broad__field setting_fields[] = {
    {CHOICE("kind", broad_options, kind, BROAD__KINDS)},
    {CHOICE("preset", broad_options, preset, BROAD__PRESETS)},
    {PLAIN("seed", BROAD__FIELD_SEED, broad_options, seed)},
    {"features", BROAD__FIELD_PAIR, offsetof(broad_options, feature_groups), offsetof(broad_options, feature_nodes),
     NULL, 0, WHOLE_MAX},
    {PLAIN("features_auto", BROAD__FIELD_FLAG, broad_options, features_auto)},
    {COUNT("enhance_nodes", broad_options, enhance_nodes, 0)},
    {CHOICE("activation", broad_options, activation, BROAD__ACTIVATIONS)},
    {CHOICE("feature_activation", broad_options, feature_activation, BROAD__ACTIVATIONS)},
    {CHOICE("precision", broad_options, precision, BROAD__PRECISIONS)},
    {CHOICE("scale", broad_options, scale, BROAD__SCALES)},
    {CHOICE("scale_target", broad_options, scale_target, BROAD__SCALES)},
    {PLAIN("lambda_auto", BROAD__FIELD_FLAG, broad_options, lambda_auto)},
    {NUMBER("lambda", broad_options, lambda, NOT_NEGATIVE)},
    {PLAIN("range_auto", BROAD__FIELD_FLAG, broad_options, range_auto)},
    {NUMBER("range", broad_options, range, ABOVE_ZERO)},
    {CHOICE("range_unit", broad_options, range_unit, BROAD__RANGE_UNITS)},
    {CHOICE("supervise", broad_options, supervise, BROAD__SUPERVISIONS)},
    {CHOICE("gamma_form", broad_options, gamma_form, BROAD__GAMMA_FORMS)},
    {"gamma", BROAD__FIELD_LIST, offsetof(broad_options, gamma), offsetof(broad_options, gamma_count), NULL, ANY},
    {COUNT("tries", broad_options, tries, 0)},
    {"range_steps", BROAD__FIELD_LIST, offsetof(broad_options, range_steps), offsetof(broad_options, range_steps_count),
     NULL, ABOVE_ZERO},
    {NUMBER("relax", broad_options, relax, 0, 1)},
    {COUNT("relax_count", broad_options, relax_count, 0)},
    {CHOICE("select", broad_options, select, BROAD__SELECTIONS)},
    {CHOICE("weights", broad_options, weights, BROAD__WEIGHTS)},
    {COUNT("window", broad_options, window, 1)},
    {CHOICE("loo", broad_options, loo, BROAD__LOOS)},
    {CHOICE("feature_weights", broad_options, feature_weights, BROAD__FEATURE_WEIGHTS)},
    {NUMBER("sparse_lambda", broad_options, sparse_lambda, NOT_NEGATIVE)},
    {COUNT("sparse_steps", broad_options, sparse_steps, 1)},
    {NUMBER("penalty", broad_options, penalty, NOT_NEGATIVE)},
    {CHOICE("metric", broad_options, metric, BROAD__LEARNEDS)},
    {CHOICE("effort", broad_options, effort, BROAD__EFFORTS)},
};
enum { SETTING_LATER = 3 }; /* the last ones: version 0.1 did not write them */

static const broad__field model_fields[] = {
    {ELSEWHERE("seed_map")},
    {CHOICE("task", broad_model, task, BROAD__TASKS)},
    {COUNT("inputs", broad_model, inputs, 1)},
    {COUNT("outputs", broad_model, outputs, 1)},
    {PLAIN("named", BROAD__FIELD_FLAG, broad_model, named)},
    {PLAIN("target_name", BROAD__FIELD_TEXT_OR_NULL, broad_model, target_name)},
    {PLAIN("group_name", BROAD__FIELD_TEXT_OR_NULL, broad_model, group_name)},
    {PLAIN("weight_name", BROAD__FIELD_TEXT_OR_NULL, broad_model, weight_name)},
    {COUNT("positive", broad_model, positive, 0)},
    {CHOICE("missing", broad_model, missing, BROAD__MISSINGS)},
    {CHOICE("style", broad_model, style, BROAD__STYLES)},
    {NUMBER("exponent", broad_model, exponent, -100, 100)},
    {NUMBER("pilot_mix", broad_model, pilot[BROAD__STYLE_MIX], NOT_NEGATIVE)},
    {NUMBER("pilot_dense", broad_model, pilot[BROAD__STYLE_DENSE], NOT_NEGATIVE)},
    {NUMBER("pilot_difference", broad_model, pilot[BROAD__STYLE_DIFFERENCE], NOT_NEGATIVE)},
    {NUMBER("range", broad_model, range, ABOVE_ZERO)},
    {CHOICE("outcome", broad_model, outcome, BROAD__OUTCOMES)},
    {PLAIN("reason", BROAD__FIELD_TEXT, broad_model, reason)},
    {COUNT("rows", broad_model, rows, 1)},
    {NUMBER("split_holdout", broad_model, split_holdout, 0, 1)},
    {PLAIN("split_seed", BROAD__FIELD_SEED, broad_model, split_seed)},
    {NUMBER("first_norm", broad_model, first_norm, NOT_NEGATIVE)},
    {ELSEWHERE("photo")},
    {ELSEWHERE("settings")},
    {ELSEWHERE("input_names")},
    {ELSEWHERE("output_names")},
    {ELSEWHERE("categories")},
    {ELSEWHERE("segments")},
    {ELSEWHERE("groups")},
    {ELSEWHERE("layers")},
    {ELSEWHERE("estimate")},
    {ELSEWHERE("joint")},
    {ELSEWHERE("class_weights")},
    {COUNT("normal", broad_model, normal, 0)},
    {CHOICE("normal_from", broad_model, normal_from, BROAD__NORMALS_FROM)},
    {NUMBER("photo_limit", broad_model, projection.limit, NOT_NEGATIVE)},
    {ELSEWHERE("sources")},
    {ELSEWHERE("forms")},
    {ELSEWHERE("columns")},
    {COUNT("importance", broad_model, importance_columns, 0)},
    {NUMBER("pilot_sparse", broad_model, pilot[BROAD__STYLE_SPARSE], NOT_NEGATIVE)},
    {PLAIN("metric", BROAD__FIELD_FLAG, broad_model, has_root)},
    {NUMBER("optimism", broad_model, optimism, NOT_NEGATIVE)},
    {PLAIN("relevance", BROAD__FIELD_FLAG, broad_model, has_relevance)},
};
enum { MODEL_LATER = 11 }; /* the last ones: version 0.1 did not write them */

static const broad__field category_fields[] = {
    {PLAIN("name", BROAD__FIELD_TEXT, broad__category, name)},
    {COUNT("first", broad__category, first, 0)},
    {ELSEWHERE("levels")},
};

static const broad__field form_fields[] = {
    {COUNT("input", broad__formed, input, 0)},
    {CHOICE("form", broad__formed, form, BROAD__FORMS)},
};

static const broad__field place_fields[] = {
    {CHOICE("role", broad__place, role, BROAD__ROLES)},
    {COUNT("first", broad__place, first, 0)},
    {COUNT("count", broad__place, count, 1)},
};

static const broad__field segment_fields[] = {
    {COUNT("rows", broad__segment, rows, 1)},
    {NUMBER("weight", broad__segment, weight, BROAD__SEGMENT_WEIGHT_MIN, BROAD__SEGMENT_WEIGHT_MAX)},
    {PLAIN("fingerprint", BROAD__FIELD_HASH, broad__segment, fingerprint)},
};

static const broad__field group_fields[] = {
    {CHOICE("source", broad__group, source, BROAD__WEIGHT_SOURCES)},
    {COUNT("nodes", broad__group, nodes, 1)},
    {INDEX("step", broad__group, step)},
    {NUMBER("range", broad__group, range, ABOVE_ZERO)},
};

static const broad__field layer_fields[] = {
    {COUNT("inputs", broad__layer, inputs, 1)},
    {COUNT("nodes", broad__layer, nodes, 1)},
    {COUNT("first_group", broad__layer, first_group, 0)},
    {COUNT("groups", broad__layer, groups, 0)},
    {COUNT("width", broad__layer, width, 1)},
    {CHOICE("origin", broad__layer, certificate.origin, BROAD__ORIGINS)},
    {CHOICE("test", broad__layer, certificate.test, BROAD__SUPERVISIONS)},
    {COUNT("first_row", broad__layer, certificate.first_row, 0)},
    {COUNT("rows", broad__layer, certificate.rows, 1)},
    {NUMBER("gamma", broad__layer, certificate.gamma, ANY)},
    {NUMBER("mu", broad__layer, certificate.mu, ANY)},
    {NUMBER("bound", broad__layer, certificate.bound, ANY)},
    {NUMBER("norm_before", broad__layer, certificate.norm_before, NOT_NEGATIVE)},
    {NUMBER("norm_after", broad__layer, certificate.norm_after, NOT_NEGATIVE)},
    {NUMBER("ratio", broad__layer, certificate.ratio, NOT_NEGATIVE)},
    {NUMBER("tested", broad__layer, certificate.tested, NOT_NEGATIVE)},
    {NUMBER("lambda", broad__layer, certificate.lambda, NOT_NEGATIVE)},
    {NUMBER("range", broad__layer, certificate.range, ABOVE_ZERO)},
    {INDEX("step", broad__layer, certificate.step)},
    {INDEX("draw", broad__layer, certificate.draw)},
    {COUNT("tries", broad__layer, certificate.tries, 0)},
    {COUNT("relaxed", broad__layer, certificate.relaxed, 0)},
    {PLAIN("passed", BROAD__FIELD_FLAG, broad__layer, certificate.passed)},
    {PLAIN("solved_again", BROAD__FIELD_FLAG, broad__layer, certificate.solved_again)},
    {PLAIN("output_hash", BROAD__FIELD_HASH, broad__layer, certificate.weights)},
    {NUMBER("df_before", broad__layer, certificate.df_before, NOT_NEGATIVE)},
    {NUMBER("df", broad__layer, certificate.df, NOT_NEGATIVE)},
    {NUMBER("score", broad__layer, certificate.score, NOT_NEGATIVE)},
    {NUMBER("penalty", broad__layer, certificate.penalty, NOT_NEGATIVE)},
    {COUNT("probes", broad__layer, certificate.probes, 0)},
};
enum { LAYER_LATER = 5 };

/* The calibration and the residuals are tensors. */
static const broad__field class_estimate_fields[] = {
    {COUNT("rows", broad__estimate, rows, 1)},
    {NUMBER("accuracy", broad__estimate, accuracy, 0, 1)},
    {NUMBER("brier", broad__estimate, brier, 0, 2)},
    {NUMBER("calibration_error", broad__estimate, calibration_error, 0, 1)},
};

static const broad__field value_estimate_fields[] = {
    {COUNT("rows", broad__estimate, rows, 1)},
    {NUMBER("rmse", broad__estimate, rmse, NOT_NEGATIVE)},
    {NUMBER("mae", broad__estimate, mae, NOT_NEGATIVE)},
    {NUMBER("r2", broad__estimate, r2, -DBL_MAX, 1)},
    {"residuals", BROAD__FIELD_COUNT, offsetof(broad__estimate, residual_count), 0, NULL, 1, BROAD__RESIDUALS_MAX},
};

static const broad__field photo_fields[] = {
    {"version", BROAD__FIELD_COUNT, offsetof(broad__photo_spec, version), 0, NULL, BROAD__MAPS_VERSION,
     BROAD__MAPS_VERSION},
    {"maps", BROAD__FIELD_COUNT, offsetof(broad__photo_spec, maps), 0, NULL, 1, BROAD_PHOTO_MAP_ALL},
    {"side", BROAD__FIELD_COUNT, offsetof(broad__photo_spec, side), 0, NULL, 1, BROAD__PIXELS_MOST},
    {CHOICE("crop", broad__photo_spec, crop, BROAD__CROPS)},
    {PLAIN("each_box", BROAD__FIELD_FLAG, broad__photo_spec, each_box)},
    {COUNT("components", broad__photo_spec, components, 0)},
    {"augment", BROAD__FIELD_COUNT, offsetof(broad__photo_spec, augment), 0, NULL, 0, BROAD__COPIES_MOST},
};

static const broad__field source_fields[] = {
    {PLAIN("path", BROAD__FIELD_TEXT, broad__trained_file, path)},
    {PLAIN("labels", BROAD__FIELD_TEXT_OR_NULL, broad__trained_file, labels)},
    {COUNT("rows", broad__trained_file, rows, 0)},
    {ELSEWHERE("photos")},
};

static const broad__field source_photo_fields[] = {
    {PLAIN("file", BROAD__FIELD_TEXT, broad__trained_photo, file)},
    {PLAIN("content", BROAD__FIELD_HASH, broad__trained_photo, content)},
    {COUNT("rows", broad__trained_photo, rows, 1)},
    {PLAIN("held_out", BROAD__FIELD_FLAG, broad__trained_photo, held_out)},
    {COUNT("class", broad__trained_photo, target, 0)},
};

static const broad__field joint_fields[] = {
    {NUMBER("lambda", broad__joint_record, lambda, NOT_NEGATIVE)},
    {NUMBER("norm", broad__joint_record, norm, NOT_NEGATIVE)},
    {PLAIN("output_hash", BROAD__FIELD_HASH, broad__joint_record, weights)},
};

/* An array of structs: what one element is called in messages, its size and its table. */
typedef struct list_form {
    const char *key, *element;
    size_t element_bytes;
    const broad__field *fields;
    size_t field_count;
    size_t later; /* of the last fields: version 0.1 did not write them */
} list_form;

static const list_form category_list = {
    "categories", "category", sizeof(broad__category), category_fields, COUNT_OF(category_fields), 0};
static const list_form form_list = {"forms", "form", sizeof(broad__formed), form_fields, COUNT_OF(form_fields), 0};
static const list_form place_list = {"columns", "columns", sizeof(broad__place), place_fields, COUNT_OF(place_fields),
                                     0};
static const list_form segment_list = {
    "segments", "segment", sizeof(broad__segment), segment_fields, COUNT_OF(segment_fields), 0};
static const list_form group_list = {"groups", "group", sizeof(broad__group), group_fields, COUNT_OF(group_fields), 0};
static const list_form layer_list = {"layers",   "layer", sizeof(broad__layer), layer_fields, COUNT_OF(layer_fields),
                                     LAYER_LATER};

static const list_form source_list = {
    "sources", "source", sizeof(broad__trained_file), source_fields, COUNT_OF(source_fields), 0};
static const list_form source_photo_list = {
    "photos", "photo", sizeof(broad__trained_photo), source_photo_fields, COUNT_OF(source_photo_fields), 0};

static void where_print(char out[WHERE_BYTES], const char *element, size_t index)
{
    snprintf(out, WHERE_BYTES, "%s %zu", element, index + 1);
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

/* The new array or object belongs to `object` at once, so that a failure later on frees it. */
static json_t *child(json_t *object, const char *key, json_t *fresh)
{
    return json_object_set_new(object, key, fresh) == 0 ? fresh : NULL;
}

static int list_write(json_t *object, const list_form *form, const void *elements, size_t count)
{
    json_t *list = child(object, form->key, json_array());
    for (size_t i = 0; i < count && list; i++) {
        char where[WHERE_BYTES];
        where_print(where, form->element, i);
        json_t *item = json_object();
        if (json_array_append_new(list, item) != 0) return broad__json_fail_memory();
        int status = broad__fields_encode(item, (const char *)elements + i * form->element_bytes, form->fields,
                                          form->field_count, where);
        if (status) return status;
    }
    return list ? BROAD_OK : broad__json_fail_memory();
}

static int names_write(json_t *object, const char *key, char *const *names, size_t count)
{
    json_t *list = child(object, key, json_array());
    for (size_t i = 0; i < count && list; i++)
        if (json_array_append_new(list, broad__text_encode(names[i])) != 0) list = NULL;
    return list ? BROAD_OK : broad__json_fail_memory();
}

static int estimate_write(json_t *object, const broad_model *model)
{
    const broad__estimate *estimate = &model->estimate;
    int classify = model->task == BROAD_TASK_CLASSIFY;
    json_t *fields = child(object, "estimate", estimate->rows ? json_object() : json_null());
    if (!fields) return broad__json_fail_memory();
    if (!estimate->rows) return BROAD_OK;
    int status =
        broad__fields_encode(fields, estimate, classify ? class_estimate_fields : value_estimate_fields,
                             classify ? COUNT_OF(class_estimate_fields) : COUNT_OF(value_estimate_fields), "estimate");
    if (!status && estimate->detailed && !child(fields, "details", json_true())) return broad__json_fail_memory();
    if (!status && estimate->limited && !child(fields, "limits", json_true())) return broad__json_fail_memory();
    if (!status && estimate->spread_count && !child(fields, "spread", json_integer((json_int_t)estimate->spread_count)))
        return broad__json_fail_memory();
    return status;
}

static int joint_write(json_t *object, const broad__joint_record *joint)
{
    json_t *record = child(object, "joint", joint->present ? json_object() : json_null());
    if (!record) return broad__json_fail_memory();
    return joint->present ? broad__fields_encode(record, joint, joint_fields, COUNT_OF(joint_fields), "joint")
                          : BROAD_OK;
}

static int photo_write(json_t *object, const broad__photo_spec *photo)
{
    json_t *record = child(object, "photo", photo->maps ? json_object() : json_null());
    if (!record) return broad__json_fail_memory();
    return photo->maps ? broad__fields_encode(record, photo, photo_fields, COUNT_OF(photo_fields), "photo") : BROAD_OK;
}

static int categories_write(json_t *object, const broad__categories *categories)
{
    int status = list_write(object, &category_list, categories->items, categories->count);
    const json_t *list = json_object_get(object, category_list.key);
    for (size_t i = 0; i < categories->count && !status; i++) {
        const broad__category *category = &categories->items[i];
        status = names_write(json_array_get(list, i), "levels", category->levels, category->count);
    }
    return status;
}

static int sources_write(json_t *object, const broad__trained_files *sources)
{
    if (!sources->count) return BROAD_OK;
    int status = list_write(object, &source_list, sources->items, sources->count);
    const json_t *list = json_object_get(object, source_list.key);
    for (size_t i = 0; i < sources->count && !status; i++)
        status = list_write(json_array_get(list, i), &source_photo_list, sources->items[i].photos,
                            sources->items[i].photo_count);
    return status;
}

static int model_write(json_t *object, const broad_model *model)
{
    if (json_object_set_new(object, "seed_map", json_integer((json_int_t)model->seed_map)) != 0)
        return broad__json_fail_memory();
    int status = broad__fields_encode(object, model, model_fields, COUNT_OF(model_fields), "model");
    if (status) return status;
    json_t *settings = child(object, "settings", json_object());
    if (!settings) return broad__json_fail_memory();
    status = broad__fields_encode(settings, &model->settings, setting_fields, COUNT_OF(setting_fields), "settings");
    if (!status) status = names_write(object, "input_names", model->input_names, model->inputs);
    if (!status) status = names_write(object, "output_names", model->output_names, model->outputs);
    if (!status) status = categories_write(object, &model->categories);
    if (!status) status = list_write(object, &form_list, model->forms.items, model->forms.count);
    if (!status && model->places.count)
        status = list_write(object, &place_list, model->places.items, model->places.count);
    if (!status) status = list_write(object, &segment_list, model->segments, model->segment_count);
    if (!status) status = list_write(object, &group_list, model->groups, model->group_count);
    if (!status) status = list_write(object, &layer_list, model->layers, model->layer_count);
    if (!status) status = estimate_write(object, model);
    if (!status) status = joint_write(object, &model->joint);
    if (!status) status = photo_write(object, &model->photo);
    if (!status) status = sources_write(object, &model->sources);
    if (!status && !child(object, "class_weights", json_boolean(model->class_weights != NULL)))
        status = broad__json_fail_memory();
    return status;
}

int broad__describe(char **out, const broad_model *model)
{
    size_t bytes = 0;
    json_t *object = json_object();
    int status = object ? model_write(object, model) : broad__json_fail_memory();
    if (!status) status = broad__json_text(out, &bytes, object);
    json_decref(object);
    return status;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* *out and *out_count are set as soon as there is an array, so that the model's free finds it. */
static int list_read(void *out, size_t *out_count, const list_form *form, const json_t *object)
{
    const json_t *list = json_object_get(object, form->key);
    size_t count = json_array_size(list);
    if (!json_is_array(list)) return broad__fail(BROAD_BAD_MODEL, "model: %s is not a list", form->key);
    char *elements = broad__alloc_array(count, form->element_bytes);
    if (!elements) return BROAD_NO_MEMORY;
    memcpy(out, &elements, sizeof elements);
    *out_count = count;
    int status = BROAD_OK;
    for (size_t i = 0; i < count && !status; i++) {
        char where[WHERE_BYTES];
        where_print(where, form->element, i);
        status = broad__fields_decode_later(elements + i * form->element_bytes, json_array_get(list, i), form->fields,
                                            form->field_count, form->later, where);
    }
    return status;
}

static int names_read(char ***out, const char *key, const json_t *object, size_t count)
{
    const json_t *list = json_object_get(object, key);
    if (!json_is_array(list) || json_array_size(list) != count)
        return broad__fail(BROAD_BAD_MODEL, "model: %s is not a list of %zu names", key, count);
    char **names = *out = broad__alloc_array(count, sizeof *names);
    if (!names) return BROAD_NO_MEMORY;
    int status = BROAD_OK;
    for (size_t i = 0; i < count && !status; i++) {
        char name[WHERE_BYTES];
        where_print(name, "name", i);
        status = broad__text_decode(&names[i], json_array_get(list, i), key, name);
    }
    return status;
}

/* A field that files may lack: taken out of the others. */
static int mark_take(int *out, json_t *fields, const char *name)
{
    const json_t *mark = json_object_get(fields, name);
    if (mark && !json_is_boolean(mark)) return broad__fail(BROAD_BAD_MODEL, "estimate: %s is not true or false", name);
    *out = json_is_true(mark);
    json_object_del(fields, name);
    return BROAD_OK;
}

static int spread_take(broad_model *out, json_t *fields)
{
    const json_t *knots = json_object_get(fields, "spread");
    json_int_t count = json_integer_value(knots);
    if (knots && (!json_is_integer(knots) || count < 1 || count > BROAD__SPREAD_MOST))
        return broad__fail(BROAD_BAD_MODEL, "estimate: spread is not a whole number from 1 to %d", BROAD__SPREAD_MOST);
    out->estimate.spread_count = (size_t)count;
    json_object_del(fields, "spread");
    return mark_take(&out->estimate.limited, fields, "limits");
}

/* Null: the model has none. Models of 0.1 have no details, no spread and no limits; those of classes never have the last
 * two. */
static int estimate_read(broad_model *out, const json_t *object)
{
    int classify = out->task == BROAD_TASK_CLASSIFY;
    json_t *record = json_object_get(object, "estimate");
    if (json_is_null(record)) return BROAD_OK;
    if (!record) return broad__fail(BROAD_BAD_MODEL, "model: estimate is missing");
    json_t *fields = json_copy(record);
    /* A copy that has lost members tells nothing of it. */
    if (!fields || json_object_size(fields) != json_object_size(record)) {
        json_decref(fields);
        return broad__json_fail_memory();
    }
    int status = mark_take(&out->estimate.detailed, fields, "details");
    if (!status && !classify) status = spread_take(out, fields);
    if (!status)
        status = broad__fields_decode(&out->estimate, fields, classify ? class_estimate_fields : value_estimate_fields,
                                      classify ? COUNT_OF(class_estimate_fields) : COUNT_OF(value_estimate_fields),
                                      "estimate");
    json_decref(fields);
    return status;
}

static int joint_read(broad__joint_record *out, const json_t *object)
{
    const json_t *record = json_object_get(object, "joint");
    out->present = !json_is_null(record);
    return out->present ? broad__fields_decode(out, record, joint_fields, COUNT_OF(joint_fields), "joint") : BROAD_OK;
}

static int photo_read(broad__photo_spec *out, const json_t *object)
{
    const json_t *record = json_object_get(object, "photo");
    if (json_is_null(record)) return BROAD_OK;
    return broad__fields_decode(out, record, photo_fields, COUNT_OF(photo_fields), "photo");
}

static int categories_read(broad__categories *out, const json_t *object)
{
    int status = list_read(&out->items, &out->count, &category_list, object);
    const json_t *list = json_object_get(object, category_list.key);
    for (size_t i = 0; i < out->count && !status; i++) {
        const json_t *item = json_array_get(list, i);
        size_t count = json_array_size(json_object_get(item, "levels"));
        if (count < 1 || count > BROAD__LEVELS_MAX)
            return broad__fail(BROAD_BAD_MODEL, "category %zu: levels is not a list of 1 to %d names", i + 1,
                               BROAD__LEVELS_MAX);
        out->items[i].count = count;
        status = names_read(&out->items[i].levels, "levels", item, count);
    }
    return status;
}

static int sources_read(broad_model *out, const json_t *object)
{
    broad__trained_files *sources = &out->sources;
    const json_t *list = json_object_get(object, source_list.key);
    if (!list) return BROAD_OK;
    int status = list_read(&sources->items, &sources->count, &source_list, object);
    for (size_t i = 0; i < sources->count && !status; i++) {
        broad__trained_file *source = &sources->items[i];
        status = list_read(&source->photos, &source->photo_count, &source_photo_list, json_array_get(list, i));
        for (size_t k = 0; k < source->photo_count && !status; k++)
            if (source->photos[k].target > out->outputs)
                status =
                    broad__fail(BROAD_BAD_MODEL, "source %zu: photo %zu is of a class that there is not", i + 1, k + 1);
    }
    return status;
}

static int model_read(broad_model *out, int *out_class_weights, const json_t *object)
{
    int status = broad__fields_decode_later(out, object, model_fields, COUNT_OF(model_fields), MODEL_LATER, "model");
    if (status) return status;
    const json_t *map = json_object_get(object, "seed_map");
    if (!json_is_integer(map) || json_integer_value(map) < 1)
        return broad__fail(BROAD_BAD_MODEL, "model: seed_map is not a whole number from 1 up");
    out->seed_map = (size_t)json_integer_value(map);
    out->settings.penalty = 1.4;
    out->settings.metric = BROAD_LEARNED_NO;
    out->settings.effort = BROAD_EFFORT_NORMAL;
    status = broad__fields_decode_later(&out->settings, json_object_get(object, "settings"), setting_fields,
                                        COUNT_OF(setting_fields), SETTING_LATER, "settings");
    if (!status) status = names_read(&out->input_names, "input_names", object, out->inputs);
    if (!status) status = names_read(&out->output_names, "output_names", object, out->outputs);
    if (!status && !json_object_get(object, "normal")) broad__model_guess_normal(out);
    if (!status) status = categories_read(&out->categories, object);
    if (!status && json_object_get(object, form_list.key))
        status = list_read(&out->forms.items, &out->forms.count, &form_list, object);
    if (!status && json_object_get(object, place_list.key))
        status = list_read(&out->places.items, &out->places.count, &place_list, object);
    if (!status) status = list_read(&out->segments, &out->segment_count, &segment_list, object);
    if (!status) status = list_read(&out->groups, &out->group_count, &group_list, object);
    if (!status) status = list_read(&out->layers, &out->layer_count, &layer_list, object);
    if (!status) status = estimate_read(out, object);
    if (!status) status = joint_read(&out->joint, object);
    if (!status) status = photo_read(&out->photo, object);
    if (!status) status = sources_read(out, object);
    const json_t *weighted = json_object_get(object, "class_weights");
    if (!status && !json_is_boolean(weighted))
        status = broad__fail(BROAD_BAD_MODEL, "model: class_weights is not true or false");
    *out_class_weights = json_is_true(weighted);
    out->settings.enhance_layers = out->layer_count;
    return status;
}

int broad__describe_read(broad_model *out, int *out_class_weights, const char *text)
{
    json_t *object = NULL;
    int status = broad__json_parse(&object, text, strlen(text), "the model's description");
    if (!status) status = model_read(out, out_class_weights, object);
    json_decref(object);
    return status;
}
