/* Rows of delimited text, in one pass: each number goes straight to its position in the table. */
#include "data/format/csv_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/format/csv_rows_body.h"
#include "data/format/number_fast.h"
#include "data/labels.h"
#include "data/levels.h"

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

static int fail_ragged(const broad__filler *f)
{
    const char *next;
    size_t cells = broad__row_cells(&next, f->work->csv, f->row);
    const broad__csv *csv = f->work->csv;
    const char *first = broad__row_start(csv, csv->top);
    const char *separator = csv->separator == '\t' ? "tab" : (char[2]){csv->separator, 0};
    char remedy[160];
    /* Where all lines so far were of one length, the separator is the right one. */
    if (broad__row_start(csv, csv->body) == f->row)
        snprintf(remedy, sizeof remedy, "if '%s' is not the separator, give option separator", separator);
    else
        snprintf(remedy, sizeof remedy, "%s",
                 cells > csv->columns ? "put cells that contain the separator into quotes, or remove the surplus ones"
                                      : "add the cells that are missing, or remove the line");
    return broad__fail(BROAD_BAD_DATA, "%s:%zu: %zu cell%s, but line %zu has %zu; %s", csv->name,
                       broad__line_at(csv, f->row), cells, cells == 1 ? "" : "s", broad__line_at(csv, first),
                       csv->columns, remedy);
}

static int fail_number(const broad__filler *f, const char *at, size_t column, broad__text cell, broad__number_kind kind)
{
    char note[BROAD__QUOTE_BYTES + 16], quoted[BROAD__QUOTE_BYTES];
    const broad__csv *csv = f->work->csv;
    const char *next;
    /* In a row of the wrong length every cell is suspect. */
    if (broad__row_cells(&next, csv, f->row) != csv->columns) return fail_ragged(f);
    size_t line = broad__line_at(csv, at);
    column_note(note, csv, column);
    if (kind == BROAD__NUMBER_MISSING)
        return broad__fail(BROAD_BAD_DATA,
                           "%s:%zu:%zu: missing value%s; fill it in, or use the mean (option missing mean)", csv->name,
                           line, column + 1, note);
    broad__text_quote(quoted, cell);
    if (kind == BROAD__NUMBER_INFINITE)
        return broad__fail(BROAD_BAD_DATA, "%s:%zu:%zu: %s is infinite or too large%s; correct it or remove the row",
                           csv->name, line, column + 1, quoted, note);
    int comma = memchr(cell.bytes, ',', cell.count) != NULL;
    broad__form form = f->work->roles->formats[column].form;
    const char *what = form == BROAD__FORM_NUMBER || form == BROAD__FORM_TRUTH ? "number" : "date";
    if (f->work->roles->modelled)
        return broad__fail(BROAD_BAD_DATA, "%s:%zu:%zu: %s is not a %s%s, but the model was trained on %ss there; %s",
                           csv->name, line, column + 1, quoted, what, note, what,
                           comma ? "write numbers with a decimal point" : "correct it");
    char name[BROAD__QUOTE_BYTES];
    if (csv->names) broad__text_quote(name, broad__text_of(csv->names[column]));
    else snprintf(name, sizeof name, "%zu", column + 1);
    return broad__fail(BROAD_BAD_DATA,
                       "%s:%zu:%zu: %s is not a %s%s; %sgive option categorical %s if the column holds "
                       "categories, option target if it is the target, option group if it names groups; otherwise "
                       "convert it to %ss or remove it",
                       csv->name, line, column + 1, quoted, what, note,
                       comma ? "write numbers with a decimal point, or " : "", name, what);
}

static int fill_weight(broad__filler *f, const char *at, size_t row, size_t column, broad__text cell)
{
    char note[BROAD__QUOTE_BYTES + 16], quoted[BROAD__QUOTE_BYTES];
    double value = 0;
    const char *next;
    broad__number_kind kind = broad__cell_value(&value, cell, f->work->roles->formats[column]);
    f->work->parsed->weights[row] = value;
    if (kind == BROAD__NUMBER && value >= 0) return BROAD_OK;
    if (broad__row_cells(&next, f->work->csv, f->row) != f->work->csv->columns) return fail_ragged(f);
    size_t line = broad__line_at(f->work->csv, at);
    column_note(note, f->work->csv, column);
    if (kind == BROAD__NUMBER_MISSING)
        return broad__fail(BROAD_BAD_DATA, "%s:%zu:%zu: the weight is missing%s; fill it in or remove the row",
                           f->work->csv->name, line, column + 1, note);
    return broad__fail(BROAD_BAD_DATA,
                       "%s:%zu:%zu: the weight %s is not a finite number of 0 or more%s; correct it or remove the row",
                       f->work->csv->name, line, column + 1, broad__text_quote(quoted, cell), note);
}

