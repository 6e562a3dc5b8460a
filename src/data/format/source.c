#include "data/format/source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "comm/comm.h"
#include "data/format/idx.h"
#include "data/format/npy.h"

/* What comes through a pipe has no size beforehand. */
static const size_t STREAM_MAXIMUM = (size_t)1 << 36;
/* Deflate can expand a thousandfold; tables shrink by 2 to 30. */
static const size_t GZIP_ALWAYS = (size_t)64 << 20, GZIP_RATIO = 100;

enum { CHUNK = 1 << 18, COPIED_MOST = 1 << 28 };

/* Bytes that come one after the other, and how many: in memory, or in the spill of the source. */
typedef struct growing {
    broad__spill *spill;
    char *block;
    size_t count, capacity;
    size_t released; /* up to here */
} growing;

static const size_t STEP = BROAD__SPILL_STEP;

static void grow_done(growing *g)
{
    if (!g->spill || g->count - g->released < STEP) return;
    broad__spill_done(g->spill, g->block + g->released, g->count - g->released);
    g->released = g->count;
}

static int grow_room(growing *g, size_t wanted, size_t maximum)
{
    if (!g->spill) return broad__grow(&g->block, &g->capacity, wanted, 1, maximum);
    if (wanted <= g->capacity) return BROAD_OK;
    size_t capacity = wanted < STEP ? STEP : wanted + wanted / 2;
    if (capacity > maximum) capacity = maximum;
    char *fresh = broad__spill_alloc(g->spill, capacity, 1);
    if (!fresh) return BROAD_NO_MEMORY;
    for (size_t at = 0; at < g->count; at += STEP) {
        size_t now = g->count - at < STEP ? g->count - at : STEP;
        memcpy(fresh + at, g->block + at, now);
        broad__spill_done(g->spill, fresh + at, now);
        broad__spill_done(g->spill, g->block + at, now);
    }
    broad__spill_free(g->spill, g->block);
    g->block = fresh;
    g->capacity = capacity;
    return BROAD_OK;
}

/* The source takes the bytes over. */
static void grow_give(broad__source *out, const growing *g)
{
    out->block = g->block;
    out->bytes = g->block;
    out->count = g->count;
}

static int open_spill(broad__source *source)
{
    return source->memory && !source->spill ? broad__spill_open(&source->spill, source->memory) : BROAD_OK;
}

static int read_stream(broad__source *source, int fd)
{
    int status = open_spill(source);
    growing g = {.spill = source->spill};
    while (status == BROAD_OK) {
        grow_give(source, &g);
        if (g.count == STREAM_MAXIMUM)
            return broad__fail(BROAD_BAD_DATA, "%s: more than %zu bytes; give a file instead of a pipe", source->name,
                               STREAM_MAXIMUM);
        size_t wanted = g.count + CHUNK < STREAM_MAXIMUM ? g.count + CHUNK : STREAM_MAXIMUM;
        if (wanted > g.capacity && g.count == g.capacity) status = grow_room(&g, wanted, STREAM_MAXIMUM);
        grow_give(source, &g);
        if (status < 0) break;
        ssize_t got = read(fd, g.block + g.count, g.capacity - g.count);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return broad__file_fail(BROAD_IO, source->name, "cannot be read", errno);
        if (got == 0) break;
        g.count += (size_t)got;
        grow_done(&g);
    }
    return status;
}

/* A copy: a program that shortens the file meanwhile cannot take away what is being parsed, as with a mapping of it. */
static int read_whole(broad__source *source, int fd, size_t bytes)
{
    char *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) return broad__fail_memory(bytes);
    source->map = copy;
    source->map_bytes = bytes;
    source->copied = 1;
    source->bytes = copy;
#ifdef MADV_HUGEPAGE
    madvise(copy, bytes, MADV_HUGEPAGE); /* fewer page faults */
#endif
    while (source->count < bytes) {
        ssize_t got = pread(fd, copy + source->count, bytes - source->count, (off_t)source->count);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return broad__file_fail(BROAD_IO, source->name, "cannot be read", errno);
        if (got == 0)
            return broad__fail(
                BROAD_IO, "%s: was shortened from %zu to %zu bytes while it was read; try again when it is complete",
                source->name, bytes, source->count);
        source->count += (size_t)got;
    }
    return BROAD_OK;
}

static int has_numbers(int fd)
{
    unsigned char start[8] = {0};
    ssize_t got = pread(fd, start, sizeof start, 0);
    return got > 0 && (broad__npy_is(start, (size_t)got) || broad__idx_is(start, (size_t)got));
}

