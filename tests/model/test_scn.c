/* Stochastic configuration networks: the published example, the draw that is kept, and the weights that follow it. */
#include "plain.h"

#include "layer/supervise.h"
#include "model/train/train.h"
#include "model/train/train_open.h"

/* ---- the published example ------------------------------------------------------------------------------------- */

enum { POINTS = 1000, SEEDS = HELPER_SANITIZED ? 1 : 5, NODES_MOST = 100 };

static double bumps(double x)
{
    double a = 10 * x - 4, b = 80 * x - 40, c = 80 * x - 20;
    return 0.2 * exp(-a * a) + 0.5 * exp(-b * b) + 0.3 * exp(-c * c);
}

static broad_data *bump_data(void)
{
    static double x[POINTS], y[POINTS];
    for (size_t i = 0; i < POINTS; i++) {
        x[i] = (double)i / (POINTS - 1);
        y[i] = bumps(x[i]);
    }
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = POINTS, arrays.inputs = 1, arrays.x = x, arrays.values = y, arrays.outputs = 1;
    return plain_data(&arrays);
}

/* RMSE on the training rows by the network's own predictions, not by its certificate. */
static double rmse_of(const broad_model *model, const broad_data *data)
{
    static double scores[POINTS];
    assert_ok(broad_predict_data(scores, model, data, THREADS(1)));
    double sum = 0;
    for (size_t i = 0; i < POINTS; i++) sum += pow(scores[i] - broad_data_value(data, i, 0), 2);
    return sqrt(sum / POINTS);
}

/* Nodes until the RMSE is at most 0.01; `most` + 1: more than that. */
static size_t nodes_needed(const broad_data *data, const char *weights, const char *tries, uint64_t seed, size_t most)
{
    broad_options o = OPTIONS("preset", "paper", "kind", "scn", "weights", weights, "tries", tries);
    o.seed = seed;
    o.until = 0.01 * sqrt(POINTS);
    o.enhance_layers = most;
    broad_model *model = NULL;
    assert_ok(broad_fit(&model, NULL, data, &o));
    size_t nodes = broad_model_nodes(model);
    int reached = broad_model_outcome(model) == BROAD_OUTCOME_TARGET_REACHED;
    assert_int_equal(nodes, broad_model_layers(model));
    assert_true(reached == (rmse_of(model, data) <= 0.01));
    broad_model_free(model);
    return reached ? nodes : most + 1;
}

/* Nodes over the seeds tried here, by the row of docs/mathematics.md that begins so. */
static size_t told(const char *begins)
{
    char path[4096], line[1024];
    size_t sum = 0, seeds = 0;
    const char *root = getenv("BROAD_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/docs/mathematics.md", root ? root : ".");
    FILE *page = fopen(path, "r");
    assert_non_null(page);
    while (fgets(line, sizeof line, page))
        if (strncmp(line, begins, strlen(begins)) == 0)
            for (const char *cell = strchr(line + 1, '|'); cell && *++cell && seeds < SEEDS;
                 cell = strchr(cell, '|'), seeds++)
                sum += (size_t)strtoul(cell, NULL, 10);
    fclose(page);
    return sum;
}

/* Another processor rounds differently, and may need another node here and there. */
static void assert_about(size_t sum, size_t expected)
{
    if (20 * (sum > expected ? sum - expected : expected - sum) > expected)
        fail_msg("%zu nodes in all, but docs/mathematics.md says %zu", sum, expected);
}

