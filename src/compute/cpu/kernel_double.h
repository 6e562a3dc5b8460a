/* nodes, gram, cross and apply of one kernel set, by tiles; see kernels.h for the order of the sums. */
#ifndef BROAD_COMPUTE_CPU_KERNEL_DOUBLE_H
#define BROAD_COMPUTE_CPU_KERNEL_DOUBLE_H

#include "compute/cpu/kernel_narrow.h"
#include "compute/cpu/kernels.h"

/*
 * DEPTH   steps of a packed panel, which with its rows of `a` stays in the first cache
 * SHORT   the same where b is read where it lies: a few rows only, so all of b's columns are read soon after each other
 * SKINNY  columns up to which `cross` is computed transposed: vectors run along the rows of out
 */
enum { DEPTH = 128, SHORT = 64, FEW = 8, SKINNY = 16 };

OUTLINE void block_by_columns(product p, size_t rows)
{
    p.a_row = 1;
    block_any(p, rows);
}

OUTLINE void row_pieces(product p, size_t columns)
{
    p.a_step = 1;
    size_t piece = even_piece((columns + LANES - 1) / LANES, WIDE) * LANES;
    for (size_t j = 0; j < columns; j += piece) row_any(product_at(p, 0, j), least(piece, columns - j));
}

OUTLINE size_t narrow_columns(product p, size_t rows, size_t columns) { return narrow_any(p, rows, columns); }

/* factor * b, `depth` steps of at most COLUMNS numbers, filled up with zeros. */
INLINE void pack(double *out, const product *p, double factor, size_t depth, size_t columns)
{
    for (size_t k = 0; columns == COLUMNS && k < depth; k++)
        UNROLL for (size_t v = 0; v < VECTORS; v++) full_store(
            out + k * COLUMNS + v * LANES, full_spread(factor) * full_load(p->b + k * p->b_step + v * LANES));
    size_t vectors = columns / LANES, last = columns % LANES;
    if (columns == COLUMNS) return;
    for (size_t k = 0; k < depth; k++, out += COLUMNS) {
        const double *b = p->b + k * p->b_step;
        for (size_t v = 0; v < vectors; v++)
            full_store(out + v * LANES, full_spread(factor) * full_load(b + v * LANES));
        full_store(out + vectors * LANES,
                   full_spread(factor) * full_load_masked(b + vectors * LANES, lanes_below(last)));
        for (size_t v = vectors + 1; v < VECTORS; v++) full_store(out + v * LANES, full_spread(0));
    }
}

/* Rows that are read ahead of those that tiles are at. */
enum { AHEAD = 16 };

/* Rows that lie side by side, read once: those AHEAD are brought near. */
OUTLINE void panel_reading(product p, size_t rows, size_t columns)
{
    for (size_t i = 0, n; i < rows; i += n) {
        n = least(ROWS_ALONE, rows - i);
        const char *soon = (const char *)(p.a + (i + AHEAD) * p.a_row);
        for (size_t at = 0; i + AHEAD + n <= rows && at < n * p.a_row * sizeof(double); at += 64)
            __builtin_prefetch(soon + at, 0, 2);
        panel_padded(product_at(p, i, 0), n, columns);
    }
}

/* What is read after a product, brought near while its tiles are computed: run by run, each as long as a tile is deep. */
typedef struct fetching {
    const broad__ahead *now, *end;
    size_t row, column; /* where it is at */
} fetching;

/* RUNS: as many at the same time. LINE_STEPS: numbers of a line, and the steps after which the next line of each is asked for. */
enum { RUNS = 4, LINE_STEPS = 8 };

/* The next run; where none is left, numbers that are near. */
INLINE const double *fetching_next(fetching *f, size_t depth, const double *none)
{
    while (f->now < f->end && (f->row >= f->now->rows || f->column >= f->now->columns)) {
        if (f->row < f->now->rows) f->row++;
        else {
            f->now++;
            f->row = 0;
        }
        f->column = 0;
    }
    if (f->now >= f->end) return none;
    const double *run = f->now->at + f->row * f->now->stride + f->column;
    f->column += depth;
    return run;
}

