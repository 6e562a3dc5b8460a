#include "image/resample.h"

#include <string.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "base/memory.h"
#include "base/status.h"
#include "base/vector.h"

#define INLINE static inline __attribute__((always_inline))

static void axis_free(broad__axis *axis)
{
    broad__free(axis->first);
    broad__free(axis->count);
    broad__free(axis->weight);
    *axis = (broad__axis){0};
}

/* In units of 1/to source pixels, source pixel s covers [s to, (s+1) to), and pixel i covers [i from, (i+1) from): a
 * weight is the overlap of the two, exact before the last division. */
static void axis_shrink(broad__axis *axis, size_t from, size_t to)
{
    for (size_t i = 0; i < to; i++) {
        size_t low = i * from, high = low + from, first = low / to, last = (high - 1) / to;
        axis->first[i] = (uint32_t)first;
        axis->count[i] = (uint32_t)(last - first + 1);
        for (size_t s = first; s <= last; s++) {
            size_t a = s * to > low ? s * to : low, b = (s + 1) * to < high ? (s + 1) * to : high;
            axis->weight[i * axis->most + s - first] = (float)((double)(b - a) / (double)from);
        }
    }
}

/* Linear between the centres of source pixels; beyond the outermost centres, their colour. */
static void axis_stretch(broad__axis *axis, size_t from, size_t to)
{
    for (size_t i = 0; i < to; i++) {
        double place = ((double)i + 0.5) * (double)from / (double)to - 0.5;
        size_t first = place > 0 ? (size_t)place : 0;
        double fraction = place > 0 ? place - (double)first : 0;
        axis->first[i] = (uint32_t)first;
        axis->count[i] = first + 1 < from && fraction > 0 ? 2 : 1;
        axis->weight[2 * i] = axis->count[i] == 2 ? (float)(1 - fraction) : 1;
        axis->weight[2 * i + 1] = axis->count[i] == 2 ? (float)fraction : 0;
    }
}

/* Shrinking, a pixel covers from / to source pixels, and cuts one more at most. */
static size_t axis_most(size_t from, size_t to) { return to > from ? 2 : (from + to - 1) / to + 1; }

static int axis_make(broad__axis *axis, size_t from, size_t to)
{
    axis->most = axis_most(from, to);
    axis->first = broad__alloc_array(to, sizeof *axis->first);
    axis->count = broad__alloc_array(to, sizeof *axis->count);
    axis->weight = broad__alloc_array(to, axis->most * sizeof *axis->weight);
    if (!axis->first || !axis->count || !axis->weight) return BROAD_NO_MEMORY;
    if (to > from) axis_stretch(axis, from, to);
    else axis_shrink(axis, from, to);
    return BROAD_OK;
}

/* Numbers in a row that is summed: behind it lie those that weights of 0 meet, and one to make a vector of the last three. */
static size_t sum_count(size_t width, size_t to_width) { return (width + axis_most(width, to_width)) * 3 + 1; }

/* A row of a decoder. libjpeg-turbo writes past the caches where a row begins at a multiple of 16, though it is read at once:
 * ours begin beside one. */
enum { ODD = 1, LINE = 64 };

static size_t row_bytes(size_t width) { return (3 * width + ODD + LINE - 1) / LINE * LINE; }

size_t broad__resample_bytes(size_t width, size_t height, size_t to_width, size_t to_height)
{
    size_t picture = to_width * to_height * 3;
    if (width == to_width && height == to_height) return picture;
    size_t weights = to_width * axis_most(width, to_width) + to_height * axis_most(height, to_height);
    return picture + 2 * row_bytes(width) + (to_width + to_height) * 8 +
           (sum_count(width, to_width) + weights) * sizeof(float);
}

int broad__resample_begin(broad__resample *out, size_t width, size_t height, size_t to_width, size_t to_height)
{
    broad__resample rows = {.width = width, .height = height};
    if (!width || !height || (width | height | to_width | to_height) >> 31)
        return broad__fail(BROAD_BUG, "rows of %zu x %zu pixels to %zu x %zu", width, height, to_width, to_height);
    int status = broad__image_init(&rows.image, to_width, to_height);
    if (status == BROAD_OK && (width != to_width || height != to_height)) {
        status = BROAD_NO_MEMORY;
        rows.sum = broad__alloc_array(sum_count(width, to_width), sizeof(float));
        rows.block = broad__alloc(2 * row_bytes(width));
        if (rows.block) {
            rows.row = rows.block + ODD;
            rows.before = rows.row + row_bytes(width);
        }
        if (rows.sum && rows.block) status = axis_make(&rows.across, width, to_width);
        if (status == BROAD_OK) status = axis_make(&rows.down, height, to_height);
    }
    if (status < 0) broad__resample_free(&rows);
    else *out = rows;
    return status;
}