static void the_published_function(void **state)
{
    (void)state;
    broad_data *data = bump_data();
    size_t sums[3] = {0};
    print_message("nodes until the RMSE is 0.01\n  seed   sc3, 100 draws      sc3     sc2     sc1, 20 draws each\n");
    for (size_t seed = 0; seed < SEEDS; seed++) {
        size_t preset = nodes_needed(data, "sc3", "100", seed, NODES_MOST);
        size_t joint = nodes_needed(data, "sc3", "20", seed, NODES_MOST);
        size_t window = nodes_needed(data, "sc2", "20", seed, 2 * NODES_MOST);
        size_t longer = window > NODES_MOST ? window : NODES_MOST;
        size_t chain = nodes_needed(data, "sc1", "20", seed, longer);
        print_message("  %4zu %17zu %8zu %7zu %s%zu\n", seed, preset, joint, window,
                      chain > longer ? " over " : "      ", chain > longer ? longer : chain);
        assert_true(preset <= NODES_MOST && joint <= NODES_MOST);
        assert_true(joint <= window && window <= 2 * NODES_MOST && window < chain);
        sums[0] += joint, sums[1] += window, sums[2] += preset;
    }
    assert_true(sums[0] < sums[1]);
    assert_about(sums[0], told("| `sc3`, 20 draws |"));
    assert_about(sums[1], told("| `sc2`, 20 draws |"));
    assert_about(sums[2], told("| `sc3`, 100 draws"));
    broad_data_free(data);
}

/* ---- the draw that is kept ------------------------------------------------------------------------------------- */

/* One draw of a layer by plain loops: what is left of the worst output, and of all of them. */
typedef struct merit {
    double worst, whole; /* max_q ||e_q - K w_q||^2 / ||e_q||^2,  ||E - K W|| */
} merit;

static merit merit_of(const broad_model *m, const double *x, const double *e, size_t layer, size_t nodes, size_t step,
                      size_t draw)
{
    size_t rows = m->rows, inputs = m->inputs, c = m->outputs;
    double *weight = malloc(inputs * nodes * sizeof *weight), *bias = malloc(nodes * sizeof *bias);
    double *k = calloc(rows * nodes, sizeof *k), *w = malloc(nodes * c * sizeof *w),
           *left = malloc(rows * c * sizeof *left);
    broad__stream stream = {m->settings.seed, BROAD__FOR_ENHANCEMENT, (uint32_t)layer, (uint16_t)step, (uint16_t)draw};
    plain_draw(weight, bias, stream, inputs, nodes, m->range * m->settings.range_steps[step], m->settings.range_unit);
    plain_nodes(k, nodes, 0, x, rows, inputs, weight, bias, nodes, m->settings.activation);
    plain_ridge(w, k, e, rows, nodes, c, m->settings.lambda);
    merit out = {0, plain_residual(left, k, w, e, rows, nodes, c)};
    for (size_t q = 0; q < c; q++) {
        long double before = 0, after = 0;
        for (size_t i = 0; i < rows; i++) {
            before += (long double)e[i * c + q] * e[i * c + q];
            after += (long double)left[i * c + q] * left[i * c + q];
        }
        out.worst = fmax(out.worst, (double)(after / before));
    }
    free(weight), free(bias), free(k), free(w), free(left);
    return out;
}

/* Y - A W with the weights that the network has now. */
static double *residual_now(const broad_model *m, const double *x, const double *y)
{
    size_t columns;
    double *a = plain_columns(&columns, m, x, m->rows), *w = plain_outputs(m);
    double *e = malloc(m->rows * m->outputs * sizeof *e);
    plain_residual(e, a, w, y, m->rows, columns, m->outputs);
    free(a), free(w);
    return e;
}

/* How often each thing that can happen did happen. */
typedef struct tally {
    size_t layers, later_ranges, relaxed, not_the_first;
} tally;

