#include "serve/database.h"

#include <math.h>
#include <string.h>

#include "message.h"

/*
 * photos    one row per content. state: of serve_state. human: the class that a person gave or agreed to.
 * actions   what people did, in order; items: what each did to which photo, so that it can be taken back.
 * versions  every model; learned: how many photos it has learned in this project.
 * learned   which photos, with which class, the step that made a version has learned (learned.h).
 * trained   files that a model was trained on, as it names them, and that are photos of the project too.
 */
static const char schema[] =
    "CREATE TABLE IF NOT EXISTS settings(name TEXT PRIMARY KEY, value TEXT);"
    "CREATE TABLE IF NOT EXISTS classes(name TEXT PRIMARY KEY);"
    "CREATE TABLE IF NOT EXISTS photos(id INTEGER PRIMARY KEY, content TEXT UNIQUE NOT NULL, name TEXT, folder TEXT,"
    " path TEXT, bytes INTEGER, added INTEGER, state INTEGER NOT NULL DEFAULT 0, reason TEXT, width INTEGER,"
    " height INTEGER, time TEXT, latitude REAL, longitude REAL, altitude REAL, yaw REAL, faults INTEGER DEFAULT 0,"
    " distance REAL, print INTEGER, stack INTEGER, version INTEGER, inputs BLOB, scores BLOB, label TEXT, certainty "
    "REAL,"
    " fault REAL, review INTEGER NOT NULL DEFAULT 0, human TEXT, who TEXT, reviewed INTEGER);"
    "CREATE INDEX IF NOT EXISTS photos_state ON photos(state, id);"
    "CREATE INDEX IF NOT EXISTS photos_certainty ON photos(certainty);"
    "CREATE INDEX IF NOT EXISTS photos_stack ON photos(stack);"
    "CREATE INDEX IF NOT EXISTS photos_review ON photos(review);"
    "CREATE TABLE IF NOT EXISTS thumbnails(photo INTEGER PRIMARY KEY, jpeg BLOB);"
    "CREATE TABLE IF NOT EXISTS actions(id INTEGER PRIMARY KEY AUTOINCREMENT, made INTEGER, who TEXT, kind TEXT,"
    " label TEXT, undone INTEGER NOT NULL DEFAULT 0);"
    "CREATE TABLE IF NOT EXISTS items(action INTEGER, photo INTEGER, review_before INTEGER, human_before TEXT,"
    " review_after INTEGER, human_after TEXT);"
    "CREATE INDEX IF NOT EXISTS items_action ON items(action);"
    "CREATE TABLE IF NOT EXISTS versions(id INTEGER PRIMARY KEY AUTOINCREMENT, made INTEGER, kind TEXT, hash TEXT,"
    " parent INTEGER, lineage INTEGER, rows INTEGER, result TEXT, learned INTEGER NOT NULL DEFAULT 0);"
    "CREATE TABLE IF NOT EXISTS changes(version INTEGER, photo INTEGER, before TEXT, after TEXT);"
    "CREATE INDEX IF NOT EXISTS changes_version ON changes(version);"
    "CREATE TABLE IF NOT EXISTS learned(version INTEGER, photo INTEGER, label TEXT, PRIMARY KEY(version, photo))"
    " WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS learned_photo ON learned(photo, version);"
    "CREATE TABLE IF NOT EXISTS trained(file TEXT PRIMARY KEY, photo INTEGER);"
    "CREATE INDEX IF NOT EXISTS trained_photo ON trained(photo);"
    "CREATE TABLE IF NOT EXISTS watched(folder TEXT PRIMARY KEY);"
    "CREATE TABLE IF NOT EXISTS seen(path TEXT PRIMARY KEY, bytes INTEGER, changed INTEGER);";

static int fail(const serve_database *database)
{
    int code = database->handle ? sqlite3_extended_errcode(database->handle) : SQLITE_NOMEM;
    if ((code & 255) == SQLITE_FULL || code == SQLITE_IOERR_WRITE)
        return cli_fail(BROAD_CANNOT_WRITE,
                        "the disk is full: nothing was changed. Make room, then do the same again; nothing that was "
                        "confirmed is lost");
    if ((code & 255) == SQLITE_NOMEM) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    return cli_fail(BROAD_IO, "the project's database: %s", sqlite3_errmsg(database->handle));
}

static int run(serve_database *database, const char *sql)
{
    return sqlite3_exec(database->handle, sql, NULL, NULL, NULL) ? fail(database) : BROAD_OK;
}

/* Projects of earlier builds kept all that a version had learned in rows of its own, and no number of them. */
static int bring_up_to_date(serve_database *database)
{
    if (!sqlite3_exec(database->handle, "SELECT learned FROM versions LIMIT 0", NULL, NULL, NULL)) return BROAD_OK;
    return run(database,
               "BEGIN IMMEDIATE; ALTER TABLE versions ADD COLUMN learned INTEGER NOT NULL DEFAULT 0;"
               "UPDATE versions SET learned=(SELECT count(*) FROM learned l WHERE l.version=versions.id); COMMIT");
}

