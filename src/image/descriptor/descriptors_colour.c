#include <string.h>

#include "base/vector.h"
#include "image/descriptor/descriptors_colour.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    RED_BLUE_VALUES = 2 * 255 + 1, /* red minus blue, from -255 on */
    MAGENTA_VALUES = 4 * 255 + 1,  /* red and blue minus twice green, from -510 on */
    CONTRAST_VALUES = 1024,        /* differences of -4096 to 4095 by eights */
};

/* The order of the names. */
enum { RED, GREEN, BLUE, SATURATION, LIGHT, RED_BLUE, RED_BLUE_PART, LEAST, MAGENTA, MAGENTA_PART, CHROMA, JOINT };

/* From what a row of words holds to bins. */
typedef struct colour_tables {
    unsigned char level[256], chroma[256], itself[256];
    unsigned char red_blue[RED_BLUE_VALUES], magenta[MAGENTA_VALUES];
    const unsigned char *of[BROAD__WORD_ROWS];
} colour_tables;

/* Bins of `step` values, in the middle of which lies the middle of the table. */
static void fill_around(unsigned char *out, int values, int step)
{
    for (int i = 0; i < values; i++) {
        int from_first = i - values / 2 + step * BROAD__COLOUR_BINS / 2;
        int bin = from_first < 0 ? 0 : from_first / step;
        out[i] = (unsigned char)(bin < BROAD__COLOUR_BINS ? bin : BROAD__COLOUR_BINS - 1);
    }
}

static void fill_tables(colour_tables *out)
{
    for (int i = 0; i < 256; i++) {
        out->itself[i] = (unsigned char)i;
        out->level[i] = (unsigned char)(i / 16);
        out->chroma[i] = (unsigned char)(i < 128 ? i / 8 : BROAD__COLOUR_BINS - 1);
    }
    fill_around(out->red_blue, RED_BLUE_VALUES, 12);
    fill_around(out->magenta, MAGENTA_VALUES, 8);
    const unsigned char *const of[BROAD__WORD_ROWS] = {
        [RED] = out->level,       [GREEN] = out->level,   [BLUE] = out->level,          [SATURATION] = out->level,
        [LIGHT] = out->level,     [LEAST] = out->level,   [RED_BLUE] = out->red_blue,   [RED_BLUE_PART] = out->itself,
        [MAGENTA] = out->magenta, [CHROMA] = out->chroma, [MAGENTA_PART] = out->itself, [JOINT] = out->itself,
    };
    memcpy(out->of, of, sizeof of);
}

INLINE int min_of(int a, int b) { return a < b ? a : b; }

INLINE int max_of(int a, int b) { return a > b ? a : b; }

/* Differences of two colours, or of two and twice a third. */
INLINE void difference_row(uint16_t *restrict out, const uint16_t *restrict a, const uint16_t *restrict b,
                           const uint16_t *restrict twice, size_t count)
{
    if (twice)
        for (size_t x = 0; x < count; x++) out[x] = (uint16_t)(a[x] + b[x] - 2 * twice[x] + MAGENTA_VALUES / 2);
    else
        for (size_t x = 0; x < count; x++) out[x] = (uint16_t)(a[x] - b[x] + RED_BLUE_VALUES / 2);
}

/* Differences, as they are in their row, in bins of a part of the sum of the colours. 30 levels are added to it: what is
 * nearly black has no colour. */
INLINE void part_row(uint16_t *restrict out, const uint16_t *restrict differences, int values, float bins,
                     const uint16_t *restrict sums, size_t count)
{
    const float middle = BROAD__COLOUR_BINS * 0.5f, last = BROAD__COLOUR_BINS - 1;
    const int zero = values / 2;
    for (size_t x = 0; x < count; x++) {
        float bin = (float)(differences[x] - zero) * bins / (float)(sums[x] + 30) + middle;
        bin = bin > 0 ? bin : 0;
        out[x] = (uint16_t)(int)(bin < last ? bin : last);
    }
}

