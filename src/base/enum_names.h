/* Names of enum values: one table for parsing, printing and the model file. */
#ifndef BROAD_BASE_ENUM_NAMES_H
#define BROAD_BASE_ENUM_NAMES_H

/* A choice list is text such as "sigmoid|tanh|relu": value i of the enum is the i-th word. */
#define BROAD__KINDS "bscrls|brls|bls|scn|rvfl"
#define BROAD__PRESETS "auto|paper|chain"
#define BROAD__TASKS "auto|classify|regress"
#define BROAD__ACTIVATIONS "sigmoid|tanh|relu|sine|gaussian|identity"
#define BROAD__SUPERVISIONS "residual|loo|operator|none|output|gcv"
#define BROAD__WEIGHTS "chain|joint|window"
#define BROAD__FEATURE_WEIGHTS "random|autoencoder|sampled"
#define BROAD__LOOS "auto|yes|no"
#define BROAD__LEARNEDS "auto|yes|no"
#define BROAD__EFFORTS "fast|normal|thorough"
#define BROAD__DEVICES "cpu|cuda"
#define BROAD__METRIC_FORMS "none|diagonal|full"
#define BROAD__GAMMA_FORMS "harmonic|constant|list"
#define BROAD__SELECTIONS "first|best"
#define BROAD__PRECISIONS "double|float"
#define BROAD__RANGE_UNITS "absolute|fan-in"
#define BROAD__SCALES "none|minmax|standard|rank|both|whole|auto"
#define BROAD__MISSINGS "error|mean"
#define BROAD__FORMS "number|truth|date|date_day|date_month|decimal_comma|decimal_point"
#define BROAD__ROLES "ignored|input|target|group|weight"
#define BROAD__CROPS "none|find|boxes|detector|model"
#define BROAD__ESTIMATE_METHODS "leave-one-out|gcv"
#define BROAD__FITTINGS "chain|joint|stepwise|window|at_once"
#define BROAD__FORMATS "csv|libsvm|npy|idx|photos|memory"
#define BROAD__NORMALS_FROM "name|rows|positive|user"
#define BROAD__OUTCOMES "complete|stalled|target_reached|stopped|time_limit"

enum { BROAD__ENUM_BYTES = 24 };

int broad__enum_find(const char *choices, const char *word); /* -1 if it is none of them */
int broad__enum_count(const char *choices);
void broad__enum_name(char out[BROAD__ENUM_BYTES], const char *choices, int value); /* "unknown" if out of range */

#endif
