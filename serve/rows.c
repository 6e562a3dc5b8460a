#include "serve/rows.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "serve/filter.h"

enum { FLAGS = JSON_COMPACT | JSON_REAL_PRECISION(12) | JSON_ENCODE_ANY };

static int put(const char *bytes, size_t count, void *context)
{
    serve_rows *own = context;
    if (count > own->room - own->count) {
        size_t room = 2 * (own->count + count) + 256;
        char *grown = realloc(own->text, room);
        if (!grown) return -1;
        own->text = grown;
        own->room = room;
    }
    memcpy(own->text + own->count, bytes, count);
    own->count += count;
    return 0;
}

static int put_json(serve_rows *out, const json_t *value)
{
    return value ? json_dump_callback(value, put, out, FLAGS) : -1;
}

typedef struct listing {
    serve_rows *rows;
    serve_row_json make;
    int more; /* there is a row already */
} listing;

static int append(void *context, sqlite3_stmt *row)
{
    listing *own = context;
    json_t *value = own->make(row);
    int failed = (own->more && put(",", 1, own->rows)) || put_json(own->rows, value);
    json_decref(value);
    own->more = 1;
    return failed ? cli_fail(BROAD_NO_MEMORY, "out of memory while answering") : BROAD_OK;
}

/* The lock is held. Closes the query. A row is text as soon as it is read: as a tree of values, a list takes ten times the room,
 * which the heap keeps. */
static int answer(serve_answer *out, const char *name, serve_row_json make, sqlite3_stmt *query, int status)
{
    listing own = {.rows = &out->rows, .make = make};
    if (!status && (put("{\"", 2, own.rows) || put(name, strlen(name), own.rows) || put("\":[", 3, own.rows)))
        status = cli_fail(BROAD_NO_MEMORY, "out of memory while answering");
    status = serve_query_each(query, status, append, &own);
    if (status) return status;
    out->json = json_object();
    return put("]", 1, own.rows) ? cli_fail(BROAD_NO_MEMORY, "out of memory while answering") : BROAD_OK;
}

char *serve_answer_text(size_t *out_count, serve_answer *answer)
{
    serve_rows *rows = &answer->rows;
    size_t begun = rows->count;
    int failed = put_json(rows, answer->json);
    int members = !failed && json_object_size(answer->json) > 0;
    if (!failed && begun) { /* "{" of the object goes, and where it is empty one "}" is enough */
        rows->text[begun] = members ? ',' : '}';
        if (!members) rows->count = begun + 1;
    }
    char *text = rows->text;
    *out_count = rows->count;
    json_decref(answer->json);
    answer->json = NULL;
    *rows = (serve_rows){0};
    if (!failed) return text;
    free(text);
    return NULL;
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
