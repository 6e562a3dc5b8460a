#include "data/photo/boxes_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/format/csv_open.h"
#include "data/format/number.h"

/* ---- YOLO ------------------------------------------------------------------------------------------------------ */

enum { YOLO_LEAST = 5, YOLO_MOST = 6 };

/* Rounding may push a part of a side over 1; anything more is meant as pixels. */
#define YOLO_LIMIT 1.01

typedef struct yolo_line {
    const char *file;
    size_t line;
    broad__text words[YOLO_MOST + 1];
    size_t count; /* of all words, more than are kept */
} yolo_line;

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static void yolo_words(yolo_line *out, const char *at, const char *end)
{
    out->count = 0;
    while (at < end) {
        while (at < end && is_blank(*at)) at++;
        const char *begin = at;
        while (at < end && !is_blank(*at)) at++;
        if (at == begin) break;
        if (out->count <= YOLO_MOST) out->words[out->count] = (broad__text){begin, (size_t)(at - begin)};
        out->count++;
    }
}

static int fail_yolo(const yolo_line *line, size_t word, const char *fault)
{
    char quoted[BROAD__QUOTE_BYTES];
    return broad__fail(BROAD_BAD_DATA, "%s:%zu:%zu: %s %s", line->file, line->line, word + 1,
                       broad__text_quote(quoted, line->words[word]), fault);
}

static int yolo_box(broad__box *out, const yolo_line *line)
{
    double values[YOLO_MOST] = {0, 0, 0, 0, 0, NAN};
    if (line->count < YOLO_LEAST || line->count > YOLO_MOST)
        return broad__fail(BROAD_BAD_DATA,
                           "%s:%zu: %zu numbers where YOLO's \"class x y width height\" has 5, or 6 with a score%s",
                           line->file, line->line, line->count,
                           line->count > YOLO_MOST ? "; outlines of more corners are not read" : "");
    for (size_t i = 0; i < line->count; i++) {
        if (broad__number_read(&values[i], line->words[i]) != BROAD__NUMBER)
            return fail_yolo(line, i, i ? "is no number" : "is no number of a class; YOLO lines begin with one");
        if (i < YOLO_LEAST && values[i] < 0) return fail_yolo(line, i, "is negative");
        if (i && i < YOLO_LEAST && values[i] > YOLO_LIMIT)
            return fail_yolo(line, i, "is above 1: YOLO's boxes are parts of the photo's sides; for pixels write CSV");
    }
    const double *v = values + 1;
    *out = (broad__box){v[0] - v[2] / 2, v[1] - v[3] / 2, v[0] + v[2] / 2, v[1] + v[3] / 2, v[4], 1};
    const char *fault = broad__box_fault(out);
    if (fault) return broad__fail(BROAD_BAD_DATA, "%s:%zu: %s", line->file, line->line, fault);
    return BROAD_OK;
}

int broad__boxes_read_yolo(broad__boxes *out, size_t owner, const broad__source *source)
{
    const char *at = source->bytes, *end = source->bytes + source->count;
    yolo_line line = {.file = source->name};
    int status = BROAD_OK;
    if (source->count >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0) at += 3;
    while (at < end && status == BROAD_OK) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        broad__box box;
        if (!stop) stop = end;
        line.line++;
        yolo_words(&line, at, stop);
        if (line.count) {
            status = yolo_box(&box, &line);
            if (status == BROAD_OK) status = broad__boxes_add(out, owner, &box);
        }
        at = stop < end ? stop + 1 : end;
    }
    return status;
}

/* ---- CSV ------------------------------------------------------------------------------------------------------- */

/* Coordinates of parts of the sides end at 1, those of pixels go on; what ends in between is a slip of either. */
#define PARTS_LIMIT 1.0
#define PIXELS_LEAST 2.0

enum { COLUMN_LISTED = 200, SIDES = 4 };

typedef struct side_names {
    const char *names[SIDES];
    int sized; /* the latter two are width and height */
} side_names;

static const side_names ways[] = {
    {{"left", "top", "right", "bottom"}, 0},
    {{"xmin", "ymin", "xmax", "ymax"}, 0},
    {{"x1", "y1", "x2", "y2"}, 0},
    {{"x", "y", "width", "height"}, 1},
};
static const char *const file_names[] = {"file", "filename", "file_name", "image", NULL};
static const char *const score_names[] = {"score", "confidence", NULL};

enum { WAYS = sizeof ways / sizeof ways[0] };

/* Where in a row the values are; csv->columns: nowhere. */
typedef struct box_columns {
    size_t file, score, sides[SIDES];
    const side_names *way;
} box_columns;

