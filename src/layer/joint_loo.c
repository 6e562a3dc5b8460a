/* Leave-one-out of a joint fit, on all rows or on some that their keys choose; by whole sets of rows where they have
 * groups. */
#include "layer/joint_loo.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/profile.h"
#include "base/smallest.h"
#include "base/status.h"
#include "base/watch.h"
#include "comm/comm.h"
#include "compute/shards.h"
#include "layer/cholesky.h"
#include "layer/joint_solve.h"
#include "layer/joint_sums.h"
#include "layer/leave_out_sets.h"

/* More rows than these add no information, and each costs a pass over R; for lambda fewer suffice. */
enum { SEARCH_MAX = 1000, ROUGH_ROWS = 600, DUAL_ROWS = 64 };
/* Up to here all rows of a sample cost less in the search than once more after it. */
enum { SEARCH_ALL = 1250 };
/* A side of M from which on each step of the search for lambda takes a noticeable part of the whole time. */
enum { LARGE = 2000 };
/* Less than this part of the norm is not worth another such step. */
static const double GAIN_LARGE = 0.005;
/* Where the norm rises by as much half a step below, the best may lie above. */
static const double STEEP_LARGE = 1.05;

/* Where a row decides its own fit to within this, rounding decides its residual. */
static const double REST_MIN = 1e-6;

/* lambda as powers of ten of the mean eigenvalue, in half steps; the search starts in the middle and goes on while it
 * gets better, across one bad step if necessary. */
static const double EXPONENT_MIN = -10, EXPONENT_START = -4, EXPONENT_MAX = 2;
/* What is handed on where 0 was found: there 0 says that nothing is known. */
static const double EXPONENT_ZERO = 1e-12;

double broad__joint_exponent(double exponent)
{
    double near = fmin(fmax(exponent, EXPONENT_MIN), EXPONENT_MAX);
    return near != 0 ? near : EXPONENT_ZERO;
}

void broad__joint_forget_searched(broad__joint *j)
{
    broad__free(j->searched_w);
    j->searched_w = NULL;
}

void broad__joint_forget_sample(broad__joint *j)
{
    broad__joint_forget_searched(j);
    broad__free(j->sample);
    broad__free(j->sample_a);
    broad__free(j->sample_y);
    broad__free(j->loo_scores);
    broad__free(j->sets);
    j->sample = j->sets = NULL;
    j->sample_a = j->sample_y = j->loo_scores = NULL;
    j->sample_count = j->set_count = 0;
}

/* Z of the sampled rows; of several ranks each has its own. */
static int sample_z(double *z, const broad__joint *j, const broad__residual *residual)
{
    size_t count = j->sample_count, features = residual->z.features, first = 0, end = residual->rows;
    if (residual->divided) broad__comm_own_rows(&first, &end, residual->rows);
    for (size_t i = 0; i < count; i++)
        if (j->sample[i] >= first && j->sample[i] < end)
            memcpy(z + i * features, broad__z_supply_rows(&residual->z, j->sample[i], 1, 0), features * sizeof *z);
    return residual->divided ? broad__comm_collect(z, j->sample, count, features, residual->rows) : BROAD_OK;
}

static void copy_sample(broad__joint *j, const double *a, size_t stride)
{
    for (size_t i = 0; i < j->sample_count; i++)
        memcpy(j->sample_a + i * j->columns, a + j->sample[i] * stride, j->columns * sizeof *a);
}

/* Z and roots of the sampled rows, as rows of their own. */
static int sample_nodes(broad__joint *j, const broad__joint_task *task)
{
    const broad__residual *residual = task->residual;
    size_t count = j->sample_count, features = residual->z.features;
    double *z = broad__alloc_doubles(count, features), *root = broad__alloc_doubles(count, 1);
    int status = z && root ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) status = sample_z(z, j, residual);
    if (status == BROAD_OK) {
        for (size_t i = 0; i < count; i++) {
            root[i] = residual->sqrt_weight ? residual->sqrt_weight[j->sample[i]] : 1;
            if (residual->sqrt_weight)
                broad__spill_done(residual->spill, residual->sqrt_weight + j->sample[i], sizeof(double));
        }
        broad__residual some = {.device = residual->device,
                                .at = residual->device,
                                .pool = residual->pool,
                                .rows = count,
                                .outputs = residual->outputs,
                                .z = {.stored = z, .features = features},
                                .sqrt_weight = residual->sqrt_weight ? root : NULL};
        broad__joint_fill((broad__joint_filling){&some, task->kblocks, task->count, 0, count, j->sample_a, j->columns});
    }
    broad__free(z);
    broad__free(root);
    return status;
}

