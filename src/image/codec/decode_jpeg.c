/* JPEG by libjpeg-turbo: baseline and progressive, 8 bits; grey, YCbCr, RGB, CMYK, YCCK. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

#include "base/memory.h"
#include "base/status.h"
#include "image/codec/decode_jpeg.h"

/* A progressive picture has about ten scans. Each costs a pass over all its blocks, and takes a few bytes to ask for. */
enum { MAX_SCANS = 100 };

typedef struct jpeg_state {
    struct jpeg_decompress_struct codec;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf leave;
    broad__decode_job *job;
    int ended;   /* the file's bytes are used up */
    int several; /* scans */
} jpeg_state;

static jpeg_state *state_of(j_common_ptr codec) { return codec->client_data; }

static _Noreturn void leave(jpeg_state *state, int status)
{
    state->job->status = status;
    longjmp(state->leave, 1);
}

/* Failures of the library. */
static void on_error(j_common_ptr codec)
{
    jpeg_state *state = state_of(codec);
    char text[JMSG_LENGTH_MAX];
    switch (codec->err->msg_code) {
    case JERR_OUT_OF_MEMORY: leave(state, broad__fail(BROAD_NO_MEMORY, "out of memory while decoding a JPEG"));
    case JERR_NO_BACKING_STORE: leave(state, broad__decode_fail_limit(state->job));
    default: break;
    }
    codec->err->format_message(codec, text);
    leave(state, broad__fail(BROAD_BAD_DATA, "the JPEG cannot be decoded: %s", text));
}

static int is_damage(const jpeg_state *state, int code)
{
    switch (code) {
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_BOGUS_PROGRESSION: return 1;
    /* The end marker alone may be missing; but if there are several scans, one of them may be lost. */
    case JWRN_JPEG_EOF: return state->several;
    default: return 0;
    }
}

/* Warnings: level -1. Garbage between segments and similar faults are ignored, as every viewer does. */
static void on_message(j_common_ptr codec, int level)
{
    jpeg_state *state = state_of(codec);
    char text[JMSG_LENGTH_MAX];
    int code = codec->err->msg_code;
    if (level >= 0) return;
    if (code == JWRN_JPEG_EOF) state->ended = 1;
    if (!is_damage(state, code)) return;
    state->job->facts->damaged = 1;
    if (state->job->options->damaged) return;
    if (state->ended)
        leave(state, broad__fail(BROAD_BAD_DATA, "the JPEG ends early, in row %u of %u; copy it again",
                                 state->codec.output_scanline + 1, state->codec.output_height));
    codec->err->format_message(codec, text);
    leave(state, broad__fail(BROAD_BAD_DATA, "the JPEG is damaged: %s", text));
}

static void on_print(j_common_ptr codec) { (void)codec; }

static void on_progress(j_common_ptr codec)
{
    jpeg_state *state = state_of(codec);
    if (state->codec.input_scan_number > MAX_SCANS)
        leave(state, broad__fail(BROAD_BAD_DATA, "the JPEG has more than %d scans", (int)MAX_SCANS));
}

/* Adobe stores CMYK inverted, so that 0 is full ink. */
static void row_from_cmyk(unsigned char *restrict rgb, const unsigned char *restrict cmyk, size_t width, int inverted)
{
    unsigned flip = inverted ? 0 : 255;
    for (size_t x = 0; x < width; x++) {
        unsigned black = cmyk[4 * x + 3] ^ flip;
        for (size_t c = 0; c < 3; c++) rgb[3 * x + c] = (unsigned char)(((cmyk[4 * x + c] ^ flip) * black + 127) / 255);
    }
}

/* The smallest of the reduced sizes that have fast transforms, of 1/8, 1/4 and 1/2, that is still not below the target. */
static void choose_scale(j_decompress_ptr codec, size_t side)
{
    unsigned longer = codec->image_width > codec->image_height ? codec->image_width : codec->image_height;
    codec->scale_num = codec->scale_denom = 8;
    for (unsigned eighths = 1; side && eighths < 8; eighths *= 2)
        if (((size_t)longer * eighths + 7) / 8 >= side) {
            codec->scale_num = eighths;
            break;
        }
    jpeg_calc_output_dimensions(codec);
}

static int choose_colours(j_decompress_ptr codec)
{
    switch (codec->jpeg_color_space) {
    case JCS_GRAYSCALE:
    case JCS_RGB:
    case JCS_YCbCr: codec->out_color_space = JCS_RGB; return BROAD_OK;
    case JCS_CMYK:
    case JCS_YCCK: codec->out_color_space = JCS_CMYK; return BROAD_OK;
    default:
        return broad__fail(BROAD_BAD_DATA, "a JPEG with %d colour channels, which broad does not read",
                           codec->num_components);
    }
}

static void read_rows(jpeg_state *state)
{
    j_decompress_ptr codec = &state->codec;
    broad__resample *rows = &state->job->rows;
    int inks = codec->out_color_space == JCS_CMYK;
    JSAMPLE *cmyk = NULL;
    if (inks) cmyk = codec->mem->alloc_large((j_common_ptr)codec, JPOOL_IMAGE, (size_t)codec->output_width * 4);
    while (codec->output_scanline < codec->output_height) {
        JSAMPLE *row = inks ? cmyk : broad__resample_next(rows);
        jpeg_read_scanlines(codec, &row, 1);
        if (inks) row_from_cmyk(broad__resample_next(rows), cmyk, codec->output_width, codec->saw_Adobe_marker);
        broad__resample_done(rows);
    }
}

static int decode(jpeg_state *state)
{
    broad__decode_job *job = state->job;
    j_decompress_ptr codec = &state->codec;
    size_t left = 0;
    if (setjmp(state->leave)) return job->status;
    jpeg_create_decompress(codec);
    codec->progress = &state->progress;
    jpeg_mem_src(codec, job->bytes, (unsigned long)job->count);
    jpeg_read_header(codec, TRUE);
    int status = broad__decode_check_size(job, codec->image_width, codec->image_height);
    if (status == BROAD_OK) status = choose_colours(codec);
    if (status < 0) return status;
    choose_scale(codec, job->options->side);
    status = broad__decode_begin_rows(&left, job, codec->output_width, codec->output_height, 0);
    if (status < 0) return status;
    /* Bounds the coefficients of all blocks, which a progressive picture keeps. */
    codec->mem->max_memory_to_use = (long)left;
    state->several = jpeg_has_multiple_scans(codec);
    jpeg_start_decompress(codec);
    read_rows(state);
    return BROAD_OK;
}

int broad__decode_jpeg(broad__decode_job *job)
{
    jpeg_state *state = broad__alloc(sizeof *state);
    if (!state) return BROAD_NO_MEMORY;
    state->job = job;
    state->progress.progress_monitor = on_progress;
    state->codec.client_data = state;
    state->codec.err = jpeg_std_error(&state->errors);
    state->errors.error_exit = on_error;
    state->errors.emit_message = on_message;
    state->errors.output_message = on_print;
    int status = decode(state);
    jpeg_destroy_decompress(&state->codec);
    broad__free(state);
    return status;
}
