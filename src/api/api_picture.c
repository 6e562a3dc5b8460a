/* Entry points of broad.h: pictures, work on several threads, random numbers. */
#include "base/memory.h"
#include "base/status.h"
#include "compute/pool.h"
#include "image/codec/decode.h"
#include "image/codec/write.h"
#include "rng/philox.h"

struct broad_picture {
    broad__image image;
};

static int missing_argument(const char *function)
{
    return broad__fail(BROAD_USAGE, "%s: an argument is NULL", function);
}

/* Hands over an image that was made, unless making it failed. */
static int hand_out(broad_picture **out, broad__image *image, int status)
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
    if (!out) return missing_argument("broad_picture_new");
    *out = NULL;
    return hand_out(out, &image, broad__image_init(&image, width, height));
}

void broad_picture_free(broad_picture *picture)
{
    if (!picture) return;
    broad__image_free(&picture->image);
    broad__free(picture);
}

size_t broad_picture_width(const broad_picture *picture) { return picture->image.width; }

size_t broad_picture_height(const broad_picture *picture) { return picture->image.height; }

unsigned char *broad_picture_pixels(broad_picture *picture) { return picture->image.pixels; }

const unsigned char *broad_picture_bytes(const broad_picture *picture) { return picture->image.pixels; }

int broad_picture_decode(broad_picture **out, const void *bytes, size_t count, size_t side)
{
    broad__image image = {0};
    broad__decode_options options;
    if (!out || !bytes) return missing_argument("broad_picture_decode");
    *out = NULL;
    broad__decode_options_init(&options);
    options.side = side;
    options.damaged = 1;
    return hand_out(out, &image, broad__decode(&image, NULL, bytes, count, &options));
}

int broad_picture_jpeg(void **out, size_t *out_bytes, const broad_picture *picture, int quality)
{
    if (!out || !out_bytes || !picture) return missing_argument("broad_picture_jpeg");
    return broad__write_jpeg(out, out_bytes, &picture->image, quality);
}

int broad_picture_png(void **out, size_t *out_bytes, const broad_picture *picture)
{
    if (!out || !out_bytes || !picture) return missing_argument("broad_picture_png");
    return broad__write_png(out, out_bytes, &picture->image);
}

int broad_picture_fit(broad_picture **out, const broad_picture *picture, size_t side)
{
    broad__image image = {0};
    size_t width = 0, height = 0;
    if (!out || !picture) return missing_argument("broad_picture_fit");
    *out = NULL;
    broad__image_fit(&width, &height, picture->image.width, picture->image.height, side);
    return hand_out(out, &image, broad__image_resize(&image, &picture->image, width, height));
}

int broad_picture_crop(broad_picture **out, const broad_picture *picture, size_t left, size_t top, size_t width,
                       size_t height)
{
    broad__image image = {0};
    if (!out || !picture) return missing_argument("broad_picture_crop");
    *out = NULL;
    return hand_out(out, &image, broad__image_crop(&image, &picture->image, left, top, width, height));
}

/* ---- several threads ------------------------------------------------------------------------------------------- */

int broad_parallel(size_t count, size_t threads, broad_parallel_function job, void *context)
{
    broad__pool *pool = NULL;
    if (!job) return missing_argument("broad_parallel");
    int status = broad__pool_open(&pool, threads && threads < count ? threads : threads ? count : 0);
    if (status < 0) return status;
    broad__pool_run(pool, count, job, context);
    broad__pool_close(pool);
    return BROAD_OK;
}

/* ---- random numbers -------------------------------------------------------------------------------------------- */

void broad_random_init(broad_random *out, uint64_t seed, broad_random_purpose purpose)
{
    *out = (broad_random){.size = sizeof *out, .seed = seed, .purpose = purpose};
}

static broad__stream stream_of(const broad_random *random)
{
    return (broad__stream){.seed = random->seed,
                           .purpose = (broad__purpose)random->purpose,
                           .layer = (uint32_t)random->number,
                           .step = (uint16_t)(random->number >> 32),
                           .draw = random->draw};
}

double broad_random_at(const broad_random *random, uint64_t element)
{
    broad__stream stream = stream_of(random);
    return broad__random_at(&stream, element);
}

void broad_random_fill(double *out, const broad_random *random, uint64_t first, size_t count)
{
    broad__stream stream = stream_of(random);
    broad__random_fill(out, &stream, first, count);
}
