#include "compute/cuda/narrow.cuh"

#include <algorithm>

/*
 * Products by the matrix unit: 16 x 8 x 8 numbers at a time. Of the lanes of a warp, g = lane / 4 and t = lane % 4:
 *   a (16 x 8)   (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4)
 *   b (8 x 8)    (t, g), (t + 4, g)
 *   c (16 x 8)   (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1)
 */
#if __CUDA_ARCH__ < 900
__device__ static void multiply_eighth(double &c0, double &c1, double a, double b)
{
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c0), "+d"(c1)
                 : "d"(a), "d"(b));
}
#endif

__device__ static void multiply(double c[4], const double a[4], const double b[2])
{
#if __CUDA_ARCH__ < 900
    multiply_eighth(c[0], c[1], a[0], b[0]), multiply_eighth(c[0], c[1], a[2], b[1]);
    multiply_eighth(c[2], c[3], a[1], b[0]), multiply_eighth(c[2], c[3], a[3], b[1]);
#else
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#endif
}

static constexpr int WARP = 32, THREADS = 256, ADDERS = 8, STEP = 8, TILE_ROWS = 16;

/* Rows of shared memory are this far apart, 4 or 12 more than a multiple of 16, so that four of them lie in different banks. */
__host__ __device__ static constexpr int padded(int columns) { return (columns + 3) / 8 * 8 + 4; }

__host__ __device__ static constexpr int rounded(int value, int to) { return (value + to - 1) / to * to; }

/* ---- activations --------------------------------------------------------------------------------------------------- */

/* clang-format off */
static constexpr int POWERS = 64;
/* 2^(i/64) */
__device__ static const double powers_of_two[POWERS] = {
    0x1.0000000000000p+0, 0x1.02c9a3e778061p+0, 0x1.059b0d3158574p+0, 0x1.0874518759bc8p+0, 0x1.0b5586cf9890fp+0,
    0x1.0e3ec32d3d1a2p+0, 0x1.11301d0125b51p+0, 0x1.1429aaea92de0p+0, 0x1.172b83c7d517bp+0, 0x1.1a35beb6fcb75p+0,
    0x1.1d4873168b9aap+0, 0x1.2063b88628cd6p+0, 0x1.2387a6e756238p+0, 0x1.26b4565e27cddp+0, 0x1.29e9df51fdee1p+0,
    0x1.2d285a6e4030bp+0, 0x1.306fe0a31b715p+0, 0x1.33c08b26416ffp+0, 0x1.371a7373aa9cbp+0, 0x1.3a7db34e59ff7p+0,
    0x1.3dea64c123422p+0, 0x1.4160a21f72e2ap+0, 0x1.44e086061892dp+0, 0x1.486a2b5c13cd0p+0, 0x1.4bfdad5362a27p+0,
    0x1.4f9b2769d2ca7p+0, 0x1.5342b569d4f82p+0, 0x1.56f4736b527dap+0, 0x1.5ab07dd485429p+0, 0x1.5e76f15ad2148p+0,
    0x1.6247eb03a5585p+0, 0x1.6623882552225p+0, 0x1.6a09e667f3bcdp+0, 0x1.6dfb23c651a2fp+0, 0x1.71f75e8ec5f74p+0,
    0x1.75feb564267c9p+0, 0x1.7a11473eb0187p+0, 0x1.7e2f336cf4e62p+0, 0x1.82589994cce13p+0, 0x1.868d99b4492edp+0,
    0x1.8ace5422aa0dbp+0, 0x1.8f1ae99157736p+0, 0x1.93737b0cdc5e5p+0, 0x1.97d829fde4e50p+0, 0x1.9c49182a3f090p+0,
    0x1.a0c667b5de565p+0, 0x1.a5503b23e255dp+0, 0x1.a9e6b5579fdbfp+0, 0x1.ae89f995ad3adp+0, 0x1.b33a2b84f15fbp+0,
    0x1.b7f76f2fb5e47p+0, 0x1.bcc1e904bc1d2p+0, 0x1.c199bdd85529cp+0, 0x1.c67f12e57d14bp+0, 0x1.cb720dcef9069p+0,
    0x1.d072d4a07897cp+0, 0x1.d5818dcfba487p+0, 0x1.da9e603db3285p+0, 0x1.dfc97337b9b5fp+0, 0x1.e502ee78b3ff6p+0,
    0x1.ea4afa2a490dap+0, 0x1.efa1bee615a27p+0, 0x1.f50765b6e4540p+0, 0x1.fa7c1819e90d8p+0};
/* clang-format on */

/* Every block has them in shared memory, at hand for all of its lanes at once. */
__device__ static void load_powers(double *powers)
{
    for (int i = static_cast<int>(threadIdx.x); i < POWERS; i += static_cast<int>(blockDim.x))
        powers[i] = powers_of_two[i];
}

/* x, or 700 with its sign beyond that; by integers, since the other unit is what everybody waits for. What is no number stays
 * that. */
__device__ static double within_reach(double x)
{
    const int REACH = 0x4085e000, INFINITE = 0x7ff00000; /* of 700 and of infinity, the upper half */
    int high = __double2hiint(x), size = high & 0x7fffffff;
    bool number = size < INFINITE || (size == INFINITE && __double2loint(x) == 0);
    return size >= REACH && number ? __hiloint2double((high & ~0x7fffffff) | REACH, 0) : x;
}

/* exp(x) to an ulp or two for |x| up to 700, beyond which it stays where it is: x = n ln 2 / 64 + r, and a series in r. */
__device__ static double exponential(double x, const double *powers)
{
    x = within_reach(x);
    /* Added to this, the nearest integer is in the last bits. */
    const double SHIFT = 0x1.8p+52;
    double shifted = fma(x, 0x1.71547652b82fep+6, SHIFT), n = shifted - SHIFT, r = fma(n, -0x1.62e42fefa39efp-7, x);
    r = fma(n, -0x1.abc9e3b39803fp-62, r);
    double s = fma(0x1.1111111111111p-7, r, 0x1.5555555555555p-5); /* 1/5!, 1/4! */
    s = fma(s, r, 0x1.5555555555555p-3), s = fma(s, r, 0.5), s = fma(s, r, 1.0);
    int whole = __double2loint(shifted);
    double power = powers[whole & (POWERS - 1)], y = fma(power, s * r, power);
    return __hiloint2double(__double2hiint(y) + (whole >> 6 << 20), __double2loint(y));
}

/* 1 / x for 1 <= x: from an approximation of 20 bits in two steps. */
__device__ static double inverse(double x)
{
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    y = fma(y, fma(-x, y, 1.0), y);
    return fma(y, fma(-x, y, 1.0), y);
}

template <broad_activation ACTIVATION> __device__ static double activate(double x, const double *powers)
{
    switch (ACTIVATION) {
    case BROAD_ACTIVATION_SIGMOID: return inverse(1 + exponential(-x, powers));
    case BROAD_ACTIVATION_TANH: return fma(-2.0, inverse(1 + exponential(2 * x, powers)), 1.0);
    case BROAD_ACTIVATION_RELU: return x > 0 ? x : 0;
    case BROAD_ACTIVATION_SINE: return sin(x);
    case BROAD_ACTIVATION_GAUSSIAN: return exponential(-x * x, powers);
    case BROAD_ACTIVATION_IDENTITY: break;
    }
    return x;
}

/* Calls `run` with the activation as a constant. */
template <typename Run> static void with_activation(broad_activation activation, Run run)
{
    switch (activation) {
    case BROAD_ACTIVATION_SIGMOID: run.template operator()<BROAD_ACTIVATION_SIGMOID>(); break;
    case BROAD_ACTIVATION_TANH: run.template operator()<BROAD_ACTIVATION_TANH>(); break;
    case BROAD_ACTIVATION_RELU: run.template operator()<BROAD_ACTIVATION_RELU>(); break;
    case BROAD_ACTIVATION_SINE: run.template operator()<BROAD_ACTIVATION_SINE>(); break;
    case BROAD_ACTIVATION_GAUSSIAN: run.template operator()<BROAD_ACTIVATION_GAUSSIAN>(); break;
    case BROAD_ACTIVATION_IDENTITY: run.template operator()<BROAD_ACTIVATION_IDENTITY>(); break;
    }
}

