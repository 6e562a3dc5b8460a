/* Networks without a chain against the ridge regression they are, and what is kept of fitted and sampled nodes. */
#include "plain.h"

#include "model/train/train_open.h"

enum { ROWS = 80, INPUTS = 3, FRESH = 30 };

typedef struct problem {
    broad_arrays arrays;
    broad_data *data;
    double *fresh; /* FRESH x INPUTS */
} problem;

static void problem_open(problem *p, uint64_t seed, size_t classes)
{
    problem_random r = {seed};
    plain_arrays(&p->arrays, &r, ROWS, INPUTS, 2, classes, 0);
    p->data = plain_data(&p->arrays);
    p->fresh = problem_normals(FRESH * INPUTS, &r);
}

static void problem_close(problem *p)
{
    broad_data_free(p->data);
    plain_arrays_free(&p->arrays);
    free(p->fresh);
}

static broad_model *fit(const problem *p, const broad_options *o)
{
    broad_model *model = NULL;
    assert_ok(broad_fit(&model, NULL, p->data, o));
    return model;
}

/* rvfl: one ridge over [X | H], with H = xi(X W + b) of one draw, everything from the seed. */
static void rvfl_is_a_ridge_over_inputs_and_nodes(void **state)
{
    (void)state;
    enum { NODES = 12, WIDE = INPUTS + NODES };
    static const char *const lambdas[] = {"1e-4", "0.1", "10"};
    for (size_t i = 0; i < 6; i++) {
        problem p;
        problem_open(&p, i + 1, i % 2 ? 3 : 0);
        size_t c = i % 2 ? 3 : 2;
        broad_options o =
            OPTIONS("preset", "paper", "kind", "rvfl", "scale", "none", "activation", i < 3 ? "tanh" : "sigmoid",
                    "enhance", "6x2", "lambda", lambdas[i % 3], "range", "1.5", "seed", "11");
        broad_model *model = fit(&p, &o);
        double weight[INPUTS * NODES], bias[NODES], k[ROWS * WIDE], kf[FRESH * WIDE], w[WIDE * 3], out[FRESH * 3],
            left[FRESH * 3], zero[FRESH * 3] = {0}, *y = plain_targets(&p.arrays, c);
        plain_draw(weight, bias, (broad__stream){11, BROAD__FOR_ENHANCEMENT, 0, 0, 0}, INPUTS, NODES, 1.5,
                   o.range_unit);
        for (size_t row = 0; row < ROWS; row++)
            memcpy(k + row * WIDE, (const double *)p.arrays.x + row * INPUTS, INPUTS * sizeof *k);
        for (size_t row = 0; row < FRESH; row++) memcpy(kf + row * WIDE, p.fresh + row * INPUTS, INPUTS * sizeof *k);
        plain_nodes(k, WIDE, INPUTS, p.arrays.x, ROWS, INPUTS, weight, bias, NODES, o.activation);
        plain_nodes(kf, WIDE, INPUTS, p.fresh, FRESH, INPUTS, weight, bias, NODES, o.activation);
        plain_ridge(w, k, y, ROWS, WIDE, c, o.lambda);
        plain_residual(left, kf, w, zero, FRESH, WIDE, c);
        assert_ok(broad_predict(out, model, p.fresh, FRESH, INPUTS));
        for (size_t j = 0; j < FRESH * c; j++) left[j] = -left[j];
        assert_true(relative_distance(out, left, FRESH * c) < 1e-9);
        assert_int_equal(broad_model_layers(model), 1);
        free(y);
        broad_model_free(model);
        problem_close(&p);
    }
}

/* bls and the joint weights of the others: one ridge over the nodes there are. */
static void joint_kinds_are_a_ridge_over_their_nodes(void **state)
{
    (void)state;
    static const char *const kinds[][2] = {{"bls", "random"},   {"bls", "autoencoder"},    {"bls", "sampled"},
                                           {"brls", "sampled"}, {"bscrls", "autoencoder"}, {"scn", "random"}};
    for (size_t i = 0; i < 12; i++) {
        size_t columns, classes = i / 6 ? 3 : 0, c = classes ? classes : 2;
        problem p;
        problem_open(&p, i + 40, classes);
        broad_options o = OPTIONS("preset", "paper", "kind", kinds[i % 6][0], "weights", "joint", "feature-weights",
                                  kinds[i % 6][1], "scale", "standard", "features", "3x4", "enhance", "7x3", "lambda",
                                  "0.01", "activation", "tanh", "relax-count", "9");
        broad_model *model = fit(&p, &o);
        double *a = plain_columns(&columns, model, p.arrays.x, ROWS), *y = plain_targets(&p.arrays, c);
        double *w = malloc(columns * c * sizeof *w), *have = plain_outputs(model);
        plain_ridge(w, a, y, ROWS, columns, c, 0.01);
        double error = relative_distance(have, w, columns * c);
        if (!(error < 1e-8)) fail_msg("%s with %s features: %g", kinds[i % 6][0], kinds[i % 6][1], error);
        free(a), free(y), free(w), free(have);
        broad_model_free(model);
        problem_close(&p);
    }
}

