/* The server: a project, the model in use, and what works on them. */
#ifndef BROAD_SERVE_SERVER_H
#define BROAD_SERVE_SERVER_H

#include <sys/stat.h>

#include "serve/events.h"
#include "serve/guard.h"
#include "serve/learner.h"
#include "serve/queue.h"
#include "serve/tiles.h"

typedef struct serve_options {
    const char *project;
    const char *listen; /* address */
    unsigned port;
    const char *token_file;   /* NULL: a random token */
    const char *const *hosts; /* further names that the page is reached by */
    size_t host_count;
    int browser; /* open one */
    int copy;    /* photos of watched folders are copied into the project */
    size_t threads;
    const char *tiles; /* address of map tiles; NULL: none */
    int json;          /* where the page is, as a JSON object instead of words */
} serve_options;

typedef struct serve_server {
    const serve_options *options;
    serve_project project;
    serve_events events;
    serve_guard guard;
    serve_tiles tiles;
    serve_queue *queue;
    serve_learner *learner;
    pthread_mutex_t model_lock;
    serve_model *model;     /* NULL: none yet */
    char *trouble;          /* what is wrong with model.broad; NULL: nothing. Under the same lock */
    struct stat model_file; /* model.broad when it was last looked at; the learner's */
    pthread_t watcher;
    int watching;
    atomic_int look_now; /* a folder has joined those that are watched */
    atomic_int over;
    atomic_int streams; /* pages that listen to events */
} serve_server;

/* Runs until a signal asks it to end. */
int serve_run(const serve_options *options);

serve_model *serve_server_model(serve_server *server);           /* held; NULL: there is none */
void serve_server_use(serve_server *server, serve_model *model); /* takes it over; NULL: none */
void serve_server_note(serve_server *server,
                       const char *trouble); /* what the status says of model.broad; NULL: nothing */
json_t *serve_server_noted(serve_server *server);
void serve_server_trouble(serve_server *server); /* tells all pages of the latest failure of this thread */

#endif
