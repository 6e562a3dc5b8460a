#include "io/folder.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/interrupt.h"
#include "message.h"

enum { OPEN_FOLDERS = 16 };

static int is_empty(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder) return -1;
    int others = 0;
    for (struct dirent *entry; !others && (entry = readdir(folder));)
        others = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return !others;
}

/* Something is there: only an empty folder may be replaced. */
static int look_at(char resolved[PATH_MAX], unsigned *out_mode, const char *path)
{
    struct stat about, here;
    if (stat(path, &about) || !realpath(path, resolved))
        return cli_fail(BROAD_CANNOT_WRITE, "%s: cannot be accessed: %s", path, strerror(errno));
    if (!S_ISDIR(about.st_mode))
        return cli_fail(BROAD_CANNOT_WRITE, "%s: exists and is not a folder; give the name of a new folder", path);
    int empty = is_empty(path);
    if (empty < 0) return cli_fail(BROAD_CANNOT_WRITE, "%s: cannot be read: %s", path, strerror(errno));
    if (!empty) return cli_fail(BROAD_CANNOT_WRITE, "%s: is not empty; give the name of a new folder", path);
    /* A process whose current folder is replaced is left in one without a name. */
    if (stat(".", &here) == 0 && here.st_dev == about.st_dev && here.st_ino == about.st_ino)
        return cli_fail(BROAD_CANNOT_WRITE, "%s: is the current folder; give the name of a new folder inside it", path);
    *out_mode = about.st_mode & 07777;
    return BROAD_OK;
}

static int resolve(char resolved[PATH_MAX], unsigned *out_mode, const char *path)
{
    struct stat about;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    if (length == 0 || length > PATH_MAX - 16)
        return cli_fail(BROAD_USAGE, "'%.100s' cannot be the name of a folder; give one such as photos", path);
    if (lstat(path, &about) == 0) return look_at(resolved, out_mode, path);
    if (errno != ENOENT) return cli_fail(BROAD_CANNOT_WRITE, "%s: cannot be accessed: %s", path, strerror(errno));
    memcpy(resolved, path, length);
    resolved[length] = 0;
    return BROAD_OK;
}

static void forget(cli_folder *folder)
{
    free(folder->path);
    free(folder->temporary);
    memset(folder, 0, sizeof *folder);
}

int cli_folder_begin(cli_folder *out, const char *path)
{
    char resolved[PATH_MAX];
    unsigned mode = 0;
    memset(out, 0, sizeof *out);
    int status = resolve(resolved, &mode, path);
    if (status) return status;
    const char *slash = strrchr(resolved, '/'), *name = slash ? slash + 1 : resolved;
    char *temporary = NULL, *place = strdup(resolved);
    int length = asprintf(&temporary, "%.*s.%.200s.XXXXXX", (int)(name - resolved), resolved, name);
    if (length < 0) temporary = NULL;
    *out = (cli_folder){.path = place, .temporary = temporary, .mode = mode};
    cli_signals_catch(); /* until the temporary folder is gone */
    if (!place || !temporary) status = cli_fail(BROAD_NO_MEMORY, "out of memory while naming a folder");
    else if (!mkdtemp(temporary))
        status = cli_fail(BROAD_CANNOT_WRITE, "%s: cannot create a folder here: %s", path, strerror(errno));
    if (!status) return BROAD_OK;
    forget(out);
    cli_signals_release();
    return status;
}

int cli_folder_add(const cli_folder *folder, const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder->temporary, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return cli_fail(BROAD_CANNOT_WRITE, "%s: the path is too long", folder->path);
    if (mkdir(path, 0777) == 0) return BROAD_OK;
    return cli_fail(BROAD_CANNOT_WRITE, "%s: cannot create this folder: %s", path, strerror(errno));
}

/* mkdtemp() shuts others out, which a new folder would not do; the mask can only be asked for by setting it. */
static unsigned new_folder_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0777 & ~(unsigned)mask;
}

int cli_folder_commit(cli_folder *folder)
{
    unsigned mode = folder->mode ? folder->mode : new_folder_mode();
    if (chmod(folder->temporary, mode) == 0 && rename(folder->temporary, folder->path) == 0) {
        forget(folder);
        cli_signals_release();
        return BROAD_OK;
    }
    int reason = errno;
    char place[PATH_MAX];
    snprintf(place, sizeof place, "%s", folder->path);
    int status = cli_folder_abandon(folder);
    return status ? status : cli_fail(BROAD_CANNOT_WRITE, "%s: cannot be put in place: %s", place, strerror(reason));
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about, (void)kind, (void)place;
    return remove(path);
}

int cli_folder_remove(const char *path)
{
    if (nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT) return BROAD_OK;
    return cli_fail(BROAD_CANNOT_WRITE, "%s: cannot be removed: %s", path, strerror(errno));
}

int cli_folder_abandon(cli_folder *folder)
{
    int status = BROAD_OK;
    if (!folder->temporary) return BROAD_OK;
    if (nftw(folder->temporary, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS))
        status = cli_fail(BROAD_CANNOT_WRITE, "%s: this unfinished folder cannot be removed (%s); remove it by hand",
                          folder->temporary, strerror(errno));
    forget(folder);
    cli_signals_release();
    return status;
}
