/* Rows that are spilled, or whose nodes are recomputed, give the same model bytes as rows in memory, for every way of storing
 * them. */
#include "problem.h"

#include "base/page_cursor.h"
#include "data/table.h"
#include "model/train/plan.h"
#include "model/train/train_open.h"

enum { ROWS = HELPER_SANITIZED ? 600 : 900, MORE = 333, INPUTS = 7 };

/* What the rows have besides inputs and targets. */
typedef struct wish {
    int classes; /* 0: two values */
    int weights, groups;
} wish;

static broad_data *make_rows(size_t rows, wish w, uint64_t seed)
{
    problem_random r = {seed};
    double *x = problem_normals(rows * INPUTS, &r), *values = malloc(2 * rows * sizeof *values);
    double *weights = malloc(rows * sizeof *weights);
    int64_t *classes = malloc(rows * sizeof *classes);
    char(*names)[16] = malloc(rows * sizeof *names);
    const char **groups = malloc(rows * sizeof *groups);
    for (size_t i = 0; i < rows; i++) {
        const double *row = x + i * INPUTS;
        values[2 * i] = sin(row[0]) + row[1] * row[2] + 0.1 * problem_normal(&r);
        values[2 * i + 1] = row[3] > 0 ? row[4] : -row[5];
        classes[i] = (row[0] > 0) + (row[1] * row[2] > 0.3);
        weights[i] = 0.5 + problem_uniform(&r);
        snprintf(names[i], sizeof names[i], "g%d", (int)(i % 211));
        groups[i] = names[i];
    }
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = rows, arrays.inputs = INPUTS, arrays.x = x;
    if (w.classes) arrays.classes = classes;
    else arrays.values = values, arrays.outputs = 2;
    if (w.weights) arrays.weights = weights;
    if (w.groups) arrays.groups = groups;
    broad_data *data = NULL;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    free(x), free(values), free(weights), free(classes), free(names), free(groups);
    return data;
}

static void *spill_array(broad__spill *spill, const void *from, size_t count, size_t bytes)
{
    if (!from) return NULL;
    void *to = broad__spill_alloc(spill, count, bytes);
    assert_non_null(to);
    memcpy(to, from, count * bytes);
    return to;
}

/* The same table, spilled. */
static broad_data *spill_rows(broad_data *data)
{
    size_t rows = data->rows;
    broad__spill *spill = NULL;
    assert_ok(broad__spill_open(&spill, 1 << 20));
    double *x = spill_array(spill, data->x, rows * data->inputs, sizeof *x);
    size_t *classes = spill_array(spill, data->classes, rows, sizeof *classes);
    double *values = spill_array(spill, data->values, rows * data->outputs, sizeof *values);
    double *weights = spill_array(spill, data->weights, rows, sizeof *weights);
    size_t *groups = spill_array(spill, data->groups, rows, sizeof *groups);
    broad__table_done(data, 0, rows);
    broad__spill_free(NULL, data->x), broad__spill_free(NULL, data->classes), broad__spill_free(NULL, data->values);
    broad__spill_free(NULL, data->weights), broad__spill_free(NULL, data->groups);
    data->spill = spill;
    data->x = x, data->classes = classes, data->values = values, data->weights = weights, data->groups = groups;
    broad__table_done(data, 0, rows);
    return data;
}

typedef struct way {
    int spilled, z_recomputed, k_recomputed;
    size_t threads;
} way;

static const way ways[] = {{1, 0, 0, 2}, {1, 0, 1, 1}, {1, 1, 0, 1}, {1, 1, 1, 3}, {0, 1, 1, 2}};
enum { WAYS = sizeof ways / sizeof ways[0] };

static broad__storage storage_of(const way *w)
{
    broad__storage storage = {.z_recomputed = w->z_recomputed, .k_recomputed = w->k_recomputed};
    if (w->spilled) assert_ok(broad__spill_open(&storage.spill, 1 << 20));
    return storage;
}

static void assert_same(model_bytes a, model_bytes b, const char *what, size_t number)
{
    if (a.count != b.count || memcmp(a.at, b.at, a.count) != 0)
        fail_msg("%s: the model of way %zu has other bytes", what, number);
    broad_free(b.at);
}

typedef struct story {
    const char *name;
    wish rows;
    const char *options[10][2];
} story;

