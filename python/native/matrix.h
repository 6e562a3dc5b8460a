/* Arrays of Python, as the buffer protocol shows them. */
#ifndef BROAD_PYTHON_MATRIX_H
#define BROAD_PYTHON_MATRIX_H

#include "native.h"

/* Rows of numbers in any layout that counts upwards. The view is to be released; a zeroed one may be, too. */
typedef struct matrix {
    Py_buffer view;
    size_t rows, columns;
    size_t row_stride, column_stride; /* in elements */
    broad_number type;
} matrix;

/* Of two dimensions: float64, float32 or uint8, native byte order, no negative strides. */
int matrix_open(matrix *out, PyObject *object);
void matrix_close(matrix *m);
int matrix_is_plain(const matrix *m); /* doubles, row by row, without gaps */
/* `count` rows from `first` on, as doubles row by row. */
void matrix_copy(double *out, const matrix *m, size_t first, size_t count);

/* A block of elements of this format ('d' or 'q'), without gaps; writable where it is written to. */
int block_open(Py_buffer *out, PyObject *object, char format, size_t count, int writable, const char *name);
void block_close(Py_buffer *view);

#endif
