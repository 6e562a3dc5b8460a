/* Metadata written here byte by byte, in both byte orders, in JPEG and PNG; hostile ones; XMP in both its forms. */
#include "helper.h"

#include "base/memory.h"
#include "image/codec/decode.h"
#include "image/codec/exif.h"

#include "image_zoo.h"

/* ---- a writer of TIFF structures ---- */

typedef struct tiff {
    unsigned char bytes[4096];
    size_t count;
    int big;
} tiff;

static void put(tiff *t, size_t at, size_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        t->bytes[at + (size_t)i] = (unsigned char)(value >> (t->big ? 8 * (bytes - 1 - i) : 8 * i));
    if (at + (size_t)bytes > t->count) t->count = at + (size_t)bytes;
}

enum { BYTE = 1, ASCII = 2, SHORT = 3, LONG = 4, RATIONAL = 5 };

/* Entry `index` of the directory at `ifd`; values of more than four bytes go to the end. Returns where the value is. */
static size_t entry(tiff *t, size_t ifd, size_t index, size_t tag, int type, size_t components)
{
    static const size_t sizes[] = {0, 1, 1, 2, 4, 8};
    size_t at = ifd + 2 + 12 * index, bytes = sizes[type] * components, place = at + 8;
    put(t, at, tag, 2);
    put(t, at + 2, (size_t)type, 2);
    put(t, at + 4, components, 4);
    if (bytes > 4) {
        place = t->count;
        put(t, at + 8, place, 4);
        put(t, place + bytes - 1, 0, 1);
    }
    return place;
}

static void text(tiff *t, size_t ifd, size_t index, size_t tag, const char *value)
{
    size_t count = strlen(value) + 1, place = entry(t, ifd, index, tag, ASCII, count);
    memcpy(t->bytes + place, value, count);
}

static void rationals(tiff *t, size_t ifd, size_t index, size_t tag, size_t count, const size_t *pairs)
{
    size_t place = entry(t, ifd, index, tag, RATIONAL, count);
    for (size_t i = 0; i < 2 * count; i++) put(t, place + 4 * i, pairs[i], 4);
}

static size_t directory(tiff *t, size_t entries)
{
    size_t ifd = t->count;
    put(t, ifd, entries, 2);
    put(t, ifd + 2 + 12 * entries, 0, 4);
    return ifd;
}

typedef struct photo_facts {
    int big, orientation;
    const char *time;
    size_t latitude[6], longitude[6], altitude[2];
    const char *north, *east;
    int below;
} photo_facts;

static tiff make_tiff(const photo_facts *facts)
{
    tiff t = {.big = facts->big};
    memcpy(t.bytes, facts->big ? "MM" : "II", 2);
    put(&t, 2, 42, 2);
    put(&t, 4, 8, 4);
    size_t first = directory(&t, 4);
    put(&t, entry(&t, first, 0, 0x0112, SHORT, 1), (size_t)facts->orientation, 2);
    text(&t, first, 1, 0x0132, "2001:02:03 04:05:06");
    size_t exif = directory(&t, 1);
    put(&t, entry(&t, first, 2, 0x8769, LONG, 1), exif, 4);
    text(&t, exif, 0, 0x9003, facts->time);
    size_t gps = directory(&t, 6);
    put(&t, entry(&t, first, 3, 0x8825, LONG, 1), gps, 4);
    text(&t, gps, 0, 1, facts->north);
    rationals(&t, gps, 1, 2, 3, facts->latitude);
    text(&t, gps, 2, 3, facts->east);
    rationals(&t, gps, 3, 4, 3, facts->longitude);
    put(&t, entry(&t, gps, 4, 5, BYTE, 1), (size_t)facts->below, 1);
    rationals(&t, gps, 5, 6, 1, facts->altitude);
    return t;
}

