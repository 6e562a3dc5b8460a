/* Training, prediction and certificate through the public interface, and what must hold for every network. */
#include "failing.h"
#include "problem.h"

#include <pthread.h>
#include <time.h>

#include "model/model.h"

/* ---- data ------------------------------------------------------------------------------------------------------ */

/* Rows with a smooth dependence on their inputs and some noise; classes > 0: that many classes, else 2 outputs. */
static broad_data *make_data(size_t rows, size_t inputs, size_t classes, uint64_t seed)
{
    problem_random r = {seed};
    double *x = malloc(rows * inputs * sizeof *x), *values = malloc(rows * 2 * sizeof *values);
    int64_t *labels = malloc(rows * sizeof *labels);
    for (size_t i = 0; i < rows; i++) {
        double sum = 0;
        for (size_t j = 0; j < inputs; j++) {
            x[i * inputs + j] = 3 * problem_normal(&r) + (double)j;
            sum += x[i * inputs + j] * (j % 2 ? 1 : -1);
        }
        values[2 * i] = sin(sum) + 0.1 * problem_normal(&r);
        values[2 * i + 1] = 100 + 5 * x[i * inputs];
        if (classes) labels[i] = i < classes ? (int64_t)i : (int64_t)((size_t)(floor(fabs(sum))) % classes);
    }
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = rows;
    arrays.inputs = inputs;
    arrays.x = x;
    if (classes) {
        arrays.classes = labels;
    } else {
        arrays.values = values;
        arrays.outputs = 2;
    }
    broad_data *data = NULL;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    free(x), free(values), free(labels);
    return data;
}

/* A chain of drawn nodes, whatever the preset. */
static broad_options small_options(broad_preset preset)
{
    broad_options o;
    broad_options_init(&o);
    assert_ok(broad_options_preset(&o, preset));
    o.weights = BROAD_WEIGHTS_CHAIN;
    o.feature_weights = BROAD_FEATURE_WEIGHTS_RANDOM;
    o.features_auto = 0;
    o.scale = preset == BROAD_PRESET_PAPER ? BROAD_SCALE_MINMAX : BROAD_SCALE_STANDARD;
    o.features_auto = 0, o.feature_groups = 2, o.feature_nodes = 4;
    o.enhance_nodes = 6, o.enhance_layers = 5;
    o.threads = 1;
    o.seed = 5;
    return o;
}

static broad_model *fit(const broad_data *data, const broad_options *o)
{
    broad_model *model = NULL;
    assert_ok(broad_fit(&model, NULL, data, o));
    return model;
}

static void assert_verified(const broad_model *model, const broad_data *data)
{
    broad_verdict verdict = {.size = sizeof verdict};
    assert_ok(broad_verify(&verdict, model, data, THREADS(2)));
    if (!verdict.holds) fail_msg("the certificate does not hold: %s", verdict.reason);
    assert_int_equal(verdict.layers, broad_model_layers(model));
    assert_true(verdict.reached <= verdict.product_bound * (1 + 1e-9));
}

/* The chain falls, every recorded inequality holds, each layer starts where the one before ended. */
static void assert_chain(const broad_model *model)
{
    double before = INFINITY;
    for (size_t j = 0; j < broad_model_layers(model); j++) {
        broad_layer layer = {.size = sizeof layer};
        assert_ok(broad_model_layer(&layer, model, j));
        assert_true(layer.norm_after <= layer.norm_before);
        assert_true(j == 0 || layer.norm_before == before);
        assert_true(layer.ratio <= layer.bound && layer.tested <= layer.bound && layer.passed);
        assert_true(fabs(layer.bound - layer.gamma - layer.mu) < 1e-15);
        assert_true(layer.tries >= 1);
        before = layer.norm_after;
    }
}

/* ---- what holds for every network ------------------------------------------------------------------------------- */

static void every_kind_keeps_its_promises(void **state)
{
    (void)state;
    static const size_t sizes[][3] = {{150, 3, 3}, {150, 3, 0}, {12, 5, 2}, {12, 5, 0}, {300, 1, 2}};
    size_t networks = 0;
    for (size_t d = 0; d < 5; d++) {
        broad_data *data = make_data(sizes[d][0], sizes[d][1], sizes[d][2], d + 1);
        for (int activation = BROAD_ACTIVATION_SIGMOID; activation <= BROAD_ACTIVATION_IDENTITY; activation++)
            for (int test = BROAD_SUPERVISE_RESIDUAL; test <= BROAD_SUPERVISE_GCV; test++)
                for (int automatic = 0; automatic < 2; automatic++) {
                    if (test == BROAD_SUPERVISE_OUTPUT) continue; /* test_scn.c */
                    broad_options o = small_options(automatic ? BROAD_PRESET_AUTO : BROAD_PRESET_PAPER);
                    o.activation = o.feature_activation = (broad_activation)activation;
                    o.supervise = (broad_supervise)test;
                    o.kind = test == BROAD_SUPERVISE_NONE ? BROAD_KIND_BRLS : BROAD_KIND_BSCRLS;
                    o.select = activation % 2 ? BROAD_SELECT_BEST : BROAD_SELECT_FIRST;
                    if (test == BROAD_SUPERVISE_OPERATOR) {
                        if (sizes[d][0] > 12) continue;
                        o.enhance_nodes = 30;
                        o.lambda_auto = 0, o.lambda = 1e-3;
                    }
                    broad_model *model = fit(data, &o);
                    assert_chain(model);
                    assert_verified(model, data);
                    networks++;
                    broad_model_free(model);
                }
        broad_data_free(data);
    }
    print_message("%zu networks\n", networks);
    assert_true(networks >= 200);
}

