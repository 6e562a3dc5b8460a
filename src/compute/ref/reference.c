/* The device contract in plain C: slow, obvious, and the measure for every other device. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "compute/activation.h"
#include "compute/device.h"
#include "compute/single.h"

static int ref_hold(void) { return BROAD_OK; }

static void ref_release(void) {}

static void ref_nodes(double *out, size_t out_stride, const broad__nodes *nodes, const double *x, size_t x_stride,
                      size_t rows)
{
    if (nodes->single) {
        broad__nodes_single(out, out_stride, nodes, x, x_stride, rows);
        return;
    }
    for (size_t i = 0; i < rows; i++) {
        double *row = out + i * out_stride;
        for (size_t j = 0; j < nodes->nodes; j++) row[j] = nodes->bias[j];
        for (size_t k = 0; k < nodes->inputs; k++)
            for (size_t j = 0; j < nodes->nodes; j++)
                row[j] += x[i * x_stride + k] * nodes->weight[k * nodes->nodes + j];
        broad__activate(nodes->activation, row, nodes->nodes);
    }
}

static void ref_cross(double *out, size_t out_stride, const double *a, size_t a_stride, size_t p, const double *b,
                      size_t b_stride, size_t c, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < p; j++)
            for (size_t k = 0; k < c; k++) out[j * out_stride + k] += a[i * a_stride + j] * b[i * b_stride + k];
}

static void ref_gram(double *out, size_t out_stride, const double *k, size_t k_stride, size_t rows, size_t p)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t a = 0; a < p; a++)
            for (size_t b = a; b < p; b++) out[a * out_stride + b] += k[i * k_stride + a] * k[i * k_stride + b];
}

static void ref_apply(double *out, size_t out_stride, double sign, const double *k, size_t k_stride, size_t rows,
                      const double *w, size_t w_stride, size_t p, size_t c)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t a = 0; a < p; a++)
            for (size_t j = 0; j < c; j++) out[i * out_stride + j] += sign * k[i * k_stride + a] * w[a * w_stride + j];
}

static void ref_outer(double *out, size_t out_stride, const double *a, size_t a_stride, size_t rows, const double *b,
                      size_t b_stride, size_t count, size_t p)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < count; j++) {
            double sum = 0;
            for (size_t k = 0; k < p; k++) sum += a[i * a_stride + k] * b[j * b_stride + k];
            out[i * out_stride + j] += sum;
        }
}

static void ref_squares(double *out, const double *a, size_t count)
{
    for (size_t i = 0; i < count; i++) *out += a[i] * a[i];
}

static void ref_inner(double *out, const double *a, size_t a_stride, const double *b, size_t b_stride, size_t rows,
                      size_t columns)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) *out += a[i * a_stride + j] * b[i * b_stride + j];
}

static void ref_copy(double *out, size_t out_stride, const double *from, size_t from_stride, size_t rows,
                     size_t columns)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) out[i * out_stride + j] = from[i * from_stride + j];
}

static void ref_scale(double *k, size_t k_stride, size_t rows, size_t columns, const double *root)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) k[i * k_stride + j] = k[i * k_stride + j] * root[i];
}

static size_t ref_factor(double *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double pivot = a[i * n + i];
        for (size_t k = 0; k < i; k++) pivot -= a[k * n + i] * a[k * n + i];
        if (!(pivot > 0) || !isfinite(pivot)) return i + 1;
        double root = sqrt(pivot);
        a[i * n + i] = root;
        for (size_t j = i + 1; j < n; j++) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < i; k++) sum -= a[k * n + i] * a[k * n + j];
            a[i * n + j] = sum / root;
        }
    }
    return 0;
}

static void ref_solve(double *b, size_t c, const double *r, size_t n)
{
    for (size_t j = 0; j < c; j++) {
        for (size_t i = 0; i < n; i++) {
            double sum = b[i * c + j];
            for (size_t k = 0; k < i; k++) sum -= r[k * n + i] * b[k * c + j];
            b[i * c + j] = sum / r[i * n + i];
        }
        for (size_t i = n; i-- > 0;) {
            double sum = b[i * c + j];
            for (size_t k = i + 1; k < n; k++) sum -= r[i * n + k] * b[k * c + j];
            b[i * c + j] = sum / r[i * n + i];
        }
    }
}

static void ref_whiten(double *b, size_t b_stride, size_t rows, const double *r, size_t r_stride, size_t n)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = b[i * b_stride + j];
            for (size_t l = 0; l < j; l++) sum -= b[i * b_stride + l] * r[l * r_stride + j];
            b[i * b_stride + j] = sum / r[j * r_stride + j];
        }
}

/* Row by row from the last: R^-1 has 1 / r_ii on its diagonal. */
static void ref_invert(double *r, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        double diagonal = 1 / r[i * n + i];
        for (size_t j = n; j-- > i + 1;) {
            double sum = 0;
            for (size_t l = i + 1; l <= j; l++) sum += r[i * n + l] * r[l * n + j];
            r[i * n + j] = -sum * diagonal;
        }
        r[i * n + i] = diagonal;
    }
}

