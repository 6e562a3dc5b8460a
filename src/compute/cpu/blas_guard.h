/*
 * OpenBLAS made safe: it belongs to the whole process, its callers do not know of each other, and it has no way to say that
 * something went wrong. Every call of BLAS or LAPACK stands between broad__blas_enter() and broad__blas_leave(), and these
 * between broad__blas_hold() and broad__blas_release().
 */
#ifndef BROAD_COMPUTE_CPU_BLAS_GUARD_H
#define BROAD_COMPUTE_CPU_BLAS_GUARD_H

/* While somebody holds it, BLAS runs on the thread that calls it. The first time in a process it is warmed up and tested
 * against plain C. 0, or a status, and it is not held. */
int broad__blas_hold(void);
void broad__blas_release(void);

/* Waits while as many are inside as there are work buffers. What is between may not call the library again. */
void broad__blas_enter(void);
void broad__blas_leave(void);

/* BROAD_OK, or BROAD_FAILED with the operation of the device that does not compute what plain C does. For n = 1, 2, ... the
 * n-th operation is spoilt on purpose; *out_count says how many there are. */
int broad__blas_self_test(unsigned *out_count, unsigned spoil);

#endif
