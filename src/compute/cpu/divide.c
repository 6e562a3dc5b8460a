/*
 * Problem   T = V' diag(d) V for a tridiagonal T.
 * Method    Divide and conquer (Cuppen, 1981): without the numbers that connect its halves, T = diag(T1, T2) + rho u u'; with
 *           the eigenvectors of T1 and T2 that is diag(d) + rho z z', whose eigenvalues are the roots of secular.h.
 *           Numbers of z near 0, and pairs of d near each other, which a rotation gives one, need no root (deflation). The
 *           vectors are those of a z that has the computed roots exactly, so they are orthogonal however near the roots
 *           are to each other (Gu and Eisenstat, 1995).
 *           Rows of Q with numbers in one half only, which most are, take part in products over that half only.
 */
#include "compute/cpu/divide.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/cpu/product.h"
#include "compute/cpu/secular.h"

enum { LEAF = 32, STRIP_MOST = 96, TURNS_MAX = 60 };

/* Of a root, per number: some steps of the search. */
static const double ROOT_FLOPS = 50;

/* Where the numbers of a row of Q are. */
typedef enum part { TOP, BOTH, BOTTOM, PARTS } part;

/* What all merges share; places are counted from the first row of the part being solved. */
typedef struct divide {
    double *z; /* n x n */
    size_t n;
    double *d, *e;
    size_t *order;   /* of each part that is done: the places of its values as they rise */
    double *copy;    /* n x n: rows of Q while theirs are overwritten */
    double *strip;   /* strip_rows() x n: coordinates of new rows */
    double *numbers; /* 6 n */
    size_t *places;  /* 4 n */
    part *parts;     /* n */
} divide;

typedef struct merge {
    divide *all;
    size_t first, top, n; /* of the rows and columns being merged; how many of them are T1's */
    double *d, *z;        /* the values, and the rows of Q from their own columns on */
    double rho, *u;       /* of diag(d) + rho u u' */
    size_t *kept, *left;  /* places of values that need a root, rising; of the others */
    size_t kept_count, left_count;
    size_t *slot;                  /* of those kept: their place among them, sorted by part */
    size_t counts[PARTS];          /* of each part among them */
    broad__secular secular;        /* of those kept */
    double *fresh, *gaps, *offset; /* a z that has the roots exactly; of one root; of all */
    size_t *origin;
} merge;

/* Many of them make products fast where n is large; where it is not, they would be a good part of the memory. */
static size_t strip_rows(size_t n) { return n / 8 + 8 < STRIP_MOST ? n / 8 + 8 : STRIP_MOST; }

size_t broad__divide_scratch(size_t n) { return (n + strip_rows(n) + 6) * n; }

/* ---- small ones: implicit QL with shifts (Golub and Van Loan, 8.3) ---------------------------------------------- */

/* sqrt(a a + b b); the C library's hypot() may differ in its last bit from one processor to another. */
static double length(double a, double b)
{
    double most = fmax(fabs(a), fabs(b)), least = fmin(fabs(a), fabs(b));
    return most > 0 ? most * sqrt(1 + (least / most) * (least / most)) : 0;
}

/* Two rows become c a + s b and c b - s a. */
static void rotate(double *a, double *b, double c, double s, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double x = a[i], y = b[i];
        a[i] = c * x + s * y;
        b[i] = c * y - s * x;
    }
}

/* One sweep from row `end` up to `first`. */
static void ql_sweep(double *d, double *e, double *z, size_t stride, size_t width, size_t first, size_t end)
{
    double g = (d[first + 1] - d[first]) / (2 * e[first]), s = 1, c = 1, p = 0;
    g = d[end] - d[first] + e[first] / (g + copysign(length(g, 1), g));
    for (size_t i = end; i-- > first;) {
        double f = s * e[i], b = c * e[i], r = length(f, g);
        e[i + 1] = r;
        if (r == 0) {
            d[i + 1] -= p;
            e[end] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        rotate(z + (i + 1) * stride, z + i * stride, c, s, width);
    }
    d[first] -= p;
    e[first] = g;
    e[end] = 0;
}

/* Beside its neighbours; or beside `floor`, where rounding of larger numbers keeps it from getting there. */
static int is_negligible(const double *d, const double *e, size_t i, double floor)
{
    return fabs(e[i]) <= DBL_EPSILON * (fabs(d[i]) + fabs(d[i + 1]) + floor) || fabs(e[i]) < DBL_MIN;
}

static double largest(const double *x, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
    return most;
}

static void turn_around(double *x, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        double other = x[count - 1 - i];
        x[count - 1 - i] = x[i];
        x[i] = other;
    }
}

