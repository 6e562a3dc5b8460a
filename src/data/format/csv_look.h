/* A second look at delimited text after its numbers were read: cells to keep as text, levels that a model does not have. */
#ifndef BROAD_DATA_FORMAT_CSV_LOOK_H
#define BROAD_DATA_FORMAT_CSV_LOOK_H

#include "data/format/csv_scan.h"
#include "data/kept.h"
#include "data/parsed.h"
#include "data/roles.h"

/* `keep`: "all", or columns as option target has them; NULL: none. Unknown levels are looked for where the roles are a
 * model's. To be called before the categories of `parsed` are spread. */
int broad__csv_look(broad__kept *out, const broad__csv *csv, const broad__roles *roles, const broad__layout *layout,
                    const broad__parsed *parsed, const char *keep);

#endif
