#include "data/format/idx.h"

#include <string.h>

#include "base/status.h"

typedef struct idx_type {
    unsigned char code;
    char type;
    unsigned char item;
} idx_type;

static const idx_type types[] = {{0x08, 'u', 1}, {0x09, 'i', 1}, {0x0B, 'i', 2},
                                 {0x0C, 'i', 4}, {0x0D, 'f', 4}, {0x0E, 'f', 8}};

static const idx_type *find_type(unsigned char code)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].code == code) return &types[i];
    return NULL;
}

int broad__idx_is(const void *bytes, size_t count)
{
    const unsigned char *first = bytes;
    return count >= 4 && first[0] == 0 && first[1] == 0 && find_type(first[2]);
}

int broad__idx_open(broad__matrix *out, const broad__source *source)
{
    const unsigned char *bytes = (const unsigned char *)source->bytes;
    const idx_type *type = find_type(bytes[2]);
    const unsigned short probe = 1;
    *out = (broad__matrix){.name = source->name, .type = type->type, .item = type->item, .dimensions = bytes[3]};
    out->source = source;
    out->swapped = *(const unsigned char *)&probe && type->item > 1;
    if (out->dimensions < 1 || out->dimensions > BROAD__DIMENSIONS_MAX)
        return broad__fail(BROAD_BAD_DATA, "%s: %zu dimensions in an IDX file; 1 to %d can be read", source->name,
                           out->dimensions, BROAD__DIMENSIONS_MAX);
    size_t start = 4 + 4 * out->dimensions;
    if (source->count < start)
        return broad__fail(BROAD_BAD_DATA, "%s: the IDX header is cut off: it needs %zu bytes, the file has %zu",
                           source->name, start, source->count);
    for (size_t d = 0; d < out->dimensions; d++) {
        const unsigned char *at = bytes + 4 + 4 * d;
        out->shape[d] = (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
    }
    out->bytes = bytes + start;
    return broad__matrix_check(out, source->count - start);
}