/* QL keeps small values best where they come first: a matrix that begins with its large numbers is turned around. */
static int solve_small(divide *all, size_t first, size_t n)
{
    double *d = all->d + first, *e = all->e + first, *z = all->z + first * all->n + first;
    int turned = fabs(d[0]) > fabs(d[n - 1]);
    if (turned) {
        turn_around(d, n);
        turn_around(e, n - 1);
    }
    double size = largest(d, n) + largest(e, n - 1);
    for (size_t i = 0; i < n; i++) z[i * all->n + (turned ? n - 1 - i : i)] = 1;
    for (size_t i = 0; i < n; i++)
        for (int turns = 0;; turns++) {
            size_t end = i;
            double floor = turns < TURNS_MAX / 2 ? 0 : size;
            while (end + 1 < n && !is_negligible(d, e, end, floor)) end++;
            if (end == i) break;
            if (turns == TURNS_MAX)
                return broad__fail(BROAD_FAILED, "the eigendecomposition of a matrix did not converge");
            ql_sweep(d, e, z, all->n, n, i, end);
        }
    size_t *order = all->order + first;
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at > 0 && d[order[at - 1]] > d[i]; at--) order[at] = order[at - 1];
        order[at] = i;
    }
    return BROAD_OK;
}

/* ---- deflation -------------------------------------------------------------------------------------------------- */

/* Two rising lists of places as one. */
static void merge_lists(size_t *out, const double *d, const size_t *a, size_t a_count, const size_t *b, size_t b_count)
{
    for (size_t i = 0, j = 0; i < a_count || j < b_count;) {
        int from_a = j == b_count || (i < a_count && d[a[i]] <= d[b[j]]);
        *out++ = from_a ? a[i++] : b[j++];
    }
}

/* u is Q times the vector that connects the halves: the last column of T1's rows, the first of T2's. */
static void connect(merge *m, double beside)
{
    size_t stride = m->all->n;
    for (size_t i = 0; i < m->n; i++) {
        double number = m->z[i * stride + (i < m->top ? m->top - 1 : m->top)];
        m->u[i] = (i >= m->top && beside < 0 ? -number : number) * sqrt(0.5);
        m->all->parts[i] = i < m->top ? TOP : BOTTOM;
    }
    m->rho = 2 * fabs(beside);
}
/* Two values so near that a rotation may give all of u to the second. */
static int rotate_away(merge *m, size_t a, size_t b, double tolerance)
{
    double *d = m->d, size = length(m->u[a], m->u[b]), c = m->u[b] / size, s = -m->u[a] / size;
    size_t stride = m->all->n;
    if (!(fabs((d[b] - d[a]) * c * s) <= tolerance)) return 0;
    m->u[b] = size;
    rotate(m->z + a * stride, m->z + b * stride, c, s, m->n);
    double first = d[a] * c * c + d[b] * s * s;
    d[b] = d[a] * s * s + d[b] * c * c;
    d[a] = first;
    if (m->all->parts[a] != m->all->parts[b]) m->all->parts[b] = BOTH;
    return 1;
}

static void deflate(merge *m, const size_t *rising)
{
    double tolerance = 2 * DBL_EPSILON * fmax(largest(m->d, m->n), largest(m->u, m->n));
    size_t last = m->n;
    for (size_t i = 0; i < m->n; i++) {
        size_t at = rising[i];
        if (m->rho * fabs(m->u[at]) <= tolerance) {
            m->left[m->left_count++] = at;
            continue;
        }
        if (last < m->n && rotate_away(m, last, at, tolerance)) m->left[m->left_count++] = last;
        else if (last < m->n) m->kept[m->kept_count++] = last;
        last = at;
    }
    if (last < m->n) m->kept[m->kept_count++] = last;
}

