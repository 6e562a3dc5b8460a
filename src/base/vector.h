/* Which vector instructions to use. Code that chooses by this must give the same bits whatever is chosen. */
#ifndef BROAD_BASE_VECTOR_H
#define BROAD_BASE_VECTOR_H

typedef enum broad__vector {
    BROAD__VECTOR_PLAIN,  /* what every machine of this kind has: SSE2 on x86-64, NEON on aarch64 */
    BROAD__VECTOR_AVX2,   /* with FMA */
    BROAD__VECTOR_AVX512, /* F, BW, DQ and VL, with AVX2 and FMA */
} broad__vector;

/* The widest this processor has; less where BROAD_KERNELS (plain, avx2 or avx512) asks for it in the environment. Looked
 * up once. */
broad__vector broad__vector_best(void);

/* Whether code that chooses by it has fused multiply-adds. */
int broad__fused(void);

#endif
