#include "image/codec/write.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>
#include <png.h>

#include "base/memory.h"
#include "base/status.h"

enum { FIRST_BYTES = 1 << 14 };
static const size_t MAX_BYTES = (size_t)1 << 34;

typedef struct buffer {
    unsigned char *bytes;
    size_t capacity;
    size_t used;
} buffer;

/* Both libraries leave by longjmp: what must outlive that lies here. */
typedef struct write_job {
    buffer to;
    const broad__image *image;
    int quality, quickly;
    int status;
    png_structp png;
    png_infop info;
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr destination;
    jmp_buf leave;
} write_job;

static int hand_over(void **out, size_t *out_bytes, write_job *job, int status)
{
    if (status == BROAD_OK) {
        *out = job->to.bytes;
        *out_bytes = job->to.used;
    } else broad__free(job->to.bytes);
    broad__free(job);
    return status;
}

/* ---- PNG ---- */

static png_voidp png_allocate(png_structp codec, png_alloc_size_t count)
{
    write_job *job = png_get_mem_ptr(codec);
    void *block = broad__alloc(count);
    if (!block) job->status = BROAD_NO_MEMORY;
    return block;
}

static void png_release(png_structp codec, png_voidp block)
{
    (void)codec;
    broad__free(block);
}

static void on_png_error(png_structp codec, png_const_charp text)
{
    write_job *job = png_get_error_ptr(codec);
    if (job->status == BROAD_OK) job->status = broad__fail(BROAD_FAILED, "the PNG cannot be written: %s", text);
    png_longjmp(codec, 1);
}

static void on_png_warning(png_structp codec, png_const_charp text) { (void)codec, (void)text; }

static void on_png_write(png_structp codec, png_bytep bytes, size_t count)
{
    write_job *job = png_get_io_ptr(codec);
    buffer *to = &job->to;
    job->status = broad__grow(&to->bytes, &to->capacity, to->used + count, 1, MAX_BYTES);
    if (job->status < 0) png_error(codec, "no memory");
    memcpy(to->bytes + to->used, bytes, count);
    to->used += count;
}

static void on_png_flush(png_structp codec) { (void)codec; }

