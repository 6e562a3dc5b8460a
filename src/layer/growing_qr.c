#include "layer/growing_qr.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/shards.h"
#include "layer/cholesky.h"
#include "layer/leave_out_sets.h"

enum { CHUNK = 128 };

/* A column of which less than this part is new adds nothing but rounding. */
static const double NOTHING_NEW = 1e-12;

static void trial_clear(broad__growing_qr *qr)
{
    broad__free(qr->trial_q);
    broad__free(qr->trial_h);
    broad__free(qr->trial_b);
    broad__free(qr->trial_r);
    broad__free(qr->trial_t);
    qr->trial_q = qr->trial_h = qr->trial_b = qr->trial_r = qr->trial_t = NULL;
    qr->trial = 0;
}

void broad__growing_qr_clear(broad__growing_qr *qr)
{
    trial_clear(qr);
    broad__free(qr->q);
    broad__free(qr->bottom);
    broad__free(qr->r);
    broad__free(qr->turned);
    broad__free(qr->h);
    memset(qr, 0, sizeof *qr);
}

int broad__growing_qr_open(broad__growing_qr *out, size_t rows, size_t outputs, const double *y)
{
    *out = (broad__growing_qr){.rows = rows, .outputs = outputs};
    out->h = broad__alloc_doubles(rows, 1);
    double sum = 0;
    for (size_t i = 0; i < rows * outputs; i++) sum += y[i] * y[i];
    out->loo = sqrt(sum);
    return out->h ? BROAD_OK : BROAD_NO_MEMORY;
}

/* ---- products over the rows, shared out ------------------------------------------------------------------------- */

/* out (p x c) += left'right, a chunk of left's columns at a time; or right -= left out, a block of rows at a time. */
typedef struct product {
    const broad__device *device;
    double *out;
    const double *left;
    size_t stride, p;
    double *right;
    size_t c, rows;
} product;

static void cross_chunk(void *context, size_t index, size_t worker)
{
    (void)worker;
    const product *x = context;
    size_t at = index * CHUNK, columns = x->p - at < CHUNK ? x->p - at : CHUNK;
    x->device->cross(x->out + at * x->c, x->c, x->left + at, x->stride, columns, x->right, x->c, x->c, x->rows);
}

static void cross_all(const product *x, broad__pool *pool)
{
    broad__pool_run(pool, (x->p + CHUNK - 1) / CHUNK, cross_chunk, (void *)x);
}

static void subtract_block(void *context, size_t index, size_t worker)
{
    (void)worker;
    const product *x = context;
    size_t at = index * BROAD__BLOCK_ROWS, n = x->rows - at < BROAD__BLOCK_ROWS ? x->rows - at : BROAD__BLOCK_ROWS;
    x->device->apply(x->right + at * x->c, x->c, -1.0, x->left + at * x->stride, x->stride, n, x->out, x->c, x->p,
                     x->c);
}

static void subtract_all(const product *x, broad__pool *pool)
{
    broad__pool_run(pool, (x->rows + BROAD__BLOCK_ROWS - 1) / BROAD__BLOCK_ROWS, subtract_block, (void *)x);
}

/* ---- a block on trial ------------------------------------------------------------------------------------------ */

typedef struct trial {
    broad__growing_qr *qr;
    broad__residual *residual;
    double *part;   /* columns x trial: what one pass subtracts */
    double *corner; /* trial x trial */
    double *before; /* trial: squared lengths of the columns to begin with */
    int *dead;      /* trial: columns that bring nothing new */
} trial;

static int trial_open(trial *t)
{
    broad__growing_qr *qr = t->qr;
    size_t q = t->residual->candidate.width, p = qr->columns;
    trial_clear(qr);
    qr->trial = q;
    qr->trial_q = broad__alloc_doubles(qr->rows, q);
    qr->trial_h = broad__alloc_doubles(qr->rows, 1);
    qr->trial_b = broad__alloc_doubles(p + q, q);
    qr->trial_r = broad__alloc_doubles(p + q, q);
    qr->trial_t = broad__alloc_doubles(q, qr->outputs);
    t->part = broad__alloc_doubles(p, q);
    t->corner = broad__alloc_doubles(q, q);
    t->before = broad__alloc_doubles(q, 1);
    t->dead = broad__alloc_array(q, sizeof *t->dead);
    if (!qr->trial_q || !qr->trial_h || !qr->trial_b || !qr->trial_r || !qr->trial_t || !t->part || !t->corner ||
        !t->before || !t->dead)
        return BROAD_NO_MEMORY;
    memcpy(qr->trial_q, t->residual->candidate.k, qr->rows * q * sizeof(double));
    for (size_t j = 0; j < q; j++) qr->trial_b[(p + j) * q + j] = sqrt(qr->lambda);
    for (size_t i = 0; i < qr->rows; i++)
        for (size_t j = 0; j < q; j++) t->before[j] += qr->trial_q[i * q + j] * qr->trial_q[i * q + j];
    return BROAD_OK;
}

