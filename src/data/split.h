/* Cutting a table into a training part and a held-out part; reproducible from (table, fraction, seed). */
#ifndef BROAD_DATA_SPLIT_H
#define BROAD_DATA_SPLIT_H

#include "data/table.h"

int broad__split(broad_data **out_train, broad_data **out_test, const broad_data *table, double holdout, uint64_t seed);

/* ---- what every way of cutting shares ---- */

/* The numbers 0 ... count - 1 in an order that depends on count and seed alone. NULL: out of memory. */
size_t *broad__shuffled(size_t count, uint64_t seed);

/* The groups that have rows, in such an order. */
typedef struct broad__group_order {
    size_t count, *order;
    size_t numbers, *sizes; /* rows of each group number, those without rows included */
} broad__group_order;

int broad__groups_shuffled(broad__group_order *out, const broad_data *table, uint64_t seed);
void broad__group_order_clear(broad__group_order *groups);

/* What can be done if there are too few groups, to be appended to a message; "" unless they are near-duplicates. */
const char *broad__group_remedy(const broad_data *table);

/* The rows where `apart` is 0 and those where it is 1, each in the old order; augmented copies of photos, which are only
 * for training, are left out of the latter. Neither remembers a split. */
int broad__cut(broad_data **out_train, broad_data **out_test, const broad_data *table, const unsigned char *apart);

#endif
