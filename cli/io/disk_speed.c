#include "io/disk_speed.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

enum { BLOCK = 1 << 20, BLOCKS = 32 };

/* It has no name, or loses it at once. */
static int open_unnamed(const char *folder)
{
    char path[4096];
#ifdef O_TMPFILE
    int unnamed = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (unnamed >= 0) return unnamed;
#endif
    if (snprintf(path, sizeof path, "%s/broad-XXXXXX", folder) >= (int)sizeof path) return -1;
    int named = mkstemp(path);
    if (named >= 0) unlink(path);
    return named;
}

/* Numbers that no file system makes smaller. */
static void fill(uint64_t *words, uint64_t state)
{
    for (size_t i = 0; i < BLOCK / sizeof *words; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        words[i] = state ^ state >> 29;
    }
}

static int write_blocks(int file, uint64_t *block)
{
    for (int i = 0; i < BLOCKS; i++) {
        fill(block, (uint64_t)i);
        if (write(file, block, BLOCK) != BLOCK) return -1;
    }
    return fdatasync(file);
}

static double read_blocks(int file, uint64_t *block)
{
    double began = broad__seconds();
    for (int i = 0; i < BLOCKS; i++)
        if (pread(file, block, BLOCK, (off_t)i * BLOCK) != BLOCK) return 0;
    double seconds = broad__seconds() - began;
    return seconds > 0 ? (double)BLOCK * BLOCKS / seconds : 0;
}

double cli_disk_speed(const char *folder)
{
    double speed = 0;
    uint64_t *block = malloc(BLOCK);
    int file = open_unnamed(folder);
    /* What is in memory already would be read from there. */
    if (block && file >= 0 && !write_blocks(file, block) && !posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED))
        speed = read_blocks(file, block);
    if (file >= 0) close(file);
    free(block);
    return speed;
}
