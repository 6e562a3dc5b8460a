#include "call.h"

int call_init(call *out, PyObject *progress)
{
    *out = (call){.progress = progress == Py_None ? NULL : progress};
    if (!out->progress || PyCallable_Check(out->progress)) return 0;
    PyErr_SetString(PyExc_TypeError, "progress must be a function");
    return -1;
}

void call_begin(call *c) { c->thread = PyEval_SaveThread(); }

int call_end(call *c, int status)
{
    PyEval_RestoreThread(c->thread);
    if (PyErr_Occurred()) return -1;
    if (status == BROAD_OK) return 0;
    call_failed(status);
    return -1;
}

static int ask(const call *c, const broad_progress *p)
{
    PyObject *answer = PyObject_CallFunction(c->progress, "snnddd", p->stage, (Py_ssize_t)p->done, (Py_ssize_t)p->total,
                                             p->part, p->norm, p->first_norm);
    int stop = answer ? PyObject_IsTrue(answer) : 1;
    Py_XDECREF(answer);
    return stop != 0;
}

int call_progress(const broad_progress *progress, void *context)
{
    call *c = context;
    PyEval_RestoreThread(c->thread);
    int stop = PyErr_Occurred() != NULL || PyErr_CheckSignals() < 0;
    if (!stop && c->progress) stop = ask(c, progress);
    c->thread = PyEval_SaveThread();
    return stop;
}

/* ---- exceptions -------------------------------------------------------------------------------------------------- */

PyObject *call_failed(int status)
{
    PyObject *error = PyDict_GetItemString(native_state_get()->errors, broad_status_name(status));
    PyErr_SetString(error ? error : PyExc_RuntimeError, broad_error_message());
    return NULL;
}

static PyObject *make_error(const char *name, const char *help, PyObject *base, PyObject *also)
{
    PyObject *bases = also ? PyTuple_Pack(2, base, also) : PyTuple_Pack(1, base);
    PyObject *made = bases ? PyErr_NewExceptionWithDoc(name, help, bases, NULL) : NULL;
    Py_XDECREF(bases);
    return made;
}

int call_add_errors(PyObject *module, native_state *state)
{
    const struct {
        const char *status, *name, *help;
        PyObject *also;
    } rows[] = {
        {"usage", "UsageError", "An argument that does not fit.", PyExc_ValueError},
        {"bad_data", "DataError", "Rows that cannot be used.", PyExc_ValueError},
        {"bad_model", "ModelError", "Not a model file, or a damaged one.", PyExc_ValueError},
        {"no_input", "FileMissingError", "A file that is not there.", PyExc_FileNotFoundError},
        {"cannot_write", "FileError", "A file that cannot be written.", PyExc_OSError},
        {"no_memory", "OutOfMemoryError", "Not enough memory.", PyExc_MemoryError},
        {"interrupted", "InterruptedRunError", "The progress function ended the call.", PyExc_InterruptedError},
        {"bug", "InternalError", "A fault of the library.", PyExc_RuntimeError},
    };
    char name[64];
    PyObject *base = make_error("broad.Error", "Base of the errors of broad.", PyExc_Exception, NULL);
    state->errors = PyDict_New();
    if (!base || !state->errors || PyModule_AddObjectRef(module, "Error", base) < 0) return -1;
    PyDict_SetItemString(state->errors, "failed", base);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PyOS_snprintf(name, sizeof name, "broad.%s", rows[i].name);
        PyObject *error = make_error(name, rows[i].help, base, rows[i].also);
        if (!error || PyDict_SetItemString(state->errors, rows[i].status, error) < 0 ||
            PyModule_AddObjectRef(module, rows[i].name, error) < 0)
            return -1;
        if (rows[i].also == PyExc_OSError) PyDict_SetItemString(state->errors, "io", error);
        Py_DECREF(error);
    }
    Py_DECREF(base);
    return 0;
}
