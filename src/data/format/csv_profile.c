#include "data/format/csv_profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "data/distinct.h"
#include "data/format/cell.h"

enum {
    LOOKED_AT_BYTES = 1 << 20, /* for the first look */
    LOOKED_AT_ROWS = 2000,
    ID_ROWS = 20000,   /* that are compared to tell numbers that name their rows */
    FEW_ROWS = 10,     /* too few to tell names of rows from categories */
    LEVELS_MOST = 1000 /* a column with more different texts does not become categories unasked */
};

/* The cells of a column, counted by what they may be; data/format/cell.h. */
typedef struct column {
    size_t values; /* cells that are not missing */
    size_t plain, comma, point, grouped, commas, truth, day, month, either, huge, whole;
    int truth_words; /* there are words among the truth values */
    /* Of columns that hold text, or may name their rows: the different cells. */
    int compared;
    size_t compared_values;
    broad__text_set different;
} column;

typedef struct profile {
    const broad__csv *csv;
    broad__roles *roles;
    broad__notes *notes;
    column *columns;
    size_t rows;
    int decimal;                      /* of the file: 1: a comma, -1: a point, 0: it does not tell */
    int against_comma, against_point; /* with a model: numbers of the file cannot be written so */
    broad__arena arena;               /* of texts that differ from the file's */
} profile;

static const char *name_of(const broad__csv *csv, size_t c, char out[24])
{
    if (csv->names) return csv->names[c];
    snprintf(out, 24, "%zu", c + 1);
    return out;
}

static int is_looked_at(const broad__roles *roles, size_t c)
{
    broad__role role = (broad__role)roles->role[c];
    return role == BROAD__ROLE_INPUT || role == BROAD__ROLE_TARGET || role == BROAD__ROLE_WEIGHT;
}

/* ---- names ----------------------------------------------------------------------------------------------------------- */

/* Whether a column is called as columns are that number or name their rows. */
static int names_rows(const broad__csv *csv, size_t c)
{
    static const char *const words[] = {"id",     "ids",        "uuid",  "guid",     "key",        "index",
                                        "idx",    "row",        "nr",    "no",       "no.",        "num",
                                        "name",   "#",          "rowid", "rownum",   "row_number", "record",
                                        "serial", "unnamed: 0", "lfd",   "lfd. nr.", NULL};
    if (!csv->names) return 0;
    const char *name = csv->names[c];
    size_t count = strlen(name);
    if (c == 0 && csv->unnamed_first) return 1;
    for (const char *const *word = words; *word; word++)
        if (strcasecmp(name, *word) == 0) return 1;
    if (count < 3) return 0;
    const char *tail = name + count - 2;
    return strcmp(tail, "Id") == 0 || strcmp(tail, "ID") == 0 ||
           (strcasecmp(tail, "id") == 0 && strchr("_ -.", tail[-1]));
}

/* A whole number whose last digits a double does not hold. */
static int is_too_long(broad__text cell)
{
    size_t digits = 0;
    double value = 0;
    for (size_t i = 0; i < cell.count; i++) digits += (size_t)((unsigned)(cell.bytes[i] - '0') <= 9);
    if (digits < 16 || digits + 1 < cell.count || memchr(cell.bytes, '.', cell.count)) return 0;
    return broad__number_read(&value, cell) == BROAD__NUMBER && fabs(value) > 0x1p53;
}

int broad__csv_unusual(const broad__csv *csv, const broad__roles *roles)
{
    for (size_t c = 0; c < csv->columns; c++) {
        if (roles->role[c] != BROAD__ROLE_INPUT) continue;
        if (roles->modelled ? roles->formats[c].decimal != 0 : names_rows(csv, c)) return 1;
    }
    const char *end = csv->end - csv->body > LOOKED_AT_BYTES ? csv->body + LOOKED_AT_BYTES : csv->end;
    const char *at = broad__row_start(csv, csv->body);
    for (size_t row = 0; at < end && row < LOOKED_AT_ROWS; row++, at = broad__row_start(csv, at)) {
        broad__cell cell = {.last = 0};
        for (size_t c = 0; !cell.last; c++) {
            double value;
            at = broad__cell_read(&cell, csv, at);
            if (c >= csv->columns || !is_looked_at(roles, c)) continue;
            broad__number_kind kind = broad__number_read(&value, cell.text);
            int input = roles->role[c] != BROAD__ROLE_TARGET;
            if (kind == BROAD__NUMBER && input && fabs(value) > 0x1p53 && is_too_long(cell.text)) return 1;
            if (kind != BROAD__NUMBER_TEXT) continue;
            if (input || (broad__cell_look(cell.text) & (BROAD__CELL_COMMA | BROAD__CELL_POINT))) return 1;
        }
    }
    return 0;
}

