/* Entry points of broad.h: where the rows of a model came from. */
#include "api/api_check.h"
#include "base/status.h"
#include "model/model.h"

int broad_model_remember(broad_model *model, const char *path, const char *labels, const broad_data *rows,
                         const broad_data *held_out)
{
    if (!model || !path || (!rows && !held_out)) return broad__missing_argument("broad_model_remember");
    return broad__trained_files_add(&model->sources, path, labels, rows, held_out);
}

void broad_model_forget(broad_model *model)
{
    if (model) broad__trained_files_clear(&model->sources);
}

size_t broad_model_sources(const broad_model *model) { return model ? model->sources.count : 0; }

int broad_model_source(broad_source *out, const broad_model *model, size_t source)
{
    if (!out || !model) return broad__missing_argument("broad_model_source");
    int status = broad__struct_check(out, sizeof *out, "broad_source");
    if (status == BROAD_OK && source >= model->sources.count)
        status =
            broad__fail(BROAD_USAGE, "source %zu is out of range (the model has %zu)", source, model->sources.count);
    if (status < 0) return status;
    const broad__trained_file *from = &model->sources.items[source];
    broad_source full = {.path = from->path, .labels = from->labels, .rows = from->rows, .photos = from->photo_count};
    broad__result_give(out, &full, sizeof full);
    return BROAD_OK;
}

int broad_model_source_photo(broad_source_photo *out, const broad_model *model, size_t source, size_t photo)
{
    if (!out || !model) return broad__missing_argument("broad_model_source_photo");
    int status = broad__struct_check(out, sizeof *out, "broad_source_photo");
    if (status == BROAD_OK && (source >= model->sources.count || photo >= model->sources.items[source].photo_count))
        status = broad__fail(BROAD_USAGE, "photo %zu of source %zu is out of range", photo, source);
    if (status < 0) return status;
    const broad__trained_photo *from = &model->sources.items[source].photos[photo];
    broad_source_photo full = {.file = from->file,
                               .content = from->content,
                               .rows = from->rows,
                               .held_out = from->held_out,
                               .has_class = from->target > 0,
                               .class_number = from->target ? from->target - 1 : 0};
    broad__result_give(out, &full, sizeof full);
    return BROAD_OK;
}
