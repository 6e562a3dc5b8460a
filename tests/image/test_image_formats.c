/* HEIC, WebP and TIFF, made here by the encoders of the libraries that read them; a build without a library skips it. Pictures of every
 * shape up to a bound, in all formats but HEIC, whose encoder takes none so small. */
#include "photo_folder.h"

#include "base/memory.h"
#include "image/codec/decode.h"
#include "image/codec/decode_heif.h"
#include "image/codec/decode_tiff.h"
#include "image/codec/decode_webp.h"
#include "image/codec/write.h"

#if BROAD_WITH_HEIF
#include <libheif/heif.h>
#endif
#if BROAD_WITH_WEBP
#include <webp/encode.h>
#endif
#if BROAD_WITH_TIFF
#include <tiffio.h>
#endif

enum { WIDTH = 96, HEIGHT = 64 };

/* The encoder that libheif uses keeps a block of its own. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libx265"; }

/* EXIF of one entry: the camera lay on its side. */
static const unsigned char lying[] = "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0";

typedef struct bytes {
    unsigned char *at;
    size_t count;
} bytes;

static bytes copied(const void *from, size_t count)
{
    bytes out = {malloc(count), count};
    memcpy(out.at, from, count);
    return out;
}

static int decode(broad__image *out, broad__decode_facts *facts, const bytes *file)
{
    broad__decode_options options;
    broad__decode_options_init(&options);
    return broad__decode(out, facts, file->at, file->count, &options);
}

static double mean_difference(const broad__image *a, const broad__image *b)
{
    double sum = 0;
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    for (size_t i = 0; i < 3 * a->width * a->height; i++) sum += abs(a->pixels[i] - b->pixels[i]);
    return sum / (double)(3 * a->width * a->height);
}

/* Read as it was written, reduced, from memory as a public picture; cut short it is refused at any length. */
static void check_format(const bytes *file, const char *format, const broad__image *picture, double tolerance)
{
    broad__image have = {0};
    broad__decode_facts facts;
    assert_ok(decode(&have, &facts, file));
    assert_string_equal(facts.format, format);
    assert_int_equal(facts.width, WIDTH);
    assert_true(mean_difference(&have, picture) <= tolerance);
    broad__image_free(&have);
    broad_picture *small = NULL;
    assert_ok(broad_picture_decode(&small, file->at, file->count, 48));
    assert_int_equal(broad_picture_width(small), 48);
    broad_picture_free(small);
    for (size_t cut = 0; cut < file->count - file->count / 4; cut += 1 + cut / 3) {
        unsigned char *part = malloc(cut + 1);
        memcpy(part, file->at, cut);
        bytes shorter = {part, cut};
        int status = decode(&have, NULL, &shorter);
        if (status == BROAD_OK) broad__image_free(&have); /* a thumbnail may be whole */
        else assert_int_equal(status, BROAD_BAD_DATA);
        free(part);
    }
    assert_true(broad__decode_reads(file->at, file->count));
    assert_non_null(strstr(broad_picture_formats(), format));
}

static void webp(void **state)
{
    (void)state;
#if BROAD_WITH_WEBP
    broad__image picture, turned = {0};
    unsigned char *out = NULL;
    draw_waves(&picture, 5, WIDTH, HEIGHT);
    size_t count = WebPEncodeLosslessRGB(picture.pixels, WIDTH, HEIGHT, 3 * WIDTH, &out);
    bytes file = copied(out, count);
    check_format(&file, "WebP", &picture, 0);
    /* With EXIF after the picture. */
    file.at = realloc(file.at, count + 8 + sizeof lying);
    memcpy(file.at + count, "EXIF", 4);
    memcpy(file.at + count + 4, &(uint32_t){sizeof lying}, 4);
    memcpy(file.at + count + 8, lying, sizeof lying);
    file.count = count + 8 + sizeof lying;
    memcpy(file.at + 4, &(uint32_t){(uint32_t)file.count - 8}, 4);
    assert_ok(decode(&turned, NULL, &file));
    assert_int_equal(turned.width, HEIGHT);
    broad__image_free(&turned);
    WebPFree(out);
    free(file.at);
    broad__image_free(&picture);
#else
    skip();
#endif
}

