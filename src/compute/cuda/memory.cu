#include "compute/cuda/context.cuh"

#include <cstdint>
#include <cstring>

static int memory_alloc(double **out, size_t count)
{
    const context *c = context_of();
    void *at = nullptr;
    *out = nullptr;
    if (!c) return outcome();
    if (count > SIZE_MAX / sizeof(double) / 2) return BROAD_NO_MEMORY;
    cudaError_t error = cudaMallocAsync(&at, (count ? count : 1) * sizeof(double), c->stream);
    if (error != cudaSuccess) {
        cudaGetLastError(); /* too little memory is no lasting fault */
        return host_of()->fail(BROAD_NO_MEMORY, "the device has too little free memory");
    }
    *out = static_cast<double *>(at);
    return BROAD_OK;
}

static void memory_free(double *at)
{
    if (at) went_well(cudaFreeAsync(at, context_of()->stream), "memory");
}

static size_t memory_room()
{
    size_t available = 0, total = 0;
    uint64_t reserved = 0, used = 0;
    went_well(cudaMemGetInfo(&available, &total), "memory");
    went_well(cudaMemPoolGetAttribute(context_of()->pool, cudaMemPoolAttrReservedMemCurrent, &reserved), "memory");
    went_well(cudaMemPoolGetAttribute(context_of()->pool, cudaMemPoolAttrUsedMemCurrent, &used), "memory");
    return (available + static_cast<size_t>(reserved - used)) / sizeof(double);
}

static void memory_zero(double *at, size_t count)
{
    went_well(cudaMemsetAsync(at, 0, count * sizeof(double), context_of()->stream), "memory");
}

/* What comes from ordinary memory is copied by way of page-locked pieces, two in turn: while one travels the next is filled. */
static const size_t PIECE = 1 << 21;

struct piece {
    double *at;
    cudaEvent_t gone;
};

static piece *pieces()
{
    static piece both[2];
    for (int i = 0; i < 2 && !both[i].at; i++) {
        if (!went_well(cudaMallocHost(reinterpret_cast<void **>(&both[i].at), PIECE * sizeof(double)), "memory") ||
            !went_well(cudaEventCreateWithFlags(&both[i].gone, cudaEventDisableTiming), "memory"))
            return nullptr;
    }
    return both[1].at ? both : nullptr;
}

void cuda_put(double *to, const double *from, size_t count)
{
    static unsigned turn;
    piece *both = pieces();
    for (size_t i = 0; both && i < count; i += PIECE, turn++) {
        size_t n = count - i < PIECE ? count - i : PIECE;
        piece *next = &both[turn % 2];
        if (!went_well(cudaEventSynchronize(next->gone), "memory")) return;
        memcpy(next->at, from + i, n * sizeof(double));
        went_well(cudaMemcpyAsync(to + i, next->at, n * sizeof(double), cudaMemcpyHostToDevice, context_of()->stream),
                  "memory");
        went_well(cudaEventRecord(next->gone, context_of()->stream), "memory");
    }
}

/* The same the other way round: while one piece is copied out, the next travels. */
static int memory_get(double *to, const double *from, size_t count)
{
    piece *both = pieces();
    cudaStream_t stream = context_of()->stream;
    size_t steps = both ? (count + PIECE - 1) / PIECE : 0;
    for (size_t i = 0; i <= steps && steps; i++) {
        if (i < steps) {
            size_t n = count - i * PIECE < PIECE ? count - i * PIECE : PIECE;
            went_well(
                cudaMemcpyAsync(both[i % 2].at, from + i * PIECE, n * sizeof(double), cudaMemcpyDeviceToHost, stream),
                "memory");
            went_well(cudaEventRecord(both[i % 2].gone, stream), "memory");
        }
        if (i == 0) continue;
        size_t n = count - (i - 1) * PIECE < PIECE ? count - (i - 1) * PIECE : PIECE;
        if (!went_well(cudaEventSynchronize(both[(i - 1) % 2].gone), "memory")) break;
        memcpy(to + (i - 1) * PIECE, both[(i - 1) % 2].at, n * sizeof(double));
    }
    went_well(cudaStreamSynchronize(stream), "an operation");
    return outcome();
}

const broad__memory cuda_memory = {
    .block = 0, /* set when the device is known */
    .alloc = memory_alloc,
    .free = memory_free,
    .room = memory_room,
    .zero = memory_zero,
    .put = cuda_put,
    .get = memory_get,
};
