/* Entry points of broad.h: training, growing, sums of rows, planning. */
#include "api/api_check.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "comm/comm.h"
#include "model/kind.h"
#include "model/train/correct.h"
#include "model/train/output_weights.h"
#include "model/train/plan.h"
#include "model/train/plan_ranks.h"
#include "model/train/prepare_photos.h"
#include "model/train/train.h"
#include "model/train/train_open.h"
#include "model/train/train_rows.h"
#include "store/store_stats.h"

/* A trainer is handed over by a call that succeeds to its end. */
static int opened(broad_trainer **out, int status)
{
    if (status < 0 && *out) broad__trainer_close(NULL, *out);
    if (status < 0) *out = NULL;
    return status;
}

int broad_trainer_open(broad_trainer **out, const broad_data *data, const broad_options *options)
{
    if (out) *out = NULL;
    if (!out || !data || !options) return broad__missing_argument("broad_trainer_open");
    broad_options full;
    int status = broad__training_options_take(&full, options);
    if (status < 0) return status;
    broad__training training;
    broad__training_begin(&training, "features", &full);
    return opened(out, broad__training_end(&training, broad__trainer_open_photos(out, data, &full)));
}

int broad_trainer_resume(broad_trainer **out, const broad_model *model, const broad_data *data,
                         const broad_options *run, broad_resume how)
{
    if (out) *out = NULL;
    if (!out || !model || !run) return broad__missing_argument("broad_trainer_resume");
    broad_options full;
    int status = broad__training_options_take(&full, run);
    if (status < 0) return status;
    broad__training training;
    broad__training_begin(&training, "features", &full);
    status = broad__trainer_resume(out, model, data, &full, how == BROAD_RESUME_FORCED);
    return opened(out, broad__training_end(&training, status));
}

int broad_trainer_validate(broad_trainer *trainer, const broad_data *rows)
{
    if (!trainer || !rows) return broad__missing_argument("broad_trainer_validate");
    broad__training training;
    broad__training_begin(&training, "layers", &trainer->run);
    return broad__training_end(&training, broad__trainer_validate_photos(trainer, rows));
}

int broad_trainer_enhance(broad_trainer *trainer, size_t nodes, size_t layers)
{
    if (!trainer) return broad__missing_argument("broad_trainer_enhance");
    broad__training training;
    broad__training_begin(&training, "layers", &trainer->run);
    return broad__training_end(&training, broad__trainer_enhance(trainer, nodes, layers));
}

int broad_trainer_leave_out(double *out, broad_trainer *trainer)
{
    if (!out || !trainer) return broad__missing_argument("broad_trainer_leave_out");
    broad__training training;
    broad__training_begin(&training, "joint", &trainer->run);
    return broad__training_end(&training, broad__outputs_leave_out(out, trainer));
}

int broad_trainer_features(broad_trainer *trainer, size_t groups, size_t nodes, size_t enhance)
{
    if (!trainer) return broad__missing_argument("broad_trainer_features");
    broad__training training;
    broad__training_begin(&training, "layers", &trainer->run);
    return broad__training_end(&training, broad__trainer_features(trainer, groups, nodes, enhance));
}

int broad_trainer_learn(broad_trainer *trainer, const broad_data *rows, size_t nodes, size_t layers, broad_learn how)
{
    if (!trainer || !rows) return broad__missing_argument("broad_trainer_learn");
    broad__training training;
    broad__training_begin(&training, "layers", &trainer->run);
    return broad__training_end(&training,
                               broad__trainer_learn(trainer, rows, NULL, nodes, layers, how == BROAD_LEARN_NEW_ROWS));
}

int broad_trainer_learn_weighted(broad_trainer *trainer, const broad_data *rows, const double *weights, size_t nodes,
                                 size_t layers, broad_learn how)
{
    if (!trainer || !rows || !weights) return broad__missing_argument("broad_trainer_learn_weighted");
    broad__training training;
    broad__training_begin(&training, "layers", &trainer->run);
    return broad__training_end(
        &training, broad__trainer_learn(trainer, rows, weights, nodes, layers, how == BROAD_LEARN_NEW_ROWS));
}

int broad_trainer_correct(broad_correction *out, broad_trainer *trainer, const broad_data *rows, double *weights)
{
    if (!out || !trainer || !rows) return broad__missing_argument("broad_trainer_correct");
    broad_correction full = {.size = sizeof full};
    int status = broad__struct_check(out, sizeof *out, "broad_correction");
    if (status < 0) return status;
    broad__training training;
    broad__training_begin(&training, "layers", &trainer->run);
    status = broad__table_gather(rows);
    if (status == BROAD_OK) status = broad__trainer_correct(&full, weights, trainer, rows);
    status = broad__training_end(&training, status);
    if (status == BROAD_OK) broad__result_give(out, &full, sizeof full);
    return status;
}

const broad_model *broad_trainer_model(const broad_trainer *trainer) { return trainer ? trainer->model : NULL; }

