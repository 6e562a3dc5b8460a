/* Nodes, targets, norms and leave-one-out residuals by plain loops. */
#ifndef BROAD_MODEL_VERIFY_VERIFY_NODES_H
#define BROAD_MODEL_VERIFY_VERIFY_NODES_H

#include "model/verify/verification.h"

/* What a node makes of its sum. */
double broad__verify_activation(broad_activation activation, double x);
/* A row of Z; x: its scaled inputs, scratch. */
void broad__verify_features(const broad__verification *v, double *z, double *x, size_t row);
/* A layer's row of K. */
void broad__verify_row(const broad__verification *v, double *k, const broad__layer *layer, size_t row);
/* Y in the network's units, times the roots: rows x outputs. */
void broad__verify_targets(double *out, const broad__verification *v);
/* In several sums, so that the compiler can work on them side by side. */
double broad__verify_dot(const double *a, const double *b, size_t count);
double broad__verify_norm(const double *e, size_t count);
/* ||E|| over `rows` rows from `from` on. */
double broad__verify_norm_rows(const broad__verification *v, size_t from, size_t rows);
/* ||E|| over the rows that a layer was fitted to. */
double broad__verify_norm_of(const broad__verification *v, const broad__certificate *c);
/* Of these rows, those that this rank goes through. */
void broad__verify_own(size_t *out_first, size_t *out_end, const broad__verification *v, size_t from, size_t rows);
/* Sums over a rank's own rows become those over the rows of all. */
int broad__verify_add(const broad__verification *v, double *sums, size_t count);
/* Adds a row's leave-one-out square to sums[0], and how far rounding may have moved it to sums[1]. off: of its
 * residual. */
void broad__verify_leave_out(double sums[2], double square, double leverage, double off);

#endif
