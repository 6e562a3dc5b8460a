/* A zoo of pictures against what was drawn, limits, damage, other formats, mutations, lack of memory, threads. */
#include "helper.h"

#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

#include "base/memory.h"
#include "image/codec/decode.h"

#include "image_zoo.h"

static broad__decode_options defaults(void)
{
    broad__decode_options options;
    broad__decode_options_init(&options);
    return options;
}

static uint32_t next_random(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    return *seed ^= *seed << 5;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Decodes, holds every value against expected() and frees the file. */
typedef unsigned char (*expectation)(size_t x, size_t y, size_t c, size_t width, size_t height);

static void check_picture(zoo_file *file, size_t width, size_t height, expectation expected, int tolerance)
{
    broad__decode_options options = defaults();
    broad__decode_facts facts;
    broad__image image;
    assert_ok(broad__decode(&image, &facts, file->bytes, file->count, &options));
    assert_int_equal(image.width, width);
    assert_int_equal(image.height, height);
    assert_int_equal(facts.width, width);
    assert_int_equal(facts.height, height);
    assert_false(facts.damaged);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            for (size_t c = 0; c < 3; c++) {
                int got = image.pixels[(y * width + x) * 3 + c], wanted = expected(x, y, c, width, height);
                if (abs(got - wanted) > tolerance)
                    fail_msg("%zu x %zu at (%zu, %zu) channel %zu: %d, drawn was %d", width, height, x, y, c, got,
                             wanted);
            }
    broad__image_free(&image);
    zoo_free(file);
}

static const size_t sizes[][2] = {{1, 1}, {1, 9}, {2, 2}, {7, 5}, {8, 8}, {17, 3}, {16, 17}, {33, 40}};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

/* ---- JPEG ---- */

static unsigned char grey_drawn(size_t x, size_t y, size_t c, size_t width, size_t height)
{
    (void)c;
    return drawn(x, y, 0, width, height);
}

/* Inks: the fourth channel is the black one. */
static unsigned char adobe_drawn(size_t x, size_t y, size_t c, size_t width, size_t height)
{
    return (unsigned char)lround(drawn(x, y, c, width, height) * drawn(x, y, 3, width, height) / 255.0);
}

static unsigned char inks_drawn(size_t x, size_t y, size_t c, size_t width, size_t height)
{
    return (unsigned char)lround((255 - drawn(x, y, c, width, height)) * (255 - drawn(x, y, 3, width, height)) / 255.0);
}

static void jpeg_zoo(void **state)
{
    (void)state;
    static const struct {
        zoo_jpeg how;
        expectation expected;
        int tolerance; /* rounding of the colour transform and of the coefficients */
    } kinds[] = {
        {{.channels = 3, .in = JCS_RGB, .stored = JCS_YCbCr}, drawn, 4},
        {{.channels = 3, .in = JCS_RGB, .stored = JCS_YCbCr, .progressive = 1}, drawn, 4},
        {{.channels = 3, .in = JCS_RGB, .stored = JCS_YCbCr, .arithmetic = 1}, drawn, 4},
        {{.channels = 3, .in = JCS_RGB, .stored = JCS_YCbCr, .restart_rows = 1}, drawn, 4},
        {{.channels = 3, .in = JCS_RGB, .stored = JCS_RGB}, drawn, 2},
        {{.channels = 1, .in = JCS_GRAYSCALE, .stored = JCS_GRAYSCALE}, grey_drawn, 2},
        {{.channels = 1, .in = JCS_GRAYSCALE, .stored = JCS_GRAYSCALE, .progressive = 1}, grey_drawn, 2},
        {{.channels = 4, .in = JCS_CMYK, .stored = JCS_CMYK}, adobe_drawn, 3},
        {{.channels = 4, .in = JCS_CMYK, .stored = JCS_YCCK}, adobe_drawn, 5},
        {{.channels = 4, .in = JCS_CMYK, .stored = JCS_YCCK, .progressive = 1}, adobe_drawn, 5},
        {{.channels = 4, .in = JCS_CMYK, .stored = JCS_CMYK, .no_adobe = 1}, inks_drawn, 3},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (size_t i = 0; i < SIZES; i++) {
            zoo_jpeg how = kinds[k].how;
            how.width = sizes[i][0];
            how.height = sizes[i][1];
            unsigned char *pixels = drawn_pixels(how.width, how.height, (size_t)how.channels);
            zoo_file file = make_jpeg(&how, pixels);
            check_picture(&file, how.width, how.height, kinds[k].expected, kinds[k].tolerance);
            free(pixels);
        }
}

/* A second picture behind the first, as MPO has it. */
static void first_of_several_frames(void **state)
{
    (void)state;
    zoo_file file = make_photo(33, 40, 0), second = make_photo(10, 10, 0);
    zoo_add(&file, second.bytes, second.count);
    zoo_free(&second);
    check_picture(&file, 33, 40, drawn, 4);
}

/* Reduced decoding must be near what full decoding and averaging give. */
static void jpeg_at_target_side(void **state)
{
    (void)state;
    static const size_t sides[] = {700, 641, 640, 500, 320, 319, 256, 160, 90, 80, 40, 7, 1};
    zoo_file file = make_photo(640, 411, 0);
    broad__decode_options options = defaults();
    broad__image whole;
    assert_ok(broad__decode(&whole, NULL, file.bytes, file.count, &options));
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        broad__image image, expected;
        broad__decode_facts facts;
        size_t width, height;
        options.side = sides[i];
        broad__image_fit(&width, &height, 640, 411, sides[i]);
        assert_ok(broad__decode(&image, &facts, file.bytes, file.count, &options));
        assert_ok(broad__image_resize(&expected, &whole, width, height));
        assert_int_equal(image.width, width);
        assert_int_equal(image.height, height);
        assert_int_equal(facts.width, 640);
        /* Other filters, and rows at the lower edge that are only half inside. */
        for (size_t k = 0; k < width * height * 3; k++) assert_true(abs(image.pixels[k] - expected.pixels[k]) <= 5);
        broad__image_free(&image);
        broad__image_free(&expected);
    }
    broad__image_free(&whole);
    zoo_free(&file);
}

/* ---- PNG ---- */

static size_t sample_bits(size_t x, size_t y, int depth) { return (x * 7 + y * 13 + 3 * x * y) & ((1u << depth) - 1); }

static int png_depth;

static unsigned char bits_drawn(size_t x, size_t y, size_t c, size_t width, size_t height)
{
    (void)c, (void)width, (void)height;
    return (unsigned char)(sample_bits(x, y, png_depth) * 255 / ((1u << png_depth) - 1));
}

static png_color colour_of(size_t index)
{
    return (png_color){(png_byte)(index * 37 + 11), (png_byte)(index * 91 + 5), (png_byte)(255 - index)};
}

/* Palette entry 1 is half transparent, 2 wholly. */
static const unsigned char palette_opacity[] = {255, 128, 0};

static unsigned char palette_drawn(size_t x, size_t y, size_t c, size_t width, size_t height)
{
    (void)width, (void)height;
    size_t index = sample_bits(x, y, png_depth);
    png_color colour = colour_of(index);
    double value = c == 0 ? colour.red : c == 1 ? colour.green : colour.blue;
    double opacity = index < 3 ? palette_opacity[index] / 255.0 : 1;
    return (unsigned char)lround(value * opacity + 255 * (1 - opacity));
}

static unsigned char *packed_rows(size_t width, size_t height, int depth, size_t *stride)
{
    *stride = (width * (size_t)depth + 7) / 8;
    unsigned char *rows = calloc(height, *stride);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            size_t bit = x * (size_t)depth;
            rows[y * *stride + bit / 8] |= (unsigned char)(sample_bits(x, y, depth) << (8 - (size_t)depth - bit % 8));
        }
    return rows;
}

