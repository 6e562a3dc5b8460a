#include "serve/rows.h"

#include <stdarg.h>

#include "serve/filter.h"

typedef struct listing {
    json_t *list;
    serve_row_json make;
} listing;

static int append(void *context, sqlite3_stmt *row)
{
    listing *own = context;
    cli_json_append(own->list, own->make(row));
    return BROAD_OK;
}

/* The lock is held. Closes the query. */
static int answer(serve_answer *out, const char *name, serve_row_json make, sqlite3_stmt *query, int status)
{
    listing own = {.list = json_array(), .make = make};
    status = serve_query_each(query, status, append, &own);
    if (status) {
        json_decref(own.list);
        return status;
    }
    out->json = json_object();
    cli_json_put(out->json, name, own.list);
    return BROAD_OK;
}

int serve_answer_rows(serve_answer *out, const serve_request *request, const char *name, serve_row_json make,
                      const char *sql, const char *types, ...)
{
    serve_database *database = &request->server->project.database;
    sqlite3_stmt *query = NULL;
    va_list arguments;
    serve_database_lock(database);
    va_start(arguments, types);
    int status = serve_query_open_list(&query, database, sql, types, arguments);
    va_end(arguments);
    status = answer(out, name, make, query, status);
    serve_database_unlock(database);
    return status;
}

int serve_answer_photos(serve_answer *out, const serve_request *request, serve_row_json make, const char *columns,
                        const char *tail, int stacked)
{
    serve_database *database = &request->server->project.database;
    sqlite3_stmt *query = NULL;
    serve_database_lock(database);
    int status = serve_filter_open(&query, request, columns, tail, stacked);
    status = answer(out, "photos", make, query, status);
    serve_database_unlock(database);
    return status;
}
