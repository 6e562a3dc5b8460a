/* WebP by libwebp, where the build has it: BROAD_WITH_WEBP. */
#ifndef BROAD_IMAGE_CODEC_DECODE_WEBP_H
#define BROAD_IMAGE_CODEC_DECODE_WEBP_H

#include "image/codec/decode_job.h"

#ifndef BROAD_WITH_WEBP
#define BROAD_WITH_WEBP 0
#endif

int broad__decode_webp(broad__decode_job *job);

#endif