/* ---- prediction ------------------------------------------------------------------------------------------------ */

static double plain_activation(broad_activation activation, double x)
{
    return activation == BROAD_ACTIVATION_SIGMOID ? 1 / (1 + exp(-x)) : tanh(x);
}

/* A row through the network by the formulas alone. */
static void predict_plainly(double *out, const broad_model *m, const double *x)
{
    double z[64], k[128];
    size_t features = 0;
    for (size_t g = 0; g < m->group_count; g++)
        for (size_t node = 0; node < m->groups[g].nodes; node++) {
            double sum = m->groups[g].bias[node];
            for (size_t i = 0; i < m->inputs; i++)
                sum += (x[i] - m->input_shift[i]) * m->input_factor[i] *
                       m->groups[g].weight[i * m->groups[g].nodes + node];
            z[features++] = plain_activation(m->settings.feature_activation, sum);
        }
    for (size_t c = 0; c < m->outputs; c++) out[c] = 0;
    for (size_t j = 0; j < m->layer_count; j++) {
        const broad__layer *layer = &m->layers[j];
        size_t prefix = layer->width - layer->nodes;
        memcpy(k, z, prefix * sizeof(double));
        for (size_t node = 0; node < layer->nodes; node++) {
            double sum = layer->bias[node];
            for (size_t i = 0; i < layer->inputs; i++) sum += z[i] * layer->weight[i * layer->nodes + node];
            k[prefix + node] = plain_activation(m->settings.activation, sum);
        }
        for (size_t a = 0; a < layer->width; a++)
            for (size_t c = 0; c < m->outputs; c++) out[c] += k[a] * layer->output[a * m->outputs + c];
    }
    for (size_t c = 0; c < m->outputs; c++) out[c] = out[c] / m->output_factor[c] + m->output_shift[c];
}

static void prediction_by_the_formulas(void **state)
{
    (void)state;
    for (int preset = BROAD_PRESET_AUTO; preset <= BROAD_PRESET_PAPER; preset++)
        for (size_t classes = 0; classes <= 3; classes += 3) {
            broad_data *data = make_data(700, 4, classes, 3);
            broad_options o = small_options((broad_preset)preset);
            broad_model *model = fit(data, &o);
            size_t outputs = broad_model_outputs(model);
            double *scores = malloc(700 * outputs * sizeof *scores), plain[4];
            assert_ok(broad_predict_data(scores, model, data, THREADS(3)));
            for (size_t i = 0; i < 700; i++) {
                predict_plainly(plain, model, broad_data_row(data, i));
                for (size_t c = 0; c < outputs; c++)
                    assert_true(relative_difference(scores[i * outputs + c], plain[c], 1) < 1e-9);
            }
            free(scores);
            broad_model_free(model);
            broad_data_free(data);
        }
}

typedef struct caller {
    const broad_model *model;
    const broad_data *data;
    const double *expected;
    int wrong;
} caller;

static void *call_predict(void *argument)
{
    caller *self = argument;
    size_t rows = broad_data_rows(self->data), outputs = broad_model_outputs(self->model);
    double *scores = malloc(rows * outputs * sizeof *scores);
    for (int repeat = 0; repeat < 3; repeat++) {
        if (broad_predict(scores, self->model, broad_data_row(self->data, 0), rows, 0) != BROAD_OK) self->wrong = 1;
        if (memcmp(scores, self->expected, rows * outputs * sizeof *scores) != 0) self->wrong = 1;
    }
    free(scores);
    return NULL;
}

static void prediction_from_many_threads(void **state)
{
    (void)state;
    enum { CALLERS = 300 };
    broad_data *data = make_data(300, 4, 3, 9);
    broad_options o = small_options(BROAD_PRESET_PAPER);
    broad_model *model = fit(data, &o);
    double *expected = malloc(300 * 3 * sizeof *expected);
    assert_ok(broad_predict_data(expected, model, data, THREADS(1)));
    pthread_t threads[CALLERS];
    static caller callers[CALLERS];
    for (size_t i = 0; i < CALLERS; i++) {
        callers[i] = (caller){model, data, expected, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, call_predict, &callers[i]), 0);
    }
    for (size_t i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(callers[i].wrong, 0);
    }
    free(expected);
    broad_model_free(model);
    broad_data_free(data);
}

