/* The handle that predicts and does nothing else. */
#ifndef BROAD_MODEL_PREDICT_PREDICTOR_H
#define BROAD_MODEL_PREDICT_PREDICTOR_H

#include "base/file.h"
#include "model/predict/predict.h"

struct broad_predictor {
    broad__network network;
    broad__mapping file; /* where its weights are used in place; bytes NULL: none */
};

/* Weights inside `borrowed` are used where they are, all others are copied. borrowed NULL: all are. */
int broad__predictor_make(broad_predictor **out, const broad_model *model, const broad__borrowed *borrowed);

#endif
