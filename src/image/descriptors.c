#include "image/descriptors.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/status.h"
#include "image/descriptors_work.h"

enum { VIEW_GRID = 5 };

typedef struct histogram {
    const char *name;
    size_t bins;
} histogram;

/* In order; sizes of pictures are counted from 0, each half the last. */
static const histogram histograms[] = {
    {"light_lbp0_below", BROAD__PATTERN_BINS},
    {"light_lbp0_above", BROAD__PATTERN_BINS},
    {"light_lbp1_below", BROAD__PATTERN_BINS},
    {"light_lbp1_above", BROAD__PATTERN_BINS},
    {"light_lbp2_below", BROAD__PATTERN_BINS},
    {"light_lbp2_above", BROAD__PATTERN_BINS},
    {"light_lbp3_below", BROAD__PATTERN_BINS},
    {"light_lbp3_above", BROAD__PATTERN_BINS},
    {"haze_lbp0_below", BROAD__PATTERN_BINS},
    {"haze_lbp0_above", BROAD__PATTERN_BINS},
    {"haze_lbp1_below", BROAD__PATTERN_BINS},
    {"haze_lbp1_above", BROAD__PATTERN_BINS},
    {"haze_lbp2_below", BROAD__PATTERN_BINS},
    {"haze_lbp2_above", BROAD__PATTERN_BINS},
    {"haze_lbp3_below", BROAD__PATTERN_BINS},
    {"haze_lbp3_above", BROAD__PATTERN_BINS},
    {"edge0", BROAD__EDGE_BINS},
    {"edge0_relative", BROAD__EDGE_BINS},
    {"edge1", BROAD__EDGE_BINS},
    {"edge1_relative", BROAD__EDGE_BINS},
    {"edge2", BROAD__EDGE_BINS},
    {"edge2_relative", BROAD__EDGE_BINS},
    {"edge3", BROAD__EDGE_BINS},
    {"edge3_relative", BROAD__EDGE_BINS},
    {"red", BROAD__COLOUR_BINS},
    {"green", BROAD__COLOUR_BINS},
    {"blue", BROAD__COLOUR_BINS},
    {"saturation", BROAD__COLOUR_BINS},
    {"light", BROAD__COLOUR_BINS},
    {"red_blue", BROAD__COLOUR_BINS},
    {"red_blue_part", BROAD__COLOUR_BINS},
    {"least", BROAD__COLOUR_BINS},
    {"magenta", BROAD__COLOUR_BINS},
    {"magenta_part", BROAD__COLOUR_BINS},
    {"chroma", BROAD__COLOUR_BINS},
    {"red_blue_by_light", BROAD__RED_BLUE_BINS *BROAD__LIGHT_BINS},
    {"contrast0_light", BROAD__CONTRAST_BINS},
    {"contrast1_light", BROAD__CONTRAST_BINS},
    {"contrast2_light", BROAD__CONTRAST_BINS},
    {"contrast0_red_blue", BROAD__CONTRAST_BINS},
    {"contrast1_red_blue", BROAD__CONTRAST_BINS},
    {"contrast2_red_blue", BROAD__CONTRAST_BINS},
    {"contrast0_saturation", BROAD__CONTRAST_BINS},
    {"contrast1_saturation", BROAD__CONTRAST_BINS},
    {"contrast2_saturation", BROAD__CONTRAST_BINS},
};
enum { HISTOGRAMS = sizeof histograms / sizeof histograms[0] };

size_t broad__descriptor_count(void) { return BROAD__DESCRIPTORS; }

void broad__descriptor_name(char out[BROAD__DESCRIPTOR_NAME_BYTES], size_t index)
{
    size_t h = 0;
    while (h + 1 < HISTOGRAMS && index >= histograms[h].bins) index -= histograms[h++].bins;
    snprintf(out, BROAD__DESCRIPTOR_NAME_BYTES, "%s_%zu", histograms[h].name, index);
}

/* Adds what the lanes counted into the first of them. */
static void fold_lanes(const broad__descriptor_grid *grid)
{
    for (size_t cell = 0; cell < grid->width * grid->height; cell++) {
        uint32_t *counts = grid->counts + cell * BROAD__COUNT_LANES * BROAD__DESCRIPTORS;
        for (size_t lane = 1; lane < BROAD__COUNT_LANES; lane++)
            for (size_t i = 0; i < BROAD__DESCRIPTORS; i++) counts[i] += counts[lane * BROAD__DESCRIPTORS + i];
    }
}

static void count_all(const broad__descriptor_grid *grid, broad__descriptor_work *work)
{
    const size_t patterns = 2 * BROAD__PATTERN_BINS, edges = 2 * BROAD__EDGE_BINS;
    for (size_t i = 0; i < BROAD__TEXTURE_LEVELS; i++) {
        broad__count_texture(grid, work, &work->light[i], BROAD__AT_LIGHT + i * patterns, BROAD__AT_EDGE + i * edges);
        broad__count_texture(grid, work, &work->haze[i], BROAD__AT_HAZE + i * patterns, BROAD__NO_EDGES);
    }
    broad__count_colour(grid, work);
    broad__count_contrast(grid, work);
    fold_lanes(grid);
}