/* Four numbers at a time, so that the device has something to do while it waits for memory. Each thread keeps its columns: a
 * block takes whole rows, as many as its threads cover. */
template <broad_activation ACTIVATION>
__global__ static void bias_kernel(double *out, size_t out_stride, const double *bias, int nodes, size_t rows)
{
    constexpr int ROWS = 4;
    __shared__ double powers[POWERS];
    load_powers(powers);
    __syncthreads();
    const int wide = nodes < THREADS ? nodes : THREADS, side = THREADS / wide,
              own = static_cast<int>(threadIdx.x) / wide;
    if (own >= side) return;
    const size_t step = static_cast<size_t>(gridDim.x) * side * ROWS;
    for (int node = static_cast<int>(threadIdx.x) % wide; node < nodes; node += wide) {
        const double offset = bias[node];
        for (size_t first = (static_cast<size_t>(blockIdx.x) * side + own) * ROWS; first < rows; first += step) {
            double value[ROWS];
            double *at = out + first * out_stride + node;
#pragma unroll
            for (int i = 0; i < ROWS; i++) value[i] = first + i < rows ? at[i * out_stride] + offset : 0;
#pragma unroll
            for (int i = 0; i < ROWS; i++) value[i] = activate<ACTIVATION>(value[i], powers);
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                if (first + i < rows) at[i * out_stride] = value[i];
        }
    }
}

void bias_and_activate(double *out, size_t out_stride, const double *bias, size_t nodes, size_t rows,
                       broad_activation activation)
{
    size_t most = 64 * static_cast<size_t>(context_of()->processors);
    unsigned blocks = static_cast<unsigned>(rows < most ? rows : most);
    with_activation(activation, [=]<broad_activation ACTIVATION>() {
        bias_kernel<ACTIVATION>
            <<<blocks, THREADS, 0, context_of()->stream>>>(out, out_stride, bias, static_cast<int>(nodes), rows);
    });
}

/* ---- nodes --------------------------------------------------------------------------------------------------------- */

__device__ static void copy_async(double *to, const double *from, bool there)
{
    unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
    int bytes = there ? 8 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(at), "l"(from), "r"(bytes));
}

__device__ static void copy_pair_async(double *to, const double *from, bool there)
{
    unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
    int bytes = there ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes));
}

/* `columns` numbers of a row by one warp; not there: zeros. pairs: both addresses and `columns` are even. */
__device__ static void copy_row_async(double *to, const double *from, int columns, bool there, bool pairs, int lane)
{
    if (pairs)
        for (int i = 2 * lane; i < columns; i += 2 * WARP) copy_pair_async(to + i, from + i, there);
    else
        for (int i = lane; i < columns; i += WARP) copy_async(to + i, from + i, there);
}

/*
 * Whole rows by the copy engine of newer devices: one lane asks for one row, and a barrier in shared memory counts the bytes
 * that have come. Where there is none, or rows do not begin and end at 16 bytes, the lanes copy.
 */
typedef unsigned long long arrivals;

[[maybe_unused]] __device__ static unsigned shared_address(const void *at)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

/* By one thread; the others see it after the next barrier of the block. */
__device__ static void arrivals_open(arrivals *at, unsigned count = 1)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(at)), "r"(count));
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/* By all lanes of a warp: up to 32 rows. What was read or written there before must be done with. */
__device__ static void bulk_rows(arrivals *barrier, double *to, int stride, const double *from, size_t from_stride,
                                 int columns, int rows, int lane)
{
#if __CUDA_ARCH__ >= 900
    const unsigned bytes = static_cast<unsigned>(columns) * sizeof(double);
    if (lane == 0)
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
                     "r"(bytes * rows)
                     : "memory");
    __syncwarp();
    if (lane < rows)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                         shared_address(to + lane * stride)),
                     "l"(from + lane * from_stride), "r"(bytes), "r"(shared_address(barrier))
                     : "memory");
#endif
}

/* What this thread has written to shared memory is there before the copy engine writes beside it or over it. */
__device__ static void settle_writes()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/* By all lanes of a warp, which count as one. */
[[maybe_unused]] __device__ static void arrive(arrivals *barrier, int lane)
{
#if __CUDA_ARCH__ >= 900
    __syncwarp();
    if (lane == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
#endif
}

/* This thread counts as soon as what it has begun to copy by itself has come. */
[[maybe_unused]] __device__ static void arrivals_follow(arrivals *barrier)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
#endif
}

__device__ static void arrivals_wait(arrivals *barrier, unsigned phase)
{
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{\n.reg .pred there;\nagain:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 there, [%0], %1;\n@there bra done;\nbra again;\ndone:\n}" ::"r"(
            shared_address(barrier)),
        "r"(phase)
        : "memory");
#endif
}

__device__ static bool even(const double *at, size_t stride, int columns)
{
    return reinterpret_cast<size_t>(at) % 16 == 0 && stride % 2 == 0 && columns % 2 == 0;
}

/* Whether rows can travel by the copy engine. */
static bool bulk_of(const double *at, size_t stride, size_t columns)
{
    return context_of()->bulk && reinterpret_cast<size_t>(at) % 16 == 0 && stride % 2 == 0 && columns % 2 == 0;
}

/* Waits for the warps of a group alone. */
__device__ static void wait_for_group(int group, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "r"(threads) : "memory");
}

/* Up to two matrices beside k, as one of up to NARROW_OUTPUTS columns: the first has `split` of them. */
struct sides {
    double *at[2];
    size_t stride[2];
    int columns, split;
};

__device__ static double *side_at(const sides &beside, size_t row, int column)
{
    int second = column >= beside.split;
    return beside.at[second] + row * beside.stride[second] + (column - (second ? beside.split : 0));
}

/* Whether two columns from an even one on lie side by side at 16 bytes, in each row. */
static bool even_sides(const sides &of)
{
    bool out = of.columns % 2 == 0 && of.split % 2 == 0;
    for (int i = 0; i < (of.split < of.columns ? 2 : 1); i++)
        out = out && of.stride[i] % 2 == 0 && reinterpret_cast<size_t>(of.at[i]) % 16 == 0;
    return out;
}

/* The sum over the threads of a block, in the order of its warps; of thread 0. */
__device__ static double block_sum(double value, double *scratch)
{
    for (int other = WARP / 2; other; other /= 2) value += __shfl_down_sync(0xFFFFFFFFu, value, other);
    __syncthreads();
    if (threadIdx.x % WARP == 0) scratch[threadIdx.x / WARP] = value;
    __syncthreads();
    double sum = 0;
    for (unsigned i = 0; threadIdx.x == 0 && i < blockDim.x / WARP; i++) sum += scratch[i];
    return sum;
}

__host__ __device__ static int node_tiles(int nodes, int half)
{
    int tiles = rounded(nodes, 8) / 8;
    return tiles < 2 * half - 1 ? 2 * half - 1 : tiles;
}

static constexpr int GROUP_WARPS = 4, GROUP_THREADS = GROUP_WARPS * WARP, GROUP_ROWS = 2 * TILE_ROWS, NODE_GROUPS = 4,
                     NODE_BARRIERS = rounded(NODE_GROUPS, 2); /* what follows them begins at 16 bytes */

/*
 * Groups of four warps take 32 rows at a time: each warp 16 of them, and one half of the nodes' tiles of 8, of which there
 * are 2 TILES, or one less; those that no node needs are zero. The weights stay in shared memory. While a group is busy with activations, its next rows are on
 * their way, and other groups multiply.
 */
