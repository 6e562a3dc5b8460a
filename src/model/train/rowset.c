#include "model/train/rowset.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/page_cursor.h"
#include "base/status.h"
#include "compute/shards.h"
#include "layer/supervise.h"
#include "model/feature_map.h"
#include "model/kind.h"
#include "model/train/train.h"
#include "model/train/zsource.h"

enum { PARTS_MAX = 1000000 };

/* Rows that are gone through at a time where each piece is given back before the next; whole blocks. */
enum { STRETCH = 64 * BROAD__BLOCK_ROWS };

static void keep_rows(broad__rows *rows, const broad__keeping *keeping)
{
    rows->spill = keeping->spill;
    rows->keep_k = !(keeping->spill && keeping->k_again);
}

int broad__side_open(broad__side *out, const broad_model *model, const broad__device *device, broad__pool *pool,
                     const broad__keeping *keeping)
{
    memset(out, 0, sizeof *out);
    out->model = model;
    if (keeping) out->keeping = *keeping;
    int status = broad__rows_open(&out->rows, device, pool, model->outputs);
    out->rows.single = broad__supervise_single(&model->settings);
    keep_rows(&out->rows, &out->keeping);
    return status == BROAD_OK && out->keeping.spill ? broad__z_source_open(&out->source, out) : status;
}

void broad__side_close(broad__side *side)
{
    broad__spill *spill = side->keeping.spill;
    broad__rows_close(&side->rows);
    broad__z_source_close(side->source);
    broad__free(side->parts);
    broad__spill_free(spill, side->z);
    broad__spill_free(spill, side->root);
    broad__spill_free(spill, side->extra);
    broad__spill_free(spill, side->group);
    broad__spill_free(spill, side->y);
    memset(side, 0, sizeof *side);
}

static double *new_doubles(const broad__side *side, size_t rows, size_t columns)
{
    size_t count;
    if (broad__multiply(&count, rows, columns) < 0) {
        broad__fail_memory(SIZE_MAX);
        return NULL;
    }
    return broad__spill_alloc(side->keeping.spill, count, sizeof(double));
}

/* Rows of `columns` numbers into rows of `wide`, which have room for them at their beginning. */
static void copy_rows(const broad__side *side, double *to, size_t wide, const double *from, size_t columns, size_t rows)
{
    broad__trail read = {0}, written = {0};
    for (size_t i = 0; columns && i < rows; i += STRETCH) {
        size_t n = rows - i < STRETCH ? rows - i : STRETCH;
        for (size_t r = i; r < i + n; r++) memcpy(to + r * wide, from + r * columns, columns * sizeof(double));
        broad__trail_step(&read, side->keeping.spill, from + i * columns, n * columns * sizeof(double));
        broad__trail_step(&written, side->keeping.spill, to + i * wide, n * wide * sizeof(double));
    }
}

/* ---- Z --------------------------------------------------------------------------------------------------------- */

/* Rows that go through a map at a time: a block for each thread, and more as long as their inputs are few megabytes. */
static size_t map_stretch(const broad__side *side)
{
    size_t block = BROAD__BLOCK_ROWS * side->model->inputs * sizeof(double), few = ((size_t)4 << 20) / block;
    size_t threads = broad__pool_threads(side->rows.pool);
    return (few > threads ? few : threads) * BROAD__BLOCK_ROWS;
}

/* The rows of a part through one map; all of them at once where they are in memory. */
static int map_rows(double *z, size_t stride, const broad__side *side, const broad__part *part,
                    const broad__feature_map *map)
{
    int spilled = side->keeping.spill || part->data->spill;
    size_t inputs = side->model->inputs, most = spilled ? map_stretch(side) : part->count;
    broad__trail read = {0}, written = {0};
    int status = BROAD_OK;
    for (size_t i = 0; status == BROAD_OK && i < part->count; i += most) {
        size_t n = part->count - i < most ? part->count - i : most;
        const double *x = part->data->x + (part->first + i) * inputs;
        status = broad__feature_rows(z + i * stride, stride, map, side->rows.device, side->rows.pool, x, n);
        broad__trail_step(&read, part->data->spill, x, n * inputs * sizeof(double));
        broad__trail_step(&written, side->keeping.spill, z + i * stride, n * stride * sizeof(double));
    }
    return status;
}

