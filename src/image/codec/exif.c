/*
 * Where metadata lie: in a JPEG in segments APP1 before the scan, each of at most 64 KiB and with a name in front; in a
 * PNG in chunks eXIf and iTXt. The segments are found here, libexif reads the EXIF in them, and the few numbers wanted
 * from XMP, an XML text, are looked up by name: as an attribute, name="value", or as an element, <name>value</name>.
 */
#include "image/codec/exif.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <libexif/exif-data.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"

/* EXIF in a JPEG has at most 64 KiB. Its entries may all point at the same bytes, so more may be read than there
 * is: libexif gets no more than this. */
enum { EXIF_MEMORY = 2 << 20, EXIF_BYTES = 1 << 20, XMP_BYTES = 1 << 20, TIFF_BYTES = 64 << 20 };

static const unsigned char exif_name[] = "Exif\0"; /* six bytes with the final NUL */
static const char xmp_name[] = "http://ns.adobe.com/xap/1.0/";
static const char png_xmp_name[] = "XML:com.adobe.xmp";

typedef struct piece {
    const unsigned char *bytes;
    size_t count;
} piece;

/* ---- memory for libexif, which hands no context to its allocator ---- */

typedef struct meter {
    size_t used;
    int failed; /* the system had no more */
} meter;

static _Thread_local meter memory;

enum { HEAD = 16 };

static void *exif_allocate(ExifLong count)
{
    size_t bytes = (size_t)count + HEAD;
    if (bytes > EXIF_MEMORY - memory.used) return NULL;
    unsigned char *block = broad__alloc(bytes);
    if (!block) {
        memory.failed = 1;
        return NULL;
    }
    memory.used += bytes;
    memcpy(block, &bytes, sizeof bytes);
    return block + HEAD;
}

static void exif_release(void *block)
{
    if (!block) return;
    unsigned char *start = (unsigned char *)block - HEAD;
    size_t bytes;
    memcpy(&bytes, start, sizeof bytes);
    memory.used -= bytes;
    broad__free(start);
}

static void *exif_reallocate(void *block, ExifLong count)
{
    void *fresh = exif_allocate(count);
    if (!fresh || !block) return fresh;
    size_t bytes;
    memcpy(&bytes, (unsigned char *)block - HEAD, sizeof bytes);
    bytes -= HEAD;
    memcpy(fresh, block, bytes < count ? bytes : count);
    exif_release(block);
    return fresh;
}

/* ---- values of EXIF ---- */

static const ExifEntry *entry_find(const ExifData *data, ExifIfd ifd, int tag, ExifFormat format, unsigned long count)
{
    const ExifEntry *entry = exif_content_get_entry(data->ifd[ifd], (ExifTag)tag);
    if (!entry || !entry->data || entry->format != format || entry->components < count) return NULL;
    if (entry->size < count * exif_format_get_size(format)) return NULL;
    return entry;
}

static double rational_at(const ExifEntry *entry, ExifByteOrder order, size_t index)
{
    ExifRational value = exif_get_rational(entry->data + 8 * index, order);
    return value.denominator ? (double)value.numerator / (double)value.denominator : NAN;
}

/* Degrees, minutes and seconds. Seconds are often left out as 0/0. */
static double angle_read(const ExifData *data, ExifByteOrder order, int tag, int sign_tag, unsigned char negative,
                         double limit)
{
    const ExifEntry *entry = entry_find(data, EXIF_IFD_GPS, tag, EXIF_FORMAT_RATIONAL, 3);
    const ExifEntry *sign = entry_find(data, EXIF_IFD_GPS, sign_tag, EXIF_FORMAT_ASCII, 1);
    if (!entry || !sign) return NAN;
    double seconds = rational_at(entry, order, 2);
    if (isnan(seconds)) seconds = 0;
    double minutes = rational_at(entry, order, 1);
    double angle = rational_at(entry, order, 0) + minutes / 60 + seconds / 3600;
    if (!(angle <= limit) || minutes > 60 || seconds > 60) return NAN;
    return sign->data[0] == negative ? -angle : angle;
}

