/* Operations on rows in the device's memory. Matrices lie row by row: to cuBLAS each is its transpose, column by column. */
#include "compute/cuda/context.cuh"
#include "compute/cuda/narrow.cuh"

enum { THREADS = 256 };

static int blocks_for(size_t count)
{
    size_t wanted = (count + THREADS - 1) / THREADS, most = 16 * static_cast<size_t>(context_of()->processors);
    return static_cast<int>(wanted < most ? (wanted ? wanted : 1) : most);
}

static int narrow_int(size_t value) { return static_cast<int>(value); }

/* ---- products ---------------------------------------------------------------------------------------------------- */

static const double *weights(scratch_use use, const double *from, size_t count)
{
    double *at = scratch(use, count);
    if (at) cuda_put(at, from, count);
    return at;
}

/* Philox4x32-10 by counter, number by number as rng/philox.h has it. */
__device__ static double random_at(uint64_t element, uint64_t seed, uint3 words)
{
    uint64_t block = element / 2;
    uint32_t c0 = static_cast<uint32_t>(block), c1 = words.x, c2 = words.y,
             c3 = words.z | (static_cast<uint32_t>(block >> 32) & 0xFFFFFFu);
    uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = static_cast<uint64_t>(0xD2511F53u) * c0, p1 = static_cast<uint64_t>(0xCD9E8D57u) * c2;
        uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0, n2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
        c0 = n0, c1 = static_cast<uint32_t>(p1), c2 = n2, c3 = static_cast<uint32_t>(p0);
        k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
    }
    uint64_t bits = element % 2 ? static_cast<uint64_t>(c3) << 32 | c2 : static_cast<uint64_t>(c1) << 32 | c0;
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

/* The bias is input number `inputs`. */
__global__ static void draw_weights(double *weight, double *bias, broad__drawing drawn, size_t inputs, size_t nodes)
{
    const size_t length = inputs + 1, step = static_cast<size_t>(gridDim.x) * blockDim.x;
    const uint3 words = make_uint3(drawn.words[0], drawn.words[1], drawn.words[2]);
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < length * nodes; i += step) {
        size_t input = i / nodes, node = i % nodes;
        double number = 2.0 * random_at(node * length + input, drawn.seed, words) - 1.0;
        if (input < inputs) weight[i] = number * drawn.scale;
        else bias[node] = number * drawn.range;
    }
}

/* Weights and biases of the nodes in the device's memory: drawn there, or brought. */
static bool weights_of(const double **weight, const double **bias, const broad__nodes *nodes)
{
    const size_t count = nodes->inputs * nodes->nodes;
    if (!nodes->drawn.known) {
        *weight = weights(SCRATCH_WEIGHT, nodes->weight, count);
        *bias = weights(SCRATCH_BIAS, nodes->bias, nodes->nodes);
        return *weight && *bias;
    }
    double *w = scratch(SCRATCH_WEIGHT, count), *b = scratch(SCRATCH_BIAS, nodes->nodes);
    if (!w || !b) return false;
    draw_weights<<<blocks_for(count + nodes->nodes), THREADS, 0, context_of()->stream>>>(w, b, nodes->drawn,
                                                                                         nodes->inputs, nodes->nodes);
    *weight = w;
    *bias = b;
    return true;
}

static void rows_nodes(double *out, size_t out_stride, const broad__nodes *nodes, const double *x, size_t x_stride,
                       size_t rows)
{
    const context *c = context_of();
    const double *weight = nullptr, *bias = nullptr;
    double one = 1, zero = 0;
    if (!rows || !weights_of(&weight, &bias, nodes)) return;
    if (nodes->inputs <= NARROW_MOST) {
        narrow_nodes(out, out_stride, weight, bias, nodes->inputs, nodes->nodes, nodes->activation, x, x_stride, rows);
    } else {
        went_well(cublasDgemm(c->blas, CUBLAS_OP_N, CUBLAS_OP_N, narrow_int(nodes->nodes), narrow_int(rows),
                              narrow_int(nodes->inputs), &one, weight, narrow_int(nodes->nodes), x,
                              narrow_int(x_stride), &zero, out, narrow_int(out_stride)),
                  "nodes");
        bias_and_activate(out, out_stride, bias, nodes->nodes, rows, nodes->activation);
    }
    went_well(cudaGetLastError(), "nodes");
}

