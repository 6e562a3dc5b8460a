#include "matrix.h"

#include <string.h>

/* The one letter of a format, without a mark of the native byte order; 0: more than that. */
static char letter_of(const Py_buffer *view)
{
    const char *format = view->format ? view->format : "B";
    if (*format == '@' || *format == '=' || (*format == '<' && PY_LITTLE_ENDIAN)) format++;
    return format[0] && !format[1] ? format[0] : 0;
}

static int set_type(matrix *m)
{
    char letter = letter_of(&m->view);
    m->type = letter == 'd' ? BROAD_NUMBER_DOUBLE : letter == 'f' ? BROAD_NUMBER_FLOAT : BROAD_NUMBER_UINT8;
    if (letter == 'd' || letter == 'f' || letter == 'B') return 0;
    PyErr_Format(PyExc_TypeError, "numbers must be float64, float32 or uint8, not of format '%s'", m->view.format);
    return -1;
}

static int set_strides(matrix *m)
{
    const Py_buffer *v = &m->view;
    for (int d = 0; d < 2; d++)
        if (v->strides[d] < 0 || v->strides[d] % v->itemsize != 0) {
            PyErr_SetString(PyExc_ValueError, "strides must count upwards, in whole numbers; make a copy");
            return -1;
        }
    m->rows = (size_t)v->shape[0], m->columns = (size_t)v->shape[1];
    m->row_stride = (size_t)(v->strides[0] / v->itemsize), m->column_stride = (size_t)(v->strides[1] / v->itemsize);
    if (m->columns == 1) m->column_stride = 1;
    if (m->rows == 1) m->row_stride = m->columns;
    return 0;
}

int matrix_open(matrix *out, PyObject *object)
{
    memset(out, 0, sizeof *out);
    if (PyObject_GetBuffer(object, &out->view, PyBUF_STRIDES | PyBUF_FORMAT) < 0) return -1;
    if (out->view.ndim != 2) PyErr_Format(PyExc_ValueError, "two dimensions are needed, not %d", out->view.ndim);
    else if (set_type(out) == 0 && set_strides(out) == 0) return 0;
    matrix_close(out);
    return -1;
}

void matrix_close(matrix *m)
{
    if (m->view.obj) PyBuffer_Release(&m->view);
}

int matrix_is_plain(const matrix *m)
{
    return m->type == BROAD_NUMBER_DOUBLE && m->row_stride == m->columns && m->column_stride == 1 &&
           (uintptr_t)m->view.buf % sizeof(double) == 0;
}

static double number_at(const matrix *m, size_t at)
{
    if (m->type == BROAD_NUMBER_FLOAT) return (double)((const float *)m->view.buf)[at];
    if (m->type == BROAD_NUMBER_UINT8) return (double)((const unsigned char *)m->view.buf)[at];
    return ((const double *)m->view.buf)[at];
}

void matrix_copy(double *out, const matrix *m, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++)
        for (size_t j = 0; j < m->columns; j++) *out++ = number_at(m, i * m->row_stride + j * m->column_stride);
}

int block_open(Py_buffer *out, PyObject *object, char format, size_t count, int writable, const char *name)
{
    memset(out, 0, sizeof *out);
    if (PyObject_GetBuffer(object, out, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0)) < 0)
        return -1;
    char letter = letter_of(out);
    int same = letter == format || (format == 'q' && letter == 'l' && out->itemsize == 8);
    if (same && (size_t)out->len == count * (size_t)out->itemsize) return 0;
    PyErr_Format(PyExc_ValueError, "%s: %zu numbers of format '%c' are needed, not %zd of '%s'", name, count, format,
                 out->itemsize ? out->len / out->itemsize : 0, out->format ? out->format : "B");
    block_close(out);
    return -1;
}

void block_close(Py_buffer *view)
{
    if (view->obj) PyBuffer_Release(view);
}
