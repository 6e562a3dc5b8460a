/* Principal components of photos' inputs, against the covariance matrix turned by Jacobi's method. */
#include "helper.h"

#include "base/memory.h"
#include "data/transform/project_variants.h"
#include "data/transform/projection.h"

enum { ROWS = 40, SIDE = 2, PIXELS = SIDE * SIDE * 3 };

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* Inputs that move together: three causes in each row, and some noise. Input 5 never varies, input 7 is far larger. */
static double *made_inputs(size_t rows, size_t inputs)
{
    double *x = malloc(rows * inputs * sizeof *x);
    uint64_t state = 11;
    for (size_t i = 0; i < rows; i++) {
        double a = uniform(&state), b = uniform(&state), c = uniform(&state);
        for (size_t j = 0; j < inputs; j++)
            x[i * inputs + j] =
                sin((double)j) * a + cos(3.0 * (double)j) * b + sin(2.0 * (double)j + 1) * c + 0.1 * uniform(&state);
        x[i * inputs + 5] = 4;
        x[i * inputs + 7] = 1000 * x[i * inputs + 7] - 500;
    }
    return x;
}

/* Columns standardised, those of each map over the root of their number; those that do not vary are 0. */
static double *plain_standard(const broad__photo_spec *spec, const double *x, size_t rows)
{
    size_t inputs = broad__photo_inputs(spec);
    double *z = calloc(rows * inputs, sizeof *z);
    for (size_t j = 0; j < inputs; j++) {
        size_t pixels = spec->maps & BROAD_PHOTO_MAP_PIXELS ? broad__map_inputs(BROAD_PHOTO_MAP_PIXELS, spec->side) : 0;
        double count = j < pixels ? (double)pixels : (double)(inputs - pixels), mean = 0, square = 0;
        for (size_t i = 0; i < rows; i++) mean += x[i * inputs + j] / (double)rows;
        for (size_t i = 0; i < rows; i++) square += pow(x[i * inputs + j] - mean, 2) / (double)rows;
        for (size_t i = 0; i < rows && square > 1e-20; i++)
            z[i * inputs + j] = (x[i * inputs + j] - mean) / sqrt(square * count);
    }
    return z;
}

/* a (n x n) becomes diagonal, the columns of v its vectors. */
static void jacobi(double *a, double *v, size_t n)
{
    for (size_t i = 0; i < n * n; i++) v[i] = i / n == i % n;
    for (int sweep = 0; sweep < 60; sweep++)
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) {
                if (fabs(a[p * n + q]) < 1e-300) continue;
                double angle = 0.5 * atan2(2 * a[p * n + q], a[q * n + q] - a[p * n + p]), c = cos(angle),
                       s = sin(angle);
                for (size_t k = 0; k < n; k++) {
                    double x = a[k * n + p], y = a[k * n + q];
                    a[k * n + p] = c * x - s * y, a[k * n + q] = s * x + c * y;
                }
                for (size_t k = 0; k < n; k++) {
                    double x = a[p * n + k], y = a[q * n + k];
                    a[p * n + k] = c * x - s * y, a[q * n + k] = s * x + c * y;
                    x = v[k * n + p], y = v[k * n + q];
                    v[k * n + p] = c * x - s * y, v[k * n + q] = s * x + c * y;
                }
            }
}

/* Components of z, largest first, scaled to a mean variance of 1: rows x count. */
static double *plain_components(const double *z, size_t rows, size_t inputs, size_t count)
{
    double *a = calloc(inputs * inputs, sizeof *a), *v = malloc(inputs * inputs * sizeof *v), total = 0;
    double *out = calloc(rows * count, sizeof *out);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < inputs; j++)
            for (size_t k = 0; k < inputs; k++)
                a[j * inputs + k] += z[i * inputs + j] * z[i * inputs + k] / (double)rows;
    jacobi(a, v, inputs);
    for (size_t c = 0; c < count; c++) {
        size_t best = 0;
        for (size_t j = 1; j < inputs; j++)
            if (a[j * inputs + j] > a[best * inputs + best]) best = j;
        total += a[best * inputs + best];
        a[best * inputs + best] = -1;
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < inputs; j++) out[i * count + c] += z[i * inputs + j] * v[j * inputs + best];
    }
    for (size_t i = 0; i < rows * count; i++) out[i] *= sqrt((double)count / total);
    free(a), free(v);
    return out;
}