/* Sides of a tile of a product, as cuBLAS cuts them, about. */
enum { TILE = 128 };

/* Sums over rows whose tiles alone would leave a part of the device idle: chunks of rows side by side, added up in order. */
static void tall_product(double *out, size_t out_stride, const double *a, size_t a_stride, size_t p, const double *b,
                         size_t b_stride, size_t columns, size_t rows)
{
    const context *c = context_of();
    double one = 1, zero = 0;
    size_t tiles = ((p + TILE - 1) / TILE) * ((columns + TILE - 1) / TILE),
           wanted = 4 * static_cast<size_t>(c->processors);
    size_t chunks = (wanted + tiles - 1) / tiles, chunk = rows / chunks;
    if (chunk < 512) chunk = 512, chunks = rows / chunk;
    size_t done = chunks * chunk, rest = done < rows;
    double *parts = scratch(SCRATCH_PARTS, (chunks + rest) * p * columns);
    if (!parts) return;
    if (chunks)
        went_well(cublasDgemmStridedBatched(c->blas, CUBLAS_OP_N, CUBLAS_OP_T, narrow_int(columns), narrow_int(p),
                                            narrow_int(chunk), &one, b, narrow_int(b_stride),
                                            static_cast<long long>(chunk * b_stride), a, narrow_int(a_stride),
                                            static_cast<long long>(chunk * a_stride), &zero, parts, narrow_int(columns),
                                            static_cast<long long>(p * columns), narrow_int(chunks)),
                  "sums over rows");
    if (rest)
        went_well(cublasDgemm(c->blas, CUBLAS_OP_N, CUBLAS_OP_T, narrow_int(columns), narrow_int(p),
                              narrow_int(rows - done), &one, b + done * b_stride, narrow_int(b_stride),
                              a + done * a_stride, narrow_int(a_stride), &zero, parts + chunks * p * columns,
                              narrow_int(columns)),
                  "sums over rows");
    add_parts(out, out_stride, parts, columns, p, columns, chunks + rest);
    went_well(cudaGetLastError(), "sums over rows");
}

/* Strip by strip, from the diagonal on; and from some size on cuBLAS leaves out by itself what lies below the diagonal, which
 * nobody needs. */
static const size_t STRIP = 128, SYRK = 2048;

static void gram_strips(double *out, size_t out_stride, const double *k, size_t k_stride, size_t rows, size_t p)
{
    for (size_t i = 0; i < p; i += STRIP)
        tall_product(out + i * out_stride + i, out_stride, k + i, k_stride, p - i < STRIP ? p - i : STRIP, k + i,
                     k_stride, p - i, rows);
}

static void rows_gram(double *out, size_t out_stride, const double *k, size_t k_stride, size_t rows, size_t p)
{
    if (!rows) return;
    const context *c = context_of();
    double one = 1;
    if (p <= NARROW_MOST) narrow_sums(out, out_stride, k, k_stride, p, nullptr, 0, rows);
    else if (p < SYRK) gram_strips(out, out_stride, k, k_stride, rows, p);
    else
        went_well(cublasDsyrk(c->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, narrow_int(p), narrow_int(rows), &one, k,
                              narrow_int(k_stride), &one, out, narrow_int(out_stride)),
                  "sums over rows");
    went_well(cudaGetLastError(), "sums over rows");
}

static void rows_cross(double *out, size_t out_stride, const double *a, size_t a_stride, size_t p, const double *b,
                       size_t b_stride, size_t columns, size_t rows)
{
    if (rows) tall_product(out, out_stride, a, a_stride, p, b, b_stride, columns, rows);
}

static size_t columns_of(const broad__side *sides, size_t count)
{
    size_t columns = 0;
    for (size_t i = 0; i < count; i++) columns += sides[i].columns;
    return columns;
}

