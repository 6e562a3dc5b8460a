/* What is made of leave-one-out scores: the slope against a search of its own, measures by hand, ranks by counting. */
#include "helper.h"

#include "base/memory.h"
#include "data/table.h"
#include "metric/calibration.h"
#include "metric/spread.h"
#include "model/predict/estimate.h"
#include "problem.h"
#include "sample_model.h"
#include "store/store.h"

enum { CLASSES_MOST = 12 };

/* ---- the slope ------------------------------------------------------------------------------------------------- */

typedef struct scored {
    size_t rows, classes;
    double *scores, *weights, bias[CLASSES_MOST];
    size_t *truth;
} scored;

/* Scores about a one-hot target; labels drawn from softmax(slope * score + bias). */
static scored scored_new(size_t rows, size_t classes, double slope, problem_random *r)
{
    scored s = {.rows = rows, .classes = classes};
    s.scores = malloc(rows * classes * sizeof *s.scores);
    s.weights = malloc(rows * sizeof *s.weights);
    s.truth = malloc(rows * sizeof *s.truth);
    for (size_t c = 0; c < classes; c++) s.bias[c] = 0.3 * problem_normal(r);
    for (size_t i = 0; i < rows; i++) {
        double *row = s.scores + i * classes, p[CLASSES_MOST], sum = 0, u = problem_uniform(r);
        for (size_t c = 0; c < classes; c++) row[c] = 0.2 + 0.3 * problem_normal(r);
        for (size_t c = 0; c < classes; c++) sum += p[c] = exp(slope * row[c] + s.bias[c]);
        s.truth[i] = 0;
        for (double up = p[0] / sum; up < u && s.truth[i] + 1 < classes; up += p[++s.truth[i]] / sum) continue;
        s.weights[i] = 0.5 + problem_uniform(r);
    }
    return s;
}

static void scored_free(scored *s)
{
    free(s->scores);
    free(s->weights);
    free(s->truth);
}

/* Cross entropy with the target of calibration.c, in long double and straight from the definition. */
static double plain_loss(const scored *s, const double *weights, double slope)
{
    long double loss = 0, doubt = 1 / ((long double)s->rows + 2);
    for (size_t i = 0; i < s->rows; i++) {
        const double *row = s->scores + i * s->classes;
        long double sum = 0, of_row = 0;
        for (size_t c = 0; c < s->classes; c++) sum += expl((long double)slope * row[c] + s->bias[c]);
        for (size_t c = 0; c < s->classes; c++) {
            long double target = c == s->truth[i] ? 1 - doubt : doubt / (long double)(s->classes - 1);
            of_row -= target * ((long double)slope * row[c] + s->bias[c] - logl(sum));
        }
        loss += (weights ? weights[i] : 1) * of_row;
    }
    return (double)loss;
}

/* By golden section, which knows of no derivative. */
static double plain_slope(const scored *s, const double *weights)
{
    double low = 0, high = 200, ratio = (sqrt(5) - 1) / 2;
    for (int i = 0; i < 80; i++) {
        double a = high - ratio * (high - low), b = low + ratio * (high - low);
        if (plain_loss(s, weights, a) < plain_loss(s, weights, b)) high = b;
        else low = a;
    }
    return (low + high) / 2;
}

static void test_slope_is_the_minimum(void **state)
{
    (void)state;
    problem_random r = {11};
    static const size_t classes[] = {2, 3, 5, 12};
    static const double slopes[] = {0.5, 4, 20};
    for (size_t k = 0; k < 12; k++) {
        scored s = scored_new(60 + 50 * k, classes[k % 4], slopes[k / 4], &r);
        for (int weighted = 0; weighted < 2; weighted++) {
            const double *weights = weighted ? s.weights : NULL;
            double slope = broad__calibrate(s.scores, s.truth, weights, s.rows, s.classes, s.bias);
            double plain = plain_slope(&s, weights);
            /* Near a minimum golden section sees differences of the loss down to its last digit only: sqrt(1e-16). */
            assert_true(relative_difference(slope, plain, 0.1) < 1e-6);
        }
        scored_free(&s);
    }
}

static void test_slope_is_found_again(void **state)
{
    (void)state;
    problem_random r = {12};
    scored s = scored_new(20000, 4, 6, &r);
    double slope = broad__calibrate(s.scores, s.truth, NULL, s.rows, s.classes, s.bias);
    /* Standard error about 1 / sqrt(rows * Var_p[d]) = 0.04. */
    assert_true(fabs(slope - 6) < 0.15);
    scored_free(&s);
}

/* Rows that are all told apart, that are classified incorrectly, that are not told apart at all. */
static void test_slope_stays_in_bounds(void **state)
{
    (void)state;
    static const double none[3] = {0};
    double apart[200], flat[200], huge[200];
    size_t truth[100], wrong[100];
    for (size_t i = 0; i < 100; i++) {
        truth[i] = i % 2;
        wrong[i] = 1 - i % 2;
        apart[2 * i] = i % 2 ? 0.1 : 0.9;
        apart[2 * i + 1] = 1 - apart[2 * i];
        flat[2 * i] = flat[2 * i + 1] = 0.5;
        huge[2 * i] = i % 2 ? -1e308 : 1e308;
        huge[2 * i + 1] = -huge[2 * i];
    }
    double slope = broad__calibrate(apart, truth, NULL, 100, 2, none), p[2];
    double calibration[3] = {slope, 0, 0};
    broad__calibrated(p, apart, 1, 2, calibration);
    assert_true(fabs(p[0] - 101.0 / 102) < 1e-9); /* as sure as 102 observations with one error */
    assert_true(broad__calibrate(apart, wrong, NULL, 100, 2, none) == 0);
    assert_true(broad__calibrate(flat, truth, NULL, 100, 2, none) == 0);
    assert_true(broad__calibrate(apart, truth, NULL, 0, 2, none) == 0);
    slope = broad__calibrate(huge, truth, NULL, 100, 2, none);
    assert_true(slope > 1e-6 && slope < 1e-5); /* log(101) by the widest gap that counts, 1e6 */
    slope = broad__calibrate(apart, truth, NULL, 1, 2, none);
    assert_true(slope > 0 && slope < 10);
    for (size_t i = 0; i < 200; i++) apart[i] *= 1e-9;
    assert_true(broad__calibrate(apart, truth, NULL, 100, 2, none) == BROAD__SLOPE_MOST);
}

