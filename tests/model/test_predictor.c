/* Prediction: the same bytes by every way there is, for any number of rows at once and any number of threads; no allocation,
 * no lock; many threads, a fork, files that are damaged. */
#include "plain.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

#include "base/memory.h"
#include "data/transform/scale.h"
#include "model/predict/predict.h"

enum { ROWS = 160, INPUTS = 5, FRESH = 4096, OUTPUTS_MOST = 4 };

/* ---- what is counted ------------------------------------------------------------------------------------------- */

#if HELPER_SANITIZED || !defined(__GLIBC__)
#define COUNTED 0
#else
#define COUNTED 1
#endif

static atomic_size_t allocations, locks, starts;

#if COUNTED
/* In the place of the C library's, for the whole process. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *block, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

void *malloc(size_t bytes)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_calloc(count, bytes);
}

void *realloc(void *block, size_t bytes)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_realloc(block, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_memalign(alignment, bytes);
}

static void next_function(void *out, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(out, &found, sizeof found);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*next)(pthread_mutex_t *);
    if (!next) next_function(&next, "pthread_mutex_lock");
    atomic_fetch_add(&locks, 1);
    return next(mutex);
}

int pthread_create(pthread_t *out, const pthread_attr_t *how, void *(*start)(void *), void *argument)
{
    static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!next) next_function(&next, "pthread_create");
    atomic_fetch_add(&starts, 1);
    return next(out, how, start, argument);
}
#endif

/* ---- models ---------------------------------------------------------------------------------------------------- */

typedef struct form {
    const char *kind, *weights, *supervise, *features, *scale, *activation, *enhance;
    size_t classes; /* 0: a regression of two values */
    int missing;
} form;

