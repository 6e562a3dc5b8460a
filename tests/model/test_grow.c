/* Growing: increments against training at once, against retraining, and against their own certificate. */
#include "failing.h"
#include "small_runs.h"

#include "base/memory.h"
#include "data/table.h"
#include "model/model.h"

/* ---- runs ------------------------------------------------------------------------------------------------------ */

static broad_options options_of(broad_kind kind, broad_preset preset)
{
    broad_options o;
    broad_options_init(&o);
    assert_ok(broad_options_preset(&o, preset));
    assert_ok(broad_options_set(&o, "kind", kind == BROAD_KIND_BRLS ? "brls" : "bscrls"));
    o.weights = BROAD_WEIGHTS_CHAIN;
    o.feature_weights = BROAD_FEATURE_WEIGHTS_RANDOM;
    o.features_auto = 0;
    o.feature_groups = 2, o.feature_nodes = 5;
    o.enhance_nodes = 8;
    o.threads = 1;
    o.seed = 3;
    return o;
}

static void assert_same(model_bytes a, model_bytes b)
{
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.at, b.at, a.count);
}

static void assert_verified(const broad_model *model, const broad_data *data)
{
    broad_verdict verdict = {.size = sizeof verdict};
    assert_ok(broad_verify(&verdict, model, data, THREADS(2)));
    if (!verdict.holds) fail_msg("the certificate does not hold: %s", verdict.reason);
    assert_int_equal(verdict.layers, broad_model_layers(model));
}

/* ---- identity -------------------------------------------------------------------------------------------------- */

static void grown_equals_made_at_once(void **state)
{
    (void)state;
    const size_t more = HELPER_SANITIZED ? 2 : 8;
    for (int kind = BROAD_KIND_BSCRLS; kind <= BROAD_KIND_BRLS; kind++)
        for (int preset = BROAD_PRESET_AUTO; preset <= BROAD_PRESET_PAPER; preset++)
            for (size_t threads = 1; threads <= 2; threads++) {
                broad_data *data = small_data(0, 1111, 4, preset ? 3 : 0);
                broad_options o = options_of((broad_kind)kind, (broad_preset)preset);
                o.threads = threads;
                o.enhance_layers = 10 + 5 * more;
                broad_model *whole = NULL, *grown = NULL;
                assert_ok(broad_fit(&whole, NULL, data, &o));
                broad_trainer *t = NULL;
                assert_ok(broad_trainer_open(&t, data, &o));
                assert_ok(broad_trainer_enhance(t, 8, 10));
                for (int i = 0; i < 5; i++) {
                    t = small_pass_on(t, data, &o);
                    assert_ok(broad_trainer_enhance(t, 8, more));
                }
                broad_trainer_close(&grown, t);
                /* A stalled run stays stalled. */
                model_bytes a = model_bytes_of(whole), b = model_bytes_of(grown);
                assert_same(a, b);
                broad_free(a.at), broad_free(b.at);
                broad_model_free(whole), broad_model_free(grown);
                broad_data_free(data);
            }
}

/* Every kind of increment, once in one go and once with a new trainer in between. */
static void resumed_equals_never_stopped(void **state)
{
    (void)state;
    for (int kind = BROAD_KIND_BSCRLS; kind <= BROAD_KIND_BRLS; kind++) {
        broad_data *old = small_data(0, 700, 3, 2), *more = small_data(700, 333, 3, 2), *all = NULL;
        assert_ok(broad_data_append(&all, old, more));
        broad_options o = options_of((broad_kind)kind, BROAD_PRESET_PAPER);
        broad_model *models[2];
        for (int stop = 0; stop < 2; stop++) {
            broad_trainer *t = NULL;
            assert_ok(broad_trainer_open(&t, old, &o));
            assert_ok(broad_trainer_enhance(t, 8, 3));
            if (stop) t = small_pass_on(t, old, &o);
            assert_ok(broad_trainer_features(t, 2, 4, 6));
            if (stop) t = small_pass_on(t, old, &o);
            assert_ok(broad_trainer_learn(t, more, 7, 2, 0));
            if (stop) t = small_pass_on(t, all, &o);
            assert_ok(broad_trainer_features(t, 1, 3, 5));
            if (stop) t = small_pass_on(t, all, &o);
            assert_ok(broad_trainer_enhance(t, 4, 2));
            broad_trainer_close(&models[stop], t);
            assert_int_equal(broad_model_layers(models[stop]), 3 + 2 + 2 + 1 + 2);
            assert_verified(models[stop], all);
        }
        model_bytes a = model_bytes_of(models[0]), b = model_bytes_of(models[1]);
        assert_same(a, b);
        static const char *const origins[] = {"initial", "enhance", "enhance",  "features", "features",
                                              "data",    "enhance", "features", "enhance",  "enhance"};
        for (size_t j = 0; j < 10; j++) {
            broad_layer layer = {.size = sizeof layer};
            assert_ok(broad_model_layer(&layer, models[0], j));
            assert_string_equal(broad_enum_name(BROAD_ENUM_ORIGIN, (int)layer.origin), origins[j]);
            assert_int_equal(layer.rows, j < 5 ? 700 : 1033);
        }
        broad_free(a.at), broad_free(b.at);
        broad_model_free(models[0]), broad_model_free(models[1]);
        broad_data_free(old), broad_data_free(more), broad_data_free(all);
    }
}

