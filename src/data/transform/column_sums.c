#include "data/transform/column_sums.h"

#include <math.h>

#include "base/common.h"
#include "base/watch.h"
#include "comm/comm.h"

/* Rows that stay in the cache while their columns are summed, a block of columns at a time. */
enum { BLOCK = 512, ROWS = 32, FOUR = 4 };

static const size_t STEP = BROAD__SPILL_STEP;

/* Column by column, for values that may be missing. */
static void gather_known(broad__column_sums *sums, const double *x, size_t rows, size_t stride, size_t columns)
{
    for (size_t j = 0; j < columns; j++) {
        broad__column_sums s = sums[j];
        for (size_t i = 0; i < rows; i++) {
            double value = x[i * stride + j];
            if (isnan(value)) continue;
            s.sum += value;
            s.count++;
            s.min = value < s.min ? value : s.min;
            s.max = value > s.max ? value : s.max;
        }
        sums[j] = s;
    }
}

static long double mean_of(const broad__column_sums *sums)
{
    return sums->count ? sums->sum / (long double)sums->count : 0;
}

static void gather_known_squares(broad__column_sums *sums, const double *x, size_t rows, size_t stride, size_t columns)
{
    for (size_t j = 0; j < columns; j++) {
        long double squares = sums[j].squares, mean = mean_of(&sums[j]);
        for (size_t i = 0; i < rows; i++) {
            double value = x[i * stride + j];
            if (isnan(value)) continue;
            long double distance = value - mean;
            squares += distance * distance;
        }
        sums[j].squares = squares;
    }
}

/* The same of FOUR columns without missing values, side by side: each sum waits for its last addition. */
static void add_four(broad__column_sums *sums, const double *x, size_t rows, size_t stride)
{
    long double a = sums[0].sum, b = sums[1].sum, c = sums[2].sum, d = sums[3].sum;
    for (size_t i = 0; i < rows; i++, x += stride) {
        a += x[0];
        b += x[1];
        c += x[2];
        d += x[3];
    }
    sums[0].sum = a, sums[1].sum = b, sums[2].sum = c, sums[3].sum = d;
}

static void add_four_squares(broad__column_sums *sums, const double *x, size_t rows, size_t stride)
{
    long double a = mean_of(&sums[0]), b = mean_of(&sums[1]), c = mean_of(&sums[2]), d = mean_of(&sums[3]);
    for (size_t i = 0; i < rows; i++, x += stride) {
        long double of_a = x[0] - a, of_b = x[1] - b, of_c = x[2] - c, of_d = x[3] - d;
        sums[0].squares += of_a * of_a;
        sums[1].squares += of_b * of_b;
        sums[2].squares += of_c * of_c;
        sums[3].squares += of_d * of_d;
    }
}

/* Row by row, so that the columns go through vectors. */
static void add_bounds(broad__column_sums *sums, const double *x, size_t rows, size_t stride, size_t columns)
{
    double min[BLOCK], max[BLOCK];
    for (size_t j = 0; j < columns; j++) min[j] = sums[j].min, max[j] = sums[j].max;
    for (size_t i = 0; i < rows; i++, x += stride)
        for (size_t j = 0; j < columns; j++) {
            min[j] = x[j] < min[j] ? x[j] : min[j];
            max[j] = x[j] > max[j] ? x[j] : max[j];
        }
    for (size_t j = 0; j < columns; j++) {
        sums[j].min = min[j], sums[j].max = max[j];
        sums[j].count += rows;
    }
}

/* Sums (pass 0) or squares (pass 1) of a block of columns. */
static void gather_block(broad__column_sums *sums, const double *x, size_t rows, size_t stride, size_t columns,
                         int pass)
{
    int known = 1;
    for (size_t i = 0; known && i < rows; i++) known = broad__all_within(x + i * stride, columns, INFINITY);
    size_t done = known ? columns - columns % FOUR : 0;
    for (size_t j = 0; j < done; j += FOUR) {
        if (pass == 0) add_four(sums + j, x + j, rows, stride);
        else add_four_squares(sums + j, x + j, rows, stride);
    }
    if (done && pass == 0) add_bounds(sums, x, rows, stride, done);
    if (pass == 0) gather_known(sums + done, x + done, rows, stride, columns - done);
    else gather_known_squares(sums + done, x + done, rows, stride, columns - done);
}

