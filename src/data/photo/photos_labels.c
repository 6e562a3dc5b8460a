#include "data/photo/photos_labels.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/detect.h"
#include "data/format/csv_profile.h"
#include "data/format/encoding.h"
#include "data/targets.h"

enum { FAULT_BYTES = 1024 };

/* ---- the file -------------------------------------------------------------------------------------------------- */

static broad__text last_part(broad__text path)
{
    const char *slash = path.count ? memrchr(path.bytes, '/', path.count) : NULL;
    if (!slash) return path;
    return (broad__text){slash + 1, path.count - (size_t)(slash + 1 - path.bytes)};
}

/* Text alone may be a header or not; if it names photos, it is none. */
static int names_photo(const broad__csv *csv, const broad__photo_list *list)
{
    for (size_t c = 0; csv->names && c < csv->columns; c++) {
        broad__text name = last_part(broad__text_of(csv->names[c]));
        for (size_t i = 0; i < list->count; i++)
            if (broad__text_same(name, last_part(broad__text_of(list->items[i].name)))) return 1;
    }
    return 0;
}

static int open_source(broad__photo_labels *l, const char *path, broad__notes *notes)
{
    int status = broad__source_open(&l->source, path, 0, 0);
    if (status == BROAD_OK) status = broad__encoding_wide(&l->source, notes);
    if (status == BROAD_OK) status = broad__data_refuse(l->source.name, l->source.bytes, l->source.count);
    return status == BROAD_OK ? broad__encoding_bytes(&l->converted, &l->source, notes) : status;
}

static int open_csv(broad__photo_labels *l, const broad__photo_list *list, const broad_read_options *options,
                    broad__notes *notes)
{
    broad__csv_hints hints = {.header = options->header, .separator = options->separator, .notes = notes};
    int status = open_source(l, options->labels, notes);
    size_t before = l->notes.count;
    if (status == BROAD_OK) status = broad__csv_open(&l->csv, &l->source, &hints);
    int automatic = !options->header || strcmp(options->header, "auto") == 0;
    if (status < 0 || !automatic || !names_photo(&l->csv, list)) return status;
    broad__csv_close(&l->csv);
    broad__notes_remove(&l->notes, before, l->notes.count - before); /* they are told again */
    hints.header = "no";
    return broad__csv_open(&l->csv, &l->source, &hints);
}

/* Numbers may be written as in tables; the names of files are none. */
static int find_formats(broad__photo_labels *l, broad__notes *notes)
{
    unsigned char *file = &l->plan.role[l->plan.target_columns[0]], role = *file;
    *file = BROAD__ROLE_IGNORED;
    int status = broad__csv_profile(&l->plan, &l->csv, notes);
    *file = role;
    return status;
}

static int name_columns(broad__photo_labels *l, const broad__layout *layout)
{
    size_t count = l->plan.targets - 1;
    broad__text *texts = broad__alloc_array(count, sizeof *texts);
    char **names = broad__alloc_array(count, sizeof *names);
    l->formats = broad__alloc_array(count, sizeof *l->formats);
    int failed = !texts || !names || !l->formats;
    for (size_t i = 0; !failed && i < count; i++) {
        l->formats[i] = l->plan.formats[l->plan.target_columns[i + 1]];
        names[i] = broad__roles_name(layout, l->plan.target_columns[i + 1], l->plan.chosen, "target");
        failed = !names[i];
        if (names[i]) texts[i] = broad__text_of(names[i]);
    }
    if (!failed) l->target_names = broad__names_copy(texts, count);
    if (l->plan.groups) l->group_name = broad__roles_name(layout, l->plan.group_column, 1, "group");
    if (l->plan.weights) l->weight_name = broad__roles_name(layout, l->plan.weight_column, 1, "weight");
    failed |= !l->target_names || (l->plan.groups && !l->group_name) || (l->plan.weights && !l->weight_name);
    for (size_t i = 0; names && i < count; i++) broad__free(names[i]);
    broad__free(names);
    broad__free(texts);
    return failed ? BROAD_NO_MEMORY : BROAD_OK;
}

/* ---- whose line it is ------------------------------------------------------------------------------------------ */

