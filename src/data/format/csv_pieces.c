/*
 * Delimited text in pieces, on several threads.
 *
 * Pieces begin at ends of lines; the counts of the survey say how many rows each has at most, so that all know where theirs
 * go. A round of pieces is read at once, then looked at in order:
 * - Is an end of a line also the end of a row? Quotation marks can make it otherwise. From how many of them come before, it
 *   is guessed which ends lie inside of quotes. A piece counts only if the one before ended exactly where it begins.
 * - Levels, labels and groups were numbered in each piece by itself. They get the numbers that they have in all of the text.
 * - Empty lines are no rows: the gaps they leave are closed.
 * Whatever else is wrong, a fault in a cell or a wrong guess, is left to the plain loop over rows, which goes on from the
 * first piece that does not count. So the result, and any message, is that of the plain loop.
 */
#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "data/format/csv_fill.h"
#include "data/format/number.h"
#include "data/labels.h"
#include "data/levels.h"

enum { PIECES = 16 }; /* of a round, for each thread */

typedef struct piece {
    const char *from, *to; /* rows that begin in between */
    size_t first, most;    /* where they go, and how many there can be */
    size_t rows;
    int sound;
    broad__filler filler;
    broad__dictionary coding;
    broad__arena arena;
    /* Numbers in all of the text: of the labels, then of the groups, then of the levels of each category. */
    size_t *map, map_room;
} piece;

typedef struct reading {
    broad__filling work;
    const broad__csv_request *wants;
    size_t most;    /* rows there is room for */
    const char *at; /* where the next row begins */
    size_t chunk;   /* the next one to make a piece of */
    size_t inside;  /* quotation marks before it */
    size_t lines;   /* ends of lines in it that a row follows, and for the first one also the start of the body */
    piece *pieces;
    size_t piece_room, piece_count; /* of a round, and of the one at hand */
} reading;

/* ---- the plain loop ---------------------------------------------------------------------------------------------- */

