/*
 * The search of broad tune. The settings of trial n follow from the seed and from the trials before it alone, never from
 * the time: a search that was cut off and goes on from its state makes the trials it would have made.
 */
#ifndef BROAD_CLI_TUNE_TUNE_SPACE_H
#define BROAD_CLI_TUNE_TUNE_SPACE_H

#include "io/json.h"
#include "run/cv_folds.h"

enum { TUNE_ROWS_MAX = 16, TUNE_WORD = 24, TUNE_KINDS_MAX = 16, TUNE_TOP = 5 };

/* What is chosen for one trial: a word for each row of the table of settings; "": as the preset has it. */
typedef struct tune_setting {
    char kind[TUNE_WORD], preset[TUNE_WORD];
    char words[TUNE_ROWS_MAX][TUNE_WORD];
} tune_setting;

typedef enum tune_end {
    TUNE_DONE,
    TUNE_DROPPED, /* clearly worse than the best after some of the folds */
    TUNE_FAILED
} tune_end;

typedef struct tune_trial {
    tune_setting setting;
    json_t *arguments; /* of fit, as words */
    json_t *network;   /* the same for whatever leads to the same network */
    tune_end end;
    size_t count;     /* folds done; 1 for leave-one-out */
    double *scores;   /* count */
    double score, sd; /* mean and deviation of the scores; sd NaN where there is one */
    double seconds;
    char reason[256]; /* why it failed; "" if it did not */
} tune_trial;

typedef struct tune_search {
    const cli_arguments *arguments;
    const cli_measure *measure;
    uint64_t seed;
    int by_loo; /* trials need a leave-one-out estimate */
    size_t kind_count, preset_count;
    char kinds[TUNE_KINDS_MAX][TUNE_WORD], presets[TUNE_KINDS_MAX][TUNE_WORD];
    size_t count, room;
    tune_trial *trials;
} tune_search;

/* Kinds and presets from the command line, else all there are. */
int tune_search_begin(tune_search *out, const cli_arguments *arguments);
void tune_search_end(tune_search *search);
size_t tune_starts(const tune_search *search); /* trials that are presets as they are */

/* The setting of the next trial and its arguments for fit; *out_found is 0 where nothing new is left to try. */
int tune_propose(tune_trial *out, int *out_found, const tune_search *search);
/* The arguments that the trial's setting comes to, and the network. */
int tune_describe(tune_trial *trial, const cli_arguments *arguments);
/* With the settings given on the command line on top. */
int tune_options(broad_options *out, const tune_setting *setting, const cli_arguments *arguments);
/* What fit must be told to get these options: --kind, --preset, and what differs from them. Not the threads. */
int tune_arguments(json_t **out, const broad_options *options);

json_t *tune_setting_json(const tune_setting *setting);
int tune_setting_read(tune_setting *out, const json_t *object);

/* Takes over the words and the scores of the trial, also on failure. */
int tune_add(tune_search *search, tune_trial *trial);
void tune_trial_clear(tune_trial *trial);
int tune_better(const tune_search *search, double score, double other);
/* The best of the trials that are done, best first, the earlier of equals; returns how many there are, `most` at most. */
size_t tune_best(size_t *out, size_t most, const tune_search *search);

#endif
