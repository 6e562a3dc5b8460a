/*
 * The rows that a command reads: a table or photos, whichever the paths are, with a bar on the way and remarks afterwards; and the rows
 * that a model was trained on.
 */
#ifndef BROAD_CLI_RUN_INPUT_H
#define BROAD_CLI_RUN_INPUT_H

#include "io/json.h"
#include "run/files.h"
#include "run/photo_options.h"

typedef struct cli_input {
    const char *const *paths;
    size_t count;
    const broad_read_options *read; /* without photos, memory and threads: these are taken from the arguments */
    cli_purpose purpose;
    const cli_arguments *arguments;
} cli_input;

/*
 * Photos where the model in the options is one of photos, or where the only path is a folder; else a table, of which there is one
 * path. An interrupt ends it with BROAD_INTERRUPTED. What was left out is noted on standard error, and without a model what
 * looks wrong too.
 *
 * `record`, unless NULL, is for the member "photos" of a JSON result: an object is made if there is none, or added to.
 * Nothing is done to it where the rows are not photos.
 */
int cli_input_read(broad_data **out, json_t **record, const cli_input *input);
/* The same for one path, to compute with. */
/* What reading a table did, as a list of texts. */
json_t *cli_notes_json(const broad_data *data);

int cli_read(broad_data **out, json_t **record, const char *path, const broad_read_options *read,
             const cli_arguments *arguments);

/* The rows of a path with targets, for training; a remark where a regression looks like classes. */
int cli_read_table(broad_data **out, json_t **record, const char *path, const broad_read_options *read,
                   const cli_arguments *arguments);
/* The rows a model was trained on, from the files or folders it was trained on: of the first the training part, of the
 * others all. out_apart, unless NULL, gets the rows of the first that fit held out, and stays where there are none. */
int cli_read_training(broad_data **out, broad_data **out_apart, json_t **record, const broad_model *model,
                      const cli_arguments *arguments, const cli_files *files);

#endif
