#include "model/train/rowset.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/page_cursor.h"
#include "base/profile.h"
#include "base/status.h"
#include "comm/comm.h"
#include "compute/shards.h"
#include "data/row_order.h"
#include "data/twins.h"
#include "layer/score.h"
#include "layer/shard_sums.h"
#include "layer/supervise.h"
#include "layer/wide_sums.h"
#include "model/kind.h"
#include "model/model_phi.h"
#include "model/train/describe_data.h"
#include "model/train/far_inputs.h"
#include "model/train/zsource.h"

enum { PARTS_MAX = 1000000 };

/* Rows that are processed at a time where each block is released before the next; whole blocks. */
enum { STRETCH = 64 * BROAD__BLOCK_ROWS };

static void set_storage(broad__residual *residual, const broad__storage *storage)
{
    residual->spill = storage->spill;
    residual->candidate.recompute = storage->k_recomputed;
}

int broad__rowset_open(broad__rowset *out, const broad_model *model, const broad__device *device, broad__pool *pool,
                       const broad__storage *storage)
{
    memset(out, 0, sizeof *out);
    out->model = model;
    if (storage) out->storage = *storage;
    int status = broad__residual_open(&out->residual, device, pool, model->outputs);
    set_storage(&out->residual, &out->storage);
    int sourced = out->storage.spill || out->storage.z_recomputed;
    return status == BROAD_OK && sourced ? broad__z_source_open(&out->source, out) : status;
}

void broad__rowset_probe(broad__rowset *rowset, size_t first_row)
{
    const broad_options *o = &rowset->model->settings;
    if (o->supervise != BROAD_SUPERVISE_GCV) return;
    rowset->residual.probes = (broad__probes){.wanted = 1, .seed = o->seed, .first_row = first_row};
}

void broad__rowset_close(broad__rowset *rowset)
{
    broad__spill *spill = rowset->storage.spill;
    broad__residual_close(&rowset->residual);
    broad__z_source_close(rowset->source);
    broad__z_source_close(rowset->far);
    broad__free(rowset->parts);
    broad__spill_free(spill, rowset->z);
    broad__spill_free(spill, rowset->sqrt_weight);
    broad__spill_free(spill, rowset->sqrt_segment_weight);
    broad__spill_free(spill, rowset->group);
    broad__spill_free(spill, rowset->key);
    broad__spill_free(spill, rowset->y);
    memset(rowset, 0, sizeof *rowset);
}

static double *new_doubles(const broad__rowset *rowset, size_t rows, size_t columns)
{
    size_t count;
    if (broad__multiply(&count, rows, columns) < 0) {
        broad__fail_memory(SIZE_MAX);
        return NULL;
    }
    return broad__spill_alloc(rowset->storage.spill, count, sizeof(double));
}

/* Rows of `columns` numbers to the beginning of rows of `stride` numbers. */
static void copy_rows(const broad__rowset *rowset, double *to, size_t stride, const double *from, size_t columns,
                      size_t rows)
{
    broad__page_cursor read = {0}, written = {0};
    for (size_t i = 0; columns && i < rows; i += STRETCH) {
        size_t n = rows - i < STRETCH ? rows - i : STRETCH;
        for (size_t r = i; r < i + n; r++) memcpy(to + r * stride, from + r * columns, columns * sizeof(double));
        broad__page_cursor_step(&read, rowset->storage.spill, from + i * columns, n * columns * sizeof(double));
        broad__page_cursor_step(&written, rowset->storage.spill, to + i * stride, n * stride * sizeof(double));
    }
}

/* ---- Z --------------------------------------------------------------------------------------------------------- */

/* Rows that go through phi at a time: a block per thread, and more as long as their inputs take few megabytes. */
static size_t phi_stretch(const broad__rowset *rowset)
{
    size_t block = BROAD__BLOCK_ROWS * rowset->model->inputs * sizeof(double), few = ((size_t)4 << 20) / block;
    size_t threads = broad__pool_threads(rowset->residual.pool);
    return (few > threads ? few : threads) * BROAD__BLOCK_ROWS;
}

