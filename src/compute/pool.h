/* Threads that share out numbered pieces of work. Which thread does which piece is open; results must not depend on
 * it. */
#ifndef BROAD_COMPUTE_POOL_H
#define BROAD_COMPUTE_POOL_H

#include <stddef.h>

typedef struct broad__pool broad__pool;

size_t broad__processors(void); /* that this process may run on */
/* Ranks may share these processors: from now on threads of this process that wait sleep at once. */
void broad__pool_crowd(void);

/* The caller's thread works too, so `threads` - 1 are started; if the system gives fewer, fewer work. 0: one a
 * processor. */
int broad__pool_open(broad__pool **out, size_t threads);
void broad__pool_close(broad__pool *pool); /* accepts NULL */
size_t broad__pool_threads(const broad__pool *pool);

/* Calls job(context, index, worker) for every index < count; returns when all are done. worker < broad__pool_threads(),
 * and 0 is the caller's thread. In a child made by fork() a pool of its parent does all work on the caller's thread.
 * Between pieces all threads look at the watch of the caller's (base/watch.h): once it is stopped, those that are left are
 * skipped. */
typedef void (*broad__job)(void *context, size_t index, size_t worker);
void broad__pool_run(broad__pool *pool, size_t count, broad__job job, void *context);
/* The same, where pieces that follow each other are best done by one thread: each begins with a stretch of its own, and
 * helps with those of others when that is done.
 * begin: the first piece of stretch i > 0 of `stretches`, which does not fall with i; NULL: all have as many pieces. */
typedef size_t (*broad__begin)(void *context, size_t i, size_t stretches);
void broad__pool_run_stretches(broad__pool *pool, size_t count, broad__job job, void *context, broad__begin begin);
/* The same as the first; the watch counts the pieces as its steps. BROAD_INTERRUPTED once it was asked to stop. */
int broad__pool_run_watched(broad__pool *pool, size_t count, broad__job job, void *context);

#endif
