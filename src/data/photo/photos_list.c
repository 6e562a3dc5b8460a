#include "data/photo/photos_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"

static const size_t FILES_MOST = (size_t)1 << 28, FOLDERS_MOST = (size_t)1 << 24;

enum { REASON_BYTES = 128 };

typedef struct folder {
    const char *path, *name; /* name: from the folder given, "" for that one itself */
} folder;

typedef struct identity {
    dev_t device;
    ino_t number;
} identity;

typedef enum entry_kind { ENTRY_FILE, ENTRY_FOLDER, ENTRY_LINKED_FOLDER, ENTRY_OTHER } entry_kind;

typedef struct entry {
    const char *name;
    entry_kind kind;
} entry;

/* One walk, breadth first, so that of several ways to a folder the shortest is taken; the texts are the list's. */
typedef struct walk {
    broad__photo_list *list;
    folder *folders;
    size_t folder_count, folder_room;
    identity *seen;
    size_t seen_count, seen_room;
    entry *entries; /* of the current folder */
    size_t entry_count, entry_room;
    int several; /* paths are given */
} walk;

static const char *keep_text(broad__photo_list *list, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *kept = broad__arena_take(&list->texts, bytes);
    return kept ? memcpy(kept, text, bytes) : NULL;
}

/* "folder/name", or "name" in the folder "". */
static const char *join_path(broad__photo_list *list, const char *folder_name, const char *name)
{
    size_t head = strlen(folder_name);
    const char *slash = head && folder_name[head - 1] != '/' ? "/" : "";
    char *joined = broad__arena_take(&list->texts, head + strlen(slash) + strlen(name) + 1);
    if (joined) stpcpy(stpcpy(stpcpy(joined, folder_name), slash), name);
    return joined;
}

static int add_file(broad__photo_list *list, const broad__photo_file *file)
{
    int status = broad__grow(&list->items, &list->room, list->count + 1, sizeof *list->items, FILES_MOST);
    if (status < 0) return status;
    list->items[list->count++] = *file;
    return BROAD_OK;
}

int broad__photo_list_add(broad__photo_list *list, const char *file, const char *name, const char *fault)
{
    broad__photo_file item = {.file = keep_text(list, file), .name = keep_text(list, name)};
    if (fault) item.fault = keep_text(list, fault);
    if (!item.file || !item.name || (fault && !item.fault)) return BROAD_NO_MEMORY;
    return add_file(list, &item);
}

int broad__photo_list_refuse(broad__photo_list *list, size_t index, const char *fault)
{
    list->items[index].fault = keep_text(list, fault);
    return list->items[index].fault ? BROAD_OK : BROAD_NO_MEMORY;
}

static const char *fault_text(broad__photo_list *list, const char *what, int number)
{
    char reason[REASON_BYTES];
    const char *system = strerror_r(number, reason, sizeof reason);
    char *kept = broad__arena_take(&list->texts, strlen(what) + strlen(system) + 3);
    if (kept) stpcpy(stpcpy(stpcpy(kept, what), ": "), system);
    return kept;
}

static int add_folder(walk *w, const char *path, const char *name)
{
    if (!path || !name) return BROAD_NO_MEMORY;
    int status = broad__grow(&w->folders, &w->folder_room, w->folder_count + 1, sizeof *w->folders, FOLDERS_MOST);
    if (status == BROAD_OK) w->folders[w->folder_count++] = (folder){path, name};
    return status;
}

/* Whether a folder comes for the first time; it counts as seen from now on. */
static int first_time(int *out, walk *w, const struct stat *about)
{
    *out = 0;
    for (size_t i = 0; i < w->seen_count; i++)
        if (w->seen[i].device == about->st_dev && w->seen[i].number == about->st_ino) return BROAD_OK;
    int status = broad__grow(&w->seen, &w->seen_room, w->seen_count + 1, sizeof *w->seen, FOLDERS_MOST);
    if (status < 0) return status;
    w->seen[w->seen_count++] = (identity){about->st_dev, about->st_ino};
    *out = 1;
    return BROAD_OK;
}

