/*
 * The lock is one of flock(2) on the model's file itself, so that nothing has to be cleared away and a killed process leaves
 * nothing behind. As saving puts another file in its place, the new one is locked before it gets the name; a run that opens the
 * name finds a file that is locked, or one whose run has ended. Where there is no file yet, or no locks, the check when
 * saving is what protects.
 */
#include "run/model_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/profile.h"
#include "io/output.h"
#include "io/ranks.h"
#include "run/kept_stats.h"

enum { ATTEMPTS = 100, CONFLICT_LETTERS = 8 };

/* ---- holding ---- */

static int is_at(int fd, const char *path)
{
    struct stat held, there;
    return !fstat(fd, &held) && !stat(path, &there) && held.st_dev == there.st_dev && held.st_ino == there.st_ino;
}

static int fail_busy(const char *name)
{
    return cli_fail(BROAD_CANNOT_WRITE,
                    "%s is being changed by another run of broad; nothing was done. Try again when that one has ended, "
                    "or write to another file with -o",
                    name);
}

/* *out: -1 where there is nothing to lock, or no lock to be had. */
static int lock_path(int *out, const char *path, const char *name, int how)
{
    *out = -1;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0) return BROAD_OK;
        if (flock(fd, how | LOCK_NB)) {
            int busy = errno == EWOULDBLOCK;
            close(fd);
            return busy ? fail_busy(name) : BROAD_OK;
        }
        if (is_at(fd, path)) {
            *out = fd;
            return BROAD_OK;
        }
        close(fd); /* replaced in between */
    }
    return fail_busy(name);
}

static int hold(cli_model_file *out, const char *name, int how)
{
    char resolved[PATH_MAX];
    *out = (cli_model_file){.name = name, .lock = -1};
    if (!cli_writes()) return BROAD_OK;
    int there = realpath(name, resolved) != NULL;
    out->path = strdup(there ? resolved : name);
    int status = out->path ? BROAD_OK : cli_fail(BROAD_NO_MEMORY, "out of memory");
    if (!status) status = lock_path(&out->lock, out->path, name, how);
    if (!status && there) status = broad__file_hash(out->seen, out->path);
    if (status) cli_model_file_release(out);
    return status;
}

int cli_model_file_hold(cli_model_file *out, const char *name) { return hold(out, name, LOCK_EX); }

int cli_model_file_hold_to_read(cli_model_file *out, const char *name) { return hold(out, name, LOCK_SH); }

void cli_model_file_release(cli_model_file *file)
{
    if (!file->name) return;
    if (file->lock >= 0) close(file->lock);
    free(file->path);
    *file = (cli_model_file){.lock = -1};
}

/* ---- what is replaced ---- */

/* A second name for the file, which a rename makes the only name of what is there now; a copy where files have one name. */
static int keep_previous(const char *path)
{
    char kept[PATH_MAX + 2], link_path[PATH_MAX + 16];
    snprintf(kept, sizeof kept, "%s~", path);
    snprintf(link_path, sizeof link_path, "%s~new", path);
    unlink(link_path); /* of a run that was killed */
    if (link(path, link_path)) return cli_copy_file(kept, path);
    int failed = rename(link_path, kept), number = errno;
    unlink(link_path); /* still there where both were names of one file */
    return failed ? broad__file_fail(BROAD_CANNOT_WRITE, kept, "cannot be replaced", number) : BROAD_OK;
}

/* ---- saving ---- */

static int has_changed(const cli_model_file *file)
{
    char now[BROAD__HASH_TEXT] = "";
    if (access(file->path, F_OK) == 0 && broad__file_hash(now, file->path)) return 1;
    return strcmp(now, file->seen) != 0;
}

/* Another program has changed the file: the new model goes elsewhere, so that neither is lost. */
static int save_apart(const cli_model_file *file, const char *hash, const void *bytes, size_t count)
{
    char path[PATH_MAX + 16];
    broad__replacement place;
    snprintf(path, sizeof path, "%s.%.*s", file->name, (int)CONFLICT_LETTERS, hash);
    int status = broad__replace_begin(&place, path);
    if (!status) status = broad__replace_write(&place, bytes, count);
    if (!status) status = broad__replace_commit(&place);
    if (status) return status;
    return cli_fail(BROAD_CANNOT_WRITE,
                    "%s was changed by another program while this run was at work, so it was left as it is; the model "
                    "of this run is in %s. To have both, start again from %s",
                    file->name, path, file->name);
}

