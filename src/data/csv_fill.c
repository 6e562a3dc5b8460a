/* The body of delimited text, in one pass: numbers go straight to their place in the table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/csv_scan.h"
#include "data/levels.h"
#include "data/number.h"

typedef struct filling {
    broad__content *content;
    const broad__csv *csv;
    const broad__plan *plan;
    broad_missing missing;
    const char *row; /* start of the row at hand */
} filling;

/* The header's name for a column, for a message: " (column 'age')", or nothing. */
static const char *column_note(char out[BROAD__QUOTE_BYTES + 16], const broad__csv *csv, size_t column)
{
    char quoted[BROAD__QUOTE_BYTES];
    *out = 0;
    if (!csv->names) return out;
    broad__text_quote(quoted, broad__text_of(csv->names[column]));
    char *at = stpcpy(out, " (column ");
    at = stpcpy(at, quoted);
    stpcpy(at, ")");
    return out;
}

static int fail_ragged(const filling *f)
{
    const char *next;
    size_t cells = broad__row_cells(&next, f->csv, f->row);
    const char *first = broad__row_start(f->csv, f->csv->begin);
    return broad__fail(
        BROAD_BAD_DATA, "%s:%zu: %zu cell%s, but line %zu has %zu; separate with '%s'? say it with --separator",
        f->csv->name, broad__line_at(f->csv, f->row), cells, cells == 1 ? "" : "s", broad__line_at(f->csv, first),
        f->csv->columns, f->csv->separator == '\t' ? "tab" : (char[2]){f->csv->separator, 0});
}

static int fail_number(const filling *f, const char *at, size_t column, broad__text cell, broad__number_kind kind)
{
    char note[BROAD__QUOTE_BYTES + 16], quoted[BROAD__QUOTE_BYTES];
    const broad__csv *csv = f->csv;
    const char *next;
    /* In a row of the wrong length every cell is suspect. */
    if (broad__row_cells(&next, csv, f->row) != csv->columns) return fail_ragged(f);
    size_t line = broad__line_at(csv, at);
    column_note(note, csv, column);
    if (kind == BROAD__NUMBER_MISSING)
        return broad__fail(BROAD_BAD_DATA,
                           "%s:%zu:%zu: missing value%s; fill it in, or take the mean with --missing mean", csv->name,
                           line, column + 1, note);
    broad__text_quote(quoted, cell);
    if (kind == BROAD__NUMBER_INFINITE)
        return broad__fail(BROAD_BAD_DATA,
                           "%s:%zu:%zu: %s is infinite or too large for a number%s; correct it or remove "
                           "the row",
                           csv->name, line, column + 1, quoted, note);
    int comma = memchr(cell.bytes, ',', cell.count) != NULL;
    if (f->plan->modelled)
        return broad__fail(BROAD_BAD_DATA, "%s:%zu:%zu: %s is not a number%s, as it was for the model; %s", csv->name,
                           line, column + 1, quoted, note, comma ? "write numbers with a point" : "correct it");
    char name[BROAD__QUOTE_BYTES];
    if (csv->names) broad__text_quote(name, broad__text_of(csv->names[column]));
    else snprintf(name, sizeof name, "%zu", column + 1);
    return broad__fail(BROAD_BAD_DATA,
                       "%s:%zu:%zu: %s is not a number%s; %sgive --categorical %s (or auto) if the column holds "
                       "categories, --target if it is the target, --group if it names groups; else turn it into "
                       "numbers or remove it",
                       csv->name, line, column + 1, quoted, note, comma ? "write numbers with a point, or " : "", name);
}

static int fill_weight(filling *f, const char *at, size_t row, size_t column, broad__text cell)
{
    char note[BROAD__QUOTE_BYTES + 16], quoted[BROAD__QUOTE_BYTES];
    double value = 0;
    const char *next;
    broad__number_kind kind = broad__number_read(&value, cell);
    f->content->weights[row] = value;
    if (kind == BROAD__NUMBER && value > 0) return BROAD_OK;
    if (broad__row_cells(&next, f->csv, f->row) != f->csv->columns) return fail_ragged(f);
    size_t line = broad__line_at(f->csv, at);
    column_note(note, f->csv, column);
    if (kind == BROAD__NUMBER_MISSING)
        return broad__fail(BROAD_BAD_DATA, "%s:%zu:%zu: the weight is missing%s; fill it in or remove the row",
                           f->csv->name, line, column + 1, note);
    return broad__fail(BROAD_BAD_DATA,
                       "%s:%zu:%zu: the weight %s is not a finite number above 0%s; correct it or remove the row",
                       f->csv->name, line, column + 1, broad__text_quote(quoted, cell), note);
}