/* A link that leads nowhere is taken for a file: opening it will tell why. */
static entry_kind kind_of(int fd, const struct dirent *found)
{
    struct stat about;
    if (found->d_type == DT_REG) return ENTRY_FILE;
    if (found->d_type == DT_DIR) return ENTRY_FOLDER;
    if (fstatat(fd, found->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) return ENTRY_FILE;
    int link = S_ISLNK(about.st_mode);
    if (link && fstatat(fd, found->d_name, &about, 0) != 0) return ENTRY_FILE;
    if (S_ISDIR(about.st_mode)) return link ? ENTRY_LINKED_FOLDER : ENTRY_FOLDER;
    return S_ISREG(about.st_mode) ? ENTRY_FILE : ENTRY_OTHER;
}

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* What is in a folder, links to folders after the folders themselves, each kind sorted by name. */
static int read_entries(walk *w, DIR *stream)
{
    w->entry_count = 0;
    for (const struct dirent *found; errno = 0, (found = readdir(stream));) {
        if (found->d_name[0] == '.') continue;
        const char *name = keep_text(w->list, found->d_name);
        if (!name) return BROAD_NO_MEMORY;
        int status = broad__grow(&w->entries, &w->entry_room, w->entry_count + 1, sizeof *w->entries, FILES_MOST);
        if (status < 0) return status;
        w->entries[w->entry_count++] = (entry){name, kind_of(dirfd(stream), found)};
    }
    if (errno) return broad__fail(BROAD_IO, "reading the folder failed");
    if (w->entry_count) qsort(w->entries, w->entry_count, sizeof *w->entries, compare_entries);
    return BROAD_OK;
}

static int add_entries(walk *w, folder from)
{
    for (size_t i = 0; i < w->entry_count; i++) {
        const entry *e = &w->entries[i];
        const char *path = join_path(w->list, from.path, e->name), *name = join_path(w->list, from.name, e->name);
        if (!path || !name) return BROAD_NO_MEMORY;
        broad__photo_file file = {.file = path, .name = name};
        const char *slash = strchr(name, '/');
        if (slash) file.folder = (broad__text){name, (size_t)(slash - name)};
        if (e->kind == ENTRY_OTHER) file.fault = "no regular file";
        int is_folder = e->kind == ENTRY_FOLDER || e->kind == ENTRY_LINKED_FOLDER;
        int status = is_folder ? add_folder(w, path, name) : add_file(w->list, &file);
        if (status < 0) return status;
    }
    return BROAD_OK;
}

static int add_faulty_folder(walk *w, folder at, int number)
{
    char reason[REASON_BYTES];
    if (!*at.name)
        return broad__fail(BROAD_NO_INPUT, "%s: the folder cannot be read: %s", at.path,
                           strerror_r(number, reason, sizeof reason));
    broad__photo_file file = {.file = at.path, .name = at.name};
    file.fault = fault_text(w->list, "the folder cannot be read", number);
    return file.fault ? add_file(w->list, &file) : BROAD_NO_MEMORY;
}

static int read_folder(walk *w, folder at)
{
    int fd = open(at.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return add_faulty_folder(w, at, errno);
    struct stat about;
    DIR *stream = NULL;
    int fresh = 0, status = BROAD_OK;
    if (fstat(fd, &about) != 0) status = add_faulty_folder(w, at, errno);
    else status = first_time(&fresh, w, &about);
    if (status == BROAD_OK && fresh) stream = fdopendir(fd);
    if (!stream) {
        if (status == BROAD_OK && fresh) status = add_faulty_folder(w, at, errno);
        close(fd);
        return status;
    }
    status = read_entries(w, stream);
    int number = errno;
    closedir(stream);
    if (status == BROAD_IO) return add_faulty_folder(w, at, number);
    return status < 0 ? status : add_entries(w, at);
}

static int compare_names(const void *a, const void *b)
{
    const broad__photo_file *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static int list_folder(walk *w, const char *path)
{
    size_t first = w->list->count;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    char *trimmed = broad__arena_take(&w->list->texts, length + 1);
    if (!trimmed) return BROAD_NO_MEMORY;
    memcpy(trimmed, path, length);
    trimmed[length] = 0;
    w->folder_count = 0;
    int status = add_folder(w, trimmed, "");
    for (size_t i = 0; status == BROAD_OK && i < w->folder_count; i++) status = read_folder(w, w->folders[i]);
    if (status == BROAD_OK && w->list->count > first)
        qsort(w->list->items + first, w->list->count - first, sizeof *w->list->items, compare_names);
    return status;
}

/* One wrong name among several is left out, as a file that cannot be read is. */
static int add_absent(walk *w, const char *path, int number)
{
    const char *fault = fault_text(w->list, "cannot be opened", number);
    int status = fault ? broad__photo_list_add(w->list, path, path, fault) : BROAD_NO_MEMORY;
    if (status == BROAD_OK) w->list->items[w->list->count - 1].given = 1;
    return status;
}

static int list_path(walk *w, const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0) {
        char reason[REASON_BYTES];
        if (w->several) return add_absent(w, path, errno);
        return broad__fail(BROAD_NO_INPUT, "%s: cannot be opened: %s", path, strerror_r(errno, reason, sizeof reason));
    }
    if (S_ISDIR(about.st_mode)) return list_folder(w, path);
    int status = broad__photo_list_add(w->list, path, path, NULL);
    if (status == BROAD_OK) w->list->items[w->list->count - 1].given = 1;
    return status;
}

int broad__photo_list_make(broad__photo_list *out, const char *const *paths, size_t count)
{
    *out = (broad__photo_list){0};
    walk w = {.list = out, .several = count > 1};
    int status = BROAD_OK;
    for (size_t i = 0; status == BROAD_OK && i < count; i++) status = list_path(&w, paths[i]);
    broad__free(w.folders);
    broad__free(w.seen);
    broad__free(w.entries);
    if (status < 0) broad__photo_list_clear(out);
    return status;
}

void broad__photo_list_clear(broad__photo_list *list)
{
    broad__free(list->items);
    broad__arena_clear(&list->texts);
    *list = (broad__photo_list){0};
}
