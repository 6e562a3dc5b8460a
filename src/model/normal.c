#include "model/normal.h"

#include <string.h>

#include "base/status.h"
#include "data/normal_class.h"

static int find_class(size_t *out, const broad_model *model, const char *label, const char *option)
{
    if (model->task != BROAD_TASK_CLASSIFY)
        return broad__fail(BROAD_USAGE, "option %s '%s': a regression has no %s class", option, label, option);
    for (size_t i = 0; i < model->outputs; i++)
        if (strcmp(model->output_names[i], label) == 0) {
            *out = i;
            return BROAD_OK;
        }
    return broad__fail(BROAD_USAGE, "option %s '%s' is not a class of the data; the first is '%s', the last '%s'",
                       option, label, model->output_names[0], model->output_names[model->outputs - 1]);
}

/* The last class that is not normal: of two the other one. */
static void oppose(broad_model *model)
{
    size_t last = model->outputs ? model->outputs - 1 : 0;
    model->positive = model->normal == last && last > 0 ? last - 1 : last;
}

/* Of two classes the other one of a positive one that was given, else the most frequent. */
static int guess(broad_model *model, const broad_data *data, int positive_given)
{
    int named = broad__normal_by_name(model->output_names, model->outputs);
    if (named != BROAD__NO_CLASS) {
        model->normal = (size_t)named;
        model->normal_from = BROAD__NORMAL_FROM_NAME;
        return BROAD_OK;
    }
    model->normal = 1 - (model->positive & 1);
    model->normal_from = BROAD__NORMAL_FROM_POSITIVE;
    if (positive_given && model->outputs == 2) return BROAD_OK;
    model->normal_from = BROAD__NORMAL_FROM_ROWS;
    return broad__normal_by_rows(&model->normal, data);
}

int broad__model_find_classes(broad_model *model, const broad_data *data, const broad_options *options)
{
    int classify = model->task == BROAD_TASK_CLASSIFY, status = BROAD_OK;
    model->positive = model->normal = 0;
    if (options->positive) status = find_class(&model->positive, model, options->positive, "positive");
    if (!status && options->normal) {
        status = find_class(&model->normal, model, options->normal, "normal");
        model->normal_from = BROAD__NORMAL_FROM_USER;
    } else if (!status && classify) {
        status = guess(model, data, options->positive != NULL);
    }
    if (!status && options->positive && options->normal && model->positive == model->normal)
        return broad__fail(BROAD_USAGE, "class '%s' is given as positive and as normal; omit one of the two options",
                           options->normal);
    if (!status && classify && !options->positive) oppose(model);
    return status;
}

/* A file of before there were normal classes has the last class as positive unless another one was asked for. */
void broad__model_guess_normal(broad_model *model)
{
    if (model->task != BROAD_TASK_CLASSIFY) return;
    int found = broad__normal_by_name(model->output_names, model->outputs);
    model->normal_from = found == BROAD__NO_CLASS ? BROAD__NORMAL_FROM_POSITIVE : BROAD__NORMAL_FROM_NAME;
    model->normal = found != BROAD__NO_CLASS ? (size_t)found : model->positive ? 0 : 1;
    if (model->positive == model->normal && model->positive + 1 == model->outputs) oppose(model);
}

int broad__model_set_normal(broad_model *model, const char *label)
{
    int status = find_class(&model->normal, model, label, "normal");
    if (status) return status;
    model->normal_from = BROAD__NORMAL_FROM_USER;
    if (model->outputs == 2 || model->positive == model->normal) oppose(model);
    return BROAD_OK;
}
