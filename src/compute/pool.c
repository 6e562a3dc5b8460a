#include "compute/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/profile.h"
#include "base/status.h"
#include "base/watch.h"

/* LOOKS: how often a thread looks for what it waits for between two looks at the clock. */
enum { THREADS_MAX = 256, PIECE_WORK = 1000000000, LOOKS = 64 };

/* Seconds that a thread looks for work, or for the end of it, before it sleeps. Most waits are like the one before: where that
 * was short, as between the passes of a chain, waking up would take a large part of it. */
static const double BRIEFLY = 1e-5, PATIENTLY = 2.5e-4;

/* Threads of all pools that have helpers: where there are more than processors, one that looks keeps another from working. */
static atomic_size_t working;
/* Other processes work on these processors, too: looking would keep them from it. */
static atomic_int crowded;

void broad__pool_crowd(void) { atomic_store(&crowded, 1); }

/* Pieces that are taken one after the other; by several threads, so it has a cache line of its own. */
typedef struct stretch {
    _Alignas(64) atomic_size_t next;
    size_t end;
} stretch;

struct broad__pool {
    pthread_mutex_t lock;
    pthread_cond_t start, finish;
    pid_t process;  /* that the helpers live in: a child made by fork() has none */
    size_t helpers; /* threads besides the caller */
    pthread_t *threads;
    struct worker *workers;
    size_t processors;
    int looks;       /* threads look before they sleep: there are as many processors */
    double patience; /* of the thread that gives work, for its end */
    /* The work in progress; generation tells a helper that it is new. Changed while the lock is held. */
    atomic_uint generation;
    int closing;
    atomic_size_t busy;
    broad__job job;
    void *context;
    broad__profile_scope scope; /* of the thread that gave it */
    broad__watch *watch;
    int counted; /* pieces are the steps of what the watch reports */
    size_t count;
    size_t stretch_count;
    stretch *stretches; /* one per thread */
};

typedef struct worker {
    broad__pool *pool;
    size_t number;
} worker;

/* Whether the rest is to be skipped. A piece is enough work to read the clock after it. */
static int is_over(size_t index, size_t count, int counted)
{
    return counted ? broad__watch_poll(index, count) < 0 : broad__watch_look(PIECE_WORK);
}

/* The next piece of a thread's own stretch, then of those of others. */
static int take(size_t *out, broad__pool *pool, size_t number)
{
    for (size_t i = 0; i < pool->stretch_count; i++) {
        stretch *s = &pool->stretches[(number + i) % pool->stretch_count];
        if (atomic_load_explicit(&s->next, memory_order_relaxed) >= s->end) continue;
        *out = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
        if (*out < s->end) return 1;
    }
    return 0;
}

static void share_out(broad__pool *pool, size_t count, size_t stretches, broad__begin begin)
{
    pool->count = count;
    pool->stretch_count = stretches;
    for (size_t i = 0; i < stretches; i++) {
        size_t first = begin && i ? begin(pool->context, i, stretches) : count * i / stretches;
        atomic_store(&pool->stretches[i].next, first);
        if (i) pool->stretches[i - 1].end = first;
    }
    pool->stretches[stretches - 1].end = count;
}

static void work(broad__pool *pool, size_t number)
{
    for (size_t index; take(&index, pool, number);) {
        if (is_over(index, pool->count, pool->counted && number == 0)) return;
        pool->job(pool->context, index, number);
    }
}

