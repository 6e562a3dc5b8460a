/* Planes of a picture and the counting over them; for descriptors*.c alone. */
#ifndef BROAD_IMAGE_DESCRIPTOR_DESCRIPTORS_WORK_H
#define BROAD_IMAGE_DESCRIPTOR_DESCRIPTORS_WORK_H

#include "image/descriptor/descriptors.h"

enum {
    BROAD__TEXTURE_LEVELS = 4,
    BROAD__PLANE_LEVELS = 6,
    BROAD__MANY_ROWS = 100,
    BROAD__PLANE_UNIT = 16, /* brightness levels are in 16ths, so that means over areas lose little */
    /* Neighbouring pixels often fall into the same bin. They are counted in lanes of their own, as adding to what was
     * stored an instruction ago is slow. */
    BROAD__COUNT_LANES = 4,

    BROAD__PATTERNS = 3, /* below, above, beyond */
    BROAD__PATTERN_BINS = 30,
    BROAD__COLOUR_BINS = 16,
    BROAD__RED_BLUE_BINS = 12, /* with the brightness */
    BROAD__LIGHT_BINS = 8,
    BROAD__CONTRAST_BINS = 11,
    BROAD__CONTRAST_SCALES = 3,

    BROAD__COLOURS = 11,
    BROAD__WORD_ROWS = BROAD__COLOURS + 1,
    BROAD__CONTRASTS = 3, /* brightness, red minus blue, saturation */

    /* Where each family begins. */
    BROAD__AT_LIGHT = 0,
    BROAD__AT_HAZE = BROAD__AT_LIGHT + BROAD__TEXTURE_LEVELS * BROAD__PATTERNS * BROAD__PATTERN_BINS,
    BROAD__AT_COLOUR = BROAD__AT_HAZE + BROAD__TEXTURE_LEVELS * BROAD__PATTERNS * BROAD__PATTERN_BINS,
    BROAD__AT_JOINT = BROAD__AT_COLOUR + BROAD__COLOURS * BROAD__COLOUR_BINS,
    BROAD__AT_CONTRAST = BROAD__AT_JOINT + BROAD__RED_BLUE_BINS * BROAD__LIGHT_BINS,
    BROAD__DESCRIPTORS = BROAD__AT_CONTRAST + BROAD__CONTRASTS * BROAD__CONTRAST_SCALES * BROAD__CONTRAST_BINS
};

/* Values times BROAD__PLANE_UNIT, below 4096. */
typedef struct broad__plane {
    size_t width, height;
    int16_t *values;
} broad__plane;

typedef struct broad__descriptor_work {
    broad__plane light[BROAD__PLANE_LEVELS];
    broad__plane haze[BROAD__TEXTURE_LEVELS];
    /* From half the size on, like light + 1. Red minus blue is (red - blue + 256) / 2. */
    broad__plane red_blue[BROAD__PLANE_LEVELS - 1];
    broad__plane saturation[BROAD__PLANE_LEVELS - 1];
    unsigned char *half; /* the picture at half the size; three bytes per pixel */
    uint16_t *words;     /* BROAD__WORD_ROWS rows of word_stride, for the pixels to be counted */
    size_t word_stride;
    size_t *edges; /* grid width + 1: where the cells of a row begin, in pixels of the current plane */
    void *block;   /* all of the above */
} broad__descriptor_work;

int broad__descriptor_work_make(broad__descriptor_work *out, const broad__image *image, size_t grid_width);
void broad__descriptor_work_free(broad__descriptor_work *work);

/* Half the width and height, of which none vanishes. A last odd row or column is left out. */
void broad__plane_halve(broad__plane *out, const broad__plane *plane);

/* The distance between counted rows: if there are many, every second one is enough. */
size_t broad__count_step(const broad__plane *plane);

/* A row of a plane to be counted: table[words[i]] is the bin of pixel first + i. */
typedef struct broad__counted_row {
    const unsigned char *table;
    const uint16_t *words; /* count */
    size_t first, count;
} broad__counted_row;

/* Counts a row of cells `cell_row`, whose edges are work->edges, in the histogram that begins at descriptor `at`. */
void broad__count_row(const broad__descriptor_grid *grid, const broad__descriptor_work *work, size_t cell_row,
                      size_t at, broad__counted_row row);
void broad__count_edges(broad__descriptor_work *work, const broad__descriptor_grid *grid, size_t width);

#endif
