/*
 * Opening delimited text: a survey of all of it (is it text, how many lines, where are quotation marks), then from its first
 * rows the separator, the header and the columns.
 */
#include "data/format/csv_open.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "comm/comm.h"
#include "data/distinct.h"
#include "data/format/cell.h"

/* ---- survey -------------------------------------------------------------------------------------------------------- */

/* A comparison gives -1 in each equal byte; a byte counts up to 255. */
typedef unsigned char bytes_16 __attribute__((vector_size(16)));
enum { WIDTH = 16, COUNTS_MAX = 255, BATCH = 64 };

static uint32_t add_up(const bytes_16 *counts)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < WIDTH; i++) sum += (*counts)[i];
    return sum;
}

typedef struct tally {
    uint32_t lines, quotes, zeros, wide; /* zeros, wide: whether there are any; wide: bytes that are not ASCII */
} tally;

static tally count_bytes(const char *at, size_t count, char newline)
{
    const bytes_16 nothing = {0}, line = nothing + (unsigned char)newline, quote = nothing + (unsigned char)'"';
    tally t = {0};
    while (count >= WIDTH) {
        bytes_16 lines = nothing, quotes = nothing, zeros = nothing, all = nothing;
        size_t steps = count / WIDTH < COUNTS_MAX ? count / WIDTH : COUNTS_MAX;
        for (size_t i = 0; i < steps; i++, at += WIDTH) {
            bytes_16 now;
            memcpy(&now, at, sizeof now);
            lines -= (bytes_16)(now == line);
            quotes -= (bytes_16)(now == quote);
            zeros |= (bytes_16)(now == nothing);
            all |= now;
        }
        t.lines += add_up(&lines);
        t.quotes += add_up(&quotes);
        t.zeros += add_up(&zeros) > 0;
        all &= nothing + 0x80;
        t.wide |= add_up(&all) > 0;
        count -= steps * WIDTH;
    }
    for (; count; count--, at++) {
        t.lines += *at == newline;
        t.quotes += *at == '"';
        t.zeros += *at == 0;
        t.wide |= (unsigned char)*at >= 0x80;
    }
    return t;
}

typedef struct survey {
    broad__csv *csv;
    size_t first; /* chunk of the current batch */
    const char *zero[BATCH];
    int wide[BATCH];
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
    s->wide[index] = t.wide > 0;
    s->zero[index] = t.zeros ? memchr(from, 0, count) : NULL;
}

/* Chunks [begin, end). *zero: the first zero byte, or NULL. */
static int survey_chunks(const char **zero, broad__csv *csv, size_t begin, size_t end)
{
    *zero = NULL;
    for (size_t first = begin; first < end; first += BATCH) {
        survey s = {.csv = csv, .first = first};
        int status = broad__watch_poll(0, 1);
        if (status < 0) return status;
        size_t count = end - first < BATCH ? end - first : BATCH;
        if (csv->pool) broad__pool_run(csv->pool, count, survey_chunk, &s);
        for (size_t i = 0; i < count; i++) {
            if (!csv->pool) survey_chunk(&s, i, 0);
            if (s.zero[i] && !*zero) *zero = s.zero[i];
            csv->wide |= s.wide[i];
        }
        if (*zero) return BROAD_OK;
        const char *from = csv->begin + first * BROAD__CSV_CHUNK;
        broad__source_done(csv->source, from,
                           first + count == csv->chunk_count ? csv->end : from + count * BROAD__CSV_CHUNK);
    }
    return BROAD_OK;
}

/* Each rank surveys its share of the chunks. *out_done: that is all of it; a plain survey tells what is wrong. */
static int survey_divided(int *out_done, broad__csv *csv)
{
    const char *zero;
    size_t first, end, ranks = broad__comm_ranks();
    broad__comm_own_shards(&first, &end, csv->chunk_count);
    int status = survey_chunks(&zero, csv, first, end);
    *out_done = !broad__comm_most(status < 0 || zero);
    csv->wide = broad__comm_most(csv->wide);
    status = BROAD_OK;
    for (size_t rank = 0; *out_done && status == BROAD_OK && rank < ranks; rank++) {
        first = rank * csv->chunk_count / ranks;
        end = (rank + 1) * csv->chunk_count / ranks;
        status = broad__comm_broadcast(rank, csv->chunks + first, (end - first) * sizeof *csv->chunks);
    }
    return status;
}

