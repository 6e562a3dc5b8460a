#include "serve_project.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/rows.h"

/* What can be answered from the database alone. */
static const char *const answered[] = {"/api/v1/settings",
                                       "/api/v1/classes",
                                       "/api/v1/photos",
                                       "/api/v1/photos/{number}",
                                       "/api/v1/photos/{number}/thumbnail",
                                       "/api/v1/unreadable",
                                       "/api/v1/folders",
                                       "/api/v1/places",
                                       "/api/v1/unlike",
                                       "/api/v1/watch",
                                       "/api/v1/watch/stop",
                                       "/api/v1/review",
                                       "/api/v1/undo",
                                       "/api/v1/actions",
                                       "/api/v1/versions",
                                       "/api/v1/versions/{number}/model",
                                       "/api/v1/versions/{number}/changes",
                                       "/api/v1/openapi.json",
                                       "/api/v1/export/{name}"};
static const char *const exported[] = {"csv", "spreadsheet", "geojson", "kml"};

static serve_server server = {.project = {.lock = -1}};

void fuzz_must(int holds)
{
    if (!holds) abort();
}

static void change(const char *sql) { fuzz_must(!sqlite3_exec(server.project.database.handle, sql, NULL, NULL, NULL)); }

/* ---- the project ---- */

static void fill_photos(void)
{
    for (int i = 1; i <= FUZZ_PHOTOS; i++) {
        char sql[1024];
        snprintf(
            sql, sizeof sql,
            "INSERT INTO photos(id, content, name, folder, state, reason, width, height, time, latitude, longitude,"
            " faults, distance, print, stack, version, label, certainty, fault) VALUES(%d, 'c%d', 'Photo %d.jpg',"
            " '%s', %d, %s, 640, 480, %s, %s, %s, %d, %s, %d, %d, 2, '%s', %s, 0.25)",
            i, i, i, i % 2 ? "roof" : "wall/\xc3\xa9",
            i % 5 == 4   ? 2
            : i % 7 == 6 ? 0
                         : 1,
            i % 5 == 4 ? "'torn'" : "NULL", i % 3 ? "'2026-05-31 12:30:59'" : "NULL", i % 4 ? "47.5" : "NULL",
            i % 4 ? "-12.25" : "NULL", i % 3, i % 2 ? "1.5" : "0.5", i, 1 + i / 3, i % 2 ? "clean" : "dusty",
            i % 6 ? "0.75" : "NULL");
        change(sql);
    }
    change("UPDATE photos SET review=2, human='clean', who='a' WHERE id=2;"
           "UPDATE photos SET review=1, human='clean', who='b' WHERE id=3;"
           "INSERT INTO thumbnails VALUES(1, x'ffd8ffd9')");
}

void fuzz_project_reset(void)
{
    static const char *const tables[] = {"photos",   "thumbnails", "classes", "settings",        "actions", "items",
                                         "versions", "changes",    "learned", "sqlite_sequence", "watched"};
    change("BEGIN");
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        char sql[64];
        snprintf(sql, sizeof sql, "DELETE FROM %s", tables[i]);
        change(sql);
    }
    fill_photos();
    change("INSERT INTO classes VALUES('clean'), ('dusty'); INSERT INTO settings VALUES('version', '2');"
           "INSERT INTO versions(made, kind, parent, lineage, rows, result) VALUES(1, 'train', 0, 1, 9, '{\"a\":1}'),"
           " (2, 'learn', 1, 1, 10, NULL); INSERT INTO changes VALUES(2, 1, 'clean', 'dusty'), (2, 3, '', 'clean');"
           "INSERT INTO actions(made, who, kind, label) VALUES(1, 'a', 'label', 'clean');"
           "INSERT INTO items VALUES(1, 2, 0, NULL, 2, 'clean'); INSERT INTO watched VALUES('/photos')");
    change("COMMIT");
}

/* Removed at the end of the process. */
static char folder[] = "/tmp/broad-fuzz-XXXXXX", work[sizeof folder + 8];

static void leave(void)
{
    rmdir(work);
    rmdir(folder);
}

char *fuzz_request_text(char **out_rest, const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    *out_rest = NULL;
    if (!text) return NULL;
    memcpy(text, data, size);
    text[size] = 0;
    *out_rest = memchr(text, '\n', size);
    if (*out_rest) *(*out_rest)++ = 0;
    return text;
}

serve_server *fuzz_project(void)
{
    if (server.project.folder) return &server;
    fuzz_must(mkdtemp(folder) != NULL);
    snprintf(work, sizeof work, "%s/work", folder);
    fuzz_must(mkdir(work, 0700) == 0);
    atexit(leave);
    server.project.folder = folder;
    pthread_mutex_init(&server.model_lock, NULL);
    serve_events_open(&server.events);
    fuzz_must(serve_database_open(&server.project.database, ":memory:") == 0);
    fuzz_project_reset();
    return &server;
}

int64_t fuzz_project_count(const char *sql)
{
    int64_t count = 0;
    fuzz_must(serve_number(&count, &server.project.database, sql, "") == 0);
    return count;
}

/* ---- requests ---- */

static const char *find_parameter(const serve_request *request, const char *name)
{
    const fuzz_request *own = (const fuzz_request *)request;
    for (size_t i = 0; i < own->count; i++)
        if (strcmp(own->names[i], name) == 0) return own->values[i];
    return NULL;
}

static int is_in(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], text) == 0) return 1;
    return 0;
}

static void check_answer(serve_answer *answer)
{
    json_error_t error;
    size_t count = 0;
    fuzz_must(answer->json || answer->bytes || answer->file > 0);
    if (answer->json) {
        char *text = serve_answer_text(&count, answer);
        fuzz_must(text != NULL);
        json_t *again = json_loadb(text, count, JSON_REJECT_DUPLICATES, &error);
        fuzz_must(json_is_object(again));
        json_decref(again);
        free(text);
    }
    fuzz_must(strlen(answer->download) < sizeof answer->download);
}

int fuzz_project_answer(fuzz_request *own, const char *method, const char *path)
{
    serve_answer answer = {0};
    int other = 0;
    own->request.server = fuzz_project();
    own->request.query = own->request.header = find_parameter;
    own->request.path = path;
    const serve_route *route = serve_route_find(&own->request, &other, method, path);
    if (!route || !is_in(route->pattern, answered, sizeof answered / sizeof answered[0])) return 1;
    if (strstr(route->pattern, "{name}") && !is_in(own->request.name, exported, sizeof exported / sizeof exported[0]))
        return 1;
    if (strcmp(route->pattern, "/api/v1/watch") == 0 && strcmp(method, "GET") != 0) return 1; /* would look for it */
    int status = route->handler(&answer, &own->request);
    if (!status) check_answer(&answer);
    else fuzz_must(status < 0 && status != BROAD_BUG && broad_error_message()[0]);
    json_decref(answer.json);
    free(answer.rows.text);
    free(answer.bytes);
    if (answer.file > 0) close(answer.file);
    return status;
}