static void bad_rows_are_refused(void **state)
{
    (void)state;
    broad_data *data = make_data(100, 3, 2, 1);
    broad_options o = small_options(BROAD_PRESET_PAPER);
    broad_model *model = fit(data, &o);
    double scores[2], nan_row[3] = {0, NAN, 0}, inf_row[3] = {0, 0, INFINITY}, row[3] = {0, 0, 0};
    assert_fails(broad_predict(scores, model, nan_row, 1, 0), BROAD_BAD_DATA, "without missing values");
    assert_fails(broad_predict(scores, model, inf_row, 1, 0), BROAD_BAD_DATA, "row 1");
    assert_fails(broad_predict(scores, model, row, 1, 2), BROAD_USAGE, "stride");
    assert_fails(broad_predict(NULL, model, row, 1, 0), BROAD_USAGE, "NULL");
    assert_ok(broad_predict(scores, model, row, 0, 0));
    broad_data *other = make_data(10, 4, 2, 1);
    assert_fails(broad_predict_data(scores, model, other, THREADS(1)), BROAD_BAD_DATA, "4 inputs");
    broad_data_free(other);
    broad_model_free(model);
    broad_data_free(data);
}

/* ---- reproducibility ------------------------------------------------------------------------------------------- */

static void same_bytes_for_any_number_of_threads(void **state)
{
    (void)state;
    for (int preset = BROAD_PRESET_AUTO; preset <= BROAD_PRESET_PAPER; preset++) {
        broad_data *data = make_data(3000, 5, 3, 4);
        broad_options o = small_options((broad_preset)preset);
        o.enhance_nodes = 40;
        void *first = NULL, *bytes;
        size_t first_count = 0, count;
        for (size_t threads = 1; threads <= 8; threads += threads == 3 ? 5 : 1) {
            o.threads = threads;
            broad_model *model = fit(data, &o);
            assert_ok(broad_model_to_memory(&bytes, &count, model, 0));
            broad_model_free(model);
            if (threads == 1) {
                first = bytes;
                first_count = count;
                continue;
            }
            assert_int_equal(count, first_count);
            assert_memory_equal(bytes, first, count);
            broad_free(bytes);
        }
        broad_free(first);
        broad_data_free(data);
    }
}

/* Supervision only matters where it refuses: a bound that every first draw meets gives BRLS, bit for bit. */
static void loose_schedule_is_brls(void **state)
{
    (void)state;
    broad_data *data = make_data(500, 4, 3, 6);
    broad_options o = small_options(BROAD_PRESET_PAPER);
    o.gamma_form = BROAD_GAMMA_CONSTANT;
    o.gamma[0] = 1.0 - 1e-12;
    broad_model *supervised = fit(data, &o);
    o.kind = BROAD_KIND_BRLS;
    o.supervise = BROAD_SUPERVISE_NONE;
    broad_model *plain = fit(data, &o);
    assert_int_equal(supervised->layer_count, plain->layer_count);
    for (size_t j = 0; j < plain->layer_count; j++)
        assert_memory_equal(supervised->layers[j].output, plain->layers[j].output,
                            plain->layers[j].width * plain->outputs * sizeof(double));
    o.seed++;
    broad_model *other = fit(data, &o);
    assert_true(memcmp(other->layers[0].output, plain->layers[0].output, 8) != 0);
    broad_model_free(supervised);
    broad_model_free(plain);
    broad_model_free(other);
    broad_data_free(data);
}

/* ---- the search ------------------------------------------------------------------------------------------------ */

static void unreachable_schedule_stalls(void **state)
{
    (void)state;
    broad_data *data = make_data(400, 3, 2, 8);
    broad_options o = small_options(BROAD_PRESET_PAPER);
    o.gamma_form = BROAD_GAMMA_CONSTANT;
    o.gamma[0] = 0.01;
    o.enhance_layers = 50;
    broad_model *model = fit(data, &o), *again = NULL;
    assert_int_equal(broad_model_outcome(model), BROAD_OUTCOME_STALLED);
    assert_true(strstr(broad_model_reason(model), "no draw") != NULL);
    assert_true(broad_model_layers(model) < 50);
    assert_chain(model);
    assert_verified(model, data);
    void *bytes;
    size_t count;
    assert_ok(broad_model_to_memory(&bytes, &count, model, 0));
    assert_ok(broad_model_from_memory(&again, bytes, count));
    double scores[2], expected[2];
    assert_ok(broad_predict(scores, again, broad_data_row(data, 7), 1, 0));
    assert_ok(broad_predict(expected, model, broad_data_row(data, 7), 1, 0));
    assert_memory_equal(scores, expected, sizeof scores);
    broad_free(bytes);
    broad_model_free(again);
    broad_model_free(model);
    broad_data_free(data);
}

