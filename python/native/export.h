/* Models for programs without this library: methods of broad._native.Model. */
#ifndef BROAD_PYTHON_EXPORT_H
#define BROAD_PYTHON_EXPORT_H

#include "native.h"

PyObject *export_c(PyObject *self, PyObject *arguments);
PyObject *export_onnx(PyObject *self, PyObject *arguments);
PyObject *export_rows(PyObject *self, PyObject *arguments);

#endif
