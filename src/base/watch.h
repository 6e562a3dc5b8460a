/*
 * Progress of a long call, and the request to stop it.
 *
 * A call that takes a progress function enters a watch on its thread, and the threads of a pool join it while they work
 * for that call. Between two pieces of its work a loop takes a look at the watch; on the call's own thread that calls the
 * progress function, every broad__watch_interval. Once that asked to stop, every look says so, on all threads: what
 * is left of the work is skipped, down to the loops of dense algebra. What was computed then is not to be used: wherever
 * a result is about to be, broad__watch_check() turns the request into a status, and what fails by it goes the way of any
 * failure. Where no watch was entered, a look is a comparison.
 */
#ifndef BROAD_BASE_WATCH_H
#define BROAD_BASE_WATCH_H

#include <stdatomic.h>

#include "broad/broad.h"

/* The progress function is called at most this often, in seconds. Changed by tests alone. */
extern double broad__watch_interval;

/*
 * How much of a call is done, by floating-point operations: those that were counted, of those that were expected. The call
 * goes phase by phase; a phase ends when the next begins, whether as much was done as expected or not, and takes its share
 * of what was left. So the part that is done never falls.
 */
typedef struct broad__work {
    atomic_uint_fast64_t done;
    double rest;        /* expected after this phase */
    double phase;       /* expected of it */
    double before;      /* done when it began */
    double from, until; /* parts of the whole when it begins and ends */
} broad__work;

/* Why it was stopped. */
typedef enum broad__watch_end {
    BROAD__WATCH_GOES_ON,
    BROAD__WATCH_ASKED,
    BROAD__WATCH_LATE /* the limit has passed */
} broad__watch_end;

typedef struct broad__watch {
    broad_progress state;             /* what is reported; `done` when this part of the work began */
    broad_progress_function progress; /* NULL: none */
    void *context;
    size_t span;   /* share of this part in `total` */
    double last;   /* when it was reported */
    double unseen; /* operations since the clock was read, on the call's thread */
    double limit;  /* time of the clock at which it stops by itself; 0: none */
    broad__work work;
    atomic_int stopped; /* broad__watch_end */
    /* The largest of what all ranks of the call say; NULL: this process alone. What one rank is asked for waits until all
     * know of it, since their work must end at the same place. */
    int (*agree)(int own);
    int asked; /* broad__watch_end of this rank, which the others do not know yet */
} broad__watch;

/* Returns the watch that was there before, for broad__watch_leave(). */
broad__watch *broad__watch_enter(broad__watch *watch);
void broad__watch_leave(broad__watch *before);

/* That of this thread; NULL: none. */
broad__watch *broad__watch_here(void);
/* This thread works for the call of another one, whose watch that is; NULL: for none. */
void broad__watch_join(broad__watch *watch);

/* Tells the progress function now. Non-zero: it asks to stop; that is left to the caller. */
int broad__watch_tell(const broad_progress *state);
/* The work that is polled from now on is `span` of `total`, after `done`. */
void broad__watch_part(size_t done, size_t span, size_t total);
/* `step` of `steps` steps of this part are done. BROAD_INTERRUPTED, with a message, once the progress function asked to
 * stop. */
int broad__watch_poll(size_t step, size_t steps);

/* About that many operations follow. */
void broad__watch_expect(double flops);
/* Of these, the phase that begins now takes so many. */
void broad__watch_phase(double flops);
void broad__watch_count(double flops); /* done; any thread */
double broad__watch_counted(void);     /* so far */
/* What is known of the work, for a further call that goes on with it. */
void broad__watch_keep(broad__work *out);
void broad__watch_take(const broad__work *work);
/* The limit that there was before. One that is later than it changes nothing. */
double broad__watch_limit(double limit);
/* Back to the limit before. 1: the one that there was had passed, and the work goes on all the same. */
int broad__watch_forgive(double before);
int broad__watch_late(void); /* it was stopped by its limit */

/* Of several ranks: what this one was asked for, and what all of them have agreed on. */
int broad__watch_asked(void);
void broad__watch_agreed(int end);

/* Stops it as if the progress function had asked for it. BROAD_INTERRUPTED, with a message. */
int broad__watch_stop(void);
/* Between pieces of work, about `flops` floating-point operations after the last look: small ones do not read the clock. 1:
 * skip the rest. Any thread. */
int broad__watch_look(double flops);
int broad__watch_stopped(void); /* the same without asking */
/* BROAD_INTERRUPTED, with a message, once it was asked to stop, even if something else failed; `status` otherwise. */
int broad__watch_check(int status);

#endif