static const form forms[] = {
    {"bscrls", "chain", "residual", "random", "standard", "tanh", "40x3", 3, 0},
    {"bscrls", "joint", "residual", "sampled", "both", "sigmoid", "9x4", 0, 1},
    {"bscrls", "joint", "residual", "autoencoder", "rank", "sine", "33x2", 2, 0},
    {"brls", "chain", "none", "random", "none", "sigmoid", "100x3", 4, 0},
    {"brls", "joint", "none", "sampled", "rank", "gaussian", "7x9", 0, 1},
    {"brls", "chain", "none", "random", "minmax", "relu", "1x30", 2, 1},
    {"bls", "joint", "none", "random", "whole", "identity", "64x1", 0, 0},
    {"bls", "joint", "none", "sampled", "both", "relu", "130x1", 3, 0},
    {"scn", "chain", "output", "random", "standard", "sigmoid", "1x40", 0, 0},
    {"scn", "window", "output", "random", "both", "tanh", "1x12", 2, 0},
    {"scn", "joint", "output", "random", "minmax", "sine", "5x8", 0, 1},
    {"rvfl", "joint", "none", "random", "rank", "tanh", "30x2", 3, 1},
    {"rvfl", "joint", "none", "random", "none", "gaussian", "200x1", 0, 0},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

static broad_model *form_fit(const form *f)
{
    problem_random r = {(uint64_t)(f - forms) + 7};
    broad_arrays arrays;
    broad_model *model = NULL;
    plain_arrays(&arrays, &r, ROWS, INPUTS, 2, f->classes, 0);
    broad_data *data = plain_data(&arrays);
    broad_options o =
        OPTIONS("preset", "paper", "kind", f->kind, "weights", f->weights, "supervise", f->supervise, "feature-weights",
                f->features, "scale", f->scale, "activation", f->activation, "features", "6x7", "enhance", f->enhance,
                "lambda", "0.01", "relax-count", "20", "loo", "auto");
    assert_ok(broad_fit(&model, NULL, data, &o));
    assert_true(broad_model_layers(model) > 0);
    if (f->missing) model->missing = BROAD_MISSING_MEAN;
    broad_data_free(data);
    plain_arrays_free(&arrays);
    return model;
}

/* Rows like those of training and beyond, with gaps where the model fills them. Freed with free(). */
static double *fresh_rows(size_t count, size_t stride, const broad_model *model)
{
    problem_random r = {99};
    double *x = malloc(count * stride * sizeof *x);
    for (size_t i = 0; i < count * stride; i++) x[i] = 3 * problem_uniform(&r) - 1.5;
    for (size_t i = 0; i < count * stride && model->missing == BROAD_MISSING_MEAN; i += 11) x[i] = NAN;
    return x;
}

/* ---- by the formulas, in long double --------------------------------------------------------------------------- */

static long double plain_rank(const double *knots, double value)
{
    const double *ranks = knots + BROAD__KNOTS;
    if (value <= knots[0]) return ranks[0];
    for (size_t k = 1; k < BROAD__KNOTS; k++)
        if (value < knots[k])
            return ranks[k - 1] + ((long double)value - knots[k - 1]) / ((long double)knots[k] - knots[k - 1]) *
                                      ((long double)ranks[k] - ranks[k - 1]);
    return ranks[BROAD__KNOTS - 1];
}

static size_t plain_scaled(long double *out, const broad_model *m, const double *x)
{
    broad_scale how = m->settings.scale;
    size_t twice = how == BROAD_SCALE_BOTH ? m->inputs : 0;
    int ranked = how == BROAD_SCALE_BOTH || how == BROAD_SCALE_RANK;
    for (size_t j = 0; j < m->inputs; j++) {
        double value = isnan(x[j]) ? m->input_fill[j] : x[j];
        long double last = ranked ? plain_rank(m->input_knots + j * 2 * BROAD__KNOTS, value) : value;
        if (twice) out[j] = ((long double)value - m->input_shift[j]) * m->input_factor[j];
        out[twice + j] = (last - m->input_shift[twice + j]) * m->input_factor[twice + j];
    }
    return twice + m->inputs;
}

static long double plain_xi(broad_activation activation, long double x)
{
    switch (activation) {
    case BROAD_ACTIVATION_SIGMOID: return 1 / (1 + expl(-x));
    case BROAD_ACTIVATION_TANH: return tanhl(x);
    case BROAD_ACTIVATION_RELU: return x > 0 ? x : 0;
    case BROAD_ACTIVATION_SINE: return sinl(x);
    case BROAD_ACTIVATION_GAUSSIAN: return expl(-x * x);
    case BROAD_ACTIVATION_IDENTITY: break;
    }
    return x;
}

static void plain_layer(long double *out, const long double *x, size_t inputs, const double *weight, const double *bias,
                        size_t nodes, broad_activation activation)
{
    for (size_t node = 0; node < nodes; node++) {
        long double sum = bias[node];
        for (size_t k = 0; k < inputs; k++) sum += x[k] * weight[k * nodes + node];
        out[node] = plain_xi(activation, sum);
    }
}

static void plain_predict(double *out, const broad_model *m, const double *x)
{
    long double scaled[2 * INPUTS], z[256], h[256], scores[OUTPUTS_MOST] = {0};
    size_t columns = plain_scaled(scaled, m, x), at = 0;
    for (size_t g = 0; g < m->group_count; at += m->groups[g++].nodes)
        if (m->groups[g].source == BROAD__WEIGHT_SOURCE_DIRECT) memcpy(z, scaled, columns * sizeof *z);
        else
            plain_layer(z + at, scaled, columns, m->groups[g].weight, m->groups[g].bias, m->groups[g].nodes,
                        m->settings.feature_activation);
    for (size_t j = 0; j < m->layer_count; j++) {
        const broad__layer *layer = &m->layers[j];
        const double *w = layer->joint ? layer->joint : layer->output;
        size_t first = 0, prefix = layer->width - layer->nodes;
        for (size_t g = 0; g < layer->first_group; g++) first += m->groups[g].nodes;
        plain_layer(h, z, layer->inputs, layer->weight, layer->bias, layer->nodes, m->settings.activation);
        for (size_t a = 0; a < layer->width; a++)
            for (size_t c = 0; c < m->outputs; c++)
                scores[c] += (a < prefix ? z[first + a] : h[a - prefix]) * w[a * m->outputs + c];
    }
    for (size_t c = 0; c < m->outputs; c++) out[c] = (double)(scores[c] / m->output_factor[c] + m->output_shift[c]);
}

/* ---- the same bytes -------------------------------------------------------------------------------------------- */

typedef struct subject {
    const form *form;
    broad_model *model;
    broad_predictor *predictor;
    size_t outputs;
    size_t rows;
    double *x;        /* rows of inputs */
    double *expected; /* their scores, row by row from the predictor */
    void *scratch;
    size_t scratch_bytes;
} subject;

static void subject_open(subject *s, const form *f, size_t rows)
{
    *s = (subject){.form = f, .model = form_fit(f), .rows = rows};
    assert_ok(broad_predictor_from_model(&s->predictor, s->model));
    s->outputs = broad_predictor_outputs(s->predictor);
    s->x = fresh_rows(rows, INPUTS, s->model);
    s->expected = malloc(rows * s->outputs * sizeof *s->expected);
    s->scratch_bytes = broad_predictor_scratch(s->predictor, SIZE_MAX);
    s->scratch = malloc(s->scratch_bytes);
    for (size_t i = 0; i < rows; i++)
        assert_ok(broad_predictor_row(s->expected + i * s->outputs, s->predictor, s->x + i * INPUTS, s->scratch));
}

static void subject_close(subject *s)
{
    broad_predictor_free(s->predictor);
    broad_model_free(s->model);
    free(s->x), free(s->expected), free(s->scratch);
}

static void assert_scores(const subject *s, const double *scores, size_t first, size_t rows, const char *how)
{
    for (size_t i = 0; i < rows * s->outputs; i++)
        if (memcmp(&scores[i], &s->expected[first * s->outputs + i], sizeof *scores) != 0)
            fail_msg("%s/%s, %s: score %zu of row %zu is %.17g where %.17g was expected", s->form->kind,
                     s->form->weights, how, i % s->outputs, first + i / s->outputs, scores[i],
                     s->expected[first * s->outputs + i]);
}

/* Sums of some hundred terms in another order and rounding: far below 1e-9 of the largest score. */
static void every_row_is_what_the_formulas_say(void **state)
{
    (void)state;
    for (size_t f = 0; f < FORMS; f++) {
        subject s;
        subject_open(&s, &forms[f], 100);
        for (size_t i = 0; i < 100; i++) {
            double plain[OUTPUTS_MOST];
            plain_predict(plain, s.model, s.x + i * INPUTS);
            double distance = relative_distance(s.expected + i * s.outputs, plain, s.outputs);
            if (!(distance < 1e-9)) fail_msg("form %zu, row %zu: off by %g", f, i, distance);
        }
        subject_close(&s);
    }
}

static void scores_do_not_depend_on_the_rows_at_once(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 7, 64, 255, 256, 257, 1000, 4096};
    for (size_t f = 0; f < FORMS; f++) {
        subject s;
        subject_open(&s, &forms[f], FRESH);
        double *scores = malloc(FRESH * s.outputs * sizeof *scores);
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
            for (size_t first = 0; first < FRESH; first += sizes[k]) {
                size_t rows = FRESH - first < sizes[k] ? FRESH - first : sizes[k];
                const double *x = s.x + first * INPUTS;
                if (sizes[k] < 200 && first > 600) break;
                assert_ok(broad_predict(scores, s.model, x, rows, 0));
                assert_scores(&s, scores, first, rows, "broad_predict");
                assert_ok(broad_predictor_rows(scores, s.predictor, x, rows, 0, s.scratch, s.scratch_bytes));
                assert_scores(&s, scores, first, rows, "broad_predictor_rows");
            }
        for (size_t rows = 1; rows <= 260; rows += rows < 20 ? 1 : 48) {
            size_t bytes = broad_predictor_scratch(s.predictor, rows);
            assert_ok(broad_predictor_rows(scores, s.predictor, s.x, 200, INPUTS, s.scratch, bytes));
            assert_scores(&s, scores, 0, 200, "a smaller scratch");
        }
        free(scores);
        subject_close(&s);
    }
}

