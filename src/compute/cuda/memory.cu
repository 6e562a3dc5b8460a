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

/* What comes from ordinary memory is copied by way of page-locked pieces: while one travels the next is filled. Few numbers
 * have pieces of their own, so many that their sender hardly ever waits. Each queue has its own: one need not wait for the
 * other. */
static const size_t PIECE = 1 << 21, FEW = 1 << 15;

struct piece {
    double *at;
    cudaEvent_t gone;
};

struct pieces {
    piece both[2], few[16];
    unsigned turn, few_turn;
};

static pieces of_rows, of_matrices;

static bool piece_open(piece *p, size_t count)
{
    if (p->at) return true;
    return went_well(cudaEventCreateWithFlags(&p->gone, cudaEventDisableTiming), "memory") &&
           went_well(cudaMallocHost(reinterpret_cast<void **>(&p->at), count * sizeof(double)), "memory");
}

static bool ready(pieces *p) { return piece_open(&p->both[0], PIECE) && piece_open(&p->both[1], PIECE); }

/* The piece, filled as soon as what it held before is gone. NULL: that went wrong. */
static double *fill(piece *p, size_t capacity, const double *from, size_t count)
{
    if (!piece_open(p, capacity) || !went_well(cudaEventSynchronize(p->gone), "memory")) return nullptr;
    memcpy(p->at, from, count * sizeof(double));
    return p->at;
}

__global__ static void copy_few(double *to, const double *from, size_t count)
{
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += static_cast<size_t>(gridDim.x) * blockDim.x)
        to[i] = from[i];
}

/* The device reads or writes them itself, where they lie: that takes less time than to start its copier. */
static bool carry_few(cudaStream_t stream, double *to, const double *from, size_t count)
{
    const size_t THREADS = 256, MOST = 64, wanted = (count + THREADS - 1) / THREADS;
    copy_few<<<static_cast<unsigned>(wanted > MOST ? MOST : wanted), THREADS, 0, stream>>>(to, from, count);
    return went_well(cudaGetLastError(), "memory");
}

static void put_few(pieces *p, cudaStream_t stream, double *to, const double *from, size_t count)
{
    piece *next = &p->few[p->few_turn++ % 16];
    const double *at = fill(next, FEW, from, count);
    if (at && carry_few(stream, to, at, count)) went_well(cudaEventRecord(next->gone, stream), "memory");
}

static void put(pieces *p, cudaStream_t stream, double *to, const double *from, size_t count)
{
    if (count && count <= FEW) {
        put_few(p, stream, to, from, count);
        return;
    }
    for (size_t i = 0; i < count; i += PIECE) {
        size_t n = count - i < PIECE ? count - i : PIECE;
        piece *next = &p->both[p->turn++ % 2];
        const double *at = fill(next, PIECE, from + i, n);
        if (!at) return;
        went_well(cudaMemcpyAsync(to + i, at, n * sizeof(double), cudaMemcpyHostToDevice, stream), "memory");
        went_well(cudaEventRecord(next->gone, stream), "memory");
    }
}

