/* What the data tells a new model (names, scales, fingerprints), and what a trained one requires of data. */
#ifndef BROAD_MODEL_TRAIN_DESCRIBE_DATA_H
#define BROAD_MODEL_TRAIN_DESCRIBE_DATA_H

#include "compute/pool.h"
#include "data/table.h"
#include "model/model.h"

/* pool: NULL: all is done on this thread. */
int broad__model_describe(broad_model *model, const broad_data *data, broad__pool *pool);
/* BROAD_BAD_DATA with the reason where these rows cannot be rows of the model's: other inputs, other targets, missing
 * values. */
int broad__model_fits(const broad_model *model, const broad_data *data);
/* `count` rows from `first` on; all rows of a table are refused where the model has them already. */
int broad__model_add_segment(broad_model *model, const broad_data *data, size_t first, size_t count, double weight);
/* BROAD_BAD_DATA with what differs unless the rows are those of the model's segments. */
int broad__model_check_rows(const broad_model *model, const broad_data *data);
/* Y of some rows in the network's units, count x outputs. */
void broad__model_targets(double *out, const broad_model *model, const broad_data *data, size_t first, size_t count);

#endif
