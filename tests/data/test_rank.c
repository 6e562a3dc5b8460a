/* Scaling by rank against plain interpolation, and nodes that are drawn where the rows are. */
#include "plain.h"

#include "data/transform/scale.h"
#include "feature/sample.h"

/* ---- ranks ----------------------------------------------------------------------------------------------------- */

/* Middle of the ranks of a value among the others, between 0 and 1; NaN does not count. */
static double plain_rank_at(const double *values, size_t count, double value)
{
    size_t below = 0, same = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        all += isnan(values[i]) ? 0 : 1;
        below += values[i] < value ? 1 : 0;
        same += values[i] == value ? 1 : 0;
    }
    return ((double)below + (double)below + (double)same) / (2 * (double)all);
}

/* Along straight lines between the values there are, flat outside. */
static double plain_rank(const double *values, size_t count, double value)
{
    double low = -INFINITY, high = INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (values[i] <= value && values[i] > low) low = values[i];
        if (values[i] >= value && values[i] < high) high = values[i];
    }
    if (low == -INFINITY) return plain_rank_at(values, count, high);
    if (high == INFINITY || low == high) return plain_rank_at(values, count, low);
    double a = plain_rank_at(values, count, low), b = plain_rank_at(values, count, high);
    return a + (b - a) * (value - low) / (high - low);
}

typedef struct fitted {
    size_t rows, inputs;
    double *x, *shift, *factor, *fill, *knots;
    broad__scaling scaling;
} fitted;

static void fit(fitted *f, broad_scale how, double *x, size_t rows, size_t inputs)
{
    size_t columns = broad__scaling_columns(how, inputs);
    *f = (fitted){.rows = rows, .inputs = inputs, .x = x};
    f->shift = malloc(columns * sizeof *f->shift), f->factor = malloc(columns * sizeof *f->factor);
    f->fill = malloc(inputs * sizeof *f->fill);
    f->knots = malloc(broad__scaling_knots(how, inputs) * sizeof *f->knots);
    broad__scaling_arrays arrays = {f->shift, f->factor, f->fill, f->knots};
    assert_ok(broad__scaling_fit(&arrays, how, &(broad__column_rows){x, rows, inputs, NULL}));
    f->scaling = (broad__scaling){how, inputs, columns, f->shift, f->factor, f->fill, f->knots};
}

static void fitted_free(fitted *f) { free(f->x), free(f->shift), free(f->factor), free(f->fill), free(f->knots); }

/* Column j, and mean and deviation of what `rank` makes of it. */
typedef struct column {
    double values[600];
    double mean, deviation, fill;
} column;

static void column_of(column *out, const fitted *f, size_t j)
{
    long double sum = 0, squares = 0, plain = 0;
    size_t count = 0;
    for (size_t i = 0; i < f->rows; i++) {
        out->values[i] = f->x[i * f->inputs + j];
        if (isnan(out->values[i])) continue;
        plain += out->values[i];
        count++;
    }
    out->fill = count ? (double)(plain / (long double)count) : 0;
    for (size_t i = 0; i < f->rows; i++) {
        double rank = plain_rank(out->values, f->rows, isnan(out->values[i]) ? out->fill : out->values[i]);
        sum += rank, squares += (long double)rank * rank;
    }
    out->mean = (double)(sum / (long double)f->rows);
    out->deviation = sqrt((double)(squares / (long double)f->rows) - out->mean * out->mean);
}

