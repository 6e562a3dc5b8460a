/* Scaling by rank against plain interpolation. */
#include "scaled.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_exact_for_few_values),
        cmocka_unit_test(ranks_of_many_values_are_near),
        cmocka_unit_test(edges_of_ranks),
        cmocka_unit_test(both_is_one_after_the_other),
        cmocka_unit_test(networks_see_the_scaled_columns),
    };
    return cmocka_run_group_tests_name("rank", tests, NULL, NULL);
}