/* ---- probabilities and their measures -------------------------------------------------------------------------- */

static void test_probabilities(void **state)
{
    (void)state;
    static const double calibration[4] = {2, 0, 0.5, -1};
    double scores[12] = {0.1, 0.7, 0.2, 1e308, -1e308, 0, 5, 5, 5, -1e300, -1e300, -2e300}, out[12];
    broad__calibrated(out, scores, 4, 3, calibration);
    double a = exp(0.2), b = exp(1.4 + 0.5), c = exp(0.4 - 1);
    assert_true(fabs(out[0] - a / (a + b + c)) < 1e-15);
    assert_true(fabs(out[1] - b / (a + b + c)) < 1e-15);
    assert_true(out[3] == 1 && out[4] == 0 && out[5] == 0);
    for (size_t i = 0; i < 4; i++) assert_true(fabs(out[3 * i] + out[3 * i + 1] + out[3 * i + 2] - 1) < 1e-15);
    broad__calibrated(scores, scores, 4, 3, calibration);
    assert_memory_equal(scores, out, sizeof out);
    static const double level[4] = {0};
    broad__calibrated(out, (double[]){1e308, -1e308, 7}, 1, 3, level);
    assert_true(out[0] == out[1] && out[1] == out[2]);
}

static void test_reliability_by_hand(void **state)
{
    (void)state;
    static const double same[4] = {1};
    broad__reliability r;
    /* Bins of width 1/15: 0.88 and 0.92 lie in [13/15, 14/15), 0.62 and 0.68 on both sides of 10/15, 1 in the last. */
    double p[15] = {0.88, 0.06, 0.06, 0.04, 0.92, 0.04, 0.62, 0.18, 0.20, 0.16, 0.16, 0.68, 1, 0, 0}, scores[15];
    static const size_t truth[5] = {0, 0, 0, 0, 0};
    for (size_t i = 0; i < 15; i++) scores[i] = p[i] > 0 ? log(p[i]) : -1e3;
    assert_ok(broad__reliability_measure(&r, &(broad__scored){scores, truth, 5, 3}, same));
    double brier = (0.0144 + 0.0036 + 0.0036) + (0.9216 + 0.8464 + 0.0016) + (0.1444 + 0.0324 + 0.04) +
                   (0.7056 + 0.0256 + 0.4624) + 0;
    assert_true(fabs(r.brier - brier / 5) < 1e-14);
    assert_true(fabs(r.log_loss + (log(0.88) + log(0.04) + log(0.62) + log(0.16)) / 5) < 1e-14);
    assert_true(fabs(r.calibration_error - (fabs(1 - 0.88 - 0.92) + (1 - 0.62) + 0.68 + 0) / 5) < 1e-14);

    static const size_t other[1] = {1};
    assert_ok(broad__reliability_measure(&r, &(broad__scored){scores + 12, other, 1, 3}, same));
    assert_true(r.brier == 2 && r.calibration_error == 1);
    assert_true(fabs(r.log_loss + log(1e-15)) < 1e-12);
    assert_ok(broad__reliability_measure(&r, &(broad__scored){scores, truth, 0, 3}, same));
    assert_true(r.brier == 0 && r.log_loss == 0 && r.calibration_error == 0);
}

/* ---- quantiles ------------------------------------------------------------------------------------------------- */

/* How many of `count` distinct numbers lie within the quantile of the others: the coverage of exchangeable rows, exactly. */
static size_t covered(size_t count, double level, size_t most)
{
    size_t inside = 0, kept = count - 1 < most ? count - 1 : most;
    double *others = malloc(count * sizeof *others), bound = 0;
    for (size_t left_out = 0; left_out < count; left_out++) {
        for (size_t i = 0, n = 0; i < count; i++)
            if (i != left_out) others[n++] = (double)((i * 7919) % count);
        broad__order_statistics(others, count - 1, kept);
        assert_ok(broad__jackknife(&bound, others, kept, count - 1, level));
        inside += (double)((left_out * 7919) % count) <= bound;
    }
    free(others);
    return inside;
}

static void test_coverage_is_exact(void **state)
{
    (void)state;
    static const size_t counts[] = {20, 100, 101, 137};
    for (size_t k = 0; k < 4; k++)
        for (int percent = 7; percent < 96; percent += 8) {
            size_t wanted = (counts[k] * (size_t)percent + 99) / 100; /* ceil((n + 1) level) of n + 1 rows */
            assert_int_equal(covered(counts[k], percent / 100.0, SIZE_MAX), wanted);
            size_t thinned = covered(counts[k], percent / 100.0, 16);
            assert_true(thinned >= wanted && thinned <= wanted + counts[k] / 16 + 1);
        }
}