static void png_grey_and_palette(void **state)
{
    (void)state;
    png_color palette[256];
    for (size_t i = 0; i < 256; i++) palette[i] = colour_of(i);
    for (png_depth = 1; png_depth <= 8; png_depth *= 2)
        for (size_t i = 0; i < SIZES; i++)
            for (int kind = 0; kind < 4; kind++) {
                zoo_png how = {.width = sizes[i][0], .height = sizes[i][1], .depth = png_depth, .interlaced = kind & 1};
                how.type = kind < 2 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_PALETTE;
                if (kind >= 2) {
                    how.palette = palette;
                    how.colours = 1 << png_depth;
                    how.opacities = palette_opacity;
                    how.opacity_count = png_depth == 1 ? 2 : 3;
                }
                size_t stride;
                unsigned char *rows = packed_rows(how.width, how.height, png_depth, &stride);
                zoo_file file = make_png(&how, rows, stride);
                check_picture(&file, how.width, how.height, kind < 2 ? bits_drawn : palette_drawn, kind < 2 ? 0 : 1);
                free(rows);
            }
}

/* Samples of 8 or 16 bits; the last of 2 or 4 channels is opacity. */
typedef struct deep {
    int channels, bytes;
    int has_key; /* pixel (0, 0)'s colour is transparent */
} deep;
static deep deep_kind;