/* The photos by name, by path and by the last part of the name; `twice` marks last parts that several have. */
typedef struct directory {
    broad__text_set names, files, ends;
    size_t *name_photo, *file_photo, *end_photo; /* photo of each text */
    unsigned char *twice;
} directory;

static void directory_clear(directory *d)
{
    broad__text_set_clear(&d->names);
    broad__text_set_clear(&d->files);
    broad__text_set_clear(&d->ends);
    broad__free(d->name_photo);
    broad__free(d->file_photo);
    broad__free(d->end_photo);
    broad__free(d->twice);
}

/* Adds a text that leads to a photo; of equal ones the first stays. */
static int enter(size_t *out_found, broad__text_set *set, size_t *photos, broad__text text, size_t photo, size_t most)
{
    *out_found = broad__text_set_find(set, text);
    if (*out_found < set->count) return BROAD_OK;
    photos[set->count] = photo;
    return broad__text_set_add(set, text, most);
}

static int directory_make(directory *out, const broad__photo_list *list)
{
    size_t most = list->count, found;
    *out = (directory){0};
    out->name_photo = broad__alloc_array(most, sizeof *out->name_photo);
    out->file_photo = broad__alloc_array(most, sizeof *out->file_photo);
    out->end_photo = broad__alloc_array(most, sizeof *out->end_photo);
    out->twice = broad__alloc(most);
    if (!out->name_photo || !out->file_photo || !out->end_photo || !out->twice) return BROAD_NO_MEMORY;
    int status = BROAD_OK;
    for (size_t i = 0; status == BROAD_OK && i < most; i++) {
        if (list->items[i].fault) continue;
        broad__text name = broad__text_of(list->items[i].name), file = broad__text_of(list->items[i].file);
        status = enter(&found, &out->names, out->name_photo, name, i, most);
        if (status == BROAD_OK) status = enter(&found, &out->files, out->file_photo, file, i, most);
        size_t before = out->ends.count;
        if (status == BROAD_OK) status = enter(&found, &out->ends, out->end_photo, last_part(name), i, most);
        if (status == BROAD_OK && out->ends.count == before) out->twice[found] = 1;
    }
    return status;
}

static int fail_ambiguous(const broad__photo_labels *l, size_t line, broad__text text, const char *first)
{
    char where[BROAD__WHERE_BYTES], quoted[BROAD__QUOTE_BYTES];
    return broad__fail(BROAD_BAD_DATA,
                       "%s: several photos are called %s, %.200s is the first; write the path from the folder",
                       broad__parsed_where(where, &l->content, line), broad__text_quote(quoted, text), first);
}

/* *out: the photo of a line that is called so, or SIZE_MAX. */
static int find_called(size_t *out, const directory *d, const broad__photo_list *list, const broad__photo_labels *l,
                       size_t line, broad__text text)
{
    *out = SIZE_MAX;
    while (text.count > 2 && memcmp(text.bytes, "./", 2) == 0) text = (broad__text){text.bytes + 2, text.count - 2};
    size_t found = broad__text_set_find(&d->names, text);
    if (found < d->names.count) *out = d->name_photo[found];
    if (*out < SIZE_MAX) return BROAD_OK;
    found = broad__text_set_find(&d->files, text);
    if (found < d->files.count) *out = d->file_photo[found];
    if (*out < SIZE_MAX) return BROAD_OK;
    found = broad__text_set_find(&d->ends, last_part(text));
    if (found == d->ends.count) return BROAD_OK;
    if (d->twice[found]) return fail_ambiguous(l, line, text, list->items[d->end_photo[found]].name);
    *out = d->end_photo[found];
    return BROAD_OK;
}

/* *out: the photo of a line, or SIZE_MAX. A file may be called by the bytes that the list had before it became UTF-8. */
static int find_photo(size_t *out, const directory *d, const broad__photo_list *list, broad__photo_labels *l,
                      size_t line)
{
    broad__text text = l->content.targets.texts[line * l->plan.targets], before = {.count = 0};
    char *bytes = l->converted ? broad__arena_take(&l->content.arena, text.count + 1) : NULL;
    if (l->converted && !bytes) return BROAD_NO_MEMORY;
    if (bytes) broad__encoding_back(bytes, &before.count, text);
    before.bytes = bytes;
    int status = before.count ? find_called(out, d, list, l, line, before) : BROAD_OK;
    if (status < 0 || (before.count && *out < SIZE_MAX)) return status;
    return find_called(out, d, list, l, line, text);
}