/* ---- the increments by their formulas --------------------------------------------------------------------------- */

/* Residual and layer inputs by plain loops from the model's own weights; then each layer's ridge equations on its rows. */
static void increments_by_the_formulas(void **state)
{
    (void)state;
    broad_data *old = small_data(0, 90, 2, 2), *more = small_data(90, 40, 2, 2), *all = NULL;
    assert_ok(broad_data_append(&all, old, more));
    broad_options o = options_of(BROAD_KIND_BSCRLS, BROAD_PRESET_PAPER);
    o.lambda = 1e-2;
    broad_trainer *t = NULL;
    broad_model *m = NULL;
    assert_ok(broad_trainer_open(&t, old, &o));
    assert_ok(broad_trainer_enhance(t, 8, 2));
    assert_ok(broad_trainer_features(t, 1, 3, 5));
    assert_ok(broad_trainer_learn(t, more, 6, 1, 0));
    broad_trainer_close(&m, t);
    enum { ROWS = 130 };
    double z[ROWS][16], e[ROWS][2];
    for (size_t i = 0; i < ROWS; i++) {
        size_t at = 0;
        for (size_t g = 0; g < m->group_count; g++)
            for (size_t node = 0; node < m->groups[g].nodes; node++) {
                double sum = m->groups[g].bias[node];
                for (size_t j = 0; j < 2; j++)
                    sum += (broad_data_row(all, i)[j] - m->input_shift[j]) * m->input_factor[j] *
                           m->groups[g].weight[j * m->groups[g].nodes + node];
                z[i][at++] = 1 / (1 + exp(-sum));
            }
        for (size_t c = 0; c < 2; c++) e[i][c] = broad_data_class(all, i) == c;
    }
    for (size_t j = 0; j < m->layer_count; j++) {
        const broad__layer *layer = &m->layers[j];
        size_t prefix = layer->width - layer->nodes, first = broad__model_feature_nodes(m, layer->first_group);
        double k[ROWS][32], right[32][2] = {{0}};
        for (size_t i = 0; i < ROWS; i++) {
            for (size_t a = 0; a < prefix; a++) k[i][a] = z[i][first + a];
            for (size_t node = 0; node < layer->nodes; node++) {
                double sum = layer->bias[node];
                for (size_t a = 0; a < layer->inputs; a++) sum += z[i][a] * layer->weight[a * layer->nodes + node];
                k[i][prefix + node] = 1 / (1 + exp(-sum));
            }
            for (size_t c = 0; c < 2; c++)
                for (size_t a = 0; a < layer->width; a++) e[i][c] -= k[i][a] * layer->output[a * 2 + c];
        }
        /* K'(E - KW) = lambda W on the layer's rows */
        for (size_t i = 0; i < layer->certificate.rows; i++)
            for (size_t a = 0; a < layer->width; a++)
                for (size_t c = 0; c < 2; c++) right[a][c] += k[i][a] * e[i][c];
        for (size_t a = 0; a < layer->width; a++)
            for (size_t c = 0; c < 2; c++) assert_true(fabs(right[a][c] - 1e-2 * layer->output[a * 2 + c]) < 1e-11);
        double square = 0;
        for (size_t i = 0; i < layer->certificate.rows; i++) square += e[i][0] * e[i][0] + e[i][1] * e[i][1];
        assert_true(relative_difference(sqrt(square), layer->certificate.norm_after, 0) < 1e-11);
    }
    assert_int_equal(m->layers[2].groups, 1);
    assert_int_equal(m->layers[2].width, 8);
    assert_int_equal(m->layers[3].certificate.rows, 130);
    broad_model_free(m);
    broad_data_free(old), broad_data_free(more), broad_data_free(all);
}

/* ---- further classes and forgetful learning ---------------------------------------------------------------------- */