/* The layer that was kept against every draw of every range it was chosen from. */
static void check_choice(const broad_model *m, const double *x, const double *e, tally *counts)
{
    const broad_options *o = &m->settings;
    size_t layer = m->layer_count - 1, nodes = m->layers[layer].nodes;
    const broad__certificate *c = &m->layers[layer].certificate;
    double gamma = o->gamma[0], before = 1, m1 = (double)layer + 2;
    for (size_t i = 0; i < c->relaxed; i++) {
        before = gamma + (1 - gamma) / m1;
        gamma += o->relax * (1 - gamma);
    }
    double bound = gamma + (1 - gamma) / m1;
    assert_true(fabs(bound - c->bound) < 1e-12);
    merit kept = merit_of(m, x, e, layer, nodes, c->step, c->draw);
    assert_true(kept.worst <= bound * (1 + 1e-9));
    assert_true(fabs(kept.worst - c->tested) < 1e-8);
    for (size_t step = 0; step < o->range_steps_count; step++)
        for (size_t draw = 0; draw < o->tries; draw++) {
            merit one = merit_of(m, x, e, layer, nodes, step, draw);
            /* No range before it had any that passes; with a tighter bound no range at all had. */
            if (step < c->step) assert_true(one.worst > bound * (1 - 1e-9));
            if (c->relaxed) assert_true(one.worst > before * (1 - 1e-9));
            if (step == c->step && one.worst <= bound * (1 - 1e-9)) assert_true(kept.whole <= one.whole * (1 + 1e-9));
        }
    counts->layers++;
    counts->later_ranges += c->step > 0;
    counts->relaxed += c->relaxed > 0;
    counts->not_the_first += c->draw > 0;
}

static void the_best_admissible_draw_is_kept(void **state)
{
    (void)state;
    static const char *const ways[] = {"sc1", "sc2", "sc3"};
    tally counts = {0};
    for (size_t i = 0; i < 12; i++) {
        size_t outputs = i % 2 ? 3 : 1, block = i / 2 % 2 ? 5 : 1;
        problem_random r = {i + 100};
        broad_arrays arrays;
        plain_arrays(&arrays, &r, 70, 3, outputs, 0, 0);
        broad_data *data = plain_data(&arrays);
        broad_options o = OPTIONS("preset", "paper", "kind", "scn", "weights", ways[i / 4], "scale", "none", "tries",
                                  "8", "range-steps", "0.1,0.5,2,6", "lambda", "1e-6", "gamma",
                                  block == 1 ? "constant:0.98" : "constant:0.9", "seed", i % 3 ? "4" : "9");
        broad_trainer *t = NULL;
        assert_ok(broad__trainer_open(&t, data, &o));
        for (size_t layer = 0; layer < 8; layer++) {
            double *e = residual_now(t->model, arrays.x, arrays.values);
            assert_ok(broad__trainer_enhance(t, block, 1));
            if (t->model->layer_count > layer) check_choice(t->model, arrays.x, e, &counts);
            free(e);
        }
        broad__trainer_close(NULL, t);
        broad_data_free(data);
        plain_arrays_free(&arrays);
    }
    print_message("%zu layers: %zu of a later range, %zu after relaxing, %zu not by the first draw\n", counts.layers,
                  counts.later_ranges, counts.relaxed, counts.not_the_first);
    assert_true(counts.layers >= 80 && counts.later_ranges > 20 && counts.relaxed > 10 && counts.not_the_first > 40);
}

/* A bound that lies within rounding of 1 lets every draw through to a closer look; what is refused then is not lost, and
 * a run that stalls says how near it came. */
static void a_closer_look_loses_nothing(void **state)
{
    (void)state;
    broad_data *data = bump_data();
    broad_options o = OPTIONS("preset", "paper", "kind", "scn", "tries", "20", "seed", "1");
    broad_model *model = NULL;
    assert_ok(broad_fit(&model, NULL, data, &o));
    size_t most = 0;
    for (size_t j = 0; j < model->layer_count; j++)
        if (model->layers[j].certificate.relaxed > most) most = model->layers[j].certificate.relaxed;
    assert_int_equal(most, o.relax_count);
    assert_int_equal(broad_model_outcome(model), BROAD_OUTCOME_STALLED);
    const char *best = strstr(broad_model_reason(model), "the best had ");
    assert_non_null(best);
    double value = strtod(best + strlen("the best had "), NULL);
    assert_true(value > broad__schedule(&o, model->layer_count + 1, o.relax_count).sum && value <= 1 + 1e-9);
    broad_model_free(model);
    broad_data_free(data);
}

