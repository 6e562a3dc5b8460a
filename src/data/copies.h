/* Rows of a table that are copies of one another. */
#ifndef BROAD_DATA_COPIES_H
#define BROAD_DATA_COPIES_H

#include <stdint.h>

#include "data/table.h"

#define BROAD__COPIES "identical rows" /* the name of their groups */

typedef struct broad__copies {
    size_t rows;    /* that equal an earlier one, target included */
    size_t groups;  /* of two rows or more */
    size_t opposed; /* rows whose inputs are those of an earlier one, with another target; 0 if chance makes as many */
    int by_chance;  /* as many are to be expected of columns with so few different values */
} broad__copies;

/* Finds them. Unless there are none, or only as many as chance would make, equal rows become a group of the table, which must
 * have none. */
int broad__copies_group(broad__copies *out, broad_data *table);

/* Whether two rows have the same inputs, missing ones included; and a hash of a row's, the same for equal ones. */
int broad__inputs_same(const broad_data *table, size_t a, size_t b);
uint64_t broad__inputs_hash(const broad_data *table, size_t row);

/* Whether the groups of the table are copies of rows, each of one class. */
int broad__groups_are_copies(const broad_data *table);

#endif
