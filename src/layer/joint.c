#include "layer/joint.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "compute/shards.h"
#include "layer/cholesky.h"
#include "layer/joint_work.h"

enum {
    TILE = 256,       /* of M, for one thread */
    TILE_LARGE = 512, /* where M is large enough for these to be many */
    UPDATE_SHARE = 6, /* an update by more than a sixth of n costs more than a new factor */
    REFINEMENTS = 4
};
/* A correction of this relative size leaves an error of about its square. */
static const double SETTLED = 1e-6;
/* One above this says that R is no longer the factor of M + lambda I. */
static const double DRIFTED = 1e-3;
/* And one above this that Cholesky has nothing to offer here. */
static const double LOST = 0.25;

void broad__joint_clear(broad__joint *j)
{
    broad__free(j->m);
    broad__free(j->cross);
    broad__free(j->a);
    broad__free(j->r);
    broad__free(j->w);
    broad__joint_forget_sample(j);
    broad__system_clear(&j->system);
    memset(j, 0, sizeof *j);
    j->factored = -1;
}

size_t broad__joint_size(const broad__joint *j) { return j->dual ? j->rows : j->columns; }

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static int watch(const broad__joint_task *task, double part)
{
    return task->watch && task->watch(task->context, part) ? 1 : 0;
}

/* ---- A --------------------------------------------------------------------------------------------------------- */

typedef struct filling {
    const broad__rows *rows;
    const broad__piece *pieces;
    size_t count;
    double *out;
    size_t stride, first, end;
} filling;

static void fill_block(void *context, size_t index, size_t worker)
{
    const filling *f = context;
    size_t row = index * BROAD__BLOCK_ROWS, n = least(BROAD__BLOCK_ROWS, f->end - f->first - row);
    broad__rows_pieces(f->out + row * f->stride, f->stride, f->rows, f->pieces, f->count, f->first + row, n, worker);
}

void broad__joint_fill(double *out, size_t stride, const broad__rows *rows, const broad__piece *pieces, size_t count,
                       size_t first, size_t end)
{
    filling f = {rows, pieces, count, out, stride, first, end};
    broad__pool_run(rows->pool, (end - first + BROAD__BLOCK_ROWS - 1) / BROAD__BLOCK_ROWS, fill_block, &f);
}

/* ---- M --------------------------------------------------------------------------------------------------------- */

typedef struct tile {
    size_t row, high, column, wide;
} tile;

/* What is added to M: over the columns from `from` on of its upper triangle, tile by tile. */
typedef struct addition {
    broad__joint *joint;
    const broad__device *device;
    const double *k; /* rows of A, or columns of it in the dual form */
    size_t stride, count;
    const double *y;
    tile *tiles;
} addition;

static size_t list_tiles(tile *out, size_t from, size_t n, size_t side)
{
    size_t count = 0;
    for (size_t c = from; c < n; c += side) {
        size_t wide = least(side, n - c);
        for (size_t r = 0; r < from; r += side) out[count++] = (tile){r, least(side, from - r), c, wide};
        for (size_t r = from; r <= c; r += side) out[count++] = (tile){r, least(side, n - r), c, wide};
    }
    return count;
}

static void add_tile(void *context, size_t index, size_t worker)
{
    (void)worker;
    const addition *add = context;
    const tile *t = &add->tiles[index];
    size_t n = broad__joint_size(add->joint), stride = add->stride;
    double *out = add->joint->m + t->row * n + t->column;
    if (add->joint->dual)
        add->device->outer(out, n, add->k + t->row * stride, stride, t->high, add->k + t->column * stride, stride,
                           t->wide, add->count);
    else add->device->cross(out, n, add->k + t->row, stride, t->high, add->k + t->column, stride, t->wide, add->count);
}

/* A'Y, columns shared out. */
static void add_cross(void *context, size_t index, size_t worker)
{
    (void)worker;
    const addition *add = context;
    size_t c = add->joint->outputs, at = add->tiles[index].column, wide = add->tiles[index].wide;
    add->device->cross(add->joint->cross + at * c, c, add->k + at, add->stride, wide, add->y, c, c, add->count);
}

static int run_tiles(addition *add, broad__pool *pool, size_t from)
{
    size_t n = broad__joint_size(add->joint), side = n > 8 * TILE_LARGE ? TILE_LARGE : TILE;
    size_t across = (n + side - 1) / side + 1;
    add->tiles = broad__alloc_array(across * across, sizeof *add->tiles);
    if (!add->tiles) return BROAD_NO_MEMORY;
    broad__pool_run(pool, list_tiles(add->tiles, from, n, side), add_tile, add);
    if (!add->joint->dual) {
        size_t count = 0;
        for (size_t c = from; c < n; c += side) add->tiles[count++] = (tile){0, 0, c, least(side, n - c)};
        broad__pool_run(pool, count, add_cross, add);
    }
    broad__free(add->tiles);
    return BROAD_OK;
}

