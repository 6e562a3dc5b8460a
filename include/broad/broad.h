/*
 * broad: broad learning in C.
 *
 * Networks of random nodes whose only trained weights come from ridge regression. The centre is BSCRLS: layers of
 * random nodes, each fitted to the residual that the earlier ones left, each kept only if it passes a supervision
 * test, so that the training error converges in norm and the model carries a certificate of it.
 *
 * Rules that hold for every function here:
 *  - it returns BROAD_OK or a negative status, and on failure leaves a message for broad_error_message();
 *  - an out-parameter comes first and is written only on success (handles are set to NULL on failure);
 *  - nothing is printed, no signal handler is installed, the process is never ended;
 *  - a loaded model may be used for prediction by any number of threads at once;
 *  - memory that gives out is BROAD_NO_MEMORY, whenever it does;
 *  - results are the same bytes for any number of threads, in the tool and in a program;
 *  - fork() is safe at any time, and the child can do all that its parent could. A trainer of the parent's works in the child
 *    on one thread.
 */
#ifndef BROAD_BROAD_H
#define BROAD_BROAD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define BROAD_API __attribute__((visibility("default")))
#else
#define BROAD_API
#endif

/* ---- status ---------------------------------------------------------------------------------------------------- */

/* One list makes the enum, the names and the texts. A status is minus the exit code of the command-line tool. */
#define BROAD_STATUS_LIST(X)                                                                                           \
    X(BROAD_OK, 0, "ok", "done")                                                                                       \
    X(BROAD_FAILED, -1, "failed", "the operation failed")                                                              \
    X(BROAD_USAGE, -2, "usage", "wrong usage")                                                                         \
    X(BROAD_BAD_DATA, -65, "bad_data", "bad data")                                                                     \
    X(BROAD_NO_INPUT, -66, "no_input", "no such input")                                                                \
    X(BROAD_BUG, -70, "bug", "internal error")                                                                         \
    X(BROAD_NO_MEMORY, -71, "no_memory", "out of memory")                                                              \
    X(BROAD_CANNOT_WRITE, -73, "cannot_write", "cannot write")                                                         \
    X(BROAD_IO, -74, "io", "input or output error")                                                                    \
    X(BROAD_BAD_MODEL, -76, "bad_model", "bad model file")                                                             \
    X(BROAD_INTERRUPTED, -130, "interrupted", "interrupted")

#define BROAD_STATUS_ENUM(name, value, word, text) name = value,
typedef enum broad_status { BROAD_STATUS_LIST(BROAD_STATUS_ENUM) } broad_status;

/* The last failure's message in this thread: what is wrong, where, and what to do. Never NULL. */
BROAD_API const char *broad_error_message(void);
BROAD_API const char *broad_status_name(int status); /* "bad_data" */
BROAD_API const char *broad_status_text(int status); /* "bad data" */

BROAD_API const char *broad_version(void); /* "0.1.0" */

/* Memory for everything the library allocates from now on. NULL restores the C library's. Set it before anything else. */
typedef struct broad_allocator {
    void *(*allocate)(size_t bytes, void *context);
    void (*release)(void *block, void *context);
    void *context;
} broad_allocator;

BROAD_API void broad_set_allocator(const broad_allocator *allocator);
BROAD_API void broad_free(void *block); /* frees what a function here handed out as a plain block */

/* ---- choices --------------------------------------------------------------------------------------------------- */

/* What the networks have in common and where they differ: src/model/kind.h. */
typedef enum broad_kind {
    BROAD_KIND_BSCRLS,
    BROAD_KIND_BRLS,
    BROAD_KIND_BLS,
    BROAD_KIND_SCN,
    BROAD_KIND_RVFL
} broad_kind;
typedef enum broad_preset { BROAD_PRESET_AUTO, BROAD_PRESET_PAPER } broad_preset;
typedef enum broad_task { BROAD_TASK_AUTO, BROAD_TASK_CLASSIFY, BROAD_TASK_REGRESS } broad_task;

typedef enum broad_activation {
    BROAD_SIGMOID,
    BROAD_TANH,
    BROAD_RELU,
    BROAD_SINE,
    BROAD_GAUSSIAN,
    BROAD_IDENTITY
} broad_activation;

/* What a candidate layer must show before it is kept; see docs/mathematics.md. */
typedef enum broad_supervise {
    BROAD_SUPERVISE_RESIDUAL, /* ||E - KW|| <= (gamma + mu) ||E||                                           */
    BROAD_SUPERVISE_LOO,      /* the same with leave-one-out residuals                                     */
    BROAD_SUPERVISE_OPERATOR, /* the paper's inequality on the residual operator itself                    */
    BROAD_SUPERVISE_NONE,     /* every layer is kept                                                       */
    BROAD_SUPERVISE_OUTPUT    /* scn: the squared residual of every output falls to at most gamma + mu     */
} broad_supervise;

/* Where the output weights come from. */
typedef enum broad_weights {
    BROAD_WEIGHTS_CHAIN, /* each layer fitted to the residual of those before it                     */
    BROAD_WEIGHTS_JOINT, /* one ridge regression over the nodes of all layers                        */
    BROAD_WEIGHTS_WINDOW /* scn: with each layer those of the last nodes are solved again             */
} broad_weights;

typedef enum broad_feature_weights {
    BROAD_FEATURES_RANDOM,
    BROAD_FEATURES_AUTOENCODER,
    BROAD_FEATURES_SAMPLED /* random, but each node turns at a training row, and half of the groups see two inputs a node */
} broad_feature_weights;
typedef enum broad_loo { BROAD_LOO_AUTO, BROAD_LOO_YES, BROAD_LOO_NO } broad_loo;

