#include "data/row_order.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/smallest.h"
#include "base/status.h"
#include "base/watch.h"
#include "comm/comm.h"

enum { AT_ONCE = 128 };

/* Zeros of either sign are one number, and so are all NaNs. */
static uint64_t hash_numbers(uint64_t seed, const double *numbers, size_t count)
{
    double plain[AT_ONCE];
    for (size_t done = 0; done < count; done += AT_ONCE) {
        size_t now = count - done < AT_ONCE ? count - done : AT_ONCE;
        for (size_t i = 0; i < now; i++) plain[i] = isnan(numbers[done + i]) ? (double)NAN : numbers[done + i] + 0.0;
        seed = broad__hash_number(plain, now * sizeof *plain, seed);
    }
    return seed;
}

uint64_t broad__inputs_check(const broad_data *table, size_t row)
{
    return hash_numbers(0, table->x + row * table->inputs, table->inputs);
}

uint64_t broad__row_hash(const broad_data *table, size_t row)
{
    uint64_t hash = broad__inputs_check(table, row);
    if (table->classes) {
        const char *label = table->output_names[table->classes[row]];
        hash = broad__hash_number(label, strlen(label), hash);
    }
    if (table->values) hash = hash_numbers(hash, table->values + row * table->outputs, table->outputs);
    return hash;
}

/* Row i of these has been read: now and then their memory is released. 1: the run is to end. */
static int step_past(const broad_data *table, size_t first, size_t i, size_t rows)
{
    size_t step = 1 + BROAD__SPILL_STEP / (table->inputs * sizeof *table->x);
    if ((i + 1) % step && i + 1 < rows) return 0;
    broad__table_done(table, first + i - i % step, i % step + 1);
    return broad__watch_look((double)BROAD__SPILL_STEP);
}

int broad__row_hashes(uint64_t *out, const broad_data *table, size_t first, size_t rows)
{
    size_t from, end;
    broad__owned_rows(&from, &end, table->owned, first, rows);
    for (size_t i = from; i < end; i++) {
        out[i - first] = broad__row_hash(table, i);
        if (step_past(table, from, i - from, end - from)) break;
    }
    return broad__watch_check(broad__owned_share(table->owned, out, first, rows, sizeof *out));
}

int broad__row_marks(uint64_t *out, const broad_data *table, size_t first, size_t rows, size_t before)
{
    int status = broad__row_hashes(out, table, first, rows);
    broad__keyed_row *sorted = status == BROAD_OK ? broad__alloc_array(rows, sizeof *sorted) : NULL;
    if (status == BROAD_OK && !sorted) status = BROAD_NO_MEMORY;
    for (size_t i = 0; status == BROAD_OK && i < rows; i++)
        sorted[i] = (broad__keyed_row){out[i], table->weights ? table->weights[first + i] : 1, i};
    if (status == BROAD_OK) broad__keyed_rows_sort(sorted, rows);
    for (size_t i = 0, copy = 0; status == BROAD_OK && i < rows; i++) {
        copy = i && sorted[i].key == sorted[i - 1].key ? copy + 1 : 0;
        uint64_t which[2] = {copy, before};
        if (copy || before) out[sorted[i].row] = broad__hash_number(which, sizeof which, sorted[i].key);
    }
    broad__free(sorted);
    return status;
}

/* The smallest of each rank's rows, shown to all: the smallest of these are those of all rows. */
static int show_others(broad__smallest *smallest, const broad__owned *owned)
{
    size_t most = smallest->count;
    broad__smallest own = *smallest;
    broad__keyed_row *from = broad__alloc_array(most, sizeof *from);
    int status = from ? broad__smallest_open(smallest, most) : BROAD_NO_MEMORY;
    broad__keyed_rows_sort(own.kept, own.there);
    for (size_t rank = 0; status == BROAD_OK && rank < owned->comm->ranks; rank++) {
        size_t there = own.there < most ? own.there : most;
        if (rank == owned->comm->rank) memcpy(from, own.kept, there * sizeof *from);
        status = broad__comm_broadcast(rank, &there, sizeof there);
        if (status == BROAD_OK) status = broad__comm_broadcast(rank, from, there * sizeof *from);
        for (size_t i = 0; status == BROAD_OK && i < there; i++)
            broad__smallest_show(smallest, from[i].key, from[i].weight, from[i].row);
    }
    broad__free(from);
    broad__smallest_close(NULL, &own);
    return status;
}

int broad__row_order(size_t *out, size_t count, const broad_data *table, size_t first, size_t rows)
{
    broad__smallest smallest;
    size_t from, end;
    if (!count) return BROAD_OK;
    int status = broad__smallest_open(&smallest, count);
    if (status < 0) return status;
    broad__owned_rows(&from, &end, table->owned, first, rows);
    for (size_t i = from; i < end; i++) {
        double weight = table->weights ? table->weights[i] : 1;
        broad__smallest_show(&smallest, broad__row_hash(table, i), weight, i - first);
        if (step_past(table, from, i - from, end - from)) break;
    }
    if (broad__table_divided(table)) status = show_others(&smallest, table->owned);
    broad__smallest_close(status == BROAD_OK ? out : NULL, &smallest);
    return broad__watch_check(status);
}
