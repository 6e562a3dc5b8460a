#include "io/relative_path.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Without links, also where the last part of the path does not exist yet. 0: it cannot be told. */
static int absolute(char out[PATH_MAX], const char *path)
{
    char parent[PATH_MAX];
    size_t length = strlen(path);
    if (realpath(path, out)) return 1;
    while (length > 1 && path[length - 1] == '/') length--;
    size_t end = length;
    while (end && path[end - 1] != '/') end--;
    if (length >= PATH_MAX) return 0;
    snprintf(parent, sizeof parent, "%.*s", (int)end, path);
    if (!realpath(end ? parent : ".", out)) return 0;
    size_t used = strlen(out);
    if (used == 1) used = 0; /* the root folder ends with the slash */
    int written = snprintf(out + used, PATH_MAX - used, "/%.*s", (int)(length - end), path + end);
    return written > 0 && (size_t)written < PATH_MAX - used;
}

char *cli_path_from(const char *folder, const char *file)
{
    char from[PATH_MAX], to[PATH_MAX], way[PATH_MAX] = "";
    size_t same = 0, used = 0;
    if (!absolute(from, folder) || !absolute(to, file)) return strdup(file);
    for (size_t i = 0; from[i] && from[i] == to[i]; i++)
        if (from[i] == '/') same = i;
    size_t whole = strlen(from);
    if (strncmp(from, to, whole) == 0 && to[whole] == '/') same = whole; /* the file lies in the folder */
    for (const char *at = from + same; *at; at++)
        if (*at == '/' && used + 4 < PATH_MAX) used += (size_t)snprintf(way + used, PATH_MAX - used, "../");
    if (used + strlen(to + same) >= PATH_MAX) return strdup(file);
    snprintf(way + used, PATH_MAX - used, "%s", to + same + 1);
    return strdup(way);
}