static int fail_level(const broad__filler *f, const char *at, size_t column, broad__text cell, broad__level_fault fault)
{
    char where[BROAD__WHERE_BYTES], name[BROAD__QUOTE_BYTES + 16], quoted[BROAD__QUOTE_BYTES];
    const broad__csv *csv = f->work->csv;
    const char *next;
    if (broad__row_cells(&next, csv, f->row) != csv->columns) return fail_ragged(f);
    snprintf(where, sizeof where, "%.255s:%zu:%zu", csv->name, broad__line_at(csv, at), column + 1);
    if (csv->names)
        snprintf(name, sizeof name, "column %s", broad__text_quote(quoted, broad__text_of(csv->names[column])));
    else snprintf(name, sizeof name, "column %zu", column + 1);
    return broad__level_fail(f->work->parsed, f->work->roles->category[column], cell, fault, where, name);
}

static int fill_level(broad__filler *f, const char *at, size_t row, size_t column, broad__cell *cell)
{
    const broad__filling *work = f->work;
    double *to = &work->parsed->x[row * work->roles->inputs + work->roles->index[column]], number;
    *to = (double)NAN;
    if (broad__number_read(&number, cell->text) == BROAD__NUMBER_MISSING) {
        if (work->missing != BROAD_MISSING_MEAN) return fail_number(f, at, column, cell->text, BROAD__NUMBER_MISSING);
        *cell = (broad__cell){.text = broad__text_of(BROAD__LEVEL_MISSING)};
        f->missing++;
    }
    broad__level_fault fault = BROAD__LEVEL_GOOD;
    broad__text_set *levels = &f->dictionary->levels[work->roles->category[column]];
    int status = cell->doubled ? broad__cell_undouble(&cell->text, f->arena) : BROAD_OK;
    if (status == BROAD_OK)
        status = broad__level_number(to, &fault, levels, f->dictionary->levels_closed, cell->text, f->keep);
    if (status < 0 || fault == BROAD__LEVEL_GOOD) return status;
    if (fault == BROAD__LEVEL_UNKNOWN && work->missing == BROAD_MISSING_MEAN) return BROAD_OK;
    return fail_level(f, at, column, cell->text, fault);
}

/* Copies text that must outlive the row. */
static int keep_text(broad__text *text, broad__arena *keep)
{
    char *kept = keep ? broad__arena_take(keep, text->count) : NULL;
    if (keep && !kept) return BROAD_NO_MEMORY;
    if (kept && text->count) memcpy(kept, text->bytes, text->count);
    if (kept) text->bytes = kept;
    return BROAD_OK;
}

/* A target cell that is not a number: it is counted, and the first one is kept. */
static int find_word(broad__filler *f, size_t cell, broad__text text)
{
    broad__cells *found = &f->targets;
    if (found->words++) return BROAD_OK;
    found->first_word = cell;
    found->word = text;
    return keep_text(&found->word, f->keep);
}

/* A new label, and its value as a number. */
static int add_label(broad__filler *f, broad__text text, double value)
{
    broad__dictionary *dictionary = f->dictionary;
    size_t count = dictionary->labels.count;
    if (count == BROAD__CLASSES_MAX) {
        dictionary->labels_over = 1;
        return BROAD_OK;
    }
    int status = broad__grow(&dictionary->label_values, &dictionary->label_capacity, count + 1,
                             sizeof *dictionary->label_values, BROAD__CLASSES_MAX);
    if (status == BROAD_OK) status = broad__text_set_keep(&dictionary->labels, text, BROAD__CLASSES_MAX, f->keep);
    if (status == BROAD_OK) dictionary->label_values[count] = value;
    return status;
}

static int fill_target(broad__filler *f, size_t row, size_t column, broad__text text)
{
    const broad__filling *work = f->work;
    broad__cells *cells = &work->parsed->targets;
    broad__dictionary *dictionary = f->dictionary;
    size_t cell = row * work->roles->targets + work->roles->index[column];
    int coded = cells->ids && !dictionary->labels_over, status = BROAD_OK;
    size_t id = coded ? broad__text_set_find(&dictionary->labels, text) : 0;
    double value = NAN;
    if (coded) cells->ids[row] = id;
    if (coded && id < dictionary->labels.count) {
        value = dictionary->label_values[id];
    } else {
        broad__number_kind kind = broad__cell_target(&value, text, work->roles->formats[column]);
        if (kind != BROAD__NUMBER) value = NAN;
        if (kind == BROAD__NUMBER_MISSING) {
            if (!f->targets.missing++) f->targets.first_missing = cell;
            if (coded) cells->ids[row] = BROAD__NO_LABEL;
            cells->values[cell] = value;
            return BROAD_OK;
        }
        if (coded) status = add_label(f, text, value);
    }
    cells->values[cell] = value;
    return status == BROAD_OK && isnan(value) ? find_word(f, cell, text) : status;
}

