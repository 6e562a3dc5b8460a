/*
 * A plug-in in place of libbroad-cuda.so that needs no GPU: the processor's operations on memory that only they can reach.
 * Outside of an operation every page of it is locked, so that code that takes its addresses for ordinary ones crashes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "compute/cuda/plugin.h"

enum {
    BLOCK = 3000,
    ARENA = 1 << 26,
    HEAD = 512
}; /* numbers of a block, small so that there are many; of all memory */

static const broad__cuda_host *host;
static double *arena;
static size_t used, live;

static size_t passes;     /* sums that were asked for */
static size_t input_rows; /* rows of nodes that were computed from what was sent */
static size_t made_rows;  /* rows of feature nodes that were computed from inputs that stay there */

/* BROAD_TEST_FAR_COUNT: a file that says in the end how many. */
__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("BROAD_TEST_FAR_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    fprintf(file, "%zu %zu %zu\n", passes, input_rows, made_rows);
    fclose(file);
}

static void lock(int locked) { mprotect(arena, ARENA * sizeof(double), locked ? PROT_NONE : PROT_READ | PROT_WRITE); }

/* Each array has pages of its own, which are never used again. BROAD_TEST_FAR_ROOM: how many numbers there are. */
static size_t room(void)
{
    const char *text = getenv("BROAD_TEST_FAR_ROOM");
    size_t all = text ? (size_t)strtoull(text, NULL, 10) : ARENA;
    return all > used ? all - used : 0;
}

/* What is sent comes when it is waited for, and not before. */
static double *staged[2], *going;
static size_t turn_now, going_count;

static int far_alloc(double **out, size_t count)
{
    size_t pages = (count + HEAD) / HEAD * HEAD;
    *out = NULL;
    if (pages > room()) return host->fail(BROAD_NO_MEMORY, "the device has too little free memory");
    *out = arena + used;
    used += pages;
    live++;
    return BROAD_OK;
}

static void far_free(double *at)
{
    if (at == going) going = NULL;
    if (at && !--live) used = 0;
}

static void far_zero(double *at, size_t count)
{
    lock(0);
    memset(at, 0, count * sizeof *at);
    lock(1);
}

static void far_put(double *to, const double *from, size_t count)
{
    lock(0);
    memcpy(to, from, count * sizeof *to);
    lock(1);
}

static int far_get(double *to, const double *from, size_t count)
{
    lock(0);
    memcpy(to, from, count * sizeof *to);
    lock(1);
    return BROAD_OK;
}

static double *far_stage(size_t turn, size_t count)
{
    free(staged[turn]);
    return staged[turn] = malloc(count * sizeof(double));
}

static void far_send(double *to, size_t turn, size_t count)
{
    going = to;
    turn_now = turn;
    going_count = count;
}

static void far_await(void) { far_put(going, staged[turn_now], going_count); }

static const broad__memory memory = {BLOCK,   1e6,  1,       far_alloc, far_free, room,     far_zero,
                                     far_put, NULL, far_get, far_stage, far_send, far_await};

/* BROAD_TEST_FAR_INPUTS: those of the rows, by which their feature nodes are known. */
static size_t inputs_of_rows(void)
{
    const char *text = getenv("BROAD_TEST_FAR_INPUTS");
    return text ? (size_t)strtoull(text, NULL, 10) : 0;
}

static void far_nodes(double *out, size_t out_stride, const broad__nodes *nodes, const double *x, size_t x_stride,
                      size_t rows)
{
    if (going && x == going) input_rows += rows;
    else if (nodes->inputs == inputs_of_rows()) made_rows += rows;
    lock(0);
    host->cpu->nodes(out, out_stride, nodes, x, x_stride, rows);
    lock(1);
}

static void far_gram(double *out, size_t out_stride, const double *k, size_t k_stride, size_t rows, size_t p)
{
    passes++;
    lock(0);
    host->cpu->gram(out, out_stride, k, k_stride, rows, p);
    lock(1);
}