static void check_against_jacobi(broad__photo_spec spec, size_t rows)
{
    size_t inputs = broad__photo_inputs(&spec), wanted = spec.components;
    double *x = made_inputs(rows, inputs), *z = plain_standard(&spec, x, rows);
    double *exact = plain_components(z, rows, inputs, wanted), *have = malloc(rows * wanted * sizeof *have);
    broad__projection projection;
    assert_ok(broad__projection_fit(&projection, &spec, x, NULL, rows, 1));
    assert_int_equal(spec.components, wanted);
    broad__projection_apply(have, &projection, &spec, x, rows);
    for (size_t c = 0; c < wanted; c++) {
        double same = 0, other = 0; /* a component may point either way */
        for (size_t i = 0; i < rows; i++) {
            same = fmax(same, fabs(have[i * wanted + c] - exact[i * wanted + c]));
            other = fmax(other, fabs(have[i * wanted + c] + exact[i * wanted + c]));
        }
        if (!(fmin(same, other) < 1e-9)) fail_msg("component %zu differs by %g", c + 1, fmin(same, other));
    }
    /* A row by itself gives the same bits. */
    double alone[64];
    broad__projection_apply(alone, &projection, &spec, x + 3 * inputs, 1);
    assert_memory_equal(alone, have + 3 * wanted, wanted * sizeof *alone);
    broad__projection_clear(&projection);
    free(x), free(z), free(exact), free(have);
}

static void components_of_one_map(void **state)
{
    (void)state;
    check_against_jacobi((broad__photo_spec){.maps = BROAD_PHOTO_MAP_PIXELS, .side = SIDE, .components = 4}, ROWS);
    check_against_jacobi((broad__photo_spec){.maps = BROAD_PHOTO_MAP_PIXELS, .side = SIDE, .components = 11}, ROWS);
    check_against_jacobi((broad__photo_spec){.maps = BROAD_PHOTO_MAP_PIXELS, .side = 3, .components = 6}, ROWS);
}

/* The smaller map counts as much as the larger one. */
static void maps_count_alike(void **state)
{
    (void)state;
    broad__photo_spec spec = {
        .maps = BROAD_PHOTO_MAP_PIXELS | BROAD_PHOTO_MAP_DESCRIPTORS, .side = SIDE, .components = 2};
    size_t inputs = broad__photo_inputs(&spec);
    double *x = calloc(ROWS * inputs, sizeof *x);
    uint64_t random = 5;
    for (size_t i = 0; i < ROWS; i++) {
        double a = uniform(&random) - 0.5, b = uniform(&random) - 0.5;
        for (size_t j = 0; j < inputs; j++) x[i * inputs + j] = j < PIXELS ? a : b;
    }
    broad__projection projection;
    assert_ok(broad__projection_fit(&projection, &spec, x, NULL, ROWS, 1));
    double *have = malloc(ROWS * 2 * sizeof *have), variance[2] = {0};
    broad__projection_apply(have, &projection, &spec, x, ROWS);
    for (size_t i = 0; i < 2 * ROWS; i++) variance[i % 2] += have[i] * have[i] / ROWS;
    assert_true(fabs(variance[0] + variance[1] - 2) < 1e-9);
    /* Correlated by chance alone: 1 + r and 1 - r. */
    assert_true(variance[0] < 1.5 && variance[1] > 0.5);
    broad__projection_clear(&projection);
    free(x), free(have);
}

