#include "data/text.h"

#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/utf8.h"

broad__text broad__text_of(const char *text) { return (broad__text){text, strlen(text)}; }

int broad__text_same(broad__text a, broad__text b)
{
    return a.count == b.count && (a.count == 0 || memcmp(a.bytes, b.bytes, a.count) == 0);
}

broad__text broad__text_trim(broad__text text)
{
    while (text.count && broad__is_blank(text.bytes[0])) {
        text.bytes++;
        text.count--;
    }
    while (text.count && broad__is_blank(text.bytes[text.count - 1])) text.count--;
    return text;
}

int broad__text_is_utf8(broad__text text) { return broad__utf8_valid(text.bytes, text.count); }

const char *broad__text_quote(char out[BROAD__QUOTE_BYTES], broad__text text)
{
    return broad__utf8_quote(out, text.bytes, text.count);
}

char **broad__names_copy(const broad__text *texts, size_t count)
{
    size_t bytes = count * sizeof(char *);
    for (size_t i = 0; i < count; i++) bytes += texts[i].count + 1;
    char **names = broad__alloc(bytes);
    if (!names) return NULL;
    char *at = (char *)(names + count);
    for (size_t i = 0; i < count; i++) {
        names[i] = at;
        if (texts[i].count) memcpy(at, texts[i].bytes, texts[i].count);
        at += texts[i].count + 1;
    }
    return names;
}

static size_t decimal_digits(size_t number)
{
    size_t digits = 1;
    for (; number >= 10; number /= 10) digits++;
    return digits;
}

char **broad__names_number(const char *prefix, size_t first, size_t count)
{
    size_t head = strlen(prefix), bytes = count * sizeof(char *);
    for (size_t i = 0; i < count; i++) bytes += head + decimal_digits(first + i) + 1;
    char **names = broad__alloc(bytes);
    if (!names) return NULL;
    char *at = (char *)(names + count);
    for (size_t i = 0; i < count; i++) {
        size_t capacity = head + decimal_digits(first + i) + 1;
        snprintf(at, capacity, "%s%zu", prefix, first + i);
        names[i] = at;
        at += capacity;
    }
    return names;
}

struct broad__arena_block {
    broad__arena_block *next;
    size_t used, size;
    char bytes[];
};

char *broad__arena_take(broad__arena *arena, size_t bytes)
{
    enum { BLOCK_BYTES = 1 << 16 };
    broad__arena_block *block = arena->blocks;
    if (!block || block->size - block->used < bytes) {
        size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        block = broad__alloc(sizeof *block + size);
        if (!block) return NULL;
        block->size = size;
        block->next = arena->blocks;
        arena->blocks = block;
    }
    char *taken = block->bytes + block->used;
    block->used += bytes;
    return taken;
}

void broad__arena_clear(broad__arena *arena)
{
    while (arena->blocks) {
        broad__arena_block *next = arena->blocks->next;
        broad__free(arena->blocks);
        arena->blocks = next;
    }
}