static unsigned deep_value(size_t x, size_t y, size_t c)
{
    unsigned value = (unsigned)(x * 4099 + y * 30011 + c * 17011 + x * y * 257) & 0xFFFF;
    return deep_kind.bytes == 2 ? value : value >> 8;
}

static unsigned char deep_drawn(size_t x, size_t y, size_t c, size_t width, size_t height)
{
    (void)width, (void)height;
    size_t channels = (size_t)deep_kind.channels, colours = channels < 3 ? 1 : 3;
    double most = deep_kind.bytes == 2 ? 65535 : 255, opacity = 1;
    if (channels % 2 == 0) opacity = deep_value(x, y, channels - 1) / most;
    if (deep_kind.has_key) {
        opacity = 0;
        for (size_t k = 0; k < colours; k++)
            if (deep_value(x, y, k) != deep_value(0, 0, k)) opacity = 1;
    }
    double value = deep_value(x, y, colours == 1 ? 0 : c) / most;
    return (unsigned char)lround(255 * (value * opacity + 1 - opacity));
}

static void png_deep(void **state)
{
    (void)state;
    static const int types[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                PNG_COLOR_TYPE_RGB_ALPHA};
    for (int kind = 0; kind < 32; kind++)
        for (size_t i = 0; i < SIZES; i++) {
            deep_kind = (deep){1 + kind % 4, 1 + (kind >> 2 & 1), kind >> 4 & 1};
            if (deep_kind.has_key && deep_kind.channels % 2 == 0) continue;
            zoo_png how = {.width = sizes[i][0],
                           .height = sizes[i][1],
                           .depth = 8 * deep_kind.bytes,
                           .type = types[deep_kind.channels],
                           .interlaced = kind >> 3 & 1};
            png_color_16 key = {.red = (png_uint_16)deep_value(0, 0, 0),
                                .green = (png_uint_16)deep_value(0, 0, 1),
                                .blue = (png_uint_16)deep_value(0, 0, 2),
                                .gray = (png_uint_16)deep_value(0, 0, 0)};
            if (deep_kind.has_key) how.transparent = &key;
            size_t stride = how.width * (size_t)(deep_kind.channels * deep_kind.bytes);
            unsigned char *rows = malloc(how.height * stride), *to = rows;
            for (size_t y = 0; y < how.height; y++)
                for (size_t x = 0; x < how.width; x++)
                    for (size_t c = 0; c < (size_t)deep_kind.channels; c++) {
                        unsigned value = deep_value(x, y, c);
                        if (deep_kind.bytes == 2) *to++ = (unsigned char)(value >> 8);
                        *to++ = (unsigned char)value;
                    }
            zoo_file file = make_png(&how, rows, stride);
            /* Values and opacities are rounded to 8 bits before they meet. */
            check_picture(&file, how.width, how.height, deep_drawn, deep_kind.channels % 2 == 0 ? 1 : 0);
            free(rows);
        }
}

static zoo_file make_drawn_png(size_t width, size_t height, int interlaced)
{
    zoo_png how = {.width = width, .height = height, .depth = 8, .type = PNG_COLOR_TYPE_RGB, .interlaced = interlaced};
    unsigned char *pixels = drawn_pixels(width, height, 3);
    zoo_file file = make_png(&how, pixels, width * 3);
    free(pixels);
    return file;
}

static void insert_chunk(zoo_file *file, size_t at, const char *type, const void *body, size_t count)
{
    zoo_file chunk = make_chunk(type, body, count);
    zoo_insert(file, at, chunk.bytes, chunk.count);
    zoo_free(&chunk);
}

