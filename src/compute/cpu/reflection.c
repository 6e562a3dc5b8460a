#include "compute/cpu/reflection.h"

#include <math.h>
#include <string.h>

/* Divided by the largest of them, so that no square overflows or vanishes. */
double broad__reflection_make(double *alpha, double *v, size_t count)
{
    double most = 0, sum = 0;
    for (size_t i = 0; i < count; i++) most = fabs(v[i]) > most ? fabs(v[i]) : most;
    if (most == 0) return 0;
    most = fmax(most, fabs(*alpha));
    for (size_t i = 0; i < count; i++) {
        v[i] /= most;
        sum += v[i] * v[i];
    }
    double first = *alpha / most, beta = -copysign(sqrt(first * first + sum), first), scale = first - beta;
    for (size_t i = 0; i < count; i++) v[i] /= scale;
    *alpha = beta * most;
    return -scale / beta;
}

void broad__reflections_join(double *t, const double *gram, const double *tau, size_t wide)
{
    memset(t, 0, wide * wide * sizeof(double));
    for (size_t j = 0; j < wide; j++) {
        for (size_t i = 0; i < j; i++) {
            double sum = 0;
            for (size_t l = i; l < j; l++) sum += t[i * wide + l] * gram[l * wide + j];
            t[i * wide + j] = -tau[j] * sum;
        }
        t[j * wide + j] = tau[j];
    }
}
