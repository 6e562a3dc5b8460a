/*
 * Tables that come by the C stream interface of Arrow (a capsule "arrow_array_stream"): the type ArrowTable, which takes the
 * whole stream and gives its columns as numbers or texts. Nothing of Arrow itself is needed.
 */
#ifndef BROAD_PYTHON_ARROW_H
#define BROAD_PYTHON_ARROW_H

#include "native.h"

PyTypeObject *arrow_make_type(PyObject *module);

#endif