/* M and A'Y over some rows, panel by panel; columns before `from` have been there already. */
static int accumulate(broad__joint *j, const broad__joint_task *task, size_t first, size_t end, size_t from)
{
    const broad__rows *rows = task->rows;
    double *panel = broad__alloc_doubles(least(BROAD__PANEL_ROWS, end - first), j->columns);
    int status = panel ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t i = first; status == BROAD_OK && i < end; i += BROAD__PANEL_ROWS) {
        size_t stop = least(i + BROAD__PANEL_ROWS, end);
        broad__joint_fill(panel, j->columns, rows, task->pieces, task->count, i, stop);
        addition add = {j, rows->device, panel, j->columns, stop - i, task->y + i * j->outputs, NULL};
        status = run_tiles(&add, rows->pool, from);
        if (status == BROAD_OK) status = watch(task, 0.8 * (double)(stop - first) / (double)(end - first));
    }
    broad__free(panel);
    return status;
}

/* ---- R --------------------------------------------------------------------------------------------------------- */

/* The upper left old x old corner of a larger matrix. */
static double *enlarge(const double *matrix, size_t old, size_t n)
{
    double *large = broad__alloc_doubles(n, n);
    for (size_t i = 0; large && matrix && i < old; i++) memcpy(large + i * n, matrix + i * old, old * sizeof(double));
    return large;
}

static int grow_m(broad__joint *j, size_t old, size_t n)
{
    double *m = enlarge(j->m, old, n), *r = j->factored >= 0 ? enlarge(j->r, old, n) : NULL;
    if (!m || (j->factored >= 0 && !r)) {
        broad__free(m);
        broad__free(r);
        return BROAD_NO_MEMORY;
    }
    broad__free(j->m);
    broad__free(j->r);
    j->m = m;
    j->r = r;
    return BROAD_OK;
}

/* R22 from R12', which is q x old; *out_pivot as for a Cholesky factor. */
static int border_corner(size_t *out_pivot, broad__joint *j, const broad__rows *rows, const double *turned, size_t old)
{
    size_t n = broad__joint_size(j), q = n - old;
    double *corner = broad__alloc_doubles(q, q);
    if (!corner) return BROAD_NO_MEMORY;
    rows->device->outer(corner, q, turned, old, q, turned, old, q, old);
    for (size_t i = 0; i < q; i++)
        for (size_t k = i; k < q; k++)
            corner[i * q + k] = j->m[(old + i) * n + old + k] + (i == k ? j->factored : 0) - corner[i * q + k];
    int status = broad__cholesky(out_pivot, corner, q, rows->device, rows->pool);
    for (size_t i = 0; status == BROAD_OK && i < q; i++)
        memcpy(j->r + (old + i) * n + old + i, corner + i * q + i, (q - i) * sizeof(double));
    broad__free(corner);
    return status;
}

/* M has got further rows and columns: so does R. */
static int border(broad__joint *j, const broad__rows *rows, size_t old)
{
    size_t n = broad__joint_size(j), q = n - old, pivot = 0;
    if (j->factored < 0 || j->spectral) return BROAD_OK;
    double *turned = broad__alloc_doubles(q, old), *first = broad__alloc_doubles(old, old);
    int status = turned && first ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        for (size_t i = 0; i < old; i++) memcpy(first + i * old, j->r + i * n, old * sizeof(double));
        for (size_t i = 0; i < q; i++)
            for (size_t k = 0; k < old; k++) turned[i * old + k] = j->m[k * n + old + i];
        broad__whiten_rows(turned, q, first, old, rows->device, rows->pool);
        for (size_t i = 0; i < q; i++)
            for (size_t k = 0; k < old; k++) j->r[k * n + old + i] = turned[i * old + k];
        status = border_corner(&pivot, j, rows, turned, old);
    }
    j->updates++;
    if (pivot) j->factored = -1;
    broad__free(turned);
    broad__free(first);
    return status;
}

/* R'R += b'b; b: k x n, used up. */
static int update(broad__joint *j, const broad__rows *rows, double *b, size_t k)
{
    j->updates++;
    return rows->device->update(j->r, broad__joint_size(j), b, k);
}

static int worth_an_update(const broad__joint *j, size_t k)
{
    return j->factored >= 0 && !j->spectral && k * UPDATE_SHARE <= broad__joint_size(j);
}