typedef enum broad_gamma_form { BROAD_GAMMA_HARMONIC, BROAD_GAMMA_CONSTANT, BROAD_GAMMA_LIST } broad_gamma_form;
typedef enum broad_select { BROAD_SELECT_FIRST, BROAD_SELECT_BEST } broad_select;
typedef enum broad_range_unit { BROAD_RANGE_ABSOLUTE, BROAD_RANGE_FAN_IN } broad_range_unit;
typedef enum broad_precision {
    BROAD_DOUBLE,
    BROAD_FLOAT /* nodes in single precision, and where lambda allows it the sums of their products */
} broad_precision;
typedef enum broad_scale {
    BROAD_SCALE_NONE,
    BROAD_SCALE_MINMAX,
    BROAD_SCALE_STANDARD,
    BROAD_SCALE_RANK,  /* by rank among the training rows, then standardised */
    BROAD_SCALE_BOTH,  /* every column twice: standardised, and by rank      */
    BROAD_SCALE_WHOLE, /* all columns by the least and the largest value there is, as the points of a picture are */
    BROAD_SCALE_AUTO   /* whole for pictures, both for other tables          */
} broad_scale;
typedef enum broad_missing { BROAD_MISSING_ERROR, BROAD_MISSING_MEAN } broad_missing;

/* How a photo becomes inputs; several can be joined. docs/photos.md tells what each is. */
typedef enum broad_photo_map {
    BROAD_MAP_PIXELS = 1,      /* the colours of a picture made small and square, as in the paper */
    BROAD_MAP_DESCRIPTORS = 2, /* colour and texture of the whole picture                         */
    BROAD_MAP_WINDOWS = 4,     /* random nodes that look at every window of it, averaged          */
    BROAD_MAP_ALL = 7
} broad_photo_map;

/* What of a photo is looked at. */
typedef enum broad_crop {
    BROAD_CROP_NONE,     /* all of it                                           */
    BROAD_CROP_FIND,     /* the region that looks most like a panel             */
    BROAD_CROP_BOXES,    /* boxes from a file                                   */
    BROAD_CROP_DETECTOR, /* boxes from a program                                */
    BROAD_CROP_MODEL     /* reading for a model: as that one was trained        */
} broad_crop;

/* The run's outcome, stored in the model with the reason in words. */
typedef enum broad_outcome {
    BROAD_COMPLETE,       /* all layers asked for are there                            */
    BROAD_STALLED,        /* no candidate passed the test; the model so far is valid   */
    BROAD_TARGET_REACHED, /* a stop rule was met                                       */
    BROAD_STOPPED         /* the progress function asked to stop                       */
} broad_outcome;

/* ---- options --------------------------------------------------------------------------------------------------- */

typedef struct broad_progress {
    const char *stage;  /* "features", "layers", ...             */
    size_t done, total; /* layers so far and asked for           */
    size_t draws;       /* draws tried for the layer at hand     */
    double norm;        /* ||E|| so far                          */
    double first_norm;  /* ||E_0||                               */
} broad_progress;

/* Called between layers and between draws, always from the thread that called in. Non-zero ends the run early; the
 * model so far is complete and valid, its outcome BROAD_STOPPED. */
typedef int (*broad_progress_function)(const broad_progress *progress, void *context);

/* Where the time of a run goes; see below. */
typedef struct broad_profile broad_profile;

#define BROAD_LIST_MAX 256 /* most values in a list option */

/* Plain values, copied freely. broad_options_init() fills in preset `auto`. */
typedef struct broad_options {
    size_t size; /* sizeof(broad_options) */
    broad_kind kind;
    broad_preset preset;
    uint64_t seed;
    size_t threads; /* 0: as many as there are processors */
    size_t
        memory; /* bytes that training should hold at most, the process with all it has; 0: no limit. Rows that do not
                       fit lie in a file without a name in $TMPDIR, or /var/tmp. Not part of the model */

    int features_auto;                    /* as many as the rows warrant; the next two are then not looked at */
    size_t feature_groups, feature_nodes; /* n groups of k nodes, where features_auto is 0 */
    size_t enhance_nodes, enhance_layers; /* q nodes in each of m layers */
    broad_activation activation;          /* of the enhancement nodes */
    broad_activation feature_activation;
    broad_feature_weights feature_weights;
    broad_precision precision; /* that nodes are worked out in */
    double sparse_lambda;      /* of the autoencoder: weight of its l1 term, and steps of ADMM */
    size_t sparse_steps;

    broad_scale scale;        /* of the inputs, from the training rows  */
    broad_scale scale_target; /* of the targets; classes: standard lets their scores start from their frequencies */

    int lambda_auto; /* per layer by leave-one-out          */
    double lambda;
    int range_auto; /* by leave-one-out over a small grid  */
    double range;
    broad_range_unit range_unit;

    broad_supervise supervise;
    broad_gamma_form gamma_form;
    size_t gamma_count;
    double gamma[BROAD_LIST_MAX]; /* the constant, the harmonic's c, or the list */
    size_t tries;                 /* draws a range                               */
    size_t range_steps_count;
    double range_steps[BROAD_LIST_MAX]; /* multiples of the range, in the order tried */
    double relax;                       /* gamma <- gamma + relax (1 - gamma)         */
    size_t relax_count;                 /* at most so often                           */
    broad_select select;

    broad_weights weights;
    size_t window; /* nodes that BROAD_WEIGHTS_WINDOW solves again */
    broad_loo
        loo; /* the leave-one-out estimate, which probabilities and intervals come from; auto: where it is cheap. Rows of
                one group are left out together */
    const char *class_weight; /* "balanced", or "a:1,b:3"; NULL: every row counts alike. Copied by broad_fit() */

    /* When to stop early, besides the layers asked for; the first rule that is met ends the run. Not part of the model. */
    double until; /* ||E|| at most this; with until_relative: this part of the first norm. 0: no such rule */
    int until_relative;
    double until_accuracy; /* of the validation rows if there are any, else of the training rows; 0: no such rule */
    size_t max_layers;     /* layers in all, those of an earlier run included; 0: no such rule */
    size_t max_nodes;      /* nodes in all; 0: no such rule */
    double max_seconds;    /* of this run; 0: no such rule */
    size_t patience; /* layers without a better validation error; the model goes back to its best. 0: no such rule */

    const char *positive; /* the class that precision and recall speak of; NULL: the last one. Copied by broad_fit() */

    broad_progress_function progress;
    void *progress_context;
    broad_profile *profile; /* counts the stages of the run; must outlive the trainer. NULL: nobody asks */
} broad_options;

