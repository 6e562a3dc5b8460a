/* Entry points of broad.h: models for programs without this library. */
#include "api/api_check.h"
#include "base/status.h"
#include "export/c_source.h"
#include "export/onnx.h"

void broad_export_options_init_sized(broad_export_options *out, size_t size)
{
    broad_export_options full = {.size = sizeof full};
    if (out) broad__options_give(out, size, &full, sizeof full);
}

/* The options with their defaults, and the flat form that goes with them. */
static int prepare(broad_export_options *full, broad__flat *flat, const broad_model *model,
                   const broad_export_options *options, const broad_exported *about)
{
    *full = (broad_export_options){.size = sizeof *full};
    int status = broad__options_take(full, sizeof *full, options, "broad_export_options");
    if (!status && about) status = broad__struct_check(about, sizeof *about, "broad_exported");
    if (status) return status;
    if (!full->name) full->name = "model";
    if (full->precision < BROAD_EXPORT_DOUBLE || full->precision > BROAD_EXPORT_INT8)
        return broad__fail(BROAD_USAGE, "broad_export_options: there is no precision %d", (int)full->precision);
    return broad__flat_make(flat, model, full->level);
}

int broad_model_export_c(char **out, size_t *out_bytes, broad_exported *about, const broad_model *model,
                         const broad_export_options *options)
{
    broad_export_options full;
    broad_exported made = {.size = sizeof made};
    broad__flat flat = {0};
    if (!out || !out_bytes || !model) return broad__missing_argument("broad_model_export_c");
    *out = NULL;
    int status = prepare(&full, &flat, model, options, about);
    if (!status) status = broad__c_source(out, out_bytes, &made, &flat, &full);
    if (!status && about) broad__result_give(about, &made, sizeof made);
    broad__flat_clear(&flat);
    return status;
}

int broad_model_export_onnx(void **out, size_t *out_bytes, broad_exported *about, const broad_model *model,
                            const broad_export_options *options)
{
    broad_export_options full;
    broad_exported made = {.size = sizeof made};
    broad__flat flat = {0};
    if (!out || !out_bytes || !model) return broad__missing_argument("broad_model_export_onnx");
    *out = NULL;
    int status = prepare(&full, &flat, model, options, about);
    if (!status && (full.compact || full.precision == BROAD_EXPORT_INT8))
        status =
            broad__fail(BROAD_USAGE, "ONNX files have all weights in double or single precision; option %s is for C",
                        full.compact ? "compact" : "precision int8");
    if (!status) status = broad__onnx(out, out_bytes, &made, &flat, full.precision);
    if (!status && about) broad__result_give(about, &made, sizeof made);
    broad__flat_clear(&flat);
    return status;
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

size_t broad_export_columns(const broad_model *model) { return model ? broad__flat_columns(model) : 0; }

int broad_export_rows(double *out, const broad_model *model, const double *x, size_t rows, size_t stride)
{
    if (!model || ((!out || !x) && rows)) return broad__missing_argument("broad_export_rows");
    if (model->photo.maps)
        return broad__fail(BROAD_USAGE,
                           "the model was trained on photos: a row is a picture, which its inputs do not tell");
    for (size_t i = 0; i < rows; i++)
        broad__flat_codes(out + i * broad__flat_columns(model), model, x + i * (stride ? stride : model->inputs));
    return BROAD_OK;
}
