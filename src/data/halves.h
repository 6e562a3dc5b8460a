/*
 * A table cut into two halves that know nothing of each other: rows of one group, or without groups rows with equal inputs
 * (data/twins.h), are in the same half. Which unit is in which is drawn, in pairs as they come, so that both have as many
 * and rows that are sorted are spread evenly. The result depends on the rows and the seed alone.
 */
#ifndef BROAD_DATA_HALVES_H
#define BROAD_DATA_HALVES_H

#include "data/table.h"

/* Both are new tables. Either may be NULL afterwards, if there are too few units; broad__table_free() accepts that.
 * out_half: the half that each row is in, rows; NULL: not wanted. */
int broad__halves_make(broad_data *out[2], unsigned char *out_half, const broad_data *table, uint64_t seed);

#endif