static int survey_all(broad__csv *csv, int divided)
{
    const char *zero = NULL;
    int done = 0, status = divided ? survey_divided(&done, csv) : BROAD_OK;
    if (status == BROAD_OK && !done) status = survey_chunks(&zero, csv, 0, csv->chunk_count);
    if (status < 0) return status;
    if (zero)
        return broad__fail(BROAD_BAD_DATA,
                           "%s:%zu: a zero byte; the file is binary but neither NPY nor IDX, or UTF-16 text", csv->name,
                           broad__line_at(csv, zero));
    csv->lines = csv->quotes = 0;
    for (size_t i = 0; i < csv->chunk_count; i++) {
        csv->lines += csv->chunks[i].lines;
        csv->quotes += csv->chunks[i].quotes;
    }
    return BROAD_OK;
}

static int survey_text(broad__csv *csv, int divided)
{
    size_t count = (size_t)(csv->end - csv->begin);
    csv->chunk_count = (count + BROAD__CSV_CHUNK - 1) / BROAD__CSV_CHUNK;
    csv->chunks = broad__alloc_array(csv->chunk_count, sizeof *csv->chunks);
    if (!csv->chunks) return BROAD_NO_MEMORY;
    csv->newline = '\n';
    int status = survey_all(csv, divided);
    if (status < 0 || csv->lines || !count || !memchr(csv->begin, '\r', count)) return status;
    csv->newline = '\r';
    return survey_all(csv, divided);
}

/* ---- separator ----------------------------------------------------------------------------------------------------- */

/* The sample in which separator and header are looked for. */
enum { SAMPLE_ROWS = 21, SAMPLE_BYTES = 1 << 20 };

static const char separators[] = "\t;|, "; /* the rarer in numbers and text comes first */

/* The start of the text, from its first row on, cut after some whole rows; all of it if the first row is longer than that. */
static broad__csv sample_of(const broad__csv *csv)
{
    broad__csv sample = *csv;
    sample.begin = csv->top;
    if (csv->end - csv->top <= SAMPLE_BYTES) return sample;
    const char *cut = memrchr(csv->top, csv->newline, SAMPLE_BYTES);
    if (cut) sample.end = cut + 1;
    return sample;
}

/* Cells a row if this separator gives every sampled row the same number, else 0. Blanks separate only numbers. */
static size_t separator_fits(const broad__csv *sample, char separator)
{
    broad__csv trial = *sample;
    trial.separator = separator;
    size_t columns = 0, rows = 0, numbers = 0, cells = 0;
    for (const char *at = broad__row_start(&trial, trial.begin); at < trial.end && rows < SAMPLE_ROWS; rows++) {
        broad__cell cell = {.last = 0};
        size_t here = 0;
        for (double value; !cell.last; here++) {
            at = broad__cell_read(&cell, &trial, at);
            if (cell.fault) return 0;
            if (separator != ' ' || !rows) continue;
            cells++;
            numbers += broad__number_read(&value, cell.text) == BROAD__NUMBER;
        }
        if (rows && here != columns) return 0;
        columns = here;
        at = broad__row_start(&trial, at);
    }
    if (separator == ' ' && 2 * numbers < cells) return 0;
    return columns > 1 ? columns : 0;
}

/* ---- titles -------------------------------------------------------------------------------------------------------- */

/* A number, with marks or without, or a date. */
static int is_like_number(broad__text cell) { return (broad__cell_look(cell) & ~(unsigned)BROAD__CELL_TRUTH) != 0; }

/* Cells of a row, and how many of them are empty, numbers, or text; words such as `y` and `no` are a truth value or a name. */
typedef struct row_facts {
    size_t cells, empty, numbers, words, texts;
} row_facts;

static row_facts look_at_row(const char **next, const broad__csv *csv, const char *at)
{
    row_facts facts = {0};
    broad__cell cell = {.last = 0};
    while (!cell.last) {
        at = broad__cell_read(&cell, csv, at);
        facts.cells++;
        if (!cell.text.count) facts.empty++;
        else if (is_like_number(cell.text)) facts.numbers++;
        else if (broad__cell_look(cell.text)) facts.words++;
        else facts.texts++;
    }
    *next = at < csv->end ? broad__row_start(csv, at) : csv->end;
    return facts;
}

