#include "model/side.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "model/kind.h"
#include "model/map.h"
#include "model/train.h"

enum { PARTS_MAX = 1000000 };

int broad__side_open(broad__side *out, const broad_model *model, const broad__device *device, broad__pool *pool)
{
    memset(out, 0, sizeof *out);
    out->model = model;
    return broad__rows_open(&out->rows, device, pool, model->outputs);
}

void broad__side_close(broad__side *side)
{
    broad__rows_close(&side->rows);
    broad__free(side->parts);
    broad__free(side->z);
    broad__free(side->root);
    broad__free(side->extra);
    broad__free(side->group);
    broad__free(side->y);
    memset(side, 0, sizeof *side);
}

/* ---- Z --------------------------------------------------------------------------------------------------------- */

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
    int status = broad__feature_rows(z, stride, &map, side->rows.device, side->rows.pool,
                                     part->data->x + part->first * model->inputs, part->count);
    broad__free(weights);
    return status;
}

/* The groups of Z in the runs in which they came: the first layer's together, later ones one by one. A product of other
 * width could round otherwise. */
static size_t group_run(const broad_model *model, size_t first, size_t groups)
{
    size_t initial = broad__model_initial_groups(model);
    size_t run = first < initial ? initial - first : 1;
    return run < groups - first ? run : groups - first;
}

static int part_all_features(double *z, size_t stride, const broad__side *side, const broad__part *part)
{
    int status = BROAD_OK;
    for (size_t g = 0; status == BROAD_OK && g < side->groups;) {
        size_t run = group_run(side->model, g, side->groups);
        status = part_features(z + broad__model_feature_nodes(side->model, g), stride, side, part, g, run);
        g += run;
    }
    return status;
}

static void use_z(broad__side *side, double *z, size_t features)
{
    if (z != side->z) broad__free(side->z);
    side->z = z;
    side->rows.z = z;
    side->rows.features = features;
}

int broad__side_add_groups(broad__side *side, size_t count)
{
    size_t rows = side->rows.rows, old = side->rows.features, at = 0;
    size_t features = broad__model_feature_nodes(side->model, side->groups + count);
    double *z = broad__alloc_doubles(rows, features);
    if (!z) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < rows && old; i++) memcpy(z + i * features, side->z + i * old, old * sizeof(double));
    int status = BROAD_OK;
    for (size_t i = 0; status == BROAD_OK && i < side->part_count; i++) {
        status = part_features(z + at * features + old, features, side, &side->parts[i], side->groups, count);
        at += side->parts[i].count;
    }
    if (status < 0) {
        broad__free(z);
        return status;
    }
    side->groups += count;
    use_z(side, z, features);
    return BROAD_OK;
}

int broad__side_refresh(broad__side *side)
{
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
    return (broad__piece){{layer->inputs, layer->nodes, layer->weight, layer->bias, model->settings.activation, 0},
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
    broad__rows rows; /* E of the part, with its Z and roots */
    double *z, *root, *extra, *y;
    size_t *group, group_end;
    size_t features;
} arrival;

static void arrival_close(arrival *a)
{
    broad__rows_close(&a->rows);
    broad__free(a->z), broad__free(a->root), broad__free(a->extra), broad__free(a->y), broad__free(a->group);
}

/* Roots of what the rows of the part count; the part's share of `root`. */
static void part_roots(double *root, const broad__side *side, const broad__part *part)
{
    const double *of_row = part->data->weights, *of_class = side->model->class_weights;
    for (size_t i = 0; i < part->count; i++) {
        size_t row = part->first + i;
        root[i] = sqrt((of_row ? of_row[row] : 1) * (of_class ? of_class[part->data->classes[row]] : 1) * part->weight);
    }
}

/* A row of a table without groups is a group of its own. */
static int arrival_groups(arrival *a, const broad__side *side, const broad__part *part)
{
    size_t old = side->rows.rows, all = old + part->count;
    const size_t *given = part->data->groups;
    if (!side->group && !given) return BROAD_OK;
    a->group = broad__alloc_array(all, sizeof *a->group);
    if (!a->group) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < old; i++) a->group[i] = side->group ? side->group[i] : i;
    size_t base = side->group ? side->group_end : old;
    a->group_end = base;
    for (size_t i = old; i < all; i++) {
        a->group[i] = base + (given ? given[part->first + i - old] : i - old);
        if (a->group[i] >= a->group_end) a->group_end = a->group[i] + 1;
    }
    return BROAD_OK;
}

