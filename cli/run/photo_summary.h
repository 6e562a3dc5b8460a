/* What there is to say about photos that were read: near-duplicates, skipped files, and the choice of maps. */
#ifndef BROAD_CLI_RUN_PHOTO_SUMMARY_H
#define BROAD_CLI_RUN_PHOTO_SUMMARY_H

#include "arguments.h"
#include "io/json.h"

/* Near-duplicates and their labels. */
typedef struct cli_photo_facts {
    size_t photos, copies;  /* files that rows come from; rows that are augmented copies */
    size_t groups, grouped; /* groups of two photos and more; photos in them */
    size_t contradictions;  /* photos whose class is not that of the first photo of their group */
    size_t (*pairs)[2];     /* the row of that first one, and theirs; owned */
} cli_photo_facts;

int cli_photo_facts_make(cli_photo_facts *out, const broad_data *data);
void cli_photo_facts_clear(cli_photo_facts *facts); /* accepts one that was zeroed */

int cli_photos_grouped(const broad_data *data); /* whether rows of photos belong together; 0 for other rows */

void cli_note_skipped(const broad_data *data, const cli_arguments *arguments);
/* Photos that are too dark, too bright, blurred or too small; of those that the model is to judge, first the ones that
 * are not like the training photos. Photos to train on are what the model gets to know: of them that would say nothing. */
void cli_note_doubtful(const broad_data *data, int judged, const cli_arguments *arguments);
void cli_note_facts(const broad_data *data, const cli_photo_facts *facts, const cli_arguments *arguments);
/* Adds to a "photos" member: read, copies, skipped, unlike, faults, groups, grouped, contradictions. */
void cli_photos_record(json_t *record, const broad_data *data, const cli_photo_facts *facts);

/* ---- maps ---- */

enum { CLI_MAPS = 3 };
extern const char *const cli_map_names[CLI_MAPS];             /* of broad_photo_map, by the number of its bit */
void cli_format_maps(char *out, size_t bytes, unsigned maps); /* "descriptors + windows" */
json_t *cli_maps_json(unsigned maps);                         /* ["descriptors", "windows"] */

/* "inputs   70 components of windows (leave-one-out error 0.31; descriptors 0.35, ...)"; nothing where maps is 0. Where an
 * error that was not chosen is smaller, the line says why. */
void cli_print_maps(const broad_map_choice *choice, unsigned maps, size_t components);
/* Adds "maps" and "map_errors" to a "photos" member; record NULL: nothing. */
void cli_record_maps(json_t *record, const broad_map_choice *choice, unsigned maps);

#endif
