#include "model.h"

#include "call.h"
#include "export.h"
#include "photos.h"
#include "predict.h"
#include "texts.h"
#include "train.h"

typedef struct model_object {
    PyObject_HEAD broad_model *model;
    broad_predictor *predictor; /* NULL until it is needed */
} model_object;

const broad_model *model_of(PyObject *self) { return ((model_object *)self)->model; }

const broad_predictor *model_predictor(PyObject *self)
{
    model_object *object = (model_object *)self;
    if (object->predictor) return object->predictor;
    int status = broad_predictor_from_model(&object->predictor, object->model);
    if (status < 0) call_failed(status);
    return object->predictor;
}

PyObject *model_wrap(broad_model *model)
{
    PyTypeObject *type = native_state_get()->model_type;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    model_object *object = (model_object *)allocate(type, 0);
    if (object) object->model = model;
    else broad_model_free(model);
    return (PyObject *)object;
}

static void model_free(PyObject *self)
{
    model_object *object = (model_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    broad_predictor_free(object->predictor);
    broad_model_free(object->model);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

/* ---- files and bytes --------------------------------------------------------------------------------------------- */

static PyObject *model_save(PyObject *self, PyObject *arguments)
{
    const char *path;
    int compact;
    call c = {0};
    if (!PyArg_ParseTuple(arguments, "sp", &path, &compact)) return NULL;
    call_begin(&c);
    int status = broad_model_save(model_of(self), path, compact ? BROAD_FILE_COMPACT : BROAD_FILE_FULL);
    if (call_end(&c, status) < 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *model_to_bytes(PyObject *self, PyObject *arguments)
{
    void *bytes = NULL;
    size_t count = 0;
    int compact;
    if (!PyArg_ParseTuple(arguments, "p", &compact)) return NULL;
    int status = broad_model_to_memory(&bytes, &count, model_of(self), compact ? BROAD_FILE_COMPACT : BROAD_FILE_FULL);
    if (status < 0) return call_failed(status);
    PyObject *made = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)count);
    broad_free(bytes);
    return made;
}

/* ---- facts ------------------------------------------------------------------------------------------------------- */

static PyObject *model_json(PyObject *self, PyObject *arguments)
{
    (void)arguments;
    char *text = NULL;
    int status = broad_model_json(&text, model_of(self));
    if (status < 0) return call_failed(status);
    PyObject *made = PyUnicode_FromString(text);
    broad_free(text);
    return made;
}

static PyObject *model_estimate(PyObject *self, PyObject *arguments)
{
    (void)arguments;
    broad_estimate e;
    broad_estimate_init(&e);
    int status = broad_model_estimate(&e, model_of(self));
    if (status < 0) return call_failed(status);
    if (!e.known) Py_RETURN_NONE;
    const char *method = broad_enum_name(BROAD_ENUM_ESTIMATE_METHOD, (int)e.method);
    if (broad_model_task(model_of(self)) == BROAD_TASK_CLASSIFY)
        return Py_BuildValue("{s:s,s:n,s:d,s:d,s:d,s:d,s:d}", "method", method, "rows", (Py_ssize_t)e.rows, "accuracy",
                             e.accuracy, "balanced_accuracy", e.balanced_accuracy, "brier", e.brier, "log_loss",
                             e.log_loss, "calibration_error", e.calibration_error);
    return Py_BuildValue("{s:s,s:n,s:d,s:d,s:d}", "method", method, "rows", (Py_ssize_t)e.rows, "rmse", e.rmse, "mae",
                         e.mae, "r2", e.r2);
}

static PyObject *names_of(const broad_model *model, size_t count, const char *(*name)(const broad_model *, size_t))
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < count; i++)
        if (texts_append(list, name(model, i)) < 0) Py_CLEAR(list);
    return list;
}

