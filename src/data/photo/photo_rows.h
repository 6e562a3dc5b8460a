/* What a table knows of the photos that its rows come from. */
#ifndef BROAD_DATA_PHOTO_PHOTO_ROWS_H
#define BROAD_DATA_PHOTO_PHOTO_ROWS_H

#include "data/table.h"
#include "data/text.h"

/* Name of the groups that photos are in because they look alike. */
#define BROAD__NEAR_DUPLICATES "near-duplicates"
/* And of those that hold the rows of one photo each. */
#define BROAD__PHOTO_GROUPS "photo"

void broad__photos_clear(broad__photos *photos);
/* The files that were left out: of each its name, then the reason. */
int broad__photos_set_skipped(broad__photos *photos, const broad__text *texts, size_t count);
/* Of some rows. Files that were left out are not passed on. `out` is overwritten, and empty on failure. */
int broad__photos_pick(broad__photos *out, const broad__photos *photos, const size_t *rows, size_t count);
/* Of the rows of both, with the files that either left out; group numbers of b go on after the rows of a. */
int broad__photos_join(broad__photos *out, const broad__photos *a, size_t a_rows, const broad__photos *b,
                       size_t b_rows);

/* Numbers for groups that hold the rows of one photo each. NULL: out of memory. */
size_t *broad__photos_by_file(const broad__photos *photos, size_t rows);

/* The same rows with the inputs of some of their maps. */
int broad__table_narrow(broad_data **out, const broad_data *table, unsigned maps);
/* The same rows with principal components in the place of their inputs: by a projection that there is, which has `components`,
 * or by one that is fitted to them; then there may be fewer. */
int broad__table_project(broad_data **out, const broad_data *table, size_t components,
                         const broad__projection *projection, size_t threads);
/* Fitted to them, without how far photos lie from each other: for a look at what the components are worth. */
int broad__table_project_alone(broad_data **out, const broad_data *table, size_t components, size_t threads);

#endif
