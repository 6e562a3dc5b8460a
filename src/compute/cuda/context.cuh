/* The device in use, its library handles, and what has gone wrong. One caller at a time (compute/device.h). */
#ifndef BROAD_COMPUTE_CUDA_CONTEXT_CUH
#define BROAD_COMPUTE_CUDA_CONTEXT_CUH

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include "compute/cuda/plugin.h"

/* What comes one after the other: operations on rows, and those on matrices, which must not wait for them. */
struct queue {
    cudaStream_t stream;
    cublasHandle_t blas;
};

struct context {
    cudaStream_t stream; /* of the rows */
    cublasHandle_t blas;
    queue matrices;
    cusolverDnHandle_t solver; /* of the matrices */
    cudaMemPool_t pool;
    int processors;
    bool bulk;     /* it has an engine that copies rows to shared memory */
    size_t shared; /* bytes of shared memory that a block may have */
    size_t total;  /* bytes of memory */
};

/* Opened once. NULL where that failed. */
const context *context_of();

/* Keep the first thing that went wrong. */
bool went_well(cudaError_t error, const char *what);
bool went_well(cublasStatus_t status, const char *what);
bool went_well(cusolverStatus_t status, const char *what);
/* Gives it up: 0, or its status. */
int outcome();
const broad__cuda_host *host_of();

/* Memory that is reused: at least `count` numbers, of its own for each use. */
enum scratch_use {
    SCRATCH_WEIGHT,
    SCRATCH_BIAS,
    SCRATCH_OUTPUTS, /* weights of the sides, one for each */
    SCRATCH_PROBES,
    SCRATCH_PARTS,
    SCRATCH_MATRIX, /* this and what follows: of the matrices */
    SCRATCH_SIDE,
    SCRATCH_WORK,
    SCRATCH_USES
};
double *scratch(scratch_use use, size_t count);

/* The rows' operations (rows.cu), their memory (memory.cu), and those on matrices in the processor's memory (matrices.cu). */
extern const broad__memory cuda_memory;
extern const broad__device cuda_far;
void fill_matrix_operations(broad__device *out);
void cuda_random(double *out, uint64_t seed, const uint32_t words[3], uint64_t first, size_t count);
void cuda_put(double *to, const double *from, size_t count);
/* The same as put and get of the rows' memory, in the queue of the matrices. */
void matrix_put(double *to, const double *from, size_t count);
int matrix_get(double *to, const double *from, size_t count);

#endif
