/* Memory of rows that have been used; separate from table.h, so that a program that only predicts needs no readers. */
#ifndef BROAD_DATA_TABLE_DONE_H
#define BROAD_DATA_TABLE_DONE_H

#include "broad/broad.h"

/* Rows [first, first + count) are not needed for a while: broad__spill_done() for all arrays. */
void broad__table_done(const broad_data *table, size_t first, size_t count);

#endif