/* The same the other way round: while one piece is copied out, the next travels. */
static int get(pieces *p, cudaStream_t stream, double *to, const double *from, size_t count)
{
    piece *both = p->both;
    size_t steps = ready(p) ? (count + PIECE - 1) / PIECE : 0;
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

void cuda_put(double *to, const double *from, size_t count) { put(&of_rows, context_of()->stream, to, from, count); }

/* What was asked for comes in a queue of its own; few numbers come in that of the rows, which is soon done with them. */
static struct {
    const double *from;
    size_t count;
    double *at; /* page-locked */
    cudaStream_t stream;
    cudaEvent_t made, come;
} asked;

static bool may_ask()
{
    if (asked.at) return true;
    return went_well(cudaStreamCreateWithFlags(&asked.stream, cudaStreamNonBlocking), "memory") &&
           went_well(cudaEventCreateWithFlags(&asked.made, cudaEventDisableTiming), "memory") &&
           went_well(cudaEventCreateWithFlags(&asked.come, cudaEventDisableTiming), "memory") &&
           went_well(cudaMallocHost(reinterpret_cast<void **>(&asked.at), PIECE * sizeof(double)), "memory");
}

static void memory_ask(const double *from, size_t count)
{
    asked.from = nullptr;
    if (count > PIECE || !may_ask()) return;
    const cudaStream_t rows = context_of()->stream;
    const bool few = count && count <= FEW;
    bool well = few ? carry_few(rows, asked.at, from, count)
                    : went_well(cudaEventRecord(asked.made, rows), "memory") &&
                          went_well(cudaStreamWaitEvent(asked.stream, asked.made, 0), "memory") &&
                          went_well(cudaMemcpyAsync(asked.at, from, count * sizeof(double), cudaMemcpyDeviceToHost,
                                                    asked.stream),
                                    "memory");
    well = well && went_well(cudaEventRecord(asked.come, few ? rows : asked.stream), "memory");
    if (well) asked.from = from, asked.count = count;
}

static int memory_get(double *to, const double *from, size_t count)
{
    bool begun = asked.from == from && asked.count == count;
    asked.from = nullptr;
    if (!begun) return get(&of_rows, context_of()->stream, to, from, count);
    if (went_well(cudaEventSynchronize(asked.come), "an operation")) memcpy(to, asked.at, count * sizeof(double));
    return outcome();
}

/* ---- rows that pass through --------------------------------------------------------------------------------------- */

/* Each turn: the page-locked place, when it is free again, and when the device is done with where it went to. */
struct passage {
    double *at;
    size_t capacity;
    cudaEvent_t gone, done;
};

static struct {
    passage both[2];
    cudaStream_t stream;
    cudaEvent_t come;
} through;

static bool may_pass()
{
    if (through.stream) return true;
    bool well = went_well(cudaEventCreateWithFlags(&through.come, cudaEventDisableTiming), "memory");
    for (int i = 0; i < 2; i++)
        well = well && went_well(cudaEventCreateWithFlags(&through.both[i].gone, cudaEventDisableTiming), "memory") &&
               went_well(cudaEventCreateWithFlags(&through.both[i].done, cudaEventDisableTiming), "memory");
    return well && went_well(cudaStreamCreateWithFlags(&through.stream, cudaStreamNonBlocking), "memory");
}

static double *memory_stage(size_t turn, size_t count)
{
    passage *p = &through.both[turn];
    if (!may_pass() || !went_well(cudaEventSynchronize(p->gone), "memory")) return nullptr;
    if (count <= p->capacity) return p->at;
    cudaFreeHost(p->at);
    *p = passage{nullptr, 0, p->gone, p->done};
    if (cudaMallocHost(reinterpret_cast<void **>(&p->at), count * sizeof(double)) != cudaSuccess) {
        cudaGetLastError(); /* too little memory is no lasting fault */
        return nullptr;
    }
    p->capacity = count;
    return p->at;
}

static void memory_send(double *to, size_t turn, size_t count)
{
    passage *p = &through.both[turn];
    went_well(cudaEventRecord(through.both[1 - turn].done, context_of()->stream), "memory");
    went_well(cudaStreamWaitEvent(through.stream, p->done, 0), "memory");
    went_well(cudaMemcpyAsync(to, p->at, count * sizeof(double), cudaMemcpyHostToDevice, through.stream), "memory");
    went_well(cudaEventRecord(p->gone, through.stream), "memory");
}

static void memory_await()
{
    went_well(cudaEventRecord(through.come, through.stream), "memory");
    went_well(cudaStreamWaitEvent(context_of()->stream, through.come, 0), "memory");
}

void matrix_put(double *to, const double *from, size_t count)
{
    put(&of_matrices, context_of()->matrices.stream, to, from, count);
}

int matrix_get(double *to, const double *from, size_t count)
{
    return get(&of_matrices, context_of()->matrices.stream, to, from, count);
}

const broad__memory cuda_memory = {
    .block = 0, /* set when the device is known */
    .worth = 1e10,
    .worth_each = 256,
    .alloc = memory_alloc,
    .free = memory_free,
    .room = memory_room,
    .zero = memory_zero,
    .put = cuda_put,
    .ask = memory_ask,
    .get = memory_get,
    .stage = memory_stage,
    .send = memory_send,
    .await = memory_await,
};
