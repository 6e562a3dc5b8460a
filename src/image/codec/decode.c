#include "image/codec/decode.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "image/codec/decode_heif.h"
#include "image/codec/decode_jpeg.h"
#include "image/codec/decode_png.h"
#include "image/codec/decode_tiff.h"
#include "image/codec/decode_webp.h"

#if BROAD_WITH_WEBP
#define BROAD__WEBP_NAME ", WebP"
#else
#define BROAD__WEBP_NAME ""
#endif
#if BROAD_WITH_TIFF
#define BROAD__TIFF_NAME ", TIFF"
#else
#define BROAD__TIFF_NAME ""
#endif

/* A format that is read, if the library is there. */
typedef struct codec {
    const char *name;
    int built;
    int (*there)(void); /* whether what the build knows of can be loaded; NULL: it is linked */
    int (*is)(const unsigned char *bytes, size_t count);
    int (*decode)(broad__decode_job *job);
    const char *convert; /* a command for all files of a folder */
} codec;

static int is_jpeg(const unsigned char *bytes, size_t count)
{
    return count >= 3 && memcmp(bytes, "\xFF\xD8\xFF", 3) == 0;
}

static int is_png(const unsigned char *bytes, size_t count)
{
    return count >= 8 && memcmp(bytes, "\x89PNG\r\n\x1A\n", 8) == 0 &&
           !(count >= 16 && memcmp(bytes + 12, "CgBI", 4) == 0);
}

static int is_webp(const unsigned char *bytes, size_t count)
{
    return count >= 12 && memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WEBP", 4) == 0;
}

static int is_tiff(const unsigned char *bytes, size_t count)
{
    return count >= 4 && (memcmp(bytes, "II*", 4) == 0 || memcmp(bytes, "MM\0*", 4) == 0);
}

static int is_heif(const unsigned char *bytes, size_t count)
{
    static const char brands[][5] = {"heic", "heix", "heim", "heis", "mif1", "avif"};
    for (size_t i = 0; i < sizeof brands / sizeof brands[0]; i++)
        if (count >= 12 && memcmp(bytes + 4, "ftyp", 4) == 0 && memcmp(bytes + 8, brands[i], 4) == 0) return 1;
    return 0;
}

/* clang-format off */
static const codec codecs[] = {
    {"JPEG", 1, NULL, is_jpeg, broad__decode_jpeg, NULL},
    {"PNG", 1, NULL, is_png, broad__decode_png, NULL},
    {"HEIC", BROAD_WITH_HEIF, broad__decode_heif_there, is_heif, broad__decode_heif,
     "for f in *.heic; do heif-convert -q 95 \"$f\" \"${f%.*}.jpg\"; done"},
    {"WebP", BROAD_WITH_WEBP, NULL, is_webp, broad__decode_webp, "for f in *.webp; do dwebp \"$f\" -o \"${f%.*}.png\"; done"},
    {"TIFF", BROAD_WITH_TIFF, NULL, is_tiff, broad__decode_tiff, "for f in *.tif; do convert \"$f[0]\" \"${f%.*}.png\"; done"},
};
/* clang-format on */
enum { CODECS = sizeof codecs / sizeof codecs[0] };

static const codec *codec_find(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < CODECS; i++)
        if (codecs[i].is(bytes, count)) return &codecs[i];
    return NULL;
}

static int is_there(const codec *found) { return found->built && (!found->there || found->there()); }

int broad__decode_reads(const void *bytes, size_t count)
{
    const codec *found = codec_find(bytes, count);
    return found && is_there(found);
}

const char *broad__decode_formats(void)
{
    return broad__decode_heif_there() ? "JPEG, PNG, HEIC" BROAD__WEBP_NAME BROAD__TIFF_NAME
                                      : "JPEG, PNG" BROAD__WEBP_NAME BROAD__TIFF_NAME;
}

/* Files that are often found in folders of photos. `second` must follow at offset 8, after a length or size. */
typedef struct magic {
    const char *first;
    unsigned char length;
    unsigned char offset;
    const char *second;
    const char *what;
} magic;

