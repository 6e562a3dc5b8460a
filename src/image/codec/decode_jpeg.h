/* JPEG, by libjpeg. */
#ifndef BROAD_IMAGE_CODEC_DECODE_JPEG_H
#define BROAD_IMAGE_CODEC_DECODE_JPEG_H

#include "image/codec/decode_job.h"

int broad__decode_jpeg(broad__decode_job *job);

#endif