static const story stories[] = {
    {"brls", {1, 0, 0}, {{"preset", "paper"}, {"kind", "brls"}}},
    {"brls, values", {0, 0, 0}, {{"preset", "paper"}, {"kind", "brls"}, {"scale", "both"}}},
    {"brls, weights", {1, 1, 0}, {{"preset", "paper"}, {"kind", "brls"}, {"class-weight", "balanced"}}},
    {"bscrls", {1, 0, 1}, {{"preset", "paper"}, {"gamma", "harmonic:0.5"}, {"select", "best"}, {"tries", "5"}}},
    {"bscrls, loo", {0, 1, 0}, {{"preset", "paper"}, {"supervise", "loo"}, {"lambda", "auto"}}},
    {"bscrls, gcv",
     {0, 0, 0},
     {{"preset", "paper"}, {"supervise", "gcv"}, {"range-steps", "1,0.1"}, {"tries", "3"}, {"enhance", "20x1"}}},
    {"bscrls, gcv, groups",
     {1, 1, 1},
     {{"preset", "paper"}, {"supervise", "gcv"}, {"range", "1"}, {"tries", "3"}, {"enhance", "20x1"}}},
    {"bscrls, ranges", {0, 0, 0}, {{"preset", "paper"}, {"range", "auto"}, {"scale", "standard"}}},
    {"brls, joint", {1, 0, 1}, {{"preset", "paper"}, {"kind", "brls"}, {"weights", "joint"}, {"lambda", "auto"}}},
    {"auto", {1, 1, 0}, {{"features", "2x30"}, {"effort", "fast"}}},
    {"metric", {0, 0, 0}, {{"features", "2x30"}, {"learned-metric", "yes"}, {"effort", "fast"}}},
    {"metric, drawn", {1, 0, 1}, {{"preset", "paper"}, {"learned-metric", "yes"}, {"effort", "fast"}}},
    {"bls", {0, 0, 1}, {{"kind", "bls"}, {"features", "4x10"}, {"effort", "fast"}}},
    {"rvfl", {1, 0, 0}, {{"kind", "rvfl"}, {"enhance", "90x1"}}},
    {"scn", {0, 0, 0}, {{"kind", "scn"}, {"preset", "paper"}, {"weights", "chain"}, {"tries", "5"}}},
    {"autoencoder", {1, 0, 0}, {{"preset", "paper"}, {"kind", "brls"}, {"feature-weights", "autoencoder"}}},
    {"wide", {1, 0, 0}, {{"preset", "paper"}, {"kind", "brls"}, {"features", "10x30"}, {"enhance", "260x2"}}},
};
enum { STORIES = sizeof stories / sizeof stories[0] };

static broad_options options_of(const story *s, size_t threads)
{
    broad_options o;
    broad_options_init(&o);
    for (size_t i = 0; i < 10 && s->options[i][0]; i++)
        if (strcmp(s->options[i][0], "preset") == 0 || strcmp(s->options[i][0], "kind") == 0)
            assert_ok(broad_options_set(&o, s->options[i][0], s->options[i][1]));
    o.features_auto = 0, o.feature_groups = 3, o.feature_nodes = 5, o.enhance_nodes = 20, o.enhance_layers = 3;
    for (size_t i = 0; i < 10 && s->options[i][0]; i++)
        if (strcmp(s->options[i][0], "preset") != 0 && strcmp(s->options[i][0], "kind") != 0)
            assert_ok(broad_options_set(&o, s->options[i][0], s->options[i][1]));
    o.threads = threads;
    return o;
}

/* Fit, grow both ways, learn rows; saves what came out after each. */
enum { STEPS = 4 };

static void grow_and_keep(model_bytes out[STEPS], const story *s, const way *w, const broad_data *rows,
                          const broad_data *more)
{
    broad_options o = options_of(s, w->threads);
    broad__storage storage = storage_of(w);
    broad_trainer *t = NULL;
    assert_ok(broad__trainer_open_stored(&t, rows, &o, &storage));
    assert_ok(broad_trainer_enhance(t, o.enhance_nodes, o.enhance_layers));
    out[0] = model_bytes_of(broad_trainer_model(t));
    broad_model *first = NULL;
    broad_trainer_close(&first, t);

    storage = storage_of(w);
    assert_ok(broad__trainer_resume_stored(&t, first, rows, &o, 0, &storage));
    if (o.kind != BROAD_KIND_SCN && o.kind != BROAD_KIND_RVFL) assert_ok(broad_trainer_features(t, 2, 4, 10));
    out[1] = model_bytes_of(broad_trainer_model(t));
    assert_ok(broad_trainer_learn(t, more, 10, 1, 0));
    out[2] = model_bytes_of(broad_trainer_model(t));
    assert_ok(broad_trainer_enhance(t, 15, 1));
    out[3] = model_bytes_of(broad_trainer_model(t));
    broad_trainer_close(NULL, t);
    broad_model_free(first);
}

