#include "image/descriptor/descriptors_texture.h"

#include "base/vector.h"

#define INLINE static inline __attribute__((always_inline))

/* Levels. */
static const int brighter_by[BROAD__PATTERNS] = {-8, 2, 5};

/* Patterns of 8 neighbours around, as bits; those that an eighth of a turn or a mirror makes of each other are one. */
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

INLINE uint16_t bit(int16_t value, int16_t min, unsigned index) { return (uint16_t)(value >= min ? 1u << index : 0u); }

/* Which neighbours of `count` pixels, of which the first is middle[1], are at least as bright as that one and `more`. */
INLINE void pattern_loop(uint16_t *restrict out, const int16_t *restrict up, const int16_t *restrict middle,
                         const int16_t *restrict down, int more, size_t count)
{
    for (size_t x = 0; x < count; x++) {
        int16_t min = (int16_t)(middle[x + 1] + more);
        out[x] = (uint16_t)(bit(up[x], min, 0) | bit(up[x + 1], min, 1) | bit(up[x + 2], min, 2) |
                            bit(middle[x + 2], min, 3) | bit(down[x + 2], min, 4) | bit(down[x + 1], min, 5) |
                            bit(down[x], min, 6) | bit(middle[x], min, 7));
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void pattern_avx2(uint16_t *out, const int16_t *up, const int16_t *middle,
                                                         const int16_t *down, int more, size_t count)
{
    pattern_loop(out, up, middle, down, more, count);
}
#endif

static void pattern_row(uint16_t *out, const int16_t *up, const int16_t *middle, const int16_t *down, int more,
                        size_t count)
{
#if defined(__x86_64__)
    if (broad__vector_best() != BROAD__VECTOR_PLAIN) {
        pattern_avx2(out, up, middle, down, more, count);
        return;
    }
#endif
    pattern_loop(out, up, middle, down, more, count);
}

void broad__count_texture(const broad__descriptor_grid *grid, broad__descriptor_work *work, const broad__plane *plane,
                          size_t at)
{
    if (plane->width < 3) return;
    size_t width = plane->width, count = width - 2, step = broad__count_step(plane);
    broad__count_edges(work, grid, width);
    for (size_t y = 1; y + 1 < plane->height; y += step) {
        const int16_t *middle = plane->values + y * width, *up = middle - width, *down = middle + width;
        for (size_t k = 0; k < BROAD__PATTERNS; k++) {
            pattern_row(work->words, up, middle, down, brighter_by[k] * BROAD__PLANE_UNIT, count);
            broad__count_row(grid, work, y * grid->height / plane->height, at + k * BROAD__PATTERN_BINS,
                             (broad__counted_row){pattern_class, work->words, 1, count});
        }
    }
}
