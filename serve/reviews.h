/* What people say of photos. Each call is one action, in the database when it returns, and can be taken back as one. */
#ifndef BROAD_SERVE_REVIEWS_H
#define BROAD_SERVE_REVIEWS_H

#include "io/json.h"
#include "serve/photos.h"

/* Names of folders are no longer. */
enum { SERVE_LABEL_BYTES = 256, SERVE_WHO_BYTES = 80 };

/* BROAD_USAGE unless it can be the name of a class, and of a folder: 1 to 255 bytes, no slash, no dot in front, no control
 * characters. */
int serve_label_check(const char *label);

typedef struct serve_reviewing {
    const int64_t *photos;
    size_t count;
    const char *label; /* NULL: agree with what each was judged to be */
    int clear;         /* as if it had not been looked at */
    const char *who;
} serve_reviewing;

/* *out: {"action", "label", "photos": [{"id", "review", "human"}]}. */
int serve_review_photos(json_t **out, serve_project *project, const serve_reviewing *reviewing);
/* The action, or with 0 the latest of this person that was not undone; photos that have been changed since stay as they are.
 * BROAD_NO_INPUT: there is none. */
int serve_review_undo(json_t **out, serve_project *project, int64_t action, const char *who);

#endif
