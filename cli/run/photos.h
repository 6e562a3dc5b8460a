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

/* The arguments from number `first` on. Where `listed`, a lone "-" is a list of names on standard input, one per line. */
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

#endif
