#include "model/predict/explain.h"

#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/photo/photos_prepare.h"
#include "image/descriptor/windows.h"
#include "image/photo.h"

static const size_t ROOM_MAX = (size_t)1 << 32; /* numbers of a batch, of which there are some millions */

struct broad_explainer {
    const broad_model *model;
    broad__photo_maker *photos;
    size_t map_inputs; /* numbers that the maps give */
    int classes, probabilities;
};

/* ---- the grid -------------------------------------------------------------------------------------------------- */

/* Fewer cells would waste what the maps tell apart; more would leave cells without a window, of which they say nothing. */
static size_t cells_along(size_t side)
{
    enum { CELL_SIDE = 32 };
    size_t cells = (side + CELL_SIDE / 2) / CELL_SIDE;
    return cells ? cells : 1;
}

void broad__explain_grid(size_t *out_width, size_t *out_height, size_t width, size_t height)
{
    *out_width = cells_along(width);
    *out_height = cells_along(height);
}

/* `count` values `step` apart, smoothed from `in` to `out`. */
static void smooth_line(double *out, const double *in, size_t count, size_t step)
{
    for (size_t i = 0; i < count; i++) {
        double sum = 2 * in[i * step], weight = 2;
        if (i > 0) sum += in[(i - 1) * step], weight += 1;
        if (i + 1 < count) sum += in[(i + 1) * step], weight += 1;
        out[i * step] = sum / weight;
    }
}

int broad__explain_smooth(double *cells, size_t width, size_t height)
{
    double *other = broad__alloc_doubles(width, height);
    if (!other) return BROAD_NO_MEMORY;
    for (size_t y = 0; y < height; y++) smooth_line(other + y * width, cells + y * width, width, 1);
    for (size_t x = 0; x < width; x++) smooth_line(cells + x, other + x, height, width);
    broad__free(other);
    return BROAD_OK;
}

/* ---- an explainer ---------------------------------------------------------------------------------------------- */

int broad__explainer_open(broad_explainer **out, const broad_model *model)
{
    *out = NULL;
    if (!model->photo.maps)
        return broad__fail(BROAD_USAGE,
                           "the model was not trained on photos; 'broad fit' on a folder of photos makes one that is");
    broad_explainer *made = broad__alloc(sizeof *made);
    if (!made) return BROAD_NO_MEMORY;
    made->model = model;
    made->map_inputs = broad__photo_inputs(&model->photo);
    made->classes = model->task == BROAD_TASK_CLASSIFY;
    made->probabilities = made->classes && broad_probabilities(NULL, model, NULL, 0) == BROAD_OK;
    made->photos = broad__photo_maker_open(&model->photo);
    if (!made->photos) {
        broad__explainer_close(made);
        return BROAD_NO_MEMORY;
    }
    *out = made;
    return BROAD_OK;
}

void broad__explainer_close(broad_explainer *explainer)
{
    if (!explainer) return;
    broad__photo_maker_close(explainer->photos);
    broad__free(explainer);
}

/* ---- opinions -------------------------------------------------------------------------------------------------- */

static double log_odds(const double *probabilities, size_t count, size_t output)
{
    double others = 0;
    for (size_t i = 0; i < count; i++)
        if (i != output) others += probabilities[i];
    return log(fmax(probabilities[output], DBL_MIN)) - log(fmax(others, DBL_MIN));
}

static double lead(const double *scores, size_t count, size_t output)
{
    double rival = -INFINITY;
    for (size_t i = 0; i < count; i++)
        if (i != output) rival = fmax(rival, scores[i]);
    return count > 1 ? scores[output] - rival : scores[output];
}

static double opinion_of(const broad_explainer *e, const double *scores, size_t output)
{
    if (!e->classes) return scores[output];
    return e->probabilities ? log_odds(scores, e->model->outputs, output) : lead(scores, e->model->outputs, output);
}

/* ---- a batch --------------------------------------------------------------------------------------------------- */

/* The inputs of many pictures, row by row. */
typedef struct batch {
    size_t rows, room;
    double *x;
} batch;

