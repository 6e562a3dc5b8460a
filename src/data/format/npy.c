#include "data/format/npy.h"

#include <string.h>

#include "base/status.h"

typedef struct header_cursor {
    const char *at, *end;
} header_cursor;

int broad__npy_is(const void *bytes, size_t count) { return count >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0; }

static void skip_blanks(header_cursor *c)
{
    while (c->at < c->end && strchr(" \t\r\n", *c->at) && *c->at) c->at++;
}

static int take(header_cursor *c, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(c);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) return 0;
    c->at += length;
    return 1;
}

/* A quoted word without escapes. */
static int take_string(header_cursor *c, broad__text *out)
{
    skip_blanks(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) return 0;
    const char *begin = c->at + 1;
    const char *close = memchr(begin, *c->at, (size_t)(c->end - begin));
    if (!close) return 0;
    *out = (broad__text){begin, (size_t)(close - begin)};
    c->at = close + 1;
    return 1;
}

static int take_size(header_cursor *c, size_t *out)
{
    skip_blanks(c);
    const char *begin = c->at;
    *out = 0;
    for (; c->at < c->end && (unsigned)(*c->at - '0') <= 9; c->at++) {
        if (__builtin_mul_overflow(*out, (size_t)10, out)) return 0;
        if (__builtin_add_overflow(*out, (size_t)(*c->at - '0'), out)) return 0;
    }
    if (c->at < c->end && *c->at == 'L') c->at++; /* Python 2 wrote long numbers so */
    return c->at > begin;
}

static int take_shape(header_cursor *c, broad__matrix *matrix)
{
    if (!take(c, "(")) return 0;
    while (!take(c, ")")) {
        if (matrix->dimensions == BROAD__DIMENSIONS_MAX) return 0;
        if (!take_size(c, &matrix->shape[matrix->dimensions++])) return 0;
        if (!take(c, ",") && !(c->at < c->end && *c->at == ')')) return 0;
    }
    return 1;
}

static int parse_type(broad__matrix *matrix, broad__text descr)
{
    static const char known[] = " f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 ";
    char quoted[BROAD__QUOTE_BYTES], word[5] = "    ";
    const unsigned short probe = 1;
    int little = *(const unsigned char *)&probe;
    int order_known = descr.count == 3 && strchr("<>|=", descr.bytes[0]);
    if (order_known) memcpy(word + 1, descr.bytes + 1, 2);
    if (!order_known || memchr(word + 1, ' ', 2) || !strstr(known, word))
        return broad__fail(BROAD_BAD_DATA,
                           "%s: numbers of the type %s cannot be read; save them as float64 (known: f4 f8 i1 "
                           "i2 i4 i8 u1 u2 u4 u8 b1)",
                           matrix->name, broad__text_quote(quoted, descr));
    matrix->type = word[1] == 'b' ? 'u' : word[1];
    matrix->item = (size_t)(word[2] - '0');
    matrix->swapped = matrix->item > 1 && ((descr.bytes[0] == '>' && little) || (descr.bytes[0] == '<' && !little));
    return BROAD_OK;
}

/* The entries of the header that have been seen. */
typedef struct header_seen {
    int descr, order, shape;
} header_seen;

static int take_descr(header_cursor *c, broad__matrix *matrix, int *sound)
{
    broad__text descr;
    if (take(c, "["))
        return broad__fail(BROAD_BAD_DATA, "%s: a structured array cannot be read; save one plain array of numbers",
                           matrix->name);
    *sound = take_string(c, &descr);
    return *sound ? parse_type(matrix, descr) : BROAD_OK;
}

static int take_order(header_cursor *c, broad__matrix *matrix)
{
    matrix->fortran = take(c, "True");
    return matrix->fortran || take(c, "False");
}

/* One "key: value"; *sound: it is well-formed, known and not a repetition. */
static int take_entry(header_cursor *c, broad__matrix *matrix, header_seen *seen, int *sound)
{
    broad__text key;
    *sound = take_string(c, &key) && take(c, ":");
    if (!*sound) return BROAD_OK;
    if (broad__text_same(key, broad__text_of("descr")) && !seen->descr++) return take_descr(c, matrix, sound);
    if (broad__text_same(key, broad__text_of("fortran_order")) && !seen->order++) *sound = take_order(c, matrix);
    else *sound = broad__text_same(key, broad__text_of("shape")) && !seen->shape++ && take_shape(c, matrix);
    return BROAD_OK;
}

static int parse_header(broad__matrix *matrix, header_cursor c)
{
    header_seen seen = {0};
    int status = BROAD_OK, sound = take(&c, "{"), more = sound;
    while (more && status == BROAD_OK && !take(&c, "}")) {
        status = take_entry(&c, matrix, &seen, &sound);
        more = sound && take(&c, ",");
        if (sound && !more) sound = take(&c, "}");
    }
    if (status < 0) return status;
    if (!sound || !seen.descr || !seen.order || !seen.shape)
        return broad__fail(BROAD_BAD_DATA, "%s: the NPY header is damaged; save the array again", matrix->name);
    return BROAD_OK;
}

int broad__npy_open(broad__matrix *out, const broad__source *source)
{
    const unsigned char *bytes = (const unsigned char *)source->bytes;
    *out = (broad__matrix){.name = source->name, .source = source};
    if (source->count < 10) return broad__fail(BROAD_BAD_DATA, "%s: the NPY header is cut off", source->name);
    if (bytes[6] < 1 || bytes[6] > 3)
        return broad__fail(BROAD_BAD_DATA, "%s: NPY version %u is not known (1, 2 and 3 are)", source->name, bytes[6]);
    size_t start = bytes[6] == 1 ? 10 : 12;
    size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (start == 12 && source->count >= start) length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (source->count < start || source->count - start < length)
        return broad__fail(BROAD_BAD_DATA, "%s: the NPY header is cut off: %zu bytes are claimed, the file has %zu",
                           source->name, start + length, source->count);
    const char *text = source->bytes + start;
    int status = parse_header(out, (header_cursor){text, text + length});
    if (status < 0) return status;
    if (!out->dimensions) return broad__fail(BROAD_BAD_DATA, "%s: a single number, not an array of rows", source->name);
    out->bytes = bytes + start + length;
    return broad__matrix_check(out, source->count - start - length);
}
