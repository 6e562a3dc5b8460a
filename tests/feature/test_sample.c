/* Nodes that are drawn where the rows are: their directions, lengths and biases by the formulas of feature/sample.h. */
#include "scaled.h"

#include "feature/sample.h"

enum { ROWS = 37, INPUTS = 4 };
static const double RANGE = 0.7;

typedef struct sampled {
    fitted f;
    broad__sample_task task;
    double *weight, *bias, *rows; /* rows: as they are scaled */
} sampled;

static void sample(sampled *s, broad_scale how, size_t inputs, broad__sample_task task)
{
    problem_random r = {12};
    fit(&s->f, how, problem_normals(ROWS * inputs, &r), ROWS, inputs);
    size_t columns = s->f.scaling.columns;
    s->task = task;
    s->task.scaling = s->f.scaling;
    s->task.x = s->f.x;
    s->task.rows = ROWS;
    s->task.range = RANGE;
    s->task.stream = (broad__stream){.seed = 5, .purpose = BROAD__FOR_FEATURES, .layer = 3};
    s->weight = malloc(columns * task.nodes * sizeof *s->weight), s->bias = malloc(task.nodes * sizeof *s->bias);
    s->rows = malloc(ROWS * columns * sizeof *s->rows);
    broad__scaling_apply(s->rows, &s->f.scaling, s->f.x, ROWS, inputs);
    assert_ok(broad__sample_nodes(s->weight, s->bias, &s->task));
}

static void sampled_free(sampled *s)
{
    fitted_free(&s->f);
    free(s->weight), free(s->bias), free(s->rows);
}

static double weight_of(const sampled *s, size_t column, size_t node)
{
    return s->weight[column * s->task.nodes + node];
}

/* w.x of a row, and its standard deviation over all rows. */
static double value_of(const sampled *s, size_t node, size_t row)
{
    size_t columns = s->f.scaling.columns;
    double sum = 0;
    for (size_t j = 0; j < columns; j++) sum += s->rows[row * columns + j] * weight_of(s, j, node);
    return sum;
}

static double deviation_of(const sampled *s, size_t node)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double value = value_of(s, node, i);
        sum += value / ROWS, squares += value * value / ROWS;
    }
    return sqrt(squares - sum * sum);
}

/* The numbers of a node: those of a dense one, one for each column and one more, or nine. */
static double number_of(const sampled *s, size_t node, size_t each, size_t index)
{
    return broad__random_at(&s->task.stream, (uint64_t)node * each + index);
}

static double steepness(double u) { return exp(0.6 * (2 * u - 1)); }

/* ---- biases ----------------------------------------------------------------------------------------------------- */

/* Every node turns at a row, all rows about as often. */
static void nodes_turn_at_rows(void **state)
{
    (void)state;
    enum { NODES = 3700 };
    for (int i = 0; i < 6; i++) {
        sampled s;
        size_t counts[ROWS] = {0};
        sample(&s, i % 2 ? BROAD_SCALE_BOTH : BROAD_SCALE_STANDARD, INPUTS,
               (broad__sample_task){.nodes = NODES, .direction = (broad__direction)(i / 2)});
        for (size_t node = 0; node < NODES; node++) {
            size_t row = 0;
            while (row < ROWS && fabs(value_of(&s, node, row) + s.bias[node]) >= 1e-13) row++;
            assert_true(row < ROWS);
            counts[row]++;
        }
        for (size_t row = 0; row < ROWS; row++) assert_true(counts[row] > 50 && counts[row] < 150); /* of 100 */
        sampled_free(&s);
    }
}

