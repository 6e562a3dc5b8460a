#include "data/format/csv_fill.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "comm/comm.h"
#include "data/format/csv_threads.h"
#include "data/levels.h"

/* The plain loop: row by row, on this thread. */
static int fill_plainly(const broad__filling *work, const char *at, int texts)
{
    enum { STEP = BROAD__SPILL_STEP };
    broad__parsed *parsed = work->parsed;
    const broad__csv *csv = work->csv;
    broad__arena scratch = {0};
    broad__filler f = {.work = work, .dictionary = &parsed->dictionary, .targets = parsed->targets};
    f.groups = parsed->groups;
    f.arena = texts ? &parsed->arena : &scratch;
    f.keep = &parsed->arena;
    const char *released = at;
    size_t done = parsed->rows;
    int status = BROAD_OK;
    for (at = broad__row_start(csv, at); at < csv->end && status == BROAD_OK;) {
        int full = parsed->rows == work->capacity;
        status = full ? broad__csv_fail_rows(&f, at) : broad__csv_fill_row(&f, &at, parsed->rows);
        parsed->rows++;
        at = broad__row_start(csv, at);
        broad__arena_clear(&scratch);
        if (!work->memory || at - released < STEP) continue;
        broad__csv_passed(csv, &released, at);
        broad__parsed_done(parsed, done, parsed->rows - done);
        done = parsed->rows;
    }
    parsed->targets = f.targets;
    parsed->groups = f.groups;
    parsed->missing += f.missing;
    return status;
}

/* The most rows there can be: one per line, and a row of c cells has at least c bytes, so that the table stays in proportion
 * to the file. */
static size_t max_rows(const broad__csv *csv)
{
    size_t lines = 1 + csv->lines, bytes = (size_t)(csv->end - csv->body);
    for (const char *at = csv->begin; at < csv->body; lines--) {
        at = memchr(at, csv->newline, (size_t)(csv->body - at));
        if (!at) break;
        at++;
    }
    size_t fitting = (bytes + 1) / csv->columns;
    return lines < fitting ? lines : fitting;
}

static size_t line_of_row(const void *reader, size_t row)
{
    const broad__csv *csv = reader;
    const char *at = broad__row_start(csv, csv->body), *released = at;
    for (; row && at < csv->end; row--) {
        broad__row_cells(&at, csv, at);
        at = broad__row_start(csv, at);
        broad__csv_passed(csv, &released, at);
    }
    return broad__line_at(csv, at);
}

static int allocate(broad__parsed *out, const broad__roles *roles, const broad__csv_request *request, size_t rows)
{
    int texts = request->texts, ids = !texts && roles->targets == 1 && request->labels;
    size_t cells;
    if (broad__multiply(&cells, rows, roles->targets) < 0 || broad__multiply(&cells, rows, roles->inputs) < 0)
        return broad__fail_memory(SIZE_MAX);
    size_t numbers = roles->inputs + roles->weights + (texts ? 0 : roles->targets + (size_t)ids + roles->groups);
    out->spill = request->spill;
    out->spill_borrowed = out->spill != NULL;
    int status = broad__parsed_place(out, rows, numbers, request->memory);
    if (status < 0) return status;
    if (request->divided) status = broad__owned_new(&out->owned, &out->x, rows, roles->inputs);
    else out->x = broad__parsed_alloc(out, rows * roles->inputs, sizeof *out->x);
    if (status < 0) return status;
    int failed = !out->x;
    if (roles->weights) failed |= !(out->weights = broad__parsed_alloc(out, rows, sizeof *out->weights));
    cells = rows * roles->targets;
    if (roles->targets && texts)
        failed |= !(out->targets.texts = broad__alloc_array(cells, sizeof *out->targets.texts));
    if (roles->groups && texts) failed |= !(out->groups.texts = broad__alloc_array(rows, sizeof *out->groups.texts));
    if (roles->targets && !texts)
        failed |= !(out->targets.values = broad__parsed_alloc(out, cells, sizeof *out->targets.values));
    if (ids) failed |= !(out->targets.ids = broad__parsed_alloc(out, rows, sizeof *out->targets.ids));
    if (roles->groups && !texts) failed |= !(out->groups.ids = broad__parsed_alloc(out, rows, sizeof *out->groups.ids));
    return failed ? BROAD_NO_MEMORY : BROAD_OK;
}

/* Columns of numbers whose text is not needed. */
int broad__csv_fill_columns(broad__filling *work)
{
    const broad__roles *roles = work->roles;
    const broad__parsed *parsed = work->parsed;
    work->columns = broad__alloc_array(roles->columns, sizeof *work->columns);
    if (!work->columns) return BROAD_NO_MEMORY;
    for (size_t c = 0; c < roles->columns && work->csv->separator != ' '; c++) {
        if (!broad__cell_format_plain(roles->formats[c])) continue;
        if (roles->role[c] == BROAD__ROLE_INPUT)
            work->columns[c] = (broad__csv_column){parsed->x + roles->index[c], roles->inputs};
        if (roles->role[c] == BROAD__ROLE_TARGET && parsed->targets.values && !parsed->targets.ids)
            work->columns[c] = (broad__csv_column){parsed->targets.values + roles->index[c], roles->targets};
    }
    return BROAD_OK;
}

