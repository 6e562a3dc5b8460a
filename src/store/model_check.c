#include "store/model_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/enum_names.h"
#include "base/memory.h"
#include "base/status.h"
#include "model/kind.h"
#include "model/relevance.h"

static int check_names(char *const *names, size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++)
        if (!names[i] || !names[i][0]) return broad__fail(BROAD_BAD_MODEL, "%s: name %zu is empty", what, i + 1);
    return BROAD_OK;
}

static int compare_texts(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static int check_classes(const broad_model *model)
{
    size_t count = model->outputs;
    if (count < 2) return broad__fail(BROAD_BAD_MODEL, "a classification with %zu class", count);
    if (model->positive >= count)
        return broad__fail(BROAD_BAD_MODEL, "the positive class is number %zu of %zu, from 0", model->positive, count);
    if (model->normal >= count)
        return broad__fail(BROAD_BAD_MODEL, "the normal class is number %zu of %zu, from 0", model->normal, count);
    char **sorted = broad__alloc_array(count, sizeof *sorted);
    if (!sorted) return BROAD_NO_MEMORY;
    memcpy(sorted, model->output_names, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_texts);
    int status = BROAD_OK;
    for (size_t i = 1; i < count && !status; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            status = broad__fail(BROAD_BAD_MODEL, "two classes are called '%.60s'", sorted[i]);
    broad__free(sorted);
    return status;
}

static int check_photo(const broad_model *model)
{
    const broad__photo_spec *photo = &model->photo;
    if (model->projection.limit > 0 && !photo->components)
        return broad__fail(BROAD_BAD_MODEL, "model: a photo_limit without components of photos");
    if (!photo->maps) return BROAD_OK;
    if (photo->crop == BROAD__CROP_FIND)
        return broad__fail(BROAD_BAD_MODEL, "photo: %s, and train the model again", BROAD__FINDER_REMOVED);
    if (photo->crop == BROAD_CROP_MODEL) return broad__fail(BROAD_BAD_MODEL, "photo: crop is 'model'");
    if (photo->components > broad__photo_inputs(photo))
        return broad__fail(BROAD_BAD_MODEL, "photo: %zu components of %zu inputs", photo->components,
                           broad__photo_inputs(photo));
    if (broad__photo_columns(photo) != model->inputs)
        return broad__fail(BROAD_BAD_MODEL, "photo: its maps give %zu inputs, the model has %zu",
                           broad__photo_columns(photo), model->inputs);
    return BROAD_OK;
}

/* Input "name=level" stands for that level. */
static int names_level(const char *input, const char *name, const char *level)
{
    size_t length = strlen(name);
    return strncmp(input, name, length) == 0 && input[length] == '=' && strcmp(input + length + 1, level) == 0;
}

/* One after the other, inside the inputs, each input with the name of its level. */
static int check_forms(const broad_model *model)
{
    for (size_t i = 0; i < model->forms.count; i++) {
        size_t input = model->forms.items[i].input;
        if (input >= model->inputs || (i && input <= model->forms.items[i - 1].input))
            return broad__fail(BROAD_BAD_MODEL, "form %zu: input %zu of %zu is out of range or out of order", i + 1,
                               input, model->inputs);
    }
    return BROAD_OK;
}

static int check_categories(const broad_model *model)
{
    size_t next = 0;
    for (size_t i = 0; i < model->categories.count; i++) {
        const broad__category *category = &model->categories.items[i];
        if (category->first < next || category->first > model->inputs ||
            category->count > model->inputs - category->first)
            return broad__fail(BROAD_BAD_MODEL, "category %zu: inputs %zu to %zu of %zu are not free for it", i + 1,
                               category->first + 1, category->first + category->count, model->inputs);
        int status = check_names(category->levels, category->count, "levels");
        if (status) return status;
        for (size_t l = 0; l < category->count; l++) {
            const char *input = model->input_names[category->first + l];
            if (!names_level(input, category->name, category->levels[l]))
                return broad__fail(BROAD_BAD_MODEL, "category %zu: input '%.60s' is not its level '%.60s'", i + 1,
                                   input, category->levels[l]);
        }
        next = category->first + category->count;
    }
    return BROAD_OK;
}

static int fail_columns(size_t place)
{
    return broad__fail(BROAD_BAD_MODEL, "columns %zu: they do not go with the columns before them or with the model",
                       place + 1);
}

/* The inputs one after the other, each target once, at most one group and one column of weights. */
static int check_place(size_t seen[BROAD__ROLE_CATEGORY], unsigned char *targets, size_t target_count,
                       const broad__place *place)
{
    size_t before = seen[place->role];
    seen[place->role] += place->count;
    if (place->role == BROAD__ROLE_IGNORED) return 1;
    if (place->role == BROAD__ROLE_INPUT) return place->first == before;
    if (place->role != BROAD__ROLE_TARGET) return before == 0 && place->count == 1;
    if (place->first > target_count || place->count > target_count - place->first) return 0;
    for (size_t t = 0; t < place->count; t++)
        if (targets[place->first + t]++) return 0;
    return 1;
}

/* All inputs, all targets or none, no more columns than can be read. */
static int check_places(const broad_model *model)
{
    const broad__places *places = &model->places;
    size_t targets = model->task == BROAD_TASK_CLASSIFY ? 1 : model->outputs, seen[BROAD__ROLE_CATEGORY] = {0};
    if (!places->count) return BROAD_OK;
    unsigned char *met = broad__alloc(targets);
    if (!met) return BROAD_NO_MEMORY;
    int status = BROAD_OK;
    for (size_t i = 0; i < places->count && !status; i++)
        if (!check_place(seen, met, targets, &places->items[i])) status = fail_columns(i);
    broad__free(met);
    if (status) return status;
    int whole = seen[BROAD__ROLE_INPUT] == broad__categories_columns(&model->categories, model->inputs) &&
                (!seen[BROAD__ROLE_TARGET] || seen[BROAD__ROLE_TARGET] == targets);
    if (whole && broad__places_width(places) <= BROAD__COLUMNS_MAX) return BROAD_OK;
    return broad__fail(BROAD_BAD_MODEL, "columns: they are not those of a file with the inputs of the model");
}

static int check_rows(const broad_model *model)
{
    size_t rows = 0;
    for (size_t i = 0; i < model->segment_count; i++) rows += model->segments[i].rows;
    if (rows != model->rows)
        return broad__fail(BROAD_BAD_MODEL, "%zu training rows, but %zu in the segments", model->rows, rows);
    if (model->split_holdout >= 1) return broad__fail(BROAD_BAD_MODEL, "a split that keeps all rows apart");
    return BROAD_OK;
}

/* What has been seen of the groups while going through the layers in order. */
typedef struct group_walk {
    size_t seen, nodes; /* groups that some layer up to here could read, and their nodes */
    size_t next;        /* first group whose nodes are not yet columns of a layer        */
} group_walk;

/* A layer reads the nodes of the first groups, all that were there when it was made; later layers never read fewer. */
static int check_layer_inputs(group_walk *walk, const broad_model *model, const broad__layer *layer, size_t number)
{
    while (walk->seen < model->group_count && walk->nodes < layer->inputs)
        walk->nodes += model->groups[walk->seen++].nodes;
    if (walk->nodes == layer->inputs) return BROAD_OK;
    return broad__fail(BROAD_BAD_MODEL, "layer %zu: it reads %zu feature nodes, which no number of groups has", number,
                       layer->inputs);
}

/* Its columns: the nodes of groups that no earlier layer took, then its own. */
static int check_layer_width(group_walk *walk, const broad_model *model, const broad__layer *layer, size_t number)
{
    size_t width = layer->nodes;
    if (layer->first_group > walk->seen || layer->groups > walk->seen - layer->first_group ||
        (layer->groups && layer->first_group < walk->next))
        return broad__fail(BROAD_BAD_MODEL, "layer %zu: groups %zu to %zu are not there to be used", number,
                           layer->first_group + 1, layer->first_group + layer->groups);
    for (size_t i = 0; i < layer->groups; i++) width += model->groups[layer->first_group + i].nodes;
    if (layer->groups) walk->next = layer->first_group + layer->groups;
    if (width == layer->width) return BROAD_OK;
    return broad__fail(BROAD_BAD_MODEL, "layer %zu: its width is %zu where its nodes make %zu", number, layer->width,
                       width);
}

/* Degrees of freedom and score go with the test on them, and with no other. */
static int check_score(const broad_model *model, const broad__certificate *c, size_t number)
{
    int scored = c->test == BROAD_SUPERVISE_GCV;
    if (!scored && (c->df_before != 0 || c->df != 0 || c->score != 0 || c->penalty != 0 || c->probes))
        return broad__fail(BROAD_BAD_MODEL, "layer %zu: it has a score, and was not tested by one", number);
    if (scored && c->penalty != model->settings.penalty)
        return broad__fail(BROAD_BAD_MODEL, "layer %zu: its penalty is %.9g, that of the settings %.9g", number,
                           c->penalty, model->settings.penalty);
    return BROAD_OK;
}

static int check_layers(const broad_model *model)
{
    group_walk walk = {0};
    int status = BROAD_OK;
    for (size_t i = 0; i < model->layer_count && !status; i++) {
        const broad__layer *layer = &model->layers[i];
        status = check_layer_inputs(&walk, model, layer, i + 1);
        if (!status) status = check_layer_width(&walk, model, layer, i + 1);
        const broad__certificate *c = &layer->certificate;
        if (!status && (c->rows > model->rows || c->first_row > model->rows - c->rows))
            status = broad__fail(BROAD_BAD_MODEL, "layer %zu: fitted to %zu of %zu rows, from row %zu", i + 1, c->rows,
                                 model->rows, c->first_row + 1);
        if (!status) status = check_score(model, c, i + 1);
    }
    return status;
}

/* Ranges are numbered by the list of multiples in the settings. */
static int check_steps(const broad_model *model)
{
    size_t count = model->settings.range_steps_count;
    for (size_t g = 0; g < model->group_count; g++)
        if (model->groups[g].step >= count)
            return broad__fail(BROAD_BAD_MODEL, "group %zu: range number %zu of %zu, from 0", g + 1,
                               model->groups[g].step, count);
    for (size_t j = 0; j < model->layer_count; j++)
        if (model->layers[j].certificate.step >= count)
            return broad__fail(BROAD_BAD_MODEL, "layer %zu: range number %zu of %zu, from 0", j + 1,
                               model->layers[j].certificate.step, count);
    return BROAD_OK;
}

int broad__describe_check(const broad_model *model)
{
    int status = check_names(model->input_names, model->inputs, "input_names");
    if (!status) status = check_names(model->output_names, model->outputs, "output_names");
    if (!status) status = check_categories(model);
    if (!status) status = check_forms(model);
    if (!status) status = check_photo(model);
    if (!status && model->importance_columns &&
        model->importance_columns != broad__categories_columns(&model->categories, model->inputs))
        status = broad__fail(BROAD_BAD_MODEL, "model: importance of %zu columns where there are others",
                             model->importance_columns);
    if (!status && model->task == BROAD_TASK_AUTO) status = broad__fail(BROAD_BAD_MODEL, "model: task is auto");
    if (!status && model->task == BROAD_TASK_CLASSIFY) status = check_classes(model);
    if (!status && model->task == BROAD_TASK_REGRESS && (model->positive != 0 || model->normal != 0))
        status = broad__fail(BROAD_BAD_MODEL, "model: a regression has no %s class",
                             model->positive ? "positive" : "normal");
    if (!status) status = check_places(model);
    if (!status) status = check_rows(model);
    if (!status) status = check_layers(model);
    if (!status) status = check_steps(model);
    return status;
}

/* ---- what the kind allows -------------------------------------------------------------------------------------- */

static int fail_source(const broad_model *model, size_t g, const char *expected)
{
    char source[BROAD__ENUM_BYTES];
    broad__enum_name(source, BROAD__WEIGHT_SOURCES, (int)model->groups[g].source);
    return broad__fail(BROAD_BAD_MODEL, "group %zu: it is %s where the settings make it %s", g + 1, source, expected);
}

/* Feature groups are all drawn or all fitted; a kind without features has the inputs themselves, once. */
static int check_sources(const broad_model *model)
{
    int direct = broad__kind_of(model->settings.kind)->nodes != BROAD__NODES_FEATURES;
    broad__weight_source source = direct ? BROAD__WEIGHT_SOURCE_DIRECT : broad__feature_source(&model->settings);
    char expected[BROAD__ENUM_BYTES];
    broad__enum_name(expected, BROAD__WEIGHT_SOURCES, (int)source);
    /* Drawn nodes that a learned metric turned are stored as sampled ones. */
    int turned = source == BROAD__WEIGHT_SOURCE_DRAWN && model->settings.metric != BROAD_LEARNED_NO;
    for (size_t g = 0; g < model->group_count; g++)
        if (model->groups[g].source != source && !(turned && model->groups[g].source == BROAD__WEIGHT_SOURCE_SAMPLED))
            return fail_source(model, g, expected);
    if (!direct) return BROAD_OK;
    if (model->group_count != 1)
        return broad__fail(BROAD_BAD_MODEL, "%zu groups where this kind has one, the inputs", model->group_count);
    if (model->groups[0].nodes != broad__model_columns(model))
        return broad__fail(BROAD_BAD_MODEL, "group 1: %zu nodes that are the %zu inputs themselves",
                           model->groups[0].nodes, broad__model_columns(model));
    return BROAD_OK;
}

static int check_kind_layer(const broad_model *model, size_t j)
{
    const broad__kind *kind = broad__kind_of(model->settings.kind);
    const broad__layer *layer = &model->layers[j];
    const broad__certificate *c = &layer->certificate;
    if (kind->nodes == BROAD__NODES_HIDDEN && layer->groups)
        return broad__fail(BROAD_BAD_MODEL, "layer %zu: its kind has hidden nodes alone, and here are groups", j + 1);
    if (kind->nodes == BROAD__NODES_LINKED && layer->groups != (j == 0))
        return broad__fail(BROAD_BAD_MODEL, "layer %zu: the inputs are columns of the first layer, and of no other",
                           j + 1);
    int resolved = c->solved_again && c->test == BROAD_SUPERVISE_RESIDUAL;
    if (!(kind->tests >> c->test & 1) && !resolved) {
        char test[BROAD__ENUM_BYTES];
        broad__enum_name(test, BROAD__SUPERVISIONS, (int)c->test);
        return broad__fail(BROAD_BAD_MODEL, "layer %zu: its kind has no test '%s'", j + 1, test);
    }
    return BROAD_OK;
}

/* A metric is learned for feature nodes that are drawn or sampled, and has a matrix where there are few columns. */
static int check_metric(const broad_model *model)
{
    const broad_options *o = &model->settings;
    int features = broad__kind_of(o->kind)->nodes == BROAD__NODES_FEATURES;
    if (!model->has_root && !model->has_relevance) return BROAD_OK;
    if (o->metric == BROAD_LEARNED_NO || !features || o->feature_weights == BROAD_FEATURE_WEIGHTS_AUTOENCODER)
        return broad__fail(BROAD_BAD_MODEL, "model: a learned metric where the settings have none");
    if (model->has_relevance && o->feature_weights == BROAD_FEATURE_WEIGHTS_SAMPLED)
        return broad__fail(BROAD_BAD_MODEL, "model: relevance is true, and sampled nodes have theirs in any case");
    if (model->has_root && broad__model_columns(model) > broad__relevance_columns())
        return broad__fail(BROAD_BAD_MODEL, "model: a metric of %zu columns where %zu are the most",
                           broad__model_columns(model), broad__relevance_columns());
    return BROAD_OK;
}

int broad__describe_check_kind(const broad_model *model, int class_weights)
{
    if (broad__kind_check(&model->settings) < 0) return broad__fail_in(BROAD_BAD_MODEL, "settings");
    int status = check_sources(model);
    if (!status) status = check_metric(model);
    for (size_t j = 0; j < model->layer_count && !status; j++) status = check_kind_layer(model, j);
    if (status) return status;
    if (model->joint.present && !broad__joint_beside(&model->settings))
        return broad__fail(BROAD_BAD_MODEL, "joint: weights of all layers together do not go with these settings");
    if (model->joint.present && !model->layer_count)
        return broad__fail(BROAD_BAD_MODEL, "joint: weights of all layers together where there is no layer");
    if (class_weights && model->task != BROAD_TASK_CLASSIFY)
        return broad__fail(BROAD_BAD_MODEL, "model: a regression has no class weights");
    return BROAD_OK;
}
