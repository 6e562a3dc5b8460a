/*
 * Pieces begin at ends of lines; the counts of the survey say how many rows each has at most, so that every piece knows where
 * its rows go. The pieces of a round are read at once, then checked in order:
 * - Is an end of a line also the end of a row? Inside quotes it is not. From the number of quotation marks before it, a guess
 *   is made. A piece counts only if the previous one ended exactly where it begins.
 * - Levels, labels and groups were numbered within each piece. They are renumbered as in the whole text.
 * - Empty lines are not rows: the gaps they leave are closed.
 * Anything else, such as a fault in a cell or a wrong guess, is left to the plain loop over rows, which continues from the
 * first piece that does not count. So the result and any message are those of the plain loop.
 */
#include "data/format/csv_threads.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "comm/comm.h"
#include "data/labels.h"
#include "data/levels.h"

enum { PIECES = 16 }; /* per round and thread */

typedef struct piece {
    const char *from, *to; /* rows that begin in between */
    size_t first, max;     /* where they go, and how many there can be */
    size_t rows;
    int sound;
    broad__filler filler;
    broad__dictionary dictionary;
    broad__arena arena;
    /* The numbers in the whole text: of the labels, then of the groups, then of the levels of each category. */
    size_t *renumber, renumber_capacity;
} piece;

typedef struct reading {
    broad__filling *work;
    const char *at; /* where the next row begins */
    size_t chunk;   /* the next one to make a piece of */
    size_t inside;  /* quotation marks before it */
    size_t lines;   /* ends of lines in it that a row follows; for the first one, also the start of the body */
    piece *pieces;
    size_t piece_capacity, piece_count; /* of a round, and of the current one */
} reading;

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

/* The first row that begins after an end of line in this chunk or later; NULL: none is found within reach. */
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

/* Cuts the next round into pieces; 0: it cannot be done, or nothing is left. */
static size_t cut_round(reading *r)
{
    const broad__csv *csv = r->work->csv;
    size_t limit = r->work->memory / 32 / BROAD__CSV_CHUNK, count = 0, row = r->work->parsed->rows;
    if (!r->work->memory || limit > r->piece_capacity) limit = r->piece_capacity;
    if (!limit) limit = 1;
    for (const char *from = r->at; count < limit && r->chunk < csv->chunk_count && from < csv->end; r->chunk++) {
        size_t inside = r->inside + csv->chunks[r->chunk].quotes;
        const char *to = piece_start(csv, r->chunk + 1, inside & 1);
        if (!to) break;
        piece *p = &r->pieces[count++];
        p->max = r->lines;
        if (r->work->divided && p->max > r->work->capacity - row) p->max = r->work->capacity - row;
        if (r->chunk + 1 < csv->chunk_count) r->lines = csv->chunks[r->chunk + 1].lines;
        p->from = from;
        p->to = to;
        p->first = row;
        row += p->max;
        from = to;
        r->inside = inside;
    }
    r->piece_count = count;
    return row <= r->work->capacity ? count : 0;
}

static void piece_reset(piece *p, const reading *r)
{
    const broad__dictionary *all = &r->work->parsed->dictionary;
    p->rows = 0;
    p->sound = 0;
    p->filler = (broad__filler){.work = r->work, .dictionary = &p->dictionary, .arena = &p->arena};
    for (size_t k = 0; !all->levels_closed && k < p->dictionary.level_sets; k++)
        broad__text_set_empty(&p->dictionary.levels[k]);
    broad__text_set_empty(&p->dictionary.labels);
    broad__text_set_empty(&p->dictionary.groups);
    p->dictionary.labels_over = all->labels_over;
    broad__arena_clear(&p->arena);
}

