#include "data/photo/boxes.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/photo/boxes_json.h"
#include "data/photo/boxes_text.h"

enum { FOLDERS_DEEP = 16, YOLO_FILES_MOST = 1 << 24 };

/* ---- lists ----------------------------------------------------------------------------------------------------- */

void broad__box_list_clear(broad_box_list *list)
{
    broad__free(list->items);
    *list = (broad_box_list){0};
}

int broad__box_list_add(broad_box_list *list, const broad__box *box)
{
    int status = broad__grow(&list->items, &list->room, list->count + 1, sizeof *list->items, BROAD__BOXES_MOST);
    if (status < 0) return status;
    list->items[list->count++] = *box;
    return BROAD_OK;
}

int broad_box_list_add(broad_box_list *list, double left, double top, double right, double bottom, double score)
{
    broad__box box = {left, top, right, bottom, score, 0};
    const char *fault = broad__box_fault(&box);
    if (!list) return broad__fail(BROAD_USAGE, "broad_box_list_add: an argument is NULL");
    return fault ? broad__fail(BROAD_BAD_DATA, "%s", fault) : broad__box_list_add(list, &box);
}

const char *broad__box_fault(const broad__box *box)
{
    const double *sides[] = {&box->left, &box->top, &box->right, &box->bottom};
    for (size_t i = 0; i < 4; i++) {
        if (!isfinite(*sides[i])) return "a side of the box is no finite number";
        if (fabs(*sides[i]) > BROAD__BOX_FARTHEST) return "a side of the box lies beyond any photo";
    }
    if (isinf(box->score)) return "the score is no finite number";
    if (!(box->right > box->left)) return "the box has no width: its right side must be greater than its left one";
    if (!(box->bottom > box->top)) return "the box has no height: its bottom must be greater than its top";
    return NULL;
}

/* ---- names ----------------------------------------------------------------------------------------------------- */

static broad__text last_part(broad__text name)
{
    const char *slash = name.count ? memrchr(name.bytes, '/', name.count) : NULL;
    if (!slash) return name;
    return (broad__text){slash + 1, (size_t)(name.bytes + name.count - slash - 1)};
}

static broad__text without_suffix(broad__text name)
{
    broad__text last = last_part(name);
    const char *dot = last.count ? memrchr(last.bytes, '.', last.count) : NULL;
    if (dot && dot > last.bytes) name.count = (size_t)(dot - name.bytes);
    return name;
}

/* Folders parted by '/', as here, or by '\', as elsewhere; "./" in front says nothing. */
static int plain_name(broad__text *out, broad__arena *arena, broad__text name)
{
    char *copy = broad__arena_take(arena, name.count + 1);
    if (!copy) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < name.count; i++) copy[i] = name.bytes[i] == '\\' ? '/' : name.bytes[i];
    *out = (broad__text){copy, name.count};
    while (out->count > 2 && memcmp(out->bytes, "./", 2) == 0) *out = (broad__text){out->bytes + 2, out->count - 2};
    return BROAD_OK;
}

static int join_siblings(broad__boxes *boxes, size_t owner)
{
    broad__text stem = last_part(boxes->owners[owner].bare);
    size_t found = broad__text_set_find(&boxes->stems, stem);
    if (found == boxes->stems.count) {
        int status = broad__grow(&boxes->stem_owners, &boxes->stems_room, found + 1, sizeof *boxes->stem_owners,
                                 BROAD__BOXES_MOST);
        if (status == BROAD_OK) status = broad__text_set_add(&boxes->stems, stem, BROAD__BOXES_MOST);
        if (status < 0) return status;
    } else {
        boxes->owners[owner].sibling = boxes->stem_owners[found] + 1;
    }
    boxes->stem_owners[found] = owner;
    return BROAD_OK;
}

int broad__boxes_owner(size_t *out, broad__boxes *boxes, broad__text name, int bare)
{
    *out = broad__text_set_find(&boxes->names, name);
    if (*out < boxes->names.count) return BROAD_OK; /* as most rows of a table do, without another copy */
    broad__text plain;
    int status = plain_name(&plain, &boxes->arena, name);
    if (status < 0) return status;
    size_t number = broad__text_set_find(&boxes->names, plain);
    *out = number;
    if (number < boxes->names.count) return BROAD_OK;
    status = broad__grow(&boxes->owners, &boxes->owners_room, number + 1, sizeof *boxes->owners, BROAD__BOXES_MOST);
    if (status == BROAD_OK) status = broad__text_set_add(&boxes->names, plain, BROAD__BOXES_MOST);
    if (status < 0) return status;
    boxes->owners[number] = (broad__box_owner){.bare = bare ? plain : without_suffix(plain)};
    return join_siblings(boxes, number);
}

