/* Pictures drawn here and written by libjpeg and libpng themselves, in every form that a file may have. */
#ifndef BROAD_TESTS_SUPPORT_IMAGE_ZOO_H
#define BROAD_TESTS_SUPPORT_IMAGE_ZOO_H

#include "helper.h"

#include <jpeglib.h>
#include <png.h>
#include <zlib.h>

#include "image/image.h"

typedef struct zoo_file {
    unsigned char *bytes; /* freed with free() */
    size_t count;
} zoo_file;

static inline void zoo_free(zoo_file *file)
{
    free(file->bytes);
    *file = (zoo_file){0};
}

static inline void zoo_add(zoo_file *file, const void *bytes, size_t count)
{
    file->bytes = realloc(file->bytes, file->count + count + 1);
    if (!file->bytes) fail_msg("no memory");
    memcpy(file->bytes + file->count, bytes, count);
    file->count += count;
}

static inline void zoo_insert(zoo_file *file, size_t at, const void *bytes, size_t count)
{
    zoo_file whole = {0};
    zoo_add(&whole, file->bytes, at);
    zoo_add(&whole, bytes, count);
    zoo_add(&whole, file->bytes + at, file->count - at);
    zoo_free(file);
    *file = whole;
}

/* Smooth enough for JPEG, different in every corner and channel. */
static inline unsigned char drawn(size_t x, size_t y, size_t c, size_t width, size_t height)
{
    double a = width > 1 ? (double)x / (double)(width - 1) : 0, b = height > 1 ? (double)y / (double)(height - 1) : 0;
    double value = c == 0 ? 230 * a + 10 : c == 1 ? 200 * b + 30 : c == 2 ? 60 + 120 * a * b : 90 + 80 * (1 - a) * b;
    return (unsigned char)(value + 0.5);
}

static inline unsigned char *drawn_pixels(size_t width, size_t height, size_t channels)
{
    unsigned char *pixels = malloc(width * height * channels);
    if (!pixels) fail_msg("no memory");
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            for (size_t c = 0; c < channels; c++)
                pixels[(y * width + x) * channels + c] = drawn(x, y, c, width, height);
    return pixels;
}

typedef struct zoo_jpeg {
    size_t width, height;
    int channels; /* 1, 3, 4 */
    J_COLOR_SPACE in, stored;
    int progressive;
    int subsampled;
    int no_adobe;
    int arithmetic;
    int restart_rows;
    int quality;                  /* 0: 100 */
    const unsigned char *segment; /* an APP1 */
    size_t segment_bytes;
} zoo_jpeg;

static inline zoo_file make_jpeg(const zoo_jpeg *how, const unsigned char *pixels)
{
    struct jpeg_compress_struct codec;
    struct jpeg_error_mgr errors;
    unsigned char *bytes = NULL;
    unsigned long count = 0;
    codec.err = jpeg_std_error(&errors);
    jpeg_create_compress(&codec);
    jpeg_mem_dest(&codec, &bytes, &count);
    codec.image_width = (JDIMENSION)how->width;
    codec.image_height = (JDIMENSION)how->height;
    codec.input_components = how->channels;
    codec.in_color_space = how->in;
    jpeg_set_defaults(&codec);
    jpeg_set_colorspace(&codec, how->stored);
    jpeg_set_quality(&codec, how->quality ? how->quality : 100, TRUE);
    if (how->no_adobe) codec.write_Adobe_marker = FALSE;
    codec.arith_code = how->arithmetic;
    codec.restart_in_rows = how->restart_rows;
    for (int i = 0; i < codec.num_components && !how->subsampled; i++)
        codec.comp_info[i].h_samp_factor = codec.comp_info[i].v_samp_factor = 1;
    if (how->progressive) jpeg_simple_progression(&codec);
    jpeg_start_compress(&codec, TRUE);
    if (how->segment) jpeg_write_marker(&codec, JPEG_APP0 + 1, how->segment, (unsigned)how->segment_bytes);
    while (codec.next_scanline < codec.image_height) {
        /* libjpeg asks for a row that it could write to, and does not. */
        JSAMPLE *row = (JSAMPLE *)(uintptr_t)pixels + codec.next_scanline * how->width * (size_t)how->channels;
        jpeg_write_scanlines(&codec, &row, 1);
    }
    jpeg_finish_compress(&codec);
    jpeg_destroy_compress(&codec);
    return (zoo_file){bytes, count};
}

/* The picture drawn() in RGB. */
static inline zoo_file make_photo(size_t width, size_t height, int progressive)
{
    zoo_jpeg how = {.width = width,
                    .height = height,
                    .channels = 3,
                    .in = JCS_RGB,
                    .stored = JCS_YCbCr,
                    .progressive = progressive};
    unsigned char *pixels = drawn_pixels(width, height, 3);
    zoo_file file = make_jpeg(&how, pixels);
    free(pixels);
    return file;
}

