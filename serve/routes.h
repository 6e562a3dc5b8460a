/* The table of all that can be asked for over HTTP. The dispatcher, the OpenAPI file and its test are made from it. */
#ifndef BROAD_SERVE_ROUTES_H
#define BROAD_SERVE_ROUTES_H

#include "io/json.h"
#include "serve/server.h"

typedef struct serve_request {
    serve_server *server;
    const char *path;
    int64_t number;   /* of {number} in the pattern */
    char name[64];    /* of {name} */
    const char *body; /* ends with 0 */
    size_t body_bytes;
    const char *(*query)(const struct serve_request *request, const char *name);  /* NULL: not given */
    const char *(*header)(const struct serve_request *request, const char *name); /* NULL: not given */
    void *connection;
} serve_request;

/* The beginning of a JSON object, as text. */
typedef struct serve_rows {
    char *text; /* for free() */
    size_t count, room;
} serve_rows;

typedef struct serve_answer {
    unsigned code; /* of HTTP; 0: 200 */
    const char *type;
    json_t *json;         /* taken over by the answer, */
    serve_rows rows;      /* behind the rows of a list, of rows.h, where there is one; else */
    void *bytes;          /* for free() */
    const void *constant; /* or bytes that stay */
    size_t count;
    int file;           /* or a descriptor, if above 0, that is closed afterwards */
    int stream;         /* or events until the page leaves */
    int keep_for_good;  /* a cache may keep it: the address changes with the content */
    char download[128]; /* name of the file that a browser saves it as; "": it shows it */
} serve_answer;

/* A failure is answered with its message: {"error": {"status", "message"}}. */
typedef int (*serve_handler)(serve_answer *out, const serve_request *request);

typedef struct serve_route {
    const char *method, *pattern; /* "/api/v1/photos/{number}" */
    serve_handler handler;
    const char *summary;
    const char *query; /* "sort=how to sort;..."; NULL: none */
    const char *body;  /* "image": a photo; "json:..." what the object has; NULL: none */
    const char *gives; /* type of the answer, as "application/json" */
} serve_route;

size_t serve_route_count(void);
const serve_route *serve_route_at(size_t index);
/* Fills in number and name. NULL: there is none; *out_other: there is one for another method. */
const serve_route *serve_route_find(serve_request *request, int *out_other, const char *method, const char *path);
json_t *serve_openapi(void);

/* The members of a JSON object in the body; BROAD_USAGE where it is none. */
int serve_request_json(json_t **out, const serve_request *request);
/* A number in the query, at most `most`; `otherwise` where it is not given. BROAD_USAGE where it is none. */
int serve_request_count(size_t *out, const serve_request *request, const char *name, size_t otherwise, size_t most);

#endif
