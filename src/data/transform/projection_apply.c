/* A projection that is there; apart from its fitting, so that a program that only predicts is not linked to what training takes. */
#include "data/transform/projection_apply.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/vector.h"
#include "data/transform/project_variants.h"

enum { TOGETHER = 64 }; /* rows whose results stay in the cache */

void broad__projection_clear(broad__projection *projection)
{
    broad__free(projection->axes);
    broad__free(projection->shift);
    broad__free(projection->centre);
    broad__free(projection->factor);
    broad__free(projection->explained);
    *projection = (broad__projection){0};
}

int broad__projection_alloc(broad__projection *out, const broad__photo_spec *spec, double limit)
{
    size_t inputs = broad__photo_inputs(spec);
    *out = (broad__projection){broad__alloc_doubles(inputs, spec->components),
                               broad__alloc_doubles(spec->components, 1), .limit = limit};
    if (limit > 0) {
        out->centre = broad__alloc_doubles(inputs, 1);
        out->factor = broad__alloc_doubles(inputs, 1);
        out->explained = broad__alloc_doubles(spec->components, 1);
    }
    int measured = out->centre && out->factor && out->explained;
    if (out->axes && out->shift && (measured || !(limit > 0))) return BROAD_OK;
    broad__projection_clear(out);
    return BROAD_NO_MEMORY;
}

int broad__projection_copy(broad__projection *out, const broad__projection *from, const broad__photo_spec *spec)
{
    *out = (broad__projection){0};
    if (!from->axes) return BROAD_OK;
    size_t inputs = broad__photo_inputs(spec);
    int status = broad__projection_alloc(out, spec, from->limit);
    if (status < 0) return status;
    memcpy(out->axes, from->axes, inputs * spec->components * sizeof(double));
    memcpy(out->shift, from->shift, spec->components * sizeof(double));
    if (!(from->limit > 0)) return BROAD_OK;
    memcpy(out->centre, from->centre, inputs * sizeof(double));
    memcpy(out->factor, from->factor, inputs * sizeof(double));
    memcpy(out->explained, from->explained, spec->components * sizeof(double));
    return BROAD_OK;
}

static void add_products(double *out, const double *axes, size_t columns, const double *x, size_t inputs, size_t rows)
{
#if defined(__x86_64__)
    switch (broad__vector_best()) {
    case BROAD__VECTOR_AVX512: broad__project_avx512(out, axes, columns, x, inputs, rows); return;
    case BROAD__VECTOR_AVX2: broad__project_avx2(out, axes, columns, x, inputs, rows); return;
    case BROAD__VECTOR_PLAIN: break;
    }
#endif
    broad__project_plain(out, axes, columns, x, inputs, rows);
}

void broad__projection_apply(double *out, const broad__projection *projection, const broad__photo_spec *spec,
                             const double *x, size_t rows)
{
    size_t inputs = broad__photo_inputs(spec), components = spec->components;
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < components; c++) out[i * components + c] = -projection->shift[c];
    for (size_t i = 0; i < rows; i += TOGETHER)
        add_products(out + i * components, projection->axes, components, x + i * inputs, inputs,
                     rows - i < TOGETHER ? rows - i : TOGETHER);
}

double broad__projection_distance(const broad__projection *projection, const broad__photo_spec *spec, const double *x,
                                  const double *components)
{
    if (!(projection->limit > 0)) return (double)NAN;
    size_t inputs = broad__photo_inputs(spec);
    double left = 0;
    for (size_t j = 0; j < inputs; j++) {
        double z = (x[j] - projection->centre[j]) * projection->factor[j];
        left += z * z;
    }
    for (size_t c = 0; c < spec->components; c++) left -= projection->explained[c] * components[c] * components[c];
    return left > 0 ? sqrt(left / projection->limit) : 0;
}
