#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/leftover.h"
#include "base/memory.h"
#include "base/status.h"

enum {
    NAME_KEPT = 200, /* bytes of the name that go into the temporary one: a name may have 255 in all */
    RANDOM_LETTERS = 6,
    NAME_ATTEMPTS = 100,
    REASON_BYTES = 128,
    CHUNK = 1 << 30 /* Linux moves at most 2 GiB a call */
};

int broad__file_fail(int status, const char *path, const char *what, int number)
{
    char reason[REASON_BYTES];
    return broad__fail(status, "%s: %s: %s", path, what, strerror_r(number, reason, sizeof reason));
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* O_NONBLOCK: opening a pipe must not wait for its writer, only to be told that it is no regular file. */
static int open_regular(int *out, off_t *out_size, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return broad__file_fail(BROAD_NO_INPUT, path, "cannot be opened", errno);
    struct stat about;
    int status = BROAD_OK;
    if (fstat(fd, &about) != 0) status = broad__file_fail(BROAD_NO_INPUT, path, "cannot be looked at", errno);
    else if (!S_ISREG(about.st_mode))
        status = broad__fail(BROAD_NO_INPUT, "%s: is %s; give a file", path,
                             S_ISDIR(about.st_mode) ? "a folder" : "no regular file");
    if (status) {
        close(fd);
        return status;
    }
    *out = fd;
    *out_size = about.st_size;
    return BROAD_OK;
}

/* Reads up to `room` bytes; fewer only at the end of the file. */
static int read_fully(unsigned char *out, size_t *out_bytes, int fd, const char *path, size_t room)
{
    size_t have = 0;
    while (have < room) {
        size_t ask = room - have < CHUNK ? room - have : CHUNK;
        ssize_t got = read(fd, out + have, ask);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return broad__file_fail(BROAD_IO, path, "reading failed", errno);
        if (got == 0) break;
        have += (size_t)got;
    }
    *out_bytes = have;
    return BROAD_OK;
}

int broad__file_read(void **out, size_t *out_bytes, const char *path, size_t limit)
{
    int fd = -1;
    off_t size = 0;
    unsigned char *bytes = NULL;
    size_t got = 0, wanted = 0;
    int status = open_regular(&fd, &size, path);
    if (status) return status;

    if ((uintmax_t)size > limit) {
        status = broad__fail(BROAD_BAD_DATA, "%s: has %jd bytes, and %zu is the most that is read", path,
                             (intmax_t)size, limit);
        goto cleanup;
    }
    wanted = (size_t)size;
    bytes = broad__alloc_unset(wanted + 1, 1); /* one more byte shows whether it is growing */
    status = bytes ? read_fully(bytes, &got, fd, path, wanted + 1) : BROAD_NO_MEMORY;
    if (!status && got != wanted) status = broad__fail(BROAD_IO, "%s: changed while it was read; try again", path);
    if (status) goto cleanup;
    *out = bytes;
    *out_bytes = got;
    bytes = NULL;
cleanup:
    broad__free(bytes);
    close(fd);
    return status;
}

int broad__file_read_start(void *out, size_t *out_bytes, const char *path, size_t room)
{
    int fd = -1;
    off_t size = 0;
    int status = open_regular(&fd, &size, path);
    if (status) return status;
    status = read_fully(out, out_bytes, fd, path, room);
    close(fd);
    return status;
}

int broad__reading_open(broad__reading *out, const char *path)
{
    off_t size = 0;
    int status = open_regular(&out->fd, &size, path);
    out->path = path;
    out->bytes = (size_t)size;
    return status;
}

int broad__reading_take(const broad__reading *reading, void *to, size_t count)
{
    size_t got = 0;
    int status = read_fully(to, &got, reading->fd, reading->path, count);
    if (status || got == count) return status;
    return broad__fail(BROAD_IO, "%s: changed while it was read; try again", reading->path);
}

void broad__reading_close(broad__reading *reading) { close(reading->fd); }

int broad__file_map(broad__mapping *out, const char *path)
{
    int fd = -1;
    off_t size = 0;
    *out = (broad__mapping){0};
    int status = open_regular(&fd, &size, path);
    if (status) return status;
    void *map =
        size > 0 && (uintmax_t)size < SIZE_MAX ? mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    close(fd);
    if (map == MAP_FAILED) return broad__file_read(&out->bytes, &out->count, path, SIZE_MAX / 4);
    *out = (broad__mapping){map, (size_t)size, 1};
    return BROAD_OK;
}

void broad__file_unmap(broad__mapping *mapping)
{
    if (mapping->mapped) munmap(mapping->bytes, mapping->count);
    else broad__free(mapping->bytes);
    *mapping = (broad__mapping){0};
}

/* ---- replacing ------------------------------------------------------------------------------------------------- */

/* Like mkostemp(), which cannot give the mode that a new file would get from the umask: asking for the umask would
 * change it for other threads. */
static int make_temporary(char *template_path, mode_t mode)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    char *tail = template_path + strlen(template_path) - RANDOM_LETTERS;
    for (int attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        unsigned char noise[RANDOM_LETTERS];
        if (getrandom(noise, sizeof noise, 0) != (ssize_t)sizeof noise) return -1;
        for (int i = 0; i < RANDOM_LETTERS; i++) tail[i] = letters[noise[i] % (sizeof letters - 1)];
        int fd = open(template_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, mode);
        if (fd < 0 && errno != EEXIST && errno != EINTR) return -1;
        if (fd >= 0 && broad__leftover_hold(fd) == 0) return fd;
        if (fd >= 0) close(fd);
    }
    return -1;
}