template <broad_activation ACTIVATION, int TILES>
__global__ static void __launch_bounds__(NODE_GROUPS *GROUP_THREADS)
    nodes_kernel(double *out, size_t out_stride, const double *weight, size_t weight_stride, const double *bias,
                 int inputs, int nodes, const double *x, size_t x_stride, size_t rows, bool bulk)
{
    extern __shared__ double shared[];
    const int threads = static_cast<int>(blockDim.x), tiles = node_tiles(nodes, TILES), stride = padded(8 * tiles),
              steps = rounded(inputs, STEP), x_wide = padded(steps);
    const int lane = static_cast<int>(threadIdx.x) % WARP, warp = static_cast<int>(threadIdx.x) / WARP, g = lane / 4,
              t = lane % 4;
    const int group = warp / GROUP_WARPS, groups = threads / GROUP_THREADS, part = warp % 2, half = warp / 2 % 2;
    /* With an odd number of tiles one half has one more: not always the same quarter of the multiprocessor. */
    const int mine = (half ^ part ^ group) & 1 ? tiles - TILES : TILES, from = half ? tiles - mine : 0;
    double *offset = shared + steps * stride, *powers = offset + 8 * tiles,
           *tile = powers + POWERS + NODE_BARRIERS + group * GROUP_ROWS * x_wide;
    arrivals *come = reinterpret_cast<arrivals *>(powers + POWERS) + group;
    unsigned phase = 0;
    load_powers(powers);
    if (bulk && static_cast<int>(threadIdx.x) % GROUP_THREADS == 0) arrivals_open(come);
    for (int i = static_cast<int>(threadIdx.x); i < steps * stride; i += threads) {
        int input = i / stride, node = i % stride;
        shared[i] = input < inputs && node < nodes ? weight[input * weight_stride + node] : 0;
    }
    for (int i = static_cast<int>(threadIdx.x); i < 8 * tiles; i += threads) offset[i] = i < nodes ? bias[i] : 0;
    for (int i = static_cast<int>(threadIdx.x) % GROUP_THREADS; i < GROUP_ROWS * x_wide; i += GROUP_THREADS)
        tile[i] = 0;
    if (bulk) settle_writes();
    __syncthreads();
    const bool pairs = even(x, x_stride, inputs), pairs_out = even(out, out_stride, nodes);
    auto fetch = [&](size_t first) {
        const int there = static_cast<int>(rows - first < GROUP_ROWS ? rows - first : GROUP_ROWS);
        if (bulk && warp % GROUP_WARPS == 0)
            bulk_rows(come, tile, x_wide, x + first * x_stride, x_stride, inputs, there, lane);
        if (bulk) return;
        for (int i = warp % GROUP_WARPS; i < GROUP_ROWS; i += GROUP_WARPS) {
            size_t row = first + i;
            copy_row_async(tile + i * x_wide, x + (row < rows ? row : 0) * x_stride, inputs, row < rows, pairs, lane);
        }
        asm volatile("cp.async.commit_group;");
    };
    size_t first = (static_cast<size_t>(blockIdx.x) * groups + group) * GROUP_ROWS;
    const size_t across = static_cast<size_t>(gridDim.x) * groups * GROUP_ROWS;
    if (first < rows) fetch(first);
    for (; first < rows; first += across) {
        const size_t upper = first + part * TILE_ROWS + g, lower = upper + 8;
        double c[TILES][4];
#pragma unroll
        for (int n = 0; n < TILES; n++) c[n][0] = c[n][1] = c[n][2] = c[n][3] = 0;
        if (bulk) arrivals_wait(come, phase), phase ^= 1;
        else asm volatile("cp.async.wait_group 0;");
        if (!bulk) wait_for_group(group, GROUP_THREADS);
        const double *xu = tile + (part * TILE_ROWS + g) * x_wide + t, *xl = xu + 8 * x_wide;
        const double *w = shared + t * stride + 8 * from + g;
#pragma unroll 1
        for (int k = 0; k < steps; k += STEP) {
            double a[4] = {xu[k], xl[k], xu[k + 4], xl[k + 4]};
#pragma unroll
            for (int n = 0; n < TILES; n++) {
                if (n == TILES - 1 && mine < TILES) break;
                double b[2] = {w[k * stride + 8 * n], w[(k + 4) * stride + 8 * n]};
                multiply(c[n], a, b);
            }
        }
        wait_for_group(group, GROUP_THREADS);
        if (first + across < rows) fetch(first + across);
#pragma unroll
        for (int n = 0; n < TILES; n++) {
            if (n == TILES - 1 && mine < TILES) break;
            int node = 8 * (from + n) + 2 * t;
            double left = offset[node], right = offset[node + 1];
            double2 high = {activate<ACTIVATION>(c[n][0] + left, powers),
                            activate<ACTIVATION>(c[n][1] + right, powers)};
            double2 low = {activate<ACTIVATION>(c[n][2] + left, powers), activate<ACTIVATION>(c[n][3] + right, powers)};
            double *at_high = out + upper * out_stride + node, *at_low = at_high + 8 * out_stride;
            if (pairs_out && node < nodes) {
                if (upper < rows) *reinterpret_cast<double2 *>(at_high) = high;
                if (lower < rows) *reinterpret_cast<double2 *>(at_low) = low;
                continue;
            }
            if (upper < rows && node < nodes) at_high[0] = high.x;
            if (upper < rows && node + 1 < nodes) at_high[1] = high.y;
            if (lower < rows && node < nodes) at_low[0] = low.x;
            if (lower < rows && node + 1 < nodes) at_low[1] = low.y;
        }
    }
}

template <broad_activation ACTIVATION, int TILES>
static void launch_nodes(double *out, size_t out_stride, const double *weight, size_t weight_stride, const double *bias,
                         int inputs, int nodes, const double *x, size_t x_stride, size_t rows)
{
    const context *c = context_of();
    int steps = rounded(inputs, STEP), wide = 8 * node_tiles(nodes, TILES);
    size_t kept = (static_cast<size_t>(steps) * padded(wide) + wide + POWERS + NODE_BARRIERS) * sizeof(double);
    size_t each = static_cast<size_t>(GROUP_ROWS) * padded(steps) * sizeof(double), groups = NODE_GROUPS;
    while (groups > 1 && kept + groups * each > c->shared) groups--;
    size_t bytes = kept + groups * each;
    auto kernel = nodes_kernel<ACTIVATION, TILES>;
    static bool allowed;
    if (!allowed)
        allowed = went_well(
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(c->shared)),
            "nodes");
    size_t most = (c->shared / bytes > 1 ? 2 : 1) * static_cast<size_t>(c->processors),
           wanted = (rows + groups * GROUP_ROWS - 1) / (groups * GROUP_ROWS);
    kernel<<<static_cast<unsigned>(wanted < most ? wanted : most), static_cast<unsigned>(groups) * GROUP_THREADS, bytes,
             c->stream>>>(out, out_stride, weight, weight_stride, bias, inputs, nodes, x, x_stride, rows,
                          bulk_of(x, x_stride, static_cast<size_t>(inputs)));
}

static void nodes_of(double *out, size_t out_stride, const double *weight, size_t weight_stride, const double *bias,
                     size_t inputs, size_t nodes, broad_activation activation, const double *x, size_t x_stride,
                     size_t rows)
{
    int in = static_cast<int>(inputs), count = static_cast<int>(nodes);
    with_activation(activation, [=]<broad_activation ACTIVATION>() {
        auto run = [=](auto launch) {
            launch(out, out_stride, weight, weight_stride, bias, in, count, x, x_stride, rows);
        };
        if (nodes <= 32) run(launch_nodes<ACTIVATION, 2>);
        else if (nodes <= 64) run(launch_nodes<ACTIVATION, 4>);
        else if (nodes <= 112) run(launch_nodes<ACTIVATION, 7>);
        else run(launch_nodes<ACTIVATION, 8>);
    });
}

void narrow_nodes(double *out, size_t out_stride, const double *weight, const double *bias, size_t inputs, size_t nodes,
                  broad_activation activation, const double *x, size_t x_stride, size_t rows)
{
    /* In panels of which each warp has a whole number of tiles. */
    const size_t panel = nodes <= NARROW_MOST ? NARROW_MOST : 112;
    for (size_t first = 0; first < nodes; first += panel)
        nodes_of(out + first, out_stride, weight + first, nodes, bias + first, inputs,
                 nodes - first < panel ? nodes - first : panel, activation, x, x_stride, rows);
}

