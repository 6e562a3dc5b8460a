/*
 * Two files cannot be replaced in one step. So the new sums are first written beside the old ones, as MODEL.stats.new;
 * then the model is replaced; then the new sums take the place of the old. Sums know the model they belong to, so after
 * a crash in between the pair that belongs together is found: the old sums before the second step, the new ones after.
 */
#include "run/kept_stats.h"
#include "io/progress.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static int path_beside(char out[PATH_BYTES], const char *model_path, const char *ending)
{
    int length = snprintf(out, PATH_BYTES, "%s%s", model_path, ending);
    if (length > 0 && length < PATH_BYTES) return BROAD_OK;
    return cli_fail(BROAD_USAGE, "the path of the model is too long");
}

int cli_stats_exist(const char *model_path)
{
    char path[PATH_BYTES], fresh[PATH_BYTES];
    if (path_beside(path, model_path, ".stats") || path_beside(fresh, model_path, ".stats.new")) return 0;
    return access(path, F_OK) == 0 || access(fresh, F_OK) == 0;
}

int cli_stats_make(const broad_model *model, const broad_data *training, const char *model_path, size_t threads)
{
    char path[PATH_BYTES], fresh[PATH_BYTES];
    broad_stats *stats = NULL;
    int status = path_beside(path, model_path, ".stats");
    if (!status) status = path_beside(fresh, model_path, ".stats.new");
    if (!status) status = broad_stats_new(&stats, model, training, cli_watch(threads));
    if (!status) status = broad_stats_save(stats, path);
    if (!status) unlink(fresh);
    broad_stats_free(stats);
    return status;
}

static int put_in_place(const char *fresh, const char *path)
{
    if (rename(fresh, path) == 0) return BROAD_OK;
    return cli_fail(BROAD_CANNOT_WRITE, "cannot rename %s to %s: %s", fresh, path, strerror(errno));
}

int cli_stats_load(broad_stats **out, const broad_model *model, const char *model_path)
{
    char path[PATH_BYTES], fresh[PATH_BYTES];
    int status = path_beside(path, model_path, ".stats");
    if (!status) status = path_beside(fresh, model_path, ".stats.new");
    if (status) return status;
    if (access(fresh, F_OK) == 0 && broad_stats_load(out, fresh, model) == BROAD_OK) {
        status = put_in_place(fresh, path);
        if (!status) return BROAD_OK;
        broad_stats_free(*out);
        *out = NULL;
        return status;
    }
    return broad_stats_load(out, path, model);
}

int cli_stats_replace(const broad_stats *stats, const broad_model *model, const char *model_path, int compact)
{
    char path[PATH_BYTES], fresh[PATH_BYTES];
    int status = path_beside(path, model_path, ".stats");
    if (!status) status = path_beside(fresh, model_path, ".stats.new");
    if (!status) status = broad_stats_save(stats, fresh);
    if (status) return status;
    status = broad_model_save(model, model_path, compact);
    if (!status) return put_in_place(fresh, path);
    unlink(fresh);
    return status;
}
