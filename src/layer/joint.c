#include "layer/joint.h"

#include <string.h>

#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "base/watch.h"
#include "layer/joint_loo.h"
#include "layer/joint_solve.h"
#include "layer/joint_sums.h"

/* An update by more than a sixth of n costs more than a new factor. */
enum { UPDATE_SHARE = 6 };

void broad__joint_clear(broad__joint *j)
{
    broad__free(j->matrix);
    broad__free(j->diagonal);
    broad__free(j->cross);
    broad__free(j->a);
    broad__free(j->w);
    broad__free(j->spare);
    broad__joint_forget_sample(j);
    broad__spd_clear(&j->spd);
    memset(j, 0, sizeof *j);
    j->factored = -1;
}

size_t broad__joint_size(const broad__joint *j) { return j->dual ? j->rows : j->columns; }

/* ---- R, brought up to date ------------------------------------------------------------------------------------- */

/* Further rows and columns of M and R, zero. */
static int grow_matrix(broad__joint *j, size_t old, size_t n)
{
    double *matrix = broad__alloc_doubles(n, n), *diagonal = broad__alloc_doubles(n, 1);
    if (!matrix || !diagonal) {
        broad__free(matrix);
        broad__free(diagonal);
        return BROAD_NO_MEMORY;
    }
    for (size_t i = 0; i < old; i++) memcpy(matrix + i * n, j->matrix + i * old, old * sizeof(double));
    if (old) memcpy(diagonal, j->diagonal, old * sizeof(double));
    broad__free(j->matrix);
    broad__free(j->diagonal);
    j->matrix = matrix;
    j->diagonal = diagonal;
    return BROAD_OK;
}

/* M has further rows and columns: so gets R. */
static int border(broad__joint *j, const broad__joint_task *task, size_t old)
{
    int broken = 0;
    if (j->factored < 0 || j->spectral) return BROAD_OK;
    j->updates++;
    return broad__joint_border(&broken, j, task, old);
}

/* R'R += b'b; b: k x n, used up. */
static int update(broad__joint *j, const broad__residual *residual, double *b, size_t k)
{
    j->updates++;
    return residual->device->update(j->matrix, broad__joint_size(j), b, k);
}

static int worth_an_update(const broad__joint *j, size_t k)
{
    return j->factored >= 0 && !j->spectral && k * UPDATE_SHARE <= broad__joint_size(j);
}

/* ---- M, brought up to date ------------------------------------------------------------------------------------- */

static int add_columns(broad__joint *j, const broad__joint_task *task, size_t columns)
{
    size_t old = j->columns;
    int status = grow_matrix(j, old, columns);
    double *cross = status == BROAD_OK ? broad__alloc_doubles(columns, j->outputs) : NULL;
    if (!cross) return status < 0 ? status : BROAD_NO_MEMORY;
    if (j->cross) memcpy(cross, j->cross, old * j->outputs * sizeof(double));
    broad__free(j->cross);
    j->cross = cross;
    j->columns = columns;
    status = j->rows ? broad__joint_add(j, task, 0, j->rows, old) : BROAD_OK;
    return status == BROAD_OK && j->rows ? border(j, task, old) : status;
}

static int add_rows(broad__joint *j, const broad__joint_task *task)
{
    size_t old = j->rows, end = task->residual->rows;
    int status = broad__joint_add(j, task, old, end, 0);
    if (status) return status;
    j->rows = end;
    if (!worth_an_update(j, end - old)) {
        j->factored = -1;
        return BROAD_OK;
    }
    double *b = broad__alloc_doubles(end - old, j->columns);
    if (!b) return BROAD_NO_MEMORY;
    broad__joint_fill((broad__joint_filling){task->residual, task->kblocks, task->count, old, end, b, j->columns});
    status = update(j, task->residual, b, end - old);
    broad__free(b);
    return status;
}

/* A with more columns: those of further kblocks. */
static int widen_a(broad__joint *j, const broad__joint_task *task, size_t columns)
{
    size_t old = j->columns;
    double *a = broad__alloc_doubles(j->rows, columns);
    if (!a) return BROAD_NO_MEMORY;
    for (size_t i = 0; j->a && i < j->rows; i++) memcpy(a + i * columns, j->a + i * old, old * sizeof(double));
    broad__free(j->a);
    j->a = a;
    j->columns = columns;
    broad__joint_fill((broad__joint_filling){task->residual, task->kblocks + j->kblocks, task->count - j->kblocks, 0,
                                             j->rows, a + old, columns});
    return BROAD_OK;
}

static int add_columns_dual(broad__joint *j, const broad__joint_task *task, size_t columns)
{
    size_t old = j->columns, q = columns - old, n = j->rows;
    int status = widen_a(j, task, columns);
    if (status < 0 || n == 0) return status;
    status = broad__joint_add_dual(j, task, old, 0);
    if (status) return status;
    if (!worth_an_update(j, q)) {
        j->factored = -1;
        return BROAD_OK;
    }
    double *b = broad__alloc_doubles(q, n);
    if (!b) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < q; i++)
        for (size_t k = 0; k < n; k++) b[i * n + k] = j->a[k * columns + old + i];
    status = update(j, task->residual, b, q);
    broad__free(b);
    return status;
}