static void test_order_statistics(void **state)
{
    (void)state;
    double sizes[10] = {9, 3, 7, 1, 10, 5, 2, 8, 6, 4}, bound = 0;
    broad__order_statistics(sizes, 10, 4); /* ranks 3, 5, 8, 10 */
    assert_true(sizes[0] == 3 && sizes[1] == 5 && sizes[2] == 8 && sizes[3] == 10);
    static const struct {
        double level, bound;
    } rows[] = {{0.05, 3}, {0.27, 3}, {0.28, 5}, {0.45, 5}, {0.5, 8}, {0.72, 8}, {0.73, 10}, {0.9, 10}};
    for (size_t i = 0; i < 8; i++) { /* ranks 1, 3, 4, 5, 6, 8, 9, 10 */
        assert_ok(broad__jackknife(&bound, sizes, 4, 10, rows[i].level));
        assert_true(bound == rows[i].bound);
    }
}

static void test_level_too_high(void **state)
{
    (void)state;
    double sizes[500], bound = -1;
    for (size_t i = 0; i < 500; i++) sizes[i] = (double)i;
    assert_fails(broad__jackknife(&bound, sizes, 9, 9, 0.91), BROAD_USAGE, "highest level they allow is 0.9");
    assert_fails(broad__jackknife(&bound, sizes, 20, 20, 0.99), BROAD_USAGE, "of 20 rows");
    assert_true(bound == -1);
    for (size_t n = 1; n <= 500; n++) {
        const char *words = "they allow is ";
        int status = broad__jackknife(&bound, sizes, n, n, 0.9999);
        assert_int_equal(status, BROAD_USAGE);
        double named = strtod(strstr(broad_error_message(), words) + strlen(words), NULL);
        assert_ok(broad__jackknife(&bound, sizes, n, n, named));
        assert_true(bound == sizes[n - 1]);
        assert_int_equal(broad__jackknife(&bound, sizes, n, n, named + 1e-5), BROAD_USAGE);
    }
    static const double bad[] = {0, 1, -0.5, 2, NAN, INFINITY};
    for (size_t i = 0; i < 6; i++)
        assert_fails(broad__jackknife(&bound, sizes, 9, 9, bad[i]), BROAD_USAGE, "between 0 and 1");
}

/* ---- the estimate of a model ----------------------------------------------------------------------------------- */

static broad_model *class_model(void)
{
    static const sample_form form = {.seed = 3,
                                     .task = BROAD_TASK_CLASSIFY,
                                     .inputs = 2,
                                     .outputs = 3,
                                     .groups = 1,
                                     .group_nodes = 2,
                                     .layers = 1,
                                     .layer_nodes = 2};
    return sample_model(&form);
}

static broad_model *value_model(void)
{
    static const sample_form form = {.seed = 4,
                                     .task = BROAD_TASK_REGRESS,
                                     .inputs = 2,
                                     .outputs = 2,
                                     .groups = 1,
                                     .group_nodes = 2,
                                     .layers = 1,
                                     .layer_nodes = 2};
    return sample_model(&form);
}

enum { ROWS = 11 }; /* of a sample model */

static size_t class_truth[ROWS] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1};
static broad_data class_rows = {.rows = ROWS, .outputs = 3, .task = BROAD_TASK_CLASSIFY, .classes = class_truth};
static double value_truth[2 * ROWS];
static broad_data value_rows = {.rows = ROWS, .outputs = 2, .task = BROAD_TASK_REGRESS, .values = value_truth};

static void class_scores(double *out)
{
    problem_random r = {21};
    for (size_t i = 0; i < ROWS; i++)
        for (size_t c = 0; c < 3; c++) out[3 * i + c] = (c == class_truth[i]) * 0.5 + 0.3 * problem_normal(&r);
}

static void value_scores(double *out)
{
    problem_random r = {22};
    for (size_t i = 0; i < 2 * ROWS; i++) {
        value_truth[i] = 10 * problem_normal(&r);
        out[i] = value_truth[i] + (i % 2 ? 100 : 1) * problem_normal(&r);
    }
}

static void test_estimate_of_classes(void **state)
{
    (void)state;
    double scores[3 * ROWS], out[3 * ROWS], brier = 0;
    size_t right = 0;
    broad_model *model = class_model();
    class_scores(scores);
    assert_ok(broad__estimate_make(model, &class_rows, NULL, ROWS, scores));
    const broad__estimate *e = &model->estimate;
    assert_int_equal(e->rows, ROWS);
    assert_true(e->calibration && !e->residuals);
    assert_ok(broad_probabilities(out, model, scores, ROWS));
    for (size_t i = 0; i < ROWS; i++) {
        size_t best = broad_best_class(model, out + 3 * i);
        assert_int_equal(best, broad_best_class(model, scores + 3 * i));
        right += best == class_truth[i];
        for (size_t c = 0; c < 3; c++) brier += pow(out[3 * i + c] - (c == class_truth[i]), 2);
    }
    assert_true(fabs(e->accuracy - (double)right / ROWS) < 1e-15);
    assert_true(fabs(e->brier - brier / ROWS) < 1e-14);
    broad_estimate public = {.size = sizeof public};
    assert_ok(broad_model_estimate(&public, model));
    assert_true(public.known && public.rows == ROWS && public.accuracy == e->accuracy && public.brier == e->brier &&
                public.calibration_error == e->calibration_error);
    for (int chain = 0; chain < 2; chain++) { /* a chain has it from its score */
        model->settings.weights = chain ? BROAD_WEIGHTS_CHAIN : BROAD_WEIGHTS_JOINT;
        assert_ok(broad_model_estimate(&public, model));
        assert_string_equal(broad_enum_name(BROAD_ENUM_ESTIMATE_METHOD, (int)public.method),
                            chain ? "gcv" : "leave-one-out");
    }
    broad__estimate_clear(model);
    assert_ok(broad_model_estimate(&public, model));
    assert_true(!public.known && public.rows == 0 && public.method == 0 && !e->calibration);
    broad_model_free(model);
}

