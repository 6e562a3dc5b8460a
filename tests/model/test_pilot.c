/* What preset auto determines before a network is built: a metric that is learned where it helps, and left out where not. */
#include "plain.h"

#include "feature/metric.h"
#include "model/relevance.h"
#include "model/train/configure.h"
#include "model/train/output_weights.h"
#include "model/train/train.h"
#include "model/train/train_open.h"

static int is_learned(const broad_model *model) { return broad__relevance_form(model) != BROAD_METRIC_FORM_NONE; }

/* ---- tables ----------------------------------------------------------------------------------------------------- */

enum { PLANTED = 3000, FRESH = 1000, INPUTS = 32, USEFUL = 4 };

/* Smooth, with interactions: two of the inputs count only together. */
static double planted(const double *x) { return sin(2 * x[0]) * cos(3 * x[1]) + 2 * x[2] * x[3] + x[0] * x[2]; }

/* Rows in [-1, 1]^32, of which the first `inputs` are given; noise a tenth of the target's deviation. */
static broad_data *planted_data(uint64_t seed, size_t rows, size_t inputs, double noise)
{
    problem_random r = {seed};
    double *x = malloc(rows * inputs * sizeof *x), *y = malloc(rows * sizeof *y), row[INPUTS];
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < INPUTS; j++) row[j] = 2 * problem_uniform(&r) - 1;
        memcpy(x + i * inputs, row, inputs * sizeof *x);
        y[i] = planted(row) + noise * problem_normal(&r);
    }
    broad_data *data = data_of_values(x, y, rows, inputs);
    free(x), free(y);
    return data;
}

static broad_model *fit(const broad_data *data, const broad_options *o)
{
    broad_model *model = NULL;
    assert_ok(broad_fit(&model, NULL, data, o));
    return model;
}

static double rmse_of(const broad_model *model, const broad_data *data)
{
    broad_metrics metrics;
    broad_metrics_init(&metrics);
    assert_ok(broad_eval(&metrics, model, data, THREADS(1)));
    double rmse = metrics.rmse;
    broad_metrics_clear(&metrics);
    return rmse;
}

/* ---- four inputs of thirty-two ------------------------------------------------------------------------------------ */

/* Every input that counts has a relevance above all that do not. */
static void check_relevances(const broad_model *model)
{
    double least = INFINITY, most = 0;
    for (size_t j = 0; j < INPUTS; j++) {
        double relevance = broad_model_relevance(model, j);
        if (j < USEFUL) least = fmin(least, relevance);
        else most = fmax(most, relevance);
    }
    print_message("relevances: useful ones at least %.3g, useless ones at most %.3g\n", least, most);
    assert_true(least > 3 * most);
}

/* A network that finds four inputs among 32 does as well as one that is given these alone. */
static void useless_inputs_cost_little(void **state)
{
    (void)state;
    if (HELPER_SANITIZED) skip(); /* the cases below run the same code */
    double rmse[2];
    broad_options o = OPTIONS("range", "1", "features", "8x100", "enhance", "50x1");
    for (int few = 0; few < 2; few++) {
        broad_data *data = planted_data(38, PLANTED, few ? USEFUL : INPUTS, 0.09);
        broad_data *fresh = planted_data(39, FRESH, few ? USEFUL : INPUTS, 0.09);
        broad_model *model = fit(data, &o);
        rmse[few] = rmse_of(model, fresh);
        if (!few) {
            broad_estimate estimate = {.size = sizeof estimate};
            assert_ok(broad_model_estimate(&estimate, model));
            assert_true(model->has_root && model->optimism >= 1);
            check_relevances(model);
            print_message("RMSE %.4f, estimated %.4f\n", rmse[few], estimate.rmse);
            assert_true(relative_difference(estimate.rmse, rmse[few], 0) < 0.1);
        }
        broad_model_free(model);
        broad_data_free(data), broad_data_free(fresh);
    }
    print_message("RMSE %.4f with 32 inputs, %.4f with the 4: %.3f times\n", rmse[0], rmse[1], rmse[0] / rmse[1]);
    assert_true(rmse[0] <= 1.15 * rmse[1]);
}