/* Weights so small that every node is constant: layer 1 can pass only with feature nodes of another range. */
static void features_are_redrawn(void **state)
{
    (void)state;
    broad_data *data = make_data(400, 1, 0, 8);
    broad_options o = small_options(BROAD_PRESET_PAPER);
    o.range = 1e-13;
    o.range_steps_count = 3;
    o.range_steps[0] = 1, o.range_steps[1] = 10, o.range_steps[2] = 1e13;
    o.scale_target = BROAD_SCALE_STANDARD;
    o.tries = 2;
    o.gamma_form = BROAD_GAMMA_CONSTANT;
    o.gamma[0] = 0.5;
    o.enhance_layers = 1;
    broad_model *model = fit(data, &o);
    assert_int_equal(broad_model_layers(model), 1);
    for (size_t g = 0; g < model->group_count; g++) assert_true(model->groups[g].range == 1e13);
    /* All six draws of each of the first two feature ranges were refused. */
    assert_true(model->layers[0].certificate.tries > 12);
    assert_verified(model, data);
    broad_model_free(model);
    broad_data_free(data);
}

/* `best` keeps the smallest tested value of the range in which `first` finds its draw. */
static void best_is_the_best_of_its_range(void **state)
{
    (void)state;
    broad_data *data = make_data(400, 3, 2, 8);
    broad_options o = small_options(BROAD_PRESET_PAPER);
    o.enhance_layers = 1;
    broad_model *first = fit(data, &o);
    o.select = BROAD_SELECT_BEST;
    broad_model *best = fit(data, &o);
    const broad__certificate *a = &first->layers[0].certificate, *b = &best->layers[0].certificate;
    assert_int_equal(a->step, b->step);
    assert_true(b->tested <= a->tested && b->tries == o.tries);
    assert_verified(best, data);
    assert_true(b->draw < o.tries);
    broad_model_free(first);
    broad_model_free(best);
    broad_data_free(data);
}

/* A bound that the first draw misses by one part in a billion: the estimate from the sums lets it through, the residual
 * itself does not. */
static void a_near_miss_is_refused(void **state)
{
    (void)state;
    broad_data *data = make_data(400, 3, 2, 8);
    broad_options o = small_options(BROAD_PRESET_PAPER);
    o.enhance_layers = 1;
    broad_model *first = fit(data, &o);
    double ratio = first->layers[0].certificate.ratio;
    o.gamma_form = BROAD_GAMMA_CONSTANT;
    o.gamma[0] = 2 * ratio * (1 - 1e-9) - 1; /* bound of layer 1 = (1 + gamma) / 2 */
    assert_true(o.gamma[0] > 0);
    broad_model *other = fit(data, &o);
    assert_int_equal(broad_model_layers(other), 1);
    assert_true(other->layers[0].certificate.tries > 1);
    assert_chain(other);
    broad_model_free(first);
    broad_model_free(other);
    broad_data_free(data);
}

static void operator_test(void **state)
{
    (void)state;
    broad_data *tall = make_data(400, 3, 2, 8), *small = make_data(50, 3, 2, 8);
    broad_options o = small_options(BROAD_PRESET_PAPER);
    o.supervise = BROAD_SUPERVISE_OPERATOR;
    o.enhance_nodes = 100;
    broad_model *model = NULL;
    clock_t began = clock();
    assert_fails(broad_fit(&model, NULL, tall, &o), BROAD_USAGE, "residual");
    assert_null(model);
    assert_true((double)(clock() - began) / CLOCKS_PER_SEC < 1);
    model = fit(small, &o);
    assert_true(broad_model_layers(model) >= 1);
    assert_chain(model);
    assert_verified(model, small);
    broad_model_free(model);
    /* Exactly as many nodes as rows, of a kind whose smallest singular value is well above rounding. */
    o.activation = o.feature_activation = BROAD_ACTIVATION_SINE, o.range = 20;
    o.features_auto = 0, o.feature_groups = 2, o.feature_nodes = 5, o.enhance_nodes = 40, o.enhance_layers = 1;
    o.lambda = 1e-6;
    model = fit(small, &o);
    assert_int_equal(broad_model_layers(model), 1);
    assert_verified(model, small);
    broad_model_free(model);
    o.enhance_layers = 5;
    /* Layer 1 is wide enough, the others are not: refused before the first is made. */
    o.features_auto = 0, o.feature_groups = 10, o.feature_nodes = 10, o.enhance_nodes = 20;
    assert_fails(broad_fit(&model, NULL, small, &o), BROAD_USAGE, "20 nodes");
    broad_data_free(tall);
    broad_data_free(small);
}