static void new_classes(void **state)
{
    (void)state;
    broad_data *old = small_data(0, 300, 3, 2), *known = small_data(300, 100, 3, 2), *more = small_data(0, 200, 3, 4),
               *all = NULL;
    broad_options o = options_of(BROAD_KIND_BSCRLS, BROAD_PRESET_PAPER);
    broad_trainer *t = NULL;
    broad_model *m = NULL;
    assert_ok(broad_trainer_open(&t, old, &o));
    assert_ok(broad_trainer_enhance(t, 8, 3));
    double before[2], after[4];
    assert_ok(broad_predict(before, broad_trainer_model(t), broad_data_row(old, 5), 1, 0));
    assert_ok(broad_trainer_learn(t, more, 20, 3, 0));
    const broad_model *now = broad_trainer_model(t);
    assert_int_equal(broad_model_outputs(now), 4);
    assert_string_equal(broad_model_output_name(now, 3), "d");
    for (size_t j = 0; j < 3; j++)
        for (size_t a = 0; a < now->layers[j].width; a++)
            for (size_t c = 2; c < 4; c++) assert_true(now->layers[j].output[a * 4 + c] == 0);
    assert_ok(broad_predict(after, now, broad_data_row(more, 3), 1, 0));
    assert_true(fabs(after[2]) + fabs(after[3]) > 0);
    /* It works from then on: rows of old and new classes are learned further. */
    assert_ok(broad_trainer_learn(t, known, 5, 1, 0));
    broad_trainer_close(&m, t);
    broad_data *joined = NULL;
    assert_ok(broad_data_append(&joined, old, more));
    assert_ok(broad_data_append(&all, joined, known));
    assert_verified(m, all);
    model_bytes b = model_bytes_of(m);
    broad_model *again = NULL;
    assert_ok(broad_model_from_memory(&again, b.at, b.count));
    assert_verified(again, all);
    assert_ok(broad_trainer_resume(&t, again, all, &o, 0));
    assert_ok(broad_trainer_enhance(t, 5, 1));
    broad_trainer_close(NULL, t);
    broad_free(b.at);
    broad_model_free(m), broad_model_free(again);
    broad_data_free(old), broad_data_free(known), broad_data_free(more), broad_data_free(joined), broad_data_free(all);
}

static void forgetful_learning(void **state)
{
    (void)state;
    broad_data *old = small_data(0, 300, 3, 2), *more = small_data(300, 150, 3, 2), *all = NULL;
    assert_ok(broad_data_append(&all, old, more));
    broad_options o = options_of(BROAD_KIND_BSCRLS, BROAD_PRESET_PAPER);
    o.enhance_layers = 3;
    broad_model *m = NULL, *grown = NULL;
    assert_ok(broad_fit(&m, NULL, old, &o));
    broad_trainer *t = NULL;
    assert_ok(broad_trainer_resume(&t, m, NULL, &o, 0));
    assert_fails(broad_trainer_enhance(t, 5, 1), BROAD_USAGE, "forgetful");
    assert_fails(broad_trainer_learn(t, more, 5, 1, 0), BROAD_USAGE, "forgetful");
    assert_ok(broad_trainer_learn(t, more, 5, 2, 1));
    assert_fails(broad_trainer_enhance(t, 5, 1), BROAD_USAGE, "forgetful");
    broad_trainer_close(&grown, t);
    broad_layer layer = {.size = sizeof layer};
    assert_ok(broad_model_layer(&layer, grown, 4));
    assert_string_equal(broad_enum_name(BROAD_ENUM_ORIGIN, (int)layer.origin), "forgetful");
    assert_int_equal(layer.first_row, 300);
    assert_int_equal(layer.rows, 150);
    assert_int_equal(broad_model_rows(grown), 450);
    assert_verified(grown, all);
    broad_model_free(m), broad_model_free(grown);
    broad_data_free(old), broad_data_free(more), broad_data_free(all);
}

/* ---- other data ------------------------------------------------------------------------------------------------ */

static void other_data_is_refused(void **state)
{
    (void)state;
    broad_data *data = small_data(0, 300, 3, 2), *other = small_data(1, 300, 3, 2), *fewer = small_data(0, 299, 3, 2);
    broad_data *wider = small_data(0, 300, 4, 2), *values = small_data(0, 300, 3, 0),
               *classes = small_data(0, 300, 3, 3);
    broad_options o = options_of(BROAD_KIND_BSCRLS, BROAD_PRESET_PAPER);
    o.enhance_layers = 2;
    broad_model *m = NULL, *forced = NULL;
    broad_trainer *t = NULL;
    assert_ok(broad_fit(&m, NULL, data, &o));
    model_bytes before = model_bytes_of(m);
    assert_fails(broad_trainer_resume(&t, m, other, &o, 0), BROAD_BAD_DATA, "other values");
    assert_fails(broad_trainer_resume(&t, m, fewer, &o, 0), BROAD_BAD_DATA, "trained on 300 rows, and these are 299");
    assert_fails(broad_trainer_resume(&t, m, wider, &o, 0), BROAD_BAD_DATA, "4 inputs");
    assert_fails(broad_trainer_resume(&t, m, values, &o, 1), BROAD_BAD_DATA, "regression");
    assert_null(t);
    assert_ok(broad_trainer_resume(&t, m, fewer, &o, 1));
    assert_ok(broad_trainer_enhance(t, 4, 1));
    assert_fails(broad_trainer_validate(t, classes), BROAD_BAD_DATA, "does not know");
    assert_fails(broad_trainer_learn(t, wider, 4, 1, 0), BROAD_BAD_DATA, "4 inputs");
    assert_fails(broad_trainer_learn(t, fewer, 4, 1, 0), BROAD_BAD_DATA, "already");
    assert_fails(broad_trainer_enhance(t, 0, 1), BROAD_USAGE, "at least one node");
    assert_fails(broad_trainer_features(t, 1, 0, 3), BROAD_USAGE, "feature node");
    broad_trainer_close(&forced, t);
    assert_int_equal(broad_model_rows(forced), 299);
    broad_layer layer = {.size = sizeof layer};
    assert_ok(broad_model_layer(&layer, forced, 2));
    assert_int_equal(layer.rows, 299);
    model_bytes after = model_bytes_of(m), saved = model_bytes_of(forced);
    assert_same(before, after);
    broad_free(before.at), broad_free(after.at), broad_free(saved.at);
    m->seed_map = 2;
    assert_fails(broad_trainer_resume(&t, m, data, &o, 0), BROAD_BAD_MODEL, "seed map 2");
    broad_model_free(m), broad_model_free(forced);
    broad_data_free(data), broad_data_free(other), broad_data_free(fewer);
    broad_data_free(wider), broad_data_free(values), broad_data_free(classes);
}