static void rows_sums(double *gram, size_t gram_stride, const double *k, size_t k_stride, size_t p,
                      const broad__side *sides, size_t count, size_t rows)
{
    if (!rows) return;
    if (p <= NARROW_MOST && columns_of(sides, count) <= NARROW_OUTPUTS) {
        narrow_sums(gram, gram_stride, k, k_stride, p, sides, count, rows);
        went_well(cudaGetLastError(), "sums over rows");
        return;
    }
    rows_gram(gram, gram_stride, k, k_stride, rows, p);
    for (size_t i = 0; i < count; i++)
        rows_cross(sides[i].cross, sides[i].columns, k, k_stride, p, sides[i].at, sides[i].stride, sides[i].columns,
                   rows);
}

static void rows_apply(double *out, size_t out_stride, double sign, const double *k, size_t k_stride, size_t rows,
                       const double *w, size_t w_stride, size_t p, size_t columns)
{
    const context *c = context_of();
    const double *there = weights(SCRATCH_WEIGHT, w, (p - 1) * w_stride + columns);
    double one = 1;
    if (!there || !rows) return;
    if (columns <= NARROW_OUTPUTS && w_stride == columns) {
        narrow_apply(out, out, out_stride, nullptr, sign, k, k_stride, rows, there, p, columns);
        went_well(cudaGetLastError(), "a product");
        return;
    }
    went_well(cublasDgemm(c->blas, CUBLAS_OP_N, CUBLAS_OP_N, narrow_int(columns), narrow_int(rows), narrow_int(p),
                          &sign, there, narrow_int(w_stride), k, narrow_int(k_stride), &one, out,
                          narrow_int(out_stride)),
              "a product");
}

static void rows_inner(double *out, const double *a, size_t a_stride, const double *b, size_t b_stride, size_t rows,
                       size_t columns);
static void rows_copy(double *out, size_t out_stride, const double *from, size_t from_stride, size_t rows,
                      size_t columns);

static void rows_shift(double *out, double *squares, double *cross, const double *e, double sign, const double *k,
                       size_t rows, const double *w, size_t p, size_t columns)
{
    if (!rows) return;
    const double *there = weights(SCRATCH_WEIGHT, w, p * columns);
    if (!there) return;
    if (columns <= NARROW_OUTPUTS) {
        if (p <= NARROW_MOST && cross) narrow_shift(out, squares, cross, e, sign, k, rows, there, p, columns);
        else narrow_apply(out, e, columns, squares, sign, k, p, rows, there, p, columns);
        if (p > NARROW_MOST && cross) rows_cross(cross, columns, k, p, p, out, columns, columns, rows);
        went_well(cudaGetLastError(), "a residual");
        return;
    }
    if (out != e) rows_copy(out, columns, e, columns, rows, columns);
    rows_apply(out, columns, sign, k, p, rows, w, columns, p, columns);
    rows_inner(squares, out, rows * columns, out, rows * columns, 1, rows * columns);
    if (cross) rows_cross(cross, columns, k, p, p, out, columns, columns, rows);
}

static void rows_change(double *squares, double sign, const double *k, size_t p, const broad__side *sides, size_t count,
                        size_t rows)
{
    const double *w[BROAD__SIDES] = {};
    if (!rows) return;
    if (columns_of(sides, count) > NARROW_OUTPUTS) {
        rows_shift(sides[0].at, squares, nullptr, sides[0].at, sign, k, rows, sides[0].w, p, sides[0].columns);
        for (size_t i = 1; i < count; i++)
            rows_apply(sides[i].at, sides[i].stride, sign, k, p, rows, sides[i].w, sides[i].columns, p,
                       sides[i].columns);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        w[i] = weights(i ? SCRATCH_PROBES : SCRATCH_OUTPUTS, sides[i].w, p * sides[i].columns);
        if (!w[i]) return;
    }
    narrow_change(squares, sign, k, p, sides, count, w, rows);
    went_well(cudaGetLastError(), "a residual");
}

static void rows_outer(double *out, size_t out_stride, const double *a, size_t a_stride, size_t rows, const double *b,
                       size_t b_stride, size_t count, size_t p)
{
    const context *c = context_of();
    double one = 1;
    if (!rows || !count) return;
    went_well(cublasDgemm(c->blas, CUBLAS_OP_T, CUBLAS_OP_N, narrow_int(count), narrow_int(rows), narrow_int(p), &one,
                          b, narrow_int(b_stride), a, narrow_int(a_stride), &one, out, narrow_int(out_stride)),
              "a product");
}

