#include "export.h"

#include "call.h"
#include "matrix.h"
#include "model.h"

/* export_c(name, precision, compact, level) -> text */
PyObject *export_c(PyObject *self, PyObject *arguments)
{
    char *text = NULL;
    size_t count = 0;
    int precision;
    call c = {0};
    broad_export_options options;
    broad_export_options_init(&options);
    if (!PyArg_ParseTuple(arguments, "sipd", &options.name, &precision, &options.compact, &options.level)) return NULL;
    options.precision = (broad_export_precision)precision;
    call_begin(&c);
    int status = broad_model_export_c(&text, &count, NULL, model_of(self), &options);
    if (call_end(&c, status) < 0) return NULL;
    PyObject *made = PyUnicode_FromStringAndSize(text, (Py_ssize_t)count);
    broad_free(text);
    return made;
}

/* export_onnx(precision, level) -> bytes */
PyObject *export_onnx(PyObject *self, PyObject *arguments)
{
    void *bytes = NULL;
    size_t count = 0;
    int precision;
    call c = {0};
    broad_export_options options;
    broad_export_options_init(&options);
    if (!PyArg_ParseTuple(arguments, "id", &precision, &options.level)) return NULL;
    options.precision = (broad_export_precision)precision;
    call_begin(&c);
    int status = broad_model_export_onnx(&bytes, &count, NULL, model_of(self), &options);
    if (call_end(&c, status) < 0) return NULL;
    PyObject *made = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)count);
    broad_free(bytes);
    return made;
}

/* export_rows(x, out, rows): rows of inputs as exported programs take them */
PyObject *export_rows(PyObject *self, PyObject *arguments)
{
    PyObject *x, *out;
    Py_buffer from, to = {0};
    const broad_model *model = model_of(self);
    size_t inputs = broad_model_inputs(model), columns = broad_export_columns(model);
    Py_ssize_t rows;
    if (!PyArg_ParseTuple(arguments, "OOn", &x, &out, &rows)) return NULL;
    if (block_open(&from, x, 'd', (size_t)rows * inputs, 0, "x") < 0) return NULL;
    int failed = block_open(&to, out, 'd', (size_t)rows * columns, 1, "out");
    int status = failed ? BROAD_OK : broad_export_rows(to.buf, model, from.buf, (size_t)rows, 0);
    block_close(&to);
    block_close(&from);
    if (failed) return NULL;
    if (status < 0) return call_failed(status);
    Py_RETURN_NONE;
}
