/* What a model looks at, by the metric that its nodes were drawn with: as text and as JSON. */
#ifndef BROAD_CLI_RUN_RELEVANCE_H
#define BROAD_CLI_RUN_RELEVANCE_H

#include "io/json.h"

enum { CLI_DIRECTIONS = 3, CLI_DIRECTION_TEXT = 320 };

typedef struct cli_relevance {
    const broad_model *model;
    broad_learned_metric metric;
    size_t count;           /* 0: nothing is known */
    broad_relevance *parts; /* most relevant first; owned */
    size_t direction_count; /* leading ones; 0: none are known */
    double share[CLI_DIRECTIONS];
    double *weight; /* direction_count x inputs; owned */
} cli_relevance;

int cli_relevance_make(cli_relevance *out, const broad_model *model);
void cli_relevance_clear(cli_relevance *relevance); /* accepts a zeroed one */

/* Directions worth showing: those of tables that have more than a small share. */
size_t cli_directions_shown(const cli_relevance *relevance);
/* "0.71 alcohol - 0.52 sulphates + ..." */
const char *cli_direction_words(char out[CLI_DIRECTION_TEXT], const cli_relevance *relevance, size_t direction);

void cli_print_relevance(const cli_relevance *relevance);
/* {"form", "optimism", "reason", "parts", "directions"}; directions null: not known. */
json_t *cli_metric_json(const cli_relevance *relevance);
json_t *cli_model_metric_json(const broad_model *model); /* the same, from the model; null: no memory */

#endif
