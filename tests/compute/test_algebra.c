/*
 * Factors, solutions and eigendecompositions of the processor's device: what they should be multiplied back, by plain loops.
 * Bounds are small multiples of n eps times the size of the matrix, whatever its condition. tests/CMakeLists.txt runs this
 * suite with every set of kernels.
 */
#include "problem.h"

#include <float.h>

#include "compute/cpu/kernels.h"
#include "compute/device.h"

static const size_t sizes[] = {1, 2, 3, 4, 5, 23, 24, 25, 26, 49, 63, 64, 65, 97, 127, 128, 129, 193, 257};
enum { SIZES = sizeof sizes / sizeof sizes[0] };
static const size_t large[] = {500, 1025};
static const size_t LARGE = HELPER_SANITIZED ? 0 : sizeof large / sizeof large[0];

static const broad__device *cpu(void) { return broad__device_cpu(); }

static double *copy_of(const double *a, size_t count)
{
    double *copy = malloc(count * sizeof *copy);
    memcpy(copy, a, count * sizeof *copy);
    return copy;
}

static double *normals(size_t count, problem_random *r)
{
    double *numbers = calloc(count, sizeof *numbers);
    for (size_t i = 0; i < count; i++) numbers[i] = problem_normal(r);
    return numbers;
}

static double largest(const double *a, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        if (!(fabs(a[i]) <= most)) most = fabs(a[i]);
    return most;
}

/* out = a v, of the upper triangle of a symmetric a */
static void symmetric_times(double *out, const double *a, size_t n, const double *v)
{
    memset(out, 0, n * sizeof *out);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) {
            out[i] += a[i * n + j] * v[j];
            if (j > i) out[j] += a[i * n + j] * v[i];
        }
}

/* out = R v or R'v */
static void triangle_times(double *out, const double *r, size_t n, const double *v, int turned)
{
    memset(out, 0, n * sizeof *out);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) out[turned ? j : i] += r[i * n + j] * v[turned ? i : j];
}

static void assert_near(const double *x, const double *y, size_t count, double bound, const char *what, size_t n)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs(x[i] - y[i]) <= bound))
            fail_msg("%s, n %zu, %s kernels: number %zu is %g, not %g; bound %g", what, n, broad__kernels_used()->name,
                     i, x[i], y[i], bound);
}

/* k'k + ridge I, upper triangle; below the diagonal something that must stay */
static double *gram_of(size_t n, size_t rows, double ridge, double scale, problem_random *r)
{
    double *k = normals(rows * n, r), *a = calloc(n * n, sizeof *a);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) a[i * n + j] = j < i ? -7 : j == i ? ridge * scale : 0;
    for (size_t l = 0; l < rows; l++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = i; j < n; j++) a[i * n + j] += scale * k[l * n + i] * k[l * n + j];
    free(k);
    return a;
}

static void assert_below_kept(const double *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) assert_true(a[i * n + j] == -7);
}

/* ---- factors ------------------------------------------------------------------------------------------------------ */

static void check_factor(size_t n, double scale, problem_random *r)
{
    double *a = gram_of(n, n / 2 + 1, 1e-6, scale, r), *f = copy_of(a, n * n), *v = normals(n, r);
    double *x = calloc(n, sizeof(double)), *y = calloc(n, sizeof(double)), *w = calloc(n, sizeof(double));
    double bound = 20 * (double)n * DBL_EPSILON * largest(a, 1) * sqrt((double)n) * largest(v, n);
    for (size_t i = 0; i < n; i++) bound = fmax(bound, 20 * (double)n * DBL_EPSILON * a[i * n + i] * sqrt((double)n));
    assert_int_equal(cpu()->factor(f, n), 0);
    assert_below_kept(f, n);
    triangle_times(w, f, n, v, 0);
    triangle_times(x, f, n, w, 1);
    symmetric_times(y, a, n, v);
    assert_near(x, y, n, bound, "factor", n);
    free(a), free(f), free(v), free(x), free(y), free(w);
}

