/*
 * Products of rows and axes, compiled for several kinds of vector instructions. Every number of the result is a sum over the
 * inputs in order without fused steps, so all of them give the same bits, whatever rows come together.
 *
 * Inputs are taken a stretch at a time, whose axes stay in the cache for all rows; sums stay in registers over a stretch.
 */
#ifndef BROAD_DATA_TRANSFORM_PROJECT_BODY_H
#define BROAD_DATA_TRANSFORM_PROJECT_BODY_H

#include "base/simd.h"
#include "data/transform/project_variants.h"

/* As many sums as there are registers for. */
#if defined(LANES_AVX512)
enum { ROWS = 8, VECTORS = 3 };
#else
enum { ROWS = 4, VECTORS = 3 };
#endif
enum { STRETCH = 64 };

/* A tile of `rows` and `vectors` of columns: out += x axes over `inputs`. */
LANES_INLINE void add_tile(double *out, const double *axes, size_t columns, const double *x, size_t stride,
                           size_t inputs, size_t rows, size_t vectors)
{
    doubles sum[ROWS][VECTORS];
    for (size_t i = 0; i < rows; i++)
        for (size_t v = 0; v < vectors; v++) sum[i][v] = doubles_load(out + i * columns + v * DOUBLES);
    for (size_t j = 0; j < inputs; j++) {
        doubles axis[VECTORS];
        for (size_t v = 0; v < vectors; v++) axis[v] = doubles_load(axes + j * columns + v * DOUBLES);
        for (size_t i = 0; i < rows; i++)
            for (size_t v = 0; v < vectors; v++) sum[i][v] += x[i * stride + j] * axis[v];
    }
    for (size_t i = 0; i < rows; i++)
        for (size_t v = 0; v < vectors; v++) doubles_store(out + i * columns + v * DOUBLES, sum[i][v]);
}

/* All columns of `rows`. */
LANES_INLINE void add_rows(double *out, const double *axes, size_t columns, const double *x, size_t stride,
                           size_t inputs, size_t rows)
{
    size_t c = 0;
    for (; c + VECTORS * DOUBLES <= columns; c += VECTORS * DOUBLES)
        add_tile(out + c, axes + c, columns, x, stride, inputs, rows, VECTORS);
    for (; c + DOUBLES <= columns; c += DOUBLES) add_tile(out + c, axes + c, columns, x, stride, inputs, rows, 1);
    for (; c < columns; c++)
        for (size_t i = 0; i < rows; i++) {
            double sum = out[i * columns + c];
            for (size_t j = 0; j < inputs; j++) sum += x[i * stride + j] * axes[j * columns + c];
            out[i * columns + c] = sum;
        }
}

LANES_INLINE void add_products(double *out, const double *axes, size_t columns, const double *x, size_t inputs,
                               size_t rows)
{
    for (size_t j = 0; j < inputs; j += STRETCH) {
        size_t count = inputs - j < STRETCH ? inputs - j : STRETCH, i = 0;
        for (; i + ROWS <= rows; i += ROWS)
            add_rows(out + i * columns, axes + j * columns, columns, x + i * inputs + j, inputs, count, ROWS);
        for (; i < rows; i++)
            add_rows(out + i * columns, axes + j * columns, columns, x + i * inputs + j, inputs, count, 1);
    }
}

#endif
