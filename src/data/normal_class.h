/* The class that means "nothing wrong". */
#ifndef BROAD_DATA_NORMAL_CLASS_H
#define BROAD_DATA_NORMAL_CLASS_H

#include <stddef.h>

#include "data/table.h"

enum { BROAD__NO_CLASS = -1 };

/* By its name, in any case and with blanks, hyphens or underscores: one of "clean", "ok", "good" and the like; else a name
 * such as "no damage"; else the only one with such a word in it, as in "panel clean". BROAD__NO_CLASS where none tells. */
int broad__normal_by_name(char *const *names, size_t count);

/* The class with the most rows, the first of equals. The data must have classes. */
int broad__normal_by_rows(size_t *out, const broad_data *data);

#endif
