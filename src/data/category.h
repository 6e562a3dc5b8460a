/* Columns of categories: each becomes one input per level, 1 where a row has that level and 0 elsewhere. */
#ifndef BROAD_DATA_CATEGORY_H
#define BROAD_DATA_CATEGORY_H

#include <stddef.h>

enum { BROAD__LEVELS_MAX = 10000 }; /* of one column */

typedef struct broad__category {
    char *name;    /* of the column; its inputs are called "name=level" */
    size_t first;  /* its first input */
    size_t count;  /* its levels: inputs first ... first + count - 1 */
    char **levels; /* count, each a block of its own; sorted as classes are */
} broad__category;

/* In the order of their inputs. */
typedef struct broad__categories {
    size_t count;
    broad__category *items;
} broad__categories;

int broad__categories_copy(broad__categories *out, const broad__categories *from);
int broad__categories_same(const broad__categories *a, const broad__categories *b);
void broad__categories_clear(broad__categories *categories); /* accepts half-built ones */

/* Names of the inputs from those of their columns: "name=level" in the place of "name". Without categories it is
 * `fields` itself. */
char **broad__category_inputs(char **fields, size_t inputs, const broad__categories *categories);

/* The column of categories whose first input this is; NULL: there is none. */
const broad__category *broad__categories_at(const broad__categories *categories, size_t input);
/* Columns that `inputs` inputs came from. */
size_t broad__categories_columns(const broad__categories *categories, size_t inputs);

#endif