INLINE void joint_row(uint16_t *restrict out, const uint16_t *restrict red_blue, const uint16_t *restrict light,
                      size_t count)
{
    for (size_t x = 0; x < count; x++) {
        int bin = max_of(red_blue[x] - RED_BLUE_VALUES / 2 + 96, 0) / 16;
        out[x] = (uint16_t)(min_of(bin, BROAD__RED_BLUE_BINS - 1) * BROAD__LIGHT_BINS + light[x] / 32);
    }
}

/* LEAST, CHROMA and SATURATION from the three colours. */
INLINE void saturation_rows(uint16_t *const row[BROAD__WORD_ROWS], size_t count)
{
    const uint16_t *restrict red = row[RED], *restrict green = row[GREEN], *restrict blue = row[BLUE];
    uint16_t *restrict least = row[LEAST], *restrict chroma = row[CHROMA], *restrict saturation = row[SATURATION];
    for (size_t x = 0; x < count; x++) {
        int max = max_of(max_of(red[x], green[x]), blue[x]), min = min_of(min_of(red[x], green[x]), blue[x]);
        least[x] = (uint16_t)min;
        chroma[x] = (uint16_t)(max - min);
        saturation[x] = (uint16_t)(int)((float)(255 * (max - min)) / (float)max_of(max, 1) + 0.5f);
    }
}

