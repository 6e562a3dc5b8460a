/* A symmetric matrix and a tridiagonal one: A = Q T Q', Q a product of reflections (Golub and Van Loan, 8.3). All but the small one end
 * early once the watch is stopped (base/watch.h). */
#ifndef BROAD_COMPUTE_CPU_TRIDIAGONAL_H
#define BROAD_COMPUTE_CPU_TRIDIAGONAL_H

#include <stddef.h>

/* Numbers of scratch that each function takes; the last one of the larger of n and c. */
size_t broad__tridiagonal_scratch(size_t n);

/* a (n x n, upper triangle): row i becomes, from its column i + 2 on, the rest of reflection i's vector; tau: n numbers.
 * T has `diagonal` (n numbers) and `beside` (n, the last is 0). */
void broad__tridiagonal_reduce(double *diagonal, double *beside, double *tau, double *a, size_t n, double *scratch);
/* The same, faster where the matrix fits into the cache of a core. Other last bits. */
void broad__tridiagonal_reduce_small(double *diagonal, double *beside, double *tau, double *a, size_t n,
                                     double *scratch);
/* z (n x n) <- z Q': rows that are eigenvectors of T become those of A. */
void broad__tridiagonal_return(double *z, const double *a, const double *tau, size_t n, double *scratch);
/* b (n x c) <- Q'b */
void broad__tridiagonal_turn(double *b, size_t c, const double *a, const double *tau, size_t n, double *scratch);

#endif