/* Rows of a sample that lambda is searched on. */
static size_t searched(size_t count) { return count <= SEARCH_ALL ? count : SEARCH_MAX; }

/* Those of the smallest keys. */
static int order_by_key(broad__joint *j, const broad__residual *residual, size_t count)
{
    broad__smallest smallest;
    int status = broad__smallest_open(&smallest, count);
    if (status < 0) return status;
    for (size_t i = 0; i < j->rows; i++)
        broad__smallest_show(&smallest, residual->key[i], residual->sqrt_weight ? residual->sqrt_weight[i] : 1, i);
    broad__smallest_close(j->sample, &smallest);
    broad__spill_done(residual->spill, residual->key, j->rows * sizeof *residual->key);
    j->search_count = searched(count);
    return BROAD_OK;
}

/* Rows at equal distances, and the first of these, which lambda is searched on, again at equal distances. */
static void order_by_place(broad__joint *j, size_t count)
{
    size_t passes = j->dual || count <= SEARCH_ALL ? 1 : (count + SEARCH_MAX - 1) / SEARCH_MAX, at = 0;
    for (size_t pass = 0; pass < passes; pass++) {
        for (size_t i = pass; i < count; i += passes)
            j->sample[at++] = (size_t)((double)i * (double)j->rows / (double)count);
        if (pass == 0) j->search_count = at;
    }
}

