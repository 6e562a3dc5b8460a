#include "layer/leave_out_sets.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/smallest.h"
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

/* sizes: used up; order: of the rows, NULL: as they lie. */
static int fill_sets(broad__leave_out_sets *out, const size_t *number, size_t *sizes, size_t groups,
                     const size_t *group, size_t rows, const broad__keyed_row *order)
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
    for (size_t i = 0; i < rows; i++) {
        size_t row = order ? order[i].row : i;
        out->rows[sizes[number[group[row]] - 1]++] = row;
    }
    return BROAD_OK;
}

/* ---- by key ------------------------------------------------------------------------------------------------------ */

static int compare_numbers(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static broad__keyed_row *rows_by_key(const uint64_t *key, size_t rows)
{
    broad__keyed_row *order = broad__alloc_array(rows, sizeof *order);
    for (size_t i = 0; order && i < rows; i++) order[i] = (broad__keyed_row){key[i], 0, i};
    if (order) broad__keyed_rows_sort(order, rows);
    return order;
}

/* The rows of each set rising, and the sets by the sums of their keys. */
static int order_sets(broad__leave_out_sets *sets, const uint64_t *key, size_t rows)
{
    size_t count = sets->count, *first = broad__alloc_array(count + 1, sizeof *first);
    size_t *ordered = broad__alloc_array(rows, sizeof *ordered);
    broad__keyed_row *order = broad__alloc_array(count, sizeof *order);
    int status = first && ordered && order ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t s = 0; status == BROAD_OK && s < count; s++) {
        order[s] = (broad__keyed_row){0, 0, s};
        for (size_t i = sets->first[s]; i < sets->first[s + 1]; i++) order[s].key += key[sets->rows[i]];
    }
    if (status == BROAD_OK) broad__keyed_rows_sort(order, count);
    for (size_t s = 0; status == BROAD_OK && s < count; s++) {
        size_t from = sets->first[order[s].row], size = sets->first[order[s].row + 1] - from;
        memcpy(ordered + first[s], sets->rows + from, size * sizeof *ordered);
        qsort(ordered + first[s], size, sizeof *ordered, compare_numbers);
        first[s + 1] = first[s] + size;
    }
    broad__free(order);
    broad__free(status == BROAD_OK ? sets->first : first);
    broad__free(status == BROAD_OK ? sets->rows : ordered);
    if (status == BROAD_OK) *sets = (broad__leave_out_sets){count, first, ordered, 1};
    return status;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

int broad__leave_out_sets_make(broad__leave_out_sets *out, const size_t *group, const uint64_t *key, size_t rows)
{
    *out = (broad__leave_out_sets){0};
    if (!group || rows == 0) return BROAD_OK;
    broad__leave_out_sets sets = {0};
    size_t max = 0;
    for (size_t i = 0; i < rows; i++) max = group[i] > max ? group[i] : max;
    size_t *number = broad__alloc_array(max + 1, sizeof *number), *sizes = broad__alloc_array(rows, sizeof *sizes);
    int status = number && sizes ? BROAD_OK : BROAD_NO_MEMORY;
    size_t groups = status == BROAD_OK ? count_groups(sizes, number, group, rows) : 0;
    broad__keyed_row *order = NULL;
    if (status == BROAD_OK && groups > 1 && groups < rows) {
        order = key ? rows_by_key(key, rows) : NULL;
        if (key && !order) status = BROAD_NO_MEMORY;
        if (status == BROAD_OK) status = fill_sets(&sets, number, sizes, groups, group, rows, order);
        if (status == BROAD_OK && key) status = order_sets(&sets, key, rows);
    }
    broad__free(order);
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
    if (n == 1 && matrix[0] > 0) { /* as most sets are where some rows are copies */
        pivots[0] = matrix[0];
        for (size_t i = 0; i < outputs; i++) residual[i] /= matrix[0];
        return;
    }
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
