/* The metric that directions are drawn with: sums, roots and pruning by plain loops, gradients by differences of the
 * network's own predictions. */
#include "plain.h"

#include "feature/metric.h"
#include "model/train/gradients.h"
#include "model/train/train_open.h"

/* A metric of so many columns from random gradients; gradient: rows x columns. */
static broad__metric metric_of(const double *gradient, size_t rows, size_t columns)
{
    broad__metric m = {0};
    assert_ok(broad__metric_open(&m, columns));
    assert_int_equal(m.full, columns <= BROAD__METRIC_COLUMNS);
    for (size_t first = 0; first < rows; first += 7) /* in parts */
        broad__metric_add(&m, broad__device_reference(), gradient + first * columns,
                          first + 7 < rows ? 7 : rows - first);
    return m;
}

/* sum over rows of g_i g_j, so that the mean of the diagonal is 1. */
static double plain_metric(const double *gradient, size_t rows, size_t columns, size_t i, size_t j)
{
    long double sum = 0, trace = 0;
    for (size_t row = 0; row < rows; row++) {
        const double *g = gradient + row * columns;
        sum += (long double)g[i] * g[j];
        for (size_t k = 0; k < columns; k++) trace += (long double)g[k] * g[k];
    }
    return (double)(sum / trace * (long double)columns);
}

static double entry(const broad__metric *m, size_t i, size_t j)
{
    return m->full ? m->values[i * m->columns + j] : i == j ? m->values[i] : 0;
}

static void sums_are_outer_products(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{40, 6}, {3, 9}, {1, 1}, {5, 520}};
    for (size_t s = 0; s < 4; s++) {
        size_t rows = sizes[s][0], columns = sizes[s][1];
        problem_random r = {s + 1};
        double *gradient = problem_normals(rows * columns, &r), *relevance = malloc(columns * sizeof *relevance);
        broad__metric m = metric_of(gradient, rows, columns);
        assert_true(broad__metric_settle(&m));
        broad__metric_relevance(relevance, &m);
        for (size_t i = 0; i<columns; i += columns> 100 ? 37 : 1) {
            for (size_t j = 0; m.full && j < columns; j++)
                assert_true(fabs(entry(&m, i, j) - plain_metric(gradient, rows, columns, i, j)) < 1e-12);
            double diagonal = plain_metric(gradient, rows, columns, i, i);
            assert_true(relative_difference(broad__metric_diagonal(&m, i), diagonal, 0) < 1e-12);
            assert_true(relative_difference(relevance[i], sqrt(diagonal), 0) < 1e-12);
        }
        broad__metric_close(&m);
        free(gradient), free(relevance);
    }
}

/* Gradients of nothing, or that are no numbers, are no metric. */
static void nothing_is_no_metric(void **state)
{
    (void)state;
    static const double values[] = {0, NAN, INFINITY, 1e200};
    for (size_t i = 0; i < 4; i++) {
        double gradient[3] = {0, values[i], 0};
        broad__metric m = metric_of(gradient, 1, 3);
        assert_false(broad__metric_settle(&m));
        broad__metric_close(&m);
    }
    broad__metric none = {0};
    broad__metric_close(&none);
}

static void means_and_softening(void **state)
{
    (void)state;
    enum { ROWS = 9 };
    static const size_t widths[] = {5, 514};
    for (size_t w = 0; w < 2; w++) {
        size_t columns = widths[w];
        problem_random r = {8};
        double *a = problem_normals(ROWS * columns, &r), *b = problem_normals(ROWS * columns, &r);
        broad__metric m = metric_of(a, ROWS, columns), n = metric_of(b, ROWS, columns),
                      copy = metric_of(a, ROWS, columns);
        assert_true(broad__metric_settle(&m) && broad__metric_settle(&n));
        broad__metric_copy(&copy, &m);
        broad__metric_mean(&copy, &n);
        for (size_t i = 0; i < columns; i++)
            for (size_t j = 0; j < columns && (m.full || j == 0); j++) {
                size_t k = m.full ? j : i;
                assert_true(fabs(entry(&copy, i, k) - (entry(&m, i, k) + entry(&n, i, k)) / 2) < 1e-12);
            }
        broad__metric_copy(&copy, &m);
        broad__metric_soften(&copy, 0.3);
        for (size_t i = 0; i < columns; i++)
            for (size_t j = 0; j < columns && (m.full || j == 0); j++) {
                size_t k = m.full ? j : i;
                assert_true(fabs(entry(&copy, i, k) - (0.3 * entry(&m, i, k) + (i == k ? 0.7 : 0))) < 1e-12);
            }
        broad__metric_close(&m), broad__metric_close(&n), broad__metric_close(&copy);
        free(a), free(b);
    }
}