static zoo_file jpeg_with(const void *name, size_t name_bytes, const void *body, size_t count)
{
    zoo_file segment = {0};
    zoo_add(&segment, name, name_bytes);
    zoo_add(&segment, body, count);
    zoo_jpeg how = {.width = 8,
                    .height = 8,
                    .channels = 3,
                    .in = JCS_RGB,
                    .stored = JCS_YCbCr,
                    .segment = segment.bytes,
                    .segment_bytes = segment.count};
    unsigned char *pixels = drawn_pixels(8, 8, 3);
    zoo_file file = make_jpeg(&how, pixels);
    free(pixels);
    zoo_free(&segment);
    return file;
}

static zoo_file jpeg_with_tiff(const tiff *t) { return jpeg_with("Exif\0", 6, t->bytes, t->count); }

static zoo_file png_with(const char *type, const void *body, size_t count)
{
    zoo_png how = {.width = 8, .height = 8, .depth = 8, .type = PNG_COLOR_TYPE_RGB};
    unsigned char *pixels = drawn_pixels(8, 8, 3);
    zoo_file file = make_png(&how, pixels, 24), chunk = make_chunk(type, body, count);
    zoo_insert(&file, 33, chunk.bytes, chunk.count);
    zoo_free(&chunk);
    free(pixels);
    return file;
}

static broad__exif read_free(zoo_file file)
{
    broad__exif exif;
    assert_ok(broad__exif_read(&exif, file.bytes, file.count));
    zoo_free(&file);
    return exif;
}

static const photo_facts facts_given = {
    .orientation = 6,
    .time = "2024:06:30 12:34:56",
    .latitude = {47, 1, 23, 1, 4512, 100},
    .longitude = {8, 1, 3230, 100, 0, 1},
    .altitude = {43211, 100},
    .north = "S",
    .east = "W",
    .below = 1,
};

static void check_facts(const broad__exif *exif)
{
    assert_int_equal(exif->orientation, 6);
    assert_string_equal(exif->time, "2024-06-30T12:34:56");
    assert_true(fabs(exif->latitude + (47 + 23 / 60.0 + 45.12 / 3600)) < 1e-12);
    assert_true(fabs(exif->longitude + (8 + 32.3 / 60)) < 1e-12);
    assert_true(fabs(exif->altitude + 432.11) < 1e-12);
    assert_true(isnan(exif->relative_altitude) && isnan(exif->gimbal_yaw) && isnan(exif->flight_yaw));
}

static void both_orders_and_formats(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        photo_facts facts = facts_given;
        facts.big = big;
        tiff t = make_tiff(&facts);
        broad__exif exif = read_free(jpeg_with_tiff(&t));
        check_facts(&exif);
        exif = read_free(png_with("eXIf", t.bytes, t.count));
        check_facts(&exif);
    }
}

static void check_none(const broad__exif *exif)
{
    assert_int_equal(exif->orientation, 1);
    assert_string_equal(exif->time, "");
    assert_true(isnan(exif->latitude) && isnan(exif->longitude) && isnan(exif->altitude));
    assert_true(isnan(exif->relative_altitude) && isnan(exif->gimbal_yaw) && isnan(exif->flight_yaw));
}

static void nothing_said(void **state)
{
    (void)state;
    broad__exif exif = read_free(make_photo(9, 9, 0));
    check_none(&exif);
    exif = read_free(png_with("tEXt", "a\0b", 3));
    check_none(&exif);
    assert_ok(broad__exif_read(&exif, "", 0));
    check_none(&exif);
    assert_ok(broad__exif_read(&exif, "\xFF\xD8\xFF\xE1", 4));
    check_none(&exif);
    assert_ok(broad__exif_read(&exif, "hello", 5));
    check_none(&exif);
    exif = read_free(jpeg_with("Exif\0", 6, "", 0));
    check_none(&exif);
}