BROAD_API void broad_options_init(broad_options *out);
/* Sets every field that the preset speaks of; kind, seed, precision, threads, memory, positive and progress stay. */
BROAD_API int broad_options_preset(broad_options *options, broad_preset preset);
/* Sets one option from text, by the names of the option table: broad_options_set(&o, "lambda", "1e-8"). */
BROAD_API int broad_options_set(broad_options *options, const char *name, const char *value);
/* The value of one option as text that broad_options_set() reads back; "" where there is none. */
BROAD_API int broad_options_get(char *out, size_t bytes, const broad_options *options, const char *name);

/* The option table: parser, help, manual, completion and bindings are made from it. */
typedef struct broad_option {
    const char *name;     /* "lambda": --lambda on the command line                          */
    char letter;          /* 'o' for -o, or 0                                                */
    const char *argument; /* "NUMBER|auto"; NULL for a switch                                */
    const char *choices;  /* "first|best" where only these are allowed, else NULL            */
    const char *standard; /* the default, as text; NULL when it depends on the preset or there is none */
    const char *help;     /* one line                                                        */
} broad_option;

BROAD_API size_t broad_option_count(void);
BROAD_API const broad_option *broad_option_at(size_t index);

/* ---- data ------------------------------------------------------------------------------------------------------ */

/* Rows of numbers with their targets. Immutable once made. */
typedef struct broad_data broad_data;
typedef struct broad_model broad_model;

/* Called from the thread that called in. Non-zero ends the reading with BROAD_INTERRUPTED. */
typedef int (*broad_photo_progress)(size_t done, size_t total, void *context);

/* How photos are read. With a model, maps, side and each_box are the model's, and for training so is augment; and so is the
 * way of cropping, whose boxes or program must be given again: no command is ever taken from a model file. */
typedef struct broad_photo_options {
    size_t size;
    unsigned maps;           /* of broad_photo_map; 0: descriptors and windows                           */
    size_t side;             /* of the square of pixels                                                  */
    broad_crop crop;         /* BROAD_CROP_MODEL: whole photos where there is no model                   */
    const char *boxes;       /* file or folder with them: YOLO text, COCO JSON or CSV                    */
    const char *detector;    /* command line for /bin/sh                                                 */
    double detector_seconds; /* that it may take to start, and then for each photo                       */
    int each_box;            /* every box is a row; otherwise the best one of each photo                 */
    size_t augment;          /* rows made from changed copies of each photo, for training                */
    uint64_t seed;           /* of these changes                                                         */
    int strict;              /* a file that cannot be read is an error; otherwise it is left out         */
    int no_groups;           /* do not look for near-duplicates                                          */
    const char *cache;       /* folder for prepared features; NULL: none                                 */
    size_t threads;          /* 0: one a processor                                                       */
    broad_photo_progress progress;
    void *progress_context;
} broad_photo_options;

BROAD_API void broad_photo_options_init(broad_photo_options *out);

typedef struct broad_read_options {
    size_t size;
    const char *target;      /* column name, number from 1, or a comma-separated list; NULL: the last column      */
    const char *labels;      /* file with the targets; then DATA has inputs only                                 */
    const char *group;       /* column whose equal values belong together in a split and in leave-one-out; no input */
    const char *weight;      /* column that says how much each row counts, a number above 0; not an input        */
    const char *categorical; /* columns whose values are categories: as target, or "auto" for those with text  */
    const char *header;      /* "auto", "yes", "no"                                                              */
    const char *separator;   /* "auto", or one character ("\t" or "tab" for a tab)                               */
    broad_task task;
    broad_missing missing;
    const broad_model *model; /* read the columns this model was trained on, by name; targets become its classes */
    int target_optional;      /* with model: rows without targets are welcome                                   */
    int training;             /* with model: rows to train on or to verify: they need weights if it had them    */
    int new_classes;          /* with model: labels it does not know become further classes, after its own       */
    const broad_photo_options *photos; /* NULL: as broad_photo_options_init() has them                          */
    size_t threads; /* 0: one a processor; the table is the same for any number                                 */
    size_t memory;  /* bytes that the process should hold at most, 0: no limit. A table that takes more than a part of
                       them lies in files without a name in $TMPDIR or /var/tmp. Photos and LIBSVM have to fit in memory */
} broad_read_options;

BROAD_API void broad_read_options_init(broad_read_options *out);

/* Reads CSV, LIBSVM, NPY or IDX, each also gzipped; "-" is standard input. The format is found from the content. A folder
 * is one of photos: broad_data_read_photos(). */
BROAD_API int broad_data_read(broad_data **out, const char *path, const broad_read_options *options);

