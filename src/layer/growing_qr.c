#include "layer/growing_qr.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "compute/shards.h"
#include "layer/cholesky.h"
#include "layer/leave_out_sets.h"

enum { CHUNK = 128 };

/* A column of which less than this part is new adds nothing but rounding. */
static const double NOTHING_NEW = 1e-12;

static void trial_clear(broad__growing_qr *b)
{
    broad__free(b->trial_q);
    broad__free(b->trial_h);
    broad__free(b->trial_b);
    broad__free(b->trial_r);
    broad__free(b->trial_t);
    b->trial_q = b->trial_h = b->trial_b = b->trial_r = b->trial_t = NULL;
    b->trial = 0;
}

void broad__growing_qr_clear(broad__growing_qr *b)
{
    trial_clear(b);
    broad__free(b->q);
    broad__free(b->bottom);
    broad__free(b->r);
    broad__free(b->turned);
    broad__free(b->h);
    memset(b, 0, sizeof *b);
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
    size_t at = index * CHUNK, wide = x->p - at < CHUNK ? x->p - at : CHUNK;
    x->device->cross(x->out + at * x->c, x->c, x->left + at, x->stride, wide, x->right, x->c, x->c, x->rows);
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
    double *part;   /* columns x trial: what is taken off in one pass */
    double *corner; /* trial x trial */
    double *before; /* trial: squared lengths of the columns to begin with */
    int *dead;      /* trial: columns that bring nothing new */
} trial;

static int trial_open(trial *t)
{
    broad__growing_qr *b = t->qr;
    size_t q = t->residual->candidate.width, p = b->columns;
    trial_clear(b);
    b->trial = q;
    b->trial_q = broad__alloc_doubles(b->rows, q);
    b->trial_h = broad__alloc_doubles(b->rows, 1);
    b->trial_b = broad__alloc_doubles(p + q, q);
    b->trial_r = broad__alloc_doubles(p + q, q);
    b->trial_t = broad__alloc_doubles(q, b->outputs);
    t->part = broad__alloc_doubles(p, q);
    t->corner = broad__alloc_doubles(q, q);
    t->before = broad__alloc_doubles(q, 1);
    t->dead = broad__alloc_array(q, sizeof *t->dead);
    if (!b->trial_q || !b->trial_h || !b->trial_b || !b->trial_r || !b->trial_t || !t->part || !t->corner ||
        !t->before || !t->dead)
        return BROAD_NO_MEMORY;
    memcpy(b->trial_q, t->residual->candidate.k, b->rows * q * sizeof(double));
    for (size_t j = 0; j < q; j++) b->trial_b[(p + j) * q + j] = sqrt(b->lambda);
    for (size_t i = 0; i < b->rows; i++)
        for (size_t j = 0; j < q; j++) t->before[j] += b->trial_q[i * q + j] * b->trial_q[i * q + j];
    return BROAD_OK;
}

/* One pass of Gram-Schmidt against the columns there are; what is taken off goes to R12, in the coordinates of K. */
static void orthogonalise(trial *t)
{
    broad__growing_qr *b = t->qr;
    const broad__device *device = t->residual->device;
    size_t p = b->columns, q = b->trial;
    if (!p) return;
    memset(t->part, 0, p * q * sizeof(double));
    product top = {device, t->part, b->q, b->room, p, b->trial_q, q, b->rows};
    cross_all(&top, t->residual->pool);
    device->cross(t->part, q, b->bottom, b->room, p, b->trial_b, q, q, p);
    subtract_all(&top, t->residual->pool);
    device->apply(b->trial_b, q, -1.0, b->bottom, b->room, p, t->part, q, p, q);
    device->apply(b->trial_r, q, 1.0, t->part, q, p, b->trial_r + p * q, q, q, q);
}

static void kill_column(trial *t, size_t j)
{
    broad__growing_qr *b = t->qr;
    size_t q = b->trial;
    t->dead[j] = 1;
    for (size_t i = 0; i < b->rows; i++) b->trial_q[i * q + j] = 0;
    for (size_t i = 0; i < b->columns + q; i++) b->trial_b[i * q + j] = 0;
}

/* Gram matrix of the block, top and bottom; 1 for a dead column. */
static void block_gram(trial *t)
{
    broad__growing_qr *b = t->qr;
    size_t q = b->trial, below = b->columns + q;
    memset(t->corner, 0, q * q * sizeof(double));
    product top = {t->residual->device, t->corner, b->trial_q, q, q, b->trial_q, q, b->rows};
    cross_all(&top, t->residual->pool);
    t->residual->device->cross(t->corner, q, b->trial_b, q, q, b->trial_b, q, q, below);
    for (size_t j = 0; j < q; j++)
        if (t->dead[j]) t->corner[j * q + j] = 1;
}

