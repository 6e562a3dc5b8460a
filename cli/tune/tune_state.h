/* The trials of a search in a file, so that it can continue after an interruption. */
#ifndef BROAD_CLI_TUNE_TUNE_STATE_H
#define BROAD_CLI_TUNE_TUNE_STATE_H

#include "tune/tune_space.h"

/* One line of JSON for what the search is, then one for each trial. */
typedef struct tune_state {
    const char *path; /* NULL: none is kept */
    char *text;
    size_t used, room;
} tune_state;

/* Reads the trials of an earlier run into the search, or starts a new file; `key` says what the trials depend on, and is
 * taken over. A state with another key is refused with what differs. */
int tune_state_open(tune_state *out, tune_search *search, const char *path, json_t *key);
/* Adds the search's last trial; the file is replaced in one step. */
int tune_state_add(tune_state *state, const tune_search *search);
void tune_state_close(tune_state *state);
json_t *tune_trial_json(const tune_trial *trial);
/* Hash of rows, targets and names, and with it of everything that the options of reading do. */
int tune_data_hash(char out[33], const broad_data *data);

#endif