/* Few distinct values: every one is a knot, and the ranks are exact. Ties, NaN, values between and outside. */
static void ranks_are_exact_for_few_values(void **state)
{
    (void)state;
    enum { ROWS = 120, INPUTS = 4, FRESH = 50 };
    for (uint64_t seed = 1; seed <= 10; seed++) {
        problem_random r = {seed};
        double *x = malloc(ROWS * INPUTS * sizeof *x), fresh[FRESH * INPUTS], out[FRESH * INPUTS];
        for (size_t i = 0; i < ROWS * INPUTS; i++) {
            size_t j = i % INPUTS;
            x[i] = exp(3 * problem_normal(&r));
            if (j == 1) x[i] = floor(4 * problem_uniform(&r)); /* ties */
            if (j == 2 && problem_uniform(&r) < 0.3) x[i] = NAN;
        }
        for (size_t i = 0; i < FRESH * INPUTS; i++) {
            fresh[i] = exp(4 * problem_normal(&r)) - 1;
            if (i % 9 == 0) fresh[i] = x[i];
            if (i % 13 == 0) fresh[i] = NAN;
        }
        fitted f;
        fit(&f, BROAD_SCALE_RANK, x, ROWS, INPUTS);
        broad__scaling_apply(out, &f.scaling, fresh, FRESH, INPUTS);
        for (size_t j = 0; j < INPUTS; j++) {
            column c;
            column_of(&c, &f, j);
            for (size_t i = 0; i < FRESH; i++) {
                double value = fresh[i * INPUTS + j];
                double rank = plain_rank(c.values, ROWS, isnan(value) ? c.fill : value);
                assert_true(fabs(out[i * INPUTS + j] - (rank - c.mean) / c.deviation) < 1e-9);
            }
        }
        fitted_free(&f);
    }
}

/* Many: knots at equal distances of rank, so that no rank is off by more than one of them. */
static void ranks_of_many_values_are_near(void **state)
{
    (void)state;
    enum { ROWS = 600, INPUTS = 2 };
    problem_random r = {3};
    double *x = malloc(ROWS * INPUTS * sizeof *x), *out = malloc(ROWS * INPUTS * sizeof *out), worst = 0;
    for (size_t i = 0; i < ROWS; i++) {
        x[i * INPUTS] = exp(5 * problem_normal(&r));
        x[i * INPUTS + 1] = i % 3 ? problem_normal(&r) : 0.25; /* a third of them tied */
    }
    fitted f;
    fit(&f, BROAD_SCALE_RANK, x, ROWS, INPUTS);
    broad__scaling_apply(out, &f.scaling, x, ROWS, INPUTS);
    for (size_t j = 0; j < INPUTS; j++) {
        column c;
        column_of(&c, &f, j);
        for (size_t i = 0; i < ROWS; i++) {
            double rank = out[i * INPUTS + j] / f.factor[j] + f.shift[j];
            double miss = fabs(rank - plain_rank(c.values, ROWS, c.values[i]));
            /* Beside the tied value ranks leap by a third; a knot there may be that far off. */
            if (j == 0 || fabs(c.values[i] - 0.25) > 0.1) worst = fmax(worst, miss);
            for (size_t k = 0; k < ROWS; k++)
                if (c.values[k] > c.values[i]) assert_true(out[k * INPUTS + j] >= out[i * INPUTS + j]);
        }
    }
    print_message("worst rank off by %.4f, knots %.4f apart\n", worst, 1.0 / (BROAD__KNOTS - 1));
    assert_true(worst < 1.0 / (BROAD__KNOTS - 1));
    free(out);
    fitted_free(&f);
}

/* Constant and empty columns become 0; what lies outside is as the outermost value. */
static void edges_of_ranks(void **state)
{
    (void)state;
    static const double given[] = {7, NAN, 1, 7, NAN, 2, 7, NAN, 4};
    double *x = malloc(sizeof given), out[3 * 3], fresh[] = {-1e300, 5, -8, 7, NAN, 4, 1e300, -5, 1e6};
    memcpy(x, given, sizeof given);
    fitted f;
    fit(&f, BROAD_SCALE_RANK, x, 3, 3);
    broad__scaling_apply(out, &f.scaling, fresh, 3, 3);
    double top = (5.0 / 6 - 0.5) / sqrt(2.0 / 27); /* ranks 1/6, 1/2, 5/6 */
    for (size_t i = 0; i < 3; i++) assert_true(out[i * 3] == 0 && out[i * 3 + 1] == 0);
    assert_true(fabs(out[2] + top) < 1e-12 && fabs(out[5] - top) < 1e-12 && fabs(out[8] - top) < 1e-12);
    fitted_free(&f);
}

