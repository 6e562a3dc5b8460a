#include "store/store.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"
#include "model/predict/estimate.h"
#include "model/predict/predictor.h"
#include "rng/philox.h"
#include "store/container.h"
#include "store/describe.h"
#include "store/model_check.h"

/* A compact file may ask for more memory than it has bytes: that is its purpose. The limit on what it may have drawn
 * again keeps a small damaged or hostile file from asking for everything. */
#define DRAWN_FREE 0x1p26 /* 64 MiB: always granted        */
#define DRAWN_PER_BYTE 16384.0
#define DRAWN_MOST 0x1p32 /* 4 GiB: more is never granted  */

static const char weights_stored[] = "stored";
static const char weights_drawn[] = "drawn";

/* ---- tensors of a model ---------------------------------------------------------------------------------------- */

typedef struct tensor_list {
    size_t count;
    broad__tensor *tensors;
} tensor_list;

static void add_vector(tensor_list *list, const char *name, size_t count, double **values)
{
    broad__tensor *tensor = &list->tensors[list->count++];
    *tensor = (broad__tensor){.dims = 1, .shape = {count, 0}, .values = values};
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
}

static void add_matrix(tensor_list *list, const char *name, size_t rows, size_t columns, double **values)
{
    add_vector(list, name, rows, values);
    list->tensors[list->count - 1].dims = 2;
    list->tensors[list->count - 1].shape[1] = columns;
}

static void add_part(tensor_list *list, const char *owner, size_t index, const char *part, size_t rows, size_t columns,
                     double **values)
{
    broad__tensor *tensor = &list->tensors[list->count++];
    *tensor = (broad__tensor){.dims = columns ? 2 : 1, .shape = {rows, columns}, .values = values};
    snprintf(tensor->name, sizeof tensor->name, "%s.%zu.%s", owner, index + 1, part);
}

static void add_estimate(tensor_list *list, broad_model *model)
{
    broad__estimate *estimate = &model->estimate;
    if (!estimate->rows) return;
    if (estimate->detailed)
        add_matrix(list, "estimate.details", model->outputs + 1, BROAD__DETAILS, &estimate->details);
    if (model->task == BROAD_TASK_CLASSIFY) {
        add_vector(list, "estimate.calibration", model->outputs + 1, &estimate->calibration);
        return;
    }
    add_matrix(list, "estimate.residuals", model->outputs, estimate->residual_count, &estimate->residuals);
    if (estimate->spread_count)
        add_matrix(list, "estimate.spread", model->outputs, 2 * estimate->spread_count, &estimate->spread);
    if (estimate->limited) add_matrix(list, "estimate.limits", model->outputs, 2, &estimate->limits);
}

/* What a file has besides the tensors that every file has. */
typedef struct extent {
    int stored;        /* also the weights that the seed draws again */
    int class_weights; /* there are any */
} extent;

/* The inputs themselves have no weights; fitted ones cannot be drawn again. */
static int group_stored(const broad__group *group, extent has)
{
    return group->source == BROAD__WEIGHT_SOURCE_AUTOENCODER || group->source == BROAD__WEIGHT_SOURCE_SAMPLED ||
           (group->source == BROAD__WEIGHT_SOURCE_DRAWN && has.stored);
}

/* The last one, which may be most of the file. */
static void mark_large(tensor_list *list) { list->tensors[list->count - 1].large = 1; }

