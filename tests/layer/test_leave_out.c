/* Leave-one-out in closed form against what it stands for: a network solved again without each row. */
#include "plain.h"

#include "layer/supervise.h"
#include "model/train/train.h"
#include "model/train/train_open.h"

/* ---- one problem ----------------------------------------------------------------------------------------------- */

typedef struct trial {
    broad_arrays arrays;
    broad_data *data;
    broad_trainer *t;
    size_t rows, columns, outputs;
    double *a, *y, *root; /* plain, without the roots; root: NULL where every row counts alike */
} trial;

static void trial_open(trial *out, uint64_t seed, size_t rows, size_t classes, int weighted, const broad_options *o)
{
    problem_random r = {seed};
    *out = (trial){.rows = rows, .outputs = classes ? classes : 2};
    plain_arrays(&out->arrays, &r, rows, 2, 2, classes, weighted);
    out->data = plain_data(&out->arrays);
    out->y = plain_targets(&out->arrays, out->outputs);
    assert_ok(broad__trainer_open(&out->t, out->data, o));
    if (!weighted && !o->class_weight) return;
    double counts[8] = {0};
    for (size_t i = 0; classes && i < rows; i++) counts[out->arrays.classes[i]]++;
    out->root = malloc(rows * sizeof *out->root);
    for (size_t i = 0; i < rows; i++) {
        double weight = weighted ? out->arrays.weights[i] : 1;
        if (o->class_weight) weight *= (double)rows / ((double)classes * counts[out->arrays.classes[i]]);
        out->root[i] = sqrt(weight);
    }
}

/* The columns of the network as it is now. */
static void trial_look(trial *x)
{
    free(x->a);
    x->a = plain_columns(&x->columns, x->t->model, x->arrays.x, x->rows);
}

static void trial_close(trial *x)
{
    broad__trainer_close(NULL, x->t);
    broad_data_free(x->data);
    plain_arrays_free(&x->arrays);
    free(x->a), free(x->y), free(x->root);
}

/* Norm of the leave-one-out residuals, times the roots. */
static double brute_norm(const trial *x, const double *a, size_t columns, double lambda)
{
    double *out = malloc(x->rows * x->outputs * sizeof *out);
    long double sum = 0;
    plain_leave_out(out, a, x->y, x->root, x->rows, columns, x->outputs, lambda);
    for (size_t i = 0; i < x->rows * x->outputs; i++) {
        long double miss = (x->y[i] - out[i]) * (x->root ? x->root[i / x->outputs] : 1);
        sum += miss * miss;
    }
    free(out);
    return (double)sqrtl(sum);
}

/* ---- scores of every row --------------------------------------------------------------------------------------- */

static void joint_scores(void **state)
{
    (void)state;
    static const char *const kinds[] = {"bls", "rvfl", "brls", "bscrls"};
    static const char *const lambdas[] = {"0.01", "0.5", "auto", "1e-5"};
    size_t duals = 0, networks = 0;
    double worst = 0;
    for (size_t i = 0; i < 32; i++) {
        size_t rows = i / 4 % 2 ? 12 : 34, classes = i % 3 == 0 ? 3 : 0;
        broad_options o = OPTIONS("preset", "paper", "kind", kinds[i % 4], "weights", "joint", "scale", "none",
                                  "features", "2x3", "enhance", "8x2", "loo", "yes", "lambda", lambdas[i / 8]);
        if (classes && i % 2) o.class_weight = "balanced";
        trial x;
        trial_open(&x, i + 1, rows, classes, i % 5 == 0, &o);
        for (int grown = 0; grown < 2; grown++) {
            assert_ok(broad__trainer_enhance(x.t, grown ? 5 : 8, grown ? 1 : 2));
            trial_look(&x);
            double *exact = malloc(rows * x.outputs * sizeof *exact);
            plain_leave_out(exact, x.a, x.y, x.root, rows, x.columns, x.outputs, x.t->joint.lambda);
            assert_int_equal(x.t->joint.sample_count, rows);
            assert_int_equal(x.t->joint.dual, rows < x.columns);
            double error = relative_distance(x.t->joint.loo_scores, exact, rows * x.outputs);
            /* Leverages near 1 lose what the condition of A'A + lambda I takes. */
            double trace = 0;
            for (size_t k = 0; k < rows * x.columns; k++) trace += x.a[k] * x.a[k];
            double allowed = 1e-9 + 1e-15 * trace / x.t->joint.lambda;
            if (!(error < allowed)) fail_msg("problem %zu, lambda %g: %g", i, x.t->joint.lambda, error);
            plain_check_estimate(x.t->model, &x.arrays, x.y, exact, 4 * allowed);
            worst = fmax(worst, error), duals += rows < x.columns, networks++;
            free(exact);
        }
        trial_close(&x);
    }
    print_message("%zu networks, %zu with fewer rows than columns, worst error %.1g\n", networks, duals, worst);
    assert_true(duals > 20 && duals < networks);
}