int serve_database_open(serve_database *out, const char *path)
{
    pthread_mutexattr_t recursive;
    memset(out, 0, sizeof *out);
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&out->lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int status = sqlite3_open_v2(path, &out->handle, flags, NULL) ? fail(out) : BROAD_OK;
    if (!status) sqlite3_busy_timeout(out->handle, 2000);
    if (!status) status = run(out, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-8000");
    if (!status) status = run(out, schema);
    if (!status) status = bring_up_to_date(out);
    if (status) serve_database_close(out);
    return status;
}

void serve_database_close(serve_database *database)
{
    if (!database->handle) return;
    sqlite3_close(database->handle);
    pthread_mutex_destroy(&database->lock);
    database->handle = NULL;
}

void serve_database_lock(serve_database *database) { pthread_mutex_lock(&database->lock); }

void serve_database_unlock(serve_database *database) { pthread_mutex_unlock(&database->lock); }

int serve_database_begin(serve_database *database)
{
    serve_database_lock(database);
    int status = run(database, "BEGIN IMMEDIATE");
    if (status) serve_database_unlock(database);
    return status;
}

int serve_database_end(serve_database *database, int status)
{
    if (!status) status = run(database, "COMMIT");
    if (status) sqlite3_exec(database->handle, "ROLLBACK", NULL, NULL, NULL);
    serve_database_unlock(database);
    return status;
}

/* ---- statements ---- */

static int bind(sqlite3_stmt *query, const char *types, va_list *arguments)
{
    int failed = 0;
    for (int i = 1; !failed && *types; i++, types++) {
        if (*types == 'i') failed = sqlite3_bind_int64(query, i, va_arg(*arguments, int64_t));
        else if (*types == 'r') {
            double value = va_arg(*arguments, double);
            failed = isnan(value) ? sqlite3_bind_null(query, i) : sqlite3_bind_double(query, i, value);
        } else if (*types == 't') {
            const char *text = va_arg(*arguments, const char *);
            failed = text ? sqlite3_bind_text(query, i, text, -1, SQLITE_TRANSIENT) : sqlite3_bind_null(query, i);
        } else {
            const void *bytes = va_arg(*arguments, const void *);
            size_t count = va_arg(*arguments, size_t);
            failed =
                bytes ? sqlite3_bind_blob64(query, i, bytes, count, SQLITE_TRANSIENT) : sqlite3_bind_null(query, i);
        }
    }
    return failed;
}

int serve_query_open_list(sqlite3_stmt **out, serve_database *database, const char *sql, const char *types,
                          va_list arguments)
{
    va_list own;
    *out = NULL;
    int failed = sqlite3_prepare_v2(database->handle, sql, -1, out, NULL);
    if (!failed) {
        va_copy(own, arguments);
        failed = bind(*out, types, &own);
        va_end(own);
    }
    if (!failed) return BROAD_OK;
    int status = fail(database);
    sqlite3_finalize(*out);
    *out = NULL;
    return status;
}

int serve_query_open(sqlite3_stmt **out, serve_database *database, const char *sql, const char *types, ...)
{
    va_list arguments;
    va_start(arguments, types);
    int status = serve_query_open_list(out, database, sql, types, arguments);
    va_end(arguments);
    return status;
}

int serve_query_row(sqlite3_stmt *query)
{
    int code = sqlite3_step(query);
    if (code == SQLITE_ROW) return 1;
    if (code == SQLITE_DONE) return 0;
    return fail(&(serve_database){.handle = sqlite3_db_handle(query)});
}

void serve_query_close(sqlite3_stmt *query) { sqlite3_finalize(query); }

int serve_query_each(sqlite3_stmt *query, int status, serve_row_taker take, void *context)
{
    while (!status && (status = serve_query_row(query)) > 0) status = take(context, query);
    serve_query_close(query);
    return status;
}

const char *serve_query_text(sqlite3_stmt *query, int column)
{
    const char *text = (const char *)sqlite3_column_text(query, column);
    return text ? text : "";
}

double serve_query_real(sqlite3_stmt *query, int column)
{
    return sqlite3_column_type(query, column) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(query, column);
}

int serve_change(serve_database *database, const char *sql, const char *types, ...)
{
    sqlite3_stmt *query = NULL;
    va_list arguments;
    serve_database_lock(database);
    va_start(arguments, types);
    int status = serve_query_open_list(&query, database, sql, types, arguments);
    va_end(arguments);
    if (!status) status = serve_query_row(query);
    serve_query_close(query);
    serve_database_unlock(database);
    return status < 0 ? status : BROAD_OK;
}

int serve_number(int64_t *out, serve_database *database, const char *sql, const char *types, ...)
{
    sqlite3_stmt *query = NULL;
    va_list arguments;
    serve_database_lock(database);
    va_start(arguments, types);
    int status = serve_query_open_list(&query, database, sql, types, arguments);
    va_end(arguments);
    if (!status) status = serve_query_row(query);
    if (status > 0 && sqlite3_column_type(query, 0) != SQLITE_NULL) *out = sqlite3_column_int64(query, 0);
    serve_query_close(query);
    serve_database_unlock(database);
    return status < 0 ? status : BROAD_OK;
}