/* A whole tile, b packed; its depth is a multiple of LINE_STEPS. */
INLINE void tile_fetching(product p, const double *const runs[RUNS])
{
    full sums[ROWS][VECTORS], b[VECTORS];
    UNROLL for (size_t i = 0; i < ROWS; i++)
    {
        UNROLL for (size_t v = 0; v < VECTORS; v++) sums[i][v] = full_load(p.out + i * p.out_stride + v * LANES);
    }
    for (size_t k = 0; k < p.depth; k += LINE_STEPS) UNROLL for (size_t r = 0; r < LINE_STEPS; r++)
        {
            if (r % (LINE_STEPS / RUNS) == 0) __builtin_prefetch(runs[r / (LINE_STEPS / RUNS)] + k, 0, 2);
            UNROLL for (size_t v = 0; v < VECTORS; v++) b[v] = full_load(p.b + (k + r) * COLUMNS + v * LANES);
            UNROLL for (size_t i = 0; i < ROWS; i++)
            {
                full a = full_spread(p.a[i * p.a_row + k + r]);
                UNROLL for (size_t v = 0; v < VECTORS; v++) sums[i][v] = full_fma(a, b[v], sums[i][v]);
            }
        }
    UNROLL for (size_t i = 0; i < ROWS; i++)
    {
        UNROLL for (size_t v = 0; v < VECTORS; v++) full_store(p.out + i * p.out_stride + v * LANES, sums[i][v]);
    }
}

OUTLINE void panel_fetching(product p, size_t rows, size_t columns, fetching *f)
{
    size_t i = 0;
    for (; columns == COLUMNS && p.depth % LINE_STEPS == 0 && f->now < f->end && i + ROWS <= rows; i += ROWS) {
        const double *runs[RUNS];
        for (size_t r = 0; r < RUNS; r++) runs[r] = fetching_next(f, p.depth, p.b);
        tile_fetching(product_at(p, i, 0), runs);
    }
    if (i < rows) panel_padded(product_at(p, i, 0), rows - i, columns);
}

OUTLINE void packed_by_rows(product p, double factor, size_t rows, size_t columns, fetching *f)
{
    double packed[DEPTH * COLUMNS] __attribute__((aligned(64)));
    size_t depth = p.depth, piece = even_piece(depth, DEPTH);
    for (size_t k = 0; k < depth; k += piece)
        for (size_t j = 0; j < columns; j += COLUMNS) {
            product part = product_at(p, 0, j);
            part.a += k;
            part.b += k * p.b_step;
            part.depth = least(piece, depth - k);
            size_t wide = least(COLUMNS, columns - j);
            pack(packed, &part, factor, part.depth, wide);
            part.b = packed;
            if (f) panel_fetching(part, rows, wide, f);
            else if (j == 0 && part.depth == p.a_row) panel_reading(part, rows, wide);
            else panel_padded(part, rows, wide);
        }
}

/* A few rows: b is read once, in its own order, rather than packed. */
OUTLINE void few_rows(product p, size_t rows, size_t columns)
{
    size_t depth = p.depth, piece = even_piece(depth, SHORT);
    for (size_t k = 0; k < depth; k += piece) {
        p.depth = least(piece, depth - k);
        if (rows == 1) row_pieces(p, columns);
        else
            for (size_t j = 0; j < columns; j += COLUMNS)
                panel_by_rows(product_at(p, 0, j), rows, least(COLUMNS, columns - j));
        p.a += p.depth;
        p.b += p.depth * p.b_step;
    }
}

/* At most NARROW columns; factor * b is packed. */
OUTLINE void few_columns(product p, double factor, size_t rows, size_t columns)
{
    double packed[DEPTH * NARROW];
    size_t depth = p.depth, piece = even_piece(depth, DEPTH);
    for (size_t k = 0; k < depth; k += piece) {
        product part = p;
        part.depth = least(piece, depth - k);
        for (size_t step = 0; step < part.depth; step++)
            for (size_t j = 0; j < columns; j++) packed[step * columns + j] = factor * p.b[(k + step) * p.b_step + j];
        part.a += k;
        part.b = packed;
        part.b_step = columns;
        size_t done = narrow_columns(part, rows, columns);
        if (done < rows) panel_by_rows(product_at(part, done, 0), rows - done, columns);
    }
}

