/* The bytes of a file, mapped or read, unpacked if they are gzipped. */
#ifndef BROAD_DATA_FORMAT_SOURCE_H
#define BROAD_DATA_FORMAT_SOURCE_H

#include <stddef.h>

#include "base/file.h"
#include "base/spill.h"

typedef struct broad__source {
    const char *name; /* for messages; not owned */
    const char *bytes;
    size_t count;
    void *map; /* where the bytes lie: a mapping, a block, or the caller's memory */
    size_t map_bytes;
    int copied; /* the mapping is a copy of the file, not the file */
    void *block;
    size_t memory;       /* bytes that the process should hold at most; 0: no limit */
    broad__spill *spill; /* where the block lies if there is such a limit */
} broad__source;

/* Which files are mapped rather than copied, whatever their size: these must not be shortened before the source is closed. */
typedef enum broad__source_maps { BROAD__MAP_LARGE, BROAD__MAP_NUMBERS, BROAD__MAP_ALL } broad__source_maps;

/* "-" is standard input. `path` must outlive the source. memory: as above. */
int broad__source_open(broad__source *out, const char *path, size_t memory, broad__source_maps maps);

/* The same from bytes in memory, which must outlive the source. */
int broad__source_memory(broad__source *out, const char *name, const void *bytes, size_t count);

/* With a limit: the memory of these bytes is released; they can still be read. */
void broad__source_done(const broad__source *source, const char *from, const char *to);

/* Whether broad__source_take() will do so: what was unpacked, piped or copied goes with the source. */
int broad__source_lasts(const broad__source *source);
/* The mapping of the file passes to the caller, with the bytes in it. 0: the bytes lie elsewhere. */
int broad__source_take(broad__mapping *out, broad__source *source);

void broad__source_close(broad__source *source);

#endif
