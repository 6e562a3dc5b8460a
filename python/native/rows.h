/* broad._native.Rows: a table for the library, over arrays of Python. */
#ifndef BROAD_PYTHON_ROWS_H
#define BROAD_PYTHON_ROWS_H

#include "native.h"

PyTypeObject *rows_make_type(PyObject *module);
/* The table of a Rows; NULL with an exception if it is none. */
const broad_data *rows_data(PyObject *object);

PyObject *rows_wrap(broad_data *data); /* takes it over, also where that fails */

#endif
