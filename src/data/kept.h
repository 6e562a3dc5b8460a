/* What a table keeps of its file besides numbers: the text of some columns, and what was unknown to the model. */
#ifndef BROAD_DATA_KEPT_H
#define BROAD_DATA_KEPT_H

#include <stddef.h>

#include "data/text.h"

typedef struct broad__kept {
    size_t columns;
    char **names; /* columns; one block */
    size_t *at;   /* rows x columns: where in `text` a cell begins; it ends with a NUL */
    char *text;   /* of all cells */
    size_t cells, at_capacity, bytes, text_capacity;
    size_t categories;
    size_t *unknown; /* categories: rows with a level that the model does not have */
    char **first;    /* categories: the first of them; "" where there is none */
} broad__kept;

int broad__kept_add(broad__kept *kept, broad__text cell); /* cells come row by row */
void broad__kept_clear(broad__kept *kept);                /* accepts a zeroed one */

#endif
