/* What a window looks like: moments of colour, and how often each texture pattern occurs, at four scales. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/vector.h"
#include "image/descriptor/windows_local.h"

#define INLINE static inline __attribute__((always_inline))

enum { PATTERNS = 256 };
static const int thresholds[BROAD__WINDOW_THRESHOLDS] = {2, -8}; /* of 255 */

void broad__window_cut(broad__window_cuts *out, size_t side)
{
    size_t whole = side / BROAD__WINDOW_SIDE, left = side % BROAD__WINDOW_SIDE;
    out->count = whole + (left * 2 >= BROAD__WINDOW_SIDE);
    if (!out->count) out->count = 1;
    for (size_t i = 0; i < out->count; i++) out->at[i] = i * BROAD__WINDOW_SIDE;
    out->at[out->count] = side;
}

/* The smallest of the 8 rotations of a pattern. */
static unsigned min_rotation(unsigned pattern)
{
    unsigned min = pattern;
    for (int i = 1; i < 8; i++) {
        pattern = (pattern >> 1 | pattern << 7) & 0xFF;
        if (pattern < min) min = pattern;
    }
    return min;
}

static unsigned mirrored(unsigned pattern)
{
    unsigned mirror = 0;
    for (int i = 0; i < 8; i++) mirror |= (pattern >> i & 1) << (7 - i);
    return mirror;
}

/* Classes are numbered by their smallest pattern, which comes before all others of its class. */
void broad__window_fold(unsigned char out[PATTERNS])
{
    unsigned char classes = 0;
    for (unsigned pattern = 0; pattern < PATTERNS; pattern++) {
        unsigned least = min_rotation(pattern), other = min_rotation(mirrored(pattern));
        if (other < least) least = other;
        out[pattern] = least == pattern ? classes++ : out[least];
    }
}

/* ---- moments of colour ------------------------------------------------------------------------------------------ */

/* Planes are summed exactly: L in hundredths of 1/255, (R + G)/2 - B in halves of it. All but the saturation are whole
 * numbers, which may be added in any order; the sums of a stretch fit. */
enum { STRETCH = 64 };

INLINE void stretch_moments(double sum[BROAD__WINDOW_PLANES], double square[BROAD__WINDOW_PLANES],
                            const unsigned char *restrict rgb, size_t count)
{
    double saturation[STRETCH];
    int32_t sums[BROAD__WINDOW_PLANES] = {0}, squares[BROAD__WINDOW_PLANES] = {0};
    uint64_t light_squares = 0;
    for (size_t x = 0; x < count; x++) {
        int32_t r = rgb[3 * x], g = rgb[3 * x + 1], b = rgb[3 * x + 2], max = r > g ? r : g, min = r < g ? r : g;
        int32_t light = 30 * r + 59 * g + 11 * b, red = r - g, yellow = r + g - 2 * b;
        max = max > b ? max : b;
        min = min < b ? min : b;
        saturation[x] = (max - min) / (max + 255e-6);
        sums[0] += light;
        sums[1] += red;
        sums[2] += yellow;
        sums[4] += max;
        sums[5] += min;
        light_squares += (uint64_t)(uint32_t)light * (uint32_t)light;
        squares[1] += red * red;
        squares[2] += yellow * yellow;
        squares[4] += max * max;
        squares[5] += min * min;
    }
    for (size_t i = 0; i < BROAD__WINDOW_PLANES; i++) {
        sum[i] += sums[i];
        square[i] += squares[i];
    }
    square[0] += (double)light_squares;
    for (size_t x = 0; x < count; x++) {
        sum[3] += saturation[x];
        square[3] += saturation[x] * saturation[x];
    }
}

