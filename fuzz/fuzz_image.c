/*
 * The decoders on arbitrary bytes. The first byte chooses the options and, for PNG, whether the checksums of the chunks are
 * repaired first, so that they do not shield what lies behind them. What is decoded must be within the limits, and can be
 * recognised and written.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/memory.h"
#include "broad/broad.h"
#include "image/codec/decode.h"
#include "image/codec/write.h"
#include "image/print/print.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* So few pixels that a header which claims many costs no more than one that does not. */
enum { MAX_PIXELS = 1 << 14, MAX_SIDE = 48 };

static void repair_png(unsigned char *bytes, size_t count)
{
    for (size_t at = 8; at + 12 <= count;) {
        size_t length =
            (size_t)bytes[at] << 24 | (size_t)bytes[at + 1] << 16 | (size_t)bytes[at + 2] << 8 | bytes[at + 3];
        if (length > count - at - 12) return;
        uLong sum = crc32(0, bytes + at + 4, (uInt)length + 4);
        for (int i = 0; i < 4; i++) bytes[at + 8 + length + (size_t)i] = (unsigned char)(sum >> (24 - 8 * i));
        at += 12 + length;
    }
}

static void must(int holds)
{
    if (!holds) abort();
}

static void use(const broad__image *image, const unsigned char *bytes, size_t count)
{
    broad__print print;
    void *written = NULL;
    size_t written_bytes = 0;
    must(broad__print_make(&print, image, bytes, count) == BROAD_OK);
    /* A JPEG has shorter sides than a PNG. */
    int small = image->width <= MAX_SIDE && image->height <= MAX_SIDE;
    must((small ? broad__write_jpeg(&written, &written_bytes, image, 50)
                : broad__write_png(&written, &written_bytes, image)) == BROAD_OK);
    broad__free(written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    broad__decode_options options;
    broad__decode_options_init(&options);
    options.max_pixels = MAX_PIXELS;
    options.max_bytes = 32 << 20;
    options.side = data[0] & 1 ? MAX_SIDE : 0;
    options.damaged = data[0] >> 1 & 1;
    options.as_stored = data[0] >> 2 & 1;
    int repair = data[0] >> 3 & 1;
    size_t count = size - 1;
    unsigned char *bytes = malloc(count + !count);
    memcpy(bytes, data + 1, count);
    if (repair) repair_png(bytes, count);
    broad__image image = {0};
    broad__decode_facts facts;
    int status = broad__decode(&image, &facts, bytes, count, &options);
    if (status == BROAD_OK) {
        must(image.width && image.height && facts.width * facts.height <= MAX_PIXELS);
        must(!options.side || (image.width <= MAX_SIDE && image.height <= MAX_SIDE));
        must(options.damaged || !facts.damaged);
        use(&image, bytes, count);
    } else must(status == BROAD_BAD_DATA && !image.pixels && broad_error_message()[0]);
    broad__image_free(&image);
    free(bytes);
    return 0;
}