/* clang-format off */
static const magic magics[] = {
    {"\xFF\xD8\xFF", 3, 0, NULL, "a JPEG picture"},
    {"CgBI", 4, 12, NULL, "a PNG picture in Apple's own form"},
    {"\x89PNG", 4, 0, NULL, "a PNG picture"},
    {"GIF8", 4, 0, NULL, "a GIF picture"},
    {"RIFF", 4, 0, "WEBP", "a WebP picture"},
    {"RIFF", 4, 0, "AVI ", "an AVI video"},
    {"ftyp", 4, 4, "heic", "an HEIC picture"},
    {"ftyp", 4, 4, "heix", "an HEIC picture"},
    {"ftyp", 4, 4, "heim", "an HEIC picture"},
    {"ftyp", 4, 4, "hevc", "an HEIC picture"},
    {"ftyp", 4, 4, "mif1", "an HEIF picture"},
    {"ftyp", 4, 4, "msf1", "an HEIF picture"},
    {"ftyp", 4, 4, "avif", "an AVIF picture"},
    {"ftyp", 4, 4, "avis", "an AVIF picture"},
    {"ftyp", 4, 4, "crx ", "a Canon raw picture"},
    {"ftyp", 4, 4, NULL, "an MP4 or QuickTime video"},
    {"II*\0", 4, 0, NULL, "a TIFF or raw picture"},
    {"MM\0*", 4, 0, NULL, "a TIFF or raw picture"},
    {"II+\0", 4, 0, NULL, "a TIFF picture"},
    {"MM\0+", 4, 0, NULL, "a TIFF picture"},
    {"\0\0\0\fjP  ", 8, 0, NULL, "a JPEG 2000 picture"},
    {"\xFF\x4F\xFF\x51", 4, 0, NULL, "a JPEG 2000 picture"},
    {"\0\0\0\fJXL ", 8, 0, NULL, "a JPEG XL picture"},
    {"\xFF\x0A", 2, 0, NULL, "a JPEG XL picture"},
    {"BM", 2, 0, NULL, "a BMP picture"},
    {"\0\0\1\0", 4, 0, NULL, "an icon"},
    {"8BPS", 4, 0, NULL, "a Photoshop picture"},
    {"qoif", 4, 0, NULL, "a QOI picture"},
    {"\x76\x2F\x31\x01", 4, 0, NULL, "an OpenEXR picture"},
    {"#?RADIANCE", 10, 0, NULL, "a Radiance picture"},
    {"FUJIFILMCCD-RAW", 15, 0, NULL, "a Fujifilm raw picture"},
    {"\x8AMNG", 4, 0, NULL, "an MNG animation"},
    {"P1\n", 3, 0, NULL, "a PBM picture"},
    {"P2\n", 3, 0, NULL, "a PGM picture"},
    {"P3\n", 3, 0, NULL, "a PPM picture"},
    {"P4\n", 3, 0, NULL, "a PBM picture"},
    {"P5\n", 3, 0, NULL, "a PGM picture"},
    {"P6\n", 3, 0, NULL, "a PPM picture"},
};
static const magic others[] = {
    {"%PDF", 4, 0, NULL, "a PDF document"},
    {"PK\3\4", 4, 0, NULL, "a ZIP archive"},
    {"\x1F\x8B", 2, 0, NULL, "a gzip archive"},
    {"Rar!", 4, 0, NULL, "a RAR archive"},
    {"7z\xBC\xAF", 4, 0, NULL, "a 7-Zip archive"},
    {"\0\5\x16\7", 4, 0, NULL, "a companion file of macOS, with no picture in it"},
    {"SQLite f", 8, 0, NULL, "a database"},
    {"\xD0\xCF\x11\xE0", 4, 0, NULL, "an old Office document or thumbnail store"},
    {"\x7F""ELF", 4, 0, NULL, "a program"},
    {"MZ", 2, 0, NULL, "a program"},
};
/* clang-format on */

static const magic *magic_find(const magic *table, size_t rows, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < rows; i++) {
        const magic *row = &table[i];
        if (count < (size_t)row->offset + row->length || memcmp(bytes + row->offset, row->first, row->length) != 0)
            continue;
        if (!row->second || (count >= 12 && memcmp(bytes + 8, row->second, 4) == 0)) return row;
    }
    return NULL;
}