static void read_piece(void *context, size_t index, size_t worker)
{
    (void)worker;
    reading *r = context;
    piece *p = &r->pieces[index];
    broad__csv here = *r->work->csv;
    here.end = p->to;
    piece_reset(p, r);
    const char *at = p->from;
    int quotes = r->work->csv->quotes && memchr(at, '"', (size_t)(p->to - at));
    if (!quotes && here.separator != ' ') {
        p->rows = broad__csv_fill_rows(&p->filler, &at, p->to, p->first, p->max);
        p->sound = at == p->to;
        return;
    }
    for (;;) {
        if (at < p->to) at = broad__row_start(&here, at);
        if (at >= p->to) break;
        if (p->rows == p->max || broad__csv_fill_row(&p->filler, &at, p->first + p->rows) < 0) return;
        p->rows++;
    }
    p->sound = at == p->to;
}

/* ---- one numbering ----------------------------------------------------------------------------------------------- */

/* These return 1; 0 if there are too many, which the plain loop will report; or the status of a failure. */
static int match_texts(size_t *renumber, broad__text_set *all, const broad__text_set *own, size_t max,
                       broad__arena *keep)
{
    for (size_t i = 0; i < own->count; i++) {
        renumber[i] = broad__text_set_find(all, own->texts[i]);
        if (renumber[i] < all->count) continue;
        if (all->count >= max) return 0;
        int status = broad__text_set_keep(all, own->texts[i], max, keep);
        if (status < 0) return status;
    }
    return 1;
}

static int match_labels(size_t *renumber, broad__parsed *parsed, const broad__dictionary *own)
{
    broad__dictionary *all = &parsed->dictionary;
    size_t before = all->labels.count;
    if (all->labels_over) return 1;
    int matched = match_texts(renumber, &all->labels, &own->labels, BROAD__CLASSES_MAX, &parsed->arena);
    if (matched < 0) return matched;
    all->labels_over = own->labels_over || !matched;
    if (all->labels_over) return 1;
    int status = broad__grow(&all->label_values, &all->label_capacity, all->labels.count, sizeof *all->label_values,
                             BROAD__CLASSES_MAX);
    if (status < 0) return status;
    for (size_t i = 0; i < own->labels.count; i++)
        if (renumber[i] >= before) all->label_values[renumber[i]] = own->label_values[i];
    return 1;
}

static size_t renumber_size(const piece *p)
{
    size_t count = p->dictionary.labels.count + p->dictionary.groups.count;
    for (size_t k = 0; !p->dictionary.levels_closed && k < p->dictionary.level_sets; k++)
        count += p->dictionary.levels[k].count;
    return count;
}

static int match_piece(piece *p, broad__parsed *parsed)
{
    const broad__dictionary *own = &p->dictionary;
    broad__dictionary *all = &parsed->dictionary;
    int status = broad__grow(&p->renumber, &p->renumber_capacity, renumber_size(p), sizeof *p->renumber, SIZE_MAX / 64);
    if (status < 0) return status;
    size_t *renumber = p->renumber;
    int matched = match_labels(renumber, parsed, own);
    renumber += own->labels.count;
    if (matched > 0) matched = match_texts(renumber, &all->groups, &own->groups, SIZE_MAX / 64, &parsed->arena);
    renumber += own->groups.count;
    for (size_t k = 0; matched > 0 && !own->levels_closed && k < own->level_sets; renumber += own->levels[k++].count)
        matched = match_texts(renumber, &all->levels[k], &own->levels[k], BROAD__LEVELS_MAX, &parsed->arena);
    return matched;
}