static void same_bytes_however_rows_are_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < STORIES; i++) {
        const story *s = &stories[i];
        way plain = {.threads = 1};
        model_bytes expected[STEPS], found[STEPS];
        broad_data *rows = make_rows(ROWS, s->rows, 1), *more = make_rows(MORE, s->rows, 2);
        grow_and_keep(expected, s, &plain, rows, more);
        spill_rows(rows), spill_rows(more);
        for (size_t k = 0; k < WAYS; k += HELPER_SANITIZED ? 2 : 1) {
            grow_and_keep(found, s, &ways[k], rows, more);
            for (size_t step = 0; step < STEPS; step++) assert_same(expected[step], found[step], s->name, k);
        }
        for (size_t step = 0; step < STEPS; step++) broad_free(expected[step].at);
        broad_data_free(rows), broad_data_free(more);
    }
}

/* Validation rows, stop rules and going back to the best. */
static void same_bytes_with_validation(void **state)
{
    (void)state;
    story s = {"patience", {1, 0, 0}, {{"preset", "paper"}, {"kind", "brls"}, {"enhance", "30x12"}}};
    broad_data *rows = make_rows(300, s.rows, 3), *check = spill_rows(make_rows(200, s.rows, 4));
    model_bytes expected = {0};
    for (size_t k = 0; k <= WAYS; k++) {
        way plain = {.threads = 1};
        const way *w = k ? &ways[k - 1] : &plain;
        broad_options o = options_of(&s, w->threads);
        o.patience = 3, o.until_accuracy = 0.999;
        broad__storage storage = storage_of(w);
        broad_trainer *t = NULL;
        assert_ok(broad__trainer_open_stored(&t, rows, &o, &storage));
        assert_ok(broad_trainer_validate(t, check));
        assert_ok(broad_trainer_enhance(t, o.enhance_nodes, o.enhance_layers));
        assert_int_equal(broad_model_outcome(broad_trainer_model(t)), BROAD_OUTCOME_TARGET_REACHED);
        if (k) assert_same(expected, model_bytes_of(broad_trainer_model(t)), s.name, k);
        else expected = model_bytes_of(broad_trainer_model(t));
        broad_trainer_close(NULL, t);
    }
    broad_free(expected.at);
    broad_data_free(rows), broad_data_free(check);
}

/* Measures, sums and verification look at spilled tables as at others. */
static void same_judgement(void **state)
{
    (void)state;
    for (int classes = 0; classes < 2; classes++) {
        wish w = {classes, 0, 0};
        story s = {"judge", w, {{"kind", "bls"}}};
        broad_options o = options_of(&s, 2);
        broad_data *rows = make_rows(20000, w, 5);
        broad_model *m = NULL;
        broad_metrics plain = {.size = sizeof plain}, spilled = {.size = sizeof spilled};
        broad_verdict verdict = {.size = sizeof verdict};
        assert_ok(broad_fit(&m, NULL, rows, &o));
        size_t outputs = broad_model_outputs(m);
        double *scores = malloc(rows->rows * outputs * sizeof *scores), *some = malloc(777 * outputs * sizeof *some);
        assert_ok(broad_predict_data(scores, m, rows, THREADS(1)));
        assert_ok(broad_eval(&plain, m, rows, THREADS(2)));
        spill_rows(rows);
        assert_ok(broad_eval(&spilled, m, rows, THREADS(1)));
        assert_ok(broad_verify(&verdict, m, rows, THREADS(2)));
        assert_true(verdict.holds);
        assert_memory_equal(&plain, &spilled, offsetof(broad_metrics, confusion));
        if (classes) assert_memory_equal(plain.confusion, spilled.confusion, outputs * outputs * sizeof(size_t));
        if (classes) assert_true(plain.has_probabilities && plain.brier > 0);
        else assert_true(plain.level == 0.9 && plain.coverage > 0.8 && plain.r2 > 0.5);
        for (size_t first = 1; first + 777 < rows->rows; first += 7000) {
            assert_ok(broad_predict_part(some, m, rows, first, 777, THREADS(2)));
            assert_memory_equal(some, scores + first * outputs, 777 * outputs * sizeof *some);
        }
        assert_fails(broad_predict_part(some, m, rows, 19999, 2, THREADS(1)), BROAD_USAGE,
                     "rows 20000 to 20001 are out of range (the table has 20000)");
        broad_metrics_clear(&plain), broad_metrics_clear(&spilled);
        broad_model_free(m);
        broad_data_free(rows);
        free(scores), free(some);
    }
}

