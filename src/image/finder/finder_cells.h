/* What the finder knows of a picture: numbers for each cell of a coarse grid. */
#ifndef BROAD_IMAGE_FINDER_FINDER_CELLS_H
#define BROAD_IMAGE_FINDER_FINDER_CELLS_H

#include "image/image.h"

enum {
    BROAD__FINDER_SIDE = 256, /* the longer side that is worked at */
    BROAD__FINDER_CELL = 8    /* pixels of a cell's side */
};

/* Where the numbers of a cell begin; what follows one up to the next are its powers and products. */
enum {
    BROAD__FACT_ONE,
    BROAD__FACT_BRIGHT = 1,
    BROAD__FACT_BLUE = 3,
    BROAD__FACT_GREEN = 5,
    BROAD__FACT_CONTRAST = 7,
    BROAD__FACT_ENERGY = 10,
    BROAD__FACT_LINES = 12,
    BROAD__FACT_EVEN = 15,
    BROAD__FACT_QUIET = 17,
    BROAD__FACT_NEAR_ENERGY = 19,
    BROAD__FACT_FRAMES = 20,
    BROAD__FACT_PLACE = 23,
    BROAD__FINDER_FACTS = 26
};

/* out: for each cell, row by row, BROAD__FINDER_FACTS numbers, as a block for broad__free(). The picture must not have a side
 * longer than BROAD__FINDER_SIDE. Cells at the right and the lower edge may be cut off. */
int broad__finder_cells(float **out, size_t *out_columns, size_t *out_rows, const broad__image *image);

#endif
