#include "data/recognise.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

enum { START_BYTES = 16, LEAST_BYTES = 4 };

/* Bytes at a place of a file. */
typedef struct sign {
    size_t at;
    const char *bytes;
    size_t count;
    broad_path_kind kind;
    const char *foreign; /* why it is no table; NULL: it is one, or readers of tables find out by themselves */
} sign;

#define PICTURE "a picture, not a table; photos are read from a folder"
#define UTF_16 "UTF-16 text; convert it with iconv -f UTF-16 -t UTF-8"

static const sign signs[] = {
    {0, "\xFF\xD8\xFF", 3, BROAD_PATH_KIND_PHOTO, PICTURE},
    {0, "\x89PNG\r\n\x1A\n", 8, BROAD_PATH_KIND_PHOTO, PICTURE},
    {0, "\x89PNG", 4, BROAD_PATH_KIND_PICTURE, PICTURE},
    {0, "GIF8", 4, BROAD_PATH_KIND_PICTURE, NULL},
    {0, "II*\0", 4, BROAD_PATH_KIND_PICTURE, NULL},
    {0, "MM\0*", 4, BROAD_PATH_KIND_PICTURE, NULL},
    {4, "ftyp", 4, BROAD_PATH_KIND_PICTURE, NULL},
    {8, "WEBP", 4, BROAD_PATH_KIND_PICTURE, NULL},
    {0, "\x93NUM", 4, BROAD_PATH_KIND_TABLE, NULL},
    {0, "\x1F\x8B", 2, BROAD_PATH_KIND_TABLE, NULL},
    {0, "PK\x03\x04", 4, BROAD_PATH_KIND_UNKNOWN,
     "a ZIP archive (NPZ, XLSX or the like); unpack it, or export it as CSV"},
    {0,
     "\xFD"
     "7zXZ",
     5, BROAD_PATH_KIND_UNKNOWN, "packed with xz; unpack it first"},
    {0, "BZh", 3, BROAD_PATH_KIND_TABLE, "packed with bzip2; unpack it first"},
    {0, "\x28\xB5\x2F\xFD", 4, BROAD_PATH_KIND_TABLE, "packed with zstd; unpack it first"},
    {0, "\x89HDF", 4, BROAD_PATH_KIND_TABLE, "an HDF5 file; export it as NPY or CSV"},
    {0, "PAR1", 4, BROAD_PATH_KIND_TABLE, "a Parquet file; export it as CSV or NPY"},
    {0, "%PDF", 4, BROAD_PATH_KIND_TABLE, "a PDF document, not a table"},
    {0, "\xFF\xFE", 2, BROAD_PATH_KIND_TABLE, UTF_16},
    {0, "\xFE\xFF", 2, BROAD_PATH_KIND_TABLE, UTF_16},
};
enum { SIGNS = sizeof signs / sizeof signs[0] };

static int has_sign(const unsigned char *bytes, size_t count, const sign *s)
{
    return count >= s->at + s->count && memcmp(bytes + s->at, s->bytes, s->count) == 0;
}

static int is_bitmap(const unsigned char *bytes, size_t count)
{
    return count >= 10 && memcmp(bytes, "BM", 2) == 0 && memcmp(bytes + 6, "\0\0\0\0", 4) == 0;
}

static int is_idx(const unsigned char *bytes) { return !bytes[0] && !bytes[1] && bytes[2] >= 8 && bytes[2] <= 14; }

static int is_text(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] < ' ' && (!bytes[i] || !strchr("\t\r\n", bytes[i]))) return 0;
    return 1;
}

broad_path_kind broad__bytes_kind(const void *bytes, size_t count)
{
    if (count < LEAST_BYTES) return BROAD_PATH_KIND_UNKNOWN;
    for (size_t i = 0; i < SIGNS; i++)
        if (has_sign(bytes, count, &signs[i])) return signs[i].kind;
    if (is_bitmap(bytes, count)) return BROAD_PATH_KIND_PICTURE;
    if (is_idx(bytes)) return BROAD_PATH_KIND_TABLE;
    return is_text(bytes, count < START_BYTES ? count : START_BYTES) ? BROAD_PATH_KIND_TABLE : BROAD_PATH_KIND_UNKNOWN;
}

const char *broad__bytes_foreign(const void *bytes, size_t count)
{
    for (size_t i = 0; i < SIGNS; i++)
        if (signs[i].foreign && has_sign(bytes, count, &signs[i])) return signs[i].foreign;
    return NULL;
}

broad_path_kind broad__path_kind(const char *path)
{
    unsigned char start[START_BYTES] = {0};
    size_t count = 0;
    struct stat info;
    if (stat(path, &info) != 0) return BROAD_PATH_KIND_UNKNOWN;
    if (S_ISDIR(info.st_mode)) return BROAD_PATH_KIND_FOLDER;
    if (!S_ISREG(info.st_mode) || broad__file_read_start(start, &count, path, sizeof start) < 0)
        return BROAD_PATH_KIND_UNKNOWN;
    return broad__bytes_kind(start, count);
}
