#include "data/transform/projection.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/device_choice.h"
#include "compute/pool.h"
#include "data/transform/likeness.h"
#include "data/transform/scale.h"

enum { ROWS_MAX = 1000, COMPONENTS_MIN = 16, COMPONENTS_MAX = 192, ROWS_FOR_EACH = 3, STRIP = 128 };
static const double NOTHING = 1e-10; /* variance of a component, as a part of the first one's */

size_t broad__projection_components(size_t rows)
{
    size_t wanted = rows / ROWS_FOR_EACH;
    return wanted < COMPONENTS_MIN ? COMPONENTS_MIN : wanted > COMPONENTS_MAX ? COMPONENTS_MAX : wanted;
}

typedef struct fitting {
    size_t rows, inputs, components;
    double *shift, *factor; /* inputs each */
    double *z;              /* rows x inputs: standardised */
    double *k;              /* rows x rows: ZZ', then its eigenvectors as rows */
    double *values;         /* rows */
    size_t *groups;         /* rows */
    int measured;           /* distances are wanted, too */
    const broad__device *device;
    broad__pool *pool;
    /* while the components are found, by several threads */
    broad__likeness likeness;
    int status;
} fitting;

static void fitting_clear(fitting *f)
{
    broad__free(f->shift);
    broad__free(f->z);
    broad__free(f->k);
    broad__free(f->values);
    broad__free(f->groups);
}

static void sample_rows(fitting *f, const double *x, const size_t *groups, size_t rows)
{
    for (size_t i = 0; i < f->rows; i++) {
        size_t from = (size_t)((double)i * (double)rows / (double)f->rows);
        memcpy(f->z + i * f->inputs, x + from * f->inputs, f->inputs * sizeof(double));
        f->groups[i] = groups ? groups[from] : from;
    }
}

/* A column that does not vary counts for nothing. */
static int standardise(fitting *f, const broad__photo_spec *spec)
{
    broad__column_rows sampled = {.x = f->z, .rows = f->rows, .columns = f->inputs};
    broad__scaling_arrays arrays = {.shift = f->shift, .factor = f->factor};
    int status = broad__scaling_fit(&arrays, BROAD_SCALE_STANDARD, &sampled);
    if (status < 0) return status;
    for (size_t j = 0; j < f->inputs; j++) {
        int varies = 0;
        for (size_t i = 1; i < f->rows && !varies; i++) varies = f->z[i * f->inputs + j] != f->z[j];
        if (!varies) f->factor[j] = 0;
    }
    for (unsigned map = 1; map < BROAD_PHOTO_MAP_ALL; map *= 2) {
        if (!(spec->maps & map)) continue;
        size_t first = broad__photo_first(spec, map), count = broad__map_inputs(map, spec->side);
        for (size_t j = first; j < first + count; j++) f->factor[j] /= sqrt((double)count);
    }
    broad__scaling scaling = {BROAD_SCALE_STANDARD, f->inputs, f->inputs, f->shift, f->factor, NULL, NULL};
    broad__scaling_apply(f->z, &scaling, f->z, f->rows, f->inputs);
    return BROAD_OK;
}

/* Largest first: eigenvalues rise, so from the end. Returns how many there are, `most` at most. */
static size_t count_components(const fitting *f, size_t max)
{
    size_t count = 0;
    double first = f->rows ? f->values[f->rows - 1] : 0;
    while (count < max && count < f->rows && f->values[f->rows - 1 - count] > NOTHING * first) count++;
    return first > 0 ? count : 0;
}

/* axes = D Z' U S^-1, D the factors, so that x axes are the components; then all by one factor to a mean variance of 1. */
static void make_axes(broad__projection *out, const fitting *f, size_t components, const broad__device *device)
{
    double total = 0;
    for (size_t c = 0; c < components; c++) total += f->values[f->rows - 1 - c];
    double scale = sqrt((double)components * (double)f->rows / total);
    /* Row c of the eigenvectors becomes column c of u. */
    double *u = f->k;
    device->cross(out->axes, components, f->z, f->inputs, f->inputs, u, components, components, f->rows);
    for (size_t j = 0; j < f->inputs; j++)
        for (size_t c = 0; c < components; c++) {
            double *axis = &out->axes[j * components + c];
            *axis *= f->factor[j] * scale / sqrt(f->values[f->rows - 1 - c]);
            out->shift[c] += f->shift[j] * *axis;
        }
}

/* U as rows x components in the place of the eigenvectors, each with a sign that does not depend on the library below. */
static int turn_vectors(fitting *f, size_t components)
{
    double *u = broad__alloc_doubles(f->rows, components);
    if (!u) return BROAD_NO_MEMORY;
    for (size_t c = 0; c < components; c++) {
        const double *vector = f->k + (f->rows - 1 - c) * f->rows;
        size_t largest = 0;
        for (size_t i = 1; i < f->rows; i++)
            if (fabs(vector[i]) > fabs(vector[largest])) largest = i;
        double sign = vector[largest] < 0 ? -1 : 1;
        for (size_t i = 0; i < f->rows; i++) u[i * components + c] = sign * vector[i];
    }
    broad__free(f->k);
    f->k = u;
    return BROAD_OK;
}