/* A class that counted w times in training has w times the odds there: the biases take that back. */
static void test_class_weights_are_undone(void **state)
{
    (void)state;
    static const double weights[3] = {1, 4, 0.5};
    double scores[3 * ROWS], with[3], without[3];
    broad_model *model = class_model();
    class_scores(scores);
    model->class_weights = broad__alloc_doubles(3, 1);
    memcpy(model->class_weights, weights, sizeof weights);
    assert_ok(broad__estimate_make(model, &class_rows, NULL, ROWS, scores));
    broad__confidence confidence = broad__confidence_of(model);
    assert_ok(broad__probabilities(with, &confidence, scores, 1));
    double plain[4] = {model->estimate.calibration[0]}, sum = 0;
    broad__calibrated(without, scores, 1, 3, plain);
    for (size_t c = 0; c < 3; c++) sum += without[c] /= weights[c];
    for (size_t c = 0; c < 3; c++) assert_true(fabs(with[c] - without[c] / sum) < 1e-14);
    broad_model_free(model);
}

static void test_rows_listed(void **state)
{
    (void)state;
    static const size_t rows[4] = {9, 2, 7, 4};
    double scores[3 * ROWS], some[12], weights[ROWS];
    size_t truth[4];
    broad_model *listed = class_model(), *alone = class_model();
    broad_data all = class_rows, part = {.rows = 4, .outputs = 3, .task = BROAD_TASK_CLASSIFY, .classes = truth};
    class_scores(scores);
    for (size_t i = 0; i < ROWS; i++) weights[i] = 1 + (double)i;
    for (size_t i = 0; i < 4; i++) {
        truth[i] = class_truth[rows[i]];
        memcpy(some + 3 * i, scores + 3 * rows[i], 3 * sizeof(double));
    }
    assert_ok(broad__estimate_make(listed, &all, rows, 4, some));
    assert_ok(broad__estimate_make(alone, &part, NULL, 4, some));
    assert_memory_equal(listed->estimate.calibration, alone->estimate.calibration, 4 * sizeof(double));
    assert_true(listed->estimate.brier == alone->estimate.brier && listed->estimate.rows == 4);
    double unweighted = alone->estimate.calibration[0];
    all.weights = weights;
    part.weights = (double[]){10, 3, 8, 5};
    assert_ok(broad__estimate_make(listed, &all, rows, 4, some));
    assert_ok(broad__estimate_make(alone, &part, NULL, 4, some));
    assert_memory_equal(listed->estimate.calibration, alone->estimate.calibration, 4 * sizeof(double));
    assert_true(alone->estimate.calibration[0] != unweighted);
    broad_model_free(listed);
    broad_model_free(alone);
}

static void test_estimate_of_values(void **state)
{
    (void)state;
    double scores[2 * ROWS], half[2], square = 0;
    broad_model *model = value_model();
    value_scores(scores);
    assert_ok(broad__estimate_make(model, &value_rows, NULL, ROWS, scores));
    const broad__estimate *e = &model->estimate;
    assert_true(e->rows == ROWS && e->residual_count == ROWS && !e->calibration);
    assert_ok(broad_interval(half, model, 0.9));
    for (size_t j = 0; j < 2; j++) {
        size_t inside = 0; /* rank ceil(12 * 0.9) = 11: all of them, the largest on the edge */
        for (size_t i = 0; i < ROWS; i++) inside += fabs(value_truth[2 * i + j] - scores[2 * i + j]) <= half[j];
        assert_int_equal(inside, ROWS);
        assert_true(half[j] == e->residuals[j * ROWS + ROWS - 1]);
    }
    assert_ok(broad_interval(half, model, 0.5));
    for (size_t j = 0; j < 2; j++) {
        size_t inside = 0; /* rank 6 */
        for (size_t i = 0; i < ROWS; i++) inside += fabs(value_truth[2 * i + j] - scores[2 * i + j]) <= half[j];
        assert_int_equal(inside, 6);
    }
    for (size_t i = 0; i < 2 * ROWS; i++) square += pow(value_truth[i] - scores[i], 2);
    assert_true(relative_difference(e->rmse, sqrt(square / (2 * ROWS)), 0) < 1e-14);
    assert_fails(broad_interval(half, model, 0.95), BROAD_USAGE, "of 11 rows");
    broad_model_free(model);
}

/* Noise in proportion to the value, or constant: widths follow it in the first case alone, and each third of the rows is
 * covered. */