/* ---- inputs that count together, levels that count alike ---------------------------------------------------------- */

/* An open trainer, whose pilot has run. */
static broad_trainer *piloted(const broad_data *data, const broad_options *o)
{
    broad_trainer *trainer = NULL;
    assert_ok(broad__trainer_open(&trainer, data, o));
    return trainer;
}

/* The part of the metric's diagonal that is that of inputs [first, end). */
static double part_of(const broad_model *model, size_t first, size_t end)
{
    double all = 0, part = 0;
    for (size_t j = 0; j < broad__model_columns(model); j++) {
        double square = model->relevance[j] * model->relevance[j];
        all += square;
        if (j % model->inputs >= first && j % model->inputs < end) part += square;
    }
    return part / all;
}

/* None of the four tells anything by itself, and a network of all inputs alike may see so little of them that its gradients
 * lead nowhere. Two by two they tell more than it does. */
static void inputs_that_count_in_pairs_are_found(void **state)
{
    (void)state;
    if (HELPER_SANITIZED) skip(); /* tests/feature/test_marginal.c has the pairs */
    broad_options o =
        OPTIONS("range", "auto", "features", "8x100", "enhance", "50x1", "effort", "fast", "threads", "1");
    broad_data *data = planted_data(3, 1000, INPUTS, 0.09);
    broad_trainer *trainer = piloted(data, &o);
    double part = part_of(trainer->model, 0, USEFUL);
    print_message("%.3f of the metric is that of the four\n", part);
    assert_true(part > 0.95); /* 0.89 without pairs */
    broad__trainer_close(NULL, trainer);
    broad_data_free(data);
}

enum { LEVELS = 15, NUMBERS = 4 };

/* Two columns of categories that say nothing beside four numbers, three of which do. */
static broad_data *levels_data(uint64_t seed, size_t rows)
{
    static const char *const names[LEVELS] = {"a", "b", "c", "d", "e", "f", "g", "h",
                                              "i", "j", "k", "l", "m", "n", "o"};
    broad_array_category categories[2] = {{0, LEVELS, names}, {1, LEVELS, names}};
    enum { COLUMNS = NUMBERS + 2 };
    problem_random r = {seed};
    double *x = malloc(rows * COLUMNS * sizeof *x), *y = malloc(rows * sizeof *y);
    for (size_t i = 0; i < rows; i++) {
        double *row = x + i * COLUMNS;
        for (size_t j = 0; j < COLUMNS; j++) row[j] = j < 2 ? floor(LEVELS * problem_uniform(&r)) : problem_normal(&r);
        y[i] = sin(2 * row[2]) + row[3] * row[4] + 0.3 * problem_normal(&r);
    }
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = rows, arrays.inputs = COLUMNS, arrays.x = x, arrays.values = y, arrays.outputs = 1;
    arrays.categories = categories, arrays.category_count = 2;
    broad_data *data = plain_data(&arrays);
    free(x), free(y);
    return data;
}

/* A few rows of each level cannot tell whether it matters; those of all levels of its column can. */
static void levels_count_alike(void **state)
{
    (void)state;
    if (HELPER_SANITIZED) skip(); /* tests/feature/test_learned_metric.c has the means */
    broad_options o =
        OPTIONS("range", "auto", "features", "8x100", "enhance", "50x1", "effort", "fast", "threads", "1");
    broad_data *data = levels_data(5, 700);
    broad_trainer *trainer = piloted(data, &o);
    const broad_model *model = trainer->model;
    double part = part_of(model, 0, 2 * LEVELS);
    print_message("%.3f of the metric is that of %d levels\n", part, 2 * LEVELS);
    assert_true(is_learned(model) && part < 0.1);
    for (size_t j = 0; j < broad__model_columns(model); j++) {
        size_t input = j % model->inputs, first = input < LEVELS ? 0 : LEVELS;
        if (input >= 2 * LEVELS) continue;
        double same = model->relevance[j - input + first];
        assert_true(relative_difference(model->relevance[j], same, 1e-9) < 1e-9);
    }
    broad__trainer_close(NULL, trainer);
    broad_data_free(data);
}