static PyObject *model_categories(const broad_model *model)
{
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list && k < broad_model_categories(model); k++) {
        PyObject *levels = PyList_New(0);
        for (size_t l = 0; levels && l < broad_model_category_levels(model, k); l++)
            if (texts_append(levels, broad_model_category_level(model, k, l)) < 0) Py_CLEAR(levels);
        PyObject *pair = levels ? Py_BuildValue("(sN)", broad_model_category_name(model, k), levels) : NULL;
        if (!pair || PyList_Append(list, pair) < 0) Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

/* The share of each input in the metric's diagonal; None without a metric. */
static PyObject *model_relevance(const broad_model *model)
{
    if (!broad_model_relevance_parts(model)) Py_RETURN_NONE;
    size_t count = broad_model_inputs(model);
    PyObject *list = PyList_New(0);
    for (size_t j = 0; list && j < count; j++) {
        double root = broad_model_relevance(model, j);
        PyObject *share = PyFloat_FromDouble(root * root / (double)count);
        if (!share || PyList_Append(list, share) < 0) Py_CLEAR(list);
        Py_XDECREF(share);
    }
    return list;
}

enum { INPUTS, OUTPUTS, CATEGORIES, RELEVANCE, KIND, TASK, OUTCOME, REASON, NODES, LAYERS, ROWS, SOLVED };
static const int which[] = {INPUTS,  OUTPUTS, CATEGORIES, RELEVANCE, KIND, TASK,
                            OUTCOME, REASON,  NODES,      LAYERS,    ROWS, SOLVED};

static PyObject *model_get(PyObject *self, void *closure)
{
    const broad_model *m = model_of(self);
    switch (*(const int *)closure) {
    case INPUTS: return names_of(m, broad_model_inputs(m), broad_model_input_name);
    case OUTPUTS: return names_of(m, broad_model_outputs(m), broad_model_output_name);
    case CATEGORIES: return model_categories(m);
    case RELEVANCE: return model_relevance(m);
    case KIND: return PyUnicode_FromString(broad_enum_name(BROAD_ENUM_KIND, (int)broad_model_kind(m)));
    case TASK: return PyUnicode_FromString(broad_enum_name(BROAD_ENUM_TASK, (int)broad_model_task(m)));
    case OUTCOME: return PyUnicode_FromString(broad_enum_name(BROAD_ENUM_OUTCOME, (int)broad_model_outcome(m)));
    case REASON: return PyUnicode_FromString(broad_model_reason(m));
    case NODES: return PyLong_FromSize_t(broad_model_nodes(m));
    case LAYERS: return PyLong_FromSize_t(broad_model_layers(m));
    case ROWS: return PyLong_FromSize_t(broad_model_rows(m));
    default:
        return PyBool_FromLong(broad_model_fitting(m) == BROAD_FITTING_JOINT ||
                               broad_model_fitting(m) == BROAD_FITTING_AT_ONCE);
    }
}

#define GET(name, what, help)                                                                                          \
    {                                                                                                                  \
        name, model_get, NULL, help, (void *)(uintptr_t)&which[what]                                                   \
    }
static PyGetSetDef getters[] = {GET("inputs", INPUTS, "names of the inputs"),
                                GET("outputs", OUTPUTS, "names of the classes or targets"),
                                GET("categories", CATEGORIES, "columns of categories and their levels"),
                                GET("relevance", RELEVANCE, "share of each input in the learned metric, or None"),
                                GET("kind", KIND, "kind of network"),
                                GET("task", TASK, "classify or regress"),
                                GET("outcome", OUTCOME, "how training ended"),
                                GET("reason", REASON, "why it ended so"),
                                GET("nodes", NODES, "number of nodes"),
                                GET("layers", LAYERS, "number of layers"),
                                GET("rows", ROWS, "number of training rows"),
                                GET("jointly", SOLVED, "new rows need no further layer"),
                                {0}};

static PyMethodDef methods[] = {
    {"predict", predict_scores, METH_VARARGS, "predict(x, out, threads)"},
    {"classes", predict_classes, METH_VARARGS, "classes(scores, out)"},
    {"probabilities", predict_probabilities, METH_VARARGS, "probabilities(scores, out)"},
    {"intervals", predict_intervals, METH_VARARGS, "intervals(values, out, level)"},
    {"enhance", train_enhance, METH_VARARGS, "enhance(rows, options, progress, nodes, layers)"},
    {"features", train_features, METH_VARARGS, "features(rows, options, progress, groups, feature_nodes, nodes)"},
    {"learn", train_learn, METH_VARARGS, "learn(old, fresh, classes, options, progress, nodes, layers)"},
    {"predict_photos", photos_scores, METH_VARARGS, "predict_photos(rows, out, progress)"},
    {"explain", photos_explain, METH_VARARGS, "explain(rows, row, output)"},
    {"verify", train_verify, METH_VARARGS, "verify(rows, progress)"},
    {"save", model_save, METH_VARARGS, "save(path, compact)"},
    {"to_bytes", model_to_bytes, METH_VARARGS, "to_bytes(compact)"},
    {"export_c", export_c, METH_VARARGS, "export_c(name, precision, compact, level)"},
    {"export_onnx", export_onnx, METH_VARARGS, "export_onnx(precision, level)"},
    {"export_rows", export_rows, METH_VARARGS, "export_rows(x, out, rows)"},
    {"json", model_json, METH_NOARGS, "every setting and the certificate"},
    {"estimate", model_estimate, METH_NOARGS, "how good it is on new rows, or None"},
    {0}};

PyTypeObject *model_make_type(PyObject *module)
{
    static PyType_Slot slots[] = {{Py_tp_doc, "A trained network, which never changes."},
                                  {Py_tp_dealloc, model_free},
                                  {Py_tp_methods, methods},
                                  {Py_tp_getset, getters},
                                  {0, NULL}};
    static PyType_Spec spec = {"broad._native.Model", sizeof(model_object), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}
