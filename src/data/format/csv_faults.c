#include "data/format/csv_faults.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "data/format/csv_rows.h"
#include "data/levels.h"

enum {
    SHOWN = 6,   /* lines */
    COUNTED = 50 /* each has its line number counted from the start of the text */
};

typedef struct faults {
    char text[1024]; /* of all messages */
    size_t used, count;
} faults;

/* The first message as it is, of the others only what is wrong, not what to do. */
static void add_fault(faults *all, const char *message)
{
    size_t count = all->count++ ? strcspn(message, ";") : strlen(message);
    if (all->count > SHOWN) return;
    int written = snprintf(all->text + all->used, sizeof all->text - all->used, "%s%.*s",
                           all->count > 1 ? "; also " : "", (int)(count < 400 ? count : 400), message);
    if (written > 0) all->used += (size_t)written;
    if (all->used >= sizeof all->text) all->used = sizeof all->text - 1;
}

/* Every row is read into the same place. */
static int each_row(faults *all, broad__filler *f, const broad__csv *csv)
{
    const char *released = csv->body;
    int status = BROAD_OK;
    for (const char *at = broad__row_start(csv, csv->body); at < csv->end && all->count < COUNTED;) {
        const char *row = at;
        status = broad__csv_fill_row(f, &at, 0);
        if (status < 0 && status != BROAD_BAD_DATA) return status;
        if (status < 0) {
            add_fault(all, broad_error_message());
            broad__row_cells(&at, csv, row);
        }
        at = broad__row_start(csv, at);
        broad__csv_passed(csv, &released, at);
    }
    return BROAD_OK;
}

static int collect(faults *all, const broad__csv *csv, const broad__roles *roles, const broad__csv_request *request)
{
    broad__parsed parsed;
    broad__csv_request one = *request;
    one.spill = NULL;
    one.memory = 0;
    int status = broad__csv_fill_open(&parsed, csv, roles, &one, 1);
    broad__filling work = {.parsed = &parsed, .csv = csv, .roles = roles, .missing = request->missing, .capacity = 1};
    if (status == BROAD_OK) status = broad__csv_fill_columns(&work);
    broad__filler f = {.work = &work, .dictionary = &parsed.dictionary, .arena = &parsed.arena};
    if (status == BROAD_OK) status = each_row(all, &f, csv);
    broad__csv_fill_close(&work);
    broad__parsed_clear(&parsed);
    return status;
}

int broad__csv_faults(const broad__csv *csv, const broad__roles *roles, const broad__csv_request *request)
{
    char first[1024];
    faults all = {.used = 0};
    snprintf(first, sizeof first, "%s", broad_error_message());
    int status = collect(&all, csv, roles, request);
    if (status < 0) return status;
    if (all.count < 2) return broad__fail(BROAD_BAD_DATA, "%s", first);
    if (all.count > SHOWN)
        return broad__fail(BROAD_BAD_DATA, "%s; and %s%zu more lines", all.text,
                           all.count == COUNTED ? "at least " : "", all.count - SHOWN);
    return broad__fail(BROAD_BAD_DATA, "%s", all.text);
}
