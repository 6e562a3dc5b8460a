/* Cutting a table into a training part and a part kept apart; reproducible from (table, fraction, seed). */
#ifndef BROAD_DATA_SPLIT_H
#define BROAD_DATA_SPLIT_H

#include "data/table.h"

int broad__split(broad_data **out_train, broad_data **out_test, const broad_data *table, double holdout, uint64_t seed);

#endif