/* Photos from files and folders, JPEG or PNG by their content. A folder is searched with all that is in it, hidden files left
 * out. Targets: options->labels, a CSV file whose first column, or the one called "file", names the photos (as paths from the
 * folder, or by their last part where that is unique), and of which `target`, or the last column, is the target; `group` may
 * name a further one. Without it the folder right below the one given is the class; photos that lie in none, or are given
 * as files, have none. Near-duplicates get the same group, unless `group` is given. */
BROAD_API int broad_data_read_photos(broad_data **out, const char *const *paths, size_t count,
                                     const broad_read_options *options);

/* From arrays in memory, which are copied. Give exactly one of labels, classes and values, or none (inputs only). */
typedef struct broad_arrays {
    size_t size;
    size_t rows, inputs;
    const double *x;           /* row i, input j at x[i * stride + j]              */
    size_t stride;             /* 0: inputs                                        */
    const char *const *labels; /* text label of each row: classification           */
    const int64_t *classes;    /* number label of each row: classification         */
    const double *values;      /* rows x outputs, row by row: regression           */
    size_t outputs;            /* columns of values                                */
    const char *const *names;  /* input names, or NULL                             */
    const char *const *groups; /* group of each row, or NULL: rows that are alike  */
    const double *weights;     /* how much each row counts, above 0, or NULL       */
} broad_arrays;

BROAD_API void broad_arrays_init(broad_arrays *out);
BROAD_API int broad_data_from_arrays(broad_data **out, const broad_arrays *arrays);

BROAD_API void broad_data_free(broad_data *data);
BROAD_API size_t broad_data_rows(const broad_data *data);
BROAD_API size_t broad_data_inputs(const broad_data *data);
BROAD_API size_t broad_data_outputs(const broad_data *data);     /* classes, or target columns; 0 without targets */
BROAD_API broad_task broad_data_task(const broad_data *data);    /* BROAD_TASK_AUTO without targets */
BROAD_API const char *broad_data_format(const broad_data *data); /* "csv", "libsvm", "npy", "idx", "photos", "memory" */
BROAD_API const char *broad_data_input_name(const broad_data *data,
                                            size_t input); /* never NULL, also without a header */
BROAD_API const char *broad_data_output_name(const broad_data *data, size_t output); /* class label or target column */
BROAD_API const double *broad_data_row(const broad_data *data, size_t row);          /* its inputs */
BROAD_API size_t broad_data_class(const broad_data *data, size_t row); /* its class; classification only */
BROAD_API double broad_data_value(const broad_data *data, size_t row, size_t output); /* its target; regression only */
BROAD_API double broad_data_weight(const broad_data *data, size_t row); /* how much it counts; 1 without weights */
BROAD_API size_t broad_data_group(const broad_data *data,
                                  size_t row); /* rows with the same stay together in a split; `row` without groups */

/* A row that comes from a photo. Numbers that nobody knows are NaN, texts "". */
typedef struct broad_photo {
    const char *file;     /* as it can be opened */
    const char *name;     /* from the folder given: "Dusty/dusty_001.jpg" */
    size_t width, height; /* upright */
    double left, top, right,
        bottom;                 /* of the part looked at, in pixels of the upright photo; the latter two are outside */
    double box_score;           /* what the detector thinks of it; NaN without one */
    size_t copy;                /* 0: the photo itself; otherwise the number of a changed copy */
    size_t group;               /* near-duplicates have the same; the number of the first row of the group */
    char time[20];              /* "2016-01-19T17:00:07" */
    double latitude, longitude; /* degrees */
    double altitude, relative_altitude, yaw; /* metres, metres, degrees */
} broad_photo;

BROAD_API const broad_photo *broad_data_photo(const broad_data *data, size_t row); /* NULL: not from photos */
BROAD_API size_t broad_data_components(const broad_data *data); /* 0: its inputs are as the maps gave them */
BROAD_API unsigned broad_data_maps(const broad_data *data);     /* 0: not from photos */

/* A file that was left out. */
typedef struct broad_skipped {
    const char *file, *reason;
} broad_skipped;

BROAD_API size_t broad_data_skipped_count(const broad_data *data);
BROAD_API const broad_skipped *broad_data_skipped(const broad_data *data, size_t index);

/* Maps that were tried, each alone and all together, and which of them did best. */
enum { BROAD_MAP_TRIALS_MAX = 4 };
typedef struct broad_map_choice {
    unsigned maps; /* to be kept */
    size_t count;  /* of trials; one: there was nothing to choose, and its error is 0 */
    struct broad_map_trial {
        unsigned maps;
        double error; /* squared error by leave-one-out, as a part of that of the targets' mean */
    } trials[BROAD_MAP_TRIALS_MAX];
} broad_map_choice;

/* The maps among those of `data` whose inputs do best by leave-one-out in the pilot of preset `auto`: all together, or one of
 * them if its error is smaller by a twentieth. `options` gives seed, threads, class_weight and progress, whose stage is
 * "maps"; BROAD_INTERRUPTED if it asks to stop. */
BROAD_API int broad_photos_choose(broad_map_choice *out, const broad_data *data, const broad_options *options);
/* The same rows with the inputs of some of their maps. */
BROAD_API int broad_photos_narrow(broad_data **out, const broad_data *data, unsigned maps);
/* The same rows with the principal components of these inputs in their place, which a network of few rows does better and much
 * faster with: those of `like` (the training part, after this), or, where it is NULL, fitted to these rows; `components` at
 * most, 0: as many as the rows warrant. Rows that are read for a model have its components. */
BROAD_API int broad_photos_project(broad_data **out, const broad_data *data, size_t components, const broad_data *like);
/* From the numbers that the maps of a model give, rows one after the other, to its inputs: x of broad_predict(). */
BROAD_API int broad_photos_inputs(double *out, const broad_model *model, const float *maps, size_t rows);

