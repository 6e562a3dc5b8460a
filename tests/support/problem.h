/* Random least-squares problems of a given size and condition, the same on every run. */
#ifndef BROAD_TESTS_SUPPORT_PROBLEM_H
#define BROAD_TESTS_SUPPORT_PROBLEM_H

#include "helper.h"

typedef struct problem_random {
    uint64_t state;
} problem_random;

static inline double problem_uniform(problem_random *r) /* in [0, 1) */
{
    r->state += 0x9E3779B97F4A7C15u;
    uint64_t z = r->state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static inline double problem_normal(problem_random *r)
{
    double u = problem_uniform(r), v = problem_uniform(r);
    return sqrt(-2 * log(u + 1e-300)) * cos(6.283185307179586 * v);
}

static inline size_t problem_size(problem_random *r, size_t least, size_t most) /* log-uniform */
{
    double u = problem_uniform(r);
    return (size_t)floor(exp(log((double)least) + u * log((double)(most + 1) / (double)least)));
}

/* a <- a (I - 2vv'), v a random unit vector: mixes the columns and leaves the singular values as they are. */
static inline void problem_reflect(double *a, size_t rows, size_t columns, problem_random *r)
{
    double *v = malloc(columns * sizeof *v), square = 0;
    for (size_t j = 0; j < columns; j++) {
        v[j] = problem_normal(r);
        square += v[j] * v[j];
    }
    for (size_t i = 0; i < rows; i++) {
        double dot = 0;
        for (size_t j = 0; j < columns; j++) dot += a[i * columns + j] * v[j];
        for (size_t j = 0; j < columns; j++) a[i * columns + j] -= 2 * dot * v[j] / square;
    }
    free(v);
}

/* rows x columns, singular values falling geometrically by about `condition` from first to last; freed with free(). */
static inline double *problem_matrix(size_t rows, size_t columns, double condition, problem_random *r)
{
    double *a = malloc(rows * columns * sizeof *a);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            double t = columns > 1 ? (double)j / (double)(columns - 1) : 0;
            a[i * columns + j] = problem_normal(r) * pow(condition, -t);
        }
    for (int i = 0; i < 3; i++) problem_reflect(a, rows, columns, r);
    return a;
}

static inline double *problem_normals(size_t count, problem_random *r)
{
    double *a = malloc(count * sizeof *a);
    for (size_t i = 0; i < count; i++) a[i] = problem_normal(r);
    return a;
}

#endif