static double altitude_read(const ExifData *data, ExifByteOrder order)
{
    const ExifEntry *entry = entry_find(data, EXIF_IFD_GPS, EXIF_TAG_GPS_ALTITUDE, EXIF_FORMAT_RATIONAL, 1);
    const ExifEntry *below = entry_find(data, EXIF_IFD_GPS, EXIF_TAG_GPS_ALTITUDE_REF, EXIF_FORMAT_BYTE, 1);
    if (!entry) return NAN;
    double altitude = rational_at(entry, order, 0);
    return below && below->data[0] == 1 ? -altitude : altitude;
}

static int two_digits(const unsigned char *text, int low, int high)
{
    if (text[0] < '0' || text[0] > '9' || text[1] < '0' || text[1] > '9') return 0;
    int value = (text[0] - '0') * 10 + text[1] - '0';
    return value >= low && value <= high;
}

/* "2016:01:19 17:00:07" to "2016-01-19T17:00:07"; a clock that was never set says zeros or blanks. */
static int time_read(char out[20], const ExifData *data, ExifIfd ifd, int tag)
{
    const ExifEntry *entry = entry_find(data, ifd, tag, EXIF_FORMAT_ASCII, 19);
    if (!entry) return 0;
    const unsigned char *text = entry->data;
    if (!two_digits(text, 1, 99) || !two_digits(text + 2, 0, 99) || text[4] != ':' || !two_digits(text + 5, 1, 12) ||
        text[7] != ':' || !two_digits(text + 8, 1, 31) || text[10] != ' ' || !two_digits(text + 11, 0, 23) ||
        text[13] != ':' || !two_digits(text + 14, 0, 59) || text[16] != ':' || !two_digits(text + 17, 0, 60))
        return 0;
    memcpy(out, text, 19);
    out[4] = out[7] = '-';
    out[10] = 'T';
    out[19] = 0;
    return 1;
}

static void values_read(broad__exif *out, const ExifData *data, ExifByteOrder order)
{
    const ExifEntry *entry = entry_find(data, EXIF_IFD_0, EXIF_TAG_ORIENTATION, EXIF_FORMAT_SHORT, 1);
    int orientation = entry ? exif_get_short(entry->data, order) : 1;
    out->orientation = orientation >= 1 && orientation <= 8 ? orientation : 1;
    if (!time_read(out->time, data, EXIF_IFD_EXIF, EXIF_TAG_DATE_TIME_ORIGINAL) &&
        !time_read(out->time, data, EXIF_IFD_EXIF, EXIF_TAG_DATE_TIME_DIGITIZED))
        time_read(out->time, data, EXIF_IFD_0, EXIF_TAG_DATE_TIME);
    out->latitude = angle_read(data, order, EXIF_TAG_GPS_LATITUDE, EXIF_TAG_GPS_LATITUDE_REF, 'S', 90);
    out->longitude = angle_read(data, order, EXIF_TAG_GPS_LONGITUDE, EXIF_TAG_GPS_LONGITUDE_REF, 'W', 180);
    /* Both 0: a receiver that had no fix, and not a ship in the Gulf of Guinea. */
    int fixed = out->latitude != 0 || out->longitude != 0;
    if (!fixed || isnan(out->latitude) || isnan(out->longitude)) out->latitude = out->longitude = NAN;
    out->altitude = altitude_read(data, order);
}