int broad__descriptor_grid_make(broad__descriptor_grid *out, const broad__image *image, size_t width, size_t height)
{
    *out = (broad__descriptor_grid){width, height, NULL};
    broad__descriptor_work work = {0};
    broad__image small = {0};
    size_t cells, to_width, to_height;
    int status = BROAD_NO_MEMORY;
    if (broad__multiply(&cells, width, height) < 0) return broad__fail_memory((size_t)-1);
    out->counts = broad__alloc_array(cells, BROAD__COUNT_LANES * BROAD__DESCRIPTORS * sizeof *out->counts);
    if (!out->counts) goto cleanup;
    broad__image_fit(&to_width, &to_height, image->width, image->height, BROAD__DESCRIPTOR_SIDE);
    if (to_width != image->width || to_height != image->height) {
        status = broad__image_resize(&small, image, to_width, to_height);
        if (status < 0) goto cleanup;
    }
    status = broad__descriptor_work_make(&work, small.pixels ? &small : image, width);
    if (status < 0) goto cleanup;
    count_all(out, &work);
cleanup:
    broad__descriptor_work_free(&work);
    broad__image_free(&small);
    if (status < 0) broad__descriptor_grid_free(out);
    return status;
}

void broad__descriptor_grid_free(broad__descriptor_grid *grid)
{
    broad__free(grid->counts);
    *grid = (broad__descriptor_grid){0};
}

typedef struct part {
    size_t left, top, right, bottom;
    int others;
} part;

static void sum_cells(uint32_t out[BROAD__DESCRIPTORS], const broad__descriptor_grid *grid, const part *of)
{
    const uint32_t *counts = grid->counts;
    for (size_t i = 0; i < BROAD__DESCRIPTORS; i++) out[i] = 0;
    for (size_t y = 0; y < grid->height; y++)
        for (size_t x = 0; x < grid->width; x++) {
            int inside = x >= of->left && x < of->right && y >= of->top && y < of->bottom;
            if (inside == !of->others)
                for (size_t i = 0; i < BROAD__DESCRIPTORS; i++) out[i] += counts[i];
            counts += BROAD__COUNT_LANES * BROAD__DESCRIPTORS;
        }
}

static uint32_t total_of(const uint32_t *counts, size_t bins)
{
    uint32_t total = 0;
    for (size_t i = 0; i < bins; i++) total += counts[i];
    return total;
}

/* A histogram without counts is that of `whole`. */
static void to_roots(float *out, const uint32_t *counts, const uint32_t *whole)
{
    for (size_t h = 0, at = 0; h < HISTOGRAMS; at += histograms[h++].bins) {
        const uint32_t *from = counts + at;
        uint32_t total = total_of(from, histograms[h].bins);
        if (!total) {
            from = whole + at;
            total = total_of(from, histograms[h].bins);
        }
        float all = (float)(total ? total : 1);
        for (size_t i = 0; i < histograms[h].bins; i++) out[at + i] = sqrtf((float)(int32_t)from[i] / all);
    }
}

static void read_part(float *out, const broad__descriptor_grid *grid, const part *of,
                      const uint32_t whole[BROAD__DESCRIPTORS])
{
    uint32_t counts[BROAD__DESCRIPTORS];
    sum_cells(counts, grid, of);
    to_roots(out, counts, whole);
}

void broad__descriptor_grid_read(float *out, const broad__descriptor_grid *grid, size_t left, size_t top, size_t right,
                                 size_t bottom, int others)
{
    uint32_t whole[BROAD__DESCRIPTORS];
    sum_cells(whole, grid, &(part){0, 0, grid->width, grid->height, 0});
    read_part(out, grid, &(part){left, top, right, bottom, others}, whole);
}

int broad__descriptors(float *out, const broad__image *image)
{
    broad__descriptor_grid grid;
    int status = broad__descriptor_grid_make(&grid, image, 1, 1);
    if (status < 0) return status;
    broad__descriptor_grid_read(out, &grid, 0, 0, 1, 1, 0);
    broad__descriptor_grid_free(&grid);
    return BROAD_OK;
}

int broad__descriptors_views(float *out, const broad__image *image)
{
    broad__descriptor_grid grid;
    int status = broad__descriptor_grid_make(&grid, image, VIEW_GRID, VIEW_GRID);
    if (status < 0) return status;
    uint32_t whole[BROAD__DESCRIPTORS];
    sum_cells(whole, &grid, &(part){0, 0, VIEW_GRID, VIEW_GRID, 0});
    for (size_t side = VIEW_GRID; side >= 3; side--)
        for (size_t y = 0; y + side <= VIEW_GRID; y++)
            for (size_t x = 0; x + side <= VIEW_GRID; x++, out += BROAD__DESCRIPTORS)
                read_part(out, &grid, &(part){x, y, x + side, y + side, 0}, whole);
    broad__descriptor_grid_free(&grid);
    return BROAD_OK;
}
