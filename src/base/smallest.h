/* The rows with the smallest keys of all that are shown, in rising order. Of equal keys the lighter row is first, then the
 * one with the lower number. */
#ifndef BROAD_BASE_SMALLEST_H
#define BROAD_BASE_SMALLEST_H

#include <stddef.h>
#include <stdint.h>

typedef struct broad__keyed_row {
    uint64_t key;
    double weight;
    size_t row;
} broad__keyed_row;

void broad__keyed_rows_sort(broad__keyed_row *rows, size_t count);

typedef struct broad__smallest {
    broad__keyed_row *kept; /* the smallest so far, and as many that may be among them */
    size_t count, there;
    uint64_t limit; /* a larger key is not among them */
} broad__smallest;

int broad__smallest_open(broad__smallest *out, size_t count);
void broad__smallest_show(broad__smallest *smallest, uint64_t key, double weight, size_t row);
/* out: `count` rows, of which at least as many were shown; or NULL. Frees what it holds. */
void broad__smallest_close(size_t *out, broad__smallest *smallest);

#endif
