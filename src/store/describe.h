/* A model without its tensors as JSON text, and back. */
#ifndef BROAD_STORE_DESCRIBE_H
#define BROAD_STORE_DESCRIBE_H

#include "model/model.h"

int broad__describe(char **out, const broad_model *model); /* freed with broad__free() */

/* Fills in everything but the tensors of a new model; types and ranges hold afterwards. *out_seed_map: the map from seed
 * to weights that the writer used. */
int broad__describe_read(broad_model *out, size_t *out_seed_map, const char *text);

/* What must hold between the fields: counts, names, widths, groups, rows. BROAD_BAD_MODEL with the reason. */
int broad__describe_check(const broad_model *model);

#endif
