#include "data/places.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/roles.h"

int broad__places_copy(broad__places *out, const broad__places *from)
{
    *out = (broad__places){0};
    if (!from->count) return BROAD_OK;
    out->items = broad__alloc_array(from->count, sizeof *out->items);
    if (!out->items) return BROAD_NO_MEMORY;
    memcpy(out->items, from->items, from->count * sizeof *out->items);
    out->count = from->count;
    return BROAD_OK;
}

void broad__places_clear(broad__places *places)
{
    broad__free(places->items);
    *places = (broad__places){0};
}

static broad__place place_of(const broad__roles *roles, size_t column)
{
    broad__role role = (broad__role)roles->role[column];
    if (role == BROAD__ROLE_CATEGORY) role = BROAD__ROLE_INPUT;
    int numbered = role == BROAD__ROLE_INPUT || role == BROAD__ROLE_TARGET;
    return (broad__place){role, numbered ? roles->index[column] : 0, 1};
}

static int follows(const broad__place *before, const broad__place *place)
{
    int numbered = place->role == BROAD__ROLE_INPUT || place->role == BROAD__ROLE_TARGET;
    return before->role == place->role && (!numbered || before->first + before->count == place->first);
}

/* The number of places. `items` NULL: they are only counted. */
static size_t list_places(broad__place *items, const broad__roles *roles, size_t columns)
{
    size_t count = 0;
    broad__place now = {0};
    for (size_t c = 0; c < columns; c++) {
        broad__place place = place_of(roles, c);
        if (count && follows(&now, &place)) {
            now.count++;
        } else {
            now = place;
            count++;
        }
        if (items) items[count - 1] = now;
    }
    return count;
}

static int is_plain(const broad__places *places)
{
    const broad__place *items = places->items;
    return items[0].role == BROAD__ROLE_INPUT &&
           (places->count == 1 || (places->count == 2 && items[1].role == BROAD__ROLE_TARGET));
}

int broad__places_take(broad__places *out, const broad__roles *roles, size_t columns)
{
    *out = (broad__places){0};
    if (!columns) return BROAD_OK;
    broad__places all = {.count = list_places(NULL, roles, columns)};
    all.items = broad__alloc_array(all.count, sizeof *all.items);
    if (!all.items) return BROAD_NO_MEMORY;
    list_places(all.items, roles, columns);
    if (is_plain(&all)) broad__places_clear(&all);
    *out = all;
    return BROAD_OK;
}

size_t broad__places_width(const broad__places *places)
{
    size_t columns = 0;
    for (size_t i = 0; i < places->count; i++) columns += places->items[i].count;
    return columns;
}

size_t broad__places_columns(const broad__places *places, broad__role role)
{
    size_t columns = 0;
    for (size_t i = 0; i < places->count; i++)
        if (places->items[i].role == role) columns += places->items[i].count;
    return columns;
}

size_t broad__places_find(const broad__places *places, broad__role role)
{
    size_t before = 0;
    for (size_t i = 0; i < places->count; i++) {
        if (places->items[i].role == role) return before + 1;
        if (places->items[i].role != BROAD__ROLE_IGNORED) before += places->items[i].count;
    }
    return 0;
}

int broad__places_spare(const broad__places *places, size_t columns)
{
    for (size_t i = places->count; i-- > 0 && columns;) {
        const broad__place *place = &places->items[i];
        if (place->role != BROAD__ROLE_IGNORED && place->role != BROAD__ROLE_TARGET) return 0;
        columns -= place->count < columns ? place->count : columns;
    }
    return !columns;
}

int broad__places_agree(const broad__places *places, unsigned a, unsigned b)
{
    size_t absent_a = 0, absent_b = 0;
    for (size_t i = 0; i < places->count; i++) {
        const broad__place *place = &places->items[i];
        if (place->role == BROAD__ROLE_INPUT && absent_a != absent_b) return 0;
        if (a >> place->role & 1) absent_a += place->count;
        if (b >> place->role & 1) absent_b += place->count;
    }
    return 1;
}

static void give_column(broad__roles *roles, broad__role role, size_t number, size_t column)
{
    roles->role[column] = (unsigned char)role;
    roles->index[column] = (uint32_t)number;
    if (role == BROAD__ROLE_TARGET) {
        roles->target_columns[number] = column;
        roles->targets++;
    } else if (role == BROAD__ROLE_GROUP) {
        roles->group_column = column;
        roles->groups = 1;
    } else if (role == BROAD__ROLE_WEIGHT) {
        roles->weight_column = column;
        roles->weights = 1;
    }
}

static int is_taken(const broad__roles *roles, size_t column)
{
    return roles->role[column] == BROAD__ROLE_GROUP || roles->role[column] == BROAD__ROLE_WEIGHT;
}

void broad__places_give(broad__roles *roles, const broad__places *places, unsigned without, unsigned left)
{
    size_t column = 0;
    for (size_t i = 0; i < places->count; i++) {
        const broad__place *place = &places->items[i];
        if (without >> place->role & 1) continue;
        for (size_t k = 0; k < place->count && column < roles->columns; k++) {
            while (column + 1 < roles->columns && is_taken(roles, column)) column++;
            if (!(left >> place->role & 1)) give_column(roles, place->role, place->first + k, column);
            column++;
        }
    }
}
