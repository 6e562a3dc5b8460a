/* A model as it was read: do its parts fit together? */
#ifndef BROAD_STORE_MODEL_CHECK_H
#define BROAD_STORE_MODEL_CHECK_H

#include "model/model.h"

/* What must hold between the fields: counts, names, widths, groups, rows. BROAD_BAD_MODEL with the reason. */
int broad__describe_check(const broad_model *model);
/* The same for what goes with its kind; types and ranges must hold already. */
int broad__describe_check_kind(const broad_model *model, int class_weights);

#endif