static size_t common_divisor(size_t a, size_t b)
{
    while (b) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Set by set, each this far from the one before it: wherever that stops, those taken are spread evenly. Where all are taken,
 * as in the dual form, or where they lie in the order of their keys, one after the other. */
static size_t set_stride(const broad__joint *j, const broad__leave_out_sets *from)
{
    const double GOLDEN = 0.6180339887498949;
    size_t count = from->count, stride = j->dual || from->by_key ? 1 : (size_t)(GOLDEN * (double)count);
    stride = stride ? stride : 1;
    while (common_divisor(stride, count) != 1) stride++;
    return stride;
}

/* Whole sets, until there are enough rows. */
static int order_sets(broad__joint *j, const broad__leave_out_sets *from, size_t count)
{
    size_t stride = set_stride(j, from), at = 0;
    j->sets = broad__alloc_array(from->count + 1, sizeof *j->sets);
    if (!j->sets) return BROAD_NO_MEMORY;
    j->search_count = 0;
    for (size_t i = 0, set = 0; at < count; i++, set = (set + stride) % from->count) {
        for (size_t k = from->first[set]; k < from->first[set + 1]; k++) j->sample[at++] = from->rows[k];
        j->sets[i + 1] = at;
        j->set_count = i + 1;
        if (!j->search_count && at >= (j->dual ? count : searched(count))) j->search_count = at;
    }
    if (!j->search_count) j->search_count = at;
    j->sample_count = at;
    return BROAD_OK;
}

static int choose_sample(broad__joint *j, const broad__residual *residual, size_t most)
{
    size_t rows = j->rows, count = rows < most || j->dual ? rows : most;
    size_t capacity = rows < count + BROAD__SET_ROWS ? rows : count + BROAD__SET_ROWS;
    broad__leave_out_sets sets = {0};
    int status = broad__leave_out_sets_make(&sets, residual->group, residual->key, rows);
    j->sample = status == BROAD_OK ? broad__alloc_array(capacity, sizeof *j->sample) : NULL;
    if (status == BROAD_OK && !j->sample) status = BROAD_NO_MEMORY;
    if (status == BROAD_OK && sets.count) status = order_sets(j, &sets, count);
    if (status == BROAD_OK && !sets.count) {
        j->sample_count = count;
        int some = count < rows || count > searched(count);
        if (residual->key && some && !j->dual) status = order_by_key(j, residual, count);
        else order_by_place(j, count);
    }
    broad__leave_out_sets_clear(&sets);
    return status;
}

static int take_sample(broad__joint *j, const broad__joint_task *task)
{
    if (j->sample_count) return BROAD_OK;
    size_t c = j->outputs;
    int status = choose_sample(j, task->residual, task->rough ? ROUGH_ROWS : BROAD__LOO_ROWS);
    if (status == BROAD_OK) {
        j->sample_y = broad__alloc_doubles(j->sample_count, c);
        j->loo_scores = broad__alloc_doubles(j->sample_count, c);
        j->sample_a = j->dual ? NULL : broad__alloc_doubles(j->sample_count, j->columns);
        if (!j->sample_y || !j->loo_scores || (!j->dual && !j->sample_a)) status = BROAD_NO_MEMORY;
    }
    if (status < 0) {
        broad__joint_forget_sample(j);
        return status;
    }
    for (size_t i = 0; i < j->sample_count; i++) {
        const double *y = task->y + j->sample[i] * c;
        memcpy(j->sample_y + i * c, y, c * sizeof(double));
        broad__spill_done(task->residual->spill, y, c * sizeof(double)); /* each row brings the pages around it */
    }
    const double *stored = j->dual ? NULL : broad__joint_stored(task);
    if (stored) copy_sample(j, stored, task->residual->z.features);
    return j->dual || stored ? BROAD_OK : sample_nodes(j, task);
}

/* ---- leaving out ----------------------------------------------------------------------------------------------- */

typedef struct leaving {
    broad__joint *joint;
    const broad__device *device;
    double *scratch; /* per worker: rows of A in the coordinates of R, then their fits */
    size_t scratch_each;
    double *rest;        /* 1 - h of each row; in a set, what remains of it after the rows before it */
    size_t from, count;  /* of the sample, without those before `from`, so many; whole sets */
    size_t *chunks;      /* with sets: first set of each job, and the end */
    size_t largest;      /* rows of a set at most */
    size_t chunk_rows;   /* rows of the sets of a chunk at most */
    const double *alpha; /* dual form: rows x outputs */
    double *inverse;     /* and with sets the inverse factor */
} leaving;

/* n rows of A in the coordinates of R, where their products are H; or of the eigenvectors, where each counts by its
 * inverse. */
static void turn(double *white, const leaving *l, const double *a, size_t n)
{
    const broad__joint *j = l->joint;
    size_t p = j->columns;
    if (j->spectral) {
        memset(white, 0, n * p * sizeof(double));
        l->device->outer(white, p, a, p, n, j->spd.factor, p, p, p);
    } else {
        memcpy(white, a, n * p * sizeof(double));
        l->device->whiten(white, p, n, j->matrix, p, p);
    }
}

/* h of n rows of A; white: n x columns, scratch. */
static void leverages(double *h, const leaving *l, double *white, const double *a, size_t n)
{
    const broad__joint *j = l->joint;
    size_t p = j->columns;
    turn(white, l, a, n);
    for (size_t i = 0; i < n; i++) {
        h[i] = 0;
        for (size_t k = 0; k < p; k++) {
            double v = white[i * p + k];
            h[i] += v * v * (j->spectral ? broad__spd_inverse(&j->spd, k, j->factored) : 1);
        }
    }
}

/* Scores as if the row had been left out, still times its root. */
static void leave_block(void *context, size_t block, size_t worker)
{
    const leaving *l = context;
    broad__joint *j = l->joint;
    size_t first = l->from + block * BROAD__BLOCK_ROWS, p = j->columns, c = j->outputs;
    size_t n = l->count - first < BROAD__BLOCK_ROWS ? l->count - first : BROAD__BLOCK_ROWS;
    double h[BROAD__BLOCK_ROWS], *white = l->scratch + worker * l->scratch_each, *fits = white + n * p;
    leverages(h, l, white, j->sample_a + first * p, n);
    memset(fits, 0, n * c * sizeof(double));
    l->device->apply(fits, c, 1.0, j->sample_a + first * p, p, n, j->w, c, p, c);
    for (size_t i = 0; i < n; i++) {
        double rest = 1 - h[i] > DBL_EPSILON ? 1 - h[i] : DBL_EPSILON;
        l->rest[first + i] = rest;
        for (size_t q = 0; q < c; q++) {
            double y = j->sample_y[(first + i) * c + q];
            j->loo_scores[(first + i) * c + q] = y - (y - fits[i * c + q]) / rest;
        }
    }
}

static int leave_primal_rows(broad__joint *j, const broad__residual *residual, double *rest, size_t from, size_t count)
{
    leaving l = {.joint = j,
                 .device = residual->device,
                 .rest = rest,
                 .scratch_each = BROAD__BLOCK_ROWS * (j->columns + j->outputs)};
    l.scratch = broad__alloc_doubles(broad__pool_threads(residual->pool), l.scratch_each);
    if (!l.scratch) return BROAD_NO_MEMORY;
    l.from = from;
    l.count = count;
    broad__pool_run(residual->pool, (count - from + BROAD__BLOCK_ROWS - 1) / BROAD__BLOCK_ROWS, leave_block, &l);
    broad__free(l.scratch);
    return BROAD_OK;
}

/* I - H of one set, in the upper triangle. */
static void set_system(double *out, const leaving *l, const double *white, size_t n)
{
    size_t p = l->joint->columns;
    memset(out, 0, n * n * sizeof(double));
    l->device->outer(out, n, white, p, n, white, p, n, p);
    for (size_t i = 0; i < n; i++)
        for (size_t k = i; k < n; k++) out[i * n + k] = (i == k) - out[i * n + k];
}

/* The same for the sets of one chunk, each set left out as a whole. */
static void leave_chunk(void *context, size_t chunk, size_t worker)
{
    const leaving *l = context;
    broad__joint *j = l->joint;
    size_t from = l->chunks[chunk], end = l->chunks[chunk + 1], p = j->columns, c = j->outputs;
    size_t first = j->sets[from], n = j->sets[end] - first;
    double *white = l->scratch + worker * l->scratch_each, *left = white + l->chunk_rows * p;
    double *matrix = left + l->chunk_rows * c, *scratch = matrix + l->largest * l->largest;
    const double *a = j->sample_a + first * p, *y = j->sample_y + first * c;
    turn(white, l, a, n);
    for (size_t k = 0; j->spectral && k < p; k++) {
        double factor = sqrt(broad__spd_inverse(&j->spd, k, j->factored));
        for (size_t i = 0; i < n; i++) white[i * p + k] *= factor;
    }
    memcpy(left, y, n * c * sizeof(double));
    l->device->apply(left, c, -1.0, a, p, n, j->w, c, p, c);
    for (size_t set = from; set < end; set++) {
        size_t at = j->sets[set] - first, size = j->sets[set + 1] - j->sets[set];
        set_system(matrix, l, white + at * p, size);
        broad__leave_out_sets_apply(left + at * c, l->rest + first + at, scratch, matrix, size, c, l->device);
    }
    for (size_t i = 0; i < n * c; i++) j->loo_scores[first * c + i] = y[i] - left[i];
}

static size_t largest_set(const broad__joint *j)
{
    size_t largest = 0;
    for (size_t i = 0; i < j->set_count; i++)
        if (j->sets[i + 1] - j->sets[i] > largest) largest = j->sets[i + 1] - j->sets[i];
    return largest;
}

/* Sets that have no more rows together than a block, or one that is larger, of rows [from, count) of the sample. Returns how
 * many. */
static size_t list_chunks(size_t *out, const broad__joint *j, size_t from, size_t count)
{
    size_t chunks = 0, set = 0;
    while (set < j->set_count && j->sets[set] < from) set++;
    for (; set < j->set_count && j->sets[set] < count; set++)
        if (!chunks || j->sets[set + 1] - j->sets[out[chunks - 1]] > BROAD__BLOCK_ROWS) out[chunks++] = set;
    out[chunks] = set;
    return chunks;
}

static int leave_primal_sets(broad__joint *j, const broad__residual *residual, double *rest, size_t from, size_t count)
{
    leaving l = {.joint = j, .device = residual->device, .rest = rest, .largest = largest_set(j)};
    l.chunk_rows = l.largest > BROAD__BLOCK_ROWS ? l.largest : BROAD__BLOCK_ROWS;
    l.scratch_each = l.chunk_rows * (j->columns + j->outputs) + 2 * l.largest * l.largest;
    l.scratch = broad__alloc_doubles(broad__pool_threads(residual->pool), l.scratch_each);
    l.chunks = broad__alloc_array(j->set_count + 1, sizeof *l.chunks);
    int status = l.scratch && l.chunks ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) broad__pool_run(residual->pool, list_chunks(l.chunks, j, from, count), leave_chunk, &l);
    broad__free(l.scratch);
    broad__free(l.chunks);
    return status;
}

