/* Answers that are lists: the rows of a query, each as a JSON object or value. */
#ifndef BROAD_SERVE_ROWS_H
#define BROAD_SERVE_ROWS_H

#include "serve/routes.h"

typedef json_t *(*serve_row_json)(sqlite3_stmt *row);

/* {name: [...]}: the rows of this statement (types and arguments as in database.h); what is put into out->json comes behind them ... */
int serve_answer_rows(serve_answer *out, const serve_request *request, const char *name, serve_row_json make,
                      const char *sql, const char *types, ...);
/* ... or of the photos that the request's filters choose. */
int serve_answer_photos(serve_answer *out, const serve_request *request, serve_row_json make, const char *columns,
                        const char *tail, int stacked);
/* The rows, if there are any, and the members of the answer's JSON, which it then no longer has. NULL: no memory. */
char *serve_answer_text(size_t *out_count, serve_answer *answer);

#endif
