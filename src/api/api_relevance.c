/* Entry points of broad.h: what a model looks at. Apart from the others, since a program that only predicts needs none of it. */
#include "api/api_check.h"
#include "base/memory.h"
#include "base/status.h"
#include "model/relevance.h"

double broad_model_relevance(const broad_model *model, size_t input)
{
    return input < broad_model_inputs(model) ? broad__relevance_of(model, input) : 1;
}

int broad_model_metric(broad_learned_metric *out, const broad_model *model)
{
    if (!out || !model) return broad__missing_argument("broad_model_metric");
    const broad_learned_metric full = {.form = broad__relevance_form(model),
                                       .optimism = model->optimism > 1 ? model->optimism : 1};
    int status = broad__struct_check(out, sizeof *out, "broad_learned_metric");
    if (status == BROAD_OK) broad__result_give(out, &full, sizeof full);
    return status;
}

size_t broad_model_relevance_parts(const broad_model *model) { return model ? broad__relevance_parts(model) : 0; }

int broad_model_find_relevance(broad_relevance *out, const broad_model *model)
{
    if (!out || !model) return broad__missing_argument("broad_model_find_relevance");
    int status = broad__struct_check(out, sizeof *out, "broad_relevance");
    size_t parts = broad__relevance_parts(model), distance = out->size;
    if (status < 0 || !parts) return status;
    const char **names = broad__alloc_array(parts, sizeof *names);
    double *shares = broad__alloc_doubles(parts, 1);
    status = names && shares ? broad__relevance_shares(names, shares, model) : BROAD_NO_MEMORY;
    for (size_t i = 0; status == BROAD_OK && i < parts; i++) {
        const broad_relevance full = {.part = names[i], .share = shares[i]};
        broad_relevance *to = (broad_relevance *)((char *)out + i * distance);
        to->size = distance;
        broad__result_give(to, &full, sizeof full);
    }
    broad__free((void *)names);
    broad__free(shares);
    return status;
}

size_t broad_model_directions(const broad_model *model) { return model && model->root ? model->inputs : 0; }

int broad_model_find_directions(double *out_share, double *out_weight, const broad_model *model, size_t count)
{
    if (!out_share || !out_weight || !model) return broad__missing_argument("broad_model_find_directions");
    if (count > broad_model_directions(model))
        return broad__fail(BROAD_USAGE, "broad_model_find_directions: %zu directions are more than the model has (%zu)",
                           count, broad_model_directions(model));
    return count ? broad__relevance_directions(out_share, out_weight, model, count) : BROAD_OK;
}
