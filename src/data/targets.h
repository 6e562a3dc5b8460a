/* From target and group cells to the targets and groups of a table. */
#ifndef BROAD_DATA_TARGETS_H
#define BROAD_DATA_TARGETS_H

#include "data/format/cell.h"
#include "data/parsed.h"
#include "data/read.h"

typedef struct broad__target_facts {
    char *const *names;                /* of the target columns */
    const broad__cell_format *formats; /* of text: how its numbers are written; NULL: plainly */
    int apart;                         /* they come from a separate file */
    broad__notes *notes;               /* may be NULL */
} broad__target_facts;

/* Sets task, outputs and targets of a table from the cells of `parsed`, which no longer owns them; both lie in the same
 * spill. `model` may be NULL. */
int broad__targets_set(broad_data *table, broad__parsed *parsed, const broad__target_facts *facts,
                       const broad_read_options *options, const broad__columns *model);

int broad__groups_set(broad_data *table, broad__parsed *parsed, const char *name);

#endif
