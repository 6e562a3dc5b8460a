#include "feature/phi.h"

#include <string.h>

#include "base/cache.h"
#include "base/common.h"
#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "base/watch.h"
#include "compute/activation.h"
#include "compute/row_stream.h"
#include "compute/shards.h"

/* Numbers of scaled inputs where rows are scaled as a whole, unless a row has more; and otherwise the fewest inputs that are
 * scaled at a time, and the most. */
enum { SCRATCH_NUMBERS = 1 << 21, SLAB_LEAST = 64, SLAB_MOST = 512 };

/* Inputs that are scaled at a time, so that they are still in the cache when their products are added up: those of a block
 * take a quarter of the second one. As much is being read for the next ones meanwhile. */
static size_t slab_columns(void)
{
    size_t fit = broad__cache_bytes(2) / 4 / (BROAD__BLOCK_ROWS * sizeof(double)) / SLAB_LEAST * SLAB_LEAST;
    return broad__max(SLAB_LEAST, broad__min(fit, SLAB_MOST));
}

/* The same, such that slabs are about equal. Those of a multiple of eight inputs are brought near ahead of time. */
static size_t even_slab(size_t columns)
{
    size_t most = slab_columns(), slabs = broad__max((columns + most - 1) / most, 1);
    return broad__min(most, ((columns + slabs - 1) / slabs + 7) / 8 * 8);
}

/* Rows that are scaled at a time as a whole: fewer where they are wide. */
static size_t rows_at_once(size_t columns, size_t rows)
{
    size_t few = columns ? SCRATCH_NUMBERS / columns : rows;
    return broad__min(rows, broad__min(BROAD__BLOCK_ROWS, few ? few : 1));
}

size_t broad__phi_scratch(size_t columns, size_t rows, int whole)
{
    return whole ? rows_at_once(columns, rows) * columns
                 : broad__min(rows, BROAD__BLOCK_ROWS) * broad__min(columns, slab_columns());
}

/* Whether all inputs of a row are needed before the first product: ranks stand beside the numbers, or in single precision. */
static int takes_whole(const broad__phi *phi)
{
    return broad__scaling_is_ranked(phi->scaling.how) || phi->nodes.single || !phi->nodes.weight;
}

/* `rows` rows of some inputs, scaled or as they are; *stride is their distance. */
static const double *scale_rows(size_t *stride, const broad__scaling *part, const double *x, size_t rows,
                                double *scratch)
{
    broad__profile_span span = broad__profile_start();
    int plain = broad__scaling_is_plain(part);
    for (size_t i = 0; plain && i < rows; i++)
        plain = broad__all_within(x + i * *stride, part->inputs, BROAD__SCALED_MOST);
    if (!plain) broad__scaling_apply(scratch, part, x, rows, *stride);
    if (!plain) *stride = part->columns;
    broad__profile_stop(span, BROAD__STAGE_SCALE, 0,
                        (plain ? 1.0 : 2.0) * (double)rows * (double)part->columns * sizeof(double));
    return plain ? x : scratch;
}

static void whole_rows(double *z, size_t z_stride, const broad__phi *phi, const double *x, size_t rows, double *scratch)
{
    size_t columns = phi->nodes.inputs, stride = phi->scaling.inputs;
    const double *scaled = scale_rows(&stride, &phi->scaling, x, rows, scratch);
    for (size_t i = 0; i < rows && !phi->nodes.weight; i++)
        memcpy(z + i * z_stride, scaled + i * stride, columns * sizeof(double));
    if (phi->nodes.weight) phi->device->nodes(z, z_stride, &phi->nodes, scaled, stride, rows);
}

/* The products of inputs j to j + n, scaled; those that follow are read meanwhile. */
static void add_slab(double *z, size_t z_stride, const broad__phi *phi, const double *x, size_t rows,
                     const double *scaled, size_t stride, size_t j, size_t n)
{
    const broad__nodes *nodes = &phi->nodes;
    const double *weight = nodes->weight + j * nodes->nodes;
    size_t inputs = phi->scaling.inputs, next = j + n, more = broad__min(n, phi->scaling.columns - next);
    broad__ahead ahead[2] = {{x + next, inputs, more ? rows : 0, more},
                             {nodes->weight + next * nodes->nodes, nodes->nodes, more, nodes->nodes}};
    if (phi->device->apply_ahead)
        phi->device->apply_ahead(z, z_stride, scaled, stride, rows, weight, nodes->nodes, n, nodes->nodes, ahead);
    else phi->device->apply(z, z_stride, 1, scaled, stride, rows, weight, nodes->nodes, n, nodes->nodes);
}

/* The sums go on from slab to slab, so that their bits are those of whole rows (compute/cpu/kernels.h). */
static void slabs(double *z, size_t z_stride, const broad__phi *phi, const double *x, size_t rows, double *scratch)
{
    const broad__nodes *nodes = &phi->nodes;
    const broad__scaling *s = &phi->scaling;
    for (size_t i = 0; i < rows; i++) memcpy(z + i * z_stride, nodes->bias, nodes->nodes * sizeof(double));
    for (size_t j = 0, slab = even_slab(s->columns); j < s->columns; j += slab) {
        size_t n = broad__min(slab, s->columns - j), stride = s->inputs;
        broad__scaling part = {s->how, n, n, s->shift + j, s->factor + j, s->fill ? s->fill + j : NULL, NULL};
        const double *scaled = scale_rows(&stride, &part, x + j, rows, scratch);
        add_slab(z, z_stride, phi, x, rows, scaled, stride, j, n);
    }
    size_t together = z_stride == nodes->nodes ? rows : 1;
    for (size_t i = 0; i < rows; i += together)
        broad__activate(nodes->activation, z + i * z_stride, together * nodes->nodes);
    broad__watch_count(BROAD__ACTIVATION_FLOPS * (double)rows * (double)nodes->nodes);
}

