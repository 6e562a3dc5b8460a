#include "rows.h"

#include <string.h>

#include "call.h"
#include "matrix.h"
#include "photos.h"
#include "texts.h"

typedef struct rows {
    PyObject_HEAD broad_data *data;
    matrix x; /* kept open while the table borrows it */
} rows;

/* What broad_arrays points to while a table is made. */
typedef struct parts {
    Py_buffer classes, values, weights;
    texts labels, names, groups;
    broad_array_category *categories;
    texts *levels;
    size_t category_count;
} parts;

static void parts_clear(parts *p)
{
    block_close(&p->classes), block_close(&p->values), block_close(&p->weights);
    texts_clear(&p->labels), texts_clear(&p->names), texts_clear(&p->groups);
    for (size_t k = 0; p->levels && k < p->category_count; k++) texts_clear(&p->levels[k]);
    PyMem_Free(p->levels);
    PyMem_Free(p->categories);
}

/* A list of (column, [level, ...]). */
static int take_categories(parts *p, PyObject *list)
{
    if (list == Py_None) return 0;
    Py_ssize_t count = PySequence_Size(list);
    if (count <= 0) return count < 0 ? -1 : 0;
    p->category_count = (size_t)count;
    p->categories = PyMem_Calloc(p->category_count, sizeof *p->categories);
    p->levels = PyMem_Calloc(p->category_count, sizeof *p->levels);
    if (!p->categories || !p->levels) return PyErr_NoMemory(), -1;
    for (size_t k = 0; k < p->category_count; k++) {
        PyObject *pair = PySequence_GetItem(list, (Py_ssize_t)k), *levels = NULL;
        Py_ssize_t column = 0;
        int taken = pair && PyArg_ParseTuple(pair, "nO", &column, &levels) ? texts_take(&p->levels[k], levels) : -1;
        Py_XDECREF(pair);
        if (taken < 0) return -1;
        p->categories[k] = (broad_array_category){(size_t)column, p->levels[k].count, p->levels[k].at};
    }
    return 0;
}

static int take_targets(parts *p, broad_arrays *a, PyObject *labels, PyObject *classes, PyObject *values)
{
    if (labels != Py_None) {
        if (texts_take(&p->labels, labels) < 0 || texts_check(&p->labels, a->rows, "labels") < 0) return -1;
        a->labels = p->labels.at;
    }
    if (classes != Py_None) {
        if (block_open(&p->classes, classes, 'q', a->rows, 0, "classes") < 0) return -1;
        a->classes = p->classes.buf;
    }
    if (values == Py_None) return 0;
    Py_ssize_t all = PyObject_Size(values);
    if (all < 0) return -1;
    a->outputs = a->rows ? (size_t)all / a->rows : 0;
    if (block_open(&p->values, values, 'd', a->rows * a->outputs, 0, "values") < 0) return -1;
    a->values = p->values.buf;
    return 0;
}

static int take_rest(parts *p, broad_arrays *a, PyObject *names, PyObject *weights, PyObject *groups)
{
    if (names != Py_None) {
        if (texts_take(&p->names, names) < 0 || texts_check(&p->names, a->inputs, "names") < 0) return -1;
        a->names = p->names.at;
    }
    if (weights != Py_None) {
        if (block_open(&p->weights, weights, 'd', a->rows, 0, "weights") < 0) return -1;
        a->weights = p->weights.buf;
    }
    if (groups != Py_None) {
        if (texts_take(&p->groups, groups) < 0 || texts_check(&p->groups, a->rows, "groups") < 0) return -1;
        a->groups = p->groups.at;
    }
    return 0;
}

static int make_table(rows *self, broad_arrays *a)
{
    call c = {0};
    a->x = self->x.view.buf;
    a->type = self->x.type;
    a->row_stride = self->x.row_stride, a->column_stride = self->x.column_stride;
    a->missing = BROAD_MISSING_MEAN;
    a->borrow = matrix_is_plain(&self->x) && !a->category_count;
    call_begin(&c);
    return call_end(&c, broad_data_from_arrays(&self->data, a));
}

static int rows_init(PyObject *object, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"x", "labels", "classes", "values", "names", "categories", "weights", "groups", NULL};
    rows *self = (rows *)object;
    PyObject *x, *labels = Py_None, *classes = Py_None, *values = Py_None, *inputs = Py_None, *categories = Py_None,
                 *weights = Py_None, *groups = Py_None;
    parts p = {0};
    broad_arrays a;
    broad_arrays_init(&a);
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|OOOOOOO", names, &x, &labels, &classes, &values, &inputs,
                                     &categories, &weights, &groups))
        return -1;
    if (self->data) return PyErr_SetString(PyExc_TypeError, "Rows are made once"), -1;
    if (matrix_open(&self->x, x) < 0) return -1;
    a.rows = self->x.rows, a.inputs = self->x.columns;
    int made = take_categories(&p, categories);
    a.categories = p.categories, a.category_count = p.category_count;
    if (made == 0) made = take_targets(&p, &a, labels, classes, values);
    if (made == 0) made = take_rest(&p, &a, inputs, weights, groups);
    if (made == 0) made = make_table(self, &a);
    parts_clear(&p);
    if (made == 0 && a.borrow) return 0;
    matrix_close(&self->x);
    memset(&self->x, 0, sizeof self->x);
    return made;
}

static void rows_free(PyObject *object)
{
    rows *self = (rows *)object;
    PyTypeObject *type = Py_TYPE(object);
    broad_data_free(self->data);
    matrix_close(&self->x);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

const broad_data *rows_data(PyObject *object)
{
    if (!PyObject_TypeCheck(object, native_state_get()->rows_type))
        return PyErr_SetString(PyExc_TypeError, "Rows are needed"), NULL;
    const broad_data *data = ((rows *)object)->data;
    if (!data) PyErr_SetString(PyExc_ValueError, "these Rows were not made");
    return data;
}

PyObject *rows_wrap(broad_data *data)
{
    PyTypeObject *type = native_state_get()->rows_type;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    rows *object = (rows *)allocate(type, 0);
    if (object) object->data = data;
    else broad_data_free(data);
    return (PyObject *)object;
}

static PyObject *rows_outputs(PyObject *object, void *closure)
{
    (void)closure;
    const broad_data *data = ((rows *)object)->data;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < broad_data_outputs(data); i++)
        if (texts_append(list, broad_data_output_name(data, i)) < 0) Py_CLEAR(list);
    return list;
}

PyTypeObject *rows_make_type(PyObject *module)
{
    static PyGetSetDef getters[] = {{"outputs", rows_outputs, NULL, "names of classes or targets", NULL},
                                    {"photos", photos_list, NULL, "what is known of each photo", NULL},
                                    {"skipped", photos_skipped, NULL, "files and why they were skipped", NULL},
                                    {0}};
    static PyType_Slot slots[] = {{Py_tp_doc, "Rows of numbers with their targets, as the library sees them."},
                                  {Py_tp_new, PyType_GenericNew},
                                  {Py_tp_init, rows_init},
                                  {Py_tp_dealloc, rows_free},
                                  {Py_tp_getset, getters},
                                  {0, NULL}};
    static PyType_Spec spec = {"broad._native.Rows", sizeof(rows), 0, Py_TPFLAGS_DEFAULT, slots};
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}
