/* Prediction: methods of broad._native.Model. Results are written into arrays that the caller gives. */
#ifndef BROAD_PYTHON_PREDICT_H
#define BROAD_PYTHON_PREDICT_H

#include "native.h"

PyObject *predict_scores(PyObject *self, PyObject *arguments);
PyObject *predict_classes(PyObject *self, PyObject *arguments);
PyObject *predict_probabilities(PyObject *self, PyObject *arguments);
PyObject *predict_intervals(PyObject *self, PyObject *arguments);

#endif
