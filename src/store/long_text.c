#include "store/long_text.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/utf8.h"

/* Decodes the string from `at` on into `out`, which has room for all that is left. Returns where its closing quote is; 0: it is
 * left to the parser. */
static size_t decode(char *out, size_t *out_length, const char *json, size_t bytes, size_t at)
{
    static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    size_t length = 0;
    for (; at < bytes && json[at] != '"'; at++) {
        char c = json[at];
        if ((unsigned char)c < ' ') return 0;
        if (c == '\\') {
            const char *escape = ++at < bytes && json[at] ? strchr(escapes, json[at]) : NULL;
            if (!escape) return 0;
            c = meant[escape - escapes];
        }
        out[length++] = c;
    }
    out[length] = '\0';
    *out_length = length;
    return at < bytes && broad__utf8_valid(out, length) ? at : 0;
}

int broad__long_text_take(char **out_text, char **out_rest, size_t *out_rest_bytes, const char *json, size_t bytes,
                          size_t first)
{
    *out_text = *out_rest = NULL;
    char *text = broad__alloc_unset(bytes - first + 1, 1);
    if (!text) return BROAD_NO_MEMORY;
    size_t length = 0, end = decode(text, &length, json, bytes, first);
    char *rest = end ? broad__alloc_unset(first + bytes - end, 1) : NULL;
    if (!rest) {
        broad__free(text);
        return end ? BROAD_NO_MEMORY : BROAD_OK;
    }
    memcpy(rest, json, first);
    memcpy(rest + first, json + end, bytes - end);
    *out_text = text;
    *out_rest = rest;
    *out_rest_bytes = first + bytes - end;
    return BROAD_OK;
}