/* Rows [first, first + count) of R^-1, from column `from` on; the products of such rows are (M + lambda I)^-1. from: at
 * most `first`, or 0 where there are eigenvectors in place of R. */
static void inverse_rows(double *out, size_t stride, const leaving *l, size_t first, size_t count, size_t from)
{
    const broad__joint *j = l->joint;
    size_t n = j->rows, skip = first - from;
    for (size_t k = 0; j->spectral && k < n; k++) {
        double root = sqrt(broad__spd_inverse(&j->spd, k, j->factored));
        for (size_t i = 0; i < count; i++) out[i * stride + k] = j->spd.factor[k * n + first + i] * root;
    }
    if (j->spectral) return;
    for (size_t i = 0; i < count; i++) {
        memset(out + i * stride, 0, (n - from) * sizeof(double));
        out[i * stride + skip + i] = 1;
    }
    l->device->whiten(out + skip, stride, count, j->matrix + first * n + first, n, n - first);
}

static void inverse_block(void *context, size_t block, size_t worker)
{
    (void)worker;
    const leaving *l = context;
    size_t n = l->joint->rows, first = block * DUAL_ROWS, count = n - first < DUAL_ROWS ? n - first : DUAL_ROWS;
    inverse_rows(l->inverse + first * n, n, l, first, count, 0);
}

