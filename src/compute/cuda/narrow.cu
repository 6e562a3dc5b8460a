#include "compute/cuda/narrow.cuh"

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

/* Rows of shared memory are this far apart, so that four of them lie in different banks. */
__host__ __device__ static constexpr int padded(int columns) { return (columns + 11) / 16 * 16 + 4; }

__host__ __device__ static constexpr int rounded(int value, int to) { return (value + to - 1) / to * to; }

/* ---- activations --------------------------------------------------------------------------------------------------- */

/* exp(x) to an ulp or two for |x| up to 700, beyond which it stays where it is: x = n ln 2 + r, and a series in r. */
__device__ static double exponential(double x)
{
    x = x < -700 ? -700 : x > 700 ? 700 : x; /* what is no number stays that */
    /* Added to this, the nearest integer is in the last bits. */
    const double SHIFT = 0x1.8p+52;
    double shifted = fma(x, 0x1.71547652b82fep+0, SHIFT), n = shifted - SHIFT, r = fma(n, -0x1.62e42fefa39efp-1, x);
    r = fma(n, -0x1.abc9e3b39803fp-56, r);
    double s = 0x1.6124613a86d09p-33; /* 1/13! */
    s = fma(s, r, 0x1.1eed8eff8d898p-29), s = fma(s, r, 0x1.ae64567f544e4p-26), s = fma(s, r, 0x1.27e4fb7789f5cp-22);
    s = fma(s, r, 0x1.71de3a556c734p-19), s = fma(s, r, 0x1.a01a01a01a01ap-16), s = fma(s, r, 0x1.a01a01a01a01ap-13);
    s = fma(s, r, 0x1.6c16c16c16c17p-10), s = fma(s, r, 0x1.1111111111111p-7), s = fma(s, r, 0x1.5555555555555p-5);
    s = fma(s, r, 0x1.5555555555555p-3), s = fma(s, r, 0.5), s = fma(s, r, 1.0), s = fma(s, r, 1.0);
    return __hiloint2double(__double2hiint(s) + (__double2loint(shifted) << 20), __double2loint(s));
}

/* 1 / x for 1 <= x: from an approximation of 20 bits in two steps. */
__device__ static double inverse(double x)
{
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    y = fma(y, fma(-x, y, 1.0), y);
    return fma(y, fma(-x, y, 1.0), y);
}

