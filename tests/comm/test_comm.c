/* Ranks: processes that are connected by sockets come to the sums, and to the models, of one process alone. */
#include "plain.h"
#include "trouble.h"
#include "wired_ranks.h"

#include "base/memory.h"
#include "base/watch.h"
#include "comm/comm.h"
#include "compute/shards.h"
#include "layer/joint_sums.h"
#include "layer/shard_sums.h"
#include "layer/wide_sums.h"

/* ---- sums ---------------------------------------------------------------------------------------------------------- */

typedef struct sums_case {
    size_t rows, doubles;
    int stop_rank; /* this rank is asked to stop; -1: none */
    int wide;      /* one shard after the other */
} sums_case;

/* Numbers whose sum depends on the order of the additions. */
static void add_rows(void *context, size_t first, size_t end, double *sums, size_t worker)
{
    const sums_case *c = context;
    (void)worker;
    for (size_t i = first; i < end; i++)
        for (size_t k = 0; k < c->doubles; k++)
            sums[k] += (double)((i * 7919 + k * 31) % 1009) / (double)(1 + (i + k) % 97);
}

static void add_wide_rows(void *context, size_t first, size_t end, double *sums)
{
    add_rows(context, first, end, sums, 0);
}

static void sum_rows(char out[RESULT], const sums_case *c, size_t threads, const broad_comm *comm)
{
    broad__residual residual = {.rows = c->rows, .outputs = 1, .at = broad__device_reference()};
    broad__watch watch = {.agree = comm ? broad__comm_most : NULL};
    double *sums = NULL;
    must(broad__pool_open(&residual.pool, threads));
    const broad_comm *before = broad__comm_enter(comm);
    broad__watch *watched = broad__watch_enter(&watch);
    residual.divided = broad__comm_divides(c->rows);
    if (comm && (int)comm->rank == c->stop_rank) watch.asked = BROAD__WATCH_ASKED;
    double *wide = NULL;
    int status = c->wide ? broad__wide_sums(&wide, &residual, c->doubles, add_wide_rows, (void *)c)
                         : broad__shard_sums(&sums, &residual, c->doubles, add_rows, (void *)c);
    if (c->wide) sums = wide;
    if (status == BROAD_INTERRUPTED) snprintf(out, RESULT, "stopped");
    else must(status);
    if (status == BROAD_OK) broad__hash_text(out, sums, c->doubles * sizeof *sums);
    broad__watch_leave(watched);
    broad__comm_leave(before);
    broad__free(residual.shard_sums);
    broad__free(wide);
    broad__pool_close(residual.pool);
}

static void sum_job(char out[RESULT], const broad_comm *comm, const void *context)
{
    sum_rows(out, context, comm->rank % 2 + 1, comm);
}

static void sums_have_the_bits_of_one_process(void **state)
{
    (void)state;
    const sums_case cases[] = {{600, 3, -1, 0},      {5000, 1, -1, 0}, {1400, 9000, -1, 0}, {9000, 2, -1, 0},
                               {1400, 70000, -1, 1}, {5000, 3, -1, 1}, {9000, 2, -1, 1}};
    const size_t ranks[] = {2, 3, 4, 5, 8, 13, RANKS_MOST};
    broad__comm_least_rows = 512;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++) {
            char alone[RESULT], other[RESULT];
            sums_case turned = cases[c]; /* the two ways have the same tree */
            turned.wide = !turned.wide;
            sum_rows(alone, &cases[c], 1, NULL);
            sum_rows(other, &turned, 1, NULL);
            assert_string_equal(alone, other);
            run_ranks(ranks[r], r % 2, sum_job, &cases[c], alone);
        }
}

static void one_rank_that_is_asked_stops_all(void **state)
{
    (void)state;
    broad__comm_least_rows = 512;
    for (int rank = 0; rank < 3; rank++)
        for (int wide = 0; wide < 2; wide++) run_ranks(3, 0, sum_job, &(sums_case){5000, 4, rank, wide}, "stopped");
}

/* Who owns what: every shard one rank, in order; nothing is owned twice. */
static void rows_are_dealt_out_in_runs(void **state)
{
    (void)state;
    broad_comm comm;
    broad_comm_init(&comm);
    for (size_t ranks = 2; ranks <= RANKS_MOST; ranks++)
        for (size_t rows = 1; rows < 20000; rows += 1777) {
            size_t at = 0, shards = broad__shard_count(rows), owned = 0;
            comm.ranks = ranks;
            for (comm.rank = 0; comm.rank < ranks; comm.rank++) {
                size_t first, end, first_row, end_row;
                const broad_comm *before = broad__comm_enter(&comm);
                broad__comm_own_shards(&first, &end, shards);
                broad__comm_own_rows(&first_row, &end_row, rows);
                for (size_t s = first; s < end; s++) assert_int_equal(broad__comm_owner(s, shards), comm.rank);
                owned += end - first;
                if (first_row < end_row) assert_int_equal(first_row, at);
                if (first_row < end_row) at = end_row;
                broad__comm_leave(before);
            }
            assert_int_equal(owned, shards);
            assert_int_equal(at, rows);
        }
}