static void factors(void **state)
{
    (void)state;
    problem_random r = {21};
    for (size_t s = 0; s < SIZES; s++) {
        check_factor(sizes[s], 1, &r);
        check_factor(sizes[s], 1e300, &r);
        check_factor(sizes[s], 1e-300, &r);
    }
    for (size_t s = 0; s < LARGE; s++) check_factor(large[s], 1, &r);
}

/* The first pivot that is not positive is named, wherever it is. */
static void broken_pivots(void **state)
{
    (void)state;
    static const double bad[] = {0, -1, NAN, INFINITY};
    for (size_t n = 1; n < 300; n = n * 2 + 1)
        for (size_t at = 0; at < n; at += 1 + n / 5)
            for (size_t b = 0; b < 4; b++) {
                double *a = calloc(n * n, sizeof *a);
                for (size_t i = 0; i < n; i++) a[i * n + i] = 2;
                a[at * n + at] = bad[b];
                assert_int_equal(cpu()->factor(a, n), at + 1);
                free(a);
            }
}

/* ---- solutions ---------------------------------------------------------------------------------------------------- */

/* A triangle whose inverse is not large. */
static double *triangle_of(size_t n, problem_random *r)
{
    double *t = normals(n * n, r);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) t[i * n + j] = j < i ? -7 : t[i * n + j] / sqrt((double)n);
        t[i * n + i] = 2 + fabs(t[i * n + i]);
    }
    return t;
}

static void check_solutions(size_t n, size_t c, problem_random *r)
{
    double *t = triangle_of(n, r), *b = normals(n * c, r), *x = copy_of(b, n * c);
    double *column = malloc(n * sizeof *column), *w = calloc(n, sizeof(double)), *y = calloc(n, sizeof(double));
    double bound = 100 * (double)n * DBL_EPSILON;
    cpu()->solve(x, c, t, n);
    for (size_t j = 0; j < c; j += 1 + c / 3) {
        for (size_t i = 0; i < n; i++) column[i] = x[i * c + j];
        triangle_times(w, t, n, column, 0);
        triangle_times(y, t, n, w, 1);
        for (size_t i = 0; i < n; i++) column[i] = b[i * c + j];
        assert_near(y, column, n, bound * (1 + largest(x, n * c)), "solve", n);
    }
    memcpy(x, b, n * c * sizeof *x);
    cpu()->whiten(x, n, c, t, n, n);
    for (size_t i = 0; i < c; i += 1 + c / 3) {
        triangle_times(y, t, n, x + i * n, 1);
        assert_near(y, b + i * n, n, bound * (1 + largest(x, n * c)), "whiten", n);
    }
    free(t), free(b), free(x), free(column), free(w), free(y);
}

static void check_invert(size_t n, problem_random *r)
{
    double *t = triangle_of(n, r), *inverse = copy_of(t, n * n), *v = normals(n, r);
    double *w = calloc(n, sizeof(double)), *y = calloc(n, sizeof(double));
    cpu()->invert(inverse, n);
    assert_below_kept(inverse, n);
    triangle_times(w, t, n, v, 0);
    triangle_times(y, inverse, n, w, 0);
    assert_near(y, v, n, 100 * (double)n * DBL_EPSILON * (1 + largest(v, n)), "invert", n);
    free(t), free(inverse), free(v), free(w), free(y);
}

static void solutions(void **state)
{
    (void)state;
    problem_random r = {22};
    for (size_t s = 0; s < SIZES; s++) {
        check_solutions(sizes[s], 1, &r);
        check_solutions(sizes[s], 10, &r);
        check_solutions(sizes[s], 61, &r);
        check_invert(sizes[s], &r);
    }
    for (size_t s = 0; s < LARGE; s++) {
        check_solutions(large[s], 30, &r);
        check_invert(large[s], &r);
    }
}

