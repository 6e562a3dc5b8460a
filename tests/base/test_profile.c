/* The profile: operations counted one by one, threads that follow their caller, stages of whole runs. */
#include "small_runs.h"

#include "base/profile.h"
#include "compute/device.h"
#include "compute/pool.h"
#include "compute/shards.h"

static broad_stage stage_named(const broad_profile *profile, const char *name)
{
    broad_stage stage = {.size = sizeof stage};
    for (size_t i = 0; i < broad_profile_stages(); i++) {
        assert_ok(broad_profile_stage(&stage, profile, i));
        if (strcmp(stage.name, name) == 0) return stage;
    }
    fail_msg("no stage %s", name);
    return stage;
}

static double flops_of(const broad_profile *profile, const char *name) { return stage_named(profile, name).flops; }

/* ---- operations ------------------------------------------------------------------------------------------------ */

enum { ROWS = 13, P = 7, C = 3 };

/* What plain loops do, counted one by one. */
static double count_nodes(void)
{
    double flops = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < C; j++)
            for (int k = 0; k < P; k++) flops += 2;
    return flops;
}

static double count_triangle(void)
{
    double flops = 0;
    for (int i = 0; i < P; i++)
        for (int j = i; j < P; j++)
            for (int row = 0; row < ROWS; row++) flops += 2;
    return flops;
}

/* R'R = A: each entry of R by the sum of those above it; a root or a division is one operation. */
static double count_factor(int n)
{
    double flops = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= j; i++) flops += 2 * i + 1;
    return flops;
}

static void operations_by_hand(void **state)
{
    (void)state;
    const broad__device *cpu = broad__device_cpu();
    double x[ROWS * P], w[P * C], out[ROWS * C] = {0}, g[P * P] = {0}, bias[C] = {0};
    for (int i = 0; i < ROWS * P; i++) x[i] = sin(i);
    for (int i = 0; i < P * C; i++) w[i] = cos(i);
    broad_profile *profile = NULL;
    assert_ok(broad_profile_open(&profile));
    assert_ok(cpu->hold());
    broad__nodes nodes = {P, C, w, bias, BROAD_ACTIVATION_SIGMOID, 0, NULL, NULL, {0}};
    cpu->nodes(out, C, &nodes, x, P, ROWS); /* no profile is active yet */
    broad__profile_scope before = broad__profile_enter(profile);
    cpu->nodes(out, C, &nodes, x, P, ROWS);
    cpu->gram(g, P, x, P, ROWS, P);
    cpu->cross(w, C, x, P, P, out, C, C, ROWS);
    cpu->apply(out, C, -1, x, P, ROWS, w, C, P, C);
    for (int i = 0; i < P; i++) g[i * P + i] += 1;
    assert_int_equal(cpu->factor(g, P), 0);
    broad__profile_leave(before);
    cpu->gram(g, P, x, P, ROWS, P); /* no profile is active any more */
    cpu->release();
    assert_true(flops_of(profile, "nodes") == count_nodes());
    assert_true(flops_of(profile, "gram") == count_triangle());
    assert_true(flops_of(profile, "cross") == 2.0 * ROWS * P * C);
    assert_true(flops_of(profile, "residual") == 2.0 * ROWS * P * C);
    assert_true(fabs(flops_of(profile, "solve") - count_factor(P)) <= P * P); /* its leading term */
    assert_int_equal(stage_named(profile, "gram").calls, 1);
    assert_true(stage_named(profile, "nodes").bytes == 8.0 * (ROWS * P + ROWS * C + P * C + C));
    assert_true(stage_named(profile, "draw").calls == 0);
    broad_profile_close(profile);
}

static void phases(void **state)
{
    (void)state;
    const broad__device *cpu = broad__device_cpu();
    double x[ROWS * P] = {0}, g[P * P] = {0};
    broad_profile *profile = NULL;
    assert_ok(broad_profile_open(&profile));
    broad__profile_scope outside = broad__profile_enter(profile);
    broad__profile_scope before = broad__profile_phase(BROAD__PHASE_JOINT);
    cpu->gram(g, P, x, P, ROWS, P);
    broad__profile_scope inner = broad__profile_phase(BROAD__PHASE_LOO);
    cpu->gram(g, P, x, P, ROWS, P);
    broad__profile_leave(inner);
    cpu->gram(g, P, x, P, ROWS, P);
    broad__profile_leave(before);
    before = broad__profile_phase(BROAD__PHASE_PILOT);
    inner = broad__profile_phase(BROAD__PHASE_JOINT); /* a pilot has no parts */
    cpu->gram(g, P, x, P, ROWS, P);
    broad__profile_leave(inner);
    broad__profile_leave(before);
    broad__profile_span span = broad__profile_start(); /* counted as a whole */
    cpu->gram(g, P, x, P, ROWS, P);
    broad__profile_stop(span, BROAD__STAGE_PREDICT, 5, 7);
    broad__profile_leave(outside);
    assert_int_equal(stage_named(profile, "joint_gram").calls, 2);
    assert_int_equal(stage_named(profile, "joint_loo").calls, 1);
    assert_int_equal(stage_named(profile, "pilot").calls, 1);
    assert_int_equal(stage_named(profile, "gram").calls, 0);
    assert_true(flops_of(profile, "predict") == 5 && stage_named(profile, "predict").bytes == 7);
    broad_profile_close(profile);
}

