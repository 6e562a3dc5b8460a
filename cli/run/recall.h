/*
 * The photos a model was trained on, found again: by their content where they have moved, in the folders given and, where some are
 * missing, in those the model remembers. What the model does not know is new.
 */
#ifndef BROAD_CLI_RUN_RECALL_H
#define BROAD_CLI_RUN_RECALL_H

#include "io/json.h"
#include "run/files.h"

typedef struct cli_recall cli_recall;

/* What a photo that the model remembers has become. */
typedef enum cli_fate {
    CLI_FATE_GONE,
    CLI_FATE_FOUND,
    CLI_FATE_CHANGED,   /* another content by the same name */
    CLI_FATE_RELABELLED /* the same content in the folder of another class */
} cli_fate;

/* Whether photos of this model can be told apart: it remembers all of them, with their classes. */
int cli_recall_possible(const broad_model *model);

/* Photos to be learned: a folder, or single files of it. */
typedef struct cli_fresh {
    const char *path, *labels; /* as the model remembers them; labels may be NULL */
    const char *const *files;  /* NULL: all in the folder */
    size_t count;
    const char *list;    /* where the labels are read; NULL: as `labels` */
    const size_t *boxes; /* of each file: how many of its boxes have the label; 0: all; NULL: all of all files */
} cli_fresh;

/* What a model remembers of a photo is one class. */
#define CLI_ONE_CLASS                                                                                                  \
    "all boxes of a photo are learned with one class; for a box of another class give a copy of the photo as NEW, "    \
    "with this box alone in the file of --boxes"

/* BROAD_BAD_DATA: a photo has more boxes than those whose label is known. */
int cli_fresh_read(broad_data **out, json_t **record, const cli_fresh *fresh, const broad_read_options *read,
                   const cli_arguments *arguments);

/*
 * Looks through the files' folders, and those of `fresh`, unless NULL. What was left out is noted, and recorded as by
 * cli_input_read(). All of them are kept.
 */
int cli_recall_open(cli_recall **out, json_t **record, const broad_model *model, const cli_arguments *arguments,
                    const cli_files *files, const cli_fresh *fresh);
void cli_recall_close(cli_recall *recall); /* accepts NULL */

size_t cli_recall_count(const cli_recall *recall, cli_fate fate); /* of the photos that were trained on */
/* Notes about what is new; `learned`: it is learned, not left out, and what is gone or changed is noted too. */
void cli_recall_note(const cli_recall *recall, int learned);
/* Notes about photos held out that are not as they were: what is measured on them is something else than before. */
void cli_recall_note_held_out(const cli_recall *recall);
/* BROAD_BAD_DATA, with names, unless all photos that were trained on are as they were. */
int cli_recall_check(const cli_recall *recall);
json_t *cli_recall_json(const cli_recall *recall);

/* The rows that were trained on, in the order of the model where all are as they were. Otherwise those that are there, first the
 * ones that count 1; *out_plain is how many these are, and `weights` what the others count, for free(). */
int cli_recall_training(broad_data **out, size_t *out_plain, double **weights, const cli_recall *recall);
int cli_recall_held_out(broad_data **out, const cli_recall *recall); /* NULL: there are none */
int cli_recall_new(broad_data **out, const cli_recall *recall);      /* NULL: there are none */
/* Tells the model where these rows came from, as they are found now. */
int cli_recall_remember(broad_model *model, const cli_recall *recall);

#endif
