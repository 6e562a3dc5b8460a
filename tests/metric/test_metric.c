/* Measures, against counts and sums made another way. */
#include "helper.h"

#include "base/memory.h"
#include "base/status.h"
#include "data/table.h"
#include "metric/metric.h"
#include "rng/philox.h"

static broad_data classes_of(size_t rows, size_t outputs, size_t *classes)
{
    return (broad_data){.rows = rows, .outputs = outputs, .task = BROAD_TASK_CLASSIFY, .classes = classes};
}

static void test_two_classes_by_hand(void **state)
{
    (void)state;
    /* positive = 1: TP 3, FN 1, FP 2, TN 4 */
    size_t truth[10] = {1, 1, 1, 1, 0, 0, 0, 0, 0, 0};
    double scores[20];
    int verdict[10] = {1, 1, 1, 0, 1, 1, 0, 0, 0, 0};
    for (int i = 0; i < 10; i++) {
        scores[2 * i] = verdict[i] ? 0.2 : 0.9;
        scores[2 * i + 1] = verdict[i] ? 0.8 : 0.1;
    }
    broad_data table = classes_of(10, 2, truth);
    broad_metrics m = {.size = sizeof m};
    assert_ok(broad__metrics(&m, &table, scores, 1));
    assert_true(fabs(m.accuracy - 0.7) < 1e-15);
    assert_true(fabs(m.precision - 0.6) < 1e-15);
    assert_true(fabs(m.recall - 0.75) < 1e-15);
    assert_true(fabs(m.f1 - 2 * 0.6 * 0.75 / 1.35) < 1e-15);
    assert_true(fabs(m.false_positive - 2.0 / 6) < 1e-15);
    assert_true(fabs(m.false_negative - 0.25) < 1e-15);
    assert_int_equal(m.confusion[0], 4);
    assert_int_equal(m.confusion[1], 2);
    assert_int_equal(m.confusion[2], 1);
    assert_int_equal(m.confusion[3], 3);
    broad__free(m.confusion);
    assert_ok(broad__metrics(&m, &table, scores, 0));
    assert_true(fabs(m.precision - 0.8) < 1e-15);
    assert_true(fabs(m.recall - 4.0 / 6) < 1e-15);
    broad__free(m.confusion);
}

static void test_first_of_equals_wins(void **state)
{
    (void)state;
    size_t truth[2] = {0, 1};
    double scores[6] = {0.5, 0.5, 0.5, 0, 1, 1};
    broad_data table = classes_of(2, 3, truth);
    broad_metrics m = {.size = sizeof m};
    assert_ok(broad__metrics(&m, &table, scores, 0));
    assert_true(m.accuracy == 1);
    broad__free(m.confusion);
}

/* Macro means straight from the definition, row by row and class by class. */
static void test_macro_means(void **state)
{
    (void)state;
    enum { ROWS = 200, CLASSES = 5 };
    size_t truth[ROWS];
    static double scores[ROWS * CLASSES];
    broad__stream stream = {.seed = 5, .purpose = BROAD__FOR_DEMO};
    broad__random_fill(scores, &stream, 0, ROWS * CLASSES);
    for (size_t i = 0; i < ROWS; i++) truth[i] = i * i % 4; /* class 4 never occurs, 2 and 3 do not either */
    broad_data table = classes_of(ROWS, CLASSES, truth);
    broad_metrics m = {.size = sizeof m};
    assert_ok(broad__metrics(&m, &table, scores, 0));
    double precision = 0, recall = 0, f1 = 0, fpr = 0, fnr = 0, right = 0;
    for (size_t c = 0; c < CLASSES; c++) {
        double tp = 0, fp = 0, fn = 0, tn = 0;
        for (size_t i = 0; i < ROWS; i++) {
            size_t best = 0;
            for (size_t k = 0; k < CLASSES; k++)
                if (scores[i * CLASSES + k] > scores[i * CLASSES + best]) best = k;
            tp += best == c && truth[i] == c;
            fp += best == c && truth[i] != c;
            fn += best != c && truth[i] == c;
            tn += best != c && truth[i] != c;
        }
        double p = tp + fp > 0 ? tp / (tp + fp) : 0, r = tp + fn > 0 ? tp / (tp + fn) : 0;
        precision += p / CLASSES;
        recall += r / CLASSES;
        f1 += (p + r > 0 ? 2 * p * r / (p + r) : 0) / CLASSES;
        fpr += (fp + tn > 0 ? fp / (fp + tn) : 0) / CLASSES;
        fnr += (fn + tp > 0 ? fn / (fn + tp) : 0) / CLASSES;
        right += tp;
    }
    assert_true(fabs(m.accuracy - right / ROWS) < 1e-14);
    assert_true(fabs(m.precision - precision) < 1e-14);
    assert_true(fabs(m.recall - recall) < 1e-14);
    assert_true(fabs(m.f1 - f1) < 1e-14);
    assert_true(fabs(m.false_positive - fpr) < 1e-14);
    assert_true(fabs(m.false_negative - fnr) < 1e-14);
    broad__free(m.confusion);
}