/* An animation's first frame, and text and profiles in the way, even broken ones. */
static void png_with_other_chunks(void **state)
{
    (void)state;
    unsigned char frame[26] = {0}, data[64] = {0, 0, 0, 1};
    zoo_file file = make_drawn_png(33, 40, 0);
    zoo_put32(frame + 4, 33);
    zoo_put32(frame + 8, 40);
    insert_chunk(&file, file.count - 12, "fdAT", data, sizeof data);
    insert_chunk(&file, 33, "fcTL", frame, sizeof frame);
    insert_chunk(&file, 33, "acTL", "\0\0\0\2\0\0\0\0", 8);
    insert_chunk(&file, 33, "iCCP", "profile\0\0rubbish", 16);
    insert_chunk(&file, 33, "zTXt", "Comment\0\0rubbish", 16);
    insert_chunk(&file, 33, "gAMA", "\0\0\0\1", 4);
    check_picture(&file, 33, 40, drawn, 0);
}

static void png_at_target_side(void **state)
{
    (void)state;
    broad__decode_options options = defaults();
    for (int interlaced = 0; interlaced < 2; interlaced++) {
        zoo_file file = make_drawn_png(300, 200, interlaced);
        broad__image whole, expected, image;
        options.side = 0;
        assert_ok(broad__decode(&whole, NULL, file.bytes, file.count, &options));
        options.side = 77;
        assert_ok(broad__decode(&image, NULL, file.bytes, file.count, &options));
        assert_ok(broad__image_resize(&expected, &whole, 77, 51));
        assert_int_equal(image.height, 51);
        assert_memory_equal(image.pixels, expected.pixels, 77 * 51 * 3);
        broad__image_free(&whole);
        broad__image_free(&image);
        broad__image_free(&expected);
        zoo_free(&file);
    }
}

/* ---- limits ---- */

static void check_refused(zoo_file *file, const broad__decode_options *options, const char *fragment)
{
    zoo_memory memory;
    broad__image image = {0};
    double start = seconds();
    zoo_watch(&memory, -1);
    assert_fails(broad__decode(&image, NULL, file->bytes, file->count, options), BROAD_BAD_DATA, fragment);
    broad_set_allocator(NULL);
    assert_null(image.pixels);
    assert_int_equal(memory.blocks, 0);
    assert_true(memory.peak < (1 << 20));
    assert_true(seconds() - start < 0.2);
    zoo_free(file);
}

static void bombs(void **state)
{
    (void)state;
    broad__decode_options options = defaults();
    for (int progressive = 0; progressive < 2; progressive++) {
        zoo_file file = make_photo(20, 20, progressive);
        patch_jpeg_size(&file, 65500, 65500, progressive ? 0xC2 : 0xC0);
        check_refused(&file, &options, "65500 x 65500 pixels exceed the limit");
    }
    for (int interlaced = 0; interlaced < 2; interlaced++) {
        zoo_file file = make_drawn_png(20, 20, interlaced);
        patch_png_size(&file, 65500, 65500);
        check_refused(&file, &options, "65500 x 65500 pixels exceed the limit");
        file = make_drawn_png(20, 20, interlaced);
        patch_png_size(&file, 0x7FFFFFFF, 0x7FFFFFFF);
        check_refused(&file, &options, "2147483647 x 2147483647 pixels exceed");
        /* Few pixels, but rows of half a gigabyte. */
        file = make_drawn_png(20, 20, interlaced);
        patch_png_size(&file, (size_t)1 << 28, 1);
        check_refused(&file, &options, "512 MiB");
    }
    zoo_file file = make_photo(20, 20, 0);
    patch_jpeg_size(&file, 65535, 20, 0xC0);
    check_refused(&file, &options, "65500");
    file = make_photo(20, 20, 0);
    options.max_pixels = 399;
    check_refused(&file, &options, "limit of 399");
    file = make_drawn_png(20, 20, 0);
    check_refused(&file, &options, "limit of 399");
}

/* Within the pixel limit, but the memory does not do: all of it at once where the whole picture or, progressive, all its
 * coefficients are kept; and with a target side nearly none where they are not. */
