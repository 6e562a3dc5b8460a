/*
 * What the processor can do at most: fused multiply-adds in double on numbers that stay in registers, on a given number of threads at
 * once. Prints the GFLOP/s of all threads together in its best run, or fails where it does not know the processor.
 *   bench_peak [--runs N] [--threads N] [--quick]
 */
#include "words.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>

/* Chains of steps that do not wait for each other: two units with a latency of five steps keep ten of them busy. */
enum { CHAINS = 12, MOST_THREADS = 256 };

/* a x + b with x near its fixed point: neither overflows nor becomes subnormal. */
static const double a = 0.999, b = 0.001;

__attribute__((target("avx512f"))) static double run_512(long steps)
{
    __m512d x[CHAINS], factor = _mm512_set1_pd(a), term = _mm512_set1_pd(b);
    for (int i = 0; i < CHAINS; i++) x[i] = _mm512_set1_pd(1 + 0.1 * i);
    for (long step = 0; step < steps; step++)
        for (int i = 0; i < CHAINS; i++) x[i] = _mm512_fmadd_pd(x[i], factor, term);
    double total = 0;
    for (int i = 0; i < CHAINS; i++) total += _mm512_reduce_add_pd(x[i]);
    return total;
}

__attribute__((target("avx2,fma"))) static double run_256(long steps)
{
    __m256d x[CHAINS], factor = _mm256_set1_pd(a), term = _mm256_set1_pd(b);
    for (int i = 0; i < CHAINS; i++) x[i] = _mm256_set1_pd(1 + 0.1 * i);
    for (long step = 0; step < steps; step++)
        for (int i = 0; i < CHAINS; i++) x[i] = _mm256_fmadd_pd(x[i], factor, term);
    double total = 0;
    for (int i = 0; i < CHAINS; i++) total += _mm256_cvtsd_f64(x[i]);
    return total;
}

typedef struct work {
    double (*run)(long steps);
    long steps;
    double seconds, result;
} work;

/* The thread's own processor time: whatever else runs here meanwhile does not make the processor slower. */
static double seconds_used(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *run_work(void *given)
{
    work *w = given;
    double start = seconds_used();
    w->result = w->run(w->steps);
    w->seconds = seconds_used() - start;
    return NULL;
}

/* GFLOP/s of all threads together. */
static double measure(double (*run)(long steps), int lanes, long steps, size_t threads)
{
    pthread_t ids[MOST_THREADS];
    work works[MOST_THREADS];
    for (size_t i = 0; i < threads; i++) {
        works[i] = (work){.run = run, .steps = steps};
        if (pthread_create(&ids[i], NULL, run_work, &works[i]) != 0) exit(1);
    }
    double total = 0;
    for (size_t i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        /* Uses the result, so that the loop is not left out; the fixed point makes it always true. */
        if (works[i].result > 0) total += 2e-9 * CHAINS * lanes * (double)steps / works[i].seconds;
    }
    return total;
}

int main(int argc, char **argv)
{
    bench_words words = bench_words_read(argc, argv, (bench_words){.runs = 10, .threads = 1});
    size_t threads = words.threads < MOST_THREADS ? words.threads : MOST_THREADS;
    long steps = words.quick ? 2000000 : 10000000;
    double best = 0;
    for (size_t i = 0; i < words.runs; i++) {
        double found = 0;
        if (__builtin_cpu_supports("avx512f")) found = measure(run_512, 8, steps, threads);
        if (found > best) best = found;
        if (__builtin_cpu_supports("fma")) found = measure(run_256, 4, steps, threads);
        if (found > best) best = found;
    }
    if (best <= 0) {
        fprintf(stderr, "bench_peak: this processor has no fused multiply-add\n");
        return 1;
    }
    printf("%.1f\n", best);
    return 0;
}

#else

int main(void)
{
    fprintf(stderr, "bench_peak: knows x86-64 alone\n");
    return 1;
}

#endif
