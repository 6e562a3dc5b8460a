/* Classes and groups of a table from the different labels of its rows. */
#ifndef BROAD_DATA_LABELS_H
#define BROAD_DATA_LABELS_H

#include "data/distinct.h"
#include "data/table.h"

enum { BROAD__CLASSES_MAX = 65536 };

/* rank[i] is the position of text i when all are sorted: by number if all are numbers, else by bytes. */
int broad__labels_order(size_t *rank, const broad__text *texts, size_t count);

/* The ids of `labels` and groups lie in the table's spill, if it has one, and become the table's own: labels->ids is then NULL.
 *
 * The classes are the labels found, at least so many, sorted by number if all are numbers, else by bytes. `target` names the
 * column. */
int broad__labels_sort(broad_data *table, broad__distinct *labels, const char *target, size_t least);

/* The classes are the given ones. A label that is none of them is an error; with `extend` it becomes a further class, after
 * the given ones, sorted among the new. */
int broad__labels_match(broad_data *table, broad__distinct *labels, const char *const *names, size_t count, int extend);

int broad__labels_group(broad_data *table, broad__distinct *groups, const char *name);

/* The same from one text per row. */
int broad__table_set_labels(broad_data *table, const char *const *labels);
int broad__table_set_groups(broad_data *table, const char *const *groups, const char *name);

#endif