/*
 * Where the table begins if lines of text come before it: these have one cell each, or at most half as many as the table, which
 * has a header (text alone, over something that is not) and then at least three rows, all of one length; NULL: it does not.
 */
static const char *skip_titles(const broad__csv *sample, char separator)
{
    enum { TITLES_MAX = 20, ROWS = 3 };
    broad__csv trial = *sample;
    trial.separator = separator;
    const char *at = broad__row_start(&trial, trial.begin);
    size_t widest = 0;
    for (size_t titles = 0; at < trial.end && titles <= TITLES_MAX; titles++) {
        const char *next;
        row_facts head = look_at_row(&next, &trial, at);
        size_t filled = head.cells - head.empty;
        int header = titles && head.cells > 1 && head.texts + head.words >= 2 && !head.numbers && widest < head.cells &&
                     (widest == 1 || 2 * widest <= head.cells);
        size_t rows = 0, numbers = 0;
        for (const char *below = next; header && below < trial.end && rows < SAMPLE_ROWS; rows++) {
            row_facts row = look_at_row(&below, &trial, below);
            header = row.cells == head.cells || (row.cells == head.cells + 1 && row.empty);
            numbers += row.numbers + row.words;
        }
        if (header && rows >= ROWS && numbers) return at;
        if (filled > widest) widest = filled;
        at = next;
    }
    return NULL;
}

static char find_separator(broad__csv *csv)
{
    broad__csv sample = sample_of(csv);
    for (const char *s = separators; *s; s++)
        if (separator_fits(&sample, *s)) return *s;
    for (const char *s = separators; *s != ' '; s++)
        if (skip_titles(&sample, *s)) return *s;
    /* Rows of different length: the separator of the first row, so that the message can count its cells. */
    char best = ',';
    size_t max = 1;
    for (const char *s = separators; *s != ' '; s++) {
        const char *next;
        broad__csv trial = sample;
        trial.separator = *s;
        size_t cells = broad__row_cells(&next, &trial, broad__row_start(&trial, trial.begin));
        if (cells > max) best = *s;
        if (cells > max) max = cells;
    }
    return best;
}

static int parse_separator(char *out, const char *text)
{
    if (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0) text = "\t";
    if (strcmp(text, "space") == 0) text = " ";
    if (strlen(text) != 1 || strchr("\"\r\n.+-0123456789", *text))
        return broad__fail(BROAD_USAGE,
                           "option separator must be auto, tab, space or one character such as ;, not '%.20s'", text);
    *out = *text;
    return BROAD_OK;
}

/* ---- header -------------------------------------------------------------------------------------------------------- */

/* What the sampled rows below the first hold in a column. */
enum { BELOW_NUMBER = 1, BELOW_TEXT = 2 };

static void look_below(unsigned char *below, const broad__csv *csv, const char *at)
{
    broad__csv sample = sample_of(csv);
    at = at < sample.end ? broad__row_start(&sample, at) : sample.end;
    for (size_t row = 1; at < sample.end && row < SAMPLE_ROWS; row++) {
        broad__cell cell = {.last = 0};
        for (size_t c = 0; !cell.last; c++) {
            at = broad__cell_read(&cell, &sample, at);
            if (c < csv->columns && !broad__cell_missing(cell.text))
                below[c] |= is_like_number(cell.text) ? BELOW_NUMBER : BELOW_TEXT;
        }
        at = broad__row_start(&sample, at);
    }
}

typedef enum header_sign { HEADER_NO, HEADER_YES, HEADER_PERHAPS } header_sign;

/* A header has text where the column below is numbers. If every row is text, it may be one or not. A row with numbers
 * and without any of the expected names (`strange`) is not a header. */
