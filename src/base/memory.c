#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/status.h"

enum { ALIGNMENT = 64, LARGE = 1 << 22, HUGE_PAGE = 1 << 21 };

static void *system_allocate(size_t bytes, void *context)
{
    (void)context;
    return malloc(bytes);
}

static void system_release(void *block, void *context)
{
    (void)context;
    free(block);
}

static const broad_allocator system_allocator = {system_allocate, system_release, NULL};
static broad_allocator allocator = {system_allocate, system_release, NULL};

void broad_set_allocator(const broad_allocator *chosen) { allocator = chosen ? *chosen : system_allocator; }

/* A large block begins with a large page and lies in such pages: there are fewer to fetch when it is first written to, and later
 * to look up. What lies before its beginning is never touched. */
static size_t alignment_of(size_t bytes)
{
    return bytes >= LARGE && allocator.allocate == system_allocate ? HUGE_PAGE : ALIGNMENT;
}

static void prefer_large_pages(unsigned char *block, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    if (alignment_of(bytes) == HUGE_PAGE) madvise(block, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
#else
    (void)block, (void)bytes;
#endif
}

/* The system's own zeroed memory need not be written to: a large block costs nothing before it is used, block by block. */
static void *allocate_raw(size_t bytes, int zeroed)
{
    if (zeroed && allocator.allocate == system_allocate) return calloc(1, bytes);
    void *raw = allocator.allocate(bytes, allocator.context);
    if (raw && zeroed) memset(raw, 0, bytes);
    return raw;
}

/* A block handed out lies at the next multiple of its alignment; the pointer that must be released stands right before it. */
static void *allocate_aligned(size_t bytes, int zeroed)
{
    if (bytes > SIZE_MAX / 2) {
        broad__fail_memory(bytes);
        return NULL;
    }
    size_t alignment = alignment_of(bytes);
    unsigned char *raw = allocate_raw(bytes + alignment + sizeof(void *), zeroed);
    if (!raw) {
        broad__fail_memory(bytes);
        return NULL;
    }
    uintptr_t first = (uintptr_t)raw + sizeof(void *);
    unsigned char *block = raw + sizeof(void *) + (alignment - first % alignment) % alignment;
    memcpy(block - sizeof(void *), &raw, sizeof(void *));
    prefer_large_pages(block, bytes);
    return block;
}

void *broad__alloc(size_t bytes) { return allocate_aligned(bytes, 1); }

int broad__multiply(size_t *out, size_t a, size_t b) { return __builtin_mul_overflow(a, b, out) ? -1 : 0; }

void *broad__alloc_array(size_t count, size_t element_bytes)
{
    size_t bytes;
    if (broad__multiply(&bytes, count, element_bytes) < 0) {
        broad__fail_memory(SIZE_MAX);
        return NULL;
    }
    return broad__alloc(bytes);
}

void *broad__alloc_unset(size_t count, size_t element_bytes)
{
    size_t bytes;
    if (broad__multiply(&bytes, count, element_bytes) == 0) return allocate_aligned(bytes, 0);
    broad__fail_memory(SIZE_MAX);
    return NULL;
}

double *broad__alloc_doubles(size_t rows, size_t columns)
{
    size_t count;
    if (broad__multiply(&count, rows, columns) < 0) {
        broad__fail_memory(SIZE_MAX);
        return NULL;
    }
    return broad__alloc_array(count, sizeof(double));
}

int broad__grow(void *block_pointer, size_t *capacity, size_t count, size_t element_bytes, size_t maximum)
{
    if (count <= *capacity) return BROAD_OK;
    if (count > maximum) return broad__fail(BROAD_NO_MEMORY, "more than %zu elements asked for", maximum);
    size_t wanted = *capacity < 8 ? 8 : *capacity + *capacity / 2;
    if (wanted < count) wanted = count;
    if (wanted > maximum) wanted = maximum;
    void *old, *fresh = broad__alloc_array(wanted, element_bytes);
    if (!fresh) return BROAD_NO_MEMORY;
    memcpy(&old, block_pointer, sizeof old);
    if (old) memcpy(fresh, old, *capacity * element_bytes);
    broad__free(old);
    memcpy(block_pointer, &fresh, sizeof fresh);
    *capacity = wanted;
    return BROAD_OK;
}

static int reserve(double **block, size_t *room, size_t count, int zeroed)
{
    if (count <= *room) return BROAD_OK;
    broad__free(*block);
    *room = 0;
    *block = zeroed ? broad__alloc_doubles(count, 1) : broad__alloc_unset(count, sizeof **block);
    if (!*block) return BROAD_NO_MEMORY;
    *room = count;
    return BROAD_OK;
}

int broad__reserve(double **block, size_t *room, size_t count) { return reserve(block, room, count, 1); }

int broad__reserve_unset(double **block, size_t *room, size_t count) { return reserve(block, room, count, 0); }

char *broad__copy_bytes(const char *bytes, size_t count)
{
    char *copy = broad__alloc(count + 1);
    if (copy) memcpy(copy, bytes, count);
    return copy;
}

char *broad__copy_text(const char *text) { return broad__copy_bytes(text, strlen(text)); }

void broad__free(void *block)
{
    if (!block) return;
    void *raw;
    memcpy(&raw, (unsigned char *)block - sizeof(void *), sizeof raw);
    allocator.release(raw, allocator.context);
}

void broad_free(void *block) { broad__free(block); }

void broad__free_texts(char **texts, size_t count)
{
    for (size_t i = 0; texts && i < count; i++) broad__free(texts[i]);
    broad__free(texts);
}

char **broad__copy_texts(char *const *texts, size_t count)
{
    char **copy = broad__alloc_array(count, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = broad__copy_text(texts[i]);
        if (copy[i]) continue;
        broad__free_texts(copy, i);
        return NULL;
    }
    return copy;
}
