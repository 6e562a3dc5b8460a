#include "photos.h"

#include "call.h"
#include "matrix.h"
#include "model.h"
#include "rows.h"
#include "texts.h"

/* read_photos(paths, labels, target, cache, model, progress); all but the paths may be None */
PyObject *photos_read(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *list, *model, *progress;
    broad_photo_options photos;
    broad_read_options read;
    broad_data *data = NULL;
    texts paths;
    call c;
    broad_photo_options_init(&photos);
    broad_read_options_init(&read);
    if (!PyArg_ParseTuple(arguments, "OzzzOO", &list, &read.labels, &read.target, &photos.cache, &model, &progress))
        return NULL;
    if (model != Py_None && !PyObject_TypeCheck(model, native_state_get()->model_type))
        return PyErr_SetString(PyExc_TypeError, "a Model is needed"), NULL;
    if (call_init(&c, progress) < 0 || texts_take(&paths, list) < 0) return NULL;
    read.photos = &photos;
    read.model = model == Py_None ? NULL : model_of(model);
    read.target_optional = read.model != NULL;
    read.progress = call_progress, read.progress_context = &c;
    call_begin(&c);
    int status = broad_data_read_photos(&data, paths.at, paths.count, &read);
    int failed = call_end(&c, status);
    texts_clear(&paths);
    if (failed == 0) return rows_wrap(data);
    broad_data_free(data);
    return NULL;
}

/* ---- what is known of them ------------------------------------------------------------------------------------------ */

static PyObject *faults_of(const broad_photo *photo)
{
    PyObject *list = PyList_New(0);
    for (unsigned fault = 1; list && fault <= BROAD_PHOTO_FAULT_SMALL; fault *= 2)
        if (photo->faults & fault && texts_append(list, broad_photo_fault_name((broad_photo_fault)fault)) < 0)
            Py_CLEAR(list);
    return list;
}

static PyObject *describe(const broad_photo *p)
{
    PyObject *faults = faults_of(p);
    if (!faults) return NULL;
    return Py_BuildValue("{s:s,s:s,s:n,s:n,s:d,s:O,s:N,s:s,s:d,s:d}", "file", p->file, "name", p->name, "width",
                         (Py_ssize_t)p->width, "height", (Py_ssize_t)p->height, "distance", p->distance, "unlike",
                         broad_photo_is_unlike(p) ? Py_True : Py_False, "faults", faults, "time", p->time, "latitude",
                         p->latitude, "longitude", p->longitude);
}

PyObject *photos_list(PyObject *rows, void *closure)
{
    (void)closure;
    const broad_data *data = rows_data(rows);
    PyObject *list = data ? PyList_New(0) : NULL;
    for (size_t i = 0; list && i < broad_data_rows(data); i++) {
        const broad_photo *photo = broad_data_photo(data, i);
        PyObject *made = photo ? describe(photo) : NULL;
        if (photo && (!made || PyList_Append(list, made) < 0)) Py_CLEAR(list);
        Py_XDECREF(made);
    }
    return list;
}

PyObject *photos_skipped(PyObject *rows, void *closure)
{
    (void)closure;
    const broad_data *data = rows_data(rows);
    PyObject *list = data ? PyList_New(0) : NULL;
    for (size_t i = 0; list && i < broad_data_skipped_count(data); i++) {
        const broad_skipped *skipped = broad_data_skipped(data, i);
        PyObject *pair = Py_BuildValue("(ss)", skipped->file, skipped->reason);
        if (!pair || PyList_Append(list, pair) < 0) Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

/* ---- prediction ------------------------------------------------------------------------------------------------------ */

/* predict_photos(rows, out, progress) */
PyObject *photos_scores(PyObject *self, PyObject *arguments)
{
    PyObject *rows, *out, *progress;
    Py_buffer to;
    broad_run_options run;
    call c;
    if (!PyArg_ParseTuple(arguments, "OOO", &rows, &out, &progress)) return NULL;
    const broad_data *data = rows_data(rows);
    if (!data || call_init(&c, progress) < 0) return NULL;
    size_t count = broad_data_rows(data) * broad_model_outputs(model_of(self));
    if (block_open(&to, out, 'd', count, 1, "out") < 0) return NULL;
    broad_run_options_init(&run);
    run.progress = call_progress, run.progress_context = &c;
    call_begin(&c);
    int failed = call_end(&c, broad_predict_data(to.buf, model_of(self), data, &run));
    block_close(&to);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

static PyObject *cells_of(const broad_explanation *e)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < e->width * e->height; i++) {
        PyObject *cell = PyFloat_FromDouble(e->cells[i]);
        if (!cell || PyList_Append(list, cell) < 0) Py_CLEAR(list);
        Py_XDECREF(cell);
    }
    return list ? Py_BuildValue("(nnN)", (Py_ssize_t)e->height, (Py_ssize_t)e->width, list) : NULL;
}

static int explain(broad_explanation *out, const broad_model *model, const broad_photo *photo, size_t output)
{
    broad_explainer *explainer = NULL;
    int status = broad_explainer_open(&explainer, model);
    if (status == BROAD_OK) status = broad_photo_explain(out, explainer, &photo, &output, 1);
    broad_explainer_close(explainer);
    return status;
}

/* explain(rows, row, output) -> (height, width, cells) */
PyObject *photos_explain(PyObject *self, PyObject *arguments)
{
    PyObject *rows;
    Py_ssize_t row, output;
    broad_explanation e;
    call c = {0};
    if (!PyArg_ParseTuple(arguments, "Onn", &rows, &row, &output)) return NULL;
    const broad_data *data = rows_data(rows);
    const broad_photo *photo = data ? broad_data_photo(data, (size_t)row) : NULL;
    if (!photo && !PyErr_Occurred()) PyErr_SetString(PyExc_IndexError, "there is no such photo");
    if (!photo) return NULL;
    broad_explanation_init(&e);
    call_begin(&c);
    int failed = call_end(&c, explain(&e, model_of(self), photo, (size_t)output));
    PyObject *made = failed ? NULL : cells_of(&e);
    broad_explanation_clear(&e);
    return made;
}
