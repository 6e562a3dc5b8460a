#include "metric/law.h"

#include <math.h>

#define SCALE_LEAST 0.01 /* of the root mean square */
#define ENOUGH 1e-12     /* relative change of the squared scale */
#define STEPS_MOST 500

/* Beside each freedom f the logarithm of the density of scale 1 at 0: of Gamma((f + 1) / 2) / Gamma(f / 2) / sqrt(f pi). */
static const struct {
    double freedom, top;
} forms[] = {
    {2, -1.0397207708399181},         {2.5, -1.0166395934604504}, {3, -1.0008888496235095},
    {4, -0.98082925301172574},        {6, -0.96041825575159878},  {8, -0.95010861215023068},
    {12, -0.93974795074360773},       {20, -0.93143334037939951}, {40, -0.92518788265036545},
    {INFINITY, -0.91893853320467267},
};

static double mean_square(const double *sizes, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += sizes[i] * sizes[i] / (double)count;
    return sum;
}

/* The squared scale of the largest likelihood, by the EM algorithm: distant residuals count less. */
static double squared_scale(const double *sizes, size_t count, double freedom, double square)
{
    if (isinf(freedom)) return square;
    double found = square, least = SCALE_LEAST * SCALE_LEAST * square;
    for (int step = 0; step < STEPS_MOST; step++) {
        double sum = 0, before = found;
        for (size_t i = 0; i < count; i++) {
            double part = sizes[i] * sizes[i];
            sum += (freedom + 1) * part / (freedom + part / before);
        }
        found = fmax(sum / (double)count, least);
        if (fabs(found - before) <= ENOUGH * found) break;
    }
    return found;
}

static double log_likelihood(const double *sizes, size_t count, broad__law law)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += broad__law_log_density(law, sizes[i]);
    return sum;
}

broad__law broad__law_fit(const double *sizes, size_t count)
{
    broad__law best = {INFINITY, 0, 0};
    double square = count ? mean_square(sizes, count) : 0, highest = -INFINITY;
    if (!(square > 0) || !isfinite(square)) return best;
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        double scale = sqrt(squared_scale(sizes, count, forms[f].freedom, square));
        broad__law law = {forms[f].freedom, scale, forms[f].top - log(scale)};
        double likelihood = log_likelihood(sizes, count, law);
        if (likelihood > highest) highest = likelihood, best = law;
    }
    return best;
}

double broad__law_log_density(broad__law law, double distance)
{
    double z = distance / law.scale, f = law.freedom;
    return law.top - (isinf(f) ? z * z / 2 : (f + 1) / 2 * log1p(z * z / f));
}
