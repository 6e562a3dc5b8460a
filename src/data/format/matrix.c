#include "data/format/matrix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/watch.h"
#include "comm/comm.h"
#include "data/format/matrix_rows.h"
#include "data/format/number.h"
#include "data/levels.h"

int broad__matrix_check(broad__matrix *matrix, size_t have)
{
    size_t cells = 1, bytes;
    int huge = 0;
    for (size_t d = 0; d < matrix->dimensions; d++) huge |= broad__multiply(&cells, cells, matrix->shape[d]) < 0;
    for (size_t d = 0; d < matrix->dimensions; d++)
        if (!matrix->shape[d])
            return broad__fail(BROAD_BAD_DATA, "%s: dimension %zu is 0, so there is no data", matrix->name, d + 1);
    if (huge || broad__multiply(&bytes, cells, matrix->item) < 0)
        return broad__fail(BROAD_BAD_DATA,
                           "%s: the header claims more than 2^64 bytes, the file has %zu: it is damaged", matrix->name,
                           have);
    if (bytes != have)
        return broad__fail(BROAD_BAD_DATA, "%s: the header claims %zu bytes of data, the file has %zu: it is %s",
                           matrix->name, bytes, have, bytes > have ? "cut off or damaged" : "damaged");
    matrix->rows = matrix->shape[0];
    matrix->columns = cells / matrix->rows;
    return BROAD_OK;
}

double broad__matrix_number(const broad__matrix *matrix, const unsigned char *at)
{
    unsigned char item[8] = {0};
    if (matrix->swapped)
        for (size_t i = 0; i < matrix->item; i++) item[i] = at[matrix->item - 1 - i];
    else memcpy(item, at, matrix->item);
    union {
        float f4;
        double f8;
        int8_t i1;
        int16_t i2;
        int32_t i4;
        int64_t i8;
        uint8_t u1;
        uint16_t u2;
        uint32_t u4;
        uint64_t u8;
    } as;
    memcpy(&as, item, sizeof item);
    switch (matrix->type == 'f' ? 16 + matrix->item : matrix->type == 'i' ? 32 + matrix->item : matrix->item) {
    case 16 + 4: return (double)as.f4;
    case 16 + 8: return as.f8;
    case 32 + 1: return as.i1;
    case 32 + 2: return as.i2;
    case 32 + 4: return as.i4;
    case 32 + 8: return (double)as.i8;
    case 1: return as.u1;
    case 2: return as.u2;
    case 4: return as.u4;
    default: return (double)as.u8;
    }
}

/* Where a column begins, counted in items from the start of its row: columns run through all dimensions but the first,
 * in C order, whatever the order of the file. */
static size_t column_offset(const broad__matrix *matrix, size_t column)
{
    if (!matrix->fortran) return column;
    size_t stride = 1, offset = 0;
    size_t index[BROAD__DIMENSIONS_MAX] = {0};
    for (size_t d = matrix->dimensions; d-- > 1; column /= matrix->shape[d]) index[d] = column % matrix->shape[d];
    for (size_t d = 1; d < matrix->dimensions; d++) {
        stride *= matrix->shape[d - 1];
        offset += index[d] * stride;
    }
    return offset;
}

static int fail_value(const broad__matrix *matrix, size_t row, size_t column, broad__role role, double value)
{
    static const char *const names[] = {"", "", "target", "group", "weight", ""};
    if (isnan(value) && (role == BROAD__ROLE_INPUT || role == BROAD__ROLE_CATEGORY))
        return broad__fail(BROAD_BAD_DATA,
                           "%s: row %zu, column %zu: missing value (NaN); fill it in, or use the mean (option "
                           "missing mean)",
                           matrix->name, row + 1, column + 1);
    if (isnan(value))
        return broad__fail(BROAD_BAD_DATA,
                           "%s: row %zu, column %zu: the %s is missing (NaN); fill it in or remove the row",
                           matrix->name, row + 1, column + 1, names[role]);
    if (role == BROAD__ROLE_WEIGHT)
        return broad__fail(
            BROAD_BAD_DATA,
            "%s: row %zu, column %zu: the weight %.17g is not a finite number of 0 or more; correct it or "
            "remove the row",
            matrix->name, row + 1, column + 1, value);
    if (isinf(value))
        return broad__fail(BROAD_BAD_DATA,
                           "%s: row %zu, column %zu: the value is infinite; correct it or remove the row", matrix->name,
                           row + 1, column + 1);
    return broad__fail(BROAD_BAD_DATA, "%s: row %zu, column %zu: the label %.17g is too large to be exact as a double",
                       matrix->name, row + 1, column + 1, value);
}

