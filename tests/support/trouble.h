/* Troubles, one at each place: what a call asks for fails once at every chain of callers that asks for it, one per run. A
 * call that allocates ten thousand times in fifty places is run fifty times. Any thread. */
#ifndef BROAD_TESTS_SUPPORT_TROUBLE_H
#define BROAD_TESTS_SUPPORT_TROUBLE_H

#include "helper.h"

#include <execinfo.h>
#include <pthread.h>

enum { TROUBLE_DEPTH = 24, TROUBLE_PLACES = 1 << 14 };

typedef struct trouble {
    pthread_mutex_t lock; /* PTHREAD_MUTEX_INITIALIZER */
    int armed;            /* the next place that was not seen yet fails, once */
    size_t count;         /* of places seen */
    uint64_t places[TROUBLE_PLACES];
} trouble;

/* Of the callers' addresses. */
static inline uint64_t trouble_place(void)
{
    void *callers[TROUBLE_DEPTH];
    int depth = backtrace(callers, TROUBLE_DEPTH);
    uint64_t hash = 0xCBF29CE484222325u;
    for (int i = 1; i < depth; i++)
        hash = (hash ^ (uint64_t)(uintptr_t)callers[i]) * 0x100000001B3u, hash ^= hash >> 29;
    return hash ? hash : 1;
}

/* 1: this call is to fail. */
static inline int trouble_here(trouble *t)
{
    int fails = 0;
    if (!t->armed) return 0;
    uint64_t place = trouble_place();
    pthread_mutex_lock(&t->lock);
    if (t->armed) {
        size_t slot = place % TROUBLE_PLACES;
        while (t->places[slot] && t->places[slot] != place) slot = (slot + 1) % TROUBLE_PLACES;
        fails = t->places[slot] != place;
        if (fails && t->count < TROUBLE_PLACES / 2) {
            t->places[slot] = place;
            t->count++;
            t->armed = 0;
        }
    }
    pthread_mutex_unlock(&t->lock);
    return fails;
}

static inline void trouble_forget(trouble *t)
{
    memset(t->places, 0, sizeof t->places);
    t->count = 0;
    t->armed = 0;
}

#endif