typedef struct watcher {
    size_t calls, stop_at;
} watcher;

static int watch(const broad_progress *progress, void *context)
{
    watcher *self = context;
    assert_true(progress->done <= progress->total);
    return ++self->calls == self->stop_at;
}

static void the_caller_can_stop(void **state)
{
    (void)state;
    broad_data *data = make_data(300, 3, 2, 8);
    broad_options o = small_options(BROAD_PRESET_PAPER);
    o.enhance_layers = 20;
    o.progress = watch;
    for (size_t stop_at = 2; stop_at < 15; stop_at += 4) {
        watcher self = {0, stop_at};
        o.progress_context = &self;
        broad_model *model = fit(data, &o);
        assert_int_equal(broad_model_outcome(model), BROAD_OUTCOME_STOPPED);
        assert_int_equal(self.calls, stop_at);
        assert_true(broad_model_layers(model) < 20);
        assert_verified(model, data);
        broad_model_free(model);
    }
    broad_data_free(data);
}

/* ---- the certificate ------------------------------------------------------------------------------------------- */

static void assert_rejected(const broad_model *model, const broad_data *data, const char *what)
{
    broad_verdict verdict = {.size = sizeof verdict};
    assert_ok(broad_verify(&verdict, model, data, THREADS(1)));
    if (verdict.holds) fail_msg("the certificate still holds after a change of %s", what);
    assert_true(strlen(verdict.reason) > 10);
}

/* Each of `count` weights in turn, by one unit in the last place and by a tenth. */
static size_t reject_each(broad_model *model, const broad_data *data, double *weights, size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++) {
        double kept = weights[i];
        weights[i] = nextafter(kept, INFINITY);
        assert_rejected(model, data, what);
        weights[i] = kept * 1.1 + 1e-3;
        assert_rejected(model, data, what);
        weights[i] = kept;
    }
    return 2 * count;
}

static void any_changed_weight_is_found(void **state)
{
    (void)state;
    broad_data *data = make_data(60, 2, 2, 8);
    broad_options o = small_options(BROAD_PRESET_PAPER);
    o.enhance_layers = 3;
    broad_model *model = fit(data, &o);
    assert_verified(model, data);
    size_t changes = 0;
    for (size_t g = 0; g < model->group_count; g++) {
        broad__group *group = &model->groups[g];
        changes += reject_each(model, data, group->weight, model->inputs * group->nodes, "a feature weight");
        changes += reject_each(model, data, group->bias, group->nodes, "a feature bias");
    }
    for (size_t j = 0; j < model->layer_count; j++) {
        broad__layer *layer = &model->layers[j];
        changes += reject_each(model, data, layer->weight, layer->inputs * layer->nodes, "an enhancement weight");
        changes += reject_each(model, data, layer->bias, layer->nodes, "an enhancement bias");
        changes += reject_each(model, data, layer->output, layer->width * model->outputs, "an output weight");
    }
    assert_verified(model, data);
    print_message("%zu changes found\n", changes);
    broad_model_free(model);
    broad_data_free(data);
}

/* Even if the hash in the record is forged along with the weight, the ridge problem gives it away. */
static void forged_weights_are_found(void **state)
{
    (void)state;
    broad_data *data = make_data(60, 2, 2, 8);
    broad_options o = small_options(BROAD_PRESET_PAPER);
    o.enhance_layers = 3;
    broad_model *model = fit(data, &o);
    for (size_t j = 0; j < model->layer_count; j++) {
        broad__layer *layer = &model->layers[j];
        size_t count = layer->width * model->outputs;
        char kept_hash[BROAD__HASH_TEXT];
        memcpy(kept_hash, layer->certificate.weights, sizeof kept_hash);
        for (size_t i = 0; i < count; i++) {
            double kept = layer->output[i];
            layer->output[i] = kept + 1e-4;
            broad__hash_text(layer->certificate.weights, layer->output, count * sizeof(double));
            assert_rejected(model, data, "a weight and its hash");
            layer->output[i] = kept;
        }
        memcpy(layer->certificate.weights, kept_hash, sizeof kept_hash);
    }
    assert_verified(model, data);
    broad_model_free(model);
    broad_data_free(data);
}

