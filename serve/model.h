/* The model that the server uses now. It is shared by threads, and replaced as a whole when another one has been learned. */
#ifndef BROAD_SERVE_MODEL_H
#define BROAD_SERVE_MODEL_H

#include <stdatomic.h>
#include <stdint.h>

#include "broad/broad.h"

typedef struct serve_model {
    atomic_int holders;
    int64_t version; /* of the table `versions` */
    int64_t lineage; /* models of one lineage turn photos into the same inputs */
    broad_model *model;
    broad_viewer *viewer;
    broad_explainer *explainer;
    size_t inputs, outputs;
    int probabilities;
} serve_model;

/* Held once. BROAD_USAGE unless it tells photos apart by class. */
int serve_model_load(serve_model **out, const char *path, int64_t version, int64_t lineage);
serve_model *serve_model_hold(serve_model *model);                  /* accepts NULL */
int serve_model_knows(const serve_model *model, const char *label); /* a class of its own; NULL knows none */
void serve_model_drop(serve_model *model);                          /* the last one frees it; accepts NULL */

/* What a model says of the inputs of a photo. */
typedef struct serve_verdict {
    size_t label;
    double certainty; /* probability of the label; NaN: there are none */
    double fault;     /* of any class but the normal one, or by how much its score leads */
} serve_verdict;

/* scores, of `outputs` numbers, become probabilities where there are any. */
int serve_model_judge(serve_verdict *out, double *scores, const serve_model *model, const double *inputs);
/* The second half of it, where many rows were predicted together. */
int serve_model_verdict(serve_verdict *out, double *scores, const serve_model *model);

#endif