/* Many rows: some of them tell, but each of these is left out of all. */
static void a_sample_of_many_rows(void **state)
{
    (void)state;
    enum { ROWS = 5000 };
    broad_options o = OPTIONS("preset", "paper", "kind", "bls", "scale", "none", "features", "1x3", "enhance", "4x1",
                              "lambda", "0.1");
    trial x;
    trial_open(&x, 3, ROWS, 0, 1, &o);
    assert_ok(broad__trainer_enhance(x.t, 4, 1));
    trial_look(&x);
    const broad__joint *joint = &x.t->joint;
    assert_true(joint->sample_count > 1000 && joint->sample_count < ROWS);
    for (size_t k = 0; k < joint->sample_count; k += 617) {
        double exact[2];
        size_t row = joint->sample[k];
        assert_true(row < ROWS);
        plain_leave_one(exact, row, x.a, x.y, x.root, ROWS, x.columns, 2, 0.1);
        assert_true(relative_distance(joint->loo_scores + 2 * k, exact, 2) < 1e-9);
    }
    trial_close(&x);
}

/* Where all weights are solved again with each layer, the growing fit has the leverages: with more rows than columns, and
 * past the point where columns outnumber them. */
static void stepwise_scores(void **state)
{
    (void)state;
    double worst = 0;
    size_t duals = 0;
    for (size_t i = 0; i < 16; i++) {
        /* Of so few rows leave-one-out refuses most. */
        int scn = i % 2 || i >= 8;
        broad_options o = scn ? OPTIONS("preset", "paper", "kind", "scn", "scale", "none", "tries", "5", "range-steps",
                                        "1,4", "lambda", "1e-3", "relax-count", "9", "loo", "yes")
                              : OPTIONS("preset", "paper", "kind", "bscrls", "weights", "joint", "supervise", "loo",
                                        "scale", "none", "features", "1x3", "lambda", "1e-2", "relax-count", "9");
        trial x;
        trial_open(&x, i + 60, i < 8 ? 25 : 12, i % 4 == 3 ? 2 : 0, i % 8 >= 4, &o);
        assert_ok(broad__trainer_enhance(x.t, 3, 5));
        assert_true(x.t->model->layer_count > 1);
        trial_look(&x);
        double *exact = malloc(x.rows * x.outputs * sizeof *exact), *have = malloc(x.rows * x.outputs * sizeof *have);
        plain_leave_out(exact, x.a, x.y, x.root, x.rows, x.columns, x.outputs, o.lambda);
        assert_ok(broad__growing_qr_leave_out(have, &x.t->qr, &x.t->train.residual, x.t->train.y));
        double error = relative_distance(have, exact, x.rows * x.outputs);
        assert_true(error < 1e-8);
        plain_check_estimate(x.t->model, &x.arrays, x.y, exact, 1e-8);
        worst = fmax(worst, error), duals += x.columns > x.rows;
        assert_int_equal(x.columns > x.rows, x.t->qr.dual.a != NULL);
        free(exact), free(have);
        trial_close(&x);
    }
    print_message("%zu with fewer rows than columns, worst error %.1g\n", duals, worst);
    assert_true(duals > 3);
}

