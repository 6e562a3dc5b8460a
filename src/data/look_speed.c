#include "data/look_speed.h"

#include <math.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/status.h"
#include "data/copies.h"
#include "data/table.h"
#include "data/transform/column_sums.h"

/* The best of some turns: what disturbs can only make one slower. */
enum { ROWS = 1 << 20, COLUMNS = 4, TURNS = 3 };

static double bytes_of_rows(void) { return (double)ROWS * COLUMNS * sizeof(double); }

static int hash_seconds(double *out, const broad_data *table)
{
    char text[BROAD__HASH_TEXT];
    int status = BROAD_OK;
    *out = INFINITY;
    for (int i = 0; status == BROAD_OK && i < TURNS; i++) {
        double began = broad__thread_seconds();
        status = broad__table_fingerprint(text, table, 0, ROWS);
        *out = fmin(*out, broad__thread_seconds() - began);
    }
    return status;
}

static double sums_seconds(const double *x)
{
    double best = INFINITY;
    broad__column_sums sums[COLUMNS];
    broad__column_rows rows = {x, ROWS, COLUMNS, NULL, NULL};
    for (int i = 0; i < TURNS; i++) {
        double began = broad__thread_seconds();
        broad__column_sums_part(sums, &rows, 1, 0, COLUMNS);
        best = fmin(best, broad__thread_seconds() - began);
    }
    return best / 2; /* sums and squares are a pass each */
}

/* Once: memory that is used for the first time is part of it. */
static int search_seconds(double *out, broad_data *table)
{
    broad__copies copies;
    double began = broad__thread_seconds();
    int status = broad__copies_group(&copies, table);
    *out = broad__thread_seconds() - began;
    return status;
}

int broad__look_speed(double *out_hash, double *out_sums, double *out_search)
{
    broad_data *table = NULL;
    double search = 0, hash = 0;
    int status = broad__table_new(&table, ROWS, COLUMNS);
    if (status < 0) return status;
    for (size_t i = 0; i < ROWS * COLUMNS; i++) table->x[i] = (double)i;
    status = search_seconds(&search, table);
    if (status == BROAD_OK) status = hash_seconds(&hash, table);
    if (status == BROAD_OK) {
        *out_hash = 1e-9 * bytes_of_rows() / hash;
        *out_sums = 1e-9 * bytes_of_rows() / sums_seconds(table->x);
        *out_search = 1e-6 * ROWS / search;
    }
    broad__table_free(table);
    return status;
}
