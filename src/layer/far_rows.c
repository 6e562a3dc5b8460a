#include "layer/far_rows.h"

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "comm/comm.h"
#include "compute/shards.h"
#include "layer/residual.h"

/* ---- memory ---------------------------------------------------------------------------------------------------- */

size_t broad__rows_workers(const broad__residual *residual)
{
    return residual->at->memory ? 1 : broad__pool_threads(residual->pool);
}

int broad__rows_alloc(double **out, const broad__residual *residual, size_t rows, size_t width)
{
    const broad__memory *memory = residual->at->memory;
    if (memory) return memory->alloc(out, rows * width);
    *out = broad__alloc_doubles(broad__rows_workers(residual) * rows, width);
    return *out ? BROAD_OK : BROAD_NO_MEMORY;
}

int broad__rows_reserve(double **array, size_t *capacity, const broad__residual *residual, size_t count)
{
    const broad__memory *memory = residual->at->memory;
    if (!memory) return broad__reserve(array, capacity, count);
    if (count <= *capacity) return BROAD_OK;
    memory->free(*array);
    *array = NULL;
    *capacity = 0;
    int status = memory->alloc(array, count);
    if (status == BROAD_OK) *capacity = count;
    return status;
}

void broad__rows_free(const broad__residual *residual, double *array)
{
    if (residual->at && residual->at->memory) residual->at->memory->free(array);
    else broad__free(array);
}

int broad__rows_ready(broad__residual *residual, size_t step)
{
    broad__far_rows *far = &residual->far;
    if (!residual->at->memory) return broad__z_supply_ready(&residual->z, broad__rows_workers(residual));
    if (far->z) return BROAD_OK;
    return broad__rows_reserve(&far->block, &far->block_capacity, residual, step * residual->z.features);
}

/* K is given up before it leaves no room for blocks of it. */
enum { SHARE_OF_K = 2 };

int broad__far_is_full(const broad__residual *residual, size_t width)
{
    const broad__memory *memory = residual->at->memory;
    size_t needed = residual->rows * width;
    if (!memory || needed <= residual->candidate.k_capacity) return 0;
    return needed > (memory->room() + residual->candidate.k_capacity) / SHARE_OF_K;
}

/* ---- ahead ----------------------------------------------------------------------------------------------------- */

/* Columns from which on K'K is computed by itself, and not with K'E in one reading of K. */
enum { WIDE = 256 };

void broad__far_own_rows(size_t *first, size_t *end, const broad__residual *residual)
{
    *first = 0, *end = residual->rows;
    if (residual->divided) broad__comm_own_rows(first, end, residual->rows);
}

void broad__far_forget_ahead(broad__residual *residual)
{
    broad__far_ahead *ahead = &residual->far.ahead;
    broad__rows_free(residual, ahead->k);
    broad__rows_free(residual, ahead->gram);
    *ahead = (broad__far_ahead){0};
}

void broad__far_void_ahead(broad__residual *residual, const double *weight)
{
    if (residual->far.ahead.weight == weight) residual->far.ahead.weight = NULL;
}

int broad__far_is_ahead(const broad__residual *residual, const broad__kblock *kblock)
{
    const broad__far_ahead *ahead = &residual->far.ahead;
    return ahead->weight && ahead->weight == kblock->nodes.weight && ahead->width == broad__kblock_width(kblock);
}

void broad__far_take_ahead(broad__residual *residual)
{
    broad__far_ahead *ahead = &residual->far.ahead;
    broad__candidate *candidate = &residual->candidate;
    double *k = candidate->k;
    size_t capacity = candidate->k_capacity;
    candidate->k = ahead->k, candidate->k_capacity = ahead->k_capacity;
    ahead->k = k, ahead->k_capacity = capacity;
    ahead->weight = NULL;
}

static int reserve_ahead(broad__residual *residual, size_t p)
{
    broad__far_ahead *ahead = &residual->far.ahead;
    size_t gram = p >= WIDE ? p * p : 0, have = ahead->k_capacity + ahead->gram_capacity;
    size_t needed = residual->rows * p + gram;
    if (needed > have && needed - have > residual->at->memory->room() / SHARE_OF_K) return BROAD_NO_MEMORY;
    int status = broad__rows_reserve(&ahead->k, &ahead->k_capacity, residual, residual->rows * p);
    if (status == BROAD_OK && gram) status = broad__rows_reserve(&ahead->gram, &ahead->gram_capacity, residual, gram);
    if (status < 0 || gram) return status;
    broad__rows_free(residual, ahead->gram);
    ahead->gram = NULL;
    ahead->gram_capacity = 0;
    return BROAD_OK;
}

