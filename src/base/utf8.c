#include "base/utf8.h"

#include <string.h>

size_t broad__utf8_length(const char *text, size_t count)
{
    const unsigned char *at = (const unsigned char *)text;
    if (!count) return 0;
    if (at[0] < 0x80) return 1;
    size_t length = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
    if (at[0] < 0xC2 || at[0] > 0xF4 || count < length) return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xC0) != 0x80) return 0;
    if ((at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] > 0x9F)) return 0;
    if ((at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] > 0x8F)) return 0;
    return length;
}

int broad__utf8_valid(const char *text, size_t count)
{
    for (size_t at = 0; at < count;) {
        size_t length = broad__utf8_length(text + at, count - at);
        if (!length) return 0;
        at += length;
    }
    return 1;
}

const char *broad__utf8_quote(char out[BROAD__QUOTE_BYTES], const char *bytes, size_t count)
{
    enum { ROOM = BROAD__QUOTE_BYTES - 6 }; /* both marks, "...", NUL */
    size_t used = 0, i = 0;
    out[used++] = '\'';
    while (i < count) {
        size_t length = broad__utf8_length(bytes + i, count - i), shown = length ? length : 1;
        unsigned char first = (unsigned char)bytes[i];
        if (used + shown > ROOM) break;
        if (!length || first < 0x20 || first == 0x7F) out[used] = '?';
        else memcpy(out + used, bytes + i, shown);
        used += shown;
        i += shown;
    }
    if (i < count) {
        memcpy(out + used, "...", 3);
        used += 3;
    }
    out[used++] = '\'';
    out[used] = 0;
    return out;
}