/* With an order, rows are those that it names: the nodes are those of a table that has them so. */
static void nodes_follow_the_order(void **state)
{
    (void)state;
    enum { NODES = 50, SOME = 20 };
    for (int direction = 0; direction < 3; direction++) {
        broad__sample_task task = {.nodes = NODES, .direction = (broad__direction)direction};
        sampled s;
        sample(&s, BROAD_SCALE_STANDARD, INPUTS, task);
        double x[SOME * INPUTS], weight[INPUTS * NODES], bias[NODES];
        size_t order[SOME];
        for (size_t i = 0; i < SOME; i++) {
            order[i] = (11 * i + 5) % ROWS;
            memcpy(x + i * INPUTS, s.f.x + order[i] * INPUTS, INPUTS * sizeof *x);
        }
        task = s.task;
        task.order = order, task.order_count = SOME;
        assert_ok(broad__sample_nodes(s.weight, s.bias, &task));
        task.order = NULL, task.x = x, task.rows = SOME;
        assert_ok(broad__sample_nodes(weight, bias, &task));
        assert_memory_equal(s.weight, weight, sizeof weight);
        assert_memory_equal(s.bias, bias, sizeof bias);
        sampled_free(&s);
    }
}

/* ---- dense ------------------------------------------------------------------------------------------------------ */

/* root: columns x columns; NULL: the relevance of each column alone. */
static double dense_direction(const sampled *s, const double *relevance, const double *root, size_t column, size_t node)
{
    size_t columns = s->f.scaling.columns;
    double sum = 0;
    if (!root) return (2 * number_of(s, node, columns + 1, column) - 1) * relevance[column];
    for (size_t i = 0; i < columns; i++)
        sum += root[column * columns + i] * (2 * number_of(s, node, columns + 1, i) - 1);
    return sum;
}

/* By how much the root makes w.x deviate more, in the mean square of all directions: tr(root cov root) / columns. */
static double spread_by(const sampled *s, const double *root)
{
    double sum = 0;
    for (size_t k = 0; k < INPUTS; k++) {
        double mean = 0, squares = 0;
        for (size_t i = 0; i < ROWS; i++) {
            double value = 0;
            for (size_t j = 0; j < INPUTS; j++) value += root[k * INPUTS + j] * s->rows[i * INPUTS + j];
            mean += value / ROWS, squares += value * value / ROWS;
        }
        sum += squares - mean * mean;
    }
    return sqrt(sum / INPUTS);
}

static void check_dense(const sampled *s, const double *relevance, const double *root)
{
    double scale = RANGE * sqrt(3.0 / INPUTS) / (root ? spread_by(s, root) : 1), squares = 0;
    for (size_t node = 0; node < s->task.nodes; node++) {
        for (size_t j = 0; j < INPUTS; j++) {
            double expected = scale * dense_direction(s, relevance, root, j, node);
            assert_true(fabs(weight_of(s, j, node) - expected) < 1e-12);
        }
        assert_true(weight_of(s, 3, node) == 0); /* of no relevance */
        squares += pow(deviation_of(s, node), 2) / (double)s->task.nodes;
    }
    print_message("w.x deviates by %.4f in the mean square, range %.4f\n", sqrt(squares), RANGE);
    if (root) assert_true(relative_difference(sqrt(squares), RANGE, 0) < 0.05);
}

/* Random ones times the root of a metric, or the relevances; so long that w.x deviates by the range. */
static void dense_nodes(void **state)
{
    (void)state;
    enum { NODES = 2000 };
    static const double relevance[] = {0.5, 1.5, 1, 0};
    static const double root[] = {1.5, 0.4, -0.2, 0, 0.4, 0.9, 0.1, 0, -0.2, 0.1, 0.3, 0, 0, 0, 0, 0};
    for (int with = 0; with < 2; with++) {
        sampled s;
        sample(&s, BROAD_SCALE_STANDARD, INPUTS,
               (broad__sample_task){.nodes = NODES, .relevance = relevance, .root = with ? root : NULL});
        check_dense(&s, relevance, with ? root : NULL);
        sampled_free(&s);
    }
}

/* ---- sparse ----------------------------------------------------------------------------------------------------- */

/* Probability that `column` is among `count` picked without going back, besides those in `taken`. */
static double picked(const double *p, size_t columns, unsigned taken, size_t column, size_t count)
{
    double rest = 0, sum = 0;
    if (count == 0) return 0;
    for (size_t j = 0; j < columns; j++) rest += taken >> j & 1 ? 0 : p[j];
    for (size_t j = 0; j < columns; j++) {
        if (taken >> j & 1 || p[j] == 0) continue;
        sum += p[j] / rest * (j == column ? 1 : picked(p, columns, taken | 1u << j, column, count - 1));
    }
    return sum;
}