static void test_width_follows_the_value(void **state)
{
    (void)state;
    enum { MANY = 6000, TRAIN = MANY / 2 };
    problem_random r = {77};
    double *values = malloc(4 * MANY * sizeof *values), *scores = values + 2 * MANY, ends[4];
    for (size_t i = 0; i < MANY; i++)
        for (size_t j = 0; j < 2; j++) {
            double at = scores[2 * i + j] = 1 + 9 * problem_uniform(&r);
            values[2 * i + j] = at + (j ? 1 : 0.3 * at) * problem_normal(&r);
        }
    broad_model *model = value_model();
    broad_data train = {.rows = TRAIN, .outputs = 2, .task = BROAD_TASK_REGRESS, .values = values};
    model->rows = TRAIN;
    assert_ok(broad__estimate_make(model, &train, NULL, TRAIN, scores));
    assert_ok(broad__estimate_check(model));
    assert_int_equal(model->estimate.spread_count, BROAD__SPREAD_MOST);
    assert_null(model->estimate.limits);
    size_t inside[2][3] = {{0}}, rows[2][3] = {{0}};
    for (size_t i = TRAIN; i < MANY; i++) {
        assert_ok(broad_intervals(ends, model, scores + 2 * i, 1, 0.9));
        for (size_t j = 0; j < 2; j++) {
            double at = scores[2 * i + j], truth = values[2 * i + j];
            size_t third = (size_t)((at - 1) / 3);
            rows[j][third]++;
            inside[j][third] += truth >= ends[2 * j] && truth <= ends[2 * j + 1];
            double reach = (ends[2 * j + 1] - ends[2 * j]) / 2, due = 1.6449 * (j ? 1 : 0.3 * fmin(fmax(at, 1.6), 9.4));
            assert_true(fabs(reach / due - 1) < 0.2);
        }
    }
    for (size_t j = 0; j < 2; j++)
        for (size_t k = 0; k < 3; k++) /* standard error 0.01 */
            assert_true(fabs((double)inside[j][k] / (double)rows[j][k] - 0.9) < 0.035);
    double low[2][4];
    for (size_t k = 0; k < 2; k++)
        assert_ok(broad_intervals(low[k], model, k ? (double[]){9, 9} : (double[]){2, 2}, 1, 0.9));
    assert_true(low[1][1] - low[1][0] > 3 * (low[0][1] - low[0][0]));
    assert_true(fabs((low[1][3] - low[1][2]) - (low[0][3] - low[0][2])) < 1e-12);
    broad_model_free(model);
    free(values);
}

