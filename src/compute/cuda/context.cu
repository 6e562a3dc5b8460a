#include "compute/cuda/context.cuh"

#include <cstdio>
#include <cstdlib>
#include <mutex>

static const broad__cuda_host *host;
static context opened;
static bool ready;
static int failed; /* a status; BROAD_OK: nothing went wrong */
static char message[256];

const broad__cuda_host *host_of() { return host; }

static bool note(bool well, int status, const char *what, const char *reason)
{
    if (!well && failed == BROAD_OK) {
        failed = status;
        snprintf(message, sizeof message, "the GPU failed in %s: %s", what, reason);
    }
    return well;
}

bool went_well(cudaError_t error, const char *what)
{
    return note(error == cudaSuccess, error == cudaErrorMemoryAllocation ? BROAD_NO_MEMORY : BROAD_FAILED, what,
                cudaGetErrorString(error));
}

bool went_well(cublasStatus_t status, const char *what)
{
    return note(status == CUBLAS_STATUS_SUCCESS, BROAD_FAILED, what, cublasGetStatusString(status));
}

bool went_well(cusolverStatus_t status, const char *what)
{
    return note(status == CUSOLVER_STATUS_SUCCESS, BROAD_FAILED, what, "cuSOLVER refused it");
}

int outcome()
{
    int status = failed;
    failed = BROAD_OK;
    cudaGetLastError();
    return status == BROAD_OK ? BROAD_OK : host->fail(status, message);
}

/* Several processes of a machine share out its devices. */
static int device_number(int count)
{
    const char *local = getenv("OMPI_COMM_WORLD_LOCAL_RANK");
    return local && count > 0 ? atoi(local) % count : 0;
}

/* The processor waits for what is done with matrices: that comes first. */
static bool open_matrices()
{
    int least = 0, most = 0;
    queue *q = &opened.matrices;
    return went_well(cudaDeviceGetStreamPriorityRange(&least, &most), "starting") &&
           went_well(cudaStreamCreateWithPriority(&q->stream, cudaStreamNonBlocking, most), "starting") &&
           went_well(cublasCreate(&q->blas), "starting cuBLAS") &&
           went_well(cublasSetStream(q->blas, q->stream), "starting cuBLAS") &&
           went_well(cusolverDnCreate(&opened.solver), "starting cuSOLVER") &&
           went_well(cusolverDnSetStream(opened.solver, q->stream), "starting cuSOLVER");
}

static bool open_context()
{
    int count = 0;
    if (!went_well(cudaGetDeviceCount(&count), "finding a device") || count == 0) return false;
    int number = device_number(count);
    uint64_t all = UINT64_MAX;
    cudaDeviceProp facts;
    bool well = went_well(cudaSetDevice(number), "finding a device") &&
                went_well(cudaGetDeviceProperties(&facts, number), "finding a device") &&
                went_well(cudaStreamCreateWithFlags(&opened.stream, cudaStreamNonBlocking), "starting") &&
                went_well(cudaDeviceGetDefaultMemPool(&opened.pool, number), "starting") &&
                went_well(cudaMemPoolSetAttribute(opened.pool, cudaMemPoolAttrReleaseThreshold, &all), "starting") &&
                went_well(cublasCreate(&opened.blas), "starting cuBLAS") &&
                went_well(cublasSetStream(opened.blas, opened.stream), "starting cuBLAS") && open_matrices();
    if (!well) return false;
    opened.processors = facts.multiProcessorCount;
    opened.bulk = facts.major >= 9;
    opened.shared = facts.sharedMemPerBlockOptin;
    opened.total = facts.totalGlobalMem;
    return true;
}

const context *context_of()
{
    static std::once_flag once;
    std::call_once(once, [] { ready = open_context(); });
    return ready ? &opened : nullptr;
}

double *scratch(scratch_use use, size_t count)
{
    static double *at[SCRATCH_USES];
    static size_t have[SCRATCH_USES];
    cudaStream_t stream = use < SCRATCH_MATRIX ? opened.stream : opened.matrices.stream;
    if (count <= have[use]) return at[use];
    if (at[use]) went_well(cudaFreeAsync(at[use], stream), "memory");
    at[use] = nullptr;
    have[use] = 0;
    if (went_well(cudaMallocAsync(reinterpret_cast<void **>(&at[use]), count * sizeof(double), stream), "memory"))
        have[use] = count;
    return at[use];
}

