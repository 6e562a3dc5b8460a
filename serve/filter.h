/* Which photos a request is about, and in which order. */
#ifndef BROAD_SERVE_FILTER_H
#define BROAD_SERVE_FILTER_H

#include "serve/routes.h"

/* A query for `columns` of the photos p that the request's parameters select, followed by `tail` of SQL, such as an order.
 * stacked: one photo of each stack. The lock of the database must be held. BROAD_USAGE: a parameter cannot be read. */
int serve_filter_open(sqlite3_stmt **out, const serve_request *request, const char *columns, const char *tail,
                      int stacked);
/* "ORDER BY ..." as the request has it; NULL and BROAD_USAGE where there is no such order. */
const char *serve_filter_order(const serve_request *request);
int serve_filter_count(int64_t *out, const serve_request *request, int stacked);

/* The columns that serve_photo_json() reads. */
extern const char *const serve_photo_columns;
json_t *serve_photo_json(sqlite3_stmt *query);
extern const char *const serve_review_names[3];

#endif
