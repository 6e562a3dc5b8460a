/*
 * out += a b on tiles whose sums stay in registers. Each sum starts at the number in `out`, or at one given for its column, and
 * takes its products in order. Loops over `rows` and `vectors` have constant ends and are unrolled.
 */
#ifndef BROAD_COMPUTE_CPU_KERNEL_TILE_H
#define BROAD_COMPUTE_CPU_KERNEL_TILE_H

#if defined(KERNEL_SINGLE)
#include "compute/cpu/kernel_vector_single.h"
#else
#include "compute/cpu/kernel_vector.h"
#endif

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* WIDE: vectors of a tile of one row. */
enum { COLUMNS = VECTORS * LANES, WIDE = 8 };

#if defined(__clang__)
#define OUTLINE static __attribute__((noinline, unused))
#else
#define OUTLINE static __attribute__((noinline, noclone, unused))
#endif

typedef struct product {
    double *out;
    size_t out_stride;
    const number *a;
    size_t a_row, a_step; /* a's number for row i of out and step k: a[i * a_row + k * a_step] */
    const number *b;
    size_t b_step;       /* b's numbers for step k: b[k * b_step + column] */
    size_t depth;        /* steps */
    const double *start; /* what the sums of every row start at; NULL: the numbers in out */
    const char *soon;    /* for tiles that bring near what is read after them: from here on */
} product;

INLINE size_t tile_rows(size_t vectors) { return vectors > 1 ? ROWS : ROWS_ALONE; }

INLINE product product_at(product p, size_t row, size_t column)
{
    p.out += row * p.out_stride + column;
    p.a += row * p.a_row;
    p.b += column;
    if (p.start) p.start += column;
    return p;
}

INLINE const double *start_of(const product *p, size_t row)
{
    return p->start ? p->start : p->out + row * p->out_stride;
}

/* Bytes that a tile brings near with each step; half a line, so that the lines are asked for one by one. */
enum { NEARING = 32 };

/* A tile of rows x (vectors full ones, the last with `last` numbers, which are all of it if `whole`). padded: b may be read
 * beyond them. */
INLINE void tile_with(product p, const size_t rows, const size_t vectors, size_t last, const int whole,
                      const int padded, const int nearing)
{
    full sums[ROWS_ALONE][WIDE], b[WIDE];
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++) sums[i][v] =
            full_start(start_of(&p, i) + v * LANES, last, whole || v + 1 < vectors);
    }
    for (size_t k = 0; k < p.depth; k++) {
        if (nearing) __builtin_prefetch(p.soon + k * NEARING, 0, 2);
        UNROLL for (size_t v = 0; v < vectors; v++) b[v] =
            full_load_end(p.b + v * LANES, last, whole || padded || v + 1 < vectors);
        UNROLL for (size_t i = 0; i < rows; i++)
        {
            full a = full_spread(p.a[i * p.a_row]);
            UNROLL for (size_t v = 0; v < vectors; v++) sums[i][v] = full_fma(a, b[v], sums[i][v]);
        }
        p.a += p.a_step;
        p.b += p.b_step;
    }
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++)
            full_finish(p.out + i * p.out_stride + v * LANES, sums[i][v], last, whole || v + 1 < vectors);
    }
}

INLINE void tile(product p, const size_t rows, const size_t vectors, size_t last, const int whole)
{
    tile_with(p, rows, vectors, last, whole, 0, 0);
}

/* The same of half vectors. */
INLINE void half_tile(product p, const size_t rows, const size_t vectors, size_t last, const int whole,
                      const int padded)
{
    half sums[ROWS_HALF][VECTORS], b[VECTORS];
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++) sums[i][v] =
            half_start(start_of(&p, i) + v * HALF, last, whole || v + 1 < vectors);
    }
    for (size_t k = 0; k < p.depth; k++) {
        UNROLL for (size_t v = 0; v < vectors; v++) b[v] =
            half_load_end(p.b + v * HALF, last, whole || padded || v + 1 < vectors);
        UNROLL for (size_t i = 0; i < rows; i++)
        {
            half a = half_spread(p.a[i * p.a_row]);
            UNROLL for (size_t v = 0; v < vectors; v++) sums[i][v] = half_fma(a, b[v], sums[i][v]);
        }
        p.a += p.a_step;
        p.b += p.b_step;
    }
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        UNROLL for (size_t v = 0; v < vectors; v++)
            half_finish(p.out + i * p.out_stride + v * HALF, sums[i][v], last, whole || v + 1 < vectors);
    }
}

