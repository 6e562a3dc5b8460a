/*
 * Every new row starts with a small weight. Whichever the network still judges incorrectly gets twice the weight, and
 * the network is solved again from where it was before, until all are judged correctly or no weight may grow further.
 * So each row counts as little as does, and the old rows are disturbed as little as possible.
 */
#include "model/train/correct.h"

#include "base/memory.h"
#include "base/status.h"
#include "model/kind.h"
#include "model/predict/predict.h"
#include "model/train/describe_data.h"
#include "model/train/train_open.h"
#include "model/train/train_rows.h"

static const double WEIGHT_LEAST = 0.25, WEIGHT_STEP = 2;

typedef struct correction {
    broad_trainer *trainer;
    const broad_data *rows;
    broad_model *before; /* the network without the rows */
    size_t parts;        /* of the training rows then */
    double *weights;     /* of the rows */
    double *scores;      /* rows x outputs */
    size_t tries, wrong;
    size_t raised; /* rows whose weight has just grown */
} correction;

int broad__model_can_correct(const broad_model *model)
{
    broad__fitting fitting = broad__fitting_of(&model->settings);
    return model->task == BROAD_TASK_CLASSIFY && (fitting == BROAD__FIT_FINALLY || fitting == BROAD__FIT_AT_ONCE);
}

/* Augmented copies are there to help, not to be judged. */
static int is_wrong(const correction *c, const broad_model *model, size_t row)
{
    if (c->rows->photos.items && c->rows->photos.items[row].copy) return 0;
    return broad_best_class(model, c->scores + row * model->outputs) != broad_data_class(c->rows, row);
}

/* Judges all rows, and raises the weights of those that are wrong. */
static int judge(correction *c)
{
    const broad_model *model = c->trainer->model;
    int status =
        broad__predict(c->scores, model, c->rows->x, c->rows->rows, model->inputs, c->trainer->run.threads, NULL);
    c->wrong = c->raised = 0;
    for (size_t i = 0; status == BROAD_OK && i < c->rows->rows; i++) {
        if (!is_wrong(c, model, i)) continue;
        c->wrong++;
        if (c->weights[i] >= BROAD_CORRECTION_MOST) continue;
        c->weights[i] *= WEIGHT_STEP;
        c->raised++;
    }
    return status;
}

static int search(correction *c)
{
    broad_trainer *t = c->trainer;
    for (c->tries = 1;; c->tries++) {
        int status = broad__trainer_learn(t, c->rows, c->weights, 0, 0, 0);
        if (status < 0 || t->model->outcome == BROAD_OUTCOME_STOPPED) return status;
        status = judge(c);
        if (status < 0 || !c->raised) return status;
        status = broad__trainer_return(t, c->before, c->parts);
        if (status < 0) return status;
    }
}

static int check(const broad_trainer *t, const broad_data *rows)
{
    if (t->partial || !t->train.part_count)
        return broad__fail(BROAD_USAGE, "corrections need the rows that the network was trained on");
    if (!broad__model_can_correct(t->model))
        return broad__fail(BROAD_USAGE, "weights of corrections are searched for classes and joint weights only; give "
                                        "weights of your own");
    return broad__model_fits(t->model, rows);
}

static double largest(const double *weights, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        if (weights[i] > most) most = weights[i];
    return most;
}

int broad__trainer_correct(broad_correction *out, double *weights, broad_trainer *trainer, const broad_data *rows)
{
    correction c = {.trainer = trainer, .rows = rows, .parts = trainer->train.part_count};
    int status = check(trainer, rows);
    if (status < 0) return status;
    size_t outputs = rows->outputs > trainer->model->outputs ? rows->outputs : trainer->model->outputs;
    c.weights = broad__alloc_doubles(rows->rows, 1);
    c.scores = broad__alloc_doubles(rows->rows, outputs);
    status = c.weights && c.scores ? broad__model_copy(&c.before, trainer->model) : BROAD_NO_MEMORY;
    for (size_t i = 0; status == BROAD_OK && i < rows->rows; i++) c.weights[i] = WEIGHT_LEAST;
    if (status == BROAD_OK) status = search(&c);
    if (status == BROAD_OK) {
        out->weight = largest(c.weights, rows->rows);
        out->wrong = c.wrong;
        out->tries = c.tries;
        for (size_t i = 0; weights && i < rows->rows; i++) weights[i] = c.weights[i];
    }
    broad_model_free(c.before);
    broad__free(c.scores);
    broad__free(c.weights);
    return status;
}
