/*
 * Row i of A right of the diagonal is reflected to a multiple of a unit vector, from both sides. PANEL rows at a time: the
 * rows below a panel stay as they were while its reflections are found, and then take them all at once,
 *
 *   A -= V W' + W V',  w_i = tau (p - (w_i'v_i / 2) v_i),  p = A v_i of the matrix with all reflections before i
 *
 * (Dongarra, Sorensen and Hammarling, 1989). So half of the work is products of A, as it was, and a vector.
 */
#include "compute/cpu/tridiagonal.h"

#include <string.h>

#include "base/watch.h"
#include "compute/cpu/product.h"
#include "compute/cpu/reflection.h"

enum { PANEL = 32, RETURN = 64, TURN = 16 };

/* left: rows v_0, w_0, v_1, w_1, ...; right: rows w_0, v_0, ...; so that V W' + W V' = left'right. Both 2 PANEL x n. */
typedef struct panel {
    double *a;
    size_t n, first;
    double *left, *right;
} panel;

size_t broad__tridiagonal_scratch(size_t n)
{
    size_t reduce = 4 * PANEL * n, back = RETURN * 3 * n + RETURN * RETURN;
    return reduce > back ? reduce : back;
}

static double dot(const double *a, const double *b, size_t count)
{
    enum { SUMS = 4 };
    double sums[SUMS] = {0};
    for (size_t i = 0; i < count; i++) sums[i % SUMS] += a[i] * b[i];
    return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

/* w = tau (p - (tau p'v / 2) v), from column i + 1 on. */
static void find_w(const panel *p, size_t i, double tau)
{
    size_t n = p->n, count = 2 * (i - p->first), from = i + 1, wide = n - from;
    double dots[2 * PANEL] = {0};
    double *v = p->left + count * n + from, *w = v + n;
    memset(w, 0, wide * sizeof(double));
    broad__kernels_used()->symmetric(w, p->a + from * n + from, n, v, wide);
    broad__product(dots, 1, 1, broad__as_is(p->right + from, n), broad__as_is(v, 1), count, 1, wide);
    broad__product(w, wide, -1, broad__as_is(dots, count), broad__as_is(p->left + from, n), 1, wide, count);
    double half = 0.5 * tau * dot(w, v, wide);
    for (size_t j = 0; j < wide; j++) w[j] = tau * (w[j] - half * v[j]);
}

/* Row i takes the reflections of the panel before it, and gives its own. */
static void reduce_row(panel *p, double *diagonal, double *beside, double *tau, size_t i)
{
    size_t n = p->n, count = 2 * (i - p->first);
    double *row = p->a + i * n, coefficients[2 * PANEL];
    for (size_t l = 0; l < count; l++) coefficients[l] = p->left[l * n + i];
    broad__product(row + i, n, -1, broad__as_is(coefficients, count), broad__as_is(p->right + i, n), 1, n - i, count);
    diagonal[i] = row[i];
    tau[i] = i + 1 < n ? broad__reflection_make(row + i + 1, row + i + 2, n - i - 2) : 0;
    beside[i] = i + 1 < n ? row[i + 1] : 0;
    double *v = p->left + count * n, *w = v + n;
    memset(v, 0, 2 * n * sizeof(double));
    if (i + 1 < n) {
        v[i + 1] = 1;
        memcpy(v + i + 2, row + i + 2, (n - i - 2) * sizeof(double));
        find_w(p, i, tau[i]);
    }
    memcpy(p->right + count * n, w, n * sizeof(double));
    memcpy(p->right + (count + 1) * n, v, n * sizeof(double));
}

void broad__tridiagonal_reduce(double *diagonal, double *beside, double *tau, double *a, size_t n, double *scratch)
{
    for (size_t first = 0; first < n && !broad__watch_stopped(); first += PANEL) {
        panel p = {a, n, first, scratch, scratch + 2 * PANEL * n};
        size_t end = n - first < PANEL ? n : first + PANEL;
        for (size_t i = first; i < end && !broad__watch_look(2.0 * (double)(n - i) * (double)(n - i)); i++)
            reduce_row(&p, diagonal, beside, tau, i);
        broad__product_upper(a + end * n + end, n, -1, broad__turned(p.left + end, n), broad__as_is(p.right + end, n),
                             n - end, 2 * (end - first));
    }
}

/* One row at a time: what each changes is taken off in the same reading of A that the next one's product takes, and a small A stays
 * in the cache meanwhile. */
void broad__tridiagonal_reduce_small(double *diagonal, double *beside, double *tau, double *a, size_t n,
                                     double *scratch)
{
    double *v = scratch, *w = v + n, *last_v = w + n, *last_w = last_v + n;
    memset(scratch, 0, 4 * n * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        double *row = a + i * n;
        size_t from = i + 1, wide = n - from;
        for (size_t j = i; j < n; j++) row[j] -= last_v[i] * last_w[j] + last_w[i] * last_v[j];
        diagonal[i] = row[i];
        tau[i] = wide ? broad__reflection_make(row + from, row + from + 1, wide - 1) : 0;
        beside[i] = wide ? row[from] : 0;
        if (!wide) break;
        v[from] = 1;
        memcpy(v + from + 1, row + from + 1, (wide - 1) * sizeof(double));
        memset(w + from, 0, wide * sizeof(double));
        broad__kernels_used()->symmetric_changed(w + from, a + from * n + from, n, v + from, last_v + from,
                                                 last_w + from, wide);
        double half = 0.5 * tau[i] * dot(w + from, v + from, wide);
        for (size_t j = from; j < n; j++) w[j] = tau[i] * (w[j] - half * v[j]);
        double *swap = v;
        v = last_v, last_v = swap;
        swap = w, w = last_w, last_w = swap;
    }
}

/* Reflections first to first + wide at once are I - V'TV: v (wide x length, from column first + 1 on) has their vectors. */
static void join_panel(double *v, double *t, const double *a, const double *tau, size_t n, size_t first, size_t wide)
{
    size_t length = n - first - 1;
    double gram[RETURN * RETURN];
    memset(v, 0, wide * length * sizeof(double));
    memset(gram, 0, wide * wide * sizeof(double));
    for (size_t i = 0; i < wide; i++) {
        v[i * length + i] = 1;
        memcpy(v + i * length + i + 1, a + (first + i) * n + first + i + 2, (length - i - 1) * sizeof(double));
    }
    broad__product(gram, wide, 1, broad__as_is(v, length), broad__turned(v, length), wide, wide, length);
    broad__reflections_join(t, gram, tau + first, wide);
}

/* z <- z (I - V'T'V) */
static void return_panel(double *z, const double *a, const double *tau, size_t n, size_t first, size_t wide,
                         double *scratch)
{
    size_t from = first + 1, length = n - from;
    double *v = scratch, *sums = v + RETURN * n, *turned = sums + RETURN * n, *t = turned + RETURN * n;
    join_panel(v, t, a, tau, n, first, wide);
    memset(sums, 0, 2 * RETURN * n * sizeof(double));
    broad__operand as_is = broad__as_is(v, length), across = broad__turned(v, length);
    broad__product(sums, wide, 1, broad__as_is(z + from, n), across, n, wide, length);
    broad__product(turned, wide, 1, broad__as_is(sums, wide), broad__turned(t, wide), n, wide, wide);
    broad__product(z + from, n, -1, broad__as_is(turned, wide), as_is, n, length, wide);
}

void broad__tridiagonal_return(double *z, const double *a, const double *tau, size_t n, double *scratch)
{
    size_t reflections = n - 1, panels = (reflections + RETURN - 1) / RETURN;
    for (size_t k = panels; k-- > 0 && !broad__watch_stopped();) {
        size_t first = k * RETURN, wide = reflections - first < RETURN ? reflections - first : RETURN;
        return_panel(z, a, tau, n, first, wide, scratch);
    }
}

/* b <- (I - V'T'V) b, from the first reflections on. */
void broad__tridiagonal_turn(double *b, size_t c, const double *a, const double *tau, size_t n, double *scratch)
{
    double *v = scratch, *sums = v + TURN * n, *turned = sums + TURN * c, *t = turned + TURN * c;
    for (size_t first = 0; first + 1 < n && !broad__watch_stopped(); first += TURN) {
        size_t wide = n - 1 - first < TURN ? n - 1 - first : TURN, length = n - first - 1;
        double *rest = b + (first + 1) * c;
        join_panel(v, t, a, tau, n, first, wide);
        memset(sums, 0, 2 * TURN * c * sizeof(double));
        broad__product(sums, c, 1, broad__as_is(v, length), broad__as_is(rest, c), wide, c, length);
        broad__product(turned, c, 1, broad__turned(t, wide), broad__as_is(sums, c), wide, c, wide);
        broad__product(rest, c, -1, broad__turned(v, length), broad__as_is(turned, c), length, c, wide);
    }
}
