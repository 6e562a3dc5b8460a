#include "data/transform/project_body.h"

void broad__project_plain(double *out, const double *axes, size_t columns, const double *x, size_t inputs, size_t rows)
{
    add_products(out, axes, columns, x, inputs, rows);
}