/* Rows, columns and strips alone give the bits that they have among others. */
static void pieces_have_the_same_bits(void **state)
{
    (void)state;
    enum { N = 301, ROWS = 97, CUT = 31 };
    problem_random r = {23};
    double *t = triangle_of(N, &r), *b = normals(ROWS * N, &r), *x = copy_of(b, ROWS * N), *y = copy_of(b, ROWS * N);
    double *whole = calloc(N * N, sizeof *whole), *parts = calloc(N * N, sizeof *parts);
    cpu()->whiten(x, N, ROWS, t, N, N);
    for (size_t i = 0; i < ROWS; i += CUT) cpu()->whiten(y + i * N, N, ROWS - i < CUT ? ROWS - i : CUT, t, N, N);
    assert_memory_equal(x, y, ROWS * N * sizeof *x);
    cpu()->cross(whole, N, b, N, N, x, N, N, ROWS);
    for (size_t i = 0; i < N; i += CUT)
        cpu()->cross(parts + i * N, N, b + i, N, N - i < CUT ? N - i : CUT, x, N, N, ROWS);
    assert_memory_equal(whole, parts, N * N * sizeof *whole);
    cpu()->outer(whole, N, b, N, ROWS, x, N, ROWS, N);
    for (size_t i = 0; i < ROWS; i += CUT)
        cpu()->outer(parts + i * N, N, b + i * N, N, ROWS - i < CUT ? ROWS - i : CUT, x, N, ROWS, N);
    assert_memory_equal(whole, parts, N * N * sizeof *whole);
    free(t), free(b), free(x), free(y), free(whole), free(parts);
}

/* ---- update ------------------------------------------------------------------------------------------------------- */

static void check_update(size_t n, size_t k, double scale, problem_random *r)
{
    double *t = triangle_of(n, r), *b = normals(k * n, r), *v = normals(n, r);
    double *w = calloc(n + k, sizeof *w), *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y);
    triangle_times(w, t, n, v, 0);
    triangle_times(x, t, n, w, 1);
    for (size_t i = 0; i < k; i++) {
        double dot = 0;
        for (size_t j = 0; j < n; j++) dot += b[i * n + j] * v[j];
        for (size_t j = 0; j < n; j++) x[j] += dot * b[i * n + j];
    }
    for (size_t i = 0; i < k * n; i++) b[i] *= scale;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) t[i * n + j] *= scale;
    assert_ok(cpu()->update(t, n, b, k));
    assert_below_kept(t, n);
    for (size_t i = 0; i < n; i++) assert_true(t[i * n + i] > 0);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) t[i * n + j] /= scale;
    triangle_times(w, t, n, v, 0);
    triangle_times(y, t, n, w, 1);
    assert_near(y, x, n, 20 * (double)(n + k) * DBL_EPSILON * largest(x, n), "update", n);
    free(t), free(b), free(v), free(w), free(x), free(y);
}

static void updates(void **state)
{
    (void)state;
    problem_random r = {24};
    for (size_t s = 0; s < SIZES; s++)
        for (size_t k = 1; k < 90; k = 3 * k + 1) {
            check_update(sizes[s], k, 1, &r);
            check_update(sizes[s], k, 0x1p+980, &r);
            check_update(sizes[s], k, 0x1p-980, &r);
        }
    if (LARGE) check_update(500, 61, 1, &r);
}

/* Rows of zeros change no bit. */
static void update_by_nothing(void **state)
{
    (void)state;
    enum { N = 70, K = 5 };
    problem_random r = {25};
    double *t = triangle_of(N, &r), *before = copy_of(t, N * N), *b = calloc(N * K, sizeof *b);
    assert_ok(cpu()->update(t, N, b, K));
    assert_memory_equal(t, before, N * N * sizeof *t);
    free(t), free(before), free(b);
}

/* ---- eigendecompositions ------------------------------------------------------------------------------------------ */

typedef enum spectrum {
    RANDOM,
    GRAM,
    IDENTITY,
    ZERO,
    ONE_DIRECTION,
    CLUSTERED,
    GRADED,
    HUGE_NUMBERS,
    TINY_NUMBERS,
    DENORMAL,
    WILKINSON,
    SECOND_DIFFERENCES,
    DIAGONAL,
    ALMOST_EQUAL,
    GLUED,
    SPECTRA
} spectrum;

