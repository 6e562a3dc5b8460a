/* HEIC, HEIF and AVIF by libheif, where the build has it: BROAD_WITH_HEIF. */
#ifndef BROAD_IMAGE_CODEC_DECODE_HEIF_H
#define BROAD_IMAGE_CODEC_DECODE_HEIF_H

#include "image/codec/decode_job.h"

#ifndef BROAD_WITH_HEIF
#define BROAD_WITH_HEIF 0
#endif

/* Turns the picture as the file says, and reads its EXIF, whose orientation then no longer counts. */
int broad__decode_heif(broad__decode_job *job);

#endif
