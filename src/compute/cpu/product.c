#include "compute/cpu/product.h"

#include <string.h>

/* SLIM: rows or columns of out up to which packing both operands costs more than it saves. CORNER: of a triangle. */
enum { SLIM = 16, CORNER = 48 };

broad__operand broad__as_is(const double *at, size_t stride) { return (broad__operand){at, stride, 1}; }

broad__operand broad__turned(const double *at, size_t stride) { return (broad__operand){at, 1, stride}; }

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
    else kernels->product(out, out_stride, sign, a, b, rows, columns, depth);
}

static broad__operand moved(broad__operand x, size_t row, size_t column)
{
    x.at += row * x.row + column * x.column;
    return x;
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
