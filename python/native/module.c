/* The module: options, training, loading. */
#include "arrow.h"
#include "call.h"
#include "model.h"
#include "photos.h"
#include "rows.h"
#include "train.h"

static native_state the_state;

native_state *native_state_get(void) { return &the_state; }

/* [(name, argument, choices, default, help), ...] */
static PyObject *list_options(PyObject *module, PyObject *arguments)
{
    (void)module, (void)arguments;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < broad_option_count(); i++) {
        const broad_option *o = broad_option_at(i);
        PyObject *row = Py_BuildValue("(szzzs)", o->name, o->argument, o->choices, o->default_value, o->help);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* get_options(pairs) -> {name: text}: what they come to. */
static PyObject *get_options(PyObject *module, PyObject *pairs)
{
    (void)module;
    broad_options options;
    char value[4096];
    broad_options_init(&options);
    for (Py_ssize_t i = 0; i < PyTuple_Size(pairs); i++) {
        const char *name, *text;
        if (!PyArg_ParseTuple(PyTuple_GetItem(pairs, i), "ss", &name, &text)) return NULL;
        int status = broad_options_set(&options, name, text);
        if (status < 0) return call_failed(status);
    }
    PyObject *all = PyErr_Occurred() ? NULL : PyDict_New();
    for (size_t i = 0; all && i < broad_option_count(); i++) {
        const char *name = broad_option_at(i)->name;
        if (broad_options_get(value, sizeof value, &options, name) < 0) continue;
        PyObject *text = PyUnicode_FromString(value);
        if (!text || PyDict_SetItemString(all, name, text) < 0) Py_CLEAR(all);
        Py_XDECREF(text);
    }
    return all;
}

static PyObject *load(PyObject *module, PyObject *arguments)
{
    (void)module;
    const char *path;
    call c = {0};
    broad_model *model = NULL;
    if (!PyArg_ParseTuple(arguments, "s", &path)) return NULL;
    call_begin(&c);
    int status = broad_model_load(&model, path);
    return call_end(&c, status) < 0 ? NULL : model_wrap(model);
}

static PyObject *from_bytes(PyObject *module, PyObject *object)
{
    (void)module;
    Py_buffer view;
    call c = {0};
    broad_model *model = NULL;
    if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) < 0) return NULL;
    call_begin(&c);
    int status = broad_model_from_memory(&model, view.buf, (size_t)view.len);
    int failed = call_end(&c, status);
    PyBuffer_Release(&view);
    return failed ? NULL : model_wrap(model);
}

static PyMethodDef functions[] = {
    {"options", list_options, METH_NOARGS, "the option table"},
    {"get_options", get_options, METH_O, "get_options(pairs): what they come to"},
    {"fit", train_fit, METH_VARARGS, "fit(rows, options, progress)"},
    {"read_photos", photos_read, METH_VARARGS, "read_photos(paths, labels, target, cache, model, progress)"},
    {"load", load, METH_VARARGS, "load(path)"},
    {"from_bytes", from_bytes, METH_O, "from_bytes(bytes)"},
    {0}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "broad._native", "Broad learning in C; see the package broad.", -1, functions, 0, 0, 0, 0};

PyMODINIT_FUNC PyInit__native(void);

PyMODINIT_FUNC PyInit__native(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module || call_add_errors(module, &the_state) < 0) return NULL;
    the_state.rows_type = rows_make_type(module);
    the_state.model_type = model_make_type(module);
    PyTypeObject *arrow = arrow_make_type(module);
    if (!the_state.rows_type || !the_state.model_type || !arrow || PyModule_AddType(module, arrow) < 0 ||
        PyModule_AddType(module, the_state.rows_type) < 0 || PyModule_AddType(module, the_state.model_type) < 0 ||
        PyModule_AddStringConstant(module, "version", broad_version()) < 0)
        return NULL;
    return module;
}
