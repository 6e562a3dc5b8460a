/* Joint weights: increments in any order against one ridge regression over all nodes and rows, solved in long double. */
#include "failing.h"
#include "plain.h"

#include <float.h>

#include "base/memory.h"
#include "data/labels.h"
#include "model/train/train.h"
#include "model/train/train_open.h"
#include "model/train/train_rows.h"

/* Rows with three inputs that follow each other without end; every third problem has classes. */
static broad_data *rows_of(problem_random *r, size_t rows, size_t inputs, int classes, int weighted)
{
    static const char *const names[] = {"a", "b", "c"};
    double *x = malloc(rows * inputs * sizeof *x), *values = malloc(rows * sizeof *values);
    const char **labels = malloc(rows * sizeof *labels);
    for (size_t i = 0; i < rows; i++) {
        double sum = 0;
        for (size_t j = 0; j < inputs; j++) {
            x[i * inputs + j] = problem_normal(r);
            sum += x[i * inputs + j] * (double)(j + 1);
        }
        values[i] = sin(sum) + 0.3 * problem_normal(r);
        labels[i] = names[i < 3 ? i : (size_t)(fabs(sum) * 2) % 3];
    }
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = rows, arrays.inputs = inputs, arrays.x = x;
    if (classes) arrays.labels = labels;
    else arrays.values = values, arrays.outputs = 1;
    broad_data *data = NULL;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    if (weighted) {
        data->weights = broad__alloc_doubles(rows, 1);
        for (size_t i = 0; i < rows; i++) data->weights[i] = 0.1 + 3 * problem_uniform(r);
    }
    free(x), free(values), free(labels);
    return data;
}

static double distance(const double *a, const double *b, size_t count)
{
    double apart = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        apart += (a[i] - b[i]) * (a[i] - b[i]);
        size += b[i] * b[i];
    }
    return sqrt(apart) / (sqrt(size) + DBL_MIN);
}

/* The network's weights against those of the batch, over A as the nodes give it. */
static double error_of(broad_trainer *t)
{
    broad_model *model = t->model;
    broad__residual *residual = &t->train.residual;
    size_t c = model->outputs, p = 0, at = 0;
    broad__kblock *kblocks = calloc(model->layer_count, sizeof *kblocks);
    for (size_t j = 0; j < model->layer_count; j++) {
        kblocks[j] = broad__model_kblock(model, j);
        p += broad__kblock_width(&kblocks[j]);
    }
    assert_ok(broad__candidate_nodes(residual, kblocks, model->layer_count));
    double *exact = malloc(p * c * sizeof *exact), *have = malloc(p * c * sizeof *have);
    double lambda = model->joint.present ? model->joint.lambda : model->layers[0].certificate.lambda;
    plain_ridge(exact, residual->candidate.k, t->train.y, residual->rows, p, c, lambda);
    for (size_t j = 0; j < model->layer_count; j++) {
        const broad__layer *layer = &model->layers[j];
        memcpy(have + at, layer->joint ? layer->joint : layer->output, layer->width * c * sizeof *have);
        at += layer->width * c;
    }
    double error = distance(have, exact, p * c);
    free(kblocks), free(exact), free(have);
    return error;
}