void broad__phi_block(double *z, size_t z_stride, const broad__phi *phi, const double *x, size_t rows, double *scratch)
{
    int whole = takes_whole(phi);
    size_t step = whole ? rows_at_once(phi->scaling.columns, rows) : rows;
    broad__profile_scope before = broad__profile_phase(BROAD__PHASE_FEATURES);
    for (size_t i = 0; i < rows; i += step)
        (whole ? whole_rows : slabs)(z + i * z_stride, z_stride, phi, x + i * phi->scaling.inputs,
                                     broad__min(step, rows - i), scratch);
    broad__profile_leave(before);
}

typedef struct phi_run {
    double *z;
    size_t z_stride;
    const broad__phi *phi;
    const double *x;
    size_t rows, piece; /* of a piece: at most BROAD__BLOCK_ROWS */
    double *scratch;    /* scaled inputs, for each worker */
    size_t scratch_each;
} phi_run;

static void run_block(void *context, size_t block, size_t worker)
{
    phi_run *run = context;
    const broad__scaling *scaling = &run->phi->scaling;
    size_t first = block * run->piece, n = broad__min(run->rows - first, run->piece);
    broad__phi_block(run->z + first * run->z_stride, run->z_stride, run->phi, run->x + first * scaling->inputs, n,
                     run->scratch + worker * run->scratch_each);
}

/* Pieces of about the same size: none is a remainder. */
static size_t piece_rows(size_t rows)
{
    size_t pieces = (rows + BROAD__BLOCK_ROWS - 1) / BROAD__BLOCK_ROWS;
    return pieces ? (rows + pieces - 1) / pieces : 1;
}

/* ---- on a device of its own -------------------------------------------------------------------------------------- */

/* A block of rows on its way there. */
typedef struct far_run {
    const broad__phi *phi;
    broad__pool *pool;
    const double *x;
    double *to;
    size_t first, n;
} far_run;

static void scale_piece(void *context, size_t piece, size_t worker)
{
    const far_run *run = context;
    const broad__scaling *scaling = &run->phi->scaling;
    size_t i = piece * BROAD__BLOCK_ROWS, n = broad__min(run->n - i, BROAD__BLOCK_ROWS);
    (void)worker;
    broad__profile_span span = broad__profile_start();
    broad__scaling_apply(run->to + i * scaling->columns, scaling, run->x + (run->first + i) * scaling->inputs, n,
                         scaling->inputs);
    broad__profile_stop(span, BROAD__STAGE_SCALE, 0, 2.0 * (double)n * (double)scaling->columns * sizeof(double));
}

static void fill_far(void *context, double *to, size_t first, size_t n)
{
    far_run *run = context;
    run->to = to;
    run->first = first;
    run->n = n;
    broad__pool_run(run->pool, (n + BROAD__BLOCK_ROWS - 1) / BROAD__BLOCK_ROWS, scale_piece, run);
}

static void compute_far(void *context, double *out, const double *x, double *held, size_t n)
{
    const broad__phi *phi = ((far_run *)context)->phi;
    (void)held;
    phi->device->far->nodes(out, phi->nodes.nodes, &phi->nodes, x, phi->scaling.columns, n);
}

static double far_flops(const broad__phi *phi) { return 2.0 * (double)phi->nodes.inputs * (double)phi->nodes.nodes; }

static int may_pass(const broad__phi *phi, size_t rows)
{
    /* Z comes back, and goes there once more for the layers. */
    size_t numbers = phi->scaling.columns + 2 * phi->nodes.nodes;
    return phi->nodes.weight && !phi->nodes.single &&
           broad__row_stream_worth(phi->device, rows, far_flops(phi), numbers);
}

/* The rows pass through the device; BROAD_NO_MEMORY: it has too little. */
static int far_rows(double *z, size_t z_stride, const broad__phi *phi, broad__pool *pool, const double *x, size_t rows)
{
    far_run run = {.phi = phi, .pool = pool, .x = x};
    broad__row_stream stream = {.at = phi->device->far,
                                .rows = rows,
                                .columns = phi->scaling.columns,
                                .results = phi->nodes.nodes,
                                .flops = far_flops(phi),
                                .context = &run,
                                .fill = fill_far,
                                .compute = compute_far};
    return broad__row_stream_run(z, z_stride, &stream);
}

/* ---- many rows --------------------------------------------------------------------------------------------------- */

int broad__phi_rows(double *z, size_t z_stride, const broad__phi *phi, broad__pool *pool, const double *x, size_t rows)
{
    size_t threads = broad__pool_threads(pool);
    phi_run run = {.z = z, .z_stride = z_stride, .phi = phi, .x = x, .rows = rows, .piece = piece_rows(rows)};
    int status = may_pass(phi, rows) ? far_rows(z, z_stride, phi, pool, x, rows) : BROAD_NO_MEMORY;
    if (status != BROAD_NO_MEMORY) return status;
    run.scratch_each = broad__phi_scratch(phi->scaling.columns, run.piece, takes_whole(phi));
    run.scratch = broad__alloc_doubles(threads, run.scratch_each);
    if (!run.scratch) return BROAD_NO_MEMORY;
    broad__pool_run(pool, (rows + run.piece - 1) / run.piece, run_block, &run);
    broad__free(run.scratch);
    return broad__watch_check(BROAD_OK);
}