/* ---- how long it is looked for ----------------------------------------------------------------------------------- */

/* Among many useless inputs each metric is far better than the one before it: rounds go on beyond those of the effort, though
 * not for ever. Where inputs are alike, no more than these. */
static void large_gains_buy_rounds(void **state)
{
    (void)state;
    if (HELPER_SANITIZED) skip(); /* the cases below run the same code */
    broad_options o = OPTIONS("range", "auto", "features", "8x100", "enhance", "50x1", "effort", "fast");
    broad_data *hidden = planted_data(38, 1000, INPUTS, 0.05), *open = planted_data(38, 1000, USEFUL, 0.05);
    size_t allowed = broad__effort_sizes_of(&o, 1000).rounds;
    broad_trainer *many = piloted(hidden, &o), *few = piloted(open, &o);
    print_message("%zu rounds allowed, %zu among %d inputs, %zu among %d\n", allowed, many->rounds, INPUTS, few->rounds,
                  USEFUL);
    assert_true(many->rounds > allowed && many->rounds <= BROAD__ROUNDS_MOST);
    assert_true(few->rounds >= 1 && few->rounds <= allowed);
    broad__trainer_close(NULL, many), broad__trainer_close(NULL, few);
    broad_data_free(hidden), broad_data_free(open);
}

/* Targets that are the same near each of some points: no direction is better than another, and no style far behind. */
static broad_data *regions_data(uint64_t seed, size_t rows)
{
    enum { POINTS = 30, AXES = 5 };
    problem_random r = {seed};
    double *at = problem_normals(POINTS * AXES, &r), *value = problem_normals(POINTS, &r);
    double *x = problem_normals(rows * AXES, &r), *y = problem_normals(rows, &r);
    for (size_t i = 0; i < rows; i++) {
        size_t nearest = 0;
        double least = INFINITY;
        for (size_t p = 0; p < POINTS; p++) {
            double square = 0;
            for (size_t j = 0; j < AXES; j++) square += pow(x[i * AXES + j] - at[p * AXES + j], 2);
            if (square < least) least = square, nearest = p;
        }
        y[i] = value[nearest] + 0.2 * y[i];
    }
    broad_data *data = data_of_values(x, y, rows, AXES);
    free(at), free(value), free(x), free(y);
    return data;
}

/* The style that leads with the ranges of small trials need not lead with those that more nodes want: all that are not far
 * behind are tried with larger ones. */
static void styles_climb_by_themselves(void **state)
{
    (void)state;
    if (HELPER_SANITIZED) skip(); /* the cases below run the same code */
    broad_options o = OPTIONS("range", "auto", "features", "8x100", "enhance", "50x1", "effort", "fast");
    broad_data *data = regions_data(2, 1200);
    broad_trainer *trainer = piloted(data, &o);
    size_t styles = 0;
    for (unsigned s = 0; s < BROAD__STYLE_COUNT; s++) styles += trainer->climbed >> s & 1;
    print_message("%zu styles have climbed\n", styles);
    assert_true(styles >= 2);
    broad__trainer_close(NULL, trainer);
    broad_data_free(data);
}

/* ---- what the estimate promises ---------------------------------------------------------------------------------- */

/* A metric of a few rows and many inputs has learned these rows. The estimate is widened by about as much as fresh rows are
 * worse: neither left as it is nor widened for good measure. */