#if BROAD_WITH_TIFF
/* Written to a file by libtiff, with an orientation and, where it is not 0, as what is not a picture to be read. */
static bytes tiff_file(const broad__image *picture, int orientation, int reduced, uint16_t compression)
{
    char path[] = "/tmp/broad-tiff-XXXXXX";
    close(mkstemp(path));
    TIFF *tiff = TIFFOpen(path, "w");
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, (uint32_t)picture->width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, (uint32_t)picture->height);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, compression);
    TIFFSetField(tiff, TIFFTAG_ORIENTATION, orientation);
    if (reduced) TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, FILETYPE_REDUCEDIMAGE);
    for (size_t y = 0; y < picture->height; y++)
        TIFFWriteScanline(tiff, picture->pixels + 3 * y * picture->width, (uint32_t)y, 0);
    TIFFClose(tiff);
    FILE *stream = fopen(path, "rb");
    bytes out = {malloc(1 << 20), 0};
    out.count = fread(out.at, 1, 1 << 20, stream);
    fclose(stream);
    unlink(path);
    return out;
}
#endif

static void tiff(void **state)
{
    (void)state;
#if BROAD_WITH_TIFF
    broad__image picture, turned = {0};
    draw_waves(&picture, 6, WIDTH, HEIGHT);
    bytes file = tiff_file(&picture, 1, 0, COMPRESSION_NONE);
    check_format(&file, "TIFF", &picture, 0);
    free(file.at);
    file = tiff_file(&picture, 6, 0, COMPRESSION_LZW);
    assert_ok(decode(&turned, NULL, &file));
    assert_int_equal(turned.width, HEIGHT);
    assert_ok(broad__image_orient(&picture, 6));
    assert_true(mean_difference(&turned, &picture) == 0);
    broad__image_free(&turned);
    free(file.at);
    file = tiff_file(&picture, 1, 1, COMPRESSION_NONE);
    assert_fails(decode(&turned, NULL, &file), BROAD_BAD_DATA, "a raw picture of a camera");
    free(file.at);
    broad__image_free(&picture);
#else
    skip();
#endif
}

/* A few bytes that claim a picture of 60000 x 60000. */
static void tiff_bomb(void **state)
{
    (void)state;
#if BROAD_WITH_TIFF
    static const unsigned char bomb[] =
        "II*\0\x08\0\0\0\x06\0\0\x01\x04\0\x01\0\0\0\x60\xEA\0\0\x01\x01\x04\0\x01\0\0\0\x60\xEA\0\0"
        "\x06\x01\x03\0\x01\0\0\0\x02\0\0\0\x11\x01\x04\0\x01\0\0\0\x08\0\0\0\x15\x01\x03\0\x01\0\0\0\x03\0\0\0"
        "\x17\x01\x04\0\x01\0\0\0\x08\0\0\0\0\0\0\0";
    broad__image none = {0};
    bytes file = copied(bomb, sizeof bomb);
    assert_fails(decode(&none, NULL, &file), BROAD_BAD_DATA, "60000 x 60000 pixels exceed the limit");
    free(file.at);
#else
    skip();
#endif
}

#if BROAD_WITH_HEIF
static struct heif_error keep_bytes(struct heif_context *context, const void *data, size_t count, void *to)
{
    (void)context;
    *(bytes *)to = copied(data, count);
    return (struct heif_error){heif_error_Ok, heif_suberror_Unspecified, "Success"};
}