/* ---- weights --------------------------------------------------------------------------------------------------- */

/* sc3: after every layer all weights are those of one ridge over all nodes. */
static void stepwise_equals_the_batch(void **state)
{
    (void)state;
    static const char *const lambdas[] = {"1e-6", "1e-2", "1"};
    double worst = 0;
    for (size_t i = 0; i < 12; i++) {
        size_t columns, outputs = i % 2 ? 3 : 1;
        problem_random r = {i + 7};
        broad_arrays arrays;
        plain_arrays(&arrays, &r, i / 3 % 2 ? 30 : 90, 2, outputs, 0, i >= 6); /* the former: fewer rows than nodes */
        broad_data *data = plain_data(&arrays);
        broad_options o = OPTIONS("preset", "paper", "kind", "scn", "weights", "joint", "scale", "none", "tries", "5",
                                  "range-steps", "1,3,9", "lambda", lambdas[i % 3], "relax-count", "9");
        broad_trainer *t = NULL;
        assert_ok(broad__trainer_open(&t, data, &o));
        for (size_t layer = 0; layer < 12; layer++) {
            assert_ok(broad__trainer_enhance(t, i / 3 % 2 ? 4 : 1, 1));
            double *a = plain_columns(&columns, t->model, arrays.x, arrays.rows), *w = plain_outputs(t->model);
            double *exact = malloc(columns * outputs * sizeof *exact), *y = malloc(arrays.rows * outputs * sizeof *y);
            for (size_t k = 0; k < arrays.rows; k++) {
                double root = arrays.weights ? sqrt(arrays.weights[k]) : 1;
                for (size_t j = 0; j < columns; j++) a[k * columns + j] *= root;
                for (size_t j = 0; j < outputs; j++) y[k * outputs + j] = arrays.values[k * outputs + j] * root;
            }
            plain_ridge(exact, a, y, arrays.rows, columns, outputs, o.lambda);
            double error = relative_distance(w, exact, columns * outputs);
            if (!(error <= 1e-8)) print_message("problem %zu, %zu nodes: %g\n", i, columns, error);
            assert_true(error <= 1e-8);
            worst = fmax(worst, error);
            free(a), free(w), free(exact), free(y);
        }
        broad__trainer_close(NULL, t);
        broad_data_free(data);
        plain_arrays_free(&arrays);
    }
    print_message("144 steps, worst error of the weights %.1g\n", worst);
}

/* ---- the growing factorisation --------------------------------------------------------------------------------- */

/* Largest entry of Q'Q + B'B - I; a column that brought nothing new is zero in both, and counts as such. */
static double orthogonality(const broad__growing_qr *b, size_t *dropped)
{
    double worst = 0;
    *dropped = 0;
    for (size_t j = 0; j < b->columns; j++)
        for (size_t k = j; k < b->columns; k++) {
            long double sum = 0;
            for (size_t i = 0; i < b->rows; i++)
                sum += (long double)b->q[i * b->capacity + j] * b->q[i * b->capacity + k];
            for (size_t i = 0; i < b->columns; i++)
                sum += (long double)b->bottom[i * b->capacity + j] * b->bottom[i * b->capacity + k];
            if (j == k && sum == 0) ++*dropped;
            else worst = fmax(worst, fabs((double)sum - (j == k)));
        }
    return worst;
}

/* [A; sqrt(lambda) I] = [Q; B] R, as far as rounding goes, for the columns that were not dropped. */
static double factor_error(const broad__growing_qr *b, const double *a)
{
    double worst = 0;
    for (size_t j = 0; j < b->columns; j++)
        for (size_t i = 0; i < b->rows; i++) {
            long double sum = a[i * b->columns + j];
            for (size_t k = 0; k <= j; k++) sum -= (long double)b->q[i * b->capacity + k] * b->r[k * b->capacity + j];
            worst = fmax(worst, fabs((double)sum));
        }
    return worst;
}

