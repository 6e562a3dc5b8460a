#include "texts.h"

#include <string.h>

int texts_take(texts *out, PyObject *sequence)
{
    *out = (texts){.owner = PySequence_List(sequence)};
    if (!out->owner) return -1;
    out->count = (size_t)PyList_Size(out->owner);
    out->at = PyMem_Calloc(out->count ? out->count : 1, sizeof *out->at);
    if (!out->at) PyErr_NoMemory();
    for (size_t i = 0; out->at && i < out->count; i++) {
        Py_ssize_t bytes = 0;
        out->at[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(out->owner, (Py_ssize_t)i), &bytes);
        if (out->at[i] && (size_t)bytes != strlen(out->at[i]))
            PyErr_SetString(PyExc_ValueError, "a text contains a zero character");
        if (PyErr_Occurred()) break;
    }
    if (!PyErr_Occurred()) return 0;
    texts_clear(out);
    return -1;
}

int texts_check(const texts *t, size_t count, const char *name)
{
    if (t->count == count) return 0;
    PyErr_Format(PyExc_ValueError, "%s: %zu are needed, not %zu", name, count, t->count);
    return -1;
}

void texts_clear(texts *t)
{
    PyMem_Free(t->at);
    Py_XDECREF(t->owner);
    *t = (texts){0};
}

int texts_append(PyObject *list, const char *text)
{
    PyObject *made = PyUnicode_FromString(text);
    int status = made ? PyList_Append(list, made) : -1;
    Py_XDECREF(made);
    return status;
}
