/* Entry points of broad.h: model files. */
#include "api/api_check.h"
#include "base/file.h"
#include "base/profile.h"
#include "store/store.h"

int broad_model_save(const broad_model *model, const char *path, broad_file file)
{
    if (!model || !path) return broad__missing_argument("broad_model_save");
    broad__profile_span span = broad__profile_start();
    int status = broad__store_save(model, path, file == BROAD_FILE_COMPACT);
    broad__profile_stop(span, BROAD__STAGE_SAVE, 0, broad__file_bytes(path));
    return status;
}

int broad_model_load(broad_model **out, const char *path)
{
    if (out) *out = NULL;
    if (!out || !path) return broad__missing_argument("broad_model_load");
    broad__profile_span span = broad__profile_start();
    int status = broad__store_load(out, path);
    broad__profile_stop(span, BROAD__STAGE_LOAD, 0, broad__file_bytes(path));
    return status;
}

int broad_model_to_memory(void **out, size_t *out_bytes, const broad_model *model, broad_file file)
{
    if (out) *out = NULL;
    if (!out || !out_bytes || !model) return broad__missing_argument("broad_model_to_memory");
    return broad__store_encode(out, out_bytes, model, file == BROAD_FILE_COMPACT);
}

int broad_model_from_memory(broad_model **out, const void *bytes, size_t count)
{
    if (out) *out = NULL;
    if (!out || !bytes) return broad__missing_argument("broad_model_from_memory");
    return broad__store_decode(out, bytes, count);
}

int broad_model_json(char **out, const broad_model *model)
{
    if (out) *out = NULL;
    if (!out || !model) return broad__missing_argument("broad_model_json");
    return broad__store_json(out, model);
}
