#include "model/train/zsource.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "compute/shards.h"
#include "model/model_phi.h"

size_t broad__group_run(const broad_model *model, size_t first, size_t groups)
{
    size_t initial = broad__model_initial_groups(model);
    size_t run = first < initial ? initial - first : 1;
    return run < groups - first ? run : groups - first;
}

int broad__z_source_open(broad__z_source **out, const broad__rowset *rowset)
{
    broad__z_source *source = broad__alloc(sizeof *source);
    if (!source) return BROAD_NO_MEMORY;
    source->device = rowset->residual.device;
    source->inputs = rowset->model->inputs;
    source->outputs = rowset->model->outputs;
    source->spill = rowset->storage.spill;
    source->worker_count = broad__pool_threads(rowset->residual.pool);
    source->scaled_each = broad__phi_scratch(broad__model_columns(rowset->model), BROAD__BLOCK_ROWS, 1);
    source->workers = broad__alloc_array(source->worker_count, sizeof *source->workers);
    source->scaled = broad__alloc_doubles(source->worker_count, source->scaled_each);
    if (!source->workers || !source->scaled) {
        broad__z_source_close(source);
        return BROAD_NO_MEMORY;
    }
    *out = source;
    return BROAD_OK;
}

static void runs_free(broad__z_run *runs, size_t count)
{
    for (size_t i = 0; runs && i < count; i++) broad__free(runs[i].weights);
    broad__free(runs);
}

void broad__z_source_close(broad__z_source *source)
{
    if (!source) return;
    runs_free(source->runs, source->run_count);
    broad__free(source->workers);
    broad__free(source->scaled);
    broad__free(source);
}

int broad__z_source_groups(broad__z_source *source, const broad_model *model, size_t groups)
{
    size_t count = 0;
    broad__z_run *runs = broad__alloc_array(groups, sizeof *runs);
    int status = runs ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t g = 0; status == BROAD_OK && g < groups;) {
        size_t run = broad__group_run(model, g, groups);
        runs[count].column = broad__model_feature_nodes(model, g);
        status = broad__model_phi(&runs[count].phi, &runs[count].weights, model, source->device, NULL, g, run);
        count++;
        g += run;
    }
    if (status < 0) {
        runs_free(runs, count);
        return status;
    }
    runs_free(source->runs, source->run_count);
    source->runs = runs;
    source->run_count = count;
    source->features = broad__model_feature_nodes(model, groups);
    return BROAD_OK;
}

/* n rows of one part, from its row `first` on. */
static void make_rows(const broad__z_source *source, double *out, const broad__part *part, size_t first, size_t n,
                      size_t worker)
{
    const double *x = part->data->x + (part->first + first) * source->inputs;
    double *scaled = source->scaled + worker * source->scaled_each;
    for (size_t i = 0; i < source->run_count; i++)
        broad__phi_block(out + source->runs[i].column, source->features, &source->runs[i].phi, x, n, scaled);
    broad__page_cursor_step(&source->workers[worker].of_x, part->data->spill, x, n * source->inputs * sizeof(double));
}

/* The rows' other numbers are read after their Z: what is released are those of earlier rows. */
static void pass_by(const broad__z_source *source, size_t first, size_t n, broad__z_worker *own)
{
    size_t outputs = source->outputs;
    if (source->sqrt_weight)
        broad__page_cursor_step(&own->of_root, source->spill, source->sqrt_weight + first, n * sizeof(double));
    if (source->y)
        broad__page_cursor_step(&own->of_y, source->spill, source->y + first * outputs, n * outputs * sizeof(double));
}

void broad__z_source_make(void *context, double *out, size_t first, size_t n, size_t worker)
{
    const broad__z_source *source = context;
    broad__z_worker *own = &source->workers[worker];
    pass_by(source, first, n, own);
    if (source->z) {
        size_t bytes = n * source->features * sizeof(double);
        memcpy(out, source->z + first * source->features, bytes);
        broad__page_cursor_step(&own->of_z, source->spill, source->z + first * source->features, bytes);
        return;
    }
    for (size_t i = 0, start = 0; n && i < source->part_count; start += source->parts[i++].count) {
        if (first >= start + source->parts[i].count) continue;
        size_t left = start + source->parts[i].count - first, now = n < left ? n : left;
        make_rows(source, out, &source->parts[i], first - start, now, worker);
        out += now * source->features;
        first += now;
        n -= now;
    }
}
