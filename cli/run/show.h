/* Networks and certificates as text and as JSON. */
#ifndef BROAD_CLI_RUN_SHOW_H
#define BROAD_CLI_RUN_SHOW_H

#include "io/json.h"

/* Words for enum values, from the option tables' choices. */
const char *cli_kind_name(broad_kind kind);
const char *cli_precision_name(broad_precision precision);
const char *cli_task_name(broad_task task);
const char *cli_outcome_name(broad_outcome outcome);
/* The same for readers: a chain that no further layer would improve has not failed. */
const char *cli_outcome_words(const broad_model *model);
/* Where its output weights come from: "one ridge regression over all nodes (joint)". */
const char *cli_fitting_words(const broad_model *model);

/* Label of the normal class; null for a regression. */
json_t *cli_normal_json(const broad_model *model);
json_t *cli_confusion_json(const broad_metrics *metrics);
json_t *cli_layers_json(const broad_model *model);
json_t *cli_names_json(const char *(*name_at)(const broad_model *, size_t), const broad_model *model, size_t count);

/* "classes  2: Clean, Dusty; positive class: Dusty" and "normal   Clean (by its name; HINT)", or the targets. Of more
 * than two classes of a table the second line needs a class that was given or that has such a name. */
void cli_print_outputs(const broad_model *model, const char *hint);
void cli_print_confusion(const broad_metrics *metrics, const broad_model *model);
/* "34 nodes in 5 layers"; without a chain "in one block". */
void cli_format_size(char *out, size_t bytes, const broad_model *model);
/* Whether its nodes come in blocks that one ridge regression makes use of, and layers mean nothing. */
int cli_in_blocks(const broad_model *model);
int cli_solved_jointly(const broad_model *model); /* one ridge regression makes all output weights */
json_t *cli_joint_json(const broad_model *model); /* of the ridge over all nodes; null: there is none */
void cli_print_joint(const broad_model *model);   /* a line about it, if there is one */
/* Whether its layers are judged by the score of the chain (--supervise gcv). */
int cli_scored(const broad_model *model);
/* "fell to 0.4312 of what it was, in 14 layers; the chain has 96 degrees of freedom on 721 rows", of the rows it was last grown on; 0: there is no such layer. */
int cli_score_line(char *out, size_t bytes, const broad_model *model);
/* The table of layers: all, or the first, some and the last. */
void cli_print_layers(const broad_model *model, int all);
/* The figures after each layer, broad_model_layers() of them; the table shows as many as that of the layers. */
void cli_print_curve(const broad_curve_point *points, const broad_model *model);
json_t *cli_curve_json(const broad_curve_point *points, const broad_model *model);
/* The norm that the bounds count from: "the initial norm", or that before layer `since`, the first on the rows of the last. */
enum { CLI_SINCE_BYTES = 80 };
const char *cli_since_words(char out[CLI_SINCE_BYTES], size_t since);
size_t cli_since_layer(const broad_model *model); /* that layer, from 1; 0: there is no layer */
/* "layers 2-10: enhance, on rows 1-1000", one line per stage. */
void cli_print_stages(const broad_model *model);
json_t *cli_stages_json(const broad_model *model);
void cli_format_bytes(char *out, size_t bytes, double count);
void cli_format_flops(char *out, size_t bytes, double count); /* "1.2 GFLOP" */
/* What stands on both sides of a name in a list: an apostrophe where it has a comma of its own. */
const char *cli_listed_mark(const char *name);
/* "a, b, c and 7 more" */
void cli_format_names(char *out, size_t bytes, const char *(*name_at)(const broad_model *, size_t),
                      const broad_model *model, size_t count);

#endif
