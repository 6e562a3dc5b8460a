/*
 * broad: broad learning in C.
 *
 * Networks of random nodes whose only trained weights come from ridge regression. The main one is BSCRLS: layers of
 * random nodes, each fitted to the residual of the layers before it and kept only if it passes a supervision test, so
 * that the training error converges in norm and the model carries a certificate of it.
 *
 * In five lines (every call returns BROAD_OK or a negative status; check it):
 *
 *     broad_data_read(&data, "iris.csv", NULL);
 *     broad_options_init(&options);
 *     broad_fit(&model, NULL, data, &options);
 *     broad_model_save(model, "iris.broad", BROAD_FILE_FULL);
 *     broad_predict(scores, model, x, rows, 0);
 *
 * Sections, in reading order: status and version, memory, enums, structs and their sizes, progress, options, data
 * (files, arrays, photos, splits), training, the model, prediction, explanations of photos, the predictor, evaluation,
 * growing, sums instead of rows, planning, the certificate, the profile, pictures, photos from memory, several threads,
 * random numbers, the machine, compatibility.
 *
 * Rules that hold for every function here:
 *  - It returns BROAD_OK or a negative status, and on failure leaves a message for broad_error_message(). Functions
 *    that return something else are plain getters.
 *  - NULL is never a crash: where an argument is required, it is BROAD_USAGE; a getter returns 0, "", NaN or NULL.
 *  - Out-parameters come first and are written only on success; handles are set to NULL on failure.
 *  - Nothing is printed, no signal handler is installed, the process is never ended.
 *  - Running out of memory is always reported as BROAD_NO_MEMORY.
 *  - Results have the same bits for any number of threads, in a program as in the command-line tool.
 *  - fork() is safe at any time: the child may use every handle it inherits (an inherited trainer runs on one thread). One that
 *    was born in a progress function may make calls of its own there, but must not return from it: end it with _exit().
 *
 * Threads and lifetimes. Different handles may be used by different threads at the same time without precautions. Of
 * one handle:
 *  - broad_data and broad_predictor never change once made: any number of threads may use one at the same time. A table
 *    made from borrowed arrays (broad_arrays.borrow) needs them until it is freed.
 *  - broad_model: any number of threads may read it and predict with it. Only broad_stats_learn() changes a model; no
 *    other thread may use that model meanwhile.
 *  - broad_trainer, broad_stats: one thread at a time. The data given to a trainer must outlive it; a model, or the
 *    data, given to broad_stats functions is needed during the call only.
 *  - broad_profile: any thread may read it while it is being filled; it must outlive the trainers that fill it.
 *  - Texts and pointers that a getter returns belong to the handle and live as long as it does. broad_error_message()
 *    is valid until the next failing call of the same thread; a success leaves it as it is.
 *  - Texts given to a function are copied before it returns, with one exception: broad_options keeps the pointers
 *    `positive`, `normal` and `class_weight` (also those given to broad_options_set()) until the options are used: keep these
 *    texts until then.
 *  - What a function hands out as a plain block (void *, char *) is freed with broad_free().
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

/* ---- status and version ---------------------------------------------------------------------------------------- */

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

/* The message of this thread's last failure: what is wrong, where, and what to do about it. Never NULL. */
BROAD_API const char *broad_error_message(void);
/* What the last failure of this thread was about, where a program may want to act on it. */
typedef enum broad_reason {
    BROAD_REASON_NONE,         /* nothing that has a name here                                             */
    BROAD_REASON_UNKNOWN_LABEL /* labels that the model does not know: see broad_read_options.new_classes */
} broad_reason;
BROAD_API broad_reason broad_error_reason(void);
/* Leaves a message, as a function that the library calls back does before it fails. Returns the status. */
BROAD_API int broad_error_set(int status, const char *message);
BROAD_API const char *broad_status_name(int status); /* "bad_data" */
BROAD_API const char *broad_status_text(int status); /* "bad data" */

/* Of this header; compare BROAD_VERSION_NUMBER with #if. Until 1.0 programs and libraries of one minor version fit
 * together. */
#define BROAD_VERSION_MAJOR 0
#define BROAD_VERSION_MINOR 2
#define BROAD_VERSION_PATCH 0
#define BROAD_VERSION_NUMBER (BROAD_VERSION_MAJOR * 1000000 + BROAD_VERSION_MINOR * 1000 + BROAD_VERSION_PATCH)

/* Of the library in use. */
BROAD_API const char *broad_version(void); /* "0.2.0" */
BROAD_API int broad_version_number(void);  /* as BROAD_VERSION_NUMBER */

/* ---- memory ---------------------------------------------------------------------------------------------------- */

/* Allocates everything from now on; NULL restores the C library's functions. Set it before any other call. */
typedef struct broad_allocator {
    void *(*allocate)(size_t bytes, void *context);
    void (*release)(void *block, void *context);
    void *context;
} broad_allocator;

BROAD_API void broad_set_allocator(const broad_allocator *allocator);
BROAD_API void broad_free(void *block); /* frees a plain block that a function here handed out; accepts NULL */

/* ---- enums ----------------------------------------------------------------------------------------------------- */

/*
 * The networks: which nodes they have, how candidate layers are selected and where the output weights come from.
 *
 *              nodes                        selection                     output weights
 *     rvfl     inputs + hidden nodes        none                          joint
 *     bls      feature groups + nodes       none                          joint
 *     brls     feature groups + layers      none, gcv                     chain or joint
 *     bscrls   feature groups + layers      gcv, residual, loo, operator  chain or joint
 *     scn      hidden nodes, in blocks      output, gcv                   chain, window or joint; gcv: chain
 */
typedef enum broad_kind {
    BROAD_KIND_BSCRLS,
    BROAD_KIND_BRLS,
    BROAD_KIND_BLS,
    BROAD_KIND_SCN,
    BROAD_KIND_RVFL
} broad_kind;
typedef enum broad_preset { BROAD_PRESET_AUTO, BROAD_PRESET_PAPER, BROAD_PRESET_CHAIN } broad_preset;
typedef enum broad_task { BROAD_TASK_AUTO, BROAD_TASK_CLASSIFY, BROAD_TASK_REGRESS } broad_task;

typedef enum broad_activation {
    BROAD_ACTIVATION_SIGMOID,
    BROAD_ACTIVATION_TANH,
    BROAD_ACTIVATION_RELU,
    BROAD_ACTIVATION_SINE,
    BROAD_ACTIVATION_GAUSSIAN,
    BROAD_ACTIVATION_IDENTITY
} broad_activation;

/* The test that a candidate layer must pass to be kept. E: residual before it, K: its nodes, W: its weights. */
typedef enum broad_supervise {
    BROAD_SUPERVISE_RESIDUAL, /* ||E - KW|| <= (gamma + mu) ||E||                                        */
    BROAD_SUPERVISE_LOO,      /* the same with leave-one-out residuals                                  */
    BROAD_SUPERVISE_OPERATOR, /* the paper's inequality on the residual operator itself                 */
    BROAD_SUPERVISE_NONE,     /* every layer is kept                                                    */
    BROAD_SUPERVISE_OUTPUT,   /* scn: the squared residual of every output falls to at most gamma + mu  */
    /* chains: the generalised cross-validation score ||E|| / (1 - penalty df / N) of the whole chain, and ||E||, fall to
     * at most gamma + mu of what they were; df: the chain's degrees of freedom */
    BROAD_SUPERVISE_GCV
} broad_supervise;

/* Where the output weights come from. */
typedef enum broad_weights {
    BROAD_WEIGHTS_CHAIN, /* each layer is fitted to the residual of the layers before it       */
    BROAD_WEIGHTS_JOINT, /* one ridge regression over the nodes of all layers                  */
    BROAD_WEIGHTS_WINDOW /* scn: each new layer solves the weights of the last nodes again     */
} broad_weights;

typedef enum broad_feature_weights {
    BROAD_FEATURE_WEIGHTS_RANDOM,
    BROAD_FEATURE_WEIGHTS_AUTOENCODER,
    /* The bias is chosen so that the node's transition passes through a training row. Which directions are drawn is tried on
     * the rows: of all inputs, of one to three of them, both in turn, or from one row to another. */
    BROAD_FEATURE_WEIGHTS_SAMPLED
} broad_feature_weights;
/* Whether feature nodes are drawn with a metric learned from the rows; auto: where rows that it has not seen say so. */
typedef enum broad_learned { BROAD_LEARNED_AUTO, BROAD_LEARNED_YES, BROAD_LEARNED_NO } broad_learned;
/* Where training and prediction compute. Results agree up to rounding; with BROAD_DEVICE_CPU they have the same bits
 * everywhere. */
typedef enum broad_device {
    BROAD_DEVICE_CPU, /* the processor                                                                     */
    BROAD_DEVICE_CUDA /* a GPU, by libbroad-cuda.so: nodes and sums of many rows, and large matrices       */
} broad_device;

/* How long preset auto may look for good nodes. */
typedef enum broad_effort { BROAD_EFFORT_FAST, BROAD_EFFORT_NORMAL, BROAD_EFFORT_THOROUGH } broad_effort;
/* What is known of the metric that feature nodes were drawn with. */
typedef enum broad_metric_form {
    BROAD_METRIC_FORM_NONE,     /* there is none: all inputs count alike            */
    BROAD_METRIC_FORM_DIAGONAL, /* how much each input counts by itself             */
    BROAD_METRIC_FORM_FULL      /* also which inputs count together: its directions */
} broad_metric_form;
typedef enum broad_loo { BROAD_LOO_AUTO, BROAD_LOO_YES, BROAD_LOO_NO } broad_loo;

typedef enum broad_gamma_form { BROAD_GAMMA_HARMONIC, BROAD_GAMMA_CONSTANT, BROAD_GAMMA_LIST } broad_gamma_form;
typedef enum broad_select { BROAD_SELECT_FIRST, BROAD_SELECT_BEST } broad_select;
typedef enum broad_range_unit { BROAD_RANGE_ABSOLUTE, BROAD_RANGE_FAN_IN } broad_range_unit;
typedef enum broad_precision {
    BROAD_PRECISION_DOUBLE,
    BROAD_PRECISION_FLOAT /* of models of 0.1: nodes in single precision; they predict and grow, none is trained anew */
} broad_precision;
typedef enum broad_scale {
    BROAD_SCALE_NONE,
    BROAD_SCALE_MINMAX,
    BROAD_SCALE_STANDARD,
    BROAD_SCALE_RANK,  /* by rank among the training rows, then standardised                                */
    BROAD_SCALE_BOTH,  /* every column twice: standardised, and by rank                                     */
    BROAD_SCALE_WHOLE, /* all columns by the smallest and largest value of the table, as pixels of an image */
    BROAD_SCALE_AUTO   /* whole for images, both for other tables                                           */
} broad_scale;
typedef enum broad_missing {
    BROAD_MISSING_ERROR, /* a missing value is an error                                         */
    BROAD_MISSING_MEAN   /* it is NaN in the table, and the mean of its column for the network  */
} broad_missing;

/* How a photo becomes inputs; maps may be combined. */
typedef enum broad_photo_map {
    BROAD_PHOTO_MAP_PIXELS = 1,      /* the colours of the photo, reduced to a small square      */
    BROAD_PHOTO_MAP_DESCRIPTORS = 2, /* colour and texture of the whole photo                    */
    BROAD_PHOTO_MAP_WINDOWS = 4,     /* random nodes applied to every window of it, averaged     */
    BROAD_PHOTO_MAP_ALL = 7
} broad_photo_map;

/* Which part of a photo is used. */
typedef enum broad_crop {
    BROAD_CROP_NONE = 0,     /* all of it                                    */
    BROAD_CROP_BOXES = 2,    /* boxes from a file                            */
    BROAD_CROP_DETECTOR = 3, /* boxes from a function of the caller          */
    BROAD_CROP_MODEL = 4     /* reading for a model: as that one was trained */
} broad_crop;

/* How a run ended; stored in the model together with the reason in words. */
typedef enum broad_outcome {
    BROAD_OUTCOME_COMPLETE,       /* all requested layers were added                             */
    BROAD_OUTCOME_STALLED,        /* no candidate passed the test; the model so far is valid     */
    BROAD_OUTCOME_TARGET_REACHED, /* a stop rule was met                                         */
    BROAD_OUTCOME_STOPPED,        /* the progress function asked to stop                         */
    BROAD_OUTCOME_TIME_LIMIT      /* max_seconds were up, or left no time for another layer      */
} broad_outcome;

/* Which call added a layer. */
typedef enum broad_origin {
    BROAD_ORIGIN_INITIAL,  /* broad_fit()                                            */
    BROAD_ORIGIN_ENHANCE,  /* broad_trainer_enhance()                                */
    BROAD_ORIGIN_FEATURES, /* broad_trainer_features()                               */
    BROAD_ORIGIN_DATA,     /* broad_trainer_learn(), on all rows                     */
    BROAD_ORIGIN_FORGETFUL /* broad_trainer_learn(), on the new rows alone           */
} broad_origin;

