#include "data/photo/photos_share.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "comm/comm.h"

static size_t own_rank(void)
{
    const broad_comm *comm = broad__comm_current();
    return comm ? comm->rank : 0;
}

static size_t count_of(size_t files, size_t rank)
{
    size_t ranks = broad__comm_ranks();
    return files / ranks + (rank < files % ranks);
}

void broad__photos_share_own(size_t *out_first, size_t *out_step, size_t *out_count, size_t files)
{
    *out_first = own_rank();
    *out_step = broad__comm_ranks();
    *out_count = count_of(files, own_rank());
}

int broad__photos_share_check(const broad__photo_list *list, const char *path)
{
    char own[BROAD__HASH_TEXT] = "", first[BROAD__HASH_TEXT];
    if (broad__comm_ranks() == 1) return BROAD_OK;
    broad__hash *hash = broad__hash_open();
    for (size_t i = 0; hash && i < list->count; i++)
        broad__hash_add(hash, list->items[i].name, strlen(list->items[i].name) + 1);
    if (hash) broad__hash_close(own, hash);
    memcpy(first, own, sizeof first);
    size_t count = list->count;
    int status = broad__comm_settle(hash ? BROAD_OK : BROAD_NO_MEMORY);
    if (status == BROAD_OK) status = broad__comm_broadcast(0, first, sizeof first);
    if (status == BROAD_OK) status = broad__comm_broadcast(0, &count, sizeof count);
    if (status == BROAD_OK && memcmp(own, first, sizeof own) != 0)
        status =
            broad__fail(BROAD_BAD_DATA,
                        "%s: rank %zu finds %zu files there and rank 0 finds %zu, or others; all ranks must see the "
                        "same photos",
                        path, own_rank(), list->count, count);
    return broad__comm_settle(status);
}

/* ---- what travels -------------------------------------------------------------------------------------------------- */

/* What stands before the parts, the inputs and the reason of a photo. */
typedef struct head {
    size_t maps, rows, reason; /* the bytes of the reason; 0: none */
    broad_photo facts;         /* without file and name */
    broad__print print;
} head;

typedef struct message {
    char *bytes;
    size_t count, at;
} message;

static void put(message *m, const void *from, size_t bytes)
{
    if (bytes) memcpy(m->bytes + m->at, from, bytes);
    m->at += bytes;
}

static void take(void *to, message *m, size_t bytes)
{
    if (bytes) memcpy(to, m->bytes + m->at, bytes);
    m->at += bytes;
}

static head head_of(const broad__prepared *p, const char *reason)
{
    head h = {.maps = p->maps, .rows = p->rows, .facts = p->facts, .print = p->print};
    h.reason = reason ? strlen(reason) + 1 : 0;
    return h;
}

static size_t bytes_of(const head *h, size_t inputs)
{
    return sizeof *h + h->rows * (sizeof(broad__photo_part) + inputs * sizeof(float)) + h->reason;
}

static void put_photo(message *m, const broad__prepared *p, const char *reason, size_t inputs)
{
    head h = head_of(p, reason);
    put(m, &h, sizeof h);
    put(m, p->parts, p->rows * sizeof *p->parts);
    put(m, p->inputs, p->rows * inputs * sizeof *p->inputs);
    put(m, reason, h.reason);
}

static int take_photo(broad__prepared *out, char **out_reason, message *m, size_t inputs)
{
    head h;
    take(&h, m, sizeof h);
    *out = (broad__prepared){.maps = h.maps, .facts = h.facts, .print = h.print};
    if (h.rows) {
        out->parts = broad__alloc_array(h.rows, sizeof *out->parts);
        out->inputs = broad__alloc_array(h.rows * inputs, sizeof *out->inputs);
    }
    if (h.reason) *out_reason = broad__alloc(h.reason);
    if ((h.rows && (!out->parts || !out->inputs)) || (h.reason && !*out_reason)) return BROAD_NO_MEMORY;
    out->rows = h.rows;
    take(out->parts, m, h.rows * sizeof *out->parts);
    take(out->inputs, m, h.rows * inputs * sizeof *out->inputs);
    take(*out_reason, m, h.reason);
    return BROAD_OK;
}

/* The photos of one rank, to all the others. */
static int share_from(size_t rank, broad__prepared *prepared, char **reasons, size_t count, size_t inputs)
{
    message m = {0};
    size_t files = count_of(count, rank), ranks = broad__comm_ranks();
    int mine = rank == own_rank(), status = BROAD_OK;
    for (size_t i = 0; mine && i < files; i++) {
        head h = head_of(&prepared[i * ranks + rank], reasons[i * ranks + rank]);
        m.count += bytes_of(&h, inputs);
    }
    status = broad__comm_broadcast(rank, &m.count, sizeof m.count);
    if (status < 0) return status;
    m.bytes = broad__alloc(m.count + 1);
    status = broad__comm_settle(m.bytes ? BROAD_OK : BROAD_NO_MEMORY);
    for (size_t i = 0; status == BROAD_OK && mine && i < files; i++)
        put_photo(&m, &prepared[i * ranks + rank], reasons[i * ranks + rank], inputs);
    if (status == BROAD_OK) status = broad__comm_broadcast(rank, m.bytes, m.count);
    for (size_t i = 0; status == BROAD_OK && !mine && i < files; i++)
        status = take_photo(&prepared[i * ranks + rank], &reasons[i * ranks + rank], &m, inputs);
    broad__free(m.bytes);
    return broad__comm_settle(status);
}

int broad__photos_share(broad__prepared *prepared, char **reasons, size_t count, size_t inputs)
{
    size_t ranks = broad__comm_ranks();
    int status = BROAD_OK;
    for (size_t rank = 0; ranks > 1 && status == BROAD_OK && rank < ranks; rank++)
        status = share_from(rank, prepared, reasons, count, inputs);
    return status;
}
