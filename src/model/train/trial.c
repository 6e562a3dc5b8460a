#include "model/train/trial.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "feature/phi.h"
#include "feature/sample.h"
#include "metric/calibration.h"
#include "model/train/describe_data.h"
#include "model/train/features.h"

void broad__trial_close(broad__trial *trial)
{
    if (!trial->borrowed) {
        broad__table_free(trial->rows);
        broad__free(trial->y);
    }
    broad__joint_clear(&trial->joint);
    trial->residual.z.stored = NULL;
    broad__residual_close(&trial->residual);
    broad__free(trial->weight), broad__free(trial->bias), broad__free(trial->z);
}

/* Room for the nodes of the rows that it has. */
static int open_nodes(broad__trial *trial)
{
    broad_trainer *t = trial->trainer;
    size_t rows = trial->rows->rows, capacity = trial->capacity;
    trial->weight = broad__alloc_doubles(trial->columns, capacity);
    trial->bias = broad__alloc_doubles(capacity, 1);
    trial->z = broad__alloc_doubles(rows, capacity);
    if (!trial->weight || !trial->bias || !trial->z) return BROAD_NO_MEMORY;
    int status = broad__residual_open(&trial->residual, t->device, t->pool, t->model->outputs);
    if (status == BROAD_OK) status = broad__residual_append(&trial->residual, trial->y, rows);
    trial->residual.z.stored = trial->z;
    trial->residual.z.features = capacity;
    trial->residual.group = trial->rows->groups;
    return status;
}

int broad__trial_open(broad__trial *out, broad_trainer *t, const broad_data *data, size_t rows, size_t capacity)
{
    broad_model *model = t->model;
    size_t count = data->rows < rows ? data->rows : rows;
    *out = (broad__trial){
        .trainer = t, .capacity = capacity, .columns = broad__model_columns(model), .exponent = BROAD__TRIAL_EXPONENT};
    int status = broad__table_thin(&out->rows, data, count);
    if (status < 0) return status;
    out->y = broad__alloc_doubles(count, model->outputs);
    if (!out->y) return BROAD_NO_MEMORY;
    broad__model_targets(out->y, model, out->rows, 0, count);
    return open_nodes(out);
}

int broad__trial_open_beside(broad__trial *out, const broad__trial *first)
{
    *out = (broad__trial){.trainer = first->trainer,
                          .rows = first->rows,
                          .y = first->y,
                          .borrowed = 1,
                          .columns = first->columns,
                          .capacity = first->capacity,
                          .exponent = first->exponent};
    return open_nodes(out);
}

void broad__trial_use_pool(broad__trial *trial, broad__pool *pool) { trial->residual.pool = pool; }

void broad__trial_restart(broad__trial *trial)
{
    broad__joint_clear(&trial->joint);
    trial->nodes = trial->blocks = 0;
}

static int sample_block(double *weight, broad__trial *trial, const broad__trial_block *block)
{
    const broad_model *model = trial->trainer->model;
    broad__sample_task task = {
        .scaling = broad__model_scaling(model),
        .x = trial->rows->x,
        .rows = trial->rows->rows,
        .relevance = block->relevance,
        .root = block->root,
        .nodes = block->nodes,
        .range = block->range * model->settings.range,
        .grid_height = trial->rows->grid_height,
        .grid_width = trial->rows->grid_width,
        .direction = broad__style_direction(block->style, trial->blocks),
        .stream = {.seed = model->settings.seed, .purpose = BROAD__FOR_PILOT, .layer = (uint32_t)trial->blocks}};
    int status = broad__sample_nodes(weight, trial->bias + trial->nodes, &task);
    for (size_t j = 0; status == BROAD_OK && j < trial->columns; j++)
        memcpy(trial->weight + j * trial->capacity + trial->nodes, weight + j * block->nodes,
               block->nodes * sizeof(double));
    return status;
}

int broad__trial_add(broad__trial *trial, const broad__trial_block *block)
{
    broad_trainer *t = trial->trainer;
    const broad_options *o = &t->model->settings;
    if (trial->blocks == BROAD__TRIAL_BLOCKS || trial->nodes + block->nodes > trial->capacity)
        return broad__fail(BROAD_BUG, "a trial has room for %zu nodes and %d blocks", trial->capacity,
                           (int)BROAD__TRIAL_BLOCKS);
    double *weight = broad__alloc_doubles(trial->columns, block->nodes);
    int status = weight ? sample_block(weight, trial, block) : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        broad__phi phi = {t->device,
                          {trial->columns,
                           block->nodes,
                           weight,
                           trial->bias + trial->nodes,
                           o->feature_activation,
                           o->precision == BROAD_PRECISION_FLOAT,
                           NULL,
                           NULL,
                           {0}},
                          broad__model_scaling(t->model)};
        status = broad__phi_rows(trial->z + trial->nodes, trial->capacity, &phi, trial->residual.pool, trial->rows->x,
                                 trial->rows->rows);
    }
    broad__free(weight);
    if (status < 0) return status;
    trial->kblocks[trial->blocks++] = (broad__kblock){
        {trial->capacity, 0, NULL, NULL, o->activation, 0, NULL, NULL, {0}}, trial->nodes, block->nodes};
    trial->nodes += block->nodes;
    return BROAD_OK;
}