/* A file of unknown size (a pipe, a terminal, /proc) is read to its end; a regular one too, or mapped where it is large. */
static int load(broad__source *source, int fd, int is_input, broad__source_maps maps)
{
    struct stat facts;
    if (fstat(fd, &facts) < 0) return broad__file_fail(BROAD_IO, source->name, "cannot be looked at", errno);
    if (S_ISDIR(facts.st_mode))
        return broad__fail(BROAD_NO_INPUT, "%s: this is a folder; give a CSV, LIBSVM, NPY or IDX file", source->name);
    if (S_ISBLK(facts.st_mode) || (S_ISCHR(facts.st_mode) && !is_input && !isatty(fd)))
        return broad__fail(BROAD_NO_INPUT, "%s: this is a device; give a CSV, LIBSVM, NPY or IDX file", source->name);
    if (!S_ISREG(facts.st_mode) || facts.st_size <= 0 || lseek(fd, 0, SEEK_CUR) != 0) return read_stream(source, fd);
    size_t bytes = (size_t)facts.st_size;
    int small = bytes <= COPIED_MOST && (!source->memory || bytes <= source->memory / 8);
    int mapped = maps == BROAD__MAP_ALL || (maps == BROAD__MAP_NUMBERS && has_numbers(fd));
    if (small && !mapped) return read_whole(source, fd, bytes);
    void *map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED) return read_stream(source, fd);
    source->map = map;
    source->map_bytes = bytes;
    source->bytes = map;
    source->count = bytes;
    return BROAD_OK;
}

/* As many bytes as are to come. */
static int make_room(broad__source *out, size_t count)
{
    growing g = {0};
    int status = open_spill(out);
    g.spill = out->spill;
    if (status == BROAD_OK && count) status = grow_room(&g, count, count);
    g.count = count;
    grow_give(out, &g);
    return status;
}

/* Of several ranks the first has a standard input; the others have what it has read. */
static int load_input(broad__source *out, broad__source_maps maps)
{
    if (broad__comm_ranks() == 1) return load(out, STDIN_FILENO, 1, maps);
    int first = broad__comm_current()->rank == 0;
    int status = broad__comm_settle(first ? load(out, STDIN_FILENO, 1, maps) : BROAD_OK);
    size_t count = out->count;
    if (status == BROAD_OK) status = broad__comm_broadcast(0, &count, sizeof count);
    if (status == BROAD_OK) status = broad__comm_settle(first ? BROAD_OK : make_room(out, count));
    for (size_t at = 0; status == BROAD_OK && at < count; at += STEP) {
        size_t now = count - at < STEP ? count - at : STEP;
        status = broad__comm_broadcast(0, (void *)(uintptr_t)(out->bytes + at), now);
        if (status == BROAD_OK) broad__source_done(out, out->bytes + at, out->bytes + at + now);
    }
    return status;
}

static void *zlib_allocate(void *context, uInt count, uInt bytes)
{
    (void)context;
    return broad__alloc_array(count, bytes);
}

static void zlib_release(void *context, void *block)
{
    (void)context;
    broad__free(block);
}

typedef struct unpacking {
    const broad__source *packed;
    size_t limit;
    growing out;
} unpacking;

static int unpack_room(unpacking *out)
{
    growing *g = &out->out;
    if (g->count == out->limit)
        return broad__fail(BROAD_BAD_DATA,
                           "%s: unpacks to more than %zu bytes from %zu, which looks like a decompression bomb; if it "
                           "is not one, unpack it with gunzip and give the plain file",
                           out->packed->name, out->limit, out->packed->count);
    if (g->count < g->capacity) return BROAD_OK;
    size_t wanted = out->limit - g->count < CHUNK ? out->limit : g->count + CHUNK;
    return grow_room(g, wanted, out->limit);
}

/* After the end of a member: 1 if another follows, 0 if only padding with zeros does, negative for anything else. */
static int unpack_next(z_stream *stream, const unpacking *out)
{
    const unsigned char *at = stream->next_in, *end = (const unsigned char *)out->packed->bytes + out->packed->count;
    if (end - at >= 2 && at[0] == 0x1f && at[1] == 0x8b) return inflateReset(stream) == Z_OK ? 1 : BROAD_BUG;
    for (; at < end; at++)
        if (*at)
            return broad__fail(BROAD_BAD_DATA, "%s: %zu bytes follow the end of the gzip data", out->packed->name,
                               (size_t)(end - stream->next_in));
    return 0;
}

