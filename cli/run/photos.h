/*
 * Photos on the command line: which arguments are read as photos and how, with a bar on the way; what is said about them
 * afterwards.
 */
#ifndef BROAD_CLI_RUN_PHOTOS_H
#define BROAD_CLI_RUN_PHOTOS_H

#include "io/json.h"
#include "run/files.h"

/* ---- paths ---- */

/* Names of files and folders, in order. */
typedef struct cli_paths {
    size_t count;
    const char **items;
    char *lines; /* that they lie in, where they came from standard input; else NULL */
} cli_paths;

/* The arguments from number `first` on. Where `listed`, a lone "-" is a list of names on standard input, one a line. */
int cli_paths_take(cli_paths *out, const cli_arguments *arguments, size_t first, int listed);
void cli_paths_clear(cli_paths *paths); /* accepts one that was zeroed */

/* ---- reading ---- */

/*
 * Rows for a command: photos where the model in the options is one of photos, or where the only path is a folder; else a
 * table, of which there is one path. How photos are read is taken from the arguments; an interrupt ends it with
 * BROAD_INTERRUPTED. What was left out is noted on standard error, and without a model what looks wrong too.
 *
 * `record`, unless NULL, is for the member "photos" of a JSON result: an object is made if there is none, or added to.
 * Nothing is done to it where the rows are not photos.
 */
int cli_read(broad_data **out, json_t **record, const char *const *paths, size_t count,
             const broad_read_options *options, const cli_arguments *arguments);

int cli_is_folder(const char *path);

/* The rows of a path with targets, for training; a remark where a regression looks like classes (rows.c). */
int cli_read_table(broad_data **out, json_t **record, const char *path, const broad_read_options *read,
                   const cli_arguments *arguments);
/* The rows a model was trained on, from the files or folders it was trained on: of the first the training part, of the
 * others all. out_apart, unless NULL, gets the rows of the first that fit kept apart, and stays where there are none
 * (rows.c). */
int cli_read_training(broad_data **out, broad_data **out_apart, json_t **record, const broad_model *model,
                      const cli_arguments *arguments, const cli_files *files);

/* ---- what there is to say about them (photo_notes.c) ---- */

/* Near-duplicates and their labels. */
typedef struct cli_photo_facts {
    size_t photos, copies;  /* files that rows come from; rows that are changed copies */
    size_t groups, grouped; /* groups of two photos and more; photos in them */
    size_t contradictions;  /* photos whose class is not that of the first photo of their group */
    size_t (*pairs)[2];     /* the row of that first one, and theirs; owned */
} cli_photo_facts;

int cli_photo_facts_make(cli_photo_facts *out, const broad_data *data);
void cli_photo_facts_clear(cli_photo_facts *facts); /* accepts one that was zeroed */

int cli_photos_grouped(const broad_data *data); /* whether rows of photos belong together; 0 for other rows */

void cli_note_skipped(const broad_data *data, const cli_arguments *arguments);
void cli_note_facts(const broad_data *data, const cli_photo_facts *facts, const cli_arguments *arguments);
/* Adds to a "photos" member: read, copies, skipped, groups, grouped, contradictions. */
void cli_photos_record(json_t *record, const broad_data *data, const cli_photo_facts *facts);

/* ---- maps (photo_notes.c) ---- */

enum { CLI_MAPS = 3 };
extern const char *const cli_map_names[CLI_MAPS];             /* of broad_photo_map, by the number of its bit */
void cli_format_maps(char *out, size_t bytes, unsigned maps); /* "descriptors + windows" */
json_t *cli_maps_json(unsigned maps);                         /* ["descriptors", "windows"] */

/* "inputs   70 components of windows (leave-one-out error 0.31; descriptors 0.35, ...)"; nothing where maps is 0. */
void cli_print_maps(const broad_map_choice *choice, unsigned maps, size_t components);
/* Adds "maps" and "map_errors" to a "photos" member; record NULL: nothing. */
void cli_record_maps(json_t *record, const broad_map_choice *choice, unsigned maps);

#endif
