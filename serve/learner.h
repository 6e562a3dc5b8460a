/*
 * Longer work, one piece after the other on a thread of its own: learning corrections, training, checking certificates, drawing
 * photos to try it with. The tool itself does it, as a process (tool.h). Pages are told when a piece begins and how it ends.
 */
#ifndef BROAD_SERVE_LEARNER_H
#define BROAD_SERVE_LEARNER_H

#include <jansson.h>
#include <stdint.h>

#include "serve/reviews.h"

typedef struct serve_learner serve_learner;
struct serve_server;

typedef enum serve_task {
    SERVE_TASK_LEARN,  /* corrections; without a model: a first one from what was labelled */
    SERVE_TASK_TRAIN,  /* a new model from all that was labelled */
    SERVE_TASK_DEMO,   /* drawn photos, and a model of such */
    SERVE_TASK_VERIFY, /* the certificate of version `number` */
    SERVE_TASK_DOUBTS  /* training photos whose label is doubtful */
} serve_task;

int serve_learner_open(serve_learner **out, struct serve_server *server);
void serve_learner_end(serve_learner *learner);  /* ends what is under way; accepts NULL */
void serve_learner_free(serve_learner *learner); /* after it has ended; accepts NULL */
/* agreed: learn also what people agreed to. BROAD_FAILED: something else is under way. */
int serve_learner_ask(serve_learner *learner, serve_task task, int64_t number, int agreed);
/* {"task": null, or its name, "last": how the latest ended, or null}. */
json_t *serve_learner_json(serve_learner *learner);
json_t *serve_learner_doubts(serve_learner *learner); /* the latest list, or null */

typedef struct serve_doubt {
    char file[PATH_MAX]; /* as the model names it */
    char label[SERVE_LABEL_BYTES];
    int64_t version; /* of the model that was trained on it */
} serve_doubt;

/* One of them, from 0; BROAD_NO_INPUT: there is none. */
int serve_learner_doubt(serve_doubt *out, serve_learner *learner, size_t index);

#endif