template <broad_activation ACTIVATION> __device__ static double activate(double x)
{
    switch (ACTIVATION) {
    case BROAD_ACTIVATION_SIGMOID: return inverse(1 + exponential(-x));
    case BROAD_ACTIVATION_TANH: return fma(-2.0, inverse(1 + exponential(2 * x)), 1.0);
    case BROAD_ACTIVATION_RELU: return x > 0 ? x : 0;
    case BROAD_ACTIVATION_SINE: return sin(x);
    case BROAD_ACTIVATION_GAUSSIAN: return exponential(-x * x);
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

/* Four numbers of a row at a time, so that the device has something to do while it waits for memory. */
template <broad_activation ACTIVATION>
__global__ static void bias_kernel(double *out, size_t out_stride, const double *bias, int nodes, size_t rows)
{
    for (size_t row = blockIdx.x; row < rows; row += gridDim.x)
        for (int first = static_cast<int>(threadIdx.x); first < nodes; first += 4 * THREADS) {
            double value[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int node = first + i * THREADS;
                value[i] = node < nodes ? out[row * out_stride + node] + bias[node] : 0;
            }
#pragma unroll
            for (int i = 0; i < 4; i++) value[i] = activate<ACTIVATION>(value[i]);
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (first + i * THREADS < nodes) out[row * out_stride + first + i * THREADS] = value[i];
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

static constexpr int NODE_WARPS = 8;

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

__device__ static bool even(const double *at, size_t stride, int columns)
{
    return reinterpret_cast<size_t>(at) % 16 == 0 && stride % 2 == 0 && columns % 2 == 0;
}

/* Waits for the warps of a group alone. */
__device__ static void wait_for_group(int group, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "r"(threads) : "memory");
}

/* Groups of four warps take 32 rows at a time: each warp 16 of them, and one half of the nodes, which has up to 8 TILES. The
 * weights stay in shared memory. While a group is busy with activations, its next rows are on their way, and other groups
 * multiply. */
template <broad_activation ACTIVATION, int TILES>
__global__ static void __launch_bounds__(2 * NODE_WARPS * WARP)
    nodes_kernel(double *out, size_t out_stride, const double *weight, const double *bias, int inputs, int nodes,
                 const double *x, size_t x_stride, size_t rows)
{
    extern __shared__ double shared[];
    constexpr int THREADS_HERE = 2 * NODE_WARPS * WARP, GROUP_ROWS = 2 * TILE_ROWS;
    const int stride = padded(16 * TILES), steps = rounded(inputs, STEP), x_wide = padded(steps);
    const int lane = static_cast<int>(threadIdx.x) % WARP, warp = static_cast<int>(threadIdx.x) / WARP, g = lane / 4,
              t = lane % 4;
    const int group = warp / 4, part = warp % 2, half = warp / 2 % 2;
    double *offset = shared + steps * stride, *tile = offset + 16 * TILES + group * GROUP_ROWS * x_wide;
    for (int i = static_cast<int>(threadIdx.x); i < steps * stride; i += THREADS_HERE) {
        int input = i / stride, node = i % stride;
        shared[i] = input < inputs && node < nodes ? weight[input * nodes + node] : 0;
    }
    for (int i = static_cast<int>(threadIdx.x); i < 16 * TILES; i += THREADS_HERE) offset[i] = i < nodes ? bias[i] : 0;
    for (int i = static_cast<int>(threadIdx.x) % (4 * WARP); i < GROUP_ROWS * x_wide; i += 4 * WARP) tile[i] = 0;
    __syncthreads();
    const bool pairs = even(x, x_stride, inputs), pairs_out = even(out, out_stride, nodes);
    auto fetch = [&](size_t first) {
        for (int i = warp % 4; i < GROUP_ROWS; i += 4) {
            size_t row = first + i;
            copy_row_async(tile + i * x_wide, x + (row < rows ? row : 0) * x_stride, inputs, row < rows, pairs, lane);
        }
        asm volatile("cp.async.commit_group;");
    };
    constexpr int GROUPS = 2 * NODE_WARPS / 4;
    size_t first = (static_cast<size_t>(blockIdx.x) * GROUPS + group) * GROUP_ROWS;
    const size_t across = static_cast<size_t>(gridDim.x) * GROUPS * GROUP_ROWS;
    if (first < rows) fetch(first);
    for (; first < rows; first += across) {
        double c[TILES][4];
#pragma unroll
        for (int n = 0; n < TILES; n++) c[n][0] = c[n][1] = c[n][2] = c[n][3] = 0;
        asm volatile("cp.async.wait_group 0;");
        wait_for_group(group, 4 * WARP);
        const double *xu = tile + (part * TILE_ROWS + g) * x_wide + t, *xl = xu + 8 * x_wide;
        const double *w = shared + t * stride + half * 8 * TILES + g;
#pragma unroll 2
        for (int k = 0; k < steps; k += STEP) {
            double a[4] = {xu[k], xl[k], xu[k + 4], xl[k + 4]};
#pragma unroll
            for (int n = 0; n < TILES; n++) {
                double b[2] = {w[k * stride + 8 * n], w[(k + 4) * stride + 8 * n]};
                multiply(c[n], a, b);
            }
        }
        wait_for_group(group, 4 * WARP);
        if (first + across < rows) fetch(first + across);
        const size_t upper = first + part * TILE_ROWS + g, lower = upper + 8;
#pragma unroll
        for (int n = 0; n < TILES; n++) {
            int node = half * 8 * TILES + 8 * n + 2 * t;
            double left = offset[node], right = offset[node + 1];
            double2 high = {activate<ACTIVATION>(c[n][0] + left), activate<ACTIVATION>(c[n][1] + right)};
            double2 low = {activate<ACTIVATION>(c[n][2] + left), activate<ACTIVATION>(c[n][3] + right)};
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
static void launch_nodes(double *out, size_t out_stride, const double *weight, const double *bias, int inputs,
                         int nodes, const double *x, size_t x_stride, size_t rows)
{
    const context *c = context_of();
    int steps = rounded(inputs, STEP);
    size_t block_rows = NODE_WARPS * TILE_ROWS;
    size_t bytes =
        (static_cast<size_t>(steps) * padded(16 * TILES) + 16 * TILES + block_rows * padded(steps)) * sizeof(double);
    auto kernel = nodes_kernel<ACTIVATION, TILES>;
    static bool allowed;
    if (!allowed)
        allowed = went_well(
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(c->shared)),
            "nodes");
    size_t wanted = (rows + block_rows - 1) / block_rows, fit = c->shared / bytes ? c->shared / bytes : 1;
    size_t most = (fit < 2 ? fit : 2) * static_cast<size_t>(c->processors);
    kernel<<<static_cast<unsigned>(wanted < most ? wanted : most), 2 * NODE_WARPS * WARP, bytes, c->stream>>>(
        out, out_stride, weight, bias, inputs, nodes, x, x_stride, rows);
}

void narrow_nodes(double *out, size_t out_stride, const double *weight, const double *bias, size_t inputs, size_t nodes,
                  broad_activation activation, const double *x, size_t x_stride, size_t rows)
{
    int in = static_cast<int>(inputs), count = static_cast<int>(nodes);
    with_activation(activation, [=]<broad_activation ACTIVATION>() {
        auto run = [=](auto launch) { launch(out, out_stride, weight, bias, in, count, x, x_stride, rows); };
        if (nodes <= 32) run(launch_nodes<ACTIVATION, 2>);
        else if (nodes <= 64) run(launch_nodes<ACTIVATION, 4>);
        else if (nodes <= 112) run(launch_nodes<ACTIVATION, 7>);
        else run(launch_nodes<ACTIVATION, 8>);
    });
}

/* ---- sums ---------------------------------------------------------------------------------------------------------- */

static constexpr int SUM_ROWS = 32, GROUP_TILES = 7, GROUPS_MAX = 24;

/* What a warp adds up: 16 columns of k from 16 m on, by up to 7 times 8 columns of [k | e] from 8 n on. */
struct group {
    unsigned char m, n, count;
};
struct groups {
    group of[GROUPS_MAX];
    int count;
};

/* Rows of [k | e], e from column e_first on; SUM_ROWS of them, a warp a row. Columns in between stay zero. */
__device__ static void load_rows(double *to, int stride, int e_first, const double *k, size_t k_stride, int p,
                                 bool pairs, const double *e, size_t e_stride, int c, size_t first, size_t end)
{
    int lane = static_cast<int>(threadIdx.x) % WARP, warps = static_cast<int>(blockDim.x) / WARP;
    for (int row = static_cast<int>(threadIdx.x) / WARP; row < SUM_ROWS; row += warps) {
        size_t at = first + row;
        bool there = at < end;
        copy_row_async(to + row * stride, there ? k + at * k_stride : k, p, there, pairs, lane);
        if (lane < c) copy_async(to + row * stride + e_first + lane, there ? e + at * e_stride + lane : k, there);
    }
    asm volatile("cp.async.commit_group;");
}

template <int MOST, int BLOCKS>
__global__ static void __launch_bounds__(MOST, BLOCKS)
    sums_kernel(double *parts, groups all, const double *k, size_t k_stride, int p, const double *e, size_t e_stride,
                int c, size_t rows, size_t chunk)
{
    extern __shared__ double shared[];
    const int e_first = rounded(p, 8), columns = e_first + rounded(c, 8),
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
    for (int i = static_cast<int>(threadIdx.x); i < 2 * SUM_ROWS * stride; i += static_cast<int>(blockDim.x))
        shared[i] = 0;
    __syncthreads();
    if (first < end) load_rows(shared, stride, e_first, k, k_stride, p, pairs, e, e_stride, c, first, end);
    int turn = 0;
    for (size_t at = first; at < end; at += SUM_ROWS, turn ^= 1) {
        const double *tile = shared + turn * SUM_ROWS * stride;
        if (at + SUM_ROWS < end) {
            load_rows(shared + (turn ^ 1) * SUM_ROWS * stride, stride, e_first, k, k_stride, p, pairs, e, e_stride, c,
                      at + SUM_ROWS, end);
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
    double *out = parts + blockIdx.x * static_cast<size_t>(p) * (p + c);
#pragma unroll
    for (int n = 0; n < GROUP_TILES; n++)
        for (int i = 0; i < 4; i++) {
            int row = 16 * own.m + g + 8 * (i / 2), column = 8 * (own.n + n) + 2 * t + i % 2;
            if (n >= own.count || row >= p) continue;
            if (column < p) out[row * (p + c) + column] = sums[n][i];
            else if (column >= e_first && column < e_first + c) out[row * (p + c) + p + column - e_first] = sums[n][i];
        }
}

/* The tiles on and above the diagonal, and those of e; no warp has many more than another. */
static groups share_out(int p, int c)
{
    groups out = {};
    int tiles = rounded(p, 8) / 8 + rounded(c, 8) / 8;
    for (int m = 0; 16 * m < p; m++) {
        int left = tiles - 2 * m, parts = (left + GROUP_TILES - 1) / GROUP_TILES, n = 2 * m;
        for (int i = 0; i < parts; i++) {
            int count = (left + parts - i - 1) / (parts - i);
            out.of[out.count++] =
                group{static_cast<unsigned char>(m), static_cast<unsigned char>(n), static_cast<unsigned char>(count)};
            n += count, left -= count;
        }
    }
    return out;
}

void narrow_sums(double *gram, size_t gram_stride, double *cross, size_t cross_stride, const double *k, size_t k_stride,
                 size_t p, const double *e, size_t e_stride, size_t c, size_t rows)
{
    const context *on = context_of();
    int columns = rounded(static_cast<int>(p), 8) + rounded(static_cast<int>(c), 8),
        wide = rounded(static_cast<int>(p), 16);
    size_t bytes = 2 * SUM_ROWS * static_cast<size_t>(padded(wide > columns ? wide : columns)) * sizeof(double);
    size_t most = 2 * static_cast<size_t>(on->processors),
           chunk = rounded(static_cast<int>((rows + most - 1) / most), SUM_ROWS);
    if (chunk < 4 * SUM_ROWS) chunk = 4 * SUM_ROWS;
    size_t blocks = (rows + chunk - 1) / chunk, width = p + c;
    groups all = share_out(static_cast<int>(p), static_cast<int>(c));
    double *parts = scratch(SCRATCH_PARTS, blocks * p * width);
    auto kernel = all.count * WARP <= 384 ? sums_kernel<384, 2> : sums_kernel<768, 1>;
    static bool allowed[2];
    bool &here = allowed[all.count * WARP <= 384];
    if (!here)
        here = went_well(
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(on->shared)),
            "sums over rows");
    if (!parts) return;
    kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(all.count * WARP), bytes, on->stream>>>(
        parts, all, k, k_stride, static_cast<int>(p), e, e_stride, static_cast<int>(c), rows, chunk);
    if (gram) add_parts(gram, gram_stride, parts, width, p, p, blocks);
    if (c) add_parts(cross, cross_stride, parts + p, width, p, c, blocks);
}

/* ---- products with few columns ------------------------------------------------------------------------------------- */

static constexpr int APPLY_WARPS = 8, APPLY_TILES = NARROW_OUTPUTS / 8, PANEL = 128;

/* Each warp takes 16 rows at a time, which travel through shared memory: its next ones while it writes. */
__global__ static void __launch_bounds__(APPLY_WARPS *WARP)
    apply_kernel(double *out, size_t out_stride, double sign, const double *k, size_t k_stride, size_t rows,
                 const double *w, size_t w_stride, int p, int c)
{
    extern __shared__ double shared[];
    constexpr int STRIDE = padded(NARROW_OUTPUTS);
    const int k_wide = padded(rounded(p < PANEL ? p : PANEL, STEP));
    const int lane = static_cast<int>(threadIdx.x) % WARP, warp = static_cast<int>(threadIdx.x) / WARP, g = lane / 4,
              t = lane % 4;
    const size_t tiles = (rows + TILE_ROWS - 1) / TILE_ROWS, across = static_cast<size_t>(gridDim.x) * APPLY_WARPS;
    double *own = shared + PANEL * STRIDE + warp * TILE_ROWS * k_wide;
    for (int panel = 0; panel < p; panel += PANEL) {
        int depth = p - panel < PANEL ? p - panel : PANEL, steps = rounded(depth, STEP);
        const bool pairs = even(k + panel, k_stride, depth);
        __syncthreads();
        for (int i = static_cast<int>(threadIdx.x); i < steps * STRIDE; i += APPLY_WARPS * WARP) {
            int row = i / STRIDE, column = i % STRIDE;
            shared[i] = row < depth && column < c ? sign * w[(panel + row) * w_stride + column] : 0;
        }
        for (int i = lane; i < TILE_ROWS * k_wide; i += WARP) own[i] = 0;
        __syncthreads();
        auto fetch = [&](size_t of) {
            for (int i = 0; i < TILE_ROWS; i++) {
                size_t row = of * TILE_ROWS + i;
                copy_row_async(own + i * k_wide, k + (row < rows ? row : 0) * k_stride + panel, depth, row < rows,
                               pairs, lane);
            }
            asm volatile("cp.async.commit_group;");
        };
        size_t tile = static_cast<size_t>(blockIdx.x) * APPLY_WARPS + warp;
        if (tile < tiles) fetch(tile);
        for (; tile < tiles; tile += across) {
            asm volatile("cp.async.wait_group 0;");
            __syncwarp();
            const double *ku = own + g * k_wide + t, *kl = ku + 8 * k_wide, *right = shared + t * STRIDE + g;
            double sums[APPLY_TILES][4] = {};
#pragma unroll 4
            for (int at = 0; at < steps; at += STEP) {
                double a[4] = {ku[at], kl[at], ku[at + 4], kl[at + 4]};
#pragma unroll
                for (int n = 0; n < APPLY_TILES; n++) {
                    double b[2] = {right[at * STRIDE + 8 * n], right[(at + 4) * STRIDE + 8 * n]};
                    multiply(sums[n], a, b);
                }
            }
            __syncwarp();
            if (tile + across < tiles) fetch(tile + across);
            const size_t upper = tile * TILE_ROWS + g;
#pragma unroll
            for (int n = 0; n < APPLY_TILES; n++)
                for (int i = 0; i < 4; i++) {
                    size_t row = i < 2 ? upper : upper + 8;
                    int column = 8 * n + 2 * t + i % 2;
                    if (row < rows && column < c) out[row * out_stride + column] += sums[n][i];
                }
        }
    }
}

void narrow_apply(double *out, size_t out_stride, double sign, const double *k, size_t k_stride, size_t rows,
                  const double *w, size_t w_stride, size_t p, size_t c)
{
    const context *on = context_of();
    size_t tiles = (rows + TILE_ROWS - 1) / TILE_ROWS, wanted = (tiles + APPLY_WARPS - 1) / APPLY_WARPS;
    size_t bytes = (static_cast<size_t>(PANEL) * padded(NARROW_OUTPUTS) +
                    static_cast<size_t>(APPLY_WARPS * TILE_ROWS) * padded(PANEL)) *
                   sizeof(double);
    static bool allowed;
    if (!allowed)
        allowed = went_well(
            cudaFuncSetAttribute(apply_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
            "a product");
    size_t most = (on->shared / bytes > 1 ? 2 : 1) * static_cast<size_t>(on->processors);
    apply_kernel<<<static_cast<unsigned>(wanted < most ? wanted : most), APPLY_WARPS * WARP, bytes, on->stream>>>(
        out, out_stride, sign, k, k_stride, rows, w, w_stride, static_cast<int>(p), static_cast<int>(c));
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