static int add_rows_dual(broad__joint *j, const broad__joint_task *task)
{
    size_t old = j->rows, end = task->residual->rows, p = j->columns;
    double *a = broad__alloc_doubles(end, p);
    if (!a) return BROAD_NO_MEMORY;
    if (j->a) memcpy(a, j->a, old * p * sizeof(double));
    broad__free(j->a);
    j->a = a;
    broad__joint_fill((broad__joint_filling){task->residual, task->kblocks, task->count, old, end, a + old * p, p});
    int status = grow_matrix(j, old, end);
    if (status < 0) return status;
    j->rows = end;
    status = broad__joint_add_dual(j, task, 0, old);
    return status == BROAD_OK && old ? border(j, task, old) : status;
}

static int bring_up_to_date(broad__joint *j, const broad__joint_task *task)
{
    size_t columns = broad__kblocks_width(task->kblocks, task->count), rows = task->residual->rows;
    int dual = rows < columns;
    int status = broad__rows_ready(task->residual, broad__residual_step(task->residual, columns));
    if (status == BROAD_OK && dual) status = broad__residual_undivide(task->residual); /* every rank has all of A */
    if (status < 0) return status;
    if (dual != j->dual || j->rows == 0) broad__joint_clear(j);
    j->dual = dual;
    j->outputs = task->residual->outputs;
    if (rows != j->rows || columns != j->columns) {
        broad__joint_forget_sample(j);
        broad__joint_spare_nothing(j);
        if (j->spectral || task->lambda_auto) j->factored = -1; /* a search will try others */
        j->spectral = 0;
    }
    if (columns > j->columns) status = dual ? add_columns_dual(j, task, columns) : add_columns(j, task, columns);
    j->kblocks = task->count;
    if (status == BROAD_OK && rows > j->rows) status = dual ? add_rows_dual(j, task) : add_rows(j, task);
    return status;
}

int broad__joint_adopt(broad__joint *j, broad__residual *residual)
{
    size_t p = residual->candidate.width;
    broad__joint_clear(j);
    if (residual->candidate.dual) return BROAD_OK;
    double *cross = broad__alloc_doubles(p, residual->outputs), *diagonal = broad__alloc_doubles(p, 1);
    if (!cross || !diagonal) {
        broad__free(cross);
        broad__free(diagonal);
        return BROAD_NO_MEMORY;
    }
    memcpy(cross, residual->candidate.cross, p * residual->outputs * sizeof(double));
    j->matrix = broad__candidate_take_matrix(&residual->candidate);
    for (size_t i = 0; i < p; i++) diagonal[i] = j->matrix[i * p + i];
    j->diagonal = diagonal;
    j->cross = cross;
    j->rows = residual->rows;
    j->columns = p;
    j->kblocks = 1;
    j->outputs = residual->outputs;
    return BROAD_OK;
}

void broad__joint_adopt_factor(broad__joint *j, broad__spd *spd)
{
    broad__joint_spare_nothing(j);
    if (j->dual || spd->spectral || !spd->factor || spd->n != j->columns) return;
    j->spare = spd->factor;
    j->spared = spd->lambda;
    spd->factor = NULL;
    spd->factor_capacity = 0;
}

/* W and, if wanted, the scores; for scores alone W need not be refined, unless Cholesky breaks down. */
static int finish(broad__joint *j, const broad__joint_task *task)
{
    int status = BROAD_OK, broken = 1;
    if (task->scores_alone && task->lambda_auto) status = broad__joint_weights_plain(&broken, j, task);
    if (status == BROAD_OK && broken) status = broad__joint_weights(j, task);
    return status == BROAD_OK && task->loo ? broad__joint_leave_out(j, task) : status;
}

int broad__joint_fit(broad__joint *j, const broad__joint_task *task)
{
    broad__profile_scope before = broad__profile_phase(BROAD__PHASE_JOINT);
    int status = bring_up_to_date(j, task);
    j->lambda = task->lambda;
    j->scored = j->given_up = j->left = 0;
    if (status == BROAD_OK && task->lambda_auto) status = broad__joint_choose(j, task);
    if (status == BROAD_OK && !task->lambda_auto && j->spectral) j->spectral = 0, j->factored = -1;
    if (status == BROAD_OK && !j->scored && !j->given_up) status = finish(j, task);
    broad__joint_spare_nothing(j);
    broad__joint_forget_searched(j);
    j->left = !task->scores_alone && !j->given_up && !task->residual->at->memory;
    status = broad__watch_check(status);
    if (status) broad__joint_clear(j);
    broad__profile_leave(before);
    return status;
}
