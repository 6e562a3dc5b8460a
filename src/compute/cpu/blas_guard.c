/*
 * The traps of OpenBLAS, as measured with 0.3.21, and what is done about each:
 *
 *  - It splits a product over threads of its own, while ours own the rows: one thread while somebody holds the device, the
 *    old number afterwards. Its OpenMP build keeps that number for each thread, so every thread that enters is told.
 *  - A caller needs a work buffer of 128 MiB of address space, kept for the next one. Where that is not to be had it asks for
 *    ever, under a lock: whether it could be had is tried before a caller is let in that would need another; if not, the
 *    caller waits for one of those in use. The first is made before training takes its memory.
 *  - There is room for a fixed number of buffers, and too many callers crash it: CALLERS_MAX.
 *  - A fork while a call is under way leaves a child whose locks nobody opens. A fork waits for the calls under way, and
 *    further ones wait for it.
 *  - Kernels for a processor that it does not know, or takes for another, can be wrong without a word: self-test.
 */
#include "compute/cpu/blas_guard.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

#include "base/status.h"
#include "compute/device.h"

enum { CALLERS_MAX = 24 };
static const size_t buffer_bytes = (size_t)136 << 20; /* a buffer, and some space around */

/* Present in OpenBLAS only. */
extern void openblas_set_num_threads(int count) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));
extern int openblas_get_parallel(void) __attribute__((weak));

enum { PARALLEL_OPENMP = 2 };

/* One BLAS in a process, so this is the process's state too. test_lock is taken before lock. */
static pthread_mutex_t test_lock = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static size_t holders, callers, buffers;
static int threads_before, forking, tested;
static _Thread_local int told; /* OpenMP: this thread's number is one */

/* ---- fork ------------------------------------------------------------------------------------------------------ */

static void before_fork(void)
{
    pthread_mutex_lock(&test_lock);
    pthread_mutex_lock(&lock);
    forking = 1;
    while (callers > 0) pthread_cond_wait(&changed, &lock);
}

static void after_fork(void)
{
    forking = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&test_lock);
}

/* Threads that waited are not there any more, nor are those that held the device: it stays held for them, on one thread. */
static void after_fork_in_child(void)
{
    forking = 0;
    pthread_cond_init(&changed, NULL);
    pthread_mutex_init(&lock, NULL);
    pthread_mutex_init(&test_lock, NULL);
}

/* ---- callers --------------------------------------------------------------------------------------------------- */

static int buffer_could_be_had(void)
{
    void *space = mmap(NULL, buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (space == MAP_FAILED) return 0;
    munmap(space, buffer_bytes);
    return 1;
}

/* With `lock` held. Nobody waits where there is nobody to wait for. */
static int may_enter(void)
{
    if (forking || callers >= CALLERS_MAX) return 0;
    if (callers == 0 || callers < buffers || !openblas_set_num_threads) return 1;
    return buffer_could_be_had();
}

void broad__blas_enter(void)
{
    pthread_mutex_lock(&lock);
    while (!may_enter()) pthread_cond_wait(&changed, &lock);
    callers++;
    if (buffers < callers) buffers = callers;
    if (!told && openblas_get_parallel && openblas_get_parallel() == PARALLEL_OPENMP) {
        openblas_set_num_threads(1);
        told = 1;
    }
    pthread_mutex_unlock(&lock);
}

void broad__blas_leave(void)
{
    pthread_mutex_lock(&lock);
    callers--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* ---- holders --------------------------------------------------------------------------------------------------- */

static void hold_threads(void)
{
    pthread_mutex_lock(&lock);
    if (holders++ == 0 && openblas_get_num_threads && openblas_set_num_threads) {
        threads_before = openblas_get_num_threads();
        if (threads_before != 1) openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&lock);
}

void broad__blas_release(void)
{
    pthread_mutex_lock(&lock);
    if (--holders == 0 && openblas_set_num_threads && threads_before > 1) {
        openblas_set_num_threads(threads_before);
        told = 0;
    }
    pthread_mutex_unlock(&lock);
}

/* With test_lock held: nobody else is inside before the first buffer is there. */
static int first_use(void)
{
    if (openblas_set_num_threads && !buffer_could_be_had())
        return broad__fail(
            BROAD_NO_MEMORY,
            "out of memory: OpenBLAS needs %zu MiB of address space for its work buffer; raise the limit "
            "(ulimit -v), or end other work",
            buffer_bytes >> 20);
    unsigned count;
    int status = broad__blas_self_test(&count, 0);
    if (status < 0) return status;
    if (pthread_atfork(before_fork, after_fork, after_fork_in_child) != 0) return broad__fail_memory(sizeof(void *));
    tested = 1;
    return BROAD_OK;
}

int broad__blas_hold(void)
{
    hold_threads();
    pthread_mutex_lock(&test_lock);
    int status = tested ? BROAD_OK : first_use();
    pthread_mutex_unlock(&test_lock);
    if (status < 0) broad__blas_release();
    return status;
}
