#include "serve/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

static void release(serve_model *model)
{
    broad_viewer_close(model->viewer);
    broad_explainer_close(model->explainer);
    broad_model_free(model->model);
    free(model);
}

static int check(const broad_model *model, const char *path)
{
    if (!broad_model_maps(model))
        return cli_fail(BROAD_USAGE,
                        "%s: was not trained on photos; a project needs a model of photos, as 'broad fit FOLDER' makes "
                        "it",
                        path);
    if (broad_model_task(model) != BROAD_TASK_CLASSIFY)
        return cli_fail(BROAD_USAGE, "%s: predicts values; a project needs a model that tells classes apart", path);
    return BROAD_OK;
}

int serve_model_load(serve_model **out, const char *path, int64_t version, int64_t lineage)
{
    serve_model *made = calloc(1, sizeof *made);
    *out = NULL;
    if (!made) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    made->holders = 1;
    made->version = version;
    made->lineage = lineage;
    int status = broad_model_load(&made->model, path);
    if (!status) status = check(made->model, path);
    if (!status) status = broad_viewer_open(&made->viewer, made->model);
    if (!status) status = broad_explainer_open(&made->explainer, made->model);
    if (status) {
        release(made);
        return status;
    }
    made->inputs = broad_model_inputs(made->model);
    made->outputs = broad_model_outputs(made->model);
    made->probabilities = broad_probabilities(NULL, made->model, NULL, 0) == BROAD_OK;
    *out = made;
    return BROAD_OK;
}

serve_model *serve_model_hold(serve_model *model)
{
    if (model) atomic_fetch_add(&model->holders, 1);
    return model;
}

void serve_model_drop(serve_model *model)
{
    if (model && atomic_fetch_sub(&model->holders, 1) == 1) release(model);
}

int serve_model_knows(const serve_model *model, const char *label)
{
    for (size_t i = 0; model && i < model->outputs; i++)
        if (strcmp(broad_model_output_name(model->model, i), label) == 0) return 1;
    return 0;
}

static double lead_over(const double *scores, size_t count, size_t normal)
{
    double best = -INFINITY;
    for (size_t i = 0; i < count; i++)
        if (i != normal) best = fmax(best, scores[i]);
    return best - scores[normal];
}

int serve_model_judge(serve_verdict *out, double *scores, const serve_model *model, const double *inputs)
{
    int status = broad_predict(scores, model->model, inputs, 1, 0);
    return status ? status : serve_model_verdict(out, scores, model);
}

int serve_model_verdict(serve_verdict *out, double *scores, const serve_model *model)
{
    size_t normal = broad_model_normal(model->model);
    *out = (serve_verdict){.label = broad_best_class(model->model, scores), .certainty = (double)NAN};
    out->fault = lead_over(scores, model->outputs, normal);
    if (!model->probabilities) return BROAD_OK;
    int status = broad_probabilities(scores, model->model, scores, 1);
    out->certainty = scores[out->label];
    out->fault = 1 - scores[normal];
    return status;
}