static bytes heif_file(const broad__image *picture)
{
    struct heif_context *context = heif_context_alloc();
    struct heif_encoder *encoder = NULL;
    struct heif_image *image = NULL;
    struct heif_image_handle *handle = NULL;
    bytes out = {0};
    int stride = 0;
    if (heif_context_get_encoder_for_format(context, heif_compression_HEVC, &encoder).code != heif_error_Ok) {
        heif_context_free(context);
        return out;
    }
    heif_encoder_set_lossy_quality(encoder, 95);
    heif_image_create(WIDTH, HEIGHT, heif_colorspace_RGB, heif_chroma_interleaved_RGB, &image);
    heif_image_add_plane(image, heif_channel_interleaved, WIDTH, HEIGHT, 24);
    uint8_t *rows = heif_image_get_plane(image, heif_channel_interleaved, &stride);
    for (size_t y = 0; y < HEIGHT; y++)
        memcpy(rows + y * (size_t)stride, picture->pixels + 3 * y * WIDTH, 3 * (size_t)WIDTH);
    heif_context_encode_image(context, image, encoder, NULL, &handle);
    heif_context_add_exif_metadata(context, handle, lying, sizeof lying);
    struct heif_writer writer = {1, keep_bytes};
    heif_context_write(context, &writer, &out);
    heif_image_handle_release(handle);
    heif_image_release(image);
    heif_encoder_release(encoder);
    heif_context_free(context);
    return out;
}
#endif

/* The file itself says how it is turned: its EXIF repeats it, and does not turn it once more. */
static void heic(void **state)
{
    (void)state;
#if BROAD_WITH_HEIF
    broad__image picture;
    draw_waves(&picture, 7, WIDTH, HEIGHT);
    bytes file = heif_file(&picture);
    if (file.at) check_format(&file, "HEIC", &picture, 4);
    broad__image_free(&picture);
    if (!file.at) skip(); /* a library that reads and does not write */
    free(file.at);
#else
    skip();
#endif
}

enum { SIDE_MOST = 20 };

/* Whole, with the pixels that were written, and at every smaller size with the proportions kept. */
static void check_shape(const bytes *file, const broad__image *picture, double tolerance)
{
    broad__decode_options options;
    broad__image have = {0};
    broad__decode_facts facts;
    size_t longer = picture->width > picture->height ? picture->width : picture->height;
    broad__decode_options_init(&options);
    assert_ok(broad__decode(&have, &facts, file->at, file->count, &options));
    assert_int_equal(facts.width, picture->width);
    assert_int_equal(facts.height, picture->height);
    assert_true(mean_difference(&have, picture) <= tolerance);
    broad__image_free(&have);
    for (options.side = 1; options.side < longer; options.side += 1 + longer / 4) {
        assert_ok(broad__decode(&have, NULL, file->at, file->count, &options));
        assert_int_equal(have.width > have.height ? have.width : have.height, options.side);
        assert_true(have.width >= 1 && have.height >= 1);
        broad__image_free(&have);
    }
}

static void check_written(int (*write)(void **, size_t *, const broad__image *), const broad__image *picture,
                          double tolerance)
{
    void *out = NULL;
    bytes file = {0};
    assert_ok(write(&out, &file.count, picture));
    file.at = out;
    check_shape(&file, picture, tolerance);
    broad__free(out);
}

static int write_jpeg(void **out, size_t *out_bytes, const broad__image *image)
{
    return broad__write_jpeg(out, out_bytes, image, 100);
}

static void every_shape(void **state)
{
    (void)state;
    for (size_t width = 1; width <= SIDE_MOST; width++)
        for (size_t height = 1; height <= SIDE_MOST; height++) {
            broad__image picture;
            draw_waves(&picture, (unsigned)(width * SIDE_MOST + height), width, height);
            check_written(broad__write_png, &picture, 0);
            check_written(write_jpeg, &picture, 30); /* colours are kept at half the size */
#if BROAD_WITH_WEBP
            bytes packed = {0};
            packed.count = WebPEncodeLosslessRGB(picture.pixels, (int)width, (int)height, 3 * (int)width, &packed.at);
            check_shape(&packed, &picture, 0);
            WebPFree(packed.at);
#endif
#if BROAD_WITH_TIFF
            bytes plain = tiff_file(&picture, 1, 0, (width + height) % 2 ? COMPRESSION_NONE : COMPRESSION_LZW);
            check_shape(&plain, &picture, 0);
            free(plain.at);
#endif
            broad__image_free(&picture);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(webp), cmocka_unit_test(tiff),        cmocka_unit_test(tiff_bomb),
        cmocka_unit_test(heic), cmocka_unit_test(every_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