static broad_data *inputs_only(const double *x, size_t rows)
{
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = rows, arrays.inputs = INPUTS, arrays.x = x;
    return plain_data(&arrays);
}

/* Enough rows to make all threads worthwhile. Arrays with gaps cannot become data: these go to the routine below. */
static void scores_do_not_depend_on_threads(void **state)
{
    (void)state;
    enum { TIMES = COUNTED ? 5 : 2, MANY = TIMES * FRESH - 5 };
    for (size_t f = 0; f < FORMS; f++) {
        subject s;
        subject_open(&s, &forms[f], FRESH);
        double *x = malloc((size_t)TIMES * FRESH * INPUTS * sizeof *x);
        double *scores = malloc(MANY * s.outputs * sizeof *scores);
        for (size_t i = 0; i < TIMES; i++) memcpy(x + i * FRESH * INPUTS, s.x, FRESH * INPUTS * sizeof *x);
        broad_data *data = forms[f].missing ? NULL : inputs_only(x, MANY);
        for (size_t threads = COUNTED ? 0 : 2; threads <= 8; threads += COUNTED ? 1 : 3) { /* sanitizers are slow */
            memset(scores, 0, MANY * s.outputs * sizeof *scores);
            if (data) assert_ok(broad_predict_data(scores, s.model, data, THREADS(threads)));
            else assert_ok(broad__predict(scores, s.model, x, MANY, INPUTS, threads, NULL));
            for (size_t first = 0; first < MANY; first += FRESH)
                assert_scores(&s, scores + first * s.outputs, 0, MANY - first < FRESH ? MANY - first : FRESH,
                              "threads");
        }
        free(x), free(scores);
        broad_data_free(data);
        subject_close(&s);
    }
}