/* What distances are made of. */
static void make_distance(broad__projection *out, const fitting *f, size_t components)
{
    if (!(out->limit > 0)) return;
    double total = 0;
    for (size_t c = 0; c < components; c++) total += f->values[f->rows - 1 - c];
    double square = (double)components * (double)f->rows / total; /* of the scale of make_axes() */
    for (size_t c = 0; c < components; c++)
        out->explained[c] = broad__likeness_explained(f->values, f->rows, c) / square;
    memcpy(out->centre, f->shift, f->inputs * sizeof(double));
    memcpy(out->factor, f->factor, f->inputs * sizeof(double));
}

/* K = ZZ', strip by strip up to its diagonal; the rest is the same numbers. */
static void multiply_strip(void *context, size_t index, size_t worker)
{
    (void)worker;
    const fitting *f = context;
    size_t n = f->rows, p = f->inputs, first = index * STRIP, count = n - first < STRIP ? n - first : STRIP;
    f->device->outer(f->k + first * n, n, f->z + first * p, p, count, f->z, p, first + count, p);
}

static void multiply(fitting *f)
{
    size_t n = f->rows;
    broad__pool_run(f->pool, (n + STRIP - 1) / STRIP, multiply_strip, f);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i / STRIP * STRIP + STRIP; j < n; j++) f->k[i * n + j] = f->k[j * n + i];
}

/* The components of all rows, which take longest, and what is left of each part of them by the others. */
static void find_part(void *context, size_t index, size_t worker)
{
    (void)worker;
    fitting *f = context;
    if (index) broad__likeness_leave(&f->likeness, index - 1);
    else f->status = f->device->eigen(f->k, f->values, f->rows);
}

static int find_components(double *limit, fitting *f)
{
    *limit = 0;
    if (!f->measured) return f->device->eigen(f->k, f->values, f->rows);
    size_t numbers = f->rows * f->rows;
    double *whole = broad__alloc_unset(numbers, sizeof *whole);
    int status = whole ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        memcpy(whole, f->k, numbers * sizeof *whole);
        status = broad__likeness_open(&f->likeness, whole, f->groups, f->rows, f->components, f->device);
    }
    if (status == BROAD_OK) broad__pool_run(f->pool, 1 + BROAD__LIKENESS_PARTS, find_part, f);
    if (status == BROAD_OK) status = broad__watch_check(BROAD_OK);
    if (status == BROAD_OK && f->status == BROAD_NO_MEMORY) status = broad__fail_memory(numbers * sizeof *whole);
    else if (status == BROAD_OK && f->status < 0)
        status = broad__fail(f->status, "the components of the photos cannot be computed");
    if (status == BROAD_OK) status = broad__likeness_limit(limit, &f->likeness);
    broad__likeness_close(&f->likeness);
    broad__free(whole);
    return status;
}

static int fit(broad__projection *out, broad__photo_spec *spec, fitting *f)
{
    double limit = 0;
    int status = standardise(f, spec);
    if (status < 0) return status;
    multiply(f);
    status = find_components(&limit, f);
    if (status < 0) return status;
    size_t components = count_components(f, spec->components);
    if (!components)
        return broad__fail(BROAD_BAD_DATA, "all photos look the same to the network; give photos that differ");
    spec->components = components;
    status = turn_vectors(f, components);
    if (status == BROAD_OK) status = broad__projection_alloc(out, spec, limit);
    if (status < 0) return status;
    make_axes(out, f, components, f->device);
    make_distance(out, f, components);
    return BROAD_OK;
}

static int fit_to(broad__projection *out, broad__photo_spec *spec, const double *x, const size_t *groups, size_t rows,
                  int measured, size_t threads)
{
    fitting f = {.rows = rows < ROWS_MAX ? rows : ROWS_MAX,
                 .inputs = broad__photo_inputs(spec),
                 .components = spec->components,
                 .measured = measured,
                 .device = broad__device_choose(NULL)};
    *out = (broad__projection){0};
    f.shift = broad__alloc_doubles(2, f.inputs);
    f.z = broad__alloc_doubles(f.rows, f.inputs);
    f.k = broad__alloc_doubles(f.rows, f.rows);
    f.values = broad__alloc_doubles(f.rows, 1);
    f.groups = broad__alloc_array(f.rows, sizeof *f.groups);
    int status = f.shift && f.z && f.k && f.values && f.groups ? BROAD_OK : BROAD_NO_MEMORY;
    if (f.shift) f.factor = f.shift + f.inputs;
    if (status == BROAD_OK) status = broad__pool_open(&f.pool, threads);
    if (status == BROAD_OK) status = f.device->hold();
    if (status == BROAD_OK) {
        sample_rows(&f, x, groups, rows);
        status = fit(out, spec, &f);
        f.device->release();
    }
    broad__pool_close(f.pool);
    fitting_clear(&f);
    return status;
}

int broad__projection_fit(broad__projection *out, broad__photo_spec *spec, const double *x, const size_t *groups,
                          size_t rows, size_t threads)
{
    return fit_to(out, spec, x, groups, rows, 1, threads);
}

int broad__projection_fit_axes(broad__projection *out, broad__photo_spec *spec, const double *x, size_t rows,
                               size_t threads)
{
    return fit_to(out, spec, x, NULL, rows, 0, threads);
}
