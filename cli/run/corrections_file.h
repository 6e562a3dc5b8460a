/* Corrections in a file: findings.csv of a report, edited; corrections.csv, saved from its page; or any list of photos and labels. */
#ifndef BROAD_CLI_RUN_CORRECTIONS_FILE_H
#define BROAD_CLI_RUN_CORRECTIONS_FILE_H

#include "arguments.h"

typedef struct cli_corrections {
    size_t count;
    char **files;                  /* as they can be opened; owned */
    char **labels;                 /* owned */
    size_t *boxes;                 /* how many of its boxes have this label; 0: all; owned */
    size_t outside, first_outside; /* of them, those that do not lie below the folder given: how many, and the first */
    int list;                      /* descriptor of a list of both that has no name */
    char list_path[32];            /* by which it can be opened */
} cli_corrections;

/*
 * Lines without a correction are left out, unless the verdict was edited: it is a class, and not what the report wrote there, as its
 * columns label, unsure and unlike tell, or without these not the class of the largest p_CLASS.
 * A photo is the file that is there as it is named; else that below `folder`, or where this is NULL beside the list, with this name or the
 * end of it, if it is the only one. BROAD_BAD_DATA after every
 * problem was printed with its line.
 */
int cli_corrections_read(cli_corrections *out, const char *path, const char *folder, const broad_model *model,
                         int new_classes);
void cli_corrections_clear(cli_corrections *corrections); /* accepts a zeroed one */

#endif
