/* A grid of opinions over a picture: how it is smoothed, measured and drawn. */
#ifndef BROAD_CLI_PAGE_HEAT_H
#define BROAD_CLI_PAGE_HEAT_H

#include "image/image.h"

typedef struct cli_heat {
    size_t width, height; /* cells */
    double *cells; /* opinions, row by row from the top; above 0: evidence for, below 0: against; broad__free() */
    double clear;  /* an opinion above this is clear */
    double full;   /* and one of this size has the strongest colour, unless there are many larger ones */
} cli_heat;

void cli_heat_clear(cli_heat *heat);

/* Cells for a picture of this size: as many as the windows map has windows. */
void cli_heat_grid(size_t *out_width, size_t *out_height, size_t width, size_t height);

/* Means over neighbouring cells with weights 1 2 1 along both sides; at the border with those that are there. */
int cli_heat_smooth(cli_heat *heat);

/* The part of the cells whose opinion is clear. */
double cli_heat_area(const cli_heat *heat);

/* The opinion that gets the strongest colour: heat->full, or the size of 95 of 100 cells where that is larger. So a picture
 * with little evidence is not coloured by noise. */
double cli_heat_unit(const cli_heat *heat);

/* Colours the picture: yellow to red the evidence for, blue the evidence against, linear between the centres of the cells. */
int cli_heat_draw(broad__image *picture, const cli_heat *heat);

/* Adds a strip with the colours below the picture: the strongest against on the left, the strongest for on the right. */
int cli_heat_strip(broad__image *picture);

#endif