/* alpha_i / g_i for some rows: the residual each would have if it were left out. */
static void leave_dual_block(void *context, size_t block, size_t worker)
{
    const leaving *l = context;
    broad__joint *j = l->joint;
    size_t n = j->rows, c = j->outputs, first = block * DUAL_ROWS,
           count = n - first < DUAL_ROWS ? n - first : DUAL_ROWS;
    size_t from = j->spectral ? 0 : first;
    double *rows = l->scratch + worker * l->scratch_each;
    inverse_rows(rows, n - from, l, first, count, from);
    for (size_t i = 0; i < count; i++) {
        double g = 0;
        for (size_t k = 0; k < n - from; k++) g += rows[i * (n - from) + k] * rows[i * (n - from) + k];
        l->rest[first + i] = g * j->factored;
        for (size_t at = (first + i) * c; at < (first + i + 1) * c; at++)
            j->loo_scores[at] = j->sample_y[at] - (g > 0 ? l->alpha[at] / g : 0);
    }
}

static int leave_dual_rows(leaving *l, const broad__residual *residual)
{
    size_t n = l->joint->rows;
    l->scratch_each = DUAL_ROWS * n;
    l->scratch = broad__alloc_doubles(broad__pool_threads(residual->pool), l->scratch_each);
    if (!l->scratch) return BROAD_NO_MEMORY;
    broad__pool_run(residual->pool, (n + DUAL_ROWS - 1) / DUAL_ROWS, leave_dual_block, l);
    broad__free(l->scratch);
    return BROAD_OK;
}

/* (G_bb)^-1 alpha_b for one set. Its rows of the inverse factor are zero before their diagonals, unless it is spectral.
 * */