static void forged_records_are_found(void **state)
{
    (void)state;
    for (int test = BROAD_SUPERVISE_RESIDUAL; test <= BROAD_SUPERVISE_LOO; test++) {
        broad_data *data = make_data(300, 2, 2, 8);
        broad_options o = small_options(BROAD_PRESET_PAPER);
        o.supervise = (broad_supervise)test;
        o.enhance_layers = 2;
        broad_model *model = fit(data, &o);
        assert_true(model->layer_count >= 1);
        broad__certificate *c = &model->layers[0].certificate, kept = *c;
        double *fields[] = {&c->gamma, &c->mu, &c->bound, &c->norm_before, &c->norm_after, &c->ratio, &c->tested};
        for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
            *fields[i] *= 0.999;
            assert_rejected(model, data, "a number of the record");
            *c = kept;
        }
        /* A consistent lie: norm, ratio and tested value together. */
        c->norm_after *= 0.99;
        c->ratio = c->norm_after / c->norm_before;
        if (test == BROAD_SUPERVISE_RESIDUAL) c->tested = c->ratio;
        assert_rejected(model, data, "the norm and all that follows from it");
        *c = kept;
        c->relaxed = 1;
        assert_rejected(model, data, "the number of relaxations");
        *c = kept;
        model->first_norm *= 1.001;
        assert_rejected(model, data, "the first norm");
        model->first_norm /= 1.001;
        model->input_factor[0] *= 1.001;
        assert_rejected(model, data, "the scaling");
        broad_model_free(model);
        broad_data_free(data);
    }
}

static void other_data_is_found(void **state)
{
    (void)state;
    broad_data *data = make_data(300, 2, 2, 8), *other = make_data(300, 2, 2, 9), *fewer = make_data(299, 2, 2, 8);
    broad_data *wider = make_data(300, 3, 2, 8), *values = make_data(300, 2, 0, 8);
    broad_options o = small_options(BROAD_PRESET_PAPER);
    broad_model *model = fit(data, &o);
    broad_verdict verdict = {.size = sizeof verdict};
    assert_ok(broad_verify(&verdict, model, other, THREADS(1)));
    assert_false(verdict.holds);
    assert_ok(broad_verify(&verdict, model, fewer, THREADS(1)));
    assert_true(!verdict.holds && strstr(verdict.reason, "299 rows") != NULL);
    assert_fails(broad_verify(&verdict, model, wider, THREADS(1)), BROAD_BAD_DATA, "3 inputs");
    assert_fails(broad_verify(&verdict, model, values, THREADS(1)), BROAD_BAD_DATA, "targets");
    broad_model_free(model);
    broad_data_free(data);
    broad_data_free(other);
    broad_data_free(fewer);
    broad_data_free(wider);
    broad_data_free(values);
}

/* ---- edges ----------------------------------------------------------------------------------------------------- */

static broad_data *regression(size_t rows, size_t inputs, size_t outputs, const double *x, const double *values)
{
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = rows, arrays.inputs = inputs, arrays.outputs = outputs;
    arrays.x = x, arrays.values = values;
    broad_data *data = NULL;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    return data;
}

static void edges(void **state)
{
    (void)state;
    double x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, same[4] = {3, 3, 3, 3}, zero[4] = {0}, out[8];
    for (int preset = BROAD_PRESET_AUTO; preset <= BROAD_PRESET_PAPER; preset++) {
        broad_options o = small_options((broad_preset)preset);
        /* One row, more outputs than rows. */
        broad_data *data = regression(1, 2, 4, x, x + 4);
        broad_model *model = fit(data, &o);
        assert_ok(broad_predict_data(out, model, data, THREADS(1)));
        for (size_t i = 0; i < 4; i++) assert_true(fabs(out[i] - x[4 + i]) < 1e-3);
        assert_verified(model, data);
        broad_model_free(model), broad_data_free(data);
        /* Constant targets, targets of zero, constant inputs. */
        data = regression(4, 2, 1, x, same);
        model = fit(data, &o);
        assert_ok(broad_predict_data(out, model, data, THREADS(1)));
        for (size_t i = 0; i < 4; i++) assert_true(fabs(out[i] - 3) < 1e-3);
        assert_verified(model, data);
        broad_model_free(model), broad_data_free(data);
        data = regression(4, 2, 1, x, zero);
        model = fit(data, &o);
        assert_int_equal(broad_model_outcome(model), BROAD_OUTCOME_TARGET_REACHED);
        assert_verified(model, data);
        broad_model_free(model), broad_data_free(data);
        data = regression(4, 1, 1, same, x);
        model = fit(data, &o);
        assert_chain(model);
        assert_verified(model, data);
        broad_model_free(model), broad_data_free(data);
    }
    double huge[4] = {1e200, -1e200, 1e250, 3};
    broad_options o = small_options(BROAD_PRESET_PAPER);
    broad_data *data = regression(4, 1, 1, huge, x);
    broad_model *model = fit(data, &o);
    assert_chain(model);
    broad_model_free(model);
    o.scale = BROAD_SCALE_NONE;
    o.activation = o.feature_activation = BROAD_ACTIVATION_IDENTITY;
    assert_fails(broad_fit(&model, NULL, data, &o), BROAD_BAD_DATA, "scale");
    broad_data_free(data);
}