/* One pass of Gram-Schmidt against the columns so far; what it subtracts goes to R12, in the coordinates of K. */
static void orthogonalise(trial *t)
{
    broad__growing_qr *qr = t->qr;
    const broad__device *device = t->residual->device;
    size_t p = qr->columns, q = qr->trial;
    if (!p) return;
    memset(t->part, 0, p * q * sizeof(double));
    product top = {device, t->part, qr->q, qr->capacity, p, qr->trial_q, q, qr->rows};
    cross_all(&top, t->residual->pool);
    device->cross(t->part, q, qr->bottom, qr->capacity, p, qr->trial_b, q, q, p);
    subtract_all(&top, t->residual->pool);
    device->apply(qr->trial_b, q, -1.0, qr->bottom, qr->capacity, p, t->part, q, p, q);
    device->apply(qr->trial_r, q, 1.0, t->part, q, p, qr->trial_r + p * q, q, q, q);
}

static void kill_column(trial *t, size_t j)
{
    broad__growing_qr *qr = t->qr;
    size_t q = qr->trial;
    t->dead[j] = 1;
    for (size_t i = 0; i < qr->rows; i++) qr->trial_q[i * q + j] = 0;
    for (size_t i = 0; i < qr->columns + q; i++) qr->trial_b[i * q + j] = 0;
}

/* Gram matrix of the block, top and bottom; 1 for a dead column. */
static void block_gram(trial *t)
{
    broad__growing_qr *qr = t->qr;
    size_t q = qr->trial, below = qr->columns + q;
    memset(t->corner, 0, q * q * sizeof(double));
    product top = {t->residual->device, t->corner, qr->trial_q, q, q, qr->trial_q, q, qr->rows};
    cross_all(&top, t->residual->pool);
    t->residual->device->cross(t->corner, q, qr->trial_b, q, q, qr->trial_b, q, q, below);
    for (size_t j = 0; j < q; j++)
        if (t->dead[j]) t->corner[j * q + j] = 1;
}

/* R22 <- C R22 with C the factor in t->corner: one round of the block's own factorisation. */
static void multiply_corner(trial *t)
{
    broad__growing_qr *qr = t->qr;
    size_t q = qr->trial;
    double *r = qr->trial_r + qr->columns * q;
    for (size_t i = 0; i < q; i++)
        for (size_t k = 0; k < q; k++) {
            double sum = 0;
            for (size_t l = i; l <= k; l++) sum += t->corner[i * q + l] * r[l * q + k];
            r[i * q + k] = k < i ? 0 : sum;
        }
}

/* Column j times column k of the block, top and bottom. */
static double block_dot(const broad__growing_qr *qr, size_t j, size_t k)
{
    size_t q = qr->trial;
    double sum = 0;
    for (size_t i = 0; i < qr->rows; i++) sum += qr->trial_q[i * q + j] * qr->trial_q[i * q + k];
    for (size_t i = 0; i < qr->columns + q; i++) sum += qr->trial_b[i * q + j] * qr->trial_b[i * q + k];
    return sum;
}

/* Column j += factor * column k. */
static void block_add(broad__growing_qr *qr, size_t j, double factor, size_t k)
{
    size_t q = qr->trial;
    for (size_t i = 0; i < qr->rows; i++) qr->trial_q[i * q + j] += factor * qr->trial_q[i * q + k];
    for (size_t i = 0; i < qr->columns + q; i++) qr->trial_b[i * q + j] += factor * qr->trial_b[i * q + k];
}

/* The block's factor column by column, for columns too near to each other for their Gram matrix to tell them apart.
 * Only what brings nothing new is dropped. */
static void factor_columns(trial *t)
{
    broad__growing_qr *qr = t->qr;
    size_t q = qr->trial;
    memset(t->corner, 0, q * q * sizeof(double));
    for (size_t j = 0; j < q && !broad__watch_look(8.0 * (double)j * (double)qr->rows); j++) {
        for (int pass = 0; pass < 2; pass++)
            for (size_t k = 0; k < j; k++) {
                double dot = t->dead[k] ? 0 : block_dot(qr, k, j);
                block_add(qr, j, -dot, k);
                t->corner[k * q + j] += dot;
            }
        double length = sqrt(block_dot(qr, j, j));
        int lives = length > NOTHING_NEW * sqrt(t->before[j]);
        t->corner[j * q + j] = lives ? length : 1;
        if (lives) block_add(qr, j, 1 / length - 1, j);
        else kill_column(t, j);
    }
}

