/* Which columns of a table matter to a model, as text and as JSON. */
#ifndef BROAD_CLI_RUN_IMPORTANCE_H
#define BROAD_CLI_RUN_IMPORTANCE_H

#include "io/json.h"

json_t *cli_importance_json(const broad_model *model); /* a list, most important first; null: not known */
/* A line with the columns that matter most; nothing where it is not known. */
void cli_print_importance(const broad_model *model);
/* A note where one column alone explains the target almost perfectly. */
void cli_note_suspect(const cli_arguments *arguments, const broad_model *model);

/* The columns in falling order of importance: `out` has room for all. Returns how many there are. */
enum { CLI_IMPORTANCE_MOST = 100 };
size_t cli_importance_sorted(broad_importance out[CLI_IMPORTANCE_MOST], const broad_model *model);
/* Whether it stands out from what shuffling does by chance. */
int cli_importance_counts(const broad_importance *column);

#endif