static int fill_rows(broad__filling *work, int texts)
{
    const broad__csv *csv = work->csv;
    const char *at = csv->body;
    int status = csv->chunk_count > 1 && !texts ? broad__csv_fill_threads(work, &at) : BROAD_OK;
    return status == BROAD_OK && at < csv->end ? fill_plainly(work, at, texts) : status;
}

int broad__csv_fill_open(broad__parsed *out, const broad__csv *csv, const broad__roles *roles,
                         const broad__csv_request *request, size_t capacity)
{
    *out = (broad__parsed){.file = csv->name, .inputs = roles->inputs, .line_of = line_of_row, .reader = csv};
    out->targets.columns = roles->targets;
    out->groups.columns = roles->groups;
    int status = allocate(out, roles, request, capacity);
    return status == BROAD_OK ? broad__levels_open(out, roles, request->known) : status;
}

void broad__csv_fill_close(broad__filling *work) { broad__free(work->columns); }

/* Rows [first, end) of the text, if each of its lines is a row; otherwise it fails, without a message. */
static int fill_own(broad__filling *work, size_t first, size_t end, const char *last)
{
    const broad__csv *csv = work->csv;
    broad__csv here = *csv;
    const char *at = broad__csv_plain_row(csv, first);
    here.end = end == work->parsed->owned->rows ? last : broad__csv_plain_row(csv, end);
    here.chunk_count = ((size_t)(here.end - csv->begin) + BROAD__CSV_CHUNK - 1) / BROAD__CSV_CHUNK;
    if (first == end) return BROAD_OK;
    work->csv = &here;
    work->capacity = end;
    work->parsed->rows = first;
    int status = broad__csv_fill_threads(work, &at);
    work->csv = csv;
    return status == BROAD_OK && (at != here.end || work->parsed->rows != end) ? BROAD_BAD_DATA : status;
}

/* Every rank fills in its own rows, and what else all rows have. *out_done: all of them could; if not, a plain run over all rows
 * tells why, or does what takes more than lines. */
static int fill_divided(int *out_done, broad__parsed *out, const broad__csv *csv, const broad__roles *roles,
                        const broad__csv_request *request)
{
    const char *last = NULL;
    size_t rows = 0, first, end, numbers = roles->inputs + roles->targets + 3;
    broad__parsed none = {.spill = request->spill};
    broad__filling work = {.parsed = out, .csv = csv, .roles = roles, .missing = request->missing, .divided = 1};
    broad__csv_request own = *request;
    *out_done = 0;
    own.memory = 0; /* these rows fit */
    if (request->divided && !request->texts) rows = broad__csv_plain_rows(&last, csv);
    if (!rows || !broad__parsed_divides(&none, rows, numbers, request->memory)) return BROAD_OK;
    broad__comm_own_rows(&first, &end, rows);
    int status = broad__csv_fill_open(out, csv, roles, &own, rows);
    if (status == BROAD_OK) status = broad__csv_fill_columns(&work);
    if (status == BROAD_OK) status = fill_own(&work, first, end, last);
    int matched = !broad__comm_most(status < 0);
    out->rows = rows;
    if (matched) matched = broad__csv_join_ranks(&work, first, end);
    broad__csv_fill_close(&work);
    *out_done = matched > 0;
    if (!matched) broad__parsed_clear(out);
    if (matched > 0) return broad__parsed_share(out);
    return matched;
}

/* All rows on this rank. */
static int fill_whole(broad__parsed *out, const broad__csv *csv, const broad__roles *roles,
                      const broad__csv_request *given)
{
    broad__csv_request alone = *given, *request = &alone;
    broad__filling work = {.parsed = out, .csv = csv, .roles = roles, .missing = request->missing};
    request->divided = 0;
    work.capacity = max_rows(csv);
    work.memory = request->memory;
    int status = broad__csv_fill_open(out, csv, roles, request, work.capacity);
    if (status == BROAD_OK) status = broad__csv_fill_columns(&work);
    if (status == BROAD_OK) status = fill_rows(&work, request->texts);
    broad__csv_fill_close(&work);
    if (status == BROAD_OK && !out->rows && !request->empty)
        status = broad__fail(BROAD_BAD_DATA, "%s: a header and no rows; set option header to no if line %zu is data",
                             csv->name, broad__line_at(csv, broad__row_start(csv, csv->top)));
    return status;
}

int broad__csv_fill(broad__parsed *out, const broad__csv *csv, const broad__roles *roles,
                    const broad__csv_request *request)
{
    int done;
    int status = fill_divided(&done, out, csv, roles, request);
    return status == BROAD_OK && !done ? fill_whole(out, csv, roles, request) : status;
}