static int read_plainly(reading *r)
{
    enum { STEP = BROAD__SPILL_STEP };
    broad__parsed *content = r->work.content;
    const broad__csv *csv = r->work.csv;
    broad__arena scratch = {0};
    broad__filler f = {.work = &r->work, .coding = &content->coding, .targets = content->targets};
    f.groups = content->groups;
    f.arena = r->wants->texts ? &content->arena : &scratch;
    f.keep = &content->arena;
    const char *given_back = r->at;
    size_t done = content->rows;
    int status = BROAD_OK;
    for (const char *at = broad__row_start(csv, r->at); at < csv->end && status == BROAD_OK;) {
        status = content->rows == r->most ? broad__csv_fail_rows(&f, at) : broad__csv_fill_row(&f, &at, content->rows);
        content->rows++;
        at = broad__row_start(csv, at);
        broad__arena_clear(&scratch);
        if (!r->wants->memory || at - given_back < STEP) continue;
        broad__csv_passed(csv, &given_back, at);
        broad__parsed_done(content, done, content->rows - done);
        done = content->rows;
    }
    content->targets = f.targets;
    content->groups = f.groups;
    return status;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

/* The first row that begins after an end of line in this chunk or later; NULL: the guess leads too far. */
static const char *piece_start(const broad__csv *csv, size_t chunk, size_t inside)
{
    enum { FAR = 4 * BROAD__CSV_CHUNK };
    if (chunk >= csv->chunk_count) return csv->end;
    const char *at = csv->begin + chunk * BROAD__CSV_CHUNK;
    if (!csv->quotes) {
        at = memchr(at, csv->newline, (size_t)(csv->end - at));
        return at ? at + 1 : csv->end;
    }
    size_t left = (size_t)(csv->end - at);
    for (size_t i = 0; i < left && i < FAR; i++) {
        inside ^= at[i] == '"';
        if (at[i] == csv->newline && !(inside & 1)) return at + i + 1;
    }
    return left <= FAR ? csv->end : NULL;
}

/* Cuts the next round; 0: it cannot be done, or nothing is left. */
static size_t cut_round(reading *r)
{
    const broad__csv *csv = r->work.csv;
    size_t limit = r->wants->memory / 32 / BROAD__CSV_CHUNK, count = 0, row = r->work.content->rows;
    if (!r->wants->memory || limit > r->piece_room) limit = r->piece_room;
    if (!limit) limit = 1;
    for (const char *from = r->at; count < limit && r->chunk < csv->chunk_count && from < csv->end; r->chunk++) {
        size_t inside = r->inside + csv->chunks[r->chunk].quotes;
        const char *to = piece_start(csv, r->chunk + 1, inside & 1);
        if (!to) break;
        piece *p = &r->pieces[count++];
        p->most = r->lines;
        if (r->chunk + 1 < csv->chunk_count) r->lines = csv->chunks[r->chunk + 1].lines;
        p->from = from;
        p->to = to;
        p->first = row;
        row += p->most;
        from = to;
        r->inside = inside;
    }
    r->piece_count = count;
    return row <= r->most ? count : 0;
}

static void piece_reset(piece *p, const reading *r)
{
    const broad__dictionary *all = &r->work.content->coding;
    p->rows = 0;
    p->sound = 0;
    p->filler = (broad__filler){.work = &r->work, .coding = &p->coding, .arena = &p->arena};
    for (size_t k = 0; !all->levels_closed && k < p->coding.level_sets; k++)
        broad__text_set_empty(&p->coding.levels[k]);
    broad__text_set_empty(&p->coding.labels);
    broad__text_set_empty(&p->coding.groups);
    p->coding.labels_over = all->labels_over;
    broad__arena_clear(&p->arena);
}

static void read_piece(void *context, size_t index, size_t worker)
{
    (void)worker;
    reading *r = context;
    piece *p = &r->pieces[index];
    broad__csv here = *r->work.csv;
    here.end = p->to;
    piece_reset(p, r);
    const char *at = p->from;
    int quotes = r->work.csv->quotes && memchr(at, '"', (size_t)(p->to - at));
    if (!quotes && here.separator != ' ') {
        p->rows = broad__csv_fill_rows(&p->filler, &at, p->to, p->first, p->most);
        p->sound = at == p->to;
        return;
    }
    for (;;) {
        if (at < p->to) at = broad__row_start(&here, at);
        if (at >= p->to) break;
        if (p->rows == p->most || broad__csv_fill_row(&p->filler, &at, p->first + p->rows) < 0) return;
        p->rows++;
    }
    p->sound = at == p->to;
}

/* ---- one numbering ----------------------------------------------------------------------------------------------- */

/* These return 1; 0 where there are too many, which the plain loop will say; or the status of a failure. */
static int map_texts(size_t *map, broad__text_set *all, const broad__text_set *own, size_t most, broad__arena *keep)
{
    for (size_t i = 0; i < own->count; i++) {
        map[i] = broad__text_set_find(all, own->texts[i]);
        if (map[i] < all->count) continue;
        if (all->count >= most) return 0;
        int status = broad__text_set_keep(all, own->texts[i], most, keep);
        if (status < 0) return status;
    }
    return 1;
}

static int map_labels(size_t *map, broad__parsed *content, const broad__dictionary *own)
{
    broad__dictionary *all = &content->coding;
    size_t before = all->labels.count;
    if (all->labels_over) return 1;
    int mapped = map_texts(map, &all->labels, &own->labels, BROAD__CLASSES_MAX, &content->arena);
    if (mapped < 0) return mapped;
    all->labels_over = own->labels_over || !mapped;
    if (all->labels_over) return 1;
    int status = broad__grow(&all->label_values, &all->label_room, all->labels.count, sizeof *all->label_values,
                             BROAD__CLASSES_MAX);
    if (status < 0) return status;
    for (size_t i = 0; i < own->labels.count; i++)
        if (map[i] >= before) all->label_values[map[i]] = own->label_values[i];
    return 1;
}

static size_t map_size(const piece *p)
{
    size_t count = p->coding.labels.count + p->coding.groups.count;
    for (size_t k = 0; !p->coding.levels_closed && k < p->coding.level_sets; k++) count += p->coding.levels[k].count;
    return count;
}

static int piece_map(piece *p, broad__parsed *content)
{
    const broad__dictionary *own = &p->coding;
    broad__dictionary *all = &content->coding;
    int status = broad__grow(&p->map, &p->map_room, map_size(p), sizeof *p->map, SIZE_MAX / 64);
    if (status < 0) return status;
    size_t *map = p->map;
    int mapped = map_labels(map, content, own);
    map += own->labels.count;
    if (mapped > 0) mapped = map_texts(map, &all->groups, &own->groups, SIZE_MAX / 64, &content->arena);
    map += own->groups.count;
    for (size_t k = 0; mapped > 0 && !own->levels_closed && k < own->level_sets; map += own->levels[k++].count)
        mapped = map_texts(map, &all->levels[k], &own->levels[k], BROAD__LEVELS_MAX, &content->arena);
    return mapped;
}

static void renumber_piece(void *context, size_t index, size_t worker)
{
    (void)worker;
    const reading *r = context;
    const piece *p = &r->pieces[index];
    const broad__dictionary *own = &p->coding;
    const broad__roles *plan = r->work.plan;
    broad__parsed *content = r->work.content;
    const size_t *map = p->map;
    for (size_t i = p->first; content->targets.ids && !content->coding.labels_over && i < p->first + p->rows; i++)
        if (own->labels.count) content->targets.ids[i] = map[content->targets.ids[i]];
    map += own->labels.count;
    for (size_t i = p->first; content->groups.ids && i < p->first + p->rows; i++)
        if (own->groups.count) content->groups.ids[i] = map[content->groups.ids[i]];
    map += own->groups.count;
    for (size_t k = 0; !own->levels_closed && k < own->level_sets; map += own->levels[k++].count)
        for (size_t i = p->first; i < p->first + p->rows; i++) {
            double *level = &content->x[i * plan->inputs + plan->category_places[k]];
            if (*level == *level) *level = (double)map[(size_t)*level];
        }
}

/* ---- joining ----------------------------------------------------------------------------------------------------- */

static void close_gap(void *block, size_t to, size_t from, size_t count, size_t columns)
{
    char *bytes = block;
    size_t row = columns * sizeof(double);
    if (block && to != from) memmove(bytes + to * row, bytes + from * row, count * row);
}

/* What a piece found in its cells, whose rows have now become others. */
static int join_found(broad__cells *all, const broad__cells *own, size_t columns, size_t down, broad__arena *keep)
{
    if (own->missing && !all->missing) all->first_missing = own->first_missing - down * columns;
    if (own->words && !all->words) {
        char *kept = broad__arena_take(keep, own->word.count);
        if (!kept) return BROAD_NO_MEMORY;
        if (own->word.count) memcpy(kept, own->word.bytes, own->word.count);
        all->word = (broad__text){kept, own->word.count};
        all->first_word = own->first_word - down * columns;
    }
    all->missing += own->missing;
    all->words += own->words;
    return BROAD_OK;
}

static int join_piece(reading *r, const piece *p)
{
    broad__parsed *c = r->work.content;
    size_t to = c->rows, down = p->first - to;
    close_gap(c->x, to, p->first, p->rows, c->inputs);
    close_gap(c->weights, to, p->first, p->rows, 1);
    close_gap(c->targets.values, to, p->first, p->rows, c->targets.columns);
    close_gap(c->targets.ids, to, p->first, p->rows, 1);
    close_gap(c->groups.ids, to, p->first, p->rows, 1);
    int status = join_found(&c->targets, &p->filler.targets, c->targets.columns, down, &c->arena);
    if (status == BROAD_OK) status = join_found(&c->groups, &p->filler.groups, 1, down, &c->arena);
    c->rows += p->rows;
    r->at = p->to;
    return status;
}

/* After this many labels numbers need no numbering: the target is read as the inputs are. */
static void quicken_target(reading *r)
{
    broad__parsed *content = r->work.content;
    const broad__roles *plan = r->work.plan;
    if (!content->coding.labels_over || plan->targets != 1 || r->work.csv->separator == ' ') return;
    r->work.columns[plan->target_columns[0]] = (broad__csv_column){content->targets.values, 1};
}

/* Returns 1 if there may be another round, 0 if the plain loop has to go on, or the status of a failure. */
static int read_round(reading *r)
{
    broad__parsed *content = r->work.content;
    const char *from = r->at;
    size_t before = content->rows, sound = 0, count = cut_round(r);
    if (!count) return 0;
    if (r->work.csv->pool) broad__pool_run(r->work.csv->pool, count, read_piece, r);
    else
        for (size_t i = 0; i < count; i++) read_piece(r, i, 0);
    while (sound < count && r->pieces[sound].sound) {
        int mapped = piece_map(&r->pieces[sound], content);
        if (mapped < 0) return mapped;
        if (!mapped) break;
        sound++;
    }
    if (r->work.csv->pool) broad__pool_run(r->work.csv->pool, sound, renumber_piece, r);
    else
        for (size_t i = 0; i < sound; i++) renumber_piece(r, i, 0);
    for (size_t i = 0; i < sound; i++) {
        int status = join_piece(r, &r->pieces[i]);
        if (status < 0) return status;
    }
    quicken_target(r);
    broad__source_done(r->work.csv->source, from, r->at);
    broad__parsed_done(content, before, content->rows - before);
    return sound == count && r->at < r->work.csv->end;
}

static int pieces_make(reading *r)
{
    const broad__dictionary *all = &r->work.content->coding;
    r->piece_room = PIECES * (r->work.csv->pool ? broad__pool_threads(r->work.csv->pool) : 1);
    r->pieces = broad__alloc_array(r->piece_room, sizeof *r->pieces);
    if (!r->pieces) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < r->piece_room; i++) {
        broad__dictionary *own = &r->pieces[i].coding;
        own->levels_closed = all->levels_closed;
        own->levels = all->levels_closed || !all->level_sets ? all->levels
                                                             : broad__alloc_array(all->level_sets, sizeof *own->levels);
        if (all->level_sets && !own->levels) return BROAD_NO_MEMORY;
        own->level_sets = all->level_sets;
    }
    return BROAD_OK;
}

