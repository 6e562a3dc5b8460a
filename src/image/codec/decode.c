#include "image/codec/decode.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "image/codec/decode_jpeg.h"
#include "image/codec/decode_png.h"

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

/* Text that a server sent instead of a picture, or a drawing: the first letters after blanks and a byte order mark. */
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
    return NULL;
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
    int is_png = count >= 8 && memcmp(bytes, "\x89PNG\r\n\x1A\n", 8) == 0;
    if (is_png && count >= 16 && memcmp(job.bytes + 12, "CgBI", 4) == 0) return fail_unknown(bytes, count);
    if (!is_png && (count < 3 || memcmp(bytes, "\xFF\xD8\xFF", 3) != 0)) return fail_unknown(bytes, count);
    own.format = is_png ? "PNG" : "JPEG";

    broad__image image = {0};
    int status = broad__exif_read(&own.exif, bytes, count);
    if (status == BROAD_OK) status = (is_png ? broad__decode_png : broad__decode_jpeg)(&job);
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