static void leave_dual_set(void *context, size_t set, size_t worker)
{
    const leaving *l = context;
    broad__joint *j = l->joint;
    size_t n = j->rows, c = j->outputs, first = j->sets[set], size = j->sets[set + 1] - first;
    size_t from = j->spectral ? 0 : j->sample[first], columns = n - from;
    double *factor = l->scratch + worker * l->scratch_each, *left = factor + l->largest * n;
    double *matrix = left + l->largest * c, *scratch = matrix + l->largest * l->largest;
    for (size_t i = 0; i < size; i++) {
        size_t row = j->sample[first + i];
        memcpy(factor + i * columns, l->inverse + row * n + from, columns * sizeof(double));
        memcpy(left + i * c, l->alpha + row * c, c * sizeof(double));
    }
    memset(matrix, 0, size * size * sizeof(double));
    l->device->outer(matrix, size, factor, columns, size, factor, columns, size, columns);
    broad__leave_out_sets_apply(left, l->rest + first, scratch, matrix, size, c, l->device);
    for (size_t i = 0; i < size; i++) l->rest[first + i] *= j->factored;
    for (size_t i = 0; i < size * c; i++) j->loo_scores[first * c + i] = j->sample_y[first * c + i] - left[i];
}

static int leave_dual_sets(leaving *l, const broad__residual *residual)
{
    broad__joint *j = l->joint;
    l->largest = largest_set(j);
    l->scratch_each = l->largest * (j->rows + j->outputs + 2 * l->largest);
    l->scratch = broad__alloc_doubles(broad__pool_threads(residual->pool), l->scratch_each);
    l->inverse = broad__alloc_doubles(j->rows, j->rows);
    int status = l->scratch && l->inverse ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        broad__pool_run(residual->pool, (j->rows + DUAL_ROWS - 1) / DUAL_ROWS, inverse_block, l);
        broad__pool_run(residual->pool, j->set_count, leave_dual_set, l);
    }
    broad__free(l->scratch);
    broad__free(l->inverse);
    return status;
}

static int leave_dual(broad__joint *j, const broad__residual *residual, double *rest)
{
    size_t n = j->rows, c = j->outputs;
    double *alpha = broad__alloc_doubles(n, c);
    leaving l = {.joint = j, .device = residual->device, .rest = rest, .alpha = alpha};
    if (!alpha) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < n; i++) memcpy(alpha + j->sample[i] * c, j->sample_y + i * c, c * sizeof(double));
    int status = broad__joint_solve(alpha, j, residual);
    if (status == BROAD_OK) status = j->set_count ? leave_dual_sets(&l, residual) : leave_dual_rows(&l, residual);
    broad__free(alpha);
    return status;
}

static int leave_primal(broad__joint *j, const broad__residual *residual, double *rest, size_t from, size_t count)
{
    return j->set_count ? leave_primal_sets(j, residual, rest, from, count)
                        : leave_primal_rows(j, residual, rest, from, count);
}

/* The first `count` rows of the sample, of which the first `from` have their scores. *out_least: the smallest 1 - h of the
 * others. */
static int leave_each(double *out_least, broad__joint *j, const broad__joint_task *task, size_t from, size_t count)
{
    const broad__residual *residual = task->residual;
    double *rest = broad__alloc_doubles(count, 1), sum = 0;
    if (!rest) return BROAD_NO_MEMORY;
    broad__profile_scope before = broad__profile_phase(BROAD__PHASE_LOO);
    int status = j->dual ? leave_dual(j, residual, rest) : leave_primal(j, residual, rest, from, count);
    broad__profile_leave(before);
    status = broad__watch_check(status);
    *out_least = 1;
    for (size_t i = 0; i < count; i++) {
        double extra = residual->sqrt_segment_weight ? residual->sqrt_segment_weight[j->sample[i]] : 1;
        for (size_t q = i * j->outputs; q < (i + 1) * j->outputs; q++) {
            double miss = (j->sample_y[q] - j->loo_scores[q]) / extra;
            sum += miss * miss;
        }
        if (i >= from) *out_least = fmin(*out_least, rest[i] * extra * extra);
    }
    j->loo = sqrt(sum);
    broad__free(rest);
    return status;
}

/* Rows whose scores the search for lambda has left: with the same W they are what they would be now. */
static size_t scored_rows(const broad__joint *j)
{
    int same = j->searched_w && memcmp(j->w, j->searched_w, j->columns * j->outputs * sizeof(double)) == 0;
    return same ? j->search_count : 0;
}

