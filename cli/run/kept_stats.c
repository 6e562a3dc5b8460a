/*
 * Two files cannot be replaced in one step. So the new sums are first written beside the old ones, under a name made of
 * the new model's fingerprint; then the model is replaced; then the new sums take the place of the old. Sums know the model
 * they belong to, so after a crash in between the pair that belongs together is found: the old sums before the second step,
 * the new ones after.
 */
#include "run/kept_stats.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "io/output.h"
#include "io/progress.h"
#include "io/ranks.h"

enum { PATH_BYTES = 4096 };

static const char current[] = ".stats", previous[] = ".stats~", left_by_0_1[] = ".stats.new";

static int path_beside(char out[PATH_BYTES], const char *model_path, const char *ending)
{
    int length = snprintf(out, PATH_BYTES, "%s%s", model_path, ending);
    if (length > 0 && length < PATH_BYTES) return BROAD_OK;
    return cli_fail(BROAD_USAGE, "the path of the model is too long");
}

static int path_of_new(char out[PATH_BYTES], const char *model_path, const char *hash)
{
    char ending[sizeof current + BROAD__HASH_TEXT];
    snprintf(ending, sizeof ending, "%s.%s", current, hash);
    return path_beside(out, model_path, ending);
}

/* That of new sums for the model as its file is. */
static int path_left_over(char out[PATH_BYTES], const char *model_path)
{
    char hash[BROAD__HASH_TEXT];
    int status = broad__file_hash(hash, model_path);
    return status ? status : path_of_new(out, model_path, hash);
}

static int is_there(const char *model_path, const char *ending)
{
    char path[PATH_BYTES];
    return !path_beside(path, model_path, ending) && access(path, F_OK) == 0;
}

int cli_stats_check(broad_kind kind, int chain, int weighted)
{
    if (weighted)
        return cli_fail(BROAD_USAGE,
                        "--keep-stats: sums of the training rows cannot be kept where rows or classes have weights; "
                        "omit it, and give 'broad learn' the training rows with --with");
    if (chain && (kind == BROAD_KIND_BSCRLS || kind == BROAD_KIND_BRLS)) return BROAD_OK;
    return cli_fail(
        BROAD_USAGE,
        "--keep-stats: sums of the training rows serve bscrls and brls with chain weights alone; omit it, and "
        "give 'broad learn' the training rows with --with, or train with --weights chain");
}

int cli_stats_check_model(const broad_model *model)
{
    return cli_stats_check(broad_model_kind(model), broad_model_fitting(model) == BROAD_FITTING_CHAIN,
                           broad_model_weighs_classes(model) || broad_model_weight_name(model));
}

int cli_stats_exist(const char *model_path)
{
    char path[PATH_BYTES];
    return is_there(model_path, current) || is_there(model_path, left_by_0_1) ||
           (!path_left_over(path, model_path) && access(path, F_OK) == 0);
}

int cli_stats_make(const broad_model *model, const broad_data *training, const char *model_path, size_t threads)
{
    char path[PATH_BYTES], old[PATH_BYTES];
    broad_stats *stats = NULL;
    int status = path_beside(path, model_path, current);
    if (!status) status = path_beside(old, model_path, left_by_0_1);
    if (!status) status = broad_stats_new(&stats, model, training, cli_watch(threads));
    if (!status && cli_writes()) status = broad_stats_save(stats, path);
    if (!status && cli_writes()) unlink(old);
    broad_stats_free(stats);
    return status;
}

/* Sums that a run which was cut off has left, where they are those of the model. *out stays NULL where there are none. */
static int load_left_over(broad_stats **out, const broad_model *model, const char *model_path)
{
    char places[3][PATH_BYTES], path[PATH_BYTES];
    int status = path_beside(path, model_path, current);
    if (!status) status = path_left_over(places[0], model_path);
    if (!status) status = path_beside(places[1], model_path, left_by_0_1);
    if (!status) status = path_beside(places[2], model_path, previous);
    for (size_t i = 0; !status && i < 3; i++) {
        if (access(places[i], F_OK) || broad_stats_load(out, places[i], model)) continue;
        if (!cli_writes()) return BROAD_OK;
        status = i == 2 ? cli_exchange_files(path, places[i]) : cli_move_file(places[i], path);
        if (!status) return BROAD_OK;
        broad_stats_free(*out);
    }
    *out = NULL;
    return status;
}

int cli_stats_load(broad_stats **out, const broad_model *model, const char *model_path)
{
    char path[PATH_BYTES];
    int status = path_beside(path, model_path, current);
    if (!status && broad_stats_load(out, path, model) == BROAD_OK) return BROAD_OK;
    if (!status) status = load_left_over(out, model, model_path);
    if (status || *out) return status;
    return broad_stats_load(out, path, model); /* once more, for its message */
}

/* ---- replacing ---- */

int cli_stats_write_new(const broad_stats *stats, const char *model_path, const char *hash)
{
    char path[PATH_BYTES];
    int status = path_of_new(path, model_path, hash);
    return status ? status : broad_stats_save(stats, path);
}

void cli_stats_remove_new(const char *model_path, const char *hash)
{
    char path[PATH_BYTES];
    if (!path_of_new(path, model_path, hash)) unlink(path);
}

int cli_stats_step_aside(const char *model_path)
{
    char path[PATH_BYTES], kept[PATH_BYTES];
    int status = path_beside(path, model_path, current);
    if (!status) status = path_beside(kept, model_path, previous);
    if (status) return status;
    if (access(path, F_OK) == 0) return cli_move_file(path, kept);
    unlink(kept);
    return BROAD_OK;
}

int cli_stats_settle(const char *model_path, const char *hash)
{
    char path[PATH_BYTES], fresh[PATH_BYTES], old[PATH_BYTES];
    int status = path_beside(path, model_path, current);
    if (!status) status = path_of_new(fresh, model_path, hash);
    if (!status) status = path_beside(old, model_path, left_by_0_1);
    if (!status) status = cli_move_file(fresh, path);
    if (!status) unlink(old);
    return status;
}

int cli_stats_swap(const char *model_path)
{
    char path[PATH_BYTES], kept[PATH_BYTES];
    int status = path_beside(path, model_path, current);
    if (!status) status = path_beside(kept, model_path, previous);
    return status ? status : cli_exchange_files(path, kept);
}
