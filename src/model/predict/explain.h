/*
 * Which parts of a photo are evidence for an output of a model.
 *
 * A grid of n cells is laid over the part of the photo that the model looks at. The inputs with each cell left out come from
 * one pass over the picture (broad__photo_occlude), and all of them are judged in one batch. The model's opinion f is
 *
 *   classes with probabilities   log(p / (1 - p)) of the class in question
 *   classes without              its score less the largest of the others
 *   values                       the value
 *
 * The inputs are means over places. If f were linear, it would be the mean of the opinions g of the cells, and leaving out
 * cell c would change it by f - f_c = (g_c - f) / (n - 1). So the opinion of a cell is taken to be
 *
 *   g_c = f + (n - 1) (f - f_c),    for values less f,
 *
 * and then smoothed over its neighbours with weights 1 2 1 along both sides.
 */
#ifndef BROAD_MODEL_PREDICT_EXPLAIN_H
#define BROAD_MODEL_PREDICT_EXPLAIN_H

#include "model/model.h"

int broad__explainer_open(broad_explainer **out, const broad_model *model);
void broad__explainer_close(broad_explainer *explainer); /* accepts NULL */

/* As broad_photo_explain() in broad.h. */
int broad__photo_explain(broad_explanation *out, const broad_explainer *explainer, const broad_photo *const *photos,
                         const size_t *outputs, size_t count);
/* As broad_explainer_file() in broad.h. */
int broad__explainer_file(broad_explanation *out, const broad_explainer *explainer, const void *bytes, size_t count,
                          size_t output);

/* Cells for a picture of this size: as many as the windows map has windows. */
void broad__explain_grid(size_t *out_width, size_t *out_height, size_t width, size_t height);
/* Means over neighbouring cells with weights 1 2 1 along both sides; at the border over those that are there. */
int broad__explain_smooth(double *cells, size_t width, size_t height);

#endif