/* ---- fewer inputs ----------------------------------------------------------------------------------------------- */

static double relevance_of(const broad__metric *m, size_t inputs, size_t input)
{
    double sum = 0;
    for (size_t j = input; j < m->columns; j += inputs) sum += broad__metric_diagonal(m, j);
    return sum;
}

/* The fewest inputs, most relevant first, that hold the share. */
static size_t inputs_needed(const broad__metric *m, size_t inputs, double share)
{
    double held = 0, all = 0, last = INFINITY;
    size_t needed = 0;
    for (size_t i = 0; i < inputs; i++) all += relevance_of(m, inputs, i);
    while (held < share * all - 1e-12) {
        double most = 0;
        for (size_t i = 0; i < inputs; i++)
            if (relevance_of(m, inputs, i) < last) most = fmax(most, relevance_of(m, inputs, i));
        held += last = most;
        needed++;
    }
    return needed;
}

static void check_pruned(const broad__metric *m, const broad__metric *pruned, size_t inputs, double share)
{
    size_t columns = m->columns, left = 0, needed = inputs_needed(m, inputs, share);
    double least = INFINITY, most = 0, trace = 0, factor = 0;
    for (size_t i = 0; i < inputs; i++) {
        double before = relevance_of(m, inputs, i), now = relevance_of(pruned, inputs, i);
        left += now > 0;
        if (now > 0) least = fmin(least, before), factor = now / before;
        else most = fmax(most, before);
    }
    assert_int_equal(left, needed);
    assert_true(most <= least);
    for (size_t i = 0; i < columns; i++) trace += broad__metric_diagonal(pruned, i);
    assert_true(relative_difference(trace, (double)columns, 0) < 1e-12);
    for (size_t i = 0; m->full && i < columns; i++)
        for (size_t j = 0; j < columns; j++) {
            int there = relevance_of(pruned, inputs, i % inputs) > 0 && relevance_of(pruned, inputs, j % inputs) > 0;
            assert_true(fabs(entry(pruned, i, j) - (there ? factor * entry(m, i, j) : 0)) < 1e-12);
        }
}

