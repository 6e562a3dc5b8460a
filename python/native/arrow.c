#include "arrow.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "matrix.h"

/* ---- the interface, as its specification lays it out ------------------------------------------------------------- */

typedef struct arrow_schema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct arrow_schema **children, *dictionary;
    void (*release)(struct arrow_schema *schema);
    void *private_data;
} arrow_schema;

typedef struct arrow_array {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct arrow_array **children, *dictionary;
    void (*release)(struct arrow_array *array);
    void *private_data;
} arrow_array;

typedef struct arrow_stream {
    int (*get_schema)(struct arrow_stream *stream, arrow_schema *out);
    int (*get_next)(struct arrow_stream *stream, arrow_array *out);
    const char *(*get_last_error)(struct arrow_stream *stream);
    void (*release)(struct arrow_stream *stream);
    void *private_data;
} arrow_stream;

/* ---- one cell ---------------------------------------------------------------------------------------------------- */

/* A column of one batch; `at` counts from its own first row. */
typedef struct cells {
    const char *format;
    const arrow_array *array;
    const char *dictionary_format; /* NULL: the values are their own */
    size_t first;                  /* in its buffers */
} cells;

static int bit_at(const void *bits, size_t at) { return ((const unsigned char *)bits)[at / 8] >> at % 8 & 1; }

static int is_missing(const arrow_array *array, const char *format, size_t at)
{
    return format[0] == 'n' || (array->n_buffers > 0 && array->buffers[0] && !bit_at(array->buffers[0], at));
}

/* Days: of dates as days or milliseconds, of times in the unit that the third letter names. */
static double days_at(const char *format, const void *values, size_t at)
{
    if (strncmp(format, "tdD", 3) == 0) return ((const int32_t *)values)[at];
    double unit = format[1] == 'd' || format[2] == 'm' ? 864e5
                  : format[2] == 's'                   ? 86400
                  : format[2] == 'u'                   ? 864e8
                                                       : 864e11;
    return (double)((const int64_t *)values)[at] / unit;
}

static double number_at(const char *format, const void *values, size_t at)
{
    switch (format[0]) {
    case 'b': return bit_at(values, at);
    case 'c': return ((const int8_t *)values)[at];
    case 'C': return ((const uint8_t *)values)[at];
    case 's': return ((const int16_t *)values)[at];
    case 'S': return ((const uint16_t *)values)[at];
    case 'i': return ((const int32_t *)values)[at];
    case 'I': return ((const uint32_t *)values)[at];
    case 'l': return (double)((const int64_t *)values)[at];
    case 'L': return (double)((const uint64_t *)values)[at];
    case 'f': return ((const float *)values)[at];
    case 'g': return ((const double *)values)[at];
    case 't': return days_at(format, values, at);
    default: return NAN;
    }
}

/* The bytes of a text of formats u, U and vu: a view holds up to 12 bytes itself, or says where they are. */
static const char *text_at(size_t *out_bytes, const char *format, const arrow_array *array, size_t at)
{
    const void *values = array->buffers[1];
    if (format[0] == 'u') {
        const int32_t *ends = values;
        *out_bytes = (size_t)(ends[at + 1] - ends[at]);
        return (const char *)array->buffers[2] + ends[at];
    }
    if (format[0] == 'U') {
        const int64_t *ends = values;
        *out_bytes = (size_t)(ends[at + 1] - ends[at]);
        return (const char *)array->buffers[2] + ends[at];
    }
    const int32_t *view = (const int32_t *)values + 4 * at;
    *out_bytes = (size_t)view[0];
    return view[0] <= 12 ? (const char *)(view + 1) : (const char *)array->buffers[2 + view[2]] + view[3];
}

static int is_text(const char *format)
{
    return strcmp(format, "u") == 0 || strcmp(format, "U") == 0 || strcmp(format, "vu") == 0;
}

static int is_number(const char *format)
{
    if (format[0] == 't') return strncmp(format, "td", 2) == 0 || strncmp(format, "ts", 2) == 0;
    return format[0] && !format[1] && strchr("bcCsSiIlLfgn", format[0]) != NULL;
}