void broad__resample_free(broad__resample *rows)
{
    broad__image_free(&rows->image);
    axis_free(&rows->across);
    axis_free(&rows->down);
    broad__free(rows->sum);
    broad__free(rows->block);
    *rows = (broad__resample){0};
}

unsigned char *broad__resample_next(broad__resample *rows)
{
    return rows->row ? rows->row : rows->image.pixels + rows->taken * rows->width * 3;
}

static unsigned char to_byte(float value) { return (unsigned char)(value + 0.5f); }

/* A pixel and what lies behind it. */
typedef float quad __attribute__((vector_size(16)));
typedef int32_t whole_quad __attribute__((vector_size(16)));
#if !defined(__x86_64__)
typedef unsigned char byte_quad __attribute__((vector_size(4)));
#endif

/* The sum of `count` pixels; weights of 0 change nothing. */
INLINE void put_pixel(unsigned char *to, const float *from, const float *weight, size_t count, size_t written)
{
    quad sum = {0};
    for (size_t k = 0; k < count; k++) {
        quad pixel;
        memcpy(&pixel, from + 3 * k, sizeof pixel);
        sum += weight[k] * pixel;
    }
    whole_quad whole = __builtin_convertvector(sum + 0.5f, whole_quad);
#if defined(__x86_64__)
    __m128i packed = _mm_packs_epi32((__m128i)whole, (__m128i)whole);
    int32_t bytes = _mm_cvtsi128_si32(_mm_packus_epi16(packed, packed));
#else
    byte_quad bytes = __builtin_convertvector(whole, byte_quad);
#endif
    memcpy(to, &bytes, written);
}

/* All pixels but the last are written with a byte of the next. */
INLINE void put_pixels(unsigned char *to, const float *sum, const broad__axis *axis, size_t width, size_t count)
{
    for (size_t x = 0; x + 1 < width; x++)
        put_pixel(to + 3 * x, sum + 3 * (size_t)axis->first[x], axis->weight + x * count, count, 4);
    put_pixel(to + 3 * (width - 1), sum + 3 * (size_t)axis->first[width - 1], axis->weight + (width - 1) * count, count,
              3);
}