/* Whether passes over this many rows are to be shared out: those whose sums are. */
static int divides(const broad__rowset *rowset, size_t rows)
{
    broad__fitting fitting = broad__fitting_of(&rowset->model->settings);
    int chain = fitting == BROAD__FIT_CHAIN || fitting == BROAD__FIT_WINDOW;
    if (!rowset->divisible || fitting == BROAD__FIT_STEPWISE || !broad__comm_divides(rows)) return 0;
    return chain || broad__wide_has_shards(rows);
}

/* Rows of a part whose Z is needed here. The first part is the whole for now; with a second all ranks have all of it. */
static void needed_rows(size_t *out_first, size_t *out_end, const broad__rowset *rowset, const broad__part *part)
{
    int alone = rowset->part_count <= (rowset->residual.rows ? 1 : 0);
    *out_first = 0;
    *out_end = part->count;
    if (alone && (rowset->residual.rows ? rowset->residual.divided : divides(rowset, part->count)))
        broad__comm_own_rows(out_first, out_end, part->count);
}

/* The rows of a part through phi; all of them at once where they are in memory. */
static int phi_rows(double *z, size_t stride, const broad__rowset *rowset, const broad__part *part,
                    const broad__phi *phi)
{
    int spilled = rowset->storage.spill || part->data->spill;
    size_t inputs = rowset->model->inputs, step = spilled ? phi_stretch(rowset) : part->count, first, end;
    broad__page_cursor read = {0}, written = {0};
    int status = BROAD_OK;
    needed_rows(&first, &end, rowset, part);
    for (size_t i = first; status == BROAD_OK && i < end; i += step) {
        size_t n = end - i < step ? end - i : step;
        const double *x = part->data->x + (part->first + i) * inputs;
        status = broad__phi_rows(z + i * stride, stride, phi, rowset->residual.pool, x, n);
        broad__page_cursor_step(&read, part->data->spill, x, n * inputs * sizeof(double));
        broad__page_cursor_step(&written, rowset->storage.spill, z + i * stride, n * stride * sizeof(double));
    }
    return status;
}

/* Columns of Z for `count` groups from `first` on, of one part; z: its first row, at the first of these columns. */
static int part_features(double *z, size_t stride, const broad__rowset *rowset, const broad__part *part, size_t first,
                         size_t count)
{
    double *weights = NULL;
    broad__phi phi;
    broad__profile_scope before = broad__profile_phase(BROAD__PHASE_FEATURES);
    const broad__residual *residual = &rowset->residual;
    int status = broad__model_phi(&phi, &weights, rowset->model, residual->device, residual->pool, first, count);
    if (status == BROAD_OK) status = phi_rows(z, stride, rowset, part, &phi);
    broad__free(weights);
    broad__profile_leave(before);
    return status;
}

static int part_all_features(double *z, size_t stride, const broad__rowset *rowset, const broad__part *part)
{
    int status = BROAD_OK;
    for (size_t g = 0; status == BROAD_OK && g < rowset->groups;) {
        size_t run = broad__group_run(rowset->model, g, rowset->groups);
        status = part_features(z + broad__model_feature_nodes(rowset->model, g), stride, rowset, part, g, run);
        g += run;
    }
    return status;
}

/* The passes take Z from memory, or from the source. */
static void show_z(broad__residual *residual, broad__z_source *source, const double *z, size_t features)
{
    residual->z.stored = source ? NULL : z;
    residual->z.features = features;
    residual->z.make = source ? broad__z_source_make : NULL;
    residual->z.context = source;
}

static void use_z(broad__rowset *rowset, double *z, size_t features)
{
    if (z != rowset->z) broad__spill_free(rowset->storage.spill, rowset->z);
    rowset->z = z;
    if (rowset->source) {
        rowset->source->parts = rowset->parts;
        rowset->source->part_count = rowset->part_count;
        rowset->source->z = z;
        rowset->source->sqrt_weight = rowset->sqrt_weight;
        rowset->source->y = rowset->y;
    }
    show_z(&rowset->residual, rowset->source, z, features);
    broad__far_inputs_offer(rowset);
}

