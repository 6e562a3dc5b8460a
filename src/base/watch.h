/*
 * Progress of a long call other than training, and the request to stop it.
 *
 * A call that takes a progress function enters a watch on its thread; the loops below it poll that watch, on this
 * thread alone: elsewhere, and without a progress function, a poll does nothing. The progress function is called at
 * most every BROAD__WATCH_SECONDS, so a loop may poll as often as it likes.
 */
#ifndef BROAD_BASE_WATCH_H
#define BROAD_BASE_WATCH_H

#include "broad/broad.h"

#define BROAD__WATCH_SECONDS 0.05

typedef struct broad__watch {
    const char *stage;
    broad_progress_function progress; /* NULL: none */
    void *context;
    size_t done, span, total; /* done before this part of the work, its share, and all of it */
    double last;              /* when it was reported */
    int stopped;
} broad__watch;

/* Returns the watch that was there before, for broad__watch_leave(). */
broad__watch *broad__watch_enter(broad__watch *watch);
void broad__watch_leave(broad__watch *before);

/* The work that is polled from now on is `span` of `total`, after `done`. */
void broad__watch_part(size_t done, size_t span, size_t total);
/* `step` of `steps` steps of this part are done. BROAD_INTERRUPTED, with a message, once the progress function asked to
 * stop. */
int broad__watch_poll(size_t step, size_t steps);

#endif