typedef struct broad_split {
    size_t size;
    double holdout; /* fraction of the rows kept apart, > 0 and < 1 */
    uint64_t seed;
} broad_split;

BROAD_API void broad_split_init(broad_split *out);
/* Keeps rows apart: whole groups if the data has a group column, else class by class, else at random. The training
 * part remembers how it was made, and so does a model fitted to it. */
BROAD_API int broad_data_split(broad_data **out_train, broad_data **out_test, const broad_data *data,
                               const broad_split *split);
/* One fold of a cross-validation: its rows are tested on, all others are trained on. */
typedef struct broad_folds {
    size_t size;
    size_t count; /* of folds, at least 2 */
    size_t index; /* which of them, from 0 */
    uint64_t seed;
} broad_folds;

BROAD_API void broad_folds_init(broad_folds *out); /* the first of 5 */
/* Every row is in exactly one fold, which depends on data, count and seed alone: whole groups if the data has a group
 * column, with about as many rows in each fold; else class by class, else at random, with folds that differ by one row
 * at most. Fewer rows or groups than folds, and a class with a single row, are refused. */
BROAD_API int broad_data_fold(broad_data **out_train, broad_data **out_test, const broad_data *data,
                              const broad_folds *folds);
/* The rows of `data` a model was trained on: all, or the training part of the split it remembers. */
BROAD_API int broad_data_training_part(broad_data **out, const broad_data *data, const broad_model *model);

/* ---- model ----------------------------------------------------------------------------------------------------- */

typedef struct broad_seconds {
    double features, layers, total;
} broad_seconds;

/* `seconds` may be NULL. A run that stalls or is stopped is no error: see broad_model_outcome(). */
BROAD_API int broad_fit(broad_model **out, const broad_data *data, const broad_options *options,
                        broad_seconds *seconds);
BROAD_API void broad_model_free(broad_model *model);

BROAD_API int broad_model_save(const broad_model *model, const char *path, int compact);
BROAD_API int broad_model_load(broad_model **out, const char *path);
BROAD_API int broad_model_to_memory(void **out, size_t *out_bytes, const broad_model *model, int compact);
BROAD_API int broad_model_from_memory(broad_model **out, const void *bytes, size_t count);

/* The certificate of one layer. */
typedef struct broad_layer {
    size_t width;            /* columns of K: enhancement nodes, and feature nodes where the layer brings any */
    size_t first_row, rows;  /* training rows it was fitted to                                                */
    const char *origin;      /* "initial", "enhance", "features", "data", "forgetful"                         */
    double gamma, mu, bound; /* bound = gamma + mu                                                            */
    double norm_before, norm_after, ratio; /* of E, Frobenius                                                 */
    double tested; /* what the test compared with the bound: ratio, its leave-one-out form, the operator norm, or the
                      largest ratio of squares of an output */
    double lambda, range; /* range: as a multiple of the base range                                        */
    size_t tries;         /* draws looked at, the kept one included                                        */
    size_t relaxed;       /* how often gamma was relaxed                                                   */
    const char *test;     /* "residual", "loo", "operator", "none", "output"                               */
    int passed;
} broad_layer;

BROAD_API size_t broad_model_layers(const broad_model *model);
BROAD_API int broad_model_layer(broad_layer *out, const broad_model *model, size_t layer);

BROAD_API broad_kind broad_model_kind(const broad_model *model);
BROAD_API broad_precision broad_model_precision(const broad_model *model);
BROAD_API broad_task broad_model_task(const broad_model *model);
BROAD_API broad_outcome broad_model_outcome(const broad_model *model);
BROAD_API const char *broad_model_reason(const broad_model *model); /* why it ended so; "" if complete */
BROAD_API uint64_t broad_model_seed(const broad_model *model);
BROAD_API unsigned broad_model_maps(const broad_model *model); /* of photos; 0: it was trained on other rows */
BROAD_API size_t broad_model_rows(const broad_model *model);   /* training rows */
BROAD_API size_t broad_model_inputs(const broad_model *model);
BROAD_API size_t broad_model_outputs(const broad_model *model);
BROAD_API size_t broad_model_nodes(const broad_model *model); /* feature and enhancement nodes */
BROAD_API double broad_model_feature_range(const broad_model *model);
/* How much an input counts for sampled feature nodes, as the pilot of `auto` found it: mean square 1; 1 without a pilot. */
BROAD_API double broad_model_relevance(const broad_model *model, size_t input);
BROAD_API const char *broad_model_input_name(const broad_model *model, size_t input);
BROAD_API const char *broad_model_output_name(const broad_model *model, size_t output);
BROAD_API size_t broad_model_positive(const broad_model *model); /* class number */
/* Every setting and the certificate as one JSON object, as stored in the file. Free with broad_free(). */
BROAD_API int broad_model_json(char **out, const broad_model *model);

/* How its output weights come about: "chain" (each layer fitted to what those before it left over), "joint" (a chain, and
 * one ridge regression over all nodes that predicts in its place), "stepwise" (that ridge again with every layer), "window"
 * (again for the last nodes), "at_once" (that ridge without layers: each run of nodes is one block). */
BROAD_API const char *broad_model_fitting(const broad_model *model);

/* The ridge regression over all nodes whose weights predict. */
typedef struct broad_joint {
    int known;     /* 0: the weights are those of a chain or a window, and the rest is 0 */
    double lambda; /* its ridge parameter         */
    double norm;   /* of the residual it leaves   */
} broad_joint;

BROAD_API int broad_model_joint(broad_joint *out, const broad_model *model);
BROAD_API double broad_model_class_weight(const broad_model *model, size_t output); /* 1 unless told otherwise */