static int makes_z(const broad__rowset *rowset) { return rowset->source && rowset->storage.z_recomputed; }

/* Tells the source of the first `groups` groups. */
static int aim_source(const broad__rowset *rowset, size_t groups)
{
    if (makes_z(rowset)) return broad__z_source_groups(rowset->source, rowset->model, groups);
    if (rowset->source) rowset->source->features = broad__model_feature_nodes(rowset->model, groups);
    return BROAD_OK;
}

static int add_columns(double *z, size_t features, broad__rowset *rowset, size_t count)
{
    size_t old = rowset->residual.z.features, at = 0;
    int status = BROAD_OK;
    copy_rows(rowset, z, features, rowset->z, old, rowset->residual.rows);
    for (size_t i = 0; status == BROAD_OK && i < rowset->part_count; i++) {
        status = part_features(z + at * features + old, features, rowset, &rowset->parts[i], rowset->groups, count);
        at += rowset->parts[i].count;
    }
    return status;
}

int broad__rowset_add_groups(broad__rowset *rowset, size_t count)
{
    size_t features = broad__model_feature_nodes(rowset->model, rowset->groups + count);
    double *z = NULL;
    int status = BROAD_OK;
    if (!makes_z(rowset)) {
        z = new_doubles(rowset, rowset->residual.rows, features);
        status = z ? add_columns(z, features, rowset, count) : BROAD_NO_MEMORY;
    }
    if (status == BROAD_OK) status = aim_source(rowset, rowset->groups + count);
    if (status < 0) {
        broad__spill_free(rowset->storage.spill, z);
        return status;
    }
    rowset->groups += count;
    use_z(rowset, z, features);
    return BROAD_OK;
}

int broad__rowset_refresh(broad__rowset *rowset)
{
    int status = makes_z(rowset) ? aim_source(rowset, rowset->groups) : BROAD_OK;
    double *z = rowset->z;
    for (size_t i = 0; status == BROAD_OK && !makes_z(rowset) && i < rowset->part_count; i++) {
        status = part_all_features(z, rowset->residual.z.features, rowset, &rowset->parts[i]);
        z += rowset->parts[i].count * rowset->residual.z.features;
    }
    return status == BROAD_OK ? broad__far_send_z(&rowset->residual) : status;
}

/* ---- E --------------------------------------------------------------------------------------------------------- */

broad__kblock broad__model_kblock(const broad_model *model, size_t index)
{
    const broad__layer *layer = &model->layers[index];
    return (broad__kblock){{layer->inputs,
                            layer->nodes,
                            layer->weight,
                            layer->bias,
                            model->settings.activation,
                            model->settings.precision == BROAD_PRECISION_FLOAT,
                            NULL,
                            NULL,
                            {0}},
                           broad__model_feature_nodes(model, layer->first_group),
                           layer->width - layer->nodes};
}

/* probe_w: what the layer subtracts from the probes; NULL: nothing. */
static int follow(broad__residual *residual, const broad_model *model, size_t index, const double *probe_w)
{
    broad__kblock kblock = broad__model_kblock(model, index);
    return broad__residual_follow(residual, &kblock, model->layers[index].output, probe_w);
}

/* Probes of rows that a layer was not fitted to stay as they are. */
static int follow_probed(broad__residual *residual, const broad_model *model, size_t index)
{
    const broad__layer *layer = &model->layers[index];
    const double *none = NULL;
    if (layer->certificate.first_row == residual->probes.first_row && layer->certificate.rows == residual->rows) {
        broad__kblock kblock = broad__model_kblock(model, index);
        return broad__score_follow(residual, &kblock, layer->output, layer->certificate.lambda);
    }
    int status = broad__probes_keep(&none, &residual->probes, NULL, layer->width);
    return status == BROAD_OK ? follow(residual, model, index, NULL) : status;
}

