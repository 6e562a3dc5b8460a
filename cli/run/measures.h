/* Measures of a model, on rows or by its own estimate, as text and as JSON. */
#ifndef BROAD_CLI_RUN_MEASURES_H
#define BROAD_CLI_RUN_MEASURES_H

#include "io/json.h"

/* broad_eval() of metrics that need not be initialised. */
int cli_judge(broad_metrics *out, const broad_model *model, const broad_data *data, size_t threads);
/* The estimate in the form of metrics, without a confusion matrix; 0: the model has none. */
int cli_estimate_metrics(broad_metrics *out, const broad_model *model);

/* How an estimate was made: a short name, and "the chain's cross-validation score" as part of a sentence. */
const char *cli_estimate_name(const broad_estimate *estimate);
const char *cli_estimate_source(const broad_estimate *estimate);

json_t *cli_metrics_json(const broad_metrics *metrics, const broad_model *model);
json_t *cli_estimate_json(const broad_model *model); /* null: it has none */

/* In what follows, metrics NULL stands for the model's estimate. */

/* "accuracy 0.9667, balanced accuracy 0.9512, ROC AUC 0.9900" without a newline. */
void cli_metrics_line(char *out, size_t bytes, const broad_metrics *metrics);
/* "accuracy 0.9667 (95 % interval 0.9500 to 0.9800; always ok: 0.6100)", the figure that says most. */
void cli_figure_line(char *out, size_t bytes, const broad_metrics *metrics, const broad_model *model);
/* The same, and "on new rows (leave-one-out on 1200 rows)"; 0: the model has no estimate. */
int cli_estimate_line(char *out, size_t bytes, const broad_model *model);
/* The two or three further measures that matter, or one line for each of several targets; each line is indented. */
void cli_print_more(const broad_metrics *metrics, const broad_model *model);
/* Every measure on a line of its own, then a table by class or target. */
void cli_print_measures(const broad_metrics *metrics, const broad_model *model);
/* A note where a class is rare and mostly missed. */
void cli_note_missed(const cli_arguments *arguments, const broad_metrics *metrics, const broad_model *model);
/* A note where no row that was measured on has a class. */
void cli_note_untested(const cli_arguments *arguments, const broad_metrics *metrics, const broad_model *model);

#endif
