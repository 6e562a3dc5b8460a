#include "data/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { NOTE_BYTES = 2048, NOTES_MAX = 256 };

int broad__note(broad__notes *notes, const char *format, ...)
{
    char line[NOTE_BYTES];
    va_list list;
    if (!notes || notes->count == NOTES_MAX) return BROAD_OK;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    int status = broad__grow(&notes->lines, &notes->capacity, notes->count + 1, sizeof *notes->lines, NOTES_MAX);
    if (status < 0) return status;
    char *copy = broad__copy_text(line);
    if (!copy) return BROAD_NO_MEMORY;
    notes->lines[notes->count++] = copy;
    return BROAD_OK;
}

void broad__notes_remove(broad__notes *notes, size_t first, size_t count)
{
    if (!count) return;
    for (size_t i = first; i < first + count; i++) broad__free(notes->lines[i]);
    notes->count -= count;
    for (size_t i = first; i < notes->count; i++) notes->lines[i] = notes->lines[i + count];
}

void broad__notes_clear(broad__notes *notes)
{
    for (size_t i = 0; i < notes->count; i++) broad__free(notes->lines[i]);
    broad__free(notes->lines);
    *notes = (broad__notes){0};
}

void broad__list_add(broad__list *list, const char *name, const char *detail)
{
    char quoted[BROAD__QUOTE_BYTES];
    if (list->count++ >= BROAD__LIST_SHOWN) return;
    int written = snprintf(list->text + list->used, sizeof list->text - list->used, "%s%s%s%s%s",
                           list->count > 1 ? ", " : "", broad__text_quote(quoted, broad__text_of(name)),
                           detail ? " (" : "", detail ? detail : "", detail ? ")" : "");
    if (written > 0) list->used += (size_t)written;
    if (list->used >= sizeof list->text) list->used = sizeof list->text - 1;
}

const char *broad__list_end(broad__list *list)
{
    if (list->count > BROAD__LIST_SHOWN)
        snprintf(list->text + list->used, sizeof list->text - list->used, " and %zu more",
                 list->count - BROAD__LIST_SHOWN);
    return list->text;
}