/* ---- single numbers ---------------------------------------------------------------------------------------------- */

__global__ void inner_parts(double *parts, const double *a, size_t a_stride, const double *b, size_t b_stride,
                            size_t rows, size_t columns)
{
    __shared__ double sums[THREADS];
    double sum = 0;
    size_t count = rows * columns, step = static_cast<size_t>(gridDim.x) * THREADS;
    size_t from = static_cast<size_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (rows == 1 || (a_stride == columns && b_stride == columns))
        for (size_t i = from; i < count; i += step) sum += a[i] * b[i];
    else
        for (size_t i = from; i < count; i += step)
            sum += a[i / columns * a_stride + i % columns] * b[i / columns * b_stride + i % columns];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) parts[blockIdx.x] = sums[0];
}

static void rows_inner(double *out, const double *a, size_t a_stride, const double *b, size_t b_stride, size_t rows,
                       size_t columns)
{
    const context *c = context_of();
    int blocks = blocks_for(rows * columns);
    if (blocks > 1024) blocks = 1024;
    double *parts = scratch(SCRATCH_PARTS, 1024);
    if (!parts) return;
    inner_parts<<<blocks, THREADS, 0, c->stream>>>(parts, a, a_stride, b, b_stride, rows, columns);
    add_numbers(out, parts, static_cast<size_t>(blocks));
    went_well(cudaGetLastError(), "a sum");
}

static void rows_squares(double *out, const double *a, size_t count) { rows_inner(out, a, count, a, count, 1, count); }

/* ---- the rest ---------------------------------------------------------------------------------------------------- */

static void rows_copy(double *out, size_t out_stride, const double *from, size_t from_stride, size_t rows,
                      size_t columns)
{
    if (!rows || !columns) return;
    if (out_stride == columns && from_stride == columns) columns *= rows, rows = 1, out_stride = from_stride = columns;
    went_well(rows == 1
                  ? cudaMemcpyAsync(out, from, columns * sizeof(double), cudaMemcpyDeviceToDevice, context_of()->stream)
                  : cudaMemcpy2DAsync(out, out_stride * sizeof(double), from, from_stride * sizeof(double),
                                      columns * sizeof(double), rows, cudaMemcpyDeviceToDevice, context_of()->stream),
              "a copy");
}

__global__ void scale_rows(double *k, size_t k_stride, size_t rows, size_t columns, const double *root)
{
    size_t count = rows * columns, step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
        k[i / columns * k_stride + i % columns] *= root[i / columns];
}

static void rows_scale(double *k, size_t k_stride, size_t rows, size_t columns, const double *root)
{
    scale_rows<<<blocks_for(rows * columns), THREADS, 0, context_of()->stream>>>(k, k_stride, rows, columns, root);
    went_well(cudaGetLastError(), "scaling rows");
}

__global__ void random_numbers(double *out, uint64_t seed, uint3 words, uint64_t first, size_t count)
{
    size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
        out[i] = random_at(first + i, seed, words);
}

void cuda_random(double *out, uint64_t seed, const uint32_t words[3], uint64_t first, size_t count)
{
    random_numbers<<<blocks_for(count), THREADS, 0, context_of()->stream>>>(
        out, seed, make_uint3(words[0], words[1], words[2]), first, count);
    went_well(cudaGetLastError(), "random numbers");
}

const broad__device cuda_far = {
    .name = "cuda",
    .far = nullptr,
    .memory = &cuda_memory,
    .hold = nullptr,
    .release = nullptr,
    .nodes = rows_nodes,
    .gram = rows_gram,
    .cross = rows_cross,
    .sums = rows_sums,
    .apply = rows_apply,
    .shift = rows_shift,
    .change = rows_change,
    .outer = rows_outer,
    .squares = rows_squares,
    .inner = rows_inner,
    .copy = rows_copy,
    .scale = rows_scale,
};