/* ---- counting -------------------------------------------------------------------------------------------------------- */

static void count_cell(column *k, broad__text cell)
{
    double value = 0;
    if (broad__cell_missing(cell)) return;
    unsigned signs = broad__cell_look(cell);
    k->values++;
    k->plain += (signs & BROAD__CELL_PLAIN) != 0;
    k->comma += (signs & BROAD__CELL_COMMA) != 0;
    k->point += (signs & BROAD__CELL_POINT) != 0;
    k->grouped += (signs & BROAD__CELL_GROUPED_POINT) != 0;
    k->commas += (size_t)(memchr(cell.bytes, ',', cell.count) != NULL);
    k->truth += (signs & BROAD__CELL_TRUTH) != 0;
    k->truth_words |= (signs & BROAD__CELL_TRUTH) && !(signs & BROAD__CELL_PLAIN);
    k->day += (signs & BROAD__CELL_DAY_FIRST) != 0;
    k->month += (signs & BROAD__CELL_MONTH_FIRST) != 0;
    k->either += (signs & BROAD__CELL_EITHER_ORDER) != 0;
    if (!(signs & BROAD__CELL_PLAIN)) return;
    broad__number_read(&value, cell);
    k->whole += value == trunc(value);
    k->huge += (size_t)is_too_long(cell);
}

/* A cell of a column whose different values are counted. */
static int compare_cell(profile *p, column *k, broad__cell *cell)
{
    if (broad__cell_missing(cell->text) || k->different.count > BROAD__LEVELS_MAX) return BROAD_OK;
    int status = cell->doubled ? broad__cell_undouble(&cell->text, &p->arena) : BROAD_OK;
    if (status < 0) return status;
    k->compared_values++;
    if (broad__text_set_find(&k->different, cell->text) < k->different.count) return BROAD_OK;
    return broad__text_set_add(&k->different, cell->text, SIZE_MAX / 64);
}

/* Goes over the cells, to count them or to compare them. */
static int each_cell(profile *p, int compare)
{
    const broad__csv *csv = p->csv;
    const char *released = csv->body;
    int status = BROAD_OK;
    size_t row = 0;
    for (const char *at = broad__row_start(csv, csv->body); at < csv->end && status == BROAD_OK; p->rows = ++row) {
        broad__cell cell = {.last = 0};
        for (size_t c = 0; !cell.last && status == BROAD_OK; c++) {
            at = broad__cell_read(&cell, csv, at);
            if (c >= csv->columns || !is_looked_at(p->roles, c)) continue;
            column *k = &p->columns[c];
            if (!compare) count_cell(k, cell.text);
            else if (k->compared && (k->plain < k->values || row < ID_ROWS)) status = compare_cell(p, k, &cell);
        }
        at = broad__row_start(csv, at);
        broad__csv_passed(csv, &released, at);
        if (status == BROAD_OK && row % 4096 == 0) status = broad__watch_poll(0, 1);
    }
    return status;
}

/* ---- numbers --------------------------------------------------------------------------------------------------------- */

static int file_decimal(const profile *p)
{
    int comma = 0, point = 0;
    for (size_t c = 0; c < p->csv->columns; c++) {
        const column *k = &p->columns[c];
        if (k->comma > k->point && k->comma > k->plain) comma = 1;
        if (k->point > k->comma && k->point > k->plain) point = 1;
    }
    if (comma != point) return comma ? 1 : -1;
    return 0;
}

/* The way to write numbers that most of a column's cells follow; the file decides between equals. */
static broad__cell_format number_format(const profile *p, const column *k)
{
    int file = p->decimal;
    broad__cell_format plain = {0}, comma = {.decimal = ','}, point = {.decimal = '.'};
    if (k->plain == k->values) return file > 0 && k->grouped && k->comma == k->values ? comma : plain;
    if (k->plain >= k->comma && k->plain >= k->point) return plain;
    if (k->comma != k->point) return k->comma > k->point ? comma : point;
    if (!k->commas) return point;
    if (!file) file = p->csv->separator == ',' ? -1 : 1;
    return file > 0 ? comma : point;
}