static void seen_rows_promise_no_more(void **state)
{
    (void)state;
    enum { TABLES = 6, ROWS = 160 };
    double promised = 0, bare = 0, found = 0;
    broad_options o = OPTIONS("range", "1", "features", "4x60", "enhance", "20x1", "learned-metric", "yes");
    for (uint64_t t = 0; t < (HELPER_SANITIZED ? 1 : TABLES); t++) {
        broad_data *data = planted_data(500 + t, ROWS, INPUTS, 0.5), *fresh = planted_data(600 + t, FRESH, INPUTS, 0.5);
        broad_model *model = fit(data, &o);
        broad_estimate estimate = {.size = sizeof estimate};
        assert_ok(broad_model_estimate(&estimate, model));
        assert_true(is_learned(model) && model->optimism >= 1);
        promised += estimate.rmse;
        bare += estimate.rmse / sqrt(model->optimism);
        found += rmse_of(model, fresh);
        broad_model_free(model);
        broad_data_free(data), broad_data_free(fresh);
    }
    print_message("RMSE of fresh rows %.3f, promised %.3f of it, %.3f without widening\n", found, promised / found,
                  bare / found);
    if (HELPER_SANITIZED) return;
    assert_true(bare < 0.93 * found);
    assert_true(promised > 0.93 * found && promised < 1.1 * found);
}

/* ---- few inputs as they are -------------------------------------------------------------------------------------- */

enum { SUBJECTS = 15, VISITS = 2400, MEASURED = 10 };

/* Every subject, known by its age, has a level and a slope in time; eight skewed inputs say nothing. */
static broad_data *subjects_data(uint64_t seed)
{
    problem_random of_subject = {90}, r = {seed};
    double age[SUBJECTS], level[SUBJECTS], slope[SUBJECTS];
    double *x = malloc(VISITS * MEASURED * sizeof *x), *y = malloc(VISITS * sizeof *y);
    for (size_t s = 0; s < SUBJECTS; s++) {
        age[s] = 60 + 9 * problem_normal(&of_subject);
        level[s] = problem_normal(&of_subject);
        slope[s] = problem_normal(&of_subject);
    }
    for (size_t i = 0; i < VISITS; i++) {
        double *row = x + i * MEASURED;
        size_t s = (size_t)(SUBJECTS * problem_uniform(&r));
        row[0] = age[s];
        row[1] = 200 * problem_uniform(&r);
        for (size_t j = 2; j < MEASURED; j++) row[j] = exp(2 * problem_normal(&r));
        y[i] = level[s] + slope[s] * row[1] / 200;
    }
    broad_data *data = data_of_values(x, y, VISITS, MEASURED);
    free(x), free(y);
    return data;
}

/* Ranks are in the way of two inputs that say everything, and rounds are worth more than an effort has of them. */
static void few_inputs_are_taken_as_they_are(void **state)
{
    (void)state;
    if (HELPER_SANITIZED) skip(); /* the cases below run the same code */
    broad_data *data = subjects_data(91), *fresh = subjects_data(92);
    broad_options o = OPTIONS("features", "4x200", "enhance", "20x1");
    broad_model *model = fit(data, &o);
    double rmse = rmse_of(model, fresh), ranks = 0;
    for (size_t j = MEASURED; j < 2 * (size_t)MEASURED; j++) ranks += model->relevance[j];
    print_message("RMSE %.3g, relevance of ranks %.3g\n", rmse, ranks);
    assert_true(rmse < 1e-3 && ranks == 0);
    broad_model_free(model);
    broad_data_free(data), broad_data_free(fresh);
}

/* ---- where there is nothing to learn ------------------------------------------------------------------------------ */

/* How many of `tables` get a metric whose targets are `distance` times how far the inputs are from their mean, and noise:
 * no direction counts for more than another. */
static size_t metrics_of(size_t tables, size_t columns, double distance, double noise)
{
    enum { ROWS = 200 };
    size_t learned = 0;
    for (uint64_t seed = 0; seed < tables; seed++) {
        problem_random r = {seed + 50};
        double *x = problem_normals(ROWS * columns, &r), *y = problem_normals(ROWS, &r);
        for (size_t i = 0; i < ROWS; i++) {
            double square = 0;
            for (size_t j = 0; j < columns; j++) square += x[i * columns + j] * x[i * columns + j];
            y[i] = distance * sqrt(square) + noise * y[i];
        }
        broad_data *data = data_of_values(x, y, ROWS, columns);
        broad_options o = OPTIONS("features", "4x25", "enhance", "10x1", "effort", "fast");
        broad_model *model = fit(data, &o);
        learned += (size_t)model->has_root;
        broad_estimate estimate = {.size = sizeof estimate};
        assert_ok(broad_model_estimate(&estimate, model));
        assert_true(estimate.rmse > 0.85 * noise);
        broad_model_free(model);
        broad_data_free(data);
        free(x), free(y);
    }
    print_message("%zu of %zu tables got a metric\n", learned, tables);
    return learned;
}