/* The least relevant are dropped, with all their columns, and the others keep their proportions. */
static void pruning_drops_the_least(void **state)
{
    (void)state;
    static const double shares[] = {1, 0.95, 0.85, 0.7, 0.3};
    static const size_t sizes[][2] = {{5, 5}, {5, 10}, {260, 520}, {1, 1}, {1, 2}};
    for (size_t s = 0; s < 5; s++)
        for (size_t k = 0; k < 5; k++) {
            size_t inputs = sizes[s][0], columns = sizes[s][1], rows = 12;
            problem_random r = {s + 3};
            double *gradient = problem_normals(rows * columns, &r);
            for (size_t i = 0; i < rows * columns; i++) gradient[i] *= pow(0.8, (double)(i % columns % inputs % 15));
            broad__metric m = metric_of(gradient, rows, columns), pruned = metric_of(gradient, rows, columns);
            assert_true(broad__metric_settle(&m));
            broad__metric_copy(&pruned, &m);
            assert_true(broad__metric_prune(&pruned, inputs, NULL, shares[k]));
            check_pruned(&m, &pruned, inputs, shares[k]);
            broad__metric_close(&m), broad__metric_close(&pruned);
            free(gradient);
        }
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

/* Two units of three inputs and of two, and one by itself, in the order 2 | 3 | 1. */
enum { UNIT_INPUTS = 6, ORDERS = 12 };
static const size_t units[UNIT_INPUTS] = {0, 0, 2, 2, 2, 5};

/* The inputs in the k-th order that keeps every unit where it is. */
static void order_of(size_t *out, size_t k)
{
    static const size_t threes[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    out[0] = k % 2, out[1] = 1 - k % 2, out[5] = 5;
    for (size_t i = 0; i < 3; i++) out[2 + i] = 2 + threes[k / 2][i];
}

/* The mean over all orders of the inputs of each unit, one by one. */
static void pooling_is_the_mean_over_all_orders(void **state)
{
    (void)state;
    for (size_t copies = 1; copies <= 2; copies++) {
        enum { ROWS = 9 };
        size_t columns = copies * UNIT_INPUTS, order[UNIT_INPUTS];
        problem_random r = {copies};
        double *gradient = problem_normals(ROWS * columns, &r);
        broad__metric m = metric_of(gradient, ROWS, columns), pooled = metric_of(gradient, ROWS, columns);
        assert_true(broad__metric_settle(&m));
        broad__metric_copy(&pooled, &m);
        assert_ok(broad__metric_pool(&pooled, UNIT_INPUTS, units));
        for (size_t i = 0; i < columns; i++)
            for (size_t j = 0; j < columns; j++) {
                double mean = 0;
                for (size_t k = 0; k < ORDERS; k++) {
                    order_of(order, k);
                    mean += entry(&m, i - i % UNIT_INPUTS + order[i % UNIT_INPUTS],
                                  j - j % UNIT_INPUTS + order[j % UNIT_INPUTS]) /
                            ORDERS;
                }
                assert_true(fabs(entry(&pooled, i, j) - mean) < 1e-12);
            }
        broad__metric_close(&m), broad__metric_close(&pooled);
        free(gradient);
    }
}

/* With too many columns for more than a diagonal, that. */
static void pooling_of_a_diagonal(void **state)
{
    (void)state;
    enum { INPUTS = 300, COLUMNS = 600 };
    size_t unit[INPUTS];
    for (size_t j = 0; j < INPUTS; j++) unit[j] = j < 7 ? j : j < 107 ? 7 : 107;
    problem_random r = {5};
    double *gradient = problem_normals(4 * COLUMNS, &r), sums[COLUMNS] = {0};
    broad__metric m = metric_of(gradient, 4, COLUMNS);
    assert_false(m.full);
    for (size_t j = 0; j < COLUMNS; j++) sums[j - j % INPUTS + unit[j % INPUTS]] += broad__metric_diagonal(&m, j);
    assert_ok(broad__metric_pool(&m, INPUTS, unit));
    for (size_t j = 0; j < COLUMNS; j++) {
        size_t first = unit[j % INPUTS], size = first < 7 ? 1 : first == 7 ? 100 : 193;
        double mean = sums[j - j % INPUTS + first] / (double)size;
        assert_true(relative_difference(broad__metric_diagonal(&m, j), mean, 0) < 1e-12);
    }
    broad__metric_close(&m);
    free(gradient);
}

/* A unit is dropped as a whole, where all of it matters least: not its least input alone. */
static void units_are_dropped_together(void **state)
{
    (void)state;
    static const double diagonal[UNIT_INPUTS] = {0.5, 0.1, 0.2, 0.2, 0.3, 0.55};
    broad__metric m;
    assert_ok(broad__metric_open(&m, UNIT_INPUTS));
    for (size_t j = 0; j < UNIT_INPUTS; j++) broad__metric_set_diagonal(&m, j, diagonal[j]);
    assert_true(broad__metric_prune(&m, UNIT_INPUTS, units, 0.7)); /* 0.555 of 1.85 may go: the last, 0.55 */
    for (size_t j = 0; j < UNIT_INPUTS; j++) {
        double expected = j < 5 ? diagonal[j] * UNIT_INPUTS / 1.3 : 0;
        assert_true(fabs(broad__metric_diagonal(&m, j) - expected) < 1e-12);
    }
    assert_true(broad__metric_prune(&m, UNIT_INPUTS, units, 0.5)); /* then the first two together */
    assert_true(broad__metric_diagonal(&m, 0) == 0 && broad__metric_diagonal(&m, 1) == 0);
    assert_true(broad__metric_diagonal(&m, 2) > 0);
    broad__metric_close(&m);
}

/* ---- root ------------------------------------------------------------------------------------------------------- */

/* Whether x'Ax >= -slack |x|^2 for all x: Cholesky of A + slack I goes through. */
static int is_positive(const double *a, size_t n, double slack)
{
    double *l = malloc(n * n * sizeof *l);
    int positive = 1;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * n + j] + (i == j ? slack : 0);
            for (size_t k = 0; k < j; k++) sum -= l[i * n + k] * l[j * n + k];
            if (i == j) positive &= sum > 0;
            l[i * n + j] = i == j ? sqrt(fmax(sum, 1e-300)) : sum / l[j * n + j];
        }
    free(l);
    return positive;
}