/* ---- where a predictor comes from ------------------------------------------------------------------------------ */

static void assert_predicts(const subject *s, const broad_predictor *predictor, const char *how)
{
    double *scores = malloc(300 * s->outputs * sizeof *scores);
    assert_int_equal(broad_predictor_inputs(predictor), INPUTS);
    assert_int_equal(broad_predictor_outputs(predictor), s->outputs);
    assert_int_equal(broad_predictor_task(predictor), broad_model_task(s->model));
    for (size_t c = 0; c <= s->outputs; c++)
        assert_string_equal(broad_predictor_output_name(predictor, c), broad_model_output_name(s->model, c));
    assert_ok(broad_predictor_rows(scores, predictor, s->x, 300, 0, s->scratch, s->scratch_bytes));
    assert_scores(s, scores, 0, 300, how);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(broad_predictor_best_class(predictor, scores + i * s->outputs),
                         broad_best_class(s->model, scores + i * s->outputs));
    free(scores);
}

static void assert_from_bytes(const subject *s, const void *bytes, size_t count, size_t shift)
{
    broad_predictor *predictor = NULL;
    char *moved = malloc(count + shift);
    memcpy(moved + shift, bytes, count);
    assert_ok(broad_predictor_from_memory(&predictor, moved + shift, count));
    assert_predicts(s, predictor, shift ? "unaligned bytes" : "bytes");
    broad_predictor_free(predictor);
    free(moved);
}

static void files_and_bytes_give_the_same(void **state)
{
    (void)state;
    char folder[HELPER_PATH], path[HELPER_PATH];
    temporary_folder(folder);
    join_path(path, folder, "model.broad");
    for (size_t f = 0; f < FORMS; f++)
        for (int compact = 0; compact < 2; compact++) {
            subject s;
            broad_predictor *predictor = NULL;
            void *bytes = NULL;
            size_t count = 0;
            subject_open(&s, &forms[f], 300);
            assert_ok(broad_model_save(s.model, path, compact));
            assert_ok(broad_predictor_load(&predictor, path));
            assert_int_equal(remove(path), 0); /* it stays mapped */
            assert_predicts(&s, predictor, compact ? "a compact file" : "a file");
            broad_predictor_free(predictor);
            assert_ok(broad_model_to_memory(&bytes, &count, s.model, compact));
            assert_from_bytes(&s, bytes, count, 0);
            assert_from_bytes(&s, bytes, count, 3);
            broad_free(bytes);
            subject_close(&s);
        }
    remove_folder(folder);
}

