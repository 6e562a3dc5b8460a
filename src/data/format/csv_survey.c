/* The first look at all of a text: is it text at all, how many lines are there, and where are quotation marks. */
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "data/format/csv_scan.h"

/* Comparing gives all ones, -1, in each byte that is equal; a byte can count to 255. */
typedef unsigned char bytes_16 __attribute__((vector_size(16)));
enum { WIDTH = 16, COUNTS_MAX = 255, BATCH = 64 };

static uint32_t add_up(const bytes_16 *counts)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < WIDTH; i++) sum += (*counts)[i];
    return sum;
}

typedef struct tally {
    uint32_t lines, quotes, zeros;
} tally;

static tally count_bytes(const char *at, size_t count, char newline)
{
    const bytes_16 nothing = {0}, line = nothing + (unsigned char)newline, quote = nothing + (unsigned char)'"';
    tally t = {0};
    while (count >= WIDTH) {
        bytes_16 lines = nothing, quotes = nothing, zeros = nothing;
        size_t steps = count / WIDTH < COUNTS_MAX ? count / WIDTH : COUNTS_MAX;
        for (size_t i = 0; i < steps; i++, at += WIDTH) {
            bytes_16 now;
            memcpy(&now, at, sizeof now);
            lines -= (bytes_16)(now == line);
            quotes -= (bytes_16)(now == quote);
            zeros |= (bytes_16)(now == nothing);
        }
        t.lines += add_up(&lines);
        t.quotes += add_up(&quotes);
        t.zeros += add_up(&zeros) > 0;
        count -= steps * WIDTH;
    }
    for (; count; count--, at++) {
        t.lines += *at == newline;
        t.quotes += *at == '"';
        t.zeros += *at == 0;
    }
    return t;
}

typedef struct survey {
    broad__csv *csv;
    size_t first; /* chunk of the batch at hand */
    const char *zero[BATCH];
} survey;

static void survey_chunk(void *context, size_t index, size_t worker)
{
    (void)worker;
    survey *s = context;
    broad__csv *csv = s->csv;
    const char *from = csv->begin + (s->first + index) * BROAD__CSV_CHUNK;
    size_t count = (size_t)(csv->end - from) < BROAD__CSV_CHUNK ? (size_t)(csv->end - from) : BROAD__CSV_CHUNK;
    tally t = count_bytes(from, count, csv->newline);
    csv->chunks[s->first + index] = (broad__csv_chunk){t.lines, t.quotes};
    s->zero[index] = t.zeros ? memchr(from, 0, count) : NULL;
}

static int survey_all(broad__csv *csv)
{
    csv->lines = csv->quotes = 0;
    for (size_t first = 0; first < csv->chunk_count; first += BATCH) {
        survey s = {.csv = csv, .first = first};
        int status = broad__watch_poll(0, 1);
        if (status < 0) return status;
        size_t count = csv->chunk_count - first < BATCH ? csv->chunk_count - first : BATCH;
        if (csv->pool) broad__pool_run(csv->pool, count, survey_chunk, &s);
        for (size_t i = 0; i < count; i++) {
            if (!csv->pool) survey_chunk(&s, i, 0);
            if (s.zero[i])
                return broad__fail(BROAD_BAD_DATA,
                                   "%s:%zu: a zero byte; the file is binary or UTF-16 text and neither NPY nor IDX",
                                   csv->name, broad__line_at(csv, s.zero[i]));
            csv->lines += csv->chunks[first + i].lines;
            csv->quotes += csv->chunks[first + i].quotes;
        }
        const char *from = csv->begin + first * BROAD__CSV_CHUNK;
        broad__source_done(csv->source, from,
                           first + count == csv->chunk_count ? csv->end : from + count * BROAD__CSV_CHUNK);
    }
    return BROAD_OK;
}

int broad__csv_survey(broad__csv *csv)
{
    size_t count = (size_t)(csv->end - csv->begin);
    csv->chunk_count = (count + BROAD__CSV_CHUNK - 1) / BROAD__CSV_CHUNK;
    csv->chunks = broad__alloc_array(csv->chunk_count, sizeof *csv->chunks);
    if (!csv->chunks) return BROAD_NO_MEMORY;
    csv->newline = '\n';
    int status = survey_all(csv);
    if (status < 0 || csv->lines || !count || !memchr(csv->begin, '\r', count)) return status;
    csv->newline = '\r';
    return survey_all(csv);
}