static const char *list_columns(char out[COLUMN_LISTED], const broad__csv *csv)
{
    size_t used = 0;
    for (size_t i = 0; i < csv->columns && used + 1 < COLUMN_LISTED; i++) {
        char quoted[BROAD__QUOTE_BYTES];
        broad__text_quote(quoted, broad__text_of(csv->names[i]));
        int length = snprintf(out + used, COLUMN_LISTED - used, "%s%s", i ? ", " : "", quoted);
        if (length < 0 || (size_t)length >= COLUMN_LISTED - used) {
            snprintf(out + used, COLUMN_LISTED - used, "...");
            break;
        }
        used += (size_t)length;
    }
    return out;
}

static int find_column(size_t *out, const broad__csv *csv, const char *name)
{
    *out = csv->columns;
    for (size_t i = 0; i < csv->columns; i++) {
        if (strcasecmp(csv->names[i], name) != 0) continue;
        if (*out < csv->columns)
            return broad__fail(BROAD_BAD_DATA, "%s: columns %zu and %zu are both called '%s'; leave one out", csv->name,
                               *out + 1, i + 1, name);
        *out = i;
    }
    return BROAD_OK;
}

static int find_any(size_t *out, const broad__csv *csv, const char *const *names)
{
    const char *found = NULL;
    *out = csv->columns;
    for (; *names; names++) {
        size_t here;
        int status = find_column(&here, csv, *names);
        if (status < 0) return status;
        if (here == csv->columns) continue;
        if (found)
            return broad__fail(BROAD_BAD_DATA, "%s: both '%s' and '%s' are columns; leave one out", csv->name, found,
                               *names);
        found = *names;
        *out = here;
    }
    return BROAD_OK;
}

static int find_sides(box_columns *out, const broad__csv *csv)
{
    for (size_t w = 0; w < WAYS; w++) {
        size_t sides[SIDES], have = 0;
        for (size_t i = 0; i < SIDES; i++) {
            int status = find_column(&sides[i], csv, ways[w].names[i]);
            if (status < 0) return status;
            have += sides[i] < csv->columns;
        }
        if (have < SIDES) continue;
        if (out->way)
            return broad__fail(BROAD_BAD_DATA, "%s: both '%s' and '%s' with their like are columns; leave one out",
                               csv->name, out->way->names[0], ways[w].names[0]);
        out->way = &ways[w];
        memcpy(out->sides, sides, sizeof sides);
    }
    return BROAD_OK;
}

static int find_columns(box_columns *out, const broad__csv *csv)
{
    char listed[COLUMN_LISTED];
    *out = (box_columns){0};
    int status = find_any(&out->file, csv, file_names);
    if (status == BROAD_OK) status = find_any(&out->score, csv, score_names);
    if (status == BROAD_OK) status = find_sides(out, csv);
    if (status < 0) return status;
    if (out->file == csv->columns)
        return broad__fail(BROAD_BAD_DATA,
                           "%s: no column is called file; the first line must name the columns, such as "
                           "\"file,left,top,right,bottom\", "
                           "and not %s. YOLO's text files are given as their folder",
                           csv->name, list_columns(listed, csv));
    if (!out->way)
        return broad__fail(BROAD_BAD_DATA,
                           "%s: no columns left, top, right, bottom (or xmin, ymin, xmax, ymax; or x1, y1, x2, y2; or "
                           "x, y, width, height); there are %s",
                           csv->name, list_columns(listed, csv));
    return BROAD_OK;
}

typedef struct csv_row {
    broad__text name;
    double sides[SIDES], score;
} csv_row;

static int fail_cell(const broad__csv *csv, const char *row, size_t column, broad__text text, const char *fault)
{
    char quoted[BROAD__QUOTE_BYTES], name[BROAD__QUOTE_BYTES];
    return broad__fail(BROAD_BAD_DATA, "%s:%zu:%zu: %s in column %s %s", csv->name, broad__line_at(csv, row),
                       column + 1, broad__text_quote(quoted, text),
                       broad__text_quote(name, broad__text_of(csv->names[column])), fault);
}

static int read_name(broad__text *out, broad__cell *cell, broad__arena *arena)
{
    int status = cell->doubled ? broad__cell_undouble(&cell->text, arena) : BROAD_OK;
    *out = cell->text;
    return status;
}

static int read_number(double *out, const broad__csv *csv, const char *row, size_t column, broad__text text)
{
    broad__number_kind kind = broad__number_read(out, text);
    if (kind == BROAD__NUMBER) return BROAD_OK;
    return fail_cell(csv, row, column, text,
                     kind == BROAD__NUMBER_MISSING ? "is missing; a box needs all four sides"
                                                   : "is no number; write it with a decimal point");
}

