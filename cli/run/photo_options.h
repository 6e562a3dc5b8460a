/* How photos are read, as the arguments say: maps, boxes, the detector, the cache. */
#ifndef BROAD_CLI_RUN_PHOTO_OPTIONS_H
#define BROAD_CLI_RUN_PHOTO_OPTIONS_H

#include <limits.h>

#include "arguments.h"
#include "io/detector.h"

/* What rows are read for. */
typedef enum cli_purpose {
    CLI_TO_COMPUTE, /* to train on, to predict, to test */
    CLI_TO_LOOK,    /* to say what the photos are: their inputs do not matter, and the command says all itself */
    CLI_TO_REPORT   /* to report on photos, and on near-duplicates among them */
} cli_purpose;

typedef struct cli_photo_reading {
    broad_photo_options options;
    char cache[PATH_MAX];
    const char *command; /* of the detector; NULL: none */
    double seconds;
    cli_detector *detector; /* NULL: not yet started */
} cli_photo_reading;

/* It must stay where it is until it is closed. */
int cli_photo_reading_open(cli_photo_reading *out, const broad_read_options *read, cli_purpose purpose,
                           const cli_arguments *arguments);
void cli_photo_reading_close(cli_photo_reading *reading); /* after a failure too */

#endif