/* Where the value of a row is: in its dictionary, if it has one. 0: it is missing. */
static int find_value(const arrow_array **out, const char **out_format, size_t *out_at, const cells *c, size_t row)
{
    size_t at = c->first + row;
    *out = c->array, *out_format = c->format, *out_at = at;
    if (is_missing(c->array, c->format, at)) return 0;
    if (!c->dictionary_format) return 1;
    *out = c->array->dictionary, *out_format = c->dictionary_format;
    *out_at = (size_t)number_at(c->format, c->array->buffers[1], at) + (size_t)(*out)->offset;
    return !is_missing(*out, *out_format, *out_at);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

typedef struct table {
    PyObject_HEAD arrow_schema schema;
    arrow_array *batches;
    size_t count, rows;
} table;

/* Who made the stream may run Python when something of it is released: an exception that is on its way stays. Any of them may
 * be NULL. */
static void let_go(arrow_stream *stream, arrow_schema *schema, arrow_array *array)
{
    PyObject *kind, *error, *trace;
    PyErr_Fetch(&kind, &error, &trace);
    if (stream && stream->release) stream->release(stream);
    if (schema && schema->release) schema->release(schema);
    if (array && array->release) array->release(array);
    PyErr_Restore(kind, error, trace);
}

static void table_free(PyObject *object)
{
    table *t = (table *)object;
    PyTypeObject *type = Py_TYPE(object);
    for (size_t i = 0; i < t->count; i++) let_go(NULL, NULL, &t->batches[i]);
    PyMem_Free(t->batches);
    let_go(NULL, &t->schema, NULL);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static int stream_failed(arrow_stream *stream)
{
    const char *text = stream->get_last_error ? stream->get_last_error(stream) : NULL;
    PyErr_Format(PyExc_ValueError, "the Arrow stream failed: %s", text ? text : "it does not say why");
    return -1;
}

/* 1: a batch came, 0: there are no more. */
static int take_batch(table *t, arrow_stream *stream)
{
    arrow_array *wider = PyMem_Realloc(t->batches, (t->count + 1) * sizeof *wider);
    if (!wider) return PyErr_NoMemory(), -1;
    t->batches = wider;
    arrow_array *batch = &t->batches[t->count];
    memset(batch, 0, sizeof *batch);
    if (stream->get_next(stream, batch) != 0) return stream_failed(stream);
    if (!batch->release) return 0;
    t->count++;
    t->rows += (size_t)batch->length;
    if (batch->n_children == t->schema.n_children) return 1;
    return PyErr_SetString(PyExc_ValueError, "a batch of the Arrow stream has other columns than its schema"), -1;
}

static const char *value_format(const arrow_schema *column)
{
    return column->dictionary ? column->dictionary->format : column->format;
}

static int check_schema(const table *t)
{
    if (!t->schema.format || strcmp(t->schema.format, "+s") != 0)
        return PyErr_SetString(PyExc_TypeError, "the Arrow stream has no columns: a table is needed"), -1;
    for (int64_t j = 0; j < t->schema.n_children; j++) {
        const arrow_schema *column = t->schema.children[j];
        const char *format = value_format(column);
        if (is_number(format) || is_text(format)) continue;
        PyErr_Format(PyExc_TypeError, "column '%s' has the Arrow type '%s', which is neither numbers nor text; cast it",
                     column->name ? column->name : "", format);
        return -1;
    }
    return 0;
}

static int table_init(PyObject *object, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"stream", NULL};
    table *t = (table *)object;
    PyObject *capsule;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O", names, &capsule)) return -1;
    if (t->schema.release) return PyErr_SetString(PyExc_TypeError, "an ArrowTable is made once"), -1;
    arrow_stream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (!stream) return -1;
    if (!stream->release) return PyErr_SetString(PyExc_ValueError, "the Arrow stream has been read already"), -1;
    int more = stream->get_schema(stream, &t->schema) == 0 ? check_schema(t) : stream_failed(stream);
    while (more >= 0 && (more = take_batch(t, stream)) > 0) continue;
    let_go(stream, NULL, NULL);
    return more;
}

static const arrow_schema *column_of(const table *t, Py_ssize_t j)
{
    if (j >= 0 && j < t->schema.n_children) return t->schema.children[j];
    return PyErr_SetString(PyExc_IndexError, "there is no such column"), NULL;
}

static cells cells_of(const table *t, const arrow_schema *column, size_t batch, Py_ssize_t j)
{
    const arrow_array *whole = &t->batches[batch], *array = whole->children[j];
    const char *dictionary = column->dictionary ? column->dictionary->format : NULL;
    return (cells){column->format, array, dictionary, (size_t)(whole->offset + array->offset)};
}

/* is_text(column) */
static PyObject *table_is_text(PyObject *object, PyObject *arguments)
{
    Py_ssize_t j;
    if (!PyArg_ParseTuple(arguments, "n", &j)) return NULL;
    const arrow_schema *column = column_of((table *)object, j);
    return column ? PyBool_FromLong(is_text(value_format(column))) : NULL;
}

/* numbers(column, out): NaN where there is none */
static PyObject *table_numbers(PyObject *object, PyObject *arguments)
{
    const table *t = (table *)object;
    Py_ssize_t j;
    PyObject *out;
    Py_buffer view;
    if (!PyArg_ParseTuple(arguments, "nO", &j, &out)) return NULL;
    const arrow_schema *column = column_of(t, j);
    if (!column || block_open(&view, out, 'd', t->rows, 1, "out") < 0) return NULL;
    double *to = view.buf;
    for (size_t b = 0; b < t->count; b++) {
        cells c = cells_of(t, column, b, j);
        for (size_t i = 0; i < (size_t)t->batches[b].length; i++) {
            const arrow_array *array;
            const char *format;
            size_t at;
            *to++ = find_value(&array, &format, &at, &c, i) ? number_at(format, array->buffers[1], at) : NAN;
        }
    }
    block_close(&view);
    Py_RETURN_NONE;
}

static PyObject *text_object(const cells *c, size_t row)
{
    const arrow_array *array;
    const char *format;
    size_t at, bytes;
    if (!find_value(&array, &format, &at, c, row)) Py_RETURN_NONE;
    const char *text = text_at(&bytes, format, array, at);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)bytes, "strict");
}

