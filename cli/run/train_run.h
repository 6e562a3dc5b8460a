/*
 * A training run as fit, grow and learn share it: rules for stopping, the memory it needs, checkpoints, saving, sums
 * beside the model, measures and the report.
 *
 *   cli_run_prepare, rows into train and test, cli_run_plan, a trainer, cli_run_validate, cli_run_grow, cli_run_save,
 *   cli_run_measure, cli_run_page, cli_run_report, cli_run_end
 */
#ifndef BROAD_CLI_RUN_TRAIN_RUN_H
#define BROAD_CLI_RUN_TRAIN_RUN_H

#include "io/progress.h"
#include "run/input.h"
#include "run/model_file.h"
#include "run/photo_summary.h"

/* What is added: layers of nodes, with new feature groups or new rows if there are any. */
typedef struct cli_increment {
    size_t nodes, layers;
    size_t groups, group_nodes; /* groups > 0: one layer each, and `layers` is their number */
    const broad_data *rows;
    const double *weights; /* of these rows, not owned; NULL: as they are */
    int forgetful;
} cli_increment;

/* Tells a model where its rows came from, before it is saved. */
typedef int (*cli_remember)(broad_model *model, void *context);

typedef struct cli_run {
    const cli_arguments *arguments;
    const char *output;     /* where the model goes; "-" is standard output */
    const char *model_path; /* the model that grows; NULL: a new one */
    const char *test_path;  /* NULL: none */
    const char *report;     /* where the page about it goes; NULL: nowhere */
    cli_model_file file;    /* that, held while the run is at work; nothing of standard output */
    int compact, keep_stats;
    size_t checkpoint;     /* layers from one save to the next; 0: none */
    cli_remember remember; /* NULL: nothing is new */
    void *remember_context;
    broad_options options;
    cli_increment increment;

    broad_data *train, *test;                /* test: NULL without */
    json_t *photos;                          /* what the result says of photos that were read; NULL: none were */
    json_t *notes;                           /* what reading the table did; NULL: it was not read for this run */
    broad_map_choice maps;                   /* that a new network was given a choice of */
    const broad_data *fresh;                 /* rows that are learned now; not owned, NULL: none */
    const struct cli_correction *correction; /* what is known of them besides; not owned, NULL: nothing */
    broad_model *model;                      /* what it grows from, then what came out */
    broad_model *before;                     /* what it has grown from, once there is another */
    broad_trainer *trainer;                  /* while it grows */
    size_t tested_rows;   /* --refit: what was tested is another model, trained on this number of rows; 0: this one */
    size_t layers_before; /* of the model it grew from */
    int stats_kept, resolved; /* sums were written; every layer was solved again */
    broad_metrics train_metrics, fresh_metrics, test_metrics;
    broad_seconds seconds;
    double start, read_seconds;
    cli_progress progress;
} cli_run;

/* `output` is where the model goes: held against other runs from now on. Options must have been read before. */
int cli_run_prepare(cli_run *run, const cli_arguments *arguments, const char *output);
int cli_run_load(cli_run *run, const char *path); /* the model that grows */
/* Reads --test, if given, the way a model sees it. */
int cli_run_read_test(cli_run *run, const broad_model *model);
/* Fails where patience has no rows to look at. */
int cli_run_check_rules(const cli_run *run, int has_test);

void cli_run_begin(cli_run *run);   /* progress and signals; before the trainer is opened */
int cli_run_validate(cli_run *run); /* hands the test rows to the trainer if a rule looks at them */
/* Grows by the increment, saving as often as asked for, and saves what came out. run->model is then the new one. */
int cli_run_grow(cli_run *run);
void cli_run_take_model(cli_run *run); /* closes the trainer, whose model becomes run->model */
/* The end of that: what the trainer has, unless `status` is a failure, becomes run->model and is saved. */
int cli_run_settle(cli_run *run, int status);
/* Tells run->model where its rows came from, or has it forget that: with --no-names, or where not all is known. */
int cli_run_remember(cli_run *run);
/* Sums that belong to it are saved with it, unless NULL. */
int cli_run_save(cli_run *run, const broad_model *model, const broad_stats *stats);
int cli_run_keep_stats(cli_run *run, const broad_data *training); /* sums of run->model beside it */

/* Nothing where the model goes to standard output and no report is asked for. */
int cli_run_measure(cli_run *run);
/* Frees everything and makes the exit code of a run that was interrupted. */
int cli_run_end(cli_run *run, int status);

#endif