static void renumber_piece(void *context, size_t index, size_t worker)
{
    (void)worker;
    const reading *r = context;
    const piece *p = &r->pieces[index];
    const broad__dictionary *own = &p->dictionary;
    const broad__roles *roles = r->work->roles;
    broad__parsed *parsed = r->work->parsed;
    const size_t *renumber = p->renumber;
    for (size_t i = p->first; parsed->targets.ids && !parsed->dictionary.labels_over && i < p->first + p->rows; i++)
        if (own->labels.count && parsed->targets.ids[i] != BROAD__NO_LABEL)
            parsed->targets.ids[i] = renumber[parsed->targets.ids[i]];
    renumber += own->labels.count;
    for (size_t i = p->first; parsed->groups.ids && i < p->first + p->rows; i++)
        if (own->groups.count) parsed->groups.ids[i] = renumber[parsed->groups.ids[i]];
    renumber += own->groups.count;
    for (size_t k = 0; !own->levels_closed && k < own->level_sets; renumber += own->levels[k++].count)
        for (size_t i = p->first; i < p->first + p->rows; i++) {
            double *level = &parsed->x[i * roles->inputs + roles->category_inputs[k]];
            if (*level == *level) *level = (double)renumber[(size_t)*level];
        }
}

/* ---- joining ----------------------------------------------------------------------------------------------------- */

static void close_gap(void *block, size_t to, size_t from, size_t count, size_t columns)
{
    char *bytes = block;
    size_t row = columns * sizeof(double);
    if (block && to != from) memmove(bytes + to * row, bytes + from * row, count * row);
}

/* Adds what a piece found in its cells, whose rows have moved down by `down`. */
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
    broad__parsed *c = r->work->parsed;
    size_t to = c->rows, down = p->first - to;
    close_gap(c->x, to, p->first, p->rows, c->inputs);
    close_gap(c->weights, to, p->first, p->rows, 1);
    close_gap(c->targets.values, to, p->first, p->rows, c->targets.columns);
    close_gap(c->targets.ids, to, p->first, p->rows, 1);
    close_gap(c->groups.ids, to, p->first, p->rows, 1);
    int status = join_found(&c->targets, &p->filler.targets, c->targets.columns, down, &c->arena);
    if (status == BROAD_OK) status = join_found(&c->groups, &p->filler.groups, 1, down, &c->arena);
    c->rows += p->rows;
    c->missing += p->filler.missing;
    r->at = p->to;
    return status;
}

/* With too many labels to be classes, the target needs no numbering: it is read like an input. */
static void quicken_target(reading *r)
{
    broad__parsed *parsed = r->work->parsed;
    const broad__roles *roles = r->work->roles;
    if (!parsed->dictionary.labels_over || roles->targets != 1 || r->work->csv->separator == ' ') return;
    if (!broad__cell_format_plain(roles->formats[roles->target_columns[0]])) return;
    r->work->columns[roles->target_columns[0]] = (broad__csv_column){parsed->targets.values, 1};
}

/* Returns 1 if there may be another round, 0 if the plain loop has to go on, or the status of a failure. */
static int read_round(reading *r)
{
    broad__parsed *parsed = r->work->parsed;
    const char *from = r->at;
    size_t before = parsed->rows, sound = 0, count = cut_round(r);
    if (!count) return 0;
    if (r->work->csv->pool) broad__pool_run(r->work->csv->pool, count, read_piece, r);
    else
        for (size_t i = 0; i < count; i++) read_piece(r, i, 0);
    while (sound < count && r->pieces[sound].sound) {
        int matched = match_piece(&r->pieces[sound], parsed);
        if (matched < 0) return matched;
        if (!matched) break;
        sound++;
    }
    if (r->work->csv->pool) broad__pool_run(r->work->csv->pool, sound, renumber_piece, r);
    else
        for (size_t i = 0; i < sound; i++) renumber_piece(r, i, 0);
    for (size_t i = 0; i < sound; i++) {
        int status = join_piece(r, &r->pieces[i]);
        if (status < 0) return status;
    }
    quicken_target(r);
    broad__source_done(r->work->csv->source, from, r->at);
    broad__parsed_done(parsed, before, parsed->rows - before);
    return sound == count && r->at < r->work->csv->end;
}