/* A predictor of its own holds the weights; one of a file uses them there. */
static void little_is_held(void **state)
{
    (void)state;
    const form wide = {"brls", "chain", "none", "random", "standard", "tanh", "100x20", 2, 0};
    char folder[HELPER_PATH], path[HELPER_PATH];
    size_t bytes = 0;
    temporary_folder(folder);
    join_path(path, folder, "model.broad");
    broad_model *model = form_fit(&wide);
    broad_predictor *copied = NULL, *mapped = NULL;
    assert_ok(broad_model_save(model, path, 0));
    free(read_file(&bytes, path));
    assert_ok(broad_predictor_from_model(&copied, model));
    assert_ok(broad_predictor_load(&mapped, path));
    size_t weights = 8 * 20 * 100 * (42 + 1 + 2);
    assert_true(broad_predictor_bytes(copied) >= weights && broad_predictor_bytes(copied) < bytes);
    assert_true(broad_predictor_bytes(mapped) < weights / 20);
    broad_predictor_free(copied);
    broad_predictor_free(mapped);
    broad_model_free(model);
    remove_folder(folder);
}

/* Widths that follow the value and limits, of a model, of its copy in a predictor, and of a predictor from its file. */
static void intervals_of_rows_are_the_models(void **state)
{
    (void)state;
    enum { MANY = 400 };
    problem_random r = {8};
    double x[MANY], y[MANY], scores[MANY], ends[3][2 * MANY];
    for (size_t i = 0; i < MANY; i++) {
        x[i] = problem_uniform(&r);
        y[i] = i ? fmin(fmax(x[i] * (1 + 0.3 * problem_normal(&r)), 0), 1) : 0;
    }
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = MANY;
    arrays.inputs = arrays.outputs = 1;
    arrays.x = x;
    arrays.values = y;
    broad_data *data = plain_data(&arrays);
    broad_model *model = NULL;
    broad_predictor *predictors[2] = {NULL, NULL};
    char folder[HELPER_PATH], path[HELPER_PATH];
    temporary_folder(folder);
    join_path(path, folder, "model.broad");
    broad_options o = OPTIONS("preset", "paper", "kind", "bls", "features", "2x10", "enhance", "10x1", "lambda", "0.01",
                              "loo", "yes");
    assert_ok(broad_fit(&model, NULL, data, &o));
    assert_ok(broad_model_save(model, path, BROAD_FILE_FULL));
    assert_ok(broad_predictor_from_model(&predictors[0], model));
    assert_ok(broad_predictor_load(&predictors[1], path));
    assert_ok(broad_predict(scores, model, x, MANY, 0));
    assert_ok(broad_intervals(ends[0], model, scores, MANY, 0.9));
    for (size_t k = 0; k < 2; k++) {
        assert_ok(broad_predictor_intervals(ends[k + 1], predictors[k], scores, MANY, 0.9));
        assert_memory_equal(ends[0], ends[k + 1], sizeof ends[0]);
        broad_predictor_free(predictors[k]);
    }
    double least = 1, most = 0;
    for (size_t i = 0; i < MANY; i++) {
        assert_true(ends[0][2 * i] >= 0 && ends[0][2 * i + 1] <= 1);
        least = fmin(least, ends[0][2 * i + 1] - ends[0][2 * i]);
        most = fmax(most, ends[0][2 * i + 1] - ends[0][2 * i]);
    }
    assert_true(most > 2 * least);
    broad_model_free(model);
    broad_data_free(data);
    remove_folder(folder);
}

