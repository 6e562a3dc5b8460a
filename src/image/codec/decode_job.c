#include "image/codec/decode_job.h"

#include "base/status.h"

int broad__decode_check_size(broad__decode_job *job, size_t width, size_t height)
{
    size_t limit = job->options->max_pixels;
    job->facts->width = width;
    job->facts->height = height;
    if (!width || !height) return broad__fail(BROAD_BAD_DATA, "a picture without pixels: %zu x %zu", width, height);
    if (width > limit / height)
        return broad__fail(BROAD_BAD_DATA, "%zu x %zu pixels exceed the limit of %zu; make the picture smaller", width,
                           height, limit);
    return BROAD_OK;
}

int broad__decode_fail_limit(const broad__decode_job *job)
{
    return broad__fail(
        BROAD_BAD_DATA,
        "decoding %zu x %zu pixels takes more memory than the limit of %zu MiB; make the picture smaller",
        job->facts->width, job->facts->height, job->options->max_bytes >> 20);
}

int broad__decode_begin_rows(size_t *left, broad__decode_job *job, size_t width, size_t height, size_t extra)
{
    size_t to_width, to_height, limit = job->options->max_bytes;
    /* From the stored size: a reduced one is rounded up, and its proportions are not quite the same. */
    broad__image_fit(&to_width, &to_height, job->facts->width, job->facts->height, job->options->side);
    size_t needed = broad__resample_bytes(width, height, to_width, to_height);
    if (needed > limit || extra > limit - needed) return broad__decode_fail_limit(job);
    *left = limit - needed - extra;
    return broad__resample_begin(&job->rows, width, height, to_width, to_height);
}

void broad__decode_put_rgba(broad__decode_job *job, const unsigned char *pixels, size_t stride, size_t width,
                            size_t height)
{
    for (size_t y = 0; y < height; y++) {
        unsigned char *row = broad__resample_next(&job->rows);
        const unsigned char *from = pixels + y * stride;
        for (size_t x = 0; x < width; x++, from += 4)
            for (size_t c = 0; c < 3; c++)
                row[3 * x + c] = (unsigned char)((from[c] * from[3] + 255 * (255 - from[3]) + 127) / 255);
        broad__resample_done(&job->rows);
    }
}