static int fail_again(const broad__photo_labels *l, size_t line, const char *name, size_t before)
{
    char where[BROAD__WHERE_BYTES];
    return broad__fail(BROAD_BAD_DATA, "%s: a second line for %.200s, which line %zu has already; remove one of them",
                       broad__parsed_where(where, &l->content, line), name,
                       l->content.line_of(l->content.reader, before));
}

static int add_unfound(broad__photo_list *list, const broad__photo_labels *l, size_t line)
{
    char fault[FAULT_BYTES], where[BROAD__WHERE_BYTES];
    broad__text text = l->content.targets.texts[line * l->plan.targets];
    char *name = broad__copy_bytes(text.bytes, text.count);
    if (!name) return BROAD_NO_MEMORY;
    snprintf(fault, sizeof fault, "%s names it, but there is no such photo; correct the name, or remove the line",
             broad__parsed_where(where, &l->content, line));
    int status = broad__photo_list_add(list, name, name, fault);
    broad__free(name);
    return status;
}

static int fail_none(const broad__photo_labels *l, const broad__photo_list *list)
{
    char quoted[BROAD__QUOTE_BYTES];
    return broad__fail(BROAD_BAD_DATA,
                       "%s: none of its %zu lines names a photo that is there; the first has %s, and the first file is "
                       "called %.200s: write paths from the folder given into a column called 'file', or the first one",
                       l->source.name, l->content.rows, broad__text_quote(quoted, l->content.targets.texts[0]),
                       list->count ? list->items[0].name : "nothing");
}

static int match_lines(broad__photo_labels *l, broad__photo_list *list)
{
    size_t photos = list->count, matched = 0;
    directory d = {0};
    l->lines = broad__alloc_array(photos, sizeof *l->lines);
    size_t *photo_of = broad__alloc_array(l->content.rows, sizeof *photo_of);
    int status = l->lines && photo_of ? directory_make(&d, list) : BROAD_NO_MEMORY;
    for (size_t i = 0; l->lines && i < photos; i++) l->lines[i] = SIZE_MAX;
    for (size_t i = 0; status == BROAD_OK && i < l->content.rows; i++) {
        status = find_photo(&photo_of[i], &d, list, l, i);
        if (status < 0 || photo_of[i] == SIZE_MAX) continue;
        size_t *line = &l->lines[photo_of[i]];
        if (*line != SIZE_MAX) status = fail_again(l, i, list->items[photo_of[i]].name, *line);
        *line = i;
        matched++;
    }
    if (status == BROAD_OK && !matched) status = fail_none(l, list);
    for (size_t i = 0; status == BROAD_OK && i < l->content.rows; i++)
        if (photo_of[i] == SIZE_MAX) status = add_unfound(list, l, i);
    for (size_t i = 0; status == BROAD_OK && i < photos; i++) list->items[i].unlisted = l->lines[i] == SIZE_MAX;
    directory_clear(&d);
    broad__free(photo_of);
    return status;
}

static int has_no_target(const broad__photo_labels *l, size_t line)
{
    double value;
    const broad__text *texts = l->content.targets.texts + line * l->plan.targets + 1;
    for (size_t t = 0; t + 1 < l->plan.targets; t++)
        if (broad__cell_target(&value, texts[t], l->formats[t]) == BROAD__NUMBER_MISSING) return 1;
    return 0;
}

/* As rows of tables without a target, unless they are rows to predict or nothing may be missing. */
static int leave_out_bare(const broad__photo_labels *l, broad__photo_list *list, const broad_read_options *options,
                          const broad__columns *model)
{
    char fault[FAULT_BYTES], where[BROAD__WHERE_BYTES];
    int status = BROAD_OK;
    if (model ? options->target_optional : options->missing != BROAD_MISSING_MEAN) return BROAD_OK;
    for (size_t i = 0; status == BROAD_OK && i < list->count; i++) {
        size_t line = list->items[i].fault ? SIZE_MAX : l->lines[i];
        if (line == SIZE_MAX || !has_no_target(l, line)) continue;
        snprintf(fault, sizeof fault, "%s has no target for it; fill it in",
                 broad__parsed_where(where, &l->content, line));
        status = broad__photo_list_refuse(list, i, fault);
    }
    return status;
}

