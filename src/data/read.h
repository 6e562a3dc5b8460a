/* Reading a table: source, detection, format, columns. */
#ifndef BROAD_DATA_READ_H
#define BROAD_DATA_READ_H

#include "data/category.h"
#include "data/places.h"
#include "data/table.h"

/* The columns a model was trained on; the reader picks them from the file by name, or by position without a header. */
typedef struct broad__columns {
    size_t inputs, outputs;
    broad_task task;
    const char *const *input_names;
    const char *const *output_names; /* classes or target columns */
    const char *target_name;         /* target column of a classification */
    const char *group_name;          /* a column to leave out of the inputs; may be NULL */
    const char *weight_name;         /* the same */
    int named;                       /* input_names came from a header */
    broad__categories categories;    /* columns that stand for several inputs each; not owned */
    broad__forms forms;              /* inputs that are dates or truth values; not owned */
    broad__places places;            /* the columns of the training file; not owned */
    broad__photo_spec photo;         /* maps 0: rows are not photos */
    broad__projection projection;    /* of photo.components; not owned */
    broad_missing missing;
} broad__columns;

/* `columns` may be NULL: then options->target and the rest decide. options->model is not looked at here. */
int broad__read(broad_data **out, const char *path, const broad_read_options *options, const broad__columns *columns);

/* The same from bytes in memory, without the file layer; `name` stands for the file in messages. */
int broad__read_bytes(broad_data **out, const char *name, const void *bytes, size_t count,
                      const broad_read_options *options, const broad__columns *columns);

#endif
