/*
 * [R; b] is made triangular by Householder reflections H = I - tau v v', v = (1 in row j of R, then k numbers in the rows of
 * b): the other rows of R are not touched. PANEL columns at a time, whose reflections H_1 H_2 ... = I - V T V' (T upper
 * triangular) then reach the columns to the right as products:
 *
 *   W = T' (R_panel + V'b),  R_panel -= W,  b -= V W
 */
#include "compute/cpu/update.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/cpu/product.h"
#include "compute/cpu/reflection.h"

enum { PANEL = 32 };

typedef struct update {
    double *r, *b;
    size_t n, k;
    double *v;       /* wide x k: the reflections of a panel by rows */
    double *t;       /* PANEL x PANEL */
    double *w, *sum; /* PANEL x n */
} update;

/* H from the left on what is right of column j in the panel. */
static void reflect_panel(update *u, size_t first, size_t wide, size_t j, double tau)
{
    size_t right = wide - j - 1;
    double *row = u->r + (first + j) * u->n + first + j + 1, *below = u->b + first + j + 1, *v = u->v + j * u->k;
    memcpy(u->w, row, right * sizeof(double));
    broad__product(u->w, right, 1, broad__as_is(v, u->k), broad__as_is(below, u->n), 1, right, u->k);
    for (size_t l = 0; l < right; l++) {
        u->w[l] *= tau;
        row[l] -= u->w[l];
    }
    broad__product(below, u->n, -1, broad__as_is(v, 1), broad__as_is(u->w, right), u->k, right, 1);
}

/* The parts of two vectors in R have nothing in common, so V'V is that of the parts in b, apart from its diagonal. */
static void reduce_panel(update *u, size_t first, size_t wide)
{
    double tau[PANEL], gram[PANEL * PANEL] = {0};
    for (size_t j = 0; j < wide; j++) {
        double *v = u->v + j * u->k;
        for (size_t i = 0; i < u->k; i++) v[i] = u->b[i * u->n + first + j];
        tau[j] = broad__reflection_make(&u->r[(first + j) * u->n + first + j], v, u->k);
        reflect_panel(u, first, wide, j, tau[j]);
    }
    broad__product(gram, wide, 1, broad__as_is(u->v, u->k), broad__turned(u->v, u->k), wide, wide, u->k);
    broad__reflections_join(u->t, gram, tau, wide);
}

static void reach_right(update *u, size_t first, size_t wide)
{
    size_t n = u->n, column = first + wide, right = n - column;
    double *r = u->r + first * n + column, *b = u->b + column;
    for (size_t i = 0; i < wide; i++) memcpy(u->sum + i * right, r + i * n, right * sizeof(double));
    memset(u->w, 0, wide * right * sizeof(double));
    broad__product(u->sum, right, 1, broad__as_is(u->v, u->k), broad__as_is(b, n), wide, right, u->k);
    broad__product(u->w, right, 1, broad__turned(u->t, wide), broad__as_is(u->sum, right), wide, right, wide);
    for (size_t i = 0; i < wide; i++)
        for (size_t j = 0; j < right; j++) r[i * n + j] -= u->w[i * right + j];
    broad__product(b, n, -1, broad__turned(u->v, u->k), broad__as_is(u->w, right), u->k, right, wide);
}

static void make_diagonal_positive(double *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (signbit(r[i * n + i]))
            for (size_t j = i; j < n; j++) r[i * n + j] = -r[i * n + j];
}

int broad__factor_update(double *r, size_t n, double *b, size_t k)
{
    update u = {.r = r, .b = b, .n = n, .k = k};
    if (!n || !k) return BROAD_OK;
    u.v = broad__alloc_doubles(PANEL, k + PANEL + 2 * n);
    if (!u.v) return BROAD_NO_MEMORY;
    u.t = u.v + PANEL * k;
    u.w = u.t + PANEL * PANEL;
    u.sum = u.w + PANEL * n;
    for (size_t first = 0; first < n && !broad__watch_stopped(); first += PANEL) {
        size_t wide = n - first < PANEL ? n - first : PANEL;
        reduce_panel(&u, first, wide);
        if (first + wide < n) reach_right(&u, first, wide);
    }
    broad__free(u.v);
    make_diagonal_positive(r, n);
    return broad__watch_check(BROAD_OK);
}
