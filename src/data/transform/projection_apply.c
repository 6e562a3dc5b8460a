/* A projection that is there; apart from its fitting, so that a program that only predicts is not linked to what training takes. */
#include "data/transform/projection_apply.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

void broad__projection_clear(broad__projection *projection)
{
    broad__free(projection->axes);
    broad__free(projection->shift);
    *projection = (broad__projection){0};
}

int broad__projection_alloc(broad__projection *out, const broad__photo_spec *spec)
{
    *out = (broad__projection){broad__alloc_doubles(broad__photo_inputs(spec), spec->components),
                               broad__alloc_doubles(spec->components, 1)};
    if (out->axes && out->shift) return BROAD_OK;
    broad__projection_clear(out);
    return BROAD_NO_MEMORY;
}

int broad__projection_copy(broad__projection *out, const broad__projection *from, const broad__photo_spec *spec)
{
    *out = (broad__projection){0};
    if (!from->axes) return BROAD_OK;
    int status = broad__projection_alloc(out, spec);
    if (status < 0) return status;
    memcpy(out->axes, from->axes, broad__photo_inputs(spec) * spec->components * sizeof(double));
    memcpy(out->shift, from->shift, spec->components * sizeof(double));
    return BROAD_OK;
}

void broad__projection_apply(double *out, const broad__projection *projection, const broad__photo_spec *spec,
                             const double *x, size_t rows)
{
    size_t inputs = broad__photo_inputs(spec), components = spec->components;
    for (size_t i = 0; i < rows; i++) {
        double *to = out + i * components;
        for (size_t c = 0; c < components; c++) to[c] = -projection->shift[c];
        for (size_t j = 0; j < inputs; j++) {
            const double *axis = projection->axes + j * components;
            double value = x[i * inputs + j];
            for (size_t c = 0; c < components; c++) to[c] += value * axis[c];
        }
    }
}