static size_t number_cells(const column *k, broad__cell_format format)
{
    return format.decimal == ',' ? k->comma : format.decimal == '.' ? k->point : k->plain;
}

/* Whether nine in ten cells, which leaves room for slips, may be written in this way. */
static int follows(const column *k, broad__cell_format format) { return 10 * number_cells(k, format) >= 9 * k->values; }

/* Whether the numbers of a column have another sign before the fraction than this one. */
static int speaks_against(const column *k, broad__cell_format trained, char decimal)
{
    broad__cell_format asked = {.decimal = decimal}, other = {.decimal = decimal == ',' ? '.' : ','};
    if (!k->values || follows(k, asked) || !follows(k, other)) return 0;
    return trained.decimal == decimal || number_cells(k, other) > k->plain;
}

/* Finds out before the formats are set whether the file is written in another way than the training rows. */
static void compare_with_model(profile *p)
{
    for (size_t c = 0; p->roles->modelled && c < p->csv->columns; c++) {
        p->against_comma |= speaks_against(&p->columns[c], p->roles->formats[c], ',');
        p->against_point |= speaks_against(&p->columns[c], p->roles->formats[c], '.');
    }
}

/* That of the training rows, unless the file tells otherwise: its cells may often be read in both ways, and one of them makes
 * a thousand times as much of them. */
static broad__cell_format format_with_model(const profile *p, size_t c)
{
    const column *k = &p->columns[c];
    broad__cell_format trained = p->roles->formats[c];
    int against = trained.decimal == ',' ? p->against_comma : p->against_point;
    return trained.decimal && !against && follows(k, trained) ? trained : number_format(p, k);
}

/* ---- deciding -------------------------------------------------------------------------------------------------------- */

static int is_truth(const column *k) { return k->values && k->truth == k->values && k->truth_words; }

static size_t date_cells(const column *k) { return k->day > k->month ? k->day : k->month; }

static int is_date(const column *k) { return k->values && date_cells(k) == k->values; }

static broad__form date_form(const column *k, char separator)
{
    if (k->day != k->month) return k->day > k->month ? BROAD__FORM_DATE_DAY : BROAD__FORM_DATE_MONTH;
    if (!k->either) return BROAD__FORM_DATE;
    return separator == ',' ? BROAD__FORM_DATE_MONTH : BROAD__FORM_DATE_DAY;
}

/* Cells of one kind with a few slips among them: nine in ten are good, and more than half of all differ. */
static int has_slips(const column *k, size_t good)
{
    if (broad__cell_slips(k->values - good, k->values)) return 1;
    return k->values >= FEW_ROWS && 10 * good >= 9 * k->values && 2 * k->different.count > k->compared_values;
}

static int is_number_with_slips(const column *k, broad__cell_format format)
{
    return has_slips(k, number_cells(k, format));
}

typedef enum verdict {
    KEEP,
    CATEGORY,
    EMPTY,
    ALL_DIFFERENT, /* it names its rows */
    FREE_TEXT,
    TOO_MANY
} verdict;

static verdict judge_numbers(const profile *p, size_t c)
{
    const column *k = &p->columns[c];
    int different = k->compared && k->values >= FEW_ROWS && k->different.count == k->compared_values;
    return different && k->whole == k->values && (names_rows(p->csv, c) || 2 * k->huge > k->values) ? ALL_DIFFERENT
                                                                                                    : KEEP;
}

static verdict judge_text(const column *k)
{
    size_t different = k->different.count, values = k->compared_values;
    if (values >= FEW_ROWS && different == values) return ALL_DIFFERENT;
    if (values >= 2 * FEW_ROWS && 2 * different > values) return FREE_TEXT;
    return different > LEVELS_MOST ? TOO_MANY : CATEGORY;
}

/* What becomes of an input; its format is set. */
static verdict judge(profile *p, size_t c)
{
    const column *k = &p->columns[c];
    broad__cell_format *format = &p->roles->formats[c];
    if (p->roles->modelled) {
        if (format->form == BROAD__FORM_NUMBER) *format = format_with_model(p, c);
        return KEEP;
    }
    if (!k->values) return EMPTY;
    if (is_truth(k)) format->form = BROAD__FORM_TRUTH;
    else if (is_date(k) || has_slips(k, date_cells(k))) format->form = date_form(k, p->csv->separator);
    if (format->form != BROAD__FORM_NUMBER) return KEEP;
    *format = number_format(p, k);
    if (number_cells(k, *format) == k->values) return judge_numbers(p, c);
    if (is_number_with_slips(k, *format)) return KEEP;
    *format = (broad__cell_format){0};
    return judge_text(k);
}

