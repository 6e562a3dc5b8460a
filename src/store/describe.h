/* A model without its tensors as JSON text, and back. */
#ifndef BROAD_STORE_DESCRIBE_H
#define BROAD_STORE_DESCRIBE_H

#include "model/model.h"

int broad__describe(char **out, const broad_model *model); /* freed with broad__free() */

/* Fills in everything but the tensors of a new model; types and ranges hold afterwards. *out_class_weights: whether there
 * is a tensor of them. */
int broad__describe_read(broad_model *out, int *out_class_weights, const char *text);

#endif