/* Far from zero and nearly right: where sums of squares would lose every digit. */
static void test_regression(void **state)
{
    (void)state;
    enum { ROWS = 1000, OUTPUTS = 3 };
    static double values[ROWS * OUTPUTS], scores[ROWS * OUTPUTS];
    broad__stream stream = {.seed = 6, .purpose = BROAD__FOR_DEMO};
    for (size_t i = 0; i < ROWS * OUTPUTS; i++) {
        values[i] = 1e8 + broad__random_at(&stream, i);
        scores[i] = values[i] + 1e-3 * (broad__random_at(&stream, 100000 + i) - 0.5);
    }
    broad_data table = {.rows = ROWS, .outputs = OUTPUTS, .task = BROAD_TASK_REGRESS, .values = values};
    broad_metrics m = {.size = sizeof m};
    assert_ok(broad__metrics(&m, &table, scores, 0));
    long double sse = 0, sae = 0, sst = 0;
    for (size_t j = 0; j < OUTPUTS; j++) {
        long double sum = 0, squares = 0; /* about 1e8, so that the plain textbook form is exact enough */
        for (size_t i = 0; i < ROWS; i++) {
            long double y = (long double)values[i * OUTPUTS + j] - 1e8L,
                        e = (long double)values[i * OUTPUTS + j] - (long double)scores[i * OUTPUTS + j];
            sum += y;
            squares += y * y;
            sse += e * e;
            sae += fabsl(e);
        }
        sst += squares - sum * sum / ROWS;
    }
    assert_true(relative_difference(m.rmse, (double)sqrtl(sse / (ROWS * OUTPUTS)), 0) < 1e-13);
    assert_true(relative_difference(m.mae, (double)(sae / (ROWS * OUTPUTS)), 0) < 1e-13);
    assert_true(relative_difference(m.r2, (double)(1 - sse / sst), 0) < 1e-13);
    assert_null(m.confusion);
}

static void test_constant_truth(void **state)
{
    (void)state;
    double values[3] = {2, 2, 2}, scores[3] = {2, 3, 1};
    broad_data table = {.rows = 3, .outputs = 1, .task = BROAD_TASK_REGRESS, .values = values};
    broad_metrics m = {.size = sizeof m};
    assert_ok(broad__metrics(&m, &table, scores, 0));
    assert_true(m.r2 == 0);
    assert_true(fabs(m.mae - 2.0 / 3) < 1e-15);
}

static void test_no_targets(void **state)
{
    (void)state;
    broad_data table = {.rows = 3};
    broad_metrics m = {.size = sizeof m};
    assert_fails(broad__metrics(&m, &table, NULL, 0), BROAD_BAD_DATA, "no targets");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_classes_by_hand), cmocka_unit_test(test_first_of_equals_wins),
        cmocka_unit_test(test_macro_means),         cmocka_unit_test(test_regression),
        cmocka_unit_test(test_constant_truth),      cmocka_unit_test(test_no_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
