/* Entry points of broad.h: folds of a table. */
#include "base/status.h"
#include "data/folds.h"

void broad_folds_init(broad_folds *out) { *out = (broad_folds){.size = sizeof *out, .count = 5}; }

int broad_data_fold(broad_data **out_train, broad_data **out_test, const broad_data *data, const broad_folds *folds)
{
    if (!out_train || !out_test || !data || !folds)
        return broad__fail(BROAD_USAGE, "broad_data_fold needs places for both parts, a table and which fold");
    *out_train = *out_test = NULL;
    if (folds->size != sizeof *folds)
        return broad__fail(BROAD_USAGE,
                           "broad_folds has the size %zu and not %zu: fill it with broad_folds_init() first",
                           folds->size, sizeof *folds);
    return broad__fold(out_train, out_test, data, folds->count, folds->index, folds->seed);
}
