/* The main picture of the file. */
#include "image/codec/decode_heif.h"

#include <stdint.h>

#include "base/memory.h"
#include "base/status.h"

#if BROAD_WITH_HEIF
#include "image/codec/heif_library.h"

enum { EXIF_MOST = 1 << 20 };

static int fail_heif(struct heif_error error)
{
    if (error.code == heif_error_Memory_allocation_error)
        return broad__fail(BROAD_BAD_DATA, "the HEIC picture takes more memory than it may");
    return broad__fail(BROAD_BAD_DATA, "the HEIC picture cannot be decoded: %.200s",
                       error.message ? error.message : "it is damaged");
}

/* The first four bytes say where, after them, the header of a TIFF begins. */
static int read_exif(broad__exif *out, const broad__heif_library *heif, const struct heif_image_handle *handle)
{
    heif_item_id id;
    if (heif->image_handle_get_list_of_metadata_block_IDs(handle, "Exif", &id, 1) != 1) return BROAD_OK;
    size_t count = heif->image_handle_get_metadata_size(handle, id);
    if (count < 8 || count > EXIF_MOST) return BROAD_OK;
    unsigned char *bytes = broad__alloc(count);
    if (!bytes) return BROAD_NO_MEMORY;
    int status = BROAD_OK;
    if (heif->image_handle_get_metadata(handle, id, bytes).code == heif_error_Ok) {
        size_t skip = (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3];
        if (skip < count - 4) status = broad__exif_read_tiff(out, bytes + 4 + skip, count - 4 - skip);
    }
    broad__free(bytes);
    return status;
}

static int read_pixels(broad__decode_job *job, const broad__heif_library *heif, const struct heif_image_handle *handle,
                       size_t width, size_t height)
{
    struct heif_image *image = NULL;
    struct heif_error error =
        heif->decode_image(handle, &image, heif_colorspace_RGB, heif_chroma_interleaved_RGBA, NULL);
    if (error.code != heif_error_Ok) return fail_heif(error);
    int stride = 0, status = BROAD_OK;
    const uint8_t *pixels = heif->image_get_plane_readonly(image, heif_channel_interleaved, &stride);
    if (!pixels || stride < 0 || (size_t)stride < 4 * width ||
        (size_t)heif->image_get_width(image, heif_channel_interleaved) != width ||
        (size_t)heif->image_get_height(image, heif_channel_interleaved) != height)
        status = broad__fail(BROAD_BAD_DATA, "the HEIC picture is not as large as it claims to be");
    else broad__decode_put_rgba(job, pixels, (size_t)stride, width, height);
    heif->image_release(image);
    return status;
}

static int decode(broad__decode_job *job, const broad__heif_library *heif, struct heif_context *context)
{
    struct heif_image_handle *handle = NULL;
    size_t left = 0;
    heif->context_set_max_decoding_threads(context, 0);
    struct heif_error error = heif->context_read_from_memory_without_copy(context, job->bytes, job->count, NULL);
    if (error.code == heif_error_Ok) error = heif->context_get_primary_image_handle(context, &handle);
    if (error.code != heif_error_Ok) return fail_heif(error);
    int across = heif->image_handle_get_width(handle), down = heif->image_handle_get_height(handle);
    size_t width = across > 0 ? (size_t)across : 0, height = down > 0 ? (size_t)down : 0;
    int status = broad__decode_check_size(job, width, height);
    /* Planes of the decoder, and the pixels twice: once before they are turned. */
    if (status == BROAD_OK) status = broad__decode_begin_rows(&left, job, width, height, 12 * width * height);
    if (status == BROAD_OK) status = read_exif(&job->facts->exif, heif, handle);
    job->facts->exif.orientation = 1;
    if (status == BROAD_OK) status = read_pixels(job, heif, handle, width, height);
    heif->image_handle_release(handle);
    return status;
}

int broad__decode_heif_there(void) { return broad__heif_library_load() != NULL; }

int broad__decode_heif(broad__decode_job *job)
{
    const broad__heif_library *heif = broad__heif_library_load();
    struct heif_context *context = heif ? heif->context_alloc() : NULL;
    if (!context) return broad__fail(BROAD_NO_MEMORY, "out of memory while decoding an HEIC picture");
    int status = decode(job, heif, context);
    heif->context_free(context);
    return status;
}
#else
int broad__decode_heif_there(void) { return 0; }

int broad__decode_heif(broad__decode_job *job)
{
    (void)job;
    return broad__fail(BROAD_BUG, "this build has no libheif");
}
#endif
