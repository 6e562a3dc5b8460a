/*
 * What ranks do together, one operation at a time, against the same by plain loops; and with every single message lost: then the rank
 * whose message it was fails, the others fail or have got all that they needed, and none waits.
 */
#include "wired_ranks.h"

#include <pthread.h>

#include "base/status.h"
#include "comm/comm.h"
#include "compute/shards.h"
#include "failing.h"

enum { RANKS = 5, NUMBERS = 7, ROWS = 700, WIDTH = 2 };

typedef struct member {
    wires w;
    int broadcasts;
    size_t lose, messages; /* of this rank, the message from 1 on that is lost; 0: none */
    int (*job)(struct member *m);
    int status;
    char said[200];
    /* What the job has come to. */
    double numbers[NUMBERS + ROWS * WIDTH];
} member;

/* ---- ranks that are threads -------------------------------------------------------------------------------------- */

static int is_lost(member *m) { return ++m->messages == m->lose; }

static int member_send(void *context, size_t to, const void *bytes, size_t count)
{
    member *m = context;
    return is_lost(m) || wire_send(&m->w, to, bytes, count);
}

static int member_receive(void *context, size_t from, void *bytes, size_t count)
{
    member *m = context;
    return is_lost(m) || wire_receive(&m->w, from, bytes, count);
}

static int member_broadcast(void *context, size_t from, void *bytes, size_t count)
{
    member *m = context;
    return is_lost(m) || wire_broadcast(&m->w, from, bytes, count);
}

static void *live(void *context)
{
    member *m = context;
    broad_comm comm;
    broad_comm_init(&comm);
    comm.rank = m->w.rank, comm.ranks = m->w.ranks, comm.context = m;
    comm.send = member_send, comm.receive = member_receive;
    if (m->broadcasts) comm.broadcast = member_broadcast;
    const broad_comm *before = broad__comm_enter(&comm);
    m->status = broad__comm_whole(m->job(m));
    if (m->status < 0) {
        snprintf(m->said, sizeof m->said, "%s", broad_error_message());
        for (size_t r = 0; r < m->w.ranks; r++) /* as a process that fails must end the others */
            if (r != m->w.rank) shutdown(m->w.socket[m->w.rank][r], SHUT_RDWR);
    }
    broad__comm_leave(before);
    return NULL;
}

/* All ranks; of rank `loser` the message number `lose` gets lost. */
static member *run_members(size_t ranks, int broadcasts, int (*job)(member *m), size_t loser, size_t lose)
{
    member *all = calloc(ranks, sizeof *all);
    pthread_t threads[RANKS_MOST];
    open_wires(&all[0].w, ranks);
    for (size_t r = 0; r < ranks; r++) {
        all[r].w = all[0].w;
        all[r].w.rank = r, all[r].job = job, all[r].broadcasts = broadcasts;
        all[r].lose = r == loser ? lose : 0;
    }
    for (size_t r = 0; r < ranks; r++) assert_int_equal(pthread_create(&threads[r], NULL, live, &all[r]), 0);
    for (size_t r = 0; r < ranks; r++) pthread_join(threads[r], NULL);
    close_wires(&all[0].w);
    return all;
}

/* ---- the operations ---------------------------------------------------------------------------------------------- */

static double number_of(size_t rank, size_t i) { return (double)(rank + 1) * 0.5 + (double)(i * i); }

static int job_add(member *m)
{
    double scratch[NUMBERS];
    for (size_t i = 0; i < NUMBERS; i++) m->numbers[i] = number_of(m->w.rank, i);
    return broad__comm_add(m->numbers, scratch, NUMBERS);
}

static void check_add(const member *m)
{
    for (size_t i = 0; i < NUMBERS; i++) {
        double sum = 0;
        for (size_t r = 0; r < m->w.ranks; r++) sum += number_of(r, i); /* exact: halves of small numbers */
        assert_true(m->numbers[i] == sum);
    }
}

static int job_counts(member *m)
{
    size_t counts[3] = {m->w.rank, 10, (size_t)1 << 40};
    int status = broad__comm_add_counts(counts, 3);
    for (size_t i = 0; i < 3; i++) m->numbers[i] = (double)counts[i];
    return status;
}

static void check_counts(const member *m)
{
    size_t n = m->w.ranks;
    assert_true(m->numbers[0] == (double)(n * (n - 1) / 2) && m->numbers[1] == (double)(10 * n));
    assert_true(m->numbers[2] == (double)n * 0x1p40);
}

/* The number of the last rank but one, and of all the largest. */
static int job_least_and_most(member *m)
{
    size_t least = 100 - m->w.rank;
    int status = broad__comm_least(&least);
    m->numbers[0] = (double)least;
    m->numbers[1] = broad__comm_most((int)(7 * m->w.rank % 5));
    m->numbers[2] = broad__comm_agree(number_of(m->w.rank, 3));
    return status;
}

