#include "model/train/classes.h"

#include <string.h>

#include "base/memory.h"
#include "base/page_cursor.h"
#include "base/status.h"
#include "data/format/number.h"
#include "model/predict/estimate.h"

/* ---- how much a class counts ----------------------------------------------------------------------------------- */

/* N / (classes * rows of the class): each class counts alike as a whole. */
static void balance_classes(double *out, const broad_data *data)
{
    double *rows = out;
    for (size_t c = 0; c < data->outputs; c++) rows[c] = 0;
    broad__page_cursor read = {0};
    for (size_t i = 0; i < data->rows; i++) {
        rows[data->classes[i]]++;
        broad__page_cursor_step(&read, data->spill, &data->classes[i], sizeof *data->classes);
    }
    for (size_t c = 0; c < data->outputs; c++)
        out[c] = rows[c] > 0 ? (double)data->rows / ((double)data->outputs * rows[c]) : 1;
}

/* One "label:weight" of `length` bytes. A label may have a colon of its own: the last one counts. out: 0 so far. */
static int set_class_weight(double *out, const broad_model *model, const char *text, size_t length)
{
    size_t colon = length;
    while (colon && text[colon - 1] != ':') colon--;
    double weight = 0;
    const char *end = colon ? broad__number_scan(&weight, text + colon, text + length) : NULL;
    if (end != text + length || !(weight > 0) || weight > 1e12)
        return broad__fail(BROAD_USAGE,
                           "option class-weight: '%.*s' is not a class and a weight above 0, such as dusty:3",
                           (int)length, text);
    for (size_t c = 0; c < model->outputs; c++)
        if (strlen(model->output_names[c]) == colon - 1 && memcmp(model->output_names[c], text, colon - 1) == 0) {
            if (out[c] > 0)
                return broad__fail(BROAD_USAGE, "option class-weight: '%s' is given twice", model->output_names[c]);
            out[c] = weight;
            return BROAD_OK;
        }
    return broad__fail(BROAD_USAGE,
                       "option class-weight: '%.*s' is not a class of the data; the first is '%s', the last '%s'",
                       (int)colon - 1, text, model->output_names[0], model->output_names[model->outputs - 1]);
}

int broad__model_class_weights(broad_model *model, const broad_data *data, const char *text)
{
    if (!text) return BROAD_OK;
    if (model->task != BROAD_TASK_CLASSIFY)
        return broad__fail(
            BROAD_USAGE,
            "option class-weight: a regression has no classes; row weights come from a column of the data");
    model->class_weights = broad__alloc_doubles(model->outputs, 1);
    if (!model->class_weights) return BROAD_NO_MEMORY;
    if (strcmp(text, "balanced") == 0) {
        balance_classes(model->class_weights, data);
        return BROAD_OK;
    }
    int status = BROAD_OK;
    while (status == BROAD_OK) {
        size_t length = strcspn(text, ",");
        status = set_class_weight(model->class_weights, model, text, length);
        if (text[length] == 0) break;
        text += length + 1;
    }
    for (size_t c = 0; c < model->outputs; c++)
        if (!(model->class_weights[c] > 0)) model->class_weights[c] = 1;
    return status;
}

/* ---- further classes ------------------------------------------------------------------------------------------- */

static double *widen(const double *values, size_t rows, size_t columns, size_t more)
{
    double *copy = broad__alloc_doubles(rows, columns + more);
    for (size_t i = 0; copy && i < rows; i++)
        memcpy(copy + i * (columns + more), values + i * columns, columns * sizeof(double));
    return copy;
}

/* Everything that gets longer with further classes, before it takes the place of what the model has. */
typedef struct widened {
    char **names;
    double *shift, *factor, *weights;
    double **outputs; /* of each layer */
} widened;

static void widened_clear(widened *w, const broad_model *model, size_t outputs)
{
    for (size_t j = 0; w->outputs && j < model->layer_count; j++) broad__free(w->outputs[j]);
    broad__free_texts(w->names, outputs);
    broad__free(w->shift);
    broad__free(w->factor);
    broad__free(w->weights);
    broad__free(w->outputs);
}

static int widened_make(widened *out, const broad_model *model, const broad_data *data)
{
    size_t old = model->outputs, more = data->outputs - old;
    out->names = broad__copy_texts(data->output_names, data->outputs);
    out->shift = widen(model->output_shift, 1, old, more);
    out->factor = widen(model->output_factor, 1, old, more);
    out->weights = model->class_weights ? widen(model->class_weights, 1, old, more) : NULL;
    out->outputs = broad__alloc_array(model->layer_count, sizeof *out->outputs);
    if (!out->names || !out->shift || !out->factor || !out->outputs || (!out->weights && model->class_weights))
        return BROAD_NO_MEMORY;
    for (size_t j = 0; j < model->layer_count; j++) {
        out->outputs[j] = widen(model->layers[j].output, model->layers[j].width, old, more);
        if (!out->outputs[j]) return BROAD_NO_MEMORY;
    }
    for (size_t c = old; c < data->outputs; c++) out->factor[c] = 1;
    for (size_t c = old; out->weights && c < data->outputs; c++) out->weights[c] = 1;
    return BROAD_OK;
}

static void swap(double **a, double **b)
{
    double *old = *a;
    *a = *b;
    *b = old;
}

/* Puts everything in place; w has the old arrays afterwards. */
static void exchange(broad_model *model, widened *w, size_t outputs)
{
    char **names = model->output_names;
    model->output_names = w->names;
    w->names = names;
    swap(&model->output_shift, &w->shift);
    swap(&model->output_factor, &w->factor);
    swap(&model->class_weights, &w->weights);
    model->outputs = outputs;
    model->joint = (broad__joint_record){0};
    broad__estimate_clear(model);
    for (size_t j = 0; j < model->layer_count; j++) {
        broad__layer *layer = &model->layers[j];
        swap(&layer->output, &w->outputs[j]);
        broad__free(layer->joint); /* solved again before the network is used */
        layer->joint = NULL;
        broad__hash_text(layer->certificate.weights, layer->output, layer->width * outputs * sizeof(double));
    }
}

/* A failure leaves the model as it was. */
int broad__model_add_classes(broad_model *model, const broad_data *data)
{
    size_t old = model->outputs;
    if (data->outputs <= old) return BROAD_OK;
    widened w = {0};
    int status = widened_make(&w, model, data);
    if (status == BROAD_OK) exchange(model, &w, data->outputs);
    widened_clear(&w, model, status == BROAD_OK ? old : data->outputs);
    return status;
}
