#include "layer/row_product.h"

#include "base/common.h"
#include "compute/shards.h"

enum { CHUNK = 128 };

/* A chunk of left's columns. */
static void cross_chunk(void *context, size_t index, size_t worker)
{
    (void)worker;
    const broad__row_product *x = context;
    size_t at = index * CHUNK, columns = broad__min(x->p - at, CHUNK);
    x->device->cross(x->out + at * x->c, x->c, x->left + at, x->stride, columns, x->right, x->c, x->c, x->rows);
}

void broad__row_product_cross(const broad__row_product *product)
{
    broad__pool_run(product->pool, (product->p + CHUNK - 1) / CHUNK, cross_chunk, (void *)product);
}

static void subtract_block(void *context, size_t index, size_t worker)
{
    (void)worker;
    const broad__row_product *x = context;
    size_t at = index * BROAD__BLOCK_ROWS, n = broad__min(x->rows - at, BROAD__BLOCK_ROWS);
    x->device->apply(x->right + at * x->c, x->c, -1.0, x->left + at * x->stride, x->stride, n, x->out, x->c, x->p,
                     x->c);
}

void broad__row_product_subtract(const broad__row_product *product)
{
    size_t blocks = (product->rows + BROAD__BLOCK_ROWS - 1) / BROAD__BLOCK_ROWS;
    broad__pool_run(product->pool, blocks, subtract_block, (void *)product);
}