OUTLINE void kernel_apply(double *out, size_t out_stride, double sign, const double *k, size_t k_stride, size_t rows,
                          const double *w, size_t w_stride, size_t p, size_t c)
{
    product whole = {.out = out,
                     .out_stride = out_stride,
                     .a = k,
                     .a_row = k_stride,
                     .a_step = 1,
                     .b = w,
                     .b_step = w_stride,
                     .depth = p};
    if (rows < FEW && sign == 1.0) few_rows(whole, rows, c);
    else if (c > 0 && c <= NARROW) few_columns(whole, sign, rows, c);
    else packed_by_rows(whole, sign, rows, c, NULL);
}

OUTLINE void kernel_apply_ahead(double *out, size_t out_stride, const double *k, size_t k_stride, size_t rows,
                                const double *w, size_t w_stride, size_t p, size_t c, const broad__ahead ahead[2])
{
    if (rows < FEW || c <= NARROW) {
        kernel_apply(out, out_stride, 1.0, k, k_stride, rows, w, w_stride, p, c);
        return;
    }
    product whole = {.out = out,
                     .out_stride = out_stride,
                     .a = k,
                     .a_row = k_stride,
                     .a_step = 1,
                     .b = w,
                     .b_step = w_stride,
                     .depth = p};
    fetching f = {.now = ahead, .end = ahead + 2};
    packed_by_rows(whole, 1.0, rows, c, &f);
}

/* out' (c x p) by tiles of out', each turned in and out of a scratch. */
INLINE void cross_turned(double *out, size_t out_stride, product whole, size_t p, size_t c)
{
    double turned[ROWS_ALONE * COLUMNS] __attribute__((aligned(64)));
    for (size_t j = 0; j < p; j += COLUMNS)
        for (size_t i = 0, high; i < c; i += high) {
            size_t wide = least(COLUMNS, p - j);
            high = least(even_piece(c, tile_rows(VECTORS)), c - i);
            product t = product_at(whole, i, j);
            t.out = turned;
            t.out_stride = COLUMNS;
            double *corner = out + j * out_stride + i;
            for (size_t a = 0; a < wide; a++)
                for (size_t b = 0; b < high; b++) turned[b * COLUMNS + a] = corner[a * out_stride + b];
            if (wide == COLUMNS) block_by_columns(t, high);
            else panel_by_columns(t, high, wide);
            for (size_t a = 0; a < wide; a++)
                for (size_t b = 0; b < high; b++) corner[a * out_stride + b] = turned[b * COLUMNS + a];
        }
}

/* A square of LANES rows on the diagonal and what is right of it, all in whole vectors: of its lower rows, what is below the
 * diagonal's blocks of HALF is not computed. */
INLINE void tile_diagonal(product p, const size_t vectors)
{
    full sums[2 * HALF][VECTORS], b[VECTORS];
    half low[HALF];
    UNROLL for (size_t i = 0; i < 2 * HALF; i++)
    {
        UNROLL for (size_t v = i >= HALF; v < vectors; v++) sums[i][v] =
            full_load(p.out + i * p.out_stride + v * LANES);
        if (i >= HALF) low[i - HALF] = half_load(p.out + i * p.out_stride + HALF);
    }
    for (size_t k = 0; k < p.depth; k++) {
        half c = half_load(p.b + HALF);
        UNROLL for (size_t v = 0; v < vectors; v++) b[v] = full_load(p.b + v * LANES);
        UNROLL for (size_t i = 0; i < 2 * HALF; i++)
        {
            full a = full_spread(p.a[i]);
            UNROLL for (size_t v = i >= HALF; v < vectors; v++) sums[i][v] = full_fma(a, b[v], sums[i][v]);
            if (i >= HALF) low[i - HALF] = half_fma(half_spread(p.a[i]), c, low[i - HALF]);
        }
        p.a += p.a_step;
        p.b += p.b_step;
    }
    UNROLL for (size_t i = 0; i < 2 * HALF; i++)
    {
        UNROLL for (size_t v = i >= HALF; v < vectors; v++)
            full_store(p.out + i * p.out_stride + v * LANES, sums[i][v]);
        if (i >= HALF) half_store(p.out + i * p.out_stride + HALF, low[i - HALF]);
    }
}