/* What leave-one-out says about the model as it stands: how good its verdicts are on rows it has not seen. Where the rows
 * have groups, each was left out together with its group: on rows of groups it has not seen. */
typedef struct broad_estimate {
    int known;                                 /* 0: the model has none, and the rest is 0                         */
    size_t rows;                               /* training rows that it was worked out on                          */
    double accuracy, brier, calibration_error; /* classification; the last two as in broad_metrics                 */
    double rmse, mae, r2;                      /* regression, over all outputs                                     */
} broad_estimate;

BROAD_API int broad_model_estimate(broad_estimate *out, const broad_model *model);

/* Scores, rows x outputs: the class with the largest score wins; for a regression they are the values. The scores of a row
 * do not depend on the rows it comes with, nor on the number of threads. */
BROAD_API int broad_predict(double *out, const broad_model *model, const double *x, size_t rows, size_t stride);
BROAD_API int broad_predict_data(double *out, const broad_model *model, const broad_data *data, size_t threads);
/* Of `count` rows from `first` on; count x outputs. The memory that these inputs take is given back where they are spilled
 * (broad_read_options.memory). */
BROAD_API int broad_predict_part(double *out, const broad_model *model, const broad_data *data, size_t first,
                                 size_t count, size_t threads);
BROAD_API size_t broad_best_class(const broad_model *model, const double *scores);

/* Probabilities of the classes, rows x outputs, from scores; out may be scores. Calibrated on leave-one-out scores, by groups
 * where the rows had them: of a model without an estimate there are none, and that is BROAD_USAGE. Unless classes were weighted in training, the class
 * with the largest score is the most probable one. */
BROAD_API int broad_probabilities(double *out, const broad_model *model, const double *scores, size_t rows);
/* Prediction intervals of a regression: for each output, how far above and below the predicted value they reach so that
 * a part `level` of new values lies inside. From leave-one-out residuals; BROAD_USAGE without an estimate, or if the
 * level is too high for its number of rows. */
BROAD_API int broad_interval(double *out, const broad_model *model, double level);

/* ---- predictor ------------------------------------------------------------------------------------------------- */

/*
 * Only what prediction needs of a model, for programs that predict and do nothing else: docs/embedding.md. Nothing in it ever
 * changes: any number of threads may use one at once, each with a scratch of its own. Predicting allocates nothing, takes no
 * lock, and starts no thread; it gives the very numbers of broad_predict(), however many rows come at once.
 *
 * It takes rows of numbers, in the order of the model's inputs: for a column of categories one input a level, 1 for the level
 * that is there and 0 for all others; NaN for a missing value where the model was trained with --missing mean. Of a model for
 * photos it takes prepared rows: broad_data_row() of photos read for the model, or broad_photos_inputs().
 */
typedef struct broad_predictor broad_predictor;

/* From a model file, whose pages are used in place and shared by all processes that do so: do not change it while it is in use.
 * Replacing it, as broad_model_save() does, is safe. Checked like a file for broad_model_load(). */
BROAD_API int broad_predictor_load(broad_predictor **out, const char *path);
/* From the bytes of such a file, which are used in place where they are aligned to 8, and must outlive the predictor. */
BROAD_API int broad_predictor_from_memory(broad_predictor **out, const void *bytes, size_t count);
/* A copy: the model may be freed or grown. */
BROAD_API int broad_predictor_from_model(broad_predictor **out, const broad_model *model);
BROAD_API void broad_predictor_free(broad_predictor *predictor);

BROAD_API broad_task broad_predictor_task(const broad_predictor *predictor);
BROAD_API size_t broad_predictor_inputs(const broad_predictor *predictor);
BROAD_API size_t broad_predictor_outputs(const broad_predictor *predictor);
BROAD_API const char *broad_predictor_output_name(const broad_predictor *predictor, size_t output);
/* Memory that it holds for itself; what it uses of a file or of bytes in place is not in it. */
BROAD_API size_t broad_predictor_bytes(const broad_predictor *predictor);

/* Bytes of scratch with which `rows` rows go through at once. From 256 rows on it does not grow: more go through in blocks. */
BROAD_API size_t broad_predictor_scratch(const broad_predictor *predictor, size_t rows);
/* Scores of one row, as those of broad_predict(). scratch: broad_predictor_scratch(predictor, 1) bytes of any content. */
BROAD_API int broad_predictor_row(double *out, const broad_predictor *predictor, const double *x, void *scratch);
/* rows x outputs; x[i * stride + j] is input j of row i, stride 0: inputs. A scratch of `bytes`, at least that for one row:
 * with more, up to that for 256, more rows go through at once, which is faster and gives the same numbers. */
BROAD_API int broad_predictor_rows(double *out, const broad_predictor *predictor, const double *x, size_t rows,
                                   size_t stride, void *scratch, size_t bytes);

BROAD_API size_t broad_predictor_best_class(const broad_predictor *predictor, const double *scores);
/* As broad_probabilities() and broad_interval(). */
BROAD_API int broad_predictor_probabilities(double *out, const broad_predictor *predictor, const double *scores,
                                            size_t rows);
BROAD_API int broad_predictor_interval(double *out, const broad_predictor *predictor, double level);

/* ---- judging --------------------------------------------------------------------------------------------------- */

typedef struct broad_metrics {
    broad_task task;
    size_t rows;
    /* Classification. Two classes: of the positive one; more: the mean over the classes. */
    double accuracy, precision, recall, f1, false_positive, false_negative;
    /* Of its probabilities, where the model has an estimate. Brier score: mean over the rows of the sum over the classes
     * of (p - 1)^2 for the true one and p^2 for the others. Log loss: mean of -log p of the true one, p at least 1e-15.
     * Calibration error: the rows in 15 bins of equal width by the probability of their most probable class, mean over
     * the rows of |share of right ones - mean probability| of their bin. */
    int has_probabilities;
    double brier, log_loss, calibration_error;
    /* Regression, over all outputs. */
    double rmse, mae, r2;
    /* Of its prediction intervals: level, part of the values inside, mean width over the outputs; level 0: none. */
    double level, coverage, interval_width;
    size_t classes;
    size_t *confusion; /* classes x classes, row: truth, column: verdict; owned, freed by broad_metrics_clear() */
} broad_metrics;

