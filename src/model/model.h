/*
 * The trained network.
 *
 *   Z   = [Z_1 ... Z_n],  Z_i = phi(X W_ei + b_ei)          feature nodes, n groups
 *   H_j = xi(Z W_hj + b_hj)                                 enhancement nodes of layer j
 *   K_1 = [Z | H_1],  K_j = H_j                             layer inputs
 *   prediction = sum_j K_j W_j
 *
 * Matrices lie row by row. Everything that training decided is here and in the file, so that a saved model can be
 * checked, used and grown by another process.
 */
#ifndef BROAD_MODEL_MODEL_H
#define BROAD_MODEL_MODEL_H

#include "broad/broad.h"
#include "data/category.h"
#include "data/form.h"
#include "data/read.h"
#include "data/transform/scale.h"
#include "feature/metric.h"
#include "image/photo.h"
#include "layer/certificate.h"
#include "model/trained_files.h"
#include "rng/draw.h"

/* Where a group's weights come from. */
typedef enum broad__weight_source {
    BROAD__WEIGHT_SOURCE_DRAWN,       /* from the seed */
    BROAD__WEIGHT_SOURCE_DIRECT,      /* none: its nodes are the scaled inputs themselves, weight and bias are NULL */
    BROAD__WEIGHT_SOURCE_AUTOENCODER, /* fitted to the training rows: feature/autoencoder.h */
    BROAD__WEIGHT_SOURCE_SAMPLED      /* from the seed and the training rows: feature/sample.h */
} broad__weight_source;
#define BROAD__WEIGHT_SOURCES "drawn|direct|autoencoder|sampled"

/* Which directions sampled nodes have. */
typedef enum broad__style {
    BROAD__STYLE_MIX,        /* dense and sparse groups in turn */
    BROAD__STYLE_DENSE,      /* dense ones */
    BROAD__STYLE_DIFFERENCE, /* differences of rows */
    BROAD__STYLE_SPARSE      /* sparse ones */
} broad__style;
#define BROAD__STYLES "mix|dense|difference|sparse"
enum { BROAD__STYLE_COUNT = 4 };

/* Memory in which numbers may lie that are used where they are. */
typedef struct broad__borrowed {
    const void *bytes;
    size_t count;
} broad__borrowed;

int broad__borrowed_has(const broad__borrowed *borrowed, const void *address);

/* One group of feature nodes. */
typedef struct broad__group {
    broad__weight_source source;
    size_t nodes;
    size_t step;    /* index into options.range_steps that its range came from */
    double range;   /* that multiple */
    double *weight; /* columns x nodes: of the inputs as they are scaled */
    double *bias;   /* nodes */
} broad__group;

typedef struct broad__layer {
    size_t inputs;              /* feature nodes it reads: columns of Z when it was added          */
    size_t nodes;               /* enhancement nodes: columns of H                                */
    size_t first_group, groups; /* feature groups whose nodes are columns of K before H; groups 0: none */
    size_t width;               /* columns of K */
    double *weight;             /* inputs x nodes */
    double *bias;               /* nodes */
    double *output;             /* width x outputs: W_j */
    double *joint;              /* width x outputs: its part of the joint weights, which then predict; NULL: none */
    broad__certificate certificate;
} broad__layer;

/* One ridge regression over all nodes, solved after a chain: A = [K_1 ... K_m], W = (A'A + lambda I)^-1 A'Y. */
typedef struct broad__joint_record {
    int present;
    double lambda;
    double norm; /* ||Y - A W|| */
    char weights[BROAD__HASH_TEXT];
} broad__joint_record;

/* Of the network as it is. Joint weights: leave-one-out in closed form, y_i - r_i / (1 - h_i) is its score for row i had
 * the row been left out. A chain: y_i - r_i / (1 - penalty df / N), from its own score (layer/score.h). Many rows:
 * computed on some of them. See model/predict/estimate.h. */
typedef struct broad__estimate {
    size_t rows;                               /* that it was computed on; 0: there is none */
    double accuracy, brier, calibration_error; /* classification */
    double rmse, mae, r2;                      /* regression */
    double log_loss;                           /* classification; kept among the details */
    double *calibration;                       /* classification: slope, then a bias for each class; else NULL */
    size_t residual_count;                     /* regression: kept of each output, all or 4096 */
    /* outputs x residual_count: order statistics of the sizes of those residuals, rising; number k, from 1, is
     * of rank ceil(k rows / residual_count). Classification: NULL. With a spread each is over its scale. */
    double *residuals;
    size_t spread_count; /* regression: knots of the spread of each output; 0: all rows have the same width */
    double *spread;      /* outputs x 2 spread_count: metric/spread.h; NULL: none */
    int limited;         /* there are limits, or will be once the file's tensors are read */
    double *limits;      /* outputs x 2: what no target is below or above, metric/spread.h; NULL: not known */
    /* (1 + outputs) x BROAD__DETAILS of metric/metric.h: a row for all outputs together (classification: MCC, log loss;
     * regression: ends of the confidence interval of the RMSE), then one for each. NULL: not known. */
    double *details;
    int detailed; /* there are details, or will be once the file's tensors are read */
} broad__estimate;

/* Limits of a segment's weight: roots and products of weights stay far from overflow. */
#define BROAD__SEGMENT_WEIGHT_MIN 1e-12
#define BROAD__SEGMENT_WEIGHT_MAX 1e12