INLINE void row_moments(double sum[BROAD__WINDOW_PLANES], double square[BROAD__WINDOW_PLANES], const unsigned char *rgb,
                        size_t count)
{
    for (size_t x = 0; x < count; x += STRETCH)
        stretch_moments(sum, square, rgb + 3 * x, count - x < STRETCH ? count - x : STRETCH);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void row_moments_avx2(double sum[BROAD__WINDOW_PLANES],
                                                             double square[BROAD__WINDOW_PLANES],
                                                             const unsigned char *rgb, size_t count)
{
    row_moments(sum, square, rgb, count);
}
#endif

static void add_moments(double sum[BROAD__WINDOW_PLANES], double square[BROAD__WINDOW_PLANES], const unsigned char *rgb,
                        size_t count)
{
#if defined(__x86_64__)
    if (broad__vector_best() != BROAD__VECTOR_PLAIN) {
        row_moments_avx2(sum, square, rgb, count);
        return;
    }
#endif
    row_moments(sum, square, rgb, count);
}

static void moments(float *out, const broad__image *image, size_t x, size_t y, size_t to_x, size_t to_y)
{
    static const double units[BROAD__WINDOW_PLANES] = {25500, 255, 510, 1, 255, 255};
    double sum[BROAD__WINDOW_PLANES] = {0}, square[BROAD__WINDOW_PLANES] = {0};
    double count = (double)((to_x - x) * (to_y - y));
    for (size_t row = y; row < to_y; row++)
        add_moments(sum, square, image->pixels + (row * image->width + x) * 3, to_x - x);
    for (size_t i = 0; i < BROAD__WINDOW_PLANES; i++) {
        double mean = sum[i] / count, variance = square[i] / count - mean * mean;
        out[i] = (float)(mean / units[i]);
        out[BROAD__WINDOW_PLANES + i] = variance > 0 ? (float)(sqrt(variance) / units[i]) : 0;
    }
}

/* ---- texture patterns -------------------------------------------------------------------------------------------- */

/* One level of the pyramid, with a border that repeats its edge; pixel (0, 0) is at plane[stride + 1]. Values are sums over
 * 4^level pixels, which are whole numbers and fit: thresholds are multiplied alike. */
typedef struct level {
    size_t width, height, stride;
    int16_t *plane;
    int scale;
} level;

static int level_init(level *out, size_t width, size_t height, int scale)
{
    *out = (level){width, height, width + 2, NULL, scale};
    out->plane = broad__alloc_array((width + 2) * (height + 2), sizeof *out->plane);
    return out->plane ? BROAD_OK : BROAD_NO_MEMORY;
}

static void level_edge(level *one)
{
    for (size_t y = 1; y <= one->height; y++) {
        int16_t *row = one->plane + y * one->stride;
        row[0] = row[1];
        row[one->width + 1] = row[one->width];
    }
    memcpy(one->plane, one->plane + one->stride, one->stride * sizeof *one->plane);
    memcpy(one->plane + (one->height + 1) * one->stride, one->plane + one->height * one->stride,
           one->stride * sizeof *one->plane);
}

static void level_min_colour(level *out, const broad__image *image)
{
    for (size_t y = 0; y < image->height; y++) {
        const unsigned char *rgb = image->pixels + y * image->width * 3;
        int16_t *row = out->plane + (y + 1) * out->stride + 1;
        for (size_t x = 0; x < image->width; x++) {
            unsigned char min = rgb[3 * x] < rgb[3 * x + 1] ? rgb[3 * x] : rgb[3 * x + 1];
            row[x] = min < rgb[3 * x + 2] ? min : rgb[3 * x + 2];
        }
    }
    level_edge(out);
}

/* A side of one pixel stays one: the border then stands for the second. */
static void level_halve(level *out, const level *from)
{
    for (size_t y = 0; y < out->height; y++) {
        const int16_t *upper = from->plane + (2 * y + 1) * from->stride + 1, *lower = upper + from->stride;
        int16_t *row = out->plane + (y + 1) * out->stride + 1;
        for (size_t x = 0; x < out->width; x++)
            row[x] = (int16_t)(upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1]);
    }
    level_edge(out);
}

