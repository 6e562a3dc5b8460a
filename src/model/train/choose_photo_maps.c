#include "model/train/choose_photo_maps.h"

#include <math.h>

#include "base/status.h"
#include "base/watch.h"
#include "data/photo/photo_rows.h"
#include "data/transform/projection.h"
#include "model/train/train_open.h"

/* As many rows as the pilot uses; enough nodes to tell maps apart, and cheap. */
enum { CHOICE_ROWS = 1000, CHOICE_GROUPS = 10, CHOICE_NODES = 50 };

/* The settings that `auto` starts from, whatever those of the network. */
static broad_options trial_options(const broad_options *options)
{
    broad_options trial;
    broad_options_init(&trial);
    trial.seed = options->seed;
    trial.threads = options->threads;
    trial.class_weight = options->class_weight;
    trial.metric = BROAD_LEARNED_NO;
    trial.features_auto = 0;
    trial.feature_groups = CHOICE_GROUPS;
    trial.feature_nodes = CHOICE_NODES;
    return trial;
}

static int try_maps(double *out, const broad_data *rows, unsigned maps, const broad_options *options)
{
    size_t wanted = broad__projection_components(rows->rows);
    broad_data *part = NULL, *components = NULL;
    broad_options trial = trial_options(options);
    int status = broad__table_narrow(&part, rows, maps);
    if (status == BROAD_OK) status = broad__table_project_alone(&components, part, wanted);
    if (status == BROAD_OK) status = broad__trainer_glance(out, components, &trial);
    broad__table_free(components);
    broad__table_free(part);
    return status;
}

static void list_trials(broad_map_choice *out, unsigned maps)
{
    *out = (broad_map_choice){.maps = maps};
    for (unsigned map = 1; map < BROAD_PHOTO_MAP_ALL; map *= 2)
        if (maps & map) out->trials[out->count++].maps = map;
    if (out->count > 1) out->trials[out->count++].maps = maps;
}

static int stopped(size_t done, size_t total)
{
    broad_progress progress = {.stage = "maps", .done = done, .total = total, .part = (double)done / (double)total};
    return broad__watch_tell(&progress);
}

/* Errors by leave-one-out are not exact: all maps together, the last trial, stay unless one of them is better by more than
 * chance, of which the mean of as many squares of normal residuals has the part sqrt(2 / rows). */
static void pick_best(broad_map_choice *out, size_t rows)
{
    double least = (1 - fmin(1, sqrt(2 / (double)rows))) * out->trials[out->count - 1].error;
    for (size_t i = 0; i + 1 < out->count; i++) {
        if (out->trials[i].error >= least) continue;
        least = out->trials[i].error;
        out->maps = out->trials[i].maps;
    }
}

static int run_trials(broad_map_choice *out, const broad_data *rows, const broad_options *options)
{
    for (size_t i = 0; i < out->count; i++) {
        if (stopped(i, out->count)) return broad__watch_stop();
        int status = try_maps(&out->trials[i].error, rows, out->trials[i].maps, options);
        if (status < 0) return broad__watch_check(status);
    }
    pick_best(out, rows->rows);
    return BROAD_OK;
}

int broad__choose_maps(broad_map_choice *out, const broad_data *data, const broad_options *options)
{
    broad_map_choice choice;
    broad_data *some = NULL;
    list_trials(&choice, (unsigned)data->photos.spec.maps);
    int status = BROAD_OK;
    if (choice.count > 1 && data->rows > CHOICE_ROWS) status = broad__table_thin(&some, data, CHOICE_ROWS);
    if (status == BROAD_OK && choice.count > 1) status = run_trials(&choice, some ? some : data, options);
    broad__table_free(some);
    if (status == BROAD_OK) *out = choice;
    return status;
}
