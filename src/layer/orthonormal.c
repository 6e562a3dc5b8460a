#include "layer/orthonormal.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "layer/cholesky.h"
#include "layer/row_product.h"

int broad__orthonormal_open(broad__orthonormal *block)
{
    size_t q = block->width;
    block->corner = broad__alloc_doubles(q, q);
    block->before = broad__alloc_doubles(q, 1);
    block->dead = broad__alloc_array(q, sizeof *block->dead);
    if (!block->corner || !block->before || !block->dead) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < block->rows; i++)
        for (size_t j = 0; j < q; j++) block->before[j] += block->top[i * q + j] * block->top[i * q + j];
    return BROAD_OK;
}

void broad__orthonormal_close(broad__orthonormal *block)
{
    broad__free(block->corner);
    broad__free(block->before);
    broad__free(block->dead);
}

static void kill_column(broad__orthonormal *block, size_t j)
{
    size_t q = block->width;
    block->dead[j] = 1;
    for (size_t i = 0; i < block->rows; i++) block->top[i * q + j] = 0;
    for (size_t i = 0; i < block->below; i++) block->bottom[i * q + j] = 0;
}

/* Gram matrix of the block, top and bottom; 1 for a dead column. */
static void make_gram(broad__orthonormal *block)
{
    size_t q = block->width;
    memset(block->corner, 0, q * q * sizeof(double));
    broad__row_product top = {
        block->device, block->pool, block->corner, block->top, q, q, block->top, q, block->rows,
    };
    broad__row_product_cross(&top);
    block->device->cross(block->corner, q, block->bottom, q, q, block->bottom, q, q, block->below);
    for (size_t j = 0; j < q; j++)
        if (block->dead[j]) block->corner[j * q + j] = 1;
}

void broad__orthonormal_drop(broad__orthonormal *block)
{
    make_gram(block);
    for (size_t j = 0; j < block->width; j++) {
        double least = BROAD__NOTHING_NEW * BROAD__NOTHING_NEW * block->before[j];
        if (!(block->corner[j * block->width + j] > least)) kill_column(block, j);
    }
}

/* R <- C R with C the factor in the corner. */
static void multiply_corner(broad__orthonormal *block)
{
    size_t q = block->width;
    double *r = block->r;
    for (size_t i = 0; i < q; i++)
        for (size_t k = 0; k < q; k++) {
            double sum = 0;
            for (size_t l = i; l <= k; l++) sum += block->corner[i * q + l] * r[l * q + k];
            r[i * q + k] = k < i ? 0 : sum;
        }
}

/* Column j times column k, top and bottom. */
static double column_dot(const broad__orthonormal *block, size_t j, size_t k)
{
    size_t q = block->width;
    double sum = 0;
    for (size_t i = 0; i < block->rows; i++) sum += block->top[i * q + j] * block->top[i * q + k];
    for (size_t i = 0; i < block->below; i++) sum += block->bottom[i * q + j] * block->bottom[i * q + k];
    return sum;
}

/* Column j += factor * column k. */
static void column_add(broad__orthonormal *block, size_t j, double factor, size_t k)
{
    size_t q = block->width;
    for (size_t i = 0; i < block->rows; i++) block->top[i * q + j] += factor * block->top[i * q + k];
    for (size_t i = 0; i < block->below; i++) block->bottom[i * q + j] += factor * block->bottom[i * q + k];
}

/* The factor column by column, for columns too near to each other for their Gram matrix to tell them apart. Only what
 * brings nothing new is dropped. */
static void factor_columns(broad__orthonormal *block)
{
    size_t q = block->width;
    memset(block->corner, 0, q * q * sizeof(double));
    for (size_t j = 0; j < q && !broad__watch_look(8.0 * (double)j * (double)block->rows); j++) {
        for (int pass = 0; pass < 2; pass++)
            for (size_t k = 0; k < j; k++) {
                double dot = block->dead[k] ? 0 : column_dot(block, k, j);
                column_add(block, j, -dot, k);
                block->corner[k * q + j] += dot;
            }
        double length = sqrt(column_dot(block, j, j));
        int lives = length > BROAD__NOTHING_NEW * sqrt(block->before[j]);
        block->corner[j * q + j] = lives ? length : 1;
        if (lives) column_add(block, j, 1 / length - 1, j);
        else kill_column(block, j);
    }
}

void broad__orthonormal_round(broad__orthonormal *block)
{
    size_t q = block->width;
    make_gram(block);
    if (block->device->factor(block->corner, q) == 0) {
        broad__whiten_rows(block->top, block->rows, block->corner, q, block->device, block->pool);
        block->device->whiten(block->bottom, q, block->below, block->corner, q, q);
    } else {
        factor_columns(block);
    }
    if (block->r) multiply_corner(block);
    for (size_t j = 0; j < q; j++) block->before[j] = 1;
}
