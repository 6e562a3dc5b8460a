#include "base/file.h"
#include "base/profile.h"
#include "base/status.h"
#include "store/store.h"

int broad_model_save(const broad_model *model, const char *path, int compact)
{
    if (!model || !path) return broad__fail(BROAD_USAGE, "broad_model_save: no model or no path");
    broad__profile_span span = broad__profile_start();
    int status = broad__store_save(model, path, compact);
    broad__profile_stop(span, BROAD__STAGE_SAVE, 0, broad__file_bytes(path));
    return status;
}

int broad_model_load(broad_model **out, const char *path)
{
    *out = NULL;
    if (!path) return broad__fail(BROAD_USAGE, "broad_model_load: no path");
    broad__profile_span span = broad__profile_start();
    int status = broad__store_load(out, path);
    broad__profile_stop(span, BROAD__STAGE_LOAD, 0, broad__file_bytes(path));
    return status;
}

int broad_model_to_memory(void **out, size_t *out_bytes, const broad_model *model, int compact)
{
    *out = NULL;
    if (!model) return broad__fail(BROAD_USAGE, "broad_model_to_memory: no model");
    return broad__store_encode(out, out_bytes, model, compact);
}

int broad_model_from_memory(broad_model **out, const void *bytes, size_t count)
{
    *out = NULL;
    if (!bytes) return broad__fail(BROAD_USAGE, "broad_model_from_memory: no bytes");
    return broad__store_decode(out, bytes, count);
}

int broad_model_json(char **out, const broad_model *model)
{
    *out = NULL;
    if (!model) return broad__fail(BROAD_USAGE, "broad_model_json: no model");
    return broad__store_json(out, model);
}