/* R22 <- C R22 with C the factor in t->corner: one round of the block's own factorisation. */
static void multiply_corner(trial *t)
{
    broad__growing_qr *b = t->qr;
    size_t q = b->trial;
    double *r = b->trial_r + b->columns * q;
    for (size_t i = 0; i < q; i++)
        for (size_t k = 0; k < q; k++) {
            double sum = 0;
            for (size_t l = i; l <= k; l++) sum += t->corner[i * q + l] * r[l * q + k];
            r[i * q + k] = k < i ? 0 : sum;
        }
}

/* Column j times column k of the block, top and bottom. */
static double block_dot(const broad__growing_qr *b, size_t j, size_t k)
{
    size_t q = b->trial;
    double sum = 0;
    for (size_t i = 0; i < b->rows; i++) sum += b->trial_q[i * q + j] * b->trial_q[i * q + k];
    for (size_t i = 0; i < b->columns + q; i++) sum += b->trial_b[i * q + j] * b->trial_b[i * q + k];
    return sum;
}

/* Column j += factor * column k. */
static void block_add(broad__growing_qr *b, size_t j, double factor, size_t k)
{
    size_t q = b->trial;
    for (size_t i = 0; i < b->rows; i++) b->trial_q[i * q + j] += factor * b->trial_q[i * q + k];
    for (size_t i = 0; i < b->columns + q; i++) b->trial_b[i * q + j] += factor * b->trial_b[i * q + k];
}

/* The block's factor column by column, for columns too near to each other for their Gram matrix to tell them apart. Only
 * what brings nothing new is dropped. */
static void factor_columns(trial *t)
{
    broad__growing_qr *b = t->qr;
    size_t q = b->trial;
    memset(t->corner, 0, q * q * sizeof(double));
    for (size_t j = 0; j < q; j++) {
        for (int pass = 0; pass < 2; pass++)
            for (size_t k = 0; k < j; k++) {
                double dot = t->dead[k] ? 0 : block_dot(b, k, j);
                block_add(b, j, -dot, k);
                t->corner[k * q + j] += dot;
            }
        double length = sqrt(block_dot(b, j, j));
        int lives = length > NOTHING_NEW * sqrt(t->before[j]);
        t->corner[j * q + j] = lives ? length : 1;
        if (lives) block_add(b, j, 1 / length - 1, j);
        else kill_column(t, j);
    }
}

/* Makes the block's columns orthonormal, by Cholesky where that works. */
static void factor_block(trial *t)
{
    broad__growing_qr *b = t->qr;
    const broad__device *device = t->residual->device;
    size_t q = b->trial;
    block_gram(t);
    if (device->factor(t->corner, q) == 0) {
        broad__whiten_rows(b->trial_q, b->rows, t->corner, q, device, t->residual->pool);
        device->whiten(b->trial_b, q, b->columns + q, t->corner, q, q);
    } else {
        factor_columns(t);
    }
    multiply_corner(t);
}

/* Orthogonal to what is there and within itself; a second time for what the first one's rounding left, which near copies
 * of a column make large. */
static void settle(trial *t)
{
    broad__growing_qr *b = t->qr;
    size_t q = b->trial;
    for (size_t j = 0; j < q; j++) b->trial_r[(b->columns + j) * q + j] = 1;
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
    broad__growing_qr *b = t->qr;
    broad__residual *residual = t->residual;
    size_t q = b->trial, c = b->outputs;
    product top = {residual->device, b->trial_t, b->trial_q, q, q, (double *)y, c, b->rows};
    cross_all(&top, residual->pool);
    memcpy(residual->next, residual->e, b->rows * c * sizeof(double));
    top.right = residual->next;
    subtract_all(&top, residual->pool);
    double squares = 0, left_out = 0;
    for (size_t i = 0; i < b->rows; i++) {
        double h = b->h[i], square = 0;
        for (size_t j = 0; j < q; j++) h += b->trial_q[i * q + j] * b->trial_q[i * q + j];
        for (size_t j = 0; j < c; j++) square += residual->next[i * c + j] * residual->next[i * c + j];
        double rest = 1 - h > DBL_EPSILON ? 1 - h : DBL_EPSILON;
        b->trial_h[i] = h;
        squares += square;
        left_out += square / (rest * rest);
    }
    b->trial_norm = sqrt(squares);
    b->trial_loo = sqrt(left_out);
}