/* ---- rules for stopping ------------------------------------------------------------------------------------------ */

static broad_model *fit_with(const broad_data *data, const broad_options *o, const broad_data *validation)
{
    broad_trainer *t = NULL;
    broad_model *m = NULL;
    assert_ok(broad_trainer_open(&t, data, o));
    if (validation) assert_ok(broad_trainer_validate(t, validation));
    assert_ok(broad_trainer_enhance(t, o->enhance_nodes, o->enhance_layers));
    broad_trainer_close(&m, t);
    return m;
}

static double norm_after(const broad_model *m, size_t layer)
{
    broad_layer l = {.size = sizeof l};
    assert_ok(broad_model_layer(&l, m, layer));
    return l.norm_after;
}

/* Longer than a second, as soon as there is a layer. */
static int slow_down(const broad_progress *progress, void *context)
{
    (void)context;
    if (progress->done) usleep(1100000);
    return 0;
}

static void rules_for_stopping(void **state)
{
    (void)state;
    broad_data *data = small_data(0, 500, 3, 2), *check = small_data(500, 300, 3, 2);
    broad_options plain = options_of(BROAD_KIND_BRLS, BROAD_PRESET_PAPER), o;
    plain.enhance_layers = 30;
    broad_model *full = fit_with(data, &plain, NULL), *m;
    double target = norm_after(full, 9);

    o = plain, o.until = target;
    m = fit_with(data, &o, NULL);
    assert_int_equal(broad_model_layers(m), 10);
    assert_int_equal(broad_model_outcome(m), BROAD_OUTCOME_TARGET_REACHED);
    assert_true(strstr(broad_model_reason(m), "norm") != NULL);
    broad_model_free(m);

    o = plain, o.until = target / full->first_norm * (1 + 1e-12), o.until_relative = 1;
    m = fit_with(data, &o, NULL);
    assert_int_equal(broad_model_layers(m), 10);
    broad_model_free(m);

    o = plain, o.max_nodes = 10 + 8 * 7 + 5;
    m = fit_with(data, &o, NULL);
    assert_int_equal(broad_model_nodes(m), 66);
    assert_true(strstr(broad_model_reason(m), "71 nodes") != NULL);
    broad_model_free(m);

    o = plain, o.max_layers = 4;
    m = fit_with(data, &o, NULL);
    assert_int_equal(broad_model_layers(m), 4);
    assert_int_equal(broad_model_outcome(m), BROAD_OUTCOME_COMPLETE);
    broad_model_free(m);

    /* A network without layers is none. */
    o = plain, o.max_seconds = 1e-9;
    assert_fails(broad_fit(&m, NULL, data, &o), BROAD_FAILED, "max-seconds");
    assert_null(m);

    o = plain, o.max_seconds = 0.3, o.enhance_layers = 100000;
    m = fit_with(data, &o, NULL);
    assert_true(broad_model_layers(m) > 0 && broad_model_layers(m) < 100000);
    assert_int_equal(broad_model_outcome(m), BROAD_OUTCOME_TIME_LIMIT);
    assert_true(strstr(broad_model_reason(m), "time") != NULL);
    broad_model_free(m);

    /* The time is up only after the last layer: the run is complete all the same. */
    o = plain, o.enhance_layers = 1, o.max_seconds = 1, o.progress = slow_down;
    m = fit_with(data, &o, NULL);
    assert_int_equal(broad_model_layers(m), 1);
    assert_int_equal(broad_model_outcome(m), BROAD_OUTCOME_COMPLETE);
    broad_model_free(m);

    broad_metrics metrics = {.size = sizeof metrics};
    assert_ok(broad_eval(&metrics, full, check, THREADS(1)));
    o = plain, o.until_accuracy = metrics.accuracy - 0.01;
    broad_metrics_clear(&metrics);
    m = fit_with(data, &o, check);
    assert_ok(broad_eval(&metrics, m, check, THREADS(1)));
    assert_true(metrics.accuracy >= o.until_accuracy && strstr(broad_model_reason(m), "validation") != NULL);
    broad_metrics_clear(&metrics);
    broad_model_free(m);
    assert_ok(broad_eval(&metrics, full, data, THREADS(1)));
    o.until_accuracy = metrics.accuracy; /* what thirty layers reach, and the first does not */
    broad_metrics_clear(&metrics);
    m = fit_with(data, &o, NULL);
    assert_ok(broad_eval(&metrics, m, data, THREADS(1)));
    assert_true(metrics.accuracy >= o.until_accuracy && broad_model_layers(m) > 1);
    assert_int_equal(broad_model_outcome(m), BROAD_OUTCOME_TARGET_REACHED);
    broad_metrics_clear(&metrics);
    broad_model_free(m);
    broad_model_free(full);
    broad_data_free(data), broad_data_free(check);
}

