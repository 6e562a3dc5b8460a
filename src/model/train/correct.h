/* Corrections: a few new rows that a network shall judge correctly, with as little weight as that takes. */
#ifndef BROAD_MODEL_TRAIN_CORRECT_H
#define BROAD_MODEL_TRAIN_CORRECT_H

#include "model/train/trainer.h"

/* Whether another weight of the rows costs no more than another solution: classes, and joint weights that are solved
 * again as a whole. */
int broad__model_can_correct(const broad_model *model);

/* As broad_trainer_correct() in broad.h; `weights` has room for the rows, or is NULL. */
int broad__trainer_correct(broad_correction *out, double *weights, broad_trainer *trainer, const broad_data *rows);

#endif
