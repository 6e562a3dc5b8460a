#include "image/descriptor/windows.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "image/descriptor/windows_kernel.h"
#include "image/descriptor/windows_local.h"
#include "image/photo.h"
#include "rng/philox.h"

enum {
    INPUTS = BROAD__WINDOW_INPUTS,
    NODES = BROAD__WINDOW_NODES,
    LANES = BROAD__WINDOW_LANES,
    PANELS = NODES / LANES
};
_Static_assert(NODES % LANES == 0, "nodes come in whole panels");
_Static_assert(BROAD__WINDOWS_SIDE <= BROAD__WINDOW_SIDE * BROAD__WINDOW_SIDE, "no more cuts than there is room for");

static const double GAMMA = 3; /* of the kernel exp(-gamma |z - z'|^2 / 2) that the nodes stand for */
static const float FARTHEST = 5;
static const double TURN = 6.283185307179586;

size_t broad__window_nodes(void) { return NODES; }

/* ---- weights ---------------------------------------------------------------------------------------------------- */

/*
 * Element 4 * (node * (INPUTS + 1) + input) + j of the stream, j < 4, is u_j, and
 *   weight = sqrt(3) * (u_0 + u_1 + u_2 + u_3 - 2), of variance 1 and, summed over the inputs, practically normal;
 *   bias   = u_0 of input number INPUTS, in turns.
 * No function of the C library is in it, so that every machine has the same bits.
 */
static void draw_node(broad__window_weights *out, size_t node)
{
    const broad__stream stream = {.purpose = BROAD__FOR_WINDOWS};
    double u[4 * (INPUTS + 1)];
    broad__random_fill(u, &stream, (uint64_t)node * 4 * (INPUTS + 1), 4 * (INPUTS + 1));
    double unit = sqrt(3.0) * sqrt(GAMMA / INPUTS) / TURN;
    size_t panel = node / LANES, lane = node % LANES;
    for (size_t i = 0; i < INPUTS; i++)
        out->weight[panel][i][lane] = (float)(unit * (u[4 * i] + u[4 * i + 1] + u[4 * i + 2] + u[4 * i + 3] - 2));
    out->bias[panel][lane] = (float)u[4 * INPUTS];
}

broad__window_weights *broad__window_weights_make(void)
{
    broad__window_weights *weights = broad__alloc(sizeof *weights);
    if (!weights) return NULL;
    for (size_t node = 0; node < NODES; node++) draw_node(weights, node);
    broad__window_fold(weights->fold);
    return weights;
}

/* ---- the windows of a picture ------------------------------------------------------------------------------------ */

typedef struct view {
    broad__window_cuts across, down;
    size_t count; /* of windows */
    float *z;     /* as many rows of INPUTS, and rows of zeros up to a whole number of those computed together */
    size_t rows;
} view;

static void standardise(float *u, size_t count)
{
    for (size_t row = 0; row < count; row++, u += INPUTS)
        for (size_t i = 0; i < INPUTS; i++) {
            float z = (u[i] - broad__window_mean[i]) / broad__window_sd[i];
            z = z < -FARTHEST ? -FARTHEST : z;
            u[i] = z > FARTHEST ? FARTHEST : z;
        }
}

static int view_describe(view *out, const broad__window_weights *weights, const broad__image *image)
{
    broad__window_cut(&out->across, image->width);
    broad__window_cut(&out->down, image->height);
    out->count = out->across.count * out->down.count;
    out->rows = (out->count + BROAD__WINDOW_TOGETHER - 1) / BROAD__WINDOW_TOGETHER * BROAD__WINDOW_TOGETHER;
    out->z = broad__alloc_array(out->rows, INPUTS * sizeof(float));
    if (!out->z) return BROAD_NO_MEMORY;
    int status = broad__window_describe(out->z, image, &out->across, &out->down, weights->fold);
    if (status == BROAD_OK) standardise(out->z, out->count);
    return status;
}

