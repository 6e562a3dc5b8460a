/* Ranks for tests: processes of this program that are connected by sockets. */
#ifndef BROAD_TEST_WIRED_RANKS_H
#define BROAD_TEST_WIRED_RANKS_H

#include "helper.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { RANKS_MOST = 40, RESULT = 160 };

/* What processes know of each other, in memory that they share, so that ranks which wait for each other for ever end. */
typedef struct traffic {
    atomic_size_t waits[RANKS_MOST]; /* for a message of this rank, counted from 1; 0: it does not */
    atomic_size_t sends[RANKS_MOST]; /* to this rank, counted from 1, which has no room; 0: it does not */
    atomic_int ended[RANKS_MOST];
    atomic_llong under_way[RANKS_MOST][RANKS_MOST]; /* [a][b]: bytes that a has sent and b has not received */
} traffic;

typedef struct wires {
    size_t rank, ranks, messages;
    traffic *shared;                    /* NULL: the ranks are threads */
    int socket[RANKS_MOST][RANKS_MOST]; /* [a][b]: that of a, to b */
} wires;

static inline int is_stuck(const traffic *shared, size_t rank)
{
    size_t from = shared->waits[rank], to = shared->sends[rank];
    if (shared->ended[rank]) return 1;
    return from ? shared->under_way[from - 1][rank] <= 0 : to && shared->waits[to - 1] != rank + 1;
}

/* All that have not ended wait for what no one has sent, or send what no one takes. */
static inline int all_stuck(const wires *w)
{
    size_t stuck = 0;
    while (stuck < w->ranks && is_stuck(w->shared, stuck)) stuck++;
    return stuck == w->ranks;
}

/* Until its socket is ready for this; 0: it never will be. */
static inline int wait_for(const wires *w, size_t other, short what)
{
    struct pollfd ready = {.fd = w->socket[w->rank][other], .events = what};
    int stuck = 0, there = 0;
    if (!w->shared) return 1;
    atomic_size_t *mark = what == POLLIN ? &w->shared->waits[w->rank] : &w->shared->sends[w->rank];
    *mark = other + 1;
    while (!stuck && (there = poll(&ready, 1, 200)) <= 0) stuck = all_stuck(w);
    if (!stuck) *mark = 0; /* the others see the same */
    return there > 0;
}

static inline int wire_send(void *context, size_t to, const void *bytes, size_t count)
{
    wires *w = context;
    const char *at = bytes;
    w->messages++;
    if (w->shared) w->shared->under_way[w->rank][to] += (long long)count;
    while (count) {
        int now = w->shared ? MSG_DONTWAIT : 0;
        ssize_t moved = wait_for(w, to, POLLOUT) ? send(w->socket[w->rank][to], at, count, MSG_NOSIGNAL | now) : 0;
        if (moved <= 0) return 1;
        at += moved;
        count -= (size_t)moved;
    }
    return 0;
}

static inline int wire_receive(void *context, size_t from, void *bytes, size_t count)
{
    wires *w = context;
    int socket = w->socket[w->rank][from];
    for (char *at = bytes; count;) {
        ssize_t moved = wait_for(w, from, POLLIN) ? recv(socket, at, count, 0) : 0;
        if (moved <= 0) return 1;
        at += moved;
        count -= (size_t)moved;
        if (w->shared) w->shared->under_way[from][w->rank] -= moved;
    }
    return 0;
}

/* From one to all the others, one after the other. */
static inline int wire_broadcast(void *context, size_t from, void *bytes, size_t count)
{
    wires *w = context;
    int failed = 0;
    if (w->rank != from) return wire_receive(w, from, bytes, count);
    for (size_t to = 0; !failed && to < w->ranks; to++)
        if (to != from) failed = wire_send(w, to, bytes, count);
    return failed;
}

typedef void (*rank_job)(char out[RESULT], const broad_comm *comm, const void *context);

static inline void open_wires(wires *w, size_t ranks)
{
    *w = (wires){.ranks = ranks};
    for (size_t a = 0; a < ranks; a++)
        for (size_t b = a + 1; b < ranks; b++) {
            int pair[2];
            assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
            w->socket[a][b] = pair[0];
            w->socket[b][a] = pair[1];
        }
}

static inline void close_wires(const wires *w)
{
    for (size_t a = 0; a < w->ranks; a++)
        for (size_t b = 0; b < w->ranks; b++)
            if (a != b) close(w->socket[a][b]);
}

/* Runs the job in so many processes; each must end well and come to `expected`. */
static inline void run_ranks(size_t ranks, int broadcasts, rank_job job, const void *context, const char *expected)
{
    static wires w;
    char(*results)[RESULT] = mmap(NULL, RANKS_MOST * RESULT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child[RANKS_MOST];
    open_wires(&w, ranks);
    w.shared = mmap(NULL, sizeof *w.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t r = 0; r < ranks; r++) {
        child[r] = fork();
        if (child[r]) continue;
        broad_comm comm;
        broad_comm_init(&comm);
        w.rank = r;
        comm.rank = r, comm.ranks = ranks, comm.context = &w, comm.send = wire_send, comm.receive = wire_receive;
        if (broadcasts) comm.broadcast = wire_broadcast;
        job(results[r], &comm, context);
        leave_process(0);
    }
    close_wires(&w);
    int how[RANKS_MOST] = {0};
    for (size_t i = 0; i < ranks; i++) {
        int ended = 0;
        pid_t process = waitpid(-1, &ended, 0);
        for (size_t r = 0; r < ranks; r++)
            if (child[r] == process) how[r] = ended, w.shared->ended[r] = 1;
    }
    munmap(w.shared, sizeof *w.shared);
    for (size_t r = 0; r < ranks; r++) {
        int ended = how[r];
        if (!WIFEXITED(ended) || WEXITSTATUS(ended)) fail_msg("rank %zu of %zu ended with %d", r, ranks, ended);
        if (strcmp(results[r], expected)) fail_msg("rank %zu of %zu: %s, not %s", r, ranks, results[r], expected);
    }
    munmap(results, RANKS_MOST * RESULT);
}

/* Of a rank: cmocka belongs to the parent. */
static inline void must(int status)
{
    if (status >= 0) return;
    fprintf(stderr, "a rank has failed: %s\n", broad_error_message());
    leave_process(1);
}

#endif