/* The new file is locked before it has the name. */
static int put_in_place(cli_model_file *file, const void *bytes, size_t count)
{
    broad__replacement place;
    int status = broad__replace_begin(&place, file->path);
    if (!status) status = broad__replace_write(&place, bytes, count);
    if (status) return status;
    int lock = dup(place.fd);
    if (lock >= 0) fcntl(lock, F_SETFD, FD_CLOEXEC);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB)) {
        close(lock);
        lock = -1;
    }
    if (!file->kept && file->seen[0]) status = keep_previous(file->path);
    if (status) broad__replace_abandon(&place);
    else status = broad__replace_commit(&place);
    if (status) {
        if (lock >= 0) close(lock);
        return status;
    }
    if (file->lock >= 0) close(file->lock);
    file->lock = lock;
    return BROAD_OK;
}

static int save_bytes(cli_model_file *file, const void *bytes, size_t count, const broad_stats *stats)
{
    char hash[BROAD__HASH_TEXT];
    broad__hash_text(hash, bytes, count);
    if (has_changed(file)) return save_apart(file, hash, bytes, count);
    int same = strcmp(hash, file->seen) == 0, status = BROAD_OK;
    if (stats) status = cli_stats_write_new(stats, file->name, hash);
    if (!status && !same) status = put_in_place(file, bytes, count);
    if (status && stats) cli_stats_remove_new(file->name, hash);
    if (!status && !same && !file->kept) status = cli_stats_step_aside(file->name);
    if (!status && stats) status = cli_stats_settle(file->name, hash);
    if (status) return status;
    file->kept |= !same;
    memcpy(file->seen, hash, sizeof hash);
    return BROAD_OK;
}

/* All ranks have come to the same model, before it takes the place of one that some of them might still read. */
static int check_ranks(const void *bytes, size_t count)
{
    enum { HALF = 0x3fffffff };
    char hash[BROAD__HASH_TEXT];
    if (cli_ranks() == 1) return BROAD_OK;
    broad__hash_text(hash, bytes, count);
    int own = (int)(strtoull(hash + strlen(hash) - 8, NULL, 16) & HALF);
    int most = cli_ranks_most(own), least = HALF - cli_ranks_most(HALF - own);
    if (most == least) return BROAD_OK;
    return cli_fail(BROAD_FAILED,
                    "the ranks came to different models, so nothing was saved: give all of them the same version of "
                    "broad, the same files and the same kind of processor");
}

int cli_model_file_save(cli_model_file *file, const broad_model *model, int compact, const broad_stats *stats)
{
    void *bytes = NULL;
    size_t count = 0;
    broad__profile_span span = broad__profile_start();
    int status = broad_model_to_memory(&bytes, &count, model, compact ? BROAD_FILE_COMPACT : BROAD_FILE_FULL);
    if (!status) status = check_ranks(bytes, count);
    if (!status && cli_writes()) status = save_bytes(file, bytes, count, stats);
    broad__profile_stop(span, BROAD__STAGE_SAVE, 0, (double)count);
    broad_free(bytes);
    return status;
}

/* ---- undoing ---- */

int cli_model_file_swap(cli_model_file *file)
{
    char kept[PATH_MAX + 2];
    int lock = -1;
    snprintf(kept, sizeof kept, "%s~", file->path);
    int status = lock_path(&lock, kept, file->name, LOCK_EX);
    if (!status) status = cli_exchange_files(file->path, kept);
    if (!status) status = cli_stats_swap(file->name);
    if (status) {
        if (lock >= 0) close(lock);
        return status;
    }
    if (file->lock >= 0) close(file->lock);
    file->lock = lock;
    return broad__file_hash(file->seen, file->path);
}
