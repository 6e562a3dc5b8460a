/* For the suites of the data layer: tables from text, NPY and IDX bytes, gzip, a counting allocator. */
#ifndef BROAD_TESTS_SUPPORT_DATA_HELPER_H
#define BROAD_TESTS_SUPPORT_DATA_HELPER_H

#include "helper.h"

#include <zlib.h>

#include "data/read.h"
#include "data/table.h"

static inline int read_text(broad_data **out, const char *text, const broad_read_options *options)
{
    return broad__read_bytes(out, "data", text, strlen(text), options, NULL);
}

typedef struct bytes {
    unsigned char *at;
    size_t count;
} bytes;

/* Version 1, or the one asked for; the dictionary is taken as it is. */
static inline bytes npy_bytes(int version, const char *dictionary, const void *data, size_t count)
{
    size_t length = strlen(dictionary), start = version == 1 ? 10 : 12;
    bytes b = {calloc(start + length + count + 1, 1), start + length + count};
    if (!b.at) fail_msg("no memory");
    memcpy(b.at, "\x93NUMPY", 6);
    b.at[6] = (unsigned char)version;
    for (size_t i = 8; i < start; i++) b.at[i] = (unsigned char)(length >> 8 * (i - 8));
    memcpy(b.at + start, dictionary, length);
    if (count && data) memcpy(b.at + start + length, data, count);
    return b;
}

static inline bytes idx_bytes(unsigned char type, unsigned char dimensions, const uint32_t *shape, const void *data,
                              size_t count)
{
    size_t start = 4 + 4 * (size_t)dimensions;
    bytes b = {calloc(start + count + 1, 1), start + count};
    if (!b.at) fail_msg("no memory");
    b.at[2] = type;
    b.at[3] = dimensions;
    for (size_t d = 0; d < dimensions; d++)
        for (size_t i = 0; i < 4; i++) b.at[4 + 4 * d + i] = (unsigned char)(shape[d] >> 8 * (3 - i));
    if (count) memcpy(b.at + start, data, count);
    return b;
}

static inline bytes gzip_bytes(const void *data, size_t count)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK) fail_msg("zlib");
    size_t room = deflateBound(&stream, count);
    bytes b = {calloc(room + 1, 1), 0};
    if (!b.at) fail_msg("no memory");
    stream.next_in = (Bytef *)(uintptr_t)data;
    stream.avail_in = (uInt)count;
    stream.next_out = b.at;
    stream.avail_out = (uInt)room;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) fail_msg("zlib");
    b.count = stream.total_out;
    deflateEnd(&stream);
    return b;
}

/* Counts what is asked for; can fail one request. */
typedef struct memory_watch {
    size_t requests, fail_at; /* fail_at: number of the request from 1; 0: none */
    size_t live, now, peak;   /* blocks and bytes */
} memory_watch;

static inline void *watch_allocate(size_t count, void *context)
{
    memory_watch *watch = context;
    if (++watch->requests == watch->fail_at) return NULL;
    size_t *block = malloc(count + 2 * sizeof *block);
    if (!block) return NULL;
    block[0] = count;
    watch->live++;
    watch->now += count;
    if (watch->now > watch->peak) watch->peak = watch->now;
    return block + 2;
}

static inline void watch_release(void *block, void *context)
{
    memory_watch *watch = context;
    size_t *head = (size_t *)block - 2;
    watch->live--;
    watch->now -= head[0];
    free(head);
}

static inline void watch_start(memory_watch *watch, size_t fail_at)
{
    *watch = (memory_watch){.fail_at = fail_at};
    broad_allocator allocator = {watch_allocate, watch_release, watch};
    broad_set_allocator(&allocator);
}

static inline void watch_stop(void) { broad_set_allocator(NULL); }

#endif