static int rename_as(const char *from, const char *to, unsigned flags)
{
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, flags);
}

broad__file_calls broad__file_calls_used = {make_temporary, write, fsync, close, rename, rename_as};

/* Resolves links of an existing file and looks at what is there. *out_mode is 0 if there is nothing. */
static int replace_resolve(char out[PATH_MAX], mode_t *out_mode, const char *path)
{
    struct stat about;
    *out_mode = 0;
    size_t length = strlen(path);
    if (length == 0 || length >= PATH_MAX || path[length - 1] == '/')
        return broad__fail(BROAD_CANNOT_WRITE, "%s: is not the name of a file to write to", path);
    if (!realpath(path, out)) {
        if (errno != ENOENT) return broad__file_fail(BROAD_CANNOT_WRITE, path, "cannot be written to", errno);
        if (lstat(path, &about) == 0 && S_ISLNK(about.st_mode))
            return broad__fail(BROAD_CANNOT_WRITE, "%s: is a link to something that does not exist; remove it", path);
        memcpy(out, path, length + 1);
        return BROAD_OK;
    }
    if (stat(out, &about) != 0) return broad__file_fail(BROAD_CANNOT_WRITE, path, "cannot be looked at", errno);
    if (!S_ISREG(about.st_mode))
        return broad__fail(BROAD_CANNOT_WRITE, "%s: is %s and is not replaced; give the name of a file", path,
                           S_ISDIR(about.st_mode) ? "a folder" : "no regular file");
    if (access(out, W_OK) != 0) return broad__file_fail(BROAD_CANNOT_WRITE, path, "is protected", errno);
    *out_mode = about.st_mode;
    return BROAD_OK;
}

/* "folder/name" -> "folder/.name.XXXXXX" */
static char *temporary_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t folder = (size_t)(name - path);
    size_t kept = strnlen(name, NAME_KEPT);
    char *temporary = broad__alloc(folder + kept + 2 + RANDOM_LETTERS + 1);
    if (!temporary) return NULL;
    memcpy(temporary, path, folder);
    temporary[folder] = '.';
    memcpy(temporary + folder + 1, name, kept);
    memcpy(temporary + folder + 1 + kept, ".XXXXXX", 2 + RANDOM_LETTERS);
    return temporary;
}

static void replace_free(broad__replacement *replacement)
{
    broad__free(replacement->path);
    broad__free(replacement->temporary);
    *replacement = (broad__replacement){.fd = -1};
}

int broad__replace_begin(broad__replacement *out, const char *path)
{
    char resolved[PATH_MAX];
    mode_t mode = 0;
    *out = (broad__replacement){.fd = -1};
    int status = replace_resolve(resolved, &mode, path);
    if (status) return status;

    broad__replacement made = {.fd = -1, .path = broad__copy_text(resolved), .temporary = temporary_name(resolved)};
    if (!made.path || !made.temporary) {
        replace_free(&made);
        return BROAD_NO_MEMORY;
    }
    /* A file that others may not read must not be open to them for a moment either. */
    made.fd = broad__file_calls_used.make_temporary(made.temporary, mode ? S_IRUSR | S_IWUSR : 0666);
    if (made.fd < 0) {
        status = broad__file_fail(BROAD_CANNOT_WRITE, path, "no temporary file can be made beside it", errno);
        replace_free(&made);
        return status;
    }
    if (mode && fchmod(made.fd, mode & 0777) != 0) {
        status = broad__file_fail(BROAD_CANNOT_WRITE, path, "the mode cannot be kept", errno);
        broad__replace_abandon(&made);
        return status;
    }
    *out = made;
    return BROAD_OK;
}

int broad__replace_write(broad__replacement *replacement, const void *bytes, size_t count)
{
    const unsigned char *next = bytes;
    while (count > 0) {
        ssize_t put = broad__file_calls_used.write(replacement->fd, next, count < CHUNK ? count : CHUNK);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) {
            int status = broad__file_fail(BROAD_IO, replacement->path, "writing failed", put < 0 ? errno : ENOSPC);
            broad__replace_abandon(replacement);
            return status;
        }
        next += put;
        count -= (size_t)put;
    }
    return BROAD_OK;
}

/* The folder that holds `path`, opened before the rename so that a failure comes while the old file is still there.
 * -1 in *out where it may not be read: then it cannot be synced either, and that must not forbid the write. */
