/* broad._native.Model: a trained network. */
#ifndef BROAD_PYTHON_MODEL_H
#define BROAD_PYTHON_MODEL_H

#include "native.h"

PyTypeObject *model_make_type(PyObject *module);
PyObject *model_wrap(broad_model *model); /* takes it over, also where that fails */
const broad_model *model_of(PyObject *self);
/* A copy that only predicts, made when it is first needed; NULL with an exception. */
const broad_predictor *model_predictor(PyObject *self);

#endif
