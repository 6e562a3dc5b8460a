/* Entry points of broad.h: pictures, work on several threads, random numbers. */
#include "api/api_picture.h"

#include <math.h>

#include "api/api_check.h"
#include "base/memory.h"
#include "base/status.h"
#include "compute/pool.h"
#include "image/codec/decode.h"
#include "image/codec/write.h"
#include "image/print/print.h"
#include "rng/philox.h"

struct broad_picture {
    broad__image image;
};

int broad__picture_hand_out(broad_picture **out, broad__image *image, int status)
{
    broad_picture *made = status < 0 ? NULL : broad__alloc(sizeof *made);
    if (status == BROAD_OK && !made) status = BROAD_NO_MEMORY;
    if (status < 0) {
        broad__image_free(image);
        return status;
    }
    made->image = *image;
    *out = made;
    return BROAD_OK;
}

int broad_picture_new(broad_picture **out, size_t width, size_t height)
{
    broad__image image = {0};
    if (!out) return broad__missing_argument("broad_picture_new");
    *out = NULL;
    return broad__picture_hand_out(out, &image, broad__image_init(&image, width, height));
}

static void copy_row(unsigned char *to, const unsigned char *from, size_t width, broad_pixel pixel)
{
    int grey = pixel == BROAD_PIXEL_GREY, alpha = pixel == BROAD_PIXEL_RGBA || pixel == BROAD_PIXEL_BGRA;
    int turned = pixel == BROAD_PIXEL_BGR || pixel == BROAD_PIXEL_BGRA;
    size_t step = grey ? 1 : alpha ? 4 : 3;
    for (size_t x = 0; x < width; x++, from += step)
        for (size_t c = 0; c < 3; c++) {
            unsigned value = from[grey ? 0 : turned ? 2 - c : c];
            to[3 * x + c] = (unsigned char)(alpha ? (value * from[3] + 255u * (255u - from[3]) + 127) / 255 : value);
        }
}

int broad_picture_from_pixels(broad_picture **out, const unsigned char *pixels, size_t width, size_t height,
                              size_t stride, broad_pixel pixel)
{
    broad__image image = {0};
    if (!out || !pixels) return broad__missing_argument("broad_picture_from_pixels");
    *out = NULL;
    if ((int)pixel < 0 || pixel > BROAD_PIXEL_GREY)
        return broad__fail(BROAD_USAGE, "broad_picture_from_pixels: there is no broad_pixel number %d", (int)pixel);
    size_t bytes = pixel == BROAD_PIXEL_GREY ? 1 : pixel == BROAD_PIXEL_RGB || pixel == BROAD_PIXEL_BGR ? 3 : 4;
    if (stride && stride / bytes < width)
        return broad__fail(BROAD_USAGE, "broad_picture_from_pixels: a row of %zu pixels takes more than %zu bytes",
                           width, stride);
    int status = broad__image_init(&image, width, height);
    for (size_t y = 0; status == BROAD_OK && y < height; y++)
        copy_row(image.pixels + 3 * y * width, pixels + y * (stride ? stride : bytes * width), width, pixel);
    return broad__picture_hand_out(out, &image, status);
}

const char *broad_picture_formats(void) { return broad__decode_formats(); }

void broad_picture_free(broad_picture *picture)
{
    if (!picture) return;
    broad__image_free(&picture->image);
    broad__free(picture);
}

size_t broad_picture_width(const broad_picture *picture) { return picture ? picture->image.width : 0; }

size_t broad_picture_height(const broad_picture *picture) { return picture ? picture->image.height : 0; }

unsigned char *broad_picture_pixels(broad_picture *picture) { return picture ? picture->image.pixels : NULL; }

const unsigned char *broad_picture_bytes(const broad_picture *picture)
{
    return picture ? picture->image.pixels : NULL;
}

int broad_picture_decode(broad_picture **out, const void *bytes, size_t count, size_t side)
{
    broad__image image = {0};
    broad__decode_options options;
    if (!out || !bytes) return broad__missing_argument("broad_picture_decode");
    *out = NULL;
    broad__decode_options_init(&options);
    options.side = side;
    options.damaged = 1;
    return broad__picture_hand_out(out, &image, broad__decode(&image, NULL, bytes, count, &options));
}