static void memory_limit(void **state)
{
    (void)state;
    enum { SIDE = 1500 };
    static const struct {
        size_t side;
        int png, twice, passes; /* twice: progressive or interlaced */
    } rows[] = {{0, 0, 0, 0}, {100, 0, 0, 1}, {100, 0, 1, 0}, {0, 1, 0, 0}, {100, 1, 0, 1}, {100, 1, 1, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        broad__decode_options options = defaults();
        options.max_bytes = 4 << 20;
        options.side = rows[i].side;
        zoo_file file = rows[i].png ? make_drawn_png(SIDE, SIDE, rows[i].twice) : make_photo(SIDE, SIDE, rows[i].twice);
        if (rows[i].passes) {
            zoo_memory memory;
            broad__image image;
            zoo_watch(&memory, -1);
            assert_ok(broad__decode(&image, NULL, file.bytes, file.count, &options));
            assert_true(memory.peak < (1 << 20));
            broad__image_free(&image);
            broad_set_allocator(NULL);
            zoo_free(&file);
        } else check_refused(&file, &options, "more memory than the limit of 4 MiB");
    }
}

/* ---- damage ---- */

static void truncated_jpeg(void **state)
{
    (void)state;
    zoo_file file = make_photo(64, 64, 0);
    broad__decode_options options = defaults();
    broad__image image, whole;
    broad__decode_facts facts;
    assert_ok(broad__decode(&whole, NULL, file.bytes, file.count, &options));
    /* Without its end marker alone it is whole. */
    assert_ok(broad__decode(&image, &facts, file.bytes, file.count - 2, &options));
    assert_false(facts.damaged);
    assert_memory_equal(image.pixels, whole.pixels, 64 * 64 * 3);
    broad__image_free(&image);
    size_t half = find_marker(&file, 0xDA) + (file.count - find_marker(&file, 0xDA)) / 2;
    assert_fails(broad__decode(&image, NULL, file.bytes, half, &options), BROAD_BAD_DATA, "ends early, in row");
    assert_fails(broad__decode(&image, NULL, file.bytes, 300, &options), BROAD_BAD_DATA, "JPEG");
    assert_fails(broad__decode(&image, NULL, file.bytes, 3, &options), BROAD_BAD_DATA, "JPEG");
    options.damaged = 1;
    assert_ok(broad__decode(&image, &facts, file.bytes, half, &options));
    assert_true(facts.damaged);
    assert_memory_equal(image.pixels, whole.pixels, 64 * 16 * 3);
    assert_memory_not_equal(image.pixels, whole.pixels, 64 * 64 * 3);
    broad__image_free(&image);
    broad__image_free(&whole);
    zoo_free(&file);
}

static void truncated_progressive(void **state)
{
    (void)state;
    zoo_file file = make_photo(64, 64, 1);
    broad__decode_options options = defaults();
    broad__image image;
    for (size_t left = 2; left < file.count / 2; left += 97)
        assert_fails(broad__decode(&image, NULL, file.bytes, file.count - left, &options), BROAD_BAD_DATA, "JPEG");
    zoo_free(&file);
}

/* Enough bytes that the library reads them in several pieces. */
static zoo_file make_noise_png(size_t width, size_t height, int interlaced)
{
    zoo_png how = {.width = width, .height = height, .depth = 8, .type = PNG_COLOR_TYPE_RGB, .interlaced = interlaced};
    unsigned char *pixels = malloc(width * height * 3);
    uint32_t seed = 5;
    for (size_t i = 0; i < width * height * 3; i++) pixels[i] = (unsigned char)next_random(&seed);
    zoo_file file = make_png(&how, pixels, width * 3);
    free(pixels);
    return file;
}

static void truncated_png(void **state)
{
    (void)state;
    for (int interlaced = 0; interlaced < 2; interlaced++) {
        zoo_file file = make_noise_png(120, 100, interlaced);
        broad__decode_options options = defaults();
        broad__image image, whole;
        broad__decode_facts facts;
        assert_ok(broad__decode(&whole, NULL, file.bytes, file.count, &options));
        assert_ok(broad__decode(&image, &facts, file.bytes, file.count - 12, &options));
        assert_false(facts.damaged);
        broad__image_free(&image);
        size_t half = file.count * 2 / 3;
        assert_fails(broad__decode(&image, NULL, file.bytes, half, &options), BROAD_BAD_DATA, "ends early");
        assert_fails(broad__decode(&image, NULL, file.bytes, 20, &options), BROAD_BAD_DATA, "ends early");
        options.damaged = 1;
        assert_fails(broad__decode(&image, NULL, file.bytes, 20, &options), BROAD_BAD_DATA, "ends early");
        assert_ok(broad__decode(&image, &facts, file.bytes, half, &options));
        assert_true(facts.damaged);
        if (!interlaced) assert_memory_equal(image.pixels, whole.pixels, 120 * 40 * 3);
        assert_memory_not_equal(image.pixels, whole.pixels, 120 * 100 * 3);
        broad__image_free(&image);
        options.damaged = 0;
        file.bytes[file.count / 2] ^= 0x55;
        assert_fails(broad__decode(&image, NULL, file.bytes, file.count, &options), BROAD_BAD_DATA, "PNG is damaged");
        broad__image_free(&whole);
        zoo_free(&file);
    }
}

/* The last scan over and over: a few bytes each, and a pass over the picture. */
static void endless_scans(void **state)
{
    (void)state;
    zoo_file file = make_photo(64, 64, 1);
    size_t last = file.count - 2;
    while (file.bytes[last] != 0xFF || file.bytes[last + 1] != 0xDA) last--;
    zoo_file scan = {0};
    zoo_add(&scan, file.bytes + last, file.count - 2 - last);
    for (int i = 0; i < 200; i++) zoo_insert(&file, file.count - 2, scan.bytes, scan.count);
    broad__decode_options options = defaults();
    broad__image image;
    options.damaged = 1;
    assert_fails(broad__decode(&image, NULL, file.bytes, file.count, &options), BROAD_BAD_DATA, "more than 100 scans");
    zoo_free(&scan);
    zoo_free(&file);
}

static void two_channels(void **state)
{
    (void)state;
    zoo_jpeg how = {.width = 8, .height = 8, .channels = 2, .in = JCS_UNKNOWN, .stored = JCS_UNKNOWN};
    unsigned char *pixels = drawn_pixels(8, 8, 2);
    zoo_file file = make_jpeg(&how, pixels);
    broad__decode_options options = defaults();
    broad__image image;
    assert_fails(broad__decode(&image, NULL, file.bytes, file.count, &options), BROAD_BAD_DATA, "2 colour channels");
    free(pixels);
    zoo_free(&file);
}

/* ---- what is no JPEG or PNG ---- */

static void other_formats(void **state)
{
    (void)state;
#define ROW(text, what)                                                                                                \
    {                                                                                                                  \
        text, sizeof(text) - 1, what                                                                                   \
    }
    static const struct {
        const char *bytes;
        size_t count;
        const char *message;
    } rows[] = {
        ROW("", "the file is empty"),
        ROW("GIF89a\1\0\1\0", "a GIF picture, which broad does not read; convert it to JPEG or PNG"),
        ROW("RIFF\x24\0\0\0WEBPVP8 ", "WebP"),
        ROW("RIFF\x24\0\0\0AVI LIST", "an AVI video"),
        ROW("RIFF\x24\0\0\0WAVE", "not a picture that broad knows (it begins with 52 49 46 46 24 00 00 00)"),
        ROW("\0\0\0\x18"
            "ftypheic\0\0\0\0",
            "HEIC picture"),
        ROW("\0\0\0\x1C"
            "ftypmif1\0\0\0\0",
            "picture"),
        ROW("\0\0\0\x1C"
            "ftypavif\0\0\0\0",
            "picture"),
        ROW("\0\0\0\x1C"
            "ftypisom\0\0\0\0",
            "an MP4 or QuickTime video"),
        ROW("II*\0\x08\0\0\0", "TIFF"),
        ROW("MM\0*\0\0\0\x08", "TIFF"),
        ROW("BM\x36\0\0\0", "a BMP picture"),
        ROW("%PDF-1.7\n", "a PDF document, not a picture"),
        ROW("\n  <!DOCTYPE HTML><html>", "a web page, not a picture"),
        ROW("\xEF\xBB\xBF<html lang=en>", "a web page, not a picture"),
        ROW("<svg xmlns=", "an SVG drawing"),
        ROW("PK\3\4\x14\0", "a ZIP archive"),
        ROW("8BPS\0\1", "a Photoshop picture"),
        ROW("\0\0\0\fjP  \r\n\x87\n", "a JPEG 2000 picture"),
        ROW("\0\5\x16\7\0\2\0\0", "a companion file of macOS"),
        ROW("\x89PNG\r\n\x1A\n\0\0\0\4CgBIP\0 \2", "Apple's own form"),
        ROW("\0\0\0\0\0\0\0\0\0\0", "nothing but zeros"),
        ROW("\xFF", "not a picture that broad knows (it begins with ff)"),
        ROW("\xFF\xD8", "not a picture that broad knows (it begins with ff d8)"),
        ROW("hello\1", "not a picture that broad knows (it begins with 68 65 6c 6c 6f 01); give JPEG or PNG"),
        ROW("hello\r\n", "a text, not a picture"),
    };
#undef ROW
    broad__decode_options options = defaults();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        broad__image image = {0};
        /* Exactly as long as it is, so that reading past it is seen. */
        unsigned char *bytes = malloc(rows[i].count + !rows[i].count);
        memcpy(bytes, rows[i].bytes, rows[i].count);
        assert_fails(broad__decode(&image, NULL, bytes, rows[i].count, &options), BROAD_BAD_DATA, rows[i].message);
        assert_null(image.pixels);
        free(bytes);
    }
}