static int folder_open(int *out, const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (!slash) folder[length++] = '.';
    if (slash == path) folder[length++] = '/';
    if (slash && slash != path) memcpy(folder, path, length);
    folder[length] = 0;
    *out = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*out < 0 && errno != EACCES)
        return broad__file_fail(BROAD_CANNOT_WRITE, path, "its folder cannot be opened", errno);
    return BROAD_OK;
}

static int folder_sync(int folder, const char *path)
{
    if (folder < 0 || broad__file_calls_used.sync(folder) == 0) return BROAD_OK;
    if (errno == EINVAL || errno == ENOTSUP) return BROAD_OK; /* a file system that has no such thing */
    return broad__file_fail(BROAD_IO, path, "was replaced, but its folder cannot be synced", errno);
}

/* After sync() nothing is left to write, so an interrupted close() has lost nothing. The file stays in use until it is in its
 * place: by a duplicate, which the caller closes; -1 where there is none. */
static int replace_close(int *out_held, broad__replacement *replacement)
{
    int fd = replacement->fd;
    replacement->fd = -1;
    *out_held = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (broad__file_calls_used.close(fd) == 0 || errno == EINTR) return BROAD_OK;
    return broad__file_fail(BROAD_IO, replacement->path, "closing failed", errno);
}

typedef struct looking {
    broad__replaced look; /* NULL: it is not looked at */
    void *context;
} looking;

static int fail_rename(const broad__replacement *replacement)
{
    return broad__file_fail(BROAD_CANNOT_WRITE, replacement->path, "cannot be replaced", errno);
}

/* The files have changed places. */
static int look_at_old(const broad__replacement *replacement, const looking *own)
{
    const char *old = replacement->temporary, *to = replacement->path;
    int status = own->look(own->context, old);
    if (!status) unlink(old);
    else if (broad__file_calls_used.rename_as(old, to, RENAME_EXCHANGE) != 0) broad__file_calls_used.rename(old, to);
    return status;
}

static int put_in_place(const broad__replacement *replacement, const looking *own)
{
    const char *from = replacement->temporary, *to = replacement->path;
    while (own->look) {
        if (broad__file_calls_used.rename_as(from, to, RENAME_EXCHANGE) == 0) return look_at_old(replacement, own);
        if (errno != ENOENT) break; /* there is a file, and the file system cannot do that */
        if (broad__file_calls_used.rename_as(from, to, RENAME_NOREPLACE) == 0) return BROAD_OK;
        if (errno != EEXIST) break;
    }
    int status = own->look && access(to, F_OK) == 0 ? own->look(own->context, to) : BROAD_OK;
    if (!status && broad__file_calls_used.rename(from, to) != 0) status = fail_rename(replacement);
    return status;
}

static int replace_durably(broad__replacement *replacement, int tidy, looking own)
{
    int folder = -1, held = -1;
    int status = BROAD_OK;
    if (!replacement->temporary) return broad__fail(BROAD_BUG, "a replacement that failed or is done was committed");
    if (broad__file_calls_used.sync(replacement->fd) != 0)
        status = broad__file_fail(BROAD_IO, replacement->path, "syncing failed", errno);
    if (!status) status = replace_close(&held, replacement);
    if (!status) status = folder_open(&folder, replacement->path);
    if (!status) status = put_in_place(replacement, &own);
    if (held >= 0) close(held);
    if (status) {
        broad__replace_abandon(replacement);
    } else {
        status = folder_sync(folder, replacement->path);
        if (tidy) broad__leftovers_remove(replacement->path, 0, unlink);
        replace_free(replacement);
    }
    if (folder >= 0) close(folder);
    return status;
}

int broad__replace_commit(broad__replacement *replacement) { return replace_durably(replacement, 1, (looking){0}); }

int broad__replace_commit_among_many(broad__replacement *replacement)
{
    return replace_durably(replacement, 0, (looking){0});
}

int broad__replace_commit_looking(broad__replacement *replacement, broad__replaced look, void *context)
{
    return replace_durably(replacement, 1, (looking){look, context});
}

int broad__replace_commit_unsynced(broad__replacement *replacement)
{
    if (!replacement->temporary) return broad__fail(BROAD_BUG, "a replacement that failed or is done was committed");
    int held = -1, status = replace_close(&held, replacement);
    if (!status && broad__file_calls_used.rename(replacement->temporary, replacement->path) != 0)
        status = fail_rename(replacement);
    if (held >= 0) close(held);
    if (status) broad__replace_abandon(replacement);
    else replace_free(replacement);
    return status;
}

void broad__replace_abandon(broad__replacement *replacement)
{
    if (!replacement->temporary) return;
    if (replacement->fd >= 0) close(replacement->fd);
    unlink(replacement->temporary);
    replace_free(replacement);
}

double broad__file_bytes(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) ? (double)about.st_size : 0;
}

int broad__file_hash(char out[33], const char *path)
{
    broad__mapping mapping;
    int status = broad__file_map(&mapping, path);
    if (status) return status;
    broad__hash_text(out, mapping.bytes, mapping.count);
    broad__file_unmap(&mapping);
    return BROAD_OK;
}