/* Targets that no input says anything about: what looks like a gain on rows that were seen is none on others. */
static void noise_has_no_metric(void **state)
{
    (void)state;
    assert_true(metrics_of(4, 8, 0, 1) <= 1);
}

/* A gain that is within the spread of the rows' own is none: without that rule six of these tables would get a metric. */
static void a_chance_gain_is_no_metric(void **state)
{
    (void)state;
    assert_true(metrics_of(HELPER_SANITIZED ? 2 : 13, 6, 1, 0.3) <= 2);
}

/* ---- cases -------------------------------------------------------------------------------------------------------- */

typedef enum learned { NEVER, ALWAYS, PERHAPS } learned;

typedef struct pilot_case {
    const char *name;
    size_t rows, inputs, classes; /* classes 0: a regression */
    int groups, constant, copies; /* a group column; every second input is constant; a quarter of the rows are copies */
    learned metric;
    const char *options[6][2];
} pilot_case;

static const pilot_case cases[] = {
    {"yes", 150, 6, 0, .metric = ALWAYS, .options = {{"learned-metric", "yes"}}},
    {"no", 150, 6, 0, .metric = NEVER, .options = {{"learned-metric", "no"}}},
    {"two classes", 150, 6, 2, .metric = ALWAYS, .options = {{"learned-metric", "yes"}}},
    {"many classes", 200, 5, 12, .metric = ALWAYS, .options = {{"learned-metric", "yes"}}},
    {"groups", 150, 5, 0, .groups = 1, .metric = ALWAYS, .options = {{"learned-metric", "yes"}}},
    {"constant columns", 120, 6, 0, .constant = 1, .metric = ALWAYS, .options = {{"learned-metric", "yes"}}},
    {"20 rows", 20, 4, 0, .metric = NEVER, .options = {{"learned-metric", "yes"}}},
    {"40 rows", 40, 4, 0, .metric = ALWAYS, .options = {{"learned-metric", "yes"}}},
    {"one input", 120, 1, 0, .metric = ALWAYS, .options = {{"learned-metric", "yes"}, {"scale", "standard"}}},
    {"copies", 160, 5, 0, .copies = 1, .metric = PERHAPS},
    {"sine", 120, 5, 0, .metric = NEVER, .options = {{"learned-metric", "yes"}, {"feature-activation", "sine"}}},
    {"relu", 120, 5, 0, .metric = ALWAYS, .options = {{"learned-metric", "yes"}, {"feature-activation", "relu"}}},
    {"autoencoder", 120, 5, 0, .metric = NEVER,
     .options = {{"learned-metric", "yes"}, {"feature-weights", "autoencoder"}}},
    {"paper", 120, 5, 0, .metric = NEVER, .options = {{"preset", "paper"}}},
    {"paper, drawn with one", 120, 5, 3, .metric = ALWAYS, .options = {{"preset", "paper"}, {"learned-metric", "yes"}}},
    {"drawn", 120, 5, 0, .metric = PERHAPS, .options = {{"feature-weights", "random"}}},
    {"chain", 120, 5, 0, .metric = ALWAYS, .options = {{"preset", "chain"}, {"learned-metric", "yes"}}},
    {"bls", 120, 5, 2, .metric = ALWAYS, .options = {{"kind", "bls"}, {"learned-metric", "yes"}}},
    {"brls", 120, 5, 0, .metric = ALWAYS, .options = {{"kind", "brls"}, {"learned-metric", "yes"}}},
    {"rvfl", 120, 5, 0, .metric = NEVER, .options = {{"kind", "rvfl"}, {"learned-metric", "yes"}}},
    {"scn", 120, 5, 0, .metric = NEVER, .options = {{"kind", "scn"}, {"learned-metric", "yes"}}},
    {"many rows", 2400, 5, 0, .metric = ALWAYS, .options = {{"learned-metric", "yes"}, {"effort", "normal"}}},
    {"many rows of classes", 2400, 5, 3, .metric = PERHAPS, .options = {{"effort", "normal"}}},
    {"many columns", 60, 520, 0, .metric = ALWAYS, .options = {{"learned-metric", "yes"}, {"scale", "standard"}}},
    {"many columns, drawn", 60, 520, 2, .metric = ALWAYS, .options = {{"preset", "paper"}, {"learned-metric", "yes"}}},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static broad_data *case_data(const pilot_case *c)
{
    problem_random r = {c->rows + c->inputs};
    double *x = problem_normals(c->rows * c->inputs, &r), *y = malloc(c->rows * sizeof *y);
    int64_t *labels = malloc(c->rows * sizeof *labels);
    char(*names)[16] = malloc(c->rows * sizeof *names);
    const char **groups = malloc(c->rows * sizeof *groups);
    for (size_t i = 0; i < c->rows; i++) {
        double *row = x + i * c->inputs;
        if (c->copies && i % 4 == 3) memcpy(row, row - c->inputs, c->inputs * sizeof *row);
        for (size_t j = 1; c->constant && j < c->inputs; j += 2) row[j] = 3;
        double smooth = sin(2 * row[0]) + (c->inputs > 2 ? row[2] * row[0] : 0);
        y[i] = smooth + 0.1 * problem_normal(&r);
        labels[i] = i < c->classes ? (int64_t)i : (int64_t)((size_t)fabs(3 * smooth) % (c->classes + !c->classes));
        snprintf(names[i], sizeof names[i], "g%d", (int)(i % 23));
        groups[i] = names[i];
    }
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = c->rows, arrays.inputs = c->inputs, arrays.x = x;
    if (c->classes) arrays.classes = labels;
    else arrays.values = y, arrays.outputs = 1;
    if (c->groups) arrays.groups = groups;
    broad_data *data = plain_data(&arrays);
    free(x), free(y), free(labels), free(names), free(groups);
    return data;
}

static broad_options case_options(const pilot_case *c, size_t threads)
{
    broad_options o;
    broad_options_init(&o);
    o.effort = BROAD_EFFORT_FAST;
    for (size_t i = 0; i < 6 && c->options[i][0]; i++)
        assert_ok(broad_options_set(&o, c->options[i][0], c->options[i][1]));
    o.features_auto = 0, o.feature_groups = 2, o.feature_nodes = 12, o.enhance_nodes = 5, o.enhance_layers = 1;
    o.threads = threads;
    return o;
}

static int has_features(const broad_options *o) { return o->kind != BROAD_KIND_SCN && o->kind != BROAD_KIND_RVFL; }

static void assert_same_model(model_bytes expected, const broad_model *model, const char *name, const char *what)
{
    model_bytes b = model_bytes_of(model);
    if (b.count != expected.count || memcmp(b.at, expected.at, b.count) != 0) fail_msg("%s: %s differs", name, what);
    broad_free(b.at);
}

/* The model that a fit gives, and the same after further feature nodes. */
static void fit_and_grow(broad_model *out[2], const broad_data *data, const broad_options *o)
{
    broad_trainer *t = NULL;
    assert_ok(broad__trainer_open(&t, data, o));
    assert_ok(broad__trainer_enhance(t, o->enhance_nodes, o->enhance_layers));
    model_bytes first = model_bytes_of(t->model);
    if (has_features(o)) assert_ok(broad__trainer_features(t, 1, 6, 4));
    broad__trainer_close(&out[1], t);
    assert_ok(broad_model_from_memory(&out[0], first.at, first.count));
    assert_same_model(first, out[0], "a model", "what was loaded");
    broad_free(first.at);
}

static void check_metric(const pilot_case *c, const broad_model *model)
{
    size_t columns = broad__model_columns(model);
    int found = is_learned(model);
    double squares = 0;
    if (c->metric != PERHAPS && found != (c->metric == ALWAYS)) fail_msg("%s: metric %d", c->name, found);
    assert_int_equal(model->has_root, found && columns <= BROAD__METRIC_COLUMNS);
    assert_true(found ? model->optimism >= 1 && model->optimism <= 2 : model->optimism == 0);
    for (size_t j = 0; found && j < columns; j++) {
        double diagonal = 0;
        for (size_t k = 0; model->root && k < columns; k++) diagonal += pow(model->root[j * columns + k], 2);
        squares += model->relevance[j] * model->relevance[j];
        if (model->root) assert_true(fabs(sqrt(diagonal) - model->relevance[j]) < 1e-6);
        if (c->constant && j % c->inputs % 2) assert_true(model->relevance[j] < 1e-9);
    }
    if (found) assert_true(relative_difference(squares, (double)columns, 0) < 1e-9);
}

static void check_verdict(const pilot_case *c, const broad_model *model, const broad_data *data)
{
    broad_verdict verdict = {.size = sizeof verdict};
    size_t stored = 0;
    assert_ok(broad_verify(&verdict, model, data, THREADS(1)));
    if (!verdict.holds) fail_msg("%s: %s", c->name, verdict.reason);
    for (size_t g = 0; g < model->group_count; g++)
        stored += model->groups[g].source == BROAD__WEIGHT_SOURCE_SAMPLED ||
                  model->groups[g].source == BROAD__WEIGHT_SOURCE_AUTOENCODER;
    assert_int_equal(verdict.stored_groups, stored);
    assert_int_equal(verdict.stored_metric, is_learned(model));
    /* Drawn nodes need not be stored, unless a metric turned them. */
    if (model->settings.feature_weights == BROAD_FEATURE_WEIGHTS_RANDOM && has_features(&model->settings))
        assert_int_equal(stored, verdict.stored_metric ? model->group_count : 0);
}

/* Joint weights that were brought up to date may differ in their last digits from those that are solved anew; nodes and
 * the metric may not. */
static void check_nodes(const pilot_case *c, const broad_model *a, const broad_model *b)
{
    size_t columns = broad__model_columns(a);
    assert_int_equal(a->group_count, b->group_count);
    assert_int_equal(a->has_root, b->has_root);
    int same = !a->root || memcmp(a->root, b->root, columns * columns * sizeof(double)) == 0;
    same &= !a->relevance || memcmp(a->relevance, b->relevance, columns * sizeof(double)) == 0;
    for (size_t g = 0; g < a->group_count; g++) {
        size_t nodes = a->groups[g].nodes;
        if (a->groups[g].source == BROAD__WEIGHT_SOURCE_DIRECT) continue;
        same &= memcmp(a->groups[g].weight, b->groups[g].weight, columns * nodes * sizeof(double)) == 0;
        same &= memcmp(a->groups[g].bias, b->groups[g].bias, nodes * sizeof(double)) == 0;
    }
    if (!same) fail_msg("%s: growth after loading draws other nodes", c->name);
}

static void run_case(const pilot_case *c)
{
    broad_data *data = case_data(c);
    broad_options o = case_options(c, 1);
    broad_model *plain[2], *model[2], *resumed = NULL;
    broad_trainer *t = NULL;
    fit_and_grow(plain, data, &o);
    check_metric(c, plain[0]);
    model_bytes expected[2] = {model_bytes_of(plain[0]), model_bytes_of(plain[1])};
    for (size_t i = 0; i < 2; i++) check_verdict(c, plain[i], data);
    for (size_t threads = HELPER_SANITIZED ? 8 : 2; threads <= 8; threads += 6) {
        o = case_options(c, threads);
        fit_and_grow(model, data, &o);
        for (size_t i = 0; i < 2; i++) {
            assert_same_model(expected[i], model[i], c->name,
                              i ? "growth with other threads" : "a fit with other threads");
            broad_model_free(model[i]);
        }
    }
    assert_ok(broad__trainer_resume(&t, plain[0], data, &o, 0)); /* which was loaded */
    if (has_features(&o)) assert_ok(broad__trainer_features(t, 1, 6, 4));
    broad__trainer_close(&resumed, t);
    check_nodes(c, plain[1], resumed);
    broad_model_free(resumed);
    for (size_t i = 0; i < 2; i++) broad_model_free(plain[i]), broad_free(expected[i].at);
    broad_data_free(data);
}

static void cases_hold(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) run_case(&cases[i]);
}

