/* What strangers send to `broad serve` and it reads itself: headers, cookies, paths, names, classes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "serve/guard.h"
#include "serve/photos.h"
#include "serve/reviews.h"
#include "serve/routes.h"
#include "serve/tar.h"

enum { PIECES = 8, NAME = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds)
{
    if (!holds) abort();
}

static void try_guard(char *const pieces[PIECES])
{
    static serve_guard guard;
    static int open;
    if (!open) open = serve_guard_open(&guard, NULL, 8420, NULL, 0) == 0;
    const serve_visitor visitor = {.host = pieces[0],
                                   .origin = pieces[1][0] ? pieces[1] : NULL,
                                   .authorization = pieces[2][0] ? pieces[2] : NULL,
                                   .cookie = pieces[3],
                                   .page_token = pieces[4],
                                   .fetch_site = pieces[5],
                                   .query_token = pieces[6][0] ? pieces[6] : NULL,
                                   .changes = pieces[7][0] == 'P'};
    serve_pass pass = serve_guard_check(&guard, &visitor);
    check(pass == SERVE_PASS_STRANGER || pass == SERVE_PASS_REFUSED); /* no one guesses 256 bits */
}

static void try_names(const char *text)
{
    char name[NAME], clean[NAME];
    serve_tar_name(name, sizeof name, text);
    check(name[0] && name[0] != '.' && !strchr(name, '/') && strlen(name) < sizeof name);
    serve_clean_text(clean, sizeof clean, text);
    for (size_t i = 0, step, left = strlen(clean); i < left; i += step) {
        step = broad__utf8_length(clean + i, left - i);
        check(step > 0 && (unsigned char)clean[i] >= 32);
    }
    if (serve_label_check(text) == 0) check(text[0] && text[0] != '.' && !strchr(text, '/'));
}

static void try_path(const char *method, const char *path)
{
    serve_request request = {0};
    int other = 0;
    const serve_route *route = serve_route_find(&request, &other, method, path);
    check(request.number >= 0 && strlen(request.name) < sizeof request.name);
    if (route) check(strncmp(path, "/api/v1/", 8) == 0 && !strstr(path, ".."));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *pieces[PIECES];
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    char *at = text;
    for (size_t i = 0; i < PIECES; i++) {
        pieces[i] = at;
        char *end = strchr(at, '\n');
        if (end) *end = 0;
        at = end ? end + 1 : text + size;
    }
    try_guard(pieces);
    for (size_t i = 0; i < PIECES; i++) {
        try_names(pieces[i]);
        try_path("GET", pieces[i]);
    }
    free(text);
    return 0;
}
