/* Algorithm 4: further rows, alone or beside the earlier ones. */
#include "model/train/train_rows.h"

#include "base/clock.h"
#include "base/status.h"
#include "model/kind.h"
#include "model/train/classes.h"
#include "model/train/describe_data.h"
#include "model/train/train.h"
#include "model/train/train_layers.h"

/* The new rows alone take the place of the training rows. */
static int forget(broad_trainer *t, size_t first_row)
{
    broad__rowset_close(&t->train);
    int status = broad__rowset_open(&t->train, t->model, t->device, t->pool, &t->storage);
    t->train.divisible = 1;
    t->train.groups = t->model->group_count;
    t->first_row = first_row;
    broad__rowset_probe(&t->train, first_row);
    t->partial = 1;
    return status;
}

static int widen_rowsets(broad_trainer *t)
{
    size_t outputs = t->model->outputs;
    int status = BROAD_OK;
    if (t->train.residual.outputs != outputs) broad__joint_clear(&t->joint);
    if (t->train.residual.outputs != outputs && t->train.part_count) status = broad__rowset_widen(&t->train, outputs);
    if (status == BROAD_OK && t->validation.residual.outputs != outputs && t->validation.part_count)
        status = broad__rowset_widen(&t->validation, outputs);
    t->train.residual.outputs = outputs;
    return status;
}

/* How many rows from `first` on have the same weight. */
static size_t rows_alike(const double *weights, size_t first, size_t rows)
{
    size_t end = first + 1;
    while (end < rows && (!weights || weights[end] == weights[first])) end++;
    return end - first;
}

/* Rows and classes are the model's before its first layer on them is searched; a failure in between leaves Z and E to
 * be recomputed. */
static int take_rows(broad_trainer *t, const broad_data *rows, const double *weights, int forgetful)
{
    broad_model *model = t->model;
    size_t before = model->rows, segments = model->segment_count, first = 0;
    int status = BROAD_OK;
    while (status == BROAD_OK && first < rows->rows) {
        size_t count = rows_alike(weights, first, rows->rows);
        status = broad__model_add_segment(model, rows, first, count, weights ? weights[first] : 1);
        first += count;
    }
    if (status == BROAD_OK) status = broad__model_add_classes(model, rows);
    if (status == BROAD_OK) status = widen_rowsets(t);
    if (status == BROAD_OK && forgetful) status = forget(t, before);
    first = 0;
    for (size_t i = segments; status == BROAD_OK && i < model->segment_count; i++) {
        const broad__segment *segment = &model->segments[i];
        status = broad__rowset_add_rows(&t->train, (broad__part){rows, first, segment->rows, segment->weight},
                                        model->layer_count);
        first += segment->rows;
    }
    if (status == BROAD_OK) return BROAD_OK;
    model->rows = before;
    model->segment_count = segments;
    t->stale = 1;
    return status;
}

/* New rows can do without new nodes where the weights of the old ones are solved again. */
static int joint_at_end(const broad_options *options)
{
    broad__fitting fitting = broad__fitting_of(options);
    return fitting == BROAD__FIT_AT_ONCE || fitting == BROAD__FIT_FINALLY;
}

/* Of the joint weights as they are. */
static double joint_lambda(const broad_model *model)
{
    return model->joint.present ? model->joint.lambda : model->layers[0].certificate.lambda;
}

static int check_weights(const double *weights, size_t rows)
{
    for (size_t i = 0; weights && i < rows; i++)
        if (!(weights[i] >= BROAD__SEGMENT_WEIGHT_MIN && weights[i] <= BROAD__SEGMENT_WEIGHT_MAX))
            return broad__fail(BROAD_USAGE, "the weight of new row %zu is %g; it must be from %g to %g", i + 1,
                               weights[i], BROAD__SEGMENT_WEIGHT_MIN, BROAD__SEGMENT_WEIGHT_MAX);
    return BROAD_OK;
}

/* Whether this network can learn rows in this way. */
static int check_way(const broad_model *model, size_t layers, int forgetful)
{
    if (model->layer_count == 0)
        return broad__fail(BROAD_USAGE, "the network has no layer yet: fit it to all rows instead");
    if (forgetful && broad__fitting_of(&model->settings) != BROAD__FIT_CHAIN)
        return broad__fail(BROAD_USAGE,
                           "joint weights are solved on all rows: they cannot be learned from new rows alone");
    if (!layers && !joint_at_end(&model->settings))
        return broad__fail(BROAD_USAGE, "this network learns new rows by further layers: give it at least one");
    return BROAD_OK;
}

int broad__trainer_learn(broad_trainer *t, const broad_data *rows, const double *weights, size_t nodes, size_t layers,
                         int forgetful)
{
    double began = broad__seconds(), features = t->seconds.features;
    int partial = t->partial, status = broad__table_meet(rows);
    if (status == BROAD_OK) status = broad__model_fits(t->model, rows);
    if (status == BROAD_OK) status = check_weights(weights, rows->rows);
    if (status == BROAD_OK) status = check_way(t->model, layers, forgetful);
    if (forgetful) t->partial = 0;
    if (status == BROAD_OK) status = broad__trainer_begin(t, layers ? nodes : 1, layers);
    t->partial = partial;
    t->lambda_fixed = status == BROAD_OK && weights && !layers;
    if (t->lambda_fixed) t->lambda = joint_lambda(t->model);
    if (status == BROAD_OK) status = take_rows(t, rows, weights, forgetful);
    broad__origin origin = forgetful ? BROAD__ORIGIN_FORGETFUL : BROAD__ORIGIN_DATA;
    if (status == BROAD_OK) status = broad__trainer_add_layers(t, nodes, layers, origin);
    status = broad__trainer_finish(t, status);
    t->lambda_fixed = 0;
    t->seconds.layers += broad__seconds() - began - (t->seconds.features - features);
    return status;
}
