/*
 * A library for LD_PRELOAD that stands between a program and the system: it counts allocations and the system calls that
 * change or read files below one folder, and makes one of them fail, cuts a write short, ends the process there, or logs all
 * changes for the simulation of a loss of power.
 *
 *   FAULTS_ROOT    the folder; calls for other files pass unseen and uncounted
 *   FAULTS         what happens, and at which of the counted events, from 1:
 *     count            nothing
 *     alloc:N          allocation N gives NULL
 *     fail:N:ERRNO     call N fails with this error number and does nothing
 *     short:N          call N, where it is a write of two bytes or more, writes half of them
 *     kill:N           the process is killed before event N, allocations counted too; of a write half was done
 *     log              changes go to FAULTS_LOG, one line each: letter, path, number, and the bytes as hexadecimal digits
 *   FAULTS_COUNT   a file to which "CALLS ALLOCATIONS" is written at the end of the process
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FILES = 1024 };

typedef enum mode { OFF, COUNT, ALLOC, FAIL, SHORT, KILL, LOG } mode;

static mode how = OFF;
static long at;
static int number;
static const char *root;
static size_t root_length;
static int log_file = -1;
static atomic_long calls, allocations, events;
static char *names[FILES]; /* of open files below the root */
static pid_t own;

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);

/* ---- what is asked for ---- */

__attribute__((constructor)) static void begin(void)
{
    static const char *const words[] = {"", "count", "alloc:", "fail:", "short:", "kill:", "log"};
    const char *text = getenv("FAULTS");
    root = getenv("FAULTS_ROOT");
    own = getpid();
    if (!text || !root) return;
    root_length = strlen(root);
    mode wanted = OFF;
    for (int i = COUNT; i <= LOG; i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0) wanted = (mode)i;
    const char *colon = strchr(text, ':');
    at = colon ? atol(colon + 1) : 0;
    colon = colon ? strchr(colon + 1, ':') : NULL;
    number = colon ? atoi(colon + 1) : EIO;
    if (wanted == LOG)
        log_file = (int)syscall(SYS_openat, AT_FDCWD, getenv("FAULTS_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    how = wanted;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAULTS_COUNT");
    char text[64];
    if (!path || how == OFF || getpid() != own) return;
    how = OFF;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int length = snprintf(text, sizeof text, "%ld %ld\n", (long)calls, (long)allocations);
    if (fd >= 0) {
        (void)!syscall(SYS_write, fd, text, (size_t)length);
        syscall(SYS_close, fd);
    }
}

static void die(void) { syscall(SYS_kill, own, SIGKILL); }

/* ---- allocations ---- */

static int refuse(void)
{
    if (how == OFF) return 0;
    if (how == KILL && atomic_fetch_add(&events, 1) + 1 == at) die();
    return atomic_fetch_add(&allocations, 1) + 1 == at && how == ALLOC;
}

void *malloc(size_t bytes)
{
    if (!refuse()) return __libc_malloc(bytes);
    errno = ENOMEM;
    return NULL;
}

void *calloc(size_t count, size_t bytes)
{
    if (!refuse()) return __libc_calloc(count, bytes);
    errno = ENOMEM;
    return NULL;
}

void *realloc(void *block, size_t bytes)
{
    if (!refuse()) return __libc_realloc(block, bytes);
    errno = ENOMEM;
    return NULL;
}

/* ---- calls ---- */

static int below(const char *path)
{
    char whole[PATH_MAX];
    if (how == OFF || !path) return 0;
    if (path[0] == '/') return strncmp(path, root, root_length) == 0;
    return syscall(SYS_getcwd, whole, sizeof whole) > 0 && strncmp(whole, root, root_length) == 0;
}

static const char *name_of(int fd) { return how != OFF && fd >= 0 && fd < FILES ? names[fd] : NULL; }

/* -1: the call fails; 1: half of it is to be done; 2: half, and then the end; 0: all of it. */
static int event(int writes)
{
    if (how == KILL && atomic_fetch_add(&events, 1) + 1 == at) {
        if (writes) return 2;
        die();
    }
    long now = atomic_fetch_add(&calls, 1) + 1;
    if (now != at) return 0;
    if (how == FAIL) errno = number;
    return how == FAIL ? -1 : how == SHORT ? 1 : 0;
}

static void put_log(char letter, const char *path, const char *other, long place, const void *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    if (how != LOG) return;
    size_t room = 2 * count + 2 * PATH_MAX + 64;
    char *line = __libc_malloc(room);
    int used = snprintf(line, room, "%c\t%s\t%s\t%ld\t", letter, path, other ? other : "", place);
    for (size_t i = 0; i < count; i++) {
        unsigned char byte = ((const unsigned char *)bytes)[i];
        line[used++] = digits[byte >> 4];
        line[used++] = digits[byte & 15];
    }
    line[used++] = '\n';
    (void)!syscall(SYS_write, log_file, line, (size_t)used);
    free(line);
}

static const char *whole_path(char out[PATH_MAX], const char *path)
{
    char here[PATH_MAX / 2] = "";
    if (path[0] == '/') return path;
    syscall(SYS_getcwd, here, sizeof here);
    snprintf(out, PATH_MAX, "%s/%s", here, path);
    return out;
}

static int opened(int folder, const char *path, int flags, mode_t permissions)
{
    char room[PATH_MAX];
    int mine = (folder == AT_FDCWD || path[0] == '/') && below(path);
    if (mine && event(0) < 0) return -1;
    int fd = (int)syscall(SYS_openat, folder, path, flags, permissions);
    if (fd < 0 || fd >= FILES) return fd;
    names[fd] = NULL;
    if (mine) names[fd] = strcpy(__libc_malloc(PATH_MAX), whole_path(room, path));
    if (mine && flags & O_CREAT) put_log('C', names[fd], NULL, 0, NULL, 0);
    if (mine && flags & O_TRUNC) put_log('T', names[fd], NULL, 0, NULL, 0);
    return fd;
}

static mode_t permissions_of(int flags, va_list rest)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}

