#include "train.h"

#include "call.h"
#include "matrix.h"
#include "model.h"
#include "rows.h"

/* pairs: a tuple of (name, text), which the options need as long as they are used. */
static int set_options(broad_options *out, PyObject *pairs, call *c)
{
    broad_options_init(out);
    Py_ssize_t count = PyTuple_Size(pairs);
    for (Py_ssize_t i = 0; i < count; i++) {
        const char *name, *value;
        if (!PyArg_ParseTuple(PyTuple_GetItem(pairs, i), "ss", &name, &value)) return -1;
        int status = broad_options_set(out, name, value);
        if (status < 0) return call_failed(status), -1;
    }
    out->progress = call_progress;
    out->progress_context = c;
    return count < 0 ? -1 : 0;
}

PyObject *train_fit(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *rows, *pairs, *progress;
    call c;
    broad_options options;
    broad_model *model = NULL;
    if (!PyArg_ParseTuple(arguments, "OOO", &rows, &pairs, &progress)) return NULL;
    const broad_data *data = rows_data(rows);
    if (!data || call_init(&c, progress) < 0 || set_options(&options, pairs, &c) < 0) return NULL;
    call_begin(&c);
    int status = broad_fit(&model, NULL, data, &options);
    if (call_end(&c, status) == 0) return model_wrap(model);
    broad_model_free(model);
    return NULL;
}

/* ---- growing ----------------------------------------------------------------------------------------------------- */

/* One increment: how much of what. */
typedef struct increment {
    size_t groups, feature_nodes, nodes, layers;
    const broad_data *fresh; /* rows to learn; NULL: none */
} increment;

static int grow(broad_model **out, const broad_model *model, const broad_data *data, const broad_options *options,
                const increment *step)
{
    broad_trainer *trainer = NULL;
    int status = broad_trainer_resume(&trainer, model, data, options, BROAD_RESUME_CHECKED);
    if (status < 0) return status;
    if (step->fresh)
        status = broad_trainer_learn(trainer, step->fresh, step->nodes, step->layers,
                                     data ? BROAD_LEARN_ALL_ROWS : BROAD_LEARN_NEW_ROWS);
    else if (step->groups) status = broad_trainer_features(trainer, step->groups, step->feature_nodes, step->nodes);
    else status = broad_trainer_enhance(trainer, step->nodes, step->layers);
    broad_trainer_close(status == BROAD_OK ? out : NULL, trainer);
    return status;
}

static PyObject *grown(PyObject *self, const broad_data *data, PyObject *pairs, PyObject *progress,
                       const increment *step)
{
    call c;
    broad_options options;
    broad_model *model = NULL;
    if (call_init(&c, progress) < 0 || set_options(&options, pairs, &c) < 0) return NULL;
    call_begin(&c);
    int status = grow(&model, model_of(self), data, &options, step);
    if (call_end(&c, status) == 0) return model_wrap(model);
    broad_model_free(model);
    return NULL;
}

PyObject *train_enhance(PyObject *self, PyObject *arguments)
{
    PyObject *rows, *pairs, *progress;
    Py_ssize_t nodes, layers;
    if (!PyArg_ParseTuple(arguments, "OOOnn", &rows, &pairs, &progress, &nodes, &layers)) return NULL;
    const broad_data *data = rows_data(rows);
    increment step = {.nodes = (size_t)nodes, .layers = (size_t)layers};
    return data ? grown(self, data, pairs, progress, &step) : NULL;
}

PyObject *train_features(PyObject *self, PyObject *arguments)
{
    PyObject *rows, *pairs, *progress;
    Py_ssize_t groups, feature_nodes, nodes;
    if (!PyArg_ParseTuple(arguments, "OOOnnn", &rows, &pairs, &progress, &groups, &feature_nodes, &nodes)) return NULL;
    const broad_data *data = rows_data(rows);
    increment step = {(size_t)groups, (size_t)feature_nodes, (size_t)nodes, 1, NULL};
    return data ? grown(self, data, pairs, progress, &step) : NULL;
}

/* Rows with the classes of the model, by their numbers; None: as they are. */
static int assign(broad_data **out, PyObject *self, const broad_data *fresh, PyObject *classes)
{
    Py_buffer numbers;
    *out = NULL;
    if (classes == Py_None) return 0;
    if (block_open(&numbers, classes, 'q', broad_data_rows(fresh), 0, "classes") < 0) return -1;
    int status = broad_data_assign(out, fresh, model_of(self), numbers.buf);
    block_close(&numbers);
    return status < 0 ? call_failed(status), -1 : 0;
}

/* learn(old or None, fresh, classes or None, options, progress, nodes, layers) */
PyObject *train_learn(PyObject *self, PyObject *arguments)
{
    PyObject *old, *fresh, *classes, *pairs, *progress;
    Py_ssize_t nodes, layers;
    broad_data *assigned;
    if (!PyArg_ParseTuple(arguments, "OOOOOnn", &old, &fresh, &classes, &pairs, &progress, &nodes, &layers))
        return NULL;
    const broad_data *data = old == Py_None ? NULL : rows_data(old), *rows = rows_data(fresh);
    if (PyErr_Occurred() || assign(&assigned, self, rows, classes) < 0) return NULL;
    increment step = {.nodes = (size_t)nodes, .layers = (size_t)layers, .fresh = assigned ? assigned : rows};
    PyObject *made = grown(self, data, pairs, progress, &step);
    broad_data_free(assigned);
    return made;
}

/* ---- the certificate ----------------------------------------------------------------------------------------------- */

PyObject *train_verify(PyObject *self, PyObject *arguments)
{
    PyObject *rows, *progress;
    call c;
    broad_verdict v;
    broad_run_options run;
    if (!PyArg_ParseTuple(arguments, "OO", &rows, &progress)) return NULL;
    const broad_data *data = rows_data(rows);
    if (!data || call_init(&c, progress) < 0) return NULL;
    broad_verdict_init(&v);
    broad_run_options_init(&run);
    run.progress = call_progress, run.progress_context = &c;
    call_begin(&c);
    int status = broad_verify(&v, model_of(self), data, &run);
    if (call_end(&c, status) < 0) return NULL;
    return Py_BuildValue("{s:O,s:n,s:n,s:d,s:d,s:d,s:n,s:s}", "holds", v.holds ? Py_True : Py_False, "layers",
                         (Py_ssize_t)v.layers, "failed_layer", (Py_ssize_t)v.failed_layer, "worst_norm_error",
                         v.worst_norm_error, "product_bound", v.product_bound, "reached", v.reached, "since_layer",
                         (Py_ssize_t)v.since_layer, "reason", v.reason);
}
