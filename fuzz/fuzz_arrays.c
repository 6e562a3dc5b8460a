/*
 * NPY and IDX. The first byte chooses the reader's options, the second how the rest is taken:
 *   0 as a file, 1 as the header and the numbers of an NPY file, 2 as an IDX file without its first two bytes.
 * Of the last two, lengths are put right and the file is given the bytes that its shape claims, so that shapes, types and
 * orders are reached and not only the check of the size. What is read has the numbers of the file.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/format/idx.h"
#include "data/format/npy.h"
#include "data/read.h"
#include "data/table.h"

enum { BYTES_MOST = 1 << 14, NPY_START = 10, HEADER_MOST = 1 << 12 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void must(int holds)
{
    if (!holds) abort();
}

static broad_read_options options_from(uint8_t choice)
{
    static const char *const targets[] = {NULL, "1", "x2", "2,1"}, *const categories[] = {NULL, "auto", "x1", "2"};
    broad_read_options options;
    broad_read_options_init(&options);
    options.threads = 1;
    options.target = targets[choice & 3];
    options.categorical = categories[choice >> 2 & 3];
    options.task = (broad_task)((choice >> 4 & 3) % 3);
    options.missing = choice & 64 ? BROAD_MISSING_MEAN : BROAD_MISSING_ERROR;
    options.target_optional = choice >> 7;
    return options;
}

/* The file: its bytes in `out`, with room for BYTES_MOST. */
static size_t make_file(unsigned char *out, uint8_t form, const uint8_t *bytes, size_t count)
{
    size_t start = 0;
    if (form == 2) {
        memset(out, 0, 2);
        start = 2;
    }
    if (count > BYTES_MOST - start - NPY_START) count = BYTES_MOST - start - NPY_START;
    if (form != 1) {
        memcpy(out + start, bytes, count);
        return start + count;
    }
    const uint8_t *line = memchr(bytes, '\n', count < HEADER_MOST ? count : HEADER_MOST);
    size_t header = line ? (size_t)(line - bytes) + 1 : count < HEADER_MOST ? count : HEADER_MOST;
    memcpy(out, "\x93NUMPY\x01\0", 8);
    out[8] = (unsigned char)header;
    out[9] = (unsigned char)(header >> 8);
    memcpy(out + NPY_START, bytes, count);
    return NPY_START + count;
}

/* As many bytes as the shape claims, unless these are too many. */
static size_t fit(unsigned char *file, size_t count)
{
    broad__source source = {.name = "data", .bytes = (const char *)file, .count = count};
    broad__matrix matrix = {0};
    size_t cells = 1, start = 0;
    if (broad__npy_is(file, count)) broad__npy_open(&matrix, &source);
    else if (broad__idx_is(file, count)) broad__idx_open(&matrix, &source);
    if (!matrix.item || !matrix.dimensions || !matrix.bytes) return count;
    start = (size_t)(matrix.bytes - file);
    for (size_t d = 0; d < matrix.dimensions; d++)
        if (broad__multiply(&cells, cells, matrix.shape[d])) return count;
    if (broad__multiply(&cells, cells, matrix.item) || cells > BYTES_MOST - start) return count;
    if (start + cells > count) memset(file + count, 1, start + cells - count);
    return start + cells;
}

static void check(const broad_data *data, size_t bytes)
{
    must(data->rows && data->inputs && data->rows <= bytes);
    for (size_t i = 0; i < data->rows * data->inputs; i++)
        must(isfinite(data->x[i]) || (isnan(data->x[i]) && data->missing == BROAD_MISSING_MEAN));
    for (size_t i = 0; data->classes && i < data->rows; i++) must(data->classes[i] < data->outputs);
    for (size_t i = 0; data->values && i < data->rows * data->outputs; i++) must(isfinite(data->values[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count < 2) return 0;
    broad_read_options options = options_from(bytes[0]);
    unsigned char *file = malloc(BYTES_MOST), *exact;
    size_t size = make_file(file, bytes[1] % 3, bytes + 2, count - 2);
    if (bytes[1] % 3) size = fit(file, size);
    exact = malloc(size + !size);
    memcpy(exact, file, size);
    broad_data *data = NULL;
    int status = broad__read_bytes(&data, "data", exact, size, &options, NULL);
    if (status) must(!data && status != BROAD_BUG && broad_error_message()[0]);
    else check(data, size);
    broad_data_free(data);
    free(exact);
    free(file);
    return 0;
}