/* There is one symmetric root without negative directions: this one. With fewer gradients than columns too. */
static void root_squared_is_the_metric(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{60, 8}, {3, 12}, {1, 1}, {200, 70}};
    for (size_t s = 0; s < 4; s++) {
        size_t rows = sizes[s][0], n = sizes[s][1];
        problem_random r = {s + 11};
        double *gradient = problem_normals(rows * n, &r), *root = malloc(n * n * sizeof *root), worst = 0;
        broad__metric m = metric_of(gradient, rows, n);
        assert_true(broad__metric_settle(&m));
        assert_ok(broad__metric_root(root, &m, broad__device_reference()));
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                double sum = 0;
                for (size_t k = 0; k < n; k++) sum += root[i * n + k] * root[k * n + j];
                worst = fmax(worst, fabs(sum - entry(&m, i, j)));
                assert_true(root[i * n + j] == root[j * n + i]);
            }
        print_message("%zu columns: root^2 off by %.1e\n", n, worst);
        assert_true(worst < 1e-12 * (double)n && is_positive(root, n, 1e-7));
        broad__metric_close(&m);
        free(gradient), free(root);
    }
}

/* ---- gradients -------------------------------------------------------------------------------------------------- */

static double activation_of(broad_activation activation, double x)
{
    return activation == BROAD_ACTIVATION_RELU ? fmax(x, 0) : plain_activation(activation, x);
}

/* Output q of a fitted trial at a row of scaled inputs. */
static double output_of(const broad__trial *trial, const double *row, size_t q)
{
    const broad_model *model = trial->trainer->model;
    double sum = 0;
    for (size_t k = 0; k < trial->nodes; k++) {
        double value = trial->bias[k];
        for (size_t j = 0; j < trial->columns; j++) value += row[j] * trial->weight[j * trial->capacity + k];
        sum += activation_of(model->settings.feature_activation, value) * trial->joint.w[k * model->outputs + q];
    }
    return sum;
}

/* By central differences: rows x outputs x columns. Freed with free(). */
static double *plain_gradients(const broad__trial *trial)
{
    const double step = 1e-5;
    const broad_model *model = trial->trainer->model;
    size_t rows = trial->rows->rows, columns = trial->columns, outputs = model->outputs;
    broad__scaling scaling = broad__model_scaling(model);
    double *row = malloc(columns * sizeof *row), *out = malloc(rows * outputs * columns * sizeof *out);
    for (size_t i = 0; i < rows; i++)
        for (size_t q = 0; q < outputs; q++)
            for (size_t j = 0; j < columns; j++) {
                broad__scaling_apply(row, &scaling, trial->rows->x + i * model->inputs, 1, model->inputs);
                row[j] += step;
                double up = output_of(trial, row, q);
                row[j] -= 2 * step;
                out[(i * outputs + q) * columns + j] = (up - output_of(trial, row, q)) / (2 * step);
            }
    free(row);
    return out;
}

typedef struct gradient_case {
    const char *activation, *scale;
    size_t rows, inputs, outputs, classes, nodes;
    double tolerance;
} gradient_case;

static void open_trial(broad_trainer **out, broad__trial *trial, broad_data *data, const gradient_case *c,
                       const double *relevance)
{
    broad_options o = OPTIONS("preset", "auto", "features", "1x4", "enhance", "3x1", "scale", c->scale,
                              "learned-metric", "no", "feature-activation", c->activation, "range", "1");
    assert_ok(broad__trainer_open(out, data, &o));
    assert_ok(broad__trial_open(trial, *out, data, data->rows, c->nodes));
    for (size_t b = 0; b < 2; b++) {
        broad__trial_block block = {BROAD__STYLE_MIX, 1, relevance, NULL, c->nodes / 2};
        assert_ok(broad__trial_add(trial, &block));
    }
    assert_ok(broad__trial_fit(trial));
}