/* ---- parts of a whole ------------------------------------------------------------------------------------------- */

#define SPUN 0.01

static void spin(void)
{
    for (double end = broad__thread_seconds() + SPUN; broad__thread_seconds() < end;) continue;
}

static void part_job(void *context, size_t index, size_t worker)
{
    (void)context, (void)index, (void)worker;
    double began = broad__profile_part();
    spin();
    broad__profile_part_done(began, BROAD__STAGE_DECODE, 9);
}

/* They are stages of their own, on whatever thread, and no longer of the whole; one that was before it takes nothing from it. */
static void parts_of_a_whole(void **state)
{
    (void)state;
    enum { JOBS = 6 };
    broad_profile *profile = NULL;
    broad__pool *pool = NULL;
    assert_ok(broad_profile_open(&profile));
    assert_ok(broad__pool_open(&pool, 3));
    part_job(NULL, 0, 0); /* nothing is active yet */
    broad__profile_scope outside = broad__profile_enter(profile);
    part_job(NULL, 0, 0);
    assert_true(stage_named(profile, "decode").seconds >= SPUN);
    broad__profile_span span = broad__profile_start();
    broad__pool_run(pool, JOBS, part_job, NULL);
    broad__profile_stop(span, BROAD__STAGE_PREDICT, 0, 0);
    assert_true(stage_named(profile, "decode").seconds >= (1 + JOBS) * SPUN);
    assert_int_equal(stage_named(profile, "decode").calls, 1 + JOBS);
    assert_true(stage_named(profile, "decode").bytes == 9 * (1 + JOBS));
    assert_true(stage_named(profile, "predict").seconds < JOBS * SPUN / 2);
    span = broad__profile_start();
    spin();
    broad__profile_stop(span, BROAD__STAGE_PREDICT, 0, 0);
    assert_true(stage_named(profile, "predict").seconds >= SPUN);
    broad__profile_leave(outside);
    broad__pool_close(pool);
    broad_profile_close(profile);
}

/* ---- threads --------------------------------------------------------------------------------------------------- */

static void gram_job(void *context, size_t index, size_t worker)
{
    (void)index, (void)worker;
    double g[P * P] = {0};
    broad__device_cpu()->gram(g, P, context, P, ROWS, P);
}

/* Helpers count for whom they work: this caller, another one, none. */
static void helpers_follow(void **state)
{
    (void)state;
    enum { JOBS = 500 };
    double x[ROWS * P] = {0};
    broad_profile *one = NULL, *other = NULL;
    broad__pool *pool = NULL;
    assert_ok(broad_profile_open(&one));
    assert_ok(broad_profile_open(&other));
    assert_ok(broad__pool_open(&pool, 4));
    broad__profile_scope before = broad__profile_enter(one);
    broad__pool_run(pool, JOBS, gram_job, x);
    broad__profile_scope first = broad__profile_enter(other);
    broad__pool_run(pool, 2 * JOBS, gram_job, x);
    broad__profile_leave(first);
    broad__pool_run(pool, JOBS, gram_job, x);
    broad__profile_leave(before);
    broad__pool_run(pool, JOBS, gram_job, x);
    assert_int_equal(stage_named(one, "gram").calls, 2 * JOBS);
    assert_int_equal(stage_named(other, "gram").calls, 2 * JOBS);
    assert_true(flops_of(one, "gram") == 2 * JOBS * count_triangle());
    broad__pool_close(pool);
    broad_profile_close(one);
    broad_profile_close(other);
}

/* ---- runs ------------------------------------------------------------------------------------------------------ */

static void train(broad_profile *profile, const small_kind *kind, size_t threads, size_t rows)
{
    broad_options o = small_options(kind, threads);
    broad_data *data = small_data(0, rows, 3, kind->regress ? 0 : 2);
    broad_model *model = NULL;
    o.profile = profile;
    assert_ok(broad_fit(&model, NULL, data, &o));
    assert_int_equal(broad__profile_here().profile == NULL, 1);
    broad_model_free(model);
    broad_data_free(data);
}

/* Work does not depend on the number of threads, so neither do its counts. */
static void same_counts_for_any_threads(void **state)
{
    (void)state;
    const size_t rows = 2 * BROAD__BLOCK_ROWS + 18; /* a shard for each of three threads */
    for (size_t k = 0; k < SMALL_KINDS; k++) {
        broad_profile *one = NULL, *three = NULL;
        assert_ok(broad_profile_open(&one));
        assert_ok(broad_profile_open(&three));
        train(one, &small_kinds[k], 1, rows);
        train(three, &small_kinds[k], 3, rows);
        for (size_t i = 0; i < broad_profile_stages(); i++) {
            broad_stage a = {.size = sizeof a}, b = {.size = sizeof b};
            assert_ok(broad_profile_stage(&a, one, i));
            assert_ok(broad_profile_stage(&b, three, i));
            if (a.calls != b.calls || a.flops != b.flops || a.bytes != b.bytes)
                fail_msg("%s, %s: %zu calls and %g flops on one thread, %zu and %g on three", small_kinds[k].title,
                         a.name, a.calls, a.flops, b.calls, b.flops);
        }
        broad_profile_close(one);
        broad_profile_close(three);
    }
}