int broad__boxes_add(broad__boxes *boxes, size_t owner, const broad__box *box)
{
    size_t number = boxes->count;
    int status = broad__grow(&boxes->items, &boxes->room, number + 1, sizeof *boxes->items, BROAD__BOXES_MOST);
    if (status == BROAD_OK)
        status = broad__grow(&boxes->next, &boxes->next_room, number + 1, sizeof *boxes->next, BROAD__BOXES_MOST);
    if (status < 0) return status;
    broad__box_owner *to = &boxes->owners[owner];
    boxes->items[number] = *box;
    boxes->next[number] = 0;
    if (to->last) boxes->next[to->last - 1] = number + 1;
    else to->first = number + 1;
    to->last = number + 1;
    boxes->count = number + 1;
    return BROAD_OK;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static int read_source(broad__boxes *out, const broad__source *source)
{
    size_t at = source->count >= 3 && memcmp(source->bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < source->count && strchr(" \t\r\n", source->bytes[at]) && source->bytes[at]) at++;
    int json = at < source->count && (source->bytes[at] == '{' || source->bytes[at] == '[');
    return json ? broad__boxes_read_coco(out, source) : broad__boxes_read_csv(out, source);
}

/* Paths of the text files under a folder, from that folder on. */
typedef struct text_files {
    broad__arena arena;
    broad__text *paths; /* each ended by a NUL */
    size_t count, room;
} text_files;

static int join(char **out, broad__arena *arena, const char *folder, const char *name)
{
    size_t room = strlen(folder) + strlen(name) + 2;
    *out = broad__arena_take(arena, room);
    if (!*out) return BROAD_NO_MEMORY;
    snprintf(*out, room, "%s%s%s", folder, *folder ? "/" : "", name);
    return BROAD_OK;
}

static int ends_in_txt(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".txt") == 0;
}

static int fail_system(const char *path, const char *what)
{
    char text[128];
    return broad__fail(BROAD_NO_INPUT, "%s: %s: %s", path, what, strerror_r(errno, text, sizeof text));
}

static int walk(text_files *out, const char *root, const char *below, size_t deep);

static int walk_entry(text_files *out, const char *root, const char *below, const char *name, size_t deep)
{
    char *inner, *path;
    struct stat facts;
    int status = join(&inner, &out->arena, below, name);
    if (status == BROAD_OK) status = join(&path, &out->arena, root, inner);
    if (status < 0) return status;
    if (stat(path, &facts) < 0) return fail_system(path, "cannot look at it");
    if (S_ISDIR(facts.st_mode)) return walk(out, root, inner, deep + 1);
    /* Annotation tools put the names of the classes beside the boxes. */
    if (!S_ISREG(facts.st_mode) || !ends_in_txt(name) || strcmp(name, "classes.txt") == 0) return BROAD_OK;
    status = broad__grow(&out->paths, &out->room, out->count + 1, sizeof *out->paths, YOLO_FILES_MOST);
    if (status == BROAD_OK) out->paths[out->count++] = broad__text_of(inner);
    return status;
}

static int walk(text_files *out, const char *root, const char *below, size_t deep)
{
    char *path;
    int status = join(&path, &out->arena, root, below);
    if (status < 0) return status;
    if (deep > FOLDERS_DEEP)
        return broad__fail(BROAD_BAD_DATA, "%s: more than %d folders inside each other; is a link leading back?", path,
                           FOLDERS_DEEP);
    DIR *folder = opendir(path);
    if (!folder) return fail_system(path, "cannot open the folder");
    for (struct dirent *entry; status == BROAD_OK && (errno = 0, entry = readdir(folder));)
        if (entry->d_name[0] != '.') status = walk_entry(out, root, below, entry->d_name, deep);
    if (status == BROAD_OK && errno) status = fail_system(path, "cannot read the folder");
    closedir(folder);
    return status;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(((const broad__text *)a)->bytes, ((const broad__text *)b)->bytes);
}

static int read_text_file(broad__boxes *out, const char *root, broad__text inner, broad__arena *arena)
{
    char *path;
    size_t owner;
    broad__source source;
    int status = join(&path, arena, root, inner.bytes);
    if (status == BROAD_OK) status = broad__boxes_owner(&owner, out, (broad__text){inner.bytes, inner.count - 4}, 1);
    if (status == BROAD_OK) status = broad__source_open(&source, path, 0, 0);
    if (status < 0) return status;
    status = broad__boxes_read_yolo(out, owner, &source);
    broad__source_close(&source);
    return status;
}

static int read_folder(broad__boxes *out, const char *path)
{
    text_files files = {0};
    int status = walk(&files, path, "", 0);
    if (status == BROAD_OK && !files.count)
        status = broad__fail(BROAD_BAD_DATA,
                             "%s: no text file with boxes is in this folder; NAME.txt is expected for NAME.jpg", path);
    if (status == BROAD_OK) qsort(files.paths, files.count, sizeof *files.paths, compare_paths);
    for (size_t i = 0; i < files.count && status == BROAD_OK; i++)
        status = read_text_file(out, path, files.paths[i], &files.arena);
    broad__free(files.paths);
    broad__arena_clear(&files.arena);
    return status;
}

static int read_file(broad__boxes *out, const char *path)
{
    broad__source source;
    int status = broad__source_open(&source, path, 0, 0);
    if (status < 0) return status;
    status = read_source(out, &source);
    broad__source_close(&source);
    return status;
}