static void pieces_free(reading *r)
{
    for (size_t i = 0; r->pieces && i < r->piece_room; i++) {
        piece *p = &r->pieces[i];
        if (p->coding.levels_closed) p->coding.levels = NULL;
        broad__dictionary_clear(&p->coding);
        broad__arena_clear(&p->arena);
        broad__free(p->map);
    }
    broad__free(r->pieces);
}

static int read_rows(reading *r)
{
    const broad__csv *csv = r->work.csv;
    int status = BROAD_OK, more = csv->chunk_count > 1 && !r->wants->texts;
    size_t above = 0;
    r->at = csv->body;
    for (r->chunk = 0; (size_t)(csv->body - csv->begin) >= (r->chunk + 1) * BROAD__CSV_CHUNK; r->chunk++)
        r->inside += csv->chunks[r->chunk].quotes;
    for (const char *at = csv->begin + r->chunk * BROAD__CSV_CHUNK; at < csv->body; at++) above += *at == csv->newline;
    if (r->chunk < csv->chunk_count) r->lines = 1 + csv->chunks[r->chunk].lines - above;
    if (more) status = pieces_make(r);
    while (more > 0 && status == BROAD_OK) {
        more = read_round(r);
        status = more < 0 ? more : broad__watch_poll((size_t)(r->at - csv->begin), (size_t)(csv->end - csv->begin));
    }
    pieces_free(r);
    return status == BROAD_OK && r->at < csv->end ? read_plainly(r) : status;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Most rows there can be: one a line, and a row of c cells has at least c bytes, so that the table stays in proportion
 * to the file. */
static size_t rows_at_most(const broad__csv *csv)
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
    const char *at = broad__row_start(csv, csv->body), *given_back = at;
    for (; row && at < csv->end; row--) {
        broad__row_cells(&at, csv, at);
        at = broad__row_start(csv, at);
        broad__csv_passed(csv, &given_back, at);
    }
    return broad__line_at(csv, at);
}

