/* HEIC, HEIF and AVIF by libheif, where the build knows it, BROAD_WITH_HEIF, and it is there when it is needed. */
#ifndef BROAD_IMAGE_CODEC_DECODE_HEIF_H
#define BROAD_IMAGE_CODEC_DECODE_HEIF_H

#include "image/codec/decode_job.h"

#ifndef BROAD_WITH_HEIF
#define BROAD_WITH_HEIF 0
#endif

/* Whether they can be read; loads libheif, on any thread. */
int broad__decode_heif_there(void);
/* Turns the picture as the file says, and reads its EXIF, whose orientation then no longer counts. */
int broad__decode_heif(broad__decode_job *job);

#endif
