/*
 * Every model that a project has had, in order. A new one is on disk before the database knows it, the database before the
 * file model.broad: a kill at any moment leaves a project that the next start puts in order.
 */
#ifndef BROAD_SERVE_VERSIONS_H
#define BROAD_SERVE_VERSIONS_H

#include "io/json.h"
#include "serve/server.h"

/* Puts model.broad and the database in order, and loads the model in use, if there is one. */
int serve_versions_start(serve_server *server);

/* Takes model.broad as a new version if another program has replaced it since the last look; within its first two seconds
 * only where there is no time to wait, since it may not be whole yet. */
int serve_versions_follow(serve_server *server, int at_once);

/* What is to become a version. */
typedef struct serve_candidate {
    const char *file;   /* the model, which is moved from there */
    const char *kind;   /* "given", "trained", "learned" */
    int same_inputs;    /* photos become the same inputs as with the model in use */
    json_t *result;     /* what the tool said of it; kept as text. Not taken over */
    size_t photo_count; /* that were learned */
    const int64_t *photos;
    const char *const *labels;
} serve_candidate;

/* *out: its number. All photos are judged by it: at once from their inputs where these stay the same. */
int serve_version_add(int64_t *out, serve_server *server, const serve_candidate *candidate);
/* Goes back to a version, or forward. */
int serve_version_use(serve_server *server, int64_t version);
int64_t serve_version_now(serve_server *server); /* 0: none */

#endif