/* `both`: the columns standardised, then the columns by rank; rows with a stride. */
static void both_is_one_after_the_other(void **state)
{
    (void)state;
    enum { ROWS = 90, INPUTS = 3, STRIDE = 5 };
    problem_random r = {8};
    double *x = problem_normals(ROWS * INPUTS, &r), fresh[4 * STRIDE], both[4 * 6], ranks[4 * 3], plain[4 * 3];
    double *copy = malloc(ROWS * INPUTS * sizeof *copy), *third = malloc(ROWS * INPUTS * sizeof *third);
    for (size_t i = 0; i < ROWS; i += 11) x[i * INPUTS + 1] = NAN;
    for (size_t i = 0; i < 4 * STRIDE; i++) fresh[i] = i == STRIDE + 1 ? NAN : 2 * problem_normal(&r);
    memcpy(copy, x, ROWS * INPUTS * sizeof *copy);
    memcpy(third, x, ROWS * INPUTS * sizeof *third);
    fitted f, g, h;
    fit(&f, BROAD_SCALE_BOTH, x, ROWS, INPUTS);
    fit(&g, BROAD_SCALE_RANK, copy, ROWS, INPUTS);
    assert_int_equal(f.scaling.columns, 2 * INPUTS);
    fit(&h, BROAD_SCALE_STANDARD, third, ROWS, INPUTS);
    broad__scaling_apply(both, &f.scaling, fresh, 4, STRIDE);
    broad__scaling_apply(ranks, &g.scaling, fresh, 4, STRIDE);
    broad__scaling_apply(plain, &h.scaling, fresh, 4, STRIDE);
    for (size_t i = 0; i < 4; i++) {
        assert_memory_equal(both + i * 6, plain + i * 3, 3 * sizeof(double));
        assert_memory_equal(both + i * 6 + 3, ranks + i * 3, 3 * sizeof(double));
    }
    fitted_free(&f);
    fitted_free(&g);
    fitted_free(&h);
}

/* A network on columns by rank is one on these columns as they are. */
static void networks_see_the_scaled_columns(void **state)
{
    (void)state;
    enum { ROWS = 100, INPUTS = 2 };
    static const char *const scales[] = {"rank", "both"};
    for (size_t i = 0; i < 2; i++) {
        problem_random r = {i + 4};
        broad_arrays arrays;
        plain_arrays(&arrays, &r, ROWS, INPUTS, 1, 0, 0);
        broad_data *data = plain_data(&arrays);
        double *x = malloc(ROWS * INPUTS * sizeof *x), scaled[ROWS * 2 * INPUTS], a[ROWS], b[ROWS];
        memcpy(x, arrays.x, ROWS * INPUTS * sizeof *x);
        fitted f;
        fit(&f, i ? BROAD_SCALE_BOTH : BROAD_SCALE_RANK, x, ROWS, INPUTS);
        broad__scaling_apply(scaled, &f.scaling, x, ROWS, INPUTS);
        broad_arrays other = arrays;
        other.x = scaled, other.inputs = f.scaling.columns;
        broad_data *ready = plain_data(&other);
        broad_options o = OPTIONS("preset", "paper", "kind", "bls", "features", "2x3", "enhance", "9x1", "lambda",
                                  "0.01", "scale", scales[i]);
        broad_model *one = NULL, *two = NULL;
        assert_ok(broad_fit(&one, NULL, data, &o));
        o.scale = BROAD_SCALE_NONE;
        assert_ok(broad_fit(&two, NULL, ready, &o));
        assert_ok(broad_predict_data(a, one, data, THREADS(1)));
        assert_ok(broad_predict_data(b, two, ready, THREADS(1)));
        assert_true(relative_distance(a, b, ROWS) < 1e-10);
        broad_model_free(one), broad_model_free(two);
        broad_data_free(data), broad_data_free(ready);
        plain_arrays_free(&arrays);
        fitted_free(&f);
    }
}

/* ---- sampled nodes --------------------------------------------------------------------------------------------- */

