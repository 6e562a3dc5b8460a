/* A folder that appears complete or not at all: it is filled beside its place, under a hidden name, and then renamed. */
#ifndef BROAD_CLI_IO_FOLDER_H
#define BROAD_CLI_IO_FOLDER_H

#include <stddef.h>

typedef struct cli_folder {
    char *path;      /* where it goes, links resolved */
    char *temporary; /* where it is filled, PARENT/.NAME.XXXXXX; NULL: nothing is open */
    unsigned mode;   /* of a folder that it replaces; 0: there is none */
    int full;        /* that folder is not empty */
    int held;        /* a descriptor by which it is marked as in use; 0: none */
} cli_folder;

/* What a folder has that may be replaced with all that is in it: every one of the files, and nothing else but the others. */
typedef struct cli_folder_content {
    const char *const *files, *const *others; /* each ends with NULL */
} cli_folder_content;

/* There must be nothing at `path`, or an empty folder: BROAD_CANNOT_WRITE otherwise. */
int cli_folder_begin(cli_folder *out, const char *path);
/* Also a folder with just this content, if it may be replaced. A run that is filling the same one is refused, too. */
int cli_folder_begin_again(cli_folder *out, const char *path, const cli_folder_content *content, int replace);
int cli_folder_add(const cli_folder *folder, const char *name); /* makes a folder inside */
/* Puts it in place, or removes it; also frees it, whatever comes out. */
int cli_folder_commit(cli_folder *folder);
/* Removes it with all that is in it. Accepts one that was never begun, if zeroed, or is done with. A failure is one to
 * remove it, and its message names what is left. */
int cli_folder_abandon(cli_folder *folder);

/* Removes a file, or a folder with all that is in it, links themselves and not what they name. Nothing there is fine. */
int cli_folder_remove(const char *path);

#endif