/* Columns of Z for `count` groups from `first` on, of one part; z: its first row, at the first of these columns. */
static int part_features(double *z, size_t stride, const broad__side *side, const broad__part *part, size_t first,
                         size_t count)
{
    const broad_model *model = side->model;
    size_t nodes = broad__model_feature_nodes(model, first + count) - broad__model_feature_nodes(model, first);
    double *weights = broad__alloc_doubles(broad__model_map_room(model, first, count), 1);
    if (!weights) return BROAD_NO_MEMORY;
    broad__feature_map map;
    broad__model_map(&map, weights, weights + broad__model_columns(model) * nodes, model, first, count);
    int status = map_rows(z, stride, side, part, &map);
    broad__free(weights);
    return status;
}

static int part_all_features(double *z, size_t stride, const broad__side *side, const broad__part *part)
{
    int status = BROAD_OK;
    for (size_t g = 0; status == BROAD_OK && g < side->groups;) {
        size_t run = broad__group_run(side->model, g, side->groups);
        status = part_features(z + broad__model_feature_nodes(side->model, g), stride, side, part, g, run);
        g += run;
    }
    return status;
}

/* The passes take Z from memory, or from the source. */
static void show_z(broad__rows *rows, broad__z_source *source, const double *z, size_t features)
{
    rows->z = source ? NULL : z;
    rows->features = features;
    rows->make_z = source ? broad__z_source_make : NULL;
    rows->z_context = source;
}

static void use_z(broad__side *side, double *z, size_t features)
{
    if (z != side->z) broad__spill_free(side->keeping.spill, side->z);
    side->z = z;
    if (side->source) {
        side->source->parts = side->parts;
        side->source->part_count = side->part_count;
        side->source->z = z;
        side->source->root = side->root;
        side->source->y = side->y;
    }
    show_z(&side->rows, side->source, z, features);
}

static int makes_z(const broad__side *side) { return side->source && side->keeping.z_again; }

/* The source tells the first `groups` groups. */
static int aim_source(const broad__side *side, size_t groups)
{
    if (makes_z(side)) return broad__z_source_groups(side->source, side->model, groups);
    if (side->source) side->source->features = broad__model_feature_nodes(side->model, groups);
    return BROAD_OK;
}

static int add_columns(double *z, size_t features, broad__side *side, size_t count)
{
    size_t old = side->rows.features, at = 0;
    int status = BROAD_OK;
    copy_rows(side, z, features, side->z, old, side->rows.rows);
    for (size_t i = 0; status == BROAD_OK && i < side->part_count; i++) {
        status = part_features(z + at * features + old, features, side, &side->parts[i], side->groups, count);
        at += side->parts[i].count;
    }
    return status;
}

int broad__side_add_groups(broad__side *side, size_t count)
{
    size_t features = broad__model_feature_nodes(side->model, side->groups + count);
    double *z = NULL;
    int status = BROAD_OK;
    if (!makes_z(side)) {
        z = new_doubles(side, side->rows.rows, features);
        status = z ? add_columns(z, features, side, count) : BROAD_NO_MEMORY;
    }
    if (status == BROAD_OK) status = aim_source(side, side->groups + count);
    if (status < 0) {
        broad__spill_free(side->keeping.spill, z);
        return status;
    }
    side->groups += count;
    use_z(side, z, features);
    return BROAD_OK;
}

int broad__side_refresh(broad__side *side)
{
    if (makes_z(side)) return aim_source(side, side->groups);
    int status = BROAD_OK;
    double *z = side->z;
    for (size_t i = 0; status == BROAD_OK && i < side->part_count; i++) {
        status = part_all_features(z, side->rows.features, side, &side->parts[i]);
        z += side->parts[i].count * side->rows.features;
    }
    return status;
}

/* ---- E --------------------------------------------------------------------------------------------------------- */

broad__piece broad__model_piece(const broad_model *model, size_t index)
{
    const broad__layer *layer = &model->layers[index];
    return (broad__piece){{layer->inputs, layer->nodes, layer->weight, layer->bias, model->settings.activation,
                           model->settings.precision == BROAD_FLOAT},
                          broad__model_feature_nodes(model, layer->first_group),
                          layer->width - layer->nodes};
}

static int follow(broad__rows *rows, const broad_model *model, size_t index)
{
    broad__piece piece = broad__model_piece(model, index);
    return broad__rows_follow(rows, &piece, model->layers[index].output);
}

int broad__side_follow(broad__side *side, size_t layer) { return follow(&side->rows, side->model, layer); }

int broad__side_restart(broad__side *side) { return broad__rows_reset(&side->rows, side->y); }

/* ---- rows ------------------------------------------------------------------------------------------------------ */

/* What is there of the rows of one part, and of the rows before it together with these. */
typedef struct arrival {
    broad__spill *spill;
    broad__rows rows;       /* E of the part, with its Z and roots */
    broad__z_source source; /* the side's, for the part alone; owns nothing */
    double *z, *root, *extra, *y;
    size_t *group, group_end;
    size_t features;
} arrival;