static int pieces_make(reading *r)
{
    const broad__dictionary *all = &r->work->parsed->dictionary;
    r->piece_capacity = PIECES * (r->work->csv->pool ? broad__pool_threads(r->work->csv->pool) : 1);
    r->pieces = broad__alloc_array(r->piece_capacity, sizeof *r->pieces);
    if (!r->pieces) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < r->piece_capacity; i++) {
        broad__dictionary *own = &r->pieces[i].dictionary;
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
    for (size_t i = 0; r->pieces && i < r->piece_capacity; i++) {
        piece *p = &r->pieces[i];
        if (p->dictionary.levels_closed) p->dictionary.levels = NULL;
        broad__dictionary_clear(&p->dictionary);
        broad__arena_clear(&p->arena);
        broad__free(p->renumber);
    }
    broad__free(r->pieces);
}

/* Where reading begins: the chunk that holds the first row, and the quotation marks and lines before that row. */
static void start(reading *r)
{
    const broad__csv *csv = r->work->csv;
    size_t above = 0;
    while ((size_t)(r->at - csv->begin) >= (r->chunk + 1) * BROAD__CSV_CHUNK)
        r->inside += csv->chunks[r->chunk++].quotes;
    for (const char *at = csv->begin + r->chunk * BROAD__CSV_CHUNK; at < r->at; at++) above += *at == csv->newline;
    if (r->chunk < csv->chunk_count) r->lines = 1 + csv->chunks[r->chunk].lines - above;
}

int broad__csv_fill_threads(broad__filling *work, const char **next)
{
    reading r = {.work = work, .at = *next};
    start(&r);
    int status = pieces_make(&r), more = status == BROAD_OK;
    const broad__csv *csv = work->csv;
    while (more > 0 && status == BROAD_OK) {
        more = read_round(&r);
        status = more < 0 ? more : broad__watch_poll((size_t)(r.at - csv->begin), (size_t)(csv->end - csv->begin));
    }
    pieces_free(&r);
    *next = r.at;
    return status;
}

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

static size_t count_lines(const char *from, const char *to, char newline)
{
    size_t lines = 0;
    for (const char *at = from; (at = memchr(at, newline, (size_t)(to - at))); at++) lines++;
    return lines;
}

size_t broad__csv_plain_rows(const char **out_end, const broad__csv *csv)
{
    const char *end = csv->end;
    size_t empty = 0, above = count_lines(csv->begin, csv->body, csv->newline);
    for (; end > csv->body && strchr(" \t\r\n", end[-1]) && end[-1]; end--) empty += end[-1] == csv->newline;
    const char *close = memchr(end, csv->newline, (size_t)(csv->end - end));
    *out_end = close ? close + 1 : csv->end;
    return end > csv->body ? csv->lines - above - empty + 1 : 0;
}

const char *broad__csv_plain_row(const broad__csv *csv, size_t row)
{
    size_t chunk = (size_t)(csv->body - csv->begin) / BROAD__CSV_CHUNK, lines;
    const char *at = csv->body, *next = csv->begin + (chunk + 1) * BROAD__CSV_CHUNK;
    lines = count_lines(at, next < csv->end ? next : csv->end, csv->newline);
    while (row > lines && chunk + 1 < csv->chunk_count) {
        row -= lines;
        at = csv->begin + ++chunk * BROAD__CSV_CHUNK;
        lines = csv->chunks[chunk].lines;
    }
    for (; row && at; row--) {
        at = memchr(at, csv->newline, (size_t)(csv->end - at));
        if (at) at++;
    }
    return at ? at : csv->end;
}