int broad__csv_categories(broad__roles *plan, const broad__csv *csv)
{
    size_t rows = 0, *texts = broad__alloc_array(csv->columns, sizeof *texts);
    if (!texts) return BROAD_NO_MEMORY;
    const char *given_back = csv->body;
    for (const char *at = broad__row_start(csv, csv->body); at < csv->end; rows++) {
        broad__cell cell = {.last = 0};
        for (size_t c = 0; !cell.last; c++) {
            double value;
            at = broad__cell_read(&cell, csv, at);
            if (c < csv->columns && plan->role[c] == BROAD__ROLE_INPUT)
                texts[c] += broad__number_read(&value, cell.text) == BROAD__NUMBER_TEXT;
        }
        at = broad__row_start(csv, at);
        broad__csv_passed(csv, &given_back, at);
    }
    for (size_t c = 0; c < csv->columns; c++)
        if (texts[c] && texts[c] >= rows / 100) plan->role[c] = BROAD__ROLE_CATEGORY;
    broad__free(texts);
    return BROAD_OK;
}

static int allocate(reading *r)
{
    broad__parsed *out = r->work.content;
    const broad__roles *plan = r->work.plan;
    int texts = r->wants->texts, ids = !texts && plan->targets == 1 && r->wants->labels;
    size_t cells, most = r->most;
    if (broad__multiply(&cells, most, plan->targets) < 0 || broad__multiply(&cells, most, plan->inputs) < 0)
        return broad__fail_memory(SIZE_MAX);
    size_t numbers = plan->inputs + plan->weights + (texts ? 0 : plan->targets + (size_t)ids + plan->groups);
    out->spill = r->wants->spill;
    out->spill_borrowed = out->spill != NULL;
    int status = broad__parsed_place(out, most, numbers, r->wants->memory);
    if (status < 0) return status;
    int failed = !(out->x = broad__parsed_alloc(out, most * plan->inputs, sizeof *out->x));
    if (plan->weights) failed |= !(out->weights = broad__parsed_alloc(out, most, sizeof *out->weights));
    cells = most * plan->targets;
    if (plan->targets && texts) failed |= !(out->targets.texts = broad__alloc_array(cells, sizeof *out->targets.texts));
    if (plan->groups && texts) failed |= !(out->groups.texts = broad__alloc_array(most, sizeof *out->groups.texts));
    if (plan->targets && !texts)
        failed |= !(out->targets.values = broad__parsed_alloc(out, cells, sizeof *out->targets.values));
    if (ids) failed |= !(out->targets.ids = broad__parsed_alloc(out, most, sizeof *out->targets.ids));
    if (plan->groups && !texts) failed |= !(out->groups.ids = broad__parsed_alloc(out, most, sizeof *out->groups.ids));
    return failed ? BROAD_NO_MEMORY : BROAD_OK;
}

