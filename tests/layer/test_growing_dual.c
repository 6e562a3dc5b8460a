/* The growing joint fit across the point where columns outnumber rows, against the same ridge in long double; and networks
 * that grow past that point. */
#include "failing.h"
#include "small_runs.h"

#include "base/profile.h"
#include "layer/growing_qr.h"

enum { ROWS = 24, COLUMNS = 96, OUTPUTS = 2 };

/* ---- the same in long double ----------------------------------------------------------------------------------- */

typedef long double real;

/* (AA' + lambda I) a = Y by Cholesky, and the diagonal of its inverse. */
typedef struct exact {
    real a[ROWS][OUTPUTS], g[ROWS];
} exact;

static void factor(real m[ROWS][ROWS])
{
    for (size_t j = 0; j < ROWS; j++)
        for (size_t i = j; i < ROWS; i++) {
            real sum = m[i][j];
            for (size_t k = 0; k < j; k++) sum -= m[i][k] * m[j][k];
            m[i][j] = i == j ? sqrtl(sum) : sum / m[j][j];
        }
}

/* b <- (LL')^-1 b */
static void solve(real *b, real m[ROWS][ROWS])
{
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t k = 0; k < i; k++) b[i] -= m[i][k] * b[k];
        b[i] /= m[i][i];
    }
    for (size_t i = ROWS; i-- > 0;) {
        for (size_t k = i + 1; k < ROWS; k++) b[i] -= m[k][i] * b[k];
        b[i] /= m[i][i];
    }
}

/* Of the first `columns` columns of a. */
static exact solve_exactly(const double *a, size_t columns, const double *y, double lambda)
{
    static real m[ROWS][ROWS];
    exact out;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j <= i; j++) {
            m[i][j] = i == j ? lambda : 0;
            for (size_t k = 0; k < columns; k++) m[i][j] += (real)a[i * COLUMNS + k] * a[j * COLUMNS + k];
        }
    factor(m);
    for (size_t q = 0; q < OUTPUTS; q++) {
        real b[ROWS];
        for (size_t i = 0; i < ROWS; i++) b[i] = y[i * OUTPUTS + q];
        solve(b, m);
        for (size_t i = 0; i < ROWS; i++) out.a[i][q] = b[i];
    }
    for (size_t i = 0; i < ROWS; i++) {
        real unit[ROWS] = {0};
        unit[i] = 1;
        solve(unit, m);
        out.g[i] = unit[i];
    }
    return out;
}

/* ---- block by block -------------------------------------------------------------------------------------------- */

typedef struct growth {
    broad__pool *pool;
    broad__residual rows;
    broad__growing_qr qr;
    double *a, *y, lambda;
    size_t columns;
} growth;

/* Columns of which every third nearly repeats the one before it. */
static void growth_open(growth *g, uint64_t seed, double apart, double lambda)
{
    problem_random r = {seed};
    *g = (growth){.lambda = lambda};
    g->a = problem_normals((size_t)ROWS * COLUMNS, &r);
    g->y = problem_normals((size_t)ROWS * OUTPUTS, &r);
    for (size_t j = 2; j < COLUMNS; j += 3)
        for (size_t i = 0; i < ROWS; i++)
            g->a[i * COLUMNS + j] = g->a[i * COLUMNS + j - 1] + apart * g->a[i * COLUMNS + j];
    assert_ok(broad__pool_open(&g->pool, 2));
    assert_ok(broad__residual_open(&g->rows, broad__device_cpu(), g->pool, OUTPUTS));
    assert_ok(broad__residual_append(&g->rows, g->y, ROWS));
    assert_ok(broad__growing_qr_open(&g->qr, ROWS, OUTPUTS, g->y));
    g->rows.z.stored = g->a, g->rows.z.features = COLUMNS;
}

static void growth_close(growth *g)
{
    broad__growing_qr_clear(&g->qr);
    broad__residual_close(&g->rows);
    broad__pool_close(g->pool);
    free(g->a), free(g->y);
}