/* Whether there is such a tile for these; then it is computed. */
OUTLINE int diagonal_by_columns(product p, size_t rows, size_t columns)
{
    if (HALF == LANES || rows != 2 * HALF || columns % LANES) return 0;
    switch (columns / LANES) {
    case 1: tile_diagonal(p, 1); return 1;
    case 2: tile_diagonal(p, 2); return 1;
    case 3: tile_diagonal(p, VECTORS); return 1;
    default: return 0;
    }
}

/* The blocks on the diagonal of one panel of columns: each from its own diagonal to the right, as high as one tile, in a
 * scratch, for what is below the diagonal stays. */
INLINE void panel_diagonal(product p, size_t columns)
{
    double scratch[ROWS_ALONE * COLUMNS] __attribute__((aligned(64)));
    for (size_t i = 0, high; i < columns; i += high) {
        high = tile_rows(VECTORS);
        while (high > columns - i) high /= 2;
        size_t wide = columns - i;
        product block = product_at(p, i, i);
        double *out = block.out;
        block.out = scratch;
        block.out_stride = COLUMNS;
        for (size_t row = 0; row < high; row++)
            memcpy(scratch + row * COLUMNS, out + row * p.out_stride, wide * sizeof(double));
        if (!diagonal_by_columns(block, high, wide)) panel_by_columns(block, high, wide);
        for (size_t row = 0; row < high; row++)
            memcpy(out + row * p.out_stride + row, scratch + row * COLUMNS + row, (wide - row) * sizeof(double));
    }
}

/* What is above the diagonal's block of one panel of columns. */
INLINE void gram_above(product p, size_t rows, size_t columns)
{
    if (columns > LANES || rows == 0) {
        panel_by_columns(p, rows, columns);
        return;
    }
    product turned = {.a = p.b, .a_row = 1, .a_step = p.b_step, .b = p.a, .b_step = p.a_step, .depth = p.depth};
    cross_turned(p.out, p.out_stride, turned, rows, columns);
}

OUTLINE void kernel_gram(double *out, size_t out_stride, const double *k, size_t k_stride, size_t rows, size_t p)
{
    size_t piece = even_piece(rows, SUMMED);
    for (size_t first = 0; first < rows; first += piece) {
        const double *from = k + first * k_stride;
        product whole = {.out = out,
                         .out_stride = out_stride,
                         .a = from,
                         .a_row = 1,
                         .a_step = k_stride,
                         .b = from,
                         .b_step = k_stride,
                         .depth = least(piece, rows - first)};
        for (size_t j = 0; j < p; j += COLUMNS) {
            size_t wide = least(COLUMNS, p - j);
            gram_above(product_at(whole, 0, j), j, wide);
            panel_diagonal(product_at(whole, j, j), wide);
        }
    }
}

OUTLINE void kernel_cross(double *out, size_t out_stride, const double *a, size_t a_stride, size_t p, const double *b,
                          size_t b_stride, size_t c, size_t rows)
{
    if (c <= SKINNY) {
        product turned = {.a = b, .a_row = 1, .a_step = b_stride, .b = a, .b_step = a_stride, .depth = rows};
        cross_turned(out, out_stride, turned, p, c);
        return;
    }
    size_t piece = even_piece(rows, SUMMED);
    for (size_t first = 0; first < rows; first += piece) {
        product whole = {.out = out,
                         .out_stride = out_stride,
                         .a = a + first * a_stride,
                         .a_row = 1,
                         .a_step = a_stride,
                         .b = b + first * b_stride,
                         .b_step = b_stride,
                         .depth = least(piece, rows - first)};
        for (size_t j = 0; j < c; j += COLUMNS) panel_by_columns(product_at(whole, 0, j), p, least(COLUMNS, c - j));
    }
}

#endif
