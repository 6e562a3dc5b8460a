/*
 * The flat form: a model as exported programs see it, the one thing that every writer reads.
 *
 *   row        columns of a table (a number each, or the code of a level), or a picture, or prepared inputs of a photo
 *   -> inputs  levels spread out, missing values filled in; of photos the principal components
 *   -> x       scaled
 *   -> z       feature nodes, or x itself where they are direct
 *   -> h       enhancement nodes: all layers side by side, whatever was added when
 *   -> scores  = from_z' z + from_h' h + shift, in the units of the targets; chain and joint weights alike
 *   -> class and probabilities, or intervals
 *
 * Sums over the layers are taken at once, so scores differ from the library's by rounding.
 */
#ifndef BROAD_EXPORT_FLAT_H
#define BROAD_EXPORT_FLAT_H

#include "model/predict/confidence.h"

/* What a row consists of. */
typedef enum broad__flat_row {
    BROAD__FLAT_COLUMNS, /* the columns of a table */
    BROAD__FLAT_PICTURE, /* side x side x 3 bytes: the picture, cropped and resized, red, green, blue */
    BROAD__FLAT_PREPARED /* what the maps make of a photo, as 'broad data --export' writes it */
} broad__flat_row;

typedef struct broad__flat_column {
    const char *name;
    size_t first;                    /* its input, or the first of them */
    const broad__category *category; /* NULL: a number */
    size_t missing;                  /* the level of missing cells; category->count: there is none */
    broad__form form;
} broad__flat_column;

/* Nodes of one group or layer. */
typedef struct broad__flat_block {
    size_t nodes, inputs;
    broad__draw draw; /* that the seed gives them by, where all are drawn */
} broad__flat_block;

/* All feature nodes, or all enhancement nodes. */
typedef struct broad__flat_nodes {
    broad_activation activation;
    size_t nodes;
    size_t widest; /* inputs of a node at most; a node reads the first ones */
    size_t block_count;
    broad__flat_block *blocks;
    size_t weights; /* how many there are */
    double *weight; /* node by node, each as many as its block has inputs */
    double *bias;   /* nodes */
    int drawn;      /* the seed gives all of these numbers, bit for bit */
} broad__flat_nodes;

/* Points into the model, which outlives it. */
typedef struct broad__flat {
    const broad_model *model;
    broad__flat_row row;
    size_t column_count;         /* numbers of a row */
    broad__flat_column *columns; /* NULL: a picture or prepared inputs */
    size_t components;           /* that a photo is reduced to by the model's projection; 0: it is not */
    int categories;              /* some columns have levels */
    int missing;                 /* missing values are filled in; otherwise they are an error */
    broad__scaling scaling;
    size_t features; /* numbers of z */
    int direct;      /* z is x */
    broad__flat_nodes feature, layer;
    size_t outputs;
    double *from_z, *from_h; /* features x outputs, layer.nodes x outputs */
    const double *shift;     /* outputs */
    broad__confidence confidence;
    double level;  /* of the intervals; 0: none */
    double *reach; /* outputs: how far they reach in the mean; NULL: none */
} broad__flat;

/* level 0: intervals of level 0.9 where the model has them; else BROAD_USAGE where it does not. */
int broad__flat_make(broad__flat *out, const broad_model *model, double level);
void broad__flat_clear(broad__flat *flat); /* accepts a half-made one */

int broad__flat_has_probabilities(const broad__flat *flat);
/* Numbers of a row; and a row of the inputs of a model of tables as a row of columns: levels become codes. */
size_t broad__flat_columns(const broad_model *model);
void broad__flat_codes(double *out, const broad_model *model, const double *inputs);
/* Distinct knots of an input that is scaled by rank: the others repeat the last one. */
size_t broad__flat_knots(const broad__flat *flat, size_t input);

#endif