static double number_of(spectrum kind, size_t n, size_t i, size_t j, double random, const double *vector)
{
    double middle = (double)n / 2, size = (double)n;
    switch (kind) {
    case RANDOM: return random;
    case HUGE_NUMBERS: return random * 1e300;
    case TINY_NUMBERS: return random * 1e-300;
    case DENORMAL: return random * 1e-310;
    case IDENTITY: return i == j;
    case ONE_DIRECTION: return vector[i] * vector[j];
    case CLUSTERED: return i == j ? (double)(i % 3) : 1e-9 * random;
    case GRADED: return random * pow(10, -20.0 * (double)(i + j) / (2 * size));
    case WILKINSON: return i == j ? fabs((double)i - middle) : j == i + 1;
    case SECOND_DIFFERENCES: return i == j ? 2 : -(double)(j == i + 1);
    case DIAGONAL: return i == j ? random : 0;
    case ALMOST_EQUAL: return i == j ? 1 + (double)(i % 2) * 1e-14 : 1e-15 * random;
    case GLUED: return i == j ? fabs((double)(i % 21) - 10) : j == i + 1 ? (i % 21 == 20 ? 1e-14 : 1) : 0;
    default: return 0;
    }
}

static double *matrix_of(spectrum kind, size_t n, problem_random *r)
{
    if (kind == GRAM) return gram_of(n, n / 3 + 1, 0, 1, r);
    double *vector = normals(n, r), *a = calloc(n * n, sizeof *a);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) a[i * n + j] = j < i ? -7 : number_of(kind, n, i, j, problem_normal(r), vector);
    free(vector);
    return a;
}

/* V A v = diag(values) V v and V V'v = v for vectors v, with A brought near 1. */
static void check_eigen(spectrum kind, size_t n, problem_random *r)
{
    double *a = matrix_of(kind, n, r), *z = copy_of(a, n * n), *values = malloc(n * sizeof *values), most = 0;
    double *v = normals(n, r), *x = calloc(n, sizeof(double)), *y = calloc(n, sizeof(double)),
           *w = calloc(n, sizeof(double));
    for (size_t i = 0; i < n; i++) most = fmax(most, largest(a + i * n + i, n - i));
    assert_ok(cpu()->eigen(z, values, n));
    for (size_t i = 0; i + 1 < n; i++) assert_true(values[i] <= values[i + 1]);
    int power = 0;
    frexp(most, &power);
    for (size_t i = 0; i < n; i++) values[i] = ldexp(values[i], -power);
    for (size_t i = 0; i < n * n; i++) a[i] = ldexp(a[i], -power);
    /* values that are not normal numbers have their own rounding */
    double bound = 20 * (double)n * DBL_EPSILON * largest(v, n), coarse = kind == DENORMAL ? 1e-9 * (double)n : 0;
    symmetric_times(w, a, n, v);
    for (size_t i = 0; i < n; i++) {
        x[i] = y[i] = 0;
        for (size_t j = 0; j < n; j++) x[i] += z[i * n + j] * w[j], y[i] += values[i] * (z[i * n + j] * v[j]);
    }
    assert_near(x, y, n, bound * sqrt((double)n) + coarse, "eigen: A v", n);
    for (size_t j = 0; j < n; j++) w[j] = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) w[j] += z[i * n + j] * v[i];
    for (size_t i = 0; i < n; i++) {
        x[i] = 0;
        for (size_t j = 0; j < n; j++) x[i] += z[i * n + j] * w[j];
    }
    assert_near(x, v, n, bound, "eigen: V V'", n);
    free(a), free(z), free(values), free(v), free(x), free(y), free(w);
}

static void eigendecompositions(void **state)
{
    (void)state;
    problem_random r = {26};
    for (size_t s = 0; s < SIZES; s++)
        for (int kind = 0; kind < SPECTRA; kind++) check_eigen((spectrum)kind, sizes[s], &r);
    for (size_t s = 0; s < LARGE; s++) {
        check_eigen(RANDOM, large[s], &r);
        check_eigen(GRAM, large[s], &r);
        check_eigen(CLUSTERED, large[s], &r);
        check_eigen(GLUED, large[s], &r);
    }
}