static void sort_places(size_t *places, size_t count, const double *d)
{
    for (size_t i = 1; i < count; i++) {
        size_t at = i, place = places[i];
        for (; at > 0 && d[places[at - 1]] > d[place]; at--) places[at] = places[at - 1];
        places[at] = place;
    }
}

/* ---- roots and vectors ------------------------------------------------------------------------------------------- */

/* Values and z of those kept, and where they stand when sorted by part. */
static void gather_kept(merge *m, double *d, double *z)
{
    size_t next[PARTS], count = m->kept_count;
    memset(m->counts, 0, sizeof m->counts);
    for (size_t i = 0; i < count; i++) m->counts[m->all->parts[m->kept[i]]]++;
    next[TOP] = 0;
    next[BOTH] = m->counts[TOP];
    next[BOTTOM] = next[BOTH] + m->counts[BOTH];
    for (size_t i = 0; i < count; i++) {
        d[i] = m->d[m->kept[i]];
        z[i] = m->u[m->kept[i]];
        m->slot[i] = next[m->all->parts[m->kept[i]]]++;
    }
    m->secular = (broad__secular){d, z, count, m->rho};
}

static void find_roots(merge *m)
{
    const double *d = m->secular.d;
    size_t count = m->kept_count;
    for (size_t i = 0; i < count; i++) m->fresh[i] = 1;
    for (size_t j = 0; j < count && !broad__watch_look(ROOT_FLOPS * (double)count); j++) {
        broad__secular_root(&m->origin[j], &m->offset[j], m->gaps, &m->secular, j);
        for (size_t i = 0; i < j; i++) m->fresh[i] *= m->gaps[i] / (d[i] - d[j]);
        m->fresh[j] *= m->gaps[j];
        for (size_t i = j + 1; i < count; i++) m->fresh[i] *= m->gaps[i] / (d[i] - d[j]);
    }
    for (size_t i = 0; i < count; i++) m->fresh[i] = copysign(sqrt(fabs(m->fresh[i])), m->secular.z[i]);
}

/* Rows of Q in `copy`: the upper halves of those kept, their lower halves, the others whole. */
static void copy_rows(const merge *m)
{
    size_t stride = m->all->n, top = m->top, bottom = m->n - top, both = m->counts[TOP];
    double *upper = m->all->copy, *lower = upper + (both + m->counts[BOTH]) * top;
    double *whole = lower + (m->counts[BOTH] + m->counts[BOTTOM]) * bottom;
    for (size_t i = 0; i < m->kept_count; i++) {
        const double *row = m->z + m->kept[i] * stride;
        part where = m->all->parts[m->kept[i]];
        if (where != BOTTOM) memcpy(upper + m->slot[i] * top, row, top * sizeof(double));
        if (where != TOP) memcpy(lower + (m->slot[i] - both) * bottom, row + top, bottom * sizeof(double));
    }
    for (size_t i = 0; i < m->left_count; i++)
        memcpy(whole + i * m->n, m->z + m->left[i] * stride, m->n * sizeof(double));
}

/* Coordinates of new row j in the rows kept. */
static void coordinates(double *out, const merge *m, size_t j)
{
    double sum = 0;
    broad__secular_gaps(m->gaps, &m->secular, m->origin[j], m->offset[j]);
    for (size_t i = 0; i < m->kept_count; i++) {
        m->gaps[i] = m->fresh[i] / m->gaps[i];
        sum += m->gaps[i] * m->gaps[i];
    }
    double size = sqrt(sum);
    for (size_t i = 0; i < m->kept_count; i++) out[m->slot[i]] = m->gaps[i] / size;
}

