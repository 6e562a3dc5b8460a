/*
 * How much each column of a table matters to predictions: by how much they become worse where its values are shuffled among
 * rows that were not fitted.
 *
 * Two small networks, each fitted to one half of some of the rows, predict the other half, as it is and with one column
 * shuffled. The error is 1 - R2, of classes that of their scores; a column of noise then has about 0, which on fitted
 * rows it would not. A column of categories is shuffled as a whole.
 */
#ifndef BROAD_MODEL_TRAIN_IMPORTANCE_H
#define BROAD_MODEL_TRAIN_IMPORTANCE_H

#include "data/table.h"
#include "model/model.h"

/* Replaces what the model has. Where nothing can be found out (photos, one column, very many, few rows, halves that
 * cannot be made), it has none afterwards. */
int broad__importance_find(broad_model *model, const broad_data *data, size_t threads);

/* The name of a column: of its input, or of its category. */
const char *broad__importance_column(const broad_model *model, size_t column);

#endif