static void look_away(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* One wait: when it began, and the processor's seconds that looking took. */
typedef struct wait {
    double began, looked;
} wait;

static int work_is_there(broad__pool *pool, unsigned seen) { return atomic_load(&pool->generation) != seen; }

static int work_is_done(broad__pool *pool, unsigned unused)
{
    (void)unused;
    return atomic_load(&pool->busy) == 0;
}

static wait look(broad__pool *pool, int (*found)(broad__pool *, unsigned), unsigned seen, double patience)
{
    wait w = {broad__seconds(), 0};
    if (!pool->looks || atomic_load(&crowded) || found(pool, seen)) return w;
    double before = broad__thread_seconds();
    do {
        for (int i = 0; i < LOOKS && !found(pool, seen); i++) look_away();
    } while (!found(pool, seen) && broad__seconds() - w.began < patience);
    w.looked = broad__thread_seconds() - before;
    return w;
}

/* After the wait, for the next one. */
static double patience_after(const broad__pool *pool, wait w)
{
    int alone = atomic_load(&working) <= pool->processors;
    return alone && broad__seconds() - w.began < PATIENTLY ? PATIENTLY : BRIEFLY;
}

static void *helper_main(void *argument)
{
    worker *self = argument;
    broad__pool *pool = self->pool;
    unsigned seen = 0;
    for (double patience = BRIEFLY;;) {
        wait waited = look(pool, work_is_there, seen, patience);
        pthread_mutex_lock(&pool->lock);
        while (pool->generation == seen && !pool->closing) pthread_cond_wait(&pool->start, &pool->lock);
        if (pool->closing) break;
        seen = pool->generation;
        patience = patience_after(pool, waited);
        broad__profile_help(pool->scope);
        broad__profile_looked(waited.looked);
        broad__watch_join(pool->watch);
        pthread_mutex_unlock(&pool->lock);
        work(pool, self->number);
        broad__profile_helped();
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0) pthread_cond_signal(&pool->finish);
        pthread_mutex_unlock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

size_t broad__processors(void)
{
    cpu_set_t allowed;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return (size_t)CPU_COUNT(&allowed);
    return online > 0 ? (size_t)online : 1; /* more of them than the set has room for */
}

int broad__pool_open(broad__pool **out, size_t threads)
{
    *out = NULL;
    if (threads == 0) threads = broad__processors();
    if (threads > THREADS_MAX) threads = THREADS_MAX;
    broad__pool *pool = broad__alloc(sizeof *pool);
    if (!pool) return BROAD_NO_MEMORY;
    pool->process = getpid();
    pool->processors = broad__processors();
    pool->looks = threads <= pool->processors;
    pool->patience = BRIEFLY;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->start, NULL);
    pthread_cond_init(&pool->finish, NULL);
    pool->threads = broad__alloc_array(threads, sizeof *pool->threads);
    pool->workers = broad__alloc_array(threads, sizeof *pool->workers);
    pool->stretches = broad__alloc_array(threads, sizeof *pool->stretches);
    if (!pool->threads || !pool->workers || !pool->stretches) {
        broad__pool_close(pool);
        return BROAD_NO_MEMORY;
    }
    while (pool->helpers + 1 < threads) {
        worker *self = &pool->workers[pool->helpers];
        self->pool = pool;
        self->number = pool->helpers + 1;
        if (pthread_create(&pool->threads[pool->helpers], NULL, helper_main, self) != 0) break;
        pool->helpers++;
    }
    if (pool->helpers) atomic_fetch_add(&working, pool->helpers + 1);
    *out = pool;
    return BROAD_OK;
}

/* In a child the lock may be one that a helper held, and helpers are waited for in vain. */
static int is_inherited(const broad__pool *pool) { return pool->process != getpid(); }

static void dismiss_helpers(broad__pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->closing = 1;
    pool->generation++;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->helpers; i++) pthread_join(pool->threads[i], NULL);
    if (pool->helpers) atomic_fetch_sub(&working, pool->helpers + 1);
    pthread_cond_destroy(&pool->start);
    pthread_cond_destroy(&pool->finish);
    pthread_mutex_destroy(&pool->lock);
}

void broad__pool_close(broad__pool *pool)
{
    if (!pool) return;
    if (!is_inherited(pool)) dismiss_helpers(pool);
    broad__free(pool->threads);
    broad__free(pool->workers);
    broad__free(pool->stretches);
    broad__free(pool);
}

size_t broad__pool_threads(const broad__pool *pool) { return pool->helpers + 1; }

static void run_alone(size_t count, broad__job job, void *context, int counted)
{
    for (size_t i = 0; i < count && !is_over(i, count, counted); i++) job(context, i, 0);
}

static void wait_for_helpers(broad__pool *pool)
{
    wait waited = look(pool, work_is_done, 0, pool->patience);
    pthread_mutex_lock(&pool->lock);
    while (pool->busy > 0) pthread_cond_wait(&pool->finish, &pool->lock);
    pool->patience = patience_after(pool, waited);
    pthread_mutex_unlock(&pool->lock);
    broad__profile_looked(waited.looked);
}

static void run(broad__pool *pool, size_t count, broad__job job, void *context, size_t stretches, broad__begin begin,
                int counted)
{
    if (pool->helpers == 0 || count < 2 || is_inherited(pool)) {
        run_alone(count, job, context, counted);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->job = job;
    pool->context = context;
    pool->scope = broad__profile_here();
    pool->watch = broad__watch_here();
    pool->counted = counted;
    share_out(pool, count, stretches, begin);
    pool->busy = pool->helpers;
    pool->generation++;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
    work(pool, 0);
    wait_for_helpers(pool);
}

void broad__pool_run(broad__pool *pool, size_t count, broad__job job, void *context)
{
    run(pool, count, job, context, 1, NULL, 0);
}

void broad__pool_run_stretches(broad__pool *pool, size_t count, broad__job job, void *context, broad__begin begin)
{
    run(pool, count, job, context, broad__pool_threads(pool), begin, 0);
}

int broad__pool_run_watched(broad__pool *pool, size_t count, broad__job job, void *context)
{
    run(pool, count, job, context, 1, NULL, 1);
    return broad__watch_poll(count, count);
}
