/* What happens, told to every page that listens (server-sent events). */
#ifndef BROAD_SERVE_EVENTS_H
#define BROAD_SERVE_EVENTS_H

#include <jansson.h>
#include <pthread.h>
#include <stdint.h>

enum { SERVE_EVENTS_KEPT = 256 };

typedef struct serve_events {
    pthread_mutex_t lock;
    pthread_cond_t more;
    uint64_t next; /* number of the next one; the ring has those before it */
    char *ring[SERVE_EVENTS_KEPT];
    int over;
} serve_events;

void serve_events_open(serve_events *out);
void serve_events_close(serve_events *events);
void serve_events_end(serve_events *events); /* all that wait, now or later, come back */
/* Takes over `data`. */
void serve_events_post(serve_events *events, const char *name, json_t *data);
uint64_t serve_events_now(serve_events *events); /* to wait for what comes from now on */
/* The next event after *at, as text for free(), waiting at most `seconds`. NULL: none came, or it is over. A reader that has
 * fallen behind goes on with the oldest one kept. */
char *serve_events_wait(serve_events *events, uint64_t *at, double seconds);
int serve_events_are_over(serve_events *events);

#endif