/* The texts of a rank's set, which has them if it is this one's, on all ranks. */
static int share_texts(broad__text_set *set, size_t rank, int own, broad__arena *keep)
{
    size_t count = set->count, total = 0;
    int status = broad__comm_broadcast(rank, &count, sizeof count);
    size_t *sizes = broad__alloc_array(count + 1, sizeof *sizes);
    for (size_t i = 0; sizes && own && i < count; i++) sizes[i] = set->texts[i].count;
    if (status == BROAD_OK)
        status = sizes ? broad__comm_broadcast(rank, sizes, count * sizeof *sizes) : BROAD_NO_MEMORY;
    for (size_t i = 0; status == BROAD_OK && i < count; i++) total += sizes[i];
    char *bytes = status == BROAD_OK ? broad__arena_take(keep, total + 1) : NULL, *at = bytes;
    if (status == BROAD_OK && !bytes) status = BROAD_NO_MEMORY;
    for (size_t i = 0; status == BROAD_OK && own && i < count; at += sizes[i++])
        if (sizes[i]) memcpy(at, set->texts[i].bytes, sizes[i]);
    if (status == BROAD_OK) status = broad__comm_broadcast(rank, bytes, total);
    for (size_t i = 0; status == BROAD_OK && !own && i < count; bytes += sizes[i++])
        status = broad__text_set_add(set, (broad__text){bytes, sizes[i]}, SIZE_MAX / 64);
    broad__free(sizes);
    return status;
}

/* A rank's dictionary on all ranks: `p` has this rank's, or an empty one for that of another. */
static int share_dictionary(piece *p, size_t rank, int own)
{
    broad__dictionary *d = &p->dictionary;
    int status = share_texts(&d->labels, rank, own, &p->arena);
    if (status == BROAD_OK) status = broad__comm_broadcast(rank, &d->labels_over, sizeof d->labels_over);
    if (status == BROAD_OK)
        status =
            broad__grow(&d->label_values, &d->label_capacity, d->labels.count, sizeof *d->label_values, SIZE_MAX / 64);
    if (status == BROAD_OK)
        status = broad__comm_broadcast(rank, d->label_values, d->labels.count * sizeof *d->label_values);
    if (status == BROAD_OK) status = share_texts(&d->groups, rank, own, &p->arena);
    for (size_t k = 0; status == BROAD_OK && k < d->level_sets; k++)
        status = share_texts(&d->levels[k], rank, own, &p->arena);
    return status;
}

static int dictionary_like(broad__dictionary *out, const broad__dictionary *like)
{
    *out = (broad__dictionary){.level_sets = like->level_sets};
    if (like->level_sets) out->levels = broad__alloc_array(like->level_sets, sizeof *out->levels);
    return like->level_sets && !out->levels ? BROAD_NO_MEMORY : BROAD_OK;
}

/* Those of one rank become part of the whole; of this rank's the numbers are kept. Returns as broad__csv_join_ranks(). */
static int join_rank(piece *own, broad__parsed *parsed, size_t rank)
{
    piece other = {0};
    int here = rank == broad__comm_current()->rank;
    piece *p = here ? own : &other;
    int status = here ? BROAD_OK : dictionary_like(&other.dictionary, &own->dictionary);
    if (status == BROAD_OK) status = share_dictionary(p, rank, here);
    if (status == BROAD_OK) status = match_piece(p, parsed);
    broad__dictionary_clear(&other.dictionary);
    broad__arena_clear(&other.arena);
    broad__free(other.renumber);
    return status;
}

int broad__csv_join_ranks(broad__filling *work, size_t first, size_t end)
{
    broad__parsed *parsed = work->parsed;
    piece own = {.first = first, .rows = end - first, .dictionary = parsed->dictionary};
    int matched = dictionary_like(&parsed->dictionary, &own.dictionary) < 0 ? BROAD_NO_MEMORY : 1;
    for (size_t rank = 0; matched > 0 && rank < broad__comm_ranks(); rank++) matched = join_rank(&own, parsed, rank);
    reading r = {.work = work, .pieces = &own};
    if (matched > 0) renumber_piece(&r, 0, 0);
    broad__dictionary_clear(&own.dictionary);
    broad__arena_clear(&own.arena);
    broad__free(own.renumber);
    return matched;
}