/* Every tensor in the order of the file. The values point into `model`. */
static int tensors_list(tensor_list *out, broad_model *model, extent has)
{
    tensor_list list = {0};
    list.tensors = broad__alloc_array(18 + 2 * model->group_count + 4 * model->layer_count, sizeof *list.tensors);
    if (!list.tensors) return BROAD_NO_MEMORY;
    if (model->photo.components) {
        add_matrix(&list, "photo.axes", broad__photo_inputs(&model->photo), model->photo.components,
                   &model->projection.axes);
        mark_large(&list);
        add_vector(&list, "photo.shift", model->photo.components, &model->projection.shift);
    }
    if (model->projection.limit > 0) {
        add_vector(&list, "photo.centre", broad__photo_inputs(&model->photo), &model->projection.centre);
        add_vector(&list, "photo.factor", broad__photo_inputs(&model->photo), &model->projection.factor);
        add_vector(&list, "photo.explained", model->photo.components, &model->projection.explained);
    }
    add_vector(&list, "input.shift", broad__model_columns(model), &model->input_shift);
    add_vector(&list, "input.factor", broad__model_columns(model), &model->input_factor);
    add_vector(&list, "input.fill", model->inputs, &model->input_fill);
    if (broad__scaling_knots(model->settings.scale, model->inputs))
        add_vector(&list, "input.knots", broad__scaling_knots(model->settings.scale, model->inputs),
                   &model->input_knots);
    if (model->settings.feature_weights == BROAD_FEATURE_WEIGHTS_SAMPLED || model->has_relevance)
        add_vector(&list, "input.relevance", broad__model_columns(model), &model->relevance);
    if (model->has_root)
        add_matrix(&list, "input.metric", broad__model_columns(model), broad__model_columns(model), &model->root);
    add_vector(&list, "output.shift", model->outputs, &model->output_shift);
    add_vector(&list, "output.factor", model->outputs, &model->output_factor);
    if (has.class_weights) add_vector(&list, "class.weight", model->outputs, &model->class_weights);
    for (size_t i = 0; i < model->group_count; i++) {
        broad__group *group = &model->groups[i];
        if (!group_stored(group, has)) continue;
        add_part(&list, "feature", i, "weight", broad__model_columns(model), group->nodes, &group->weight);
        mark_large(&list);
        add_part(&list, "feature", i, "bias", group->nodes, 0, &group->bias);
    }
    for (size_t j = 0; j < model->layer_count; j++) {
        broad__layer *layer = &model->layers[j];
        if (has.stored) add_part(&list, "layer", j, "weight", layer->inputs, layer->nodes, &layer->weight);
        if (has.stored) mark_large(&list);
        if (has.stored) add_part(&list, "layer", j, "bias", layer->nodes, 0, &layer->bias);
        add_part(&list, "layer", j, "output", layer->width, model->outputs, &layer->output);
        if (model->joint.present) add_part(&list, "layer", j, "joint", layer->width, model->outputs, &layer->joint);
    }
    if (model->importance_columns)
        add_vector(&list, "input.importance", 2 * model->importance_columns + 1, &model->importance);
    add_estimate(&list, model);
    *out = list;
    return BROAD_OK;
}

/* ---- weights that the seed draws again ------------------------------------------------------------------------- */

static int check_drawn_size(const broad_model *model, size_t file_bytes)
{
    double bytes = 0;
    for (size_t i = 0; i < model->group_count; i++)
        if (model->groups[i].source == BROAD__WEIGHT_SOURCE_DRAWN)
            bytes += 8 * ((double)broad__model_columns(model) + 1) * (double)model->groups[i].nodes;
    for (size_t j = 0; j < model->layer_count; j++)
        bytes += 8 * ((double)model->layers[j].inputs + 1) * (double)model->layers[j].nodes;
    double most = fmin(DRAWN_FREE + DRAWN_PER_BYTE * (double)file_bytes, DRAWN_MOST);
    if (bytes <= most) return BROAD_OK;
    return broad__fail(BROAD_BAD_MODEL, "%.0f bytes of weights to be drawn again where %.0f are the most", bytes, most);
}

/* A range that no training uses may draw weights beyond what a double holds. */
static int check_finite(const double *weight, const double *bias, size_t inputs, size_t nodes, const char *what,
                        size_t index)
{
    if (broad__all_within(weight, inputs * nodes, DBL_MAX) && broad__all_within(bias, nodes, DBL_MAX)) return BROAD_OK;
    return broad__fail(BROAD_BAD_MODEL, "%s %zu: the weights that its range draws are not finite", what, index + 1);
}

static int draw_group(broad__group *group, const broad_model *model, size_t index)
{
    size_t inputs = broad__model_columns(model);
    group->weight = broad__alloc_doubles(inputs, group->nodes);
    group->bias = broad__alloc_doubles(group->nodes, 1);
    if (!group->weight || !group->bias) return BROAD_NO_MEMORY;
    broad__group_draw(group, model, index);
    return check_finite(group->weight, group->bias, inputs, group->nodes, "group", index);
}

static int draw_layer(broad__layer *layer, const broad_model *model, size_t index)
{
    layer->weight = broad__alloc_doubles(layer->inputs, layer->nodes);
    layer->bias = broad__alloc_doubles(layer->nodes, 1);
    if (!layer->weight || !layer->bias) return BROAD_NO_MEMORY;
    broad__layer_draw(layer, model, index);
    return check_finite(layer->weight, layer->bias, layer->inputs, layer->nodes, "layer", index);
}