int broad__joint_leave_out(broad__joint *j, const broad__joint_task *task)
{
    const double *root = task->residual->sqrt_weight;
    double least = 1;
    int status = take_sample(j, task);
    if (status == BROAD_OK) status = leave_each(&least, j, task, scored_rows(j), j->sample_count);
    for (size_t i = 0; status == BROAD_OK && root && i < j->sample_count; i++) {
        for (size_t q = 0; q < j->outputs; q++) j->loo_scores[i * j->outputs + q] /= root[j->sample[i]];
        broad__spill_done(task->residual->spill, root + j->sample[i], sizeof *root);
    }
    return status;
}

/* ---- the best lambda ------------------------------------------------------------------------------------------- */

typedef struct lambda_search {
    broad__joint *joint;
    const broad__joint_task *task;
    double unit;  /* mean eigenvalue of A'A, of those that are not zero for want of rows */
    double start; /* exponent */
    double best, loo;
    double *scores; /* of the best; NULL: not kept */
    double *w;      /* and W, unless nothing but the scores is wanted */
} lambda_search;

/* Leave-one-out norm of one lambda; INFINITY where Cholesky breaks down, as it does where lambda is lost in rounding.
 * */
static int try_exponent(double *out, lambda_search *s, double exponent)
{
    broad__joint *j = s->joint;
    int broken = 0;
    if (isfinite(s->loo)) broad__joint_spare(j, s->unit * pow(10, s->best));
    j->lambda = s->unit * pow(10, exponent);
    int status = broad__joint_weights_plain(&broken, j, s->task);
    *out = INFINITY;
    if (status || broken) return status;
    double least = 1;
    if (status == BROAD_OK) status = leave_each(&least, j, s->task, 0, j->search_count);
    if (status) return status;
    *out = isfinite(j->loo) && least > REST_MIN ? j->loo : INFINITY;
    if (*out < s->loo) {
        s->loo = *out;
        s->best = exponent;
        if (s->scores) memcpy(s->scores, j->loo_scores, j->search_count * j->outputs * sizeof(double));
        if (s->w) memcpy(s->w, j->w, j->columns * j->outputs * sizeof(double));
    }
    return BROAD_OK;
}

/* Ends after so many steps without a gain, and after one that gains less than `least`, a part of the norm. */
static int walk(lambda_search *s, double step, int patience, double least)
{
    int worse = 0, status = BROAD_OK;
    for (int i = 1; status == BROAD_OK && worse < patience; i++) {
        double e = s->start + i * step;
        if (e < EXPONENT_MIN || e > EXPONENT_MAX) break;
        double before = s->loo, value = 0;
        status = try_exponent(&value, s, e);
        worse = value < before ? 0 : worse + 1;
        if (value < before && value > (1 - least) * before) break;
        if (value == INFINITY && step < 0) break; /* smaller ones are lost in rounding too */
    }
    return status;
}

/* A large problem, near the exponent of a similar one: whether half a step below is better, and if so further down. More
 * rows and nodes warrant a smaller lambda, not a larger one, unless half a step below is much worse. Where its factor cannot
 * be kept, the start comes last: it is there then when it is chosen, as it mostly is. */
static int search_below(lambda_search *s)
{
    double value = 0, below = 0, middle = s->start;
    int status = s->joint->spare ? try_exponent(&value, s, middle) : BROAD_OK;
    if (status == BROAD_OK && middle - 0.5 >= EXPONENT_MIN) status = try_exponent(&below, s, middle - 0.5);
    if (status == BROAD_OK && !s->joint->spare) status = try_exponent(&value, s, middle);
    if (status) return status;
    if (s->best == middle) return below > STEEP_LARGE * value ? walk(s, 0.5, 1, GAIN_LARGE) : BROAD_OK;
    s->start = middle - 0.5;
    return walk(s, -0.5, 1, GAIN_LARGE);
}

/* A problem like which there was none: whole steps, across one bad one, then half. */
static int search_widely(lambda_search *s)
{
    double value = 0, middle;
    s->start = EXPONENT_START;
    int status = try_exponent(&value, s, s->start);
    if (status == BROAD_OK) status = walk(s, -1, 2, 0);
    if (status == BROAD_OK) status = walk(s, 1, 2, 0);
    middle = s->best;
    if (status == BROAD_OK) status = try_exponent(&value, s, middle - 0.5);
    return status == BROAD_OK ? try_exponent(&value, s, middle + 0.5) : status;
}

