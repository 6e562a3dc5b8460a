/* Ranks for tests: processes of this program that are connected by sockets. */
#ifndef BROAD_TEST_WIRED_RANKS_H
#define BROAD_TEST_WIRED_RANKS_H

#include "helper.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { RANKS_MOST = 40, RESULT = 160 };

typedef struct wires {
    size_t rank, ranks, messages;
    int socket[RANKS_MOST][RANKS_MOST]; /* [a][b]: that of a, to b */
} wires;

static inline int move_all(int socket, void *bytes, size_t count, int out)
{
    char *at = bytes;
    while (count) {
        ssize_t moved = out ? send(socket, at, count, MSG_NOSIGNAL) : recv(socket, at, count, 0);
        if (moved <= 0) return 1;
        at += moved;
        count -= (size_t)moved;
    }
    return 0;
}

static inline int wire_send(void *context, size_t to, const void *bytes, size_t count)
{
    wires *w = context;
    w->messages++;
    return move_all(w->socket[w->rank][to], (void *)bytes, count, 1);
}

static inline int wire_receive(void *context, size_t from, void *bytes, size_t count)
{
    wires *w = context;
    return move_all(w->socket[w->rank][from], bytes, count, 0);
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
    for (size_t r = 0; r < ranks; r++) {
        int ended = 0;
        waitpid(child[r], &ended, 0);
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