/* Intervals, where the model has them, are of level 0.9. */
BROAD_API int broad_eval(broad_metrics *out, const broad_model *model, const broad_data *data, size_t threads);
/* The same with intervals of another level; one that the model cannot give is BROAD_USAGE. */
BROAD_API int broad_eval_level(broad_metrics *out, const broad_model *model, const broad_data *data, double level,
                               size_t threads);
BROAD_API void broad_metrics_clear(broad_metrics *metrics);

/* The model cut after one of its layers. What does not apply, or nobody knows, is NaN. */
typedef struct broad_curve_point {
    size_t layer, nodes; /* its number from 1; feature and enhancement nodes so far                            */
    double norm;     /* ||Y - scores||, Frobenius, in the units and with the weights of rows and classes that training
                            has: on the training rows norm_after of the layer's certificate */
    double accuracy; /* classification */
    double rmse;     /* regression, over all outputs */
    double loo;      /* norm of the leave-one-out residuals r_i / (1 - h_i) of the layer, as supervise loo has it */
} broad_curve_point;

/* One point for each layer: broad_model_layers() of them. Goes over the rows once, and the numbers are the same for any number of
 * threads. Cut networks are only known of a chain: where output weights are joint or of a window, those that the earlier
 * layers had by themselves are gone, and of all points but the last everything but layer and nodes is NaN. After rows were
 * added a certificate is about the rows there were; the curve is about those given. loo is NaN. */
BROAD_API int broad_model_curve(broad_curve_point *out, const broad_model *model, const broad_data *data,
                                size_t threads);
/* The same for the training rows, with loo where the network is a chain: over the rows that the layer was fitted to. Other
 * rows are BROAD_BAD_DATA. */
BROAD_API int broad_model_curve_loo(broad_curve_point *out, const broad_model *model, const broad_data *training,
                                    size_t threads);

/* ---- growing --------------------------------------------------------------------------------------------------- */

/*
 * A network that is being built: its rows, feature nodes and residual stay open between increments, so that a program that
 * grows every second does not compute them again. The data handed in is not copied: it must outlive the trainer. After
 * every call the model in it is complete and valid, also after a failure.
 */
typedef struct broad_trainer broad_trainer;

/* A new network: features drawn, no layer yet. */
BROAD_API int broad_trainer_open(broad_trainer **out, const broad_data *data, const broad_options *options);

/* Goes on with a model on the rows it was trained on. Of `run` only threads, progress and the rules for stopping count.
 * Other rows are refused, with what differs, unless force. data NULL: the old rows are gone, and only forgetful learning is
 * possible. */
BROAD_API int broad_trainer_resume(broad_trainer **out, const broad_model *model, const broad_data *data,
                                   const broad_options *run, int force);

/* Rows for until_accuracy and patience; they are never trained on. */
BROAD_API int broad_trainer_validate(broad_trainer *trainer, const broad_data *rows);

/* Algorithm 2: up to `layers` layers of `nodes` enhancement nodes. Outcome and reason are in the model. */
BROAD_API int broad_trainer_enhance(broad_trainer *trainer, size_t nodes, size_t layers);
/* Algorithm 3: `groups` times a new group of feature nodes, each with a layer [Z_new | H] of `enhance` nodes. */
BROAD_API int broad_trainer_features(broad_trainer *trainer, size_t groups, size_t nodes, size_t enhance);
/* Algorithm 4: further rows, then up to `layers` layers of `nodes` nodes on all rows. Classes after the model's own become
 * further outputs, for which the earlier layers have weights of zero. forgetful: the layers see the new rows alone. */
BROAD_API int broad_trainer_learn(broad_trainer *trainer, const broad_data *rows, size_t nodes, size_t layers,
                                  int forgetful);
/* The same for rows each of which counts so many times as much as it otherwise would (`weights`, one a row, 1e-12 to 1e12):
 * corrections, a few rows among many. The weights stay with these rows in the model, which can be verified and grown as any other. Unless layers are added,
 * lambda of joint weights stays as it is: rows that were chosen because the model is wrong on them say little about it. When it is
 * chosen again later, leave-one-out counts these rows as if they had no such weight. */
BROAD_API int broad_trainer_learn_weighted(broad_trainer *trainer, const broad_data *rows, const double *weights,
                                           size_t nodes, size_t layers, int forgetful);

/* The network as it is now; do not free it. Valid until the next call. */
BROAD_API const broad_model *broad_trainer_model(const broad_trainer *trainer);
BROAD_API broad_seconds broad_trainer_seconds(const broad_trainer *trainer);
/* Hands over the model where `out` is not NULL, and closes. */
BROAD_API void broad_trainer_close(broad_model **out, broad_trainer *trainer);

/* Rows of both, one after the other; columns, classes and names must agree (classes of `b` may go on after those of `a`). Groups
 * of `b` are others than those of `a`; if only one has groups, each row of the other is a group of its own. */
BROAD_API int broad_data_append(broad_data **out, const broad_data *a, const broad_data *b);
/* A new table of the given rows, numbered from 0, in this order. */
BROAD_API int broad_data_pick(broad_data **out, const broad_data *data, const size_t *rows, size_t count);

