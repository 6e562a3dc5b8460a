#include "data/detect.h"

#include <string.h>

#include "base/common.h"
#include "base/status.h"
#include "data/format/idx.h"
#include "data/format/npy.h"
#include "image/codec/decode.h"

/* How to make CSV of them. */
#define PANDAS(kind)                                                                                                   \
    "python3 -c \"import pandas as p, sys; p.read_" kind "(sys.argv[1]).to_csv('table.csv', index=False)\" FILE"
#define OFFICE "convert it with libreoffice --headless --convert-to csv FILE, or save it as CSV"

typedef struct foreign_format {
    const char *magic;
    size_t count;
    const char *what;
} foreign_format;

/* clang-format off */
static const foreign_format foreign_formats[] = {
    {"\xFD""7zXZ", 5, "packed with xz; unpack it first"},
    {"BZh", 3, "packed with bzip2; unpack it first"},
    {"\x28\xB5\x2F\xFD", 4, "packed with zstd; unpack it first"},
    {"\x89""HDF", 4, "an HDF5 file; convert it, for example with " PANDAS("hdf")},
    {"PAR1", 4, "a Parquet file; convert it, for example with " PANDAS("parquet")},
    {"ARROW1", 6, "a Feather (Arrow) file; convert it, for example with " PANDAS("feather")},
    {"SQLite format 3", 15, "an SQLite database; export a table, for example with sqlite3 -header -csv FILE "
                            "\"select * from TABLE\" > table.csv"},
    {"\xD0\xCF\x11\xE0", 4, "an old Excel workbook (XLS); " OFFICE},
    {"%PDF", 4, "a PDF document, not a table"},
};
/* clang-format on */

static int contains(const void *bytes, size_t count, const char *wanted)
{
    return memmem(bytes, count, wanted, strlen(wanted)) != NULL;
}

/* What a ZIP archive holds, from the names of its first files. */
static const char *zip_find(const void *bytes, size_t count)
{
    enum { NAMES = 4096 };
    size_t looked = broad__min(count, NAMES);
    if (count < 4 || memcmp(bytes, "PK\x03\x04", 4) != 0) return NULL;
    if (contains(bytes, looked, "opendocument.spreadsheet")) return "an OpenDocument table (ODS); " OFFICE;
    if (contains(bytes, looked, "[Content_Types].xml") || contains(bytes, looked, "xl/"))
        return "an Excel workbook (XLSX); " OFFICE;
    if (contains(bytes, looked, ".npy")) return "a ZIP archive of arrays (NPZ); save each array with numpy.save as NPY";
    return "a ZIP archive; unpack it, or export it as CSV";
}

/* JSON: an object or an array of objects, perhaps one per line. Names in braces begin no table. */
static const char *json_find(const char *bytes, size_t count)
{
    size_t at = 0;
    while (at < count && broad__is_blank(bytes[at])) at++;
    int list = at < count && bytes[at] == '[';
    if (list) at++;
    while (at < count && broad__is_blank(bytes[at])) at++;
    if (at >= count || bytes[at] != '{') return NULL;
    for (at++; at < count && broad__is_blank(bytes[at]);) at++;
    if (at < count && bytes[at] != '"' && bytes[at] != '}') return NULL;
    return list ? "JSON; convert it, for example with jq -r '(.[0]|keys_unsorted) as $k|$k,(.[]|[.[$k[]]])|@csv' FILE "
                  "> table.csv"
                : "JSON; if each line is a row, convert it with jq -rs '(.[0]|keys_unsorted) as "
                  "$k|$k,(.[]|[.[$k[]]])|@csv' "
                  "FILE > table.csv";
}

static const char *foreign_find(const void *bytes, size_t count)
{
    const char *what = zip_find(bytes, count);
    if (!what) what = json_find(bytes, count);
    if (what) return what;
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

/* UTF-16 with its mark. */
static int is_wide_text(const unsigned char *bytes, size_t count)
{
    return count >= 2 && ((bytes[0] == 0xFF && bytes[1] == 0xFE) || (bytes[0] == 0xFE && bytes[1] == 0xFF));
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
    if (is_text(bytes, count) || is_wide_text(bytes, count) || is_gzip(bytes, count) || broad__npy_is(bytes, count) ||
        broad__idx_is(bytes, count))
        return (broad__detected){.content = BROAD__CONTENT_TABLE};
    what = broad__picture_name(bytes, count);
    return (broad__detected){what ? BROAD__CONTENT_PICTURE : BROAD__CONTENT_UNKNOWN, what};
}

int broad__data_refuse(const char *name, const void *bytes, size_t count)
{
    broad__detected found = broad__data_detect(bytes, count);
    if (found.content == BROAD__CONTENT_FOREIGN) return broad__fail(BROAD_BAD_DATA, "%s: %s", name, found.what);
    if (found.content == BROAD__CONTENT_PICTURE)
        return broad__fail(BROAD_BAD_DATA, "%s: %s, not a table; photos are read from a folder", name, found.what);
    return BROAD_OK;
}
