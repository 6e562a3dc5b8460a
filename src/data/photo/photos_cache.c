/*
 * FOLDER/ab/ab01...: the key, its first two digits naming a folder. An entry is the hash of all that follows it, the head, the
 * parts and the inputs. The time of a file is that of its last use, to a day.
 */
#include "data/photo/photos_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"

enum {
    KEY_LETTERS = BROAD__HASH_TEXT - 1,
    SHELVES = 256,
    SHELF_TEXT = 4, /* "/ab" */
    DAY = 24 * 60 * 60
};
static const size_t ENTRY_MOST = (size_t)256 << 20, ENTRIES_MOST = (size_t)1 << 26;

struct broad__photo_cache {
    atomic_int written; /* something was */
    size_t folder_bytes;
    char folder[];
};

typedef struct head {
    uint64_t maps, rows, inputs;
    broad_photo facts;
    broad__print print;
} head;

typedef struct sealed_head {
    char seal[BROAD__HASH_TEXT + 7];
    head head;
} sealed_head;

static int make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        int failed = mkdir(path, 0777) != 0 && errno != EEXIST;
        *slash = '/';
        if (failed) return 0;
    }
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

int broad__photo_cache_open(broad__photo_cache **out, const char *folder)
{
    size_t bytes = strlen(folder);
    *out = NULL;
    if (!bytes) return BROAD_OK;
    broad__photo_cache *cache = broad__alloc(sizeof *cache + bytes + 1);
    if (!cache) return BROAD_NO_MEMORY;
    memcpy(cache->folder, folder, bytes + 1);
    cache->folder_bytes = bytes;
    if (make_folders(cache->folder)) *out = cache;
    else broad__free(cache);
    return BROAD_OK;
}

/* The path of an entry; of its folder alone without the name. A block for broad__free(). */
static char *entry_path(const broad__photo_cache *cache, const char *key, int name)
{
    size_t bytes = cache->folder_bytes + SHELF_TEXT + BROAD__HASH_TEXT + 1;
    char *path = broad__alloc(bytes);
    if (path) snprintf(path, bytes, "%s/%.2s%s%s", cache->folder, key, name ? "/" : "", name ? key : "");
    return path;
}

/* ---- entries --------------------------------------------------------------------------------------------------- */

/* Whether the bytes are an entry; what its arrays take is then in agreement with its size. */
static int is_whole(const char *bytes, size_t count, size_t side)
{
    sealed_head start;
    char seal[BROAD__HASH_TEXT];
    if (count < sizeof start) return 0;
    memcpy(&start, bytes, sizeof start);
    broad__hash_text(seal, bytes + sizeof start.seal, count - sizeof start.seal);
    if (memcmp(seal, start.seal, sizeof seal) != 0) return 0;
    broad__photo_spec spec = {.maps = (size_t)start.head.maps, .side = side};
    if (!spec.maps || spec.maps > BROAD_PHOTO_MAP_ALL || start.head.inputs != broad__photo_inputs(&spec)) return 0;
    size_t row = sizeof(broad__photo_part) + (size_t)start.head.inputs * sizeof(float), rows = (size_t)start.head.rows;
    return rows && (count - sizeof start) % row == 0 && (count - sizeof start) / row == rows;
}

static int unpack(broad__prepared *out, const char *bytes)
{
    sealed_head start;
    memcpy(&start, bytes, sizeof start);
    const head *h = &start.head;
    size_t rows = (size_t)h->rows, inputs = rows * (size_t)h->inputs;
    *out = (broad__prepared){.maps = (size_t)h->maps, .rows = rows, .facts = h->facts, .print = h->print};
    out->facts.file = out->facts.name = NULL;
    out->facts.time[sizeof out->facts.time - 1] = 0;
    out->parts = broad__alloc_array(rows, sizeof *out->parts);
    out->inputs = broad__alloc_array(inputs, sizeof *out->inputs);
    if (!out->parts || !out->inputs) {
        broad__prepared_clear(out);
        return BROAD_NO_MEMORY;
    }
    memcpy(out->parts, bytes + sizeof start, rows * sizeof *out->parts);
    memcpy(out->inputs, bytes + sizeof start + rows * sizeof *out->parts, inputs * sizeof *out->inputs);
    return BROAD_OK;
}

int broad__photo_entry_decode(broad__prepared *out, const void *bytes, size_t count, size_t side)
{
    *out = (broad__prepared){0};
    return is_whole(bytes, count, side) ? unpack(out, bytes) : BROAD_OK;
}

/* Entries that are used stay; the time is set once a day and not with every use. */
static void mark_used(const char *path)
{
    struct stat about;
    if (stat(path, &about) == 0 && time(NULL) - about.st_mtime > DAY) utimensat(AT_FDCWD, path, NULL, 0);
}

int broad__photo_cache_load(broad__prepared *out, broad__photo_cache *cache, const char key[BROAD__HASH_TEXT],
                            size_t side)
{
    *out = (broad__prepared){0};
    void *bytes = NULL;
    size_t count = 0;
    char *path = entry_path(cache, key, 1);
    if (!path) return BROAD_NO_MEMORY;
    int status = broad__file_read(&bytes, &count, path, ENTRY_MOST);
    if (status == BROAD_OK) status = broad__photo_entry_decode(out, bytes, count, side);
    if (out->maps) mark_used(path);
    broad__free(bytes);
    broad__free(path);
    return status == BROAD_NO_MEMORY ? status : BROAD_OK;
}

