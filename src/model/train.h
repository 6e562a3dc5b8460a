/*
 * Training: the open state of a network that is being built. It keeps the rows' Z and E, so that layer after layer can be
 * added; the model in it is complete and valid after every step.
 */
#ifndef BROAD_MODEL_TRAIN_H
#define BROAD_MODEL_TRAIN_H

#include "data/table.h"
#include "feature/feature.h"
#include "layer/rows.h"
#include "layer/search.h"
#include "model/model.h"

typedef struct broad__trainer {
    broad_model *model;     /* owned until it is taken out */
    const broad_data *data; /* not owned */
    const broad__device *device;
    broad__pool *pool;
    int holding; /* the device is held */
    broad__feature_map map;
    double *map_weight, *map_bias; /* all groups side by side */
    double *z;
    broad__rows rows;
    broad__search search;
    broad_seconds seconds;
    double started;
    size_t wanted; /* layers asked for, for the progress function */
} broad__trainer;

int broad__trainer_open(broad__trainer *out, const broad_data *data, const broad_options *options);
/* Adds up to `layers` layers of `nodes` enhancement nodes; sets the model's outcome and reason. */
int broad__trainer_enhance(broad__trainer *trainer, size_t nodes, size_t layers);
/* Hands over the model and closes. */
broad_model *broad__trainer_finish(broad__trainer *trainer);
void broad__trainer_close(broad__trainer *trainer); /* accepts a zeroed one */

#endif