static void try_block(growth *g, size_t first, size_t width)
{
    broad__kblock kblock = {{0}, first, width};
    assert_ok(broad__candidate_nodes(&g->rows, &kblock, 1));
    assert_ok(broad__growing_qr_try(&g->qr, &g->rows, g->y, g->lambda));
}

static void take_block(growth *g, size_t width)
{
    try_block(g, g->columns, width);
    double norm = g->qr.trial_norm;
    assert_ok(broad__growing_qr_accept(&g->qr));
    broad__residual_commit(&g->rows, norm);
    g->columns += width;
    assert_int_equal(g->qr.columns, g->columns);
}

/* The largest relative error of the weights, the scores left out and both norms. */
static double error_of(const growth *g)
{
    exact x = solve_exactly(g->a, g->columns, g->y, g->lambda);
    real norm = 0, loo = 0;
    double w[COLUMNS * OUTPUTS], w_exact[COLUMNS * OUTPUTS], left[ROWS * OUTPUTS], left_exact[ROWS * OUTPUTS];
    for (size_t i = 0; i < ROWS; i++)
        for (size_t q = 0; q < OUTPUTS; q++) {
            norm += g->lambda * g->lambda * x.a[i][q] * x.a[i][q];
            loo += x.a[i][q] * x.a[i][q] / (x.g[i] * x.g[i]);
            left_exact[i * OUTPUTS + q] = (double)(g->y[i * OUTPUTS + q] - x.a[i][q] / x.g[i]);
        }
    for (size_t j = 0; j < g->columns; j++)
        for (size_t q = 0; q < OUTPUTS; q++) {
            real sum = 0;
            for (size_t i = 0; i < ROWS; i++) sum += g->a[i * COLUMNS + j] * x.a[i][q];
            w_exact[j * OUTPUTS + q] = (double)sum;
        }
    assert_ok(broad__growing_qr_weights(w, &g->qr, g->y));
    assert_ok(broad__growing_qr_leave_out(left, &g->qr, &g->rows, g->y));
    double worst = relative_distance(w, w_exact, g->columns * OUTPUTS);
    worst = fmax(worst, relative_distance(left, left_exact, (size_t)ROWS * OUTPUTS));
    worst = fmax(worst, relative_difference(g->rows.norm, (double)sqrtl(norm), 0));
    return fmax(worst, relative_difference(g->qr.loo, (double)sqrtl(loo), 0));
}

static void one_ridge_in_both_forms(void **state)
{
    (void)state;
    static const double lambdas[] = {1e-6, 1e-3, 1}, parts[] = {1, 1e-3, 1e-6};
    static const size_t blocks[] = {1, 5, 13, 70};
    double worst[2] = {0};
    for (size_t i = 0; i < 36; i++) {
        growth g;
        size_t block = blocks[i / 9];
        growth_open(&g, i + 1, parts[i % 3], lambdas[i / 3 % 3]);
        while (g.columns < COLUMNS) {
            take_block(&g, COLUMNS - g.columns < block ? COLUMNS - g.columns : block);
            int dual = g.qr.dual.a != NULL;
            double error = error_of(&g);
            assert_int_equal(dual, g.columns > ROWS);
            if (!(error < 1e-8))
                fail_msg("blocks of %zu, lambda %g, copies %g apart, %zu columns: %g", block, g.lambda, parts[i % 3],
                         g.columns, error);
            worst[dual] = fmax(worst[dual], error);
        }
        growth_close(&g);
    }
    print_message("worst error %.1g with fewer columns than rows, %.1g with more\n", worst[0], worst[1]);
}

/* The small lambda of preset paper, where all rows are fitted to their last digits. */
static void interpolation(void **state)
{
    (void)state;
    growth g;
    double worst = 0;
    growth_open(&g, 3, 1, 1e-8);
    while (g.columns < COLUMNS) {
        take_block(&g, 12);
        if (g.columns > ROWS) worst = fmax(worst, error_of(&g));
    }
    assert_true(g.rows.norm < 1e-8);
    print_message("worst error %.1g, with a residual norm of %.1g\n", worst, g.rows.norm);
    assert_true(worst < 1e-10);
    growth_close(&g);
}