/* ---- bringing M and R up to date ------------------------------------------------------------------------------- */

static int add_columns(broad__joint *j, const broad__joint_task *task, size_t columns)
{
    size_t old = j->columns;
    int status = grow_m(j, old, columns);
    double *cross = status == BROAD_OK ? broad__alloc_doubles(columns, j->outputs) : NULL;
    if (!cross) return status < 0 ? status : BROAD_NO_MEMORY;
    if (j->cross) memcpy(cross, j->cross, old * j->outputs * sizeof(double));
    broad__free(j->cross);
    j->cross = cross;
    j->columns = columns;
    status = j->rows ? accumulate(j, task, 0, j->rows, old) : BROAD_OK;
    return status == BROAD_OK && j->rows ? border(j, task->rows, old) : status;
}

static int add_rows(broad__joint *j, const broad__joint_task *task)
{
    size_t old = j->rows, end = task->rows->rows;
    int status = accumulate(j, task, old, end, 0);
    if (status) return status;
    j->rows = end;
    if (!worth_an_update(j, end - old)) {
        j->factored = -1;
        return BROAD_OK;
    }
    double *b = broad__alloc_doubles(end - old, j->columns);
    if (!b) return BROAD_NO_MEMORY;
    broad__joint_fill(b, j->columns, task->rows, task->pieces, task->count, old, end);
    status = update(j, task->rows, b, end - old);
    broad__free(b);
    return status;
}

/* A with more columns: those of further pieces. */
static int widen_a(broad__joint *j, const broad__joint_task *task, size_t columns)
{
    size_t old = j->columns;
    double *a = broad__alloc_doubles(j->rows, columns);
    if (!a) return BROAD_NO_MEMORY;
    for (size_t i = 0; j->a && i < j->rows; i++) memcpy(a + i * columns, j->a + i * old, old * sizeof(double));
    broad__free(j->a);
    j->a = a;
    j->columns = columns;
    broad__joint_fill(a + old, columns, task->rows, task->pieces + j->pieces, task->count - j->pieces, 0, j->rows);
    return BROAD_OK;
}

static int add_columns_dual(broad__joint *j, const broad__joint_task *task, size_t columns)
{
    size_t old = j->columns, q = columns - old, n = j->rows;
    int status = widen_a(j, task, columns);
    if (status < 0 || n == 0) return status;
    addition add = {j, task->rows->device, j->a + old, columns, q, NULL, NULL};
    status = run_tiles(&add, task->rows->pool, 0);
    if (status < 0) return status;
    if (!worth_an_update(j, q)) {
        j->factored = -1;
        return BROAD_OK;
    }
    double *b = broad__alloc_doubles(q, n);
    if (!b) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < q; i++)
        for (size_t k = 0; k < n; k++) b[i * n + k] = j->a[k * columns + old + i];
    status = update(j, task->rows, b, q);
    broad__free(b);
    return status;
}

static int add_rows_dual(broad__joint *j, const broad__joint_task *task)
{
    size_t old = j->rows, end = task->rows->rows, p = j->columns;
    double *a = broad__alloc_doubles(end, p);
    if (!a) return BROAD_NO_MEMORY;
    if (j->a) memcpy(a, j->a, old * p * sizeof(double));
    broad__free(j->a);
    j->a = a;
    broad__joint_fill(a + old * p, p, task->rows, task->pieces, task->count, old, end);
    int status = grow_m(j, old, end);
    if (status < 0) return status;
    j->rows = end;
    addition add = {j, task->rows->device, a, p, p, NULL, NULL};
    status = run_tiles(&add, task->rows->pool, old);
    return status == BROAD_OK && old ? border(j, task->rows, old) : status;
}

static int bring_up_to_date(broad__joint *j, const broad__joint_task *task)
{
    size_t columns = 0, rows = task->rows->rows;
    for (size_t i = 0; i < task->count; i++) columns += broad__piece_width(&task->pieces[i]);
    int dual = rows < columns, status = broad__rows_ready(task->rows);
    if (status < 0) return status;
    if (dual != j->dual || j->rows == 0) broad__joint_clear(j);
    j->dual = dual;
    j->outputs = task->rows->outputs;
    if (rows != j->rows || columns != j->columns) {
        broad__joint_forget_sample(j);
        if (j->spectral) j->factored = -1;
        j->spectral = 0;
    }
    if (columns > j->columns) status = dual ? add_columns_dual(j, task, columns) : add_columns(j, task, columns);
    j->pieces = task->count;
    if (status == BROAD_OK && rows > j->rows) status = dual ? add_rows_dual(j, task) : add_rows(j, task);
    return status;
}