static double error_on(const broad_model *m, const broad_data *data)
{
    broad_metrics metrics = {.size = sizeof metrics};
    assert_ok(broad_eval(&metrics, m, data, THREADS(1)));
    double rmse = metrics.rmse;
    broad_metrics_clear(&metrics);
    return rmse;
}

/* Few rows and many nodes: the validation error turns up again, and the network goes back to where it was least. */
static void patience_goes_back_to_the_best(void **state)
{
    (void)state;
    broad_data *data = small_data(0, 60, 2, 0), *check = small_data(60, 400, 2, 0);
    broad_options o = options_of(BROAD_KIND_BRLS, BROAD_PRESET_PAPER);
    o.lambda = 1e-6;
    o.enhance_layers = 40;
    o.patience = 3;
    broad_trainer *t = NULL;
    assert_ok(broad_trainer_open(&t, data, &o));
    assert_ok(broad_trainer_validate(t, check));
    assert_ok(broad_trainer_enhance(t, 8, 40));
    const broad_model *m = broad_trainer_model(t);
    size_t kept = broad_model_layers(m);
    assert_true(kept < 37 && strstr(broad_model_reason(m), "validation") != NULL);
    double best = error_on(m, check);
    assert_verified(m, data);
    o.patience = 0;
    for (size_t layers = 1; layers <= kept + 3; layers++) {
        o.enhance_layers = layers;
        broad_model *other = NULL;
        assert_ok(broad_fit(&other, NULL, data, &o));
        assert_true(error_on(other, check) >= best * (1 - 1e-12));
        broad_model_free(other);
    }
    /* The trainer goes on from there as if the rest had never been. */
    assert_ok(broad_trainer_features(t, 1, 2, 4));
    assert_verified(broad_trainer_model(t), data);
    broad_trainer_close(NULL, t);
    broad_data_free(data), broad_data_free(check);
}

/* ---- sums instead of rows ---------------------------------------------------------------------------------------- */

/* W of every layer against W of a network with the same nodes trained on all rows. */
static double weights_apart(const broad_model *a, const broad_model *b)
{
    double worst = 0;
    assert_int_equal(a->layer_count, b->layer_count);
    for (size_t j = 0; j < a->layer_count; j++)
        worst =
            fmax(worst, relative_distance(a->layers[j].output, b->layers[j].output, a->layers[j].width * a->outputs));
    return worst;
}

static void sums_equal_retraining(void **state)
{
    (void)state;
    double worst = 0;
    for (int exponent = -6; exponent <= 1; exponent++)
        for (size_t classes = 0; classes <= 2; classes += 2) {
            broad_options o = options_of(BROAD_KIND_BRLS, BROAD_PRESET_PAPER);
            o.scale = BROAD_SCALE_NONE; /* the scale is that of the first rows: without one both see the same nodes */
            o.lambda = pow(10, exponent);
            o.enhance_layers = 5;
            problem_random r = {(uint64_t)(exponent + 100)};
            size_t rows = 300;
            broad_data *first = small_data(0, rows, 3, classes);
            broad_model *m = NULL, *whole = NULL;
            broad_stats *stats = NULL;
            assert_ok(broad_fit(&m, NULL, first, &o));
            assert_ok(broad_stats_new(&stats, m, first, THREADS(2)));
            for (int i = 0; i < 20; i++) {
                size_t more = problem_size(&r, classes ? 20 : 1, 200);
                broad_data *part = small_data(rows, more, 3, classes);
                assert_ok(broad_stats_learn(stats, m, part, THREADS(1 + (size_t)i % 2)));
                rows += more;
                broad_data_free(part);
            }
            assert_int_equal(broad_stats_rows(stats), rows);
            broad_data *all = small_data(0, rows, 3, classes);
            assert_ok(broad_fit(&whole, NULL, all, &o));
            double apart = weights_apart(m, whole);
            worst = fmax(worst, apart);
            if (!(apart < 1e-8)) fail_msg("lambda 1e%d: the weights are %g apart", exponent, apart);
            for (size_t j = 0; j < m->layer_count; j++)
                assert_true(relative_difference(norm_after(m, j), norm_after(whole, j), 0) < 1e-9);
            assert_verified(m, all);
            broad_stats_free(stats);
            broad_model_free(m), broad_model_free(whole);
            broad_data_free(first), broad_data_free(all);
        }
    print_message("20 increments: weights at most %.2g from retraining\n", worst);
}