static void check_sparse(const double *relevance, size_t relevant)
{
    enum { NODES = 20000 };
    double p[INPUTS], total = 0, counts[INPUTS + 1] = {0}, of_column[INPUTS] = {0};
    for (size_t j = 0; j < INPUTS; j++) total += relevance[j] * relevance[j];
    for (size_t j = 0; j < INPUTS; j++)
        p[j] = relevance[j] > 0 ? 0.9 * relevance[j] * relevance[j] / total + 0.1 / (double)relevant : 0;
    sampled s;
    sample(&s, BROAD_SCALE_STANDARD, INPUTS,
           (broad__sample_task){.nodes = NODES, .relevance = relevance, .direction = BROAD__SPARSE});
    for (size_t node = 0; node < NODES; node++) {
        size_t seen = 0;
        for (size_t j = 0; j < INPUTS; j++) {
            seen += weight_of(&s, j, node) != 0;
            of_column[j] += weight_of(&s, j, node) != 0;
        }
        counts[seen]++;
        double expected = 1.5 * RANGE * steepness(number_of(&s, node, 9, 7));
        assert_true(relative_difference(deviation_of(&s, node), expected, 0) < 1e-9);
    }
    const double share[] = {0, 0.2, 0.4, 0.4};
    for (size_t j = 0; j < INPUTS; j++) {
        double expected = 0;
        for (size_t n = 1; n <= 3; n++) expected += share[n] * picked(p, INPUTS, 0, j, n < relevant ? n : relevant);
        print_message("column %zu: %.4f of the nodes, %.4f expected\n", j, of_column[j] / NODES, expected);
        assert_true(fabs(of_column[j] - NODES * expected) <= 4 * sqrt(NODES * expected * (1 - expected)) + 1e-9);
        if (p[j] == 0) assert_true(of_column[j] == 0);
    }
    for (size_t n = 1; n <= 3; n++) {
        double expected = n < relevant ? share[n] : 0;
        for (size_t m = n; n == relevant && m <= 3; m++) expected += share[m];
        assert_true(fabs(counts[n] - NODES * expected) <= 4 * sqrt(NODES * expected * (1 - expected)) + 1e-9);
    }
    assert_true(counts[0] == 0);
    sampled_free(&s);
}

/* One, two or three columns each, picked without going back by 0.9 s_j^2 / sum + 0.1 / columns; never those of none. */
static void sparse_nodes(void **state)
{
    (void)state;
    check_sparse((const double[]){0.5, 1.8, 1, 0.1}, 4);
    check_sparse((const double[]){0.5, 0, 1, 0.3}, 3);
    check_sparse((const double[]){0, 1.8, 0, 0.2}, 2);
    check_sparse((const double[]){0, 2, 0, 0}, 1);
}

/* ---- differences ------------------------------------------------------------------------------------------------ */

static const double RELEVANCE[] = {0.5, 1.8, 1, 0.1};
static const double ROOT[] = {1.5, 0.4, -0.2, 0, 0.4, 0.9, 0.1, 0, -0.2, 0.1, 0.3, 0.2, 0, 0, 0.2, 0.5};

/* x_a - x_b, times the metric, which is the root twice, or the relevance. */
static void difference_of(double *out, const sampled *s, size_t a, size_t b)
{
    double apart[INPUTS], half[INPUTS];
    for (size_t j = 0; j < INPUTS; j++) apart[j] = s->rows[a * INPUTS + j] - s->rows[b * INPUTS + j];
    for (size_t j = 0; j < INPUTS; j++) {
        half[j] = 0;
        for (size_t k = 0; k < INPUTS; k++) half[j] += ROOT[j * INPUTS + k] * apart[k];
    }
    for (size_t j = 0; j < INPUTS; j++) {
        out[j] = s->task.root ? 0 : apart[j] * RELEVANCE[j];
        for (size_t k = 0; s->task.root && k < INPUTS; k++) out[j] += ROOT[j * INPUTS + k] * half[k];
    }
}

