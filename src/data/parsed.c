#include "data/parsed.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "comm/comm.h"
#include "data/roles.h"
#include "data/table.h"

const char *broad__parsed_where(char out[BROAD__WHERE_BYTES], const broad__parsed *parsed, size_t row)
{
    if (parsed->line_of)
        snprintf(out, BROAD__WHERE_BYTES, "%.255s:%zu", parsed->file, parsed->line_of(parsed->reader, row));
    else snprintf(out, BROAD__WHERE_BYTES, "%.255s: row %zu", parsed->file, row + 1);
    return out;
}

int broad__parsed_dense(size_t rows, size_t inputs, size_t file_bytes)
{
    const size_t always = (size_t)64 << 20, ratio = 1000;
    size_t cells, bytes;
    if (inputs > BROAD__COLUMNS_MAX || broad__multiply(&cells, rows, inputs) < 0 ||
        broad__multiply(&bytes, cells, sizeof(double)) < 0)
        return 0;
    return bytes <= always || bytes / ratio <= file_bytes;
}

int broad__parsed_place(broad__parsed *parsed, size_t rows, size_t numbers, size_t memory)
{
    size_t bytes;
    if (parsed->spill || !memory) return BROAD_OK;
    if (broad__multiply(&bytes, rows, numbers) < 0 || broad__multiply(&bytes, bytes, sizeof(double)) < 0)
        return broad__fail_memory(SIZE_MAX);
    return broad__table_spills(bytes, memory) ? broad__spill_open(&parsed->spill, memory) : BROAD_OK;
}

void *broad__parsed_alloc(const broad__parsed *parsed, size_t count, size_t bytes)
{
    return parsed->spill ? broad__spill_alloc(parsed->spill, count, bytes) : broad__alloc_unset(count, bytes);
}

int broad__parsed_divides(const broad__parsed *parsed, size_t rows, size_t numbers, size_t memory)
{
    size_t first, end, bytes = SIZE_MAX;
    if (!broad__comm_divides(rows)) return 0;
    broad__comm_own_rows(&first, &end, rows);
    int large = broad__multiply(&bytes, end - first, numbers) < 0 || broad__multiply(&bytes, bytes, sizeof(double)) < 0;
    return !broad__comm_most(parsed->spill || large || broad__table_spills(bytes, memory));
}

int broad__parsed_gather(broad__parsed *parsed)
{
    return broad__owned_gather(parsed->owned, parsed->x, parsed->inputs);
}

/* The first word of all rows, from the rank that has its row. */
static int share_word(broad__cells *cells, const broad__owned *owned, broad__arena *arena)
{
    size_t rank = 0, first, end, row = cells->first_word / cells->columns;
    for (; rank < owned->comm->ranks; rank++) {
        broad__comm_rows_of(&first, &end, rank, owned->rows);
        if (row >= first && row < end) break;
    }
    int status = broad__comm_broadcast(rank, &cells->word.count, sizeof cells->word.count);
    char *kept = status == BROAD_OK ? broad__arena_take(arena, cells->word.count + 1) : NULL;
    if (!kept) return status < 0 ? status : BROAD_NO_MEMORY;
    if (rank == owned->comm->rank) memcpy(kept, cells->word.bytes, cells->word.count);
    cells->word.bytes = kept;
    return broad__comm_broadcast(rank, kept, cells->word.count);
}

/* What all ranks together have found in their cells. */
static int share_found(broad__cells *cells, const broad__owned *owned, broad__arena *arena)
{
    size_t *found[] = {&cells->missing, &cells->words}, *first[] = {&cells->first_missing, &cells->first_word};
    int status = BROAD_OK;
    for (size_t i = 0; status == BROAD_OK && i < 2; i++) {
        size_t least = *found[i] ? *first[i] : SIZE_MAX;
        status = broad__comm_least(&least);
        if (status == BROAD_OK) status = broad__comm_add_counts(found[i], 1);
        *first[i] = least == SIZE_MAX ? 0 : least;
    }
    return status == BROAD_OK && cells->words ? share_word(cells, owned, arena) : status;
}

int broad__parsed_share(broad__parsed *parsed)
{
    broad__parsed *c = parsed;
    void *blocks[] = {c->weights, c->targets.values, c->targets.ids, c->groups.values, c->groups.ids};
    size_t columns[] = {1, c->targets.columns, 1, 1, 1}, bytes = sizeof(double);
    int status = BROAD_OK;
    for (size_t i = 0; status == BROAD_OK && i < sizeof blocks / sizeof blocks[0]; i++)
        if (blocks[i]) status = broad__owned_share(c->owned, blocks[i], 0, c->rows, columns[i] * bytes);
    if (status == BROAD_OK) status = broad__comm_add_counts(&c->missing, 1);
    if (status == BROAD_OK) status = share_found(&c->targets, c->owned, &c->arena);
    return status == BROAD_OK ? share_found(&c->groups, c->owned, &c->arena) : status;
}

static int move(void *block_pointer, broad__spill *spill, size_t count, size_t bytes)
{
    void *from, *to;
    memcpy(&from, block_pointer, sizeof from);
    if (!from) return BROAD_OK;
    to = broad__spill_alloc(spill, count, bytes);
    if (!to) return BROAD_NO_MEMORY;
    memcpy(to, from, count * bytes);
    broad__free(from);
    memcpy(block_pointer, &to, sizeof to);
    return BROAD_OK;
}

