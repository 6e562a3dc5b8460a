#include "run/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/ranks.h"
#include "message.h"

static int no_room(void) { return cli_fail(BROAD_NO_MEMORY, "out of memory while listing the photos"); }

/* Standard input as one block that ends with a zero, which counts. */
static int read_lines(char **out, size_t *out_bytes)
{
    size_t room = 1 << 16, used = 0;
    char *text = malloc(room);
    while (text) {
        size_t more = fread(text + used, 1, room - used - 1, stdin);
        used += more;
        if (!more) break;
        if (used + 1 < room) continue;
        char *larger = room < SIZE_MAX / 2 ? realloc(text, room * 2) : NULL;
        if (!larger) free(text);
        text = larger;
        room *= 2;
    }
    if (!text) return no_room();
    text[used] = 0;
    *out = text;
    *out_bytes = used + 1;
    if (!ferror(stdin)) return BROAD_OK;
    return cli_fail(BROAD_IO, "cannot read names from standard input: %s", strerror(errno));
}

/* Of several ranks the first has a standard input. If it cannot be read, that one says why, and the others have no names. */
static int share_lines(char **out)
{
    size_t bytes = 0;
    int first = cli_rank() == 0, status = first ? read_lines(out, &bytes) : BROAD_OK;
    if (status) bytes = 0;
    int lost = cli_ranks_tell(&bytes, sizeof bytes);
    if (!first && !(*out = calloc(bytes + 1, 1))) return no_room();
    if (!lost && bytes) lost = cli_ranks_tell(*out, bytes);
    return lost ? cli_fail(BROAD_IO, "the names from standard input did not reach all ranks") : status;
}

/* One name a line; empty lines do not count. */
static int take_lines(cli_paths *out)
{
    size_t lines = 1;
    int status = share_lines(&out->lines);
    if (status) return status;
    for (const char *c = out->lines; *c; c++) lines += *c == '\n';
    free(out->items);
    out->items = calloc(lines, sizeof *out->items);
    if (!out->items) return no_room();
    out->count = 0;
    for (char *rest = out->lines, *line; (line = strsep(&rest, "\n"));) {
        size_t length = strlen(line);
        if (length && line[length - 1] == '\r') line[length - 1] = 0;
        if (line[0]) out->items[out->count++] = line;
    }
    if (out->count) return BROAD_OK;
    return cli_fail(BROAD_BAD_DATA, "there are no file names on standard input; give one per line");
}

int cli_paths_take(cli_paths *out, const cli_arguments *arguments, size_t first, int listed)
{
    memset(out, 0, sizeof *out);
    out->count = arguments->positional_count > first ? arguments->positional_count - first : 0;
    out->items = calloc(out->count + 1, sizeof *out->items);
    if (!out->items) return no_room();
    for (size_t i = 0; i < out->count; i++) out->items[i] = arguments->positional[first + i];
    return listed && out->count == 1 && strcmp(out->items[0], "-") == 0 ? take_lines(out) : BROAD_OK;
}

void cli_paths_clear(cli_paths *paths)
{
    free(paths->items);
    free(paths->lines);
    memset(paths, 0, sizeof *paths);
}
