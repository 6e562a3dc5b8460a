/*
 * Columns of categories on their way from a file to the table.
 *
 * While a file is read such a column has one cell per row like any other, the number of its level; NaN if it is missing.
 * Levels are numbered in the order they come, or as in the model. When all rows have been read, each of these columns is spread
 * over as many inputs as it has levels.
 */
#ifndef BROAD_DATA_LEVELS_H
#define BROAD_DATA_LEVELS_H

#include "data/category.h"
#include "data/parsed.h"
#include "data/roles.h"

/* The level of rows whose cell is missing, where that is allowed. */
#define BROAD__LEVEL_MISSING "(missing)"

/* One set for each category of the roles; those of the model if there is one. */
int broad__levels_open(broad__parsed *parsed, const broad__roles *roles, const broad__categories *model);

/* What is wrong with a level. */
typedef enum broad__level_fault {
    BROAD__LEVEL_GOOD,
    BROAD__LEVEL_UNKNOWN, /* to the model */
    BROAD__LEVEL_TOO_MANY,
    BROAD__LEVEL_NOT_UTF8
} broad__level_fault;

/* The number of a level, NaN for one that the model does not have (`closed`). A new one is copied to `keep`, or stays where
 * it is if that is NULL. */
int broad__level_number(double *out, broad__level_fault *out_fault, broad__text_set *levels, int closed,
                        broad__text text, broad__arena *keep);

/* A message about a level that is at fault: "where: 'red' is ...". `column` names the column for the user. */
int broad__level_fail(const broad__parsed *parsed, size_t category, broad__text text, broad__level_fault fault,
                      const char *where, const char *column);

/* Limits for the size of the spread table. */
typedef struct broad__level_limits {
    size_t bytes;  /* of the file */
    size_t memory; /* that the process should hold; 0: no limit */
} broad__level_limits;

/* Spreads the inputs of `parsed`; `out` says which became what. `names`: of the columns that are inputs. */
int broad__levels_spread(broad__categories *out, broad__parsed *parsed, const broad__roles *roles, char *const *names,
                         const broad__categories *model, broad__level_limits limits);

#endif
