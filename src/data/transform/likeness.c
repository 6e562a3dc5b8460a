#include "data/transform/likeness.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/status.h"

enum { PARTS = BROAD__LIKENESS_PARTS, GROUPS_MIN = 10 };
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

static int leave_out(leaving *l, const broad__likeness *from, size_t part, size_t components)
{
    const double *k = from->k;
    l->rows = 0;
    for (size_t i = 0; i < from->rows; i++)
        if (from->parts[i] != part) l->of[l->rows++] = i;
    for (size_t i = 0; i < l->rows; i++)
        for (size_t j = 0; j < l->rows; j++) l->k[i * l->rows + j] = k[l->of[i] * from->rows + l->of[j]];
    int status = from->device->eigen(l->k, l->values, l->rows);
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

int broad__likeness_open(broad__likeness *out, const double *k, const size_t *groups, size_t rows, size_t components,
                         const broad__device *device)
{
    *out = (broad__likeness){.k = k, .rows = rows, .components = components, .device = device};
    out->parts = broad__alloc_array(rows, sizeof *out->parts);
    out->v = broad__alloc_doubles(rows, 1);
    if (!out->parts || !out->v) return BROAD_NO_MEMORY;
    out->groups = deal(out->parts, groups, rows);
    return BROAD_OK;
}

void broad__likeness_leave(broad__likeness *l, size_t part)
{
    leaving left = {0};
    if (l->groups < GROUPS_MIN) return;
    int status = leaving_alloc(&left, l->rows);
    if (status == BROAD_OK) status = leave_out(&left, l, part, l->components + 1);
    for (size_t i = 0; status == BROAD_OK && i < l->rows; i++)
        if (l->parts[i] == part)
            l->v[i] = unexplained(&left, l->k, l->rows, i, l->components * left.rows / l->rows + 1);
    l->status[part] = status;
    leaving_clear(&left);
}

int broad__likeness_limit(double *out, broad__likeness *l)
{
    *out = 0;
    for (size_t part = 0; part < PARTS; part++)
        if (l->status[part] == BROAD_NO_MEMORY) return broad__fail_memory(l->rows * l->rows * sizeof(double));
        else if (l->status[part] < 0)
            return broad__fail(l->status[part], "how alike the photos are cannot be computed");
    if (l->groups >= GROUPS_MIN) *out = limit_of(l->v, l->rows);
    return BROAD_OK;
}

void broad__likeness_close(broad__likeness *l)
{
    broad__free(l->parts);
    broad__free(l->v);
    *l = (broad__likeness){0};
}