int broad_picture_jpeg(void **out, size_t *out_bytes, const broad_picture *picture, int quality)
{
    if (out) *out = NULL;
    if (!out || !out_bytes || !picture) return broad__missing_argument("broad_picture_jpeg");
    return broad__write_jpeg(out, out_bytes, &picture->image, quality);
}

int broad_picture_thumbnail(void **out, size_t *out_bytes, const broad_picture *picture, size_t side, int quality)
{
    broad__image small = {0};
    size_t width = 0, height = 0;
    if (!out || !out_bytes || !picture) return broad__missing_argument("broad_picture_thumbnail");
    const broad__image *whole = &picture->image;
    broad__image_fit(&width, &height, whole->width, whole->height, side);
    int as_it_is = width == whole->width && height == whole->height;
    int status = as_it_is ? BROAD_OK : broad__image_resize(&small, whole, width, height);
    if (status == BROAD_OK) status = broad__write_jpeg_quickly(out, out_bytes, as_it_is ? whole : &small, quality);
    broad__image_free(&small);
    return status;
}

int broad_picture_png(void **out, size_t *out_bytes, const broad_picture *picture)
{
    if (out) *out = NULL;
    if (!out || !out_bytes || !picture) return broad__missing_argument("broad_picture_png");
    return broad__write_png(out, out_bytes, &picture->image);
}

int broad_picture_print(uint64_t *out, const broad_picture *picture)
{
    if (!out || !picture) return broad__missing_argument("broad_picture_print");
    broad__print print;
    int status = broad__print_make(&print, &picture->image, "", 0);
    if (status == BROAD_OK) *out = print.flat ? 0 : print.hash;
    return status;
}

int broad_picture_fit(broad_picture **out, const broad_picture *picture, size_t side)
{
    broad__image image = {0};
    size_t width = 0, height = 0;
    if (!out || !picture) return broad__missing_argument("broad_picture_fit");
    *out = NULL;
    broad__image_fit(&width, &height, picture->image.width, picture->image.height, side);
    return broad__picture_hand_out(out, &image, broad__image_resize(&image, &picture->image, width, height));
}

int broad_picture_crop(broad_picture **out, const broad_picture *picture, size_t left, size_t top, size_t width,
                       size_t height)
{
    broad__image image = {0};
    if (!out || !picture) return broad__missing_argument("broad_picture_crop");
    *out = NULL;
    return broad__picture_hand_out(out, &image, broad__image_crop(&image, &picture->image, left, top, width, height));
}

/* ---- several threads ------------------------------------------------------------------------------------------- */

int broad_parallel(size_t count, size_t threads, broad_parallel_function job, void *context)
{
    broad__pool *pool = NULL;
    if (!job) return broad__missing_argument("broad_parallel");
    int status = broad__pool_open(&pool, threads && threads < count ? threads : threads ? count : 0);
    if (status < 0) return status;
    broad__pool_run(pool, count, job, context);
    broad__pool_close(pool);
    return BROAD_OK;
}

/* ---- random numbers -------------------------------------------------------------------------------------------- */

void broad_random_init_sized(broad_random *out, size_t size, uint64_t seed, broad_random_purpose purpose)
{
    broad_random full = {.size = sizeof full, .seed = seed, .purpose = purpose};
    if (out) broad__options_give(out, size, &full, sizeof full);
}

static int stream_of(broad__stream *out, const broad_random *random)
{
    broad_random full = {.size = sizeof full};
    int status = random ? broad__options_take(&full, sizeof full, random, "broad_random")
                        : broad__missing_argument("broad_random");
    *out = (broad__stream){.seed = full.seed,
                           .purpose = (broad__purpose)full.purpose,
                           .layer = (uint32_t)full.number,
                           .step = (uint16_t)(full.number >> 32),
                           .draw = full.draw};
    return status;
}

double broad_random_at(const broad_random *random, uint64_t element)
{
    broad__stream stream;
    return stream_of(&stream, random) == BROAD_OK ? broad__random_at(&stream, element) : NAN;
}

int broad_random_fill(double *out, const broad_random *random, uint64_t first, size_t count)
{
    broad__stream stream;
    if (!out || !random) return broad__missing_argument("broad_random_fill");
    int status = stream_of(&stream, random);
    if (status == BROAD_OK) broad__random_fill(out, &stream, first, count);
    return status;
}
