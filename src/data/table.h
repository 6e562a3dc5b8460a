/*
 * A table of rows: what readers make and everything else consumes. Immutable once made.
 *
 * Inputs are doubles, row by row; a missing value is NaN and only there when the reading options allow it. The targets
 * are classes (one number per row, with their names) or values (rows x outputs), or absent.
 *
 * The arrays with an element per row may be spilled: a pass over them releases the rows that it has used.
 */
#ifndef BROAD_DATA_TABLE_H
#define BROAD_DATA_TABLE_H

#include "base/file.h"
#include "base/spill.h"
#include "broad/broad.h"
#include "data/category.h"
#include "data/form.h"
#include "data/kept.h"
#include "data/notes.h"
#include "data/owned.h"
#include "data/places.h"
#include "data/table_done.h"
#include "data/transform/projection_apply.h"
#include "image/photo.h"

/* What is due before a network is trained on photos: the reader knows it, model/train/prepare_photos.h does it. */
typedef struct broad__photo_plan {
    int choose;        /* among the maps, as none were named */
    int project;       /* principal components take the place of the inputs */
    size_t components; /* so many; 0: as many as the rows warrant */
} broad__photo_plan;

/* Rows that come from photos. */
typedef struct broad__photos {
    broad__photo_spec spec;       /* maps 0: they do not, and the rest is 0 */
    broad__projection projection; /* of spec.components; zeroed without */
    broad__photo_plan plan;       /* zeroed: nothing is due */
    broad_photo *items;           /* rows; their texts lie in `texts` */
    char **texts;                 /* one block: file and name of each row; data/text.h */
    size_t skipped_count;
    broad_skipped *skipped;
    char **skipped_texts; /* one block */
} broad__photos;

struct broad_data {
    size_t rows, inputs, outputs;
    broad_task task;       /* BROAD_TASK_AUTO: no targets */
    const char *format;    /* static text */
    broad__spill *spill;   /* what x, classes, values, groups and weights lie in; NULL: memory */
    double *x;             /* rows x inputs */
    broad__owned *owned;   /* which of these rows are here, where ranks have divided them; NULL: all */
    int x_borrowed;        /* x is the caller's, who keeps it until the table is freed */
    broad__mapping x_file; /* of the file that x lies in, where it is only read; bytes NULL: it lies in none */
    size_t *classes;       /* classification: rows */
    double *values;        /* regression: rows x outputs */
    char **input_names;    /* inputs; "x1", "x2", ... where the file gives none. Names lie in one block: data/text.h */
    int named;             /* the file gave input names */
    char **output_names;   /* classification: class labels in order; regression: target columns */
    char *target_name;     /* classification: name of the target column ("target" if unknown) */
    size_t *groups;        /* rows, numbers from 0; NULL without a group column */
    char *group_name;      /* NULL without a group column */
    size_t grid_height, grid_width; /* inputs are the points of pictures of this size; 0: they are not */
    double *weights;                /* rows, each above 0: how much a row counts; NULL: all alike */
    char *weight_name;              /* NULL without such a column */
    broad__photos photos;
    broad_missing missing;        /* policy it was read with */
    broad__kept kept;             /* texts of its file; parts of a table have none */
    broad__categories categories; /* which inputs stand for the levels of one column */
    broad__forms forms;           /* which inputs are dates or truth values */
    broad__places places;         /* which columns of its file were what; with a model, of the training file */
    broad__notes notes;           /* what its reader did; parts of it have none */
    /* How this part was cut from a whole; holdout 0: it is whole. */
    double split_holdout;
    uint64_t split_seed;
};

/* Allocates the arrays for `rows` x `inputs` with nothing else filled in. */
int broad__table_new(broad_data **out, size_t rows, size_t inputs);
void broad__table_free(broad_data *table); /* accepts NULL and half-built ones */

/* Whether arrays of this many bytes are to be spilled if the process should hold `memory` bytes; 0: no limit. */
int broad__table_spills(size_t bytes, size_t memory);

/* A new table of the given rows, all of them on every rank. */
int broad__table_rows(broad_data **out, const broad_data *table, const size_t *rows, size_t count);
/* The same, divided among the ranks if the table is and there are enough rows. */
int broad__table_deal(broad_data **out, const broad_data *table, const size_t *rows, size_t count);

/* For a call that needs all inputs, and for one that can share the rows out, in which only ranks are missing; of all ranks. */
int broad__table_gather(const broad_data *table);
int broad__table_meet(const broad_data *table);
int broad__table_divided(const broad_data *table); /* inputs of some rows are not here */

/* `count` rows, the first in an order that does not depend on how they lie (data/row_order.h): files are often sorted. */
int broad__table_thin(broad_data **out, const broad_data *table, size_t count);

/* Rows of a, then rows of b, with the names and the split of a. The classes of one may continue those of the other. The groups
 * of b differ from those of a, whatever they were called; if only one table has groups, each row of the other becomes a group
 * of its own. */
int broad__table_append(broad_data **out, const broad_data *a, const broad_data *b);

/* The targets as the network sees them: rows x outputs; one-hot for classes. `out` has that size. */
void broad__table_targets(double *out, const broad_data *table);
/* The same for rows [first, first + count), whose memory is not released. */
void broad__table_target_rows(double *out, const broad_data *table, size_t first, size_t count);

/* Fingerprint of rows [first, first + count): inputs, targets and weights as numbers, order-sensitive. 33 bytes of hex
 * text. */
int broad__table_fingerprint(char out[33], const broad_data *table, size_t first, size_t count);

#endif
