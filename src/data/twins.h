/* Rows of a table with equal inputs. */
#ifndef BROAD_DATA_TWINS_H
#define BROAD_DATA_TWINS_H

#include "data/table.h"

/* Of `count` rows from `first` on: (*out)[i] is the number, from 0, of the first row with the inputs of row i. *out is NULL
 * where all rows differ, and where fewer than half of them do: such a table has few different rows by its nature, and what
 * is to be learned of each is what its equals say. To be freed. */
int broad__twins_find(size_t **out, const broad_data *table, size_t first, size_t count);

#endif
