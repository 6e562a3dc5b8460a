#include "comm/comm.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "compute/pool.h"
#include "compute/shards.h"

size_t broad__comm_least_rows = 8192;

static _Thread_local const broad_comm *current;
/* A message of this call has failed: none is sent or received any more, because it would be taken for another. */
static _Thread_local int lost;

int broad__comm_check(const broad_comm *comm)
{
    if (!comm) return BROAD_OK;
    if (comm->size < sizeof *comm)
        return broad__fail(BROAD_USAGE, "broad_comm is not initialised; call broad_comm_init() first");
    if (comm->rank >= comm->ranks)
        return broad__fail(BROAD_USAGE, "broad_comm: rank %zu of %zu; ranks are counted from 0", comm->rank,
                           comm->ranks);
    if (comm->ranks > 1 && (!comm->send || !comm->receive))
        return broad__fail(BROAD_USAGE, "broad_comm: several ranks need functions that send and receive");
    return BROAD_OK;
}

const broad_comm *broad__comm_enter(const broad_comm *comm)
{
    const broad_comm *before = current;
    current = comm && comm->ranks > 1 ? comm : NULL;
    if (!current) return before;
    lost = 0;
    broad__pool_crowd();
    return before;
}

void broad__comm_leave(const broad_comm *before) { current = before; }

const broad_comm *broad__comm_current(void) { return current; }

size_t broad__comm_ranks(void) { return current ? current->ranks : 1; }

int broad__comm_divides(size_t rows) { return current && rows >= broad__comm_least_rows; }

/* ---- who owns what ----------------------------------------------------------------------------------------------- */

/* Rank r owns the shards from r * shards / ranks on. */
static size_t owner_of(size_t shard, size_t shards, size_t ranks) { return ((shard + 1) * ranks - 1) / shards; }

size_t broad__comm_owner(size_t shard, size_t shards) { return owner_of(shard, shards, broad__comm_ranks()); }

size_t broad__comm_most_shards(size_t shards, size_t ranks) { return (shards + ranks - 1) / ranks; }

size_t broad__comm_received(size_t shards, size_t ranks)
{
    size_t root = owner_of(0, shards, ranks), count = 0;
    for (size_t step = 1; step < shards; step *= 2)
        for (size_t i = 0; i + step < shards; i += 2 * step)
            count += owner_of(i, shards, ranks) == root && owner_of(i + step, shards, ranks) != root;
    return count;
}

static void shards_of(size_t *out_first, size_t *out_end, size_t rank, size_t shards)
{
    *out_first = rank * shards / broad__comm_ranks();
    *out_end = (rank + 1) * shards / broad__comm_ranks();
}

void broad__comm_rows_of(size_t *out_first, size_t *out_end, size_t rank, size_t rows)
{
    size_t shards = broad__shard_count(rows), first, end, ignored;
    shards_of(&first, &end, rank, shards);
    *out_first = *out_end = 0;
    if (first == end) return;
    broad__shard_rows(out_first, &ignored, first, rows);
    broad__shard_rows(&ignored, out_end, end - 1, rows);
}

void broad__comm_own_shards(size_t *out_first, size_t *out_end, size_t shards)
{
    shards_of(out_first, out_end, current ? current->rank : 0, shards);
}