int broad__photo_labels_read(broad__photo_labels *out, broad__photo_list *list, const broad_read_options *options,
                             const broad__columns *model)
{
    *out = (broad__photo_labels){0};
    static const broad__categories none;
    static const broad__csv_request wants = {.missing = BROAD_MISSING_ERROR, .known = &none, .texts = 1};
    broad__notes *notes = model ? NULL : &out->notes;
    int status = open_csv(out, list, options, notes);
    broad__layout layout = {.file = out->source.name, .columns = out->csv.columns, .names = out->csv.names};
    layout.trailing = out->csv.trailing;
    if (status == BROAD_OK) status = broad__roles_photos(&out->plan, &layout, options, model);
    if (status == BROAD_OK) status = find_formats(out, notes);
    if (status == BROAD_OK) status = broad__csv_fill(&out->content, &out->csv, &out->plan, &wants);
    if (status == BROAD_OK) status = name_columns(out, &layout);
    if (status == BROAD_OK) status = match_lines(out, list);
    if (status == BROAD_OK) status = leave_out_bare(out, list, options, model);
    if (status < 0) broad__photo_labels_clear(out);
    return status;
}

void broad__photo_labels_clear(broad__photo_labels *labels)
{
    broad__parsed_clear(&labels->content);
    broad__roles_clear(&labels->plan);
    broad__csv_close(&labels->csv);
    broad__source_close(&labels->source);
    broad__notes_clear(&labels->notes);
    broad__free(labels->target_names);
    broad__free(labels->formats);
    broad__free(labels->group_name);
    broad__free(labels->weight_name);
    broad__free(labels->lines);
    *labels = (broad__photo_labels){0};
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

typedef struct row_lines {
    const broad__photo_labels *labels;
    const size_t *photos;
} row_lines;

static size_t line_of_row(const void *reader, size_t row)
{
    const row_lines *rows = reader;
    const broad__parsed *content = &rows->labels->content;
    return content->line_of(content->reader, rows->labels->lines[rows->photos[row]]);
}

static int set_weights(broad_data *table, const broad__photo_labels *l, const size_t *photos)
{
    if (!l->content.weights) return BROAD_OK;
    table->weights = broad__alloc_doubles(table->rows, 1);
    table->weight_name = broad__copy_text(l->weight_name);
    if (!table->weights || !table->weight_name) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < table->rows; i++) table->weights[i] = l->content.weights[l->lines[photos[i]]];
    return BROAD_OK;
}

int broad__photo_labels_set(broad_data *table, const broad__photo_labels *labels, const size_t *photos,
                            const broad_read_options *options, const broad__columns *model)
{
    size_t rows = table->rows, columns = labels->plan.targets - 1;
    row_lines lines = {labels, photos};
    broad__parsed content = {.file = labels->source.name, .rows = rows, .line_of = line_of_row, .reader = &lines};
    broad__target_facts facts = {.names = labels->target_names, .formats = labels->formats, .apart = 1};
    int status = BROAD_NO_MEMORY;
    facts.notes = &table->notes;
    content.targets.columns = columns;
    content.groups.columns = labels->plan.groups;
    content.targets.texts = broad__alloc_array(rows, columns * sizeof *content.targets.texts);
    content.groups.texts = broad__alloc_array(rows, sizeof *content.groups.texts);
    if (!content.targets.texts || !content.groups.texts) goto cleanup;
    for (size_t i = 0; i < rows; i++) {
        size_t line = labels->lines[photos[i]];
        const broad__text *from = labels->content.targets.texts + line * (columns + 1) + 1;
        memcpy(content.targets.texts + i * columns, from, columns * sizeof *from);
        if (labels->plan.groups) content.groups.texts[i] = labels->content.groups.texts[line];
    }
    status = broad__targets_set(table, &content, &facts, options, model);
    if (status == BROAD_OK && labels->plan.groups) status = broad__groups_set(table, &content, labels->group_name);
    if (status == BROAD_OK) status = set_weights(table, labels, photos);

cleanup:
    broad__parsed_clear(&content);
    return status;
}
