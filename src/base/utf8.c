#include "base/utf8.h"

#include <string.h>

size_t broad__utf8_length(const char *at, size_t left)
{
    const unsigned char *byte = (const unsigned char *)at;
    if (left == 0) return 0;
    if (byte[0] < 0x80) return 1;
    size_t length = byte[0] >= 0xc2 && byte[0] < 0xe0 ? 2 : (byte[0] & 0xf0) == 0xe0 ? 3 : 0;
    if (byte[0] >= 0xf0 && byte[0] <= 0xf4) length = 4;
    if (length > left) return 0;
    for (size_t i = 1; i < length; i++)
        if ((byte[i] & 0xc0) != 0x80) return 0;
    int overlong = (byte[0] == 0xe0 && byte[1] < 0xa0) || (byte[0] == 0xf0 && byte[1] < 0x90);
    int surrogate = byte[0] == 0xed && byte[1] > 0x9f, beyond = byte[0] == 0xf4 && byte[1] > 0x8f;
    return overlong || surrogate || beyond ? 0 : length;
}

int broad__utf8_valid(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count;) {
        size_t length = broad__utf8_length(bytes + i, count - i);
        if (!length) return 0;
        i += length;
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