/* ---- pictures ----------------------------------------------------------------------------------------------------- */

/* 12,288 columns, or 768 under a sanitizer: a diagonal, softened since few rows cannot tell, within seconds. */
static void pictures_have_a_diagonal(void **state)
{
    (void)state;
    enum { ROWS = 44, SIDE = HELPER_SANITIZED ? 16 : 64, POINTS = 3 * SIDE * SIDE };
    problem_random r = {3};
    double *x = malloc((size_t)ROWS * POINTS * sizeof *x), *y = malloc(ROWS * sizeof *y);
    for (size_t i = 0; i < ROWS; i++) {
        double slope = problem_normal(&r);
        for (size_t j = 0; j < POINTS; j++)
            x[i * POINTS + j] = slope * sin((double)(j % SIDE) / 9) + 0.3 * problem_normal(&r);
        y[i] = tanh(slope);
    }
    broad_data *data = data_of_values(x, y, ROWS, POINTS);
    broad_options o = OPTIONS("learned-metric", "yes", "features", "2x50", "enhance", "10x1", "scale", "standard");
    broad_model *model = fit(data, &o);
    assert_true(!model->has_root && is_learned(model));
    assert_true(rmse_of(model, data) < 0.3);
    broad_model_free(model);
    broad_data_free(data);
    free(x), free(y);
}