/* Givens rotations turn each row of b into R, one element after the other. */
static int ref_update(double *r, size_t n, double *b, size_t k)
{
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < n; j++) {
            double *row = r + j * n, *fresh = b + i * n;
            double length = hypot(row[j], fresh[j]), c = row[j] / length, s = fresh[j] / length;
            for (size_t l = j; l < n; l++) {
                double x = row[l], y = fresh[l];
                row[l] = c * x + s * y;
                fresh[l] = c * y - s * x;
            }
        }
    return BROAD_OK;
}

/* One Jacobi rotation of rows and columns p, q of the full symmetric matrix a; v collects the rotations in its rows. */
static void jacobi_rotate(double *a, double *v, size_t n, size_t p, size_t q)
{
    double apq = a[p * n + q];
    if (apq == 0) return;
    double theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
    double t = copysign(1.0, theta) / (fabs(theta) + hypot(theta, 1.0));
    double c = 1 / hypot(t, 1.0), s = t * c;
    for (size_t k = 0; k < n; k++) {
        double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for (size_t k = 0; k < n; k++) {
        double x = a[p * n + k], y = a[q * n + k];
        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
        x = v[p * n + k], y = v[q * n + k];
        v[p * n + k] = c * x - s * y;
        v[q * n + k] = s * x + c * y;
    }
}

static double off_diagonal(const double *a, size_t n)
{
    double sum = 0;
    for (size_t p = 0; p < n; p++)
        for (size_t q = p + 1; q < n; q++) sum += a[p * n + q] * a[p * n + q];
    return sqrt(sum);
}

static void sort_rising(double *v, double *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t least = i;
        for (size_t j = i + 1; j < n; j++)
            if (values[j] < values[least]) least = j;
        double swap = values[i];
        values[i] = values[least];
        values[least] = swap;
        for (size_t k = 0; k < n && least != i; k++) {
            swap = v[i * n + k];
            v[i * n + k] = v[least * n + k];
            v[least * n + k] = swap;
        }
    }
}

static int ref_eigen(double *a, double *values, size_t n)
{
    double *full = broad__alloc_doubles(n, n);
    if (!full) return BROAD_NO_MEMORY;
    double size = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) {
            full[i * n + j] = full[j * n + i] = a[i * n + j];
            size = fmax(size, fabs(a[i * n + j]));
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) a[i * n + j] = i == j;
    for (int sweep = 0; sweep < 60 && off_diagonal(full, n) > DBL_EPSILON * size; sweep++)
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) jacobi_rotate(full, a, n, p, q);
    for (size_t i = 0; i < n; i++) values[i] = full[i * n + i];
    broad__free(full);
    sort_rising(a, values, n);
    return BROAD_OK;
}

/* A diagonal is tridiagonal, too: Q = V'. */
static int ref_tridiagonal(double *diagonal, double *beside, double *a, size_t n, double *b, size_t c)
{
    double *before = broad__alloc_doubles(n, c);
    int status = before ? ref_eigen(a, diagonal, n) : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        memcpy(before, b, n * c * sizeof *b);
        memset(b, 0, n * c * sizeof *b);
        memset(beside, 0, n * sizeof *beside);
        ref_apply(b, c, 1.0, a, n, n, before, c, n, c);
    }
    broad__free(before);
    return status;
}

static const broad__device reference = {
    .name = "reference",
    .hold = ref_hold,
    .release = ref_release,
    .nodes = ref_nodes,
    .gram = ref_gram,
    .cross = ref_cross,
    .apply = ref_apply,
    .outer = ref_outer,
    .squares = ref_squares,
    .inner = ref_inner,
    .copy = ref_copy,
    .scale = ref_scale,
    .factor = ref_factor,
    .solve = ref_solve,
    .whiten = ref_whiten,
    .invert = ref_invert,
    .update = ref_update,
    .eigen = ref_eigen,
    .tridiagonal = ref_tridiagonal,
};

const broad__device *broad__device_reference(void) { return &reference; }