int broad__far_compute_ahead(broad__residual *residual, const broad__kblock *kblock)
{
    const broad__device *at = residual->at;
    broad__far_ahead *ahead = &residual->far.ahead;
    size_t first, end, p = broad__kblock_width(kblock), step = broad__residual_step(residual, p);
    if (!at->memory || ahead->weight || !residual->candidate.stored) return BROAD_OK;
    int status = reserve_ahead(residual, p);
    if (status == BROAD_OK) status = broad__rows_ready(residual, step);
    if (status < 0) { /* it is computed when it is tried */
        broad__far_forget_ahead(residual);
        return status == BROAD_NO_MEMORY ? BROAD_OK : status;
    }
    if (ahead->gram) at->memory->zero(ahead->gram, p * p);
    broad__far_own_rows(&first, &end, residual);
    for (size_t i = first; i < end; i += step) {
        broad__row_block block = broad__residual_block(residual, i, broad__min(end - i, step), 0);
        broad__residual_columns(ahead->k + i * p, p, residual, kblock, 1, &block);
        if (ahead->gram) at->gram(ahead->gram, p, ahead->k + i * p, p, block.n, p);
    }
    ahead->weight = kblock->nodes.weight;
    ahead->width = p;
    return BROAD_OK;
}

/* ---- there ----------------------------------------------------------------------------------------------------- */

/* A copy of an array of the rows; nothing where there is none. */
static int send(double **out, const broad__memory *memory, const double *from, size_t count)
{
    *out = NULL;
    if (!from || !count) return BROAD_OK;
    int status = memory->alloc(out, count);
    if (status == BROAD_OK) memory->put(*out, from, count);
    return status;
}

static void release(const broad__memory *memory, double *arrays[], size_t count)
{
    for (size_t i = 0; i < count; i++) memory->free(arrays[i]);
}

/* The rows are here again. */
static void return_home(broad__residual *residual)
{
    broad__far_rows *far = &residual->far;
    residual->e = far->e;
    residual->next = far->next;
    residual->probes.u = far->u;
    residual->probes.next = far->probe_next;
    residual->at = residual->device;
    *far = (broad__far_rows){.inputs = far->inputs, .make = far->make, .context = far->context};
}

void broad__far_rows_drop(broad__residual *residual)
{
    const broad__memory *memory = residual->at ? residual->at->memory : NULL;
    if (!memory) return;
    broad__far_rows *far = &residual->far;
    broad__candidate_clear(residual);
    broad__far_forget_ahead(residual);
    double *arrays[] = {residual->e, residual->next, residual->probes.u, residual->probes.next, far->z, far->x,
                        far->root,   far->sums,      far->block};
    release(memory, arrays, sizeof arrays / sizeof *arrays);
    return_home(residual);
}

/* E, next, U and what becomes of it, in this order. */
enum { MOVED = 4 };

static int send_arrays(double *moved[MOVED], broad__residual *residual, const broad__memory *memory)
{
    size_t outputs = residual->rows * residual->outputs, probes = residual->rows * residual->probes.count;
    int status = send(&moved[0], memory, residual->e, outputs);
    if (status == BROAD_OK) status = memory->alloc(&moved[1], outputs);
    if (status == BROAD_OK) status = send(&moved[2], memory, residual->probes.u, 2 * probes);
    if (status == BROAD_OK && probes) status = memory->alloc(&moved[3], probes);
    if (status == BROAD_OK) status = send(&residual->far.root, memory, residual->sqrt_weight, residual->rows);
    return status;
}

/* Whether so many numbers fit beside what passes over the rows take: blocks of Z and of the columns of two layers, and sums. K, of
 * this layer and the next one, takes at most three quarters of what is left. */
static int has_room(const broad__residual *residual, const broad__memory *memory, size_t numbers, size_t width)
{
    enum { BLOCKS = 3 };
    size_t widest = broad__max(width, broad__max(residual->z.features, 1)), room = memory->room(),
           block = broad__max(memory->block, BROAD__BLOCK_ROWS * widest),
           sums = width * (width + residual->outputs + 2 * residual->probes.count);
    return numbers <= room && (room - numbers) / SHARE_OF_K >= BLOCKS * block + 2 * sums;
}

