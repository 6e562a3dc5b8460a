#include "model/side.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
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
    memset(side, 0, sizeof *side);
}

/* ---- Z --------------------------------------------------------------------------------------------------------- */

/* Columns of Z for `count` groups from `first` on, of one part; z: its first row, at the first of these columns. */
static int part_features(double *z, size_t stride, const broad__side *side, const broad__part *part, size_t first,
                         size_t count)
{
    const broad_model *model = side->model;
    size_t nodes = broad__model_feature_nodes(model, first + count) - broad__model_feature_nodes(model, first);
    double *weights = broad__alloc_doubles(model->inputs + 1, nodes);
    if (!weights) return BROAD_NO_MEMORY;
    broad__feature_map map;
    broad__model_map(&map, weights, weights + model->inputs * nodes, model, first, count);
    int status = broad__feature_rows(z, stride, &map, side->rows.device, side->rows.pool,
                                     part->data->x + part->first * model->inputs, part->count);
    broad__free(weights);
    return status;
}

/* The groups of Z in the runs in which they came: the first layer's together, later ones one by one. A product of other
 * width could round otherwise. */
static size_t group_run(const broad_model *model, size_t first, size_t groups)
{
    size_t initial = model->layer_count ? model->layers[0].groups : model->group_count;
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

static int follow(broad__rows *rows, const broad_model *model, size_t index)
{
    const broad__layer *layer = &model->layers[index];
    broad__nodes nodes = {layer->inputs, layer->nodes, layer->weight, layer->bias, model->settings.activation};
    int status = broad__rows_nodes(rows, &nodes, broad__model_feature_nodes(model, layer->first_group),
                                   layer->width - layer->nodes);
    if (status == BROAD_OK) broad__rows_commit(rows, broad__rows_residual(rows, layer->output));
    return status;
}

int broad__side_follow(broad__side *side, size_t layer) { return follow(&side->rows, side->model, layer); }

/* The part's own Z and E, by themselves: what came before does not matter to them. */
static int part_residual(broad__rows *out, double *z, const broad__side *side, const broad__part *part, size_t layers)
{
    double *targets = broad__model_targets(side->model, part->data, part->first, part->count);
    if (!targets) return BROAD_NO_MEMORY;
    size_t features = broad__model_feature_nodes(side->model, side->groups);
    int status = broad__rows_open(out, side->rows.device, side->rows.pool, side->model->outputs);
    if (status == BROAD_OK) status = broad__rows_append(out, targets, part->count);
    broad__free(targets);
    if (status == BROAD_OK && features) status = part_all_features(z, features, side, part);
    out->z = z;
    out->features = features;
    for (size_t j = 0; status == BROAD_OK && j < layers; j++) status = follow(out, side->model, j);
    return status;
}

int broad__side_add_rows(broad__side *side, broad__part part, size_t layers)
{
    size_t features = broad__model_feature_nodes(side->model, side->groups), old = side->rows.rows;
    int status = broad__grow(&side->parts, &side->part_room, side->part_count + 1, sizeof *side->parts, PARTS_MAX);
    if (status < 0) return status;
    double *z = broad__alloc_doubles(old + part.count, features);
    if (!z) return BROAD_NO_MEMORY;
    if (old && features) memcpy(z, side->z, old * features * sizeof(double));
    broad__rows fresh = {0};
    status = part_residual(&fresh, z + old * features, side, &part, layers);
    if (status == BROAD_OK) status = broad__rows_join(&side->rows, &fresh);
    broad__rows_close(&fresh);
    if (status < 0) {
        broad__free(z);
        return status;
    }
    side->parts[side->part_count++] = part;
    use_z(side, z, features);
    return BROAD_OK;
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