/* ---- growth by leave-one-out ----------------------------------------------------------------------------------- */

/* The value of one draw of the next layer: leave-one-out norm of all columns with it, against that without. */
static double next_value(const trial *x, double before, size_t nodes, size_t step, size_t draw)
{
    const broad_model *m = x->t->model;
    size_t features, wide = x->columns + nodes;
    double *z = plain_features(&features, m, x->arrays.x, x->rows);
    double *weight = malloc(features * nodes * sizeof *weight), *bias = malloc(nodes * sizeof *bias);
    double *a = malloc(x->rows * wide * sizeof *a);
    broad__stream stream = {m->settings.seed, BROAD__FOR_ENHANCEMENT, (uint32_t)m->layer_count, (uint16_t)step,
                            (uint16_t)draw};
    plain_draw(weight, bias, stream, features, nodes, m->range * m->settings.range_steps[step], m->settings.range_unit);
    for (size_t i = 0; i < x->rows; i++) memcpy(a + i * wide, x->a + i * x->columns, x->columns * sizeof *a);
    plain_nodes(a, wide, x->columns, z, x->rows, features, weight, bias, nodes, m->settings.activation);
    double value = brute_norm(x, a, wide, m->settings.lambda) / before;
    free(z), free(weight), free(bias), free(a);
    return value;
}

static void growth_by_leave_one_out(void **state)
{
    (void)state;
    size_t layers = 0;
    for (size_t i = 0; i < 4; i++) {
        broad_options o =
            OPTIONS("preset", "paper", "kind", "bscrls", "weights", "joint", "supervise", "loo", "scale", "none",
                    "features", "1x2", "lambda", "0.03", "tries", "2", "range-steps", "1,3", "relax-count", "1",
                    "range", "3", "activation", "tanh", "gamma", "harmonic:0.01", "select", i % 2 ? "best" : "first");
        trial x;
        trial_open(&x, i + 20, 40, i == 3 ? 2 : 0, i == 2, &o);
        double before = 0;
        for (size_t k = 0; k < x.rows * x.outputs; k++) before += pow(x.y[k] * (x.root ? x.root[k / x.outputs] : 1), 2);
        before = sqrt(before);
        for (size_t j = 0;; j++) {
            assert_true(j < 40);
            assert_ok(broad__trainer_enhance(x.t, 2, 1));
            if (x.t->model->layer_count == j) break;
            trial_look(&x);
            double norm = brute_norm(&x, x.a, x.columns, o.lambda);
            const broad__certificate *c = &x.t->model->layers[j].certificate;
            assert_true(fabs(norm / before - c->tested) < 1e-8);
            assert_true(norm < before && c->tested <= c->bound);
            before = norm;
            layers++;
        }
        /* It has ended because no draw of the next layer would make the norm fall by as much as the bound asks. */
        assert_int_equal(broad_model_outcome(x.t->model), BROAD_OUTCOME_STALLED);
        double bound = broad__schedule(&o, x.t->model->layer_count + 1, o.relax_count).sum;
        for (size_t step = 0; step < 2; step++)
            for (size_t draw = 0; draw < 2; draw++) assert_true(next_value(&x, before, 2, step, draw) > bound);
        trial_close(&x);
    }
    print_message("%zu layers\n", layers);
    assert_true(layers > 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joint_scores),
        cmocka_unit_test(a_sample_of_many_rows),
        cmocka_unit_test(stepwise_scores),
        cmocka_unit_test(growth_by_leave_one_out),
    };
    return cmocka_run_group_tests_name("leave_out", tests, NULL, NULL);
}