int broad__joint_adopt(broad__joint *j, const broad__rows *rows)
{
    size_t p = rows->width;
    broad__joint_clear(j);
    if (rows->dual) return BROAD_OK;
    double *m = enlarge(rows->matrix, p, p), *cross = broad__alloc_doubles(p, rows->outputs);
    if (!m || !cross) {
        broad__free(m);
        broad__free(cross);
        return BROAD_NO_MEMORY;
    }
    memcpy(cross, rows->cross, p * rows->outputs * sizeof(double));
    j->m = m;
    j->cross = cross;
    j->rows = rows->rows;
    j->columns = p;
    j->pieces = 1;
    j->outputs = rows->outputs;
    return BROAD_OK;
}

/* ---- solving --------------------------------------------------------------------------------------------------- */

int broad__joint_factor(int *out_broken, broad__joint *j, const broad__rows *rows, double lambda, int spectral)
{
    size_t n = broad__joint_size(j), pivot = 0;
    *out_broken = 0;
    if (j->factored == lambda && j->spectral == spectral) return BROAD_OK;
    j->factored = -1;
    j->spectral = spectral;
    j->factors++;
    if (spectral) {
        int status = broad__system_factor(&j->system, rows->device, j->m, n, lambda, 1);
        if (status == BROAD_OK) j->factored = lambda;
        return status;
    }
    if (!j->r) j->r = broad__alloc_doubles(n, n);
    if (!j->r) return BROAD_NO_MEMORY;
    memcpy(j->r, j->m, n * n * sizeof(double));
    for (size_t i = 0; i < n; i++) j->r[i * n + i] += lambda;
    int status = broad__cholesky(&pivot, j->r, n, rows->device, rows->pool);
    *out_broken = pivot != 0;
    if (status == BROAD_OK && !pivot) j->factored = lambda;
    return status;
}

int broad__joint_solve(double *b, broad__joint *j, const broad__rows *rows)
{
    if (j->spectral) return broad__system_solve(b, j->outputs, &j->system);
    rows->device->solve(b, j->outputs, j->r, broad__joint_size(j));
    return BROAD_OK;
}

static double length(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i] * values[i];
    return sqrt(sum);
}

typedef struct residual {
    broad__joint *joint;
    const broad__joint_task *task;
    double *blocks; /* BROAD__BLOCK_ROWS x columns for each worker; not in the dual form */
} residual;

/* next = Y - A W; sums: A'next, then ||next||^2 */
static void residual_shard(void *context, size_t first, size_t end, double *sums, size_t worker)
{
    const residual *r = context;
    const broad__joint *j = r->joint;
    broad__rows *rows = r->task->rows;
    size_t p = j->columns, c = j->outputs;
    for (size_t i = first; i < end; i += BROAD__BLOCK_ROWS) {
        size_t n = least(BROAD__BLOCK_ROWS, end - i);
        double *block = j->dual ? j->a + i * p : r->blocks + worker * BROAD__BLOCK_ROWS * p, *next = rows->next + i * c;
        if (!j->dual) broad__rows_pieces(block, p, rows, r->task->pieces, r->task->count, i, n, worker);
        memcpy(next, r->task->y + i * c, n * c * sizeof(double));
        rows->device->apply(next, c, -1.0, block, p, n, j->w, c, p, c);
        rows->device->cross(sums, c, block, p, p, next, c, c, n);
        for (size_t k = 0; k < n * c; k++) sums[p * c] += next[k] * next[k];
    }
}

/* rows->next and the norm; gradient: A'next, columns x outputs. */
static int residual_pass(double *gradient, residual *r)
{
    broad__joint *j = r->joint;
    double *sums = NULL;
    int status = broad__rows_sum(&sums, r->task->rows, j->columns * j->outputs + 1, residual_shard, r);
    if (status < 0) return status;
    memcpy(gradient, sums, j->columns * j->outputs * sizeof(double));
    j->norm = sqrt(sums[j->columns * j->outputs]);
    return BROAD_OK;
}

/* The solution and how it is improved; `step` holds alpha in the dual form, where W = A'alpha. */
typedef struct solution {
    residual residual;
    double *gradient, *step, *alpha;
    size_t count; /* numbers of W, or of alpha */
} solution;

static void weights_from_alpha(solution *s)
{
    broad__joint *j = s->residual.joint;
    const broad__rows *rows = s->residual.task->rows;
    memset(j->w, 0, j->columns * j->outputs * sizeof(double));
    rows->device->cross(j->w, j->outputs, j->a, j->columns, j->columns, s->alpha, j->outputs, j->outputs, j->rows);
}

