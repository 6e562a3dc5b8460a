/* Which class of a model means "nothing wrong", and which one its rates refer to. */
#ifndef BROAD_MODEL_NORMAL_H
#define BROAD_MODEL_NORMAL_H

#include "data/table.h"
#include "model/model.h"

/* As the options say, else as the names and the rows do. Of two classes the positive one is the one that is not normal. */
int broad__model_find_classes(broad_model *model, const broad_data *data, const broad_options *options);
/* Of a model whose file does not say: by the names, else the class that is not positive. */
void broad__model_guess_normal(broad_model *model);
/* Of two classes the other one becomes the positive one. */
int broad__model_set_normal(broad_model *model, const char *label);

#endif