/* ---- networks ------------------------------------------------------------------------------------------------------ */

enum { ROWS = 1400, MORE = 700, INPUTS = 6 };

typedef struct network_case {
    const char *name, *words[16]; /* options and their values */
    size_t learn, features;       /* layers after further rows; groups with a layer each */
    int slow;                     /* two of the others together */
} network_case;

static const network_case NETWORKS[] = {
    {"bscrls", {"preset", "paper", "features", "3x8", "enhance", "30x4"}, 0, 0, 0},
    {"brls, learns and grows", {"preset", "paper", "kind", "brls", "features", "3x8", "enhance", "30x3"}, 2, 2, 0},
    {"gcv, learns and grows",
     {"preset", "paper", "supervise", "gcv", "features", "3x8", "enhance", "30x4", "lambda", "auto"},
     2,
     1,
     0},
    {"loo", {"preset", "paper", "supervise", "loo", "features", "3x8", "enhance", "30x3", "lambda", "auto"}, 0, 1, 0},
    {"wide layers", {"preset", "paper", "features", "2x8", "enhance", "520x2"}, 1, 0, 0},
    {"wide layers, gcv", {"preset", "paper", "supervise", "gcv", "features", "2x8", "enhance", "520x2"}, 0, 0, 1},
    {"wide joint", {"preset", "paper", "weights", "joint", "features", "3x40", "enhance", "150x3"}, 1, 1, 0},
    {"wide bls", {"preset", "paper", "kind", "bls", "features", "4x30", "enhance", "240x1", "lambda", "auto"}, 1, 1, 1},
    {"more columns than rows", {"preset", "paper", "kind", "bls", "features", "4x10", "enhance", "1500x1"}, 1, 0, 0},
    {"joint beside", {"preset", "paper", "weights", "joint", "features", "3x8", "enhance", "30x3"}, 1, 1, 0},
    {"bls", {"preset", "paper", "kind", "bls", "features", "4x10", "enhance", "60x1"}, 1, 1, 0},
    {"rvfl", {"preset", "paper", "kind", "rvfl", "enhance", "80x1"}, 0, 0, 0},
    {"scn chain", {"preset", "paper", "kind", "scn", "weights", "chain", "enhance", "5x6"}, 0, 0, 0},
    {"scn window", {"preset", "paper", "kind", "scn", "weights", "window", "window", "12", "enhance", "5x6"}, 1, 0, 0},
    {"scn joint", {"preset", "paper", "kind", "scn", "enhance", "5x4"}, 0, 0, 0},
    {"auto", {"preset", "auto", "features", "2x20", "enhance", "20x1"}, 1, 0, 0},
};

static broad_data *table(size_t first, size_t rows)
{
    double *x = malloc(rows * INPUTS * sizeof *x);
    int64_t *classes = malloc(rows * sizeof *classes);
    for (size_t i = 0; i < rows; i++) {
        double sum = 0;
        for (size_t j = 0; j < INPUTS; j++) {
            x[i * INPUTS + j] = sin((double)((first + i) * (j + 3)) * 1.618 + (double)j);
            sum += x[i * INPUTS + j] * (double)(j + 1);
        }
        classes[i] = sum < -2 ? 0 : sum < 2 ? 1 : 2;
    }
    broad_arrays arrays;
    broad_data *data = NULL;
    broad_arrays_init(&arrays);
    arrays.rows = rows, arrays.inputs = INPUTS, arrays.x = x;
    arrays.classes = classes;
    must(broad_data_from_arrays(&data, &arrays));
    free(x);
    free(classes);
    return data;
}

/* What verify says of all rows that the model was trained on. */
static void verify(char out[RESULT], const broad_model *model, size_t rows, const broad_comm *comm)
{
    broad_run_options run;
    broad_verdict verdict = {.size = sizeof verdict};
    broad_data *data = table(0, rows);
    broad_run_options_init(&run);
    run.threads = comm ? comm->rank % 2 + 1 : 1, run.comm = comm;
    must(broad_verify(&verdict, model, data, &run));
    snprintf(out, RESULT, "%d %zu %.6g %.20s", verdict.holds, verdict.layers, verdict.reached, verdict.reason);
    broad_data_free(data);
}