void *broad__photo_entry_encode(size_t *out_bytes, const broad__prepared *prepared, size_t side)
{
    broad__photo_spec spec = {.maps = prepared->maps, .side = side};
    size_t inputs = broad__photo_inputs(&spec);
    size_t parts = prepared->rows * sizeof *prepared->parts, numbers = prepared->rows * inputs * sizeof(float);
    sealed_head *start = broad__alloc(sizeof *start + parts + numbers);
    if (!start) return NULL;
    *out_bytes = sizeof *start + parts + numbers;
    char *bytes = (char *)start;
    start->head.maps = prepared->maps;
    start->head.rows = prepared->rows;
    start->head.inputs = inputs;
    start->head.facts = prepared->facts;
    start->head.print = prepared->print;
    memcpy(bytes + sizeof *start, prepared->parts, parts);
    memcpy(bytes + sizeof *start + parts, prepared->inputs, numbers);
    broad__hash_text(start->seal, bytes + sizeof start->seal, *out_bytes - sizeof start->seal);
    return bytes;
}

void broad__photo_cache_store(broad__photo_cache *cache, const char key[BROAD__HASH_TEXT],
                              const broad__prepared *prepared, size_t side)
{
    size_t count = 0;
    broad__replacement file = {.fd = -1};
    char *shelf = entry_path(cache, key, 0), *path = entry_path(cache, key, 1);
    void *bytes = broad__photo_entry_encode(&count, prepared, side);
    if (!shelf || !path || !bytes || count > ENTRY_MOST) goto cleanup;
    if (mkdir(shelf, 0777) != 0 && errno != EEXIST) goto cleanup;
    if (broad__replace_begin(&file, path) < 0) goto cleanup;
    if (broad__replace_write(&file, bytes, count) < 0) goto cleanup;
    if (broad__replace_commit_unsynced(&file) == BROAD_OK) atomic_store(&cache->written, 1);

cleanup:
    broad__free(shelf);
    broad__free(path);
    broad__free(bytes);
}

/* ---- keeping it small ------------------------------------------------------------------------------------------ */

typedef struct old_entry {
    struct timespec used;
    size_t bytes;
    char path[SHELF_TEXT + 2 * BROAD__HASH_TEXT]; /* from the folder */
} old_entry;

typedef struct census {
    old_entry *items;
    size_t count, room;
    size_t bytes;
} census;

/* A key, or what a write that was cut off left behind: ".KEY.abcdef". Nothing else is ever removed. */
static int is_entry(const char *name, const char *shelf)
{
    size_t letters = 0;
    if (*name == '.') name++;
    while (strchr("0123456789abcdef", name[letters]) && name[letters]) letters++;
    if (letters != KEY_LETTERS || strncmp(name, shelf, 2) != 0) return 0;
    return !name[letters] || (name[letters] == '.' && strlen(name) == KEY_LETTERS + 7);
}

static void count_shelf(census *out, int folder, const char *shelf)
{
    int fd = openat(folder, shelf, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream) {
        if (fd >= 0) close(fd);
        return;
    }
    for (const struct dirent *found; (found = readdir(stream));) {
        struct stat about;
        if (!is_entry(found->d_name, shelf) || fstatat(fd, found->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (broad__grow(&out->items, &out->room, out->count + 1, sizeof *out->items, ENTRIES_MOST) < 0) break;
        old_entry *item = &out->items[out->count++];
        *item = (old_entry){.used = about.st_mtim, .bytes = (size_t)about.st_size};
        snprintf(item->path, sizeof item->path, "%s/%.45s", shelf, found->d_name);
        out->bytes += item->bytes;
    }
    closedir(stream);
}

static int compare_age(const void *a, const void *b)
{
    const old_entry *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    if (x->used.tv_nsec != y->used.tv_nsec) return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* An eighth more than needed goes, so that not every run has something to remove. */
static void remove_oldest(const broad__photo_cache *cache, size_t most)
{
    census all = {0};
    int folder = open(cache->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    for (unsigned i = 0; i < SHELVES; i++) {
        char shelf[SHELF_TEXT];
        snprintf(shelf, sizeof shelf, "%02x", i);
        count_shelf(&all, folder, shelf);
    }
    if (all.bytes > most) qsort(all.items, all.count, sizeof *all.items, compare_age);
    size_t wanted = all.bytes > most ? most - most / 8 : all.bytes;
    for (size_t i = 0; all.bytes > wanted && i < all.count; i++)
        if (unlinkat(folder, all.items[i].path, 0) == 0) all.bytes -= all.items[i].bytes;
    close(folder);
    broad__free(all.items);
}

void broad__photo_cache_close(broad__photo_cache *cache, size_t most)
{
    if (!cache) return;
    if (atomic_load(&cache->written)) remove_oldest(cache, most);
    broad__free(cache);
}