/* ---- the plug-in ------------------------------------------------------------------------------------------------- */

static int hold() { return context_of() ? BROAD_OK : outcome(); }

static void release() {}

static double seconds_of(cudaEvent_t from, cudaEvent_t to)
{
    float milliseconds = 0;
    went_well(cudaEventSynchronize(to), "measuring");
    went_well(cudaEventElapsedTime(&milliseconds, from, to), "measuring");
    return 1e-3 * static_cast<double>(milliseconds);
}

/* A product of 8,192 x 8,192 numbers, and a copy of as many; the second of two. */
static void measure(broad__cuda_facts *out)
{
    enum { SIDE = 8192 };
    const context *c = context_of();
    size_t count = static_cast<size_t>(SIDE) * SIDE;
    uint32_t words[3] = {0, 0, 1u << 24};
    double *m = nullptr, one = 1, zero = 0;
    cudaEvent_t events[3];
    if (cuda_memory.alloc(&m, 3 * count) < 0) return;
    cuda_random(m, 1, words, 0, 2 * count);
    for (int i = 0; i < 3; i++) went_well(cudaEventCreate(&events[i]), "measuring");
    for (int i = 0; i < 2; i++) {
        went_well(cudaEventRecord(events[0], c->stream), "measuring");
        went_well(cublasDgemm(c->blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one, m, SIDE, m + count, SIDE,
                              &zero, m + 2 * count, SIDE),
                  "a product");
        went_well(cudaEventRecord(events[1], c->stream), "measuring");
        went_well(cudaMemcpyAsync(m + count, m, count * sizeof(double), cudaMemcpyDeviceToDevice, c->stream), "a copy");
        went_well(cudaEventRecord(events[2], c->stream), "measuring");
    }
    out->gigaflops = 2e-9 * static_cast<double>(SIDE) * static_cast<double>(count) / seconds_of(events[0], events[1]);
    out->gigabytes = 2e-9 * static_cast<double>(count * sizeof(double)) / seconds_of(events[1], events[2]);
    for (int i = 0; i < 3; i++) cudaEventDestroy(events[i]);
    cuda_memory.free(m);
}

static int inspect(broad__cuda_facts *out, int measured)
{
    *out = broad__cuda_facts{};
    int count = 0, number = 0;
    cudaDeviceProp facts;
    if (!context_of()) return outcome();
    if (!went_well(cudaGetDeviceCount(&count), "finding a device") ||
        !went_well(cudaGetDevice(&number), "finding a device") ||
        !went_well(cudaGetDeviceProperties(&facts, number), "finding a device"))
        return outcome();
    snprintf(out->name, sizeof out->name, "%.100s", facts.name);
    out->devices = static_cast<size_t>(count);
    out->memory = facts.totalGlobalMem;
    out->available = cuda_memory.room() * sizeof(double);
    if (measured) measure(out);
    return outcome();
}

static int settle()
{
    went_well(cudaStreamSynchronize(opened.stream), "an operation");
    went_well(cudaStreamSynchronize(opened.matrices.stream), "an operation");
    return outcome();
}

const broad__cuda_plugin *broad_cuda_open(const broad__cuda_host *given)
{
    static broad__memory memory;
    static broad__device far, device;
    static broad__cuda_plugin plugin;
    enum { BLOCKS = 64 }; /* of rows that the memory has room for */
    if (given->abi != BROAD__CUDA_ABI) return nullptr;
    host = given;
    if (!context_of()) {
        outcome();
        return nullptr;
    }
    memory = cuda_memory;
    memory.block = opened.total / BLOCKS / sizeof(double);
    far = cuda_far;
    far.memory = &memory;
    device = *host->cpu;
    device.name = "cuda";
    device.far = &far;
    device.hold = hold;
    device.release = release;
    fill_matrix_operations(&device);
    plugin = broad__cuda_plugin{BROAD__CUDA_ABI, &device, inspect, cuda_random, settle};
    return &plugin;
}