static void train(char out[RESULT], const network_case *c, size_t threads, const broad_comm *comm)
{
    broad_options o;
    broad_trainer *trainer = NULL;
    broad_model *model = NULL;
    broad_metrics metrics;
    broad_data *data = table(0, ROWS), *more = table(ROWS, MORE);
    broad_options_init(&o);
    for (size_t i = 0; c->words[i]; i += 2) must(broad_options_set(&o, c->words[i], c->words[i + 1]));
    o.threads = threads;
    o.comm = comm;
    must(broad_trainer_open(&trainer, data, &o));
    must(broad_trainer_enhance(trainer, o.enhance_nodes, o.enhance_layers));
    broad_metrics_init(&metrics);
    must(broad_trainer_measure(&metrics, trainer, data));
    if (c->features) must(broad_trainer_features(trainer, c->features, 4, 20));
    if (c->learn) must(broad_trainer_learn(trainer, more, 20, c->learn, BROAD_LEARN_ALL_ROWS));
    broad_trainer_close(&model, trainer);
    void *bytes = NULL;
    size_t count = 0;
    must(broad_model_to_memory(&bytes, &count, model, BROAD_FILE_FULL));
    char hash[BROAD__HASH_TEXT], verdict[RESULT] = {0};
    broad__hash_text(hash, bytes, count);
    verify(verdict, model, ROWS + (c->learn ? MORE : 0), comm);
    snprintf(out, RESULT, "%s %.9g %.80s", hash, metrics.accuracy, verdict);
    broad_free(bytes);
    broad_metrics_clear(&metrics);
    broad_model_free(model);
    broad_data_free(data);
    broad_data_free(more);
}

static void train_job(char out[RESULT], const broad_comm *comm, const void *context)
{
    train(out, context, comm->rank % 2 + 1, comm);
}

static void networks_have_the_bytes_of_one_process(void **state)
{
    (void)state;
    broad__comm_least_rows = broad__wide_least_rows = 512;
    broad__joint_band = 1 << 15;
    for (size_t c = 0; c < sizeof NETWORKS / sizeof *NETWORKS; c++) {
        char alone[RESULT];
        if (HELPER_SANITIZED && NETWORKS[c].slow) continue;
        train(alone, &NETWORKS[c], 2, NULL);
        print_message("%s: %s\n", NETWORKS[c].name, alone);
        run_ranks(c % 2 ? 3 : 2, c % 3 == 0, train_job, &NETWORKS[c], alone);
    }
}

/* ---- messages that are lost ------------------------------------------------------------------------------------------ */

static trouble losses = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int lossy_send(void *context, size_t to, const void *bytes, size_t count)
{
    return trouble_here(&losses) || wire_send(context, to, bytes, count);
}

static int lossy_receive(void *context, size_t from, void *bytes, size_t count)
{
    return trouble_here(&losses) || wire_receive(context, from, bytes, count);
}

enum { FEW_ROWS = 1030, FEW_MORE = 515 };

/* One of two ranks, a thread of this process. */
typedef struct lossy {
    wires w;
    const char *const *words;
    const broad_data *data, *more;
    int status;
} lossy;

static int judge(const broad_model *model, const broad_data *data, const broad_comm *comm)
{
    broad_run_options run;
    broad_run_options_init(&run);
    run.threads = 1, run.comm = comm;
    broad_metrics metrics = {.size = sizeof metrics};
    broad_verdict verdict = {.size = sizeof verdict};
    broad_curve_point points[8] = {{.size = sizeof *points}};
    double *scores = malloc(FEW_ROWS * 3 * sizeof *scores);
    int status = broad_predict_data(scores, model, data, &run);
    if (status == BROAD_OK) status = broad_eval(&metrics, model, data, &run);
    broad_metrics_clear(&metrics);
    if (status == BROAD_OK) status = broad_model_curve(points, model, data, &run);
    if (status == BROAD_OK) status = broad_verify(&verdict, model, data, &run);
    free(scores);
    return status;
}