static void probabilities_and_intervals_are_the_models(void **state)
{
    (void)state;
    for (size_t classes = 0; classes <= 3; classes += 3) {
        problem_random r = {5};
        broad_arrays arrays;
        broad_model *model = NULL;
        broad_predictor *predictor = NULL;
        double a[OUTPUTS_MOST], b[OUTPUTS_MOST], scores[OUTPUTS_MOST];
        plain_arrays(&arrays, &r, ROWS, INPUTS, 2, classes, 0);
        broad_data *data = plain_data(&arrays);
        broad_options o = OPTIONS("preset", "paper", "kind", "bls", "scale", "standard", "features", "2x10", "enhance",
                                  "10x1", "lambda", "0.01", "loo", "yes");
        assert_ok(broad_fit(&model, NULL, data, &o));
        assert_ok(broad_predictor_from_model(&predictor, model));
        assert_ok(broad_predict(scores, model, arrays.x, 1, 0));
        if (classes) {
            assert_ok(broad_probabilities(a, model, scores, 1));
            assert_ok(broad_predictor_probabilities(b, predictor, scores, 1));
            assert_fails(broad_predictor_interval(b, predictor, 0.9), BROAD_USAGE, "classes");
        } else {
            assert_ok(broad_interval(a, model, 0.8));
            assert_ok(broad_predictor_interval(b, predictor, 0.8));
            double ends[4 * OUTPUTS_MOST], *others = ends + 2 * OUTPUTS_MOST;
            assert_ok(broad_intervals(ends, model, scores, 1, 0.8));
            assert_ok(broad_predictor_intervals(others, predictor, scores, 1, 0.8));
            assert_memory_equal(ends, others, 2 * broad_model_outputs(model) * sizeof *ends);
            assert_fails(broad_predictor_interval(b, predictor, 0.9999), BROAD_USAGE, "level");
            assert_fails(broad_predictor_intervals(b, predictor, NULL, 0, 0.9999), BROAD_USAGE, "level");
            assert_fails(broad_predictor_probabilities(b, predictor, scores, 1), BROAD_USAGE, "numbers");
        }
        assert_memory_equal(a, b, broad_model_outputs(model) * sizeof *a);
        broad_predictor_free(predictor);
        broad_model_free(model);
        broad_data_free(data);
        plain_arrays_free(&arrays);
    }
}

/* ---- no allocation, no lock ------------------------------------------------------------------------------------ */

static void nothing_is_allocated_or_locked(void **state)
{
    (void)state;
    if (!COUNTED) skip();
    for (size_t f = 0; f < FORMS; f++) {
        subject s;
        subject_open(&s, &forms[f], 300);
        double *scores = malloc(300 * s.outputs * sizeof *scores);
        size_t before[] = {allocations, locks, starts};
        int status = broad_predictor_row(scores, s.predictor, s.x, s.scratch);
        status |= broad_predictor_rows(scores, s.predictor, s.x, 300, 0, s.scratch, s.scratch_bytes);
        size_t after[] = {allocations, locks, starts};
        assert_int_equal(status, BROAD_OK);
        for (size_t i = 0; i < 3; i++) assert_int_equal(after[i] - before[i], 0);
        assert_ok(broad_predict(scores, s.model, s.x, 1, 0)); /* that the counters count */
        assert_true(allocations > after[0]);
        free(scores);
        subject_close(&s);
    }
}

/* ---- many threads ---------------------------------------------------------------------------------------------- */

enum { CALLERS = 300, CALLER_ROWS = 40 };

typedef struct caller {
    const subject *subject;
    size_t number;
    int wrong;
} caller;

static void *call(void *argument)
{
    caller *self = argument;
    const subject *s = self->subject;
    size_t bytes = broad_predictor_scratch(s->predictor, 8), first = self->number;
    double *scores = malloc(CALLER_ROWS * s->outputs * sizeof *scores);
    void *scratch = malloc(bytes);
    const double *x = s->x + first * INPUTS, *expected = s->expected + first * s->outputs;
    for (int repeat = 0; repeat < 6; repeat++) {
        int status = repeat % 3 == 0   ? broad_predictor_rows(scores, s->predictor, x, CALLER_ROWS, 0, scratch, bytes)
                     : repeat % 3 == 1 ? broad_predict(scores, s->model, x, CALLER_ROWS, 0)
                                       : BROAD_OK;
        for (size_t i = 0; repeat % 3 == 2 && i < CALLER_ROWS; i++)
            status |= broad_predictor_row(scores + i * s->outputs, s->predictor, x + i * INPUTS, scratch);
        if (status || memcmp(scores, expected, CALLER_ROWS * s->outputs * sizeof *scores) != 0) self->wrong++;
    }
    free(scores), free(scratch);
    return NULL;
}

