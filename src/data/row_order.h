/*
 * Rows in an order that follows from what they hold, not from where they lie: a table and the same rows in another order
 * have the same first rows, and so on. It is the order of a hash of inputs and target (a class by its label): as good as
 * random, which takes the place of a draw. Of rows that hold the same the lighter one is first.
 */
#ifndef BROAD_DATA_ROW_ORDER_H
#define BROAD_DATA_ROW_ORDER_H

#include <stdint.h>

#include "data/table.h"

/* That hash, of one row and of `rows` rows from `first` on. */
uint64_t broad__row_hash(const broad_data *table, size_t row);
uint64_t broad__inputs_check(const broad_data *table, size_t row); /* of the inputs alone */
int broad__row_hashes(uint64_t *out, const broad_data *table, size_t first, size_t rows);

/* The same, but different for rows that hold the same: which of them has which does not matter. before: rows that came
 * earlier, from which these are told apart too. */
int broad__row_marks(uint64_t *out, const broad_data *table, size_t first, size_t rows, size_t before);

/* The first `count` of `rows` rows from `first` on, by their numbers from there. count: at most rows. */
int broad__row_order(size_t *out, size_t count, const broad_data *table, size_t first, size_t rows);

#endif