/* `exif` begins with the six bytes of exif_name. */
static int exif_values(broad__exif *out, piece exif)
{
    memory = (meter){0};
    ExifMem *allocator = exif_mem_new(exif_allocate, exif_reallocate, exif_release);
    ExifData *data = allocator ? exif_data_new_mem(allocator) : NULL;
    if (data) {
        /* Entries as they are in the file: nothing added, nothing mended. */
        exif_data_unset_option(data, EXIF_DATA_OPTION_FOLLOW_SPECIFICATION);
        exif_data_load_data(data, exif.bytes, (unsigned)exif.count);
        if (!memory.failed) values_read(out, data, exif_data_get_byte_order(data));
        exif_data_unref(data);
    }
    exif_mem_unref(allocator);
    return memory.failed ? BROAD_NO_MEMORY : BROAD_OK;
}

/* ---- XMP ---- */

/* A number such as +12.30, in any locale; NaN if there is none. */
static double number_read(const unsigned char *at, const unsigned char *end)
{
    while (at < end && broad__is_blank((char)*at)) at++;
    double sign = at < end && *at == '-' ? -1 : 1, value = 0, unit = 1;
    if (at < end && (*at == '-' || *at == '+')) at++;
    int digits = 0, fraction = 0;
    for (; at < end && digits < 30; at++) {
        if (*at == '.' && !fraction) {
            fraction = 1;
        } else if (*at >= '0' && *at <= '9') {
            value = value * 10 + (*at - '0');
            if (fraction) unit *= 10;
            digits++;
        } else break;
    }
    int ended = at == end || broad__is_blank((char)*at) || *at == '"' || *at == '\'' || *at == '<';
    return digits && ended ? sign * value / unit : NAN;
}

static double xmp_number(piece xmp, const char *name)
{
    if (!xmp.count) return NAN;
    const unsigned char *at = xmp.bytes, *end = at + xmp.count;
    size_t length = strlen(name);
    while ((at = memmem(at, (size_t)(end - at), name, length))) {
        at += length;
        while (at < end && broad__is_blank((char)*at)) at++;
        if (at < end && *at == '>') return number_read(at + 1, end);
        if (at == end || *at != '=') continue;
        at++;
        while (at < end && broad__is_blank((char)*at)) at++;
        if (at < end && (*at == '"' || *at == '\'')) return number_read(at + 1, end);
    }
    return NAN;
}

static void xmp_values(broad__exif *out, piece xmp)
{
    out->relative_altitude = xmp_number(xmp, "drone-dji:RelativeAltitude");
    out->gimbal_yaw = xmp_number(xmp, "drone-dji:GimbalYawDegree");
    out->flight_yaw = xmp_number(xmp, "drone-dji:FlightYawDegree");
    if (isnan(out->altitude)) out->altitude = xmp_number(xmp, "drone-dji:AbsoluteAltitude");
}

/* ---- finding both ---- */

static uint32_t big_endian(const unsigned char *bytes, int count)
{
    uint32_t value = 0;
    for (int i = 0; i < count; i++) value = value << 8 | bytes[i];
    return value;
}

static int begins(piece part, const void *name, size_t count)
{
    return part.count >= count && memcmp(part.bytes, name, count) == 0;
}

/* Segments up to the first scan; of several pictures in a file, these are the first one's. */
static void jpeg_find(piece *exif, piece *xmp, piece file)
{
    enum { APP1 = 0xE1, SCAN = 0xDA, END = 0xD9 };
    for (size_t at = 2; at + 4 <= file.count;) {
        if (file.bytes[at] != 0xFF) return;
        int marker = file.bytes[at + 1];
        if (marker == 0xFF) {
            at++;
            continue;
        }
        size_t length = big_endian(file.bytes + at + 2, 2);
        if (marker == SCAN || marker == END || length < 2 || length > file.count - at - 2) return;
        piece body = {file.bytes + at + 4, length - 2};
        if (marker == APP1 && !exif->bytes && begins(body, exif_name, sizeof exif_name)) *exif = body;
        else if (marker == APP1 && !xmp->bytes && begins(body, xmp_name, sizeof xmp_name))
            *xmp = (piece){body.bytes + sizeof xmp_name, body.count - sizeof xmp_name};
        at += 2 + length;
    }
}

