/* A project's SQLite database: WAL, full synchronisation, so that what was committed survives a kill and a loss of power. */
#ifndef BROAD_SERVE_DATABASE_H
#define BROAD_SERVE_DATABASE_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>

typedef struct serve_database {
    sqlite3 *handle;
    pthread_mutex_t lock; /* recursive: held while several statements run as one */
} serve_database;

/* Makes the file and its tables where they are not there. */
int serve_database_open(serve_database *out, const char *path);
void serve_database_close(serve_database *database); /* accepts a zeroed one */

void serve_database_lock(serve_database *database);
void serve_database_unlock(serve_database *database);

/* A transaction of this thread, which holds the lock meanwhile. end: commits where status is 0, else takes all back; returns
 * the status, or that of the commit. */
int serve_database_begin(serve_database *database);
int serve_database_end(serve_database *database, int status);

/*
 * Statements. `types` says what the arguments are: i int64_t, t const char * (NULL: null), r double (NaN: null), b const
 * void * and size_t. The lock must be held from opening a query to closing it.
 */
int serve_query_open(sqlite3_stmt **out, serve_database *database, const char *sql, const char *types, ...);
int serve_query_open_list(sqlite3_stmt **out, serve_database *database, const char *sql, const char *types,
                          va_list arguments);
int serve_query_row(sqlite3_stmt *query); /* 1: a row, 0: no more, below 0: failed */
void serve_query_close(sqlite3_stmt *query);
/* Hands every row to `take`, until it fails, and closes the query. status: that of opening it. */
typedef int (*serve_row_taker)(void *context, sqlite3_stmt *row);
int serve_query_each(sqlite3_stmt *query, int status, serve_row_taker take, void *context);
const char *serve_query_text(sqlite3_stmt *query, int column); /* "" for null; valid until the next row */
double serve_query_real(sqlite3_stmt *query, int column);      /* NaN for null */
/* One that gives no rows. */
int serve_change(serve_database *database, const char *sql, const char *types, ...);
/* The number that the first row has in its first column; *out stays where there is none. */
int serve_number(int64_t *out, serve_database *database, const char *sql, const char *types, ...);

#endif
