#include "data/levels.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "comm/comm.h"
#include "data/format/number.h"
#include "data/labels.h"
#include "data/roles.h"
#include "data/table.h"

int broad__levels_open(broad__parsed *parsed, const broad__roles *roles, const broad__categories *model)
{
    if (!roles->categories) return BROAD_OK;
    broad__dictionary *dictionary = &parsed->dictionary;
    dictionary->levels = broad__alloc_array(roles->categories, sizeof *dictionary->levels);
    if (!dictionary->levels) return BROAD_NO_MEMORY;
    dictionary->level_sets = roles->categories;
    dictionary->levels_closed = model->count > 0;
    int status = BROAD_OK;
    for (size_t i = 0; i < model->count; i++)
        for (size_t l = 0; l < model->items[i].count && status == BROAD_OK; l++)
            status = broad__text_set_add(&dictionary->levels[i], broad__text_of(model->items[i].levels[l]),
                                         model->items[i].count);
    return status;
}

/* Among the model's levels; a number in another form ("3.0" for "3") is looked for in its shortest one too. */
static size_t find_known(const broad__text_set *levels, broad__text text)
{
    char printed[BROAD__NUMBER_BYTES];
    double number;
    size_t found = broad__text_set_find(levels, text);
    if (found < levels->count || broad__number_read(&number, text) != BROAD__NUMBER) return found;
    broad__number_print(printed, number);
    return broad__text_set_find(levels, broad__text_of(printed));
}

int broad__level_number(double *out, broad__level_fault *out_fault, broad__text_set *levels, int closed,
                        broad__text text, broad__arena *keep)
{
    size_t found = closed ? find_known(levels, text) : broad__text_set_find(levels, text);
    *out = (double)found;
    *out_fault = BROAD__LEVEL_GOOD;
    if (found < levels->count) return BROAD_OK;
    if (closed) *out_fault = BROAD__LEVEL_UNKNOWN;
    else if (!broad__text_is_utf8(text)) *out_fault = BROAD__LEVEL_NOT_UTF8;
    else if (found == BROAD__LEVELS_MAX) *out_fault = BROAD__LEVEL_TOO_MANY;
    if (*out_fault != BROAD__LEVEL_GOOD) *out = NAN;
    return *out_fault == BROAD__LEVEL_GOOD ? broad__text_set_keep(levels, text, BROAD__LEVELS_MAX, keep) : BROAD_OK;
}

int broad__level_fail(const broad__parsed *parsed, size_t category, broad__text text, broad__level_fault fault,
                      const char *where, const char *column)
{
    enum { SHOWN = 6 };
    char quoted[BROAD__QUOTE_BYTES], list[SHOWN * (BROAD__QUOTE_BYTES + 2) + 8] = "", *at = list;
    const broad__text_set *levels = &parsed->dictionary.levels[category];
    broad__text_quote(quoted, text);
    if (fault == BROAD__LEVEL_TOO_MANY)
        return broad__fail(
            BROAD_BAD_DATA,
            "%s: more than %d levels in %s; does it name or number the rows? Remove it, or leave it out of "
            "option categorical",
            where, BROAD__LEVELS_MAX, column);
    if (fault == BROAD__LEVEL_NOT_UTF8)
        return broad__fail(BROAD_BAD_DATA, "%s: the level %s of %s is not UTF-8 text; convert the file with iconv",
                           where, quoted, column);
    for (size_t i = 0; i < levels->count && i < SHOWN; i++) {
        char level[BROAD__QUOTE_BYTES];
        if (i) at = stpcpy(at, ", ");
        at = stpcpy(at, broad__text_quote(level, levels->texts[i]));
    }
    if (levels->count > SHOWN) stpcpy(at, ", ...");
    return broad__fail(BROAD_BAD_DATA,
                       "%s: %s is not a level of %s; the model has %zu: %s; correct it, or fit again, with such rows "
                       "or with option missing mean",
                       where, quoted, column, levels->count, list);
}

/* ---- spreading ------------------------------------------------------------------------------------------------- */

/* Where levels go: level l of category k is input rank[offset[k] + l] of those of its column. */
typedef struct spreading {
    const broad__roles *roles;
    const broad__categories *categories;
    size_t *offset, *rank;
} spreading;

static int name_category(broad__category *out, const broad__text_set *levels, const size_t *rank, const char *name)
{
    out->name = broad__copy_text(name);
    out->levels = broad__alloc_array(levels->count, sizeof *out->levels);
    out->count = levels->count;
    if (!out->name || !out->levels) return BROAD_NO_MEMORY;
    for (size_t l = 0; l < levels->count; l++) {
        char *level = broad__copy_bytes(levels->texts[l].bytes, levels->texts[l].count);
        if (!level) return BROAD_NO_MEMORY;
        out->levels[rank[l]] = level;
    }
    return BROAD_OK;
}