/* Makes the block's columns orthonormal, by Cholesky where that works. */
static void factor_block(trial *t)
{
    broad__growing_qr *qr = t->qr;
    const broad__device *device = t->residual->device;
    size_t q = qr->trial;
    block_gram(t);
    if (device->factor(t->corner, q) == 0) {
        broad__whiten_rows(qr->trial_q, qr->rows, t->corner, q, device, t->residual->pool);
        device->whiten(qr->trial_b, q, qr->columns + q, t->corner, q, q);
    } else {
        factor_columns(t);
    }
    multiply_corner(t);
}

/* Orthogonal to the columns so far and within itself; a second time because of the rounding of the first, which near
 * copies of a column make large. */
static void settle(trial *t)
{
    broad__growing_qr *qr = t->qr;
    size_t q = qr->trial;
    for (size_t j = 0; j < q; j++) qr->trial_r[(qr->columns + j) * q + j] = 1;
    orthogonalise(t);
    block_gram(t);
    for (size_t j = 0; j < q; j++)
        if (!(t->corner[j * q + j] > NOTHING_NEW * NOTHING_NEW * t->before[j])) kill_column(t, j);
    factor_block(t);
    for (size_t j = 0; j < q; j++) t->before[j] = 1;
    orthogonalise(t);
    factor_block(t);
}

/* The residual and leverages with the block. */
static void measure(trial *t, const double *y)
{
    broad__growing_qr *qr = t->qr;
    broad__residual *residual = t->residual;
    size_t q = qr->trial, c = qr->outputs;
    product top = {residual->device, qr->trial_t, qr->trial_q, q, q, (double *)y, c, qr->rows};
    cross_all(&top, residual->pool);
    memcpy(residual->next, residual->e, qr->rows * c * sizeof(double));
    top.right = residual->next;
    subtract_all(&top, residual->pool);
    double squares = 0, left_out = 0;
    for (size_t i = 0; i < qr->rows; i++) {
        double h = qr->h[i], square = 0;
        for (size_t j = 0; j < q; j++) h += qr->trial_q[i * q + j] * qr->trial_q[i * q + j];
        for (size_t j = 0; j < c; j++) square += residual->next[i * c + j] * residual->next[i * c + j];
        double rest = 1 - h > DBL_EPSILON ? 1 - h : DBL_EPSILON;
        qr->trial_h[i] = h;
        squares += square;
        left_out += square / (rest * rest);
    }
    qr->trial_norm = sqrt(squares);
    qr->trial_loo = sqrt(left_out);
}

int broad__growing_qr_try(broad__growing_qr *qr, broad__residual *residual, const double *y, double lambda)
{
    trial t = {.qr = qr, .residual = residual};
    if (!qr->columns) qr->lambda = lambda;
    int status = trial_open(&t);
    if (status == BROAD_OK) {
        settle(&t);
        measure(&t, y);
        status = broad__watch_check(BROAD_OK);
    }
    broad__free(t.part);
    broad__free(t.corner);
    broad__free(t.before);
    broad__free(t.dead);
    return status;
}

/* ---- accepting ------------------------------------------------------------------------------------------------- */

/* rows x columns of a matrix with another stride, in a fresh one. */
static double *restride(const double *from, size_t stride, size_t rows, size_t columns, size_t new_rows,
                        size_t new_stride)
{
    double *to = broad__alloc_doubles(new_rows, new_stride);
    for (size_t i = 0; to && from && i < rows; i++)
        memcpy(to + i * new_stride, from + i * stride, columns * sizeof(double));
    return to;
}

static int reserve_columns(broad__growing_qr *qr, size_t columns)
{
    if (columns <= qr->capacity) return BROAD_OK;
    size_t capacity = columns > 2 * qr->capacity ? columns : 2 * qr->capacity, p = qr->columns;
    double *q = restride(qr->q, qr->capacity, qr->rows, p, qr->rows, capacity),
           *r = restride(qr->r, qr->capacity, p, p, capacity, capacity);
    double *bottom = restride(qr->bottom, qr->capacity, p, p, capacity, capacity);
    double *turned = restride(qr->turned, qr->outputs, p, qr->outputs, capacity, qr->outputs);
    if (!q || !r || !bottom || !turned) {
        broad__free(q), broad__free(r), broad__free(bottom), broad__free(turned);
        return BROAD_NO_MEMORY;
    }
    broad__free(qr->q), broad__free(qr->r), broad__free(qr->bottom), broad__free(qr->turned);
    qr->q = q;
    qr->r = r;
    qr->bottom = bottom;
    qr->turned = turned;
    qr->capacity = capacity;
    return BROAD_OK;
}