static void sums_do_not_drift(void **state)
{
    (void)state;
    enum { INCREMENTS = HELPER_SANITIZED ? 500 : 10000 };
    broad_options o = options_of(BROAD_KIND_BRLS, BROAD_PRESET_PAPER);
    o.scale = BROAD_SCALE_NONE;
    o.lambda = 1e-4;
    o.feature_groups = 1, o.feature_nodes = 3, o.enhance_nodes = 4, o.enhance_layers = 2;
    broad_data *first = small_data(0, 50, 2, 0);
    broad_model *m = NULL, *whole = NULL;
    broad_stats *stats = NULL;
    assert_ok(broad_fit(&m, NULL, first, &o));
    assert_ok(broad_stats_new(&stats, m, first, THREADS(1)));
    for (size_t i = 0; i < INCREMENTS; i++) {
        broad_data *part = small_data(50 + i, 1, 2, 0);
        assert_ok(broad_stats_learn(stats, m, part, THREADS(1)));
        broad_data_free(part);
    }
    broad_data *all = small_data(0, 50 + INCREMENTS, 2, 0);
    assert_ok(broad_fit(&whole, NULL, all, &o));
    double apart = weights_apart(m, whole);
    print_message("%d increments of one row: weights %.2g from retraining\n", INCREMENTS, apart);
    assert_true(apart < 1e-8);
    broad_stats_free(stats);
    broad_model_free(m), broad_model_free(whole);
    broad_data_free(first), broad_data_free(all);
}

/* What sums over plain rows cannot serve. */
static void sums_refused(void **state)
{
    (void)state;
    broad_options o = options_of(BROAD_KIND_BRLS, BROAD_PRESET_PAPER);
    broad_data *rows = small_data(0, 60, 3, 2), *more = small_data(60, 20, 3, 2);
    broad_model *m = NULL;
    broad_stats *stats = NULL, *never = NULL;
    assert_ok(broad_fit(&m, NULL, rows, &o));
    assert_ok(broad_stats_new(&stats, m, rows, THREADS(1)));
    m->settings.weights = BROAD_WEIGHTS_JOINT;
    assert_fails(broad_stats_new(&never, m, rows, THREADS(1)), BROAD_USAGE, "chain weights alone");
    assert_fails(broad_stats_learn(stats, m, more, THREADS(1)), BROAD_USAGE, "chain weights alone");
    m->settings.weights = BROAD_WEIGHTS_CHAIN;
    m->settings.kind = BROAD_KIND_SCN;
    assert_fails(broad_stats_new(&never, m, rows, THREADS(1)), BROAD_USAGE, "serve bscrls and brls");
    m->settings.kind = BROAD_KIND_BRLS;
    m->class_weights = broad__alloc_doubles(2, 1);
    m->class_weights[0] = m->class_weights[1] = 1;
    assert_fails(broad_stats_new(&never, m, rows, THREADS(1)), BROAD_USAGE, "rows or classes that have weights");
    broad__free(m->class_weights);
    m->class_weights = NULL;
    more->weights = broad__alloc_doubles(20, 1);
    assert_fails(broad_stats_learn(stats, m, more, THREADS(1)), BROAD_USAGE, "rows or classes that have weights");
    assert_null(never);
    broad_stats_free(stats);
    broad_model_free(m);
    broad_data_free(rows), broad_data_free(more);
}

