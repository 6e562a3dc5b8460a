/* What preset `auto` chose for a model, and why. */
#ifndef BROAD_CLI_RUN_CHOICES_H
#define BROAD_CLI_RUN_CHOICES_H

#include "io/json.h"

/* Why there is a metric, or none: "since ...", and the same for a line. */
typedef struct cli_reason {
    const char *words, *brief;
} cli_reason;

const cli_reason *cli_metric_reason(const broad_model *model);

/* All that there is to say; chosen 0: the settings were given, and the rest means nothing. */
typedef struct cli_choices {
    int chosen;
    broad_pilot pilot;
    broad_learned_metric metric;
    broad_options settings;
    broad_joint joint;
    double range;
    const char *style; /* "mix" */
} cli_choices;

int cli_choices_make(cli_choices *out, const broad_model *model);
/* A line with the most important of them; nothing where nothing was chosen. */
void cli_print_choices(const broad_model *model);
json_t *cli_choices_json(const broad_model *model); /* null: nothing was chosen */

#endif
