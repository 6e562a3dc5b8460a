/*
 * The file of a model that a run changes. From before it is read until the run ends, other runs that want to change it are
 * refused; when it is saved it must still be the one that was read; and what it replaces stays beside it as MODEL~.
 */
#ifndef BROAD_CLI_RUN_MODEL_FILE_H
#define BROAD_CLI_RUN_MODEL_FILE_H

#include "base/hash.h"
#include "message.h"

typedef struct cli_model_file {
    const char *name;            /* as given; NULL: nothing is held */
    char *path;                  /* links resolved; owned */
    int lock;                    /* descriptor of the file as it is now; -1: there is none, or it cannot be locked */
    char seen[BROAD__HASH_TEXT]; /* of the file when it was held or last saved; "": there was none */
    int kept;                    /* what the run replaces is MODEL~ already */
} cli_model_file;

/* BROAD_CANNOT_WRITE: another run is changing it. `name` is kept. A process that is killed holds nothing. */
int cli_model_file_hold(cli_model_file *out, const char *name);
/* The same for reading a model together with its sums; others may read too. */
int cli_model_file_hold_to_read(cli_model_file *out, const char *name);
/*
 * Replaces the file in one step. The first time, what was there becomes MODEL~, and its sums MODEL.stats~. Sums of the new model,
 * unless NULL, take the place of MODEL.stats, so that a crash at any moment leaves a model with sums that belong to it.
 * BROAD_CANNOT_WRITE where the file has changed since it was held: it stays, and the message names the file that has the
 * new model.
 */
int cli_model_file_save(cli_model_file *file, const broad_model *model, int compact, const broad_stats *stats);
/* MODEL and MODEL~ change places, and their sums with them. Without a MODEL, MODEL~ becomes it. */
int cli_model_file_swap(cli_model_file *file);
void cli_model_file_release(cli_model_file *file); /* accepts a zeroed one */

#endif
