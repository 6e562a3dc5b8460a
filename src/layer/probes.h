/*
 * Probes: columns that follow the targets through a chain and tell its degrees of freedom.
 *
 * Once its nodes are drawn a chain is linear in the targets: E_m = R_m Y, both times the roots of the rows' weights. Its
 * degrees of freedom are df_m = N - tr R_m. Where rows have weights w_i, what a row decides of its own fit counts as much
 * as its residual does: df_m = N sum w_i (1 - R_ii) / sum w_i. Otherwise rows that weigh next to nothing, which a fit leaves
 * alone, would lend their freedom to the others. The columns of U_0 go through the layers like further targets, times the
 * roots too, U_m = R_m U_0, and the trace follows from T = <U_0, U_m>:
 *
 *   signs   U_0 has random signs; E T / columns = sum w_i R_ii, with a standard error of about sqrt(2 df / columns)
 *   exact   few rows: U_0 is the unit matrix, and T = sum w_i R_ii
 *
 * A sign is a function of the seed and of what the row holds, so that the order of rows does not matter. Rows of one group
 * have the same sign, or share a column: the group then counts like one row of the leverage that all of
 * them have together, which is what leaving the group out would show. A row of weight 0 counts nothing.
 */
#ifndef BROAD_LAYER_PROBES_H
#define BROAD_LAYER_PROBES_H

#include <stddef.h>
#include <stdint.h>

#include "base/spill.h"

struct broad__residual; /* layer/residual.h */

typedef struct broad__probes {
    int wanted;       /* rows that are added have probes */
    uint64_t seed;    /* of the signs */
    size_t first_row; /* number of the first row */
    size_t count;     /* columns of U; 0: none */
    int exact;        /* they are unit vectors */
    size_t rows;      /* that count */
    double weight;    /* of these together */
    double *u;        /* all rows x 2 count: U, then U_0 */
    double *next;     /* all rows x count: what a candidate would make of U */
    double inner;     /* <U_0, U>; while an update is pending what it will be, from the sums */
    /* What the layers so far have subtracted from U, for rows that come later: width x count each. */
    double **weights;
    size_t *widths;
    size_t layers, weights_capacity, widths_capacity;
} broad__probes;

/* Rows, and which of them belong together: group may be NULL; key: what each has its signs by, a group the sum of its
 * rows'; root: of what each row counts, NULL: 1. */
typedef struct broad__probed_rows {
    const size_t *group;
    const uint64_t *key;
    const double *root;
    size_t before, count; /* rows that have probes already, and those that come */
} broad__probed_rows;

/* How many columns this number of rows or groups takes: enough for a standard error of df / N of at most 0.5 %, or one for
 * each, which is exact. */
size_t broad__probes_columns(int *out_exact, size_t units);

/* The probes of rows that come, in `out`, as they are before any layer. `probes`: those of the rows before, which may get
 * another number of columns. */
int broad__probes_arrive(broad__probes *out, broad__probes *probes, const broad__probed_rows *rows, size_t old_rows,
                         broad__spill *spill);
/* The rows of `more` after the `rows` of these; its arrays may be taken over. */
int broad__probes_join(broad__probes *probes, size_t rows, broad__probes *more, size_t more_rows, broad__spill *spill);
void broad__probes_close(broad__probes *probes, broad__spill *spill); /* accepts a zeroed one */

/* Degrees of freedom where <U_0, U> is `inner`, and as they are. */
double broad__probes_df_of(const broad__probes *probes, double inner);
double broad__probes_df(const broad__probes *probes);

/* next = U - K w for the candidate; *out_inner = <U_0, next>. */
int broad__probes_next(double *out_inner, struct broad__residual *residual, const double *w);
/* U = next. */
void broad__probes_commit(struct broad__residual *residual, double inner);
/* U = U_0. */
void broad__probes_restart(broad__probes *probes, size_t rows);
/* Keeps what a layer subtracted, for rows that come later; NULL: nothing. Returns the copy in *out. */
int broad__probes_keep(const double **out, broad__probes *probes, const double *w, size_t width);

/* <U_0, U> of n rows. */
double broad__probes_inner(const broad__probes *probes, size_t first, size_t n);

#endif