/* Adds the whole picture, then the whole without each cell. */
static int add_rows(batch *all, const broad_explainer *e, const broad__image *seen, const broad_explanation *grid)
{
    size_t rows = grid->width * grid->height + 1, inputs = e->model->inputs, first = all->rows * inputs;
    int status = broad__grow(&all->x, &all->room, first + rows * inputs, sizeof *all->x, ROOM_MAX);
    float *maps = status < 0 ? NULL : broad__alloc_array(rows * e->map_inputs, sizeof *maps);
    if (!maps) return BROAD_NO_MEMORY;
    status = broad__photo_occlude(maps + e->map_inputs, maps, e->photos, seen, grid->width, grid->height);
    if (status == BROAD_OK) status = broad_photos_inputs(all->x + first, e->model, maps, rows);
    broad__free(maps);
    if (status == BROAD_OK) all->rows += rows;
    return status;
}

static int add_picture(broad_explanation *out, batch *all, const broad_explainer *e, const broad__image *seen)
{
    size_t width = 0, height = 0;
    broad__image_fit(&width, &height, seen->width, seen->height, BROAD__WINDOWS_SIDE);
    broad__explain_grid(&out->width, &out->height, width, height);
    return add_rows(all, e, seen, out);
}

static int look_at(broad_explanation *out, batch *all, const broad_explainer *e, const broad_photo *photo)
{
    broad__image seen = {0};
    int status = broad__photo_picture(&seen, &e->model->photo, photo);
    if (status < 0) return broad__fail_in(status, photo->file);
    status = add_picture(out, all, e, &seen);
    broad__image_free(&seen);
    return status;
}

/* `scores` are those of the whole and of each cell left out. */
static int set_cells(broad_explanation *out, const broad_explainer *e, const double *scores, size_t output)
{
    size_t cells = out->width * out->height;
    out->cells = broad__alloc_doubles(cells, 1);
    if (!out->cells) return BROAD_NO_MEMORY;
    double whole = opinion_of(e, scores, output);
    for (size_t i = 0; i < cells; i++) {
        double without = opinion_of(e, scores + (i + 1) * e->model->outputs, output);
        double change = (double)(cells - 1) * (whole - without);
        out->cells[i] = e->classes ? whole + change : change;
    }
    return broad__explain_smooth(out->cells, out->width, out->height);
}

/* Judges all rows of the batch and sets the cells of the explanations, whose grids are known. */
static int explain_batch(broad_explanation *out, const broad_explainer *e, const batch *all, const size_t *outputs,
                         size_t count)
{
    const broad_model *model = e->model;
    for (size_t i = 0; i < count; i++)
        if (outputs[i] >= model->outputs)
            return broad__fail(BROAD_USAGE, "there is no output number %zu: the model has %zu", outputs[i],
                               model->outputs);
    double *scores = broad__alloc_doubles(all->rows, model->outputs);
    int status = scores ? broad_predict(scores, model, all->x, all->rows, model->inputs) : BROAD_NO_MEMORY;
    if (status == BROAD_OK && e->probabilities) status = broad_probabilities(scores, model, scores, all->rows);
    for (size_t i = 0, row = 0; status == BROAD_OK && i < count; i++) {
        status = set_cells(&out[i], e, scores + row * model->outputs, outputs[i]);
        row += out[i].width * out[i].height + 1;
    }
    broad__free(scores);
    return status;
}

int broad__photo_explain(broad_explanation *out, const broad_explainer *explainer, const broad_photo *const *photos,
                         const size_t *outputs, size_t count)
{
    batch all = {0};
    int status = BROAD_OK;
    for (size_t i = 0; status == BROAD_OK && i < count; i++) status = look_at(&out[i], &all, explainer, photos[i]);
    if (status == BROAD_OK) status = explain_batch(out, explainer, &all, outputs, count);
    broad__free(all.x);
    for (size_t i = 0; status < 0 && i < count; i++) broad_explanation_clear(&out[i]);
    return status;
}

int broad__explainer_file(broad_explanation *out, const broad_explainer *explainer, const void *bytes, size_t count,
                          size_t output)
{
    batch all = {0};
    broad_photo about;
    broad__image seen = {0};
    int status = broad__photo_decode(&seen, &about, &explainer->model->photo, bytes, count);
    if (status == BROAD_OK) status = add_picture(out, &all, explainer, &seen);
    if (status == BROAD_OK) status = explain_batch(out, explainer, &all, &output, 1);
    broad__image_free(&seen);
    broad__free(all.x);
    if (status < 0) broad_explanation_clear(out);
    return status;
}