/* Increments of one sequence: e(nhance), f(eatures), d(ata). */
static void one_sequence(uint64_t seed, double *worst, size_t counts[3], size_t *duals, size_t *updates)
{
    static const char *const kinds[] = {"bls", "brls", "bscrls", "rvfl"};
    problem_random r = {seed * 7919 + 1};
    const char *kind = kinds[seed % 4];
    size_t inputs = 2 + (size_t)(problem_uniform(&r) * 4), rows = 8 + (size_t)(problem_uniform(&r) * 120);
    int classes = seed % 3 == 0, weighted = seed % 5 == 0;
    broad_data *parts[8] = {rows_of(&r, rows, inputs, classes, weighted)};
    size_t part_count = 1;
    broad_options o;
    broad_options_init(&o);
    assert_ok(broad_options_set(&o, "preset", "paper"));
    assert_ok(broad_options_set(&o, "kind", kind));
    assert_ok(broad_options_set(&o, "weights", "joint"));
    assert_ok(broad_options_set(&o, "scale", "standard"));
    assert_ok(broad_options_set(&o, "activation", seed % 2 ? "tanh" : "sigmoid"));
    o.lambda = pow(10, -6 + 8 * problem_uniform(&r));
    o.features_auto = 0, o.feature_groups = 1 + seed % 3, o.feature_nodes = 3;
    o.enhance_nodes = 4 + (size_t)(problem_uniform(&r) * 20), o.enhance_layers = 1 + seed % 2;
    o.seed = seed;
    o.threads = 1 + seed % 2;
    o.loo = seed % 2 ? BROAD_LOO_NO : BROAD_LOO_AUTO;
    if (seed % 7 == 0 && classes) o.class_weight = "balanced";
    broad_trainer *t = NULL;
    assert_ok(broad__trainer_open(&t, parts[0], &o));
    assert_ok(broad__trainer_enhance(t, o.enhance_nodes, o.enhance_layers));
    size_t steps = 2 + (size_t)(problem_uniform(&r) * 5);
    for (size_t i = 0; i < steps; i++) {
        size_t what = (size_t)(problem_uniform(&r) * 3), nodes = 1 + (size_t)(problem_uniform(&r) * 9);
        if (what == 1 && strcmp(kind, "rvfl") == 0) what = 0;
        if (what == 0) assert_ok(broad__trainer_enhance(t, nodes, 1));
        if (what == 1) assert_ok(broad__trainer_features(t, 1, 2, nodes));
        if (what == 2) {
            parts[part_count] = rows_of(&r, 3 + (size_t)(problem_uniform(&r) * 40), inputs, classes, weighted);
            assert_ok(broad__trainer_learn(t, parts[part_count++], NULL, nodes, problem_uniform(&r) < 0.5, 0));
        }
        counts[what]++;
        *duals += (size_t)t->joint.dual;
        double error = error_of(t);
        if (error > *worst) *worst = error;
        if (error > 1e-8)
            print_message("sequence %zu (%s), step %zu, kind of step %zu, lambda %.2g: %.2g\n", (size_t)seed, kind, i,
                          what, o.lambda, error);
        assert_true(error <= 1e-8);
    }
    *updates += t->joint.updates;
    broad__trainer_close(NULL, t);
    for (size_t i = 0; i < part_count; i++) broad_data_free(parts[i]);
}

static void any_order_equals_the_batch(void **state)
{
    (void)state;
    double worst = 0;
    size_t counts[3] = {0}, duals = 0, updates = 0, sequences = 600;
    if (getenv("BROAD_SEQUENCES")) sequences = strtoul(getenv("BROAD_SEQUENCES"), NULL, 10);
    for (size_t seed = 0; seed < sequences; seed++) one_sequence(seed, &worst, counts, &duals, &updates);
    print_message("%zu sequences, %zu + %zu + %zu increments (nodes, features, rows), %zu with fewer rows than nodes, "
                  "%zu factors brought up to date; worst error %.2g\n",
                  sequences, counts[0], counts[1], counts[2], duals, updates, worst);
    assert_true(duals > 100 && updates > 300);
}

/* ---- what is used again ----------------------------------------------------------------------------------------- */

static void put_groups(broad_data *data, size_t count)
{
    char(*names)[24] = malloc(count * sizeof *names);
    const char **groups = malloc(data->rows * sizeof *groups);
    for (size_t i = 0; i < count; i++) snprintf(names[i], sizeof *names, "%zu", i);
    for (size_t i = 0; i < data->rows; i++) groups[i] = names[i % count];
    assert_ok(broad__table_set_groups(data, groups, "group"));
    free(groups), free(names);
}

/* One layer of 60 nodes with joint weights, whose chain was solved with a lambda that the search begins with. */
static broad_trainer *found_lambda(const broad_data *data, size_t memory, double lambda)
{
    broad_options o;
    broad_options_init(&o);
    assert_ok(broad_options_set(&o, "preset", "paper"));
    assert_ok(broad_options_set(&o, "kind", "bscrls"));
    assert_ok(broad_options_set(&o, "weights", "joint"));
    assert_ok(broad_options_set(&o, "scale", "standard"));
    assert_ok(broad_options_set(&o, "loo", "yes"));
    o.lambda_auto = lambda == 0;
    if (lambda > 0) o.lambda = lambda;
    o.features_auto = 0, o.feature_groups = 2, o.feature_nodes = 20, o.enhance_nodes = 20, o.enhance_layers = 1;
    o.seed = 5;
    o.memory = memory;
    broad_trainer *t = NULL;
    assert_ok(broad__trainer_open(&t, data, &o));
    t->model->exponent = -3;
    assert_ok(broad__trainer_enhance(t, o.enhance_nodes, 1));
    return t;
}

/* Where there is room for it, the factor of the chain is used again; where there is none, the same comes of it. */
static void the_factor_of_the_chain_serves_the_search(void **state)
{
    (void)state;
    problem_random r = {17};
    broad_data *data = rows_of(&r, 1500, 3, 0, 0);
    broad_trainer *kept = found_lambda(data, 0, 0), *anew = found_lambda(data, (size_t)1 << 30, 0);
    size_t count = kept->joint.columns * kept->joint.outputs;
    assert_true(kept->joint.columns == anew->joint.columns && kept->joint.lambda > 0);
    assert_memory_equal(&kept->joint.lambda, &anew->joint.lambda, sizeof(double));
    assert_true(distance(kept->joint.w, anew->joint.w, count) < 1e-12);
    assert_true(kept->joint.factors < anew->joint.factors);
    assert_true(error_of(kept) < 1e-8);
    broad__trainer_close(NULL, kept), broad__trainer_close(NULL, anew);
    broad_data_free(data);
}