/* How the output weights of a model are computed. */
typedef enum broad_fitting {
    BROAD_FITTING_CHAIN,    /* each layer is fitted to the residual of the layers before it                     */
    BROAD_FITTING_JOINT,    /* a chain, then one ridge regression over all nodes, whose weights predict         */
    BROAD_FITTING_STEPWISE, /* that ridge regression again with every layer                                     */
    BROAD_FITTING_WINDOW,   /* again with every layer, for the last nodes alone                                 */
    BROAD_FITTING_AT_ONCE   /* one ridge regression without layers: the nodes of each run are one block         */
} broad_fitting;

/* Where the weights of feature nodes come from. */
typedef enum broad_feature_source {
    BROAD_FEATURE_SOURCE_DRAWN,       /* the seed                                        */
    BROAD_FEATURE_SOURCE_DIRECT,      /* none: the nodes are the scaled inputs           */
    BROAD_FEATURE_SOURCE_AUTOENCODER, /* fitted to the training rows                     */
    BROAD_FEATURE_SOURCE_SAMPLED,     /* the seed and the training rows                  */
    BROAD_FEATURE_SOURCE_NONE         /* there are no feature nodes                      */
} broad_feature_source;

/* Where a table came from. */
typedef enum broad_format {
    BROAD_FORMAT_CSV,
    BROAD_FORMAT_LIBSVM,
    BROAD_FORMAT_NPY,
    BROAD_FORMAT_IDX,
    BROAD_FORMAT_PHOTOS,
    BROAD_FORMAT_MEMORY
} broad_format;

/* The enums that have names: the words of options, JSON output and model files. */
typedef enum broad_enum {
    BROAD_ENUM_KIND,
    BROAD_ENUM_PRESET,
    BROAD_ENUM_TASK,
    BROAD_ENUM_ACTIVATION,
    BROAD_ENUM_SUPERVISE,
    BROAD_ENUM_WEIGHTS,
    BROAD_ENUM_FEATURE_WEIGHTS,
    BROAD_ENUM_LOO,
    BROAD_ENUM_GAMMA_FORM,
    BROAD_ENUM_SELECT,
    BROAD_ENUM_PRECISION,
    BROAD_ENUM_RANGE_UNIT,
    BROAD_ENUM_SCALE,
    BROAD_ENUM_MISSING,
    BROAD_ENUM_CROP,
    BROAD_ENUM_OUTCOME,
    BROAD_ENUM_ORIGIN,
    BROAD_ENUM_FITTING,
    BROAD_ENUM_FEATURE_SOURCE,
    BROAD_ENUM_FORMAT,
    BROAD_ENUM_ESTIMATE_METHOD,
    BROAD_ENUM_LEARNED,
    BROAD_ENUM_EFFORT,
    BROAD_ENUM_METRIC_FORM
} broad_enum;

/* broad_enum_name(BROAD_ENUM_KIND, BROAD_KIND_SCN) is "scn". Static text; "unknown" for a value that does not exist. */
BROAD_API const char *broad_enum_name(broad_enum which, int value);
BROAD_API int broad_enum_value(broad_enum which, const char *name); /* -1: there is no such name */

/* ---- structs and their sizes ----------------------------------------------------------------------------------- */

/*
 * A struct that the caller owns begins with `size`, and its _init() function sets it to the size that the caller was
 * compiled with. New fields are only ever added at the end, so a program and a library of different patch levels work
 * together: the library fills no more than `size` bytes of a result, sets what it does not know to zero, and uses
 * defaults for options that the caller does not have. A struct that was not initialised is BROAD_USAGE. In C,
 *
 *     broad_metrics metrics = {.size = sizeof metrics};
 *
 * does the same as broad_metrics_init(&metrics) for a result. Structs that the library owns and hands out by pointer
 * (broad_option, broad_photo, broad_skipped, broad_progress) have no size; they too only grow at the end.
 *
 * Programs in other languages call broad_result_init() and the broad_..._init_sized() functions with the size they use.
 */
BROAD_API void broad_result_init(void *out, size_t size); /* zeros, and the size in front */

/* ---- progress -------------------------------------------------------------------------------------------------- */

typedef struct broad_progress {
    const char
        *stage; /* "read", "photos", "maps", "features", "layers", "joint", "predict", "eval", "verify", "stats", ... */
    size_t done,
        total; /* of what the stage counts; 0 where it cannot say: layers in training, bytes, photos, rows or passes */
    size_t draws;      /* training: draws tried for the current layer */
    double norm;       /* training: ||E|| so far */
    double first_norm; /* training: ||E_0|| */
    double part;       /* of the whole call that is done, 0 to 1, by the work that is expected; it never falls. Of a new
                        * network: of opening the trainer and of the layers that the options ask for, together */
} broad_progress;

/*
 * Called from the first moment on, at intervals of at most 0.2 s as a rule, always on the thread that made the call.
 * Non-zero asks to stop, and the call ends as soon. Training that has a layer to show for it then ends with a complete
 * and valid model, whose outcome is BROAD_OUTCOME_STOPPED: the layers so far. Before the first layer, and where joint
 * weights of a network that grows were being solved again, it returns BROAD_INTERRUPTED, and a trainer has the model that
 * it had before the call. Every other call returns BROAD_INTERRUPTED and no result.
 *
 * To end after a given layer and go on later with the bits of a run that never stopped, return non-zero once, when `done`
 * gets there with `draws` 0: it is called again while the residual is brought up to date, and what is asked for then gives
 * that up.
 *
 * The pattern is the same everywhere: a struct of options with the fields threads, progress and progress_context. Calls
 * that have no options of their own take a broad_run_options.
 */
typedef int (*broad_progress_function)(const broad_progress *progress, void *context);

/*
 * Ranks: processes that make one call together, on one machine or on several.
 *
 * Each rank makes the same calls in the same order, with the same rows, models and options; threads may differ. Passes over
 * many rows are shared out, and what they come to crosses the ranks in a fixed order of additions, so that every rank gets
 * the result that one process alone would get, to the last bit. A rank holds the rows' nodes and residuals of its own
 * share alone. Whether to stop is decided together: what any rank's progress function asks for ends the call on all of them.
 *
 * Its functions are called on the thread that made the call. Each returns 0, or another number if it failed, which ends the
 * call with BROAD_IO; a process that fails alone must end the others itself, since they wait for it. The library copies
 * nothing of the struct: it must stay as it is as long as a trainer or a call uses it. broad_mpi_open() of <broad/mpi.h>
 * fills one in for MPI.
 */
typedef struct broad_comm {
    size_t size;
    size_t rank, ranks; /* this process, from 0, and how many there are */
    void *context;      /* what its functions are given */
    /* `count` bytes to another rank, and from it; messages between two ranks arrive in the order in which they were sent.
     * Sending may wait until the other receives. */
    int (*send)(void *context, size_t to, const void *bytes, size_t count);
    int (*receive)(void *context, size_t from, void *bytes, size_t count);
    /* `count` bytes from rank `from` to all others; called by all. NULL: by the two above. */
    int (*broadcast)(void *context, size_t from, void *bytes, size_t count);
} broad_comm;

BROAD_API void broad_comm_init_sized(broad_comm *out, size_t size); /* one rank, no functions */
static inline void broad_comm_init(broad_comm *out) { broad_comm_init_sized(out, sizeof *out); }

/* How a call runs, with no influence on its result. NULL in place of one: the defaults. */
typedef struct broad_run_options {
    size_t size;
    size_t threads; /* 0: one per processor */
    broad_progress_function progress;
    void *progress_context;
    const broad_comm *comm; /* ranks that make the call together; NULL: this process alone */
    broad_device device;    /* prediction of tens of thousands of rows may pass through it; other calls ignore it */
} broad_run_options;

BROAD_API void broad_run_options_init_sized(broad_run_options *out, size_t size);
static inline void broad_run_options_init(broad_run_options *out) { broad_run_options_init_sized(out, sizeof *out); }

/* ---- options of training --------------------------------------------------------------------------------------- */

/* Counts where the time of a run goes; see the end of this file. */
typedef struct broad_profile broad_profile;

#define BROAD_LIST_MAX 256 /* maximum number of values in a list option */

/* Plain values, copied freely. broad_options_init() sets preset `auto`. Limits, choices and defaults: the option table
 * below. */
typedef struct broad_options {
    size_t size;
    broad_kind
        kind; /* set it with broad_options_set(), or call broad_options_preset() afterwards: kinds have own defaults */
    broad_preset preset;
    uint64_t seed;
    size_t threads; /* 0: one per processor */
    /* Bytes that the process as a whole should hold at most while training; 0: what it has and half of the memory that is
     * available; SIZE_MAX: no limit. Nodes that do not fit are recomputed, rows are kept in an unnamed file in $TMPDIR or
     * /var/tmp; what needs more is refused. Not part of the model. */
    size_t memory;

    int features_auto;                    /* chosen by the rows and the gain; the next two are then ignored */
    size_t feature_groups, feature_nodes; /* n groups of k nodes */
    size_t enhance_nodes, enhance_layers; /* q nodes in each of m layers */
    broad_activation activation;          /* of the enhancement nodes */
    broad_activation feature_activation;
    broad_feature_weights feature_weights;
    broad_precision precision; /* in which nodes are computed */
    double sparse_lambda;      /* autoencoder: weight of its l1 term */
    size_t sparse_steps;       /* autoencoder: ADMM steps */

    broad_scale scale; /* of the inputs, computed from the training rows */
    broad_scale
        scale_target; /* of the targets; for classes, standard makes their scores start from their frequencies */

    int lambda_auto; /* chosen per layer, by leave-one-out or by the score of BROAD_SUPERVISE_GCV */
    double lambda;
    int range_auto; /* chosen by leave-one-out over a small grid */
    double range;
    broad_range_unit range_unit;

    broad_supervise supervise;
    broad_gamma_form gamma_form;
    size_t gamma_count;
    double gamma[BROAD_LIST_MAX]; /* the constant, the harmonic's c, or the list */
    size_t tries;                 /* draws per range */
    size_t range_steps_count;
    double range_steps[BROAD_LIST_MAX]; /* multiples of the range, in the order in which they are tried */
    double relax;                       /* gamma <- gamma + relax (1 - gamma) */
    size_t relax_count;                 /* maximum number of relaxations per layer */
    broad_select select;

    broad_weights weights;
    size_t window; /* nodes whose weights BROAD_WEIGHTS_WINDOW solves again */
    /* Whether to estimate the error, which probabilities and intervals need (broad_estimate); auto: where it is cheap.
     * Rows of one group are left out together. */
    broad_loo loo;
    const char *class_weight; /* "balanced", or "a:1,b:3"; NULL: every row has weight 1 */

    /* When to stop before all layers are added; the first rule that is met ends the run, 0 switches a rule off. Not
     * part of the model. */
    double until; /* ||E|| at most this; with until_relative: at most this fraction of the first norm */
    int until_relative;
    double until_accuracy; /* of the validation rows if there are any, otherwise of the training rows */
    size_t max_layers;     /* layers in all, including those of earlier runs */
    size_t max_nodes;      /* nodes in all */
    double max_seconds;    /* of this run */
    size_t patience;       /* layers without a lower validation error; the model then returns to its best state */

    /* The class that precision and recall refer to; NULL: of two classes the one that is not normal. */
    const char *positive;

    broad_progress_function progress;
    void *progress_context;
    broad_profile *profile; /* NULL: nothing is counted */

    /* The class that means "nothing wrong"; NULL: by its name (clean, ok, good, normal, none, healthy, no_damage ...), else
     * the most frequent one. */
    const char *normal;

    double penalty;       /* BROAD_SUPERVISE_GCV: how often each degree of freedom counts; 1: plain cross-validation */
    broad_learned metric; /* of random and sampled feature nodes */
    broad_effort effort;
    const broad_comm *comm; /* ranks that train together; NULL: this process alone. Not part of the model */
    broad_device device;    /* not part of the model */
} broad_options;

BROAD_API void broad_options_init_sized(broad_options *out, size_t size);
static inline void broad_options_init(broad_options *out) { broad_options_init_sized(out, sizeof *out); }
/* Sets every field that belongs to the preset; kind, seed, precision, threads, memory, positive, normal and progress
 * stay. */
BROAD_API int broad_options_preset(broad_options *options, broad_preset preset);
/* Sets one option from text, by the names of the option table: broad_options_set(&o, "lambda", "1e-8"). */
BROAD_API int broad_options_set(broad_options *options, const char *name, const char *value);
/* The value of one option as text that broad_options_set() reads back; "" where there is none. */
BROAD_API int broad_options_get(char *out, size_t bytes, const broad_options *options, const char *name);