/* A run of training rows, in the order they came. */
typedef struct broad__segment {
    size_t rows;
    double weight; /* what each of its rows counts, times what the row and its class count; default: 1 */
    char fingerprint[33];
} broad__segment;

/* What the choice of the normal class follows from. */
typedef enum broad__normal_from {
    BROAD__NORMAL_FROM_NAME,
    BROAD__NORMAL_FROM_ROWS,
    BROAD__NORMAL_FROM_POSITIVE, /* it is the other one of two */
    BROAD__NORMAL_FROM_USER
} broad__normal_from;

struct broad_model {
    /* What the rows look like. */
    broad_task task;
    size_t inputs, outputs;
    char **input_names;
    int named; /* the training file gave names to its inputs */
    char **output_names;
    char *target_name;
    char *group_name; /* NULL: none */
    size_t positive;
    size_t normal;                  /* the class that means "nothing wrong"; 0 without classes */
    broad__normal_from normal_from; /* how it was found */
    broad_missing missing;
    broad__photo_spec photo;            /* how photos become its inputs; maps 0: they do not */
    broad__projection projection;       /* of photo.components */
    broad__categories categories;       /* which inputs stand for the levels of one column */
    broad__forms forms;                 /* which inputs are dates or truth values */
    broad__places places;               /* which columns of the training file were what */
    char *weight_name;                  /* column of row weights; NULL: none */
    double *class_weights;              /* outputs; NULL: every class counts alike */
    double *input_shift, *input_factor; /* columns each: see data/transform/scale.h */
    double *input_fill;                 /* inputs */
    double *input_knots;                /* of scaling by rank; NULL: none */
    /* Of each column of the table, mean and spread of what shuffling it costs, then what is explained without: 2 x
     * importance_columns + 1 numbers, model/train/importance.h. NULL and 0: not known. */
    double *importance;
    size_t importance_columns;
    double *relevance; /* columns: how much each counts for sampled nodes, mean square 1; NULL: all alike */
    int has_relevance; /* there is one although the nodes are drawn: a learned metric turned them */
    int has_root;      /* there is a root, or will be once the file's tensors are read */
    double *root;      /* columns x columns: of the metric that directions are drawn with; NULL: there is none */
    /* By how much, squared, leave-one-out is too small because the metric has seen the rows; 0: not known, as 1. */
    double optimism;
    double *output_shift, *output_factor; /* outputs each: value = score / factor + shift */

    /* How it was trained. `settings` has no pointers that matter: positive and progress are NULL. */
    broad_options settings;
    size_t seed_map;    /* version of the way from seed to weights that its nodes were drawn by: rng/philox.h */
    broad__style style; /* of sampled feature nodes */
    /* The least leave-one-out error of the pilot with each style, squared, as a part of ||Y||^2; 0: none. */
    double pilot[BROAD__STYLE_COUNT];
    double exponent; /* of lambda as a power of ten of the mean eigenvalue, as the pilot found it; 0: there was none */
    double range;    /* base range in force: settings.range, or what `auto` chose */
    broad_outcome outcome;
    char *reason; /* "" if complete; never NULL */
    size_t rows;
    size_t segment_count;
    broad__segment *segments;
    broad__trained_files sources; /* where the rows came from, as far as it was told */
    int compact;                  /* it was loaded from a file without its random weights */
    double split_holdout;         /* 0: whole files */
    uint64_t split_seed;

    /* The network. */
    double first_norm; /* ||E_0|| */
    size_t group_count;
    broad__group *groups;
    size_t layer_count;
    broad__layer *layers;
    size_t layer_capacity; /* layers that fit into the array; less than layer_count: just these */
    /* Owned: the data of the file that it was loaded from. The weights of groups and layers and the axes of the projection may
     * lie there. */
    broad__borrowed data;
    broad__joint_record joint;
    broad__estimate estimate;
};

broad_model *broad__model_new(void); /* NULL: out of memory */
void broad__group_clear(broad__group *group);
void broad__layer_clear(broad__layer *layer);
size_t broad__model_feature_nodes(const broad_model *model, size_t groups); /* columns of the first `groups` groups */
broad__weight_source broad__feature_source(const broad_options *options);   /* of groups of feature nodes */
size_t broad__model_columns(const broad_model *model);                      /* of the scaled inputs */
broad__scaling broad__model_scaling(const broad_model *model);
size_t broad__model_initial_groups(const broad_model *model); /* groups from before the first layer */
size_t broad__model_nodes(const broad_model *model);          /* feature and enhancement nodes */
/* What it reads of a file; the texts are the model's. */
broad__columns broad__model_reads(const broad_model *model);
int broad__model_copy(broad_model **out, const broad_model *model);

/* Redraws the random weights exactly: how they follow from the seed is a promise of the format (rng/philox.h). weight
 * and bias are allocated; node-major elements: element = node * (fan_in + 1) + input, the bias is input number fan_in.
 *   weight = (2u - 1) * range * unit(fan_in),   bias = (2u - 1) * range;   unit = 1, or sqrt(3 / fan_in) for fan-in. */
void broad__group_draw(broad__group *group, const broad_model *model, size_t index);
void broad__layer_draw(broad__layer *layer, const broad_model *model, size_t index);
/* What these draw from. */
broad__draw broad__group_drawing(const broad__group *group, const broad_model *model, size_t index);
broad__draw broad__layer_drawing(const broad__layer *layer, const broad_model *model, size_t index);

#endif
