/* Lossy and lossless, with and without alpha. Of an animation nothing is read. */
#include "image/codec/decode_webp.h"

#include "base/memory.h"
#include "base/status.h"

#if BROAD_WITH_WEBP
#include <webp/decode.h>

int broad__decode_webp(broad__decode_job *job)
{
    WebPBitstreamFeatures about;
    size_t left = 0;
    VP8StatusCode code = WebPGetFeatures(job->bytes, job->count, &about);
    if (code == VP8_STATUS_NOT_ENOUGH_DATA) return broad__fail(BROAD_BAD_DATA, "the WebP ends early; copy it again");
    if (code != VP8_STATUS_OK) return broad__fail(BROAD_BAD_DATA, "the WebP cannot be decoded: it is damaged");
    if (about.has_animation) return broad__fail(BROAD_BAD_DATA, "an animated WebP, which broad does not read");
    size_t width = (size_t)about.width, height = (size_t)about.height, stride = 4 * width;
    int status = broad__decode_check_size(job, width, height);
    /* The decoder keeps about as much again as the pixels. */
    if (status == BROAD_OK) status = broad__decode_begin_rows(&left, job, width, height, 2 * stride * height);
    if (status < 0) return status;
    unsigned char *pixels = broad__alloc(stride * height);
    if (!pixels) return BROAD_NO_MEMORY;
    if (WebPDecodeRGBAInto(job->bytes, job->count, pixels, stride * height, (int)stride))
        broad__decode_put_rgba(job, pixels, stride, width, height);
    else status = broad__fail(BROAD_BAD_DATA, "the WebP is damaged, or ends early; copy it again");
    broad__free(pixels);
    return status;
}
#else
int broad__decode_webp(broad__decode_job *job)
{
    (void)job;
    return broad__fail(BROAD_BUG, "this build has no libwebp");
}
#endif
