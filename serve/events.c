#include "serve/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "message.h"

void serve_events_open(serve_events *out)
{
    pthread_condattr_t monotonic;
    memset(out, 0, sizeof *out);
    pthread_mutex_init(&out->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&out->more, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void serve_events_close(serve_events *events)
{
    for (size_t i = 0; i < SERVE_EVENTS_KEPT; i++) free(events->ring[i]);
    pthread_cond_destroy(&events->more);
    pthread_mutex_destroy(&events->lock);
}

void serve_events_end(serve_events *events)
{
    pthread_mutex_lock(&events->lock);
    events->over = 1;
    pthread_cond_broadcast(&events->more);
    pthread_mutex_unlock(&events->lock);
}

void serve_events_post(serve_events *events, const char *name, json_t *data)
{
    char *text = data ? json_dumps(data, JSON_COMPACT) : NULL, *event = NULL;
    json_decref(data);
    pthread_mutex_lock(&events->lock);
    int length =
        text ? asprintf(&event, "id: %llu\nevent: %s\ndata: %s\n\n", (unsigned long long)events->next, name, text) : -1;
    if (length > 0) {
        free(events->ring[events->next % SERVE_EVENTS_KEPT]);
        events->ring[events->next++ % SERVE_EVENTS_KEPT] = event;
        pthread_cond_broadcast(&events->more);
    }
    pthread_mutex_unlock(&events->lock);
    free(text);
}

uint64_t serve_events_now(serve_events *events)
{
    pthread_mutex_lock(&events->lock);
    uint64_t now = events->next;
    pthread_mutex_unlock(&events->lock);
    return now;
}

char *serve_events_wait(serve_events *events, uint64_t *at, double seconds)
{
    struct timespec until;
    char *event = NULL;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)seconds;
    pthread_mutex_lock(&events->lock);
    int late = 0;
    while (!late && !events->over && *at >= events->next)
        late = pthread_cond_timedwait(&events->more, &events->lock, &until);
    if (!events->over && *at < events->next) {
        if (events->next - *at > SERVE_EVENTS_KEPT) *at = events->next - SERVE_EVENTS_KEPT;
        event = strdup(events->ring[(*at)++ % SERVE_EVENTS_KEPT]);
    }
    pthread_mutex_unlock(&events->lock);
    return event;
}

int serve_events_are_over(serve_events *events)
{
    pthread_mutex_lock(&events->lock);
    int over = events->over;
    pthread_mutex_unlock(&events->lock);
    return over;
}
