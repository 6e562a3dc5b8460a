#include "image/descriptor/descriptors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "image/descriptor/descriptors_colour.h"
#include "image/descriptor/descriptors_texture.h"

typedef struct histogram {
    const char *name;
    size_t bins;
} histogram;

/* In order; sizes of pictures are counted from 0, each half the last. */
static const histogram histograms[] = {
    {"light_lbp0_below", BROAD__PATTERN_BINS},
    {"light_lbp0_above", BROAD__PATTERN_BINS},
    {"light_lbp0_beyond", BROAD__PATTERN_BINS},
    {"light_lbp1_below", BROAD__PATTERN_BINS},
    {"light_lbp1_above", BROAD__PATTERN_BINS},
    {"light_lbp1_beyond", BROAD__PATTERN_BINS},
    {"light_lbp2_below", BROAD__PATTERN_BINS},
    {"light_lbp2_above", BROAD__PATTERN_BINS},
    {"light_lbp2_beyond", BROAD__PATTERN_BINS},
    {"light_lbp3_below", BROAD__PATTERN_BINS},
    {"light_lbp3_above", BROAD__PATTERN_BINS},
    {"light_lbp3_beyond", BROAD__PATTERN_BINS},
    {"haze_lbp0_below", BROAD__PATTERN_BINS},
    {"haze_lbp0_above", BROAD__PATTERN_BINS},
    {"haze_lbp0_beyond", BROAD__PATTERN_BINS},
    {"haze_lbp1_below", BROAD__PATTERN_BINS},
    {"haze_lbp1_above", BROAD__PATTERN_BINS},
    {"haze_lbp1_beyond", BROAD__PATTERN_BINS},
    {"haze_lbp2_below", BROAD__PATTERN_BINS},
    {"haze_lbp2_above", BROAD__PATTERN_BINS},
    {"haze_lbp2_beyond", BROAD__PATTERN_BINS},
    {"haze_lbp3_below", BROAD__PATTERN_BINS},
    {"haze_lbp3_above", BROAD__PATTERN_BINS},
    {"haze_lbp3_beyond", BROAD__PATTERN_BINS},
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

const char *broad__descriptor_kind(size_t index)
{
    /* By how the name begins, the longer ones first; others are words already. */
    static const char *const kinds[][2] = {
        {"light_lbp", "texture of the brightness"},
        {"haze_lbp", "texture of the haze"},
        {"contrast", "contrast"},
        {"red_blue_by_light", "red minus blue, by brightness"},
        {"red_blue_part", "red minus blue, relative"},
        {"red_blue", "red minus blue"},
        {"magenta_part", "magenta, relative"},
        {"light", "brightness"},
        {"least", "least of the three colours"},
    };
    size_t h = 0;
    while (h + 1 < HISTOGRAMS && index >= histograms[h].bins) index -= histograms[h++].bins;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strncmp(histograms[h].name, kinds[i][0], strlen(kinds[i][0])) == 0) return kinds[i][1];
    return histograms[h].name;
}

/* Adds what the lanes of a cell counted into the first of them, and that into the whole. */
static void fold_lanes(const broad__descriptor_grid *grid)
{
    for (size_t cell = 0; cell < grid->width * grid->height; cell++) {
        uint32_t *counts = grid->counts + cell * BROAD__COUNT_LANES * BROAD__DESCRIPTORS;
        for (size_t lane = 1; lane < BROAD__COUNT_LANES; lane++)
            for (size_t i = 0; i < BROAD__DESCRIPTORS; i++) counts[i] += counts[lane * BROAD__DESCRIPTORS + i];
        for (size_t i = 0; i < BROAD__DESCRIPTORS; i++) grid->whole[i] += counts[i];
    }
}

static void count_all(const broad__descriptor_grid *grid, broad__descriptor_work *work)
{
    for (size_t i = 0; i < BROAD__TEXTURE_LEVELS; i++) {
        size_t at = i * BROAD__PATTERNS * BROAD__PATTERN_BINS;
        broad__count_texture(grid, work, &work->light[i], BROAD__AT_LIGHT + at);
        broad__count_texture(grid, work, &work->haze[i], BROAD__AT_HAZE + at);
    }
    broad__count_colour(grid, work);
    broad__count_contrast(grid, work);
    fold_lanes(grid);
}

int broad__descriptor_grid_make(broad__descriptor_grid *out, const broad__image *image, size_t width, size_t height)
{
    *out = (broad__descriptor_grid){width, height, NULL, NULL};
    broad__descriptor_work work = {0};
    broad__image small = {0};
    size_t cells, to_width, to_height;
    int status = BROAD_NO_MEMORY;
    if (broad__multiply(&cells, width, height) < 0) return broad__fail_memory((size_t)-1);
    out->counts = broad__alloc_array(cells + 1, BROAD__COUNT_LANES * BROAD__DESCRIPTORS * sizeof *out->counts);
    if (!out->counts) goto cleanup;
    out->whole = out->counts + cells * BROAD__COUNT_LANES * BROAD__DESCRIPTORS;
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

void broad__descriptor_grid_read(float *out, const broad__descriptor_grid *grid, broad__grid_area area, int others)
{
    uint32_t counts[BROAD__DESCRIPTORS] = {0};
    for (size_t y = area.top; y < area.bottom; y++)
        for (size_t x = area.left; x < area.right; x++) {
            const uint32_t *cell = grid->counts + (y * grid->width + x) * BROAD__COUNT_LANES * BROAD__DESCRIPTORS;
            for (size_t i = 0; i < BROAD__DESCRIPTORS; i++) counts[i] += cell[i];
        }
    if (others)
        for (size_t i = 0; i < BROAD__DESCRIPTORS; i++) counts[i] = grid->whole[i] - counts[i];
    to_roots(out, counts, grid->whole);
}

int broad__descriptors(float *out, const broad__image *image)
{
    broad__descriptor_grid grid;
    int status = broad__descriptor_grid_make(&grid, image, 1, 1);
    if (status < 0) return status;
    broad__descriptor_grid_read(out, &grid, (broad__grid_area){0, 0, 1, 1}, 0);
    broad__descriptor_grid_free(&grid);
    return BROAD_OK;
}