static int make_categories(broad__categories *out, const broad__parsed *parsed, const spreading *s, char *const *names)
{
    int status = BROAD_OK;
    const broad__text missing = broad__text_of(BROAD__LEVEL_MISSING);
    out->items = broad__alloc_array(parsed->dictionary.level_sets, sizeof *out->items);
    if (!out->items) return BROAD_NO_MEMORY;
    for (size_t k = 0; k < parsed->dictionary.level_sets && status == BROAD_OK; k++) {
        const broad__text_set *levels = &parsed->dictionary.levels[k];
        const char *name = names[s->roles->category_inputs[k]];
        char quoted[BROAD__QUOTE_BYTES];
        size_t *rank = s->rank + s->offset[k];
        out->count++;
        if (!levels->count || (levels->count == 1 && broad__text_same(levels->texts[0], missing)))
            return broad__fail(BROAD_BAD_DATA, "%s: column %s has no value in any row; remove it", parsed->file,
                               broad__text_quote(quoted, broad__text_of(name)));
        status = broad__labels_order(rank, levels->texts, levels->count);
        if (status == BROAD_OK) status = name_category(&out->items[k], levels, rank, name);
        out->items[k].first = s->roles->category_inputs[k] + s->offset[k] - k;
    }
    return status;
}

static void spread_row(double *to, const double *from, const spreading *s)
{
    size_t done = 0;
    for (size_t k = 0; k < s->categories->count; k++) {
        size_t index = s->roles->category_inputs[k], levels = s->categories->items[k].count;
        for (; done < index; done++) *to++ = from[done];
        if (isnan(from[index]))
            for (size_t l = 0; l < levels; l++) to[l] = (double)NAN;
        else to[s->rank[s->offset[k] + (size_t)from[index]]] = 1;
        to += levels;
        done++;
    }
    for (; done < s->roles->inputs; done++) *to++ = from[done];
}

/* Of a table that ranks have divided: the rows that are here, which then take more room here. */
static int spread_own_rows(broad__parsed *parsed, const spreading *s, size_t inputs)
{
    broad__owned *owned = NULL;
    double *x = NULL;
    int status = broad__comm_settle(broad__owned_new(&owned, &x, parsed->rows, inputs));
    if (status < 0) {
        broad__owned_free(owned);
        return status;
    }
    for (size_t i = owned->first; i < owned->end; i++) spread_row(x + i * inputs, parsed->x + i * parsed->inputs, s);
    broad__owned_free(parsed->owned);
    parsed->owned = owned;
    parsed->x = x;
    parsed->inputs = inputs;
    return BROAD_OK;
}

static int spread_rows(broad__parsed *parsed, const spreading *s, size_t inputs, broad__level_limits limits)
{
    if (!broad__parsed_dense(parsed->rows, inputs, limits.bytes))
        return broad__fail(BROAD_BAD_DATA,
                           "%s: a table of %zu rows and %zu inputs, most of them levels, would be out of proportion to "
                           "the file of %zu bytes; leave columns with many levels out of option categorical",
                           parsed->file, parsed->rows, inputs, limits.bytes);
    if (broad__owned_divided(parsed->owned)) return spread_own_rows(parsed, s, inputs);
    int status = BROAD_OK;
    if (broad__table_spills(parsed->rows * inputs * sizeof(double), limits.memory) && !parsed->owned)
        status = broad__parsed_move(parsed, limits.memory);
    if (status < 0) return status;
    const size_t step = (size_t)BROAD__SPILL_STEP / (inputs * sizeof(double)) + 1;
    double *x = broad__spill_alloc(parsed->spill, parsed->rows * inputs, sizeof *x);
    if (!x) return BROAD_NO_MEMORY;
    for (size_t first = 0; first < parsed->rows; first += step) {
        size_t count = parsed->rows - first < step ? parsed->rows - first : step;
        for (size_t i = first; i < first + count; i++) spread_row(x + i * inputs, parsed->x + i * parsed->inputs, s);
        broad__spill_done(parsed->spill, x + first * inputs, count * inputs * sizeof *x);
        broad__spill_done(parsed->spill, parsed->x + first * parsed->inputs, count * parsed->inputs * sizeof *x);
    }
    if (!parsed->owned) broad__spill_free(parsed->spill, parsed->x);
    broad__owned_free(parsed->owned);
    parsed->owned = NULL;
    parsed->x = x;
    parsed->inputs = inputs;
    return BROAD_OK;
}

int broad__levels_spread(broad__categories *out, broad__parsed *parsed, const broad__roles *roles, char *const *names,
                         const broad__categories *model, broad__level_limits limits)
{
    if (!roles->categories) return BROAD_OK;
    spreading s = {.roles = roles, .categories = out};
    size_t levels = 0;
    int status = BROAD_NO_MEMORY;
    for (size_t k = 0; k < parsed->dictionary.level_sets; k++) levels += parsed->dictionary.levels[k].count;
    s.offset = broad__alloc_array(parsed->dictionary.level_sets, sizeof *s.offset);
    s.rank = broad__alloc_array(levels, sizeof *s.rank);
    if (!s.offset || !s.rank) goto cleanup;
    for (size_t k = 0, at = 0; k < parsed->dictionary.level_sets; at += parsed->dictionary.levels[k++].count) {
        s.offset[k] = at;
        for (size_t l = 0; l < parsed->dictionary.levels[k].count; l++) s.rank[at + l] = l;
    }
    status =
        parsed->dictionary.levels_closed ? broad__categories_copy(out, model) : make_categories(out, parsed, &s, names);
    if (status == BROAD_OK)
        status = spread_rows(parsed, &s, roles->inputs + levels - parsed->dictionary.level_sets, limits);

cleanup:
    broad__free(s.offset);
    broad__free(s.rank);
    if (status < 0) broad__categories_clear(out);
    return status;
}
