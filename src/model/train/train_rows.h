/* Learning from further rows: algorithm 4 of the paper. */
#ifndef BROAD_MODEL_TRAIN_TRAIN_ROWS_H
#define BROAD_MODEL_TRAIN_TRAIN_ROWS_H

#include "model/train/trainer.h"

/* weights: one per new row, and lambda of joint weights stays unless nodes are added; NULL: all 1, and lambda is chosen
 * anew. forgetful: the new layers are fitted to the new rows alone. */
int broad__trainer_learn(broad_trainer *trainer, const broad_data *rows, const double *weights, size_t nodes,
                         size_t layers, int forgetful);

#endif
