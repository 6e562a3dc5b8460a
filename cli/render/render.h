/* Photos of solar panels, clean or dirty, drawn from numbers: what `broad demo` learns from. A photo depends on
 * (seed, index, spec) alone, so photos can be made in any order and by any thread. */
#ifndef BROAD_CLI_RENDER_RENDER_H
#define BROAD_CLI_RENDER_RENDER_H

#include <stddef.h>
#include <stdint.h>

enum { CLI_RENDER_SIDE = 256, CLI_RENDER_SIDE_MIN = 16, CLI_RENDER_SIDE_MAX = 8192 };

/* Severity 0 to 1 is the light that the dirt keeps from the cells: mean transmittance = 1 - CLI_RENDER_LOSS * severity.
 * Photos that are drawn by class leave a gap around the boundary, so that no label is a matter of taste. */
#define CLI_RENDER_LOSS 0.6
#define CLI_RENDER_BOUNDARY 0.15
#define CLI_RENDER_CLEAN_MOST 0.06
#define CLI_RENDER_DUSTY_LEAST 0.26

typedef enum cli_render_class { CLI_RENDER_ANY, CLI_RENDER_CLEAN, CLI_RENDER_DUSTY } cli_render_class;

typedef enum cli_render_dirt {
    CLI_RENDER_DUST = 1,
    CLI_RENDER_STREAKS = 2,
    CLI_RENDER_DROPPINGS = 4,
    CLI_RENDER_LEAVES = 8,
    CLI_RENDER_POLLEN = 16
} cli_render_dirt;

/* Only the dirt follows from a spec: place, light and camera are the same for all specs of one (seed, index). */
typedef struct cli_render_spec {
    cli_render_class wanted;
    int use_severity; /* `severity` instead of one drawn for the class wanted */
    double severity;
    unsigned dirt;         /* kinds that may occur, cli_render_dirt added up; 0: all. Dust or pollen is always there */
    unsigned char *panel;  /* width * height or NULL: set to the share of the pixel that the panel fills, 255 for all */
    unsigned char *dimmed; /* width * height or NULL: set to the light that dirt keeps off the panel, 255 for all */
} cli_render_spec;

typedef struct cli_render_truth {
    cli_render_class class_is; /* by severity; never CLI_RENDER_ANY */
    double severity;           /* asked for, or drawn */
    double transmittance;      /* mean over the pixels of the panel */
    double coverage;           /* share of the panel's pixels that lose more than a tenth of their light */
    double panel_share;        /* of the photo */
    unsigned dirt;             /* kinds that can be seen, cli_render_dirt added up */
    size_t box[4];             /* of what is seen of the panel: left, top, right, bottom, the latter two not included */
} cli_render_truth;

/* rgb: width * height * 3 bytes, row by row from the top. 2^48 indices are told apart. spec may be NULL (any class), and so may out. */
int cli_render_photo(unsigned char *rgb, size_t width, size_t height, uint64_t seed, size_t index,
                     const cli_render_spec *spec, cli_render_truth *out);

#endif