static void make_rows(const merge *m)
{
    size_t stride = m->all->n, top = m->top, bottom = m->n - top, both = m->counts[TOP], count = m->kept_count;
    size_t above = both + m->counts[BOTH], below = count - both;
    const double *upper = m->all->copy, *lower = upper + above * top, *whole = lower + below * bottom;
    for (size_t first = 0, most = strip_rows(stride); first < count; first += most) {
        size_t rows = count - first < most ? count - first : most;
        double *strip = m->all->strip, *out = m->z + first * stride;
        for (size_t j = 0; j < rows; j++) {
            coordinates(strip + j * count, m, first + j);
            memset(out + j * stride, 0, m->n * sizeof(double));
        }
        broad__product(out, stride, 1, broad__as_is(strip, count), broad__as_is(upper, top), rows, top, above);
        broad__product(out + top, stride, 1, broad__as_is(strip + both, count), broad__as_is(lower, bottom), rows,
                       bottom, below);
    }
    for (size_t i = 0; i < m->left_count; i++)
        memcpy(m->z + (count + i) * stride, whole + i * m->n, m->n * sizeof(double));
}

/* Those kept first, the others after them; both rise. */
static void place_values(merge *m, size_t *order)
{
    size_t count = m->kept_count;
    double *values = m->gaps;
    for (size_t j = 0; j < count; j++) values[j] = m->secular.d[m->origin[j]] + m->offset[j];
    for (size_t i = 0; i < m->left_count; i++) values[count + i] = m->d[m->left[i]];
    memcpy(m->d, values, m->n * sizeof(double));
    for (size_t i = 0; i < m->n; i++) m->kept[i] = i;
    merge_lists(order, m->d, m->kept, count, m->kept + count, m->left_count);
}

static void merge_halves(divide *all, size_t first, size_t top, size_t n, double beside)
{
    size_t *places = all->places, *order = all->order + first, *rising = places + 3 * all->n;
    double *numbers = all->numbers;
    merge m = {.all = all, .first = first, .top = top, .n = n};
    m.d = all->d + first;
    m.z = all->z + first * all->n + first;
    m.u = numbers;
    m.fresh = numbers + all->n;
    m.gaps = numbers + 2 * all->n;
    m.offset = numbers + 3 * all->n;
    m.kept = places;
    m.left = places + all->n;
    m.slot = places + 2 * all->n;
    m.origin = rising; /* which is no longer needed then */
    connect(&m, beside);
    for (size_t i = top; i < n; i++) order[i] += top;
    merge_lists(rising, m.d, order, top, order + top, n - top);
    deflate(&m, rising);
    if (!m.kept_count) {
        sort_places(m.left, n, m.d);
        memcpy(order, m.left, n * sizeof *order);
        return;
    }
    sort_places(m.left, m.left_count, m.d);
    gather_kept(&m, numbers + 4 * all->n, numbers + 5 * all->n);
    copy_rows(&m);
    find_roots(&m);
    if (broad__watch_stopped()) return;
    make_rows(&m);
    place_values(&m, order);
}

static int solve(divide *all, size_t first, size_t n)
{
    if (n <= LEAF) return solve_small(all, first, n);
    size_t top = n / 2;
    double beside = all->e[first + top - 1];
    all->d[first + top - 1] -= fabs(beside);
    all->d[first + top] -= fabs(beside);
    int status = solve(all, first, top);
    if (status == BROAD_OK) status = solve(all, first + top, n - top);
    if (status == BROAD_OK) merge_halves(all, first, top, n, beside);
    return broad__watch_check(status);
}

int broad__divide(double *z, double *diagonal, double *beside, size_t *order, size_t n, double *scratch)
{
    divide all = {.z = z, .n = n, .d = diagonal, .e = beside, .order = order, .copy = scratch};
    memset(z, 0, n * n * sizeof(double));
    all.strip = all.copy + n * n;
    all.numbers = all.strip + strip_rows(n) * n;
    all.places = broad__alloc_array(n, 4 * sizeof *all.places);
    all.parts = broad__alloc_array(n, sizeof *all.parts);
    int status = all.places && all.parts ? solve(&all, 0, n) : BROAD_NO_MEMORY;
    broad__free(all.places);
    broad__free(all.parts);
    return status;
}
