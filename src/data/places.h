/* Which columns of a file are what: a model remembers it of its training file, so that later files without names are read the
 * same way. */
#ifndef BROAD_DATA_PLACES_H
#define BROAD_DATA_PLACES_H

#include <stddef.h>

enum { BROAD__COLUMNS_MAX = 1 << 22 };

typedef enum broad__role {
    BROAD__ROLE_IGNORED,
    BROAD__ROLE_INPUT,
    BROAD__ROLE_TARGET,
    BROAD__ROLE_GROUP,
    BROAD__ROLE_WEIGHT,
    BROAD__ROLE_CATEGORY /* an input whose values are levels: data/levels.h; not among places */
} broad__role;

/* Columns side by side that have one role. A column of categories counts as one input. */
typedef struct broad__place {
    broad__role role;
    size_t first; /* which input or target the first of them is; else 0 */
    size_t count;
} broad__place;

/* All columns, in the order of the file. None: the inputs, and after them the targets, if any. */
typedef struct broad__places {
    size_t count;
    broad__place *items;
} broad__places;

struct broad__roles;

int broad__places_copy(broad__places *out, const broad__places *from);
void broad__places_clear(broad__places *places);
/* Those of the first `columns` columns. */
int broad__places_take(broad__places *out, const struct broad__roles *roles, size_t columns);
size_t broad__places_width(const broad__places *places);
size_t broad__places_columns(const broad__places *places, broad__role role); /* how many have this role */
/* The number, from 1, of the first column with this role where ignored ones are left out; 0: there is none. */
size_t broad__places_find(const broad__places *places, broad__role role);

/* Whether the last `columns` columns are targets or ignored. */
int broad__places_spare(const broad__places *places, size_t columns);

/* Whether the inputs are the same columns in a file that lacks the columns of the roles in `a`, and in one that lacks those in
 * `b`: bits, 1 << role. */
int broad__places_agree(const broad__places *places, unsigned a, unsigned b);
/* Gives the columns of a file that lacks those of the roles in `without` their roles, but for the roles in `left`. Columns that
 * are group or weight already are passed over. `target_columns` has room for all targets. */
void broad__places_give(struct broad__roles *roles, const broad__places *places, unsigned without, unsigned left);

#endif