/* A tile of rows x (one full vector, and the first `last` numbers of a half one). */
INLINE void tile_and_half(product p, const size_t rows, size_t last, const int whole, const int padded)
{
    full sums[ROWS_ALONE];
    half more[ROWS_ALONE];
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        sums[i] = full_start(start_of(&p, i), LANES, 1);
        more[i] = half_start(start_of(&p, i) + LANES, last, whole);
    }
    for (size_t k = 0; k < p.depth; k++) {
        full b = full_load(p.b);
        half c = half_load_end(p.b + LANES, last, whole || padded);
        UNROLL for (size_t i = 0; i < rows; i++)
        {
            full a = full_spread(p.a[i * p.a_row]);
            sums[i] = full_fma(a, b, sums[i]);
            more[i] = half_fma(low_of(a), c, more[i]);
        }
        p.a += p.a_step;
        p.b += p.b_step;
    }
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        full_finish(p.out + i * p.out_stride, sums[i], LANES, 1);
        half_finish(p.out + i * p.out_stride + LANES, more[i], last, whole);
    }
}

INLINE void tile_any(product p, const size_t rows, const size_t vectors, const int halved, size_t last, const int whole,
                     const int padded)
{
    if (halved) half_tile(p, rows, vectors, last, whole, padded);
    else tile_with(p, rows, vectors, last, whole, padded, 0);
}

/* All rows of one panel of columns. */
INLINE void panel(product p, size_t rows, const size_t vectors, const int halved, size_t last, const int whole,
                  const int padded)
{
    const size_t high = halved ? ROWS_HALF : tile_rows(vectors);
    size_t i = 0;
    for (; i + high <= rows; i += high) tile_any(product_at(p, i, 0), high, vectors, halved, last, whole, padded);
    if (high > 8 && rows - i >= 8) {
        tile_any(product_at(p, i, 0), 8, vectors, halved, last, whole, padded);
        i += 8;
    }
    if (high > 4 && rows - i >= 4) {
        tile_any(product_at(p, i, 0), 4, vectors, halved, last, whole, padded);
        i += 4;
    }
    if (rows - i >= 2) {
        tile_any(product_at(p, i, 0), 2, vectors, halved, last, whole, padded);
        i += 2;
    }
    if (rows > i) tile_any(product_at(p, i, 0), 1, vectors, halved, last, whole, padded);
}

/* Without masks where all is whole: they would take registers from the sums. */
INLINE void panel_ended(product p, size_t rows, const size_t vectors, const int halved, size_t last, const int padded)
{
    if (last == (halved ? HALF : LANES)) panel(p, rows, vectors, halved, last, 1, padded);
    else panel(p, rows, vectors, halved, last, 0, padded);
}

/* All rows of one panel of a full vector and at most a half one. */
INLINE void panel_and_half(product p, size_t rows, size_t last, const int whole, const int padded)
{
    size_t i = 0;
    for (; i + ROWS_ALONE <= rows; i += ROWS_ALONE) tile_and_half(product_at(p, i, 0), ROWS_ALONE, last, whole, padded);
    for (; i < rows; i++) tile_and_half(product_at(p, i, 0), 1, last, whole, padded);
}

/* At most COLUMNS columns. */
INLINE void panel_any(product p, size_t rows, size_t columns, const int padded)
{
    const int halved = HALF < LANES && columns <= HALF; /* as many FMAs, and each of them costs less */
    size_t lanes = halved ? HALF : LANES, vectors = (columns + lanes - 1) / lanes;
    size_t last = columns - (vectors - 1) * lanes;
    if (halved) panel_ended(p, rows, 1, 1, last, padded);
    else if (HALF < LANES && vectors == 2 && last == HALF) panel_and_half(p, rows, last, 1, padded);
    else if (HALF < LANES && vectors == 2 && last < HALF) panel_and_half(p, rows, last, 0, padded);
    else if (vectors == 3) panel_ended(p, rows, VECTORS, 0, last, padded);
    else if (vectors == 2) panel_ended(p, rows, 2, 0, last, padded);
    else panel_ended(p, rows, 1, 0, last, padded);
}

OUTLINE void panel_by_rows(product p, size_t rows, size_t columns)
{
    p.a_step = 1;
    panel_any(p, rows, columns, 0);
}

/* The same with b packed: filled up to COLUMNS columns. */
OUTLINE void panel_padded(product p, size_t rows, size_t columns)
{
    p.a_step = 1;
    p.b_step = COLUMNS;
    panel_any(p, rows, columns, 1);
}

OUTLINE void panel_by_columns(product p, size_t rows, size_t columns)
{
    p.a_row = 1;
    panel_any(p, rows, columns, 0);
}

INLINE size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Pieces of at most `most`, about equal. */
INLINE size_t even_piece(size_t size, size_t most)
{
    size_t pieces = (size + most - 1) / most;
    return pieces ? (size + pieces - 1) / pieces : 0;
}

#endif
