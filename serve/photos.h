/* Photos of a project: how they come in, and what is known of them. */
#ifndef BROAD_SERVE_PHOTOS_H
#define BROAD_SERVE_PHOTOS_H

#include "serve/decoder.h"
#include "serve/project.h"

typedef enum serve_state {
    SERVE_STATE_WAITING,
    SERVE_STATE_SEEN,
    SERVE_STATE_UNREADABLE,
    SERVE_STATE_TRAINING /* one that the model was trained on and a person has looked at; in no list of the project's photos */
} serve_state;
typedef enum serve_review { SERVE_REVIEW_NONE, SERVE_REVIEW_AGREED, SERVE_REVIEW_CORRECTED } serve_review;

enum { SERVE_PHOTO_BYTES_MOST = 64 << 20, SERVE_NAME_BYTES = 512 };

/* Text of unknown origin as a name to show: valid UTF-8 without control characters, cut to fit. */
void serve_clean_text(char *out, size_t bytes, const char *text);

typedef struct serve_added {
    int64_t id;
    int known; /* the same content was there before */
} serve_added;

/* Photos that are sent are always kept in the project. `name` may have folders before it; it is only ever shown. */
int serve_photo_add(serve_added *out, serve_project *project, const void *bytes, size_t count, const char *name);

/* A file of a folder comes in by two steps, so that many can share one wait for the disk: its bytes, copied (or linked to, unless
 * copy) without waiting; and, when the caller has waited, its row, within a transaction of the caller. */
typedef struct serve_incoming {
    char content[33];
    size_t bytes;
    int copied;
} serve_incoming;

int serve_photo_bring(serve_incoming *out, serve_project *project, const char *path, int copy);
int serve_photo_enter(serve_added *out, serve_project *project, const serve_incoming *incoming, const char *path,
                      const char *name);

/* Of a query for name and folder, into the JSON object that is the context: serve_query_each(). */
int serve_photo_put_name(void *context, sqlite3_stmt *row);

/* A regular file that is not a link, and of at most SERVE_PHOTO_BYTES_MOST. For free(). */
int serve_file_read(void **out, size_t *out_bytes, const char *path);
int serve_photo_path(char out[PATH_MAX], serve_project *project, int64_t id); /* BROAD_NO_INPUT: no such photo */
/* Where other commands find it: always below the project's folder `photos`, by a link where it is referred to. */
int serve_photo_tool_path(char out[PATH_MAX], serve_project *project, int64_t id);
int serve_photo_open(int *out, size_t *out_bytes, serve_project *project, int64_t id);   /* a descriptor, for close() */
int serve_photo_read(void **out, size_t *out_bytes, serve_project *project, int64_t id); /* for free() */

/* What has been seen of a photo, or why it cannot be. Within a transaction of the caller. */
typedef struct serve_outcome {
    int64_t id;
    int status;
    char reason[256];
    serve_sight sight;
    serve_model *model; /* that judged it, held; NULL: none */
    serve_verdict verdict;
    double *scores; /* owned */
} serve_outcome;

int serve_photo_judge(serve_outcome *outcome); /* from its inputs, if there is a model */
int serve_photo_keep(serve_project *project, const serve_outcome *outcome);
void serve_outcome_clear(serve_outcome *outcome);

#endif
