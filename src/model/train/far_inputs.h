/* The inputs of training rows on a device of its own, and Z made from them there (layer/far_rows.h). */
#ifndef BROAD_MODEL_TRAIN_FAR_INPUTS_H
#define BROAD_MODEL_TRAIN_FAR_INPUTS_H

#include "model/train/rowset.h"

/* To be called whenever the rows or the feature groups are others. Nothing happens where Z is no product of the inputs. */
void broad__far_inputs_offer(broad__rowset *rowset);

#endif