static sides sides_of(const broad__side *beside, size_t count)
{
    sides out = {};
    for (size_t i = 0; i < count; i++) {
        out.at[i] = beside[i].at;
        out.stride[i] = beside[i].stride;
        out.columns += static_cast<int>(beside[i].columns);
    }
    out.split = count ? static_cast<int>(beside[0].columns) : 0;
    return out;
}

/* ---- sums ---------------------------------------------------------------------------------------------------------- */

static constexpr int SUM_ROWS = 32, STAGES = 2, GROUP_TILES = 7, GROUPS_MAX = 24;

/* What a warp adds up: 16 columns of k from 16 m on, by up to 7 times 8 columns of [k | e] from 8 n on. */
struct group {
    unsigned char m, n, count;
};
struct groups {
    group of[GROUPS_MAX];
    int count;
};

/* Rows of [k | e], e the sides, from column e_first on; SUM_ROWS of them, a warp a row. Columns in between stay zero.
 * beside: where the lane's column of the sides begins, and how far apart its rows are; NULL: it has none. */
__device__ static void load_rows(double *to, int stride, int e_first, const double *k, size_t k_stride, int p,
                                 bool pairs, const double *beside, size_t apart, size_t first, size_t end)
{
    int lane = static_cast<int>(threadIdx.x) % WARP, warps = static_cast<int>(blockDim.x) / WARP;
    for (int row = static_cast<int>(threadIdx.x) / WARP; row < SUM_ROWS; row += warps) {
        size_t at = first + row;
        bool there = at < end;
        copy_row_async(to + row * stride, there ? k + at * k_stride : k, p, there, pairs, lane);
        if (beside) copy_async(to + row * stride + e_first + lane, there ? beside + at * apart : k, there);
    }
    asm volatile("cp.async.commit_group;");
}

/* Where a warp's sums go. */
template <int TILES>
__device__ static void write_sums(double *out, const double sums[TILES][4], const group &own, int p, int c, int lane)
{
    const int g = lane / 4, t = lane % 4, e_first = rounded(p, 8);
#pragma unroll
    for (int n = 0; n < TILES; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int row = 16 * own.m + g + 8 * (i / 2), column = 8 * (own.n + n) + 2 * t + i % 2;
            if (n >= own.count || row >= p) continue;
            if (column < p) out[row * (p + c) + column] = sums[n][i];
            else if (column >= e_first && column < e_first + c) out[row * (p + c) + p + column - e_first] = sums[n][i];
        }
}

template <int MOST, int BLOCKS>
__global__ static void __launch_bounds__(MOST, BLOCKS)
    sums_kernel(double *parts, groups all, const double *k, size_t k_stride, int p, sides e, size_t rows, size_t chunk)
{
    extern __shared__ double shared[];
    const int c = e.columns, e_first = rounded(p, 8), columns = e_first + rounded(c, 8),
              stride = padded(rounded(p, 16) > columns ? rounded(p, 16) : columns);
    const int lane = static_cast<int>(threadIdx.x) % WARP, warp = static_cast<int>(threadIdx.x) / WARP, g = lane / 4,
              t = lane % 4;
    const size_t first = blockIdx.x * chunk, end = first + chunk < rows ? first + chunk : rows;
    const group own = all.of[warp];
    const bool pairs = even(k, k_stride, p);
    double sums[GROUP_TILES][4];
#pragma unroll
    for (int n = 0; n < GROUP_TILES; n++) sums[n][0] = sums[n][1] = sums[n][2] = sums[n][3] = 0;
    /* Columns that no row has must be numbers all the same. */
    for (int i = static_cast<int>(threadIdx.x); i < STAGES * SUM_ROWS * stride; i += static_cast<int>(blockDim.x))
        shared[i] = 0;
    __syncthreads();
    const double *beside = lane < c ? side_at(e, 0, lane) : nullptr;
    const size_t apart = e.stride[lane >= e.split];
    auto load = [&](size_t at, int stage) {
        load_rows(shared + stage * SUM_ROWS * stride, stride, e_first, k, k_stride, p, pairs, beside, apart, at, end);
    };
    if (first < end) load(first, 0);
    int stage = 0;
    for (size_t at = first; at < end; at += SUM_ROWS, stage ^= 1) {
        const double *tile = shared + stage * SUM_ROWS * stride;
        if (at + SUM_ROWS < end) {
            load(at + SUM_ROWS, stage ^ 1);
            asm volatile("cp.async.wait_group 1;");
        } else {
            asm volatile("cp.async.wait_group 0;");
        }
        __syncthreads();
        const double *left = tile + t * stride + 16 * own.m + g, *right = tile + t * stride + 8 * own.n + g;
#pragma unroll
        for (int row = 0; row < SUM_ROWS; row += STEP) {
            double a[4] = {left[row * stride], left[row * stride + 8], left[(row + 4) * stride],
                           left[(row + 4) * stride + 8]};
#pragma unroll
            for (int n = 0; n < GROUP_TILES; n++) {
                if (n >= own.count) break;
                double b[2] = {right[row * stride + 8 * n], right[(row + 4) * stride + 8 * n]};
                multiply(sums[n], a, b);
            }
        }
        __syncthreads();
    }
    write_sums<GROUP_TILES>(parts + blockIdx.x * static_cast<size_t>(p) * (p + c), sums, own, p, c, lane);
}

/* Columns of [k | e] in shared memory, and how far apart its rows are. */
__host__ __device__ static int sums_stride(int p, int c)
{
    int columns = rounded(p, 8) + rounded(c, 8), wide = rounded(p, 16);
    return padded(wide > columns ? wide : columns);
}

/* Tiles on their way or in use. */
static constexpr int STAGES_MOST = 8;

static size_t bulk_sums_bytes(int p, int c, int stages)
{
    return (2 * STAGES_MOST + static_cast<size_t>(stages) * SUM_ROWS * sums_stride(p, c)) * sizeof(double);
}

/* By a warp of its own, beside the one that asks the copy engine for rows of k: the sides, a lane a row. Rows that are not there
 * are zeros. */
__device__ static void bring_sides(double *to, int stride, arrivals *come, int p, const sides &e, bool pairs,
                                   size_t first, int count, int lane)
{
    const bool there = lane < count;
    const size_t row = first + (there ? lane : 0);
    double *own = to + lane * stride, *beside = own + rounded(p, 8);
    for (int i = 0; i < p && !there; i++) own[i] = 0;
    for (int i = 0; i < e.columns && pairs; i += 2) copy_pair_async(beside + i, side_at(e, row, i), there);
    for (int i = 0; i < e.columns && !pairs; i++) copy_async(beside + i, side_at(e, row, i), there);
    arrivals_follow(come);
}

/* The first of two sets of `warps` warps takes over what the second has added up, by way of memory that all are done with. */
template <int TILES>
__device__ static void add_sets(double sums[TILES][4], double *memory, int set, int warps, int warp, int lane)
{
    double *own = memory + warp * WARP + lane;
    wait_for_group(0, 2 * warps * WARP);
#pragma unroll
    for (int i = 0; i < 4 * TILES && set; i++) own[i * warps * WARP] = sums[i / 4][i % 4];
    wait_for_group(0, 2 * warps * WARP);
#pragma unroll
    for (int i = 0; i < 4 * TILES && !set; i++) sums[i / 4][i % 4] += own[i * warps * WARP];
}

/* So many warps, and tiles of each, that their sums fit into the registers. */
static constexpr int BULK_SUM_WARPS = 32, BULK_BRINGERS = 2, BULK_TILES = 5;

/*
 * The same where rows travel by the copy engine: one warp brings them, tile by tile, a second one what lies beside them, and the
 * others multiply as soon as a tile is there; nobody waits for all. There are one or two sets of those, which take turns; what
 * each has added up comes together in the end.
 */