int broad__growing_qr_accept(broad__growing_qr *qr)
{
    size_t p = qr->columns, q = qr->trial;
    int status = reserve_columns(qr, p + q);
    if (status < 0) return status;
    for (size_t i = 0; i < qr->rows; i++) memcpy(qr->q + i * qr->capacity + p, qr->trial_q + i * q, q * sizeof(double));
    for (size_t i = 0; i < p + q; i++) {
        memcpy(qr->r + i * qr->capacity + p, qr->trial_r + i * q, q * sizeof(double));
        memcpy(qr->bottom + i * qr->capacity + p, qr->trial_b + i * q, q * sizeof(double));
    }
    memcpy(qr->turned + p * qr->outputs, qr->trial_t, q * qr->outputs * sizeof(double));
    memcpy(qr->h, qr->trial_h, qr->rows * sizeof(double));
    qr->columns += q;
    qr->loo = qr->trial_loo;
    trial_clear(qr);
    return BROAD_OK;
}

static void leave_rows(double *out, const broad__growing_qr *qr, const broad__residual *residual, const double *y)
{
    for (size_t i = 0; i < qr->rows; i++) {
        double rest = 1 - qr->h[i] > DBL_EPSILON ? 1 - qr->h[i] : DBL_EPSILON,
               root = residual->sqrt_weight ? residual->sqrt_weight[i] : 1;
        for (size_t at = i * qr->outputs; at < (i + 1) * qr->outputs; at++)
            out[at] = (y[at] - residual->e[at] / rest) / root;
    }
}

/* I - Q_b Q_b' of the rows of one set, in the upper triangle; q: n x columns, scratch. */
static void set_system(double *out, double *q, const broad__growing_qr *qr, const broad__residual *residual,
                       const size_t *set, size_t n)
{
    size_t p = qr->columns;
    for (size_t i = 0; i < n; i++) memcpy(q + i * p, qr->q + set[i] * qr->capacity, p * sizeof(double));
    memset(out, 0, n * n * sizeof(double));
    residual->device->outer(out, n, q, p, n, q, p, n, p);
    for (size_t i = 0; i < n; i++)
        for (size_t k = i; k < n; k++) out[i * n + k] = (i == k) - out[i * n + k];
}

static int leave_sets(double *out, const broad__growing_qr *qr, const broad__residual *residual, const double *y,
                      const broad__leave_out_sets *sets)
{
    size_t c = qr->outputs, max = BROAD__SET_ROWS;
    double *scratch = broad__alloc_doubles(max, qr->columns + c + 1 + 2 * max);
    if (!scratch) return BROAD_NO_MEMORY;
    double *q = scratch, *left = q + max * qr->columns, *pivots = left + max * c, *matrix = pivots + max;
    for (size_t s = 0; s < sets->count; s++) {
        const size_t *set = sets->rows + sets->first[s];
        size_t n = sets->first[s + 1] - sets->first[s];
        set_system(matrix, q, qr, residual, set, n);
        for (size_t i = 0; i < n; i++) memcpy(left + i * c, residual->e + set[i] * c, c * sizeof(double));
        broad__leave_out_sets_apply(left, pivots, matrix + max * max, matrix, n, c, residual->device);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < c; k++)
                out[set[i] * c + k] =
                    (y[set[i] * c + k] - left[i * c + k]) / (residual->sqrt_weight ? residual->sqrt_weight[set[i]] : 1);
    }
    broad__free(scratch);
    return BROAD_OK;
}

int broad__growing_qr_leave_out(double *out, const broad__growing_qr *qr, const broad__residual *residual,
                                const double *y)
{
    broad__leave_out_sets sets = {0};
    int status = broad__leave_out_sets_make(&sets, residual->group, qr->rows);
    if (status == BROAD_OK && sets.count) status = leave_sets(out, qr, residual, y, &sets);
    if (status == BROAD_OK && !sets.count) leave_rows(out, qr, residual, y);
    broad__leave_out_sets_clear(&sets);
    return status;
}

void broad__growing_qr_weights(double *out, const broad__growing_qr *qr)
{
    size_t p = qr->columns, c = qr->outputs;
    memcpy(out, qr->turned, p * c * sizeof(double));
    for (size_t i = p; i-- > 0;)
        for (size_t q = 0; q < c; q++) {
            double sum = out[i * c + q];
            for (size_t k = i + 1; k < p; k++) sum -= qr->r[i * qr->capacity + k] * out[k * c + q];
            out[i * c + q] = sum / qr->r[i * qr->capacity + i];
        }
}