static void wrong_options(void **state)
{
    (void)state;
    broad_data *data = make_data(60, 2, 2, 8), *values = make_data(60, 2, 0, 8);
    broad_model *model = NULL;
    broad_options good = small_options(BROAD_PRESET_PAPER), o = good;
    o.size = 3;
    assert_fails(broad_fit(&model, NULL, data, &o), BROAD_USAGE, "broad_options_init");
    o = good, o.lambda = -1;
    assert_fails(broad_fit(&model, NULL, data, &o), BROAD_USAGE, "lambda");
    o = good, o.lambda = NAN;
    assert_fails(broad_fit(&model, NULL, data, &o), BROAD_USAGE, "lambda");
    o = good, o.enhance_nodes = 0;
    assert_fails(broad_fit(&model, NULL, data, &o), BROAD_USAGE, "enhance");
    o = good, o.features_auto = 0, o.feature_groups = SIZE_MAX;
    assert_fails(broad_fit(&model, NULL, data, &o), BROAD_USAGE, "features");
    o = good, o.activation = (broad_activation)77;
    assert_fails(broad_fit(&model, NULL, data, &o), BROAD_USAGE, "activation");
    o = good, o.gamma[0] = 3;
    assert_fails(broad_fit(&model, NULL, data, &o), BROAD_USAGE, "gamma");
    o = good, o.range_steps_count = 0;
    assert_fails(broad_fit(&model, NULL, data, &o), BROAD_USAGE, "range-steps");
    o = good, o.kind = BROAD_KIND_BRLS;
    assert_fails(
        broad_fit(&model, NULL, data, &o), BROAD_USAGE,
        "option kind brls does not go with option supervise residual; give option supervise none or gcv, or choose "
        "another kind");
    o = good, o.weights = BROAD_WEIGHTS_WINDOW;
    assert_fails(broad_fit(&model, NULL, data, &o), BROAD_USAGE,
                 "option kind bscrls does not go with option weights window; give option weights chain or joint");
    o = good, o.kind = BROAD_KIND_BLS, o.supervise = BROAD_SUPERVISE_NONE;
    assert_fails(broad_fit(&model, NULL, data, &o), BROAD_USAGE,
                 "option kind bls does not go with option weights chain");
    o = good, o.kind = BROAD_KIND_SCN;
    assert_fails(broad_fit(&model, NULL, data, &o), BROAD_USAGE, "give option supervise output");
    o.supervise = BROAD_SUPERVISE_OUTPUT, o.feature_weights = BROAD_FEATURE_WEIGHTS_AUTOENCODER;
    assert_fails(broad_fit(&model, NULL, data, &o), BROAD_USAGE, "this kind has no feature nodes");
    o = good, o.positive = "no such class";
    assert_fails(broad_fit(&model, NULL, data, &o), BROAD_USAGE, "is not a class");
    assert_fails(broad_fit(&model, NULL, values, &o), BROAD_USAGE, "positive class");
    assert_fails(broad_fit(&model, NULL, NULL, &good), BROAD_USAGE, "NULL");
    assert_null(model);
    broad_data_free(data);
    broad_data_free(values);
}

/* ---- measures --------------------------------------------------------------------------------------------------- */

/* The residuals of training tell what prediction gives: counts exactly, numbers up to rounding. Other rows are not known. */
static void check_measures(const broad_data *data, const broad_options *o, int known)
{
    broad_trainer *trainer = NULL;
    broad_metrics found, expected;
    broad_metrics_init(&found), broad_metrics_init(&expected);
    assert_ok(broad_trainer_open(&trainer, data, o));
    assert_ok(broad_trainer_enhance(trainer, o->enhance_nodes, o->enhance_layers));
    assert_ok(broad_trainer_measure(&found, trainer, data));
    assert_ok(broad_eval(&expected, broad_trainer_model(trainer), data, THREADS(1)));
    assert_int_equal(found.rows, known ? expected.rows : 0);
    if (known) {
        assert_true(found.accuracy == expected.accuracy && found.f1 == expected.f1);
        assert_true(fabs(found.rmse - expected.rmse) <= 1e-9 * expected.rmse);
        assert_true(fabs(found.r2 - expected.r2) <= 1e-9);
    }
    broad_data *other = NULL;
    assert_ok(broad_data_pick(&other, data, (size_t[]){0, 1, 2, 3, 4}, 5));
    broad_metrics_clear(&found);
    assert_ok(broad_trainer_measure(&found, trainer, other));
    assert_int_equal(found.rows, 0);
    broad_metrics_clear(&expected);
    broad_data_free(other);
    broad_trainer_close(NULL, trainer);
}