/* out->z is to be freed, on failure as well. */
static int view_make(view *out, const broad__window_weights *weights, const broad__image *image)
{
    size_t width, height;
    *out = (view){.z = NULL};
    broad__image_fit(&width, &height, image->width, image->height, BROAD__WINDOWS_SIDE);
    if (width == image->width && height == image->height) return view_describe(out, weights, image);
    broad__image small;
    int status = broad__image_resize(&small, image, width, height);
    if (status < 0) return status;
    status = view_describe(out, weights, &small);
    broad__image_free(&small);
    return status;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------ */

/* Which cell of a grid the centre of each window lies in, and how many windows that cell has. */
typedef struct grid {
    size_t width, height;
    size_t stride; /* from a cell's row of nodes to the next */
    size_t *cell;  /* of a window */
    size_t *count; /* of a cell */
} grid;

static size_t cell_along(const broad__window_cuts *cuts, size_t window, size_t cells)
{
    return (cuts->at[window] + cuts->at[window + 1]) * cells / (2 * cuts->at[cuts->count]);
}

static int grid_place(grid *cells, const view *seen)
{
    cells->cell = broad__alloc_array(seen->count, sizeof *cells->cell);
    cells->count = broad__alloc_array(cells->width * cells->height, sizeof *cells->count);
    if (!cells->cell || !cells->count) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < seen->count; i++) {
        size_t x = cell_along(&seen->across, i % seen->across.count, cells->width);
        size_t y = cell_along(&seen->down, i / seen->across.count, cells->height);
        cells->cell[i] = y * cells->width + x;
        cells->count[cells->cell[i]]++;
    }
    return BROAD_OK;
}

/* From the sums over all windows, and over those of each cell in `out`, to means over the windows outside the cell. */
static void leave_out(float *out, const float sum[LANES], size_t windows, const grid *cells)
{
    for (size_t c = 0; c < cells->width * cells->height; c++) {
        size_t left = windows - cells->count[c];
        float *cell = out + c * cells->stride;
        for (size_t i = 0; i < LANES; i++) cell[i] = left ? (sum[i] - cell[i]) / (float)left : sum[i] / (float)windows;
    }
}

/* whole: NODES numbers or NULL; out: a row of nodes for each cell, or NULL with `cells`. phi: seen->rows x LANES, scratch. */
static void nodes(float *whole, float *out, const view *seen, const grid *cells, const broad__window_weights *weights,
                  float (*phi)[LANES])
{
    broad__window_kernel *kernels[BROAD__WINDOW_KERNELS];
    broad__window_kernels(kernels);
    for (size_t panel = 0; panel < PANELS; panel++) {
        float sum[LANES] = {0};
        kernels[0](phi, seen->z, seen->rows, weights->weight[panel], weights->bias[panel]);
        for (size_t w = 0; w < seen->count; w++)
            for (size_t i = 0; i < LANES; i++) sum[i] += phi[w][i];
        for (size_t i = 0; i < LANES && whole; i++) whole[panel * LANES + i] = sum[i] / (float)seen->count;
        if (!cells) continue;
        float *first = out + panel * LANES;
        for (size_t c = 0; c < cells->width * cells->height; c++)
            memset(first + c * cells->stride, 0, LANES * sizeof(float));
        for (size_t w = 0; w < seen->count; w++)
            for (size_t i = 0; i < LANES; i++) first[cells->cell[w] * cells->stride + i] += phi[w][i];
        leave_out(first, sum, seen->count, cells);
    }
}

/* cells NULL: `whole` alone is wanted. */
static int see(float *whole, float *out, grid *cells, const broad__window_weights *weights, const broad__image *image)
{
    float(*phi)[LANES] = NULL;
    view seen;
    int status = view_make(&seen, weights, image);
    if (status == BROAD_OK && cells) status = grid_place(cells, &seen);
    if (status < 0) goto cleanup;
    phi = broad__alloc_array(seen.rows, sizeof *phi);
    if (phi) nodes(whole, out, &seen, cells, weights, phi);
    else status = BROAD_NO_MEMORY;

cleanup:
    broad__free(phi);
    broad__free(seen.z);
    return status;
}

int broad__windows(float *out, const broad__window_weights *weights, const broad__image *image)
{
    return see(out, NULL, NULL, weights, image);
}

int broad__windows_occlude(const broad__occlusion *how, const broad__window_weights *weights, const broad__image *image)
{
    grid cells = {.width = how->width, .height = how->height, .stride = how->stride};
    int status = see(how->whole, how->out, &cells, weights, image);
    broad__free(cells.cell);
    broad__free(cells.count);
    return status;
}
