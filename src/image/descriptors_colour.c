#include <string.h>

#include "image/descriptors_work.h"

enum {
    RED_BLUE_ROOM = 2 * 255 + 1, /* red minus blue, from -255 on */
    MAGENTA_ROOM = 4 * 255 + 1,  /* red and blue minus twice green, from -510 on */
    CONTRAST_ROOM = 1024,        /* differences of -4096 to 4095 by eights */
};

/* The order of the names. */
enum { RED, GREEN, BLUE, SATURATION, LIGHT, RED_BLUE, RED_BLUE_PART, LEAST, MAGENTA, MAGENTA_PART, CHROMA, JOINT };

/* From what a row of words holds to bins. */
typedef struct colour_tables {
    unsigned char level[256], chroma[256], itself[256];
    unsigned char red_blue[RED_BLUE_ROOM], magenta[MAGENTA_ROOM];
    const unsigned char *of[BROAD__WORD_ROWS];
} colour_tables;

/* Bins of `step` values, in the middle of which lies the middle of the table. */
static void fill_around(unsigned char *out, int room, int step)
{
    for (int i = 0; i < room; i++) {
        int from_first = i - room / 2 + step * BROAD__COLOUR_BINS / 2;
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
    fill_around(out->red_blue, RED_BLUE_ROOM, 12);
    fill_around(out->magenta, MAGENTA_ROOM, 8);
    const unsigned char *const of[BROAD__WORD_ROWS] = {
        [RED] = out->level,       [GREEN] = out->level,   [BLUE] = out->level,          [SATURATION] = out->level,
        [LIGHT] = out->level,     [LEAST] = out->level,   [RED_BLUE] = out->red_blue,   [RED_BLUE_PART] = out->itself,
        [MAGENTA] = out->magenta, [CHROMA] = out->chroma, [MAGENTA_PART] = out->itself, [JOINT] = out->itself,
    };
    memcpy(out->of, of, sizeof of);
}

static int least_of(int a, int b) { return a < b ? a : b; }

static int most_of(int a, int b) { return a > b ? a : b; }

/* Bin of a value that is 0 between the two in the middle. */
static int bin_around(float value)
{
    float bin = value + BROAD__COLOUR_BINS / 2;
    bin = bin > 0 ? bin : 0;
    return (int)(bin < BROAD__COLOUR_BINS - 1 ? bin : BROAD__COLOUR_BINS - 1);
}

/* Differences of colours, and these as parts of the sum. A few levels are added to it: what is nearly black has no colour. */
static void difference_rows(uint16_t *restrict rows, size_t stride, size_t count)
{
    const uint16_t *reds = rows + RED * stride, *greens = rows + GREEN * stride, *blues = rows + BLUE * stride;
    const uint16_t *lights = rows + LIGHT * stride;
    for (size_t x = 0; x < count; x++) {
        int red = reds[x], green = greens[x], blue = blues[x], red_blue = red - blue, magenta = red + blue - 2 * green;
        float sum = (float)(red + green + blue + 30);
        int joint = least_of(most_of(red_blue + 96, 0) / 16, BROAD__RED_BLUE_BINS - 1);
        rows[RED_BLUE * stride + x] = (uint16_t)(red_blue + RED_BLUE_ROOM / 2);
        rows[MAGENTA * stride + x] = (uint16_t)(magenta + MAGENTA_ROOM / 2);
        rows[RED_BLUE_PART * stride + x] = (uint16_t)bin_around((float)red_blue * 25.5f / sum);
        rows[MAGENTA_PART * stride + x] = (uint16_t)bin_around((float)magenta * 42.5f / sum);
        rows[JOINT * stride + x] = (uint16_t)(joint * BROAD__LIGHT_BINS + lights[x] / 32);
    }
}

static void saturation_rows(uint16_t *restrict rows, size_t stride, size_t count)
{
    for (size_t x = 0; x < count; x++) {
        int red = rows[RED * stride + x], green = rows[GREEN * stride + x], blue = rows[BLUE * stride + x];
        int most = most_of(most_of(red, green), blue), least = least_of(least_of(red, green), blue);
        rows[LEAST * stride + x] = (uint16_t)least;
        rows[CHROMA * stride + x] = (uint16_t)(most - least);
        rows[SATURATION * stride + x] = (uint16_t)(int)((float)(255 * (most - least)) / (float)most_of(most, 1) + 0.5f);
    }
}

static void colour_rows(broad__descriptor_work *work, size_t y)
{
    const broad__plane *light = &work->light[1];
    size_t width = light->width, stride = work->word_stride;
    uint16_t *rows = work->words;
    const unsigned char *rgb = work->half + y * width * 3;
    const int16_t *lights = light->values + y * width;
    for (size_t x = 0; x < width; x++)
        for (size_t c = 0; c < 3; c++) rows[c * stride + x] = rgb[3 * x + c];
    for (size_t x = 0; x < width; x++) rows[LIGHT * stride + x] = (uint16_t)(lights[x] / BROAD__PLANE_UNIT);
    difference_rows(rows, stride, width);
    saturation_rows(rows, stride, width);
    int16_t *red_blue = work->red_blue[0].values + y * width, *saturation = work->saturation[0].values + y * width;
    for (size_t x = 0; x < width; x++) {
        red_blue[x] = (int16_t)((rows[RED_BLUE * stride + x] + 1) * (BROAD__PLANE_UNIT / 2));
        saturation[x] = (int16_t)(rows[SATURATION * stride + x] * BROAD__PLANE_UNIT);
    }
}

void broad__count_colour(const broad__descriptor_grid *grid, broad__descriptor_work *work)
{
    const broad__plane *light = &work->light[1];
    colour_tables tables;
    fill_tables(&tables);
    broad__count_edges(work, grid, light->width);
    for (size_t y = 0; y < light->height; y++) {
        colour_rows(work, y);
        for (size_t k = 0; k < BROAD__WORD_ROWS; k++)
            broad__count_row(grid, work, y * grid->height / light->height, BROAD__AT_COLOUR + k * BROAD__COLOUR_BINS,
                             tables.of[k], work->words + k * work->word_stride, 0, light->width);
    }
    for (size_t i = 1; i + 1 < BROAD__PLANE_LEVELS; i++) {
        broad__plane_halve(&work->red_blue[i], &work->red_blue[i - 1]);
        broad__plane_halve(&work->saturation[i], &work->saturation[i - 1]);
    }
}

/* Differences of planes by eights, in bins that begin at 2, 5, 10, 20 and 40 levels of `unit` either way. */
static void fill_contrast(unsigned char out[CONTRAST_ROOM], int unit)
{
    static const int begin[BROAD__CONTRAST_BINS - 1] = {-40, -20, -10, -5, -2, 2, 5, 10, 20, 40};
    int at = 0;
    for (int bin = 0; bin < BROAD__CONTRAST_BINS; bin++) {
        int end = bin + 1 < BROAD__CONTRAST_BINS ? begin[bin] * unit / 8 + CONTRAST_ROOM / 2 : CONTRAST_ROOM;
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
                          size_t scale, size_t at, const unsigned char table[CONTRAST_ROOM])
{
    const broad__plane *fine = &planes[0], *coarse = &planes[scale];
    uint16_t *mean = work->words, *words = mean + work->word_stride;
    for (size_t y = 0; y < fine->height; y++) {
        if (y % ((size_t)1 << scale) == 0 && y >> scale < coarse->height)
            spread_row(mean, coarse->values + (y >> scale) * coarse->width, coarse->width, scale, fine->width);
        contrast_row(words, fine->values + y * fine->width, mean, fine->width);
        broad__count_row(grid, work, y * grid->height / fine->height, at, table, words, 0, fine->width);
    }
}

void broad__count_contrast(const broad__descriptor_grid *grid, broad__descriptor_work *work)
{
    const broad__plane *const planes[BROAD__CONTRASTS] = {work->light + 1, work->red_blue, work->saturation};
    unsigned char table[CONTRAST_ROOM];
    broad__count_edges(work, grid, work->light[1].width);
    size_t at = BROAD__AT_CONTRAST;
    for (size_t i = 0; i < BROAD__CONTRASTS; i++) {
        fill_contrast(table, i == 1 ? BROAD__PLANE_UNIT / 2 : BROAD__PLANE_UNIT);
        for (size_t scale = 2; scale < 2 + BROAD__CONTRAST_SCALES; scale++, at += BROAD__CONTRAST_BINS)
            count_against(grid, work, planes[i], scale, at, table);
    }
}