typedef struct column_fill {
    broad__role role;
    size_t column, category;
    double *to; /* its place in the first row */
    size_t to_stride;
    const unsigned char *from;
    size_t from_stride;
} column_fill;

static column_fill column_setup(broad__parsed *out, const broad__matrix *matrix, const broad__roles *roles,
                                size_t column)
{
    column_fill c = {.role = (broad__role)roles->role[column], .column = column};
    if (c.role == BROAD__ROLE_CATEGORY) c.category = roles->category[column];
    int input = c.role == BROAD__ROLE_INPUT || c.role == BROAD__ROLE_CATEGORY;
    c.from = matrix->bytes + column_offset(matrix, column) * matrix->item;
    c.from_stride = (matrix->fortran ? 1 : matrix->columns) * matrix->item;
    c.to = input                          ? out->x + roles->index[column]
           : c.role == BROAD__ROLE_TARGET ? out->targets.values + roles->index[column]
           : c.role == BROAD__ROLE_WEIGHT ? out->weights
                                          : out->groups.values;
    c.to_stride = input ? roles->inputs : c.role == BROAD__ROLE_TARGET ? roles->targets : 1;
    return c;
}

/* The level of a value is its shortest text. */
static int set_level(broad__parsed *out, const column_fill *c, size_t row, double value, broad_missing missing)
{
    char printed[BROAD__NUMBER_BYTES], where[BROAD__WHERE_BYTES], name[32];
    double *to = &c->to[row * c->to_stride];
    broad__level_fault fault = BROAD__LEVEL_GOOD;
    *to = value;
    if (isnan(value)) return BROAD_OK;
    broad__number_print(printed, value);
    int status = broad__level_number(to, &fault, &out->dictionary.levels[c->category], out->dictionary.levels_closed,
                                     broad__text_of(printed), &out->arena);
    if (status < 0 || fault == BROAD__LEVEL_GOOD) return status;
    if (fault == BROAD__LEVEL_UNKNOWN && missing == BROAD_MISSING_MEAN) return BROAD_OK;
    snprintf(where, sizeof where, "%.255s: row %zu", out->file, row + 1);
    snprintf(name, sizeof name, "column %zu", c->column + 1);
    return broad__level_fail(out, c->category, broad__text_of(printed), fault, where, name);
}

static void count_missing(broad__parsed *out, const column_fill *c, size_t row)
{
    if (c->role != BROAD__ROLE_TARGET) out->missing++;
    else if (!out->targets.missing++) out->targets.first_missing = row * c->to_stride;
}

static int fill_column(broad__parsed *out, const column_fill *c, const broad__matrix *matrix, size_t first,
                       size_t count, broad_missing missing)
{
    int category = c->role == BROAD__ROLE_CATEGORY, hole = missing == BROAD_MISSING_MEAN;
    int whole =
        matrix->type != 'f' && matrix->item == 8 && c->role != BROAD__ROLE_INPUT && c->role != BROAD__ROLE_WEIGHT;
    hole = (hole && (category || c->role == BROAD__ROLE_INPUT)) || c->role == BROAD__ROLE_TARGET;
    for (size_t row = first; row < first + count; row++) {
        double value = broad__matrix_number(matrix, c->from + row * c->from_stride);
        int wrong = (!isfinite(value) && !(isnan(value) && hole)) || (whole && fabs(value) > 0x1p53) ||
                    (c->role == BROAD__ROLE_WEIGHT && !(value >= 0));
        if (wrong) return fail_value(matrix, row, c->column, c->role, value);
        if (!category) c->to[row * c->to_stride] = value;
        if (isnan(value)) count_missing(out, c, row);
        int status = category ? set_level(out, c, row, value, missing) : BROAD_OK;
        if (status < 0) return status;
    }
    return BROAD_OK;
}