/* Room for the rows so far and those of the part, the former copied. */
static int arrival_open(arrival *a, const broad__side *side, const broad__part *part)
{
    size_t old = side->rows.rows, all = old + part->count, outputs = side->model->outputs;
    int extra = side->extra || part->weight != 1;
    int weighted = side->root || part->data->weights || side->model->class_weights || extra;
    int keeps_y = broad__fitting_of(&side->model->settings) != BROAD__FIT_CHAIN;
    a->features = broad__model_feature_nodes(side->model, side->groups);
    a->z = broad__alloc_doubles(all, a->features);
    a->root = weighted ? broad__alloc_doubles(all, 1) : NULL;
    a->extra = extra ? broad__alloc_doubles(all, 1) : NULL;
    a->y = keeps_y ? broad__alloc_doubles(all, outputs) : NULL;
    if (!a->z || (weighted && !a->root) || (extra && !a->extra) || (keeps_y && !a->y)) return BROAD_NO_MEMORY;
    if (old && a->features) memcpy(a->z, side->z, old * a->features * sizeof(double));
    if (old && keeps_y) memcpy(a->y, side->y, old * outputs * sizeof(double));
    for (size_t i = 0; weighted && i < old; i++) a->root[i] = side->root ? side->root[i] : 1;
    if (weighted) part_roots(a->root + old, side, part);
    for (size_t i = 0; extra && i < all; i++)
        a->extra[i] = i >= old ? sqrt(part->weight) : side->extra ? side->extra[i] : 1;
    return arrival_groups(a, side, part);
}

/* The part's own Z and E, by themselves: what came before does not matter to them. */
static int part_residual(arrival *a, const broad__side *side, const broad__part *part, size_t layers)
{
    size_t old = side->rows.rows, outputs = side->model->outputs;
    double *targets = broad__model_targets(side->model, part->data, part->first, part->count);
    if (!targets) return BROAD_NO_MEMORY;
    for (size_t i = 0; a->root && i < part->count; i++)
        for (size_t c = 0; c < outputs; c++) targets[i * outputs + c] *= a->root[old + i];
    if (a->y) memcpy(a->y + old * outputs, targets, part->count * outputs * sizeof(double));
    int status = broad__rows_open(&a->rows, side->rows.device, side->rows.pool, outputs);
    if (status == BROAD_OK) status = broad__rows_append(&a->rows, targets, part->count);
    broad__free(targets);
    double *z = a->z + old * a->features;
    if (status == BROAD_OK && a->features) status = part_all_features(z, a->features, side, part);
    a->rows.z = z;
    a->rows.root = a->root ? a->root + old : NULL;
    a->rows.features = a->features;
    for (size_t j = 0; status == BROAD_OK && j < layers; j++) status = follow(&a->rows, side->model, j);
    return status;
}

int broad__side_add_rows(broad__side *side, broad__part part, size_t layers)
{
    arrival a = {0};
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
    use_z(side, a.z, a.features);
    broad__free(side->root), broad__free(side->extra), broad__free(side->y), broad__free(side->group);
    side->root = a.root;
    side->rows.root = a.root;
    side->extra = a.extra;
    side->rows.extra = a.extra;
    side->group = a.group;
    side->group_end = a.group_end;
    side->rows.group = a.group;
    side->y = a.y;
    return BROAD_OK;
}

int broad__side_widen(broad__side *side, size_t outputs)
{
    size_t rows = side->rows.rows, old = side->rows.outputs;
    double *y = side->y ? broad__alloc_doubles(rows, outputs) : NULL;
    if (side->y && !y) return BROAD_NO_MEMORY;
    for (size_t i = 0; y && i < rows; i++) memcpy(y + i * outputs, side->y + i * old, old * sizeof(double));
    int status = broad__rows_widen(&side->rows, outputs);
    if (status == BROAD_OK && y) {
        broad__free(side->y);
        side->y = y;
        y = NULL;
    }
    broad__free(y);
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