#define OPEN_BODY(folder, path, flags)                                                                                 \
    va_list rest;                                                                                                      \
    va_start(rest, flags);                                                                                             \
    mode_t permissions = permissions_of(flags, rest);                                                                  \
    va_end(rest);                                                                                                      \
    return opened(folder, path, flags, permissions)

int open(const char *path, int flags, ...) { OPEN_BODY(AT_FDCWD, path, flags); }
int open64(const char *path, int flags, ...) { OPEN_BODY(AT_FDCWD, path, flags); }
int openat(int folder, const char *path, int flags, ...) { OPEN_BODY(folder, path, flags); }
int openat64(int folder, const char *path, int flags, ...) { OPEN_BODY(folder, path, flags); }

static ssize_t put(int fd, const void *bytes, size_t count, off_t place, int placed)
{
    const char *name = name_of(fd);
    int part = name ? event(count > 1) : 0;
    if (part < 0) return -1;
    if (part && count > 1) count /= 2;
    off_t where = placed ? place : name ? (off_t)syscall(SYS_lseek, fd, 0, SEEK_CUR) : 0;
    ssize_t done = placed ? syscall(SYS_pwrite64, fd, bytes, count, place) : syscall(SYS_write, fd, bytes, count);
    if (part == 2) die();
    if (name && done > 0) put_log('W', name, NULL, (long)where, bytes, (size_t)done);
    return done;
}

ssize_t write(int fd, const void *bytes, size_t count) { return put(fd, bytes, count, 0, 0); }
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t place) { return put(fd, bytes, count, place, 1); }
ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t place) { return put(fd, bytes, count, place, 1); }

ssize_t read(int fd, void *bytes, size_t count)
{
    if (name_of(fd) && event(0) < 0) return -1;
    return syscall(SYS_read, fd, bytes, count);
}

static ssize_t read_at(int fd, void *bytes, size_t count, off_t place)
{
    if (name_of(fd) && event(0) < 0) return -1;
    return syscall(SYS_pread64, fd, bytes, count, place);
}

ssize_t pread(int fd, void *bytes, size_t count, off_t place) { return read_at(fd, bytes, count, place); }
ssize_t pread64(int fd, void *bytes, size_t count, off_t place) { return read_at(fd, bytes, count, place); }

static int synced(int fd, int how_much)
{
    const char *name = name_of(fd);
    if (name && event(0) < 0) return -1;
    int done = (int)syscall(how_much, fd);
    if (name && !done) put_log('S', name, NULL, 0, NULL, 0);
    return done;
}

int fsync(int fd) { return synced(fd, SYS_fsync); }
int fdatasync(int fd) { return synced(fd, SYS_fdatasync); }

int close(int fd)
{
    char *name = fd >= 0 && fd < FILES ? names[fd] : NULL;
    int failed = name && how != OFF && event(0) < 0;
    int reason = errno;
    if (name) {
        names[fd] = NULL;
        free(name);
    }
    int done = (int)syscall(SYS_close, fd); /* also where it fails: Linux has closed it then */
    if (failed) errno = reason;
    return failed ? -1 : done;
}

int ftruncate(int fd, off_t length)
{
    const char *name = name_of(fd);
    if (name && event(0) < 0) return -1;
    int done = (int)syscall(SYS_ftruncate, fd, length);
    if (name && !done) put_log('T', name, NULL, (long)length, NULL, 0);
    return done;
}

int ftruncate64(int fd, off_t length) { return ftruncate(fd, length); }

static int moved(const char *from, const char *to, unsigned flags)
{
    char one[PATH_MAX], two[PATH_MAX];
    int mine = below(to);
    if (mine && event(0) < 0) return -1;
    int done = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
    if (mine && !done) put_log(flags ? 'X' : 'R', whole_path(one, from), whole_path(two, to), 0, NULL, 0);
    return done;
}

int rename(const char *from, const char *to) { return moved(from, to, 0); }

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    (void)from_folder, (void)to_folder; /* the programs here use paths only */
    return moved(from, to, flags);
}

int link(const char *from, const char *to)
{
    char one[PATH_MAX], two[PATH_MAX];
    int mine = below(to);
    if (mine && event(0) < 0) return -1;
    int done = (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (mine && !done) put_log('L', whole_path(one, from), whole_path(two, to), 0, NULL, 0);
    return done;
}

int unlink(const char *path)
{
    char one[PATH_MAX];
    int mine = below(path);
    if (mine && event(0) < 0) return -1;
    int done = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (mine && !done) put_log('U', whole_path(one, path), NULL, 0, NULL, 0);
    return done;
}

int mkdir(const char *path, mode_t permissions)
{
    if (below(path) && event(0) < 0) return -1;
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, permissions);
}