static int fill_group(broad__filler *f, size_t row, broad__text text)
{
    double value;
    broad__text_set *groups = &f->dictionary->groups;
    size_t id = broad__text_set_find(groups, text);
    f->work->parsed->groups.ids[row] = id;
    if (id < groups->count) return BROAD_OK;
    if (broad__number_read(&value, text) == BROAD__NUMBER_MISSING) {
        if (!f->groups.missing++) f->groups.first_missing = row;
        f->work->parsed->groups.ids[row] = 0;
        return BROAD_OK;
    }
    return broad__text_set_keep(groups, text, SIZE_MAX / 64, f->keep);
}

static int fill_text(broad__filler *f, size_t row, size_t column, broad__cell *cell)
{
    const broad__roles *roles = f->work->roles;
    broad__parsed *parsed = f->work->parsed;
    int target = roles->role[column] == BROAD__ROLE_TARGET;
    int status = cell->doubled ? broad__cell_undouble(&cell->text, f->arena) : BROAD_OK;
    if (status < 0) return status;
    if (target && parsed->targets.texts)
        parsed->targets.texts[row * roles->targets + roles->index[column]] = cell->text;
    else if (target) return fill_target(f, row, column, cell->text);
    else if (parsed->groups.texts) parsed->groups.texts[row] = cell->text;
    else return fill_group(f, row, cell->text);
    return BROAD_OK;
}

int broad__csv_fill_cell(broad__filler *f, const char **at, int *last, size_t row, size_t column)
{
    const broad__roles *roles = f->work->roles;
    const broad__csv *csv = f->work->csv;
    broad__cell cell;
    const char *begin = *at;
    *at = broad__cell_read(&cell, csv, begin);
    *last = cell.last;
    if (cell.fault)
        return broad__fail(BROAD_BAD_DATA, "%s:%zu:%zu: %s", csv->name, broad__line_at(csv, begin), column + 1,
                           cell.fault);
    if (roles->role[column] == BROAD__ROLE_INPUT) {
        double value = NAN;
        broad__number_kind kind = broad__cell_value(&value, cell.text, roles->formats[column]);
        if (kind == BROAD__NUMBER_MISSING) value = NAN;
        f->missing += kind == BROAD__NUMBER_MISSING;
        if (kind != BROAD__NUMBER && !(kind == BROAD__NUMBER_MISSING && f->work->missing == BROAD_MISSING_MEAN))
            return fail_number(f, begin, column, cell.text, kind);
        f->work->parsed->x[row * roles->inputs + roles->index[column]] = value;
        return BROAD_OK;
    }
    if (roles->role[column] == BROAD__ROLE_IGNORED) return BROAD_OK;
    if (roles->role[column] == BROAD__ROLE_CATEGORY) return fill_level(f, begin, row, column, &cell);
    if (roles->role[column] == BROAD__ROLE_WEIGHT) return fill_weight(f, begin, row, column, cell.text);
    return fill_text(f, row, column, &cell);
}

/* The number at `at`, if it is a finite one and ends where the cell does. */
static inline const char *quick_number(double *out, const char *at, const broad__csv *csv)
{
    const char *stop = NULL;
    if (csv->end - at > BROAD__NUMBER_AHEAD) stop = broad__number_fast(out, at);
    if (stop && (*stop == csv->separator || *stop == csv->newline)) return stop;
    stop = broad__number_scan(out, at, csv->end);
    return stop && stop < csv->end && (*stop == csv->separator || *stop == csv->newline) && isfinite(*out) ? stop
                                                                                                           : NULL;
}

int broad__csv_fill_row(broad__filler *f, const char **next, size_t row)
{
    const broad__filling *work = f->work;
    const broad__csv csv = *work->csv;
    const char *at = *next;
    int last = 0;
    f->row = at;
    for (size_t column = 0; !last; column++) {
        if (column == csv.columns) return fail_ragged(f);
        const broad__csv_column *to = &work->columns[column];
        const char *stop = to->first ? quick_number(to->first + row * to->stride, at, &csv) : NULL;
        if (stop) {
            last = *stop == csv.newline;
            at = stop + 1;
        } else {
            int status = broad__csv_fill_cell(f, &at, &last, row, column);
            if (status < 0) return status;
        }
        if (last && column + 1 < csv.columns) return fail_ragged(f);
    }
    *next = at;
    return BROAD_OK;
}

int broad__csv_fail_rows(broad__filler *f, const char *at)
{
    f->row = at;
    return fail_ragged(f);
}

size_t broad__csv_fill_rows(broad__filler *filler, const char **next, const char *to, size_t first, size_t max)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        return broad__csv_fill_rows_avx2(filler, next, to, first, max);
#endif
    return fill_rows(filler, next, to, first, max);
}