/* texts(column) -> [str or None, ...] */
static PyObject *table_texts(PyObject *object, PyObject *arguments)
{
    const table *t = (table *)object;
    Py_ssize_t j;
    if (!PyArg_ParseTuple(arguments, "n", &j)) return NULL;
    const arrow_schema *column = column_of(t, j);
    if (!column || !is_text(value_format(column)))
        return column ? PyErr_Format(PyExc_TypeError, "column %zd is no text", j) : NULL;
    PyObject *list = PyList_New(0);
    for (size_t b = 0; list && b < t->count; b++) {
        cells c = cells_of(t, column, b, j);
        for (size_t i = 0; list && i < (size_t)t->batches[b].length; i++) {
            PyObject *text = text_object(&c, i);
            if (!text || PyList_Append(list, text) < 0) Py_CLEAR(list);
            Py_XDECREF(text);
        }
    }
    return list;
}

static PyObject *table_names(PyObject *object, void *closure)
{
    (void)closure;
    const table *t = (table *)object;
    PyObject *list = PyList_New(0);
    for (int64_t j = 0; list && j < t->schema.n_children; j++) {
        const char *name = t->schema.children[j]->name;
        PyObject *text = PyUnicode_FromString(name ? name : "");
        if (!text || PyList_Append(list, text) < 0) Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *table_rows(PyObject *object, void *closure)
{
    (void)closure;
    return PyLong_FromSize_t(((table *)object)->rows);
}

PyTypeObject *arrow_make_type(PyObject *module)
{
    static PyGetSetDef getters[] = {
        {"names", table_names, NULL, "of the columns", NULL}, {"rows", table_rows, NULL, "how many", NULL}, {0}};
    static PyMethodDef methods[] = {{"is_text", table_is_text, METH_VARARGS, "is_text(column)"},
                                    {"numbers", table_numbers, METH_VARARGS, "numbers(column, out)"},
                                    {"texts", table_texts, METH_VARARGS, "texts(column)"},
                                    {0}};
    static PyType_Slot slots[] = {{Py_tp_doc, "A table from an Arrow stream."},
                                  {Py_tp_new, PyType_GenericNew},
                                  {Py_tp_init, table_init},
                                  {Py_tp_dealloc, table_free},
                                  {Py_tp_getset, getters},
                                  {Py_tp_methods, methods},
                                  {0, NULL}};
    static PyType_Spec spec = {"broad._native.ArrowTable", sizeof(table), 0, Py_TPFLAGS_DEFAULT, slots};
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}