static int solve_first(solution *s)
{
    broad__joint *j = s->residual.joint;
    double *x = j->dual ? s->alpha : j->w;
    memcpy(x, j->dual ? s->residual.task->y : j->cross, s->count * sizeof(double));
    int status = broad__joint_solve(x, j, s->residual.task->rows);
    if (status == BROAD_OK && j->dual) weights_from_alpha(s);
    return status;
}

/* One step of iterative refinement with the residual of the rows. *out_size: how large it is against the solution. */
static int refine(double *out_size, solution *s)
{
    broad__joint *j = s->residual.joint;
    double *x = j->dual ? s->alpha : j->w;
    const double *right = j->dual ? s->residual.task->rows->next : s->gradient;
    for (size_t i = 0; i < s->count; i++) s->step[i] = right[i] - j->lambda * x[i];
    int status = broad__joint_solve(s->step, j, s->residual.task->rows);
    if (status < 0) return status;
    double whole = length(x, s->count);
    *out_size = whole > 0 ? length(s->step, s->count) / whole : 0;
    if (!(*out_size <= LOST)) return BROAD_OK;
    for (size_t i = 0; i < s->count; i++) x[i] += s->step[i];
    if (j->dual) weights_from_alpha(s);
    return residual_pass(s->gradient, &s->residual);
}

/* Solves with the factor at hand; *out_first: size of the first correction. */
static int solve_refined(double *out_first, solution *s)
{
    int status = solve_first(s);
    if (status == BROAD_OK) status = residual_pass(s->gradient, &s->residual);
    double size = 0;
    for (size_t i = 0; status == BROAD_OK && i < REFINEMENTS; i++) {
        double before = size;
        status = refine(&size, s);
        if (i == 0) *out_first = size;
        if (size <= SETTLED || (i && size > before / 2)) break;
    }
    return status;
}

/* With R as it is; where that will not do with one from M; and where that will not do with the eigendecomposition. */
static int solve_well(solution *s)
{
    broad__joint *j = s->residual.joint;
    const broad__rows *rows = s->residual.task->rows;
    int broken = 0;
    size_t made = j->factors;
    double first = 0;
    int status = broad__joint_factor(&broken, j, rows, j->lambda, j->spectral);
    if (status == BROAD_OK && !broken) status = solve_refined(&first, s);
    if (status == BROAD_OK && !broken && !j->spectral && first > DRIFTED && j->factors == made) {
        j->factored = -1;
        status = broad__joint_factor(&broken, j, rows, j->lambda, 0);
        if (status == BROAD_OK && !broken) status = solve_refined(&first, s);
    }
    if (status < 0 || (!broken && (j->spectral || first <= LOST))) return status;
    status = broad__joint_factor(&broken, j, rows, j->lambda, 1);
    return status == BROAD_OK ? solve_refined(&first, s) : status;
}

static int solve_all(broad__joint *j, const broad__joint_task *task)
{
    const broad__rows *rows = task->rows;
    solution s = {.residual = {j, task, NULL}, .count = (j->dual ? j->rows : j->columns) * j->outputs};
    broad__free(j->w);
    j->w = broad__alloc_doubles(j->columns, j->outputs);
    s.gradient = broad__alloc_doubles(j->columns, j->outputs);
    s.step = broad__alloc_doubles(s.count, 1);
    s.alpha = j->dual ? broad__alloc_doubles(s.count, 1) : NULL;
    if (!j->dual)
        s.residual.blocks = broad__alloc_doubles(broad__pool_threads(rows->pool) * BROAD__BLOCK_ROWS, j->columns);
    int status = j->w && s.gradient && s.step && (j->dual ? s.alpha : s.residual.blocks) ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) status = solve_well(&s);
    broad__free(s.gradient);
    broad__free(s.step);
    broad__free(s.alpha);
    broad__free(s.residual.blocks);
    return status;
}

int broad__joint_fit(broad__joint *j, const broad__joint_task *task)
{
    int status = bring_up_to_date(j, task);
    j->lambda = task->lambda;
    if (status == BROAD_OK && task->lambda_auto) status = broad__joint_choose(j, task);
    if (status == BROAD_OK && !task->lambda_auto && j->spectral) j->spectral = 0, j->factored = -1;
    if (status == BROAD_OK) status = solve_all(j, task);
    if (status == BROAD_OK && task->loo) status = broad__joint_leave_out(j, task);
    if (status) broad__joint_clear(j);
    return status;
}
