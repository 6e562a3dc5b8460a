/* The most that one core can do: multiplications and additions in double on numbers that stay in registers. */
#ifndef BROAD_COMPUTE_CPU_PEAK_H
#define BROAD_COMPUTE_CPU_PEAK_H

#include <stddef.h>

typedef struct broad__peak {
    const char *name;            /* "avx512", "avx2", "sse2", "neon"; "" where there is no such loop */
    double flops;                /* of one step */
    double (*run)(size_t steps); /* what it returns must be used, or the work may be left out */
} broad__peak;

/* For the widest vectors of this processor; the next narrower ones with `narrower` 1, and so on. name "": none. */
broad__peak broad__peak_loop(size_t narrower);

#endif