static void sums_in_a_file(void **state)
{
    (void)state;
    char folder[HELPER_PATH], path[HELPER_PATH];
    temporary_folder(folder);
    join_path(path, folder, "m.stats");
    broad_options o = options_of(BROAD_KIND_BSCRLS, BROAD_PRESET_AUTO);
    o.weights = BROAD_WEIGHTS_CHAIN;
    o.enhance_layers = 3;
    broad_data *first = small_data(0, 300, 3, 2), *more = small_data(0, 100, 3, 3), *other = small_data(5, 300, 3, 2),
               *all = NULL;
    broad_model *m = NULL, *foreign = NULL;
    broad_stats *stats = NULL, *loaded = NULL;
    assert_ok(broad_fit(&m, NULL, first, &o));
    assert_fails(broad_stats_new(&stats, m, other, THREADS(1)), BROAD_BAD_DATA, "other values");
    assert_ok(broad_stats_new(&stats, m, first, THREADS(1)));
    assert_ok(broad_stats_save(stats, path));
    assert_ok(broad_stats_load(&loaded, path, m));
    /* Also with a class that is new, and supervised: the record says what was relaxed for the new rows. */
    assert_ok(broad_stats_learn(loaded, m, more, THREADS(1)));
    assert_int_equal(broad_model_outputs(m), 3);
    assert_ok(broad_data_append(&all, first, more));
    assert_verified(m, all);
    assert_fails(broad_stats_learn(stats, m, more, THREADS(1)), BROAD_BAD_MODEL, "belong to another");
    assert_fails(broad_stats_learn(loaded, m, more, THREADS(1)), BROAD_BAD_DATA, "already");
    broad_stats_free(stats), stats = NULL;
    assert_fails(broad_stats_load(&stats, path, m), BROAD_BAD_MODEL, "belong to another");
    assert_ok(broad_stats_save(loaded, path));
    assert_ok(broad_stats_load(&stats, path, m));
    broad_stats_free(stats), stats = NULL;
    o.seed++;
    assert_ok(broad_fit(&foreign, NULL, first, &o));
    assert_fails(broad_stats_load(&stats, path, foreign), BROAD_BAD_MODEL, "belong to another");
    assert_ok(broad_model_save(foreign, path, 0));
    assert_fails(broad_stats_load(&stats, path, m), BROAD_BAD_MODEL, "not the sums");
    assert_null(stats);
    broad_stats_free(loaded);
    broad_model_free(m), broad_model_free(foreign);
    broad_data_free(first), broad_data_free(more), broad_data_free(other), broad_data_free(all);
    remove_folder(folder);
}

/* ---- planning -------------------------------------------------------------------------------------------------- */

typedef struct meter {
    size_t live, peak;
} meter;

static void *meter_allocate(size_t count, void *context)
{
    meter *self = context;
    size_t *block = malloc(count + 16);
    if (!block) return NULL;
    block[0] = count;
    self->live += count;
    if (self->live > self->peak) self->peak = self->live;
    return block + 2;
}

static void meter_release(void *block, void *context)
{
    size_t *raw = (size_t *)block - 2;
    ((meter *)context)->live -= raw[0];
    free(raw);
}

/* Every way of fitting, more rows than nodes and fewer. */
static const char *const plan_cases[][6] = {
    {"bscrls", "chain", "residual", "1e-8", "random", "minmax"},
    {"bscrls", "chain", "loo", "auto", "random", "standard"},
    {"brls", "joint", "none", "0.01", "random", "minmax"},
    {"bscrls", "joint", "residual", "auto", "random", "both"},
    {"bscrls", "joint", "loo", "0.01", "random", "minmax"},
    {"bscrls", "joint", "loo", "auto", "random", "minmax"},
    {"bls", "joint", "none", "auto", "sampled", "both"},
    {"bls", "joint", "none", "1", "autoencoder", "standard"},
    {"rvfl", "joint", "none", "auto", "random", "rank"},
    {"scn", "chain", "output", "1e-8", "random", "standard"},
    {"scn", "window", "output", "1e-8", "random", "standard"},
    {"scn", "joint", "output", "1e-8", "random", "standard"},
    {"scn", "joint", "output", "auto", "random", "standard"},
};
enum { PLAN_CASES = sizeof plan_cases / sizeof plan_cases[0] };

/* rows, inputs, features, enhancement nodes of a layer, layers */
static const size_t plan_sizes[][5] = {
#if HELPER_SANITIZED
    {300, 100, 100, 300, 3},
#else
    {300, 100, 100, 300, 3},
    {4000, 20, 100, 60, 6},
    {20000, 4, 50, 30, 4},
#endif
};
enum { PLAN_SIZES = sizeof plan_sizes / sizeof plan_sizes[0] };