/* Columns of numbers that nobody asks for the text of. */
static int set_columns(reading *r)
{
    const broad__roles *plan = r->work.plan;
    broad__parsed *content = r->work.content;
    r->work.columns = broad__alloc_array(plan->columns, sizeof *r->work.columns);
    if (!r->work.columns) return BROAD_NO_MEMORY;
    for (size_t c = 0; c < plan->columns && r->work.csv->separator != ' '; c++) {
        if (plan->role[c] == BROAD__ROLE_INPUT)
            r->work.columns[c] = (broad__csv_column){content->x + plan->place[c], plan->inputs};
        if (plan->role[c] == BROAD__ROLE_TARGET && content->targets.values && !content->targets.ids)
            r->work.columns[c] = (broad__csv_column){content->targets.values + plan->place[c], plan->targets};
    }
    return BROAD_OK;
}

int broad__csv_fill(broad__parsed *out, const broad__csv *csv, const broad__roles *plan,
                    const broad__csv_request *wants)
{
    *out = (broad__parsed){.file = csv->name, .inputs = plan->inputs, .line_of = line_of_row, .reader = csv};
    out->targets.columns = plan->targets;
    out->groups.columns = plan->groups;
    reading r = {.work = {.content = out, .csv = csv, .plan = plan, .missing = wants->missing}, .wants = wants};
    r.most = rows_at_most(csv);
    int status = allocate(&r);
    if (status == BROAD_OK) status = broad__levels_open(out, plan, wants->known);
    if (status == BROAD_OK) status = set_columns(&r);
    if (status == BROAD_OK) status = read_rows(&r);
    broad__free(r.work.columns);
    if (status == BROAD_OK && !out->rows)
        status = broad__fail(BROAD_BAD_DATA, "%s: a header and no rows; --header no if line %zu is data", csv->name,
                             broad__line_at(csv, broad__row_start(csv, csv->begin)));
    return status;
}
