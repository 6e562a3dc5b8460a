#include "data/transform/likeness.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/status.h"

enum { PARTS = 5, GROUPS_MIN = 10 };
static const double NOISE = 0.03, MIDDLE = 0.8, STEPS = 3, MARGIN = 3;
static const double NOTHING = 1e-10; /* of a component, as a part of the first one's */

double broad__likeness_explained(const double *values, size_t rows, size_t c)
{
    double total = 0, value = values[rows - 1 - c];
    for (size_t i = 0; i < rows; i++) total += values[i];
    return value / (value + NOISE * total / (double)rows);
}

/* One part left out of the fit. */
typedef struct leaving {
    size_t rows; /* fitted to */
    size_t *of;  /* their numbers */
    double *k;   /* rows x rows, then the eigenvectors as rows */
    double *values;
    double *row;       /* of K between a row that was left out and those */
    double *explained; /* broad__likeness_explained() of each component */
} leaving;

static void leaving_clear(leaving *l)
{
    broad__free(l->of);
    broad__free(l->k);
    broad__free(l->values);
    broad__free(l->row);
    broad__free(l->explained);
}

static int leaving_alloc(leaving *out, size_t rows)
{
    *out = (leaving){.of = broad__alloc_array(rows, sizeof *out->of),
                     .k = broad__alloc_doubles(rows, rows),
                     .values = broad__alloc_doubles(rows, 1),
                     .row = broad__alloc_doubles(rows, 1),
                     .explained = broad__alloc_doubles(rows, 1)};
    return out->of && out->k && out->values && out->row && out->explained ? BROAD_OK : BROAD_NO_MEMORY;
}

/* The groups take turns, in the order in which they appear. Returns how many there are. */
static size_t deal(size_t *parts, const size_t *groups, size_t rows)
{
    size_t count = 0;
    for (size_t i = 0; i < rows; i++) {
        size_t first = 0;
        while (groups[first] != groups[i]) first++;
        parts[i] = first < i ? parts[first] : count++ % PARTS;
    }
    return count;
}

static int leave_out(leaving *l, const double *k, const size_t *parts, size_t rows, size_t part, size_t components,
                     const broad__device *device)
{
    l->rows = 0;
    for (size_t i = 0; i < rows; i++)
        if (parts[i] != part) l->of[l->rows++] = i;
    for (size_t i = 0; i < l->rows; i++)
        for (size_t j = 0; j < l->rows; j++) l->k[i * l->rows + j] = k[l->of[i] * rows + l->of[j]];
    int status = device->eigen(l->k, l->values, l->rows);
    for (size_t c = 0; status == BROAD_OK && c < components && c < l->rows; c++)
        l->explained[c] = broad__likeness_explained(l->values, l->rows, c);
    return status;
}

/* v of a row that was left out. */
static double unexplained(const leaving *l, const double *k, size_t rows, size_t row, size_t components)
{
    double left = k[row * rows + row], first = l->values[l->rows - 1];
    for (size_t i = 0; i < l->rows; i++) l->row[i] = k[row * rows + l->of[i]];
    for (size_t c = 0; c < components && c < l->rows; c++) {
        const double *vector = l->k + (l->rows - 1 - c) * l->rows;
        double value = l->values[l->rows - 1 - c], product = 0;
        if (!(value > NOTHING * first)) break;
        for (size_t i = 0; i < l->rows; i++) product += vector[i] * l->row[i];
        left -= product * product / value * l->explained[c];
    }
    return left > 0 ? left : 0;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double limit_of(double *v, size_t count)
{
    qsort(v, count, sizeof *v, compare_numbers);
    double median = v[count / 2], most = v[(size_t)(MIDDLE * (double)(count - 1))];
    if (!(median > 0)) return 0;
    return median * pow(most / median, STEPS) * (1 + MARGIN / sqrt((double)count));
}

int broad__likeness_limit(double *out, const double *k, const size_t *groups, size_t rows, size_t components,
                          const broad__device *device)
{
    leaving l = {0};
    size_t *parts = broad__alloc_array(rows, sizeof *parts);
    double *v = broad__alloc_doubles(rows, 1);
    int status = parts && v ? leaving_alloc(&l, rows) : BROAD_NO_MEMORY;
    *out = 0;
    if (status < 0 || deal(parts, groups, rows) < GROUPS_MIN) goto cleanup;
    for (size_t part = 0; status == BROAD_OK && part < PARTS; part++) {
        status = leave_out(&l, k, parts, rows, part, components + 1, device);
        for (size_t i = 0; status == BROAD_OK && i < rows; i++)
            if (parts[i] == part) v[i] = unexplained(&l, k, rows, i, components * l.rows / rows + 1);
    }
    if (status == BROAD_OK) *out = limit_of(v, rows);

cleanup:
    leaving_clear(&l);
    broad__free(parts);
    broad__free(v);
    return status;
}
