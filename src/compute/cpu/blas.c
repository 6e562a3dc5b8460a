/*
 * The device contract by own kernels, CBLAS and LAPACK: the only caller of the latter two. What makes that safe is in
 * blas_guard.h.
 */
#include <cblas.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/vector.h"
#include "compute/cpu/blas_guard.h"
#include "compute/cpu/kernels.h"
#include "compute/device.h"
#include "compute/single.h"

enum { LARGE = 384 };

extern void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
extern void dtrtri_(const char *uplo, const char *diag, const int *n, double *a, const int *lda, int *info);
extern void dtplqt_(const int *m, const int *n, const int *l, const int *mb, double *a, const int *lda, double *b,
                    const int *ldb, double *t, const int *ldt, double *work, int *info);
extern void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
                    double *work, const int *lwork, int *iwork, const int *liwork, int *info);

/* Training refuses sizes beyond INT_MAX before it starts (layer/rows.c); this is the one place that narrows them. */
static int narrow(size_t size) { return size > INT_MAX ? INT_MAX : (int)size; }

static void cpu_nodes(double *out, size_t out_stride, const broad__nodes *nodes, const double *x, size_t x_stride,
                      size_t rows)
{
    const broad__kernels *kernels = broad__kernels_used();
    /* Without fused steps a kernel would give other bits. */
    if (nodes->single && !broad__fused()) broad__nodes_single(out, out_stride, nodes, x, x_stride, rows);
    else (nodes->single ? kernels->single->nodes : kernels->nodes)(out, out_stride, nodes, x, x_stride, rows);
}

static void cpu_gram(double *out, size_t out_stride, const double *k, size_t k_stride, size_t rows, size_t p)
{
    broad__kernels_used()->gram(out, out_stride, k, k_stride, rows, p);
}

static void cpu_gram_single(double *out, size_t out_stride, const double *k, size_t k_stride, size_t rows, size_t p)
{
    broad__kernels_used()->single->gram(out, out_stride, k, k_stride, rows, p);
}

/* By the size of out alone, so that the bits do not depend on how rows are cut where own kernels are used. */
static void cpu_cross(double *out, size_t out_stride, const double *a, size_t a_stride, size_t p, const double *b,
                      size_t b_stride, size_t c, size_t rows)
{
    if (p <= LARGE || c <= LARGE) {
        broad__kernels_used()->cross(out, out_stride, a, a_stride, p, b, b_stride, c, rows);
        return;
    }
    broad__blas_enter();
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, narrow(p), narrow(c), narrow(rows), 1.0, a, narrow(a_stride),
                b, narrow(b_stride), 1.0, out, narrow(out_stride));
    broad__blas_leave();
}

static void cpu_apply(double *out, size_t out_stride, double sign, const double *k, size_t k_stride, size_t rows,
                      const double *w, size_t w_stride, size_t p, size_t c)
{
    broad__kernels_used()->apply(out, out_stride, sign, k, k_stride, rows, w, w_stride, p, c);
}

static void cpu_outer(double *out, size_t out_stride, const double *a, size_t a_stride, size_t rows, const double *b,
                      size_t b_stride, size_t count, size_t p)
{
    broad__blas_enter();
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, narrow(rows), narrow(count), narrow(p), 1.0, a,
                narrow(a_stride), b, narrow(b_stride), 1.0, out, narrow(out_stride));
    broad__blas_leave();
}

/* Our upper triangle by rows is LAPACK's lower triangle by columns. */
static size_t cpu_factor(double *a, size_t n)
{
    int size = narrow(n), info = 0;
    broad__blas_enter();
    dpotrf_("L", &size, a, &size, &info);
    broad__blas_leave();
    if (info < 0) return n;
    for (size_t i = 0; info == 0 && i < n; i++)
        if (!isfinite(a[i * n + i]) || a[i * n + i] <= 0) return i + 1;
    return (size_t)info;
}

static void cpu_solve(double *b, size_t c, const double *r, size_t n)
{
    broad__blas_enter();
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, narrow(n), narrow(c), 1.0, r, narrow(n),
                b, narrow(c));
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, narrow(n), narrow(c), 1.0, r,
                narrow(n), b, narrow(c));
    broad__blas_leave();
}

static void cpu_whiten(double *b, size_t b_stride, size_t rows, const double *r, size_t r_stride, size_t n)
{
    broad__blas_enter();
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, narrow(rows), narrow(n), 1.0, r,
                narrow(r_stride), b, narrow(b_stride));
    broad__blas_leave();
}

static void cpu_invert(double *r, size_t n)
{
    int size = narrow(n), info = 0;
    broad__blas_enter();
    dtrtri_("L", "N", &size, r, &size, &info);
    broad__blas_leave();
}

/* By columns our R is the lower triangle L, and our rows are columns: [L b'] Q = [L_new 0]. */
static int cpu_update(double *r, size_t n, double *b, size_t k)
{
    enum { PANEL = 32 };
    int size = narrow(n), count = narrow(k), none = 0, panel = n < PANEL ? size : PANEL, info = 0;
    double *work = broad__alloc_doubles(2 * (size_t)panel, n);
    if (!work) return BROAD_NO_MEMORY;
    broad__blas_enter();
    dtplqt_(&size, &count, &none, &panel, r, &size, b, &size, work, &panel, work + (size_t)panel * n, &info);
    broad__blas_leave();
    broad__free(work);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; r[i * n + i] < 0 && j < n; j++)
            if (j > i) r[i * n + j] = -r[i * n + j];
    for (size_t i = 0; i < n; i++) r[i * n + i] = fabs(r[i * n + i]);
    return info ? broad__fail(BROAD_BUG, "the update of a factor was called wrongly") : BROAD_OK;
}

static int cpu_eigen(double *a, double *values, size_t n)
{
    int size = narrow(n), info = 0, want = -1, integers_wanted;
    double wanted;
    dsyevd_("V", "L", &size, a, &size, values, &wanted, &want, &integers_wanted, &want, &info);
    int numbers = wanted < INT_MAX ? (int)wanted : INT_MAX;
    double *work = broad__alloc_array((size_t)numbers, sizeof(double));
    int *integers = work ? broad__alloc_array((size_t)integers_wanted, sizeof(int)) : NULL;
    if (!integers) {
        broad__free(work);
        return BROAD_NO_MEMORY;
    }
    broad__blas_enter();
    dsyevd_("V", "L", &size, a, &size, values, work, &numbers, integers, &integers_wanted, &info);
    broad__blas_leave();
    broad__free(integers);
    broad__free(work);
    return info ? broad__fail(BROAD_FAILED, "the eigendecomposition of a %zu x %zu matrix did not converge", n, n)
                : BROAD_OK;
}

static const broad__device cpu = {
    .name = "cpu",
    .hold = broad__blas_hold,
    .release = broad__blas_release,
    .nodes = cpu_nodes,
    .gram = cpu_gram,
    .gram_single = cpu_gram_single,
    .cross = cpu_cross,
    .apply = cpu_apply,
    .outer = cpu_outer,
    .factor = cpu_factor,
    .solve = cpu_solve,
    .whiten = cpu_whiten,
    .invert = cpu_invert,
    .update = cpu_update,
    .eigen = cpu_eigen,
};

const broad__device *broad__device_cpu_uncounted(void) { return &cpu; }