/* Values that make no sense are missing, each by itself; a fix with one coordinate is none. */
static void senseless_values(void **state)
{
    (void)state;
    photo_facts facts = facts_given;
    facts.orientation = 9;
    facts.time = "0000:00:00 00:00:00";
    facts.latitude[1] = 0;
    facts.altitude[1] = 0;
    tiff t = make_tiff(&facts);
    broad__exif exif = read_free(jpeg_with_tiff(&t));
    assert_int_equal(exif.orientation, 1);
    assert_string_equal(exif.time, "2001-02-03T04:05:06"); /* the file's own date is left */
    assert_true(isnan(exif.latitude) && isnan(exif.longitude) && isnan(exif.altitude));

    facts = facts_given;
    facts.longitude[0] = 181;
    facts.time = "2024:13:30 12:34:56";
    t = make_tiff(&facts);
    exif = read_free(jpeg_with_tiff(&t));
    assert_true(isnan(exif.latitude) && isnan(exif.longitude));
    assert_string_equal(exif.time, "2001-02-03T04:05:06");

    /* Degrees, minutes and seconds of 0 are what a receiver without a fix writes; one of them may well be 0. */
    facts = facts_given;
    facts.latitude[0] = facts.latitude[2] = facts.latitude[4] = 0;
    t = make_tiff(&facts);
    exif = read_free(jpeg_with_tiff(&t));
    assert_true(exif.latitude == 0 && fabs(exif.longitude) > 1);
    facts.longitude[0] = facts.longitude[2] = facts.longitude[4] = 0;
    t = make_tiff(&facts);
    exif = read_free(jpeg_with_tiff(&t));
    assert_true(isnan(exif.latitude) && isnan(exif.longitude) && isfinite(exif.altitude));

    facts = facts_given;
    facts.latitude[2] = 61;
    t = make_tiff(&facts);
    exif = read_free(jpeg_with_tiff(&t));
    assert_true(isnan(exif.latitude) && isnan(exif.longitude) && isfinite(exif.altitude));

    facts = facts_given;
    facts.latitude[5] = 0; /* seconds 0/0 or x/0 are left out */
    facts.north = "N";
    t = make_tiff(&facts);
    exif = read_free(jpeg_with_tiff(&t));
    assert_true(fabs(exif.latitude - (47 + 23 / 60.0)) < 1e-12);
}

/* The picture comes out upright, and so do its sides. */
static void decoded_upright(void **state)
{
    (void)state;
    broad__decode_options options;
    broad__decode_options_init(&options);
    for (int orientation = 1; orientation <= 8; orientation++) {
        photo_facts facts = facts_given;
        facts.orientation = orientation;
        tiff t = make_tiff(&facts);
        zoo_file segment = {0};
        zoo_add(&segment, "Exif\0", 6);
        zoo_add(&segment, t.bytes, t.count);
        zoo_jpeg how = {.width = 30,
                        .height = 20,
                        .channels = 3,
                        .in = JCS_RGB,
                        .stored = JCS_YCbCr,
                        .segment = segment.bytes,
                        .segment_bytes = segment.count};
        unsigned char *pixels = drawn_pixels(30, 20, 3);
        zoo_file file = make_jpeg(&how, pixels);
        broad__image image, stored;
        broad__decode_facts told;
        assert_ok(broad__decode(&image, &told, file.bytes, file.count, &options));
        assert_int_equal(told.width, 30);
        assert_int_equal(told.exif.orientation, orientation);
        options.as_stored = 1;
        assert_ok(broad__decode(&stored, NULL, file.bytes, file.count, &options));
        options.as_stored = 0;
        assert_int_equal(stored.width, 30);
        assert_int_equal(image.width, orientation >= 5 ? 20 : 30);
        assert_int_equal(image.height, orientation >= 5 ? 30 : 20);
        /* The stored picture's first row is on the side that the standard names: top, top, bottom, bottom, left, right,
         * right, left; its first column left, right, right, left, top, top, bottom, bottom. */
        int row_last = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
        int column_last = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
        size_t w = image.width, h = image.height;
        size_t x = (orientation <= 4 ? column_last : row_last) ? w - 1 : 0;
        size_t y = (orientation <= 4 ? row_last : column_last) ? h - 1 : 0;
        assert_memory_equal(image.pixels + (y * w + x) * 3, stored.pixels, 3);
        /* The opposite corner too, and the end of the first row. */
        assert_memory_equal(image.pixels + ((h - 1 - y) * w + w - 1 - x) * 3, stored.pixels + (20 * 30 - 1) * 3, 3);
        size_t along_x = orientation <= 4 ? w - 1 - x : x, along_y = orientation <= 4 ? y : h - 1 - y;
        assert_memory_equal(image.pixels + (along_y * w + along_x) * 3, stored.pixels + 29 * 3, 3);
        broad__image_free(&image);
        broad__image_free(&stored);
        zoo_free(&file);
        zoo_free(&segment);
        free(pixels);
    }
}