static int judge_header(header_sign *out, const broad__csv *csv, const char *first, int strange)
{
    unsigned char *below = broad__alloc(csv->columns);
    if (!below) return BROAD_NO_MEMORY;
    const char *at = first, *next;
    broad__row_cells(&next, csv, first);
    look_below(below, csv, next);
    size_t numbers = 0, texts = 0;
    broad__cell cell = {.last = 0};
    *out = HEADER_PERHAPS;
    for (size_t c = 0; c < csv->columns; c++) {
        double value;
        if (!cell.last) at = broad__cell_read(&cell, csv, at);
        else cell.text.count = 0;
        broad__number_kind kind = broad__number_read(&value, cell.text);
        if (kind == BROAD__NUMBER_TEXT && is_like_number(cell.text)) kind = BROAD__NUMBER;
        if (kind == BROAD__NUMBER_TEXT && below[c] == BELOW_NUMBER) *out = HEADER_YES;
        numbers += kind == BROAD__NUMBER || kind == BROAD__NUMBER_INFINITE;
        texts += kind == BROAD__NUMBER_TEXT;
    }
    if ((*out == HEADER_PERHAPS || strange) && (numbers || !texts)) *out = HEADER_NO;
    broad__free(below);
    return BROAD_OK;
}

static size_t count_rows(const broad__csv *csv)
{
    size_t rows = 0;
    const char *released = csv->begin;
    for (const char *at = broad__row_start(csv, csv->top); at < csv->end; rows++) {
        broad__row_cells(&at, csv, at);
        at = broad__row_start(csv, at);
        broad__csv_passed(csv, &released, at);
    }
    return rows;
}

static int fail_cell(const broad__csv *csv, const char *at, size_t column, const char *fault)
{
    return broad__fail(BROAD_BAD_DATA, "%s:%zu:%zu: %s", csv->name, broad__line_at(csv, at), column + 1, fault);
}

static int read_names(char ***out, const broad__csv *csv, const char *first)
{
    broad__text *texts = broad__alloc_array(csv->columns, sizeof *texts);
    char **numbered = broad__names_number("x", 1, csv->columns);
    broad__arena arena = {0};
    const char *at = first;
    int status = texts && numbered ? BROAD_OK : BROAD_NO_MEMORY;
    broad__cell cell = {.last = 0};
    for (size_t c = 0; c < csv->columns && status == BROAD_OK; c++) {
        if (!cell.last) at = broad__cell_read(&cell, csv, at);
        else cell = (broad__cell){.text = {at, 0}, .last = 1}; /* the rows have separators at their end */
        if (cell.fault) status = fail_cell(csv, first, c, cell.fault);
        if (status == BROAD_OK && cell.doubled) status = broad__cell_undouble(&cell.text, &arena);
        texts[c] = cell.text.count ? cell.text : broad__text_of(numbered[c]);
        if (status == BROAD_OK && !broad__text_is_utf8(texts[c]))
            status = fail_cell(csv, first, c, "the column name is not UTF-8 text; convert the file with iconv");
    }
    *out = status == BROAD_OK ? broad__names_copy(texts, csv->columns) : NULL;
    if (status == BROAD_OK && !*out) status = BROAD_NO_MEMORY;
    broad__arena_clear(&arena);
    broad__free(numbered);
    broad__free(texts);
    return status;
}

/* How many of the model's input names the first row holds; they may look like numbers. */
static int count_model_names(size_t *out, const broad__csv *csv, const char *first, const broad__columns *model)
{
    char **names = NULL;
    size_t *found = broad__alloc_array(model->inputs, sizeof *found);
    int status = found ? read_names(&names, csv, first) : BROAD_NO_MEMORY;
    if (status == BROAD_OK) status = broad__roles_match(found, names, csv->columns, model);
    *out = 0;
    for (size_t i = 0; status == BROAD_OK && i < model->inputs; i++) *out += found[i] < csv->columns;
    broad__free(names);
    broad__free(found);
    return status == BROAD_BAD_DATA ? BROAD_OK : status; /* cells that cannot be names are not the model's */
}

static int find_header(int *out, const broad__csv *csv, const char *first, const broad__csv_hints *hints)
{
    const broad__columns *model = hints->model && hints->model->named ? hints->model : NULL;
    size_t known = 0;
    header_sign sign;
    int status = model ? count_model_names(&known, csv, first, model) : BROAD_OK;
    if (status < 0) return status;
    *out = model && known == model->inputs;
    if (*out) return BROAD_OK;
    status = judge_header(&sign, csv, first, model && !known);
    if (status < 0) return status;
    *out = sign == HEADER_YES || (sign == HEADER_PERHAPS && !(hints->rows && count_rows(csv) == hints->rows));
    return BROAD_OK;
}

