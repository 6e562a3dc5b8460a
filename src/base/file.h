/* Files: whole reads, and replacement that leaves the old file or the new one, never a part. */
#ifndef BROAD_BASE_FILE_H
#define BROAD_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads a regular file of at most `limit` bytes. The block is freed with broad__free(). BROAD_NO_INPUT: it cannot be
 * opened or is no regular file; BROAD_BAD_DATA: it is larger than `limit`; BROAD_IO: reading failed. */
int broad__file_read(void **out, size_t *out_bytes, const char *path, size_t limit);

/* Reads the first bytes of a regular file, `room` at most, into `out`. */
int broad__file_read_start(void *out, size_t *out_bytes, const char *path, size_t room);

/* A regular file that is read piece by piece: all pieces are of one file, even if it is replaced meanwhile. */
typedef struct broad__reading {
    int fd;
    const char *path; /* the caller's */
    size_t bytes;     /* that it had when it was opened */
} broad__reading;

int broad__reading_open(broad__reading *out, const char *path);
/* The next `count` bytes. BROAD_IO: so many are no longer there. */
int broad__reading_take(const broad__reading *reading, void *to, size_t count);
void broad__reading_close(broad__reading *reading);

/* A whole regular file as bytes that are never written to: mapped, so that processes share its pages, or read where the file
 * system cannot do that. The file must not be changed in its place meanwhile; replacing it is safe. */
typedef struct broad__mapping {
    void *bytes; /* NULL: nothing */
    size_t count;
    int mapped;
} broad__mapping;

int broad__file_map(broad__mapping *out, const char *path);
void broad__file_unmap(broad__mapping *mapping); /* accepts one that has nothing */

/* Fails with "PATH: WHAT: " and the system's text for the error number. */
int broad__file_fail(int status, const char *path, const char *what, int number);

double broad__file_bytes(const char *path); /* 0 where that is not known */
/* base/hash.h of what a regular file contains. */
int broad__file_hash(char out[33], const char *path);

/* Writes into a temporary file beside `path`, called .NAME.XXXXXX; commit makes it durable and puts it in the place of
 * `path` in one step. An existing file keeps its mode, a link stays and its target is replaced. A process that is
 * killed on the way leaves the temporary file behind, and `path` as it was; the next replacement of
 * the same file removes it.
 *
 * Every failure removes the temporary file and leaves `path` as it was, except that of the folder's sync: then the new
 * file is in place, whole, but a loss of power may still bring the old one back. BROAD_CANNOT_WRITE: the place cannot
 * be written to or renamed into; BROAD_IO: writing, syncing or closing failed, as it does on a full disk. */
typedef struct broad__replacement {
    int fd;
    char *path;      /* where it goes, links resolved */
    char *temporary; /* where it is written; NULL: nothing is open */
} broad__replacement;

int broad__replace_begin(broad__replacement *out, const char *path);
int broad__replace_write(broad__replacement *replacement, const void *bytes, size_t count);
int broad__replace_commit(broad__replacement *replacement); /* also frees it, on failure too */
/* The same in a folder of many files, which is not searched for what killed runs have left. */
int broad__replace_commit_among_many(broad__replacement *replacement);
/* The same without waiting for the disk, for what can be recomputed: after a loss of power the file may be damaged. */
int broad__replace_commit_unsynced(broad__replacement *replacement);
/* As broad__replace_commit(), but what was in the place until then is shown to `look` before it is removed: where the file
 * system can exchange two files in one step, also a file that another program has just put there. A failure of `look`
 * leaves it in its place. */
typedef int (*broad__replaced)(void *context, const char *path);
int broad__replace_commit_looking(broad__replacement *replacement, broad__replaced look, void *context);
void broad__replace_abandon(broad__replacement *replacement); /* accepts one that was never begun or is done with */

/* The system calls of a replacement, so that tests can make the n-th of them fail. Nothing else ever writes to it. */
typedef struct broad__file_calls {
    int (*make_temporary)(char *template_path, mode_t mode); /* fills in the six X at the end; -1 and errno */
    ssize_t (*write)(int fd, const void *bytes, size_t count);
    int (*sync)(int fd);
    int (*close)(int fd);
    int (*rename)(const char *from, const char *to);
    int (*rename_as)(const char *from, const char *to, unsigned flags); /* of renameat2() */
} broad__file_calls;

extern broad__file_calls broad__file_calls_used;

#endif