static int read_cell(csv_row *out, const broad__csv *csv, const box_columns *where, size_t column, const char *row,
                     broad__cell *cell, broad__arena *arena)
{
    if (column == where->file) {
        int status = read_name(&out->name, cell, arena);
        if (status == BROAD_OK && !out->name.count)
            status = fail_cell(csv, row, column, out->name, "is no name of a photo");
        if (status == BROAD_OK && !broad__text_is_utf8(out->name))
            status = fail_cell(csv, row, column, out->name, "is not UTF-8 text; convert the file with iconv");
        return status;
    }
    if (column == where->score) {
        broad__number_kind kind = broad__number_read(&out->score, cell->text);
        if (kind == BROAD__NUMBER) return BROAD_OK;
        out->score = NAN;
        return kind == BROAD__NUMBER_MISSING ? BROAD_OK : fail_cell(csv, row, column, cell->text, "is no number");
    }
    for (size_t i = 0; i < SIDES; i++)
        if (column == where->sides[i]) return read_number(&out->sides[i], csv, row, column, cell->text);
    return BROAD_OK;
}

static int read_row(csv_row *out, const char **next, const broad__csv *csv, const box_columns *where,
                    broad__arena *arena)
{
    const char *row = *next, *at = row;
    broad__cell cell = {.last = 0};
    size_t column = 0;
    *out = (csv_row){.score = NAN};
    for (; !cell.last && column < csv->columns; column++) {
        at = broad__cell_read(&cell, csv, at);
        int status = cell.fault ? broad__fail(BROAD_BAD_DATA, "%s:%zu:%zu: %s", csv->name, broad__line_at(csv, row),
                                              column + 1, cell.fault)
                                : read_cell(out, csv, where, column, row, &cell, arena);
        if (status < 0) return status;
    }
    if (!cell.last || column < csv->columns)
        return broad__fail(BROAD_BAD_DATA, "%s:%zu: %zu cells where the first line has %zu", csv->name,
                           broad__line_at(csv, row), broad__row_cells(next, csv, row), csv->columns);
    *next = at;
    return BROAD_OK;
}

static int add_row(broad__boxes *out, const csv_row *row, const side_names *way, const broad__csv *csv, const char *at)
{
    const double *s = row->sides;
    broad__box box = {s[0], s[1], way->sized ? s[0] + s[2] : s[2], way->sized ? s[1] + s[3] : s[3], row->score, 0};
    const char *fault = broad__box_fault(&box);
    if (fault) return broad__fail(BROAD_BAD_DATA, "%s:%zu: %s", csv->name, broad__line_at(csv, at), fault);
    size_t owner;
    int status = broad__boxes_owner(&owner, out, row->name, 0);
    return status < 0 ? status : broad__boxes_add(out, owner, &box);
}

/* Pixels or parts of the sides: one answer for the whole file. */
static int find_unit(broad__boxes *out, const broad__csv *csv)
{
    double largest = -INFINITY;
    for (size_t i = 0; i < out->count; i++) {
        if (out->items[i].right > largest) largest = out->items[i].right;
        if (out->items[i].bottom > largest) largest = out->items[i].bottom;
    }
    if (largest > PARTS_LIMIT && largest < PIXELS_LEAST)
        return broad__fail(
            BROAD_BAD_DATA,
            "%s: no side goes beyond %g, which is too much for parts of the sides (0 to 1) and too little "
            "for pixels; cut the former to 1",
            csv->name, largest);
    for (size_t i = 0; i < out->count && largest <= PARTS_LIMIT; i++) out->items[i].relative = 1;
    return BROAD_OK;
}

int broad__boxes_read_csv(broad__boxes *out, const broad__source *source)
{
    broad__csv_hints hints = {.header = "yes"};
    broad__csv csv = {0};
    broad__arena arena = {0};
    box_columns where;
    int status = broad__csv_open(&csv, source, &hints);
    if (status == BROAD_OK) status = find_columns(&where, &csv);
    if (status < 0) goto cleanup;
    for (const char *at = broad__row_start(&csv, csv.body); at < csv.end && status == BROAD_OK;) {
        const char *begin = at;
        csv_row row;
        status = read_row(&row, &at, &csv, &where, &arena);
        if (status == BROAD_OK) status = add_row(out, &row, where.way, &csv, begin);
        if (status == BROAD_OK) at = broad__row_start(&csv, at);
    }
    if (status == BROAD_OK) status = find_unit(out, &csv);
cleanup:
    broad__arena_clear(&arena);
    broad__csv_close(&csv);
    return status;
}