static void xmp_of_drones(void **state)
{
    (void)state;
    static const char attributes[] = "<x:xmpmeta><rdf:Description drone-dji:AbsoluteAltitude=\"+512.34\"\n"
                                     " drone-dji:RelativeAltitude = '-3.50' drone-dji:GimbalYawDegreeX=\"7\""
                                     " drone-dji:GimbalYawDegree=\"-179.9\" drone-dji:FlightYawDegree=\"12\"/>";
    static const char elements[] = "<rdf:Description><drone-dji:AbsoluteAltitude>+512.34</drone-dji:AbsoluteAltitude>"
                                   "<drone-dji:RelativeAltitude> -3.50 </drone-dji:RelativeAltitude>"
                                   "<drone-dji:GimbalYawDegree>-179.9</drone-dji:GimbalYawDegree>"
                                   "<drone-dji:FlightYawDegree>12</drone-dji:FlightYawDegree>";
    const char *const name = "http://ns.adobe.com/xap/1.0/";
    char chunk[1024] = "XML:com.adobe.xmp";
    size_t start = strlen(chunk) + 5;
    memcpy(chunk + start, elements, sizeof elements - 1);
    zoo_file files[] = {jpeg_with(name, strlen(name) + 1, attributes, sizeof attributes - 1),
                        jpeg_with(name, strlen(name) + 1, elements, sizeof elements - 1),
                        png_with("iTXt", chunk, start + sizeof elements - 1)};
    for (size_t i = 0; i < 3; i++) {
        broad__exif exif = read_free(files[i]);
        assert_true(fabs(exif.altitude - 512.34) < 1e-12);
        assert_true(fabs(exif.relative_altitude + 3.5) < 1e-12);
        assert_true(fabs(exif.gimbal_yaw + 179.9) < 1e-12);
        assert_true(fabs(exif.flight_yaw - 12) < 1e-12);
    }
}

static void xmp_that_is_odd(void **state)
{
    (void)state;
    static const char *const odd[] = {"drone-dji:RelativeAltitude",
                                      "drone-dji:RelativeAltitude=",
                                      "drone-dji:RelativeAltitude=\"",
                                      "drone-dji:RelativeAltitude=\"abc\"",
                                      "drone-dji:RelativeAltitude=\"1.2.3\"",
                                      "drone-dji:RelativeAltitude=12",
                                      "<drone-dji:RelativeAltitude><rdf:li>5",
                                      "drone-dji:RelativeAltitude=\"--5\"",
                                      "drone-dji:RelativeAltitude=\"\"",
                                      "drone-dji:RelativeAltitude=\"9999999999999999999999999999999999\""};
    const char *const name = "http://ns.adobe.com/xap/1.0/";
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        broad__exif exif = read_free(jpeg_with(name, strlen(name) + 1, odd[i], strlen(odd[i])));
        check_none(&exif);
    }
}