/* The option table, from which parsers, help, manuals, completion and bindings can be generated. */
typedef struct broad_option {
    const char *name;          /* "lambda": --lambda on the command line                                    */
    char letter;               /* 'o' for -o, or 0                                                          */
    const char *argument;      /* "NUMBER|auto"; NULL for a switch                                          */
    const char *choices;       /* "first|best" where only these are allowed, otherwise NULL                 */
    const char *default_value; /* as text; NULL where it depends on the preset or there is none             */
    const char *help;          /* one line                                                                  */
} broad_option;

BROAD_API size_t broad_option_count(void);
BROAD_API const broad_option *broad_option_at(size_t index); /* NULL beyond the last */

/* ---- data ------------------------------------------------------------------------------------------------------ */

/* Rows of numbers with their targets. Immutable once made. Freed with broad_data_free(). */
typedef struct broad_data broad_data;
/* A trained network. Freed with broad_model_free(). */
typedef struct broad_model broad_model;

/* The boxes of one photo, while a function of the caller finds them. */
typedef struct broad_box_list broad_box_list;
/* Adds a box in pixels of the upright photo; right and bottom are just outside. score: NaN where there is none.
 * BROAD_BAD_DATA for a box without width or height, or with a side that is not finite. */
BROAD_API int broad_box_list_add(broad_box_list *list, double left, double top, double right, double bottom,
                                 double score);
/*
 * Finds the boxes in the photo `file`, a path that can be opened, and adds them to `out`, which the library owns; the
 * function keeps neither. Photos are prepared on several threads: it is called on any of them, but never twice at the
 * same time. It returns BROAD_OK; BROAD_BAD_DATA where only this photo cannot be used, which is then skipped with the
 * message as its reason; any other status ends the reading with that status and message. broad_error_set() leaves the
 * message. What it added before it failed is dropped.
 */
typedef int (*broad_boxes_function)(broad_box_list *out, const char *file, void *context);

/* How photos are read. With a model, maps, side, each_box, the way of cropping and (for training) augment are the
 * model's; the boxes or the function must be given again. For training, near-duplicates are grouped if the model's
 * were. */
typedef struct broad_photo_options {
    size_t size;
    unsigned maps;                   /* of broad_photo_map; 0: descriptors and windows                            */
    size_t side;                     /* of the square of pixels                                                   */
    broad_crop crop;                 /* BROAD_CROP_MODEL: whole photos where there is no model                    */
    const char *boxes;               /* file or folder with boxes: YOLO text, COCO JSON or CSV                    */
    broad_boxes_function find_boxes; /* a detector: see above */
    void *find_boxes_context;
    int each_box;      /* 1: every box is a row; 0: the best box of each photo                      */
    size_t components; /* principal components to train on instead of the inputs of the maps, see
                                broad_photos_prepare(); 0: as many as the rows warrant; or BROAD_COMPONENTS_NONE */
    size_t augment;    /* training: rows made from augmented copies of each photo                   */
    uint64_t seed;     /* of the augmentation                                                       */
    int strict;        /* 1: a file that cannot be read is an error; 0: it is skipped               */
    int no_groups;     /* 1: do not look for near-duplicates                                        */
    const char *cache; /* folder for prepared features; NULL: none                                  */
    size_t threads;    /* 0: one per processor                                                      */
} broad_photo_options;

#define BROAD_COMPONENTS_NONE SIZE_MAX /* the inputs stay as the maps compute them */

BROAD_API void broad_photo_options_init_sized(broad_photo_options *out, size_t size);
static inline void broad_photo_options_init(broad_photo_options *out)
{
    broad_photo_options_init_sized(out, sizeof *out);
}

/* What a preset means for photos: for `paper` the pixels of a square with a side of 64, without components; `auto` is
 * what broad_photo_options_init() sets. */
BROAD_API int broad_photo_options_preset(broad_photo_options *options, broad_preset preset);

typedef struct broad_read_options {
    size_t size;
    const char *target; /* column name, number from 1, or a comma-separated list; NULL: the last column           */
    const char *labels; /* file with the targets; the data file then has inputs only                              */
    const char *group;  /* column whose equal values stay together in splits and leave-one-out; not an input      */
    const char *weight; /* column with the weight of each row, 0 (it does not count) or more; not an input        */
    /* Columns whose values are categories: as target. Others are taken as they are found, unless this is, or holds,
     * "none": see broad_data_read(). */
    const char *categorical;
    const char *header;    /* "auto", "yes", "no"                                                                    */
    const char *separator; /* "auto", or one character ("\t" or "tab" for a tab)                                     */
    broad_task task;
    broad_missing missing;
    const broad_model
        *model;          /* read the columns this model was trained on, by name; targets become its classes       */
    int target_optional; /* with model: 1: rows may come without targets                                          */
    int training;        /* with model: 1: rows to train on or to verify need weights if the model's rows had them */
    int new_classes;     /* with model: 1: labels it does not know become further classes, after its own          */
    const broad_photo_options
        *photos;    /* NULL: the defaults                                                           */
    size_t threads; /* 0: one per processor; the table is the same for any number                   */
    /* Bytes that the process should hold at most. A table that takes a large part of them is kept in unnamed files in
     * $TMPDIR or /var/tmp; 0: one that takes more than half of the available memory; SIZE_MAX: none. Photos and LIBSVM must
     * fit in memory. */
    size_t memory;
    broad_progress_function progress; /* stage "read", in bytes, or "photos" */
    void *progress_context;
    const char *keep;   /* CSV: columns whose cells are kept as text, as target, or "all": broad_data_kept_text()     */
    int rows_optional;  /* with model: 1: a table with a header and no rows is no error                              */
    const char *inputs; /* without model: columns that are inputs, as target; NULL: all that have no other role   */
    const char *ignore; /* without model: columns that are not looked at, as target                               */
    int no_groups;      /* without model: 1: copies of rows are not grouped                                       */
    /* 1: NPY and IDX files are mapped, and inputs that are doubles stay there, which saves a copy. Then the file must not be
     * changed where it lies as long as the table exists; putting another in its place is safe. 0: the table has its own. */
    int in_place;
    /* Ranks that read the table together; NULL: this process alone. Of a large one each then holds the inputs of the rows that are
     * its own in a pass (docs/scale.md), and broad_data_row() has no others. All ranks must make the same calls with such a table:
     * what needs all of its rows brings them together. It must outlive the table. Standard input is that of rank 0. */
    const broad_comm *comm;
    int one_class; /* without model: 1: targets of a single class are no error: to look at the rows, not to train on them */
} broad_read_options;

BROAD_API void broad_read_options_init_sized(broad_read_options *out, size_t size);
static inline void broad_read_options_init(broad_read_options *out) { broad_read_options_init_sized(out, sizeof *out); }

/* What a path leads to, by its first bytes; nothing is said about whether it can be read to its end. */
typedef enum broad_path_kind {
    BROAD_PATH_KIND_UNKNOWN, /* not there, no regular file, or nothing known */
    BROAD_PATH_KIND_FOLDER,
    BROAD_PATH_KIND_PICTURE, /* of any format; see broad_picture_formats()   */
    BROAD_PATH_KIND_TABLE    /* text, or one of the formats of tables        */
} broad_path_kind;
BROAD_API broad_path_kind broad_path_look(const char *path);

/*
 * Reads CSV, LIBSVM, NPY or IDX, each also gzipped; "-" is standard input. The format is detected from the content. A
 * folder is read as photos: broad_data_read_photos(). options NULL: the defaults, which are those of the tool.
 *
 * CSV is taken as people write it. Text becomes categories, yes and no become 1 and 0, dates become days since
 * 1970-01-01; numbers may have a decimal comma, marks between thousands, a percent sign or a currency. Columns that
 * differ in every row, free text and empty columns are left out, and so are rows without a target. Missing values use the
 * mean of their column, and are a level of their own in categories. Copies of rows become groups. broad_data_note() tells
 * what was done; a model read with options->model applies the same to its own columns. For numbers alone, and an error
 * for anything else: categorical "none" and missing BROAD_MISSING_ERROR.
 */
BROAD_API int broad_data_read(broad_data **out, const char *path, const broad_read_options *options);

/* Photos from files and folders, of the formats of broad_picture_formats(), by their content. Folders are searched recursively, without hidden files.
 * Targets: options->labels, a CSV file whose first column, or the one called "file", names the photos (as paths
 * relative to the folder, or by their last part where that is unique), and whose column `target`, or the last one, is
 * the target; `group` may name a further column. Without such a file the class is the folder directly below the given
 * one; photos outside such folders, or given as files, have no class. Near-duplicates get the same group, unless
 * `group` is given. */
BROAD_API int broad_data_read_photos(broad_data **out, const char *const *paths, size_t count,
                                     const broad_read_options *options);

typedef enum broad_number { BROAD_NUMBER_DOUBLE, BROAD_NUMBER_FLOAT, BROAD_NUMBER_UINT8 } broad_number;

/* An input column whose numbers are codes of categories: code k, from 0, stands for levels[k]. It becomes one input per
 * level, called "name=level", in the order in which a file would have them; a missing code is NaN. */
typedef struct broad_array_category {
    size_t input; /* number of the column, from 0 */
    size_t count;
    const char *const *levels;
} broad_array_category;

/*
 * A table from arrays in memory. Give exactly one of labels, classes and values, or none (inputs only). The table is
 * the one that reading the same values from a file gives. Everything is copied, and numbers of other types are
 * converted to double meanwhile, unless `borrow` is set: then x is used in place, must be double without gaps
 * (row_stride `inputs`, column_stride 1) and without categories, and must neither change nor go before the table and
 * all that is made from it. Otherwise BROAD_USAGE.
 */
typedef struct broad_arrays {
    size_t size;
    size_t rows, inputs;
    const void *x;             /* row i, input j is element i * row_stride + j * column_stride             */
    broad_number type;         /* of the elements of x                                                     */
    size_t row_stride;         /* in elements; 0: inputs                                                   */
    size_t column_stride;      /* in elements; 0: 1. Column by column: row_stride 1, column_stride rows    */
    int borrow;                /* 1: use x in place                                                        */
    broad_missing missing;     /* BROAD_MISSING_MEAN: NaN in x is a missing value                          */
    const char *const *labels; /* text label of each row: classification                                   */
    const int64_t *classes;    /* number label of each row: classification                                 */
    const double *values;      /* rows x outputs, row by row: regression                                   */
    size_t outputs;            /* columns of values                                                        */
    const char *const *names;  /* input names, or NULL                                                     */
    const char *const *groups; /* group of each row, or NULL: rows of a group stay together                */
    const double *weights;     /* weight of each row, above 0, or NULL                                     */
    const broad_array_category *categories; /* in the order of their inputs, or NULL                       */
    size_t category_count;
} broad_arrays;

BROAD_API void broad_arrays_init_sized(broad_arrays *out, size_t size);
static inline void broad_arrays_init(broad_arrays *out) { broad_arrays_init_sized(out, sizeof *out); }
BROAD_API int broad_data_from_arrays(broad_data **out, const broad_arrays *arrays);

BROAD_API void broad_data_free(broad_data *data); /* accepts NULL */
BROAD_API size_t broad_data_rows(const broad_data *data);
BROAD_API size_t broad_data_inputs(const broad_data *data);
BROAD_API size_t broad_data_outputs(const broad_data *data);  /* classes, or target columns; 0 without targets */
BROAD_API broad_task broad_data_task(const broad_data *data); /* BROAD_TASK_AUTO without targets */
BROAD_API broad_format broad_data_format(const broad_data *data);
/* What reading did that its user may want to know, one sentence each: see broad_data_read(). Parts of a table have none. */
BROAD_API size_t broad_data_note_count(const broad_data *data);
BROAD_API const char *broad_data_note(const broad_data *data, size_t note);
BROAD_API const char *broad_data_input_name(const broad_data *data, size_t input);   /* "x1", ... without a header */
BROAD_API const char *broad_data_output_name(const broad_data *data, size_t output); /* class label or target column */
BROAD_API const double *broad_data_row(const broad_data *data, size_t row);          /* its inputs; NULL: no such row */
BROAD_API size_t broad_data_class(const broad_data *data, size_t row);               /* classification; 0 otherwise */
BROAD_API size_t
broad_data_normal(const broad_data *data); /* the class that a fit takes as the normal one, if not told */
BROAD_API double broad_data_value(const broad_data *data, size_t row, size_t output); /* regression; NaN otherwise */
BROAD_API double broad_data_weight(const broad_data *data, size_t row);               /* 1 without weights */
/* The columns of option keep, and their cells as the file has them, without quotes. Parts of a table have none. */
BROAD_API size_t broad_data_kept_count(const broad_data *data);
BROAD_API const char *broad_data_kept_name(const broad_data *data, size_t column);
BROAD_API const char *broad_data_kept_text(const broad_data *data, size_t row, size_t column);
/* Rows read for a model: how many have, in one of its columns of categories, a level that it does not know, and the first
 * of these levels. They count as missing. */