void broad__comm_own_rows(size_t *out_first, size_t *out_end, size_t rows)
{
    broad__comm_rows_of(out_first, out_end, current ? current->rank : 0, rows);
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static int fail_exchange(const char *what, size_t rank)
{
    lost = 1;
    return broad__fail(BROAD_IO, "rank %zu could not %s rank %zu", current->rank, what, rank);
}

static int send_bytes(size_t to, const void *bytes, size_t count)
{
    broad__profile_span span = broad__profile_start();
    int failed = lost || current->send(current->context, to, bytes, count);
    broad__profile_stop(span, BROAD__STAGE_EXCHANGE, 0, (double)count);
    return failed ? fail_exchange("send to", to) : BROAD_OK;
}

static int receive_bytes(size_t from, void *bytes, size_t count)
{
    broad__profile_span span = broad__profile_start();
    int failed = lost || current->receive(current->context, from, bytes, count);
    broad__profile_stop(span, BROAD__STAGE_EXCHANGE, 0, (double)count);
    return failed ? fail_exchange("receive from", from) : BROAD_OK;
}

int broad__comm_move(double *numbers, size_t count, size_t from, size_t to)
{
    if (!current || from == to) return BROAD_OK;
    if (from == current->rank) return send_bytes(to, numbers, count * sizeof *numbers);
    return to == current->rank ? receive_bytes(from, numbers, count * sizeof *numbers) : BROAD_OK;
}

int broad__comm_step(double *parts, size_t count, size_t stride, size_t length, size_t step)
{
    int status = BROAD_OK;
    for (size_t i = 0; current && status == BROAD_OK && i + step < count; i += 2 * step) {
        size_t to = broad__comm_owner(i, count), from = broad__comm_owner(i + step, count);
        status = broad__comm_move(parts + (i + step) * stride, length, from, to);
    }
    return status;
}

/* A binomial tree, counted from the rank that has the bytes. */
static int broadcast_by_messages(size_t from, void *bytes, size_t count)
{
    size_t ranks = current->ranks, place = (current->rank + ranks - from) % ranks, reach = 1;
    int status = BROAD_OK;
    while (reach <= place) reach *= 2; /* the highest bit of the place says who has sent it */
    if (place) status = receive_bytes((place - reach / 2 + from) % ranks, bytes, count);
    for (; status == BROAD_OK && place + reach < ranks; reach *= 2)
        status = send_bytes((place + reach + from) % ranks, bytes, count);
    return status;
}

int broad__comm_broadcast(size_t from, void *bytes, size_t count)
{
    if (!current || !count) return BROAD_OK;
    if (!current->broadcast) return broadcast_by_messages(from, bytes, count);
    broad__profile_span span = broad__profile_start();
    int failed = lost || current->broadcast(current->context, from, bytes, count);
    broad__profile_stop(span, BROAD__STAGE_EXCHANGE, 0, (double)count);
    return failed ? fail_exchange("take part in what came from", from) : BROAD_OK;
}

int broad__comm_add(double *sums, double *scratch, size_t count)
{
    int status = BROAD_OK;
    if (!current) return BROAD_OK;
    size_t rank = current->rank, ranks = current->ranks, bytes = count * sizeof *sums;
    for (size_t step = 1; status == BROAD_OK && step < ranks; step *= 2) {
        if (rank % (2 * step) == step) {
            status = send_bytes(rank - step, sums, bytes);
            break;
        }
        if (rank + step >= ranks) continue;
        status = receive_bytes(rank + step, scratch, bytes);
        for (size_t i = 0; status == BROAD_OK && i < count; i++) sums[i] += scratch[i];
    }
    return status == BROAD_OK ? broad__comm_broadcast(0, sums, bytes) : status;
}

int broad__comm_share(void *array, size_t rows, size_t bytes)
{
    int status = BROAD_OK;
    for (size_t rank = 0; current && status == BROAD_OK && rank < current->ranks; rank++) {
        size_t first, end;
        broad__comm_rows_of(&first, &end, rank, rows);
        status = broad__comm_broadcast(rank, (char *)array + first * bytes, (end - first) * bytes);
    }
    return status;
}

int broad__comm_collect(double *array, const size_t *rows, size_t count, size_t width, size_t of_rows)
{
    if (!current || !count) return BROAD_OK;
    double *some = broad__alloc_doubles(count, width);
    int status = some ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t rank = 0; status == BROAD_OK && rank < current->ranks; rank++) {
        size_t first, end, have = 0;
        broad__comm_rows_of(&first, &end, rank, of_rows);
        for (size_t i = 0; i < count; i++)
            if (rows[i] >= first && rows[i] < end)
                memcpy(some + have++ * width, array + i * width, width * sizeof *some);
        status = broad__comm_broadcast(rank, some, have * width * sizeof *some);
        have = 0;
        for (size_t i = 0; i < count; i++)
            if (rows[i] >= first && rows[i] < end)
                memcpy(array + i * width, some + have++ * width, width * sizeof *some);
    }
    broad__free(some);
    return status;
}

int broad__comm_pass(void *state, size_t bytes, void (*add)(void *context), void *context)
{
    size_t rank = current ? current->rank : 0, ranks = broad__comm_ranks();
    int status = rank ? receive_bytes(rank - 1, state, bytes) : BROAD_OK;
    if (status == BROAD_OK) add(context);
    return status == BROAD_OK && rank + 1 < ranks ? send_bytes(rank + 1, state, bytes) : status;
}

int broad__comm_broadcast_last(void *bytes, size_t count)
{
    return broad__comm_broadcast(broad__comm_ranks() - 1, bytes, count);
}

int broad__comm_add_counts(size_t *counts, size_t count)
{
    if (!current || !count) return BROAD_OK;
    double *sums = broad__alloc_doubles(count, 2);
    if (!sums) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < count; i++) sums[i] = (double)counts[i];
    int status = broad__comm_add(sums, sums + count, count);
    for (size_t i = 0; status == BROAD_OK && i < count; i++) counts[i] = (size_t)sums[i];
    broad__free(sums);
    return status;
}

typedef struct lowest {
    size_t own, *all;
} lowest;

static void lower(void *context)
{
    const lowest *l = context;
    if (!current->rank || l->own < *l->all) *l->all = l->own;
}

int broad__comm_least(size_t *number)
{
    if (!current) return BROAD_OK;
    lowest l = {*number, number};
    int status = broad__comm_pass(number, sizeof *number, lower, &l);
    return status == BROAD_OK ? broad__comm_broadcast_last(number, sizeof *number) : status;
}

int broad__comm_settle(int status)
{
    if (!current) return status;
    size_t who = status == BROAD_OK ? SIZE_MAX : current->rank;
    broad__failure failure = {0};
    int told = broad__comm_least(&who);
    if (told < 0 || who == SIZE_MAX) return status < 0 ? status : told;
    if (who == current->rank) broad__failure_take(&failure, status);
    told = broad__comm_broadcast(who, &failure, sizeof failure);
    return told < 0 ? told : broad__failure_pass(&failure);
}

int broad__comm_most(int own)
{
    int most = own, other = 0, status = BROAD_OK;
    if (!current) return own;
    size_t rank = current->rank, ranks = current->ranks;
    for (size_t step = 1; status == BROAD_OK && step < ranks; step *= 2) {
        if (rank % (2 * step) == step) {
            status = send_bytes(rank - step, &most, sizeof most);
            break;
        }
        if (rank + step >= ranks) continue;
        status = receive_bytes(rank + step, &other, sizeof other);
        if (status == BROAD_OK && other > most) most = other;
    }
    if (status == BROAD_OK) status = broad__comm_broadcast(0, &most, sizeof most);
    return status == BROAD_OK ? most : own;
}

int broad__comm_whole(int status)
{
    if (!current || !lost || (status < 0 && status != BROAD_INTERRUPTED)) return status;
    return broad__fail(BROAD_IO, "rank %zu has lost a message", current->rank);
}

double broad__comm_agree(double own)
{
    double agreed = own;
    return broad__comm_broadcast(0, &agreed, sizeof agreed) == BROAD_OK ? agreed : own;
}
