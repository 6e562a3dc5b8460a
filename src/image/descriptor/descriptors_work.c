#include "image/descriptor/descriptors_work.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/vector.h"

#define INLINE static inline __attribute__((always_inline))

static size_t half_of(size_t size) { return size > 1 ? size / 2 : 1; }

INLINE void halve_loop(broad__plane *out, const broad__plane *plane)
{
    size_t right = plane->width > 1, down = plane->height > 1 ? plane->width : 0;
    for (size_t y = 0; y < out->height; y++) {
        const int16_t *from = plane->values + 2 * y * plane->width;
        int16_t *to = out->values + y * out->width;
        for (size_t x = 0; x < out->width; x++)
            to[x] =
                (int16_t)((from[2 * x] + from[2 * x + right] + from[2 * x + down] + from[2 * x + right + down] + 2) >>
                          2);
    }
}

/* Brightness (ITU-R BT.601) and the least of the three. */
INLINE void planes_loop(int16_t *restrict light, int16_t *restrict haze, const unsigned char *restrict rgb,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint16_t red = rgb[3 * i], green = rgb[3 * i + 1], blue = rgb[3 * i + 2], least = red < green ? red : green;
        uint16_t sum = (uint16_t)(77 * red + 150 * green + 29 * blue);
        light[i] = (int16_t)(sum >> 4);
        haze[i] = (int16_t)((least < blue ? least : blue) * BROAD__PLANE_UNIT);
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void planes_avx2(int16_t *light, int16_t *haze, const unsigned char *rgb,
                                                        size_t count)
{
    planes_loop(light, haze, rgb, count);
}

__attribute__((target("avx2"))) static void halve_avx2(broad__plane *out, const broad__plane *plane)
{
    halve_loop(out, plane);
}
#endif

void broad__plane_halve(broad__plane *out, const broad__plane *plane)
{
#if defined(__x86_64__)
    if (broad__vector_best() != BROAD__VECTOR_PLAIN) {
        halve_avx2(out, plane);
        return;
    }
#endif
    halve_loop(out, plane);
}

static void fill_planes(broad__descriptor_work *work, const broad__image *image)
{
    int16_t *light = work->light[0].values, *haze = work->haze[0].values;
    size_t count = image->width * image->height;
#if defined(__x86_64__)
    if (broad__vector_best() != BROAD__VECTOR_PLAIN) {
        planes_avx2(light, haze, image->pixels, count);
        return;
    }
#endif
    planes_loop(light, haze, image->pixels, count);
}

/* Pairs of rows are added before pairs of columns, which lie three bytes apart. sums: a row of the picture. */
INLINE void half_loop(unsigned char *restrict to, uint16_t *restrict sums, const unsigned char *restrict upper,
                      const unsigned char *restrict lower, size_t width, size_t right)
{
    for (size_t i = 0; i < 6 * width - 3 + right; i++) sums[i] = (uint16_t)(upper[i] + lower[i] + 1);
    for (size_t x = 0; x < width; x++)
        for (size_t c = 0; c < 3; c++)
            to[3 * x + c] = (unsigned char)((sums[6 * x + c] + sums[6 * x + c + right]) >> 2);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void half_avx2(unsigned char *to, uint16_t *sums, const unsigned char *upper,
                                                      const unsigned char *lower, size_t width, size_t right)
{
    half_loop(to, sums, upper, lower, width, right);
}
#endif

static void half_row(unsigned char *to, uint16_t *sums, const unsigned char *upper, const unsigned char *lower,
                     size_t width, size_t right)
{
#if defined(__x86_64__)
    if (broad__vector_best() != BROAD__VECTOR_PLAIN) {
        half_avx2(to, sums, upper, lower, width, right);
        return;
    }
#endif
    half_loop(to, sums, upper, lower, width, right);
}

static void fill_half(broad__descriptor_work *work, const broad__image *image)
{
    const broad__plane *half = &work->light[1];
    size_t stride = image->width * 3, right = image->width > 1 ? 3 : 0, down = image->height > 1 ? stride : 0;
    for (size_t y = 0; y < half->height; y++) {
        const unsigned char *upper = image->pixels + 2 * y * stride;
        half_row(work->half + y * half->width * 3, work->words, upper, upper + down, half->width, right);
    }
}

static size_t round_up(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* Sizes of the planes; the values are put at *used from `block` on, unless that is NULL. */
static void place_planes(broad__plane *planes, size_t count, size_t width, size_t height, size_t *used,
                         unsigned char *block)
{
    for (size_t i = 0; i < count; i++) {
        planes[i] = (broad__plane){width, height, NULL};
        if (block) planes[i].values = (int16_t *)(void *)(block + *used);
        *used += round_up(width * height * sizeof(int16_t));
        width = half_of(width);
        height = half_of(height);
    }
}

static size_t place_all(broad__descriptor_work *work, const broad__image *image, size_t grid_width,
                        unsigned char *block)
{
    size_t width = image->width, height = image->height, used = 0;
    place_planes(work->light, BROAD__PLANE_LEVELS, width, height, &used, block);
    place_planes(work->haze, BROAD__TEXTURE_LEVELS, width, height, &used, block);
    place_planes(work->red_blue, BROAD__PLANE_LEVELS - 1, half_of(width), half_of(height), &used, block);
    place_planes(work->saturation, BROAD__PLANE_LEVELS - 1, half_of(width), half_of(height), &used, block);
    work->word_stride = round_up(width);
    if (block) work->half = block + used;
    used += round_up(half_of(width) * half_of(height) * 3);
    if (block) work->words = (uint16_t *)(void *)(block + used);
    used += work->word_stride * BROAD__WORD_ROWS * sizeof *work->words;
    if (block) work->edges = (size_t *)(void *)(block + used);
    return used + (grid_width + 1) * sizeof *work->edges;
}

int broad__descriptor_work_make(broad__descriptor_work *out, const broad__image *image, size_t grid_width)
{
    *out = (broad__descriptor_work){0};
    out->block = broad__alloc_unset(place_all(out, image, grid_width, NULL), 1); /* all of it is filled */
    if (!out->block) return BROAD_NO_MEMORY;
    place_all(out, image, grid_width, out->block);
    fill_planes(out, image);
    fill_half(out, image);
    for (size_t i = 1; i < BROAD__PLANE_LEVELS; i++) broad__plane_halve(&out->light[i], &out->light[i - 1]);
    for (size_t i = 1; i < BROAD__TEXTURE_LEVELS; i++) broad__plane_halve(&out->haze[i], &out->haze[i - 1]);
    return BROAD_OK;
}

void broad__descriptor_work_free(broad__descriptor_work *work)
{
    broad__free(work->block);
    *work = (broad__descriptor_work){0};
}

/* The first pixel of `cell` of `cells` along a side of `size` pixels. */
static size_t cell_begin(size_t cell, size_t cells, size_t size) { return (cell * size + cells - 1) / cells; }

void broad__count_edges(broad__descriptor_work *work, const broad__descriptor_grid *grid, size_t width)
{
    for (size_t cell = 0; cell <= grid->width; cell++) work->edges[cell] = cell_begin(cell, grid->width, width);
}

size_t broad__count_step(const broad__plane *plane) { return plane->height >= BROAD__MANY_ROWS ? 2 : 1; }

static void count_words(uint32_t *restrict counts, const unsigned char *restrict table, const uint16_t *restrict words,
                        size_t count)
{
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        counts[table[words[i]]]++;
        counts[BROAD__DESCRIPTORS + table[words[i + 1]]]++;
        counts[2 * BROAD__DESCRIPTORS + table[words[i + 2]]]++;
        counts[3 * BROAD__DESCRIPTORS + table[words[i + 3]]]++;
    }
    for (; i < count; i++) counts[table[words[i]]]++;
}

void broad__count_row(const broad__descriptor_grid *grid, const broad__descriptor_work *work, size_t cell_row,
                      size_t at, broad__counted_row row)
{
    uint32_t *cell = grid->counts + cell_row * grid->width * BROAD__COUNT_LANES * BROAD__DESCRIPTORS + at;
    for (size_t c = 0; c < grid->width; c++, cell += BROAD__COUNT_LANES * BROAD__DESCRIPTORS) {
        size_t begin = work->edges[c] > row.first ? work->edges[c] - row.first : 0;
        size_t end = work->edges[c + 1] > row.first ? work->edges[c + 1] - row.first : 0;
        if (end > row.count) end = row.count;
        if (begin < end) count_words(cell, row.table, row.words + begin, end - begin);
    }
}
