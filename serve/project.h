/*
 * A project is a folder:
 *
 *   model.broad   the model in use, for other commands as well
 *   versions/     every model there has been, by its number
 *   photos/       photos by the hash of their content, unless they stay where they are
 *   labels/       what was learned: lists of photos and classes
 *   project.db    all else: verdicts, corrections and who made them, actions, settings
 *   work/         what is being made
 *
 * One server at a time has it open.
 */
#ifndef BROAD_SERVE_PROJECT_H
#define BROAD_SERVE_PROJECT_H

#include <limits.h>
#include <stdio.h>

#include "message.h"
#include "serve/database.h"
#include "serve/stacks.h"

typedef struct serve_project {
    char *folder; /* links resolved */
    int lock;     /* descriptor */
    int copy;     /* photos of folders are copied into the project, not referred to */
    serve_database database;
    serve_stacks stacks; /* under the lock of the database */
} serve_project;

int serve_project_is_there(const char *folder);
/* Makes what is missing. BROAD_USAGE: it is a file. BROAD_CANNOT_WRITE: another server has it. */
int serve_project_open(serve_project *out, const char *folder, int copy);
void serve_project_close(serve_project *project); /* accepts a zeroed one */

/* FOLDER/NAME, by a format of printf. */
int serve_project_path(char out[PATH_MAX], const serve_project *project, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int serve_project_model_path(char out[PATH_MAX], const serve_project *project, int64_t version);

/* "" where it is not set. */
int serve_setting_get(char *out, size_t bytes, serve_project *project, const char *name);
int serve_setting_set(serve_project *project, const char *name, const char *value);

int64_t serve_now(void); /* milliseconds since 1970 */

#endif