/* What leave-one-out is too small by, squared, widens the residuals that the estimate is made of. */
static void the_estimate_is_widened(void **state)
{
    (void)state;
    enum { COUNT = 80 };
    double x[COUNT], y[COUNT], rmse[2];
    problem_random r = {3};
    for (size_t i = 0; i < COUNT; i++) x[i] = problem_normal(&r), y[i] = sin(x[i]) + problem_normal(&r);
    broad_data *data = data_of_values(x, y, COUNT, 1);
    broad_options o = OPTIONS("features", "2x10", "enhance", "5x1", "effort", "fast", "threads", "1");
    broad_model *model = NULL;
    broad_trainer *t = NULL;
    assert_ok(broad_fit(&model, NULL, data, &o));
    assert_ok(broad_trainer_resume(&t, model, data, &o, 0));
    for (size_t i = 0; i < 2; i++) {
        t->model->optimism = i ? 4 : 0;
        assert_ok(broad__outputs_finish(t));
        rmse[i] = t->model->estimate.rmse;
    }
    assert_true(fabs(rmse[1] / rmse[0] - 2) < 1e-9);
    broad__trainer_close(NULL, t);
    broad_model_free(model);
    broad_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_estimate_is_widened),
        cmocka_unit_test(useless_inputs_cost_little),
        cmocka_unit_test(inputs_that_count_in_pairs_are_found),
        cmocka_unit_test(levels_count_alike),
        cmocka_unit_test(large_gains_buy_rounds),
        cmocka_unit_test(styles_climb_by_themselves),
        cmocka_unit_test(seen_rows_promise_no_more),
        cmocka_unit_test(few_inputs_are_taken_as_they_are),
        cmocka_unit_test(noise_has_no_metric),
        cmocka_unit_test(a_chance_gain_is_no_metric),
        cmocka_unit_test(cases_hold),
        cmocka_unit_test(pictures_have_a_diagonal),
    };
    return cmocka_run_group_tests_name("pilot", tests, NULL, NULL);
}
