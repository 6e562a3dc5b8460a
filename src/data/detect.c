#include "data/detect.h"

#include <string.h>

#include "base/common.h"
#include "data/format/idx.h"
#include "data/format/npy.h"
#include "image/codec/decode.h"

typedef struct foreign_format {
    const char *magic;
    size_t count;
    const char *what;
} foreign_format;

/* clang-format off */
static const foreign_format foreign_formats[] = {
    {"PK\x03\x04", 4, "a ZIP archive (NPZ, XLSX or the like); unpack it, or export it as CSV"},
    {"\xFD""7zXZ", 5, "packed with xz; unpack it first"},
    {"BZh", 3, "packed with bzip2; unpack it first"},
    {"\x28\xB5\x2F\xFD", 4, "packed with zstd; unpack it first"},
    {"\x89""HDF", 4, "an HDF5 file; export it as NPY or CSV"},
    {"PAR1", 4, "a Parquet file; export it as CSV or NPY"},
    {"%PDF", 4, "a PDF document, not a table"},
    {"\xFF\xFE", 2, "UTF-16 text; convert it with iconv -f UTF-16 -t UTF-8"},
    {"\xFE\xFF", 2, "UTF-16 text; convert it with iconv -f UTF-16 -t UTF-8"},
};
/* clang-format on */

static const char *foreign_find(const void *bytes, size_t count)
{
    for (size_t i = 0; i < sizeof foreign_formats / sizeof foreign_formats[0]; i++) {
        const foreign_format *f = &foreign_formats[i];
        if (count >= f->count && memcmp(bytes, f->magic, f->count) == 0) return f->what;
    }
    return NULL;
}

/* No control characters, and the first byte may begin a character of UTF-8. */
static int is_text(const unsigned char *bytes, size_t count)
{
    if (count && ((bytes[0] >= 0x80 && bytes[0] < 0xC2) || bytes[0] > 0xF4)) return 0;
    for (size_t i = 0; i < broad__min(count, BROAD__DETECT_BYTES); i++)
        if (bytes[i] < ' ' && !broad__is_blank((char)bytes[i])) return 0;
    return count > 0;
}

static int is_gzip(const unsigned char *bytes, size_t count)
{
    return count >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
}

broad__detected broad__data_detect(const void *bytes, size_t count)
{
    const char *what = foreign_find(bytes, count);
    if (what) return (broad__detected){BROAD__CONTENT_FOREIGN, what};
    /* Text comes first: the words of a header may look like the start of a picture. */
    if (is_text(bytes, count) || is_gzip(bytes, count) || broad__npy_is(bytes, count) || broad__idx_is(bytes, count))
        return (broad__detected){.content = BROAD__CONTENT_TABLE};
    what = broad__picture_name(bytes, count);
    return (broad__detected){what ? BROAD__CONTENT_PICTURE : BROAD__CONTENT_UNKNOWN, what};
}