/* Not more than there are. */
static void few_rows(void **state)
{
    (void)state;
    broad__photo_spec spec = {.maps = BROAD_PHOTO_MAP_PIXELS, .side = SIDE, .components = 50};
    double *x = made_inputs(6, PIXELS);
    broad__projection projection, copy;
    assert_ok(broad__projection_fit(&projection, &spec, x, NULL, 6, 1));
    assert_int_equal(spec.components, 5);
    assert_ok(broad__projection_copy(&copy, &projection, &spec));
    assert_memory_equal(copy.axes, projection.axes, PIXELS * 5 * sizeof(double));
    assert_memory_equal(copy.shift, projection.shift, 5 * sizeof(double));
    broad__projection_clear(&copy);
    broad__projection_clear(&projection);
    for (size_t i = 0; i < 6; i++) memcpy(x + i * PIXELS, x, PIXELS * sizeof *x);
    spec.components = 3;
    assert_fails(broad__projection_fit(&projection, &spec, x, NULL, 6, 1), BROAD_BAD_DATA, "look the same");
    assert_null(projection.axes);
    free(x);
    assert_int_equal(broad__projection_components(10), 16);
    assert_int_equal(broad__projection_components(300), 100);
    assert_int_equal(broad__projection_components(100000), 192);
}

/* The axes do not depend on whether distances are wanted; without them there is no limit. */
static void axes_alone(void **state)
{
    (void)state;
    broad__photo_spec spec = {.maps = BROAD_PHOTO_MAP_PIXELS, .side = SIDE, .components = 5}, same = spec;
    double *x = made_inputs(ROWS, PIXELS);
    broad__projection whole, alone;
    assert_ok(broad__projection_fit(&whole, &spec, x, NULL, ROWS, 1));
    assert_ok(broad__projection_fit_axes(&alone, &same, x, ROWS, 1));
    assert_int_equal(same.components, spec.components);
    assert_memory_equal(alone.axes, whole.axes, PIXELS * spec.components * sizeof(double));
    assert_memory_equal(alone.shift, whole.shift, spec.components * sizeof(double));
    assert_true(whole.limit > 0);
    assert_true(alone.limit == 0 && !alone.centre);
    broad__projection_clear(&whole);
    broad__projection_clear(&alone);
    free(x);
}

typedef void projector(double *out, const double *axes, size_t columns, const double *x, size_t inputs, size_t rows);

/* Each sum by itself, input after input: the same bits, whatever the columns and rows that come together. */
static void check_projector(projector *project, size_t columns, size_t inputs, size_t rows)
{
    double *axes = malloc(inputs * columns * sizeof *axes), *x = malloc(inputs * rows * sizeof *x);
    double *have = malloc(rows * columns * sizeof *have);
    uint64_t random = columns + inputs + rows;
    for (size_t i = 0; i < inputs * columns; i++) axes[i] = uniform(&random) - 0.5;
    for (size_t i = 0; i < inputs * rows; i++) x[i] = uniform(&random) - 0.3;
    for (size_t i = 0; i < rows * columns; i++) have[i] = (double)i;
    project(have, axes, columns, x, inputs, rows);
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < columns; c++) {
            double sum = (double)(i * columns + c);
            for (size_t j = 0; j < inputs; j++) sum += x[i * inputs + j] * axes[j * columns + c];
            if (have[i * columns + c] != sum)
                fail_msg("%zu x %zu of %zu inputs: (%zu, %zu) differs", rows, columns, inputs, i, c);
        }
    free(axes), free(x), free(have);
}

static void projectors_agree(void **state)
{
    (void)state;
    static const size_t sizes[][3] = {{1, 1, 1}, {7, 65, 3}, {24, 64, 8}, {53, 130, 19}, {192, 63, 11}, {3, 200, 4}};
    projector *all[3] = {broad__project_plain};
    size_t count = 1;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) all[count++] = broad__project_avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        all[count++] = broad__project_avx512;