/* Scores that the search for lambda leaves, beside those of the rows that it left out, are those of a fit with the lambda that
 * it found. groups: of rows that are left out together; 0: each by itself. */
static void check_scores(size_t groups)
{
    problem_random r = {23};
    broad_data *data = rows_of(&r, 1500, 3, 0, 0);
    if (groups) put_groups(data, groups);
    broad_trainer *searched = found_lambda(data, 0, 0), *given = found_lambda(data, 0, searched->joint.lambda);
    const broad__joint *a = &searched->joint, *b = &given->joint;
    assert_true(a->sample_count == b->sample_count && a->search_count < a->sample_count);
    assert_memory_equal(a->sample, b->sample, a->sample_count * sizeof *a->sample);
    assert_true(fabs(a->loo - b->loo) < 1e-10 * b->loo);
    assert_true(distance(a->loo_scores, b->loo_scores, a->sample_count * a->outputs) < 1e-10);
    broad__trainer_close(NULL, searched), broad__trainer_close(NULL, given);
    broad_data_free(data);
}

static void scores_of_the_search_are_those_of_the_fit(void **state)
{
    (void)state;
    check_scores(0);
    check_scores(700);
}

/* ---- failures -------------------------------------------------------------------------------------------------- */

static int increment(broad_trainer *t, int what, const broad_data *more)
{
    if (what == 0) return broad__trainer_enhance(t, 5, 2);
    return what == 1 ? broad__trainer_features(t, 1, 2, 3) : broad__trainer_learn(t, more, NULL, 4, 1, 0);
}

/* Whatever allocation of an increment fails, what is left can be saved, loaded and used. */
static void every_allocation_of_an_increment_failed_in_turn(void **state)
{
    (void)state;
    static const char *const kinds[] = {"bls", "brls", "bscrls", "scn", "bls", "scn"};
    size_t failures = 0;
    for (size_t kind = 0; kind < 6; kind++)
        for (int what = 0; what < 3; what++) {
            if ((kind == 3 || kind == 5) && what == 1) continue;
            problem_random r = {kind + 1};
            broad_data *data = rows_of(&r, 60, 3, 1, 0), *more = rows_of(&r, 20, 3, 1, 0);
            if (kind >= 4) put_groups(data, 5), put_groups(more, 2);
            broad_options o;
            broad_options_init(&o);
            assert_ok(broad_options_set(&o, "preset", "paper"));
            assert_ok(broad_options_set(&o, "kind", kinds[kind]));
            assert_ok(broad_options_set(&o, "weights", "joint"));
            assert_ok(broad_options_set(&o, "lambda", kind == 4 ? "auto" : "0.01"));
            if (kind == 5) assert_ok(broad_options_set(&o, "loo", "yes"));
            o.feature_groups = 2, o.feature_nodes = 3, o.threads = 1, o.tries = 3;
            failing self = {.lock = PTHREAD_MUTEX_INITIALIZER};
            broad_allocator allocator = {failing_allocate, failing_release, &self};
            broad_set_allocator(&allocator);
            int status = BROAD_NO_MEMORY;
            for (size_t n = 1; status != BROAD_OK; n++) {
                broad_trainer *t = NULL;
                self.fail_at = 0;
                assert_ok(broad__trainer_open(&t, data, &o));
                assert_ok(broad__trainer_enhance(t, 6, 2));
                self.calls = 0, self.fail_at = n;
                status = increment(t, what, more);
                self.fail_at = 0;
                void *bytes = NULL;
                size_t count = 0;
                broad_model *model = NULL, *loaded = NULL;
                broad__trainer_close(&model, t);
                assert_ok(broad_model_to_memory(&bytes, &count, model, 0));
                assert_ok(broad_model_from_memory(&loaded, bytes, count));
                broad_free(bytes);
                broad_model_free(model);
                broad_model_free(loaded);
                assert_int_equal(self.live, 0);
                failures += status != BROAD_OK;
            }
            broad_set_allocator(NULL);
            broad_data_free(data), broad_data_free(more);
        }
    print_message("%zu failures\n", failures);
    assert_true(failures > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order_equals_the_batch),
        cmocka_unit_test(the_factor_of_the_chain_serves_the_search),
        cmocka_unit_test(scores_of_the_search_are_those_of_the_fit),
        cmocka_unit_test(every_allocation_of_an_increment_failed_in_turn),
    };
    return cmocka_run_group_tests_name("joint", tests, NULL, NULL);
}