static void check_least_and_most(const member *m)
{
    int most = 0;
    for (size_t r = 0; r < m->w.ranks; r++) most = 7 * r % 5 > (size_t)most ? (int)(7 * r % 5) : most;
    assert_true(m->numbers[0] == (double)(101 - m->w.ranks) && m->numbers[1] == most);
    assert_true(m->numbers[2] == number_of(0, 3));
}

/* Each rank has its own rows; then all have all. */
static int job_share(member *m)
{
    size_t first, end;
    broad__comm_own_rows(&first, &end, ROWS);
    for (size_t i = first * WIDTH; i < end * WIDTH; i++) m->numbers[i] = (double)(i * 3);
    return broad__comm_share(m->numbers, ROWS, WIDTH * sizeof *m->numbers);
}

static void check_share(const member *m)
{
    for (size_t i = 0; i < ROWS * WIDTH; i++) assert_true(m->numbers[i] == (double)(i * 3));
}

static const size_t wanted[NUMBERS] = {699, 0, 350, 351, 12, 600, 1};

static int job_collect(member *m)
{
    size_t first, end;
    broad__comm_own_rows(&first, &end, ROWS);
    for (size_t i = 0; i < NUMBERS; i++)
        for (size_t j = 0; j < WIDTH && wanted[i] >= first && wanted[i] < end; j++)
            m->numbers[i * WIDTH + j] = (double)(10 * wanted[i] + j);
    return broad__comm_collect(m->numbers, wanted, NUMBERS, WIDTH, ROWS);
}

static void check_collect(const member *m)
{
    for (size_t i = 0; i < NUMBERS * WIDTH; i++)
        assert_true(m->numbers[i] == (double)(10 * wanted[i / WIDTH] + i % WIDTH));
}

/* A state that goes through all ranks in their order. */
typedef struct walk {
    double state;
    size_t rank;
} walk;

static void step_on(void *context)
{
    walk *w = context;
    w->state = 3 * w->state + (double)w->rank + 1;
}

static int job_pass(member *m)
{
    walk w = {.rank = m->w.rank};
    int status = broad__comm_pass(&w.state, sizeof w.state, step_on, &w);
    if (status == BROAD_OK) status = broad__comm_broadcast_last(&w.state, sizeof w.state);
    m->numbers[0] = w.state;
    return status;
}

static void check_pass(const member *m)
{
    double state = 0;
    for (size_t r = 0; r < m->w.ranks; r++) state = 3 * state + (double)r + 1;
    assert_true(m->numbers[0] == state);
}

/* Parts of sums, moved to whom they are added by, as in a tree. */
static int job_step(member *m)
{
    enum { PARTS = 8 };
    int status = BROAD_OK;
    for (size_t i = 0; i < PARTS; i++) m->numbers[i] = broad__comm_owner(i, PARTS) == m->w.rank ? (double)(1 << i) : 0;
    for (size_t step = 1; status == BROAD_OK && step < PARTS; step *= 2) {
        status = broad__comm_step(m->numbers, PARTS, 1, 1, step);
        for (size_t i = 0; i + step < PARTS; i += 2 * step)
            if (broad__comm_owner(i, PARTS) == m->w.rank) m->numbers[i] += m->numbers[i + step];
    }
    return status == BROAD_OK ? broad__comm_broadcast(broad__comm_owner(0, PARTS), m->numbers, sizeof(double)) : status;
}

static void check_step(const member *m) { assert_true(m->numbers[0] == 255); }

typedef struct operation {
    const char *name;
    int (*job)(member *m);
    void (*check)(const member *m);
} operation;

