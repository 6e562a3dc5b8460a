#include "model/trained_files.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/table.h"

static void source_clear(broad__trained_file *source)
{
    for (size_t i = 0; source->photos && i < source->photo_count; i++) broad__free(source->photos[i].file);
    broad__free(source->photos);
    broad__free(source->path);
    broad__free(source->labels);
    *source = (broad__trained_file){0};
}

void broad__trained_files_clear(broad__trained_files *sources)
{
    for (size_t i = 0; sources->items && i < sources->count; i++) source_clear(&sources->items[i]);
    broad__free(sources->items);
    *sources = (broad__trained_files){0};
}

static int source_copy(broad__trained_file *out, const broad__trained_file *source)
{
    *out = (broad__trained_file){.rows = source->rows, .path = broad__copy_text(source->path)};
    if (!out->path) return BROAD_NO_MEMORY;
    if (source->labels && !(out->labels = broad__copy_text(source->labels))) return BROAD_NO_MEMORY;
    if (!source->photos) return BROAD_OK;
    out->photos = broad__alloc_array(source->photo_count, sizeof *out->photos);
    if (!out->photos) return BROAD_NO_MEMORY;
    out->photo_count = source->photo_count;
    for (size_t i = 0; i < source->photo_count; i++) {
        char *file = broad__copy_text(source->photos[i].file);
        if (!file) return BROAD_NO_MEMORY;
        out->photos[i] = source->photos[i];
        out->photos[i].file = file;
    }
    return BROAD_OK;
}

int broad__trained_files_copy(broad__trained_files *out, const broad__trained_files *sources)
{
    *out = (broad__trained_files){0};
    if (!sources->count) return BROAD_OK;
    out->items = broad__alloc_array(sources->count, sizeof *out->items);
    if (!out->items) return BROAD_NO_MEMORY;
    out->count = sources->count;
    int status = BROAD_OK;
    for (size_t i = 0; status == BROAD_OK && i < sources->count; i++)
        status = source_copy(&out->items[i], &sources->items[i]);
    if (status < 0) broad__trained_files_clear(out);
    return status;
}

/* The photos of a table: rows of one photo follow each other. */
static int add_photos(broad__trained_file *source, const broad_data *rows, int held_out)
{
    for (size_t i = 0; rows && i < rows->rows; i++) {
        const broad_photo *photo = &rows->photos.items[i];
        broad__trained_photo *last = source->photo_count ? &source->photos[source->photo_count - 1] : NULL;
        if (last && last->held_out == held_out && strcmp(last->file, photo->file) == 0) {
            last->rows++;
            continue;
        }
        broad__trained_photo *fresh = &source->photos[source->photo_count];
        *fresh = (broad__trained_photo){.file = broad__copy_text(photo->file), .rows = 1, .held_out = held_out};
        if (!fresh->file) return BROAD_NO_MEMORY;
        memcpy(fresh->content, photo->content, sizeof fresh->content);
        fresh->target = rows->classes ? rows->classes[i] + 1 : 0;
        source->photo_count++;
    }
    return BROAD_OK;
}

static int source_make(broad__trained_file *out, const char *path, const char *labels, const broad_data *rows,
                       const broad_data *held_out)
{
    const broad_data *any = rows ? rows : held_out;
    *out = (broad__trained_file){.rows = rows ? rows->rows : 0, .path = broad__copy_text(path)};
    if (labels) out->labels = broad__copy_text(labels);
    if (!out->path || (labels && !out->labels)) return BROAD_NO_MEMORY;
    if (!any->photos.items) return BROAD_OK;
    out->photos = broad__alloc_array(out->rows + (held_out ? held_out->rows : 0), sizeof *out->photos);
    if (!out->photos) return BROAD_NO_MEMORY;
    int status = add_photos(out, rows, 0);
    return status < 0 ? status : add_photos(out, held_out, 1);
}

int broad__trained_files_add(broad__trained_files *sources, const char *path, const char *labels,
                             const broad_data *rows, const broad_data *held_out)
{
    broad__trained_file *items = broad__alloc_array(sources->count + 1, sizeof *items);
    if (!items) return BROAD_NO_MEMORY;
    int status = source_make(&items[sources->count], path, labels, rows, held_out);
    if (status < 0) {
        source_clear(&items[sources->count]);
        broad__free(items);
        return status;
    }
    if (sources->count) memcpy(items, sources->items, sources->count * sizeof *items);
    broad__free(sources->items);
    sources->items = items;
    sources->count++;
    return BROAD_OK;
}
