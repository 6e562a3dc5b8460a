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

/*
 * Planes are summed exactly: L in hundredths of 1/255, (R + G)/2 - B in halves of it. All but the saturation are whole
 * numbers, which may be added in any order, so that the sums of L, R - G and (R + G)/2 - B and of their squares come from those
 * of the three colours and of their products. The saturations of a window are added one after the other, row by row; those of
 * windows side by side at the same time.
 */
enum { RR, GG, BB, RG, RB, GB, PRODUCTS };
enum { ABREAST = 8 };

/* Of one window. */
typedef struct colour_sums {
    int64_t colour[3], product[PRODUCTS], max, min, max_square, min_square;
    double saturation, saturation_square;
} colour_sums;

/* A row of the picture, colour by colour. */
typedef struct colour_row {
    int16_t *red, *green, *blue, *max, *min;
    double *saturation;
} colour_row;

INLINE void split_row(const colour_row *row, const unsigned char *restrict rgb, size_t width)
{
    int16_t *restrict red = row->red, *restrict green = row->green, *restrict blue = row->blue;
    int16_t *restrict max = row->max, *restrict min = row->min;
    double *restrict saturation = row->saturation;
    for (size_t x = 0; x < width; x++) {
        int16_t r = rgb[3 * x], g = rgb[3 * x + 1], b = rgb[3 * x + 2], most = r > g ? r : g, least = r < g ? r : g;
        red[x] = r;
        green[x] = g;
        blue[x] = b;
        max[x] = most > b ? most : b;
        min[x] = least < b ? least : b;
    }
    for (size_t x = 0; x < width; x++) saturation[x] = (double)(max[x] - min[x]) / (max[x] + 255e-6);
}

/* The sum of a window's row of products fits. */
INLINE int32_t product_sum(const int16_t *restrict a, const int16_t *restrict b, size_t count)
{
    int32_t sum = 0;
    for (size_t x = 0; x < count; x++) sum += (int32_t)a[x] * b[x];
    return sum;
}

INLINE int32_t plain_sum(const int16_t *restrict a, size_t count)
{
    int32_t sum = 0;
    for (size_t x = 0; x < count; x++) sum += a[x];
    return sum;
}

/* All but the saturation of the pixels from `at` on. */
INLINE void add_whole(colour_sums *sums, const colour_row *row, size_t at, size_t count)
{
    const int16_t *r = row->red + at, *g = row->green + at, *b = row->blue + at, *max = row->max + at,
                  *min = row->min + at;
    sums->colour[0] += plain_sum(r, count);
    sums->colour[1] += plain_sum(g, count);
    sums->colour[2] += plain_sum(b, count);
    sums->product[RR] += product_sum(r, r, count);
    sums->product[GG] += product_sum(g, g, count);
    sums->product[BB] += product_sum(b, b, count);
    sums->product[RG] += product_sum(r, g, count);
    sums->product[RB] += product_sum(r, b, count);
    sums->product[GB] += product_sum(g, b, count);
    sums->max += plain_sum(max, count);
    sums->min += plain_sum(min, count);
    sums->max_square += product_sum(max, max, count);
    sums->min_square += product_sum(min, min, count);
}

static void add_saturation(colour_sums *sums, const double *saturation, size_t count)
{
    for (size_t x = 0; x < count; x++) {
        sums->saturation += saturation[x];
        sums->saturation_square += saturation[x] * saturation[x];
    }
}

/* Of ABREAST whole windows side by side. */
INLINE void add_saturations(colour_sums *sums, const double *restrict saturation)
{
    double turned[BROAD__WINDOW_SIDE][ABREAST], sum[ABREAST], square[ABREAST];
    for (size_t i = 0; i < ABREAST; i++) {
        sum[i] = sums[i].saturation;
        square[i] = sums[i].saturation_square;
        for (size_t x = 0; x < BROAD__WINDOW_SIDE; x++) turned[x][i] = saturation[i * BROAD__WINDOW_SIDE + x];
    }
    for (size_t x = 0; x < BROAD__WINDOW_SIDE; x++)
        for (size_t i = 0; i < ABREAST; i++) {
            sum[i] += turned[x][i];
            square[i] += turned[x][i] * turned[x][i];
        }
    for (size_t i = 0; i < ABREAST; i++) {
        sums[i].saturation = sum[i];
        sums[i].saturation_square = square[i];
    }
}