static void arrival_close(arrival *a)
{
    broad__rows_close(&a->rows);
    broad__spill_free(a->spill, a->z), broad__spill_free(a->spill, a->root), broad__spill_free(a->spill, a->extra);
    broad__spill_free(a->spill, a->y), broad__spill_free(a->spill, a->group);
}

/* Roots of what the rows of the part count; the part's share of `root`. */
static void part_roots(double *root, const broad__side *side, const broad__part *part)
{
    const broad_data *data = part->data;
    const double *of_row = data->weights, *of_class = side->model->class_weights;
    broad__trail written = {0}, weights = {0}, classes = {0};
    for (size_t i = 0; i < part->count; i++) {
        size_t row = part->first + i;
        root[i] = sqrt((of_row ? of_row[row] : 1) * (of_class ? of_class[data->classes[row]] : 1) * part->weight);
        broad__trail_step(&written, side->keeping.spill, &root[i], sizeof *root);
        if (of_row) broad__trail_step(&weights, data->spill, &of_row[row], sizeof *of_row);
        if (of_class) broad__trail_step(&classes, data->spill, &data->classes[row], sizeof *data->classes);
    }
}

/* A row of a table without groups is a group of its own. */
static int arrival_groups(arrival *a, const broad__side *side, const broad__part *part)
{
    size_t old = side->rows.rows, all = old + part->count;
    const size_t *given = part->data->groups;
    broad__trail written = {0}, read = {0};
    if (!side->group && !given) return BROAD_OK;
    a->group = broad__spill_alloc(a->spill, all, sizeof *a->group);
    if (!a->group) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < old; i++) a->group[i] = side->group ? side->group[i] : i;
    size_t base = side->group ? side->group_end : old;
    a->group_end = base;
    for (size_t i = old; i < all; i++) {
        size_t row = part->first + i - old;
        a->group[i] = base + (given ? given[row] : i - old);
        if (a->group[i] >= a->group_end) a->group_end = a->group[i] + 1;
        broad__trail_step(&written, a->spill, &a->group[i], sizeof *a->group);
        if (given) broad__trail_step(&read, part->data->spill, &given[row], sizeof *given);
    }
    return BROAD_OK;
}

/* Room for the rows so far and those of the part, the former copied. */
static int arrival_open(arrival *a, const broad__side *side, const broad__part *part)
{
    size_t old = side->rows.rows, all = old + part->count, outputs = side->model->outputs;
    int extra = side->extra || part->weight != 1;
    int weighted = side->root || part->data->weights || side->model->class_weights || extra;
    int keeps_y = broad__fitting_of(&side->model->settings) != BROAD__FIT_CHAIN, keeps_z = !makes_z(side);
    a->spill = side->keeping.spill;
    a->features = broad__model_feature_nodes(side->model, side->groups);
    a->z = keeps_z ? new_doubles(side, all, a->features) : NULL;
    a->root = weighted ? new_doubles(side, all, 1) : NULL;
    a->extra = extra ? new_doubles(side, all, 1) : NULL;
    a->y = keeps_y ? new_doubles(side, all, outputs) : NULL;
    if ((keeps_z && !a->z) || (weighted && !a->root) || (extra && !a->extra) || (keeps_y && !a->y))
        return BROAD_NO_MEMORY;
    if (keeps_z) copy_rows(side, a->z, a->features, side->z, a->features, old);
    if (keeps_y) copy_rows(side, a->y, outputs, side->y, outputs, old);
    for (size_t i = 0; weighted && i < old; i++) a->root[i] = side->root ? side->root[i] : 1;
    if (weighted) part_roots(a->root + old, side, part);
    for (size_t i = 0; extra && i < all; i++)
        a->extra[i] = i >= old ? sqrt(part->weight) : side->extra ? side->extra[i] : 1;
    return arrival_groups(a, side, part);
}

/* Y of the part, times the roots. */
static void part_targets(double *targets, const arrival *a, const broad__side *side, const broad__part *part)
{
    size_t old = side->rows.rows, outputs = side->model->outputs, have = part->data->outputs;
    const broad_data *data = part->data;
    broad__trail written = {0}, read = {0}, roots = {0};
    for (size_t first = 0; first < part->count; first += STRETCH) {
        size_t n = part->count - first < STRETCH ? part->count - first : STRETCH;
        double *y = targets + first * outputs;
        size_t row = part->first + first;
        broad__model_targets(y, side->model, data, row, n);
        for (size_t i = 0; a->root && i < n; i++)
            for (size_t c = 0; c < outputs; c++) y[i * outputs + c] *= a->root[old + first + i];
        broad__trail_step(&written, a->spill, y, n * outputs * sizeof(double));
        if (a->root) broad__trail_step(&roots, a->spill, a->root + old + first, n * sizeof(double));
        if (data->classes) broad__trail_step(&read, data->spill, data->classes + row, n * sizeof *data->classes);
        else broad__trail_step(&read, data->spill, data->values + row * have, n * have * sizeof *data->values);
    }
}

