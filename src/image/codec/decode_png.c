/* PNG by libpng: every colour type and depth, interlaced or not, to 8 bits of RGB on white. */
#include <setjmp.h>
#include <string.h>

#include <png.h>

#include "base/memory.h"
#include "base/status.h"
#include "image/codec/decode_png.h"

enum { HEAD = 16, CHUNK_MEMORY = 8 << 20, MAX_CHUNKS = 1000 };

typedef struct png_state {
    png_structp codec;
    png_infop info;
    broad__decode_job *job;
    size_t at;            /* in the file's bytes */
    size_t left;          /* memory that the library may still take */
    size_t channels;      /* 3, or 4 with opacity */
    unsigned char *block; /* what comes from the library: one row, or the whole picture where it is interlaced */
    int passes;           /* 7 where it is interlaced, else 1 */
    int ended;            /* the file's bytes are used up */
    int beyond;           /* the memory limit */
    int reading;          /* rows: what came before a fault can be used */
} png_state;

/* ---- memory: a header keeps the size, so that the sum is known ---- */

static png_voidp png_allocate(png_structp codec, png_alloc_size_t count)
{
    png_state *state = png_get_mem_ptr(codec);
    if (count > state->left || state->left - count < HEAD) {
        state->beyond = 1;
        state->job->status = broad__decode_fail_limit(state->job);
        return NULL;
    }
    size_t bytes = count + HEAD;
    unsigned char *block = broad__alloc(bytes);
    if (!block) {
        state->job->status = BROAD_NO_MEMORY;
        return NULL;
    }
    state->left -= bytes;
    memcpy(block, &bytes, sizeof bytes);
    return block + HEAD;
}

static void png_release(png_structp codec, png_voidp block)
{
    if (!block) return;
    png_state *state = png_get_mem_ptr(codec);
    unsigned char *start = (unsigned char *)block - HEAD;
    size_t bytes;
    memcpy(&bytes, start, sizeof bytes);
    state->left += bytes;
    broad__free(start);
}

/* ---- what the library calls ---- */

/* A failed allocation has left its own message. */
static void on_error(png_structp codec, png_const_charp text)
{
    png_state *state = png_get_error_ptr(codec);
    broad__decode_job *job = state->job;
    if (job->status == BROAD_OK) {
        if (state->ended) job->status = broad__fail(BROAD_BAD_DATA, "the PNG ends early; copy it again");
        else job->status = broad__fail(BROAD_BAD_DATA, "the PNG is damaged: %s", text);
    }
    png_longjmp(codec, 1);
}

static void on_warning(png_structp codec, png_const_charp text) { (void)codec, (void)text; }

static void on_read(png_structp codec, png_bytep to, size_t count)
{
    png_state *state = png_get_io_ptr(codec);
    if (count > state->job->count - state->at) {
        state->ended = 1;
        png_error(codec, "the data end early");
    }
    memcpy(to, state->job->bytes + state->at, count);
    state->at += count;
}

/* ---- decoding ---- */

