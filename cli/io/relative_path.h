/* The way from one place to another. */
#ifndef BROAD_CLI_IO_RELATIVE_PATH_H
#define BROAD_CLI_IO_RELATIVE_PATH_H

/* `file` as seen from the folder `folder`, which need not exist yet but whose parent does: "../photos/roof.jpg". Freed with
 * free(). Where the way is not known, `file` itself. NULL: out of memory. */
char *cli_path_from(const char *folder, const char *file);

#endif
