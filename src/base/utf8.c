#include "base/utf8.h"

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