static void far_cross(double *out, size_t out_stride, const double *a, size_t a_stride, size_t p, const double *b,
                      size_t b_stride, size_t c, size_t rows)
{
    lock(0);
    host->cpu->cross(out, out_stride, a, a_stride, p, b, b_stride, c, rows);
    lock(1);
}

static void far_apply(double *out, size_t out_stride, double sign, const double *k, size_t k_stride, size_t rows,
                      const double *w, size_t w_stride, size_t p, size_t c)
{
    lock(0);
    host->cpu->apply(out, out_stride, sign, k, k_stride, rows, w, w_stride, p, c);
    lock(1);
}

static void far_outer(double *out, size_t out_stride, const double *a, size_t a_stride, size_t rows, const double *b,
                      size_t b_stride, size_t count, size_t p)
{
    lock(0);
    host->cpu->outer(out, out_stride, a, a_stride, rows, b, b_stride, count, p);
    lock(1);
}

static void far_squares(double *out, const double *a, size_t count)
{
    lock(0);
    host->cpu->squares(out, a, count);
    lock(1);
}

static void far_inner(double *out, const double *a, size_t a_stride, const double *b, size_t b_stride, size_t rows,
                      size_t columns)
{
    lock(0);
    host->cpu->inner(out, a, a_stride, b, b_stride, rows, columns);
    lock(1);
}

static void far_copy(double *out, size_t out_stride, const double *from, size_t from_stride, size_t rows,
                     size_t columns)
{
    lock(0);
    host->cpu->copy(out, out_stride, from, from_stride, rows, columns);
    lock(1);
}

static void far_scale(double *k, size_t k_stride, size_t rows, size_t columns, const double *root)
{
    lock(0);
    host->cpu->scale(k, k_stride, rows, columns, root);
    lock(1);
}

static void far_sums(double *gram, size_t gram_stride, const double *k, size_t k_stride, size_t p,
                     const broad__side *sides, size_t count, size_t rows)
{
    far_gram(gram, gram_stride, k, k_stride, rows, p);
    for (size_t i = 0; i < count; i++)
        far_cross(sides[i].cross, sides[i].columns, k, k_stride, p, sides[i].at, sides[i].stride, sides[i].columns,
                  rows);
}

static void far_change(double *squares, double sign, const double *k, size_t p, const broad__side *sides, size_t count,
                       size_t rows)
{
    for (size_t i = 0; i < count; i++)
        far_apply(sides[i].at, sides[i].stride, sign, k, p, rows, sides[i].w, sides[i].columns, p, sides[i].columns);
    far_squares(squares, sides[0].at, rows * sides[0].columns);
}

static const broad__device far = {
    .name = "far",
    .memory = &memory,
    .nodes = far_nodes,
    .gram = far_gram,
    .cross = far_cross,
    .sums = far_sums,
    .apply = far_apply,
    .change = far_change,
    .outer = far_outer,
    .squares = far_squares,
    .inner = far_inner,
    .copy = far_copy,
    .scale = far_scale,
};

static int inspect(broad__cuda_facts *out, int measure)
{
    *out = (broad__cuda_facts){.name = "the processor, as if far away", .devices = 1, .memory = ARENA * sizeof(double)};
    out->available = room() * sizeof(double);
    if (measure) out->gigaflops = out->gigabytes = 1;
    return BROAD_OK;
}

static int settle(void) { return BROAD_OK; }

const broad__cuda_plugin *broad_cuda_open(const broad__cuda_host *given)
{
    static broad__device device;
    static broad__cuda_plugin plugin;
    host = given;
    arena = mmap(NULL, ARENA * sizeof(double), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED) return NULL;
    device = *host->cpu;
    device.name = "far";
    device.far = &far;
    plugin = (broad__cuda_plugin){BROAD__CUDA_ABI, &device, inspect, NULL, settle};
    return &plugin;
}
