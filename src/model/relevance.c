#include "model/relevance.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "compute/device_choice.h"
#include "feature/metric.h"

/* Differences from 1 that are none. */
static const double TINY = 1e-9;

/* ---- the diagonal ------------------------------------------------------------------------------------------------- */

static double row_square(const double *row, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += row[i] * row[i];
    return sum;
}

/* Of M. A file keeps relevance beside the root of sampled nodes alone. */
static double diagonal(const broad_model *model, size_t column)
{
    size_t columns = broad__model_columns(model);
    if (model->relevance) return model->relevance[column] * model->relevance[column];
    return model->root ? row_square(model->root + column * columns, columns) : 1;
}

size_t broad__relevance_columns(void) { return BROAD__METRIC_COLUMNS; }

broad_metric_form broad__relevance_form(const broad_model *model)
{
    if (model->root) return BROAD_METRIC_FORM_FULL;
    for (size_t j = 0; model->relevance && j < broad__model_columns(model); j++)
        if (fabs(model->relevance[j] - 1) > TINY) return BROAD_METRIC_FORM_DIAGONAL;
    return BROAD_METRIC_FORM_NONE;
}

/* Mean over the columns of an input. */
static double input_square(const broad_model *model, size_t input)
{
    size_t count = 0;
    double sum = 0;
    for (size_t j = input; j < broad__model_columns(model); j += model->inputs, count++) sum += diagonal(model, j);
    return count ? sum / (double)count : 1;
}

double broad__relevance_of(const broad_model *model, size_t input) { return sqrt(input_square(model, input)); }

/* ---- descriptors behind components ---------------------------------------------------------------------------------- */

static int has_descriptors(const broad_model *model)
{
    return model->photo.maps && model->photo.components && model->projection.factor;
}

/* The gradient by descriptor j, squared. axis: as the columns see it, of each. */
static double descriptor_square(const broad_model *model, size_t descriptor, double *axis)
{
    const broad__projection *p = &model->projection;
    size_t components = model->photo.components, columns = broad__model_columns(model);
    double factor = p->factor[descriptor], sum = 0;
    if (!(factor > 0)) return 0;
    for (size_t c = 0; c < columns; c++)
        axis[c] = p->axes[descriptor * components + c % components] / factor * model->input_factor[c % components];
    if (!model->root) {
        for (size_t c = 0; c < columns; c++) sum += axis[c] * axis[c] * diagonal(model, c);
        return sum;
    }
    for (size_t k = 0; k < columns; k++) {
        double moved = 0;
        for (size_t c = 0; c < columns; c++) moved += axis[c] * model->root[c * columns + k];
        sum += moved * moved;
    }
    return sum;
}

/* Maps are equal in weight, whatever the number of their inputs: of each input, that weight is taken out again. */
static double map_weight(const broad__photo_spec *spec, size_t input)
{
    static const unsigned maps[] = {BROAD_PHOTO_MAP_PIXELS, BROAD_PHOTO_MAP_DESCRIPTORS, BROAD_PHOTO_MAP_WINDOWS};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        size_t count = spec->maps & maps[i] ? broad__map_inputs(maps[i], spec->side) : 0;
        if (input < count) return 1 / (double)count;
        input -= count;
    }
    return 1;
}

/* ---- parts ---------------------------------------------------------------------------------------------------------- */

/* Inputs that parts are made of, and the part that begins at one of them: its name and how many it has. */
static size_t part_inputs(const broad_model *model)
{
    return has_descriptors(model) ? broad__photo_inputs(&model->photo) : model->inputs;
}

static size_t part_at(const char **out_name, const broad_model *model, size_t input)
{
    const broad__photo_spec *spec = &model->photo;
    const broad__category *category = broad__categories_at(&model->categories, input);
    size_t count = 1, inputs = part_inputs(model);
    *out_name = category ? category->name : model->input_names[input < model->inputs ? input : 0];
    if (!spec->maps || (spec->components && !has_descriptors(model))) return category ? category->count : 1;
    *out_name = broad__photo_input_kind(spec, input);
    while (input + count < inputs && strcmp(broad__photo_input_kind(spec, input + count), *out_name) == 0) count++;
    return count;
}

size_t broad__relevance_parts(const broad_model *model)
{
    const char *name = NULL;
    size_t parts = 0, inputs = part_inputs(model);
    if (broad__relevance_form(model) == BROAD_METRIC_FORM_NONE) return 0;
    for (size_t i = 0; i < inputs; parts++) i += part_at(&name, model, i);
    return parts;
}

int broad__relevance_shares(const char **names, double *shares, const broad_model *model)
{
    size_t inputs = part_inputs(model), parts = 0;
    double sum = 0, *axis = broad__alloc_doubles(broad__model_columns(model), 1);
    if (!axis) return BROAD_NO_MEMORY;
    for (size_t i = 0, end = 0; i < inputs; parts++) {
        shares[parts] = 0;
        for (end = i + part_at(&names[parts], model, i); i < end; i++)
            shares[parts] += has_descriptors(model) ? map_weight(&model->photo, i) * descriptor_square(model, i, axis)
                                                    : input_square(model, i);
        sum += shares[parts];
    }
    for (size_t p = 0; sum > 0 && p < parts; p++) shares[p] /= sum;
    broad__free(axis);
    return BROAD_OK;
}

/* ---- directions ----------------------------------------------------------------------------------------------------- */

/* out: inputs x inputs. P M P' = (root P')' (root P'). */
static int input_metric(double *out, const broad_model *model, const broad__device *device)
{
    size_t columns = broad__model_columns(model), inputs = model->inputs;
    double *half = broad__alloc_doubles(columns, inputs);
    if (!half) return BROAD_NO_MEMORY;
    memset(half, 0, columns * inputs * sizeof(double));
    for (size_t k = 0; k < columns; k++)
        for (size_t j = 0; j < columns; j++) half[k * inputs + j % inputs] += model->root[k * columns + j];
    device->gram(out, inputs, half, inputs, columns, inputs);
    broad__free(half);
    return BROAD_OK;
}

/* The sign that makes the largest of them positive. */
static double sign_of(const double *vector, size_t count)
{
    double most = 0;
    for (size_t j = 0; j < count; j++)
        if (fabs(vector[j]) > fabs(most)) most = vector[j];
    return most < 0 ? -1 : 1;
}

int broad__relevance_directions(double *share, double *weight, const broad_model *model, size_t count)
{
    const broad__device *device = broad__device_choose(&model->settings);
    size_t n = model->inputs;
    double *vectors = broad__alloc_doubles(n, n), *values = broad__alloc_doubles(n, 1), trace = 0;
    int status = vectors && values ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) memset(vectors, 0, n * n * sizeof(double));
    if (status == BROAD_OK) status = input_metric(vectors, model, device);
    if (status == BROAD_OK) status = device->eigen(vectors, values, n);
    for (size_t i = 0; status == BROAD_OK && i < n; i++) trace += fmax(values[i], 0);
    for (size_t d = 0; status == BROAD_OK && d < count; d++) {
        const double *vector = vectors + (n - 1 - d) * n;
        double sign = sign_of(vector, n);
        share[d] = trace > 0 ? fmax(values[n - 1 - d], 0) / trace : 0;
        for (size_t j = 0; j < n; j++) weight[d * n + j] = sign * vector[j];
    }
    broad__free(vectors);
    broad__free(values);
    return status;
}
