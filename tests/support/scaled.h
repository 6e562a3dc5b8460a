/* A scaling fitted to some rows. */
#ifndef BROAD_TESTS_SUPPORT_SCALED_H
#define BROAD_TESTS_SUPPORT_SCALED_H

#include "plain.h"

#include "data/transform/scale.h"

typedef struct fitted {
    size_t rows, inputs;
    double *x, *shift, *factor, *fill, *knots;
    broad__scaling scaling;
} fitted;

/* x becomes its own. */
static inline void fit(fitted *f, broad_scale how, double *x, size_t rows, size_t inputs)
{
    size_t columns = broad__scaling_columns(how, inputs);
    *f = (fitted){.rows = rows, .inputs = inputs, .x = x};
    f->shift = malloc(columns * sizeof *f->shift), f->factor = malloc(columns * sizeof *f->factor);
    f->fill = malloc(inputs * sizeof *f->fill);
    f->knots = malloc(broad__scaling_knots(how, inputs) * sizeof *f->knots);
    broad__scaling_arrays arrays = {f->shift, f->factor, f->fill, f->knots};
    assert_ok(broad__scaling_fit(&arrays, how, &(broad__column_rows){x, rows, inputs, NULL, NULL}));
    f->scaling = (broad__scaling){how, inputs, columns, f->shift, f->factor, f->fill, f->knots};
}

static inline void fitted_free(fitted *f)
{
    free(f->x), free(f->shift), free(f->factor), free(f->fill), free(f->knots);
}

#endif