__global__ static void __launch_bounds__(BULK_SUM_WARPS *WARP, 1)
    bulk_sums_kernel(double *parts, groups all, const double *k, size_t k_stride, int p, sides e, size_t rows,
                     size_t chunk, int stages, bool pairs)
{
    extern __shared__ double shared[];
    const int c = e.columns, stride = sums_stride(p, c), tile = SUM_ROWS * stride;
    const int lane = static_cast<int>(threadIdx.x) % WARP, warp = static_cast<int>(threadIdx.x) / WARP,
              sets = (static_cast<int>(blockDim.x) / WARP - BULK_BRINGERS) / all.count,
              bringer = warp - sets * all.count;
    const size_t first = blockIdx.x * chunk, end = first + chunk < rows ? first + chunk : rows;
    const int count = first < end ? static_cast<int>((end - first + SUM_ROWS - 1) / SUM_ROWS) : 0;
    arrivals *come = reinterpret_cast<arrivals *>(shared), *gone = come + STAGES_MOST;
    double *tiles = shared + 2 * STAGES_MOST;
    /* Columns that no row has must be numbers all the same. */
    for (int i = static_cast<int>(threadIdx.x); i < stages * tile; i += static_cast<int>(blockDim.x)) tiles[i] = 0;
    for (int i = 0; threadIdx.x == 0 && i < stages; i++)
        arrivals_open(come + i, WARP + 1), arrivals_open(gone + i, static_cast<unsigned>(all.count));
    settle_writes();
    __syncthreads();
    if (bringer >= 0) {
        for (int i = 0, stage = 0, phase = 0; i < count; i++) {
            const size_t from = first + static_cast<size_t>(i) * SUM_ROWS;
            const int there = static_cast<int>(end - from < SUM_ROWS ? end - from : SUM_ROWS);
            double *to = tiles + stage * tile;
            if (i >= stages) arrivals_wait(gone + stage, phase ^ 1);
            if (bringer) bring_sides(to, stride, come + stage, p, e, pairs, from, there, lane);
            else bulk_rows(come + stage, to, stride, k + from * k_stride, k_stride, p, there, lane);
            if (++stage == stages) stage = 0, phase ^= 1;
        }
        return;
    }
    const int set = warp / all.count;
    const group own = all.of[warp - set * all.count];
    double sums[BULK_TILES][4];
#pragma unroll
    for (int n = 0; n < BULK_TILES; n++) sums[n][0] = sums[n][1] = sums[n][2] = sums[n][3] = 0;
    const double *left = tiles + lane % 4 * stride + 16 * own.m + lane / 4,
                 *right = tiles + lane % 4 * stride + 8 * own.n + lane / 4;
    for (int i = set, stage = set, phase = 0; i < count; i += sets) {
        arrivals_wait(come + stage, phase);
#pragma unroll 1
        for (int row = stage * tile; row < (stage + 1) * tile; row += STEP * stride) {
            double a[4] = {left[row], left[row + 8], left[row + 4 * stride], left[row + 4 * stride + 8]};
#pragma unroll
            for (int n = 0; n < BULK_TILES; n++) {
                if (n >= own.count) break;
                double b[2] = {right[row + 8 * n], right[row + 4 * stride + 8 * n]};
                multiply(sums[n], a, b);
            }
        }
        arrive(gone + stage, lane);
        stage += sets;
        if (stage >= stages) stage -= stages, phase ^= 1;
    }
    if (sets > 1) add_sets<BULK_TILES>(sums, tiles, set, all.count, warp - set * all.count, lane);
    if (set == 0) write_sums<BULK_TILES>(parts + static_cast<size_t>(blockIdx.x) * p * (p + c), sums, own, p, c, lane);
}

/* A quarter of the multiprocessor has every fourth warp: each gets as many tiles, the largest groups first. */
static void balance(groups &all)
{
    constexpr int QUARTERS = 4;
    groups sorted = all;
    int load[QUARTERS] = {}, filled[QUARTERS] = {};
    std::stable_sort(sorted.of, sorted.of + sorted.count, [](group a, group b) { return a.count > b.count; });
    for (int i = 0; i < sorted.count; i++) {
        int best = -1;
        for (int q = 0; q < QUARTERS; q++)
            if (QUARTERS * filled[q] + q < sorted.count && (best < 0 || load[q] < load[best])) best = q;
        all.of[QUARTERS * filled[best]++ + best] = sorted.of[i];
        load[best] += sorted.of[i].count;
    }
}

/* The tiles on and above the diagonal, and those of e; no warp has many more than another. */
static groups share_out(int p, int c, int most)
{
    groups out = {};
    int tiles = rounded(p, 8) / 8 + rounded(c, 8) / 8;
    for (int m = 0; 16 * m < p; m++) {
        int left = tiles - 2 * m, parts = (left + most - 1) / most, n = 2 * m;
        for (int i = 0; i < parts; i++) {
            int count = (left + parts - i - 1) / (parts - i);
            out.of[out.count++] =
                group{static_cast<unsigned char>(m), static_cast<unsigned char>(n), static_cast<unsigned char>(count)};
            n += count, left -= count;
        }
    }
    balance(out);
    return out;
}

/* Where a sum of parts goes: columns of k'k on and above the diagonal, then those of each side. */
struct summed {
    double *gram;
    size_t gram_stride;
    double *cross[2];
    int columns[2];
};

__device__ static double *place_of(const summed &to, int p, size_t i)
{
    int width = p + to.columns[0] + to.columns[1], row = static_cast<int>(i) / width,
        column = static_cast<int>(i) % width;
    if (column < p) return column < row ? nullptr : to.gram + row * to.gram_stride + column;
    column -= p;
    int second = column >= to.columns[0];
    return to.cross[second] + row * to.columns[second] + (second ? column - to.columns[0] : column);
}

/* Numbers that a block adds up: what lies side by side in a part is read together. */
static constexpr int SUMMED = 8;

__global__ static void add_sums_kernel(summed to, const double *parts, int p, size_t numbers, size_t count)
{
    __shared__ double sums[THREADS];
    size_t lane = threadIdx.x % SUMMED, adder = threadIdx.x / SUMMED;
    size_t i = static_cast<size_t>(blockIdx.x) * SUMMED + lane;
    double *out = i < numbers ? place_of(to, p, i) : nullptr, sum = 0;
    if (out)
#pragma unroll 8
        for (size_t part = adder; part < count; part += THREADS / SUMMED) sum += parts[part * numbers + i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / SUMMED / 2; half; half /= 2) {
        if (static_cast<int>(adder) < half) sums[threadIdx.x] += sums[threadIdx.x + half * SUMMED];
        __syncthreads();
    }
    if (adder == 0 && out) *out += sums[lane];
}

/* Rows are cut into blocks, as many as there are sums to be added up. */
struct cut {
    size_t chunk, blocks;
};

static cut cut_rows(size_t rows, size_t blocks)
{
    size_t chunk = (rows + blocks - 1) / blocks;
    chunk = (chunk + SUM_ROWS - 1) / SUM_ROWS * SUM_ROWS;
    if (chunk < 4 * SUM_ROWS) chunk = 4 * SUM_ROWS;
    blocks = (rows + chunk - 1) / chunk;
    return {chunk, blocks};
}

template <typename Kernel, typename... More>
static void launch_sums(Kernel kernel, bool *allowed, const cut &c, int warps, size_t bytes, More... more)
{
    const context *on = context_of();
    if (!*allowed)
        *allowed = went_well(
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(on->shared)),
            "sums over rows");
    kernel<<<static_cast<unsigned>(c.blocks), static_cast<unsigned>(warps * WARP), bytes, on->stream>>>(more...);
}

