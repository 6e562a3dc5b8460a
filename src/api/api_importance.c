/* Entry points of broad.h: the importance of columns. */
#include <math.h>

#include "api/api_check.h"
#include "base/status.h"
#include "model/model.h"
#include "model/train/importance.h"

/* When a column is suspicious: what the others add to it, as a part of its own importance, and what is explained. */
static const double LITTLE = 0.03, NEARLY_ALL = 0.98;

int broad_model_find_importance(broad_model *model, const broad_data *training, const broad_run_options *run)
{
    if (!model || !training) return broad__missing_argument("broad_model_find_importance");
    if (training->inputs != model->inputs || training->outputs != model->outputs || training->task != model->task)
        return broad__fail(BROAD_BAD_DATA, "broad_model_find_importance: the rows are not those of the model");
    broad__call call;
    int status = broad__call_begin(&call, "importance", run);
    if (status < 0) return status;
    status = broad__table_meet(training);
    if (status == BROAD_OK) status = broad__importance_find(model, training, call.run.threads);
    return broad__call_end(&call, status);
}

size_t broad_model_importance_count(const broad_model *model) { return model ? model->importance_columns : 0; }

int broad_model_importance(broad_importance *out, const broad_model *model, size_t column)
{
    if (!out || !model) return broad__missing_argument("broad_model_importance");
    int status = broad__struct_check(out, sizeof *out, "broad_importance");
    if (status < 0) return status;
    if (column >= model->importance_columns)
        return broad__fail(BROAD_USAGE, "broad_model_importance: column %zu is out of range (%zu are known)", column,
                           model->importance_columns);
    const broad_importance full = {.column = broad__importance_column(model, column),
                                   .value = model->importance[2 * column],
                                   .spread = model->importance[2 * column + 1]};
    broad__result_give(out, &full, sizeof full);
    return BROAD_OK;
}

size_t broad_model_suspect(const broad_model *model)
{
    size_t count = broad_model_importance_count(model), top = 0;
    double others = 0;
    for (size_t c = 1; c < count; c++)
        if (model->importance[2 * c] > model->importance[2 * top]) top = c;
    for (size_t c = 0; c < count; c++)
        if (c != top) others += fmax(model->importance[2 * c], 0);
    if (!count || model->importance[2 * count] < NEARLY_ALL || model->importance[2 * top] <= 0) return count;
    return others <= LITTLE * model->importance[2 * top] ? top : count;
}
