/*
 * libheif, loaded with the first picture that needs it: its coders take longer to start than most commands take as a whole.
 * The functions have the names and the types that <libheif/heif.h> gives them, without the prefix.
 */
#ifndef BROAD_IMAGE_CODEC_HEIF_LIBRARY_H
#define BROAD_IMAGE_CODEC_HEIF_LIBRARY_H

#include "image/codec/decode_heif.h"

#if BROAD_WITH_HEIF
#include <libheif/heif.h>

typedef struct broad__heif_library {
    struct heif_context *(*context_alloc)(void);
    void (*context_free)(struct heif_context *);
    void (*context_set_max_decoding_threads)(struct heif_context *, int);
    struct heif_error (*context_read_from_memory_without_copy)(struct heif_context *, const void *, size_t,
                                                               const struct heif_reading_options *);
    struct heif_error (*context_get_primary_image_handle)(struct heif_context *, struct heif_image_handle **);
    int (*image_handle_get_width)(const struct heif_image_handle *);
    int (*image_handle_get_height)(const struct heif_image_handle *);
    int (*image_handle_get_list_of_metadata_block_IDs)(const struct heif_image_handle *, const char *, heif_item_id *,
                                                       int);
    size_t (*image_handle_get_metadata_size)(const struct heif_image_handle *, heif_item_id);
    struct heif_error (*image_handle_get_metadata)(const struct heif_image_handle *, heif_item_id, void *);
    void (*image_handle_release)(const struct heif_image_handle *);
    struct heif_error (*decode_image)(const struct heif_image_handle *, struct heif_image **, enum heif_colorspace,
                                      enum heif_chroma, const struct heif_decoding_options *);
    const uint8_t *(*image_get_plane_readonly)(const struct heif_image *, enum heif_channel, int *);
    int (*image_get_width)(const struct heif_image *, enum heif_channel);
    int (*image_get_height)(const struct heif_image *, enum heif_channel);
    void (*image_release)(const struct heif_image *);
} broad__heif_library;

/* NULL: it is not there, or lacks a function. Any thread. */
const broad__heif_library *broad__heif_library_load(void);
#endif

#endif
