/*
 * Training: the open state of a network that is being built. It keeps the rows' Z and E, so that layer after layer can be
 * added; the model in it is complete and valid after every step.
 */
#ifndef BROAD_MODEL_TRAIN_TRAIN_H
#define BROAD_MODEL_TRAIN_TRAIN_H

#include "feature/sample.h"
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
    size_t first_row;         /* of the training rows in `train` */
    int partial;              /* older rows are not there: only forgetful learning goes on */
    int stale;                /* the model was cut back: Z and E are to be made again */
    double feature_factor;    /* range of the feature nodes in units of the base range */
    broad__search search;
    int lambda_fixed;     /* of joint weights, while rows with a weight are learned */
    double lambda;        /* that one */
    broad__joint joint;   /* sums and factor of the joint weights, while they are up to date */
    broad__growing_qr qr; /* what the layers span, where all weights are solved again with each */
    broad__best best;
    broad_data *settled, *settled_validation; /* photos as they are trained on, where they came otherwise; owned */
    broad_seconds seconds;
    double started;
    size_t wanted; /* layers asked for, for the progress function */
};

int broad__trainer_open(broad_trainer **out, const broad_data *data, const broad_options *options);
int broad__trainer_resume(broad_trainer **out, const broad_model *model, const broad_data *data,
                          const broad_options *run, int force);
/* The same with rows kept in a way of one's own, whatever the options say of memory. The spill is taken over. */
int broad__trainer_open_stored(broad_trainer **out, const broad_data *data, const broad_options *options,
                               const broad__storage *storage);
int broad__trainer_resume_stored(broad_trainer **out, const broad_model *model, const broad_data *data,
                                 const broad_options *run, int force, const broad__storage *storage);
int broad__trainer_validate(broad_trainer *trainer, const broad_data *rows);
int broad__trainer_enhance(broad_trainer *trainer, size_t nodes, size_t layers);
int broad__trainer_features(broad_trainer *trainer, size_t groups, size_t nodes, size_t enhance);
/* weights: one for each new row, and lambda of joint weights stays unless nodes are added; NULL: 1, and lambda is chosen again. */
int broad__trainer_learn(broad_trainer *trainer, const broad_data *rows, const double *weights, size_t nodes,
                         size_t layers, int forgetful);
/* Brings it back to a model it had, and to the first `parts` parts of its training rows. */
int broad__trainer_return(broad_trainer *trainer, const broad_model *model, size_t parts);
void broad__trainer_close(broad_model **out, broad_trainer *trainer);

/* Feature nodes, in features.c. */
int broad__model_make_group(broad_model *model, broad__weight_source source,
                            size_t nodes);        /* counts once group_count says so */
int broad__model_make_groups(broad_model *model); /* they have no weights before they are filled */
broad__direction broad__style_direction(broad__style style, size_t group);
int broad__trainer_fill_group(broad_trainer *trainer, size_t index);
int broad__trainer_draw_features(void *context, size_t step); /* context: the trainer */
/* Before there is a Z: style, range and relevance of sampled nodes. */
int broad__trainer_run_pilot(broad_trainer *trainer, const broad_data *data);
/* With Z there: the ranges of other nodes. */
int broad__trainer_choose_range(broad_trainer *trainer, const broad_data *data);

/* What the data tells a new model, and what an old one asks of data; in intake.c. */
int broad__model_describe(broad_model *model, const broad_data *data);
int broad__model_fits(const broad_model *model, const broad_data *data);
/* Further classes, those of `data` after the model's own; earlier layers have zero weights for them. */
int broad__model_add_classes(broad_model *model, const broad_data *data);
int broad__model_class_weights(broad_model *model, const broad_data *data, const char *text);
/* `count` rows from `first` on; all rows of a table are refused where the model has them already. */
int broad__model_add_segment(broad_model *model, const broad_data *data, size_t first, size_t count, double weight);
/* BROAD_BAD_DATA with what differs unless the rows are those of the model's segments. */
int broad__model_check_rows(const broad_model *model, const broad_data *data);

/* Y of some rows in the network's units, count x outputs. */
void broad__model_targets(double *out, const broad_model *model, const broad_data *data, size_t first, size_t count);

/* Rules for stopping, in stop.c. 0: go on; 1: stop, the outcome is set; or a status. next_nodes: what the next layer would
 * add; 0: none is to follow, and only what the last one has reached counts, not limits on a next. */
int broad__stop_rules(broad_trainer *trainer, size_t next_nodes);
int broad__model_outcome(broad_model *model, broad_outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
