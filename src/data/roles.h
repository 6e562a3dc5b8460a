/* The roles of the columns of a file: input, target, group, weight. */
#ifndef BROAD_DATA_ROLES_H
#define BROAD_DATA_ROLES_H

#include <stdint.h>

#include "data/format/cell.h"
#include "data/places.h"
#include "data/read.h"

enum { BROAD__CATEGORIES_MAX = 1 << 16 };

/* What options say about a column. */
typedef enum broad__asked { BROAD__ASKED_NOTHING, BROAD__ASKED_INPUT, BROAD__ASKED_IGNORED } broad__asked;

typedef struct broad__roles {
    size_t columns, inputs, targets, groups, weights; /* inputs: columns; groups, weights: 0 or 1 */
    unsigned char *role;                              /* columns */
    uint32_t *index;                                  /* columns: which input or target it is */
    size_t *target_columns;                           /* targets */
    size_t group_column, weight_column;
    int chosen;    /* the target columns were asked for, not taken by default */
    int automatic; /* what the inputs hold decides what becomes of them: data/format/csv_profile.h */
    int modelled;  /* a model says what the columns are */

    size_t categories;           /* inputs that are categories ... */
    size_t *category_inputs;     /* ... and which inputs they are, rising */
    uint32_t *category;          /* columns: which category it is; NULL: there are none */
    broad__cell_format *formats; /* columns: how their cells are read */
    unsigned char *asked;        /* columns: broad__asked */
} broad__roles;

/* What is known about a file when its columns get their roles. */
typedef struct broad__layout {
    const char *file;
    size_t columns;
    char *const *names; /* NULL: no header */
    int flattened;      /* rows are images or the like: no column of them is a target */
    size_t trailing;    /* columns at the end that are empty: they have no role */
} broad__layout;

/* For the file with the inputs. */
int broad__roles_table(broad__roles *out, const broad__layout *layout, const broad_read_options *options,
                       const broad__columns *model);
/* Numbers the categories, once their role is given. To be called before the file is read. */
int broad__roles_categories(broad__roles *roles, const broad__layout *layout);
/* Numbers the inputs again, after some of them lost their role. */
int broad__roles_renumber(broad__roles *roles, const broad__layout *layout);
/* For a file that has only targets. */
int broad__roles_labels(broad__roles *out, const broad__layout *layout, const broad_read_options *options,
                        const broad__columns *model);
/* For a list of photos: the column called "file", or the first one, is target 0; the targets themselves come after it. */
int broad__roles_photos(broad__roles *out, const broad__layout *layout, const broad_read_options *options,
                        const broad__columns *model);
/* Columns by names or numbers, as option target has them; `out` has room for all columns. */
int broad__roles_list(size_t *out, size_t *out_count, const broad__layout *layout, const char *list,
                      const char *option);
void broad__roles_clear(broad__roles *roles);

/* The column of each of the model's inputs by name, the k-th of equal names for the k-th; `columns` for none. */
int broad__roles_match(size_t *out, char *const *names, size_t columns, const broad__columns *model);

/* The name of a column: from the header, else the number it was asked for by, else `otherwise`. */
char *broad__roles_name(const broad__layout *layout, size_t column, int chosen, const char *otherwise);

#endif
