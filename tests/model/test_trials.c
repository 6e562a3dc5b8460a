/* Small networks that preset auto tries before it builds one: what they are judged by, where they begin, when they end. */
#include "plain.h"

#include "feature/metric.h"
#include "model/train/configure.h"
#include "model/train/train.h"
#include "model/train/train_open.h"

/* A table, and trials on its rows. */
typedef struct bench {
    broad_data *data;
    broad_trainer *trainer;
    broad__trials trials;
    broad__directions plain;
} bench;

/* Targets that follow the first input, times `signal`, and noise. */
static broad_data *table_of(size_t rows, size_t inputs, double signal, double noise)
{
    problem_random r = {7};
    double *x = problem_normals(rows * inputs, &r), *y = problem_normals(rows, &r);
    for (size_t i = 0; i < rows; i++) y[i] = noise * y[i] + signal * sin(2 * x[i * inputs]);
    broad_data *data = data_of_values(x, y, rows, inputs);
    free(x), free(y);
    return data;
}

static bench bench_open(broad_data *data, size_t nodes)
{
    bench b = {.data = data};
    broad_options o =
        OPTIONS("range", "1", "features", "2x5", "enhance", "5x1", "learned-metric", "no", "threads", "1");
    assert_ok(broad__trainer_open(&b.trainer, data, &o));
    assert_ok(broad__trials_open(&b.trials, b.trainer, data, data->rows, nodes));
    assert_ok(broad__directions_open(&b.plain, &(broad__metric){0}, b.trials.columns, b.trainer->device));
    return b;
}

static void bench_close(bench *b)
{
    broad__directions_close(&b->plain);
    broad__trials_close(&b->trials);
    broad__trainer_close(NULL, b->trainer);
    broad_data_free(b->data);
}

static broad__attempt attempt_of(const bench *b, double range, size_t nodes)
{
    broad__configuration c = {.style = BROAD__STYLE_DENSE, .range = range};
    return broad__configuration_attempt(&c, &b->plain, nodes);
}

static void run(bench *b, broad__attempt *attempts, size_t count)
{
    assert_ok(broad__trials_run(&b->trials, attempts, count));
    for (size_t i = 0; i < count; i++) assert_true(attempts[i].done);
}

static size_t judged(const double *squares, size_t rows)
{
    size_t count = 0;
    for (size_t i = 0; i < rows; i++) count += squares[i] >= 0;
    return count;
}

/* What decides in the end is judged by 2,000 rows: by 600 the differences of ranges drown in noise. */
static void many_rows_decide(void **state)
{
    (void)state;
    enum { ROWS = 2300 };
    bench b = bench_open(table_of(ROWS, 2, 1, 1), 20);
    double *squares = malloc(ROWS * sizeof *squares);
    for (int rough = 0; rough < 2; rough++) {
        broad__attempt a = attempt_of(&b, 1, 20);
        assert_false(a.rough);
        a.rough = rough;
        a.squares = squares;
        run(&b, &a, 1);
        assert_int_equal(judged(squares, ROWS), rough ? 600 : 2000);
    }
    free(squares);
    bench_close(&b);
}

/* Noise wants a lambda above the mean eigenvalue: that, too, is known to the next one, which then tries its neighbours
 * alone. Only of the largest that is tried nothing can be told: it is searched for again. */
static void a_search_begins_where_the_last_one_ended(void **state)
{
    (void)state;
    static const double signals[] = {0, 0.3, 0.4, 0.5, 0.6, 0.8, 1};
    size_t zeros = 0;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        bench b = bench_open(table_of(300, 4, signals[i], 1), 250);
        size_t factors[3];
        double exponent[3];
        for (size_t k = 0; k < 3; k++) {
            broad__attempt a = attempt_of(&b, 4, 250);
            if (k == 2) a.start = exponent[0] - 1; /* what an attempt brings with it counts for more */
            run(&b, &a, 1);
            exponent[k] = a.exponent;
            factors[k] = b.trials.of[0].joint.factors;
        }
        print_message("exponent %g: %zu factors, then %zu, from a step below %zu\n", exponent[0], factors[0],
                      factors[1], factors[2]);
        assert_true(fabs(exponent[1] - exponent[0]) < 1e-9 && fabs(exponent[2] - exponent[0]) < 1e-9);
        if (exponent[0] < 2) assert_true(factors[0] > 5 && factors[1] <= 3 && factors[2] > factors[1]);
        else assert_true(factors[1] > 5);
        zeros += fabs(exponent[0]) < 1e-9;
        bench_close(&b);
    }
    assert_true(zeros > 0); /* which does not stand for an unknown one */
}

/* Half a power of ten higher for each doubling of the range, and within what is searched. */
static void a_steeper_range_begins_higher(void **state)
{
    (void)state;
    static const double times[] = {0.25, 0.5, 1, 2, 4, 8}, higher[] = {-1, -0.5, 0, 0.5, 1, 1.5};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        assert_true(fabs(broad__exponent_steeper(-5, times[i]) - (-5 + higher[i])) < 1e-12);
    assert_true(broad__exponent_steeper(2, 4) <= 2 && broad__exponent_steeper(-10, 0.5) >= -10);
    enum { NODES = 250 };
    bench b = bench_open(table_of(300, 4, 1, 1), NODES);
    broad__attempt first = attempt_of(&b, 1, NODES), told[3], by_itself = attempt_of(&b, 16, NODES);
    size_t factors[3];
    run(&b, &first, 1);
    double known = b.trials.exponent;
    run(&b, &by_itself, 1);
    size_t own = b.trials.of[0].joint.factors;
    for (size_t k = 0; k < 3; k++) {
        static const double from[] = {2, 0, -2}; /* what sixteen times the range adds; nothing; the wrong way */
        told[k] = attempt_of(&b, 16, NODES);
        told[k].start = known + from[k];
        run(&b, &told[k], 1);
        factors[k] = b.trials.of[0].joint.factors;
    }
    print_message("exponent %g, then %g: %zu factors; told so %zu, from where the first ended %zu, from below %zu\n",
                  known, by_itself.exponent, own, factors[0], factors[1], factors[2]);
    assert_true(own == factors[0] && by_itself.exponent == told[0].exponent && by_itself.square == told[0].square);
    assert_true(own != factors[1] && own != factors[2]); /* each start is another search */
    bench_close(&b);
}

