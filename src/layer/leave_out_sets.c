#include "layer/leave_out_sets.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

void broad__leave_out_sets_clear(broad__leave_out_sets *sets)
{
    broad__free(sets->first);
    broad__free(sets->rows);
    *sets = (broad__leave_out_sets){0};
}

/* Numbers the groups as they appear: sizes[0] is that of the first one. Returns how many there are. number: zeroed, one
 * for each number that a group may have; gets 1 + the number of the group. */
static size_t count_groups(size_t *sizes, size_t *number, const size_t *group, size_t rows)
{
    size_t count = 0;
    for (size_t i = 0; i < rows; i++) {
        if (!number[group[i]]) number[group[i]] = ++count;
        sizes[number[group[i]] - 1]++;
    }
    return count;
}

static size_t parts_of(size_t size) { return (size + BROAD__SET_ROWS - 1) / BROAD__SET_ROWS; }

/* sizes: used up. */
static int fill_sets(broad__leave_out_sets *out, const size_t *number, size_t *sizes, size_t groups,
                     const size_t *group, size_t rows)
{
    size_t count = 0, at = 0, part = 0;
    for (size_t g = 0; g < groups; g++) count += parts_of(sizes[g]);
    out->first = broad__alloc_array(count + 1, sizeof *out->first);
    out->rows = broad__alloc_array(rows, sizeof *out->rows);
    if (!out->first || !out->rows) return BROAD_NO_MEMORY;
    out->count = count;
    for (size_t g = 0; g < groups; g++) {
        size_t size = sizes[g], parts = parts_of(size);
        for (size_t k = 0; k < parts; k++) out->first[part++] = at + k * size / parts;
        sizes[g] = at; /* where its next row goes */
        at += size;
    }
    out->first[part] = at;
    for (size_t i = 0; i < rows; i++) out->rows[sizes[number[group[i]] - 1]++] = i;
    return BROAD_OK;
}

int broad__leave_out_sets_make(broad__leave_out_sets *out, const size_t *group, size_t rows)
{
    *out = (broad__leave_out_sets){0};
    if (!group || rows == 0) return BROAD_OK;
    broad__leave_out_sets sets = {0};
    size_t max = 0;
    for (size_t i = 0; i < rows; i++) max = group[i] > max ? group[i] : max;
    size_t *number = broad__alloc_array(max + 1, sizeof *number), *sizes = broad__alloc_array(rows, sizeof *sizes);
    int status = number && sizes ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        size_t groups = count_groups(sizes, number, group, rows);
        if (groups > 1 && groups < rows) status = fill_sets(&sets, number, sizes, groups, group, rows);
    }
    broad__free(number);
    broad__free(sizes);
    if (status == BROAD_OK) *out = sets;
    else broad__leave_out_sets_clear(&sets);
    return status;
}

void broad__leave_out_sets_apply(double *residual, double *pivots, double *scratch, const double *matrix, size_t n,
                                 size_t outputs, const broad__device *device)
{
    enum { TRIES = 16 };
    double largest = 0, lift = 0;
    size_t broken = 1;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, matrix[i * n + i]);
    for (int i = 0; broken && i < TRIES; i++) {
        memcpy(scratch, matrix, n * n * sizeof(double));
        for (size_t k = 0; k < n; k++) scratch[k * n + k] += lift;
        broken = device->factor(scratch, n);
        lift = lift > 0 ? lift * 16 : (largest > 0 ? largest : 1) * DBL_EPSILON;
    }
    for (size_t i = 0; i < n; i++) pivots[i] = broken ? 0 : scratch[i * n + i] * scratch[i * n + i];
    if (!broken) device->solve(residual, outputs, scratch, n);
    for (size_t i = 0; broken && i < n * outputs; i++) residual[i] = NAN;
}