/* How parallel a node is to the difference of two rows: 1 where it is. */
static double along(const sampled *s, size_t node, size_t a, size_t b)
{
    double dot = 0, length = 0, size = 0, apart[INPUTS];
    difference_of(apart, s, a, b);
    for (size_t j = 0; j < INPUTS; j++) {
        dot += apart[j] * weight_of(s, j, node);
        length += apart[j] * apart[j];
        size += weight_of(s, j, node) * weight_of(s, j, node);
    }
    return fabs(dot) / sqrt(length * size);
}

/* Along x_a - x_b of two rows, times the metric or the relevance, so long that w.x deviates by `range` over the rows. */
static void difference_nodes(void **state)
{
    (void)state;
    enum { NODES = 300 };
    for (int with = 0; with < 2; with++) {
        size_t same = 0; /* a row and itself give no direction: 1 of 37 times */
        sampled s;
        sample(&s, BROAD_SCALE_STANDARD, INPUTS,
               (broad__sample_task){
                   .nodes = NODES, .relevance = RELEVANCE, .root = with ? ROOT : NULL, .direction = BROAD__DIFFERENCE});
        for (size_t node = 0; node < NODES; node++) {
            double best = 0;
            for (size_t a = 0; a < ROWS; a++)
                for (size_t b = 0; b < a; b++) best = fmax(best, along(&s, node, a, b));
            if (best > 1 - 1e-12) assert_true(relative_difference(deviation_of(&s, node), RANGE, 0) < 1e-9);
            else same++;
        }
        assert_true(same < 22);
        sampled_free(&s);
    }
}

/* ---- rows that hardly differ ------------------------------------------------------------------------------------ */

/* Inputs at an offset, and as they are: the deviation of w.x is the one asked for as long as the rows can be told apart, found here
 * with twice the digits; beyond that a direction keeps its length of at most 1. */
static void deviations_beside_an_offset(void **state)
{
    (void)state;
    enum { NODES = 40 };
    static const double offsets[] = {1e3, 1e5, 1e7, 1e11, 1e15};
    for (size_t o = 0; o < sizeof offsets / sizeof offsets[0]; o++) {
        problem_random r = {31};
        double *x = problem_normals(ROWS * INPUTS, &r), weight[INPUTS * NODES], bias[NODES];
        for (size_t i = 0; i < ROWS * INPUTS; i++) x[i] += offsets[o];
        fitted f;
        fit(&f, BROAD_SCALE_NONE, x, ROWS, INPUTS);
        broad__sample_task task = {.scaling = f.scaling, .x = f.x, .rows = ROWS, .range = RANGE, .nodes = NODES};
        task.stream = (broad__stream){.seed = 5, .purpose = BROAD__FOR_FEATURES};
        task.direction = BROAD__SPARSE;
        assert_ok(broad__sample_nodes(weight, bias, &task));
        for (size_t node = 0; node < NODES; node++) {
            long double mean = 0, squares = 0, largest = 0;
            for (size_t j = 0; j < INPUTS; j++) largest = fmaxl(largest, fabsl(weight[j * NODES + node]));
            for (int pass = 0; pass < 2; pass++)
                for (size_t i = 0; i < ROWS; i++) {
                    long double value = 0;
                    for (size_t j = 0; j < INPUTS; j++)
                        value += (long double)f.x[i * INPUTS + j] * weight[j * NODES + node];
                    if (pass) squares += (value - mean) * (value - mean) / ROWS;
                    else mean += value / ROWS;
                }
            double u = broad__random_at(&task.stream, (uint64_t)node * 9 + 7), wanted = 1.5 * RANGE * steepness(u);
            if (offsets[o] < 1e9) assert_true(fabs(sqrt((double)squares) / wanted - 1) < 1e-5);
            else assert_true(largest <= 1);
        }
        fitted_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_turn_at_rows), cmocka_unit_test(nodes_follow_the_order),
        cmocka_unit_test(dense_nodes),        cmocka_unit_test(sparse_nodes),
        cmocka_unit_test(difference_nodes),   cmocka_unit_test(deviations_beside_an_offset),
    };
    return cmocka_run_group_tests_name("sample", tests, NULL, NULL);
}