static int draw_all(broad_model *model)
{
    int status = BROAD_OK;
    for (size_t i = 0; i < model->group_count && !status; i++)
        if (model->groups[i].source == BROAD__WEIGHT_SOURCE_DRAWN) status = draw_group(&model->groups[i], model, i);
    for (size_t j = 0; j < model->layer_count && !status; j++) status = draw_layer(&model->layers[j], model, j);
    return status;
}

static int same_bits(const double *a, const double *b, size_t rows, size_t columns)
{
    return memcmp(a, b, rows * columns * sizeof *a) == 0;
}

static int fail_not_drawn(const char *what, size_t index)
{
    return broad__fail(BROAD_BAD_MODEL, "%s %zu: its weights are not those of the seed; save it in full", what,
                       index + 1);
}

/* Nothing may be left out that would not come back with the same bits. */
static int check_drawn_weights(const broad_model *model)
{
    int status = BROAD_OK;
    for (size_t i = 0; i < model->group_count && !status; i++) {
        const broad__group *have = &model->groups[i];
        if (have->source != BROAD__WEIGHT_SOURCE_DRAWN) continue;
        broad__group drawn = {.nodes = have->nodes, .step = have->step, .range = have->range};
        status = draw_group(&drawn, model, i);
        if (!status && (!same_bits(drawn.weight, have->weight, broad__model_columns(model), have->nodes) ||
                        !same_bits(drawn.bias, have->bias, have->nodes, 1)))
            status = fail_not_drawn("group", i);
        broad__group_clear(&drawn);
    }
    for (size_t j = 0; j < model->layer_count && !status; j++) {
        const broad__layer *have = &model->layers[j];
        broad__layer drawn = {.inputs = have->inputs, .nodes = have->nodes, .certificate = have->certificate};
        status = draw_layer(&drawn, model, j);
        if (!status && (!same_bits(drawn.weight, have->weight, have->inputs, have->nodes) ||
                        !same_bits(drawn.bias, have->bias, have->nodes, 1)))
            status = fail_not_drawn("layer", j);
        broad__layer_clear(&drawn);
    }
    return status;
}

static int check_directions(const broad_model *model)
{
    size_t columns = broad__model_columns(model);
    for (size_t j = 0; j < columns && model->relevance; j++)
        if (!(model->relevance[j] >= 0))
            return broad__fail(BROAD_BAD_MODEL, "tensor input.relevance: value %zu is below 0", j + 1);
    for (size_t i = 0; i < columns && model->root; i++)
        for (size_t j = 0; j < i; j++)
            if (model->root[i * columns + j] != model->root[j * columns + i])
                return broad__fail(BROAD_BAD_MODEL, "tensor input.metric: it is not symmetric at %zu, %zu", i + 1,
                                   j + 1);
    return BROAD_OK;
}

/* Predictions are divided by the factors; the weights of rows are multiplied by those of their classes. */
static int check_values(const broad_model *model)
{
    for (size_t i = 0; i < model->outputs; i++)
        if (model->output_factor[i] == 0)
            return broad__fail(BROAD_BAD_MODEL, "tensor output.factor: value %zu is 0", i + 1);
    for (size_t i = 0; i < model->outputs && model->class_weights; i++)
        if (!(model->class_weights[i] > 0))
            return broad__fail(BROAD_BAD_MODEL, "tensor class.weight: value %zu is not above 0", i + 1);
    return check_directions(model);
}

/* What is to be written must be there, and nothing else. */
static int check_blocks(const broad_model *model)
{
    for (size_t i = 0; i < model->group_count; i++) {
        int wanted = model->groups[i].source != BROAD__WEIGHT_SOURCE_DIRECT;
        if ((model->groups[i].weight != NULL) != wanted || (model->groups[i].bias != NULL) != wanted)
            return broad__fail(BROAD_BAD_MODEL, "group %zu: %s", i + 1,
                               wanted ? "it has no weights" : "weights where the inputs themselves are the nodes");
    }
    if ((model->root != NULL) != model->has_root || (model->has_relevance && !model->relevance))
        return broad__fail(BROAD_BAD_MODEL, "the learned metric is not as the description has it");
    for (size_t j = 0; j < model->layer_count; j++)
        if ((model->layers[j].joint != NULL) != model->joint.present)
            return broad__fail(BROAD_BAD_MODEL, "layer %zu: %s", j + 1,
                               model->joint.present ? "it has no joint weights" : "joint weights without their record");
    return BROAD_OK;
}

