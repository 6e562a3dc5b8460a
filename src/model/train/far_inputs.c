#include "model/train/far_inputs.h"

#include "base/common.h"
#include "compute/pool.h"
#include "compute/shards.h"
#include "model/train/zsource.h"

static int ready(void *context)
{
    broad__rowset *rowset = context;
    int status = rowset->far ? BROAD_OK : broad__z_source_open(&rowset->far, rowset);
    return status == BROAD_OK ? broad__z_source_groups(rowset->far, rowset->model, rowset->groups) : status;
}

typedef struct filling {
    const broad__rowset *rowset;
    double *to;
    size_t first, n;
} filling;

/* n rows of one part, from its row `first` on. */
static void scale_rows(double *to, const broad__rowset *rowset, const broad__part *part, size_t first, size_t n)
{
    const broad__scaling *scaling = &rowset->far->runs[0].phi.scaling;
    const double *x = part->data->x + (part->first + first) * scaling->inputs;
    broad__scaling_apply(to, scaling, x, n, scaling->inputs);
}

static void fill_piece(void *context, size_t index, size_t worker)
{
    (void)worker;
    const filling *f = context;
    const broad__rowset *rowset = f->rowset;
    size_t columns = rowset->far->runs[0].phi.scaling.columns, at = index * BROAD__BLOCK_ROWS,
           n = broad__min(f->n - at, BROAD__BLOCK_ROWS), first = f->first + at;
    double *to = f->to + at * columns;
    for (size_t i = 0, start = 0; n && i < rowset->part_count; start += rowset->parts[i++].count) {
        const broad__part *part = &rowset->parts[i];
        if (first >= start + part->count) continue;
        size_t now = broad__min(n, start + part->count - first);
        scale_rows(to, rowset, part, first - start, now);
        to += now * columns;
        first += now;
        n -= now;
    }
}

static void fill(void *context, double *to, size_t first, size_t n)
{
    filling f = {context, to, first, n};
    broad__pool_run(f.rowset->residual.pool, (n + BROAD__BLOCK_ROWS - 1) / BROAD__BLOCK_ROWS, fill_piece, &f);
}

static void make(void *context, const broad__device *there, double *out, const double *x, size_t n)
{
    const broad__z_source *source = ((const broad__rowset *)context)->far;
    for (size_t i = 0; i < source->run_count; i++) {
        const broad__phi *phi = &source->runs[i].phi;
        there->nodes(out + source->runs[i].column, source->features, &phi->nodes, x, phi->scaling.columns, n);
    }
}

/* Whether all of Z are products of the inputs, in double precision. */
static int is_product(const broad__rowset *rowset)
{
    const broad_model *model = rowset->model;
    int out = rowset->groups && model->settings.precision == BROAD_PRECISION_DOUBLE;
    for (size_t g = 0; g < rowset->groups; g++)
        if (model->groups[g].source == BROAD__WEIGHT_SOURCE_DIRECT) out = 0;
    return out;
}

void broad__far_inputs_offer(broad__rowset *rowset)
{
    broad__residual *residual = &rowset->residual;
    residual->far.inputs = (broad__far_inputs){0};
    if (residual->device->far && is_product(rowset))
        residual->far.inputs = (broad__far_inputs){broad__model_columns(rowset->model), rowset, ready, fill, make};
}