static int unpack_members(unpacking *out, z_stream *stream)
{
    const broad__source *packed = out->packed;
    const Bytef *end = (const Bytef *)packed->bytes + packed->count;
    growing *g = &out->out;
    stream->next_in = (Bytef *)(uintptr_t)packed->bytes;
    for (const char *read = packed->bytes;;) {
        int status = unpack_room(out);
        if (status == BROAD_OK) status = broad__watch_poll(0, 1);
        if (status < 0) return status;
        size_t left = (size_t)(end - stream->next_in), capacity = g->capacity - g->count;
        if (g->spill && capacity > STEP) capacity = STEP;
        stream->avail_in = left > INT_MAX ? INT_MAX : (uInt)left;
        stream->avail_out = capacity > INT_MAX ? INT_MAX : (uInt)capacity;
        stream->next_out = (Bytef *)g->block + g->count;
        size_t before = stream->avail_out;
        int result = inflate(stream, Z_NO_FLUSH);
        g->count += before - stream->avail_out;
        grow_done(g);
        if ((size_t)((const char *)stream->next_in - read) >= STEP) {
            broad__source_done(packed, read, (const char *)stream->next_in);
            read = (const char *)stream->next_in;
        }
        if (result == Z_STREAM_END) {
            status = unpack_next(stream, out);
            if (status <= 0) return status;
        } else if (result == Z_MEM_ERROR) {
            return BROAD_NO_MEMORY;
        } else if (result == Z_BUF_ERROR && stream->next_in == end) {
            return broad__fail(BROAD_BAD_DATA, "%s: the gzip data end early; fetch or pack the file again",
                               packed->name);
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            return broad__fail(BROAD_BAD_DATA, "%s: corrupt gzip data near byte %zu (%s); fetch or pack the file again",
                               packed->name, (size_t)((const char *)stream->next_in - packed->bytes),
                               stream->msg ? stream->msg : "unreadable");
        }
    }
}

static int unpack(broad__source *source)
{
    unpacking out = {.packed = source};
    broad__source unpacked = {.name = source->name, .memory = source->memory};
    size_t extra;
    if (broad__multiply(&extra, source->count, GZIP_RATIO) < 0 || extra > SIZE_MAX / 4) extra = SIZE_MAX / 4;
    out.limit = GZIP_ALWAYS + extra;
    int status = open_spill(&unpacked);
    if (status < 0) return status;
    out.out.spill = unpacked.spill;
    z_stream stream = {.zalloc = zlib_allocate, .zfree = zlib_release};
    int result = inflateInit2(&stream, 16 + MAX_WBITS);
    if (result == Z_OK) {
        status = unpack_members(&out, &stream);
        inflateEnd(&stream);
    } else {
        status = result == Z_MEM_ERROR ? BROAD_NO_MEMORY : broad__fail(BROAD_BUG, "zlib cannot be started");
    }
    grow_give(&unpacked, &out.out);
    if (status < 0) {
        broad__source_close(&unpacked);
        return status;
    }
    broad__source_close(source);
    *source = unpacked;
    return BROAD_OK;
}

static int unpack_if_gzip(broad__source *source)
{
    if (source->count < 2 || memcmp(source->bytes, "\x1f\x8b", 2) != 0) return BROAD_OK;
    return unpack(source);
}

int broad__source_open(broad__source *out, const char *path, size_t memory, broad__source_maps maps)
{
    int is_input = strcmp(path, "-") == 0;
    *out = (broad__source){.name = is_input ? "standard input" : path, .memory = memory};
    int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return broad__file_fail(BROAD_NO_INPUT, path, "cannot be opened", errno);
    int status = is_input ? load_input(out, maps) : load(out, fd, 0, maps);
    if (!is_input) close(fd);
    if (status == BROAD_OK) status = unpack_if_gzip(out);
    if (status < 0) broad__source_close(out);
    return status;
}

int broad__source_memory(broad__source *out, const char *name, const void *bytes, size_t count)
{
    *out = (broad__source){.name = name, .bytes = bytes, .count = count};
    int status = unpack_if_gzip(out);
    if (status < 0) broad__source_close(out);
    return status;
}

/* As with spilled arrays, more than asked for is released: the kernel may have mapped as much. */
void broad__source_done(const broad__source *source, const char *from, const char *to)
{
    enum { WINDOW = 1 << 21 };
    if (!source->memory || to <= from) return;
    if (source->spill) broad__spill_done(source->spill, from, (size_t)(to - from));
    if (!source->map || source->copied) return;
    char *map = source->map;
    size_t first = (size_t)(from - map) / WINDOW * WINDOW, end = (size_t)(to - map);
    end = source->map_bytes - end < WINDOW ? source->map_bytes : (end + WINDOW - 1) / WINDOW * WINDOW;
    madvise(map + first, end - first, MADV_DONTNEED);
}

int broad__source_lasts(const broad__source *source) { return source->map && !source->copied; }

int broad__source_take(broad__mapping *out, broad__source *source)
{
    if (!broad__source_lasts(source)) return 0;
    *out = (broad__mapping){source->map, source->map_bytes, 1};
    source->map = NULL;
    source->map_bytes = 0;
    return 1;
}

void broad__source_close(broad__source *source)
{
    if (source->map) munmap(source->map, source->map_bytes);
    broad__spill_free(source->spill, source->block);
    broad__spill_close(source->spill);
    *source = (broad__source){0};
}
