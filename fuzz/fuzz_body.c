/*
 * JSON bodies of requests to `broad serve`: the first line is the path, the rest the body. What is confirmed is in the database and
 * sound; what is refused has changed nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "serve/reviews.h"
#include "serve_project.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of the tables that bodies change. */
static int64_t fingerprint(void)
{
    return fuzz_project_count(
        "SELECT (SELECT total(id*(1+3*review+7*length(coalesce(human,'')))) FROM photos)"
        "+31*(SELECT count(*)+total(id*(1+undone)) FROM actions)+1009*(SELECT count(*) FROM items)"
        "+10007*(SELECT total(length(name)) FROM classes)+20011*(SELECT total(length(value)) FROM"
        " settings)+30011*(SELECT count(*) FROM watched)");
}

static int check_class(void *context, sqlite3_stmt *row)
{
    (void)context;
    fuzz_must(serve_label_check(serve_query_text(row, 0)) == 0);
    return BROAD_OK;
}

static void check_project(serve_server *server)
{
    sqlite3_stmt *query = NULL;
    serve_database *database = &server->project.database;
    int status = serve_query_open(&query, database,
                                  "SELECT name FROM classes UNION ALL SELECT human FROM photos WHERE review>0", "");
    fuzz_must(serve_query_each(query, status, check_class, NULL) == 0);
    fuzz_must(fuzz_project_count("SELECT count(*) FROM photos WHERE review NOT IN (0,1,2) OR (review>0)<>(human IS NOT"
                                 " NULL) OR length(CAST(who AS BLOB))>=80") == 0);
    fuzz_must(fuzz_project_count("SELECT count(*) FROM items WHERE action NOT IN (SELECT id FROM actions)") == 0);
    fuzz_must(fuzz_project_count("SELECT count(*) FROM photos") == FUZZ_PHOTOS);
    fuzz_must(sqlite3_get_autocommit(database->handle));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_request own = {0};
    char *rest, *text = fuzz_request_text(&rest, data, size);
    if (!text) return 0;
    if (rest) {
        own.request.body = rest;
        own.request.body_bytes = size - (size_t)(rest - text);
    }
    serve_server *server = fuzz_project();
    int changes = sqlite3_total_changes(server->project.database.handle);
    int64_t before = fingerprint();
    int status = fuzz_project_answer(&own, "POST", text);
    if (status) fuzz_must(fingerprint() == before);
    check_project(server);
    if (sqlite3_total_changes(server->project.database.handle) != changes) fuzz_project_reset();
    free(text);
    return 0;
}
