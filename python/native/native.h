/*
 * broad._native: the part of the Python package that is C. It uses broad.h alone, and of Python the limited interface of
 * 3.11, so that one build serves 3.11 and later. Arrays come and go by the buffer protocol: numpy is not needed to build it.
 *
 * Every call into the library that takes time runs without the GIL (call.h). A Model never changes once it is made: what
 * grows it returns another one, so that any number of threads may use one.
 */
#ifndef BROAD_PYTHON_NATIVE_H
#define BROAD_PYTHON_NATIVE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "broad/broad.h"

/* What the module owns, found by every method through its type. */
typedef struct native_state {
    PyObject *errors; /* status name -> exception; a dictionary */
    PyTypeObject *rows_type, *model_type;
} native_state;

/* The one module of this interpreter. */
native_state *native_state_get(void);

#endif
