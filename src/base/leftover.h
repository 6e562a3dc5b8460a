/*
 * What runs that were killed have left: temporary files and folders called .NAME.XXXXXX beside NAME. The run that makes one holds a
 * lock on it as long as it is in use, which ends with the process, however that ends; so what is not locked may be removed.
 */
#ifndef BROAD_BASE_LEFTOVER_H
#define BROAD_BASE_LEFTOVER_H

/* Marks what was just made as in use until `fd` and its duplicates are closed. 0: it is, or the file system has no locks;
 * -1: it was taken for a leftover before it could be marked, and another one has to be made. */
int broad__leftover_hold(int fd);

/* Removes those of `path` that are no longer in use by `remove`, which gets a path and returns 0: folders, with the suffix
 * ".old" as well, or files. What cannot be removed stays. How many are in use. */
int broad__leftovers_remove(const char *path, int folders, int (*remove)(const char *leftover));

#endif
