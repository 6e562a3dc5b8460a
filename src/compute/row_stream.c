#include "compute/row_stream.h"

#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"

/* Numbers of a block: enough to travel fast, and few enough that the first is there soon. */
enum { BLOCK = 1 << 22, TURNS = 2 };

/* Trials that run side by side have fewer rows: there is one caller at a time. */
enum { ROWS_LEAST = 32768 };

int broad__row_stream_worth(const broad__device *device, size_t rows, double row_flops, size_t numbers)
{
    const broad__memory *memory = device->far ? device->far->memory : NULL;
    return memory && memory->stage && rows >= ROWS_LEAST && (double)rows * row_flops >= memory->worth &&
           row_flops >= memory->worth_each * (double)numbers;
}

/* What lies on the device. */
typedef struct room {
    size_t step; /* rows of a block */
    double *x[TURNS], *results[TURNS], *held;
    double *back; /* a block of results, in the processor's memory; NULL: they go to their place at once */
} room;

static void room_close(room *r, const broad__memory *memory)
{
    for (size_t t = 0; t < TURNS; t++) memory->free(r->x[t]), memory->free(r->results[t]);
    memory->free(r->held);
    broad__free(r->back);
}

static int room_open(room *out, const broad__row_stream *s, size_t stride)
{
    const broad__memory *memory = s->at->memory;
    size_t row = TURNS * (s->columns + s->results) + s->held, most = memory->room() / 2 / row;
    *out = (room){.step =
                      broad__min(broad__min(BLOCK, memory->block) / broad__max(s->columns, s->held / TURNS + 1), most)};
    out->step = broad__min(broad__max(out->step, 1), s->rows);
    int status = BROAD_OK;
    for (size_t t = 0; status == BROAD_OK && t < TURNS; t++) {
        status = memory->alloc(&out->x[t], out->step * s->columns);
        if (status == BROAD_OK) status = memory->alloc(&out->results[t], out->step * s->results);
    }
    if (status == BROAD_OK && s->held) status = memory->alloc(&out->held, out->step * s->held);
    if (status == BROAD_OK && stride != s->results) {
        out->back = broad__alloc_doubles(out->step, s->results);
        if (!out->back) status = BROAD_NO_MEMORY;
    }
    return status;
}

/* Results of the block from `first` on, to their place. */
static int fetch(double *out, size_t stride, const broad__row_stream *s, const room *r, size_t turn, size_t first)
{
    size_t n = broad__min(s->rows - first, r->step);
    double *to = out + first * stride;
    int status = s->at->memory->get(r->back ? r->back : to, r->results[turn], n * s->results);
    for (size_t i = 0; r->back && status == BROAD_OK && i < n; i++)
        memcpy(to + i * stride, r->back + i * s->results, s->results * sizeof(double));
    return status;
}

/* Each block is filled and sent before the results of the one before are waited for. */
static int run_blocks(double *out, size_t stride, const broad__row_stream *s, const room *r)
{
    const broad__memory *memory = s->at->memory;
    size_t turn = 0, last = 0;
    int status = BROAD_OK;
    for (size_t first = 0; status == BROAD_OK && first < s->rows; first += r->step, turn = 1 - turn) {
        size_t n = broad__min(s->rows - first, r->step);
        double *stage = memory->stage(turn, r->step * s->columns);
        if (!stage) return BROAD_NO_MEMORY;
        s->fill(s->context, stage, first, n);
        memory->send(r->x[turn], turn, n * s->columns);
        if (first) status = fetch(out, stride, s, r, 1 - turn, first - r->step);
        memory->await();
        s->compute(s->context, r->results[turn], r->x[turn], r->held, n);
        last = first;
        if (broad__watch_look((double)n * s->flops)) break;
    }
    if (status == BROAD_OK) status = broad__watch_check(BROAD_OK);
    return status == BROAD_OK ? fetch(out, stride, s, r, 1 - turn, last) : status;
}

int broad__row_stream_run(double *out, size_t stride, const broad__row_stream *stream)
{
    room r;
    if (!stream->rows) return BROAD_OK;
    int status = room_open(&r, stream, stride);
    if (status == BROAD_OK) status = run_blocks(out, stride, stream, &r);
    room_close(&r, stream->at->memory);
    return status;
}