static int fail_level(const filling *f, const char *at, size_t column, broad__text cell, broad__level_fault fault)
{
    char where[BROAD__WHERE_BYTES], name[BROAD__QUOTE_BYTES + 16], quoted[BROAD__QUOTE_BYTES];
    const broad__csv *csv = f->csv;
    const char *next;
    if (broad__row_cells(&next, csv, f->row) != csv->columns) return fail_ragged(f);
    snprintf(where, sizeof where, "%.255s:%zu:%zu", csv->name, broad__line_at(csv, at), column + 1);
    if (csv->names)
        snprintf(name, sizeof name, "column %s", broad__text_quote(quoted, broad__text_of(csv->names[column])));
    else snprintf(name, sizeof name, "column %zu", column + 1);
    return broad__level_fail(f->content, f->plan->category[column], cell, fault, where, name);
}

static int fill_level(filling *f, const char *at, size_t row, size_t column, broad__cell *cell)
{
    double *to = &f->content->x[row * f->plan->inputs + f->plan->place[column]], number;
    *to = (double)NAN;
    if (broad__number_read(&number, cell->text) == BROAD__NUMBER_MISSING)
        return f->missing == BROAD_MISSING_MEAN ? BROAD_OK
                                                : fail_number(f, at, column, cell->text, BROAD__NUMBER_MISSING);
    broad__level_fault fault = BROAD__LEVEL_GOOD;
    int status = cell->doubled ? broad__cell_undouble(&cell->text, &f->content->arena) : BROAD_OK;
    if (status == BROAD_OK) status = broad__level_number(to, &fault, f->content, f->plan->category[column], cell->text);
    if (status < 0 || fault == BROAD__LEVEL_GOOD) return status;
    if (fault == BROAD__LEVEL_UNKNOWN && f->missing == BROAD_MISSING_MEAN) return BROAD_OK;
    return fail_level(f, at, column, cell->text, fault);
}

/* Any cell, the long way. */
static int fill_cell(filling *f, const char **at, int *last, size_t row, size_t column)
{
    const broad__plan *plan = f->plan;
    broad__content *content = f->content;
    broad__cell cell;
    const char *begin = *at;
    *at = broad__cell_read(&cell, f->csv, begin);
    *last = cell.last;
    if (cell.fault)
        return broad__fail(BROAD_BAD_DATA, "%s:%zu:%zu: %s", f->csv->name, broad__line_at(f->csv, begin), column + 1,
                           cell.fault);
    if (plan->role[column] == BROAD__ROLE_INPUT) {
        double value = NAN;
        broad__number_kind kind = broad__number_read(&value, cell.text);
        if (kind == BROAD__NUMBER_MISSING) value = NAN;
        if (kind != BROAD__NUMBER && !(kind == BROAD__NUMBER_MISSING && f->missing == BROAD_MISSING_MEAN))
            return fail_number(f, begin, column, cell.text, kind);
        content->x[row * plan->inputs + plan->place[column]] = value;
        return BROAD_OK;
    }
    if (plan->role[column] == BROAD__ROLE_IGNORED) return BROAD_OK;
    if (plan->role[column] == BROAD__ROLE_CATEGORY) return fill_level(f, begin, row, column, &cell);
    if (plan->role[column] == BROAD__ROLE_WEIGHT) return fill_weight(f, begin, row, column, cell.text);
    int status = cell.doubled ? broad__cell_undouble(&cell.text, &content->arena) : BROAD_OK;
    if (plan->role[column] == BROAD__ROLE_TARGET)
        content->targets.texts[row * plan->targets + plan->place[column]] = cell.text;
    else content->groups.texts[row] = cell.text;
    return status;
}