/* Bit i: neighbour i, in a circle, is not less than the pixel and the threshold together. */
INLINE void patterns_loop(uint16_t *restrict out, const int16_t *restrict above, const int16_t *restrict here,
                          const int16_t *restrict below, size_t width, int threshold)
{
    for (size_t x = 1; x <= width; x++) {
        int16_t bar = (int16_t)(here[x] + threshold);
        uint16_t bits = above[x - 1] >= bar;
        bits = (uint16_t)(bits | (uint16_t)(above[x] >= bar) << 1);
        bits = (uint16_t)(bits | (uint16_t)(above[x + 1] >= bar) << 2);
        bits = (uint16_t)(bits | (uint16_t)(here[x + 1] >= bar) << 3);
        bits = (uint16_t)(bits | (uint16_t)(below[x + 1] >= bar) << 4);
        bits = (uint16_t)(bits | (uint16_t)(below[x] >= bar) << 5);
        bits = (uint16_t)(bits | (uint16_t)(below[x - 1] >= bar) << 6);
        out[x - 1] = (uint16_t)(bits | (uint16_t)(here[x - 1] >= bar) << 7);
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void patterns_avx2(uint16_t *out, const int16_t *above, const int16_t *here,
                                                          const int16_t *below, size_t width, int threshold)
{
    patterns_loop(out, above, here, below, width, threshold);
}
#endif

static void patterns_of_row(uint16_t *out, const int16_t *above, const int16_t *here, const int16_t *below,
                            size_t width, int threshold)
{
#if defined(__x86_64__)
    if (broad__vector_best() != BROAD__VECTOR_PLAIN) {
        patterns_avx2(out, above, here, below, width, threshold);
        return;
    }
#endif
    patterns_loop(out, above, here, below, width, threshold);
}

/* Where a cut lies on a level. Cuts inside are multiples of the window's side; the last is the end of the level. */
static size_t cut_at(const broad__window_cuts *cuts, size_t i, size_t end, unsigned depth)
{
    return i < cuts->count ? cuts->at[i] >> depth : end;
}

static void patterns_fold(float *out, const uint32_t counts[PATTERNS], size_t total, const unsigned char fold[PATTERNS])
{
    uint32_t classes[BROAD__WINDOW_CLASSES] = {0};
    for (size_t i = 0; i < PATTERNS; i++) classes[fold[i]] += counts[i];
    for (size_t i = 0; i < BROAD__WINDOW_CLASSES; i++) out[i] = sqrtf((float)classes[i] / (float)total);
}

/* The patterns of one level. */
typedef struct pattern_task {
    const level *one;
    unsigned depth; /* of the level */
    const broad__window_cuts *across, *down;
    const unsigned char *fold;
    uint16_t *codes; /* scratch: one row */
} pattern_task;

/* One row of windows for one threshold. out: the histogram of its first window. */
static void patterns_of_band(float *out, const pattern_task *t, size_t band, int threshold)
{
    const level *one = t->one;
    const broad__window_cuts *across = t->across;
    size_t from_y = t->down->at[band] >> t->depth, to_y = cut_at(t->down, band + 1, one->height, t->depth);
    uint32_t counts[BROAD__WINDOW_SIDE][PATTERNS];
    memset(counts, 0, across->count * sizeof counts[0]);
    for (size_t y = from_y; y < to_y; y++) {
        const int16_t *here = one->plane + (y + 1) * one->stride;
        patterns_of_row(t->codes, here - one->stride, here, here + one->stride, one->width, threshold * one->scale);
        for (size_t i = 0; i < across->count; i++) {
            size_t end = cut_at(across, i + 1, one->width, t->depth);
            for (size_t x = across->at[i] >> t->depth; x < end; x++) counts[i][t->codes[x]]++;
        }
    }
    for (size_t i = 0; i < across->count; i++) {
        size_t width = cut_at(across, i + 1, one->width, t->depth) - (across->at[i] >> t->depth);
        patterns_fold(out + i * BROAD__WINDOW_INPUTS, counts[i], width * (to_y - from_y), t->fold);
    }
}

static void patterns_of_level(float *out, const pattern_task *t)
{
    for (size_t i = 0; i < t->down->count; i++) {
        float *band = out + i * t->across->count * BROAD__WINDOW_INPUTS;
        for (size_t k = 0; k < BROAD__WINDOW_THRESHOLDS; k++)
            patterns_of_band(band + k * BROAD__WINDOW_CLASSES, t, i, thresholds[k]);
    }
}

static int describe_patterns(float *out, const broad__image *image, const broad__window_cuts *across,
                             const broad__window_cuts *down, const unsigned char fold[PATTERNS])
{
    level one = {0}, next = {0};
    uint16_t *codes = broad__alloc_array(image->width, sizeof *codes);
    int status = codes ? level_init(&one, image->width, image->height, 1) : BROAD_NO_MEMORY;
    if (status < 0) goto cleanup;
    level_min_colour(&one, image);
    for (unsigned depth = 0;; depth++) {
        patterns_of_level(out, &(pattern_task){&one, depth, across, down, fold, codes});
        out += (size_t)BROAD__WINDOW_THRESHOLDS * BROAD__WINDOW_CLASSES;
        if (depth + 1 == BROAD__WINDOW_LEVELS) break;
        status =
            level_init(&next, one.width > 1 ? one.width / 2 : 1, one.height > 1 ? one.height / 2 : 1, one.scale * 4);
        if (status < 0) goto cleanup;
        level_halve(&next, &one);
        broad__free(one.plane);
        one = next;
        next.plane = NULL;
    }

cleanup:
    broad__free(next.plane);
    broad__free(one.plane);
    broad__free(codes);
    return status;
}

int broad__window_describe(float *out, const broad__image *image, const broad__window_cuts *across,
                           const broad__window_cuts *down, const unsigned char fold[256])
{
    for (size_t y = 0; y < down->count; y++)
        for (size_t x = 0; x < across->count; x++)
            moments(out + (y * across->count + x) * BROAD__WINDOW_INPUTS, image, across->at[x], down->at[y],
                    across->at[x + 1], down->at[y + 1]);
    return describe_patterns(out + (size_t)2 * BROAD__WINDOW_PLANES, image, across, down, fold);
}
