#include "base/utf8.h"

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