BROAD_API size_t broad_data_unknown_levels(const broad_data *data, size_t category);
BROAD_API const char *broad_data_unknown_level(const broad_data *data, size_t category); /* "" where there is none */
/* Rows with the same number stay together in a split; `row` itself without groups. */
BROAD_API size_t broad_data_group(const broad_data *data, size_t row);

/* A row that comes from a photo. Unknown numbers are NaN, unknown texts "". */
typedef struct broad_photo {
    const char *file;     /* as it can be opened */
    const char *name;     /* relative to the given folder: "Dusty/dusty_001.jpg" */
    size_t width, height; /* upright */
    /* The part that is used, in pixels of the upright photo; right and bottom are just outside. */
    double left, top, right, bottom;
    double box_score;           /* the detector's; NaN without one */
    size_t copy;                /* 0: the photo itself; otherwise the number of an augmented copy */
    size_t group;               /* the same for near-duplicates: the number of the first row of the group */
    char time[20];              /* "2016-01-19T17:00:07" */
    double latitude, longitude; /* degrees */
    double altitude, relative_altitude, yaw; /* metres, metres, degrees */
    /* How far it is from the photos that the model was trained on: above 1 it is not like them. Rows that were read for a
     * model with components have it, and so have those of broad_photos_prepare(); NaN: not known. */
    double distance;
    unsigned faults;  /* of broad_photo_fault */
    char content[33]; /* hash of the file's bytes: the same for copies of a file */
} broad_photo;

/* What may be wrong with a photo, whatever the model; faults may be combined. Limits: docs/photos.md. */
typedef enum broad_photo_fault {
    BROAD_PHOTO_FAULT_DARK = 1,    /* nearly all of it is nearly black            */
    BROAD_PHOTO_FAULT_BRIGHT = 2,  /* nearly all of it is nearly white            */
    BROAD_PHOTO_FAULT_BLURRED = 4, /* out of focus, or moved                      */
    BROAD_PHOTO_FAULT_SMALL = 8    /* too few pixels for the texture of a surface */
} broad_photo_fault;
/* "too dark", "blurred": static text; "" for a value that does not exist. */
BROAD_API const char *broad_photo_fault_name(broad_photo_fault fault);
BROAD_API int broad_photo_is_unlike(const broad_photo *photo); /* 1: its distance is above 1 */

BROAD_API const broad_photo *broad_data_photo(const broad_data *data, size_t row); /* NULL: not from photos */
BROAD_API size_t broad_data_components(const broad_data *data); /* 0: its inputs are as the maps computed them */
BROAD_API unsigned broad_data_maps(const broad_data *data);     /* 0: not from photos */

/* A file that was skipped. */
typedef struct broad_skipped {
    const char *file, *reason;
} broad_skipped;

BROAD_API size_t broad_data_skipped_count(const broad_data *data);
BROAD_API const broad_skipped *broad_data_skipped(const broad_data *data, size_t index); /* NULL beyond the last */

/* Maps that were tried, each alone and all together, and which of them did best. */
enum { BROAD_PHOTO_MAP_TRIALS_MAX = 4 };
typedef struct broad_map_choice {
    size_t size;
    unsigned maps; /* to keep */
    size_t count;  /* of trials; one: there was nothing to choose, and its error is 0 */
    struct broad_map_trial {
        unsigned maps;
        double error; /* squared leave-one-out error, as a fraction of that of the targets' mean */
    } trials[BROAD_PHOTO_MAP_TRIALS_MAX];
} broad_map_choice;

static inline void broad_map_choice_init(broad_map_choice *out) { broad_result_init(out, sizeof *out); }
/*
 * From photos as they were read to the rows that a network is trained on. Where no maps were named in reading, they are
 * chosen on *train by leave-one-out error (broad_photos_choose()); then principal components, fitted to *train, replace
 * the inputs (broad_photos_project()). Both tables are replaced and the old ones freed; `test` and
 * *test may be NULL. What is already prepared, was read for a model, or is not from photos, stays as it is.
 *
 * broad_fit() and broad_trainer_open() do this themselves where it has not been done, on a table of their own; a
 * program calls it to see the choice, or to have rows to test on in the same form. out may be NULL; out->count is 0
 * where nothing was chosen.
 */
BROAD_API int broad_photos_prepare(broad_map_choice *out, broad_data **train, broad_data **test,
                                   const broad_options *options);
/* Chooses among the maps of `data` by the leave-one-out error of their inputs in the pilot of preset `auto`: all
 * together, or one of them if its error is lower by more than chance. `options` gives seed, threads, class_weight and
 * progress, whose stage is "maps". */
BROAD_API int broad_photos_choose(broad_map_choice *out, const broad_data *data, const broad_options *options);
/* The same rows with the inputs of some of their maps. */
BROAD_API int broad_photos_narrow(broad_data **out, const broad_data *data, unsigned maps);
/* Replaces the inputs by their principal components (faster, and more accurate when rows are few). `like` NULL: fitted
 * to `data`, at most `components` of them, 0: as many as the rows warrant; otherwise the components already fitted to
 * `like`, the training part. Rows that are read for a model have its components. */
BROAD_API int broad_photos_project(broad_data **out, const broad_data *data, size_t components, const broad_data *like);
/* From the numbers that the maps of a model compute, row after row, to its inputs: x of broad_predict(). */
BROAD_API int broad_photos_inputs(double *out, const broad_model *model, const float *maps, size_t rows);

typedef struct broad_split {
    size_t size;
    double holdout; /* fraction of the rows to hold out, > 0 and < 1 */
    uint64_t seed;
} broad_split;

BROAD_API void broad_split_init_sized(broad_split *out, size_t size);
static inline void broad_split_init(broad_split *out) { broad_split_init_sized(out, sizeof *out); }
/* Holds rows out: whole groups if the data has groups, otherwise class by class, otherwise at random. The training part
 * remembers how it was made, and so does a model fitted to it. */
BROAD_API int broad_data_split(broad_data **out_train, broad_data **out_test, const broad_data *data,
                               const broad_split *split);

/* One fold of a cross-validation: the model is tested on its rows and trained on all others. */
typedef struct broad_folds {
    size_t size;
    size_t count; /* number of folds, at least 2 */
    size_t index; /* which of them, from 0 */
    uint64_t seed;
} broad_folds;

BROAD_API void broad_folds_init_sized(broad_folds *out, size_t size); /* the first of 5 */
static inline void broad_folds_init(broad_folds *out) { broad_folds_init_sized(out, sizeof *out); }
/* Every row is in exactly one fold, which depends on data, count and seed alone: whole groups if the data has groups,
 * with about as many rows in each fold; otherwise class by class, otherwise at random, with folds that differ by at
 * most one row. Fewer rows or groups than folds, and a class with a single row, are refused. */
BROAD_API int broad_data_fold(broad_data **out_train, broad_data **out_test, const broad_data *data,
                              const broad_folds *folds);
/* The rows of `data` that a model was trained on: all, or the training part of the split it remembers. */
BROAD_API int broad_data_training_part(broad_data **out, const broad_data *data, const broad_model *model);

/* The rows of both, one after the other; columns, classes and names must agree (classes of `b` may continue those of
 * `a`). Groups of `b` are different from those of `a`; if only one has groups, each row of the other is a group of its
 * own. */
BROAD_API int broad_data_append(broad_data **out, const broad_data *a, const broad_data *b);
/* The same rows as the model was trained on them: in the groups that its photos were in, and with these classes, one
 * number of an output per row. NULL: with the targets that they have. */
BROAD_API int broad_data_assign(broad_data **out, const broad_data *data, const broad_model *model,
                                const size_t *classes);
/* A new table of the given rows, numbered from 0, in this order. */
BROAD_API int broad_data_pick(broad_data **out, const broad_data *data, const size_t *rows, size_t count);

/* ---- training -------------------------------------------------------------------------------------------------- */

typedef struct broad_seconds {
    size_t size;
    double features, layers, total;
} broad_seconds;

static inline void broad_seconds_init(broad_seconds *out) { broad_result_init(out, sizeof *out); }

/* Fits a network. out_seconds may be NULL. A run that stalls or is stopped is not an error: see
 * broad_model_outcome(). */
BROAD_API int broad_fit(broad_model **out, broad_seconds *out_seconds, const broad_data *data,
                        const broad_options *options);

/* ---- the model ------------------------------------------------------------------------------------------------- */

BROAD_API void broad_model_free(broad_model *model); /* accepts NULL */

/* What a model file contains. */
typedef enum broad_file {
    BROAD_FILE_FULL,   /* all weights                                                                              */
    BROAD_FILE_COMPACT /* random weights are drawn again from the seed when it is loaded: smaller, slower to load  */
} broad_file;

BROAD_API int broad_model_save(const broad_model *model, const char *path, broad_file file);
BROAD_API int broad_model_load(broad_model **out, const char *path);
BROAD_API int broad_model_to_memory(void **out, size_t *out_bytes, const broad_model *model, broad_file file);
BROAD_API int broad_model_from_memory(broad_model **out, const void *bytes, size_t count);

/* The certificate of one layer. */
typedef struct broad_layer {
    size_t size;
    size_t width;           /* columns of K: enhancement nodes, and feature nodes where the layer adds any */
    size_t first_row, rows; /* training rows it was fitted to */
    broad_origin origin;
    double gamma, mu, bound;               /* bound = gamma + mu */
    double norm_before, norm_after, ratio; /* of E, Frobenius */
    /* What the test compared with the bound: the ratio, its leave-one-out form, the operator norm, the largest ratio of
     * squares of any output, or the ratio of scores. */
    double tested;
    double lambda, range; /* range: as a multiple of the base range */
    size_t tries;         /* draws tried, including the one that was kept */
    size_t relaxed;       /* how often gamma was relaxed */
    broad_supervise test;
    int passed;
    /* BROAD_SUPERVISE_GCV, otherwise 0: degrees of freedom of the chain with this layer and before it, the standard error
     * of the former (0: they are exact), and score = norm_after / (1 - penalty df / rows), rows being those of weight
     * above 0. */
    double df, df_before, df_error, score, penalty;
} broad_layer;

static inline void broad_layer_init(broad_layer *out) { broad_result_init(out, sizeof *out); }
BROAD_API size_t broad_model_layers(const broad_model *model);
BROAD_API int broad_model_layer(broad_layer *out, const broad_model *model, size_t layer); /* from 0 */

BROAD_API broad_kind broad_model_kind(const broad_model *model);
BROAD_API broad_precision broad_model_precision(const broad_model *model);
BROAD_API broad_task broad_model_task(const broad_model *model);
BROAD_API broad_fitting broad_model_fitting(const broad_model *model);
BROAD_API broad_outcome broad_model_outcome(const broad_model *model);
BROAD_API const char *broad_model_reason(const broad_model *model); /* why it ended so; "" if complete */
BROAD_API uint64_t broad_model_seed(const broad_model *model);
BROAD_API unsigned broad_model_maps(const broad_model *model); /* of photos; 0: trained on other rows */
BROAD_API size_t broad_model_rows(const broad_model *model);   /* training rows */
BROAD_API size_t broad_model_inputs(const broad_model *model);
BROAD_API size_t broad_model_outputs(const broad_model *model);
BROAD_API size_t broad_model_nodes(const broad_model *model); /* feature and enhancement nodes */
BROAD_API double broad_model_feature_range(const broad_model *model);
BROAD_API const char *broad_model_input_name(const broad_model *model, size_t input);
/*
 * What a model looks at: the metric that its feature nodes were drawn with, the mean of g g' over rows and outputs, g being
 * the gradient of a first small network's output by the scaled inputs. Its diagonal is how much the output moves with each
 * input, its eigenvectors the directions in which it moves most. It costs nothing, since training needs it anyway, and says
 * nothing about how much worse predictions would be without an input: see broad_importance for that.
 *
 * broad_model_relevance() is the root of the diagonal: mean square 1 over the inputs, 1 for each without a metric.
 */
BROAD_API double broad_model_relevance(const broad_model *model, size_t input);

typedef struct broad_learned_metric {
    size_t size;
    broad_metric_form form;
    /* What the squared leave-one-out error was enlarged by for the estimate, since the metric has seen the rows; 1: by
     * nothing. */
    double optimism;
} broad_learned_metric;

/* One column of a table, a column of categories being one, or of photos one kind of descriptor: "saturation". */
typedef struct broad_relevance {
    size_t size;
    const char *part; /* its name; it lives as long as the model */
    double share;     /* of the diagonal's sum: all shares add up to 1 */
} broad_relevance;