/* Limits are where the targets touch them; few rows, negative ones and other ends have none. */
static void test_limits_of_targets(void **state)
{
    (void)state;
    static const struct {
        double least, most;
        size_t rows;
        double low, high;
    } cases[] = {
        {0, 1, 100, 0, 1},
        {0, 0.992, 100, 0, 1},
        {0, 0.98, 100, 0, DBL_MAX},
        {0, 100, 100, 0, 100},
        {0, 101, 100, 0, DBL_MAX},
        {0, 57, 100, 0, DBL_MAX},
        {1e-9, 1, 100, -DBL_MAX, DBL_MAX},
        {-1e-9, 1, 100, -DBL_MAX, DBL_MAX},
        {0, 1, 19, -DBL_MAX, DBL_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double limits[2];
        broad__limits_of(limits, cases[i].least, cases[i].most, cases[i].rows);
        assert_true(limits[0] == cases[i].low && limits[1] == cases[i].high);
    }
}

/* The limits are of all rows, also of those that the estimate does not use. */
static void test_intervals_end_at_limits(void **state)
{
    (void)state;
    enum { SOME = 40 };
    problem_random r = {5};
    double values[2 * SOME], scores[2 * SOME], ends[4];
    size_t rows[SOME];
    for (size_t i = 0; i < SOME; i++) {
        values[2 * i] = i == 0 ? 0 : i == 1 ? 1 : problem_uniform(&r);
        values[2 * i + 1] = values[2 * i];
        scores[2 * i] = scores[2 * i + 1] = 0.5;
        rows[i] = i;
    }
    values[2 * SOME - 1] = -0.25; /* the second target has no limits */
    broad_model *model = value_model();
    broad_data data = {.rows = SOME, .outputs = 2, .task = BROAD_TASK_REGRESS, .values = values};
    model->rows = SOME;
    assert_ok(broad__estimate_make(model, &data, rows + 2, SOME - 3, scores));
    assert_ok(broad__estimate_check(model));
    assert_ok(broad_intervals(ends, model, (double[]){0.1, 0.1}, 1, 0.9));
    assert_true(ends[0] == 0 && ends[1] > 0.4 && ends[1] < 0.7 && ends[2] < -0.2);
    assert_ok(broad_intervals(ends, model, (double[]){0.9, 0.9}, 1, 0.9));
    assert_true(ends[0] > 0.3 && ends[1] == 1 && ends[3] > 1.2);
    assert_ok(broad_intervals(ends, model, (double[]){-5, 5}, 1, 0.9));
    assert_true(ends[0] == 0 && ends[1] == 0 && ends[3] > 5);
    broad_model_free(model);
}

/* Scores that say nothing leave no estimate, whatever was there before. */
static void test_no_estimate_without_finite_scores(void **state)
{
    (void)state;
    double scores[2 * ROWS];
    static const double bad[] = {NAN, INFINITY, -INFINITY, 1.7e308};
    broad_model *model = value_model();
    for (size_t i = 0; i < 4; i++) {
        value_scores(scores);
        assert_ok(broad__estimate_make(model, &value_rows, NULL, ROWS, scores));
        assert_int_equal(model->estimate.rows, ROWS);
        scores[3] = bad[i];
        if (i == 3) scores[4] = -(value_truth[4] = 1.7e308);
        assert_ok(broad__estimate_make(model, &value_rows, NULL, ROWS, scores));
        assert_true(model->estimate.rows == 0 && !model->estimate.residuals);
    }
    assert_ok(broad__estimate_make(model, &value_rows, NULL, 0, scores));
    assert_int_equal(model->estimate.rows, 0);
    broad_model_free(model);
}

/* Many rows: 4096 order statistics of each output, and the coverage of new rows of the same kind. */
/* Pieces of uneven sizes, as no caller has them. */
static broad_metrics judge_in_pieces(const broad_model *model, const broad_data *truth, const double *scores,
                                     double level)
{
    broad__judge judge;
    broad_metrics metrics = {.size = sizeof metrics};
    assert_ok(broad__judge_open(&judge, model, truth, level, 0));
    for (size_t first = 0, count = 1; first < truth->rows; first += count, count = 3 * count + 1) {
        if (count > truth->rows - first) count = truth->rows - first;
        broad__judge_add(&judge, scores + first * truth->outputs, first, count);
    }
    broad__judge_measure(&metrics, &judge);
    broad__judge_close(&judge);
    return metrics;
}

static void test_many_rows(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    problem_random r = {31};
    double *values = malloc(4 * MANY * sizeof *values), *scores = values + 2 * MANY, half[2];
    for (size_t i = 0; i < MANY; i++)
        for (size_t j = 0; j < 2; j++) {
            scores[2 * i + j] = problem_normal(&r);
            values[2 * i + j] = scores[2 * i + j] + (j ? problem_normal(&r) : 5 * (problem_uniform(&r) - 0.5));
        }
    broad_model *model = value_model();
    broad_data train = {.rows = MANY / 2, .outputs = 2, .task = BROAD_TASK_REGRESS, .values = values};
    broad_data fresh = train;
    fresh.values += MANY;
    assert_ok(broad__estimate_make(model, &train, NULL, MANY / 2, scores));
    assert_int_equal(model->estimate.residual_count, BROAD__RESIDUALS_MAX);
    broad__confidence confidence = broad__confidence_of(model);
    assert_ok(broad__interval(half, &confidence, 0.9));
    assert_true(fabs(half[0] - 2.25) < 0.05); /* standard errors 0.0075 and 0.02 */
    assert_true(fabs(half[1] - 1.6449) < 0.07);
    broad_metrics metrics = judge_in_pieces(model, &fresh, scores + MANY, 0);
    assert_true(metrics.level == 0.9 && fabs(metrics.coverage - 0.9) < 0.012); /* standard error about 0.003 */
    assert_true(fabs(metrics.interval_width - half[0] - half[1]) < 1e-14);
    broad_metrics_clear(&metrics);
    metrics = judge_in_pieces(model, &fresh, scores + MANY, 0.6);
    assert_true(metrics.level == 0.6 && fabs(metrics.coverage - 0.6) < 0.02);
    broad_metrics_clear(&metrics);
    broad_model_free(model);
    free(values);
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

static void make_estimate(broad_model *model)
{
    double scores[3 * ROWS];
    int classify = model->task == BROAD_TASK_CLASSIFY;
    if (classify) class_scores(scores);
    else value_scores(scores);
    assert_ok(broad__estimate_make(model, classify ? &class_rows : &value_rows, NULL, ROWS, scores));
}

static void same_estimate(const broad_model *left, const broad_model *right)
{
    const broad__estimate *a = &left->estimate, *b = &right->estimate;
    assert_true(a->rows == b->rows && a->residual_count == b->residual_count);
    assert_true(a->accuracy == b->accuracy && a->brier == b->brier && a->calibration_error == b->calibration_error);
    assert_true(a->rmse == b->rmse && a->mae == b->mae && a->r2 == b->r2);
    assert_true(!a->calibration == !b->calibration && !a->residuals == !b->residuals);
    if (a->calibration) assert_memory_equal(a->calibration, b->calibration, (left->outputs + 1) * sizeof(double));
    if (a->residuals)
        assert_memory_equal(a->residuals, b->residuals, left->outputs * a->residual_count * sizeof(double));
}

static void test_file_keeps_it(void **state)
{
    (void)state;
    broad_model *models[2] = {class_model(), value_model()};
    for (size_t i = 0; i < 4; i++) {
        void *bytes = NULL, *again = NULL;
        size_t count = 0, more = 0;
        broad_model *back = NULL, *copy = NULL, *model = models[i % 2];
        make_estimate(model);
        assert_ok(broad_model_to_memory(&bytes, &count, model, i > 1));
        assert_ok(broad_model_from_memory(&back, bytes, count));
        same_estimate(model, back);
        assert_ok(broad__model_copy(&copy, back));
        same_estimate(model, copy);
        assert_ok(broad_model_to_memory(&again, &more, copy, i > 1));
        assert_true(count == more && memcmp(bytes, again, count) == 0);
        broad_model_free(back);
        broad_model_free(copy);
        broad_free(bytes);
        broad_free(again);
    }
    broad_model_free(models[0]);
    broad_model_free(models[1]);
}

/* Replaces text in the header by text of the same length, and repairs the checksums. */
static void edit_text(unsigned char *bytes, size_t count, const char *from, const char *to)
{
    size_t length = strlen(from);
    assert_int_equal(length, strlen(to));
    for (size_t i = 0; i + length <= count; i++)
        if (memcmp(bytes + i, from, length) == 0) {
            memcpy(bytes + i, to, length);
            sample_repair(bytes, count);
            return;
        }
    fail_msg("no %s in the file", from);
}

typedef struct bad_file {
    int classify;
    const char *from, *to; /* in the header; NULL: as it is */
    size_t from_end;       /* this double, counted from the end, from 1; 0: none */
    double value;
    const char *message;
} bad_file;

#define FIELD(name, value) "\\\"" name "\\\":" value

static void test_bad_files(void **state)
{
    (void)state;
    static const bad_file files[] = {
        {1, FIELD("estimate", "{\\\"rows\\\":11"), FIELD("estimate", "{\\\"rows\\\":12"), 0, 0, "12 rows where"},
        {1, FIELD("estimate", "{\\\"rows\\\":11"), FIELD("estimate", "{\\\"rows\\\":-1"), 0, 0,
         "estimate: rows is not a whole number"},
        {1, FIELD("accuracy", "0."), FIELD("accuracy", "9."), 0, 0, "estimate: accuracy is 9."},
        {1, FIELD("brier", "0."), FIELD("brier", "7."), 0, 0, "estimate: brier is 7."},
        {1, FIELD("brier", "0."), FIELD("brxer", "0."), 0, 0, "estimate: "},
        {1, NULL, NULL, 4, -1, "estimate.calibration: a slope of -1"},
        {1, NULL, NULL, 4, 1e7, "estimate.calibration: a slope of 1e+07"},
        {1, NULL, NULL, 1, NAN, "tensor estimate.calibration: value 4 is not finite"},
        {1, "\"estimate.calibration\"", "\"estimate.calibrbtion\"", 0, 0, "tensor estimate.calibration is missing"},
        {0, FIELD("estimate", "{\\\"rows\\\":11"), FIELD("estimate", "{\\\"rows\\\":10"), 0, 0,
         "11 residuals of 10 rows where 10 are kept"},
        {0, FIELD("residuals", "11"), FIELD("residuals", "10"), 0, 0, "tensor estimate.residuals: shape [2, 11]"},
        {0, FIELD("residuals", "11"), FIELD("residuals", " 0"), 0, 0, "estimate: residuals is 0"},
        {0, FIELD("rmse", ""), FIELD("rmsf", ""), 0, 0, "estimate: "},
        {0, NULL, NULL, 22, -1e-300, "estimate.residuals: number 1 of output 1 is negative"},
        {0, NULL, NULL, 1, 0, "estimate.residuals: number 11 of output 2 is smaller than the one before"},
        {0, NULL, NULL, 2, INFINITY, "tensor estimate.residuals: value 21 is not finite"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const bad_file *f = &files[i];
        void *bytes = NULL;
        size_t count = 0;
        broad_model *model = f->classify ? class_model() : value_model(), *back = NULL;
        make_estimate(model);
        assert_ok(broad_model_to_memory(&bytes, &count, model, 0));
        if (f->from) edit_text(bytes, count, f->from, f->to);
        if (f->from_end) memcpy((char *)bytes + count - 8 * f->from_end, &f->value, 8);
        sample_repair(bytes, count);
        assert_fails(broad_model_from_memory(&back, bytes, count), BROAD_BAD_MODEL, f->message);
        broad_model_free(model);
        broad_free(bytes);
    }
}

static void test_bad_model_is_not_saved(void **state)
{
    (void)state;
    void *bytes = NULL;
    size_t count = 0;
    broad_model *model = value_model();
    make_estimate(model);
    model->estimate.residuals[3] = 1e9;
    assert_fails(broad_model_to_memory(&bytes, &count, model, 0), BROAD_FAILED, "number 5 of output 1 is smaller");
    broad__free(model->estimate.residuals);
    model->estimate.residuals = NULL;
    assert_fails(broad_model_to_memory(&bytes, &count, model, 0), BROAD_FAILED, "its residuals are missing");
    broad_model_free(model);
}

/* ---- through the public header --------------------------------------------------------------------------------- */

enum { FIT_ROWS = 240 };

/* A small network fitted to rows whose labels or values are a noisy function of two inputs. */
static void fit_small(broad_model **out, broad_data **out_data, int classify)
{
    problem_random r = {41};
    static double x[2 * FIT_ROWS], y[FIT_ROWS];
    static int64_t classes[FIT_ROWS];
    broad_arrays arrays;
    broad_options options;
    for (size_t i = 0; i < FIT_ROWS; i++) {
        x[2 * i] = problem_normal(&r);
        x[2 * i + 1] = problem_normal(&r);
        y[i] = x[2 * i] - sin(x[2 * i + 1]) + 0.3 * problem_normal(&r);
        classes[i] = y[i] > 0;
    }
    broad_arrays_init(&arrays);
    arrays.rows = FIT_ROWS;
    arrays.inputs = 2;
    arrays.x = x;
    if (classify) {
        arrays.classes = classes;
    } else {
        arrays.values = y;
        arrays.outputs = 1;
    }
    broad_options_init(&options);
    assert_ok(broad_options_set(&options, "features", "2x3"));
    assert_ok(broad_options_set(&options, "enhance", "5x1"));
    assert_ok(broad_data_from_arrays(out_data, &arrays));
    assert_ok(broad_fit(out, NULL, *out_data, &options));
}

static void test_without_an_estimate(void **state)
{
    (void)state;
    double numbers[2] = {0.2, 0.8};
    for (int classify = 0; classify < 2; classify++) {
        broad_model *model = NULL;
        broad_data *data = NULL;
        broad_metrics metrics = {.size = sizeof metrics};
        fit_small(&model, &data, classify);
        broad__estimate_clear(model);
        assert_fails(broad_probabilities(numbers, model, numbers, 1), BROAD_USAGE,
                     classify ? "no estimate of its error: fit it with option loo yes" : "this model predicts numbers");
        assert_fails(broad_interval(numbers, model, 0.9), BROAD_USAGE,
                     classify ? "this model predicts classes" : "no estimate of its error: fit it with option loo yes");
        assert_ok(broad_eval(&metrics, model, data, THREADS(1)));
        assert_true(!metrics.has_probabilities && metrics.brier == 0 && metrics.level == 0);
        broad_metrics_clear(&metrics);
        assert_fails(broad_eval_level(&metrics, model, data, 0.8, THREADS(1)), BROAD_USAGE,
                     classify ? "this model predicts classes" : "no estimate of its error");
        assert_fails(broad_eval_level(&metrics, model, data, 1, THREADS(1)), BROAD_USAGE, "between 0 and 1");
        assert_fails(broad_eval_level(&metrics, model, data, 0, THREADS(1)), BROAD_USAGE, "between 0 and 1");
        broad_model_free(model);
        broad_data_free(data);
    }
    assert_fails(broad_model_estimate(NULL, NULL), BROAD_USAGE, "is NULL");
    assert_fails(broad_probabilities(NULL, NULL, NULL, 0), BROAD_USAGE, "is NULL");
    assert_fails(broad_interval(NULL, NULL, 0.9), BROAD_USAGE, "is NULL");
}

static void test_eval_measures(void **state)
{
    (void)state;
    double scores[2 * FIT_ROWS], p[2 * FIT_ROWS], half = 0, brier = 0, loss = 0;
    broad_metrics metrics = {.size = sizeof metrics};
    for (int classify = 0; classify < 2; classify++) {
        broad_model *model = NULL;
        broad_data *data = NULL;
        size_t inside = 0;
        fit_small(&model, &data, classify);
        assert_ok(broad_predict_data(scores, model, data, THREADS(1)));
        assert_ok(broad__estimate_make(model, data, NULL, FIT_ROWS, scores));
        assert_ok(broad_eval(&metrics, model, data, THREADS(2)));
        if (classify) {
            assert_ok(broad_probabilities(p, model, scores, FIT_ROWS));
            for (size_t i = 0; i < FIT_ROWS; i++) {
                double own = p[2 * i + broad_data_class(data, i)];
                brier += 2 * (1 - own) * (1 - own);
                loss -= log(own);
            }
            assert_true(metrics.has_probabilities && metrics.level == 0);
            assert_true(relative_difference(metrics.brier, brier / FIT_ROWS, 0) < 1e-13);
            assert_true(relative_difference(metrics.log_loss, loss / FIT_ROWS, 0) < 1e-13);
            assert_true(metrics.calibration_error > 0 && metrics.calibration_error < 0.2);
        } else {
            assert_true(!metrics.has_probabilities && metrics.level == 0.9);
            assert_true(fabs(metrics.coverage - 217.0 / 240) < 1e-15); /* rank ceil(241 * 0.9) */
            broad_metrics_clear(&metrics);
            assert_ok(broad_eval_level(&metrics, model, data, 0.5, THREADS(1)));
            assert_ok(broad_interval(&half, model, 0.5));
            for (size_t i = 0; i < FIT_ROWS; i++) inside += fabs(broad_data_value(data, i, 0) - scores[i]) <= half;
            assert_true(metrics.level == 0.5 && metrics.coverage == (double)inside / FIT_ROWS && inside == 121);
            assert_true(metrics.interval_width == 2 * half);
            broad_metrics_clear(&metrics);
            assert_ok(broad__estimate_make(model, data, NULL, 8, scores)); /* too few for 0.9 */
            assert_ok(broad_eval(&metrics, model, data, THREADS(1)));
            assert_true(metrics.level == 0 && metrics.coverage == 0);
        }
        broad_metrics_clear(&metrics);
        broad_model_free(model);
        broad_data_free(data);
    }
}

/* ---- out of memory --------------------------------------------------------------------------------------------- */

static size_t allocations_left;

static void *limited_allocate(size_t bytes, void *context)
{
    (void)context;
    return allocations_left && allocations_left-- ? malloc(bytes) : NULL;
}

static void limited_release(void *block, void *context)
{
    (void)context;
    free(block);
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    static const broad_allocator limited = {limited_allocate, limited_release, NULL};
    double scores[3 * ROWS], weights[ROWS];
    for (size_t i = 0; i < ROWS; i++) weights[i] = 1;
    for (int classify = 0; classify < 2; classify++) {
        broad_set_allocator(&limited);
        allocations_left = SIZE_MAX;
        broad_model *model = classify ? class_model() : value_model();
        broad_data rows = classify ? class_rows : value_rows;
        rows.weights = weights;
        if (classify) class_scores(scores);
        else value_scores(scores);
        int status = BROAD_NO_MEMORY;
        size_t allowed = 0;
        for (; status == BROAD_NO_MEMORY; allowed++) {
            allocations_left = allowed;
            status = broad__estimate_make(model, &rows, NULL, ROWS, scores);
            assert_true(model->estimate.rows == (status == BROAD_OK ? ROWS : 0));
            assert_true(status == BROAD_OK || (!model->estimate.calibration && !model->estimate.residuals));
        }
        assert_int_equal(status, BROAD_OK);
        assert_true(allowed > 4);
        broad_model_free(model);
        broad_set_allocator(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slope_is_the_minimum),
        cmocka_unit_test(test_slope_is_found_again),
        cmocka_unit_test(test_slope_stays_in_bounds),
        cmocka_unit_test(test_probabilities),
        cmocka_unit_test(test_reliability_by_hand),
        cmocka_unit_test(test_coverage_is_exact),
        cmocka_unit_test(test_order_statistics),
        cmocka_unit_test(test_level_too_high),
        cmocka_unit_test(test_estimate_of_classes),
        cmocka_unit_test(test_class_weights_are_undone),
        cmocka_unit_test(test_rows_listed),
        cmocka_unit_test(test_estimate_of_values),
        cmocka_unit_test(test_width_follows_the_value),
        cmocka_unit_test(test_limits_of_targets),
        cmocka_unit_test(test_intervals_end_at_limits),
        cmocka_unit_test(test_no_estimate_without_finite_scores),
        cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_file_keeps_it),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_bad_model_is_not_saved),
        cmocka_unit_test(test_without_an_estimate),
        cmocka_unit_test(test_eval_measures),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
