#include "image/resample.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

static void axis_free(broad__axis *axis)
{
    broad__free(axis->first);
    broad__free(axis->count);
    broad__free(axis->start);
    broad__free(axis->weight);
    *axis = (broad__axis){0};
}

/* In units of 1/to source pixels, source pixel s covers [s to, (s+1) to), and pixel i covers [i from, (i+1) from): a
 * weight is the overlap of the two, exact before the last division. */
static void axis_shrink(broad__axis *axis, size_t from, size_t to)
{
    size_t used = 0;
    for (size_t i = 0; i < to; i++) {
        size_t low = i * from, high = low + from, first = low / to, last = (high - 1) / to;
        axis->first[i] = (uint32_t)first;
        axis->count[i] = (uint32_t)(last - first + 1);
        axis->start[i] = used;
        for (size_t s = first; s <= last; s++) {
            size_t a = s * to > low ? s * to : low, b = (s + 1) * to < high ? (s + 1) * to : high;
            axis->weight[used++] = (float)((double)(b - a) / (double)from);
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
        axis->start[i] = 2 * i;
        axis->weight[2 * i] = axis->count[i] == 2 ? (float)(1 - fraction) : 1;
        axis->weight[2 * i + 1] = (float)fraction;
    }
}

/* Shrinking cuts each source pixel at most once for every boundary of the result. */
static size_t axis_weights(size_t from, size_t to) { return to > from ? 2 * to : from + to; }

static int axis_make(broad__axis *axis, size_t from, size_t to)
{
    axis->first = broad__alloc_array(to, sizeof *axis->first);
    axis->count = broad__alloc_array(to, sizeof *axis->count);
    axis->start = broad__alloc_array(to, sizeof *axis->start);
    axis->weight = broad__alloc_array(axis_weights(from, to), sizeof *axis->weight);
    if (!axis->first || !axis->count || !axis->start || !axis->weight) return BROAD_NO_MEMORY;
    if (to > from) axis_stretch(axis, from, to);
    else axis_shrink(axis, from, to);
    return BROAD_OK;
}

size_t broad__resample_bytes(size_t width, size_t height, size_t to_width, size_t to_height)
{
    size_t picture = to_width * to_height * 3;
    if (width == to_width && height == to_height) return picture;
    return picture + width * 3 * (sizeof(float) + 2) + (to_width + to_height) * 16 +
           (axis_weights(width, to_width) + axis_weights(height, to_height)) * sizeof(float);
}

int broad__resample_begin(broad__resample *out, size_t width, size_t height, size_t to_width, size_t to_height)
{
    broad__resample rows = {.width = width, .height = height};
    if (!width || !height || (width | height | to_width | to_height) >> 31)
        return broad__fail(BROAD_BUG, "rows of %zu x %zu pixels to %zu x %zu", width, height, to_width, to_height);
    int status = broad__image_init(&rows.image, to_width, to_height);
    if (status == BROAD_OK && (width != to_width || height != to_height)) {
        status = BROAD_NO_MEMORY;
        rows.sum = broad__alloc_array(width, 3 * sizeof(float));
        rows.row = broad__alloc_array(width, 3);
        rows.before = broad__alloc_array(width, 3);
        if (rows.sum && rows.row && rows.before) status = axis_make(&rows.across, width, to_width);
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
    broad__free(rows->row);
    broad__free(rows->before);
    *rows = (broad__resample){0};
}

unsigned char *broad__resample_next(broad__resample *rows)
{
    return rows->row ? rows->row : rows->image.pixels + rows->taken * rows->width * 3;
}

static unsigned char to_byte(float value) { return (unsigned char)(value + 0.5f); }

/* The horizontal part: the summed row to a row of the result. */
static void flush_row(broad__resample *rows)
{
    size_t width = rows->image.width;
    unsigned char *to = rows->image.pixels + rows->made++ * width * 3;
    if (width == rows->width) {
        for (size_t i = 0; i < 3 * width; i++) to[i] = to_byte(rows->sum[i]);
        return;
    }
    const broad__axis *axis = &rows->across;
    for (size_t x = 0; x < width; x++, to += 3) {
        const float *weight = axis->weight + axis->start[x], *from = rows->sum + 3 * (size_t)axis->first[x];
        float red = 0, green = 0, blue = 0;
        for (uint32_t k = 0; k < axis->count[x]; k++, from += 3) {
            red += weight[k] * from[0];
            green += weight[k] * from[1];
            blue += weight[k] * from[2];
        }
        to[0] = to_byte(red);
        to[1] = to_byte(green);
        to[2] = to_byte(blue);
    }
}

/* Each element by itself, so that every vector width gives the same bits. */
static inline __attribute__((always_inline)) void sum_loop(float *restrict sum, const unsigned char *restrict row,
                                                           float weight, int add, size_t count)
{
    if (add)
        for (size_t i = 0; i < count; i++) sum[i] += weight * (float)row[i];
    else
        for (size_t i = 0; i < count; i++) sum[i] = weight * (float)row[i];
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void sum_avx2(float *sum, const unsigned char *row, float weight, int add,
                                                     size_t count)
{
    sum_loop(sum, row, weight, add, count);
}
#endif

/* The summed row becomes weight x row, or that is added to it. */
static void sum_row(broad__resample *rows, const unsigned char *row, float weight, int add)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        sum_avx2(rows->sum, row, weight, add, rows->width * 3);
        return;
    }
#endif
    sum_loop(rows->sum, row, weight, add, rows->width * 3);
}

/* The row goes into the one or two rows of the result that it overlaps. */
static void row_shrink(broad__resample *rows, size_t y)
{
    const broad__axis *axis = &rows->down;
    while (rows->made < rows->image.height && axis->first[rows->made] <= y) {
        size_t i = rows->made, k = y - axis->first[i];
        float weight = axis->weight[axis->start[i] + k];
        sum_row(rows, rows->row, weight, k > 0);
        if (k + 1 < axis->count[i]) return;
        flush_row(rows);
    }
}

/* Every row of the result that lies between the row before and this one. */
static void row_stretch(broad__resample *rows, size_t y)
{
    const broad__axis *axis = &rows->down;
    while (rows->made < rows->image.height) {
        size_t i = rows->made;
        if (axis->first[i] + axis->count[i] - 1 > y) break;
        const float *weight = axis->weight + axis->start[i];
        if (axis->count[i] == 2) {
            sum_row(rows, rows->before, weight[0], 0);
            sum_row(rows, rows->row, weight[1], 1);
        } else sum_row(rows, rows->row, weight[0], 0);
        flush_row(rows);
    }
    unsigned char *swap = rows->before;
    rows->before = rows->row;
    rows->row = swap;
}

void broad__resample_done(broad__resample *rows)
{
    size_t y = rows->taken++;
    if (!rows->row) rows->made++;
    else if (rows->image.height > rows->height) row_stretch(rows, y);
    else row_shrink(rows, y);
}

void broad__resample_finish(broad__image *out, broad__resample *rows, unsigned char missing)
{
    broad__image *image = &rows->image;
    memset(image->pixels + rows->made * image->width * 3, missing, (image->height - rows->made) * image->width * 3);
    *out = *image;
    *image = (broad__image){0};
    broad__resample_free(rows);
}