/* ---- mutations, memory, threads ---- */

static void mutate(zoo_file *file, uint32_t *seed)
{
    uint32_t kind = next_random(seed) % 8;
    if (kind == 0) file->count = next_random(seed) % file->count + 1;
    size_t at = next_random(seed) % file->count, length = next_random(seed) % 40;
    if (length > file->count - at) length = file->count - at;
    if (kind == 1) {
        unsigned char piece[40];
        memcpy(piece, file->bytes + at, length);
        zoo_insert(file, next_random(seed) % file->count, piece, length);
    } else if (kind == 2) {
        memmove(file->bytes + at, file->bytes + at + length, file->count - at - length);
        file->count -= length;
    }
    for (uint32_t i = next_random(seed) % 12; i > 0 && file->count; i--)
        file->bytes[next_random(seed) % (kind > 4 && file->count > 700 ? 700 : file->count)] =
            (unsigned char)next_random(seed);
}

/* A PNG behind its checksums: those of all chunks that are still in order are made right. */
static void repair_png(zoo_file *file)
{
    for (size_t at = 8; at + 12 <= file->count;) {
        size_t length = (size_t)file->bytes[at] << 24 | (size_t)file->bytes[at + 1] << 16 |
                        (size_t)file->bytes[at + 2] << 8 | file->bytes[at + 3];
        if (length > file->count - at - 12) return;
        zoo_put32(file->bytes + at + 8 + length, crc32(0, file->bytes + at + 4, (uInt)length + 4));
        at += 12 + length;
    }
}