/* Where the passes over the part alone find its Z and roots. */
static int part_source(arrival *a, const broad__side *side, const broad__part *part, double *z)
{
    int status = aim_source(side, side->groups);
    a->rows.root = a->root ? a->root + side->rows.rows : NULL;
    if (side->source) {
        a->source = *side->source;
        a->source.parts = part;
        a->source.part_count = 1;
        a->source.z = z;
        a->source.root = a->rows.root;
        a->source.y = NULL;
    }
    show_z(&a->rows, side->source ? &a->source : NULL, z, a->features);
    return status;
}

/* The part's own Z and E, by themselves: what came before does not matter to them. */
static int part_residual(arrival *a, const broad__side *side, const broad__part *part, size_t layers)
{
    size_t old = side->rows.rows, outputs = side->model->outputs;
    double *targets = new_doubles(side, part->count, outputs);
    if (!targets) return BROAD_NO_MEMORY;
    part_targets(targets, a, side, part);
    if (a->y) copy_rows(side, a->y + old * outputs, outputs, targets, outputs, part->count);
    int status = broad__rows_open(&a->rows, side->rows.device, side->rows.pool, outputs);
    keep_rows(&a->rows, &side->keeping);
    if (status == BROAD_OK) status = broad__rows_append(&a->rows, targets, part->count);
    broad__spill_free(a->spill, targets);
    double *z = a->z ? a->z + old * a->features : NULL;
    if (status == BROAD_OK && z && a->features) status = part_all_features(z, a->features, side, part);
    if (status == BROAD_OK) status = part_source(a, side, part, z);
    for (size_t j = 0; status == BROAD_OK && j < layers; j++) status = follow(&a->rows, side->model, j);
    return status;
}

int broad__side_add_rows(broad__side *side, broad__part part, size_t layers)
{
    arrival a = {0};
    broad__spill *spill = side->keeping.spill;
    int status = broad__grow(&side->parts, &side->part_room, side->part_count + 1, sizeof *side->parts, PARTS_MAX);
    if (status == BROAD_OK) status = arrival_open(&a, side, &part);
    if (status == BROAD_OK) status = part_residual(&a, side, &part, layers);
    if (status == BROAD_OK) status = broad__rows_join(&side->rows, &a.rows);
    if (status < 0) {
        arrival_close(&a);
        return status;
    }
    broad__rows_close(&a.rows);
    side->parts[side->part_count++] = part;
    broad__spill_free(spill, side->root), broad__spill_free(spill, side->extra);
    broad__spill_free(spill, side->y), broad__spill_free(spill, side->group);
    side->root = a.root;
    side->rows.root = a.root;
    side->extra = a.extra;
    side->rows.extra = a.extra;
    side->group = a.group;
    side->group_end = a.group_end;
    side->rows.group = a.group;
    side->y = a.y;
    use_z(side, a.z, a.features);
    return BROAD_OK;
}

int broad__side_widen(broad__side *side, size_t outputs)
{
    size_t rows = side->rows.rows, old = side->rows.outputs;
    double *y = side->y ? new_doubles(side, rows, outputs) : NULL;
    if (side->y && !y) return BROAD_NO_MEMORY;
    if (y) copy_rows(side, y, outputs, side->y, old, rows);
    int status = broad__rows_widen(&side->rows, outputs);
    if (status == BROAD_OK && y) {
        broad__spill_free(side->keeping.spill, side->y);
        side->y = y;
        y = NULL;
    }
    if (status == BROAD_OK && side->source) {
        side->source->y = side->y;
        side->source->outputs = outputs;
    }
    broad__spill_free(side->keeping.spill, y);
    return status;
}

double broad__side_accuracy(const broad__side *side)
{
    size_t right = 0, row = 0;
    for (size_t i = 0; i < side->part_count; i++) {
        const broad__part *part = &side->parts[i];
        right += broad__rows_right(&side->rows, row, part->data->classes + part->first, part->count);
        row += part->count;
    }
    return row ? (double)right / (double)row : 0;
}