static int make(broad__boxes **out, const char *name)
{
    broad__boxes *made = broad__alloc(sizeof *made);
    if (!made) return BROAD_NO_MEMORY;
    made->source = broad__copy_text(name);
    if (made->source) {
        *out = made;
        return BROAD_OK;
    }
    broad__free(made);
    return BROAD_NO_MEMORY;
}

int broad__boxes_read(broad__boxes **out, const char *path)
{
    struct stat facts;
    broad__boxes *made = NULL;
    int is_input = strcmp(path, "-") == 0;
    if (!is_input && stat(path, &facts) < 0) return fail_system(path, "cannot be opened");
    int status = make(&made, path);
    if (status == BROAD_OK)
        status = !is_input && S_ISDIR(facts.st_mode) ? read_folder(made, path) : read_file(made, path);
    if (status < 0) broad__boxes_free(made);
    else *out = made;
    return status;
}

int broad__boxes_read_bytes(broad__boxes **out, const char *name, const void *bytes, size_t count, int yolo)
{
    broad__boxes *made = NULL;
    broad__source source;
    size_t owner;
    int status = broad__source_memory(&source, name, bytes, count);
    if (status < 0) return status;
    status = make(&made, name);
    if (status == BROAD_OK && yolo) {
        status = broad__boxes_owner(&owner, made, broad__text_of(name), 0);
        if (status == BROAD_OK) status = broad__boxes_read_yolo(made, owner, &source);
    } else if (status == BROAD_OK) {
        status = read_source(made, &source);
    }
    broad__source_close(&source);
    if (status < 0) broad__boxes_free(made);
    else *out = made;
    return status;
}

void broad__boxes_free(broad__boxes *boxes)
{
    if (!boxes) return;
    broad__free(boxes->source);
    broad__arena_clear(&boxes->arena);
    broad__text_set_clear(&boxes->names);
    broad__text_set_clear(&boxes->stems);
    broad__free(boxes->owners);
    broad__free(boxes->stem_owners);
    broad__free(boxes->items);
    broad__free(boxes->next);
    broad__free(boxes);
}

/* ---- finding --------------------------------------------------------------------------------------------------- */

/* One path is the end of the other, folder by folder. */
static int is_end(broad__text a, broad__text b)
{
    if (a.count > b.count) return is_end(b, a);
    size_t more = b.count - a.count;
    if (a.count && memcmp(a.bytes, b.bytes + more, a.count) != 0) return 0;
    return !more || b.bytes[more - 1] == '/';
}

/* How well an owner fits a photo that has the same stem; the best fit wins, and must be the only one. */
static int fit_of(const broad__boxes *boxes, size_t owner, broad__text name, broad__text bare)
{
    broad__text full = boxes->names.texts[owner], own = boxes->owners[owner].bare;
    int fit = broad__text_same(own, bare) ? 4 : is_end(own, bare) ? 2 : 0;
    return fit + broad__text_same(last_part(full), last_part(name));
}

static int fail_ambiguous(const broad__boxes *boxes, broad__text name, size_t one, size_t other)
{
    char quoted[BROAD__QUOTE_BYTES], first[BROAD__QUOTE_BYTES], second[BROAD__QUOTE_BYTES];
    return broad__fail(
        BROAD_BAD_DATA, "%s: %s may be %s or %s there; write the names as they are from the folder of the photos on",
        boxes->source, broad__text_quote(quoted, name), broad__text_quote(first, boxes->names.texts[one]),
        broad__text_quote(second, boxes->names.texts[other]));
}

/* *out is names.count where nothing fits. */
static int find_owner(size_t *out, const broad__boxes *boxes, broad__text name)
{
    *out = broad__text_set_find(&boxes->names, name);
    if (*out < boxes->names.count) return BROAD_OK;
    broad__text bare = without_suffix(name);
    size_t stem = broad__text_set_find(&boxes->stems, last_part(bare)), other = 0;
    int best = -1, equal = 0;
    if (stem == boxes->stems.count) return BROAD_OK;
    for (size_t i = boxes->stem_owners[stem] + 1; i; i = boxes->owners[i - 1].sibling) {
        int fit = fit_of(boxes, i - 1, name, bare);
        if (fit == best) {
            equal = 1;
            other = i - 1;
        } else if (fit > best) {
            equal = 0;
            best = fit;
            *out = i - 1;
        }
    }
    if (equal) return fail_ambiguous(boxes, name, *out, other);
    return BROAD_OK;
}

int broad__boxes_find(broad_box_list *out, const broad__boxes *boxes, const char *name)
{
    broad__arena arena = {0};
    broad__text plain;
    size_t owner = 0;
    int status = plain_name(&plain, &arena, broad__text_of(name));
    if (status == BROAD_OK) status = find_owner(&owner, boxes, plain);
    if (status == BROAD_OK && owner < boxes->names.count)
        for (size_t i = boxes->owners[owner].first; i && status == BROAD_OK; i = boxes->next[i - 1])
            status = broad__box_list_add(out, &boxes->items[i - 1]);
    broad__arena_clear(&arena);
    return status;
}