enum { SAMPLE_ROWS = 37, SAMPLE_INPUTS = 4 };

typedef struct sampled {
    fitted f;
    broad__sample_task task;
    double *weight, *bias, *rows; /* rows: as they are scaled */
} sampled;

static void sample(sampled *s, broad_scale how, const double *relevance, size_t nodes, broad__direction direction)
{
    problem_random r = {12};
    fit(&s->f, how, problem_normals(SAMPLE_ROWS * SAMPLE_INPUTS, &r), SAMPLE_ROWS, SAMPLE_INPUTS);
    size_t columns = s->f.scaling.columns;
    s->task = (broad__sample_task){.scaling = s->f.scaling,
                                   .x = s->f.x,
                                   .rows = SAMPLE_ROWS,
                                   .relevance = relevance,
                                   .nodes = nodes,
                                   .range = 0.7,
                                   .direction = direction,
                                   .stream = {.seed = 5, .purpose = BROAD__FOR_FEATURES, .layer = 3}};
    s->weight = malloc(columns * nodes * sizeof *s->weight), s->bias = malloc(nodes * sizeof *s->bias);
    s->rows = malloc(SAMPLE_ROWS * columns * sizeof *s->rows);
    broad__scaling_apply(s->rows, &s->f.scaling, s->f.x, SAMPLE_ROWS, SAMPLE_INPUTS);
    assert_ok(broad__sample_nodes(s->weight, s->bias, &s->task));
}

static void sampled_free(sampled *s)
{
    fitted_free(&s->f);
    free(s->weight), free(s->bias), free(s->rows);
}

/* The row at which a node is 0 before its activation; SIZE_MAX: none. */
static size_t anchor(const sampled *s, size_t node)
{
    size_t columns = s->f.scaling.columns, nodes = s->task.nodes;
    for (size_t i = 0; i < SAMPLE_ROWS; i++) {
        double sum = s->bias[node];
        for (size_t j = 0; j < columns; j++) sum += s->rows[i * columns + j] * s->weight[j * nodes + node];
        if (fabs(sum) < 1e-14) return i;
    }
    return SIZE_MAX;
}

/* Every node turns at a row, all rows about as often. */
static void nodes_turn_at_rows(void **state)
{
    (void)state;
    enum { NODES = 3700 };
    for (int i = 0; i < 6; i++) {
        sampled s;
        size_t counts[SAMPLE_ROWS] = {0};
        sample(&s, i % 2 ? BROAD_SCALE_BOTH : BROAD_SCALE_STANDARD, NULL, NODES, (broad__direction)(i / 2));
        for (size_t node = 0; node < NODES; node++) {
            size_t row = anchor(&s, node);
            assert_true(row < SAMPLE_ROWS);
            counts[row]++;
        }
        for (size_t row = 0; row < SAMPLE_ROWS; row++) assert_true(counts[row] > 50 && counts[row] < 150); /* of 100 */
        sampled_free(&s);
    }
}

/* Uniform in +-range sqrt(3 / columns) times the relevance. */
static void dense_nodes(void **state)
{
    (void)state;
    enum { NODES = 2000 };
    static const double relevance[] = {0.5, 1.5, 1, 0.1};
    sampled s;
    sample(&s, BROAD_SCALE_STANDARD, relevance, NODES, BROAD__DENSE);
    for (size_t j = 0; j < SAMPLE_INPUTS; j++) {
        double most = 0, squares = 0, bound = 0.7 * sqrt(3.0 / SAMPLE_INPUTS) * relevance[j];
        for (size_t node = 0; node < NODES; node++) {
            most = fmax(most, fabs(s.weight[j * NODES + node]));
            squares += pow(s.weight[j * NODES + node], 2) / NODES;
        }
        assert_true(most <= bound && most > 0.99 * bound);
        assert_true(relative_difference(squares, bound * bound / 3, 0) < 0.1);
    }
    sampled_free(&s);
}