static zoo_file mutation_seed(size_t i)
{
    switch (i) {
    case 0: return make_photo(40, 30, 0);
    case 1: return make_photo(40, 30, 1);
    case 2: return make_drawn_png(40, 30, 0);
    case 3: return make_drawn_png(40, 30, 1);
    default: break;
    }
    if (i == 4) {
        zoo_jpeg how = {.width = 40, .height = 30, .channels = 4, .in = JCS_CMYK, .stored = JCS_YCCK, .subsampled = 1};
        unsigned char *pixels = drawn_pixels(40, 30, 4);
        zoo_file file = make_jpeg(&how, pixels);
        free(pixels);
        return file;
    }
    png_color palette[16];
    for (size_t k = 0; k < 16; k++) palette[k] = colour_of(k);
    zoo_png how = {.width = 40,
                   .height = 30,
                   .depth = 4,
                   .type = PNG_COLOR_TYPE_PALETTE,
                   .palette = palette,
                   .colours = 16,
                   .opacities = palette_opacity,
                   .opacity_count = 3};
    size_t stride;
    unsigned char *rows = packed_rows(40, 30, 4, &stride);
    zoo_file file = make_png(&how, rows, stride);
    free(rows);
    return file;
}

/* BROAD_MUTATIONS=2000 for more of them. */
static void mutations(void **state)
{
    (void)state;
    const char *wanted = getenv("BROAD_MUTATIONS");
    long count = wanted ? atol(wanted) : 400, done = 0;
    uint32_t seed = 20240611;
    broad__decode_options options = defaults();
    options.max_pixels = 4000000;
    options.max_bytes = 32 << 20;
    zoo_memory memory;
    for (long i = 0; i < count; i++) {
        zoo_file file = mutation_seed((size_t)i % 6);
        mutate(&file, &seed);
        if (next_random(&seed) % 4 && file.count > 8) repair_png(&file);
        /* Exactly as long as it is. */
        unsigned char *bytes = malloc(file.count + !file.count);
        memcpy(bytes, file.bytes, file.count);
        options.side = next_random(&seed) % 2 ? 0 : 25;
        options.damaged = next_random(&seed) % 2 != 0;
        zoo_watch(&memory, -1);
        broad__image image = {0};
        int status = broad__decode(&image, NULL, bytes, file.count, &options);
        if (status == BROAD_OK) {
            assert_true(image.width && image.height && image.width * image.height <= options.max_pixels);
            done++;
        } else {
            assert_int_equal(status, BROAD_BAD_DATA);
            assert_null(image.pixels);
            assert_true(strlen(broad_error_message()) > 10);
        }
        broad__image_free(&image);
        broad_set_allocator(NULL);
        assert_int_equal(memory.blocks, 0);
        assert_true(memory.peak <= options.max_bytes + (5 << 20));
        free(bytes);
        zoo_free(&file);
    }
    /* Some survive and some do not, or the mutations are none. */
    assert_true(done > count / 20 && done < count * 19 / 20);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    /* What libjpeg takes past our allocator as well: the limit, what other tests here took, and the program. */
    assert_true(HELPER_SANITIZED || usage.ru_maxrss < 160 * 1024);
}

