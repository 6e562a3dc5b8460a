/* An allocator that fails once, and counts what is not released. Any thread. */
#ifndef BROAD_TESTS_FAILING_H
#define BROAD_TESTS_FAILING_H

#include <pthread.h>
#include <stdlib.h>

typedef struct failing {
    size_t calls, fail_at, live; /* fail_at: number of the call that fails, from 1; 0: none */
    pthread_mutex_t lock;        /* PTHREAD_MUTEX_INITIALIZER */
} failing;

static inline void *failing_allocate(size_t bytes, void *context)
{
    failing *self = context;
    pthread_mutex_lock(&self->lock);
    int fails = ++self->calls == self->fail_at;
    self->live += !fails;
    pthread_mutex_unlock(&self->lock);
    return fails ? NULL : malloc(bytes);
}

static inline void failing_release(void *block, void *context)
{
    failing *self = context;
    pthread_mutex_lock(&self->lock);
    self->live--;
    pthread_mutex_unlock(&self->lock);
    free(block);
}

#endif