static inline void broad_learned_metric_init(broad_learned_metric *out) { broad_result_init(out, sizeof *out); }
static inline void broad_relevance_init(broad_relevance *out) { broad_result_init(out, sizeof *out); }
BROAD_API int broad_model_metric(broad_learned_metric *out, const broad_model *model);
BROAD_API size_t broad_model_relevance_parts(const broad_model *model); /* 0: there is no metric */
/* All parts, in the order of the table. `out` is an array of broad_model_relevance_parts() initialised structs, the size of
 * the first being the distance between them. */
BROAD_API int broad_model_find_relevance(broad_relevance *out, const broad_model *model);
/* Directions that a full metric has, one for each input; 0: it is not full. */
BROAD_API size_t broad_model_directions(const broad_model *model);
/* The first `count` of them, the most important one first. out_share: what each has of the metric's trace. out_weight: count x
 * inputs, of unit length; signs are such that the largest weight is positive. An input that is seen by value and by rank
 * moves both. */
BROAD_API int broad_model_find_directions(double *out_share, double *out_weight, const broad_model *model,
                                          size_t count);
/*
 * How much each column of a table matters: by how much R2, of classes that of their scores, falls where the values of the
 * column are shuffled among rows that were not fitted. Two small networks, each fitted to one half of at most 1000 of the
 * training rows, predict the other half with and without. A column of categories counts as one. Noise has about 0, a
 * column on which everything depends up to 2.
 *
 * broad_model_find_importance() takes the rows the model was trained on and keeps the result in the model; the tool's fit
 * calls it. Photos, fewer than 2 or more than 100 columns and fewer than 60 rows have no importance, which is no failure.
 */
typedef struct broad_importance {
    size_t size;
    const char *column;   /* its name; it belongs to the model */
    double value, spread; /* mean, and standard deviation between shuffles and halves */
} broad_importance;

static inline void broad_importance_init(broad_importance *out) { broad_result_init(out, sizeof *out); }
BROAD_API int broad_model_find_importance(broad_model *model, const broad_data *training, const broad_run_options *run);
BROAD_API size_t broad_model_importance_count(const broad_model *model); /* columns; 0: not known */
BROAD_API int broad_model_importance(broad_importance *out, const broad_model *model, size_t column);
/* The column that explains the target almost perfectly by itself, as one that was made from it would; the number of
 * columns where there is none. */
BROAD_API size_t broad_model_suspect(const broad_model *model);
BROAD_API const char *broad_model_output_name(const broad_model *model, size_t output);
BROAD_API size_t broad_model_positive(const broad_model *model); /* class number */
/* The class that means "nothing wrong", and why it is that one: "by its name", "the most frequent", "the one that is not
 * positive", "as given". A model made by version 0.1 does not say: its class is found when it is loaded. 0 and "" for a
 * regression. */
BROAD_API size_t broad_model_normal(const broad_model *model);
BROAD_API const char *broad_model_normal_reason(const broad_model *model);
/* Another one, without training: it changes what is reported, not what is predicted. Of two classes the other one becomes the
 * positive one. Not while another thread uses the model. */
BROAD_API int broad_model_set_normal(broad_model *model, const char *label);
BROAD_API double broad_model_class_weight(const broad_model *model, size_t output); /* default: 1 */
/* Every setting and the certificate as one JSON object, as stored in the file. Free it with broad_free(). */
BROAD_API int broad_model_json(char **out, const broad_model *model);

/* The settings it was trained with, without those of the run alone (threads, memory, progress, stop rules). `out` is
 * initialised options; its texts belong to the model. class_weight, positive and normal are NULL: what they came to is told by
 * broad_model_class_weight(), broad_model_positive() and broad_model_normal(). */
BROAD_API int broad_model_settings(broad_options *out, const broad_model *model);
BROAD_API int broad_model_is_compact(const broad_model *model); /* 1: it was loaded from a BROAD_FILE_COMPACT file */

/* How the training rows were split from the first data; holdout 0: all of them were trained on. `out` is
 * initialised. */
BROAD_API int broad_model_split(broad_split *out, const broad_model *model);
/* The training rows came in segments: those of the first fit, then those of each step of learning. */
BROAD_API size_t broad_model_segments(const broad_model *model);
BROAD_API size_t broad_model_segment_rows(const broad_model *model, size_t segment);
BROAD_API double broad_model_segment_weight(const broad_model *model, size_t segment); /* of each of its rows */

/* What a model remembers of the files and folders its rows came from, in the order of the rows; nothing unless it is told.
 * It has no influence on predictions. */
typedef struct broad_source {
    size_t size;
    const char *path;   /* as it was given */
    const char *labels; /* the same; NULL: none */
    size_t rows;        /* trained on */
    size_t photos;      /* 0: a table */
} broad_source;
typedef struct broad_source_photo {
    size_t size;
    const char *file;    /* as it was opened */
    const char *content; /* broad_photo.content */
    size_t rows;         /* of it: boxes, augmented copies */
    int held_out;        /* not trained on */
    int has_class;
    size_t class_number; /* of the model's outputs */
} broad_source_photo;

static inline void broad_source_init(broad_source *out) { broad_result_init(out, sizeof *out); }
static inline void broad_source_photo_init(broad_source_photo *out) { broad_result_init(out, sizeof *out); }
/* One more source: the rows that were trained on and those held out, of which one may be NULL. labels may be NULL. Changes
 * the model: not while another thread uses it. */
BROAD_API int broad_model_remember(broad_model *model, const char *path, const char *labels, const broad_data *rows,
                                   const broad_data *held_out);
BROAD_API void broad_model_forget(broad_model *model); /* all of them; accepts NULL */
BROAD_API size_t broad_model_sources(const broad_model *model);
BROAD_API int broad_model_source(broad_source *out, const broad_model *model, size_t source);
BROAD_API int broad_model_source_photo(broad_source_photo *out, const broad_model *model, size_t source, size_t photo);

/* Columns besides the inputs: NULL where there was none. */
BROAD_API const char *broad_model_target_name(const broad_model *model);
BROAD_API const char *broad_model_group_name(const broad_model *model);
BROAD_API const char *broad_model_weight_name(const broad_model *model);
BROAD_API int broad_model_weighs_classes(const broad_model *model); /* see broad_model_class_weight() */

/* Columns of categories, and the levels of each, in order. NULL and 0 out of range. */
BROAD_API size_t broad_model_categories(const broad_model *model);
BROAD_API const char *broad_model_category_name(const broad_model *model, size_t category);
BROAD_API size_t broad_model_category_levels(const broad_model *model, size_t category);
BROAD_API const char *broad_model_category_level(const broad_model *model, size_t category, size_t level);

/* How photos become its inputs. */
typedef struct broad_photo_spec {
    size_t size;
    unsigned maps;     /* of broad_photo_map; 0: trained on other rows, and the rest is 0     */
    size_t side;       /* of the square of pixels                                             */
    broad_crop crop;   /* never BROAD_CROP_MODEL                                              */
    int each_box;      /* every box is a row                                                  */
    size_t components; /* principal components that are the inputs; 0: the maps as they are   */
    size_t augment;    /* augmented copies of each photo that were trained on                 */
    int distances;     /* photos read for it have a distance: see broad_photo                 */
} broad_photo_spec;

static inline void broad_photo_spec_init(broad_photo_spec *out) { broad_result_init(out, sizeof *out); }
BROAD_API int broad_model_photo(broad_photo_spec *out, const broad_model *model);

BROAD_API size_t broad_model_feature_groups(const broad_model *model);
BROAD_API broad_feature_source broad_model_feature_source(const broad_model *model);

/* What the pilot of preset `auto` found with each style of sampled nodes, and which one it chose. */
enum { BROAD_PILOT_STYLES = 4 };
typedef struct broad_pilot {
    size_t size;
    int known;     /* 0: there was no pilot */
    size_t chosen; /* index into styles     */
    struct broad_pilot_style {
        const char *name; /* "mix", "dense", "difference", "sparse"; static storage         */
        double error;     /* squared leave-one-out error, as a fraction of that of the mean */
    } styles[BROAD_PILOT_STYLES];
} broad_pilot;

static inline void broad_pilot_init(broad_pilot *out) { broad_result_init(out, sizeof *out); }
BROAD_API int broad_model_pilot(broad_pilot *out, const broad_model *model);

/* The ridge regression over all nodes whose weights predict. */
typedef struct broad_joint {
    size_t size;
    int known;     /* 0: the weights come from a chain or a window, and the rest is 0 */
    double lambda; /* its ridge parameter */
    double norm;   /* of its residual     */
} broad_joint;

static inline void broad_joint_init(broad_joint *out) { broad_result_init(out, sizeof *out); }
BROAD_API int broad_model_joint(broad_joint *out, const broad_model *model);

/* How an estimate was made. */
typedef enum broad_estimate_method {
    BROAD_ESTIMATE_METHOD_LEAVE_ONE_OUT, /* joint weights: each row predicted as if it had been left out            */
    BROAD_ESTIMATE_METHOD_GCV            /* a chain supervised by BROAD_SUPERVISE_GCV: the residual of each training
                                          * row, enlarged as the score enlarges the norm of all of them              */
} broad_estimate_method;

/* The estimate of the model as it is: how good its predictions are on rows it has not seen. Where rows have groups, each
 * was left out, or counted, together with its group: then it is about rows of groups the model has not seen. */
typedef struct broad_estimate {
    size_t size;
    int known;                                 /* 0: the model has none, and the rest is 0            */
    size_t rows;                               /* training rows it was computed on                    */
    double accuracy, brier, calibration_error; /* classification; the last two as in broad_metrics    */
    double rmse, mae, r2;                      /* regression, over all outputs                        */
    /* The rest as in broad_metrics. A model file of 0.1 holds none of it: then detailed is 0 and the rest NaN. */
    int detailed;
    double baseline, low, high;
    double precision, recall, f1, log_loss, balanced_accuracy, mcc, roc_auc, pr_auc; /* classification */
    broad_estimate_method method;
} broad_estimate;

static inline void broad_estimate_init(broad_estimate *out) { broad_result_init(out, sizeof *out); }
BROAD_API int broad_model_estimate(broad_estimate *out, const broad_model *model);

/* ---- prediction ------------------------------------------------------------------------------------------------ */

/* Scores, rows x outputs: the class with the largest score wins; for a regression they are the values. The scores of a
 * row depend neither on the other rows nor on the number of threads. x[i * stride + j] is input j of row i; stride 0:
 * inputs. */
BROAD_API int broad_predict(double *out, const broad_model *model, const double *x, size_t rows, size_t stride);
BROAD_API int broad_predict_data(double *out, const broad_model *model, const broad_data *data,
                                 const broad_run_options *run);
/* For `count` rows beginning with row `first`; count x outputs. The memory of spilled inputs is released afterwards
 * (broad_read_options.memory). */
BROAD_API int broad_predict_part(double *out, const broad_model *model, const broad_data *data, size_t first,
                                 size_t count, const broad_run_options *run);
BROAD_API size_t broad_best_class(const broad_model *model, const double *scores);

/* Probabilities of the classes, rows x outputs, from scores; out may be scores. They are calibrated on the scores
 * of the estimate (by groups where the rows had groups): without one it is BROAD_USAGE. Unless classes were weighted in
 * training, the class with the largest score is the most probable one. */
BROAD_API int broad_probabilities(double *out, const broad_model *model, const double *scores, size_t rows);
/* Prediction intervals of a regression, which contain a fraction `level` of new values: rows x outputs x 2, the lower and
 * the upper end for each predicted value. From the residuals of the estimate; BROAD_USAGE without one, or if the level
 * is too high for its number of rows. They are wider where predictions of that size were worse, if the training rows
 * show it, and end where the training targets do if that is 0, or 0 and 1, or 0 and 100: a predicted value beyond such a
 * limit is not inside its interval. */
BROAD_API int broad_intervals(double *out, const broad_model *model, const double *values, size_t rows, double level);
/* For each output, how far above and below the predicted value they reach, in the mean over the training rows and
 * before limits. */
BROAD_API int broad_interval(double *out, const broad_model *model, double level);

/* ---- explanations of photos ------------------------------------------------------------------------------------ */

/* What is needed to explain predictions on photos by one model, which must be one of photos (BROAD_USAGE otherwise) and
 * outlive it. Any number of threads may use it at the same time. */
typedef struct broad_explainer broad_explainer;
BROAD_API int broad_explainer_open(broad_explainer **out, const broad_model *model);
BROAD_API void broad_explainer_close(broad_explainer *explainer); /* accepts NULL */

/* A grid over the part of a photo that the model uses, and how much each of its cells is evidence for an output (above
 * 0) or against it (below 0): log odds of a class where the model has probabilities, otherwise the lead of its score;
 * of values, how much more or less than the whole photo the cell stands for. */
typedef struct broad_explanation {
    size_t size;
    size_t width, height; /* in cells */
    double *cells;        /* row by row from the top; freed by broad_explanation_clear() */
} broad_explanation;