#endif
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            check_projector(all[k], sizes[i][0], sizes[i][1], sizes[i][2]);
}

/* Of many rows some are looked at; all are turned. */
static void many_rows(void **state)
{
    (void)state;
    enum { MANY = 2500 };
    broad__photo_spec spec = {.maps = BROAD_PHOTO_MAP_PIXELS, .side = SIDE, .components = 3};
    double *x = made_inputs(MANY, PIXELS), *have = malloc(MANY * 3 * sizeof *have), mean = 0, square = 0;
    broad__projection projection;
    assert_ok(broad__projection_fit(&projection, &spec, x, NULL, MANY, 1));
    broad__projection_apply(have, &projection, &spec, x, MANY);
    for (size_t i = 0; i < 3 * MANY; i++) mean += have[i] / (3 * MANY), square += have[i] * have[i] / (3 * MANY);
    assert_true(fabs(mean) < 0.1 && fabs(square - 1) < 0.1);
    broad__projection_clear(&projection);
    free(x), free(have);
}

/* a z'(A'A + a I)^-1 z with a = 0.03 ||A||^2 / rows: A are the rows of z that do not belong to `part` of five. */
static double plain_unexplained(const double *z, size_t rows, size_t inputs, size_t part, const double *row)
{
    double m[PIXELS][PIXELS + 1] = {{0}}, total = 0, count = 0, left = 0;
    for (size_t i = 0; i < rows; i++) {
        if (i % 5 == part) continue;
        count++;
        for (size_t j = 0; j < inputs; j++)
            for (size_t k = 0; k < inputs; k++) m[j][k] += z[i * inputs + j] * z[i * inputs + k];
    }
    for (size_t j = 0; j < inputs; j++) total += m[j][j];
    double noise = 0.03 * total / count;
    for (size_t j = 0; j < inputs; j++) m[j][j] += noise, m[j][PIXELS] = row[j];
    for (size_t p = 0; p < inputs; p++) /* positive definite: no pivots */
        for (size_t j = 0; j < inputs; j++) {
            double factor = j == p ? 0 : m[j][p] / m[p][p];
            for (size_t k = p; k <= PIXELS; k++) m[j][k] -= factor * m[p][k];
        }
    for (size_t j = 0; j < inputs; j++) left += noise * row[j] * m[j][PIXELS] / m[j][j];
    return left;
}

static int rising(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) ? 1 : -1; }

static double plain_limit(const double *z, size_t rows)
{
    double v[ROWS];
    for (size_t i = 0; i < rows; i++) v[i] = plain_unexplained(z, rows, PIXELS, i % 5, z + i * PIXELS);
    qsort(v, rows, sizeof *v, rising);
    double median = v[rows / 2], middle = v[(size_t)(0.8 * (double)(rows - 1))];
    return median * pow(middle / median, 3) * (1 + 3 / sqrt((double)rows));
}

/* How far rows lie from those that were fitted, and the limit from rows that were left out: by solving, not by components. */
static void distances(void **state)
{
    (void)state;
    broad__photo_spec spec = {.maps = BROAD_PHOTO_MAP_PIXELS, .side = SIDE, .components = ROWS};
    double *x = made_inputs(ROWS + 1, PIXELS), *z = plain_standard(&spec, x, ROWS), component[PIXELS];
    broad__projection projection, copy;
    assert_ok(broad__projection_fit(&projection, &spec, x, NULL, ROWS, 1));
    assert_int_equal(spec.components, PIXELS - 1);
    double limit = plain_limit(z, ROWS);
    assert_true(fabs(projection.limit - limit) < 1e-9 * limit);
    assert_ok(broad__projection_copy(&copy, &projection, &spec));
    for (size_t i = 0; i < ROWS; i++) {
        double v = plain_unexplained(z, ROWS, PIXELS, 5, z + i * PIXELS);
        broad__projection_apply(component, &copy, &spec, x + i * PIXELS, 1);
        double have = broad__projection_distance(&copy, &spec, x + i * PIXELS, component);
        assert_true(fabs(have - sqrt(v / limit)) < 1e-7);
        assert_true(have < 1);
    }
    for (size_t j = 0; j < PIXELS; j++) x[j] = j % 2 ? 9 : -9; /* like none of them */
    broad__projection_apply(component, &copy, &spec, x, 1);
    assert_true(broad__projection_distance(&copy, &spec, x, component) > 3);
    broad__projection_clear(&copy);
    broad__projection_clear(&projection);
    free(x), free(z);
}