/* An eXIf chunk lacks the name that libexif wants in front: what is found there starts with the TIFF header. */
static void png_find(piece *tiff, piece *xmp, piece file)
{
    for (size_t at = 8; at + 12 <= file.count;) {
        size_t length = big_endian(file.bytes + at, 4);
        if (length > file.count - at - 12) return;
        const unsigned char *type = file.bytes + at + 4;
        piece body = {file.bytes + at + 8, length};
        if (memcmp(type, "eXIf", 4) == 0 && !tiff->bytes) *tiff = body;
        else if (memcmp(type, "iTXt", 4) == 0 && !xmp->bytes && begins(body, png_xmp_name, sizeof png_xmp_name))
            *xmp = (piece){body.bytes + sizeof png_xmp_name, body.count - sizeof png_xmp_name};
        at += 12 + length;
    }
}

static int tiff_values(broad__exif *out, piece tiff)
{
    unsigned char *copy = broad__alloc(tiff.count + sizeof exif_name);
    if (!copy) return BROAD_NO_MEMORY;
    memcpy(copy, exif_name, sizeof exif_name);
    memcpy(copy + sizeof exif_name, tiff.bytes, tiff.count);
    int status = exif_values(out, (piece){copy, tiff.count + sizeof exif_name});
    broad__free(copy);
    return status;
}

/* Chunks of a RIFF file: EXIF may or may not have the name that libexif wants in front. */
static void webp_find(piece *exif, piece *tiff, piece *xmp, piece file)
{
    for (size_t at = 12; at + 8 <= file.count;) {
        const unsigned char *size = file.bytes + at + 4;
        size_t length = (size_t)size[0] | (size_t)size[1] << 8 | (size_t)size[2] << 16 | (size_t)size[3] << 24;
        if (length > file.count - at - 8) return;
        piece body = {file.bytes + at + 8, length};
        if (memcmp(file.bytes + at, "EXIF", 4) == 0) *(begins(body, exif_name, sizeof exif_name) ? exif : tiff) = body;
        else if (memcmp(file.bytes + at, "XMP ", 4) == 0) *xmp = body;
        at += 8 + length + length % 2;
    }
}

static int is_tiff(piece file) { return begins(file, "II*", 4) || begins(file, "MM\0*", 4); }

static const broad__exif nothing = {.orientation = 1,
                                    .latitude = NAN,
                                    .longitude = NAN,
                                    .altitude = NAN,
                                    .relative_altitude = NAN,
                                    .gimbal_yaw = NAN,
                                    .flight_yaw = NAN};

int broad__exif_read_tiff(broad__exif *out, const void *bytes, size_t count)
{
    broad__exif values = nothing;
    int status = tiff_values(&values, (piece){bytes, count});
    if (status == BROAD_OK) *out = values;
    return status;
}

int broad__exif_read(broad__exif *out, const void *bytes, size_t count)
{
    broad__exif values = nothing;
    piece file = {bytes, count}, exif = {0}, tiff = {0}, xmp = {0};
    if (begins(file, "\xFF\xD8", 2)) jpeg_find(&exif, &xmp, file);
    else if (begins(file, "\x89PNG\r\n\x1A\n", 8)) png_find(&tiff, &xmp, file);
    else if (begins(file, "RIFF", 4)) webp_find(&exif, &tiff, &xmp, file);
    int status = BROAD_OK;
    if (exif.bytes && exif.count <= EXIF_BYTES) status = exif_values(&values, exif);
    else if (is_tiff(file) && count <= TIFF_BYTES) status = tiff_values(&values, file);
    else if (tiff.bytes && tiff.count <= EXIF_BYTES) status = tiff_values(&values, tiff);
    if (status < 0) return status;
    if (xmp.count > XMP_BYTES) xmp.count = XMP_BYTES;
    xmp_values(&values, xmp);
    *out = values;
    return BROAD_OK;
}