/* Which blocks were tried and refused, in whatever form, changes no bit of what is accepted. */
static void refused_blocks_leave_no_trace(void **state)
{
    (void)state;
    double w[2][COLUMNS * OUTPUTS], loo[2];
    for (size_t tried = 0; tried < 2; tried++) {
        growth g;
        growth_open(&g, 9, 1e-3, 1e-4);
        while (g.columns < 66) {
            for (size_t k = 0; tried && k < 3; k++) try_block(&g, 70, k == 1 ? 26 : 3);
            take_block(&g, 6);
        }
        loo[tried] = g.qr.loo;
        assert_ok(broad__growing_qr_weights(w[tried], &g.qr, g.y));
        growth_close(&g);
    }
    assert_true(loo[0] == loo[1]);
    assert_memory_equal(w[0], w[1], 66 * OUTPUTS * sizeof(double));
}

/* A lambda that is next to nothing may leave columns to be dropped, and then there is no other form. */
static void without_lambda(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        growth g;
        growth_open(&g, 4, 0, i ? 1e-30 : 0);
        while (g.columns < 48) take_block(&g, 6);
        assert_null(g.qr.dual.a);
        assert_true(isfinite(g.qr.loo) && g.rows.norm < 1e-12);
        growth_close(&g);
    }
}

static double flops_of_a_try(growth *g, size_t width)
{
    broad_profile *profile = NULL;
    double flops = 0;
    assert_ok(broad_profile_open(&profile));
    broad__profile_scope before = broad__profile_enter(profile);
    try_block(g, 0, width);
    broad__profile_leave(before);
    for (size_t i = 0; i < broad_profile_stages(); i++) {
        broad_stage stage = {.size = sizeof stage};
        assert_ok(broad_profile_stage(&stage, profile, i));
        flops += stage.flops;
    }
    broad_profile_close(profile);
    return flops;
}

/* What a draw costs does not grow with the columns once they outnumber the rows. */
static void no_more_work(void **state)
{
    (void)state;
    growth g;
    growth_open(&g, 5, 1, 1e-2);
    double few = 0, many;
    while (g.columns < COLUMNS) {
        take_block(&g, 12);
        if (g.columns == 36) few = flops_of_a_try(&g, 12);
    }
    many = flops_of_a_try(&g, 12);
    assert_true(few > 0 && many == few);
    growth_close(&g);
}

/* ---- networks -------------------------------------------------------------------------------------------------- */

static const small_kind kinds[] = {
    {"loo",
     "kind=bscrls preset=paper weights=joint supervise=loo features=1x30 enhance=20x6 lambda=0.1 range=2 tries=8 "
     "relax-count=30",
     1},
    {"loo, lambda by itself",
     "kind=bscrls preset=paper weights=joint supervise=loo features=1x30 enhance=20x4 lambda=auto range=2 tries=3 "
     "relax-count=30",
     1},
    {"scn", "kind=scn preset=paper weights=joint enhance=25x6 tries=5 relax-count=9", 1},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void assert_verified(const broad_model *model, const broad_data *data)
{
    broad_verdict verdict = {.size = sizeof verdict};
    assert_ok(broad_verify(&verdict, model, data, THREADS(2)));
    if (!verdict.holds) fail_msg("the certificate does not hold: %s", verdict.reason);
}

/* The same bytes for any number of threads, with rows enough to be shared out. */
static void any_number_of_threads(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        broad_data *data = small_data(0, i ? 60 : 270, 3, kinds[i].regress ? 0 : 2);
        model_bytes first = {0};
        for (size_t threads = 1; threads <= 3; threads++) {
            broad_options o = small_options(&kinds[i], threads);
            broad_model *model = NULL;
            if (!i) o.feature_nodes = 180, o.enhance_nodes = 100, o.enhance_layers = 2, o.tries = 2;
            assert_ok(broad_fit(&model, NULL, data, &o));
            model_bytes bytes = model_bytes_of(model);
            if (threads == 1) {
                assert_true(broad_model_nodes(model) > (i ? 60 : 270));
                assert_verified(model, data);
                first = bytes;
            } else {
                assert_true(small_same(&first, &bytes));
                broad_free(bytes.at);
            }
            broad_model_free(model);
        }
        broad_free(first.at);
        broad_data_free(data);
    }
}

