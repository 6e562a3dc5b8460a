#include "layer/growing_dual.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/shards.h"
#include "layer/cholesky.h"
#include "layer/orthonormal.h"
#include "layer/row_product.h"

/* Columns of a block that are taken together. */
enum { CHUNK = 64 };

void broad__growing_dual_forget(broad__growing_dual *dual)
{
    broad__free(dual->trial_k);
    broad__free(dual->trial_e);
    dual->trial_k = dual->trial_e = NULL;
    dual->trial = 0;
}

void broad__growing_dual_clear(broad__growing_dual *dual)
{
    broad__growing_dual_forget(dual);
    broad__free(dual->root);
    broad__free(dual->trial_root);
    broad__free(dual->a);
    broad__free(dual->e);
    memset(dual, 0, sizeof *dual);
}

/* ---- T <- T (I - P (I + B)^-T P') ------------------------------------------------------------------------------ */

typedef struct root_product {
    const broad__device *device;
    double *root;
    const double *left, *right; /* rows x width each */
    size_t rows, width;
} root_product;

static void root_block(void *context, size_t index, size_t worker)
{
    (void)worker;
    const root_product *x = context;
    size_t at = index * BROAD__BLOCK_ROWS, n = broad__min(x->rows - at, BROAD__BLOCK_ROWS);
    x->device->outer(x->root + at * x->rows, x->rows, x->left + at * x->width, x->width, n, x->right, x->width, x->rows,
                     x->width);
}

/* T += moved (P (I + B)^-1)', moved being -TP. p: P, used up; b: B, width x width, used up. */
static void move_root(double *root, const double *moved, double *p, double *b, size_t width,
                      const broad__residual *residual)
{
    size_t n = residual->rows;
    for (size_t j = 0; j < width; j++) b[j * width + j] += 1;
    broad__whiten_rows(p, n, b, width, residual->device, residual->pool);
    root_product product = {residual->device, root, moved, p, n, width};
    broad__pool_run(residual->pool, (n + BROAD__BLOCK_ROWS - 1) / BROAD__BLOCK_ROWS, root_block, &product);
}

int broad__growing_dual_open(broad__growing_dual *out, const broad__residual *residual, double lambda,
                             const broad__growing_basis *basis)
{
    size_t n = residual->rows, p = basis->columns;
    *out = (broad__growing_dual){.device = residual->device, .rows = n, .outputs = residual->outputs, .lambda = lambda};
    double *q = broad__alloc_doubles(n, p), *moved = broad__alloc_doubles(n, p), *b = broad__alloc_doubles(p, p);
    out->root = broad__alloc_doubles(n, n);
    int status = q && moved && b && out->root ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        for (size_t i = 0; i < n; i++) {
            out->root[i * n + i] = 1;
            if (p) memcpy(q + i * p, basis->q + i * basis->stride, p * sizeof(double));
        }
        for (size_t i = 0; i < n * p; i++) moved[i] = -q[i];
        for (size_t i = 0; i < p; i++) memcpy(b + i * p, basis->b + i * basis->stride, p * sizeof(double));
        if (p) move_root(out->root, moved, q, b, p, residual);
        status = broad__watch_check(BROAD_OK);
    }
    broad__free(q);
    broad__free(moved);
    broad__free(b);
    if (status < 0) broad__growing_dual_clear(out);
    return status;
}

/* ---- a block on trial ------------------------------------------------------------------------------------------ */

typedef struct trial {
    broad__growing_dual *dual;
    broad__residual *residual;
    double *k, *p, *moved; /* rows x CHUNK at most: some columns of K, P, and -TP */
    double *b;             /* CHUNK x CHUNK */
} trial;

static int trial_open(trial *t)
{
    broad__growing_dual *dual = t->dual;
    size_t n = dual->rows, q = t->residual->candidate.width, chunk = broad__min(q, CHUNK);
    broad__growing_dual_forget(dual);
    dual->trial = q;
    dual->trial_k = broad__alloc_doubles(n, q);
    dual->trial_e = broad__alloc_doubles(n, dual->outputs);
    if (!dual->trial_root) dual->trial_root = broad__alloc_doubles(n, n);
    t->k = broad__alloc_doubles(n, chunk);
    t->p = broad__alloc_doubles(n, chunk);
    t->moved = broad__alloc_doubles(n, chunk);
    t->b = broad__alloc_doubles(chunk, chunk);
    if (!dual->trial_k || !dual->trial_e || !dual->trial_root || !t->k || !t->p || !t->moved || !t->b)
        return BROAD_NO_MEMORY;
    memcpy(dual->trial_k, t->residual->candidate.k, n * q * sizeof(double));
    memcpy(dual->trial_root, dual->root, n * n * sizeof(double));
    return BROAD_OK;
}

static void trial_close(trial *t)
{
    broad__free(t->k);
    broad__free(t->p);
    broad__free(t->moved);
    broad__free(t->b);
}

/* Takes columns [first, first + width) of K into T. */
static int take_columns(trial *t, size_t first, size_t width)
{
    broad__growing_dual *dual = t->dual;
    const broad__device *device = dual->device;
    broad__pool *pool = t->residual->pool;
    size_t n = dual->rows;
    for (size_t i = 0; i < n; i++)
        memcpy(t->k + i * width, dual->trial_k + i * dual->trial + first, width * sizeof(double));
    memset(t->p, 0, n * width * sizeof(double));
    memset(t->moved, 0, n * width * sizeof(double));
    memset(t->b, 0, width * width * sizeof(double));
    for (size_t j = 0; j < width; j++) t->b[j * width + j] = sqrt(dual->lambda);
    broad__row_product product = {device, pool, t->p, dual->trial_root, n, n, t->k, width, n};
    broad__row_product_cross(&product);
    broad__orthonormal block = {device, pool, n, width, width, t->p, t->b, NULL, NULL, NULL, NULL};
    int status = broad__orthonormal_open(&block);
    if (status == BROAD_OK) {
        broad__orthonormal_round(&block);
        broad__orthonormal_round(&block);
        product.right = t->moved;
        broad__row_product_subtract(&product);
        move_root(dual->trial_root, t->moved, t->p, t->b, width, t->residual);
    }
    broad__orthonormal_close(&block);
    return broad__watch_check(status);
}