/* ---- bytes ----------------------------------------------------------------------------------------------------- */

static int encode(void **out, size_t *out_bytes, const broad_model *model, int compact)
{
    broad_model view = *model; /* so that the list may point into it */
    tensor_list list = {0};
    char *text = NULL;
    extent has = {.stored = !compact, .class_weights = model->class_weights != NULL};
    int status = broad__describe_check(model);
    if (!status) status = broad__estimate_check(model);
    if (!status) status = broad__describe(&text, model);
    if (!status) status = broad__describe_check_kind(model, has.class_weights);
    if (!status) status = check_blocks(model);
    if (!status) status = check_values(model);
    if (!status && compact) status = check_drawn_weights(model);
    if (!status) status = tensors_list(&list, &view, has);
    if (!status)
        status = broad__container_encode(out, out_bytes, compact ? weights_drawn : weights_stored, text, list.tensors,
                                         list.count);
    if (!status && compact) {
        status = check_drawn_size(model, *out_bytes);
        if (status) {
            broad__free(*out);
            *out = NULL;
        }
    }
    broad__free(list.tensors);
    broad__free(text);
    return status;
}

int broad__store_encode(void **out, size_t *out_bytes, const broad_model *model, int compact)
{
    *out = NULL;
    int status = encode(out, out_bytes, model, compact);
    return status == BROAD_BAD_MODEL ? broad__fail_in(BROAD_FAILED, "this model cannot be saved") : status;
}

static int check_weights_kind(const broad__container *container, const broad_model *model, size_t file_bytes)
{
    if (strcmp(container->weights, weights_stored) == 0) return BROAD_OK;
    if (strcmp(container->weights, weights_drawn) != 0)
        return broad__fail(BROAD_BAD_MODEL, "__metadata__: weights are '%.40s' where stored or drawn was expected",
                           container->weights);
    if (model->seed_map != BROAD__SEED_MAP)
        return broad__fail(BROAD_BAD_MODEL,
                           "its weights are to be drawn by seed map %zu and this program knows map %d; "
                           "save it in full with the program that made it",
                           model->seed_map, BROAD__SEED_MAP);
    return check_drawn_size(model, file_bytes);
}

/* *out_list: its tensors, for the caller to free, also after a failure. */
static int decode(tensor_list *out_list, broad_model *model, const broad__container *container, size_t file_bytes,
                  broad__in_place in_place)
{
    extent has = {.stored = strcmp(container->weights, weights_stored) == 0};
    int status = broad__describe_read(model, &has.class_weights, container->model);
    if (!status) status = broad__describe_check(model);
    if (!status) status = broad__describe_check_kind(model, has.class_weights);
    if (!status) status = check_weights_kind(container, model, file_bytes);
    if (!status) status = tensors_list(out_list, model, has);
    if (!status) status = broad__container_read(container, out_list->tensors, out_list->count, in_place);
    if (!status) status = broad__estimate_check(model);
    if (!status) status = check_values(model);
    if (!status && !has.stored) status = draw_all(model);
    model->compact = !has.stored;
    return status;
}

/* What lies in the bytes is not the model's to free. */
static void let_go(const tensor_list *list, const broad__borrowed *kept)
{
    for (size_t i = 0; i < list->count; i++)
        if (broad__borrowed_has(kept, *list->tensors[i].values)) *list->tensors[i].values = NULL;
}

/* A model of an open container. data: where weights may lie that are used in place, and which outlives the model. */
static int decode_model(broad_model **out, const broad__container *container, size_t file_bytes,
                        const broad__borrowed *data)
{
    tensor_list list = {0};
    broad_model *model = broad__model_new();
    int status = model
                     ? decode(&list, model, container, file_bytes, data ? BROAD__IN_PLACE_LARGE : BROAD__IN_PLACE_NONE)
                     : BROAD_NO_MEMORY;
    if (status && data) let_go(&list, data);
    broad__free(list.tensors);
    if (status) broad_model_free(model);
    else *out = model;
    return status;
}

int broad__store_decode(broad_model **out, const void *bytes, size_t count)
{
    broad__container container = {0};
    *out = NULL;
    int status = broad__container_open(&container, bytes, count);
    if (status) return status;
    status = decode_model(out, &container, count, NULL);
    broad__container_close(&container);
    return status;
}