/* The parts, each p x (p + columns of e); NULL: there was no memory. */
static double *sum_parts(size_t *count, const double *k, size_t k_stride, int p, const sides &e, size_t rows)
{
    static bool allowed[3];
    const context *on = context_of();
    const size_t processors = static_cast<size_t>(on->processors), numbers = static_cast<size_t>(p) * (p + e.columns);
    const bool bulk = bulk_of(k, k_stride, static_cast<size_t>(p));
    const groups all = share_out(p, e.columns, bulk ? BULK_TILES : GROUP_TILES);
    const bool small = all.count * WARP <= 384;
    const int sets = (BULK_SUM_WARPS - BULK_BRINGERS) / all.count > 1 ? 2 : 1;
    const cut c = cut_rows(rows, bulk ? processors : 2 * processors);
    double *parts = scratch(SCRATCH_PARTS, c.blocks * numbers);
    if (!parts) return nullptr;
    *count = c.blocks;
    if (bulk) {
        int stages = STAGES_MOST;
        while (stages > 2 && bulk_sums_bytes(p, e.columns, stages) > on->shared) stages--;
        launch_sums(bulk_sums_kernel, &allowed[2], c, sets * all.count + BULK_BRINGERS,
                    bulk_sums_bytes(p, e.columns, stages), parts, all, k, k_stride, p, e, rows, c.chunk, stages,
                    even_sides(e));
        return parts;
    }
    launch_sums(small ? sums_kernel<384, 2> : sums_kernel<768, 1>, &allowed[small], c, all.count,
                STAGES * SUM_ROWS * static_cast<size_t>(sums_stride(p, e.columns)) * sizeof(double), parts, all, k,
                k_stride, p, e, rows, c.chunk);
    return parts;
}

void narrow_sums(double *gram, size_t gram_stride, const double *k, size_t k_stride, size_t p,
                 const broad__side *beside, size_t count, size_t rows)
{
    sides e = sides_of(beside, count);
    size_t numbers = p * (p + static_cast<size_t>(e.columns)), many = 0;
    const double *parts = sum_parts(&many, k, k_stride, static_cast<int>(p), e, rows);
    if (!parts) return;
    summed to = {gram, gram_stride, {}, {}};
    for (size_t i = 0; i < count; i++)
        to.cross[i] = beside[i].cross, to.columns[i] = static_cast<int>(beside[i].columns);
    add_sums_kernel<<<static_cast<unsigned>((numbers + SUMMED - 1) / SUMMED), THREADS, 0, context_of()->stream>>>(
        to, parts, static_cast<int>(p), numbers, many);
}

/* ---- products with few columns ------------------------------------------------------------------------------------- */

static constexpr int APPLY_WARPS = 8, APPLY_TILES = NARROW_OUTPUTS / 8, PANEL = 128, APPLY_PARTS = 2,
                     APPLY_ROWS = APPLY_WARPS * APPLY_PARTS * TILE_ROWS;

/* By what each side changes, without gaps. */
struct side_weights {
    const double *w[2];
};

__device__ static double weight_at(const side_weights &from, const sides &beside, int row, int column)
{
    int first = beside.split, second = column >= first;
    return second ? from.w[1][row * (beside.columns - first) + column - first] : from.w[0][row * first + column];
}

/*
 * to = e + sign k w. Each warp has 32 rows, of which it reads k as it goes: four numbers that lie side by side are read by
 * four lanes, so that nothing is read in vain. w travels through shared memory in panels. The squares of the first side, block
 * by block, go to `squares` unless that is NULL.
 */
