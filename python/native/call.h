/* Calls into the library: without the GIL, with progress and Ctrl-C, and its failures as exceptions. */
#ifndef BROAD_PYTHON_CALL_H
#define BROAD_PYTHON_CALL_H

#include "native.h"

typedef struct call {
    PyObject *progress;    /* a function of the caller, borrowed; NULL: none */
    PyThreadState *thread; /* while the GIL is released */
} call;

/* progress: NULL, None or something to call. */
int call_init(call *out, PyObject *progress);
void call_begin(call *c); /* releases the GIL */
/* Takes it again. 0; or -1 with an exception: of the function, of a signal, or of the status. */
int call_end(call *c, int status);

/* For options of the library; context is the call. Looks for signals, then asks the function. */
int call_progress(const broad_progress *progress, void *context);

/* Leaves the exception of a failed call, with its message. Returns NULL. */
PyObject *call_failed(int status);
/* Makes the exceptions and adds them to the module. */
int call_add_errors(PyObject *module, native_state *state);

#endif