int broad__store_predictor(broad_predictor **out, const void *bytes, size_t count)
{
    broad__container container = {0};
    broad__borrowed kept = {bytes, count};
    tensor_list list = {0};
    *out = NULL;
    int status = broad__container_open(&container, bytes, count);
    if (status) return status;
    broad_model *model = broad__model_new();
    status = model ? decode(&list, model, &container, count, BROAD__IN_PLACE_ALL) : BROAD_NO_MEMORY;
    if (!status) status = broad__predictor_make(out, model, &kept);
    broad__container_close(&container);
    let_go(&list, &kept);
    broad__free(list.tensors);
    broad_model_free(model);
    return status;
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

int broad__store_save(const broad_model *model, const char *path, int compact)
{
    void *bytes = NULL;
    size_t count = 0;
    broad__replacement file;
    int status = broad__store_encode(&bytes, &count, model, compact);
    if (!status) status = broad__replace_begin(&file, path);
    if (!status) {
        status = broad__replace_write(&file, bytes, count);
        if (!status) status = broad__replace_commit(&file);
    }
    broad__free(bytes);
    return status;
}

/* The start first: a large file that is something else is refused without being read. */
static int check_start(const char *path)
{
    unsigned char start[BROAD__CONTAINER_START];
    size_t count = 0;
    int status = broad__file_read_start(start, &count, path, sizeof start);
    if (status) return status;
    status = broad__container_check_start(start, count);
    return status ? broad__fail_in(status, path) : BROAD_OK;
}

/* The bytes before the data. */
static int read_header(void **out, const broad__reading *file)
{
    unsigned char start[BROAD__CONTAINER_START];
    size_t have = file->bytes < sizeof start ? file->bytes : sizeof start, count = 0;
    int status = broad__reading_take(file, start, have);
    if (!status) status = broad__container_header_bytes(&count, start, have, file->bytes);
    unsigned char *header = status ? NULL : broad__alloc_unset(count, 1);
    if (!status && !header) status = BROAD_NO_MEMORY;
    if (status) return status;
    memcpy(header, start, have);
    status = broad__reading_take(file, header + have, count - have);
    if (status) broad__free(header);
    else *out = header;
    return status;
}

/* Data that the header describes to the byte, as a block. */
static int read_data(broad__borrowed *out, broad__container *container, const broad__reading *file)
{
    void *data = broad__alloc_unset(container->data_bytes, 1);
    int status = data ? broad__reading_take(file, data, container->data_bytes) : BROAD_NO_MEMORY;
    if (!status) status = broad__container_take_data(container, data);
    if (status) broad__free(data);
    else *out = (broad__borrowed){data, container->data_bytes};
    return status;
}

static int load(broad_model **out, const broad__reading *file)
{
    broad__container container = {0};
    broad__borrowed data = {0};
    void *header = NULL;
    int status = read_header(&header, file);
    if (!status) status = broad__container_open_header(&container, header, file->bytes);
    if (!status) status = read_data(&data, &container, file);
    if (!status) status = decode_model(out, &container, file->bytes, &data);
    if (!status) (*out)->data = data;
    else broad__free((void *)(uintptr_t)data.bytes);
    broad__container_close(&container);
    broad__free(header);
    return status;
}

/* Read and not mapped: a mapped file that another program cuts short would end the process. */
int broad__store_load(broad_model **out, const char *path)
{
    broad__reading file;
    *out = NULL;
    int status = broad__reading_open(&file, path);
    if (status) return status;
    status = load(out, &file);
    broad__reading_close(&file);
    return status && status != BROAD_IO ? broad__fail_in(status, path) : status; /* that one says so itself */
}

int broad__store_load_predictor(broad_predictor **out, const char *path)
{
    broad__mapping file = {0};
    *out = NULL;
    int status = check_start(path);
    if (!status) status = broad__file_map(&file, path);
    if (status) return status;
    status = broad__store_predictor(out, file.bytes, file.count);
    if (status) broad__file_unmap(&file);
    else (*out)->file = file;
    return status ? broad__fail_in(status, path) : BROAD_OK;
}

int broad__store_json(char **out, const broad_model *model)
{
    *out = NULL;
    int status = broad__describe(out, model);
    return status == BROAD_BAD_MODEL ? broad__fail_in(BROAD_FAILED, "this model cannot be described") : status;
}
