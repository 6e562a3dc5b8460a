#include "base/leftover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_KEPT = 200, RANDOM_LETTERS = 6 };

int broad__leftover_hold(int fd)
{
    struct stat about;
    /* Shared, so that a reader of what has got its name a moment ago is not turned away. */
    while (flock(fd, LOCK_SH | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) return -1; /* it is being removed */
        if (errno != EINTR) return 0;
    }
    return fstat(fd, &about) == 0 && about.st_nlink == 0 ? -1 : 0;
}

/* .NAME.XXXXXX, of a long NAME no more than the first bytes; `end` may follow. */
static int is_leftover(const char *entry, const char *name, const char *end)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    size_t kept = strnlen(name, NAME_KEPT);
    if (entry[0] != '.' || strncmp(entry + 1, name, kept) != 0 || entry[1 + kept] != '.') return 0;
    entry += 2 + kept;
    if (strspn(entry, letters) != RANDOM_LETTERS) return 0;
    return entry[RANDOM_LETTERS] == 0 || strcmp(entry + RANDOM_LETTERS, end) == 0;
}

/* Not in use: its lock can be had. Whether it is in use. */
static int remove_unused(const char *path, int folders, int (*remove_one)(const char *))
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return 0;
    int fits = fstat(fd, &about) == 0 && (folders ? S_ISDIR(about.st_mode) : S_ISREG(about.st_mode));
    int locked = fits && flock(fd, LOCK_EX | LOCK_NB) == 0, used = fits && !locked && errno == EWOULDBLOCK;
    if (locked) (void)remove_one(path);
    close(fd);
    return used;
}

int broad__leftovers_remove(const char *path, int folders, int (*remove)(const char *leftover))
{
    char place[PATH_MAX], found[PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int length = snprintf(place, sizeof place, "%.*s", (int)(name - path), path);
    int used = 0;
    if (length < 0 || (size_t)length >= sizeof place) return 0;
    DIR *folder = opendir(length ? place : ".");
    if (!folder) return 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (!is_leftover(entry->d_name, name, folders ? ".old" : "")) continue;
        int count = snprintf(found, sizeof found, "%s%s", place, entry->d_name);
        if (count > 0 && (size_t)count < sizeof found) used += remove_unused(found, folders, remove);
    }
    closedir(folder);
    return used;
}