/* Z is made once, each layer's nodes and sums at least once; a chain has no joint stages and a joint fit has. */
static void stages_of_known_networks(void **state)
{
    (void)state;
    enum { N = 700, INPUTS = 3, F = 6, Q = 4, LAYERS = 2, OUT = 2 };
    small_kind chain = {"", "preset=paper kind=brls weights=chain features=2x3 enhance=4x2", 0};
    small_kind joint = {"", "preset=paper kind=brls weights=joint features=2x3 enhance=4x2 lambda=0.1", 0};
    broad_profile *profile = NULL;
    assert_ok(broad_profile_open(&profile));
    train(profile, &chain, 2, N);
    assert_true(flops_of(profile, "features") == 2.0 * N * INPUTS * F);
    double nodes = 2.0 * N * F * Q * LAYERS, first = F + Q, second = Q;
    assert_true(flops_of(profile, "nodes") >= nodes && flops_of(profile, "nodes") <= 3 * nodes);
    assert_true(flops_of(profile, "gram") >= N * (first * (first + 1) + second * (second + 1)));
    assert_true(flops_of(profile, "cross") >= 2.0 * N * OUT * (first + second));
    assert_true(flops_of(profile, "solve") > 0 && stage_named(profile, "draw").bytes > 0);
    assert_int_equal(stage_named(profile, "joint_gram").calls, 0);
    assert_int_equal(stage_named(profile, "joint_factor").calls, 0);
    assert_int_equal(stage_named(profile, "pilot").calls, 0);
    broad_profile_close(profile);
    assert_ok(broad_profile_open(&profile));
    train(profile, &joint, 2, N);
    double all = first + second;
    assert_true(flops_of(profile, "joint_gram") >= N * second * second);
    assert_true(flops_of(profile, "joint_factor") >= all * all * all / 3 / 2);
    assert_true(flops_of(profile, "joint_refine") > 0 && flops_of(profile, "joint_fill") > 0);
    broad_profile_close(profile);
}

static void prediction_and_files(void **state)
{
    (void)state;
    enum { N = 500, INPUTS = 3 };
    char folder[HELPER_PATH], path[HELPER_PATH];
    temporary_folder(folder);
    join_path(path, folder, "model.broad");
    small_kind kind = {"", "preset=paper kind=brls weights=chain features=2x3 enhance=4x2", 0};
    broad_options o = small_options(&kind, 1);
    broad_data *data = small_data(0, N, INPUTS, 2);
    broad_model *model = NULL, *loaded = NULL;
    broad_profile *profile = NULL;
    double *scores = malloc(N * 2 * sizeof *scores);
    assert_ok(broad_fit(&model, NULL, data, &o));
    assert_ok(broad_profile_open(&profile));
    broad__profile_scope before = broad__profile_enter(profile);
    assert_ok(broad_model_save(model, path, 0));
    assert_ok(broad_model_load(&loaded, path));
    assert_ok(broad_predict_data(scores, loaded, data, THREADS(2)));
    broad__profile_leave(before);
    size_t bytes = 0;
    free(read_file(&bytes, path));
    assert_true(stage_named(profile, "save").bytes == (double)bytes &&
                stage_named(profile, "load").bytes == (double)bytes);
    /* Z, two layers on it, and the outputs of all nodes */
    assert_true(flops_of(profile, "predict") == 2.0 * N * (INPUTS * 6 + 6 * 4 * 2 + (6 + 4 + 4) * 2));
    assert_true(stage_named(profile, "predict").bytes == 8.0 * N * (INPUTS + 2));
    assert_int_equal(stage_named(profile, "nodes").calls + stage_named(profile, "residual").calls, 0);
    broad_profile_close(profile);
    broad_model_free(model), broad_model_free(loaded);
    broad_data_free(data);
    free(scores);
    remove_folder(folder);
}

static void wrong_use(void **state)
{
    (void)state;
    broad_stage stage = {.size = sizeof stage};
    broad_profile *profile = NULL;
    assert_fails(broad_profile_open(NULL), BROAD_USAGE, "NULL");
    assert_ok(broad_profile_open(&profile));
    assert_fails(broad_profile_stage(&stage, profile, broad_profile_stages()), BROAD_USAGE, "stage");
    assert_fails(broad_profile_stage(&stage, NULL, 0), BROAD_USAGE, "NULL");
    broad_profile_close(profile);
    broad_profile_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_by_hand),
        cmocka_unit_test(phases),
        cmocka_unit_test(parts_of_a_whole),
        cmocka_unit_test(helpers_follow),
        cmocka_unit_test(same_counts_for_any_threads),
        cmocka_unit_test(stages_of_known_networks),
        cmocka_unit_test(prediction_and_files),
        cmocka_unit_test(wrong_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