/* Rows of one group are left out together; too few groups say nothing. */
static void distances_of_groups(void **state)
{
    (void)state;
    broad__photo_spec spec = {.maps = BROAD_PHOTO_MAP_PIXELS, .side = SIDE, .components = 4};
    double *x = made_inputs(ROWS, PIXELS), apart, together, row[4];
    size_t groups[ROWS];
    broad__projection projection;
    for (size_t i = 0; i < ROWS; i++) {
        groups[i] = i / 2;
        if (i % 2) memcpy(x + i * PIXELS, x + (i - 1) * PIXELS, PIXELS * sizeof *x);
    }
    assert_ok(broad__projection_fit(&projection, &spec, x, NULL, ROWS, 1));
    apart = projection.limit;
    broad__projection_clear(&projection);
    assert_ok(broad__projection_fit(&projection, &spec, x, groups, ROWS, 1));
    together = projection.limit;
    broad__projection_clear(&projection);
    assert_true(apart > 0 && together > apart);
    for (size_t i = 0; i < ROWS; i++) groups[i] = i % 9;
    assert_ok(broad__projection_fit(&projection, &spec, x, groups, ROWS, 1));
    assert_true(projection.limit == 0 && !projection.centre);
    broad__projection_apply(row, &projection, &spec, x, 1);
    assert_true(isnan(broad__projection_distance(&projection, &spec, x, row)));
    broad__projection_clear(&projection);
    free(x);
}

/* Whatever thread finds the components and leaves out which part. */
static void threads_change_nothing(void **state)
{
    (void)state;
    enum { MANY = 300, COMPONENTS = 5 };
    double *x = made_inputs(MANY, PIXELS);
    broad__photo_spec first = {.maps = BROAD_PHOTO_MAP_PIXELS, .side = SIDE, .components = COMPONENTS};
    broad__projection alone;
    assert_ok(broad__projection_fit(&alone, &first, x, NULL, MANY, 1));
    assert_true(alone.limit > 0);
    for (size_t threads = 0; threads < 8; threads += 2) {
        broad__photo_spec spec = {.maps = BROAD_PHOTO_MAP_PIXELS, .side = SIDE, .components = COMPONENTS};
        broad__projection shared;
        assert_ok(broad__projection_fit(&shared, &spec, x, NULL, MANY, threads));
        assert_int_equal(spec.components, COMPONENTS);
        assert_memory_equal(shared.axes, alone.axes, PIXELS * COMPONENTS * sizeof *alone.axes);
        assert_memory_equal(shared.explained, alone.explained, COMPONENTS * sizeof *alone.explained);
        assert_memory_equal(&shared.limit, &alone.limit, sizeof alone.limit);
        broad__projection_clear(&shared);
    }
    broad__projection_clear(&alone);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(components_of_one_map),
        cmocka_unit_test(maps_count_alike),
        cmocka_unit_test(few_rows),
        cmocka_unit_test(many_rows),
        cmocka_unit_test(axes_alone),
        cmocka_unit_test(projectors_agree),
        cmocka_unit_test(distances),
        cmocka_unit_test(distances_of_groups),
        cmocka_unit_test(threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
