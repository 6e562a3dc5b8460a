#include "image/descriptors_work.h"

enum {
    SUMS = 3 * 255 + 1,
    SHIFT = 16,
    CONTRAST_ROOM = 1024, /* differences of -4096 to 4095 by eights */
};

/* Divisions, times 2^16. */
typedef struct colour_tables {
    uint32_t saturation[256]; /* 255 / largest */
    int32_t red_blue[SUMS];   /* 25.5 / (sum + 30): red minus blue in bins of 10 levels of 255 */
    int32_t magenta[SUMS];    /* 42.5 / (sum + 30): red + blue - 2 green in bins of 6 */
} colour_tables;

static void fill_tables(colour_tables *out)
{
    out->saturation[0] = 0;
    for (uint32_t i = 1; i < 256; i++) out->saturation[i] = ((255u << SHIFT) + i / 2) / i;
    for (int32_t i = 0; i < SUMS; i++) {
        out->red_blue[i] = (255 << SHIFT) / (10 * (i + 30));
        out->magenta[i] = (255 << SHIFT) / (6 * (i + 30));
    }
}

static unsigned char clip(int bin, int bins) { return (unsigned char)(bin < 0 ? 0 : bin >= bins ? bins - 1 : bin); }

static int least_of(int a, int b) { return a < b ? a : b; }

static int most_of(int a, int b) { return a > b ? a : b; }

/* The bins of a pixel, in the order of the names, each in a row of its own; then those with the brightness. */
static void colour_bins(unsigned char *bins, size_t stride, int16_t *out_red_blue, int16_t *out_saturation,
                        const unsigned char *rgb, int light, const colour_tables *tables)
{
    int red = rgb[0], green = rgb[1], blue = rgb[2], sum = red + green + blue;
    int most = most_of(most_of(red, green), blue), least = least_of(least_of(red, green), blue);
    int red_blue = red - blue, magenta = red + blue - 2 * green, chroma = most - least;
    int saturation = (int)(((uint32_t)chroma * tables->saturation[most] + (1u << (SHIFT - 1))) >> SHIFT);
    saturation = least_of(saturation, 255);
    /* Shifted so far up that nothing is negative before it is cut. */
    int red_blue_part = (red_blue * tables->red_blue[sum] + (64 << SHIFT)) >> SHIFT;
    int magenta_part = (magenta * tables->magenta[sum] + (128 << SHIFT)) >> SHIFT;
    const unsigned char values[BROAD__COLOURS + 1] = {
        (unsigned char)(red >> 4),
        (unsigned char)(green >> 4),
        (unsigned char)(blue >> 4),
        (unsigned char)(saturation >> 4),
        (unsigned char)(light >> 4),
        clip((red_blue + 96 + 12 * 32) / 12 - 32, BROAD__COLOUR_BINS),
        clip(red_blue_part - 64 + 8, BROAD__COLOUR_BINS),
        (unsigned char)(least >> 4),
        clip((magenta + 64 + 8 * 128) / 8 - 128, BROAD__COLOUR_BINS),
        clip(magenta_part - 128 + 8, BROAD__COLOUR_BINS),
        clip(chroma >> 3, BROAD__COLOUR_BINS),
        (unsigned char)(clip((red_blue + 96 + 16 * 32) / 16 - 32, BROAD__RED_BLUE_BINS) * BROAD__LIGHT_BINS +
                        (light >> 5)),
    };
    for (size_t k = 0; k <= BROAD__COLOURS; k++) bins[k * stride] = values[k];
    *out_red_blue = (int16_t)((red_blue + 256) * (BROAD__PLANE_UNIT / 2));
    *out_saturation = (int16_t)(saturation * BROAD__PLANE_UNIT);
}

void broad__count_colour(const broad__descriptor_grid *grid, broad__descriptor_work *work)
{
    const broad__plane *light = &work->light[1];
    size_t width = light->width;
    colour_tables tables;
    fill_tables(&tables);
    broad__count_edges(work, grid, width);
    for (size_t y = 0; y < light->height; y++) {
        for (size_t x = 0, i = y * width; x < width; x++, i++)
            colour_bins(work->bins + x, work->bins_stride, &work->red_blue[0].values[i], &work->saturation[0].values[i],
                        work->half + 3 * i, light->values[i] / BROAD__PLANE_UNIT, &tables);
        size_t cell_row = y * grid->height / light->height;
        for (size_t k = 0; k <= BROAD__COLOURS; k++)
            broad__count_row(grid, work, cell_row, BROAD__AT_COLOUR + k * BROAD__COLOUR_BINS,
                             work->bins + k * work->bins_stride, 0, width);
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
    for (int i = 0; i < CONTRAST_ROOM; i++) {
        unsigned char bin = 0;
        while (bin < BROAD__CONTRAST_BINS - 1 && (i - CONTRAST_ROOM / 2) * 8 >= begin[bin] * unit) bin++;
        out[i] = bin;
    }
}

/* Each pixel of planes[0] against the mean of the 2^scale x 2^scale pixels that it is one of. */
static void count_against(const broad__descriptor_grid *grid, broad__descriptor_work *work, const broad__plane *planes,
                          size_t scale, size_t at, const unsigned char table[CONTRAST_ROOM])
{
    const broad__plane *fine = &planes[0], *coarse = &planes[scale];
    for (size_t y = 0; y < fine->height; y++) {
        size_t above = y >> scale < coarse->height ? y >> scale : coarse->height - 1;
        const int16_t *from = fine->values + y * fine->width, *mean = coarse->values + above * coarse->width;
        for (size_t x = 0; x < fine->width; x++) {
            size_t over = x >> scale < coarse->width ? x >> scale : coarse->width - 1;
            work->bins[x] = table[(unsigned)(from[x] - mean[over] + 4096) / 8];
        }
        broad__count_row(grid, work, y * grid->height / fine->height, at, work->bins, 0, fine->width);
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