/* Adds rows [from, rows) to the sums (pass 0) or squares (pass 1) of columns [first, end). */
static void add_rows(broad__column_sums *out, const broad__column_rows *r, int pass, size_t first, size_t end,
                     size_t from, size_t rows)
{
    const double *x = r->x;
    size_t columns = r->columns;
    const size_t step = columns ? STEP / (columns * sizeof *x) + 1 : 1;
    for (size_t at = from, released = from; at < rows && !broad__watch_look(10.0 * ROWS * (double)(end - first));
         at += ROWS) {
        size_t count = rows - at < ROWS ? rows - at : ROWS, done = at + count;
        for (size_t j = first; j < end; j += BLOCK)
            gather_block(out + j, x + at * columns + j, count, columns, broad__min(BLOCK, end - j), pass);
        if (done < rows && done - released < step) continue;
        broad__spill_done(r->spill, x + released * columns, (done - released) * columns * sizeof *x);
        released = done;
    }
}

static void start(broad__column_sums *out, size_t first, size_t end)
{
    for (size_t j = first; j < end; j++) out[j] = (broad__column_sums){.min = INFINITY, .max = -INFINITY};
}

void broad__column_sums_part(broad__column_sums *out, const broad__column_rows *r, int squares, size_t first,
                             size_t end)
{
    start(out, first, end);
    for (int pass = 0; pass < (squares ? 2 : 1); pass++) add_rows(out, r, pass, first, end, 0, r->rows);
}

/* The sums of some columns over the own rows of a rank. */
typedef struct own_sums {
    broad__column_sums *sums;
    const broad__column_rows *rows;
    int pass;
    size_t first, end, part, from, until; /* columns, how many of them a thread takes; rows */
    broad__pool *pool;
} own_sums;

static void add_own_part(void *context, size_t index, size_t worker)
{
    (void)worker;
    const own_sums *o = context;
    size_t first = o->first + index * o->part;
    add_rows(o->sums, o->rows, o->pass, first, broad__min(first + o->part, o->end), o->from, o->until);
}

static void add_own(void *context)
{
    own_sums *o = context;
    size_t parts = (o->end - o->first + o->part - 1) / o->part;
    if (o->pool) broad__pool_run(o->pool, parts, add_own_part, o);
    else
        for (size_t i = 0; i < parts; i++) add_own_part(o, i, 0);
}

size_t broad__column_sums_stretch(size_t columns, size_t threads)
{
    enum { STRETCHES = 16 };
    return broad__max(BROAD__COLUMN_SUMS_LINE * threads, columns / STRETCHES);
}

/* A sum over the rows in their order goes from rank to rank. While it does, this one adds up the next columns. */
int broad__column_sums_divided(broad__column_sums *out, const broad__column_rows *rows, int squares, broad__pool *pool)
{
    size_t threads = pool ? broad__pool_threads(pool) : 1, columns = rows->columns;
    own_sums o = {.sums = out, .rows = rows, .pool = pool};
    size_t step = broad__column_sums_stretch(columns, threads);
    int status = BROAD_OK;
    start(out, 0, columns);
    o.part = broad__max(BROAD__COLUMN_SUMS_LINE, step / threads);
    broad__owned_rows(&o.from, &o.until, rows->owned, 0, rows->rows);
    for (o.pass = 0; status == BROAD_OK && o.pass < (squares ? 2 : 1); o.pass++) {
        for (o.first = 0; status == BROAD_OK && o.first < columns; o.first = o.end) {
            o.end = broad__min(o.first + step, columns);
            status = broad__comm_pass(out + o.first, (o.end - o.first) * sizeof *out, add_own, &o);
        }
        if (status == BROAD_OK) status = broad__comm_broadcast_last(out, columns * sizeof *out);
    }
    return status;
}

double broad__column_mean(const broad__column_sums *sums) { return (double)mean_of(sums); }

long double broad__column_spread(broad_scale how, const broad__column_sums *sums)
{
    if (!sums->count || sums->min == sums->max) return 0;
    long double spread = how == BROAD_SCALE_STANDARD ? sqrtl(sums->squares / (long double)sums->count)
                                                     : (long double)sums->max - sums->min;
    return isfinite((double)(1 / spread)) ? spread : 0;
}

void broad__column_scale(double *shift, double *factor, broad_scale how, const broad__column_sums *sums)
{
    *shift = 0;
    *factor = 1;
    if (how == BROAD_SCALE_NONE || !sums->count) return;
    if (!isfinite(sums->max - sums->min)) { /* a difference of two values would overflow */
        *factor = 1 / fmax(fabs(sums->min), fabs(sums->max));
        return;
    }
    long double spread = broad__column_spread(how, sums);
    *shift = how == BROAD_SCALE_STANDARD ? broad__column_mean(sums) : sums->min;
    if (spread > 0) *factor = (double)(1 / spread);
}