static inline void broad_explanation_init(broad_explanation *out) { broad_result_init(out, sizeof *out); }
BROAD_API void broad_explanation_clear(broad_explanation *explanation); /* it can be used again. Accepts NULL */
/* Explains `count` photos at once, each for one class or target, by occlusion: by what the model predicts with each
 * cell left out. `out` is an array of initialised explanations, the size of the first being the distance between them.
 * The photos are rows of a table that was read for the model, and their files are read again: one that has changed is
 * BROAD_IO. Several photos together cost less than one by one; eight at a time are enough. */
BROAD_API int broad_photo_explain(broad_explanation *out, const broad_explainer *explainer,
                                  const broad_photo *const *photos, const size_t *outputs, size_t count);
/* The same for one whole photo, from the bytes of its file. A model that was trained on boxes takes it as one box. */
BROAD_API int broad_explainer_file(broad_explanation *out, const broad_explainer *explainer, const void *bytes,
                                   size_t count, size_t output);

/* ---- predictor ------------------------------------------------------------------------------------------------- */

/*
 * Only what prediction needs of a model, for programs that predict and do nothing else. Any number of threads may use
 * one at the same time, each with its own scratch. Predicting allocates nothing, takes no lock and starts no thread;
 * it gives exactly the numbers of broad_predict(), however many rows come at once.
 *
 * It takes rows of numbers in the order of the model's inputs: for a column of categories one input per level, 1 for
 * the level that is present and 0 for all others; NaN for a missing value where the model was trained with
 * BROAD_MISSING_MEAN. A model for photos takes prepared rows: broad_data_row() of photos read for the model, or
 * broad_photos_inputs().
 */
typedef struct broad_predictor broad_predictor;

/* From a model file, whose pages are used in place and shared by all processes that do so: do not change the file while
 * it is in use. Replacing it, as broad_model_save() does, is safe. It is checked as by broad_model_load(). */
BROAD_API int broad_predictor_load(broad_predictor **out, const char *path);
/* From the bytes of such a file, which are used in place where they are aligned to 8, and must outlive the
 * predictor. */
BROAD_API int broad_predictor_from_memory(broad_predictor **out, const void *bytes, size_t count);
/* A copy: the model may be freed or grown. */
BROAD_API int broad_predictor_from_model(broad_predictor **out, const broad_model *model);
BROAD_API void broad_predictor_free(broad_predictor *predictor); /* accepts NULL */

BROAD_API broad_task broad_predictor_task(const broad_predictor *predictor);
BROAD_API size_t broad_predictor_inputs(const broad_predictor *predictor);
BROAD_API size_t broad_predictor_outputs(const broad_predictor *predictor);
BROAD_API const char *broad_predictor_output_name(const broad_predictor *predictor, size_t output);
/* Memory that it owns, without what it uses in place of a file or of bytes. */
BROAD_API size_t broad_predictor_bytes(const broad_predictor *predictor);

/* Bytes of scratch needed to process `rows` rows at once. It stops growing at 256 rows: more are processed in
 * blocks. */
BROAD_API size_t broad_predictor_scratch(const broad_predictor *predictor, size_t rows);
/* Scores of one row. scratch: broad_predictor_scratch(predictor, 1) bytes of any content and alignment. */
BROAD_API int broad_predictor_row(double *out, const broad_predictor *predictor, const double *x, void *scratch);
/* rows x outputs; x[i * stride + j] is input j of row i, stride 0: inputs. The scratch has `bytes` bytes, at least
 * those for one row; with more, up to those for 256, it is faster and gives the same numbers. */
BROAD_API int broad_predictor_rows(double *out, const broad_predictor *predictor, const double *x, size_t rows,
                                   size_t stride, void *scratch, size_t bytes);

BROAD_API size_t broad_predictor_best_class(const broad_predictor *predictor, const double *scores);
/* As broad_probabilities(), broad_interval() and broad_intervals(). */
BROAD_API int broad_predictor_probabilities(double *out, const broad_predictor *predictor, const double *scores,
                                            size_t rows);
BROAD_API int broad_predictor_interval(double *out, const broad_predictor *predictor, double level);
BROAD_API int broad_predictor_intervals(double *out, const broad_predictor *predictor, const double *values,
                                        size_t rows, double level);

/* ---- export ----------------------------------------------------------------------------------------------------- */

typedef enum broad_export_precision {
    BROAD_EXPORT_DOUBLE,
    BROAD_EXPORT_FLOAT, /* weights and arithmetic in single precision */
    BROAD_EXPORT_INT8   /* C: the same, with the weights of nodes in 8 bits; output weights stay in single precision */
} broad_export_precision;

/* For programs that predict without this library. A row of a table has one number for each column of the table: for a
 * column of categories it is the code of a level, its number from 0 among broad_model_category_level(). */
typedef struct broad_export_options {
    size_t size;
    const char *name; /* C: what all names begin with, 1 to 40 letters, digits and underscores; NULL: "model" */
    broad_export_precision precision;
    int compact; /* C: weights that the seed gives are not stored but computed again for every row, if that is smaller */
    double level; /* of the intervals of a regression; 0: 0.9, and none if the model has none of that level */
} broad_export_options;

BROAD_API void broad_export_options_init_sized(broad_export_options *out, size_t size);
static inline void broad_export_options_init(broad_export_options *out)
{
    broad_export_options_init_sized(out, sizeof *out);
}

/* What came out. */
typedef struct broad_exported {
    size_t size;
    size_t table_bytes; /* C: constants, with pointers of four bytes; a program keeps them in flash */
    size_t stack_bytes; /* C: arrays of a call, besides the row and the scores */
    int drawn;          /* C: some weights are computed from the seed */
    double level;       /* of the intervals; 0: none */
    size_t graph_nodes; /* ONNX: nodes of the graph */
} broad_exported;

static inline void broad_exported_init(broad_exported *out) { broad_result_init(out, sizeof *out); }

/* One file of C99 without dependencies, allocation or state; docs/export.md describes its functions. *out is text with a
 * NUL that is not counted, freed by broad_free(); about may be NULL. Models of photos take a picture, cropped and resized
 * to the model's square of pixels, or prepared inputs if the model uses other maps than pixels. */
BROAD_API int broad_model_export_c(char **out, size_t *out_bytes, broad_exported *about, const broad_model *model,
                                   const broad_export_options *options);

/* An ONNX file of the operators of ai.onnx, opset 13, in double or single precision. It takes "row", rows x
 * broad_export_columns(), or "picture", or "prepared", and gives "label" (text), "probabilities" and "scores" of classes,
 * or "values", "low" and "high" of a regression. *out is freed by broad_free(); about may be NULL. BROAD_USAGE with options
 * that are for C. */
BROAD_API int broad_model_export_onnx(void **out, size_t *out_bytes, broad_exported *about, const broad_model *model,
                                      const broad_export_options *options);

/* Numbers of a row as exported programs take it. */
BROAD_API size_t broad_export_columns(const broad_model *model);
/* From rows of the model's inputs, such as broad_data_row(), to such rows: rows x broad_export_columns(). x[i * stride + j]
 * is input j of row i; stride 0: inputs. BROAD_USAGE for models of photos. */
BROAD_API int broad_export_rows(double *out, const broad_model *model, const double *x, size_t rows, size_t stride);

/* ---- evaluation ------------------------------------------------------------------------------------------------ */

typedef struct broad_metrics {
    size_t size;
    broad_task task;
    size_t rows;
    /* Classification. Two classes: of the positive one, 0 where it is not defined; more: the mean over the classes for
     * which it is (broad_class_metrics), so that one that no row has lowers neither recall nor false_negative. */
    double accuracy, precision, recall, f1, false_positive, false_negative;
    /* Of its probabilities, where the model has an estimate. Brier score: mean over the rows of the sum over the
     * classes of (p - 1)^2 for the true class and p^2 for the others. Log loss: mean of -log p of the true class, p at
     * least 1e-15. Calibration error: the rows in 15 bins of equal width by the probability of their most probable
     * class, mean over the rows of |fraction classified correctly - mean probability| of their bin. */
    int has_probabilities;
    double brier, log_loss, calibration_error;
    /* Regression, over all outputs. */
    double rmse, mae, r2;
    /* Of its prediction intervals: level, fraction of the values inside, mean width over the outputs; level 0: none. */
    double level, coverage, interval_width;
    size_t classes;
    size_t *confusion; /* classes x classes, row: truth, column: prediction; freed by broad_metrics_clear() */
    /* What comes without inputs, on these rows: the accuracy of always the most frequent class, or the RMSE of always
     * the mean. */
    double baseline;
    /* The 95 % confidence interval of the accuracy (Wilson's) or of the RMSE (from the spread of the squared errors),
     * as far as the rows are independent of each other. */
    double low, high;
    /* Classification. Balanced accuracy: the mean over the classes that occur of the fraction recognised. MCC: Matthews'
     * correlation, for more than two classes as Gorodkin generalised it. Areas under the curves of the positive class by
     * its probability, or its score where there are no probabilities: ROC, equal ones counted as half; precision over
     * recall, as the average precision. More than two classes: the mean over the classes, each against all others. NaN
     * where only one class occurs. Of many rows (rows x classes above 2^21) every k-th is ranked. */
    double balanced_accuracy, mcc, roc_auc, pr_auc;
    double *details; /* for broad_metrics_class() and broad_metrics_target(); freed by broad_metrics_clear() */
    size_t targets;  /* of a regression */
    /* Regression with intervals: mean over rows and outputs of the logarithm of the density that the model's predictive
     * distribution has at the value: Student's t or a normal distribution around the prediction, fitted to the
     * leave-one-out residuals and as wide, from row to row, as the intervals. NaN: every such residual is 0. */
    double log_likelihood;
} broad_metrics;

static inline void broad_metrics_init(broad_metrics *out) { broad_result_init(out, sizeof *out); }
/* One class against all others. NaN: not defined. The recall and the areas of a class that no row has are not, nor its
 * precision and F1 where it is no row's verdict either. The precision of a class that rows have and none gets is 0. */
typedef struct broad_class_metrics {
    size_t size;
    size_t rows; /* of this class */
    double precision, recall, f1, roc_auc, pr_auc;
} broad_class_metrics;

static inline void broad_class_metrics_init(broad_class_metrics *out) { broad_result_init(out, sizeof *out); }
BROAD_API int broad_metrics_class(broad_class_metrics *out, const broad_metrics *metrics, size_t output);
/* One target of a regression. coverage and interval_width are NaN without intervals. */
typedef struct broad_target_metrics {
    size_t size;
    double rmse, mae, r2, baseline, coverage, interval_width;
} broad_target_metrics;

static inline void broad_target_metrics_init(broad_target_metrics *out) { broad_result_init(out, sizeof *out); }
BROAD_API int broad_metrics_target(broad_target_metrics *out, const broad_metrics *metrics, size_t target);
/* The same of a model's estimate. BROAD_USAGE where it has none, or none in such detail. */
BROAD_API int broad_estimate_class(broad_class_metrics *out, const broad_model *model, size_t output);
BROAD_API int broad_estimate_target(broad_target_metrics *out, const broad_model *model, size_t target);

/* Prediction intervals, where the model has them, are of level 0.9. */
BROAD_API int broad_eval(broad_metrics *out, const broad_model *model, const broad_data *data,
                         const broad_run_options *run);
/* The same with intervals of another level; one that the model cannot give is BROAD_USAGE. */
BROAD_API int broad_eval_level(broad_metrics *out, const broad_model *model, const broad_data *data, double level,
                               const broad_run_options *run);
typedef struct broad_eval_options {
    size_t size;
    double level; /* of the intervals of a regression; 0: 0.9 where the model has them */
    /* Two classes: the positive one is the verdict where its probability is at least this; 0: the class with the largest
     * score. Above 0 and below 1; BROAD_USAGE for a model without probabilities. */
    double threshold;
    size_t threads; /* 0: one per processor */
    broad_progress_function progress;
    void *progress_context;
    const broad_comm *comm; /* ranks that make the call together; NULL: this process alone */
    broad_device device;    /* as that of broad_run_options */
} broad_eval_options;

BROAD_API void broad_eval_options_init_sized(broad_eval_options *out, size_t size);
static inline void broad_eval_options_init(broad_eval_options *out) { broad_eval_options_init_sized(out, sizeof *out); }
BROAD_API int broad_eval_with(broad_metrics *out, const broad_model *model, const broad_data *data,
                              const broad_eval_options *options);
BROAD_API void
broad_metrics_clear(broad_metrics *metrics); /* frees what it holds; it can be used again. Accepts NULL */