int broad__rowset_follow(broad__rowset *rowset, size_t layer)
{
    broad__residual *residual = &rowset->residual;
    return residual->probes.count ? follow_probed(residual, rowset->model, layer)
                                  : follow(residual, rowset->model, layer, NULL);
}

int broad__rowset_restart(broad__rowset *rowset)
{
    if (rowset->residual.probes.count) broad__probes_restart(&rowset->residual.probes, rowset->residual.rows);
    return broad__residual_reset(&rowset->residual, rowset->y);
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

/* The arrays of the rows of one part, and of the rows before it together with these. */
typedef struct arrival {
    broad__spill *spill;
    broad__residual residual; /* E of the part, with its Z and roots */
    broad__z_source source;   /* the row set's, for the part alone; owns nothing */
    double *z, *sqrt_weight, *sqrt_segment_weight, *y;
    size_t *group, group_end;
    uint64_t *key;
    size_t features;
} arrival;

static void arrival_close(arrival *a)
{
    broad__residual_close(&a->residual);
    broad__spill_free(a->spill, a->z), broad__spill_free(a->spill, a->sqrt_weight),
        broad__spill_free(a->spill, a->sqrt_segment_weight);
    broad__spill_free(a->spill, a->y), broad__spill_free(a->spill, a->group), broad__spill_free(a->spill, a->key);
}

/* Roots of what the rows of the part count; the part's share of `sqrt_weight`. */
static void part_roots(double *root, const broad__rowset *rowset, const broad__part *part)
{
    const broad_data *data = part->data;
    const double *of_row = data->weights, *of_class = rowset->model->class_weights;
    broad__page_cursor written = {0}, weights = {0}, classes = {0};
    for (size_t i = 0; i < part->count; i++) {
        size_t row = part->first + i;
        root[i] = sqrt((of_row ? of_row[row] : 1) * (of_class ? of_class[data->classes[row]] : 1) * part->weight);
        broad__page_cursor_step(&written, rowset->storage.spill, &root[i], sizeof *root);
        if (of_row) broad__page_cursor_step(&weights, data->spill, &of_row[row], sizeof *of_row);
        if (of_class) broad__page_cursor_step(&classes, data->spill, &data->classes[row], sizeof *data->classes);
    }
}

/* A row of a table without groups is a group of its own, with those that have the same inputs where there are probes. */
static int arrival_groups(arrival *a, const broad__rowset *rowset, const broad__part *part)
{
    size_t old = rowset->residual.rows, all = old + part->count, *twins = NULL;
    const size_t *given = part->data->groups;
    broad__page_cursor written = {0}, read = {0};
    /* Rows with equal inputs tell as little of new ones as groups that are given. */
    int status = !given && rowset->residual.probes.wanted
                     ? broad__twins_find(&twins, part->data, part->first, part->count)
                     : BROAD_OK;
    if (status < 0 || (!rowset->group && !given && !twins)) return status;
    a->group = broad__spill_alloc(a->spill, all, sizeof *a->group);
    if (!a->group) status = BROAD_NO_MEMORY;
    for (size_t i = 0; status == BROAD_OK && i < old; i++) a->group[i] = rowset->group ? rowset->group[i] : i;
    size_t base = rowset->group ? rowset->group_end : old;
    a->group_end = base;
    for (size_t i = old; status == BROAD_OK && i < all; i++) {
        size_t row = part->first + i - old, own = twins ? twins[i - old] : i - old;
        a->group[i] = base + (given ? given[row] : own);
        if (a->group[i] >= a->group_end) a->group_end = a->group[i] + 1;
        broad__page_cursor_step(&written, a->spill, &a->group[i], sizeof *a->group);
        if (given) broad__page_cursor_step(&read, part->data->spill, &given[row], sizeof *given);
    }
    broad__free(twins);
    return status;
}

static int arrival_keys(arrival *a, const broad__rowset *rowset, const broad__part *part)
{
    size_t old = rowset->residual.rows;
    a->key = broad__spill_alloc(a->spill, old + part->count, sizeof *a->key);
    if (!a->key) return BROAD_NO_MEMORY;
    if (old) memcpy(a->key, rowset->key, old * sizeof *a->key);
    uint64_t *key = a->key + old;
    const broad__probes *probes = &rowset->residual.probes;
    int status = probes->wanted ? broad__row_marks(key, part->data, part->first, part->count, probes->first_row + old)
                                : broad__row_hashes(key, part->data, part->first, part->count);
    broad__spill_done(a->spill, a->key, (old + part->count) * sizeof *a->key);
    return status;
}

/* An array that the rows may do without. */
static int alloc_if(int wanted, double **out, const broad__rowset *rowset, size_t rows, size_t columns)
{
    *out = wanted ? new_doubles(rowset, rows, columns) : NULL;
    return wanted && !*out ? BROAD_NO_MEMORY : BROAD_OK;
}

static int arrival_alloc(arrival *a, const broad__rowset *rowset, const broad__part *part)
{
    const broad_model *model = rowset->model;
    size_t all = rowset->residual.rows + part->count;
    int segments = rowset->sqrt_segment_weight || part->weight != 1;
    int weighted = rowset->sqrt_weight || part->data->weights || model->class_weights || segments;
    int chain = broad__fitting_of(&model->settings) == BROAD__FIT_CHAIN && !rowset->residual.probes.wanted;
    int status = alloc_if(!makes_z(rowset), &a->z, rowset, all, a->features);
    if (status == BROAD_OK) status = alloc_if(weighted, &a->sqrt_weight, rowset, all, 1);
    if (status == BROAD_OK) status = alloc_if(segments, &a->sqrt_segment_weight, rowset, all, 1);
    if (status == BROAD_OK) status = alloc_if(!chain, &a->y, rowset, all, model->outputs);
    return status;
}

/* Roots of the rows so far; NULL: 1. */
static void copy_roots(double *to, const double *from, size_t count)
{
    for (size_t i = 0; i < count; i++) to[i] = from ? from[i] : 1;
}

/* Arrays for the rows so far, which are copied, and those of the part, of which the roots and groups are filled in. */
static int arrival_open(arrival *a, const broad__rowset *rowset, const broad__part *part)
{
    size_t old = rowset->residual.rows, outputs = rowset->model->outputs;
    a->spill = rowset->storage.spill;
    a->features = broad__model_feature_nodes(rowset->model, rowset->groups);
    int status = arrival_alloc(a, rowset, part);
    if (status < 0) return status;
    if (a->z) copy_rows(rowset, a->z, a->features, rowset->z, a->features, old);
    if (a->y) copy_rows(rowset, a->y, outputs, rowset->y, outputs, old);
    if (a->sqrt_weight) {
        copy_roots(a->sqrt_weight, rowset->sqrt_weight, old);
        part_roots(a->sqrt_weight + old, rowset, part);
    }
    if (a->sqrt_segment_weight) {
        copy_roots(a->sqrt_segment_weight, rowset->sqrt_segment_weight, old);
        for (size_t i = 0; i < part->count; i++) a->sqrt_segment_weight[old + i] = sqrt(part->weight);
    }
    status = arrival_groups(a, rowset, part);
    return status == BROAD_OK && a->y ? arrival_keys(a, rowset, part) : status;
}

/* Y of the part, times the roots. */
static void part_targets(double *targets, const arrival *a, const broad__rowset *rowset, const broad__part *part)
{
    size_t old = rowset->residual.rows, outputs = rowset->model->outputs, have = part->data->outputs;
    const broad_data *data = part->data;
    broad__page_cursor written = {0}, read = {0}, roots = {0};
    for (size_t first = 0; first < part->count; first += STRETCH) {
        size_t n = part->count - first < STRETCH ? part->count - first : STRETCH;
        double *y = targets + first * outputs;
        size_t row = part->first + first;
        broad__model_targets(y, rowset->model, data, row, n);
        for (size_t i = 0; a->sqrt_weight && i < n; i++)
            for (size_t c = 0; c < outputs; c++) y[i * outputs + c] *= a->sqrt_weight[old + first + i];
        broad__page_cursor_step(&written, a->spill, y, n * outputs * sizeof(double));
        if (a->sqrt_weight) broad__page_cursor_step(&roots, a->spill, a->sqrt_weight + old + first, n * sizeof(double));
        if (data->classes) broad__page_cursor_step(&read, data->spill, data->classes + row, n * sizeof *data->classes);
        else broad__page_cursor_step(&read, data->spill, data->values + row * have, n * have * sizeof *data->values);
    }
}

/* Where the passes over the part alone find its Z and roots. */
static int part_source(arrival *a, const broad__rowset *rowset, const broad__part *part, double *z)
{
    int status = aim_source(rowset, rowset->groups);
    a->residual.sqrt_weight = a->sqrt_weight ? a->sqrt_weight + rowset->residual.rows : NULL;
    if (rowset->source) {
        a->source = *rowset->source;
        a->source.parts = part;
        a->source.part_count = 1;
        a->source.z = z;
        a->source.sqrt_weight = a->residual.sqrt_weight;
        a->source.y = NULL;
    }
    show_z(&a->residual, rowset->source ? &a->source : NULL, z, a->features);
    return status;
}

static int part_probes(arrival *a, broad__rowset *rowset, const broad__part *part)
{
    size_t old = rowset->residual.rows;
    broad__probed_rows rows = {a->group, a->key, a->sqrt_weight, old, part->count};
    return broad__probes_arrive(&a->residual.probes, &rowset->residual.probes, &rows, old, a->spill);
}

/* The part's own Z and E, which do not depend on the rows before it. */
static int part_residual(arrival *a, broad__rowset *rowset, const broad__part *part, size_t layers)
{
    size_t old = rowset->residual.rows, outputs = rowset->model->outputs;
    double *targets = new_doubles(rowset, part->count, outputs);
    if (!targets) return BROAD_NO_MEMORY;
    part_targets(targets, a, rowset, part);
    if (a->y) copy_rows(rowset, a->y + old * outputs, outputs, targets, outputs, part->count);
    int status = broad__residual_open(&a->residual, rowset->residual.device, rowset->residual.pool, outputs);
    set_storage(&a->residual, &rowset->storage);
    if (status == BROAD_OK) status = broad__residual_append(&a->residual, targets, part->count);
    a->residual.divided = divides(rowset, part->count);
    broad__spill_free(a->spill, targets);
    double *z = a->z ? a->z + old * a->features : NULL;
    if (status == BROAD_OK && z && a->features) status = part_all_features(z, a->features, rowset, part);
    if (status == BROAD_OK) status = part_source(a, rowset, part, z);
    const broad__probes *probes = &rowset->residual.probes;
    if (status == BROAD_OK && probes->wanted) status = part_probes(a, rowset, part);
    for (size_t j = 0; status == BROAD_OK && j < layers; j++)
        status = follow(&a->residual, rowset->model, j, j < probes->layers ? probes->weights[j] : NULL);
    return status;
}

/* Rows that ranks have divided stay so where the passes over them are shared out in the same way; otherwise every rank needs all
 * of them. */
static int bring_rows(const broad__rowset *rowset, const broad__part *part)
{
    int alone = !rowset->part_count && part->first == 0 && part->count == part->data->rows;
    if (alone && divides(rowset, part->count)) return BROAD_OK;
    int status = broad__table_gather(part->data);
    for (size_t i = 0; status == BROAD_OK && i < rowset->part_count; i++)
        status = broad__table_gather(rowset->parts[i].data);
    return status;
}

int broad__rowset_add_rows(broad__rowset *rowset, broad__part part, size_t layers)
{
    arrival a = {0};
    broad__spill *spill = rowset->storage.spill;
    int status =
        broad__grow(&rowset->parts, &rowset->part_capacity, rowset->part_count + 1, sizeof *rowset->parts, PARTS_MAX);
    if (status == BROAD_OK) status = bring_rows(rowset, &part);
    if (status == BROAD_OK) status = broad__residual_undivide(&rowset->residual);
    if (status == BROAD_OK) status = arrival_open(&a, rowset, &part);
    if (status == BROAD_OK) status = part_residual(&a, rowset, &part, layers);
    if (status == BROAD_OK) status = broad__residual_join(&rowset->residual, &a.residual);
    if (status < 0) {
        arrival_close(&a);
        return status;
    }
    broad__residual_close(&a.residual);
    rowset->residual.divided = divides(rowset, rowset->residual.rows);
    rowset->parts[rowset->part_count++] = part;
    broad__spill_free(spill, rowset->sqrt_weight), broad__spill_free(spill, rowset->sqrt_segment_weight);
    broad__spill_free(spill, rowset->y), broad__spill_free(spill, rowset->group), broad__spill_free(spill, rowset->key);
    rowset->sqrt_weight = a.sqrt_weight;
    rowset->residual.sqrt_weight = a.sqrt_weight;
    rowset->sqrt_segment_weight = a.sqrt_segment_weight;
    rowset->residual.sqrt_segment_weight = a.sqrt_segment_weight;
    rowset->group = a.group;
    rowset->group_end = a.group_end;
    rowset->residual.group = a.group;
    rowset->key = a.key;
    rowset->residual.key = a.key;
    rowset->y = a.y;
    use_z(rowset, a.z, a.features);
    return BROAD_OK;
}

int broad__rowset_widen(broad__rowset *rowset, size_t outputs)
{
    size_t rows = rowset->residual.rows, old = rowset->residual.outputs;
    double *y = rowset->y ? new_doubles(rowset, rows, outputs) : NULL;
    if (rowset->y && !y) return BROAD_NO_MEMORY;
    if (y) copy_rows(rowset, y, outputs, rowset->y, old, rows);
    int status = broad__residual_widen(&rowset->residual, outputs);
    if (status == BROAD_OK && y) {
        broad__spill_free(rowset->storage.spill, rowset->y);
        rowset->y = y;
        y = NULL;
    }
    if (status == BROAD_OK && rowset->source) {
        rowset->source->y = rowset->y;
        rowset->source->outputs = outputs;
    }
    broad__spill_free(rowset->storage.spill, y);
    return status;
}

/* ---- what it comes to ------------------------------------------------------------------------------------------ */

int broad__rowset_is(const broad__rowset *rowset, const broad_data *data)
{
    size_t rows = 0;
    for (size_t i = 0; i < rowset->part_count; i++) {
        if (rowset->parts[i].data != data || rowset->parts[i].first != rows) return 0;
        rows += rowset->parts[i].count;
    }
    return rows > 0 && rows == data->rows;
}

void broad__rowset_scores(double *out, const broad__rowset *rowset, const broad_data *data, size_t first, size_t count)
{
    const broad_model *model = rowset->model;
    const double *left = model->joint.present ? rowset->residual.next : rowset->residual.e, *root = rowset->sqrt_weight;
    const double *e = left + first * model->outputs;
    broad__model_targets(out, model, data, first, count);
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < model->outputs; c++, out++, e++)
            *out = (*out - *e / (root ? root[first + i] : 1)) / model->output_factor[c] + model->output_shift[c];
    broad__residual_release(&rowset->residual, first, first + count);
}

int broad__rowset_accuracy(double *out, broad__rowset *rowset)
{
    size_t right = 0, row = 0;
    int status = broad__residual_gather(&rowset->residual);
    if (status < 0) return status;
    for (size_t i = 0; i < rowset->part_count; i++) {
        const broad__part *part = &rowset->parts[i];
        right += broad__residual_correct(&rowset->residual, row, part->data->classes + part->first, part->count);
        row += part->count;
    }
    *out = row ? (double)right / (double)row : 0;
    return BROAD_OK;
}