/* An attempt that a better one is far ahead of tries one lambda, and says nothing of the rows. */
static void hopeless_ones_are_given_up(void **state)
{
    (void)state;
    enum { ROWS = 400 };
    bench b = bench_open(table_of(ROWS, 6, 3, 0.1), 80);
    double squares[ROWS];
    broad__attempt a[2] = {attempt_of(&b, 1, 80), attempt_of(&b, 32, 80)};
    a[1].squares = squares;
    run(&b, a, 2);
    assert_false(a[0].given_up);
    print_message("squares %.3g and %.3g\n", a[0].square, a[1].square);
    assert_true(a[1].square > BROAD__HOPELESS * a[0].square);
    assert_true(a[1].given_up && isinf(a[1].error) && judged(squares, ROWS) == 0);
    assert_int_equal(b.trials.of[0].joint.factors, 1);
    double upper = a[1].square;
    a[1] = attempt_of(&b, 32, 80); /* the same, whatever there is */
    a[1].most = -1;
    a[1].squares = squares;
    run(&b, a, 2);
    assert_true(!a[1].given_up && a[1].square <= upper && judged(squares, ROWS) == ROWS);
    bench_close(&b);
}

/* Without weights the scores are those of the search; with them, of the refined solution. */
static void scores_are_the_same_without_weights(void **state)
{
    (void)state;
    for (size_t rows = 60; rows <= 1500; rows += 480) {
        bench b = bench_open(table_of(rows, 3, 1, 0.3), 100);
        broad__metric metric;
        double *squares[2] = {malloc(rows * sizeof(double)), malloc(rows * sizeof(double))};
        assert_ok(broad__metric_open(&metric, b.trials.columns));
        for (int with = 0; with < 2; with++) {
            broad__attempt a = attempt_of(&b, 1, 100);
            a.squares = squares[with];
            a.start = -2;
            if (with) a.metric = &metric;
            run(&b, &a, 1);
        }
        for (size_t i = 0; i < rows; i++) assert_true(relative_difference(squares[0][i], squares[1][i], 1e-6) < 1e-6);
        broad__metric_close(&metric);
        free(squares[0]), free(squares[1]);
        bench_close(&b);
    }
}

/* Each step of a large search costs as much as all else: one that gains next to nothing is the last. */
static void a_large_search_ends_with_a_small_gain(void **state)
{
    (void)state;
    if (HELPER_SANITIZED) skip(); /* two thousand nodes */
    bench b = bench_open(table_of(2100, 2, 1, 0.5), 2000);
    broad__attempt a = attempt_of(&b, 1, 2000);
    a.start = 1;
    run(&b, &a, 1);
    print_message("exponent %g, %zu factors\n", a.exponent, b.trials.of[0].joint.factors);
    assert_true(a.exponent > -4 && b.trials.of[0].joint.factors <= 7);
    bench_close(&b);
}

/* Among many inputs that tell nothing a first network has hardly any gradient; what each tells by itself is seen. */
static void an_input_that_tells_by_itself_is_found(void **state)
{
    (void)state;
    enum { INPUTS = 100 };
    bench b = bench_open(table_of(300, INPUTS, 1, 0.5), 100);
    broad__trial *trial = &b.trials.of[0];
    for (size_t i = 0; i < trial->rows->rows; i++) trial->y[i] = cos(3 * trial->rows->x[i * INPUTS]); /* no slope */
    broad__effort_sizes sizes = {.rows = 300, .screen = 100, .nodes = 100, .rounds = 1};
    broad__configuring g;
    assert_ok(broad__configuring_open(&g, &b.trials, &sizes, BROAD__START_ALL));
    assert_ok(broad__configuring_first(&g, NULL));
    assert_ok(broad__configuring_next(&g));
    assert_int_equal(g.found.count, 2);
    double all = 0, first = 0;
    for (size_t j = 0; j < b.trials.columns; j++) {
        double here = broad__metric_diagonal(&g.found.of[1].metric, j);
        all += here;
        if (j % INPUTS == 0) first += here;
    }
    print_message("%.2f of the metric is the first input's; squares %.3g, then %.3g\n", first / all,
                  g.found.of[0].square, g.found.of[1].square);
    assert_true(first > 0.3 * all && g.found.of[1].square < 0.8 * g.found.of[0].square);
    broad__configuring_close(&g);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_rows_decide),
        cmocka_unit_test(a_search_begins_where_the_last_one_ended),
        cmocka_unit_test(a_steeper_range_begins_higher),
        cmocka_unit_test(hopeless_ones_are_given_up),
        cmocka_unit_test(scores_are_the_same_without_weights),
        cmocka_unit_test(a_large_search_ends_with_a_small_gain),
        cmocka_unit_test(an_input_that_tells_by_itself_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