/* Saved and read back, whole and compact, the network says the same to the last bit; and goes on growing. */
static void files_keep_every_kind(void **state)
{
    (void)state;
    static const char *const cases[][5] = {
        {"bls", "joint", "none", "random", "standard"},       {"bls", "joint", "none", "autoencoder", "minmax"},
        {"bls", "joint", "none", "sampled", "both"},          {"rvfl", "joint", "none", "random", "rank"},
        {"scn", "joint", "output", "random", "standard"},     {"scn", "window", "output", "random", "both"},
        {"brls", "joint", "none", "autoencoder", "standard"}, {"bscrls", "joint", "loo", "sampled", "both"},
        {"bscrls", "chain", "residual", "sampled", "rank"},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        const char *const *one = cases[i / 2];
        problem p;
        problem_open(&p, i + 90, i % 3 ? 0 : 2);
        broad_options o = OPTIONS("preset", "paper", "kind", one[0], "weights", one[1], "supervise", one[2],
                                  "feature-weights", one[3], "scale", one[4], "features", "2x5", "enhance", "6x3",
                                  "lambda", i % 2 ? "auto" : "0.01", "relax-count", "9", "tries", "5");
        broad_model *model = fit(&p, &o), *back = NULL;
        double before[FRESH * 2], after[FRESH * 2];
        assert_ok(broad_predict(before, model, p.fresh, FRESH, INPUTS));
        for (int compact = 0; compact < 2; compact++) {
            void *bytes = NULL, *again = NULL;
            size_t count = 0, same = 0;
            assert_ok(broad_model_to_memory(&bytes, &count, model, compact));
            assert_ok(broad_model_from_memory(&back, bytes, count));
            assert_ok(broad_predict(after, back, p.fresh, FRESH, INPUTS));
            assert_memory_equal(before, after, FRESH * broad_model_outputs(model) * sizeof(double));
            assert_ok(broad_model_to_memory(&again, &same, back, compact));
            assert_int_equal(count, same);
            assert_memory_equal(bytes, again, count);
            broad_free(bytes), broad_free(again);
            broad_trainer *t = NULL;
            assert_ok(broad_trainer_resume(&t, back, p.data, &o, 0));
            assert_ok(broad_trainer_enhance(t, 4, 1));
            broad_trainer_close(NULL, t);
            broad_model_free(back);
        }
        broad_model_free(model);
        problem_close(&p);
    }
}

/* Without layers there is one block a run, whatever the number of layers asked for. */
static void blocks_of_nodes(void **state)
{
    (void)state;
    static const char *const kinds[] = {"bls", "rvfl"};
    for (size_t i = 0; i < 2; i++) {
        problem p;
        problem_open(&p, 9, 0);
        broad_options o =
            OPTIONS("preset", "paper", "kind", kinds[i], "features", "2x4", "enhance", "5x4", "lambda", "0.1");
        broad_model *model = fit(&p, &o);
        assert_int_equal(broad_model_layers(model), 1);
        assert_int_equal(model->layers[0].nodes, 20);
        assert_int_equal(model->layers[0].width, 20 + (i ? INPUTS : 8));
        broad_trainer *t = NULL;
        assert_ok(broad_trainer_resume(&t, model, p.data, &o, 0));
        assert_ok(broad_trainer_enhance(t, 3, 2));
        assert_int_equal(broad_model_layers(broad_trainer_model(t)), 2);
        assert_int_equal(broad_trainer_model(t)->layers[1].width, 6);
        broad_trainer_close(NULL, t);
        broad_model_free(model);
        problem_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rvfl_is_a_ridge_over_inputs_and_nodes),
        cmocka_unit_test(joint_kinds_are_a_ridge_over_their_nodes),
        cmocka_unit_test(files_keep_every_kind),
        cmocka_unit_test(blocks_of_nodes),
    };
    return cmocka_run_group_tests_name("kinds", tests, NULL, NULL);
}