enum { BASIS_ROWS = 60, BASIS_COLUMNS = 40 };

/* Columns of which each block nearly repeats what is there: earlier columns, or others of its own. */
static double *near_copies(problem_random *r, double apart)
{
    double *a = problem_normals((size_t)BASIS_ROWS * BASIS_COLUMNS, r);
    for (size_t j = 1; j < BASIS_COLUMNS; j++) {
        size_t of = j % 3 == 0 ? j - 1 : j % 3 == 1 ? j / 2 : j;
        for (size_t i = 0; of != j && i < BASIS_ROWS; i++)
            a[i * BASIS_COLUMNS + j] = a[i * BASIS_COLUMNS + of] + apart * a[i * BASIS_COLUMNS + j];
    }
    return a;
}

static void the_basis_stays_orthogonal(void **state)
{
    (void)state;
    static const double lambdas[] = {0, 1e-8, 1}, parts[] = {1, 1e-3, 1e-6, 1e-8, 1e-10, 1e-14, 0};
    static const size_t blocks[] = {1, 5, 13};
    double worst = 0, worst_factor = 0;
    broad__pool *pool = NULL;
    assert_ok(broad__pool_open(&pool, 2));
    for (size_t i = 0; i < 63; i++) {
        size_t dropped, block = blocks[i / 21];
        problem_random r = {i + 1};
        double *a = near_copies(&r, parts[i % 7]), *y = problem_normals(2 * BASIS_ROWS, &r);
        broad__growing_qr b = {0};
        broad__residual rows;
        assert_ok(broad__residual_open(&rows, broad__device_cpu(), pool, 2));
        assert_ok(broad__residual_append(&rows, y, BASIS_ROWS));
        assert_ok(broad__growing_qr_open(&b, BASIS_ROWS, 2, y));
        rows.z.stored = a, rows.z.features = BASIS_COLUMNS;
        for (size_t at = 0; at < BASIS_COLUMNS; at += block) {
            broad__kblock kblock = {{0}, at, BASIS_COLUMNS - at < block ? BASIS_COLUMNS - at : block};
            assert_ok(broad__candidate_nodes(&rows, &kblock, 1));
            assert_ok(broad__growing_qr_try(&b, &rows, y, lambdas[i / 7 % 3]));
            double norm = b.trial_norm;
            assert_ok(broad__growing_qr_accept(&b));
            broad__residual_commit(&rows, norm);
        }
        double error = orthogonality(&b, &dropped), factor = factor_error(&b, a);
        if (!(error < 1e-12) || !(factor < 1e-11))
            print_message("blocks of %zu, lambda %g, copies %g apart: %g, %g, %zu dropped\n", block, lambdas[i / 7 % 3],
                          parts[i % 7], error, factor, dropped);
        assert_true(error < 1e-12 && factor < 1e-11);
        assert_true(dropped == 0 || (lambdas[i / 7 % 3] == 0 && parts[i % 7] < 1e-7));
        worst = fmax(worst, error), worst_factor = fmax(worst_factor, factor);
        broad__growing_qr_clear(&b);
        broad__residual_close(&rows);
        free(a), free(y);
    }
    broad__pool_close(pool);
    print_message("63 bases, worst %.1g off orthogonal, %.1g off the columns\n", worst, worst_factor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_admissible_draw_is_kept), cmocka_unit_test(a_closer_look_loses_nothing),
        cmocka_unit_test(stepwise_equals_the_batch),        cmocka_unit_test(the_basis_stays_orthogonal),
        cmocka_unit_test(the_published_function),
    };
    return cmocka_run_group_tests_name("scn", tests, NULL, NULL);
}
