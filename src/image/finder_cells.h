/* What the finder knows of a picture: numbers for each cell of a coarse grid. */
#ifndef BROAD_IMAGE_FINDER_CELLS_H
#define BROAD_IMAGE_FINDER_CELLS_H

#include "image/image.h"

enum {
    BROAD__FINDER_SIDE = 256, /* the longer side that is worked at */
    BROAD__FINDER_CELL = 8,   /* pixels of a cell's side */
    BROAD__FINDER_FACTS = 20  /* numbers of a cell */
};

/* out: for each cell, row by row, BROAD__FINDER_FACTS numbers, as a block for broad__free(). The picture must not have a side
 * longer than BROAD__FINDER_SIDE. Cells at the right and the lower edge may be cut off. */
int broad__finder_cells(float **out, size_t *out_columns, size_t *out_rows, const broad__image *image);

#endif
