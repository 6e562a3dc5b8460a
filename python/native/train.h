/* Making and growing models: functions and methods of broad._native. */
#ifndef BROAD_PYTHON_TRAIN_H
#define BROAD_PYTHON_TRAIN_H

#include "native.h"

PyObject *train_fit(PyObject *module, PyObject *arguments);
PyObject *train_enhance(PyObject *self, PyObject *arguments);
PyObject *train_features(PyObject *self, PyObject *arguments);
PyObject *train_learn(PyObject *self, PyObject *arguments);
PyObject *train_verify(PyObject *self, PyObject *arguments);

#endif