/* Numbers of inputs that are scaled here before they go there together. */
enum { SENT_NUMBERS = 1 << 22 };

/* The inputs of this rank's rows. */
static int send_inputs(broad__residual *residual, const broad__memory *memory)
{
    broad__far_rows *far = &residual->far;
    const broad__far_inputs *inputs = &far->inputs;
    size_t first, end, step = broad__max(SENT_NUMBERS / inputs->columns, 1), numbers = residual->rows * inputs->columns;
    broad__far_own_rows(&first, &end, residual);
    step = broad__min(step, broad__max(end - first, 1));
    int status = inputs->ready(inputs->context);
    double *block = status == BROAD_OK ? broad__alloc_unset(step * inputs->columns, sizeof *block) : NULL;
    if (status == BROAD_OK && !block) status = BROAD_NO_MEMORY;
    if (status == BROAD_OK) status = memory->alloc(&far->x, numbers);
    for (size_t i = first; status == BROAD_OK && i < end; i += step) {
        size_t n = broad__min(end - i, step);
        inputs->fill(inputs->context, block, i, n);
        memory->put(far->x + i * inputs->columns, block, n * inputs->columns);
        status = broad__watch_check(BROAD_OK);
    }
    broad__free(block);
    return status;
}

/* Z, or what it is made from. */
static int send_features(broad__residual *residual, const broad__memory *memory, size_t width)
{
    broad__far_rows *far = &residual->far;
    size_t rows = residual->rows, features = residual->z.features, columns = far->inputs.columns;
    if (far->make) return BROAD_OK;
    if (residual->z.stored && has_room(residual, memory, rows * features, width))
        return send(&far->z, memory, residual->z.stored, rows * features);
    if (columns && has_room(residual, memory, rows * columns, width)) return send_inputs(residual, memory);
    return BROAD_NO_MEMORY;
}

int broad__far_send(broad__residual *residual, size_t width)
{
    const broad__device *there = residual->device->far;
    broad__far_rows *far = &residual->far;
    if (!there || residual->at == there || residual->spill || residual->update.pending ||
        (!residual->z.stored && !far->inputs.columns && !far->make))
        return BROAD_OK;
    double *moved[MOVED] = {0};
    int status = send_arrays(moved, residual, there->memory);
    if (status == BROAD_OK) status = send_features(residual, there->memory, width);
    /* Ranks go there together, or not at all: cards may differ. */
    if (broad__comm_most(status < 0) && status == BROAD_OK) status = BROAD_NO_MEMORY;
    if (status < 0) { /* they stay here */
        double *sent[] = {far->z, far->x, far->root};
        release(there->memory, moved, MOVED);
        release(there->memory, sent, sizeof sent / sizeof *sent);
        far->z = far->x = far->root = NULL;
        return status == BROAD_NO_MEMORY ? BROAD_OK : status;
    }
    broad__candidate_clear(residual);
    far->e = residual->e, far->next = residual->next;
    far->u = residual->probes.u, far->probe_next = residual->probes.next;
    residual->e = moved[0], residual->next = moved[1];
    residual->probes.u = moved[2], residual->probes.next = moved[3];
    residual->at = there;
    return BROAD_OK;
}

int broad__far_send_z(broad__residual *residual)
{
    const broad__memory *memory = residual->at->memory;
    broad__far_forget_ahead(residual);
    if (!memory) return BROAD_OK;
    if (residual->far.x) return residual->far.inputs.ready(residual->far.inputs.context);
    if (residual->far.z) memory->put(residual->far.z, residual->z.stored, residual->rows * residual->z.features);
    return BROAD_OK;
}

int broad__far_fetch(broad__residual *residual)
{
    const broad__memory *memory = residual->at->memory;
    if (!memory) return BROAD_OK;
    broad__far_rows *far = &residual->far;
    int status = memory->get(far->e, residual->e, residual->rows * residual->outputs);
    if (status == BROAD_OK && residual->probes.count)
        status = memory->get(far->u, residual->probes.u, residual->rows * 2 * residual->probes.count);
    broad__far_rows_drop(residual);
    return status;
}