/* Few pixels are summed without a loop. */
INLINE void across_loop(unsigned char *to, const float *sum, const broad__axis *axis, size_t width)
{
    if (axis->most == 2) put_pixels(to, sum, axis, width, 2);
    else if (axis->most == 3) put_pixels(to, sum, axis, width, 3);
    else put_pixels(to, sum, axis, width, axis->most);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void across_avx2(unsigned char *to, const float *sum, const broad__axis *axis,
                                                        size_t width)
{
    across_loop(to, sum, axis, width);
}
#endif

/* The horizontal part: the summed row to a row of the result. */
static void flush_row(broad__resample *rows)
{
    size_t width = rows->image.width;
    unsigned char *to = rows->image.pixels + rows->made++ * width * 3;
    if (width == rows->width) {
        for (size_t i = 0; i < 3 * width; i++) to[i] = to_byte(rows->sum[i]);
        return;
    }
#if defined(__x86_64__)
    if (broad__vector_best() != BROAD__VECTOR_PLAIN) {
        across_avx2(to, rows->sum, &rows->across, width);
        return;
    }
#endif
    across_loop(to, rows->sum, &rows->across, width);
}

/* Each element by itself, so that every vector width gives the same bits. */
INLINE void sum_loop(float *restrict sum, const unsigned char *restrict row, float weight, int add, size_t count)
{
    if (add)
        for (size_t i = 0; i < count; i++) sum[i] += weight * (float)row[i];
    else
        for (size_t i = 0; i < count; i++) sum[i] = weight * (float)row[i];
}

/* Two rows, one after the other. */
INLINE void pair_loop(float *restrict sum, const unsigned char *restrict a, float a_weight,
                      const unsigned char *restrict b, float b_weight, int add, size_t count)
{
    if (add)
        for (size_t i = 0; i < count; i++) sum[i] = (sum[i] + a_weight * (float)a[i]) + b_weight * (float)b[i];
    else
        for (size_t i = 0; i < count; i++) sum[i] = a_weight * (float)a[i] + b_weight * (float)b[i];
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void sum_avx2(float *sum, const unsigned char *row, float weight, int add,
                                                     size_t count)
{
    sum_loop(sum, row, weight, add, count);
}

__attribute__((target("avx2"))) static void pair_avx2(float *sum, const unsigned char *a, float a_weight,
                                                      const unsigned char *b, float b_weight, int add, size_t count)
{
    pair_loop(sum, a, a_weight, b, b_weight, add, count);
}
#endif

/* The summed row becomes weight x row, or that is added to it. */
static void sum_row(broad__resample *rows, const unsigned char *row, float weight, int add)
{
#if defined(__x86_64__)
    if (broad__vector_best() != BROAD__VECTOR_PLAIN) {
        sum_avx2(rows->sum, row, weight, add, rows->width * 3);
        return;
    }
#endif
    sum_loop(rows->sum, row, weight, add, rows->width * 3);
}

/* The same for the row that waits, then this one. */
static void sum_pair(broad__resample *rows, const unsigned char *row, float weight)
{
    const unsigned char *first = rows->waiting;
    rows->waiting = NULL;
#if defined(__x86_64__)
    if (broad__vector_best() != BROAD__VECTOR_PLAIN) {
        pair_avx2(rows->sum, first, rows->waiting_weight, row, weight, rows->waiting_adds, rows->width * 3);
        return;
    }
#endif
    pair_loop(rows->sum, first, rows->waiting_weight, row, weight, rows->waiting_adds, rows->width * 3);
}

/* The row goes into the one or two rows of the result that it overlaps; it waits for the next one where it can. */
static void row_shrink(broad__resample *rows, const unsigned char *row, size_t y)
{
    const broad__axis *axis = &rows->down;
    while (rows->made < rows->image.height && axis->first[rows->made] <= y) {
        size_t i = rows->made, k = y - axis->first[i];
        int last = k + 1 >= axis->count[i];
        float weight = axis->weight[i * axis->most + k];
        if (rows->waiting) {
            sum_pair(rows, row, weight);
        } else if (last) {
            sum_row(rows, row, weight, k > 0);
        } else {
            rows->waiting = row;
            rows->waiting_weight = weight;
            rows->waiting_adds = k > 0;
        }
        if (!last) return;
        flush_row(rows);
    }
}

static void swap_rows(broad__resample *rows)
{
    unsigned char *swap = rows->before;
    rows->before = rows->row;
    rows->row = swap;
}

/* Every row of the result that lies between the row before and this one. */
static void row_stretch(broad__resample *rows, size_t y)
{
    const broad__axis *axis = &rows->down;
    while (rows->made < rows->image.height) {
        size_t i = rows->made;
        if (axis->first[i] + axis->count[i] - 1 > y) break;
        const float *weight = axis->weight + i * axis->most;
        if (axis->count[i] == 2) {
            sum_row(rows, rows->before, weight[0], 0);
            sum_row(rows, rows->row, weight[1], 1);
        } else sum_row(rows, rows->row, weight[0], 0);
        flush_row(rows);
    }
    swap_rows(rows);
}

void broad__resample_done(broad__resample *rows)
{
    size_t y = rows->taken++;
    if (!rows->row) {
        rows->made++;
    } else if (rows->image.height > rows->height) {
        row_stretch(rows, y);
    } else {
        row_shrink(rows, rows->row, y);
        swap_rows(rows);
    }
}

void broad__resample_take(broad__resample *rows, const unsigned char *row)
{
    if (rows->row && rows->image.height <= rows->height) {
        row_shrink(rows, row, rows->taken++);
        return;
    }
    memcpy(broad__resample_next(rows), row, rows->width * 3);
    broad__resample_done(rows);
}

void broad__resample_finish(broad__image *out, broad__resample *rows, unsigned char missing)
{
    broad__image *image = &rows->image;
    memset(image->pixels + rows->made * image->width * 3, missing, (image->height - rows->made) * image->width * 3);
    *out = *image;
    *image = (broad__image){0};
    broad__resample_free(rows);
}