static int has_header(int *out, const broad__csv *csv, const char *first, const broad__csv_hints *hints)
{
    const char *said = hints->header ? hints->header : "auto";
    *out = strcmp(said, "yes") == 0;
    if (*out || strcmp(said, "no") == 0) return BROAD_OK;
    if (strcmp(said, "auto") != 0)
        return broad__fail(BROAD_USAGE, "option header must be auto, yes or no, not '%.20s'", said);
    return find_header(out, csv, first, hints);
}

/* ---- comments ------------------------------------------------------------------------------------------------------ */

static size_t count_in(const char *from, const char *to, char wanted)
{
    size_t count = 0;
    for (; from < to; from++) count += *from == wanted;
    return count;
}

static const char *line_end(const broad__csv *csv, const char *at)
{
    const char *end = memchr(at, csv->newline, (size_t)(csv->end - at));
    return end ? end : csv->end;
}

/* Whether two lines have the same separators, and any at all. */
static int alike(const broad__csv *csv, const char *a, const char *b)
{
    for (const char *s = separators; *s != ' '; s++) {
        size_t count = count_in(a, line_end(csv, a), *s);
        if (count) return count == count_in(b, line_end(csv, b), *s);
    }
    return 0;
}

/* A comment that names the columns: the line below is like it and holds numbers. */
static int is_header_comment(const broad__csv *csv, const char *comment, const char *below)
{
    if (!alike(csv, comment, below)) return 0;
    const char *next;
    broad__csv trial = *csv;
    for (const char *s = separators; *s != ' '; s++) {
        trial.separator = *s;
        if (count_in(below, line_end(csv, below), *s)) break;
    }
    return look_at_row(&next, &trial, below).numbers > 0;
}

/*
 * Lines that begin with '#' are comments if they come before all others, or if they are not like the line before. The last one
 * before the table may be its header, which then begins after the mark. Where every line begins so, it is part of the data.
 */
static int find_comments(broad__csv *csv)
{
    broad__csv sample = sample_of(csv);
    const char *before = NULL, *heading = NULL;
    size_t comments = 0, others = 0;
    for (const char *at = broad__row_start(&sample, sample.begin); at < sample.end;) {
        const char *end = line_end(&sample, at);
        if (*at != '#') others++;
        else if (!others || !alike(&sample, before, at)) comments++;
        if (*at == '#' && !others) heading = at;
        if (*at != '#' && others == 1 && heading && is_header_comment(&sample, heading, at))
            csv->top = heading + 1 + strspn(heading + 1, "# ");
        before = at;
        at = end < sample.end ? broad__row_start(&sample, end + 1) : sample.end;
    }
    if (!comments || !others) {
        csv->top = csv->begin;
        return 0;
    }
    csv->comment = '#';
    return comments > (csv->top != csv->begin);
}

/* ---- the whole ------------------------------------------------------------------------------------------------------- */

/* Columns at the end that have no name and no value in the sampled rows. A header may lack them. */
static void find_trailing(broad__csv *csv, const char *first)
{
    broad__csv sample = sample_of(csv);
    const char *at;
    size_t cells = broad__row_cells(&at, csv, first), least = SIZE_MAX, rows = 0, longest = cells;
    for (size_t c = 0, filled = 0; c < cells; c++) {
        broad__cell cell;
        first = broad__cell_read(&cell, csv, first);
        if (cell.text.count) filled = c + 1;
        if (c + 1 == cells) least = cells - filled;
    }
    at = at < sample.end ? broad__row_start(&sample, at) : sample.end;
    for (; at < sample.end && rows < SAMPLE_ROWS; rows++, at = broad__row_start(&sample, at)) {
        broad__cell cell = {.last = 0};
        size_t c = 0, filled = 0;
        for (; !cell.last; c++) {
            at = broad__cell_read(&cell, &sample, at);
            if (cell.text.count) filled = c + 1;
        }
        if (!rows && c == cells + 1 && filled <= cells) longest = cells + 1;
        if (!rows && longest > cells) least++;
        if (c != longest) return;
        if (c - filled < least) least = c - filled;
    }
    if (!rows || !least || least >= longest || csv->separator == ' ') return;
    csv->columns = longest;
    csv->trailing = least;
}