int broad__growing_qr_try(broad__growing_qr *b, broad__residual *residual, const double *y, double lambda)
{
    trial t = {.qr = b, .residual = residual};
    if (!b->columns) b->lambda = lambda;
    int status = trial_open(&t);
    if (status == BROAD_OK) {
        settle(&t);
        measure(&t, y);
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

static int reserve_columns(broad__growing_qr *b, size_t columns)
{
    if (columns <= b->room) return BROAD_OK;
    size_t room = columns > 2 * b->room ? columns : 2 * b->room, p = b->columns;
    double *q = restride(b->q, b->room, b->rows, p, b->rows, room), *r = restride(b->r, b->room, p, p, room, room);
    double *bottom = restride(b->bottom, b->room, p, p, room, room);
    double *turned = restride(b->turned, b->outputs, p, b->outputs, room, b->outputs);
    if (!q || !r || !bottom || !turned) {
        broad__free(q), broad__free(r), broad__free(bottom), broad__free(turned);
        return BROAD_NO_MEMORY;
    }
    broad__free(b->q), broad__free(b->r), broad__free(b->bottom), broad__free(b->turned);
    b->q = q;
    b->r = r;
    b->bottom = bottom;
    b->turned = turned;
    b->room = room;
    return BROAD_OK;
}

int broad__growing_qr_accept(broad__growing_qr *b)
{
    size_t p = b->columns, q = b->trial;
    int status = reserve_columns(b, p + q);
    if (status < 0) return status;
    for (size_t i = 0; i < b->rows; i++) memcpy(b->q + i * b->room + p, b->trial_q + i * q, q * sizeof(double));
    for (size_t i = 0; i < p + q; i++) {
        memcpy(b->r + i * b->room + p, b->trial_r + i * q, q * sizeof(double));
        memcpy(b->bottom + i * b->room + p, b->trial_b + i * q, q * sizeof(double));
    }
    memcpy(b->turned + p * b->outputs, b->trial_t, q * b->outputs * sizeof(double));
    memcpy(b->h, b->trial_h, b->rows * sizeof(double));
    b->columns += q;
    b->loo = b->trial_loo;
    trial_clear(b);
    return BROAD_OK;
}

static void leave_rows(double *out, const broad__growing_qr *b, const broad__residual *residual, const double *y)
{
    for (size_t i = 0; i < b->rows; i++) {
        double rest = 1 - b->h[i] > DBL_EPSILON ? 1 - b->h[i] : DBL_EPSILON,
               root = residual->sqrt_weight ? residual->sqrt_weight[i] : 1;
        for (size_t at = i * b->outputs; at < (i + 1) * b->outputs; at++)
            out[at] = (y[at] - residual->e[at] / rest) / root;
    }
}

/* I - Q_b Q_b' of the rows of one set, in the upper triangle; q has room for n x columns. */
static void set_system(double *out, double *q, const broad__growing_qr *b, const broad__residual *residual,
                       const size_t *set, size_t n)
{
    size_t p = b->columns;
    for (size_t i = 0; i < n; i++) memcpy(q + i * p, b->q + set[i] * b->room, p * sizeof(double));
    memset(out, 0, n * n * sizeof(double));
    residual->device->outer(out, n, q, p, n, q, p, n, p);
    for (size_t i = 0; i < n; i++)
        for (size_t k = i; k < n; k++) out[i * n + k] = (i == k) - out[i * n + k];
}

static int leave_sets(double *out, const broad__growing_qr *b, const broad__residual *residual, const double *y,
                      const broad__leave_out_sets *sets)
{
    size_t c = b->outputs, most = BROAD__SET_ROWS;
    double *room = broad__alloc_doubles(most, b->columns + c + 1 + 2 * most);
    if (!room) return BROAD_NO_MEMORY;
    double *q = room, *left = q + most * b->columns, *pivots = left + most * c, *system = pivots + most;
    for (size_t s = 0; s < sets->count; s++) {
        const size_t *set = sets->rows + sets->first[s];
        size_t n = sets->first[s + 1] - sets->first[s];
        set_system(system, q, b, residual, set, n);
        for (size_t i = 0; i < n; i++) memcpy(left + i * c, residual->e + set[i] * c, c * sizeof(double));
        broad__leave_out_sets_apply(left, pivots, system + most * most, system, n, c, residual->device);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < c; k++)
                out[set[i] * c + k] =
                    (y[set[i] * c + k] - left[i * c + k]) / (residual->sqrt_weight ? residual->sqrt_weight[set[i]] : 1);
    }
    broad__free(room);
    return BROAD_OK;
}

int broad__growing_qr_leave_out(double *out, const broad__growing_qr *b, const broad__residual *residual,
                                const double *y)
{
    broad__leave_out_sets sets = {0};
    int status = broad__leave_out_sets_make(&sets, residual->group, b->rows);
    if (status == BROAD_OK && sets.count) status = leave_sets(out, b, residual, y, &sets);
    if (status == BROAD_OK && !sets.count) leave_rows(out, b, residual, y);
    broad__leave_out_sets_clear(&sets);
    return status;
}

void broad__growing_qr_weights(double *out, const broad__growing_qr *b)
{
    size_t p = b->columns, c = b->outputs;
    memcpy(out, b->turned, p * c * sizeof(double));
    for (size_t i = p; i-- > 0;)
        for (size_t q = 0; q < c; q++) {
            double sum = out[i * c + q];
            for (size_t k = i + 1; k < p; k++) sum -= b->r[i * b->room + k] * out[k * c + q];
            out[i * c + q] = sum / b->r[i * b->room + i];
        }
}