/* Rows [first, end) of columns [column, column + width) have been used. Those of a Fortran file lie far apart. */
static void rows_done(const broad__parsed *out, const broad__matrix *matrix, const column_fill *columns, size_t width,
                      size_t first, size_t end)
{
    if (!matrix->source->memory) return;
    for (size_t c = 0; c < (matrix->fortran ? width : 1); c++) {
        const char *from = (const char *)(matrix->fortran ? columns[c].from : matrix->bytes);
        broad__source_done(matrix->source, from + first * columns[c].from_stride, from + end * columns[c].from_stride);
    }
    broad__parsed_done(out, first, end - first);
}

/* All rows of some columns that are to be here. */
static int fill_columns(broad__parsed *out, const column_fill *columns, size_t width, const broad__matrix *matrix,
                        broad_missing missing)
{
    size_t first, end;
    broad__owned_rows(&first, &end, out->owned, 0, matrix->rows);
    /* Rows at a time: of a Fortran file, enough to use up the cache lines of each column. */
    size_t block = matrix->fortran ? 64 : 1, released = first;
    size_t step = (size_t)BROAD__SPILL_STEP / (matrix->columns * sizeof(double)) + 1;
    int status = BROAD_OK;
    for (size_t row = first; row < end && status == BROAD_OK; row += block) {
        size_t count = broad__min(end - row, block);
        status = broad__watch_poll(row, matrix->rows);
        for (size_t c = 0; c < width && status == BROAD_OK; c++)
            status = fill_column(out, &columns[c], matrix, row, count, missing);
        if (row + count < end && row + count - released < step) continue;
        rows_done(out, matrix, columns, width, released, row + count);
        released = row + count;
    }
    return status;
}

/* divided: of the own rows of this rank. Takes the inputs as they lie in the file, or copies them at once, where they are all finite. *out_done: that was so. */
static int take_inputs(int *out_done, broad__parsed *out, const broad__matrix *matrix, const broad__roles *roles,
                       const broad__matrix_request *request, int divided)
{
    const double *there = request->in_place && !out->spill ? broad__matrix_in_place(matrix, roles) : NULL;
    size_t first = 0, end = matrix->rows;
    *out_done = 0;
    if (divided) broad__comm_own_rows(&first, &end, matrix->rows);
    int status = there ? broad__matrix_inputs(out_done, NULL, matrix, roles, first, end, request->threads) : BROAD_OK;
    if (status == BROAD_OK && divided && there && !*out_done) status = BROAD_BAD_DATA; /* not in place, then */
    if (status < 0) return status;
    if (*out_done) {
        out->x = (double *)(uintptr_t)there;
        out->x_in_place = 1;
        return divided ? broad__owned_new(&out->owned, NULL, matrix->rows, roles->inputs) : BROAD_OK;
    }
    if (divided) status = broad__owned_new(&out->owned, &out->x, matrix->rows, roles->inputs);
    else out->x = broad__parsed_alloc(out, matrix->rows * roles->inputs, sizeof *out->x);
    if (!out->x) return status < 0 ? status : BROAD_NO_MEMORY;
    if (there || out->spill || matrix->source->memory || matrix->fortran || !roles->inputs) return BROAD_OK;
    return broad__matrix_inputs(out_done, out->x, matrix, roles, first, end, request->threads);
}

