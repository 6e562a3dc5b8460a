/* Lists of Python strings as arrays of C strings. */
#ifndef BROAD_PYTHON_TEXTS_H
#define BROAD_PYTHON_TEXTS_H

#include "native.h"

typedef struct texts {
    size_t count;
    const char **at; /* each lives as long as its string, of which `owner` holds all */
    PyObject *owner;
} texts;

int texts_take(texts *out, PyObject *sequence); /* of str */
int texts_check(const texts *t, size_t count, const char *name);
void texts_clear(texts *t); /* accepts a zeroed one */
int texts_append(PyObject *list, const char *text);

#endif
