/* From a picture to the inputs of a network: which maps, and what they look at. A pure function of the picture and the spec. */
#ifndef BROAD_IMAGE_PHOTO_H
#define BROAD_IMAGE_PHOTO_H

#include "broad/broad.h"
#include "image/image.h"

enum {
    BROAD__PHOTO_SIDE = 384,   /* the longer side that photos are decoded to, unless pixels need more */
    BROAD__PIXELS_SIDE = 32,   /* default side of the square of pixels */
    BROAD__PIXELS_MOST = 512,  /* and the largest */
    BROAD__COPIES_MOST = 1000, /* augmented copies per photo */
    BROAD__MAPS_VERSION = 1 /* of the maps from picture to inputs: part of the model format and of the cache's keys */
};

/* A way of cropping of version 0.1, whose number and word in model files stay taken. */
#define BROAD__CROP_FIND ((broad_crop)1)
#define BROAD__FINDER_REMOVED                                                                                          \
    "the built-in finder of panels was removed in version 0.2: crop with boxes from a file or from a detector instead"

/* How photos are turned into inputs; a model keeps it. maps 0: rows are not photos. */
typedef struct broad__photo_spec {
    size_t version;  /* BROAD__MAPS_VERSION */
    size_t maps;     /* of broad_photo_map; the inputs are those of each in order of its value */
    size_t side;     /* of the square of pixels */
    broad_crop crop; /* never BROAD_CROP_MODEL */
    int each_box;
    size_t components; /* that the inputs of the maps are reduced to: data/transform/projection.h. 0: they are not */
    size_t augment;    /* augmented copies of each that were trained on; prediction uses none */
} broad__photo_spec;

/* Inputs of one map, and of all of a spec. */
size_t broad__map_inputs(unsigned map, size_t side);
size_t broad__photo_inputs(const broad__photo_spec *spec);
/* Columns of a table of such photos: the inputs, or their components. */
size_t broad__photo_columns(const broad__photo_spec *spec);
/* Where the inputs of `map`, one of the spec's, begin. */
size_t broad__photo_first(const broad__photo_spec *spec, unsigned map);
/* "descriptor hue_12", "window 17", "pixel 3,4 red" */
enum { BROAD__INPUT_NAME_BYTES = 48 };
void broad__photo_input_name(char out[BROAD__INPUT_NAME_BYTES], const broad__photo_spec *spec, size_t input);
/* What it is about: "pixels", "windows", or what the histogram of a descriptor counts. Static text. */
const char *broad__photo_input_kind(const broad__photo_spec *spec, size_t input);

/* What the maps of a spec need besides the picture, such as the weights of the windows' nodes: made once, in some
 * milliseconds, then used by any number of threads at a time. */
typedef struct broad__photo_maker broad__photo_maker;
broad__photo_maker *broad__photo_maker_open(const broad__photo_spec *spec); /* NULL: out of memory */
void broad__photo_maker_close(broad__photo_maker *maker);                   /* accepts NULL */

/* The inputs of an upright picture of any size, already cropped. out: broad__photo_inputs() numbers. */
int broad__photo_map(float *out, const broad__photo_maker *maker, const broad__image *image);

/*
 * What the picture would give with a part of it left out, for each cell of a grid: out is cells x inputs, cell by cell, row by
 * row from the top. Descriptors and windows are averages over positions: leaving out a cell leaves its positions out of them.
 * Pixels of the cell take the picture's mean colour. `whole`, unless NULL, gets the inputs of the whole picture.
 */
int broad__photo_occlude(float *out, float *whole, const broad__photo_maker *maker, const broad__image *image,
                         size_t grid_width, size_t grid_height);

#endif
