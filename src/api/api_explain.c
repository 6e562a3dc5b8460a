/* Entry points of broad.h: explanations of photos. */
#include "base/memory.h"
#include "base/status.h"
#include "model/predict/explain.h"

int broad_explainer_open(broad_explainer **out, const broad_model *model)
{
    if (!out || !model) return broad__fail(BROAD_USAGE, "broad_explainer_open: an argument is NULL");
    return broad__explainer_open(out, model);
}

void broad_explainer_close(broad_explainer *explainer) { broad__explainer_close(explainer); }

void broad_explanation_init(broad_explanation *out) { *out = (broad_explanation){.size = sizeof *out}; }

void broad_explanation_clear(broad_explanation *explanation)
{
    broad__free(explanation->cells);
    explanation->cells = NULL;
    explanation->width = explanation->height = 0;
}

int broad_photo_explain(broad_explanation *out, const broad_explainer *explainer, const broad_photo *const *photos,
                        const size_t *outputs, size_t count)
{
    if (!out || !explainer || !photos || !outputs)
        return broad__fail(BROAD_USAGE, "broad_photo_explain: an argument is NULL");
    for (size_t i = 0; i < count; i++)
        if (out[i].size != sizeof out[i] || out[i].cells)
            return broad__fail(BROAD_USAGE, "broad_photo_explain: call broad_explanation_init() on each result first");
    return broad__photo_explain(out, explainer, photos, outputs, count);
}
