/* Cutting a table into folds for cross-validation; reproducible from (table, number of folds, seed). */
#ifndef BROAD_DATA_FOLDS_H
#define BROAD_DATA_FOLDS_H

#include "data/table.h"

/* out[i] is the fold of row i, 0 ... count - 1; one per row of the table. No fold is empty. */
int broad__folds(size_t *out, const broad_data *table, size_t count, uint64_t seed);

/* The rows of all other folds, and those of fold `index`. */
int broad__fold(broad_data **out_train, broad_data **out_test, const broad_data *table, size_t count, size_t index,
                uint64_t seed);

#endif
