#include "layer/growing_qr.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "layer/leave_out_sets.h"
#include "layer/orthonormal.h"
#include "layer/row_product.h"

static void trial_clear(broad__growing_qr *qr)
{
    broad__free(qr->trial_q);
    broad__free(qr->trial_h);
    broad__free(qr->trial_b);
    broad__free(qr->trial_r);
    broad__free(qr->trial_t);
    qr->trial_q = qr->trial_h = qr->trial_b = qr->trial_r = qr->trial_t = NULL;
    qr->trial = 0;
    broad__growing_dual_forget(&qr->dual);
}

/* Q, B, R and Q'Y. */
static void columns_clear(broad__growing_qr *qr)
{
    broad__free(qr->q);
    broad__free(qr->bottom);
    broad__free(qr->r);
    broad__free(qr->turned);
    qr->q = qr->bottom = qr->r = qr->turned = NULL;
    qr->capacity = 0;
}

void broad__growing_qr_clear(broad__growing_qr *qr)
{
    trial_clear(qr);
    columns_clear(qr);
    broad__growing_dual_clear(&qr->dual);
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

/* ---- a block on trial ------------------------------------------------------------------------------------------ */

typedef struct trial {
    broad__growing_qr *qr;
    broad__residual *residual;
    double *part; /* columns x trial: what one pass subtracts */
    broad__orthonormal block;
} trial;

static int trial_open(trial *t)
{
    broad__growing_qr *qr = t->qr;
    size_t q = t->residual->candidate.width, p = qr->columns;
    qr->trial = q;
    qr->trial_q = broad__alloc_doubles(qr->rows, q);
    qr->trial_h = broad__alloc_doubles(qr->rows, 1);
    qr->trial_b = broad__alloc_doubles(p + q, q);
    qr->trial_r = broad__alloc_doubles(p + q, q);
    qr->trial_t = broad__alloc_doubles(q, qr->outputs);
    t->part = broad__alloc_doubles(p, q);
    if (!qr->trial_q || !qr->trial_h || !qr->trial_b || !qr->trial_r || !qr->trial_t || !t->part)
        return BROAD_NO_MEMORY;
    memcpy(qr->trial_q, t->residual->candidate.k, qr->rows * q * sizeof(double));
    for (size_t j = 0; j < q; j++) {
        qr->trial_b[(p + j) * q + j] = sqrt(qr->lambda);
        qr->trial_r[(p + j) * q + j] = 1;
    }
    t->block = (broad__orthonormal){.device = t->residual->device,
                                    .pool = t->residual->pool,
                                    .rows = qr->rows,
                                    .below = p + q,
                                    .width = q,
                                    .top = qr->trial_q,
                                    .bottom = qr->trial_b,
                                    .r = qr->trial_r + p * q};
    return broad__orthonormal_open(&t->block);
}

/* One pass of Gram-Schmidt against the columns so far; what it subtracts goes to R12, in the coordinates of K. */
static void orthogonalise(trial *t)
{
    broad__growing_qr *qr = t->qr;
    const broad__device *device = t->residual->device;
    size_t p = qr->columns, q = qr->trial;
    if (!p) return;
    memset(t->part, 0, p * q * sizeof(double));
    broad__row_product top = {
        device, t->residual->pool, t->part, qr->q, qr->capacity, p, qr->trial_q, q, qr->rows,
    };
    broad__row_product_cross(&top);
    device->cross(t->part, q, qr->bottom, qr->capacity, p, qr->trial_b, q, q, p);
    broad__row_product_subtract(&top);
    device->apply(qr->trial_b, q, -1.0, qr->bottom, qr->capacity, p, t->part, q, p, q);
    device->apply(qr->trial_r, q, 1.0, t->part, q, p, qr->trial_r + p * q, q, q, q);
}

/* Orthogonal to the columns so far and within itself; a second time because of the rounding of the first, which near
 * copies of a column make large. */
static void settle(trial *t)
{
    orthogonalise(t);
    broad__orthonormal_drop(&t->block);
    broad__orthonormal_round(&t->block);
    orthogonalise(t);
    broad__orthonormal_round(&t->block);
}

/* The residual and leverages with the block. */
static void fit_trial(trial *t, const double *y)
{
    broad__growing_qr *qr = t->qr;
    broad__residual *residual = t->residual;
    size_t q = qr->trial, c = qr->outputs;
    broad__row_product top = {
        residual->device, residual->pool, qr->trial_t, qr->trial_q, q, q, (double *)y, c, qr->rows,
    };
    broad__row_product_cross(&top);
    memcpy(residual->next, residual->e, qr->rows * c * sizeof(double));
    top.right = residual->next;
    broad__row_product_subtract(&top);
    for (size_t i = 0; i < qr->rows; i++) {
        qr->trial_h[i] = qr->h[i];
        for (size_t j = 0; j < q; j++) qr->trial_h[i] += qr->trial_q[i * q + j] * qr->trial_q[i * q + j];
    }
}

static int try_columns(broad__growing_qr *qr, broad__residual *residual, const double *y)
{
    trial t = {.qr = qr, .residual = residual};
    int status = trial_open(&t);
    if (status == BROAD_OK) {
        settle(&t);
        fit_trial(&t, y);
        status = broad__watch_check(BROAD_OK);
    }
    broad__free(t.part);
    broad__orthonormal_close(&t.block);
    return status;
}

/* ---- the form -------------------------------------------------------------------------------------------------- */

/* T takes over with the block that makes columns outnumber rows; not where columns may be dropped, which takes a lambda
 * that is next to nothing. Until such a block is accepted, both forms are there. */
static int is_dual(const broad__growing_qr *qr, size_t width, double trial_size)
{
    if (qr->dual.a) return 1;
    double least = BROAD__NOTHING_NEW * BROAD__NOTHING_NEW * (qr->size + trial_size);
    return qr->columns + width > qr->rows && qr->lambda > least;
}

static int try_rows(broad__growing_qr *qr, broad__residual *residual, const double *y)
{
    broad__growing_basis basis = {qr->q, qr->bottom, qr->columns, qr->capacity};
    int status = BROAD_OK;
    if (qr->dual.root && qr->dual.lambda != qr->lambda) broad__growing_dual_clear(&qr->dual);
    if (!qr->dual.root) status = broad__growing_dual_open(&qr->dual, residual, qr->lambda, &basis);
    if (status == BROAD_OK) status = broad__growing_dual_try(&qr->dual, residual, y);
    return status;
}

static double rest_of(double leverage) { return fmax(1 - leverage, DBL_EPSILON); }

/* The norms with the block. */
static void measure(broad__growing_qr *qr, const broad__residual *residual)
{
    size_t c = qr->outputs;
    double squares = 0, left_out = 0;
    for (size_t i = 0; i < qr->rows; i++) {
        double square = 0, rest = qr->dual.trial ? broad__growing_dual_rest(qr->dual.trial_root, qr->rows, i)
                                                 : rest_of(qr->trial_h[i]);
        for (size_t j = 0; j < c; j++) square += residual->next[i * c + j] * residual->next[i * c + j];
        squares += square;
        left_out += square / (rest * rest);
    }
    qr->trial_norm = sqrt(squares);
    qr->trial_loo = sqrt(left_out);
}

int broad__growing_qr_try(broad__growing_qr *qr, broad__residual *residual, const double *y, double lambda)
{
    size_t q = residual->candidate.width;
    const double *k = residual->candidate.k;
    if (!qr->columns) qr->lambda = lambda;
    trial_clear(qr);
    qr->trial_size = 0;
    for (size_t i = 0; i < qr->rows * q; i++) qr->trial_size += k[i] * k[i];
    int status = is_dual(qr, q, qr->trial_size) ? try_rows(qr, residual, y) : try_columns(qr, residual, y);
    if (status == BROAD_OK) measure(qr, residual);
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

static int accept_columns(broad__growing_qr *qr)
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
    broad__growing_dual_clear(&qr->dual);
    return BROAD_OK;
}

/* The columns so far go over into the other form: A = QR. */
static int leave_columns(broad__growing_qr *qr)
{
    size_t p = qr->columns;
    if (!p) return BROAD_OK;
    double *a = broad__alloc_doubles(qr->rows, p);
    if (!a) return BROAD_NO_MEMORY;
    qr->dual.device->apply(a, p, 1.0, qr->q, qr->capacity, qr->rows, qr->r, qr->capacity, p, p);
    int status = broad__growing_dual_append(&qr->dual, a, p);
    broad__free(a);
    status = broad__watch_check(status);
    if (status == BROAD_OK) columns_clear(qr);
    return status;
}

static int accept_rows(broad__growing_qr *qr)
{
    size_t q = qr->dual.trial;
    int status = qr->dual.a ? BROAD_OK : leave_columns(qr);
    if (status == BROAD_OK) status = broad__growing_dual_accept(&qr->dual);
    if (status == BROAD_OK) qr->columns += q;
    else broad__growing_qr_clear(qr); /* half of it may be in the other form */
    return status;
}

int broad__growing_qr_accept(broad__growing_qr *qr)
{
    int status = qr->dual.trial ? accept_rows(qr) : accept_columns(qr);
    if (status < 0) return status;
    qr->loo = qr->trial_loo;
    qr->size += qr->trial_size;
    trial_clear(qr);
    return BROAD_OK;
}

/* ---- leave-one-out --------------------------------------------------------------------------------------------- */

static double rest_at(const broad__growing_qr *qr, size_t i)
{
    return qr->dual.a ? broad__growing_dual_rest(qr->dual.root, qr->rows, i) : rest_of(qr->h[i]);
}

static void leave_rows(double *out, const broad__growing_qr *qr, const broad__residual *residual, const double *y)
{
    for (size_t i = 0; i < qr->rows; i++) {
        double rest = rest_at(qr, i), root = residual->sqrt_weight ? residual->sqrt_weight[i] : 1;
        for (size_t at = i * qr->outputs; at < (i + 1) * qr->outputs; at++)
            out[at] = (y[at] - residual->e[at] / rest) / root;
    }
}

/* I - H of the rows of one set, in the upper triangle: I - Q_b Q_b', or T_b T_b'; rows: n x columns, scratch. */
static void set_system(double *out, double *rows, const broad__growing_qr *qr, const broad__residual *residual,
                       const size_t *set, size_t n)
{
    int dual = qr->dual.a != NULL;
    const double *from = dual ? qr->dual.root : qr->q;
    size_t p = dual ? qr->rows : qr->columns, stride = dual ? qr->rows : qr->capacity;
    for (size_t i = 0; i < n; i++) memcpy(rows + i * p, from + set[i] * stride, p * sizeof(double));
    memset(out, 0, n * n * sizeof(double));
    residual->device->outer(out, n, rows, p, n, rows, p, n, p);
    for (size_t i = 0; i < n && !dual; i++)
        for (size_t k = i; k < n; k++) out[i * n + k] = (i == k) - out[i * n + k];
}

static int leave_sets(double *out, const broad__growing_qr *qr, const broad__residual *residual, const double *y,
                      const broad__leave_out_sets *sets)
{
    size_t c = qr->outputs, max = BROAD__SET_ROWS, p = qr->dual.a ? qr->rows : qr->columns;
    double *scratch = broad__alloc_doubles(max, p + c + 1 + 2 * max);
    if (!scratch) return BROAD_NO_MEMORY;
    double *rows = scratch, *left = rows + max * p, *pivots = left + max * c, *matrix = pivots + max;
    for (size_t s = 0; s < sets->count; s++) {
        const size_t *set = sets->rows + sets->first[s];
        size_t n = sets->first[s + 1] - sets->first[s];
        set_system(matrix, rows, qr, residual, set, n);
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
    int status = broad__leave_out_sets_make(&sets, residual->group, residual->key, qr->rows);
    if (status == BROAD_OK && sets.count) status = leave_sets(out, qr, residual, y, &sets);
    if (status == BROAD_OK && !sets.count) leave_rows(out, qr, residual, y);
    broad__leave_out_sets_clear(&sets);
    return status;
}

int broad__growing_qr_weights(double *out, const broad__growing_qr *qr, const double *y)
{
    size_t p = qr->columns, c = qr->outputs;
    if (qr->dual.a) return broad__growing_dual_weights(out, &qr->dual, y);
    memcpy(out, qr->turned, p * c * sizeof(double));
    for (size_t i = p; i-- > 0;)
        for (size_t q = 0; q < c; q++) {
            double sum = out[i * c + q];
            for (size_t k = i + 1; k < p; k++) sum -= qr->r[i * qr->capacity + k] * out[k * c + q];
            out[i * c + q] = sum / qr->r[i * qr->capacity + i];
        }
    return BROAD_OK;
}

/* ---- a block by itself ----------------------------------------------------------------------------------------- */

/* As parts of the mean square of a column, and of a norm. */
static const double LAMBDA_LEAST = 1e-9, ROUNDING_MOST = 1e-8;

int broad__growing_qr_negligible(double lambda, double size, size_t columns)
{
    return lambda * (double)columns <= LAMBDA_LEAST * size;
}

double broad__growing_qr_rounding(double squares, double size, size_t columns)
{
    return DBL_EPSILON * sqrt(squares * size / (double)columns);
}

static double worst_left(const broad__residual *residual)
{
    size_t c = residual->outputs;
    double worst = 0;
    for (size_t q = 0; q < c; q++) {
        double before = 0, after = 0;
        for (size_t i = q; i < residual->rows * c; i += c) {
            before += residual->e[i] * residual->e[i];
            after += residual->next[i] * residual->next[i];
        }
        if (before > 0) worst = fmax(worst, after / before);
    }
    return worst;
}

/* Of the weights of what has been accepted. */
static int weights_rounding(double *out, const broad__growing_qr *qr, const double *y)
{
    double *w = broad__alloc_doubles(qr->columns, qr->outputs), squares = 0;
    if (!w) return BROAD_NO_MEMORY;
    int status = broad__growing_qr_weights(w, qr, y);
    for (size_t q = 0; status == BROAD_OK && q < qr->outputs; q++) {
        double sum = 0;
        for (size_t i = 0; i < qr->columns; i++) sum += fabs(w[i * qr->outputs + q]);
        squares += sum * sum;
    }
    *out = broad__growing_qr_rounding(squares, qr->size, qr->columns);
    broad__free(w);
    return status;
}

int broad__growing_qr_alone(double *out, broad__residual *residual, double lambda)
{
    broad__growing_qr qr;
    double rounding = 0;
    int status = broad__growing_qr_open(&qr, residual->rows, residual->outputs, residual->e);
    if (status == BROAD_OK) status = broad__growing_qr_try(&qr, residual, residual->e, lambda);
    if (status == BROAD_OK) status = broad__growing_qr_accept(&qr);
    if (status == BROAD_OK) status = weights_rounding(&rounding, &qr, residual->e);
    if (status == BROAD_OK) *out = rounding <= ROUNDING_MOST * residual->norm ? worst_left(residual) : INFINITY;
    broad__growing_qr_clear(&qr);
    return status;
}
