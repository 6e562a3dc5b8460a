/* A grid of evidence over a picture: how it is measured and drawn. */
#ifndef BROAD_CLI_PAGE_HEAT_H
#define BROAD_CLI_PAGE_HEAT_H

#include "broad/broad.h"

typedef struct cli_heat {
    broad_explanation grid;
    double full; /* evidence of this size has the strongest colour, unless there are many larger ones */
} cli_heat;

/* The evidence that gets the strongest colour: heat->full, or the size of 95 of 100 cells where that is larger. So a picture
 * in which there is little evidence is not coloured by noise. */
double cli_heat_unit(const cli_heat *heat);

/* Colours the picture: yellow to red evidence for, blue evidence against, linear between the centres of the cells. */
int cli_heat_draw(broad_picture *picture, const cli_heat *heat);

/* What is written below a heat map: the verdict, and what the two ends of the colours mean. */
typedef struct cli_heat_words {
    const char *verdict, *against, *in_favour;
} cli_heat_words;

/* Adds these words and a strip with the colours below the picture: the strongest against on the left. On a narrow
 * picture the ends are marked - and +. */
int cli_heat_strip(broad_picture **picture, const cli_heat_words *words);

#endif