static void measures_without_prediction(void **state)
{
    (void)state;
    for (size_t classes = 0; classes <= 3; classes += 3) {
        broad_data *data = make_data(700, 4, classes, 8);
        broad_options o = small_options(BROAD_PRESET_PAPER);
        check_measures(data, &o, 1);
        if (classes) o.class_weight = "balanced";
        o.scale_target = BROAD_SCALE_STANDARD;
        check_measures(data, &o, 1);
        o.weights = BROAD_WEIGHTS_JOINT;
        o.lambda = 1e-3;
        check_measures(data, &o, 1);
        o.class_weight = NULL;
        check_measures(data, &o, 1);
        o.lambda_auto = 1;
        check_measures(data, &o, 1);
        o.lambda_auto = 0, o.kind = BROAD_KIND_RVFL, o.supervise = BROAD_SUPERVISE_NONE;
        check_measures(data, &o, 0);
        broad_data_free(data);
    }
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static int everything(const broad_data *data, const broad_options *o)
{
    broad_model *model = NULL;
    double *scores = malloc(broad_data_rows(data) * 3 * sizeof *scores);
    broad_metrics metrics = {.size = sizeof metrics};
    broad_verdict verdict = {.size = sizeof verdict};
    int status = broad_fit(&model, NULL, data, o);
    if (status == BROAD_OK) status = broad_predict_data(scores, model, data, THREADS(2));
    if (status == BROAD_OK) status = broad_eval(&metrics, model, data, THREADS(1));
    if (status == BROAD_OK) status = broad_verify(&verdict, model, data, THREADS(1));
    if (status == BROAD_OK) assert_true(verdict.holds);
    broad_metrics_clear(&metrics);
    broad_model_free(model);
    free(scores);
    return status;
}

/* How far it is from the allocation that failed last to the next one that shall: the first of a run and its last are failed
 * one by one; the trials of the pilot, which take thousands between them, repeat themselves. */
static size_t step_from(size_t n, size_t total)
{
    const size_t ends = HELPER_SANITIZED ? 25 : 200, stride = HELPER_SANITIZED ? 199 : 31;
    return total < 200 || n <= ends || n + ends > total ? 1 : stride;
}

static void every_allocation_failed_in_turn(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++)
        for (int test = BROAD_SUPERVISE_RESIDUAL; test <= BROAD_SUPERVISE_LOO; test++) {
            broad_data *data = make_data(wide ? 8 : 200, 3, wide ? 2 : 3, 2);
            broad_options o = small_options(test == BROAD_SUPERVISE_LOO ? BROAD_PRESET_AUTO : BROAD_PRESET_PAPER);
            o.enhance_layers = 2;
            o.threads = 2;
            o.effort = BROAD_EFFORT_FAST;
            failing self = {.lock = PTHREAD_MUTEX_INITIALIZER};
            broad_allocator allocator = {failing_allocate, failing_release, &self};
            broad_set_allocator(&allocator);
            assert_ok(everything(data, &o));
            size_t total = self.calls, failures = 0;
            assert_int_equal(self.live, 0);
            assert_true(total > 40);
            for (size_t n = 1; n <= total; n += step_from(n, total)) {
                self.calls = 0;
                self.fail_at = n;
                int status = everything(data, &o);
                /* Which thread makes which trial is open, and so is whether each of them ever needs its memory. */
                if (status == BROAD_OK && self.calls < n) continue;
                if (status != BROAD_NO_MEMORY) fail_msg("allocation %zu of %zu failed: status %d", n, total, status);
                assert_true(strstr(broad_error_message(), "memory") != NULL);
                assert_int_equal(self.live, 0);
                failures++;
            }
            broad_set_allocator(NULL);
            print_message("%zu of %zu allocations, each failed once\n", failures, total);
            broad_data_free(data);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_keeps_its_promises),
        cmocka_unit_test(prediction_by_the_formulas),
        cmocka_unit_test(prediction_from_many_threads),
        cmocka_unit_test(bad_rows_are_refused),
        cmocka_unit_test(same_bytes_for_any_number_of_threads),
        cmocka_unit_test(loose_schedule_is_brls),
        cmocka_unit_test(unreachable_schedule_stalls),
        cmocka_unit_test(features_are_redrawn),
        cmocka_unit_test(best_is_the_best_of_its_range),
        cmocka_unit_test(a_near_miss_is_refused),
        cmocka_unit_test(operator_test),
        cmocka_unit_test(the_caller_can_stop),
        cmocka_unit_test(any_changed_weight_is_found),
        cmocka_unit_test(forged_weights_are_found),
        cmocka_unit_test(forged_records_are_found),
        cmocka_unit_test(other_data_is_found),
        cmocka_unit_test(edges),
        cmocka_unit_test(wrong_options),
        cmocka_unit_test(measures_without_prediction),
        cmocka_unit_test(every_allocation_failed_in_turn),
    };
    return cmocka_run_group_tests_name("train", tests, NULL, NULL);
}
