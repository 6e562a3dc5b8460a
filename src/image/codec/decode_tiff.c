/* The first picture of a TIFF, whatever libtiff can make RGBA of. Raw pictures of cameras are TIFFs too, whose first picture
 * is a thumbnail or the mosaic of the sensor: these are refused. */
#include "image/codec/decode_tiff.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

#if BROAD_WITH_TIFF
#include <tiffio.h>

enum { MESSAGE = 200, MOSAIC = 32803, LINEAR_RAW = 34892, SMALLER_FORM = 1 };

/* The bytes as a file, and the first complaint of the library. */
typedef struct tiff_file {
    const broad__decode_job *job;
    size_t at;
    char message[MESSAGE];
} tiff_file;

static tmsize_t tiff_read(thandle_t handle, void *to, tmsize_t count)
{
    tiff_file *file = handle;
    size_t left = file->at < file->job->count ? file->job->count - file->at : 0;
    size_t taken = (size_t)count < left ? (size_t)count : left;
    if (taken) memcpy(to, file->job->bytes + file->at, taken);
    file->at += taken;
    return (tmsize_t)taken;
}

static tmsize_t tiff_write(thandle_t handle, void *from, tmsize_t count)
{
    (void)handle, (void)from, (void)count;
    return 0;
}

static toff_t tiff_seek(thandle_t handle, toff_t offset, int whence)
{
    tiff_file *file = handle;
    uint64_t base = whence == SEEK_CUR ? file->at : whence == SEEK_END ? file->job->count : 0;
    file->at = (size_t)(base + offset);
    return file->at;
}

static int tiff_close(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t tiff_size(thandle_t handle) { return ((tiff_file *)handle)->job->count; }

static int on_error(TIFF *tiff, void *context, const char *module, const char *format, va_list values)
{
    tiff_file *file = context;
    (void)tiff, (void)module;
    if (!file->message[0]) vsnprintf(file->message, sizeof file->message, format, values);
    return 1;
}

static int on_warning(TIFF *tiff, void *context, const char *module, const char *format, va_list values)
{
    (void)tiff, (void)context, (void)module, (void)format, (void)values;
    return 1;
}

static TIFF *tiff_open(tiff_file *file)
{
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)file->job->options->max_bytes);
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, file);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, file);
    TIFF *tiff =
        TIFFClientOpenExt("", "rm", file, tiff_read, tiff_write, tiff_seek, tiff_close, tiff_size, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}

static int fail_tiff(const tiff_file *file)
{
    return broad__fail(BROAD_BAD_DATA, "the TIFF cannot be decoded: %s",
                       file->message[0] ? file->message : "it is damaged");
}

static int is_raw(TIFF *tiff)
{
    uint32_t form = 0;
    uint16_t colours = 0, count = 0;
    void *version = NULL;
    TIFFGetField(tiff, TIFFTAG_SUBFILETYPE, &form);
    TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &colours);
    return (form & SMALLER_FORM) || colours == MOSAIC || colours == LINEAR_RAW ||
           TIFFGetField(tiff, TIFFTAG_DNGVERSION, &version) == 1 ||
           TIFFGetField(tiff, TIFFTAG_CFAPATTERN, &count, &version) == 1;
}

/* As stored: turning it upright is left to the caller. */
static int read_pixels(broad__decode_job *job, const tiff_file *file, TIFF *tiff, size_t width, size_t height)
{
    TIFFRGBAImage image;
    char message[1024] = "";
    if (!TIFFRGBAImageOK(tiff, message) || !TIFFRGBAImageBegin(&image, tiff, !job->options->damaged, message))
        return broad__fail(BROAD_BAD_DATA, "the TIFF cannot be decoded: %.200s", message);
    uint32_t *pixels = broad__alloc_array(width * height, sizeof *pixels);
    int status = pixels ? BROAD_OK : BROAD_NO_MEMORY;
    image.orientation = image.req_orientation = ORIENTATION_TOPLEFT;
    if (status == BROAD_OK && !TIFFRGBAImageGet(&image, pixels, (uint32_t)width, (uint32_t)height))
        status = fail_tiff(file);
    TIFFRGBAImageEnd(&image);
    /* Colours are multiplied by alpha already. */
    for (size_t y = 0; status == BROAD_OK && y < height; y++) {
        unsigned char *row = broad__resample_next(&job->rows);
        for (size_t x = 0; x < width; x++) {
            uint32_t pixel = pixels[y * width + x], white = 255 - TIFFGetA(pixel);
            uint32_t rgb[] = {TIFFGetR(pixel) + white, TIFFGetG(pixel) + white, TIFFGetB(pixel) + white};
            for (size_t c = 0; c < 3; c++) row[3 * x + c] = (unsigned char)(rgb[c] < 255 ? rgb[c] : 255);
        }
        broad__resample_done(&job->rows);
    }
    broad__free(pixels);
    return status;
}

int broad__decode_tiff(broad__decode_job *job)
{
    tiff_file file = {.job = job};
    uint32_t width = 0, height = 0;
    size_t left = 0;
    TIFF *tiff = tiff_open(&file);
    if (!tiff) return fail_tiff(&file);
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
    int status = is_raw(tiff) ? broad__fail(BROAD_BAD_DATA, BROAD__RAW_MESSAGE) : BROAD_OK;
    if (status == BROAD_OK) status = broad__decode_check_size(job, width, height);
    if (status == BROAD_OK) status = broad__decode_begin_rows(&left, job, width, height, (size_t)8 * width * height);
    if (status == BROAD_OK) status = read_pixels(job, &file, tiff, width, height);
    TIFFClose(tiff);
    return status;
}
#else
int broad__decode_tiff(broad__decode_job *job)
{
    (void)job;
    return broad__fail(BROAD_BUG, "this build has no libtiff");
}
#endif