int broad_trainer_seconds(broad_seconds *out, const broad_trainer *trainer)
{
    if (!out || !trainer) return broad__missing_argument("broad_trainer_seconds");
    int status = broad__struct_check(out, sizeof *out, "broad_seconds");
    if (status < 0) return status;
    broad_seconds full = trainer->seconds;
    full.total = broad__seconds() - trainer->started;
    broad__result_give(out, &full, sizeof full);
    return BROAD_OK;
}

void broad_trainer_close(broad_model **out, broad_trainer *trainer)
{
    if (out) *out = NULL;
    if (trainer) broad__trainer_close(out, trainer);
}

int broad_fit(broad_model **out, broad_seconds *out_seconds, const broad_data *data, const broad_options *options)
{
    if (out) *out = NULL;
    if (!out || !data || !options) return broad__missing_argument("broad_fit");
    broad_options full;
    broad_trainer *trainer = NULL;
    int status = broad__training_options_take(&full, options);
    if (status == BROAD_OK && out_seconds)
        status = broad__struct_check(out_seconds, sizeof *out_seconds, "broad_seconds");
    if (status < 0) return status;
    broad__training training;
    broad__training_begin(&training, "features", &full);
    status = broad__trainer_open_photos(&trainer, data, &full);
    if (status == BROAD_OK) status = broad__trainer_enhance(trainer, full.enhance_nodes, full.enhance_layers);
    if (out_seconds && trainer) broad_trainer_seconds(out_seconds, trainer);
    status = broad__comm_whole(status);
    broad__trainer_close(status == BROAD_OK ? out : NULL, trainer);
    return broad__training_end(&training, status);
}

/* ---- sums instead of rows -------------------------------------------------------------------------------------- */

int broad_stats_new(broad_stats **out, const broad_model *model, const broad_data *training,
                    const broad_run_options *run)
{
    if (out) *out = NULL;
    if (!out || !model || !training) return broad__missing_argument("broad_stats_new");
    broad__call call;
    int status = broad__call_begin(&call, "stats", run);
    if (status < 0) return status;
    status = broad__table_gather(training);
    if (status == BROAD_OK) status = broad__stats_new(out, model, training, call.run.threads);
    status = broad__call_end(&call, status);
    if (status < 0) broad_stats_free(*out);
    if (status < 0) *out = NULL;
    return status;
}

int broad_stats_learn(broad_stats *stats, broad_model *model, const broad_data *rows, const broad_run_options *run)
{
    if (!stats || !model || !rows) return broad__missing_argument("broad_stats_learn");
    broad__call call;
    int status = broad__call_begin(&call, "stats", run);
    if (status < 0) return status;
    status = broad__table_gather(rows);
    if (status == BROAD_OK) status = broad__stats_learn(stats, model, rows, call.run.threads);
    return broad__call_end(&call, status);
}

int broad_stats_save(const broad_stats *stats, const char *path)
{
    if (!stats || !path) return broad__missing_argument("broad_stats_save");
    return broad__stats_save(stats, path);
}

int broad_stats_load(broad_stats **out, const char *path, const broad_model *model)
{
    if (out) *out = NULL;
    if (!out || !path || !model) return broad__missing_argument("broad_stats_load");
    return broad__stats_load(out, path, model);
}

size_t broad_stats_rows(const broad_stats *stats) { return stats ? stats->rows : 0; }

void broad_stats_free(broad_stats *stats) { broad__stats_free(stats); }

/* ---- planning -------------------------------------------------------------------------------------------------- */

int broad_plan_ranks(broad_ranks_plan *out, const broad_options *options, size_t rows, size_t inputs, size_t outputs,
                     size_t ranks)
{
    if (!out || !options) return broad__missing_argument("broad_plan_ranks");
    broad_options full;
    broad_ranks_plan plan;
    int status = broad__struct_check(out, sizeof *out, "broad_ranks_plan");
    if (status == BROAD_OK) status = broad__training_options_take(&full, options);
    if (status == BROAD_OK) status = broad__kind_exists(full.kind);
    if (status == BROAD_OK) status = broad__plan_ranks(&plan, &full, rows, inputs, outputs, ranks);
    if (status == BROAD_OK) broad__result_give(out, &plan, sizeof plan);
    return status;
}

int broad_plan_run(broad_plan *out, const broad_options *options, const broad_model *model, size_t rows, size_t inputs,
                   size_t outputs)
{
    if (!out || !options) return broad__missing_argument("broad_plan_run");
    broad_options full;
    broad_plan plan;
    int status = broad__struct_check(out, sizeof *out, "broad_plan");
    if (status == BROAD_OK) status = broad__training_options_take(&full, options);
    if (status == BROAD_OK) status = broad__kind_exists(full.kind);
    if (status == BROAD_OK) status = broad__plan_run(&plan, &full, model, rows, inputs, outputs);
    if (status == BROAD_OK) broad__result_give(out, &plan, sizeof plan);
    return status;
}