/* The model cut off after one of its layers. What does not apply, or is not known, is NaN. */
typedef struct broad_curve_point {
    size_t size;
    size_t layer, nodes; /* its number from 1; feature and enhancement nodes so far */
    /* ||Y - scores||, Frobenius, in the units and with the row and class weights of training: on the training rows it
     * is norm_after of the layer's certificate. */
    double norm;
    double accuracy; /* classification */
    double rmse;     /* regression, over all outputs */
    double loo;      /* norm of the leave-one-out residuals r_i / (1 - h_i) of the layer, as in BROAD_SUPERVISE_LOO */
} broad_curve_point;

static inline void broad_curve_point_init(broad_curve_point *out) { broad_result_init(out, sizeof *out); }
/* `out` is an array of broad_model_layers() points; initialise the first, whose size is the distance between them. The
 * numbers are the same for any number of threads. Intermediate networks exist only for chain weights: with joint or
 * window weights the earlier layers' own weights are not stored, so that every point but the last has only `layer` and
 * `nodes`, and the rest is NaN. After rows were added, a certificate is about the earlier rows; the curve is about the
 * rows given. loo is NaN. */
BROAD_API int broad_model_curve(broad_curve_point *out, const broad_model *model, const broad_data *data,
                                const broad_run_options *run);
/* The same for the training rows, with loo where the network is a chain: over the rows that the layer was fitted to.
 * Other rows are BROAD_BAD_DATA. */
BROAD_API int broad_model_curve_loo(broad_curve_point *out, const broad_model *model, const broad_data *training,
                                    const broad_run_options *run);

/* ---- growing --------------------------------------------------------------------------------------------------- */

/*
 * A network under construction: its rows, feature nodes and residual stay open between increments, so that a program
 * that grows a model every second does not compute them again. The data is not copied: it must outlive the trainer.
 * After every call the model in it is complete and valid, also after a failure. Use it from one thread at a time.
 */
typedef struct broad_trainer broad_trainer;

/* A new network: features drawn, no layer yet. */
BROAD_API int broad_trainer_open(broad_trainer **out, const broad_data *data, const broad_options *options);

/* What broad_trainer_resume() does with rows that are not those the model was trained on. */
typedef enum broad_resume {
    BROAD_RESUME_CHECKED, /* refuse them, and say what differs */
    BROAD_RESUME_FORCED   /* accept them                       */
} broad_resume;

/* Continues with a model on the rows it was trained on. Of `run`, only threads, memory, progress, profile and the stop
 * rules are used. data NULL: the old rows are gone, and only forgetful learning is possible. */
BROAD_API int broad_trainer_resume(broad_trainer **out, const broad_model *model, const broad_data *data,
                                   const broad_options *run, broad_resume how);

/* Rows for until_accuracy and patience; they are never trained on. */
BROAD_API int broad_trainer_validate(broad_trainer *trainer, const broad_data *rows);

/* Algorithm 2: up to `layers` layers of `nodes` enhancement nodes. Outcome and reason are in the model. */
BROAD_API int broad_trainer_enhance(broad_trainer *trainer, size_t nodes, size_t layers);
/* Algorithm 3: `groups` times a new group of feature nodes, each with a layer [Z_new | H] of `enhance` nodes. */
BROAD_API int broad_trainer_features(broad_trainer *trainer, size_t groups, size_t nodes, size_t enhance);

/* Which rows new layers are fitted to. */
typedef enum broad_learn {
    BROAD_LEARN_ALL_ROWS, /* all rows, old and new          */
    BROAD_LEARN_NEW_ROWS  /* forgetful: the new rows alone  */
} broad_learn;

/* Algorithm 4: further rows, then up to `layers` layers of `nodes` nodes. Classes that continue the model's own become
 * further outputs, for which the earlier layers have weights of zero. */
BROAD_API int broad_trainer_learn(broad_trainer *trainer, const broad_data *rows, size_t nodes, size_t layers,
                                  broad_learn how);
/* As broad_trainer_learn(), with one weight per new row (1e-12 to 1e12), by which its influence is multiplied: for
 * corrections, a few rows among many. The weights stay with these rows in the model, which can be verified and grown
 * like any other. Unless layers are added, lambda of joint weights stays as it is, because rows that were selected for
 * being predicted incorrectly say little about it. When it is chosen again later, leave-one-out counts these rows
 * without their weights. */
BROAD_API int broad_trainer_learn_weighted(broad_trainer *trainer, const broad_data *rows, const double *weights,
                                           size_t nodes, size_t layers, broad_learn how);

/* The result of a search for the weights of corrections. */
typedef struct broad_correction {
    size_t size;
    double weight; /* the largest of the weights */
    size_t wrong;  /* rows still predicted incorrectly with weight BROAD_CORRECTION_MOST */
    size_t tries;
} broad_correction;
#define BROAD_CORRECTION_MOST 1024.0

static inline void broad_correction_init(broad_correction *out) { broad_result_init(out, sizeof *out); }
/* Learns corrections with the smallest weights that make the network predict all of them correctly: each row starts at
 * 1/4, and the weight of those still predicted incorrectly is doubled until none is left or it has reached
 * BROAD_CORRECTION_MOST. `weights`, where it is not NULL, receives one weight per row. The trainer must hold its
 * training rows, and broad_model_can_correct() must be true of its model: BROAD_USAGE otherwise. After a failure the
 * model may be the one before. */
BROAD_API int broad_trainer_correct(broad_correction *out, broad_trainer *trainer, const broad_data *rows,
                                    double *weights);
/* What the network would predict for each of its training rows, had it not seen the row, nor those of its group: scores, rows x
 * outputs, as the estimate is made of them; NaN for rows that it is not made of. Training rows whose label they contradict
 * may be labelled incorrectly. BROAD_USAGE unless the weights are joint ones and the trainer has all rows. */
BROAD_API int broad_trainer_leave_out(double *out, broad_trainer *trainer);
/* Whether weights of corrections can be searched: classes, and joint output weights. */
BROAD_API int broad_model_can_correct(const broad_model *model);

/* The network as it is now; do not free it. Valid until the next call with this trainer. */
BROAD_API const broad_model *broad_trainer_model(const broad_trainer *trainer);
BROAD_API int broad_trainer_seconds(broad_seconds *out, const broad_trainer *trainer);
/* What broad_eval() of the training rows gives, up to rounding, from the residuals that training has left: nothing is
 * predicted. out->rows is 0 where there are none: with weights that are all solved at once (bls, rvfl) or with each layer, with
 * joint weights whose rows were on a GPU, and where the trainer has other rows than `data`. */
BROAD_API int broad_trainer_measure(broad_metrics *out, const broad_trainer *trainer, const broad_data *data);
/* Closes the trainer and hands its model over to `out`, or frees it where `out` is NULL. */
BROAD_API void broad_trainer_close(broad_model **out, broad_trainer *trainer);

/* ---- sums instead of rows -------------------------------------------------------------------------------------- */

/*
 * C = A'A and D = A'Y over all nodes of a model: all that a chain needs of its training rows. New rows are added to the
 * sums, and every layer is solved again exactly as if it had been trained on all rows, without the old ones. Use it
 * from one thread at a time; broad_stats_learn() changes the model, which no other thread may use meanwhile.
 */
typedef struct broad_stats broad_stats;

BROAD_API int broad_stats_new(broad_stats **out, const broad_model *model, const broad_data *training,
                              const broad_run_options *run);
/* Adds rows and solves every layer of the model again. After BROAD_INTERRUPTED, and where memory ran out, the model is as it was,
 * and the sums, which some of the rows may have entered, can only be freed. */
BROAD_API int broad_stats_learn(broad_stats *stats, broad_model *model, const broad_data *rows,
                                const broad_run_options *run);
BROAD_API int broad_stats_save(const broad_stats *stats, const char *path);
BROAD_API int broad_stats_load(broad_stats **out, const char *path, const broad_model *model);
BROAD_API size_t broad_stats_rows(const broad_stats *stats);
BROAD_API void broad_stats_free(broad_stats *stats); /* accepts NULL */

/* ---- planning -------------------------------------------------------------------------------------------------- */

/* What a run needs, before it starts. */
typedef struct broad_plan {
    size_t size;
    double rows, inputs, outputs, nodes;             /* nodes: after the run */
    double bytes_data, bytes_training;               /* the table, and what training adds at its peak */
    double bytes_available;                          /* on this machine now */
    double bytes_peak;                               /* of the whole process, with what it holds now */
    double flops_features, flops_layer, flops_total; /* if the first draw of each layer is kept */
    int fits;
    double memory;           /* the limit; 0: none */
    double bytes_least;      /* the smallest limit that would do */
    int can_spill;           /* these settings can be trained with the rows in files */
    int spilled;             /* and will be: the rows and what belongs to them are kept in unnamed files */
    int features_recomputed; /* feature nodes are recomputed in each pass instead of being spilled too */
    double passes;           /* approximate number of passes over the rows, if each layer's first draw is kept */
    double bytes_disk, bytes_disk_free; /* needed and available in $TMPDIR or /var/tmp */
    int memory_automatic; /* options->memory is 0: the limit is half of the available memory besides what the process has */
    double flops_joint;  /* of flops_total: the joint weights, where there are any */
    double flops_trials; /* besides it: small trials that choose ranges and inputs */
} broad_plan;

static inline void broad_plan_init(broad_plan *out) { broad_result_init(out, sizeof *out); }
/* For fitting `options` to data of this size, which is already in memory. With a model: for growing it by
 * enhance_layers layers, or by feature_groups groups with a layer each where feature_groups is not 0. model may be
 * NULL. */
BROAD_API int broad_plan_run(broad_plan *out, const broad_options *options, const broad_model *model, size_t rows,
                             size_t inputs, size_t outputs);

/* What a GPU has to do: memory for the rows, work, and bytes that its memory reads and writes meanwhile. */
typedef struct broad_card_plan {
    double bytes, flops, moved;
} broad_card_plan;

/* What it is for several ranks (broad_comm): work, memory and messages of one of them. Seconds follow from the speed of the
 * machines and of the network; `broad plan` computes them. */
typedef struct broad_ranks_plan {
    size_t size;
    double ranks;          /* that own rows; others would have nothing to do */
    double rows;           /* of the rank that has most */
    int divided;           /* passes over the rows are shared out; otherwise every rank does all of the work */
    double flops_rows;     /* of that rank: work on rows */
    double flops_same;     /* work that every rank does, such as the weights of a layer and trials */
    double bytes_rows;     /* memory: nodes and residuals of its rows */
    double bytes_sums;     /* and the sums */
    double sums;           /* numbers that cross ranks in the pass of a layer */
    double messages_layer; /* that rank 0 receives or sends on for a layer after the first */
    double bytes_layer;    /* and their bytes */
    double bytes_first;    /* the same for the first layer */
    double bytes_total;    /* of all layers, and of joint weights */
    double steps_layer;    /* messages that wait for each other in a layer */
    double messages_joint; /* that rank 0 receives or sends on for joint weights; 0: there are none */
    double bytes_joint;    /* and their bytes, where the weights need not be refined */
    double bytes_refine;   /* of each pass that refines them */
    double steps_joint;    /* messages that wait for each other for joint weights */
    double bytes_data; /* of the table, where ranks have read it together: the inputs of its rows, the targets of all */
    double
        bytes_search; /* memory while copies are looked for; where there are any, 8 bytes of each row of all come to it */
    double bytes_read; /* of a file with 8 bytes for each number: the inputs of its rows, the targets of all */
    double
        bytes_told; /* of all rows, from rank to rank: two hashes and the targets as they are read, predictions at the end */
    double bytes_hashed;  /* of all rows, which one rank after the other adds to the fingerprint */
    double rows_searched; /* among which this rank looks for copies */
    double bytes_summed;  /* of the sums of columns, what one thread after the other adds up until they are there */
    /* On a GPU of its own: with everything kept there, with the columns of a layer recomputed in each pass, with the feature nodes
     * recomputed as well. Zeros: this stays on the processor. */
    broad_card_plan card[3];
} broad_ranks_plan;

static inline void broad_ranks_plan_init(broad_ranks_plan *out) { broad_result_init(out, sizeof *out); }
/* For fitting `options` to data of this size; what options->comm says is not looked at. */
BROAD_API int broad_plan_ranks(broad_ranks_plan *out, const broad_options *options, size_t rows, size_t inputs,
                               size_t outputs, size_t ranks);

/* ---- the certificate ------------------------------------------------------------------------------------------- */

typedef struct broad_verdict {
    size_t size;
    int holds;
    size_t layers;           /* layers checked                                          */
    size_t failed_layer;     /* the first that fails, from 1; 0: none, or not a layer   */
    double worst_norm_error; /* largest relative difference from a recorded norm        */
    double product_bound;    /* product of the bounds from since_layer on               */
    double reached;          /* ||E_last|| / ||E|| before that layer, recomputed        */
    char reason[512];        /* why it does not hold; "" if it does                     */
    /* What no seed gives, and is taken as it is stored: groups of feature nodes that an autoencoder fitted or that were
     * sampled at training rows, and the learned metric that nodes were drawn with. */
    size_t stored_groups;
    int stored_metric;
    size_t since_layer; /* the first layer on the rows of the last: 1, or where rows last changed; 0: no layer */
} broad_verdict;