/* The plan's peak against the peak that the allocator saw. */
static void plan_against_the_allocator(void **state)
{
    (void)state;
    for (size_t i = 0; i < PLAN_SIZES * PLAN_CASES; i++) {
        const char *const *one = plan_cases[i / PLAN_SIZES];
        const size_t *size = plan_sizes[i % PLAN_SIZES];
        broad_data *data = small_data(0, size[0], size[1], 3);
        broad_options o;
        broad_options_init(&o);
        const char *const words[][2] = {{"preset", "paper"},   {"kind", one[0]},   {"weights", one[1]},
                                        {"supervise", one[2]}, {"lambda", one[3]}, {"feature-weights", one[4]},
                                        {"scale", one[5]},     {"tries", "2"},     {"relax-count", "9"}};
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
            assert_ok(broad_options_set(&o, words[k][0], words[k][1]));
        o.feature_groups = 5, o.feature_nodes = size[2] / 5, o.enhance_nodes = size[3], o.enhance_layers = size[4];
        if (strcmp(one[2], "loo") == 0) o.enhance_layers = 1; /* it may refuse the next */
        o.threads = 2;
        broad_plan plan = {.size = sizeof plan};
        assert_ok(broad_plan_run(&plan, &o, NULL, size[0], size[1], 3));
        meter self = {0};
        broad_allocator allocator = {meter_allocate, meter_release, &self};
        broad_set_allocator(&allocator);
        broad_model *m = NULL;
        assert_ok(broad_fit(&m, NULL, data, &o));
        assert_int_equal(broad_model_layers(m), strcmp(one[0], "bls") && strcmp(one[0], "rvfl") ? o.enhance_layers : 1);
        assert_int_equal((size_t)plan.nodes, broad_model_nodes(m));
        broad_model_free(m);
        broad_set_allocator(NULL);
        print_message("%-6s %-6s %-8s %4s, %5zu rows: plan %6.2f MB, seen %6.2f MB\n", one[0], one[1], one[2], one[3],
                      size[0], plan.bytes_training / 1e6, (double)self.peak / 1e6);
        assert_true(plan.bytes_training > 0.9 * (double)self.peak && plan.bytes_training < 1.4 * (double)self.peak);
        assert_true(plan.fits && plan.flops_total >= plan.flops_features && plan.bytes_available > 1e6);
        broad_data_free(data);
    }
    broad_plan plan = {.size = sizeof plan};
    broad_options o = options_of(BROAD_KIND_BSCRLS, BROAD_PRESET_PAPER);
    assert_ok(broad_plan_run(&plan, &o, NULL, 1000000000000, 100, 3));
    assert_false(plan.fits);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static int grow_everything(const broad_data *old, const broad_data *more, const broad_data *check,
                           const broad_options *o)
{
    broad_trainer *t = NULL;
    broad_model *m = NULL, *stats_model = NULL;
    broad_stats *stats = NULL;
    int status = broad_trainer_open(&t, old, o);
    if (status == BROAD_OK) status = broad_stats_new(&stats, broad_trainer_model(t), old, THREADS(1));
    broad_stats_free(stats), stats = NULL;
    if (status == BROAD_OK) status = broad_trainer_validate(t, check);
    if (status == BROAD_OK) status = broad_trainer_enhance(t, 3, 2);
    if (status == BROAD_OK) status = broad_trainer_features(t, 1, 2, 2);
    if (status == BROAD_OK) status = broad__model_copy(&stats_model, broad_trainer_model(t));
    if (status == BROAD_OK) status = broad_stats_new(&stats, stats_model, old, THREADS(1));
    if (status == BROAD_OK) status = broad_trainer_learn(t, more, 3, 1, 0);
    broad_trainer_close(status == BROAD_OK ? &m : NULL, t);
    t = NULL;
    if (status == BROAD_OK) status = broad_trainer_resume(&t, m, NULL, o, 0);
    if (status == BROAD_OK) status = broad_trainer_learn(t, check, 3, 1, 1);
    if (status == BROAD_OK) status = broad_stats_learn(stats, stats_model, more, THREADS(1));
    broad_trainer_close(NULL, t);
    broad_model_free(m);
    broad_model_free(stats_model);
    broad_stats_free(stats);
    return status;
}

static void every_allocation_failed_in_turn(void **state)
{
    (void)state;
    broad_data *old = small_data(0, 40, 2, 2), *more = small_data(0, 20, 2, 3), *check = small_data(80, 20, 2, 2);
    broad_options o = options_of(BROAD_KIND_BSCRLS, BROAD_PRESET_PAPER);
    failing self = {.lock = PTHREAD_MUTEX_INITIALIZER};
    broad_allocator allocator = {failing_allocate, failing_release, &self};
    broad_set_allocator(&allocator);
    assert_ok(grow_everything(old, more, check, &o));
    size_t total = self.calls;
    assert_int_equal(self.live, 0);
    for (size_t n = 1; n <= total; n++) {
        self.calls = 0;
        self.fail_at = n;
        int status = grow_everything(old, more, check, &o);
        if (status != BROAD_NO_MEMORY) fail_msg("allocation %zu of %zu failed: status %d", n, total, status);
        assert_int_equal(self.live, 0);
    }
    broad_set_allocator(NULL);
    print_message("%zu allocations, each failed once\n", total);
    broad_data_free(old), broad_data_free(more), broad_data_free(check);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grown_equals_made_at_once),
        cmocka_unit_test(resumed_equals_never_stopped),
        cmocka_unit_test(increments_by_the_formulas),
        cmocka_unit_test(new_classes),
        cmocka_unit_test(forgetful_learning),
        cmocka_unit_test(other_data_is_refused),
        cmocka_unit_test(rules_for_stopping),
        cmocka_unit_test(patience_goes_back_to_the_best),
        cmocka_unit_test(sums_equal_retraining),
        cmocka_unit_test(sums_do_not_drift),
        cmocka_unit_test(sums_refused),
        cmocka_unit_test(sums_in_a_file),
        cmocka_unit_test(plan_against_the_allocator),
        cmocka_unit_test(every_allocation_failed_in_turn),
    };
    return cmocka_run_group_tests_name("grow", tests, NULL, NULL);
}
