/* One picture on its way through a decoder; for decode*.c alone. */
#ifndef BROAD_IMAGE_CODEC_DECODE_JOB_H
#define BROAD_IMAGE_CODEC_DECODE_JOB_H

#include "image/codec/decode.h"
#include "image/resample.h"

/* Both libraries leave by longjmp: what must outlive that lies here, not in local variables. */
typedef struct broad__decode_job {
    const unsigned char *bytes;
    size_t count;
    const broad__decode_options *options;
    broad__decode_facts *facts;
    broad__resample rows; /* freed by decode.c */
    int status;           /* of the failure that the libraries are being left for, with its message set */
} broad__decode_job;

#define BROAD__RAW_MESSAGE                                                                                             \
    "a raw picture of a camera (DNG and the like), which broad does not read; to convert all of a folder: for f in "   \
    "*.dng; "                                                                                                          \
    "do dcraw -c -w \"$f\" | cjpeg -quality 95 > \"${f%%.*}.jpg\"; done"

/* Sets facts->width and height, and refuses what is beyond the pixel limit. */
int broad__decode_check_size(broad__decode_job *job, size_t width, size_t height);

/* Begins job->rows for rows of width x height. `extra` bytes are needed beside it; *left is what max_bytes leaves. */
int broad__decode_begin_rows(size_t *left, broad__decode_job *job, size_t width, size_t height, size_t extra);
/* Rows of red, green, blue and alpha, `stride` bytes apart, blended with white. */
void broad__decode_put_rgba(broad__decode_job *job, const unsigned char *pixels, size_t stride, size_t width,
                            size_t height);
int broad__decode_fail_limit(const broad__decode_job *job);

#endif