/* Layer by layer through a file, and all at once. */
static void resumed_equals_never_stopped(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        broad_data *data = small_data(0, 60, 3, kinds[i].regress ? 0 : 2);
        broad_options o = small_options(&kinds[i], 1), step = o;
        broad_model *whole = NULL, *grown = NULL;
        assert_ok(broad_fit(&whole, NULL, data, &o));
        size_t layers = broad_model_layers(whole);
        assert_true(layers > 1 && broad_model_nodes(whole) > 60);
        step.enhance_layers = 1;
        assert_ok(broad_fit(&grown, NULL, data, &step));
        for (size_t j = 1; j < o.enhance_layers; j++) {
            broad_trainer *t = NULL;
            assert_ok(broad_trainer_resume(&t, grown, data, &o, 0));
            assert_ok(broad_trainer_enhance(t, o.enhance_nodes, 1));
            broad_model_free(grown);
            grown = NULL;
            broad_trainer_close(&grown, t);
        }
        model_bytes a = model_bytes_of(whole), b = model_bytes_of(grown);
        assert_int_equal(broad_model_layers(grown), layers);
        if (!small_same(&a, &b)) fail_msg("%s: other bytes", kinds[i].title);
        assert_verified(grown, data);
        broad_free(a.at), broad_free(b.at);
        broad_model_free(whole), broad_model_free(grown);
        broad_data_free(data);
    }
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

/* Columns outnumber the rows with the second layer. A trainer that ran out of memory goes on where it was. */
static int grow_past_the_rows(size_t *out_layers, const broad_data *data, const broad_options *o)
{
    broad_trainer *t = NULL;
    int status = broad_trainer_open(&t, data, o);
    if (status == BROAD_OK) status = broad_trainer_enhance(t, 6, 3);
    int again = status == BROAD_NO_MEMORY && t ? broad_trainer_enhance(t, 6, 1) : BROAD_OK;
    *out_layers = t ? broad_model_layers(broad_trainer_model(t)) : 0;
    broad_trainer_close(NULL, t);
    assert_ok(again);
    return status;
}

static void every_allocation_failed_in_turn(void **state)
{
    (void)state;
    static const small_kind kind = {"scn", "kind=scn preset=paper weights=joint enhance=6x3 tries=1 range-steps=1", 1};
    broad_data *data = small_data(0, 11, 2, 0);
    broad_options o = small_options(&kind, 1);
    failing self = {.lock = PTHREAD_MUTEX_INITIALIZER};
    broad_allocator allocator = {failing_allocate, failing_release, &self};
    size_t layers;
    broad_set_allocator(&allocator);
    assert_ok(grow_past_the_rows(&layers, data, &o));
    assert_int_equal(layers, 3);
    size_t total = self.calls;
    for (size_t n = 1; n <= total; n++) {
        self.calls = 0;
        self.fail_at = n;
        int status = grow_past_the_rows(&layers, data, &o);
        if (status != BROAD_NO_MEMORY) fail_msg("allocation %zu of %zu failed: status %d", n, total, status);
        assert_int_equal(self.live, 0);
    }
    broad_set_allocator(NULL);
    print_message("%zu allocations, each failed once\n", total);
    broad_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_ridge_in_both_forms),
        cmocka_unit_test(interpolation),
        cmocka_unit_test(refused_blocks_leave_no_trace),
        cmocka_unit_test(without_lambda),
        cmocka_unit_test(no_more_work),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(resumed_equals_never_stopped),
        cmocka_unit_test(every_allocation_failed_in_turn),
    };
    return cmocka_run_group_tests_name("growing_dual", tests, NULL, NULL);
}
