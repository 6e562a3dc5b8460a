#include "data/tidy.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "comm/comm.h"
#include "data/copies.h"
#include "data/format/cell.h"
#include "data/levels.h"

/* ---- missing values ---------------------------------------------------------------------------------------------------- */

/* The number of the level of missing cells for each input; inputs without one have NaN. */
static void missing_codes(double *out, const broad__parsed *parsed, const broad__roles *roles)
{
    for (size_t i = 0; i < roles->inputs; i++) out[i] = (double)NAN;
    for (size_t k = 0; k < roles->categories; k++) {
        const broad__text_set *levels = &parsed->dictionary.levels[k];
        size_t found = broad__text_set_find(levels, broad__text_of(BROAD__LEVEL_MISSING));
        if (found < levels->count) out[roles->category_inputs[k]] = (double)found;
    }
}

static void count_missing(size_t *counts, const double *codes, const broad__parsed *parsed)
{
    const size_t step = (size_t)BROAD__SPILL_STEP / (parsed->inputs * sizeof(double)) + 1;
    size_t first, end;
    broad__owned_rows(&first, &end, parsed->owned, 0, parsed->rows);
    for (size_t i = first; i < end; i++) {
        const double *x = parsed->x + i * parsed->inputs;
        for (size_t j = 0; j < parsed->inputs; j++) counts[j] += isnan(x[j]) || x[j] == codes[j];
        if (i % step == step - 1) broad__parsed_done(parsed, i + 1 - step, step);
    }
}

static int tell_missing(broad__notes *notes, const size_t *counts, const broad__roles *roles,
                        const broad__layout *layout)
{
    size_t total = 0, categories = 0, numbers = 0;
    broad__list list = {0};
    for (size_t c = 0; c < roles->columns; c++) {
        char count[24], number[24];
        int category = roles->role[c] == BROAD__ROLE_CATEGORY;
        if ((!category && roles->role[c] != BROAD__ROLE_INPUT) || !counts[roles->index[c]]) continue;
        snprintf(count, sizeof count, "%zu", counts[roles->index[c]]);
        snprintf(number, sizeof number, "%zu", c + 1);
        broad__list_add(&list, layout->names ? layout->names[c] : number, count);
        total += counts[roles->index[c]];
        categories += (size_t)category;
        numbers += (size_t)!category;
    }
    if (!total) return BROAD_OK;
    const char *how = !categories ? "the column's mean is used"
                      : !numbers  ? "they are a level of their own"
                                  : "numbers use the column's mean, categories have a level for them";
    return broad__note(notes, "%zu missing value%s in column%s %s: %s", total, total == 1 ? "" : "s",
                       list.count == 1 ? "" : "s", broad__list_end(&list), how);
}

int broad__tidy_missing(broad__notes *notes, const broad__parsed *parsed, const broad__roles *roles,
                        const broad__layout *layout)
{
    if (!parsed->missing || !roles->columns || roles->modelled) return BROAD_OK;
    size_t *counts = broad__alloc_array(roles->inputs, sizeof *counts);
    double *codes = broad__alloc_doubles(roles->inputs, 1);
    int status = counts && codes ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK) {
        missing_codes(codes, parsed, roles);
        count_missing(counts, codes, parsed);
        if (broad__owned_divided(parsed->owned)) status = broad__comm_add_counts(counts, roles->inputs);
    }
    if (status == BROAD_OK) {
        status = tell_missing(notes, counts, roles, layout);
    }
    broad__free(counts);
    broad__free(codes);
    return status;
}

/* ---- copies ------------------------------------------------------------------------------------------------------------- */

int broad__tidy_copies(broad_data *table, int silent)
{
    broad__copies copies;
    int status = broad__copies_group(&copies, table);
    if (status < 0 || silent) return status;
    if (copies.rows && !copies.by_chance)
        status =
            broad__note(&table->notes,
                        "%zu row%s of earlier rows (%zu row%s more than once): copies stay together in splits and in "
                        "leave-one-out",
                        copies.rows, copies.rows == 1 ? " is a copy" : "s are copies", copies.groups,
                        copies.groups == 1 ? " comes" : "s come");
    if (status == BROAD_OK && copies.opposed && table->task == BROAD_TASK_CLASSIFY)
        status =
            broad__note(&table->notes,
                        "%zu row%s the same inputs as an earlier row and another class: no model can be right about "
                        "both",
                        copies.opposed, copies.opposed == 1 ? " has" : "s have");
    return status;
}

/* ---- labels -------------------------------------------------------------------------------------------------------------- */

enum { NAMES_MAX = 200, FOLDED_BYTES = 128 }; /* names are compared with all others */

/* Whether a mark is a minus, or stands between digits: '-1' is not '1', and '2-1' is not '21'. */
static int is_mark_of_number(const char *at, const char *begin)
{
    return isdigit((unsigned char)at[1]) && (at == begin || isdigit((unsigned char)at[-1]));
}

/* Small letters without blanks and marks between words; 1, yes and true as one, and 0, no and false. */
static void fold(char out[FOLDED_BYTES], const char *name)
{
    static const char *const yes[] = {"yes", "true", "1.0", NULL}, *const no[] = {"no", "false", "0.0", NULL};
    size_t used = 0;
    for (const char *at = name; *at && used + 1 < FOLDED_BYTES; at++) {
        int mark = (*at == '_' || *at == '-') && !is_mark_of_number(at, name);
        if (!mark && !isspace((unsigned char)*at)) out[used++] = (char)tolower((unsigned char)*at);
    }
    out[used] = 0;
    for (size_t i = 0; yes[i]; i++)
        if (strcmp(out, yes[i]) == 0) memcpy(out, "1", 2);
    for (size_t i = 0; no[i]; i++)
        if (strcmp(out, no[i]) == 0) memcpy(out, "0", 2);
}

int broad__tidy_labels(broad__notes *notes, char *const *names, size_t count)
{
    broad__list list = {0};
    char a[FOLDED_BYTES], b[FOLDED_BYTES];
    if (count > NAMES_MAX || count < 2) return BROAD_OK;
    for (size_t i = 0; i < count; i++) {
        size_t alike = 0;
        fold(a, names[i]);
        for (size_t j = 0; j < count && *a; j++) {
            fold(b, names[j]);
            alike += strcmp(a, b) == 0;
        }
        if (alike > 1) broad__list_add(&list, names[i], NULL);
    }
    if (!list.count) return BROAD_OK;
    return broad__note(notes, "these classes may be the same, written differently: %s; if so, give them one spelling",
                       broad__list_end(&list));
}