static int allocate(broad__parsed *out, const broad__matrix *matrix, const broad__roles *roles,
                    const broad__matrix_request *request)
{
    size_t rows = matrix->rows, numbers = roles->inputs + roles->targets + roles->groups + roles->weights;
    int failed = 0;
    out->spill = request->spill;
    out->spill_borrowed = out->spill != NULL;
    int status = broad__parsed_place(out, rows, numbers, request->memory);
    if (status < 0) return status;
    if (roles->targets)
        failed |= !(out->targets.values = broad__parsed_alloc(out, rows * roles->targets, sizeof *out->targets.values));
    if (roles->groups) failed |= !(out->groups.values = broad__parsed_alloc(out, rows, sizeof *out->groups.values));
    if (roles->weights) failed |= !(out->weights = broad__parsed_alloc(out, rows, sizeof *out->weights));
    return failed ? BROAD_NO_MEMORY : BROAD_OK;
}

/* divided: the inputs of this rank's rows, and whatever else all rows have. */
static int fill_matrix(broad__parsed *out, const broad__matrix *matrix, const broad__roles *roles,
                       const broad__matrix_request *request, int divided)
{
    int whole = matrix->type != 'f';
    size_t cells;
    *out = (broad__parsed){.file = matrix->name, .rows = matrix->rows, .inputs = roles->inputs};
    out->targets = (broad__cells){.columns = roles->targets, .integers = whole};
    out->groups = (broad__cells){.columns = roles->groups, .integers = whole};
    if (broad__multiply(&cells, matrix->rows, matrix->columns) < 0) return broad__fail_memory(SIZE_MAX);
    int inputs_done = 0;
    column_fill *columns = broad__alloc_array(matrix->columns, sizeof *columns);
    int status = columns ? allocate(out, matrix, roles, request) : BROAD_NO_MEMORY;
    if (status == BROAD_OK) status = take_inputs(&inputs_done, out, matrix, roles, request, divided);
    if (status == BROAD_OK) status = broad__levels_open(out, roles, request->known);
    /* With a limit, only as many columns of a Fortran file as fit in memory with the pages around them. */
    size_t width = matrix->fortran && matrix->source->memory ? 16 : matrix->columns, count = 0;
    for (size_t c = 0; c < matrix->columns && status == BROAD_OK; c++)
        if (roles->role[c] != BROAD__ROLE_IGNORED && !(inputs_done && roles->role[c] == BROAD__ROLE_INPUT))
            columns[count++] = column_setup(out, matrix, roles, c);
    for (size_t c = 0; c < count && status == BROAD_OK; c += width)
        status = fill_columns(out, columns + c, broad__min(width, count - c), matrix, request->missing);
    broad__free(columns);
    return status;
}

/* Every rank fills in its own rows. *out_done: all of them could; if not, a plain run over all rows tells why. */
static int fill_divided(int *out_done, broad__parsed *out, const broad__matrix *matrix, const broad__roles *roles,
                        const broad__matrix_request *request)
{
    size_t numbers = roles->inputs + roles->targets + roles->groups + roles->weights;
    broad__parsed none = {.spill = request->spill};
    *out_done = 0;
    if (!request->divided || roles->categories || !broad__parsed_divides(&none, matrix->rows, numbers, request->memory))
        return BROAD_OK;
    broad__matrix_request own = *request;
    own.memory = 0; /* these rows fit */
    for (own.in_place = request->in_place; !*out_done; own.in_place = 0) {
        *out_done = !broad__comm_most(fill_matrix(out, matrix, roles, &own, 1) < 0);
        if (!*out_done) broad__parsed_clear(out);
        if (!own.in_place) break;
    }
    return *out_done ? broad__parsed_share(out) : BROAD_OK;
}

int broad__matrix_fill(broad__parsed *out, const broad__matrix *matrix, const broad__roles *roles,
                       const broad__matrix_request *request)
{
    int done;
    int status = fill_divided(&done, out, matrix, roles, request);
    return status == BROAD_OK && !done ? fill_matrix(out, matrix, roles, request, 0) : status;
}
