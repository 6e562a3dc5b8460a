/*
 * What a model looks at, by the metric M that its feature nodes were drawn with (feature/metric.h): the model has its root,
 * or the roots of its diagonal alone.
 *
 * A part is a column of a table, a column of categories being one, or of photos a kind of descriptor. Its share is that of
 * its columns in the trace of M; of photos whose inputs are principal components that of the descriptors behind them, by the
 * chain rule: component = sum_j z_j a_j with standardised descriptors z, so that the gradient by z_j is a_j times that by
 * the components, and the square of it a_j' M a_j.
 *
 * Directions are those of the inputs. An input that is seen by value and by rank moves both columns at once: with P, which
 * adds them up, they are the eigenvectors of P M P'.
 */
#ifndef BROAD_MODEL_RELEVANCE_H
#define BROAD_MODEL_RELEVANCE_H

#include "model/model.h"

/* That a full metric has at most. */
size_t broad__relevance_columns(void);
broad_metric_form broad__relevance_form(const broad_model *model);
/* Root mean square over the columns of an input; 1 without a metric. */
double broad__relevance_of(const broad_model *model, size_t input);

/* 0 without a metric. */
size_t broad__relevance_parts(const broad_model *model);
/* names, shares: broad__relevance_parts() each. The names belong to the model or are static; the sum of the shares is 1. */
int broad__relevance_shares(const char **names, double *shares, const broad_model *model);

/* share: count, weight: count x inputs, each of unit length, the largest of its weights positive. The first `count`, of a
 * full metric. */
int broad__relevance_directions(double *share, double *weight, const broad_model *model, size_t count);

#endif