/* Targets and weights that are numbers with marks are read as such; a target may also be text. */
static void judge_other(profile *p, size_t c)
{
    const column *k = &p->columns[c];
    broad__cell_format format = number_format(p, k);
    if (broad__cell_slips(k->values - number_cells(k, format), k->values)) p->roles->formats[c] = format;
}

/* ---- telling --------------------------------------------------------------------------------------------------------- */

typedef struct telling {
    broad__list categories, truths, dates, commas, marked, empty, ids, texts, many, huge, as_trained, otherwise;
} telling;

static void tell_kept(telling *t, const profile *p, size_t c, const char *name)
{
    const column *k = &p->columns[c];
    broad__cell_format format = p->roles->formats[c];
    if (format.form == BROAD__FORM_TRUTH) broad__list_add(&t->truths, name, NULL);
    else if (format.form != BROAD__FORM_NUMBER)
        broad__list_add(&t->dates, name,
                        format.form == BROAD__FORM_DATE ? NULL
                        : format.form == BROAD__FORM_DATE_DAY
                            ? (k->day == k->month ? "day before month: nothing tells" : "day before month")
                            : (k->day == k->month ? "month before day: nothing tells" : "month before day"));
    else if (format.decimal == ',') broad__list_add(&t->commas, name, NULL);
    else if (format.decimal == '.') broad__list_add(&t->marked, name, NULL);
    if (k->huge) broad__list_add(&t->huge, name, NULL);
}

static void tell_column(telling *t, const profile *p, size_t c, verdict v)
{
    char number[24], detail[64];
    const column *k = &p->columns[c];
    const char *name = name_of(p->csv, c, number);
    snprintf(detail, sizeof detail, v == CATEGORY ? "%zu" : "%zu different", k->different.count);
    if (v == KEEP) tell_kept(t, p, c, name);
    if (v == CATEGORY) broad__list_add(&t->categories, name, detail);
    if (v == EMPTY) broad__list_add(&t->empty, name, NULL);
    if (v == ALL_DIFFERENT) broad__list_add(&t->ids, name, NULL);
    if (v == FREE_TEXT) broad__list_add(&t->texts, name, detail);
    if (v == TOO_MANY) broad__list_add(&t->many, name, detail);
}

static int tell_one(const profile *p, broad__list *list, const char *before, const char *after)
{
    if (!list->count) return BROAD_OK;
    int several = list->count > 1;
    return broad__note(p->notes, "%s column%s %s%s", before, several ? "s" : "", broad__list_end(list), after);
}

static int tell(const profile *p, telling *t)
{
    int status = tell_one(p, &t->categories, "text became categories:", "");
    if (status == BROAD_OK) status = tell_one(p, &t->truths, "yes and no became 1 and 0:", "");
    if (status == BROAD_OK) status = tell_one(p, &t->dates, "dates became days since 1970-01-01:", "");
    if (status == BROAD_OK) status = tell_one(p, &t->commas, "numbers with a decimal comma:", "");
    if (status == BROAD_OK)
        status =
            tell_one(p, &t->marked, "numbers with marks (thousands, percent or currency) were read without them:", "");
    if (status == BROAD_OK) status = tell_one(p, &t->empty, "left out, as no row has a value:", "");
    if (status == BROAD_OK)
        status = tell_one(p, &t->ids, "left out, as it differs in every row:", "; option inputs takes it back");
    if (status == BROAD_OK)
        status = tell_one(p, &t->texts, "left out, as it is free text:", "; option categorical makes categories of it");
    if (status == BROAD_OK)
        status =
            tell_one(p, &t->many,
                     "left out, as it has too many different texts:", "; option categorical makes categories of it");
    if (status == BROAD_OK)
        status = tell_one(p, &t->huge, "whole numbers beyond 9007199254740992 lost their last digits:", "");
    return status;
}

/* How numbers of an input were read, where the training rows or the file alone would not say the same. */
static void tell_beside_model(telling *t, const profile *p, size_t c, broad__cell_format trained)
{
    char number[24];
    const column *k = &p->columns[c];
    const char *name = name_of(p->csv, c, number);
    broad__cell_format found = p->roles->formats[c], alone = number_format(p, k);
    int doubtful = k->commas || k->grouped;
    if (found.decimal != trained.decimal) {
        if (doubtful || k->plain < k->values) broad__list_add(&t->otherwise, name, NULL);
    } else if (found.decimal && alone.decimal != found.decimal && doubtful) {
        broad__list_add(&t->as_trained, name, found.decimal == ',' ? "a decimal comma" : "a decimal point");
    }
}

