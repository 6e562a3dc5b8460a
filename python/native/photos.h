/* Photos: a table from files and folders, what is known of each, and heat maps. */
#ifndef BROAD_PYTHON_PHOTOS_H
#define BROAD_PYTHON_PHOTOS_H

#include "native.h"

PyObject *photos_read(PyObject *module, PyObject *arguments);
/* Of Rows. */
PyObject *photos_list(PyObject *rows, void *closure);
PyObject *photos_skipped(PyObject *rows, void *closure);
/* Of a Model. */
PyObject *photos_scores(PyObject *self, PyObject *arguments);
PyObject *photos_explain(PyObject *self, PyObject *arguments);

#endif
