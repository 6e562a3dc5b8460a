#include "serve/tar.h"

#include <ctype.h>
#include <string.h>

enum { BLOCK = 512 };

/* Where the fields of a header lie. */
typedef struct header {
    char name[100], mode[8], owner[8], group[8], size[12], changed[12], sum[8], type, link[100], magic[8], rest[247];
} header;
_Static_assert(sizeof(header) == BLOCK, "a header is one block");

static void pad(cli_output *output, size_t count)
{
    static const char zeros[BLOCK];
    if (count % BLOCK) cli_output_bytes(output, zeros, BLOCK - count % BLOCK);
}

void serve_tar_add(cli_output *output, const char *name, const void *bytes, size_t count, long long changed)
{
    header own;
    unsigned sum = 0;
    memset(&own, 0, sizeof own);
    memcpy(own.name, name, strnlen(name, sizeof own.name));
    memcpy(own.mode, "0000644", 8);
    memcpy(own.owner, "0000000", 8);
    memcpy(own.group, "0000000", 8);
    snprintf(own.size, sizeof own.size, "%011zo", count);
    snprintf(own.changed, sizeof own.changed, "%011llo", (unsigned long long)changed & 077777777777ULL);
    memcpy(own.magic, "ustar\00000", 8);
    own.type = '0';
    memset(own.sum, ' ', sizeof own.sum);
    for (size_t i = 0; i < sizeof own; i++) sum += ((const unsigned char *)&own)[i];
    snprintf(own.sum, sizeof own.sum, "%06o", sum);
    cli_output_bytes(output, (const char *)&own, sizeof own);
    cli_output_bytes(output, bytes, count);
    pad(output, count);
}

void serve_tar_end(cli_output *output)
{
    static const char zeros[2 * BLOCK];
    cli_output_bytes(output, zeros, sizeof zeros);
}

void serve_tar_name(char *out, size_t bytes, const char *text)
{
    size_t used = 0;
    while (*text == '.' || *text == ' ') text++;
    for (; *text && used + 1 < bytes; text++) {
        unsigned char c = (unsigned char)*text;
        out[used++] = isalnum(c) || c >= 128 || strchr("._-() +", c) ? *text : '_';
    }
    while (used && ((unsigned char)out[used - 1] & 0xC0) == 0x80 && used + 1 == bytes) used--; /* a cut character */
    if (!used) out[used++] = '_';
    out[used] = 0;
}