static inline void broad_verdict_init(broad_verdict *out) { broad_result_init(out, sizeof *out); }
/* Recomputes every norm and inequality of the certificate from the training rows. Nodes, sums and solutions are
 * recomputed by separate code in plain loops; the random draw, the schedule and the fingerprint are the
 * functions that training uses. A certificate that does not hold is a verdict, not an error. */
BROAD_API int broad_verify(broad_verdict *out, const broad_model *model, const broad_data *training,
                           const broad_run_options *run);

/* ---- profile --------------------------------------------------------------------------------------------------- */

/* One stage of a run, so far. Seconds are processor time, summed over the threads that did the work: flops / seconds is
 * the rate of one core. Where files are read and written they are elapsed time. Stages do not contain each other. */
typedef struct broad_stage {
    size_t size;
    const char *name, *group, *help; /* static storage */
    size_t calls;
    double seconds;
    double flops; /* additions and multiplications */
    double bytes; /* of its operands               */
} broad_stage;

static inline void broad_stage_init(broad_stage *out) { broad_result_init(out, sizeof *out); }
BROAD_API int broad_profile_open(broad_profile **out);
BROAD_API void broad_profile_close(broad_profile *profile); /* accepts NULL */
BROAD_API size_t broad_profile_stages(void);
/* At any time, by any thread. */
BROAD_API int broad_profile_stage(broad_stage *out, const broad_profile *profile, size_t stage);

/* ---- pictures -------------------------------------------------------------------------------------------------- */

/* A picture in memory: rows from the top without gaps, three bytes per pixel: red, green, blue (sRGB). */
typedef struct broad_picture broad_picture;
BROAD_API int broad_picture_new(broad_picture **out, size_t width, size_t height); /* black */
BROAD_API void broad_picture_free(broad_picture *picture);                         /* accepts NULL */
BROAD_API size_t broad_picture_width(const broad_picture *picture);
BROAD_API size_t broad_picture_height(const broad_picture *picture);
BROAD_API unsigned char *broad_picture_pixels(broad_picture *picture); /* may be written to */
BROAD_API const unsigned char *broad_picture_bytes(const broad_picture *picture);
/* How the bytes of a pixel lie; alpha is blended with white. */
typedef enum broad_pixel {
    BROAD_PIXEL_RGB,
    BROAD_PIXEL_BGR,
    BROAD_PIXEL_RGBA,
    BROAD_PIXEL_BGRA,
    BROAD_PIXEL_GREY
} broad_pixel;
/* A copy of pixels of 8 bits. stride: bytes from one row to the next; 0: rows without gaps. */
BROAD_API int broad_picture_from_pixels(broad_picture **out, const unsigned char *pixels, size_t width, size_t height,
                                        size_t stride, broad_pixel pixel);
/* What is read here: "JPEG, PNG, HEIC, WebP, TIFF"; the first two always. Static text. */
BROAD_API const char *broad_picture_formats(void);
/* From the bytes of a file of one of these formats, turned upright, with a longer side of at most `side`; 0: in its own size. The
 * undamaged part of a damaged picture is used, the rest is grey. The message of a failure does not name the file. */
BROAD_API int broad_picture_decode(broad_picture **out, const void *bytes, size_t count, size_t side);
/* As the bytes of a file, for broad_free(). Equal pictures give equal bytes. quality: 1 to 100. */
BROAD_API int broad_picture_jpeg(void **out, size_t *out_bytes, const broad_picture *picture, int quality);
BROAD_API int broad_picture_png(void **out, size_t *out_bytes, const broad_picture *picture);
/* A small JPEG, made quickly: the longer side has at most `side` pixels. For broad_free(). */
BROAD_API int broad_picture_thumbnail(void **out, size_t *out_bytes, const broad_picture *picture, size_t side,
                                      int quality);
/* With the same proportions and a longer side of at most `side`. */
BROAD_API int broad_picture_fit(broad_picture **out, const broad_picture *picture, size_t side);
/* A part that lies inside of it. */
BROAD_API int broad_picture_crop(broad_picture **out, const broad_picture *picture, size_t left, size_t top,
                                 size_t width, size_t height);
/* What a picture is recognised by: near-duplicates differ in few of the 64 bits, others in about half of them. 0: there is
 * nothing on it to be recognised by. */
BROAD_API int broad_picture_print(uint64_t *out, const broad_picture *picture);

/* ---- photos from memory ----------------------------------------------------------------------------------------- */

/* Turns pictures in memory, such as the frames of a camera, into the inputs of one model of photos, which must outlive
 * it. Opening takes some milliseconds; then any number of threads may use it at the same time. A model that was trained
 * on boxes takes each picture as one box. */
typedef struct broad_viewer broad_viewer;
BROAD_API int broad_viewer_open(broad_viewer **out, const broad_model *model);
BROAD_API void broad_viewer_close(broad_viewer *viewer); /* accepts NULL */
/* From pixels: out has broad_model_inputs() numbers, x of broad_predict(). `photo`, which may be NULL, gets width,
 * height, distance and faults; its texts are "". Numbers are those of a file with these pixels, bit by bit. */
BROAD_API int broad_viewer_picture(double *out, broad_photo *photo, const broad_viewer *viewer,
                                   const broad_picture *picture);
/* From the bytes of a file, of a format of broad_picture_formats(): as the file itself, bit by bit; `photo` has its time
 * and place, too. */
BROAD_API int broad_viewer_file(double *out, broad_photo *photo, const broad_viewer *viewer, const void *bytes,
                                size_t count);
/* The same, with the upright picture that the inputs were made from, some hundred pixels wide: to show it without decoding the
 * file twice. */
BROAD_API int broad_viewer_show(double *out, broad_photo *photo, broad_picture **picture, const broad_viewer *viewer,
                                const void *bytes, size_t count);
/* What the bytes of a file say without any model: size, time, place and faults, and the picture likewise. */
BROAD_API int broad_photo_look(broad_photo *out, broad_picture **picture, const void *bytes, size_t count);

/* ---- several threads ------------------------------------------------------------------------------------------- */

/* Calls job(context, index, worker) for every index below `count`, on this many threads (0: one per processor), and
 * returns when all are done. The order is open; worker 0 is the calling thread, the others have numbers below the
 * number of threads. */
typedef void (*broad_parallel_function)(void *context, size_t index, size_t worker);
BROAD_API int broad_parallel(size_t count, size_t threads, broad_parallel_function job, void *context);

/* ---- random numbers -------------------------------------------------------------------------------------------- */

/* Uniform numbers in [0, 1) by counter (Philox): each follows from the seed and its place alone, whatever else was
 * drawn, on any thread. None of them is one that a network is drawn with. */
typedef enum broad_random_purpose {
    BROAD_RANDOM_PURPOSE_PICTURES = 4,
    BROAD_RANDOM_PURPOSE_SEARCH = 5
} broad_random_purpose;
typedef struct broad_random {
    size_t size;
    uint64_t seed;
    broad_random_purpose purpose;
    uint64_t number; /* of the thing that they are drawn for, below 2^48; 0 at first */
    uint16_t draw;   /* and which draw for it; 0 at first */
} broad_random;

BROAD_API void broad_random_init_sized(broad_random *out, size_t size, uint64_t seed, broad_random_purpose purpose);
static inline void broad_random_init(broad_random *out, uint64_t seed, broad_random_purpose purpose)
{
    broad_random_init_sized(out, sizeof *out, seed, purpose);
}
BROAD_API double broad_random_at(const broad_random *random, uint64_t element); /* NaN: not initialised */
/* out[i] is the number of element first + i. */
BROAD_API int broad_random_fill(double *out, const broad_random *random, uint64_t first, size_t count);

/* ---- machine --------------------------------------------------------------------------------------------------- */

typedef struct broad_machine {
    size_t size;
    size_t processors;   /* available to this process: what `threads` of 0 stands for       */
    const char *kernels; /* kernels in use: "avx512", "avx2", "plain"                   */
    int self_test;       /* 1: every operation agrees with plain C; 0: it does not, or was not tested */
} broad_machine;

static inline void broad_machine_init(broad_machine *out) { broad_result_init(out, sizeof *out); }
/* Describes the machine, and with `test` not 0 checks that it computes correctly. That it does not is a finding, not a
 * failure: the message is left for broad_error_message(). */
BROAD_API int broad_machine_inspect(broad_machine *out, int test);

/* Of one thread alone, at its best; of all threads together, on average. */
typedef struct broad_rate {
    double one, all;
} broad_rate;

typedef struct broad_speed {
    size_t size;
    size_t threads;
    const char *instructions; /* used to measure the peak: "avx512", "avx2", "sse2", "neon"; "": unknown */
    broad_rate peak;          /* GFLOP/s: multiplications and additions on numbers in registers           */
    broad_rate dgemm;         /* GFLOP/s of a large product                                               */
    broad_rate layer;         /* GFLOP/s of a pass over the rows: nodes, gram, cross and residual         */
    broad_rate nodes, gram;   /* GFLOP/s of its two largest parts                                         */
    broad_rate read, copy;    /* GB/s of memory; a copied byte is read and written                        */
    double spread;            /* relative difference of the peak at the beginning and at the end          */
    double busy;              /* fraction of the time in which other programs had the processors          */
    double hash, sums;        /* GB/s of one thread: fingerprint of a table, sums of its columns          */
    double search;            /* millions of rows per second of one thread, to look for copies            */
} broad_speed;

static inline void broad_speed_init(broad_speed *out) { broad_result_init(out, sizeof *out); }
/* Measures for about a second with this many threads (0: one per processor). quick 1: peak and read of one thread alone, in
 * less than a tenth of that; 2: hash, sums and search as well; the rest is 0. */
BROAD_API int broad_machine_measure(broad_speed *out, size_t threads, int quick);

/* The GPU that BROAD_DEVICE_CUDA stands for. */
typedef struct broad_gpu {
    size_t size;
    char name[128];
    size_t devices;           /* of the machine */
    size_t memory, available; /* bytes */
    double gigaflops;         /* of a large product in double precision; 0: not measured */
    double gigabytes;         /* read and written per second by a copy in its memory; 0: not measured */
} broad_gpu;

static inline void broad_gpu_init(broad_gpu *out) { broad_result_init(out, sizeof *out); }
/* Loads libbroad-cuda.so. Fails with BROAD_FAILED where there is no GPU, or no such library; the message says which. */
BROAD_API int broad_gpu_inspect(broad_gpu *out, int measure);

/* ---- compatibility with 0.1 -------------------------------------------------------------------------------------- */

/* The names that these constants had in 0.1. They will be removed in the release after the next one; define
 * BROAD_NO_OLD_NAMES to be without them today. */
#ifndef BROAD_NO_OLD_NAMES
#define BROAD_SIGMOID BROAD_ACTIVATION_SIGMOID
#define BROAD_TANH BROAD_ACTIVATION_TANH
#define BROAD_RELU BROAD_ACTIVATION_RELU
#define BROAD_SINE BROAD_ACTIVATION_SINE
#define BROAD_GAUSSIAN BROAD_ACTIVATION_GAUSSIAN
#define BROAD_IDENTITY BROAD_ACTIVATION_IDENTITY
#define BROAD_DOUBLE BROAD_PRECISION_DOUBLE
#define BROAD_FLOAT BROAD_PRECISION_FLOAT
#define BROAD_COMPLETE BROAD_OUTCOME_COMPLETE
#define BROAD_STALLED BROAD_OUTCOME_STALLED
#define BROAD_TARGET_REACHED BROAD_OUTCOME_TARGET_REACHED
#define BROAD_STOPPED BROAD_OUTCOME_STOPPED
#define BROAD_FEATURES_RANDOM BROAD_FEATURE_WEIGHTS_RANDOM
#define BROAD_FEATURES_AUTOENCODER BROAD_FEATURE_WEIGHTS_AUTOENCODER
#define BROAD_FEATURES_SAMPLED BROAD_FEATURE_WEIGHTS_SAMPLED
#define BROAD_MAP_PIXELS BROAD_PHOTO_MAP_PIXELS
#define BROAD_MAP_DESCRIPTORS BROAD_PHOTO_MAP_DESCRIPTORS
#define BROAD_MAP_WINDOWS BROAD_PHOTO_MAP_WINDOWS
#define BROAD_MAP_ALL BROAD_PHOTO_MAP_ALL
#define BROAD_MAP_TRIALS_MAX BROAD_PHOTO_MAP_TRIALS_MAX
#endif

#ifdef __cplusplus
}
#endif
#endif
