/*
 * The pictures of a report: which photos get a card, with a heat map and large pictures in the folder `.pictures`, which no reader of photos looks into, and a
 * thumbnail of every photo. The size of the page is bounded: after the first 1,000 photos, thumbnails are files as well.
 */
#ifndef BROAD_CLI_PAGE_REPORT_PICTURES_H
#define BROAD_CLI_PAGE_REPORT_PICTURES_H

#include "io/folder.h"
#include "page/findings.h"
#include "page/heatmap.h"

/* Why a photo has a card; of a regression: it is among the largest values, unlike, or in the sample. */
typedef enum cli_card {
    CLI_CARD_NONE,
    CLI_CARD_FAULT,
    CLI_CARD_UNLIKE, /* the training photos */
    CLI_CARD_UNSURE,
    CLI_CARD_BORDERLINE, /* of the normal class, and the next ones to be faults */
    CLI_CARD_SAMPLE,     /* chosen at random among the others */
    CLI_CARD_COUNT
} cli_card;

typedef struct cli_jpeg {
    void *bytes; /* broad_free() */
    size_t count, width, height;
} cli_jpeg;

/* Of one finding. */
typedef struct cli_report_picture {
    cli_card card;
    cli_jpeg thumb;       /* no bytes: it is a file */
    cli_jpeg photo, heat; /* of cards */
    size_t heat_output;
} cli_report_picture;

typedef struct cli_report_pictures {
    const cli_findings *findings;
    const cli_folder *folder;
    cli_heat_maker *maker;
    cli_report_picture *items; /* in order of the findings */
    size_t card_count;
    cli_links links; /* to the large picture of a card, else to the photo itself */
} cli_report_pictures;

enum { CLI_THUMBS_INSIDE = 1000, CLI_THUMB_NAME = 48 };

/* `cards`: at most so many for faults and unsure photos; up to 12 borderline ones and a sample of 12 are added. `seen_from`: the
 * folder that links start from. */
int cli_report_pictures_make(cli_report_pictures *out, const cli_findings *findings, cli_heat_maker *maker,
                             const cli_folder *folder, size_t cards, size_t threads, const cli_arguments *arguments);
void cli_report_pictures_clear(cli_report_pictures *pictures); /* accepts a zeroed one */

void cli_thumb_name(char out[CLI_THUMB_NAME], size_t index); /* of the file of a thumbnail, as seen from the report */

#endif