int broad__parsed_move(broad__parsed *parsed, size_t memory)
{
    broad__parsed *c = parsed;
    broad__spill *spill;
    if (c->spill) return BROAD_OK;
    int status = broad__spill_open(&spill, memory);
    if (status < 0) return status;
    void *blocks[] = {&c->x, &c->weights, &c->targets.values, &c->targets.ids, &c->groups.values, &c->groups.ids};
    size_t columns[] = {c->inputs, 1, c->targets.columns, 1, 1, 1};
    enum { BLOCKS = sizeof blocks / sizeof blocks[0] };
    size_t moved = 0;
    while (moved < BLOCKS && status == BROAD_OK)
        if ((status = move(blocks[moved], spill, c->rows * columns[moved], sizeof(double))) == BROAD_OK) moved++;
    if (status == BROAD_OK) {
        c->spill = spill;
        return BROAD_OK;
    }
    /* What was moved is lost with the spill. */
    for (size_t i = 0; i < moved; i++) memset(blocks[i], 0, sizeof(void *));
    broad__spill_close(spill);
    return status;
}

static void done(const broad__parsed *parsed, const void *block, size_t first, size_t count, size_t columns)
{
    const char *bytes = block;
    if (block && count)
        broad__spill_done(parsed->spill, bytes + first * columns * sizeof(double), count * columns * sizeof(double));
}

void broad__parsed_done(const broad__parsed *parsed, size_t first, size_t count)
{
    if (!parsed->spill) return;
    done(parsed, parsed->x, first, count, parsed->inputs);
    done(parsed, parsed->weights, first, count, 1);
    done(parsed, parsed->targets.values, first, count, parsed->targets.columns);
    done(parsed, parsed->targets.ids, first, count, 1);
    done(parsed, parsed->groups.values, first, count, 1);
    done(parsed, parsed->groups.ids, first, count, 1);
}

/* ---- rows that do not count -------------------------------------------------------------------------------------------- */

static int has_no_target(const broad__parsed *parsed, size_t row)
{
    const broad__cells *cells = &parsed->targets;
    if (cells->words) return cells->ids && cells->ids[row] == BROAD__NO_LABEL; /* words are no numbers, yet targets */
    for (size_t t = 0; t < cells->columns; t++)
        if (isnan(cells->values[row * cells->columns + t])) return 1;
    return 0;
}

static void move_row(void *block, size_t to, size_t from, size_t columns)
{
    char *bytes = block;
    size_t row = columns * sizeof(double);
    if (block) memcpy(bytes + to * row, bytes + from * row, row);
}

static int drops(const broad__parsed *parsed, int targets)
{
    int any = targets || !parsed->rows;
    for (size_t i = 0; !any && parsed->weights && i < parsed->rows; i++) any = parsed->weights[i] == 0;
    return any;
}

int broad__parsed_drop(size_t *out_missing, size_t *out_weightless, broad__parsed *parsed, int targets)
{
    const size_t step = (size_t)BROAD__SPILL_STEP / ((parsed->inputs + 1) * sizeof(double)) + 1;
    size_t kept = 0, missing = 0, weightless = 0, rows = parsed->rows, given_back = 0;
    targets = targets && parsed->targets.missing && parsed->targets.values;
    if (!drops(parsed, targets)) {
        *out_missing = *out_weightless = 0;
        return BROAD_OK;
    }
    int status = broad__parsed_gather(parsed);
    if (status < 0) return status;
    for (size_t i = 0; i < rows; i++) {
        int bare = targets && has_no_target(parsed, i), light = parsed->weights && parsed->weights[i] == 0;
        missing += (size_t)bare;
        weightless += (size_t)(light && !bare);
        if (bare || light) continue;
        if (kept != i) {
            move_row(parsed->x, kept, i, parsed->inputs);
            move_row(parsed->weights, kept, i, 1);
            move_row(parsed->targets.values, kept, i, parsed->targets.columns);
            move_row(parsed->targets.ids, kept, i, 1);
            move_row(parsed->groups.values, kept, i, 1);
            move_row(parsed->groups.ids, kept, i, 1);
        }
        kept++;
        if (i - given_back < step) continue;
        broad__parsed_done(parsed, given_back, i - given_back);
        given_back = i;
    }
    *out_missing = missing;
    *out_weightless = weightless;
    if (!kept)
        return broad__fail(BROAD_BAD_DATA, "%s: no row is left: %zu without a target, %zu with weight 0", parsed->file,
                           missing, weightless);
    parsed->rows = kept;
    if (targets) parsed->targets.missing = 0;
    return BROAD_OK;
}

void broad__dictionary_clear(broad__dictionary *dictionary)
{
    for (size_t i = 0; dictionary->levels && i < dictionary->level_sets; i++)
        broad__text_set_clear(&dictionary->levels[i]);
    broad__free(dictionary->levels);
    broad__text_set_clear(&dictionary->labels);
    broad__free(dictionary->label_values);
    broad__text_set_clear(&dictionary->groups);
    *dictionary = (broad__dictionary){0};
}

void broad__parsed_clear(broad__parsed *parsed)
{
    broad__spill *spill = parsed->spill;
    if (!parsed->x_in_place && !(parsed->owned && parsed->owned->block)) broad__spill_free(spill, parsed->x);
    broad__owned_free(parsed->owned);
    broad__spill_free(spill, parsed->weights);
    broad__spill_free(spill, parsed->targets.values);
    broad__spill_free(spill, parsed->targets.ids);
    broad__spill_free(spill, parsed->groups.values);
    broad__spill_free(spill, parsed->groups.ids);
    if (!parsed->spill_borrowed) broad__spill_close(spill);
    broad__free(parsed->targets.texts);
    broad__free(parsed->groups.texts);
    broad__dictionary_clear(&parsed->dictionary);
    broad__arena_clear(&parsed->arena);
    *parsed = (broad__parsed){0};
}
