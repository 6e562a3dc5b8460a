/*
 * The table of training options: the only place that knows their names, types, limits, choices and defaults. Parsing,
 * printing, checking and every front end go by it.
 */
#ifndef BROAD_MODEL_OPTION_TABLE_H
#define BROAD_MODEL_OPTION_TABLE_H

#include "broad/broad.h"

typedef enum broad__value_type {
    BROAD__VALUE_CHOICE,        /* field: enum                                        */
    BROAD__VALUE_SIZE,          /* field: size_t                                      */
    BROAD__VALUE_UINT64,        /* field: uint64_t                                    */
    BROAD__VALUE_REAL,          /* field: double                                      */
    BROAD__VALUE_REAL_OR_AUTO,  /* field: double, partner: int, 1 for auto            */
    BROAD__VALUE_SIZES,         /* "AxB". field: size_t A, partner: size_t B          */
    BROAD__VALUE_SIZES_OR_AUTO, /* the same, or auto: features_auto                   */
    BROAD__VALUE_REALS,         /* "a,b,c". field: double[], partner: size_t count    */
    BROAD__VALUE_GAMMA,         /* "harmonic:c", "constant:g" or "list:a,b,c"         */
    BROAD__VALUE_BYTES,         /* "512M", "1.5G". field: size_t                      */
    BROAD__VALUE_PART,          /* "12.5" or "30%". field: double, partner: int, 1 for a fraction */
    BROAD__VALUE_TEXT           /* field: const char *, not copied                    */
} broad__value_type;

typedef struct broad__option_row {
    broad_option option;
    broad__value_type type;
    size_t field, partner; /* offsets in broad_options */
    double min, max;     /* of the value; of A for AxB; max of a choice: its largest value if later words are aliases */
    double partner_max;  /* of B for AxB */
    const char *expects; /* what to give; NULL: said by the choices or the limits */
    void (*follow)(broad_options *options); /* what else follows from a new value */
} broad__option_row;

typedef struct broad__limits {
    double min, max;
} broad__limits;

size_t broad__option_rows(const broad__option_row **out); /* returns their number */
broad__limits broad__gamma_limits(broad_gamma_form form);

/* What to give, in words, for a message. */
enum { BROAD__EXPECTS_BYTES = 256 };
const char *broad__option_expects(char out[BROAD__EXPECTS_BYTES], const broad__option_row *row);

#endif
