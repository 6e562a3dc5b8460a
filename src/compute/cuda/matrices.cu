/* Operations on matrices in the processor's memory: large ones are sent to the device, small ones stay. */
#include "compute/cuda/context.cuh"

#include <cstring>
#include <memory>
#include <mutex>
#include <new>

/* Several threads may ask at once, as those of trials do; the memory that matrices are sent to is one. */
static std::mutex turn;

/* A side from which on a matrix is worth the way there and back. */
enum { WORTH = 384 };

static double *send(scratch_use use, const double *from, size_t count)
{
    double *at = scratch(use, count);
    if (at) matrix_put(at, from, count);
    return at;
}

/* Row by row the upper triangle is what column by column is the lower one. */
static size_t matrix_factor(double *a, size_t n)
{
    if (n < WORTH) return host_of()->cpu->factor(a, n);
    std::lock_guard<std::mutex> mine(turn);
    const context *c = context_of();
    int side = static_cast<int>(n), length = 0;
    double *m = send(SCRATCH_MATRIX, a, n * n), pivot = 0;
    if (!m ||
        !went_well(cusolverDnDpotrf_bufferSize(c->solver, CUBLAS_FILL_MODE_LOWER, side, m, side, &length), "a factor"))
        return outcome(), host_of()->cpu->factor(a, n);
    double *work = scratch(SCRATCH_WORK, static_cast<size_t>(length) + 1);
    int *info = reinterpret_cast<int *>(work), found = 0;
    if (work)
        went_well(cusolverDnDpotrf(c->solver, CUBLAS_FILL_MODE_LOWER, side, m, side, work + 1, length, info),
                  "a factor");
    if (!work || matrix_get(&pivot, work, 1) < 0) return host_of()->cpu->factor(a, n);
    memcpy(&found, &pivot, sizeof found);
    if (found > 0) return static_cast<size_t>(found);
    if (found < 0 || matrix_get(a, m, n * n) < 0) return host_of()->cpu->factor(a, n);
    return 0;
}

static void matrix_whiten(double *b, size_t b_stride, size_t rows, const double *r, size_t r_stride, size_t n)
{
    if (n < WORTH || rows < 64 || b_stride != n || r_stride != n) {
        host_of()->cpu->whiten(b, b_stride, rows, r, r_stride, n);
        return;
    }
    std::lock_guard<std::mutex> mine(turn);
    const context *c = context_of();
    double one = 1, *m = send(SCRATCH_MATRIX, r, n * n), *right = m ? send(SCRATCH_SIDE, b, rows * n) : nullptr;
    int side = static_cast<int>(n);
    if (right)
        went_well(cublasDtrsm(c->matrices.blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                              CUBLAS_DIAG_NON_UNIT, side, static_cast<int>(rows), &one, m, side, right, side),
                  "solving");
    /* Only what came back whole replaces b. */
    if (!right || matrix_get(b, right, rows * n) < 0) host_of()->cpu->whiten(b, b_stride, rows, r, r_stride, n);
}

/* Column by column its eigenvectors are columns, which row by row are rows. */
static int matrix_eigen(double *a, double *values, size_t n)
{
    if (n < WORTH) return host_of()->cpu->eigen(a, values, n);
    std::lock_guard<std::mutex> mine(turn);
    const context *c = context_of();
    int side = static_cast<int>(n), length = 0;
    double *m = send(SCRATCH_MATRIX, a, n * n), *w = m ? scratch(SCRATCH_SIDE, n + 1) : nullptr, info = 0;
    if (!w || !went_well(cusolverDnDsyevd_bufferSize(c->solver, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, side,
                                                     m, side, w, &length),
                         "eigenvalues"))
        return outcome(), host_of()->cpu->eigen(a, values, n);
    double *work = scratch(SCRATCH_WORK, static_cast<size_t>(length) + 1);
    if (work)
        went_well(cusolverDnDsyevd(c->solver, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, side, m, side, w,
                                   work + 1, length, reinterpret_cast<int *>(work)),
                  "eigenvalues");
    int found = 0;
    if (!work || matrix_get(&info, work, 1) < 0 || memcmp(&info, &found, sizeof found) != 0)
        return host_of()->cpu->eigen(a, values, n);
    int status = matrix_get(values, w, n);
    return status < 0 ? status : matrix_get(a, m, n * n);
}

/* With the eigenvectors as Q', T is a diagonal. */
static int matrix_tridiagonal(double *diagonal, double *beside, double *a, size_t n, double *b, size_t c)
{
    if (n < WORTH) return host_of()->cpu->tridiagonal(diagonal, beside, a, n, b, c);
    std::unique_ptr<double[]> before(new (std::nothrow) double[n * c]);
    if (!before) return host_of()->cpu->tridiagonal(diagonal, beside, a, n, b, c);
    memcpy(before.get(), b, n * c * sizeof *b);
    int status = matrix_eigen(a, diagonal, n);
    if (status < 0) return status;
    memset(beside, 0, n * sizeof *beside);
    memset(b, 0, n * c * sizeof *b);
    host_of()->cpu->apply(b, c, 1.0, a, n, n, before.get(), c, n, c);
    return BROAD_OK;
}

void fill_matrix_operations(broad__device *out)
{
    out->factor = matrix_factor;
    out->whiten = matrix_whiten;
    out->eigen = matrix_eigen;
    out->tridiagonal = matrix_tridiagonal;
}