/* What the plan makes of a limit. */
static void plan_under_a_limit(void **state)
{
    (void)state;
    broad_options o;
    broad_plan plan = {.size = sizeof plan};
    broad_options_init(&o);
    assert_ok(broad_options_preset(&o, BROAD_PRESET_PAPER));
    o.kind = BROAD_KIND_BRLS, o.supervise = BROAD_SUPERVISE_NONE, o.threads = 2;
    o.memory = SIZE_MAX;
    assert_ok(broad_plan_run(&plan, &o, NULL, 100000000, 20, 2));
    assert_true(plan.memory == 0 && !plan.spilled && plan.bytes_disk == 0 && !plan.fits && plan.can_spill);
    assert_true(plan.bytes_peak > plan.bytes_data + plan.bytes_training && !plan.memory_automatic);

    /* Half of the available memory, of which a small run takes what it likes and a large one little. */
    o.memory = 0;
    assert_ok(broad_plan_run(&plan, &o, NULL, 100000000, 20, 2));
    assert_true(plan.memory_automatic && plan.memory > plan.bytes_available / 2 - 1 && plan.can_spill);
    assert_true(plan.spilled || plan.features_recomputed);
    assert_ok(broad_plan_run(&plan, &o, NULL, 1000, 20, 2));
    assert_true(plan.fits && !plan.spilled && !plan.features_recomputed);

    /* Where there is enough: few inputs and layers are cheaper to compute again than fresh memory, many are not. */
    broad_options automatic;
    broad_options_init(&automatic);
    assert_ok(broad_options_preset(&automatic, BROAD_PRESET_AUTO));
    assert_ok(broad_plan_run(&plan, &automatic, NULL, 10000, 9, 1));
    assert_true(plan.fits && !plan.spilled && plan.features_recomputed && plan.memory_automatic);
    assert_ok(broad_plan_run(&plan, &automatic, NULL, 10000, 784, 1));
    assert_true(plan.fits && !plan.spilled && !plan.features_recomputed);
    automatic.memory = SIZE_MAX;
    assert_ok(broad_plan_run(&plan, &automatic, NULL, 10000, 9, 1));
    assert_true(!plan.spilled && !plan.features_recomputed);

    /* Few inputs: Z is cheaper to make than to read. Many: the other way round. */
    o.memory = (size_t)512 << 20;
    assert_ok(broad_plan_run(&plan, &o, NULL, 100000000, 20, 2));
    assert_true(plan.spilled && plan.features_recomputed && plan.bytes_least < 512e6 && plan.passes >= 50);
    assert_true(plan.bytes_disk > 100000000 * 8.0 * (20 + 2 * 2));
    double without = plan.bytes_disk;
    assert_ok(broad_plan_run(&plan, &o, NULL, 1000000, 784, 2));
    assert_true(plan.spilled && !plan.features_recomputed && plan.fits);
    assert_true(plan.bytes_disk > 1000000 * 8.0 * (784 + 100));
    assert_true(without > plan.bytes_disk);

    /* What fits is not spilled. */
    assert_ok(broad_plan_run(&plan, &o, NULL, 10000, 20, 2));
    assert_true(plan.fits && !plan.spilled && plan.bytes_disk == 0 && plan.bytes_peak < 512e6);

    /* Too little, and settings that need all columns of all rows. */
    broad_data *rows = make_rows(ROWS, (wish){1, 0, 0}, 1);
    broad_model *m = NULL;
    o.memory = 1 << 20;
    assert_fails(broad_fit(&m, NULL, rows, &o), BROAD_NO_MEMORY, "give at least");
    assert_null(m);
    broad_options_init(&o);
    o.kind = BROAD_KIND_SCN;
    assert_ok(broad_options_preset(&o, BROAD_PRESET_AUTO));
    o.memory = 1 << 20;
    assert_fails(broad_fit(&m, NULL, rows, &o), BROAD_NO_MEMORY, "option weights chain");
    assert_null(m);
    broad_data_free(rows);
}

static void sizes_as_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double bytes;
    } good[] = {{"0", 0},
                {"1", 1},
                {"4096", 4096},
                {"512M", 536870912},
                {"2G", 2147483648.0},
                {"1.5g", 1610612736},
                {"64MB", 67108864},
                {"1KiB", 1024},
                {"1T", 1099511627776.0},
                {"7b", 7}};
    static const char *const bad[] = {"", "M", "12X", "1.5GG", "-1", "1e30G", "nan", "2 G", "1ib"};
    broad_options o;
    broad_options_init(&o);
    assert_int_equal(o.memory, 0);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        char text[32];
        assert_ok(broad_options_set(&o, "memory", good[i].text));
        assert_true((double)o.memory == good[i].bytes);
        assert_ok(broad_options_get(text, sizeof text, &o, "memory"));
        assert_true(strtod(text, NULL) == good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_fails(broad_options_set(&o, "memory", bad[i]), BROAD_USAGE, "such as 512M");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* First: what later ones leave behind in the process counts in its plans. */
        cmocka_unit_test(plan_under_a_limit),
        cmocka_unit_test(same_bytes_however_rows_are_kept),
        cmocka_unit_test(same_bytes_with_validation),
        cmocka_unit_test(same_judgement),
        cmocka_unit_test(sizes_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
