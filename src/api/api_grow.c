/* Entry points of broad.h: growing. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "model/train/correct.h"
#include "model/train/plan.h"
#include "model/train/prepare_photos.h"
#include "model/train/train.h"
#include "model/train/train_open.h"
#include "model/train/train_rows.h"
#include "store/store_stats.h"

static int missing_argument(const char *function)
{
    return broad__fail(BROAD_USAGE, "%s: an argument is NULL", function);
}

int broad_trainer_open(broad_trainer **out, const broad_data *data, const broad_options *options)
{
    if (!out || !data || !options) return missing_argument("broad_trainer_open");
    *out = NULL;
    broad__profile_scope before = broad__profile_enter(options->profile);
    int status = broad__trainer_open_photos(out, data, options);
    broad__profile_leave(before);
    return status;
}

int broad_trainer_resume(broad_trainer **out, const broad_model *model, const broad_data *data,
                         const broad_options *run, int force)
{
    if (!out || !model || !run) return missing_argument("broad_trainer_resume");
    *out = NULL;
    broad__profile_scope before = broad__profile_enter(run->profile);
    int status = broad__trainer_resume(out, model, data, run, force);
    broad__profile_leave(before);
    return status;
}

int broad_trainer_validate(broad_trainer *trainer, const broad_data *rows)
{
    if (!trainer || !rows) return missing_argument("broad_trainer_validate");
    broad__profile_scope before = broad__profile_enter(trainer->run.profile);
    int status = broad__trainer_validate_photos(trainer, rows);
    broad__profile_leave(before);
    return status;
}

int broad_trainer_enhance(broad_trainer *trainer, size_t nodes, size_t layers)
{
    if (!trainer) return missing_argument("broad_trainer_enhance");
    broad__profile_scope before = broad__profile_enter(trainer->run.profile);
    int status = broad__trainer_enhance(trainer, nodes, layers);
    broad__profile_leave(before);
    return status;
}

int broad_trainer_features(broad_trainer *trainer, size_t groups, size_t nodes, size_t enhance)
{
    if (!trainer) return missing_argument("broad_trainer_features");
    broad__profile_scope before = broad__profile_enter(trainer->run.profile);
    int status = broad__trainer_features(trainer, groups, nodes, enhance);
    broad__profile_leave(before);
    return status;
}

int broad_trainer_learn(broad_trainer *trainer, const broad_data *rows, size_t nodes, size_t layers, int forgetful)
{
    if (!trainer || !rows) return missing_argument("broad_trainer_learn");
    broad__profile_scope before = broad__profile_enter(trainer->run.profile);
    int status = broad__trainer_learn(trainer, rows, NULL, nodes, layers, forgetful);
    broad__profile_leave(before);
    return status;
}

int broad_trainer_learn_weighted(broad_trainer *trainer, const broad_data *rows, const double *weights, size_t nodes,
                                 size_t layers, int forgetful)
{
    if (!trainer || !rows || !weights) return missing_argument("broad_trainer_learn_weighted");
    broad__profile_scope before = broad__profile_enter(trainer->run.profile);
    int status = broad__trainer_learn(trainer, rows, weights, nodes, layers, forgetful);
    broad__profile_leave(before);
    return status;
}

void broad_correction_init(broad_correction *out) { *out = (broad_correction){.size = sizeof *out}; }

int broad_trainer_correct(broad_correction *out, broad_trainer *trainer, const broad_data *rows, double *weights)
{
    if (!out || !trainer || !rows) return missing_argument("broad_trainer_correct");
    if (out->size != sizeof *out)
        return broad__fail(BROAD_USAGE, "broad_trainer_correct: call broad_correction_init() on the result first");
    broad__profile_scope before = broad__profile_enter(trainer->run.profile);
    int status = broad__trainer_correct(out, weights, trainer, rows);
    broad__profile_leave(before);
    return status;
}

const broad_model *broad_trainer_model(const broad_trainer *trainer) { return trainer ? trainer->model : NULL; }

broad_seconds broad_trainer_seconds(const broad_trainer *trainer)
{
    if (!trainer) return (broad_seconds){0};
    broad_seconds seconds = trainer->seconds;
    seconds.total = broad__seconds() - trainer->started;
    return seconds;
}

void broad_trainer_close(broad_model **out, broad_trainer *trainer) { broad__trainer_close(out, trainer); }

/* ---- sums instead of rows -------------------------------------------------------------------------------------- */

int broad_stats_new(broad_stats **out, const broad_model *model, const broad_data *training, size_t threads)
{
    if (!out || !model || !training) return missing_argument("broad_stats_new");
    *out = NULL;
    return broad__stats_new(out, model, training, threads);
}

int broad_stats_learn(broad_stats *stats, broad_model *model, const broad_data *rows, size_t threads)
{
    if (!stats || !model || !rows) return missing_argument("broad_stats_learn");
    return broad__stats_learn(stats, model, rows, threads);
}

int broad_stats_save(const broad_stats *stats, const char *path)
{
    if (!stats || !path) return missing_argument("broad_stats_save");
    return broad__stats_save(stats, path);
}

int broad_stats_load(broad_stats **out, const char *path, const broad_model *model)
{
    if (!out || !path || !model) return missing_argument("broad_stats_load");
    *out = NULL;
    return broad__stats_load(out, path, model);
}

size_t broad_stats_rows(const broad_stats *stats) { return stats->rows; }

void broad_stats_free(broad_stats *stats) { broad__stats_free(stats); }

/* ---- planning -------------------------------------------------------------------------------------------------- */

int broad_plan_run(broad_plan *out, const broad_options *options, const broad_model *model, size_t rows, size_t inputs,
                   size_t outputs)
{
    if (!out || !options) return missing_argument("broad_plan_run");
    return broad__plan_run(out, options, model, rows, inputs, outputs);
}