static int train_and_judge(const lossy *l, const broad_comm *comm)
{
    broad_trainer *trainer = NULL;
    broad_model *model = NULL;
    broad_options o;
    broad_options_init(&o);
    for (size_t i = 0; l->words[i]; i += 2) must(broad_options_set(&o, l->words[i], l->words[i + 1]));
    o.threads = 1, o.comm = comm;
    int status = broad_trainer_open(&trainer, l->data, &o);
    if (status == BROAD_OK) status = broad_trainer_enhance(trainer, o.enhance_nodes, o.enhance_layers);
    if (status == BROAD_OK) status = broad_trainer_learn(trainer, l->more, 4, 1, BROAD_LEARN_ALL_ROWS);
    broad_trainer_close(&model, trainer);
    if (status == BROAD_OK) status = judge(model, l->data, comm);
    broad_model_free(model);
    return status;
}

static void *lossy_rank(void *context)
{
    lossy *l = context;
    broad_comm comm;
    broad_comm_init(&comm);
    comm.rank = l->w.rank, comm.ranks = 2, comm.context = &l->w, comm.send = lossy_send, comm.receive = lossy_receive;
    l->status = train_and_judge(l, &comm);
    /* As a process that fails must end the others. */
    if (l->status < 0) shutdown(l->w.socket[l->w.rank][1 - l->w.rank], SHUT_RDWR);
    return NULL;
}

/* Each message is lost once, at every place that sends or receives one: the call ends with BROAD_IO. */
static void lost_messages_end_the_call(void **state)
{
    (void)state;
    static const char *const networks[][12] = {
        {"preset", "paper", "features", "2x3", "enhance", "4x2"},
        {"preset", "paper", "supervise", "gcv", "range", "1", "features", "2x3", "enhance", "4x2"},
        {"preset", "paper", "weights", "joint", "range", "1", "features", "2x3", "enhance", "4x2"},
        {"preset", "paper", "kind", "bls", "range", "1", "features", "2x3", "enhance", "280x1"},
    };
    broad_data *data = table(0, FEW_ROWS), *more = table(FEW_ROWS, FEW_MORE);
    broad__comm_least_rows = broad__wide_least_rows = 512;
    for (size_t n = 0; n < sizeof networks / sizeof *networks; n += HELPER_SANITIZED ? 2 : 1) {
        trouble_forget(&losses);
        for (size_t seen = (size_t)-1; seen != losses.count;) {
            static lossy ranks[2];
            pthread_t other;
            open_wires(&ranks[0].w, 2);
            for (size_t r = 0; r < 2; r++) {
                ranks[r].w = ranks[0].w;
                ranks[r].w.rank = r, ranks[r].words = networks[n], ranks[r].data = data, ranks[r].more = more;
            }
            seen = losses.count;
            losses.armed = 1;
            assert_int_equal(pthread_create(&other, NULL, lossy_rank, &ranks[1]), 0);
            lossy_rank(&ranks[0]);
            pthread_join(other, NULL);
            close_wires(&ranks[0].w);
            int a = ranks[0].status, b = ranks[1].status, lost = losses.count != seen;
            /* The other may have got all that it needed. */
            if (lost && !(a == BROAD_IO && b == BROAD_IO) && !(a == BROAD_IO && b == BROAD_OK) &&
                !(a == BROAD_OK && b == BROAD_IO))
                fail_msg("place %zu: %s and %s", losses.count, broad_status_name(a), broad_status_name(b));
            if (!lost && (a != BROAD_OK || b != BROAD_OK))
                fail_msg("%s and %s", broad_status_name(a), broad_status_name(b));
        }
        print_message("%zu places\n", losses.count);
        assert_true(losses.count > 8);
    }
    broad_data_free(data);
    broad_data_free(more);
}

/* ---- what is not a communicator ------------------------------------------------------------------------------------- */

static void faults_are_named(void **state)
{
    (void)state;
    broad_comm comm = {0};
    broad_options o = OPTIONS("preset", "paper");
    broad_model *model = NULL;
    broad_data *data = table(0, 100);
    o.comm = &comm;
    assert_fails(broad_fit(&model, NULL, data, &o), BROAD_USAGE, "broad_comm_init");
    broad_comm_init(&comm);
    comm.rank = 1;
    assert_fails(broad_fit(&model, NULL, data, &o), BROAD_USAGE, "rank 1 of 1");
    comm.ranks = 2;
    assert_fails(broad_fit(&model, NULL, data, &o), BROAD_USAGE, "send and receive");
    comm.rank = 0, comm.ranks = 1;
    assert_ok(broad_fit(&model, NULL, data, &o));
    broad_model_free(model);
    broad_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_dealt_out_in_runs),       cmocka_unit_test(sums_have_the_bits_of_one_process),
        cmocka_unit_test(one_rank_that_is_asked_stops_all), cmocka_unit_test(networks_have_the_bytes_of_one_process),
        cmocka_unit_test(lost_messages_end_the_call),       cmocka_unit_test(faults_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