/* Text that a server sent instead of a picture, or a drawing: the first letters after blanks and a byte order mark; any other
 * that begins with letters of ASCII. */
static const char *text_find(const unsigned char *bytes, size_t count)
{
    static const struct {
        const char *start, *what;
    } texts[] = {{"<!doctype html", "a web page"},
                 {"<html", "a web page"},
                 {"<head", "a web page"},
                 {"<svg", "an SVG drawing"},
                 {"<?xml", "an XML text"}};
    size_t at = count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < count && at < 256 && (bytes[at] == ' ' || (bytes[at] >= '\t' && bytes[at] <= '\r'))) at++;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        size_t length = strlen(texts[i].start), same = 0;
        while (same < length && at + same < count) {
            unsigned char c = bytes[at + same];
            if (c >= 'A' && c <= 'Z') c = (unsigned char)(c + 'a' - 'A');
            if (c != (unsigned char)texts[i].start[same]) break;
            same++;
        }
        if (same == length) return texts[i].what;
    }
    for (at = 0; at < count && at < 64; at++)
        if ((bytes[at] < ' ' || bytes[at] > '~') && (bytes[at] < '\t' || bytes[at] > '\r')) return NULL;
    return "a text";
}

const char *broad__picture_name(const void *bytes, size_t count)
{
    const magic *row = magic_find(magics, sizeof magics / sizeof magics[0], bytes, count);
    return row ? row->what : NULL;
}

static int fail_unknown(const unsigned char *bytes, size_t count)
{
    if (!count) return broad__fail(BROAD_BAD_DATA, "the file is empty");
    const char *name = broad__picture_name(bytes, count);
    const codec *lacking = codec_find(bytes, count);
    if (lacking && lacking->convert)
        return broad__fail(BROAD_BAD_DATA, "%s, which this build does not read; to convert all of a folder: %s", name,
                           lacking->convert);
    if (name) return broad__fail(BROAD_BAD_DATA, "%s, which broad does not read; convert it to JPEG or PNG", name);
    const magic *row = magic_find(others, sizeof others / sizeof others[0], bytes, count);
    const char *text = row ? NULL : text_find(bytes, count);
    if (row || text) return broad__fail(BROAD_BAD_DATA, "%s, not a picture", row ? row->what : text);
    size_t zeros = 0;
    while (zeros < count && !bytes[zeros]) zeros++;
    if (zeros == count)
        return broad__fail(BROAD_BAD_DATA, "nothing but zeros; the file was damaged while being copied");
    char start[3 * 8 + 1] = "";
    for (size_t i = 0; i < count && i < 8; i++) snprintf(start + 3 * i, 4, " %02x", bytes[i]);
    return broad__fail(BROAD_BAD_DATA, "not a picture that broad knows (it begins with%s); give JPEG or PNG", start);
}

void broad__decode_options_init(broad__decode_options *out)
{
    *out = (broad__decode_options){.max_pixels = (size_t)1 << 28, .max_bytes = (size_t)512 << 20};
}

int broad__decode(broad__image *out, broad__decode_facts *facts, const void *bytes, size_t count,
                  const broad__decode_options *options)
{
    broad__decode_facts own = {0};
    broad__decode_job job = {.bytes = bytes, .count = count, .options = options, .facts = &own};
    const codec *found = codec_find(bytes, count);
    if (!found || !is_there(found)) return fail_unknown(bytes, count);
    own.format = found->name;

    broad__image image = {0};
    int status = broad__exif_read(&own.exif, bytes, count);
    if (status == BROAD_OK) status = found->decode(&job);
    if (status == BROAD_OK) {
        broad__resample_finish(&image, &job.rows, 128);
        if (!options->as_stored) status = broad__image_orient(&image, own.exif.orientation);
    }
    if (status == BROAD_OK) {
        *out = image;
        if (facts) *facts = own;
    } else {
        broad__image_free(&image);
        broad__resample_free(&job.rows);
    }
    return status;
}