/* All rows of words for row `y`, and its part of two planes. */
INLINE void colour_loops(broad__descriptor_work *work, size_t y)
{
    const broad__plane *light = &work->light[1];
    size_t width = light->width;
    uint16_t *row[BROAD__WORD_ROWS];
    for (size_t k = 0; k < BROAD__WORD_ROWS; k++) row[k] = work->words + k * work->word_stride;
    const unsigned char *rgb = work->half + y * width * 3;
    uint16_t *sums = row[JOINT];
    for (size_t x = 0; x < width; x++) {
        row[RED][x] = rgb[3 * x];
        row[GREEN][x] = rgb[3 * x + 1];
        row[BLUE][x] = rgb[3 * x + 2];
        sums[x] = (uint16_t)(rgb[3 * x] + rgb[3 * x + 1] + rgb[3 * x + 2]);
        row[LIGHT][x] = (uint16_t)(light->values[y * width + x] / BROAD__PLANE_UNIT);
    }
    difference_row(row[RED_BLUE], row[RED], row[BLUE], NULL, width);
    difference_row(row[MAGENTA], row[RED], row[BLUE], row[GREEN], width);
    part_row(row[RED_BLUE_PART], row[RED_BLUE], RED_BLUE_VALUES, 25.5f, sums, width);
    part_row(row[MAGENTA_PART], row[MAGENTA], MAGENTA_VALUES, 42.5f, sums, width);
    joint_row(row[JOINT], row[RED_BLUE], row[LIGHT], width);
    saturation_rows(row, width);
    int16_t *red_blue = work->red_blue[0].values + y * width, *saturation = work->saturation[0].values + y * width;
    for (size_t x = 0; x < width; x++) {
        red_blue[x] = (int16_t)((row[RED_BLUE][x] + 1) * (BROAD__PLANE_UNIT / 2));
        saturation[x] = (int16_t)(row[SATURATION][x] * BROAD__PLANE_UNIT);
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void colour_avx2(broad__descriptor_work *work, size_t y)
{
    colour_loops(work, y);
}
#endif

static void colour_rows(broad__descriptor_work *work, size_t y)
{
#if defined(__x86_64__)
    if (broad__vector_best() != BROAD__VECTOR_PLAIN) {
        colour_avx2(work, y);
        return;
    }
#endif
    colour_loops(work, y);
}

void broad__count_colour(const broad__descriptor_grid *grid, broad__descriptor_work *work)
{
    const broad__plane *light = &work->light[1];
    size_t step = broad__count_step(light);
    colour_tables tables;
    fill_tables(&tables);
    broad__count_edges(work, grid, light->width);
    for (size_t y = 0; y < light->height; y++) {
        colour_rows(work, y);
        for (size_t k = 0; k < BROAD__WORD_ROWS && y % step == 0; k++)
            broad__count_row(grid, work, y * grid->height / light->height, BROAD__AT_COLOUR + k * BROAD__COLOUR_BINS,
                             (broad__counted_row){tables.of[k], work->words + k * work->word_stride, 0, light->width});
    }
    for (size_t i = 1; i + 1 < BROAD__PLANE_LEVELS; i++) {
        broad__plane_halve(&work->red_blue[i], &work->red_blue[i - 1]);
        broad__plane_halve(&work->saturation[i], &work->saturation[i - 1]);
    }
}

/* Differences of planes by eights, in bins that begin at 2, 5, 10, 20 and 40 levels of `unit` either way. */
static void fill_contrast(unsigned char out[CONTRAST_VALUES], int unit)
{
    static const int begin[BROAD__CONTRAST_BINS - 1] = {-40, -20, -10, -5, -2, 2, 5, 10, 20, 40};
    int at = 0;
    for (int bin = 0; bin < BROAD__CONTRAST_BINS; bin++) {
        int end = bin + 1 < BROAD__CONTRAST_BINS ? begin[bin] * unit / 8 + CONTRAST_VALUES / 2 : CONTRAST_VALUES;
        while (at < end) out[at++] = (unsigned char)bin;
    }
}

/* The coarse row as wide as the fine one. */
static void spread_row(uint16_t *restrict out, const int16_t *restrict coarse, size_t coarse_width, size_t scale,
                       size_t width)
{
    size_t full = coarse_width << scale, x = 0, step = (size_t)1 << scale;
    for (size_t c = 0; x < (full < width ? full : width); c++)
        for (size_t k = 0; k < step && x < width; k++) out[x++] = (uint16_t)coarse[c];
    for (; x < width; x++) out[x] = (uint16_t)coarse[coarse_width - 1];
}

static void contrast_row(uint16_t *restrict out, const int16_t *restrict fine, const uint16_t *restrict mean,
                         size_t width)
{
    for (size_t x = 0; x < width; x++) out[x] = (uint16_t)((uint16_t)(fine[x] + 4096 - mean[x]) >> 3);
}

/* Each pixel of planes[0] against the mean of the 2^scale x 2^scale pixels that it is one of. */
static void count_against(const broad__descriptor_grid *grid, broad__descriptor_work *work, const broad__plane *planes,
                          size_t scale, size_t at, const unsigned char table[CONTRAST_VALUES])
{
    const broad__plane *fine = &planes[0], *coarse = &planes[scale];
    uint16_t *mean = work->words, *words = mean + work->word_stride;
    for (size_t y = 0; y < fine->height; y += broad__count_step(fine)) {
        if (y % ((size_t)1 << scale) == 0 && y >> scale < coarse->height)
            spread_row(mean, coarse->values + (y >> scale) * coarse->width, coarse->width, scale, fine->width);
        contrast_row(words, fine->values + y * fine->width, mean, fine->width);
        broad__count_row(grid, work, y * grid->height / fine->height, at,
                         (broad__counted_row){table, words, 0, fine->width});
    }
}

void broad__count_contrast(const broad__descriptor_grid *grid, broad__descriptor_work *work)
{
    const broad__plane *const planes[BROAD__CONTRASTS] = {work->light + 1, work->red_blue, work->saturation};
    unsigned char table[CONTRAST_VALUES];
    broad__count_edges(work, grid, work->light[1].width);
    size_t at = BROAD__AT_CONTRAST;
    for (size_t i = 0; i < BROAD__CONTRASTS; i++) {
        fill_contrast(table, i == 1 ? BROAD__PLANE_UNIT / 2 : BROAD__PLANE_UNIT);
        for (size_t scale = 2; scale < 2 + BROAD__CONTRAST_SCALES; scale++, at += BROAD__CONTRAST_BINS)
            count_against(grid, work, planes[i], scale, at, table);
    }
}