/* Whether the first lambda leaves so much that the others are not worth trying. With fewer rows than columns one lambda says
 * little of another. */
static int is_hopeless(const lambda_search *s, double value)
{
    double most = s->task->hopeless;
    return most > 0 && !s->joint->dual && isfinite(value) && value * value > most * (double)s->joint->search_count;
}

/* Near the exponent of a similar problem: half steps until the first that is worse. */
static int search_nearby(lambda_search *s)
{
    double value = 0;
    int status = try_exponent(&value, s, s->start);
    if (status < 0) return status;
    s->joint->given_up = is_hopeless(s, value);
    if (!s->joint->given_up) status = walk(s, -0.5, 1, 0);
    if (s->joint->given_up) return status;
    return status == BROAD_OK && !(s->best < s->start) ? walk(s, 0.5, 1, 0) : status;
}

static int search_exponent(lambda_search *s, int near)
{
    int large = broad__joint_size(s->joint) >= LARGE;
    if (!near) return search_widely(s);
    if (!large) return search_nearby(s);
    int status = search_below(s);
    return status == BROAD_OK && s->loo == INFINITY ? search_widely(s) : status;
}

/* Whether they are all that is wanted, and the search computes them for all rows of the sample. */
static int scores_suffice(const lambda_search *s)
{
    const broad__joint *j = s->joint;
    return s->task->scores_alone && j->search_count == j->sample_count && !s->task->residual->sqrt_weight;
}

static int keep_scores(lambda_search *s)
{
    const broad__joint *j = s->joint;
    int suffice = scores_suffice(s);
    if (!suffice && (j->dual || !s->task->loo)) return BROAD_OK;
    s->scores = broad__alloc_doubles(j->search_count, j->outputs);
    if (!suffice) s->w = broad__alloc_doubles(j->columns, j->outputs);
    return s->scores && (suffice || s->w) ? BROAD_OK : BROAD_NO_MEMORY;
}

/* The fit owns w from now on. */
static void take_scores(lambda_search *s)
{
    broad__joint *j = s->joint;
    if (!s->scores || !isfinite(s->loo) || j->given_up) return;
    memcpy(j->loo_scores, s->scores, j->search_count * j->outputs * sizeof(double));
    j->loo = s->loo;
    j->scored = !s->w;
    j->searched_w = s->w;
    s->w = NULL;
}

int broad__joint_choose(broad__joint *j, const broad__joint_task *task)
{
    lambda_search s = {.joint = j, .task = task, .start = EXPONENT_START, .best = EXPONENT_MAX, .loo = INFINITY};
    double hint = task->exponent ? *task->exponent : 0;
    /* Where the largest was best, nothing was found that is worth a smaller one: more nodes may. */
    int near = hint != 0 && hint >= EXPONENT_MIN && hint < EXPONENT_MAX;
    size_t n = broad__joint_size(j), rank = j->rows < j->columns ? j->rows : j->columns;
    if (near) s.start = hint;
    for (size_t i = 0; i < n; i++) {
        double extra = j->dual && task->residual->sqrt_segment_weight ? task->residual->sqrt_segment_weight[i] : 1;
        s.unit += j->diagonal[i] / (extra * extra) / (double)rank;
    }
    if (!(s.unit > 0) || !isfinite(s.unit)) s.unit = 1;
    int status = take_sample(j, task);
    broad__free(j->w);
    j->w = broad__alloc_doubles(j->columns, j->outputs);
    if (status == BROAD_OK && !j->w) status = BROAD_NO_MEMORY;
    if (status == BROAD_OK) status = keep_scores(&s);
    if (status == BROAD_OK) status = search_exponent(&s, near);
    if (status == BROAD_OK) take_scores(&s);
    broad__free(s.scores);
    broad__free(s.w);
    j->lambda = s.unit * pow(10, s.best);
    if (task->exponent) *task->exponent = broad__joint_exponent(s.best);
    return status;
}