static const operation operations[] = {
    {"add", job_add, check_add},
    {"add counts", job_counts, check_counts},
    {"least, most, agree", job_least_and_most, check_least_and_most},
    {"share", job_share, check_share},
    {"collect", job_collect, check_collect},
    {"pass", job_pass, check_pass},
    {"step", job_step, check_step},
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static void operations_give_what_loops_give(void **state)
{
    (void)state;
    for (size_t o = 0; o < OPERATIONS; o++)
        for (size_t ranks = 1; ranks <= RANKS; ranks++)
            for (int broadcasts = 0; broadcasts < 2; broadcasts++) {
                member *all = run_members(ranks, broadcasts, operations[o].job, 0, 0);
                for (size_t r = 0; r < ranks; r++) {
                    if (all[r].status) fail_msg("%s: %s", operations[o].name, all[r].said);
                    operations[o].check(&all[r]);
                }
                free(all);
            }
}

static void every_lost_message_ends_the_operation(void **state)
{
    (void)state;
    size_t lost = 0;
    for (size_t o = 0; o < OPERATIONS; o++)
        for (size_t loser = 0; loser < 4; loser++)
            for (size_t lose = 1;; lose++) {
                member *all = run_members(4, lose % 2, operations[o].job, loser, lose);
                int reached = all[loser].messages >= lose;
                for (size_t r = 0; r < 4; r++) {
                    int status = all[r].status;
                    if (status == BROAD_OK && (r != loser || !reached)) operations[o].check(&all[r]);
                    else if (status != BROAD_IO || !strstr(all[r].said, "rank"))
                        fail_msg("%s, rank %zu, message %zu of rank %zu: %d %s", operations[o].name, r, lose, loser,
                                 status, all[r].said);
                }
                free(all);
                lost += (size_t)reached;
                if (!reached) break;
            }
    print_message("%zu messages\n", lost);
    assert_true(lost > 50);
}

/* ---- ranks that do not agree ------------------------------------------------------------------------------------- */

static size_t failing_ranks; /* bit by bit */

static int job_settle(member *m)
{
    int own = BROAD_OK;
    if (failing_ranks >> m->w.rank & 1)
        own = broad__fail(m->w.rank % 2 ? BROAD_BAD_DATA : BROAD_USAGE, "of rank %zu", m->w.rank);
    return broad__comm_settle(own);
}

/* All end with what the first that failed has to say, or all go on. */
static void all_ranks_say_the_same(void **state)
{
    (void)state;
    for (failing_ranks = 0; failing_ranks < 16; failing_ranks++) {
        size_t first = 0;
        while (first < 4 && !(failing_ranks >> first & 1)) first++;
        char expected[32] = "";
        if (first < 4) snprintf(expected, sizeof expected, "of rank %zu", first);
        member *all = run_members(4, failing_ranks % 2, job_settle, 0, 0);
        for (size_t r = 0; r < 4; r++) {
            assert_int_equal(all[r].status, first == 4 ? BROAD_OK : first % 2 ? BROAD_BAD_DATA : BROAD_USAGE);
            assert_string_equal(all[r].said, expected);
        }
        free(all);
    }
}

/* A reason that cannot be passed on stays with the one that has it; others say that a message is missing. */
static void a_reason_that_is_lost_is_kept_by_its_rank(void **state)
{
    (void)state;
    failing_ranks = 4;
    for (size_t loser = 0; loser < 4; loser++)
        for (size_t lose = 1, reached = 1; reached; lose++) {
            member *all = run_members(4, 0, job_settle, loser, lose);
            reached = all[loser].messages >= lose;
            assert_true(all[2].status == BROAD_USAGE || all[2].status == BROAD_IO);
            for (size_t r = 0; r < 4; r++) assert_true(all[r].status == BROAD_USAGE || all[r].status == BROAD_IO);
            free(all);
        }
}

/* ---- alone, and what is not there -------------------------------------------------------------------------------- */

static void without_ranks_nothing_is_done(void **state)
{
    (void)state;
    double numbers[2] = {1, 2};
    size_t counts[2] = {3, 4}, number = 9;
    assert_null(broad__comm_current());
    assert_ok(broad__comm_add(numbers, NULL, 2));
    assert_ok(broad__comm_add_counts(counts, 2));
    assert_ok(broad__comm_share(numbers, 2, sizeof *numbers));
    assert_ok(broad__comm_collect(numbers, counts, 2, 1, 2));
    assert_ok(broad__comm_broadcast(0, numbers, sizeof numbers));
    assert_ok(broad__comm_move(numbers, 2, 0, 1));
    assert_ok(broad__comm_least(&number));
    assert_true(numbers[0] == 1 && numbers[1] == 2 && counts[0] == 3 && counts[1] == 4 && number == 9);
    assert_int_equal(broad__comm_most(5), 5);
    assert_true(broad__comm_agree(0.5) == 0.5);
    assert_int_equal(broad__comm_settle(BROAD_USAGE), BROAD_USAGE);
    assert_int_equal(broad__comm_whole(BROAD_OK), BROAD_OK);
    assert_ok(broad__comm_check(NULL));
}

/* ---- who owns what ----------------------------------------------------------------------------------------------- */

static int job_own(member *m)
{
    size_t first, end, row, last, shards = broad__shard_count(ROWS);
    broad__comm_own_shards(&first, &end, shards);
    broad__comm_own_rows(&row, &last, ROWS);
    m->numbers[0] = (double)first, m->numbers[1] = (double)end;
    m->numbers[2] = (double)row, m->numbers[3] = (double)last;
    for (size_t i = 0; i < shards; i++)
        if ((broad__comm_owner(i, shards) == m->w.rank) != (i >= first && i < end))
            return broad__fail(BROAD_FAILED, "shard %zu", i);
    return broad__comm_divides(ROWS) == (m->w.ranks > 1) ? BROAD_OK : broad__fail(BROAD_FAILED, "divides");
}

/* Shards and rows follow each other from rank to rank, none is left out, and none has more than is said. */
static void shards_are_dealt_out(void **state)
{
    (void)state;
    size_t shards = broad__shard_count(ROWS), least = broad__comm_least_rows;
    broad__comm_least_rows = ROWS;
    assert_int_equal(broad__comm_divides(ROWS), 0);
    for (size_t ranks = 1; ranks <= RANKS; ranks++) {
        member *all = run_members(ranks, 0, job_own, 0, 0);
        double shard = 0, row = 0;
        for (size_t r = 0; r < ranks; r++) {
            if (all[r].status) fail_msg("rank %zu of %zu: %s", r, ranks, all[r].said);
            assert_true(all[r].numbers[0] == shard);
            assert_true(all[r].numbers[1] - shard <= (double)broad__comm_most_shards(shards, ranks));
            if (all[r].numbers[3] > 0) assert_true(all[r].numbers[2] == row), row = all[r].numbers[3];
            shard = all[r].numbers[1];
        }
        assert_true(shard == (double)shards && row == ROWS);
        free(all);
    }
    broad__comm_least_rows = least;
}

/* Messages that rank 0 receives while the parts of a sum are added up, counted as they come. */
static size_t counted_shards;

static int job_received(member *m)
{
    double parts[64] = {0};
    for (size_t step = 1; step < counted_shards; step *= 2) {
        int status = broad__comm_step(parts, counted_shards, 1, 1, step);
        if (status < 0) return status;
    }
    m->numbers[0] = (double)m->w.messages; /* sent */
    return BROAD_OK;
}

static void messages_are_as_many_as_planned(void **state)
{
    (void)state;
    for (counted_shards = 1; counted_shards <= 64; counted_shards += 9)
        for (size_t ranks = 1; ranks <= RANKS; ranks++) {
            member *all = run_members(ranks, 0, job_received, 0, 0);
            size_t sent = 0;
            for (size_t r = 0; r < ranks; r++) {
                assert_int_equal(all[r].status, BROAD_OK);
                sent += (size_t)all[r].numbers[0];
            }
            size_t received = all[0].messages - (size_t)all[0].numbers[0];
            assert_int_equal(broad__comm_received(counted_shards, ranks), received);
            assert_true(received <= sent);
            free(all);
        }
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* The rank that has none says so; the others, which wait for it, end. */
static void a_rank_without_memory_ends_the_others(void **state)
{
    (void)state;
    static int (*const jobs[])(member * m) = {job_collect, job_counts};
    for (size_t j = 0; j < 2; j++) {
        failing memory = {.fail_at = 2, .lock = PTHREAD_MUTEX_INITIALIZER};
        broad_set_allocator(&(broad_allocator){failing_allocate, failing_release, &memory});
        member *all = run_members(3, 0, jobs[j], 0, 0);
        broad_set_allocator(NULL);
        size_t without = 0;
        for (size_t r = 0; r < 3; r++) {
            assert_true(all[r].status == BROAD_NO_MEMORY || all[r].status == BROAD_IO);
            without += all[r].status == BROAD_NO_MEMORY;
        }
        assert_int_equal(without, 1);
        assert_int_equal(memory.live, 0);
        free(all);
    }
}

static void what_is_no_communicator_is_named(void **state)
{
    (void)state;
    broad_comm comm = {0};
    assert_fails(broad__comm_check(&comm), BROAD_USAGE, "broad_comm_init");
    broad_comm_init(&comm);
    assert_ok(broad__comm_check(&comm));
    comm.rank = comm.ranks = 2;
    assert_fails(broad__comm_check(&comm), BROAD_USAGE, "rank 2 of 2");
    comm.rank = 1, comm.send = member_send;
    assert_fails(broad__comm_check(&comm), BROAD_USAGE, "send and receive");
    comm.send = NULL, comm.receive = member_receive;
    assert_fails(broad__comm_check(&comm), BROAD_USAGE, "send and receive");
    comm.send = member_send;
    assert_ok(broad__comm_check(&comm));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_give_what_loops_give),  cmocka_unit_test(every_lost_message_ends_the_operation),
        cmocka_unit_test(all_ranks_say_the_same),           cmocka_unit_test(a_reason_that_is_lost_is_kept_by_its_rank),
        cmocka_unit_test(without_ranks_nothing_is_done),    cmocka_unit_test(shards_are_dealt_out),
        cmocka_unit_test(messages_are_as_many_as_planned),  cmocka_unit_test(a_rank_without_memory_ends_the_others),
        cmocka_unit_test(what_is_no_communicator_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