/* With W = Q'V for vectors V: W'W = V'V and W'TW = V'AV, with A brought near 1. */
static void check_tridiagonal(spectrum kind, size_t n, problem_random *r)
{
    enum { COLUMNS = 3 };
    double *a = matrix_of(kind, n, r), *used = copy_of(a, n * n), *v = normals(n * COLUMNS, r),
           *w = copy_of(v, n * COLUMNS);
    double *diagonal = malloc(n * sizeof *a), *beside = malloc(n * sizeof *a), most = 0, column[2 * 1025];
    for (size_t i = 0; i < n; i++) most = fmax(most, largest(a + i * n + i, n - i));
    assert_ok(cpu()->tridiagonal(diagonal, beside, used, n, w, COLUMNS));
    int power = 0;
    frexp(most, &power);
    for (size_t i = 0; i < n * n; i++) a[i] = ldexp(a[i], -power);
    for (size_t i = 0; i < n; i++) diagonal[i] = ldexp(diagonal[i], -power), beside[i] = ldexp(beside[i], -power);
    double coarse = kind == DENORMAL ? 1e-9 * (double)n : 0, bound = 100 * (double)n * DBL_EPSILON * (double)n + coarse;
    for (size_t j = 0; j < COLUMNS; j++) {
        for (size_t i = 0; i < n; i++) column[i] = v[i * COLUMNS + j];
        symmetric_times(column + n, a, n, column);
        for (size_t l = 0; l < COLUMNS; l++) {
            double plain[2] = {0}, turned[2] = {0};
            for (size_t i = 0; i < n; i++) {
                const double *x = w + i * COLUMNS + j, y = w[i * COLUMNS + l];
                double times = diagonal[i] * *x + (i ? beside[i - 1] * x[-COLUMNS] : 0);
                times += i + 1 < n ? beside[i] * x[COLUMNS] : 0;
                plain[0] += column[i] * v[i * COLUMNS + l], plain[1] += column[n + i] * v[i * COLUMNS + l];
                turned[0] += *x * y, turned[1] += times * y;
            }
            assert_near(turned, plain, 2, bound * sqrt((double)n), "tridiagonal", n);
        }
    }
    free(a), free(used), free(v), free(w), free(diagonal), free(beside);
}

static void tridiagonals(void **state)
{
    (void)state;
    problem_random r = {29};
    for (size_t s = 0; s < SIZES; s++)
        for (int kind = 0; kind < SPECTRA; kind++) check_tridiagonal((spectrum)kind, sizes[s], &r);
    for (size_t s = 0; s < LARGE; s++) check_tridiagonal(GRAM, large[s], &r);
}

/* Values that are known: 2 - 2 cos(pi k / (n + 1)). */
static void known_values(void **state)
{
    (void)state;
    for (size_t s = 0; s < SIZES; s++) {
        size_t n = sizes[s];
        problem_random r = {27};
        double *a = matrix_of(SECOND_DIFFERENCES, n, &r), *values = malloc(n * sizeof *values);
        assert_ok(cpu()->eigen(a, values, n));
        for (size_t i = 0; i < n; i++) {
            double expected = 2 - 2 * cos(3.141592653589793 * (double)(i + 1) / (double)(n + 1));
            assert_true(fabs(values[i] - expected) <= 10 * (double)n * DBL_EPSILON);
        }
        free(a), free(values);
    }
}

int main(void)
{
    print_message("%s kernels\n", broad__kernels_used()->name);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors),
        cmocka_unit_test(broken_pivots),
        cmocka_unit_test(solutions),
        cmocka_unit_test(pieces_have_the_same_bits),
        cmocka_unit_test(updates),
        cmocka_unit_test(update_by_nothing),
        cmocka_unit_test(eigendecompositions),
        cmocka_unit_test(known_values),
        cmocka_unit_test(tridiagonals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
