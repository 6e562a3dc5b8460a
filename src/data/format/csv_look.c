#include "data/format/csv_look.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

typedef struct look {
    broad__kept *out;
    const broad__csv *csv;
    const broad__roles *roles;
    const broad__parsed *parsed;
    size_t *columns;    /* to keep, in the order they are asked for */
    broad__text *cells; /* of one row: those to keep */
    size_t *place;      /* columns of the file: which of those kept it is; SIZE_MAX: none */
    broad__arena arena; /* of one row */
} look;

static int name_kept(broad__kept *out, const look *l, const broad__layout *layout)
{
    char number[24];
    broad__text *names = broad__alloc_array(out->columns, sizeof *names);
    broad__arena arena = {0};
    int status = names ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t k = 0; k < out->columns && status == BROAD_OK; k++) {
        if (layout->names) {
            names[k] = broad__text_of(layout->names[l->columns[k]]);
            continue;
        }
        size_t length = (size_t)snprintf(number, sizeof number, "column%zu", l->columns[k] + 1);
        char *copy = broad__arena_take(&arena, length + 1);
        if (copy) memcpy(copy, number, length + 1);
        names[k] = (broad__text){copy, length};
        status = copy ? BROAD_OK : BROAD_NO_MEMORY;
    }
    if (status == BROAD_OK) out->names = broad__names_copy(names, out->columns);
    broad__arena_clear(&arena);
    broad__free(names);
    return out->names ? BROAD_OK : BROAD_NO_MEMORY;
}

static int choose_columns(look *l, const broad__layout *layout, const char *keep)
{
    size_t count = 0;
    l->columns = broad__alloc_array(layout->columns, sizeof *l->columns);
    l->place = broad__alloc_array(layout->columns, sizeof *l->place);
    l->cells = broad__alloc_array(layout->columns, sizeof *l->cells);
    if (!l->columns || !l->place || !l->cells) return BROAD_NO_MEMORY;
    for (size_t c = 0; c < layout->columns; c++) l->place[c] = SIZE_MAX;
    if (!keep) return BROAD_OK;
    int status = BROAD_OK;
    if (strcmp(keep, "all") == 0)
        for (; count < layout->columns; count++) l->columns[count] = count;
    else status = broad__roles_list(l->columns, &count, layout, keep, "option keep");
    for (size_t k = 0; k < count && status == BROAD_OK; k++) l->place[l->columns[k]] = k;
    l->out->columns = count;
    return status < 0 ? status : name_kept(l->out, l, layout);
}

static int open_levels(broad__kept *out, const broad__roles *roles)
{
    if (!roles->modelled || !roles->categories) return BROAD_OK;
    out->unknown = broad__alloc_array(roles->categories, sizeof *out->unknown);
    out->first = broad__alloc_array(roles->categories, sizeof *out->first);
    if (!out->unknown || !out->first) return BROAD_NO_MEMORY;
    out->categories = roles->categories;
    return BROAD_OK;
}

/* A cell of a category that has no number, although there is something in it. */
static int look_at_level(look *l, size_t row, size_t column, broad__text cell)
{
    broad__kept *out = l->out;
    size_t category = l->roles->category[column];
    double level = l->parsed->x[row * l->parsed->inputs + l->roles->index[column]];
    if (!isnan(level) || broad__text_trim(cell).count == 0) return BROAD_OK;
    if (out->unknown[category]++) return BROAD_OK;
    out->first[category] = broad__alloc(cell.count + 1);
    if (!out->first[category]) return BROAD_NO_MEMORY;
    memcpy(out->first[category], cell.bytes, cell.count);
    return BROAD_OK;
}

static int look_at_row(look *l, const char **next, size_t row)
{
    broad__cell cell = {0};
    int status = BROAD_OK;
    const char *at = *next;
    for (size_t c = 0; c < l->roles->columns && status == BROAD_OK && !cell.last; c++) {
        at = broad__cell_read(&cell, l->csv, at);
        int category = l->out->categories && l->roles->role[c] == BROAD__ROLE_CATEGORY;
        if (l->place[c] == SIZE_MAX && !category) continue;
        if (cell.doubled) status = broad__cell_undouble(&cell.text, &l->arena);
        if (l->place[c] != SIZE_MAX) l->cells[l->place[c]] = cell.text;
        if (status == BROAD_OK && category) status = look_at_level(l, row, c, cell.text);
    }
    if (!cell.last) broad__row_cells(&at, l->csv, at);
    for (size_t k = 0; k < l->out->columns && status == BROAD_OK; k++) {
        status = broad__kept_add(l->out, l->cells[k]);
        l->cells[k] = (broad__text){"", 0};
    }
    broad__arena_clear(&l->arena);
    *next = at;
    return status;
}

/* Whether any category of any row has no number. */
static int levels_lack(const look *l)
{
    const broad__roles *roles = l->roles;
    for (size_t i = 0; i < l->parsed->rows; i++)
        for (size_t k = 0; k < roles->categories; k++)
            if (isnan(l->parsed->x[i * l->parsed->inputs + roles->category_inputs[k]])) return 1;
    return 0;
}

static int look_at_all(look *l)
{
    const broad__csv *csv = l->csv;
    int status = BROAD_OK;
    const char *at = broad__row_start(csv, csv->body);
    if (!l->out->columns && !(l->out->categories && levels_lack(l))) return BROAD_OK;
    for (size_t k = 0; k < l->out->columns; k++) l->cells[k] = (broad__text){"", 0};
    for (size_t row = 0; row < l->parsed->rows && at < csv->end && status == BROAD_OK; row++) {
        status = look_at_row(l, &at, row);
        at = broad__row_start(csv, at);
    }
    return status;
}

int broad__csv_look(broad__kept *out, const broad__csv *csv, const broad__roles *roles, const broad__layout *layout,
                    const broad__parsed *parsed, const char *keep)
{
    look l = {.out = out, .csv = csv, .roles = roles, .parsed = parsed};
    *out = (broad__kept){0};
    int status = choose_columns(&l, layout, keep);
    if (status == BROAD_OK) status = open_levels(out, roles);
    if (status == BROAD_OK) status = look_at_all(&l);
    broad__free(l.columns);
    broad__free(l.place);
    broad__free(l.cells);
    broad__arena_clear(&l.arena);
    if (status < 0) broad__kept_clear(out);
    return status;
}