static int fill_row(filling *f, const char **next, size_t row)
{
    const broad__csv *csv = f->csv;
    const broad__plan *plan = f->plan;
    const char *at = *next, *end = csv->end;
    const char separator = csv->separator, newline = csv->newline;
    double *x = f->content->x + row * plan->inputs;
    int last = 0;
    f->row = at;
    for (size_t column = 0; !last; column++) {
        if (column == csv->columns) return fail_ragged(f);
        double value;
        const char *stop = NULL;
        if (plan->role[column] == BROAD__ROLE_INPUT && separator != ' ') stop = broad__number_scan(&value, at, end);
        if (stop && stop < end && (*stop == separator || *stop == newline) && isfinite(value)) {
            x[plan->place[column]] = value;
            last = *stop == newline;
            at = stop + 1;
        } else {
            int status = fill_cell(f, &at, &last, row, column);
            if (status < 0) return status;
        }
        if (last && column + 1 < csv->columns) return fail_ragged(f);
    }
    *next = at;
    return BROAD_OK;
}

/* Most rows there can be: one a line, and a row of c cells has at least c bytes, so that the table stays in proportion
 * to the file. */
static size_t rows_at_most(const broad__csv *csv)
{
    size_t lines = 1, bytes = (size_t)(csv->end - csv->body);
    for (const char *at = csv->body; at < csv->end; lines++) {
        at = memchr(at, csv->newline, (size_t)(csv->end - at));
        if (!at) break;
        at++;
    }
    size_t fitting = (bytes + 1) / csv->columns;
    return lines < fitting ? lines : fitting;
}

static size_t line_of_row(const void *reader, size_t row)
{
    const broad__csv *csv = reader;
    const char *at = broad__row_start(csv, csv->body);
    for (; row && at < csv->end; row--) {
        broad__row_cells(&at, csv, at);
        at = broad__row_start(csv, at);
    }
    return broad__line_at(csv, at);
}

int broad__csv_categories(broad__plan *plan, const broad__csv *csv)
{
    size_t rows = 0, *texts = broad__alloc_array(csv->columns, sizeof *texts);
    if (!texts) return BROAD_NO_MEMORY;
    for (const char *at = broad__row_start(csv, csv->body); at < csv->end; rows++) {
        broad__cell cell = {.last = 0};
        for (size_t c = 0; !cell.last; c++) {
            double value;
            at = broad__cell_read(&cell, csv, at);
            if (c < csv->columns && plan->role[c] == BROAD__ROLE_INPUT)
                texts[c] += broad__number_read(&value, cell.text) == BROAD__NUMBER_TEXT;
        }
        at = broad__row_start(csv, at);
    }
    for (size_t c = 0; c < csv->columns; c++)
        if (texts[c] && texts[c] >= rows / 100) plan->role[c] = BROAD__ROLE_CATEGORY;
    broad__free(texts);
    return BROAD_OK;
}

int broad__csv_fill(broad__content *out, const broad__csv *csv, const broad__plan *plan, broad_missing missing,
                    const broad__categories *known)
{
    *out = (broad__content){.file = csv->name, .inputs = plan->inputs, .line_of = line_of_row, .reader = csv};
    out->targets.columns = plan->targets;
    out->groups.columns = plan->groups;
    size_t most = rows_at_most(csv), cells;
    int status = BROAD_OK;
    if (broad__multiply(&cells, most, plan->targets) < 0) return broad__fail_memory(SIZE_MAX);
    out->x = broad__alloc_doubles(most, plan->inputs);
    if (plan->targets) out->targets.texts = broad__alloc_array(cells, sizeof *out->targets.texts);
    if (plan->groups) out->groups.texts = broad__alloc_array(most, sizeof *out->groups.texts);
    if (plan->weights) out->weights = broad__alloc_doubles(most, 1);
    if (!out->x || (plan->targets && !out->targets.texts) || (plan->groups && !out->groups.texts) ||
        (plan->weights && !out->weights))
        return BROAD_NO_MEMORY;
    status = broad__levels_open(out, plan, known);

    filling f = {.content = out, .csv = csv, .plan = plan, .missing = missing};
    const char *at = broad__row_start(csv, csv->body);
    while (at < csv->end && status == BROAD_OK) {
        if (out->rows == most) {
            f.row = at;
            status = fail_ragged(&f);
            break;
        }
        status = fill_row(&f, &at, out->rows);
        out->rows++;
        at = broad__row_start(csv, at);
    }
    if (status == BROAD_OK && !out->rows)
        status = broad__fail(BROAD_BAD_DATA, "%s: a header and no rows; --header no if line %zu is data", csv->name,
                             broad__line_at(csv, broad__row_start(csv, csv->begin)));
    return status;
}
