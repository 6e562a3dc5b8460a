/* Entry points of broad.h: explanations of photos. */
#include "api/api_check.h"
#include "base/memory.h"
#include "base/status.h"
#include "model/predict/explain.h"

int broad_explainer_open(broad_explainer **out, const broad_model *model)
{
    if (out) *out = NULL;
    if (!out || !model) return broad__missing_argument("broad_explainer_open");
    return broad__explainer_open(out, model);
}

void broad_explainer_close(broad_explainer *explainer)
{
    if (explainer) broad__explainer_close(explainer);
}

/* Whether the caller's struct is long enough for the only field that owns memory. */
static int has_cells(const broad_explanation *explanation)
{
    return explanation->size >= offsetof(broad_explanation, cells) + sizeof explanation->cells;
}

void broad_explanation_clear(broad_explanation *explanation)
{
    if (!explanation || !broad__struct_known(explanation, sizeof *explanation)) return;
    if (has_cells(explanation)) broad__free(explanation->cells);
    broad_result_init(explanation, explanation->size);
}

/* All initialised, and none with cells that would be lost. */
static int check_all(const broad_explanation *out, size_t count)
{
    int status = broad__struct_check(out, sizeof *out, "broad_explanation");
    for (size_t i = 0; i < count && status == BROAD_OK; i++) {
        const broad_explanation *one = (const void *)((const char *)out + i * out->size);
        status = broad__struct_check(one, sizeof *one, "broad_explanation");
        if (status == BROAD_OK && has_cells(one) && one->cells)
            status = broad__fail(BROAD_USAGE, "broad_photo_explain: a result is in use; clear it, or call "
                                              "broad_explanation_init() first");
    }
    return status;
}

/* The caller's explanations may have another size: they are as far apart as the first one says. */
static void give_all(broad_explanation *out, broad_explanation *full, size_t count)
{
    size_t stride = out->size;
    for (size_t i = 0; i < count; i++) {
        char *to = (char *)out + i * stride;
        broad__options_give(to, stride, &full[i], sizeof full[i]);
        if (!has_cells(out)) broad__free(full[i].cells);
    }
}

int broad_photo_explain(broad_explanation *out, const broad_explainer *explainer, const broad_photo *const *photos,
                        const size_t *outputs, size_t count)
{
    if (!out || !explainer || !photos || !outputs) return broad__missing_argument("broad_photo_explain");
    if (!count) return BROAD_OK;
    int status = check_all(out, count);
    if (status < 0) return status;
    broad_explanation *full = broad__alloc_array(count, sizeof *full);
    if (!full) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < count; i++) full[i].size = sizeof full[i];
    status = broad__photo_explain(full, explainer, photos, outputs, count);
    if (status == BROAD_OK) give_all(out, full, count);
    for (size_t i = 0; i < count && status < 0; i++) broad__free(full[i].cells);
    broad__free(full);
    return status;
}

int broad_explainer_file(broad_explanation *out, const broad_explainer *explainer, const void *bytes, size_t count,
                         size_t output)
{
    if (!out || !explainer || !bytes) return broad__missing_argument("broad_explainer_file");
    int status = check_all(out, 1);
    if (status < 0) return status;
    broad_explanation full = {.size = sizeof full};
    status = broad__explainer_file(&full, explainer, bytes, count, output);
    if (status == BROAD_OK) give_all(out, &full, 1);
    return status;
}