int broad__trial_fit(broad__trial *trial)
{
    const broad_options *o = &trial->trainer->model->settings;
    broad__joint_task task = {.residual = &trial->residual,
                              .y = trial->y,
                              .kblocks = trial->kblocks,
                              .count = trial->blocks,
                              .lambda_auto = o->lambda_auto,
                              .lambda = o->lambda,
                              .exponent = &trial->exponent,
                              .loo = 1,
                              .rough = trial->rough,
                              .scores_alone = trial->scores_alone,
                              .hopeless = trial->hopeless};
    return broad__joint_fit(&trial->joint, &task);
}

size_t broad__trial_judged(const broad__trial *trial)
{
    return trial->joint.given_up ? trial->joint.search_count : trial->joint.sample_count;
}

double broad__trial_error(const broad__trial *trial)
{
    size_t rows = trial->rows->rows, judged = broad__trial_judged(trial);
    double square = 0, of_each = (double)rows / (double)(judged ? judged : rows);
    for (size_t i = 0; i < rows * trial->trainer->model->outputs; i++) square += trial->y[i] * trial->y[i];
    return square > 0 ? trial->joint.loo * trial->joint.loo * of_each / square : 0;
}

/* out: sample_count x outputs. */
static void misses(double *out, const broad__trial *trial)
{
    const broad__joint *j = &trial->joint;
    for (size_t i = 0; i < j->sample_count * j->outputs; i++) out[i] = j->sample_y[i] - j->loo_scores[i];
}

/* The same of classes: probability less 1 or 0. truth: scratch, sample_count */
static void class_misses(double *out, const broad__trial *trial, size_t *truth, double *calibration)
{
    const broad_model *model = trial->trainer->model;
    const broad__joint *j = &trial->joint;
    size_t c = j->outputs;
    for (size_t i = 0; i < j->sample_count * c; i++)
        out[i] = j->loo_scores[i] / model->output_factor[i % c] + model->output_shift[i % c];
    for (size_t i = 0; i < j->sample_count; i++) truth[i] = trial->rows->classes[j->sample[i]];
    calibration[0] = broad__calibrate(out, truth, NULL, j->sample_count, c, calibration + 1);
    broad__calibrated(out, out, j->sample_count, c, calibration);
    for (size_t i = 0; i < j->sample_count; i++) out[i * c + truth[i]] -= 1;
}

int broad__trial_squares(double *out, const broad__trial *trial)
{
    const broad__joint *j = &trial->joint;
    size_t c = j->outputs;
    for (size_t i = 0; i < trial->rows->rows; i++) out[i] = -1;
    if (j->given_up) return BROAD_OK;
    double *miss = broad__alloc_doubles(j->sample_count, c), *calibration = broad__alloc_doubles(c + 1, 1);
    size_t *truth = broad__alloc_array(j->sample_count, sizeof *truth);
    int status = miss && calibration && truth ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK && trial->rows->classes) class_misses(miss, trial, truth, calibration);
    else if (status == BROAD_OK) misses(miss, trial);
    for (size_t i = 0; status == BROAD_OK && i < j->sample_count; i++) {
        double square = 0;
        for (size_t q = i * c; q < (i + 1) * c; q++) square += miss[q] * miss[q];
        out[j->sample[i]] = square;
    }
    broad__free(miss);
    broad__free(calibration);
    broad__free(truth);
    return status;
}

int broad__trial_mean_square(double *out, const broad__trial *trial)
{
    size_t rows = trial->rows->rows, count = 0;
    double sum = 0, *squares = broad__alloc_doubles(rows, 1);
    int status = squares ? broad__trial_squares(squares, trial) : BROAD_NO_MEMORY;
    for (size_t i = 0; status == BROAD_OK && i < rows; i++) {
        if (squares[i] < 0) continue;
        sum += squares[i];
        count++;
    }
    *out = count ? sum / (double)count : INFINITY;
    broad__free(squares);
    return status;
}