static int tell_skipped(const broad__csv *csv, int comments, broad__notes *notes)
{
    int status = BROAD_OK;
    size_t titles = broad__line_at(csv, csv->top) - broad__line_at(csv, broad__row_start(csv, csv->begin));
    if (comments) status = broad__note(notes, "lines that begin with # are comments and were skipped");
    if (status == BROAD_OK && titles && csv->titled)
        status = broad__note(notes, "%zu line%s before the header %s skipped", titles, titles == 1 ? "" : "s",
                             titles == 1 ? "was" : "were");
    if (status == BROAD_OK && csv->trailing)
        status = broad__note(notes, "the lines end with %zu separator%s without a value after %s; ignored",
                             csv->trailing, csv->trailing == 1 ? "" : "s", csv->trailing == 1 ? "it" : "them");
    return status;
}

static int find_columns(broad__csv *csv, const broad__csv_hints *hints)
{
    int comments = find_comments(csv), given = hints->separator && strcmp(hints->separator, "auto") != 0;
    int status = given ? parse_separator(&csv->separator, hints->separator) : BROAD_OK;
    if (status < 0) return status;
    if (!given) csv->separator = find_separator(csv);
    broad__csv sample = sample_of(csv);
    const char *table = csv->separator == ' ' ? NULL : skip_titles(&sample, csv->separator);
    if (table) csv->top = table;
    csv->titled = table != NULL;
    const char *first = broad__row_start(csv, csv->top);
    if (first == csv->end) return broad__fail(BROAD_BAD_DATA, "%s: the file is empty", csv->name);
    csv->columns = broad__row_cells(&csv->body, csv, first);
    find_trailing(csv, first);
    if (csv->columns > BROAD__COLUMNS_MAX)
        return broad__fail(BROAD_BAD_DATA, "%s:%zu: %zu cells in one row; at most %d can be read", csv->name,
                           broad__line_at(csv, first), csv->columns, BROAD__COLUMNS_MAX);
    return tell_skipped(csv, comments, hints->notes);
}

/* Columns of one name are told apart by their order, here and by the model. */
static int tell_equal_names(const broad__csv *csv, broad__notes *notes)
{
    broad__list list = {0};
    broad__text_set names = {0};
    int status = BROAD_OK;
    for (size_t c = 0; c < csv->columns - csv->trailing && status == BROAD_OK; c++) {
        broad__text name = broad__text_of(csv->names[c]);
        if (broad__text_set_find(&names, name) < names.count) broad__list_add(&list, csv->names[c], NULL);
        else status = broad__text_set_add(&names, name, SIZE_MAX / 64);
    }
    broad__text_set_clear(&names);
    if (status < 0 || !list.count) return status;
    return broad__note(notes, "more than one column is called %s; such columns are told apart by their order",
                       broad__list_end(&list));
}

static int open_header(broad__csv *csv, const broad__csv_hints *hints)
{
    const char *first = broad__row_start(csv, csv->top);
    broad__cell cell;
    int header, status = has_header(&header, csv, first, hints);
    if (status < 0) return status;
    if (!header) csv->body = first;
    if (!header) return BROAD_OK;
    broad__cell_read(&cell, csv, first);
    csv->unnamed_first = !cell.text.count;
    status = read_names(&csv->names, csv, first);
    return status == BROAD_OK ? tell_equal_names(csv, hints->notes) : status;
}

int broad__csv_open(broad__csv *out, const broad__source *source, const broad__csv_hints *hints)
{
    enum { ALONE = 4 * BROAD__CSV_CHUNK }; /* text that other threads are not woken for */
    *out = (broad__csv){.name = source->name, .begin = source->bytes, .end = source->bytes + source->count};
    if (source->count >= 3 && memcmp(source->bytes, "\xEF\xBB\xBF", 3) == 0) out->begin += 3;
    out->source = source;
    out->top = out->begin;
    size_t count = (size_t)(out->end - out->begin);
    int status = count > ALONE && hints->threads != 1 ? broad__pool_open(&out->pool, hints->threads) : BROAD_OK;
    if (status == BROAD_OK) status = survey_text(out, hints->divided && broad__comm_ranks() > 1);
    if (status == BROAD_OK) status = find_columns(out, hints);
    return status == BROAD_OK ? open_header(out, hints) : status;
}

void broad__csv_close(broad__csv *csv)
{
    broad__free(csv->names);
    broad__free(csv->chunks);
    broad__pool_close(csv->pool);
    *csv = (broad__csv){0};
}
