#include "compute/cpu/product.h"

#include <string.h>

#include "base/common.h"
#include "base/watch.h"

/* SLIM: rows or columns of out up to which packing both operands costs more than it saves. CORNER: of a triangle. TALL and
 * DEEP: rows and steps of a piece at least, in units that the packed kernel takes at once. */
enum { SLIM = 16, CORNER = 48, TALL = 192, DEEP = 256 };
/* Of a piece after which the watch is looked at: some milliseconds. */
static const double PIECE_FLOPS = 1e8;

broad__operand broad__as_is(const double *at, size_t stride) { return (broad__operand){at, stride, 1}; }

broad__operand broad__turned(const double *at, size_t stride) { return (broad__operand){at, 1, stride}; }

static broad__operand moved(broad__operand x, size_t row, size_t column)
{
    x.at += row * x.row + column * x.column;
    return x;
}

/* Units of `unit`, as many as make `each` of them a piece. */
static size_t piece_of(size_t unit, double each)
{
    double fit = PIECE_FLOPS / (each * (double)unit);
    return fit < 1 ? unit : fit > 1e6 ? SIZE_MAX : (size_t)fit * unit;
}

/* Piece by piece, so that it can be stopped between two of them. */
static void product_large(double *out, size_t out_stride, double sign, broad__operand a, broad__operand b, size_t rows,
                          size_t columns, size_t depth)
{
    double each = 2.0 * (double)columns;
    size_t deep = broad__min(depth, piece_of(DEEP, each * TALL));
    size_t tall = broad__min(rows, piece_of(TALL, each * (double)deep));
    for (size_t k = 0; k < depth; k += deep)
        for (size_t i = 0; i < rows; i += tall) {
            size_t high = broad__min(tall, rows - i), steps = broad__min(deep, depth - k);
            if (broad__watch_look(each * (double)high * (double)steps)) return;
            broad__kernels_used()->product(out + i * out_stride, out_stride, sign, moved(a, i, k), moved(b, k, 0), high,
                                           columns, steps);
        }
}

void broad__product(double *out, size_t out_stride, double sign, broad__operand a, broad__operand b, size_t rows,
                    size_t columns, size_t depth)
{
    const broad__kernels *kernels = broad__kernels_used();
    if (!rows || !columns || !depth) return;
    int slim = rows <= SLIM || columns <= SLIM;
    if (slim && a.column == 1 && b.column == 1)
        kernels->apply(out, out_stride, sign, a.at, a.row, rows, b.at, b.row, depth, columns);
    else if (slim && sign == 1 && a.row == 1 && b.column == 1)
        kernels->cross(out, out_stride, a.at, a.column, rows, b.at, b.row, columns, depth);
    else product_large(out, out_stride, sign, a, b, rows, columns, depth);
}

static void corner(double *out, size_t out_stride, double sign, broad__operand a, broad__operand b, size_t side,
                   size_t depth)
{
    double square[CORNER * CORNER];
    for (size_t i = 0; i < side; i++) {
        memset(square + i * side, 0, i * sizeof(double));
        memcpy(square + i * side + i, out + i * out_stride + i, (side - i) * sizeof(double));
    }
    broad__product(square, side, sign, a, b, side, side, depth);
    for (size_t i = 0; i < side; i++)
        memcpy(out + i * out_stride + i, square + i * side + i, (side - i) * sizeof(double));
}

void broad__product_upper(double *out, size_t out_stride, double sign, broad__operand a, broad__operand b, size_t side,
                          size_t depth)
{
    if (side <= CORNER) {
        corner(out, out_stride, sign, a, b, side, depth);
        return;
    }
    size_t top = side / 2 / CORNER * CORNER;
    if (!top) top = side / 2;
    broad__product_upper(out, out_stride, sign, a, b, top, depth);
    broad__product(out + top, out_stride, sign, a, moved(b, 0, top), top, side - top, depth);
    broad__product_upper(out + top * out_stride + top, out_stride, sign, moved(a, top, 0), moved(b, 0, top), side - top,
                         depth);
}