static const unsigned char exif_turned[] = "Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0";

static void without_memory(void **state)
{
    (void)state;
    zoo_jpeg how = {.width = 40,
                    .height = 30,
                    .channels = 3,
                    .in = JCS_RGB,
                    .stored = JCS_YCbCr,
                    .segment = exif_turned,
                    .segment_bytes = sizeof exif_turned - 1};
    unsigned char *pixels = drawn_pixels(40, 30, 3);
    for (int kind = 0; kind < 3; kind++) {
        zoo_file file = kind == 0 ? make_jpeg(&how, pixels) : make_drawn_png(40, 30, kind == 2);
        broad__decode_options options = defaults();
        options.side = 20;
        zoo_memory memory;
        long n = 0;
        for (;; n++) {
            broad__image image = {0};
            zoo_watch(&memory, n);
            int status = broad__decode(&image, NULL, file.bytes, file.count, &options);
            size_t width = image.width;
            broad__image_free(&image);
            broad_set_allocator(NULL);
            assert_int_equal(memory.blocks, 0);
            if (!memory.failed) {
                assert_int_equal(status, BROAD_OK);
                assert_int_equal(width, kind == 0 ? 15 : 20);
                break;
            }
            if (status != BROAD_NO_MEMORY)
                fail_msg("allocation %ld of kind %d: %d %s", n, kind, status, broad_error_message());
        }
        assert_true(n > 10);
        zoo_free(&file);
    }
    free(pixels);
}

typedef struct thread_work {
    zoo_file files[6];
    broad__image expected[6];
    int wrong;
} thread_work;

static void *thread_main(void *context)
{
    thread_work *work = context;
    broad__decode_options options = defaults();
    for (int i = 0; i < 120; i++) {
        int k = i % 6;
        broad__image image = {0};
        int bad = broad__decode(&image, NULL, work->files[k].bytes, work->files[k].count, &options) != BROAD_OK;
        const broad__image *expected = &work->expected[k];
        if (bad || memcmp(image.pixels, expected->pixels, expected->width * expected->height * 3) != 0)
            __atomic_add_fetch(&work->wrong, 1, __ATOMIC_RELAXED);
        broad__image_free(&image);
        /* A failure now and then: its message is this thread's alone. */
        if (broad__decode(&image, NULL, "GIF89a", 6, &options) == BROAD_OK || !strstr(broad_error_message(), "GIF"))
            __atomic_add_fetch(&work->wrong, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    thread_work work = {0};
    broad__decode_options options = defaults();
    pthread_t ids[4];
    for (size_t k = 0; k < 6; k++) {
        work.files[k] = mutation_seed(k);
        assert_ok(broad__decode(&work.expected[k], NULL, work.files[k].bytes, work.files[k].count, &options));
    }
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&ids[i], NULL, thread_main, &work), 0);
    for (int i = 0; i < 4; i++) pthread_join(ids[i], NULL);
    assert_int_equal(work.wrong, 0);
    for (size_t k = 0; k < 6; k++) {
        zoo_free(&work.files[k]);
        broad__image_free(&work.expected[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jpeg_zoo),
        cmocka_unit_test(first_of_several_frames),
        cmocka_unit_test(jpeg_at_target_side),
        cmocka_unit_test(png_grey_and_palette),
        cmocka_unit_test(png_deep),
        cmocka_unit_test(png_with_other_chunks),
        cmocka_unit_test(png_at_target_side),
        cmocka_unit_test(bombs),
        cmocka_unit_test(memory_limit),
        cmocka_unit_test(truncated_jpeg),
        cmocka_unit_test(truncated_progressive),
        cmocka_unit_test(truncated_png),
        cmocka_unit_test(endless_scans),
        cmocka_unit_test(two_channels),
        cmocka_unit_test(other_formats),
        cmocka_unit_test(mutations),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
