/* The bytes of a file, mapped or read, unpacked if they are gzipped. */
#ifndef BROAD_DATA_SOURCE_H
#define BROAD_DATA_SOURCE_H

#include <stddef.h>

typedef struct broad__source {
    const char *name; /* for messages; not owned */
    const char *bytes;
    size_t count;
    void *map; /* what bytes lie in: a mapping, a block, or the caller's memory */
    size_t map_bytes;
    void *block;
} broad__source;

/* "-" is standard input. `path` must outlive the source. */
int broad__source_open(broad__source *out, const char *path);

/* The same from bytes in memory, which must outlive the source. */
int broad__source_memory(broad__source *out, const char *name, const void *bytes, size_t count);

void broad__source_close(broad__source *source);

#endif