/* ---- sums instead of rows -------------------------------------------------------------------------------------- */

/*
 * C = A'A and D = A'Y over all nodes of a model: all that the chain needs of its training rows. New rows are added to the
 * sums, and every layer is solved again exactly as if trained on all rows, without the old ones.
 */
typedef struct broad_stats broad_stats;

BROAD_API int broad_stats_new(broad_stats **out, const broad_model *model, const broad_data *training, size_t threads);
/* Adds rows and solves every layer of the model again. */
BROAD_API int broad_stats_learn(broad_stats *stats, broad_model *model, const broad_data *rows, size_t threads);
BROAD_API int broad_stats_save(const broad_stats *stats, const char *path);
BROAD_API int broad_stats_load(broad_stats **out, const char *path, const broad_model *model);
BROAD_API size_t broad_stats_rows(const broad_stats *stats);
BROAD_API void broad_stats_free(broad_stats *stats);

/* ---- planning -------------------------------------------------------------------------------------------------- */

/* What a run needs before it starts. */
typedef struct broad_plan {
    double rows, inputs, outputs, nodes;             /* nodes: after the run */
    double bytes_data, bytes_training;               /* the table, and what training adds to it at its peak */
    double bytes_available;                          /* on this machine now */
    double bytes_peak;                               /* of the process as a whole, with what it has now */
    double flops_features, flops_layer, flops_total; /* with the first draw of each layer kept */
    int fits;
    /* Under a limit, options->memory; without one the rest is 0. */
    double memory;      /* the limit */
    double bytes_least; /* the least that would do */
    int can_spill;      /* these settings can be trained with the rows in files */
    int spilled;        /* and here they are: what there is of each row lies in files without a name */
    int z_again; /* feature nodes are made again with each pass; otherwise they are spilled too. Layers are made again */
    double passes;                      /* about so many over the rows, if each layer's first draw is kept */
    double bytes_disk, bytes_disk_free; /* that takes, and is there, in $TMPDIR or /var/tmp */
} broad_plan;

/* For fitting `options` to data of this size, which is in memory already. With a model: for growing it by enhance_layers
 * layers, or by feature_groups groups with a layer each where these are not 0. */
BROAD_API int broad_plan_run(broad_plan *out, const broad_options *options, const broad_model *model, size_t rows,
                             size_t inputs, size_t outputs);

/* ---- certificate ----------------------------------------------------------------------------------------------- */

typedef struct broad_verdict {
    int holds;
    size_t layers;           /* layers checked                                     */
    size_t failed_layer;     /* first that fails, from 1; 0 if none or not a layer */
    double worst_norm_error; /* largest relative difference to a recorded norm     */
    double product_bound;    /* product of the bounds since rows were last added   */
    double reached;          /* ||E_last|| / ||E|| at that point, recomputed       */
    char reason[512];        /* why it does not hold; "" if it does                */
} broad_verdict;

/* Recomputes every norm and inequality of the certificate from the training rows by plain loops: no kernels, no shared
 * code with training. A certificate that does not hold is a verdict, not an error. */
BROAD_API int broad_verify(broad_verdict *out, const broad_model *model, const broad_data *training, size_t threads);

/* ---- profile --------------------------------------------------------------------------------------------------- */

/* Of one stage of a run, so far. Seconds are the processor's, of the threads that did the work, added up: flops / seconds is
 * the rate of one core. Where files are read and written they are those of the clock. Stages do not contain each other. */
typedef struct broad_stage {
    const char *name, *group, *help; /* static storage */
    size_t calls;
    double seconds;
    double flops; /* additions and multiplications */
    double bytes; /* of what it works on           */
} broad_stage;

BROAD_API int broad_profile_open(broad_profile **out);
BROAD_API void broad_profile_close(broad_profile *profile); /* accepts NULL */
BROAD_API size_t broad_profile_stages(void);
/* May be asked at any time, by any thread. */
BROAD_API int broad_profile_stage(broad_stage *out, const broad_profile *profile, size_t stage);

/* ---- machine --------------------------------------------------------------------------------------------------- */

typedef struct broad_machine {
    size_t processors;   /* that this process may run on: what `threads` of 0 stands for     */
    const char *kernels; /* in use: "avx512", "avx2", "plain"                                */
    int self_test;       /* 1: every operation agrees with plain C; 0: not so, or not tested */
} broad_machine;

/* What is there, and if asked for whether it computes what it should. That it does not is a finding, no failure: the message
 * is left for broad_error_message(). */
BROAD_API int broad_machine_inspect(broad_machine *out, int test);

/* Of one thread alone, in its best moment; of all together, on average. */
typedef struct broad_rate {
    double one, all;
} broad_rate;

typedef struct broad_speed {
    size_t threads;
    const char
        *instructions; /* that the peak is measured with: "avx512", "avx2", "sse2", "neon"; "": it is not known how */
    broad_rate peak;   /* GFLOP/s: multiplications and additions on numbers in registers     */
    broad_rate dgemm;  /* GFLOP/s of a large product                                         */
    broad_rate layer;  /* GFLOP/s of a pass over the rows: nodes, gram, cross and residual   */
    broad_rate nodes, gram; /* GFLOP/s of its two largest parts                                   */
    broad_rate read, copy;  /* GB/s of memory; a byte that is copied is read and written          */
    double spread;          /* relative difference of the peak at the beginning and at the end    */
    double busy;            /* part of the time that processors were given to others              */
} broad_speed;

/* Measures for about a second with so many threads (0: one a processor). quick: peak and read of one thread alone, in less
 * than a tenth of that; the rest is 0. */
BROAD_API int broad_machine_measure(broad_speed *out, size_t threads, int quick);

#ifdef __cplusplus
}
#endif
#endif