/* next = T T'Y */
static int fit_trial(trial *t, const double *y)
{
    broad__growing_dual *dual = t->dual;
    double *next = t->residual->next;
    size_t n = dual->rows, c = dual->outputs;
    double *turned = broad__alloc_doubles(n, c);
    if (!turned) return BROAD_NO_MEMORY;
    broad__row_product product = {
        dual->device, t->residual->pool, turned, dual->trial_root, n, n, (double *)y, c, n,
    };
    broad__row_product_cross(&product);
    for (size_t i = 0; i < n * c; i++) turned[i] = -turned[i];
    memset(next, 0, n * c * sizeof(double));
    product.right = next;
    broad__row_product_subtract(&product);
    memcpy(dual->trial_e, next, n * c * sizeof(double));
    broad__free(turned);
    return BROAD_OK;
}

int broad__growing_dual_try(broad__growing_dual *dual, broad__residual *residual, const double *y)
{
    trial t = {.dual = dual, .residual = residual};
    int status = trial_open(&t);
    for (size_t at = 0; status == BROAD_OK && at < dual->trial; at += CHUNK)
        status = take_columns(&t, at, broad__min(dual->trial - at, CHUNK));
    if (status == BROAD_OK) status = fit_trial(&t, y);
    trial_close(&t);
    return broad__watch_check(status);
}

/* ---- accepting ------------------------------------------------------------------------------------------------- */

int broad__growing_dual_append(broad__growing_dual *dual, const double *k, size_t count)
{
    size_t n = dual->rows, old = dual->columns;
    double *a = broad__alloc_doubles(old + count, n);
    if (!a) return BROAD_NO_MEMORY;
    if (old) memcpy(a, dual->a, old * n * sizeof(double));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < count; j++) a[(old + j) * n + i] = k[i * count + j];
    broad__free(dual->a);
    dual->a = a;
    dual->columns += count;
    return BROAD_OK;
}

int broad__growing_dual_accept(broad__growing_dual *dual)
{
    int status = broad__growing_dual_append(dual, dual->trial_k, dual->trial);
    if (status < 0) return status;
    double *root = dual->root;
    dual->root = dual->trial_root;
    dual->trial_root = root;
    broad__free(dual->e);
    dual->e = dual->trial_e;
    dual->trial_e = NULL;
    broad__growing_dual_forget(dual);
    return BROAD_OK;
}

double broad__growing_dual_rest(const double *root, size_t rows, size_t i)
{
    double sum = 0;
    for (size_t k = 0; k < rows; k++) sum += root[i * rows + k] * root[i * rows + k];
    return fmax(sum, DBL_EPSILON * DBL_EPSILON);
}

/* ---- W --------------------------------------------------------------------------------------------------------- */

/* W = A'a with (AA' + l I) a = Y. */
typedef struct solution {
    const broad__growing_dual *dual;
    double *a, *r, *turned; /* rows x outputs each */
} solution;

static void solution_weights(double *out, const solution *s)
{
    const broad__growing_dual *dual = s->dual;
    size_t n = dual->rows, p = dual->columns, c = dual->outputs;
    memset(out, 0, p * c * sizeof(double));
    dual->device->apply(out, c, 1.0, dual->a, n, p, s->a, c, n, c);
}

/* a += T T'r / l with r = Y - A W - l a as computed: the cancellation is behind it, so its digits are good. */
static void solution_correct(const solution *s, const double *y, const double *w)
{
    const broad__growing_dual *dual = s->dual;
    size_t n = dual->rows, p = dual->columns, c = dual->outputs, count = n * c;
    memset(s->turned, 0, count * sizeof(double));
    memset(s->r, 0, count * sizeof(double));
    dual->device->cross(s->r, c, dual->a, n, n, w, c, c, p);
    for (size_t i = 0; i < count; i++) s->r[i] = y[i] - s->r[i] - dual->lambda * s->a[i];
    dual->device->cross(s->turned, c, dual->root, n, n, s->r, c, c, n);
    memset(s->r, 0, count * sizeof(double));
    dual->device->apply(s->r, c, 1 / dual->lambda, dual->root, n, n, s->turned, c, n, c);
    for (size_t i = 0; i < count; i++) s->a[i] += s->r[i];
}

int broad__growing_dual_weights(double *out, const broad__growing_dual *dual, const double *y)
{
    enum { CORRECTIONS = 2 };
    size_t count = dual->rows * dual->outputs;
    double *scratch = broad__alloc_doubles(3, count);
    if (!scratch) return BROAD_NO_MEMORY;
    solution s = {dual, scratch, scratch + count, scratch + 2 * count};
    for (size_t i = 0; i < count; i++) s.a[i] = dual->e[i] / dual->lambda;
    solution_weights(out, &s);
    for (int i = 0; i < CORRECTIONS; i++) {
        solution_correct(&s, y, out);
        solution_weights(out, &s);
    }
    broad__free(scratch);
    return broad__watch_check(BROAD_OK);
}