static int png_encode(write_job *job)
{
    const broad__image *image = job->image;
    if (setjmp(png_jmpbuf(job->png))) return job->status;
    job->info = png_create_info_struct(job->png);
    if (!job->info) return job->status;
    png_set_write_fn(job->png, job, on_png_write, on_png_flush);
    png_set_user_limits(job->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(job->png, job->info, (png_uint_32)image->width, (png_uint_32)image->height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(job->png, job->info);
    for (size_t y = 0; y < image->height; y++) png_write_row(job->png, image->pixels + y * image->width * 3);
    png_write_end(job->png, NULL);
    return BROAD_OK;
}

int broad__write_png(void **out, size_t *out_bytes, const broad__image *image)
{
    if ((image->width | image->height) >> 31) return broad__fail(BROAD_USAGE, "a PNG has sides below 2^31");
    write_job *job = broad__alloc(sizeof *job);
    if (!job) return BROAD_NO_MEMORY;
    job->image = image;
    job->png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, job, on_png_error, on_png_warning, job, png_allocate,
                                         png_release);
    if (!job->png && job->status == BROAD_OK) job->status = broad__fail(BROAD_BUG, "libpng does not start");
    int status = job->png ? png_encode(job) : job->status;
    if (job->png) png_destroy_write_struct(&job->png, &job->info);
    return hand_over(out, out_bytes, job, status);
}

/* ---- JPEG ---- */

static _Noreturn void jpeg_leave(write_job *job, int status)
{
    job->status = status;
    longjmp(job->leave, 1);
}

static void on_jpeg_error(j_common_ptr codec)
{
    char text[JMSG_LENGTH_MAX];
    codec->err->format_message(codec, text);
    int status = codec->err->msg_code == JERR_OUT_OF_MEMORY ? BROAD_NO_MEMORY : BROAD_FAILED;
    jpeg_leave(codec->client_data, broad__fail(status, "the JPEG cannot be written: %s", text));
}

static void on_jpeg_message(j_common_ptr codec, int level) { (void)codec, (void)level; }

static void on_jpeg_print(j_common_ptr codec) { (void)codec; }

/* The library writes into what is free at the buffer's end. */
static void jpeg_make_room(write_job *job, size_t bytes)
{
    buffer *to = &job->to;
    int status = broad__grow(&to->bytes, &to->capacity, bytes, 1, MAX_BYTES);
    if (status < 0) jpeg_leave(job, status);
    job->destination.next_output_byte = to->bytes + to->used;
    job->destination.free_in_buffer = to->capacity - to->used;
}

static void on_jpeg_begin(j_compress_ptr codec) { jpeg_make_room(codec->client_data, FIRST_BYTES); }

/* Called when all of it is full, whatever the pointers say. */
static boolean on_jpeg_full(j_compress_ptr codec)
{
    write_job *job = codec->client_data;
    job->to.used = job->to.capacity;
    jpeg_make_room(job, job->to.used + FIRST_BYTES);
    return TRUE;
}

static void on_jpeg_end(j_compress_ptr codec)
{
    write_job *job = codec->client_data;
    job->to.used = job->to.capacity - job->destination.free_in_buffer;
}

static int jpeg_encode(write_job *job)
{
    const broad__image *image = job->image;
    j_compress_ptr codec = &job->jpeg;
    if (setjmp(job->leave)) return job->status;
    jpeg_create_compress(codec);
    codec->dest = &job->destination;
    codec->image_width = (JDIMENSION)image->width;
    codec->image_height = (JDIMENSION)image->height;
    codec->input_components = 3;
    codec->in_color_space = JCS_RGB;
    jpeg_set_defaults(codec);
    jpeg_set_quality(codec, job->quality, TRUE);
    codec->optimize_coding = !job->quickly;
    jpeg_start_compress(codec, TRUE);
    while (codec->next_scanline < codec->image_height) {
        JSAMPLE *row = image->pixels + (size_t)codec->next_scanline * image->width * 3;
        jpeg_write_scanlines(codec, &row, 1);
    }
    jpeg_finish_compress(codec);
    return BROAD_OK;
}

static int write_jpeg(void **out, size_t *out_bytes, const broad__image *image, int quality, int quickly)
{
    if (quality < 1 || quality > 100)
        return broad__fail(BROAD_USAGE, "a JPEG quality of %d: give 1 (small) to 100 (good)", quality);
    if (image->width > JPEG_MAX_DIMENSION || image->height > JPEG_MAX_DIMENSION)
        return broad__fail(BROAD_USAGE, "%zu x %zu pixels: a JPEG has sides of at most %ld", image->width,
                           image->height, JPEG_MAX_DIMENSION);
    write_job *job = broad__alloc(sizeof *job);
    if (!job) return BROAD_NO_MEMORY;
    job->image = image;
    job->quality = quality;
    job->quickly = quickly;
    job->jpeg.client_data = job;
    job->jpeg.err = jpeg_std_error(&job->errors);
    job->errors.error_exit = on_jpeg_error;
    job->errors.emit_message = on_jpeg_message;
    job->errors.output_message = on_jpeg_print;
    job->destination = (struct jpeg_destination_mgr){NULL, 0, on_jpeg_begin, on_jpeg_full, on_jpeg_end};
    int status = jpeg_encode(job);
    jpeg_destroy_compress(&job->jpeg);
    return hand_over(out, out_bytes, job, status);
}

int broad__write_jpeg(void **out, size_t *out_bytes, const broad__image *image, int quality)
{
    return write_jpeg(out, out_bytes, image, quality, 0);
}

int broad__write_jpeg_quickly(void **out, size_t *out_bytes, const broad__image *image, int quality)
{
    return write_jpeg(out, out_bytes, image, quality, 1);
}