static void many_threads_predict_at_once(void **state)
{
    (void)state;
    static pthread_t threads[CALLERS];
    static caller callers[CALLERS];
    subject s;
    subject_open(&s, &forms[1], CALLERS + CALLER_ROWS);
    for (size_t i = 0; i < CALLERS; i++) {
        callers[i] = (caller){&s, i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, call, &callers[i]), 0);
    }
    for (size_t i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(callers[i].wrong, 0);
    }
    subject_close(&s);
}

/* ---- fork ------------------------------------------------------------------------------------------------------ */

static int child_predicts(const subject *s, const broad_data *data, double *scores)
{
    size_t bytes = FRESH * s->outputs * sizeof *scores;
    int wrong =
        broad_predict_data(scores, s->model, data, THREADS(4)) != BROAD_OK || memcmp(scores, s->expected, bytes) != 0;
    wrong |= broad_predict(scores, s->model, s->x, 100, 0) != BROAD_OK;
    wrong |= memcmp(scores, s->expected, 100 * s->outputs * sizeof *scores) != 0;
    wrong |= broad_predictor_row(scores, s->predictor, s->x, s->scratch) != BROAD_OK;
    return wrong | (memcmp(scores, s->expected, s->outputs * sizeof *scores) != 0);
}

/* The child's exit status; -1 where it does not end in time, and is then ended. */
static int wait_for(pid_t child, int seconds)
{
    const struct timespec moment = {0, 10000000};
    int status = 0;
    for (int i = 0; i < 100 * seconds; i++, nanosleep(&moment, NULL))
        if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}

static void a_fork_after_use_predicts(void **state)
{
    (void)state;
    subject s;
    subject_open(&s, &forms[3], FRESH); /* trained in this process */
    broad_data *data = inputs_only(s.x, FRESH);
    double *scores = malloc(FRESH * s.outputs * sizeof *scores);
    assert_ok(broad_predict_data(scores, s.model, data, THREADS(4)));
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) leave_process(child_predicts(&s, data, scores));
        assert_int_equal(wait_for(child, 60), 0);
    }
    free(scores);
    broad_data_free(data);
    subject_close(&s);
}

/* ---- what is refused ------------------------------------------------------------------------------------------- */

