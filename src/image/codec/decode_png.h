/* PNG, by libpng. */
#ifndef BROAD_IMAGE_CODEC_DECODE_PNG_H
#define BROAD_IMAGE_CODEC_DECODE_PNG_H

#include "image/codec/decode_job.h"

int broad__decode_png(broad__decode_job *job);

#endif