__global__ static void __launch_bounds__(APPLY_WARPS *WARP, 2)
    change_kernel(sides to, sides e, double *squares, double sign, const double *k, size_t k_stride, size_t rows,
                  side_weights w, int p)
{
    constexpr int STRIDE = padded(NARROW_OUTPUTS), AHEAD = 4;
    __shared__ double weight[PANEL * STRIDE];
    const int lane = static_cast<int>(threadIdx.x) % WARP, warp = static_cast<int>(threadIdx.x) / WARP, g = lane / 4,
              t = lane % 4;
    const size_t first = static_cast<size_t>(blockIdx.x) * APPLY_ROWS + warp * APPLY_PARTS * TILE_ROWS + g;
    const double *from[2 * APPLY_PARTS];
#pragma unroll
    for (int i = 0; i < 2 * APPLY_PARTS; i++) from[i] = k + (first + 8 * i < rows ? first + 8 * i : 0) * k_stride + t;
    double sums[APPLY_PARTS][APPLY_TILES][4] = {};
    for (int panel = 0; panel < p; panel += PANEL) {
        const int depth = p - panel < PANEL ? p - panel : PANEL, steps = rounded(depth, STEP);
        __syncthreads();
        for (int i = static_cast<int>(threadIdx.x); i < rounded(steps, AHEAD * STEP) * STRIDE;
             i += APPLY_WARPS * WARP) {
            int row = i / STRIDE, column = i % STRIDE;
            weight[i] = row < depth && column < to.columns ? sign * weight_at(w, to, panel + row, column) : 0;
        }
        __syncthreads();
        for (int at = 0; at < steps; at += AHEAD * STEP) {
            double a[AHEAD][2 * APPLY_PARTS][2];
#pragma unroll
            for (int i = 0; i < AHEAD; i++)
#pragma unroll
                for (int row = 0; row < 2 * APPLY_PARTS; row++)
#pragma unroll
                    for (int j = 0; j < 2; j++) {
                        int column = at + i * STEP + 4 * j;
                        a[i][row][j] = column + t < depth ? from[row][panel + column] : 0;
                    }
#pragma unroll
            for (int i = 0; i < AHEAD; i++) {
                const double *right = weight + (at + i * STEP + t) * STRIDE + g;
#pragma unroll
                for (int n = 0; n < APPLY_TILES; n++) {
                    double b[2] = {right[8 * n], right[4 * STRIDE + 8 * n]};
#pragma unroll
                    for (int m = 0; m < APPLY_PARTS; m++) {
                        double both[4] = {a[i][2 * m][0], a[i][2 * m + 1][0], a[i][2 * m][1], a[i][2 * m + 1][1]};
                        multiply(sums[m][n], both, b);
                    }
                }
            }
        }
    }
    double square = 0;
#pragma unroll
    for (int m = 0; m < APPLY_PARTS; m++)
#pragma unroll
        for (int n = 0; n < APPLY_TILES; n++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                size_t row = first + 16 * m + 8 * (i / 2);
                int column = 8 * n + 2 * t + i % 2;
                if (row >= rows || column >= to.columns) continue;
                double value = *side_at(e, row, column) + sums[m][n][i];
                *side_at(to, row, column) = value;
                if (column < to.split) square += value * value;
            }
    if (!squares) return;
    double sum = block_sum(square, weight);
    if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

/* Two numbers of a row; zeros where there are none. */
__device__ static void read_pair(double out[2], const sides &from, size_t row, int column, size_t rows, bool pairs)
{
    out[0] = out[1] = 0;
    if (row >= rows || column >= from.columns) return;
    if (pairs) {
        const double2 both = *reinterpret_cast<const double2 *>(side_at(from, row, column));
        out[0] = both.x, out[1] = both.y;
        return;
    }
    out[0] = *side_at(from, row, column);
    if (column + 1 < from.columns) out[1] = *side_at(from, row, column + 1);
}

__device__ static void write_pair(const sides &to, size_t row, int column, size_t rows, bool pairs,
                                  const double value[2])
{
    if (row >= rows || column >= to.columns) return;
    if (pairs) {
        *reinterpret_cast<double2 *>(side_at(to, row, column)) = double2{value[0], value[1]};
        return;
    }
    *side_at(to, row, column) = value[0];
    if (column + 1 < to.columns) *side_at(to, row, column + 1) = value[1];
}

static constexpr int BULK_WARPS = 8, BULK_TURNS = 2;

/* How far apart rows are in shared memory: as they come, all in one piece, where that puts four of them into different banks. A
 * row is then followed by the next one where zeros would be; it is multiplied by zeros. After the last one there are zeros. */
__host__ __device__ static int change_stride(int p) { return p % 8 == 4 ? p : padded(rounded(p, STEP)); }
__host__ __device__ static int change_tile(int p) { return TILE_ROWS * change_stride(p) + STEP; }

static size_t bulk_bytes(int p, int warps)
{
    return (static_cast<size_t>(rounded(p, STEP)) * padded(NARROW_OUTPUTS) + BULK_TURNS * BULK_WARPS +
            static_cast<size_t>(warps) * BULK_TURNS * change_tile(p)) *
           sizeof(double);
}

/*
 * The same for rows of k without gaps, of NARROW_MOST columns at most. A warp has 16 rows at a time; while it multiplies, the
 * copy engine brings its next ones. Warps do not wait for each other.
 */
__global__ static void __launch_bounds__(BULK_WARPS *WARP, 1)
    bulk_change_kernel(sides to, sides e, double *squares, double sign, const double *k, size_t rows, side_weights w,
                       int p, bool pairs)
{
    extern __shared__ double shared[];
    constexpr int STRIDE = padded(NARROW_OUTPUTS);
    const int deep = rounded(p, STEP), wide = change_stride(p), size = change_tile(p),
              threads = static_cast<int>(blockDim.x), lane = static_cast<int>(threadIdx.x) % WARP,
              warp = static_cast<int>(threadIdx.x) / WARP, g = lane / 4, t = lane % 4;
    double *tiles = shared + deep * STRIDE + BULK_TURNS * BULK_WARPS + warp * BULK_TURNS * size;
    arrivals *come = reinterpret_cast<arrivals *>(shared + deep * STRIDE) + BULK_TURNS * warp;
    for (int i = static_cast<int>(threadIdx.x); i < deep * STRIDE; i += threads) {
        int row = i / STRIDE, column = i % STRIDE;
        shared[i] = row < p && column < to.columns ? sign * weight_at(w, to, row, column) : 0;
    }
    for (int i = lane; i < BULK_TURNS * size; i += WARP) tiles[i] = 0;
    for (int i = 0; lane == 0 && i < BULK_TURNS; i++) arrivals_open(come + i);
    settle_writes();
    __syncthreads();
    const size_t across = static_cast<size_t>(gridDim.x) * (threads / WARP) * TILE_ROWS;
    size_t first = (static_cast<size_t>(blockIdx.x) * (threads / WARP) + warp) * TILE_ROWS;
    auto fetch = [&](size_t from, int turn) {
        if (from >= rows) return;
        const int count = static_cast<int>(rows - from < TILE_ROWS ? rows - from : TILE_ROWS);
        double *at = tiles + turn * size;
        if (wide == p) bulk_rows(come + turn, at, 0, k + from * p, 0, count * p, 1, lane);
        else bulk_rows(come + turn, at, wide, k + from * p, p, p, count, lane);
    };
    double square = 0;
    unsigned phase = 0;
    int turn = 0;
    fetch(first, 0);
    for (; first < rows; first += across, turn ^= 1, phase ^= turn ? 0 : 1) {
        __syncwarp();
        fetch(first + across, turn ^ 1);
        double sums[APPLY_TILES][4];
#pragma unroll
        for (int n = 0; n < APPLY_TILES; n++)
#pragma unroll
            for (int i = 0; i < 4; i += 2) read_pair(&sums[n][i], e, first + g + 4 * i, 8 * n + 2 * t, rows, pairs);
        arrivals_wait(come + turn, phase);
        const double *upper = tiles + turn * size + g * wide + t, *lower = upper + 8 * wide,
                     *right = shared + t * STRIDE + g;
#pragma unroll 4
        for (int at = 0; at < deep; at += STEP) {
            double a[4] = {upper[at], lower[at], upper[at + 4], lower[at + 4]};
#pragma unroll
            for (int n = 0; n < APPLY_TILES; n++) {
                double b[2] = {right[at * STRIDE + 8 * n], right[(at + 4) * STRIDE + 8 * n]};
                multiply(sums[n], a, b);
            }
        }
#pragma unroll
        for (int n = 0; n < APPLY_TILES; n++)
#pragma unroll
            for (int i = 0; i < 4; i += 2) {
                const int column = 8 * n + 2 * t;
                const size_t row = first + g + 4 * i;
                write_pair(to, row, column, rows, pairs, &sums[n][i]);
                for (int j = 0; row < rows && j < 2; j++)
                    if (column + j < to.split) square += sums[n][i + j] * sums[n][i + j];
            }
    }
    if (!squares) return;
    double sum = block_sum(square, shared);
    if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

static void bulk_change(const sides &to, const sides &e, double *squares, double sign, const double *k, size_t rows,
                        const side_weights &w, size_t p)
{
    const context *on = context_of();
    int warps = BULK_WARPS;
    while (warps > 1 && bulk_bytes(static_cast<int>(p), warps) > on->shared) warps--;
    size_t each = static_cast<size_t>(warps) * TILE_ROWS, wanted = (rows + each - 1) / each,
           blocks = std::min(wanted, static_cast<size_t>(on->processors));
    double *parts = squares ? scratch(SCRATCH_PARTS, blocks) : nullptr;
    if (squares && !parts) return;
    static bool allowed;
    if (!allowed)
        allowed = went_well(cudaFuncSetAttribute(bulk_change_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                 static_cast<int>(on->shared)),
                            "a residual");
    bulk_change_kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(warps) * WARP,
                         bulk_bytes(static_cast<int>(p), warps), on->stream>>>(
        to, e, parts, sign, k, rows, w, static_cast<int>(p), even_sides(to) && even_sides(e));
    if (squares) add_numbers(squares, parts, blocks);
}

static void change(const sides &to, const sides &e, double *squares, double sign, const double *k, size_t k_stride,
                   size_t rows, const side_weights &w, size_t p)
{
    if (p <= NARROW_MOST && k_stride == p && bulk_of(k, k_stride, p)) {
        bulk_change(to, e, squares, sign, k, rows, w, p);
        return;
    }
    size_t blocks = (rows + APPLY_ROWS - 1) / APPLY_ROWS;
    double *parts = squares ? scratch(SCRATCH_PARTS, blocks) : nullptr;
    if (squares && !parts) return;
    change_kernel<<<static_cast<unsigned>(blocks), APPLY_WARPS * WARP, 0, context_of()->stream>>>(
        to, e, parts, sign, k, k_stride, rows, w, static_cast<int>(p));
    if (squares) add_numbers(squares, parts, blocks);
}

void narrow_apply(double *out, const double *e, size_t stride, double *squares, double sign, const double *k,
                  size_t k_stride, size_t rows, const double *w, size_t p, size_t c)
{
    broad__side to = {out, stride, c, nullptr, nullptr}, from = {const_cast<double *>(e), stride, c, nullptr, nullptr};
    change(sides_of(&to, 1), sides_of(&from, 1), squares, sign, k, k_stride, rows, side_weights{{w, nullptr}}, p);
}

void narrow_change(double *squares, double sign, const double *k, size_t p, const broad__side *beside, size_t count,
                   const double *const w[2], size_t rows)
{
    sides both = sides_of(beside, count);
    change(both, both, squares, sign, k, p, rows, side_weights{{w[0], w[1]}}, p);
}

/* ---- residuals ------------------------------------------------------------------------------------------------------ */

static constexpr int SHIFT_ROWS = 32, SHIFT_WARPS = 8;

/*
 * Rows of k travel through shared memory, two pieces of 32 in turn. For each piece the warps multiply by w, each for one of
 * two halves of the rows, of two of the outputs and of two of the columns of k; then out = e + both halves, whose squares are
 * added up; then, if cross is wanted, each warp adds 16 rows of k' out.
 */
template <bool CROSS>
__global__ static void __launch_bounds__(SHIFT_WARPS *WARP, 2)
    shift_kernel(double *out, double *parts, const double *e, double sign, const double *k, size_t rows,
                 const double *w, int p, int c, size_t chunk)
{
    extern __shared__ double shared[];
    constexpr int NARROW = padded(NARROW_OUTPUTS);
    const int deep = rounded(p, 16), wide = padded(deep);
    double *weight = shared, *halves = weight + deep * NARROW, *now = halves + 2 * SHIFT_ROWS * NARROW,
           *pieces = now + SHIFT_ROWS * NARROW;
    const int lane = static_cast<int>(threadIdx.x) % WARP, warp = static_cast<int>(threadIdx.x) / WARP, g = lane / 4,
              t = lane % 4;
    const size_t first = blockIdx.x * chunk, end = first + chunk < rows ? first + chunk : rows;
    const bool pairs = even(k, static_cast<size_t>(p), p);
    for (int i = static_cast<int>(threadIdx.x); i < deep * NARROW; i += SHIFT_WARPS * WARP) {
        int row = i / NARROW, column = i % NARROW;
        weight[i] = row < p && column < c ? sign * w[row * c + column] : 0;
    }
    for (int i = static_cast<int>(threadIdx.x); i < 2 * SHIFT_ROWS * wide + SHIFT_ROWS * NARROW;
         i += SHIFT_WARPS * WARP)
        now[i] = 0;
    __syncthreads();
    auto fetch = [&](size_t from, int turn) {
        for (int i = warp; i < SHIFT_ROWS; i += SHIFT_WARPS) {
            bool there = from + i < end;
            copy_row_async(pieces + (turn * SHIFT_ROWS + i) * wide, k + (there ? from + i : 0) * p, p, there, pairs,
                           lane);
        }
        asm volatile("cp.async.commit_group;");
    };
    const int half = warp % 2, m = warp / 2 % 2, n = warp / 4, begin = half ? rounded(deep / 2, STEP) : 0,
              stop = half ? deep : rounded(deep / 2, STEP);
    double square = 0, sums[2][4] = {};
    int turn = 0;
    if (first < end) fetch(first, 0);
    for (size_t at = first; at < end; at += SHIFT_ROWS, turn ^= 1) {
        const double *piece = pieces + turn * SHIFT_ROWS * wide;
        if (at + SHIFT_ROWS < end) {
            fetch(at + SHIFT_ROWS, turn ^ 1);
            asm volatile("cp.async.wait_group 1;");
        } else {
            asm volatile("cp.async.wait_group 0;");
        }
        __syncthreads();
        double product[4] = {};
        const double *upper = piece + (16 * m + g) * wide + t, *lower = upper + 8 * wide,
                     *right = weight + t * NARROW + 8 * n + g;
        for (int i = begin; i < stop; i += STEP) {
            double a[4] = {upper[i], lower[i], upper[i + 4], lower[i + 4]},
                   b[2] = {right[i * NARROW], right[(i + 4) * NARROW]};
            multiply(product, a, b);
        }
        double *to = halves + (half * SHIFT_ROWS + 16 * m + g) * NARROW + 8 * n + 2 * t;
        to[0] = product[0], to[1] = product[1], to[8 * NARROW] = product[2], to[8 * NARROW + 1] = product[3];
        __syncthreads();
        int count = static_cast<int>(end - at < SHIFT_ROWS ? end - at : SHIFT_ROWS);
        for (int i = static_cast<int>(threadIdx.x); i < SHIFT_ROWS * c; i += SHIFT_WARPS * WARP) {
            int row = i / c, column = i - row * c;
            double value = row < count ? e[at * c + i] + halves[row * NARROW + column] +
                                             halves[(SHIFT_ROWS + row) * NARROW + column]
                                       : 0;
            if (row < count) out[at * c + i] = value;
            if (CROSS) now[row * NARROW + column] = value;
            square += value * value;
        }
        __syncthreads();
        if (CROSS && 16 * warp < deep) {
            const double *left = piece + t * wide + 16 * warp + g, *r = now + t * NARROW + g;
#pragma unroll
            for (int i = 0; i < SHIFT_ROWS; i += STEP) {
                double a[4] = {left[i * wide], left[i * wide + 8], left[(i + 4) * wide], left[(i + 4) * wide + 8]};
#pragma unroll
                for (int j = 0; j < 2; j++) {
                    double b[2] = {r[i * NARROW + 8 * j], r[(i + 4) * NARROW + 8 * j]};
                    multiply(sums[j], a, b);
                }
            }
        }
        __syncthreads();
    }
    double *own = parts + blockIdx.x * static_cast<size_t>(CROSS ? p * c + 1 : 1);
#pragma unroll
    for (int j = 0; CROSS && j < 2; j++)
        for (int i = 0; i < 4; i++) {
            int row = 16 * warp + g + 8 * (i / 2), column = 8 * j + 2 * t + i % 2;
            if (row < p && column < c) own[1 + row * c + column] = sums[j][i];
        }
    for (int other = WARP / 2; other; other /= 2) square += __shfl_down_sync(0xFFFFFFFFu, square, other);
    if (lane == 0) halves[warp] = square;
    __syncthreads();
    if (threadIdx.x == 0) {
        double sum = 0;
        for (int i = 0; i < SHIFT_WARPS; i++) sum += halves[i];
        own[0] = sum;
    }
}

void narrow_shift(double *out, double *squares, double *cross, const double *e, double sign, const double *k,
                  size_t rows, const double *w, size_t p, size_t c)
{
    const context *on = context_of();
    int deep = rounded(static_cast<int>(p), 16);
    size_t bytes = (static_cast<size_t>(deep + 3 * SHIFT_ROWS) * padded(NARROW_OUTPUTS) +
                    2 * SHIFT_ROWS * static_cast<size_t>(padded(deep))) *
                   sizeof(double);
    size_t most = 2 * static_cast<size_t>(on->processors), chunk = (rows + most - 1) / most;
    chunk = (chunk + SHIFT_ROWS - 1) / SHIFT_ROWS * SHIFT_ROWS;
    size_t blocks = (rows + chunk - 1) / chunk, numbers = cross ? p * c + 1 : 1;
    double *parts = scratch(SCRATCH_PARTS, blocks * numbers);
    auto kernel = cross ? shift_kernel<true> : shift_kernel<false>;
    static bool allowed[2];
    if (!allowed[cross != nullptr])
        allowed[cross != nullptr] = went_well(
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(on->shared)),
            "a residual");
    if (!parts) return;
    kernel<<<static_cast<unsigned>(blocks), SHIFT_WARPS * WARP, bytes, on->stream>>>(
        out, parts, e, sign, k, rows, w, static_cast<int>(p), static_cast<int>(c), chunk);
    add_parts(squares, 1, parts, numbers, 1, 1, blocks);
    if (cross) add_parts(cross, c, parts + 1, c, p, c, blocks, numbers);
}

/* ---- adding up ----------------------------------------------------------------------------------------------------- */

/* One block; thread by thread, then in the order of the threads. */
__global__ static void add_numbers_kernel(double *out, const double *parts, size_t count)
{
    __shared__ double sums[THREADS];
    double sum = 0;
    for (size_t i = threadIdx.x; i < count; i += THREADS) sum += parts[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half; half /= 2) {
        if (static_cast<int>(threadIdx.x) < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out += sums[0];
}

void add_numbers(double *out, const double *parts, size_t count)
{
    add_numbers_kernel<<<1, THREADS, 0, context_of()->stream>>>(out, parts, count);
}

__global__ static void add_kernel(double *out, size_t out_stride, const double *parts, size_t part_stride, size_t p,
                                  size_t columns, size_t count, size_t apart)
{
    __shared__ double sums[THREADS];
    size_t lane = threadIdx.x % (THREADS / ADDERS), adder = threadIdx.x / (THREADS / ADDERS);
    size_t i = static_cast<size_t>(blockIdx.x) * (THREADS / ADDERS) + lane,
           at = i / columns * part_stride + i % columns;
    double sum = 0;
    for (size_t part = adder; i < p * columns && part < count; part += ADDERS) sum += parts[part * apart + at];
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (adder || i >= p * columns) return;
    for (int other = 1; other < ADDERS; other++) sum += sums[other * (THREADS / ADDERS) + lane];
    out[i / columns * out_stride + i % columns] += sum;
}

void add_parts(double *out, size_t out_stride, const double *parts, size_t part_stride, size_t p, size_t columns,
               size_t count, size_t apart)
{
    if (!apart) apart = p * part_stride;
    size_t each = THREADS / ADDERS, blocks = (p * columns + each - 1) / each;
    add_kernel<<<static_cast<unsigned>(blocks), THREADS, 0, context_of()->stream>>>(out, out_stride, parts, part_stride,
                                                                                    p, columns, count, apart);
}