static size_t swollen_directory(unsigned char *body, size_t at, size_t first, size_t last)
{
    size_t entries = last - first;
    body[at] = (unsigned char)(entries >> 8);
    body[at + 1] = (unsigned char)entries;
    at += 2;
    for (size_t tag = first; tag < last; tag++, at += 12) {
        zoo_put32(body + at, tag << 16 | ASCII);
        zoo_put32(body + at + 4, 60000);
        zoo_put32(body + at + 8, 100);
    }
    return at + 4;
}

/* Every tag there is, each with the same 60 KB as its value, in two directories. */
static void swollen_entries(void **state)
{
    (void)state;
    unsigned char *body = calloc(1, 65000);
    memcpy(body, "MM\0*\0\0\0\x08", 8);
    size_t second = swollen_directory(body, 8, 0x00FE, 0x0300);
    assert_true(swollen_directory(body, second, 0xA000, 0xA500) < 65000);
    memcpy(body + second - 16, "\x87\x69\0\4\0\0\0\1", 8);
    zoo_put32(body + second - 8, second);
    zoo_file file = jpeg_with("Exif\0", 6, body, 65000);
    zoo_memory memory;
    broad__exif exif;
    zoo_watch(&memory, -1);
    assert_ok(broad__exif_read(&exif, file.bytes, file.count));
    broad_set_allocator(NULL);
    assert_int_equal(memory.blocks, 0);
    assert_true(memory.peak < (5 << 19));
    assert_true(memory.peak > (1 << 20)); /* it was tried */
    zoo_free(&file);
    free(body);
}

static void mutated_metadata(void **state)
{
    (void)state;
    photo_facts facts = facts_given;
    uint32_t seed = 7;
    zoo_memory memory;
    for (int i = 0; i < 2000; i++) {
        facts.big = i & 1;
        tiff t = make_tiff(&facts);
        zoo_file file = i & 2 ? png_with("eXIf", t.bytes, t.count) : jpeg_with_tiff(&t);
        for (int k = 0; k < 1 + i % 9; k++) {
            seed = seed * 1664525u + 1013904223u;
            file.bytes[20 + (seed >> 8) % (t.count + 20)] = (unsigned char)(seed >> 24);
        }
        zoo_watch(&memory, -1);
        broad__exif exif;
        assert_ok(broad__exif_read(&exif, file.bytes, file.count));
        broad_set_allocator(NULL);
        assert_int_equal(memory.blocks, 0);
        assert_true(exif.orientation >= 1 && exif.orientation <= 8 && strlen(exif.time) < sizeof exif.time);
        assert_true(isnan(exif.latitude) || fabs(exif.latitude) <= 90);
        assert_true(isnan(exif.longitude) || fabs(exif.longitude) <= 180);
        zoo_free(&file);
    }
}

static void without_memory(void **state)
{
    (void)state;
    tiff t = make_tiff(&facts_given);
    zoo_file files[] = {jpeg_with_tiff(&t), png_with("eXIf", t.bytes, t.count)};
    for (size_t i = 0; i < 2; i++) {
        long n = 0;
        for (;; n++) {
            zoo_memory memory;
            broad__exif exif;
            zoo_watch(&memory, n);
            int status = broad__exif_read(&exif, files[i].bytes, files[i].count);
            broad_set_allocator(NULL);
            assert_int_equal(memory.blocks, 0);
            assert_int_equal(status, memory.failed ? BROAD_NO_MEMORY : BROAD_OK);
            if (memory.failed) continue;
            check_facts(&exif);
            break;
        }
        assert_true(n > 20);
        zoo_free(&files[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_orders_and_formats), cmocka_unit_test(nothing_said),
        cmocka_unit_test(senseless_values),        cmocka_unit_test(decoded_upright),
        cmocka_unit_test(xmp_of_drones),           cmocka_unit_test(xmp_that_is_odd),
        cmocka_unit_test(swollen_entries),         cmocka_unit_test(mutated_metadata),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
