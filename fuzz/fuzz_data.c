/*
 * Bytes to the readers, past the file layer. The first byte chooses the options, so that every branch of the column
 * plan can be reached; the rest is the file. What is read must be a sound table.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/read.h"
#include "data/split.h"
#include "data/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static const char *const input_names[] = {"a", "x2"};
static const char *const classes[] = {"1", "yes"};
static char *levels[] = {"1", "yes"}, name[] = "a";
static broad__category category = {name, 0, 2, levels};
static const char *const level_inputs[] = {"a=1", "a=yes", "x2"};
static const broad__columns models[] = {
    {.inputs = 2,
     .outputs = 2,
     .task = BROAD_TASK_CLASSIFY,
     .input_names = input_names,
     .output_names = classes,
     .target_name = "y",
     .group_name = "g",
     .named = 1},
    {.inputs = 1,
     .outputs = 1,
     .task = BROAD_TASK_REGRESS,
     .input_names = input_names,
     .output_names = input_names + 1},
    {.inputs = 3,
     .outputs = 2,
     .task = BROAD_TASK_CLASSIFY,
     .input_names = level_inputs,
     .output_names = classes,
     .target_name = "y",
     .weight_name = "g",
     .named = 1,
     .categories = {1, &category}},
    {.inputs = 3,
     .outputs = 1,
     .task = BROAD_TASK_REGRESS,
     .input_names = level_inputs,
     .output_names = input_names,
     .weight_name = "2",
     .categories = {1, &category},
     .missing = BROAD_MISSING_MEAN},
};

static void check_sound(const broad_data *data, size_t bytes)
{
    if (!data->rows || !data->inputs || data->rows > bytes * 8 + 1) abort();
    for (size_t i = 0; i < data->rows * data->inputs; i++)
        if (!isfinite(data->x[i]) && !(isnan(data->x[i]) && data->missing == BROAD_MISSING_MEAN)) abort();
    for (size_t i = 0; data->weights && i < data->rows; i++)
        if (!isfinite(data->weights[i]) || !(data->weights[i] > 0)) abort();
    for (size_t i = 0, next = 0; i < data->categories.count; next = data->categories.items[i++].first + 1)
        if (data->categories.items[i].first < next) abort();
    if (broad__categories_columns(&data->categories, data->inputs) > data->inputs) abort();
    for (size_t i = 0; data->classes && i < data->rows; i++)
        if (data->classes[i] >= data->outputs) abort();
    for (size_t i = 0; data->values && i < data->rows * data->outputs; i++)
        if (!isfinite(data->values[i])) abort();
    for (size_t i = 0; i < data->inputs; i++)
        if (!data->input_names[i][0]) abort();
    for (size_t i = 0; i < data->outputs; i++)
        if (!data->output_names[i][0]) abort();
}

static broad_read_options options_from(uint8_t choice)
{
    static const char *const targets[] = {NULL, "y", "1", "a,2"}, *const headers[] = {"auto", "yes", "no", "auto"},
                             *const categories[] = {NULL, "auto", "a", "auto,2"};
    broad_read_options options;
    broad_read_options_init(&options);
    options.threads = 1;
    options.target = targets[choice & 3];
    options.header = headers[choice >> 2 & 3];
    options.task = (broad_task)((choice >> 4 & 3) % 3);
    options.missing = choice & 64 ? BROAD_MISSING_MEAN : BROAD_MISSING_ERROR;
    options.group = (choice >> 4 & 3) == 3 ? "g" : NULL;
    options.target_optional = choice & 1;
    options.categorical = categories[(choice >> 2 ^ choice >> 4) & 3];
    options.weight = (choice >> 4 & 3) == 2 ? "g" : NULL;
    options.training = choice >> 4 & 1;
    return options;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (!count) return 0;
    broad_read_options options = options_from(bytes[0]);
    const broad__columns *model = bytes[0] & 128 ? &models[bytes[0] >> 5 & 3] : NULL;
    broad_data *data, *train, *test;
    int status = broad__read_bytes(&data, "data", bytes + 1, count - 1, &options, model);
    if (status < 0) {
        if (data || status == BROAD_BUG || !broad_error_message()[0]) abort();
        return 0;
    }
    check_sound(data, count);
    if (broad__split(&train, &test, data, 0.3, count) == BROAD_OK) {
        if (!train->rows || !test->rows || train->rows + test->rows != data->rows) abort();
        broad_data_free(train);
        broad_data_free(test);
    }
    broad_data_free(data);
    return 0;
}
