/* The demonstration on photos: its files, photos and results so far. */
#ifndef BROAD_CLI_DEMO_DEMO_STORY_H
#define BROAD_CLI_DEMO_DEMO_STORY_H

#include "io/json.h"

enum { DEMO_PATH_BYTES = 4096, DEMO_NAME_BYTES = 32, DEMO_CORRECTIONS_MOST = 10 };

extern const char *const demo_classes[2]; /* names of the folders that broad render makes */

/* All are inside DIR. */
typedef enum demo_place {
    DEMO_MARK, /* says that the others are ours, to be replaced by the next run */
    DEMO_PHOTOS,
    DEMO_PHOTOS_TRUTH,
    DEMO_NEW,
    DEMO_NEW_TRUTH,
    DEMO_MODEL,
    DEMO_CORRECTED,
    DEMO_CORRECTED_MODEL,
    DEMO_HEATMAPS,
    DEMO_REPORT,
    DEMO_CACHE,
    DEMO_PLACES
} demo_place;

typedef struct demo_verdict {
    int label;          /* of demo_classes */
    double probability; /* of the second class */
} demo_verdict;

/* A photo without a label. */
typedef struct demo_photo {
    char name[DEMO_NAME_BYTES];
    int truth; /* of demo_classes */
    int corrected;
    demo_verdict before, after; /* the correction */
} demo_photo;

typedef struct demo_story {
    const cli_arguments *arguments;
    const char *folder;
    uint64_t seed;
    size_t count, fresh_count, corrections;
    int noted; /* what there is to note about the photos has been: later steps do not repeat it */
    char at[DEMO_PLACES][DEMO_PATH_BYTES];
    demo_photo *fresh;
    json_t *fit, *learn, *verify, *report; /* results of these commands */
    struct {
        double render, fit, predict, learn, verify, report, total;
    } seconds;
} demo_story;

int demo_is_right(const demo_photo *photo, const demo_verdict *verdict);
/* Right verdicts after the correction, or before it, among those that were corrected, or the others. */
size_t demo_count_right(const demo_story *story, int after, int corrected);
double demo_accuracy(const json_t *result, const char *part); /* NaN: it has none */

#endif
