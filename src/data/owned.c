#include "data/owned.h"

#include "base/common.h"
#include "base/memory.h"
#include "base/reserve.h"
#include "base/status.h"
#include "comm/comm.h"

int broad__owned_new(broad__owned **out, double **x, size_t rows, size_t inputs)
{
    broad__owned *owned = broad__alloc(sizeof *owned);
    size_t cells, row = inputs * sizeof **x;
    *out = NULL;
    if (!owned) return BROAD_NO_MEMORY;
    *owned = (broad__owned){.comm = broad__comm_current(), .rows = rows};
    broad__comm_own_rows(&owned->first, &owned->end, rows);
    int status = BROAD_OK;
    if (x && (broad__multiply(&cells, rows, inputs) < 0 || broad__multiply(&owned->bytes, cells, sizeof **x) < 0))
        status = broad__fail_memory(SIZE_MAX);
    if (x && status == BROAD_OK) {
        owned->block = broad__reserve_open(owned->bytes);
        status = owned->block ? broad__reserve_use(owned->block, owned->first * row, (owned->end - owned->first) * row)
                              : BROAD_NO_MEMORY;
    }
    if (status < 0) {
        broad__owned_free(owned);
        return status;
    }
    if (x) *x = owned->block;
    *out = owned;
    return BROAD_OK;
}

void broad__owned_free(broad__owned *owned)
{
    if (!owned) return;
    broad__reserve_free(owned->block, owned->bytes);
    broad__free(owned);
}

int broad__owned_divided(const broad__owned *owned) { return owned && !owned->whole; }

void broad__owned_rows(size_t *out_first, size_t *out_end, const broad__owned *owned, size_t first, size_t count)
{
    *out_first = first;
    *out_end = first + count;
    if (!broad__owned_divided(owned)) return;
    *out_first = broad__min(broad__max(first, owned->first), first + count);
    *out_end = broad__max(broad__min(first + count, owned->end), *out_first);
}

const broad_comm *broad__owned_enter(const broad__owned *owned)
{
    const broad_comm *current = broad__comm_current();
    return owned && !current ? broad__comm_enter(owned->comm) : current;
}

int broad__owned_share(const broad__owned *owned, void *array, size_t first, size_t count, size_t bytes)
{
    int status = BROAD_OK;
    for (size_t rank = 0; broad__owned_divided(owned) && status == BROAD_OK && rank < owned->comm->ranks; rank++) {
        size_t from, end;
        broad__comm_rows_of(&from, &end, rank, owned->rows);
        from = broad__max(from, first);
        end = broad__min(end, first + count);
        if (from < end)
            status = broad__comm_broadcast(rank, (char *)array + (from - first) * bytes, (end - from) * bytes);
    }
    return status;
}

int broad__owned_gather(broad__owned *owned, double *x, size_t inputs)
{
    if (!broad__owned_divided(owned)) return BROAD_OK;
    const broad_comm *before = broad__owned_enter(owned);
    int status = BROAD_OK;
    if (owned->block) {
        status = broad__comm_settle(broad__reserve_use(owned->block, 0, owned->bytes));
        if (status == BROAD_OK) status = broad__owned_share(owned, x, 0, owned->rows, inputs * sizeof *x);
    }
    owned->whole = status == BROAD_OK;
    broad__comm_leave(before);
    return status;
}
