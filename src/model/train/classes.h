/* The classes of a model: how much a row of each counts, and further ones. */
#ifndef BROAD_MODEL_TRAIN_CLASSES_H
#define BROAD_MODEL_TRAIN_CLASSES_H

#include "data/table.h"
#include "model/model.h"

/* text: "balanced", or pairs such as "a:1,b:3"; NULL: every class counts alike. */
int broad__model_class_weights(broad_model *model, const broad_data *data, const char *text);
/* Further classes, those of `data` after the model's own; earlier layers have zero weights for them. */
int broad__model_add_classes(broad_model *model, const broad_data *data);

#endif