static void wrong_calls_are_refused(void **state)
{
    (void)state;
    subject s;
    double scores[OUTPUTS_MOST * 2], x[2 * INPUTS] = {0};
    subject_open(&s, &forms[0], 2);
    size_t least = broad_predictor_scratch(s.predictor, 1);
    assert_int_equal(broad_predictor_scratch(s.predictor, 0), least);
    assert_true(broad_predictor_scratch(s.predictor, 256) == s.scratch_bytes);
    assert_fails(broad_predictor_rows(scores, s.predictor, x, 2, 0, s.scratch, least - 1), BROAD_USAGE, "scratch");
    assert_fails(broad_predictor_rows(scores, s.predictor, x, 2, 4, s.scratch, least), BROAD_USAGE,
                 "stride 4 is smaller");
    assert_fails(broad_predictor_rows(scores, s.predictor, NULL, 2, 0, s.scratch, least), BROAD_USAGE, "NULL");
    assert_ok(broad_predictor_rows(scores, s.predictor, NULL, 0, 0, s.scratch, least));
    assert_fails(broad_predictor_row(scores, s.predictor, x, NULL), BROAD_USAGE, "NULL");
    scores[0] = 42;
    x[INPUTS + 2] = NAN;
    assert_fails(broad_predictor_rows(scores, s.predictor, x, 2, 0, s.scratch, least), BROAD_BAD_DATA,
                 "row 2, input 3: nan is not a number the model can take (it was trained without missing values)");
    x[INPUTS + 2] = -INFINITY;
    assert_fails(broad_predictor_row(scores, s.predictor, x + INPUTS, s.scratch), BROAD_BAD_DATA,
                 "row 1, input 3: -inf");
    assert_true(scores[0] == 42);
    broad_predictor_free(NULL);
    subject_close(&s);
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    char folder[HELPER_PATH], path[HELPER_PATH];
    broad_predictor *predictor = (broad_predictor *)&folder;
    size_t count = 0;
    temporary_folder(folder);
    join_path(path, folder, "model.broad");
    broad_model *model = form_fit(&forms[4]);
    assert_ok(broad_model_save(model, path, 0));
    char *bytes = read_file(&count, path);
    for (size_t i = 0; i < count; i += count / 97) {
        bytes[i] ^= 4;
        write_file(path, bytes, count);
        assert_fails(broad_predictor_load(&predictor, path), BROAD_BAD_MODEL, "model.broad: ");
        assert_null(predictor);
        bytes[i] ^= 4;
    }
    for (size_t cut = 0; cut < count; cut += count / 31) {
        write_file(path, bytes, cut);
        assert_fails(broad_predictor_load(&predictor, path), BROAD_BAD_MODEL, "model.broad: ");
    }
    assert_int_equal(remove(path), 0);
    assert_fails(broad_predictor_load(&predictor, path), BROAD_NO_INPUT, "cannot be opened");
    assert_fails(broad_predictor_load(&predictor, folder), BROAD_NO_INPUT, "folder");
    assert_fails(broad_predictor_load(&predictor, NULL), BROAD_USAGE, "NULL");
    free(bytes);
    broad_model_free(model);
    remove_folder(folder);
}

static size_t calls, fail_at, live;

static void *counted_allocate(size_t bytes, void *context)
{
    (void)context;
    if (++calls == fail_at) return NULL;
    live++;
    return malloc(bytes);
}

static void counted_release(void *block, void *context)
{
    (void)context;
    live--;
    free(block);
}

/* Every allocation fails in turn: a clean failure, and nothing is left. */
static void lack_of_memory_is_a_failure(void **state)
{
    (void)state;
    const broad_allocator counting = {counted_allocate, counted_release, NULL};
    char folder[HELPER_PATH], path[HELPER_PATH];
    temporary_folder(folder);
    join_path(path, folder, "model.broad");
    for (int how = 0; how < 4; how++) {
        broad_model *model = form_fit(&forms[10]);
        double scores[2 * 200], *x = fresh_rows(200, INPUTS, model);
        assert_ok(broad_model_save(model, path, how == 1));
        int status = BROAD_NO_MEMORY;
        for (fail_at = 1; status == BROAD_NO_MEMORY; fail_at++) {
            broad_predictor *predictor = NULL;
            calls = live = 0;
            broad_set_allocator(&counting);
            status = how < 2    ? broad_predictor_load(&predictor, path)
                     : how == 2 ? broad_predictor_from_model(&predictor, model)
                                : broad_predict(scores, model, x, 200, 0);
            broad_predictor_free(predictor);
            broad_set_allocator(NULL);
            assert_int_equal(live, 0);
            assert_true(status == BROAD_OK || status == BROAD_NO_MEMORY);
        }
        assert_true(fail_at > 2);
        free(x);
        broad_model_free(model);
    }
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_what_the_formulas_say),
        cmocka_unit_test(scores_do_not_depend_on_the_rows_at_once),
        cmocka_unit_test(scores_do_not_depend_on_threads),
        cmocka_unit_test(files_and_bytes_give_the_same),
        cmocka_unit_test(little_is_held),
        cmocka_unit_test(probabilities_and_intervals_are_the_models),
        cmocka_unit_test(intervals_of_rows_are_the_models),
        cmocka_unit_test(nothing_is_allocated_or_locked),
        cmocka_unit_test(many_threads_predict_at_once),
        cmocka_unit_test(a_fork_after_use_predicts),
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(lack_of_memory_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
