/* Entry points of broad.h: folds of a table. */
#include "api/api_check.h"
#include "data/folds.h"

void broad_folds_init_sized(broad_folds *out, size_t size)
{
    broad_folds full = {.size = sizeof full, .count = 5};
    if (out) broad__options_give(out, size, &full, sizeof full);
}

int broad_data_fold(broad_data **out_train, broad_data **out_test, const broad_data *data, const broad_folds *folds)
{
    if (!out_train || !out_test || !data || !folds) return broad__missing_argument("broad_data_fold");
    *out_train = *out_test = NULL;
    broad_folds how;
    broad_folds_init(&how);
    int status = broad__options_take(&how, sizeof how, folds, "broad_folds");
    return status < 0 ? status : broad__fold(out_train, out_test, data, how.count, how.index, how.seed);
}
