/*
 * What the query of a request asks of the photos of `broad serve`: the first line is the path, every other one a parameter, NAME=VALUE.
 * A filter never gives more than there is without it, and nothing that is asked changes anything.
 */
#include <stdlib.h>
#include <string.h>

#include "serve/filter.h"
#include "serve_project.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As libmicrohttpd gives them. */
static void take_parameters(fuzz_request *out, char *text)
{
    for (char *line = text, *next; line && out->count < FUZZ_PARAMETERS; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        char *value = strchr(line, '=');
        if (!value) continue;
        *value++ = 0;
        out->names[out->count] = line;
        out->values[out->count++] = value;
    }
}

static void check_filter(fuzz_request *own)
{
    int64_t one_each = 0, all = 0;
    if (serve_filter_count(&all, &own->request, 0) < 0) return;
    fuzz_must(serve_filter_count(&one_each, &own->request, 1) == 0);
    fuzz_must(all >= one_each && all <= fuzz_project_count("SELECT count(*) FROM photos WHERE state=1"));
    fuzz_must((all > 0) == (one_each > 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_request own = {0};
    char *rest, *text = fuzz_request_text(&rest, data, size);
    if (!text) return 0;
    take_parameters(&own, rest);
    const serve_server *server = fuzz_project();
    int changes = sqlite3_total_changes(server->project.database.handle);
    fuzz_project_answer(&own, "GET", text);
    check_filter(&own);
    fuzz_must(sqlite3_total_changes(server->project.database.handle) == changes);
    free(text);
    return 0;
}