/* One row of pixels to the windows that it runs through. */
INLINE void row_moments(colour_sums *sums, const colour_row *row, const unsigned char *rgb,
                        const broad__window_cuts *across)
{
    size_t count = across->count, i = 0;
    int last_is_whole = across->at[count] - across->at[count - 1] == BROAD__WINDOW_SIDE;
    split_row(row, rgb, across->at[count]);
    for (size_t w = 0; w + 1 < count + (size_t)last_is_whole; w++)
        add_whole(&sums[w], row, across->at[w], BROAD__WINDOW_SIDE);
    if (!last_is_whole)
        add_whole(&sums[count - 1], row, across->at[count - 1], across->at[count] - across->at[count - 1]);
    for (; i + ABREAST <= count - !last_is_whole; i += ABREAST)
        add_saturations(&sums[i], row->saturation + across->at[i]);
    for (; i < count; i++) add_saturation(&sums[i], row->saturation + across->at[i], across->at[i + 1] - across->at[i]);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void row_moments_avx2(colour_sums *sums, const colour_row *row,
                                                             const unsigned char *rgb, const broad__window_cuts *across)
{
    row_moments(sums, row, rgb, across);
}
#endif

static void add_moments(colour_sums *sums, const colour_row *row, const unsigned char *rgb,
                        const broad__window_cuts *across)
{
#if defined(__x86_64__)
    if (broad__vector_best() != BROAD__VECTOR_PLAIN) {
        row_moments_avx2(sums, row, rgb, across);
        return;
    }
#endif
    row_moments(sums, row, rgb, across);
}

/* Means and deviations of one window of so many pixels. */
static void moments(float *out, const colour_sums *sums, double count)
{
    static const double units[BROAD__WINDOW_PLANES] = {25500, 255, 510, 1, 255, 255};
    const int64_t *c = sums->colour, *p = sums->product;
    const double sum[BROAD__WINDOW_PLANES] = {(double)(30 * c[0] + 59 * c[1] + 11 * c[2]),
                                              (double)(c[0] - c[1]),
                                              (double)(c[0] + c[1] - 2 * c[2]),
                                              sums->saturation,
                                              (double)sums->max,
                                              (double)sums->min};
    const double square[BROAD__WINDOW_PLANES] = {
        (double)(900 * p[RR] + 3481 * p[GG] + 121 * p[BB] + 2 * (1770 * p[RG] + 330 * p[RB] + 649 * p[GB])),
        (double)(p[RR] + p[GG] - 2 * p[RG]),
        (double)(p[RR] + p[GG] + 4 * p[BB] + 2 * p[RG] - 4 * p[RB] - 4 * p[GB]),
        sums->saturation_square,
        (double)sums->max_square,
        (double)sums->min_square};
    for (size_t i = 0; i < BROAD__WINDOW_PLANES; i++) {
        double mean = sum[i] / count, variance = square[i] / count - mean * mean;
        out[i] = (float)(mean / units[i]);
        out[BROAD__WINDOW_PLANES + i] = variance > 0 ? (float)(sqrt(variance) / units[i]) : 0;
    }
}

/* Of all windows; one row of them after the other. */
static int describe_colours(float *out, const broad__image *image, const broad__window_cuts *across,
                            const broad__window_cuts *down)
{
    size_t width = image->width;
    double *block = broad__alloc_unset(width, sizeof(double) + 5 * sizeof(int16_t));
    if (!block) return BROAD_NO_MEMORY;
    int16_t *planes = (int16_t *)(void *)(block + width);
    const colour_row row = {planes, planes + width, planes + 2 * width, planes + 3 * width, planes + 4 * width, block};
    for (size_t band = 0; band < down->count; band++) {
        colour_sums sums[BROAD__WINDOW_SIDE] = {0};
        size_t top = down->at[band], bottom = down->at[band + 1];
        for (size_t y = top; y < bottom; y++) add_moments(sums, &row, image->pixels + y * width * 3, across);
        for (size_t i = 0; i < across->count; i++, out += BROAD__WINDOW_INPUTS)
            moments(out, &sums[i], (double)((across->at[i + 1] - across->at[i]) * (bottom - top)));
    }
    broad__free(block);
    return BROAD_OK;
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

/* Neighbouring pixels often have the same pattern. They are counted in lanes of their own, as adding to what was stored an
 * instruction ago is slow. */
enum { COUNT_LANES = 4, CLASS_ROOM = 32 };
typedef uint32_t class_counts[COUNT_LANES][CLASS_ROOM];

static void count_classes(class_counts counts, const uint16_t *codes, size_t count, const unsigned char fold[PATTERNS])
{
    size_t x = 0;
    for (; x + COUNT_LANES <= count; x += COUNT_LANES)
        for (size_t lane = 0; lane < COUNT_LANES; lane++) counts[lane][fold[codes[x + lane]]]++;
    for (; x < count; x++) counts[0][fold[codes[x]]]++;
}

static void classes_put(float *out, class_counts counts, size_t total)
{
    for (size_t i = 0; i < BROAD__WINDOW_CLASSES; i++) {
        uint32_t all = counts[0][i] + counts[1][i] + counts[2][i] + counts[3][i];
        out[i] = sqrtf((float)all / (float)total);
    }
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
    class_counts counts[BROAD__WINDOW_SIDE];
    memset(counts, 0, across->count * sizeof counts[0]);
    for (size_t y = from_y; y < to_y; y++) {
        const int16_t *here = one->plane + (y + 1) * one->stride;
        patterns_of_row(t->codes, here - one->stride, here, here + one->stride, one->width, threshold * one->scale);
        for (size_t i = 0; i < across->count; i++) {
            size_t from = across->at[i] >> t->depth, end = cut_at(across, i + 1, one->width, t->depth);
            count_classes(counts[i], t->codes + from, end - from, t->fold);
        }
    }
    for (size_t i = 0; i < across->count; i++) {
        size_t width = cut_at(across, i + 1, one->width, t->depth) - (across->at[i] >> t->depth);
        classes_put(out + i * BROAD__WINDOW_INPUTS, counts[i], width * (to_y - from_y));
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
    int status = describe_colours(out, image, across, down);
    if (status < 0) return status;
    return describe_patterns(out + (size_t)2 * BROAD__WINDOW_PLANES, image, across, down, fold);
}
