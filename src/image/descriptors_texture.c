#include <string.h>

#include "image/descriptors_work.h"

enum { ABOVE = 2 * BROAD__PLANE_UNIT, BELOW = 8 * BROAD__PLANE_UNIT, BEST_LIGHT = 256 };

/* Patterns of 8 neighbours around, as bits; those that a rotation by an eighth or a mirror turns into each other are one. */
static const unsigned char pattern_class[256] = {
    0,  1,  1,  2,  1,  3,  2,  4,  1,  5,  3,  6,  2,  6,  4,  7,  1,  8,  5,  9,  3,  10, 6,  11, 2,  9,  6,  12, 4,
    11, 7,  13, 1,  5,  8,  9,  5,  14, 9,  15, 3,  14, 10, 16, 6,  17, 11, 18, 2,  9,  9,  19, 6,  16, 12, 20, 4,  15,
    11, 20, 7,  18, 13, 21, 1,  3,  5,  6,  8,  10, 9,  11, 5,  14, 14, 17, 9,  16, 15, 18, 3,  10, 14, 16, 10, 22, 16,
    23, 6,  16, 17, 24, 11, 23, 18, 25, 2,  6,  9,  12, 9,  16, 19, 20, 6,  17, 16, 24, 12, 24, 20, 26, 4,  11, 15, 20,
    11, 23, 20, 27, 7,  18, 18, 26, 13, 25, 21, 28, 1,  2,  3,  4,  5,  6,  6,  7,  8,  9,  10, 11, 9,  12, 11, 13, 5,
    9,  14, 15, 14, 16, 17, 18, 9,  19, 16, 20, 15, 20, 18, 21, 3,  6,  10, 11, 14, 17, 16, 18, 10, 16, 22, 23, 16, 24,
    23, 25, 6,  12, 16, 20, 17, 24, 24, 26, 11, 20, 23, 27, 18, 26, 25, 28, 2,  4,  6,  7,  9,  11, 12, 13, 9,  15, 16,
    18, 19, 20, 20, 21, 6,  11, 17, 18, 16, 23, 24, 25, 12, 20, 24, 26, 20, 27, 26, 28, 4,  7,  11, 13, 15, 18, 20, 21,
    11, 18, 23, 25, 20, 26, 27, 28, 7,  13, 18, 21, 18, 25, 26, 28, 13, 21, 25, 28, 21, 28, 28, 29,
};

/* Where bins of the steepness begin, from the second on: 2^(k / 1.5) - 1 levels. */
static const int edge_begin[BROAD__EDGE_BINS - 1] = {9, 24, 48, 86, 145, 240, 390, 629, 1008, 1610, 2565};

typedef struct edge_tables {
    unsigned char bin[BROAD__PLANE_ROOM];
    uint16_t relative[BEST_LIGHT]; /* 32 levels of steepness over brightness + 10, times 2048 */
} edge_tables;

static void fill_edge_tables(edge_tables *out)
{
    memset(out->bin, BROAD__EDGE_BINS - 1, sizeof out->bin);
    for (int k = BROAD__EDGE_BINS - 2; k >= 0; k--) memset(out->bin, k, (size_t)edge_begin[k]);
    for (unsigned i = 0; i < BEST_LIGHT; i++) out->relative[i] = (uint16_t)(32 * 2048 / (i + 10));
}

/* Patterns of `count` pixels, of which the first is up[1] .. down[1]. */
static void pattern_row(unsigned char *restrict below, unsigned char *restrict above, const int16_t *restrict up,
                        const int16_t *restrict middle, const int16_t *restrict down, size_t count)
{
    for (size_t x = 0; x < count; x++) {
        int16_t low = (int16_t)(middle[x + 1] - BELOW), high = (int16_t)(middle[x + 1] + ABOVE);
        int16_t around[8] = {up[x], up[x + 1], up[x + 2], middle[x + 2], down[x + 2], down[x + 1], down[x], middle[x]};
        uint16_t lows = 0, highs = 0;
        for (int k = 0; k < 8; k++) {
            lows = (uint16_t)(lows | (around[k] >= low ? 1u << k : 0u));
            highs = (uint16_t)(highs | (around[k] >= high ? 1u << k : 0u));
        }
        below[x] = (unsigned char)lows;
        above[x] = (unsigned char)highs;
    }
}

static void classes(unsigned char *row, size_t count)
{
    for (size_t x = 0; x < count; x++) row[x] = pattern_class[row[x]];
}

/* About the length of the gradient: the larger part and 3/8 of the smaller. */
static int steepness(const int16_t *up, const int16_t *middle, const int16_t *down, size_t x)
{
    int across = middle[x + 2] - middle[x], along = down[x + 1] - up[x + 1];
    across = across < 0 ? -across : across;
    along = along < 0 ? -along : along;
    int larger = across > along ? across : along, smaller = across > along ? along : across;
    return larger + ((3 * smaller) >> 3);
}

static void edge_row(unsigned char *restrict plain, unsigned char *restrict relative, const edge_tables *tables,
                     const int16_t *restrict up, const int16_t *restrict middle, const int16_t *restrict down,
                     size_t count)
{
    for (size_t x = 0; x < count; x++) {
        int steep = steepness(up, middle, down, x);
        int part = (steep * tables->relative[middle[x + 1] / BROAD__PLANE_UNIT]) >> 11;
        plain[x] = tables->bin[steep];
        relative[x] = tables->bin[part < BROAD__PLANE_ROOM ? part : BROAD__PLANE_ROOM - 1];
    }
}

void broad__count_texture(const broad__descriptor_grid *grid, broad__descriptor_work *work, const broad__plane *plane,
                          size_t at, size_t edge_at)
{
    size_t width = plane->width;
    if (width < 3 || plane->height < 3) return;
    edge_tables tables;
    fill_edge_tables(&tables);
    broad__count_edges(work, grid, width);
    unsigned char *below = work->bins, *above = below + work->bins_stride;
    for (size_t y = 1; y + 1 < plane->height; y++) {
        const int16_t *middle = plane->values + y * width, *up = middle - width, *down = middle + width;
        size_t cell_row = y * grid->height / plane->height;
        pattern_row(below, above, up, middle, down, width - 2);
        classes(below, width - 2);
        classes(above, width - 2);
        broad__count_row(grid, work, cell_row, at, below, 1, width - 2);
        broad__count_row(grid, work, cell_row, at + BROAD__PATTERN_BINS, above, 1, width - 2);
        if (edge_at == (size_t)-1) continue;
        edge_row(below, above, &tables, up, middle, down, width - 2);
        broad__count_row(grid, work, cell_row, edge_at, below, 1, width - 2);
        broad__count_row(grid, work, cell_row, edge_at + BROAD__EDGE_BINS, above, 1, width - 2);
    }
}
