/* TIFF by libtiff, where the build has it: BROAD_WITH_TIFF. */
#ifndef BROAD_IMAGE_CODEC_DECODE_TIFF_H
#define BROAD_IMAGE_CODEC_DECODE_TIFF_H

#include "image/codec/decode_job.h"

#ifndef BROAD_WITH_TIFF
#define BROAD_WITH_TIFF 0
#endif

int broad__decode_tiff(broad__decode_job *job);

#endif
