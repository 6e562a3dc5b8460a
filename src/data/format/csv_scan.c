#include "data/format/csv_scan.h"

#include <string.h>

#include "base/status.h"

static int is_blank(const broad__csv *csv, char c) { return c == ' ' || (c == '\t' && csv->separator != '\t'); }

/* After a cell's text: takes the separator or the end of the line. */
static const char *cell_end(broad__cell *out, const broad__csv *csv, const char *at)
{
    if (csv->separator == ' ')
        while (at < csv->end && *at == ' ') at++;
    if (at < csv->end && *at == '\r' && (at + 1 == csv->end || at[1] == csv->newline)) at++;
    out->last = at == csv->end || *at == csv->newline;
    if (at == csv->end) return at;
    return csv->separator == ' ' && !out->last ? at : at + 1;
}

static const char *cell_quoted(broad__cell *out, const broad__csv *csv, const char *at)
{
    const char *begin = ++at;
    for (;;) {
        const char *quote = memchr(at, '"', (size_t)(csv->end - at));
        if (!quote) {
            out->fault = "a quote is opened here and never closed";
            out->last = 1;
            return csv->end;
        }
        at = quote + 1;
        if (at == csv->end || *at != '"') break;
        out->doubled = 1;
        at++;
    }
    out->text = (broad__text){begin, (size_t)(at - 1 - begin)};
    const char *rest = at;
    while (rest < csv->end && is_blank(csv, *rest)) rest++;
    int at_end = rest == csv->end || *rest == csv->separator || *rest == csv->newline ||
                 (*rest == '\r' && (rest + 1 == csv->end || rest[1] == csv->newline));
    if (!at_end && !(csv->separator == ' ' && rest > at)) {
        out->fault = "text follows a closing quote; write a quote inside a quoted cell twice";
        while (rest < csv->end && *rest != csv->separator && *rest != csv->newline) rest++;
    }
    return cell_end(out, csv, rest);
}

const char *broad__cell_read(broad__cell *out, const broad__csv *csv, const char *at)
{
    *out = (broad__cell){.text = {at, 0}};
    while (at < csv->end && is_blank(csv, *at)) at++;
    if (at < csv->end && *at == '"') return cell_quoted(out, csv, at);
    const char *begin = at;
    while (at < csv->end && *at != csv->separator && *at != csv->newline) at++;
    const char *stop = at;
    if (stop > begin && stop[-1] == '\r' && (at == csv->end || *at == csv->newline)) stop--;
    while (stop > begin && is_blank(csv, stop[-1])) stop--;
    out->text = (broad__text){begin, (size_t)(stop - begin)};
    return cell_end(out, csv, at);
}

int broad__cell_undouble(broad__text *text, broad__arena *arena)
{
    char *to = broad__arena_take(arena, text->count);
    if (!to) return BROAD_NO_MEMORY;
    size_t used = 0;
    for (size_t i = 0; i < text->count; i++) {
        to[used++] = text->bytes[i];
        if (text->bytes[i] == '"') i++;
    }
    *text = (broad__text){to, used};
    return BROAD_OK;
}

const char *broad__row_start(const broad__csv *csv, const char *at)
{
    while (at < csv->end) {
        const char *ahead = at;
        while (ahead < csv->end && (*ahead == ' ' || (*ahead == '\r' && csv->newline != '\r'))) ahead++;
        if (ahead == csv->end) return csv->end;
        if (csv->comment && *ahead == csv->comment) {
            ahead = memchr(ahead, csv->newline, (size_t)(csv->end - ahead));
            if (!ahead) return csv->end;
        }
        if (*ahead != csv->newline) return at;
        at = ahead + 1;
    }
    return at;
}

size_t broad__row_cells(const char **next, const broad__csv *csv, const char *at)
{
    size_t cells = 0;
    broad__cell cell = {.last = 0};
    while (!cell.last) {
        at = broad__cell_read(&cell, csv, at);
        cells++;
    }
    *next = at;
    return cells;
}

void broad__csv_passed(const broad__csv *csv, const char **released, const char *at)
{
    enum { STEP = BROAD__SPILL_STEP };
    if (!csv->source->memory || at - *released < STEP) return;
    broad__source_done(csv->source, *released, at);
    *released = at;
}

size_t broad__line_at(const broad__csv *csv, const char *at)
{
    size_t line = 1;
    const char *released = csv->begin;
    for (const char *from = csv->begin; from < at; line++) {
        from = memchr(from, csv->newline, (size_t)(at - from));
        if (!from) break;
        from++;
        broad__csv_passed(csv, &released, from);
    }
    return line;
}
