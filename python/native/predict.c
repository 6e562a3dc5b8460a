#include "predict.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "call.h"
#include "matrix.h"
#include "model.h"

enum { BLOCK = 256, ALONE = 512 }; /* rows: of a block; up to which one thread is enough */

/* Blocks of rows, each by whichever thread comes. */
typedef struct job {
    const broad_predictor *predictor;
    const matrix *x;
    double *out;
    size_t outputs, scratch;
    atomic_int failed;
} job;

static int predict_rows(const job *j, size_t first, size_t rows)
{
    double *copy = matrix_is_plain(j->x) ? NULL : malloc(rows * j->x->columns * sizeof *copy);
    void *scratch = malloc(j->scratch);
    int status =
        scratch && (copy || matrix_is_plain(j->x)) ? BROAD_OK : broad_error_set(BROAD_NO_MEMORY, "out of memory");
    if (status == BROAD_OK) {
        const double *x = copy ? copy : (const double *)j->x->view.buf + first * j->x->columns;
        if (copy) matrix_copy(copy, j->x, first, rows);
        status = broad_predictor_rows(j->out + first * j->outputs, j->predictor, x, rows, 0, scratch, j->scratch);
    }
    free(copy);
    free(scratch);
    return status;
}

static void predict_block(void *context, size_t index, size_t worker)
{
    (void)worker;
    job *j = context;
    size_t first = index * BLOCK, rows = j->x->rows - first < BLOCK ? j->x->rows - first : BLOCK;
    if (predict_rows(j, first, rows) < 0) j->failed = 1;
}

/* A failure of another thread, or of a block, has its message there: all rows once more, here, name the right one. */
static int run(job *j, size_t threads)
{
    j->scratch = broad_predictor_scratch(j->predictor, j->x->rows < BLOCK ? j->x->rows : BLOCK);
    if (j->x->rows <= ALONE) return predict_rows(j, 0, j->x->rows);
    int status = broad_parallel((j->x->rows + BLOCK - 1) / BLOCK, threads, predict_block, j);
    return status == BROAD_OK && j->failed ? predict_rows(j, 0, j->x->rows) : status;
}

/* predict(x, out, threads) */
PyObject *predict_scores(PyObject *self, PyObject *arguments)
{
    PyObject *x, *out;
    Py_ssize_t threads;
    matrix m;
    Py_buffer to;
    call c = {0};
    if (!PyArg_ParseTuple(arguments, "OOn", &x, &out, &threads)) return NULL;
    const broad_predictor *predictor = model_predictor(self);
    if (!predictor || matrix_open(&m, x) < 0) return NULL;
    job j = {.predictor = predictor, .x = &m, .outputs = broad_predictor_outputs(predictor)};
    int failed = block_open(&to, out, 'd', m.rows * j.outputs, 1, "out");
    if (failed == 0 && m.columns != broad_predictor_inputs(predictor)) {
        PyErr_Format(PyExc_ValueError, "%zu inputs are needed, not %zu", broad_predictor_inputs(predictor), m.columns);
        failed = -1;
    }
    if (failed == 0) {
        j.out = to.buf;
        call_begin(&c);
        failed = call_end(&c, run(&j, (size_t)threads));
    }
    block_close(&to);
    matrix_close(&m);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

/* One pass over rows that have scores: `in` and `out` of so many numbers per row. */
typedef struct pass {
    Py_buffer in, out;
    size_t rows;
} pass;

static int pass_open(pass *p, PyObject *in, PyObject *out, size_t outputs, char format, size_t per_row)
{
    *p = (pass){0};
    Py_buffer whole;
    if (PyObject_GetBuffer(in, &whole, PyBUF_SIMPLE) < 0) return -1;
    p->rows = (size_t)whole.len / sizeof(double) / outputs;
    PyBuffer_Release(&whole);
    if (block_open(&p->in, in, 'd', p->rows * outputs, 0, "scores") < 0) return -1;
    if (block_open(&p->out, out, format, p->rows * per_row, 1, "out") == 0) return 0;
    block_close(&p->in);
    return -1;
}

static PyObject *pass_close(pass *p, int status)
{
    block_close(&p->in), block_close(&p->out);
    if (status < 0) return call_failed(status);
    Py_RETURN_NONE;
}

/* classes(scores, out): the number of the output with the largest score */
PyObject *predict_classes(PyObject *self, PyObject *arguments)
{
    PyObject *scores, *out;
    pass p;
    const broad_predictor *predictor = model_predictor(self);
    size_t outputs = broad_predictor_outputs(predictor);
    if (!predictor || !PyArg_ParseTuple(arguments, "OO", &scores, &out)) return NULL;
    if (pass_open(&p, scores, out, outputs, 'q', 1) < 0) return NULL;
    const double *from = p.in.buf;
    int64_t *to = p.out.buf;
    for (size_t i = 0; i < p.rows; i++) to[i] = (int64_t)broad_predictor_best_class(predictor, from + i * outputs);
    return pass_close(&p, BROAD_OK);
}

/* probabilities(scores, out) */
PyObject *predict_probabilities(PyObject *self, PyObject *arguments)
{
    PyObject *scores, *out;
    pass p;
    const broad_predictor *predictor = model_predictor(self);
    size_t outputs = broad_predictor_outputs(predictor);
    if (!predictor || !PyArg_ParseTuple(arguments, "OO", &scores, &out)) return NULL;
    if (pass_open(&p, scores, out, outputs, 'd', outputs) < 0) return NULL;
    return pass_close(&p, broad_predictor_probabilities(p.out.buf, predictor, p.in.buf, p.rows));
}

/* intervals(values, out, level) */
PyObject *predict_intervals(PyObject *self, PyObject *arguments)
{
    PyObject *values, *out;
    double level;
    pass p;
    const broad_predictor *predictor = model_predictor(self);
    size_t outputs = broad_predictor_outputs(predictor);
    if (!predictor || !PyArg_ParseTuple(arguments, "OOd", &values, &out, &level)) return NULL;
    if (pass_open(&p, values, out, outputs, 'd', 2 * outputs) < 0) return NULL;
    return pass_close(&p, broad_predictor_intervals(p.out.buf, predictor, p.in.buf, p.rows, level));
}