/* Nothing here uses these, and some are compressed: they need not even be read. */
static void skip_chunks(png_structp codec)
{
    static const png_byte names[] =
        "bKGD\0cHRM\0eXIf\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0sCAL\0sPLT\0sRGB\0"
        "tEXt\0tIME\0zTXt";
    png_set_keep_unknown_chunks(codec, PNG_HANDLE_CHUNK_NEVER, names, (int)(sizeof names / 5));
    png_set_chunk_cache_max(codec, MAX_CHUNKS);
    png_set_chunk_malloc_max(codec, CHUNK_MEMORY);
    png_set_user_limits(codec, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
}

/* To 8 bits, 3 colours, and opacity where there is any. */
static void choose_form(png_state *state)
{
    png_structp codec = state->codec;
    png_set_expand(codec);
    png_set_scale_16(codec);
    png_set_gray_to_rgb(codec);
    int type = png_get_color_type(codec, state->info);
    state->channels = type & PNG_COLOR_MASK_ALPHA || png_get_valid(codec, state->info, PNG_INFO_tRNS) ? 4 : 3;
}

static void row_on_white(unsigned char *restrict rgb, const unsigned char *restrict rgba, size_t width)
{
    for (size_t x = 0; x < width; x++) {
        unsigned opacity = rgba[4 * x + 3], white = 255 * (255 - opacity) + 127;
        for (size_t c = 0; c < 3; c++) rgb[3 * x + c] = (unsigned char)((rgba[4 * x + c] * opacity + white) / 255);
    }
}

static void take_row(png_state *state, const unsigned char *from)
{
    size_t width = state->job->facts->width;
    unsigned char *row = broad__resample_next(&state->job->rows);
    if (state->channels == 4) row_on_white(row, from, width);
    else memcpy(row, from, width * 3);
    broad__resample_done(&state->job->rows);
}

static void read_interlaced(png_state *state)
{
    size_t stride = state->job->facts->width * state->channels, height = state->job->facts->height;
    for (int pass = 0; pass < state->passes; pass++)
        for (size_t y = 0; y < height; y++) png_read_row(state->codec, state->block + y * stride, NULL);
    for (size_t y = 0; y < height; y++) take_row(state, state->block + y * stride);
}

static void read_rows(png_state *state)
{
    for (size_t y = 0; y < state->job->facts->height; y++) {
        png_read_row(state->codec, state->block, NULL);
        take_row(state, state->block);
    }
}

static int begin_rows(png_state *state)
{
    broad__decode_facts *facts = state->job->facts;
    size_t extra = facts->width * state->channels, used = state->job->options->max_bytes - state->left;
    if (state->passes > 1) extra *= facts->height;
    extra += used;
    int status = broad__decode_begin_rows(&state->left, state->job, facts->width, facts->height, extra);
    if (status < 0) return status;
    state->block = broad__alloc(extra);
    if (!state->block) return BROAD_NO_MEMORY;
    memset(state->block, 128, extra);
    return BROAD_OK;
}

static int decode(png_state *state)
{
    broad__decode_job *job = state->job;
    png_structp codec = state->codec;
    if (setjmp(png_jmpbuf(codec))) return job->status;
    state->info = png_create_info_struct(codec);
    if (!state->info) return job->status;
    png_set_read_fn(codec, state, on_read);
    skip_chunks(codec);
    png_read_info(codec, state->info);
    int status = broad__decode_check_size(job, png_get_image_width(codec, state->info),
                                          png_get_image_height(codec, state->info));
    if (status < 0) return status;
    choose_form(state);
    state->passes = png_set_interlace_handling(codec);
    status = begin_rows(state);
    if (status < 0) return status;
    png_read_update_info(codec, state->info);
    if (png_get_rowbytes(codec, state->info) != job->facts->width * state->channels)
        return broad__fail(BROAD_BUG, "a PNG row of %zu bytes", png_get_rowbytes(codec, state->info));
    state->reading = 1;
    if (state->passes > 1) read_interlaced(state);
    else read_rows(state);
    return BROAD_OK;
}

/* What a damaged picture has: the rows before the fault or, interlaced, the passes before it. */
static int salvage(png_state *state)
{
    broad__decode_job *job = state->job;
    size_t stride = job->facts->width * state->channels;
    job->facts->damaged = 1;
    for (size_t y = job->rows.taken; state->passes > 1 && y < job->facts->height; y++)
        take_row(state, state->block + y * stride);
    return BROAD_OK;
}

int broad__decode_png(broad__decode_job *job)
{
    png_state state = {.job = job, .left = job->options->max_bytes};
    state.codec = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &state, on_error, on_warning, &state, png_allocate,
                                           png_release);
    if (!state.codec) return job->status ? job->status : broad__fail(BROAD_BUG, "libpng does not start");
    int status = decode(&state);
    if (status == BROAD_BAD_DATA && state.reading && !state.beyond && job->options->damaged) status = salvage(&state);
    png_destroy_read_struct(&state.codec, &state.info, NULL);
    broad__free(state.block);
    return status;
}
