/*
 * The open state of a network that is being built. It keeps the rows' Z and E, so that layer after layer can be added;
 * the model in it is complete and valid after every step.
 */
#ifndef BROAD_MODEL_TRAIN_TRAINER_H
#define BROAD_MODEL_TRAIN_TRAINER_H

#include "base/watch.h"
#include "layer/growing_qr.h"
#include "layer/joint.h"
#include "layer/search.h"
#include "model/train/rowset.h"

/* The best network so far by its validation error. */
typedef struct broad__best {
    size_t layers, groups;
    double norm;
} broad__best;

struct broad_trainer {
    broad_model *model;     /* owned until it is taken out */
    broad_options run;      /* threads, memory, progress and rules for stopping of this run */
    broad__storage storage; /* of the arrays of both row sets; its spill is owned */
    const broad__device *device;
    broad__pool *pool;
    int device_held;          /* the device is held */
    broad__rowset train;      /* all training rows, or after forgetful learning the newest alone */
    broad__rowset validation; /* none: validation.part_count 0 */
    broad__part first;        /* the rows of the first fit: nodes that are fitted or sampled look at these */
    size_t *anchors;          /* some of these rows, in the order of data/row_order.h; NULL: not needed yet */
    size_t anchor_count;
    broad_data *anchor_rows;    /* the rows themselves, where ranks have divided them; owned */
    size_t first_row;           /* of the training rows in `train` */
    int partial;                /* older rows are missing: only forgetful learning is possible */
    int stale;                  /* the model was cut back: Z and E have to be recomputed */
    double feature_factor;      /* range of the feature nodes in units of the base range */
    broad__search search;       /* memory of the search for layers */
    broad__search_result found; /* what it came to for the last layer */
    int may_defer;              /* E may lag behind by a layer meanwhile */
    int lambda_fixed;           /* of joint weights, while rows with a weight are learned */
    double lambda;              /* that one */
    broad__joint joint;         /* sums and factor of the joint weights, while they are up to date */
    broad__growing_qr qr;       /* what the layers span, where all weights are solved again with each */
    broad__best best;
    broad_model *before; /* the model as it was, while joint weights are solved again; NULL: not needed */
    size_t before_parts; /* and parts of the training rows then */
    broad_data *settled, *settled_validation; /* photos as they are trained on, where they came otherwise; owned */
    broad_seconds seconds;
    double started;
    size_t nodes_wanted;            /* of the features, where time allowed fewer; otherwise 0 */
    broad__work work;               /* what is known of it when layers are about to be added */
    double layers_work, joint_work; /* operations expected of the layers, and of their joint weights */
    double layer_began;             /* when the last layer was begun */
    size_t wanted;                  /* layers asked for, for the progress function */
    size_t pairs;                   /* of ranges that layer 1 was tried with before it was searched */
    size_t rounds;                  /* with a metric, that the longest path of the pilot had; for tests */
    unsigned climbed; /* a bit for each style that the pilot tried larger ranges of in the end; for tests */
};

#endif
