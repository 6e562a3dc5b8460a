/* Where the rows of a model came from: files and folders as they were given, and of photos what they are recognised by. */
#ifndef BROAD_MODEL_TRAINED_FILES_H
#define BROAD_MODEL_TRAINED_FILES_H

#include "base/hash.h"
#include "broad/broad.h"

typedef struct broad__trained_photo {
    char *file;                     /* as it was opened */
    char content[BROAD__HASH_TEXT]; /* of its bytes */
    size_t rows;                    /* of it: boxes, augmented copies */
    int held_out;                   /* not trained on */
    size_t target;                  /* number of its class, from 1; 0: it has none */
} broad__trained_photo;

typedef struct broad__trained_file {
    char *path;
    char *labels; /* NULL: none */
    size_t rows;  /* trained on */
    size_t photo_count;
    broad__trained_photo *photos; /* NULL: a table */
} broad__trained_file;

typedef struct broad__trained_files {
    size_t count;
    broad__trained_file *items;
} broad__trained_files;

void broad__trained_files_clear(broad__trained_files *sources); /* accepts half-built ones */
int broad__trained_files_copy(broad__trained_files *out, const broad__trained_files *sources);
/* One more at the end. One of `rows` and `held_out` may be NULL. */
int broad__trained_files_add(broad__trained_files *sources, const char *path, const char *labels,
                             const broad_data *rows, const broad_data *held_out);

#endif