/* Two columns each, picked without going back by 0.9 s_j^2 / sum + 0.1 / columns. */
static void sparse_nodes(void **state)
{
    (void)state;
    enum { NODES = 20000 };
    static const double relevance[] = {0.5, 1.8, 1, 0.1};
    double p[SAMPLE_INPUTS], total = 0;
    for (size_t j = 0; j < SAMPLE_INPUTS; j++) total += relevance[j] * relevance[j];
    for (size_t j = 0; j < SAMPLE_INPUTS; j++) p[j] = 0.9 * relevance[j] * relevance[j] / total + 0.1 / SAMPLE_INPUTS;
    sampled s;
    sample(&s, BROAD_SCALE_STANDARD, relevance, NODES, BROAD__SPARSE);
    for (size_t node = 0; node < NODES; node++) {
        size_t seen = 0;
        for (size_t j = 0; j < SAMPLE_INPUTS; j++) {
            seen += s.weight[j * NODES + node] != 0;
            assert_true(fabs(s.weight[j * NODES + node]) <= 2 * 0.7 * sqrt(1.5));
        }
        assert_int_equal(seen, 2);
    }
    for (size_t j = 0; j < SAMPLE_INPUTS; j++) {
        double expected = p[j], count = 0;
        for (size_t k = 0; k < SAMPLE_INPUTS; k++)
            if (k != j) expected += p[k] * p[j] / (1 - p[k]);
        for (size_t node = 0; node < NODES; node++) count += s.weight[j * NODES + node] != 0;
        double deviation = sqrt(NODES * expected * (1 - expected));
        print_message("column %zu: %.4f of the nodes, %.4f expected\n", j, count / NODES, expected);
        assert_true(fabs(count - NODES * expected) < 4 * deviation);
    }
    sampled_free(&s);
}

/* Along x_a - x_b of two rows, times the relevance, so long that w.x deviates by `range` over the rows. */
static void difference_nodes(void **state)
{
    (void)state;
    enum { NODES = 300 };
    static const double relevance[] = {0.5, 1.8, 1, 0.1};
    size_t same = 0; /* a row and itself give no direction: 1 of 37 times */
    sampled s;
    sample(&s, BROAD_SCALE_STANDARD, relevance, NODES, BROAD__DIFFERENCE);
    for (size_t node = 0; node < NODES; node++) {
        double w[SAMPLE_INPUTS], sum = 0, squares = 0, size = 0, best = 0;
        for (size_t j = 0; j < SAMPLE_INPUTS; j++) {
            w[j] = s.weight[j * NODES + node];
            size += w[j] * w[j];
        }
        for (size_t a = 0; a < SAMPLE_ROWS; a++) {
            const double *row = s.rows + a * SAMPLE_INPUTS;
            double value = 0;
            for (size_t j = 0; j < SAMPLE_INPUTS; j++) value += row[j] * w[j];
            sum += value / SAMPLE_ROWS, squares += value * value / SAMPLE_ROWS;
            for (size_t b = 0; b < a; b++) {
                double dot = 0, length = 0;
                for (size_t j = 0; j < SAMPLE_INPUTS; j++) {
                    double apart = (row[j] - s.rows[b * SAMPLE_INPUTS + j]) * relevance[j];
                    dot += apart * w[j], length += apart * apart;
                }
                best = fmax(best, fabs(dot) / sqrt(length * size)); /* 1: parallel */
            }
        }
        if (best > 1 - 1e-12) assert_true(relative_difference(sqrt(squares - sum * sum), 0.7, 0) < 1e-9);
        else same++;
    }
    assert_true(same < 22);
    sampled_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_exact_for_few_values),
        cmocka_unit_test(ranks_of_many_values_are_near),
        cmocka_unit_test(edges_of_ranks),
        cmocka_unit_test(both_is_one_after_the_other),
        cmocka_unit_test(networks_see_the_scaled_columns),
        cmocka_unit_test(nodes_turn_at_rows),
        cmocka_unit_test(dense_nodes),
        cmocka_unit_test(sparse_nodes),
        cmocka_unit_test(difference_nodes),
    };
    return cmocka_run_group_tests_name("rank", tests, NULL, NULL);
}
