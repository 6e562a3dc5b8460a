/*
 * Each block is a file of its own, without a name, whose place on the disk is reserved before it is mapped: a full disk
 * is an error of the allocation, never a signal later. A page that is released stays in the file, so that releasing
 * too much costs only time.
 */
#include "base/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"

/* The kernel may map up to this many bytes around a page that is touched: what is released is widened to them, or the
 * seams of neighbouring pieces would stay in memory. */
enum { WINDOW = 1 << 21, PATH_BYTES = 4096 };

static const long TMPFS = 0x01021994, RAMFS = 0x858458f6;

typedef struct block {
    struct block *next;
    unsigned char *bytes; /* the mapping */
    size_t count;         /* whole pages */
} block;

struct broad__spill {
    size_t memory;
    int in_memory; /* files in the folder lie in memory themselves */
    pthread_mutex_t lock;
    block *blocks;
    char folder[];
};

const char *broad__spill_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/var/tmp";
}

double broad__spill_room(void)
{
    struct statvfs facts;
    if (statvfs(broad__spill_folder(), &facts) < 0) return INFINITY;
    return (double)facts.f_bavail * (double)facts.f_frsize;
}

int broad__spill_open(broad__spill **out, size_t memory)
{
    *out = NULL;
    const char *folder = broad__spill_folder();
    size_t count = strlen(folder) + 1;
    if (count > PATH_BYTES - 32) return broad__fail(BROAD_CANNOT_WRITE, "the path in TMPDIR is too long");
    struct statfs facts;
    if (statfs(folder, &facts) < 0) {
        char text[128];
        const char *reason = strerror_r(errno, text, sizeof text);
        return broad__fail(BROAD_CANNOT_WRITE,
                           "%s: no place for data that do not fit in memory: %s; set TMPDIR to a folder on a disk "
                           "with room",
                           folder, reason);
    }
    broad__spill *spill = broad__alloc(sizeof *spill + count);
    if (!spill) return BROAD_NO_MEMORY;
    memcpy(spill->folder, folder, count);
    spill->memory = memory;
    spill->in_memory = (long)facts.f_type == TMPFS || (long)facts.f_type == RAMFS;
    pthread_mutex_init(&spill->lock, NULL);
    *out = spill;
    return BROAD_OK;
}

static void block_free(block *item)
{
    if (!item) return;
    if (item->bytes) munmap(item->bytes, item->count);
    broad__free(item);
}

void broad__spill_close(broad__spill *spill)
{
    if (!spill) return;
    while (spill->blocks) {
        block *next = spill->blocks->next;
        block_free(spill->blocks);
        spill->blocks = next;
    }
    pthread_mutex_destroy(&spill->lock);
    broad__free(spill);
}

size_t broad__spill_memory(const broad__spill *spill) { return spill ? spill->memory : SIZE_MAX; }

/* -1 and errno. */
static int make_file(const char *folder)
{
#ifdef O_TMPFILE
    int unnamed = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (unnamed >= 0) return unnamed;
#endif
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/.broad-XXXXXX", folder);
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) unlink(path);
    return fd;
}

static void fail_place(const broad__spill *spill, size_t wanted, int error)
{
    if (error == ENOMEM) { /* of mmap: a folder on another disk would not help */
        broad__fail(
            BROAD_NO_MEMORY,
            "out of memory: %.1f MB more do not fit in the addresses that this process may use; raise the limit "
            "(ulimit -v)",
            (double)wanted / 1e6);
        return;
    }
    char text[128], room[64] = "";
    struct statvfs facts;
    if (statvfs(spill->folder, &facts) == 0)
        snprintf(room, sizeof room, ", of %.1f GB free", (double)facts.f_bavail * (double)facts.f_frsize / 1e9);
    const char *reason = strerror_r(error, text, sizeof text);
    broad__fail(error == ENOSPC || error == EDQUOT || error == EFBIG ? BROAD_IO : BROAD_CANNOT_WRITE,
                "%s: no place for %.1f GB of data that do not fit in memory%s: %s; set TMPDIR to a folder on a disk "
                "with room%s",
                spill->folder, (double)wanted / 1e9, room, reason,
                spill->in_memory ? " (this one is in memory itself)" : "");
}

/* 0, or the error. The mapping alone keeps the file. */
static int block_map(block *item, const char *folder)
{
    int fd = make_file(folder);
    if (fd < 0) return errno;
    int error = item->count > INT64_MAX ? EFBIG : posix_fallocate(fd, 0, (off_t)item->count);
    if (!error) {
        void *bytes = mmap(NULL, item->count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (bytes == MAP_FAILED) error = errno;
        else item->bytes = bytes;
    }
    close(fd);
    return error;
}

static size_t page_bytes(void)
{
    long bytes = sysconf(_SC_PAGESIZE);
    return bytes > 0 ? (size_t)bytes : 4096;
}

void *broad__spill_alloc(broad__spill *spill, size_t count, size_t element_bytes)
{
    if (!spill) return broad__alloc_array(count, element_bytes);
    size_t bytes, page = page_bytes();
    if (broad__multiply(&bytes, count, element_bytes) < 0 || bytes > SIZE_MAX / 2) {
        broad__fail_memory(SIZE_MAX);
        return NULL;
    }
    block *item = broad__alloc(sizeof *item);
    if (!item) return NULL;
    item->count = bytes ? (bytes + page - 1) / page * page : page;
    int error = block_map(item, spill->folder);
    if (error) {
        fail_place(spill, item->count, error);
        block_free(item);
        return NULL;
    }
    pthread_mutex_lock(&spill->lock);
    item->next = spill->blocks;
    spill->blocks = item;
    pthread_mutex_unlock(&spill->lock);
    return item->bytes;
}

void broad__spill_free(broad__spill *spill, void *bytes)
{
    if (!spill) {
        broad__free(bytes);
        return;
    }
    if (!bytes) return;
    pthread_mutex_lock(&spill->lock);
    block **at = &spill->blocks;
    while (*at && (*at)->bytes != bytes) at = &(*at)->next;
    block *found = *at;
    if (found) *at = found->next;
    pthread_mutex_unlock(&spill->lock);
    block_free(found);
}

/* The block that holds `from`, by value: the caller's use of its bytes keeps it alive. */
static block block_find(broad__spill *spill, const unsigned char *from)
{
    block found = {0};
    pthread_mutex_lock(&spill->lock);
    for (const block *item = spill->blocks; item; item = item->next)
        if ((uintptr_t)from - (uintptr_t)item->bytes < item->count) found = *item;
    pthread_mutex_unlock(&spill->lock);
    return found;
}

/* Nothing is written here: the kernel bounds what waits to be written, and what is freed before never has to be (3 GB took
 * 0.6 s this way, and 7.3 s with the writing of each piece begun at once). */
void broad__spill_done(broad__spill *spill, const void *from, size_t bytes)
{
    if (!spill || !bytes) return;
    block item = block_find(spill, from);
    if (!item.bytes) return;
    size_t first = (size_t)((const unsigned char *)from - item.bytes), end;
    if (bytes > item.count - first) bytes = item.count - first;
    end = first + bytes;
    first = first / WINDOW * WINDOW;
    end = item.count - end < WINDOW ? item.count : (end + WINDOW - 1) / WINDOW * WINDOW;
    madvise(item.bytes + first, end - first, MADV_DONTNEED);
}
