#include "data/halves.h"

#include "base/memory.h"
#include "base/status.h"
#include "data/twins.h"
#include "rng/philox.h"

/* unit[i]: a number below *out_units that the rows of one unit share. */
static int number_units(size_t **out, size_t *out_units, const broad_data *table)
{
    size_t *twins = NULL, *unit = broad__alloc_array(table->rows, sizeof *unit);
    int status = unit ? BROAD_OK : BROAD_NO_MEMORY;
    if (status == BROAD_OK && !table->groups) status = broad__twins_find(&twins, table, 0, table->rows);
    *out_units = 0;
    for (size_t i = 0; status == BROAD_OK && i < table->rows; i++) {
        unit[i] = table->groups ? table->groups[i] : twins ? twins[i] : i;
        if (unit[i] >= *out_units) *out_units = unit[i] + 1;
    }
    broad__free(twins);
    if (status < 0) broad__free(unit);
    else *out = unit;
    return status;
}

/* half[u]: 1 or 2 for each unit that there is. */
static void draw_halves(unsigned char *half, const size_t *unit, size_t rows, uint64_t seed)
{
    broad__stream stream = {.seed = seed, .purpose = BROAD__FOR_PILOT, .layer = UINT32_MAX};
    size_t seen = 0;
    for (size_t i = 0; i < rows; i++) {
        if (half[unit[i]]) continue;
        unsigned char first = broad__random_at(&stream, seen / 2) < 0.5 ? 1 : 2;
        half[unit[i]] = seen % 2 ? (unsigned char)(3 - first) : first;
        seen++;
    }
}

int broad__halves_make(broad_data *out[2], unsigned char *out_half, const broad_data *table, uint64_t seed)
{
    size_t *unit = NULL, units = 0, *rows = broad__alloc_array(table->rows, sizeof *rows);
    unsigned char *half = NULL;
    out[0] = out[1] = NULL;
    int status = rows ? number_units(&unit, &units, table) : BROAD_NO_MEMORY;
    if (status == BROAD_OK) half = broad__alloc_array(units, sizeof *half);
    if (status == BROAD_OK && !half) status = BROAD_NO_MEMORY;
    if (status == BROAD_OK) draw_halves(half, unit, table->rows, seed);
    for (size_t i = 0; status == BROAD_OK && out_half && i < table->rows; i++)
        out_half[i] = (unsigned char)(half[unit[i]] - 1);
    for (unsigned char h = 1; status == BROAD_OK && h <= 2; h++) {
        size_t count = 0;
        for (size_t i = 0; i < table->rows; i++)
            if (half[unit[i]] == h) rows[count++] = i;
        if (count) status = broad__table_rows(&out[h - 1], table, rows, count);
    }
    broad__free(rows);
    broad__free(unit);
    broad__free(half);
    return status;
}