static int tell_with_model(const profile *p, telling *t)
{
    int status = tell_one(p, &t->as_trained, "numbers that can be read in two ways were read as in training:", "");
    if (status < 0) return status;
    return tell_one(p, &t->otherwise, "numbers were written in another way in training:", "");
}

/* ---- the whole ------------------------------------------------------------------------------------------------------- */

static void choose_compared(profile *p)
{
    for (size_t c = 0; c < p->csv->columns && !p->roles->modelled; c++) {
        column *k = &p->columns[c];
        if (p->roles->role[c] != BROAD__ROLE_INPUT || is_truth(k) || is_date(k)) continue;
        int numbers = number_cells(k, number_format(p, k)) == k->values;
        k->compared = !numbers || k->huge || names_rows(p->csv, c);
    }
}

/* What becomes of the columns; the formats are set. */
static void judge_all(verdict *out, profile *p)
{
    size_t left = 0;
    for (size_t c = 0; c < p->csv->columns; c++) {
        const column *k = &p->columns[c];
        broad__role role = (broad__role)p->roles->role[c];
        out[c] = KEEP;
        left += role == BROAD__ROLE_CATEGORY;
        if (role == BROAD__ROLE_TARGET || role == BROAD__ROLE_WEIGHT) judge_other(p, c);
        if (role != BROAD__ROLE_INPUT) continue;
        out[c] = judge(p, c);
        if (p->roles->asked[c] && out[c] > CATEGORY && out[c] != EMPTY)
            out[c] = k->plain == k->values ? KEEP : CATEGORY;
        left += out[c] <= CATEGORY;
    }
    /* Numbers that name their rows are better than nothing. */
    for (size_t c = 0; c < p->csv->columns && !left; c++)
        if (out[c] == ALL_DIFFERENT && p->columns[c].plain == p->columns[c].values) out[c] = KEEP;
}

static int decide(profile *p)
{
    telling t = {0};
    size_t columns = p->csv->columns;
    verdict *verdicts = broad__alloc_array(columns, sizeof *verdicts);
    broad__cell_format *trained = broad__alloc_array(columns, sizeof *trained);
    if (!verdicts || !trained) {
        broad__free(verdicts);
        broad__free(trained);
        return BROAD_NO_MEMORY;
    }
    memcpy(trained, p->roles->formats, columns * sizeof *trained);
    judge_all(verdicts, p);
    for (size_t c = 0; c < columns; c++) {
        broad__role role = (broad__role)p->roles->role[c];
        if (role == BROAD__ROLE_INPUT && p->roles->modelled) tell_beside_model(&t, p, c, trained[c]);
        if (role == BROAD__ROLE_INPUT || role == BROAD__ROLE_TARGET) tell_column(&t, p, c, verdicts[c]);
        if (verdicts[c] == CATEGORY) p->roles->role[c] = BROAD__ROLE_CATEGORY;
        if (verdicts[c] > CATEGORY) p->roles->role[c] = BROAD__ROLE_IGNORED;
    }
    broad__free(verdicts);
    broad__free(trained);
    return p->roles->modelled ? tell_with_model(p, &t) : tell(p, &t);
}

int broad__csv_profile(broad__roles *roles, const broad__csv *csv, broad__notes *notes)
{
    profile p = {.csv = csv, .roles = roles, .notes = notes};
    int status = BROAD_NO_MEMORY;
    p.columns = broad__alloc_array(csv->columns, sizeof *p.columns);
    if (!p.columns) goto cleanup;
    status = each_cell(&p, 0);
    int compared = 0;
    p.decimal = file_decimal(&p);
    compare_with_model(&p);
    choose_compared(&p);
    for (size_t c = 0; c < csv->columns; c++) compared |= p.columns[c].compared;
    if (status == BROAD_OK && compared) status = each_cell(&p, 1);
    if (status == BROAD_OK && p.rows) status = decide(&p);

cleanup:
    for (size_t c = 0; p.columns && c < csv->columns; c++) broad__text_set_clear(&p.columns[c].different);
    broad__free(p.columns);
    broad__arena_clear(&p.arena);
    return status;
}
