#include "model/train/choose_photo_maps.h"

#include <math.h>

#include "base/status.h"
#include "base/watch.h"
#include "compute/pool.h"
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

/* The trials' rows, as components of their maps. */
typedef struct preparing {
    const broad_data *rows;
    const broad_map_choice *choice;
    broad_data *components[BROAD_PHOTO_MAP_TRIALS_MAX];
    int status[BROAD_PHOTO_MAP_TRIALS_MAX];
} preparing;

static int prepare(broad_data **out, const broad_data *rows, unsigned maps)
{
    broad_data *part = NULL;
    int status = broad__table_narrow(&part, rows, maps);
    if (status == BROAD_OK) status = broad__table_project_alone(out, part, broad__projection_components(rows->rows), 1);
    broad__table_free(part);
    return status;
}

/* By any thread. */
static void prepare_one(void *context, size_t index, size_t worker)
{
    (void)worker;
    preparing *p = context;
    p->status[index] = prepare(&p->components[index], p->rows, p->choice->trials[index].maps);
}

static int prepare_all(preparing *p, size_t threads)
{
    broad__pool *pool = NULL;
    int status = broad__pool_open(&pool, threads);
    if (status < 0) return status;
    broad__pool_run(pool, p->choice->count, prepare_one, p);
    broad__pool_close(pool);
    status = broad__watch_check(BROAD_OK);
    /* What failed on another thread fails on this one too, with its message. */
    for (size_t i = 0; status == BROAD_OK && i < p->choice->count; i++)
        if (p->status[i] == BROAD_NO_MEMORY) status = broad__fail_memory(sizeof *p->components[i]);
        else if (p->status[i] < 0) prepare_one(p, i, 0), status = p->status[i];
    return status;
}

static int try_maps(double *out, preparing *p, size_t index, const broad_options *options)
{
    broad_options trial = trial_options(options);
    int status = broad__trainer_glance(out, p->components[index], &trial);
    broad__table_free(p->components[index]);
    p->components[index] = NULL;
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
    preparing p = {.rows = rows, .choice = out};
    int status = stopped(0, out->count) ? broad__watch_stop() : prepare_all(&p, options->threads);
    for (size_t i = 0; status == BROAD_OK && i < out->count; i++) {
        if (i && stopped(i, out->count)) status = broad__watch_stop();
        else status = broad__watch_check(try_maps(&out->trials[i].error, &p, i, options));
    }
    for (size_t i = 0; i < out->count; i++) broad__table_free(p.components[i]);
    if (status == BROAD_OK) pick_best(out, rows->rows);
    return status;
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
