#include "data/format/encoding.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/utf8.h"

/* Bytes 0x80 to 0x9F; 0: there is no such character. */
static const uint16_t windows_1252[32] = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178,
};

static const uint32_t UNKNOWN = 0xFFFD; /* the replacement character */

static size_t put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

/* The character at `at` of `count` bytes; *bytes is how many it takes. */
typedef uint32_t (*take_function)(const unsigned char *at, size_t count, size_t *bytes);

static uint32_t take_1252(const unsigned char *at, size_t count, size_t *bytes)
{
    (void)count;
    *bytes = 1;
    if (*at < 0x80 || *at > 0x9F) return *at;
    return windows_1252[*at - 0x80] ? windows_1252[*at - 0x80] : UNKNOWN;
}

static uint32_t take_wide(const unsigned char *at, size_t count, size_t *bytes, int little)
{
    *bytes = count < 2 ? count : 2;
    if (count < 2) return UNKNOWN;
    uint32_t first = little ? at[0] | (uint32_t)at[1] << 8 : at[1] | (uint32_t)at[0] << 8;
    if (first < 0xD800 || first > 0xDFFF) return first;
    if (first > 0xDBFF || count < 4) return UNKNOWN;
    uint32_t second = little ? at[2] | (uint32_t)at[3] << 8 : at[3] | (uint32_t)at[2] << 8;
    if (second < 0xDC00 || second > 0xDFFF) return UNKNOWN;
    *bytes = 4;
    return 0x10000 + ((first - 0xD800) << 10 | (second - 0xDC00));
}

static uint32_t take_little(const unsigned char *at, size_t count, size_t *bytes)
{
    return take_wide(at, count, bytes, 1);
}

static uint32_t take_big(const unsigned char *at, size_t count, size_t *bytes)
{
    return take_wide(at, count, bytes, 0);
}

/* Goes over the text: writes it, or with `out` NULL counts the bytes to write. Zeros would end a name. */
static size_t convert(char *out, const broad__source *source, size_t skip, take_function take)
{
    const unsigned char *at = (const unsigned char *)source->bytes;
    char one[4] = {0};
    size_t used = 0;
    for (size_t i = skip, bytes; i < source->count; i += bytes) {
        uint32_t c = take(at + i, source->count - i, &bytes);
        used += put_utf8(out ? out + used : one, c ? c : UNKNOWN);
    }
    return used;
}

static int replace(broad__source *source, size_t skip, take_function take)
{
    broad__source fresh = {.name = source->name, .memory = source->memory};
    int status = fresh.memory ? broad__spill_open(&fresh.spill, fresh.memory) : BROAD_OK;
    if (status < 0) return status;
    fresh.count = convert(NULL, source, skip, take);
    char *block = broad__spill_alloc(fresh.spill, fresh.count + 1, 1);
    if (!block) {
        broad__spill_close(fresh.spill);
        return BROAD_NO_MEMORY;
    }
    convert(block, source, skip, take);
    block[fresh.count] = '\n'; /* never read: it only keeps a block of no bytes from being NULL */
    fresh.block = block;
    fresh.bytes = block;
    broad__source_close(source);
    *source = fresh;
    return BROAD_OK;
}

int broad__encoding_wide(broad__source *source, broad__notes *notes)
{
    if (source->count < 2) return BROAD_OK;
    int little = memcmp(source->bytes, "\xFF\xFE", 2) == 0, big = memcmp(source->bytes, "\xFE\xFF", 2) == 0;
    if (!little && !big) return BROAD_OK;
    int status = replace(source, 2, little ? take_little : take_big);
    return status == BROAD_OK ? broad__note(notes, "the file is UTF-16 text") : status;
}

int broad__encoding_bytes(int *out, broad__source *source, broad__notes *notes)
{
    int text = !source->count || !memchr(source->bytes, 0, source->count);
    *out = text && !broad__utf8_valid(source->bytes, source->count);
    if (!*out) return BROAD_OK;
    int status = replace(source, 0, take_1252);
    return status == BROAD_OK ? broad__note(notes, "the file is not UTF-8 text; it was read as Windows-1252 (Latin-1)")
                              : status;
}

/* The byte that is this character of Windows-1252, or 0. */
static unsigned char byte_of(broad__text character)
{
    char one[4];
    if (character.count == 1) return (unsigned char)character.bytes[0];
    for (unsigned byte = 0x80; byte < 256; byte++) {
        const unsigned char at = (unsigned char)byte;
        size_t taken;
        uint32_t c = take_1252(&at, 1, &taken);
        if (c != UNKNOWN && put_utf8(one, c) == character.count && !memcmp(one, character.bytes, character.count))
            return at;
    }
    return 0;
}

void broad__encoding_back(char *out, size_t *out_count, broad__text text)
{
    *out_count = 0;
    size_t used = 0;
    for (size_t at = 0, length; at < text.count; at += length) {
        length = broad__utf8_length(text.bytes + at, text.count - at);
        unsigned char byte = length ? byte_of((broad__text){text.bytes + at, length}) : 0;
        if (!byte) return;
        out[used++] = (char)byte;
    }
    *out_count = used;
}
