#include "io/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/leftover.h"
#include "io/interrupt.h"
#include "message.h"

enum { OPEN_FOLDERS = 16 };

static int is_named(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0) names++;
    return *names != NULL;
}

/* How many entries a folder has, and one that the content does not name; -1: it cannot be read. */
static int look_inside(const char *path, const cli_folder_content *content, char stranger[NAME_MAX + 1])
{
    DIR *folder = opendir(path);
    int count = 0;
    stranger[0] = 0;
    if (!folder) return -1;
    for (struct dirent *entry; (entry = readdir(folder));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        count++;
        if (content && !is_named(name, content->files) && !is_named(name, content->others))
            snprintf(stranger, NAME_MAX + 1, "%s", name);
    }
    closedir(folder);
    return count;
}

static int has_all(const char *path, const char *const *files)
{
    for (; *files; files++) {
        char file[PATH_MAX];
        struct stat about;
        snprintf(file, sizeof file, "%s/%s", path, *files);
        if (lstat(file, &about) || !S_ISREG(about.st_mode)) return 0;
    }
    return 1;
}

/* A folder may be replaced where it is empty, or has the content that is expected. */
static int look_at_content(int *out_full, const char *path, const cli_folder_content *content, int replace)
{
    char stranger[NAME_MAX + 1];
    int count = look_inside(path, content, stranger);
    if (count < 0) return cli_fail(BROAD_CANNOT_WRITE, "%s: cannot be read: %s", path, strerror(errno));
    *out_full = count > 0;
    if (count == 0) return BROAD_OK;
    if (content && !replace && !*stranger && has_all(path, content->files))
        return cli_fail(BROAD_CANNOT_WRITE,
                        "%s: is not empty, and has what this command made before; give --replace to replace it, or the "
                        "name of a new folder",
                        path);
    if (!replace) return cli_fail(BROAD_CANNOT_WRITE, "%s: is not empty; give the name of a new folder", path);
    if (!has_all(path, content->files))
        return cli_fail(BROAD_CANNOT_WRITE,
                        "%s: is not empty, and was not made by this command; give the name of a new folder", path);
    if (*stranger)
        return cli_fail(BROAD_CANNOT_WRITE, "%s: '%s' in it was not made by this command; move it elsewhere first",
                        path, stranger);
    return BROAD_OK;
}

/* Something is there. */
static int look_at(char resolved[PATH_MAX], cli_folder *out, const char *path, const cli_folder_content *content,
                   int replace)
{
    struct stat about, here;
    if (stat(path, &about) || !realpath(path, resolved))
        return cli_fail(BROAD_CANNOT_WRITE, "%s: cannot be accessed: %s", path, strerror(errno));
    if (!S_ISDIR(about.st_mode))
        return cli_fail(BROAD_CANNOT_WRITE, "%s: exists and is not a folder; give the name of a new folder", path);
    int status = look_at_content(&out->full, path, content, replace);
    if (status) return status;
    /* A process whose current folder is replaced is left in one without a name. */
    if (stat(".", &here) == 0 && here.st_dev == about.st_dev && here.st_ino == about.st_ino)
        return cli_fail(BROAD_CANNOT_WRITE, "%s: is the current folder; give the name of a new folder inside it", path);
    out->mode = about.st_mode & 07777;
    return BROAD_OK;
}

static int resolve(char resolved[PATH_MAX], cli_folder *out, const char *path, const cli_folder_content *content,
                   int replace)
{
    struct stat about;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    if (length == 0 || length > PATH_MAX - 16)
        return cli_fail(BROAD_USAGE, "'%.100s' cannot be the name of a folder; give one such as photos", path);
    if (lstat(path, &about) == 0) return look_at(resolved, out, path, content, replace);
    if (errno != ENOENT) return cli_fail(BROAD_CANNOT_WRITE, "%s: cannot be accessed: %s", path, strerror(errno));
    memcpy(resolved, path, length);
    resolved[length] = 0;
    return BROAD_OK;
}

static void forget(cli_folder *folder)
{
    if (folder->held > 0) close(folder->held);
    free(folder->path);
    free(folder->temporary);
    memset(folder, 0, sizeof *folder);
}

/* With a lock on it, so that no other run takes it for a leftover; the six X are filled in. */
static int make_temporary(cli_folder *out)
{
    if (!mkdtemp(out->temporary)) return -1;
    out->held = open(out->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (out->held >= 0 && broad__leftover_hold(out->held) == 0) return 0;
    if (out->held >= 0) close(out->held);
    out->held = 0;
    rmdir(out->temporary);
    return -1;
}

int cli_folder_begin(cli_folder *out, const char *path) { return cli_folder_begin_again(out, path, NULL, 0); }

int cli_folder_begin_again(cli_folder *out, const char *path, const cli_folder_content *content, int replace)
{
    char resolved[PATH_MAX];
    memset(out, 0, sizeof *out);
    int status = resolve(resolved, out, path, content, replace);
    if (status) return status;
    const char *slash = strrchr(resolved, '/'), *name = slash ? slash + 1 : resolved;
    char *temporary = NULL, *place = strdup(resolved);
    int length = asprintf(&temporary, "%.*s.%.200s.XXXXXX", (int)(name - resolved), resolved, name);
    if (length < 0) temporary = NULL;
    out->path = place;
    out->temporary = temporary;
    cli_signals_catch(); /* until the temporary folder is gone */
    if (!place || !temporary) status = cli_fail(BROAD_NO_MEMORY, "out of memory while naming a folder");
    else if (broad__leftovers_remove(place, 1, cli_folder_remove))
        status = cli_fail(
            BROAD_CANNOT_WRITE,
            "%s: another run is writing it; wait until that has ended, or give the name of another folder", path);
    else if (make_temporary(out))
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

/* Old and new change places; where the file system cannot do that in one step, the old folder steps aside until the new one is
 * in its place. */
static int put_in_place(const cli_folder *folder)
{
    char aside[PATH_MAX];
    if (!folder->full) return rename(folder->temporary, folder->path);
    if (renameat2(AT_FDCWD, folder->temporary, AT_FDCWD, folder->path, RENAME_EXCHANGE) == 0) {
        cli_folder_remove(folder->temporary);
        return 0;
    }
    int length = snprintf(aside, sizeof aside, "%s.old", folder->temporary);
    if (length < 0 || (size_t)length >= sizeof aside || rename(folder->path, aside)) return -1;
    if (rename(folder->temporary, folder->path)) {
        int reason = errno;
        rename(aside, folder->path);
        errno = reason;
        return -1;
    }
    cli_folder_remove(aside);
    return 0;
}

int cli_folder_commit(cli_folder *folder)
{
    unsigned mode = folder->mode ? folder->mode : new_folder_mode();
    if (chmod(folder->temporary, mode) == 0 && put_in_place(folder) == 0) {
        forget(folder);
        cli_signals_release();
        return BROAD_OK;
    }
    int reason = errno;
    char place[PATH_MAX];
    snprintf(place, sizeof place, "%s", folder->path);
    int status = cli_folder_abandon(folder);
    if (status) return status;
    if (reason == ENOTEMPTY || reason == EEXIST)
        return cli_fail(BROAD_CANNOT_WRITE,
                        "%s: cannot be put in place: it was filled meanwhile; give the name of another folder", place);
    return cli_fail(BROAD_CANNOT_WRITE, "%s: cannot be put in place: %s", place, strerror(reason));
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