typedef struct zoo_png {
    size_t width, height;
    int depth, type;
    int interlaced;
    const png_color *palette;
    int colours;
    const unsigned char *opacities; /* of the palette */
    int opacity_count;
    const png_color_16 *transparent;
} zoo_png;

static inline void zoo_png_write(png_structp codec, png_bytep bytes, size_t count)
{
    zoo_add(png_get_io_ptr(codec), bytes, count);
}

static inline void zoo_png_flush(png_structp codec) { (void)codec; }

/* `rows` as PNG has them, packed, `stride` bytes each. */
static inline zoo_file make_png(const zoo_png *how, const unsigned char *rows, size_t stride)
{
    zoo_file file = {0};
    png_structp codec = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(codec);
    png_set_write_fn(codec, &file, zoo_png_write, zoo_png_flush);
    png_set_IHDR(codec, info, (png_uint_32)how->width, (png_uint_32)how->height, how->depth, how->type,
                 how->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (how->palette) png_set_PLTE(codec, info, how->palette, how->colours);
    if (how->opacities || how->transparent)
        png_set_tRNS(codec, info, how->opacities, how->opacity_count, how->transparent);
    png_write_info(codec, info);
    png_bytepp list = malloc(how->height * sizeof *list);
    for (size_t y = 0; y < how->height; y++) list[y] = (png_bytep)(uintptr_t)rows + y * stride;
    png_write_image(codec, list);
    png_write_end(codec, info);
    free(list);
    png_destroy_write_struct(&codec, &info);
    return file;
}

static inline void zoo_put32(unsigned char *to, size_t value)
{
    for (int i = 0; i < 4; i++) to[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* A chunk with its length and checksum. */
static inline zoo_file make_chunk(const char *type, const void *body, size_t count)
{
    zoo_file chunk = {0};
    unsigned char number[4];
    zoo_put32(number, count);
    zoo_add(&chunk, number, 4);
    zoo_add(&chunk, type, 4);
    zoo_add(&chunk, body, count);
    zoo_put32(number, crc32(0, chunk.bytes + 4, (uInt)(count + 4)));
    zoo_add(&chunk, number, 4);
    return chunk;
}

/* Another size into the header of a PNG, with the right checksum. */
static inline void patch_png_size(zoo_file *file, size_t width, size_t height)
{
    zoo_put32(file->bytes + 16, width);
    zoo_put32(file->bytes + 20, height);
    zoo_put32(file->bytes + 29, crc32(0, file->bytes + 12, 17));
}

/* Where the first marker `code` begins, walking the segments. */
static inline size_t find_marker(const zoo_file *file, int code)
{
    for (size_t at = 2; at + 4 < file->count;) {
        if (file->bytes[at + 1] == code) return at;
        at += 2 + (size_t)(file->bytes[at + 2] << 8 | file->bytes[at + 3]);
    }
    fail_msg("no marker %02x", (unsigned)code);
    return 0;
}

static inline void patch_jpeg_size(zoo_file *file, size_t width, size_t height, int marker)
{
    unsigned char *frame = file->bytes + find_marker(file, marker);
    frame[5] = (unsigned char)(height >> 8);
    frame[6] = (unsigned char)height;
    frame[7] = (unsigned char)(width >> 8);
    frame[8] = (unsigned char)width;
}

/* ---- memory ---- */

typedef struct zoo_memory {
    size_t blocks, bytes, peak;
    long until_failure; /* allocations that still succeed; negative: all of them */
    int failed;
} zoo_memory;

static inline void *zoo_allocate(size_t bytes, void *context)
{
    zoo_memory *memory = context;
    if (memory->until_failure == 0) {
        memory->failed = 1;
        return NULL;
    }
    if (memory->until_failure > 0) memory->until_failure--;
    size_t *block = malloc(bytes + 16);
    if (!block) return NULL;
    block[0] = bytes;
    memory->blocks++;
    memory->bytes += bytes;
    if (memory->bytes > memory->peak) memory->peak = memory->bytes;
    return block + 2;
}

static inline void zoo_release(void *block, void *context)
{
    zoo_memory *memory = context;
    if (!block) return;
    size_t *start = (size_t *)block - 2;
    memory->blocks--;
    memory->bytes -= start[0];
    free(start);
}

static inline void zoo_watch(zoo_memory *memory, long until_failure)
{
    *memory = (zoo_memory){.until_failure = until_failure};
    broad_allocator allocator = {zoo_allocate, zoo_release, memory};
    broad_set_allocator(&allocator);
}

/* Noise in all colours by a congruential generator: the same bytes everywhere. */
static inline broad__image noise_image(size_t width, size_t height, unsigned seed)
{
    broad__image image;
    assert_ok(broad__image_init(&image, width, height));
    for (size_t i = 0; i < width * height * 3; i++) {
        seed = seed * 1664525u + 1013904223u;
        image.pixels[i] = (unsigned char)(seed >> 24);
    }
    return image;
}

#endif
