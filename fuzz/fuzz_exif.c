/*
 * What photos say about themselves: EXIF and XMP. The first byte chooses where the rest stands: a file as it is, EXIF
 * alone, or one segment or chunk of a JPEG, a PNG or a WebP file. Whatever is found must make sense.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "broad/broad.h"
#include "image/codec/exif.h"

enum { BODY_MOST = 60000, ROOM = BODY_MOST + 128, PLACES = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void must(int holds)
{
    if (!holds) abort();
}

typedef struct place {
    const char *before; /* of the length */
    size_t before_bytes;
    int length_bytes; /* negative: the smallest first */
    size_t counted;   /* how much larger the length is than the body and its name */
    const char *name; /* between the length and the body */
    size_t name_bytes;
    size_t behind; /* zeros behind the body */
} place;

#define PNG_START "\x89PNG\r\n\x1A\n"

static const place places[] = {
    {"\xFF\xD8\xFF\xE1", 4, 2, 2, "Exif\0", 6, 2},
    {"\xFF\xD8\xFF\xE1", 4, 2, 2, "http://ns.adobe.com/xap/1.0/", 29, 2},
    {PNG_START, 8, 4, (size_t)-4, "eXIf", 4, 4},
    {PNG_START, 8, 4, (size_t)-4, "iTXtXML:com.adobe.xmp\0\0\0\0", 26, 4},
    {"RIFF\0\0\0\0WEBPEXIF", 16, -4, 0, "", 0, 1},
    {"RIFF\0\0\0\0WEBPXMP ", 16, -4, 0, "", 0, 1},
};

static size_t put(unsigned char *out, const place *in, const uint8_t *bytes, size_t count)
{
    size_t length = in->name_bytes + count + in->counted;
    int digits = abs(in->length_bytes);
    unsigned char *at = out;
    memcpy(at, in->before, in->before_bytes);
    at += in->before_bytes;
    for (int i = 0; i < digits; i++) *at++ = (unsigned char)(length >> 8 * (in->length_bytes < 0 ? i : digits - 1 - i));
    memcpy(at, in->name, in->name_bytes);
    at += in->name_bytes;
    memcpy(at, bytes, count);
    at += count;
    memset(at, 0, in->behind);
    return (size_t)(at - out) + in->behind;
}

static int within(double value, double limit) { return isnan(value) || fabs(value) <= limit; }

static void check(const broad__exif *exif)
{
    must(exif->orientation >= 1 && exif->orientation <= 8);
    must(exif->time[0] == 0 || strlen(exif->time) == 19);
    must(within(exif->latitude, 90) && within(exif->longitude, 180));
    must(isnan(exif->latitude) == isnan(exif->longitude));
    must(!isinf(exif->altitude) && !isinf(exif->relative_altitude) && !isinf(exif->gimbal_yaw) &&
         !isinf(exif->flight_yaw));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (!count) return 0;
    unsigned form = bytes[0] % PLACES;
    size_t body = count - 1 < BODY_MOST ? count - 1 : BODY_MOST, size = body;
    unsigned char *file = malloc(ROOM);
    memcpy(file, bytes + 1, body);
    if (form >= 2) size = put(file, &places[form - 2], bytes + 1, body);
    unsigned char *exact = malloc(size + !size);
    memcpy(exact, file, size);
    broad__exif exif;
    must((form == 1 ? broad__exif_read_tiff(&exif, exact, size) : broad__exif_read(&exif, exact, size)) == BROAD_OK);
    check(&exif);
    free(exact);
    free(file);
    return 0;
}