static void check_gradients(const gradient_case *c)
{
    problem_random r = {31};
    broad_arrays arrays;
    plain_arrays(&arrays, &r, c->rows, c->inputs, c->outputs, c->classes, 0);
    broad_data *data = plain_data(&arrays);
    broad_trainer *t = NULL;
    broad__trial trial;
    broad__metric m = {0};
    double relevance[2048], worst = 0;
    for (size_t j = 0; j < 2048; j++) relevance[j] = 1;
    int known = 0;
    open_trial(&t, &trial, data, c, relevance);
    assert_ok(broad__metric_open(&m, trial.columns));
    for (int again = 0; again < 2; again++) assert_ok(broad__trial_metric(&m, &known, &trial)); /* it begins at 0 */
    assert_true(known);
    double *gradient = plain_gradients(&trial);
    size_t count = c->rows * t->model->outputs;
    for (size_t i = 0; i<trial.columns; i += trial.columns> 100 ? 53 : 1)
        for (size_t j = 0; j < trial.columns; j++) {
            if (m.full || i == j)
                worst = fmax(worst, fabs(entry(&m, i, j) - plain_metric(gradient, count, trial.columns, i, j)));
        }
    print_message("%s, %zu columns, %zu outputs: off by %.1e\n", c->activation, trial.columns, t->model->outputs,
                  worst);
    assert_true(worst < c->tolerance);
    free(gradient);
    broad__metric_close(&m);
    broad__trial_close(&trial);
    broad__trainer_close(NULL, t);
    broad_data_free(data);
    plain_arrays_free(&arrays);
}

/* Not of relu: nodes turn at rows, so that there is no slope there. */
static void gradients_are_differences(void **state)
{
    (void)state;
    static const gradient_case cases[] = {
        {"tanh", "standard", 60, 4, 1, 0, 30, 1e-6},    {"sigmoid", "both", 50, 3, 2, 0, 20, 1e-6},
        {"tanh", "both", 50, 3, 0, 3, 40, 1e-6},        {"sigmoid", "standard", 40, 3, 0, 2, 20, 1e-6},
        {"identity", "standard", 40, 3, 1, 0, 6, 1e-6}, {"tanh", "standard", 20, 515, 1, 0, 6, 1e-4}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) check_gradients(&cases[i]);
}

/* Slopes from values, where these tell them. */
static void slopes_are_known_or_not(void **state)
{
    (void)state;
    static const broad_activation known[] = {BROAD_ACTIVATION_SIGMOID, BROAD_ACTIVATION_TANH, BROAD_ACTIVATION_RELU,
                                             BROAD_ACTIVATION_IDENTITY};
    for (size_t i = 0; i < 4; i++) {
        assert_true(broad__slope_known(known[i]));
        for (double x = -2.95; x < 3; x += 0.5) {
            double slope = (activation_of(known[i], x + 1e-6) - activation_of(known[i], x - 1e-6)) / 2e-6;
            assert_true(fabs(broad__slope(known[i], activation_of(known[i], x)) - slope) < 1e-8);
        }
    }
    assert_false(broad__slope_known(BROAD_ACTIVATION_SINE) || broad__slope_known(BROAD_ACTIVATION_GAUSSIAN));
    assert_true(broad__slope(BROAD_ACTIVATION_SINE, 0.5) == 0 && broad__slope(BROAD_ACTIVATION_GAUSSIAN, 0.5) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_outer_products),
        cmocka_unit_test(nothing_is_no_metric),
        cmocka_unit_test(means_and_softening),
        cmocka_unit_test(pruning_drops_the_least),
        cmocka_unit_test(pooling_is_the_mean_over_all_orders),
        cmocka_unit_test(pooling_of_a_diagonal),
        cmocka_unit_test(units_are_dropped_together),
        cmocka_unit_test(root_squared_is_the_metric),
        cmocka_unit_test(gradients_are_differences),
        cmocka_unit_test(slopes_are_known_or_not),
    };
    return cmocka_run_group_tests_name("learned_metric", tests, NULL, NULL);
}
