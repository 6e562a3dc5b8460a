/* Measures, against counts and sums made another way. */
#include "helper.h"

#include "base/memory.h"
#include "base/spill.h"
#include "base/status.h"
#include "data/table.h"
#include "metric/calibration.h"
#include "metric/law.h"
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
    assert_ok(broad__metrics(&m, &table, scores, &(broad__verdicts){.positive = 1}));
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
    broad__metrics_clear(&m);
    assert_ok(broad__metrics(&m, &table, scores, &(broad__verdicts){.positive = 0}));
    assert_true(fabs(m.precision - 0.8) < 1e-15);
    assert_true(fabs(m.recall - 4.0 / 6) < 1e-15);
    broad__metrics_clear(&m);
}

static void test_first_of_equals_wins(void **state)
{
    (void)state;
    size_t truth[2] = {0, 1};
    double scores[6] = {0.5, 0.5, 0.5, 0, 1, 1};
    broad_data table = classes_of(2, 3, truth);
    broad_metrics m = {.size = sizeof m};
    assert_ok(broad__metrics(&m, &table, scores, &(broad__verdicts){.positive = 0}));
    assert_true(m.accuracy == 1);
    broad__metrics_clear(&m);
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
    assert_ok(broad__metrics(&m, &table, scores, &(broad__verdicts){.positive = 0}));
    double precision = 0, recall = 0, f1 = 0, fpr = 0, fnr = 0, right = 0, members = 0, either = 0;
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
        members += tp + fn > 0;
        either += tp + fn + fp > 0;
        precision += p;
        recall += r;
        f1 += p + r > 0 ? 2 * p * r / (p + r) : 0;
        fpr += fp / (fp + tn) / CLASSES;
        fnr += tp + fn > 0 ? fn / (fn + tp) : 0;
        right += tp;
    }
    assert_true(fabs(m.accuracy - right / ROWS) < 1e-14);
    assert_true(members == 2 && either == CLASSES);
    assert_true(fabs(m.precision - precision / either) < 1e-14);
    assert_true(fabs(m.recall - recall / members) < 1e-14);
    assert_true(fabs(m.f1 - f1 / either) < 1e-14);
    assert_true(fabs(m.false_positive - fpr) < 1e-14);
    assert_true(fabs(m.false_negative - fnr / members) < 1e-14);
    assert_true(m.recall == m.balanced_accuracy);
    for (size_t c = 2; c < CLASSES; c++) {
        assert_true(isnan(broad__detail(m.details, c, BROAD__DETAIL_RECALL)));
        assert_true(broad__detail(m.details, c, BROAD__DETAIL_PRECISION) == 0);
    }
    broad__metrics_clear(&m);
}

/* A class that rows have and none gets counts as 0 in precision and F1; one that is neither counts nowhere. */
static void test_classes_that_are_not_there(void **state)
{
    (void)state;
    enum { ROWS = 6, CLASSES = 4 };
    size_t truth[ROWS] = {0, 0, 0, 0, 1, 2}, verdict[ROWS] = {0, 0, 0, 2, 0, 2};
    double scores[ROWS * CLASSES] = {0};
    for (size_t i = 0; i < ROWS; i++) scores[i * CLASSES + verdict[i]] = 1;
    broad_data table = classes_of(ROWS, CLASSES, truth);
    broad_metrics m = {.size = sizeof m};
    assert_ok(broad__metrics(&m, &table, scores, &(broad__verdicts){.positive = 0}));
    assert_true(fabs(m.precision - (3.0 / 4 + 0 + 1.0 / 2) / 3) < 1e-15);
    assert_true(fabs(m.recall - (3.0 / 4 + 0 + 1) / 3) < 1e-15);
    assert_true(fabs(m.f1 - (6.0 / 8 + 0 + 2.0 / 3) / 3) < 1e-15);
    assert_true(fabs(m.false_positive - (1.0 / 2 + 0 + 1.0 / 5 + 0) / 4) < 1e-15);
    assert_true(broad__detail(m.details, 1, BROAD__DETAIL_PRECISION) == 0);
    for (size_t which = BROAD__DETAIL_PRECISION; which <= BROAD__DETAIL_F1; which++)
        assert_true(isnan(broad__detail(m.details, 3, which)));
    broad__metrics_clear(&m);
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
    assert_ok(broad__metrics(&m, &table, scores, &(broad__verdicts){.positive = 0}));
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
    broad__metrics_clear(&m);
}

static void test_constant_truth(void **state)
{
    (void)state;
    double values[3] = {2, 2, 2}, scores[3] = {2, 3, 1};
    broad_data table = {.rows = 3, .outputs = 1, .task = BROAD_TASK_REGRESS, .values = values};
    broad_metrics m = {.size = sizeof m};
    assert_ok(broad__metrics(&m, &table, scores, &(broad__verdicts){.positive = 0}));
    assert_true(m.r2 == 0);
    assert_true(fabs(m.mae - 2.0 / 3) < 1e-15);
    broad__metrics_clear(&m);
}

static void test_no_targets(void **state)
{
    (void)state;
    broad_data table = {.rows = 3};
    broad_metrics m = {.size = sizeof m};
    assert_fails(broad__metrics(&m, &table, NULL, &(broad__verdicts){.positive = 0}), BROAD_BAD_DATA, "no targets");
}

enum { RANKED = 120, KINDS = 4 };

/* ROC by counting pairs, precision over recall by going through every threshold. */
static void plain_areas(double *roc, double *pr, const double *p, const size_t *truth, size_t class)
{
    double pairs = 0, won = 0, sum = 0, members = 0;
    for (size_t i = 0; i < RANKED; i++) members += truth[i] == class;
    for (size_t i = 0; i < RANKED; i++) {
        if (truth[i] != class) continue;
        double above = 0, right = 0, x = p[i * KINDS + class];
        for (size_t k = 0; k < RANKED; k++) {
            double y = p[k * KINDS + class];
            above += y >= x;
            right += y >= x && truth[k] == class;
            if (truth[k] == class) continue;
            pairs++;
            won += x > y ? 1 : x == y ? 0.5 : 0;
        }
        sum += right / above; /* of members that are equal, each has the precision of all of them */
    }
    *roc = won / pairs;
    *pr = sum / members;
}

static void test_areas(void **state)
{
    (void)state;
    size_t truth[RANKED];
    static double scores[RANKED * KINDS], p[RANKED * KINDS];
    broad__stream stream = {.seed = 8, .purpose = BROAD__FOR_DEMO};
    double calibration[KINDS + 1] = {3, 0.5, 0, -0.25, 0};
    for (size_t i = 0; i < RANKED; i++) {
        truth[i] = (size_t)(broad__random_at(&stream, 5000 + i) * (KINDS - 1)); /* the last class never occurs */
        for (size_t c = 0; c < KINDS; c++)                                      /* few values: many are equal */
            scores[i * KINDS + c] = floor(4 * broad__random_at(&stream, i * KINDS + c)) / 4 + (truth[i] == c) * 0.25;
    }
    for (int calibrated = 0; calibrated < 2; calibrated++) {
        broad_data table = classes_of(RANKED, KINDS, truth);
        broad_metrics m = {.size = sizeof m};
        const double none[KINDS + 1] = {1};
        broad__calibrated(p, scores, RANKED, KINDS, calibrated ? calibration : none);
        assert_ok(
            broad__metrics(&m, &table, scores, &(broad__verdicts){.calibration = calibrated ? calibration : NULL}));
        double roc = 0, pr = 0;
        for (size_t i = 0; i < RANKED * KINDS; i++) p[i] = round(p[i] * 1e12) / 1e12; /* equal ones are equal */
        for (size_t c = 0; c + 1 < KINDS; c++) {
            double a = 0, b = 0;
            plain_areas(&a, &b, p, truth, c);
            assert_true(fabs(m.details[c * BROAD__DETAILS + BROAD__DETAIL_ROC] - a) < 0.01);
            assert_true(fabs(m.details[c * BROAD__DETAILS + BROAD__DETAIL_PR] - b) < 0.02);
            roc += m.details[c * BROAD__DETAILS + BROAD__DETAIL_ROC] / (KINDS - 1);
            pr += m.details[c * BROAD__DETAILS + BROAD__DETAIL_PR] / (KINDS - 1);
        }
        assert_true(isnan(broad__detail(m.details, KINDS - 1, BROAD__DETAIL_ROC)));
        assert_true(fabs(m.roc_auc - roc) < 1e-14 && fabs(m.pr_auc - pr) < 1e-14);
        broad__metrics_clear(&m);
    }
}

/* Two classes with many equal scores, where the order of rows must not matter: exact. */
static void test_ties(void **state)
{
    (void)state;
    size_t truth[8] = {1, 0, 1, 0, 1, 0, 0, 1};
    double level[8] = {3, 3, 2, 2, 2, 1, 1, 1}, scores[16];
    for (int i = 0; i < 8; i++) scores[2 * i] = -(scores[2 * i + 1] = level[i]);
    broad_data table = classes_of(8, 2, truth);
    broad_metrics m = {.size = sizeof m};
    assert_ok(broad__metrics(&m, &table, scores, &(broad__verdicts){.positive = 1}));
    /* pairs: 3 against 3 2 1 1, 2 twice against the same, 1 against the same; equal ones count as half */
    assert_true(fabs(m.roc_auc - (3.5 + 2 * 2.5 + 1) / 16) < 1e-15);
    assert_true(fabs(m.pr_auc - (0.25 * (1.0 / 2) + 0.5 * (3.0 / 5) + 0.25 * (4.0 / 8))) < 1e-15);
    assert_true(fabs(m.baseline - 0.5) < 1e-15);
    broad__metrics_clear(&m);
}

/* Matthews' correlation of two classes by its own formula; balanced accuracy over the classes that occur. */
static void test_correlation(void **state)
{
    (void)state;
    size_t truth[10] = {1, 1, 1, 1, 0, 0, 0, 0, 0, 0};
    double scores[20], tp = 3, fn = 1, fp = 2, tn = 4;
    int verdict[10] = {1, 1, 1, 0, 1, 1, 0, 0, 0, 0};
    for (int i = 0; i < 10; i++) scores[2 * i] = 1 - (scores[2 * i + 1] = verdict[i] ? 0.8 : 0.1);
    broad_data table = classes_of(10, 2, truth);
    broad_metrics m = {.size = sizeof m};
    assert_ok(broad__metrics(&m, &table, scores, &(broad__verdicts){.positive = 1}));
    double expected = (tp * tn - fp * fn) / sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn));
    assert_true(fabs(m.mcc - expected) < 1e-14);
    assert_true(fabs(m.balanced_accuracy - (0.75 + 4.0 / 6) / 2) < 1e-15);
    assert_true(fabs(m.baseline - 0.6) < 1e-15);
    assert_true(m.low < 0.7 && m.high > 0.7 && fabs(m.low - 0.39677) < 1e-5 && fabs(m.high - 0.89221) < 1e-5);
    broad__metrics_clear(&m);
}

/* Few rows and many, with equal scores of both signs among them: the area is the part of pairs in the right order. */
static void test_ranking_counts_pairs(void **state)
{
    (void)state;
    enum { MOST = 1500 };
    static double gap[MOST];
    for (size_t count = 300; count <= MOST; count += 1200) {
        broad__ranking ranking;
        double right = 0, pairs = 0, roc[2], pr[2];
        assert_ok(broad__ranking_open(&ranking, count, 2, NULL));
        for (size_t i = 0; i < count; i++) {
            gap[i] = round(40 * sin(1.7 * (double)i)) / 16 + (i % 3 ? 0.25 : 0);
            broad__ranking_add(&ranking, i, (double[2]){0, gap[i]}, i % 3 == 1, NULL);
        }
        for (size_t i = 1; i < count; i += 3)
            for (size_t k = 0; k < count; k++) {
                if (k % 3 == 1) continue;
                right += gap[i] > gap[k] ? 1 : gap[i] == gap[k] ? 0.5 : 0;
                pairs++;
            }
        assert_ok(broad__ranking_measure(roc, pr, &ranking));
        assert_true(fabs(roc[1] - right / pairs) < 1e-12 && fabs(roc[0] - roc[1]) < 1e-12);
        broad__ranking_close(&ranking);
    }
}

/* Rows whose numbers lie in a file, released again and again, have the areas that they have in memory. */
static void test_ranking_in_a_file(void **state)
{
    (void)state;
    enum { ROWS = 150001, CLASSES = 3 };
    broad__spill *spill = NULL;
    broad__ranking ranking[2];
    double roc[2][CLASSES], pr[2][CLASSES];
    assert_ok(broad__spill_open(&spill, 1 << 20));
    for (int k = 0; k < 2; k++) {
        assert_ok(broad__ranking_open(&ranking[k], ROWS, CLASSES, k ? spill : NULL));
        for (size_t i = 0; i < ROWS; i++) {
            double at = (double)i, scores[CLASSES] = {sin(at), round(4 * sin(1.7 * at)) / 4, i % 7 ? 0.1 : -0.1};
            broad__ranking_add(&ranking[k], i, scores, i * i % 11 % CLASSES, NULL);
        }
        assert_ok(broad__ranking_measure(roc[k], pr[k], &ranking[k]));
        broad__ranking_close(&ranking[k]);
    }
    assert_memory_equal(roc[0], roc[1], sizeof roc[0]);
    assert_memory_equal(pr[0], pr[1], sizeof pr[0]);
    assert_true(roc[0][0] > 0 && roc[0][0] < 1 && pr[0][0] > 0);
    broad__spill_close(spill);
}

/* Many more rows than are ranked: every k-th, whatever the pieces they come in. */
static void test_ranking_is_bounded(void **state)
{
    (void)state;
    enum { MANY = 5, WIDE = 1 << 20 };
    broad__ranking ranking;
    double scores[2] = {0.25, 0.5};
    assert_ok(broad__ranking_open(&ranking, (size_t)MANY * WIDE, 2, NULL));
    assert_int_equal(ranking.step, MANY);
    for (size_t i = 0; i < 64; i++) broad__ranking_add(&ranking, i, scores, i % 2, NULL);
    assert_int_equal(ranking.count, 13);
    broad__ranking_close(&ranking);
}

/* ---- the law of residuals -------------------------------------------------------------------------------------- */

enum { SIZES = 2000 };

/* Sizes of scale 3 whose freedom is 2: P(size <= s) = p at s = 3 p sqrt(2 / (1 - p^2)). */
static void heavy_sizes(double *out)
{
    for (size_t i = 0; i < SIZES; i++) {
        double p = ((double)i + 0.5) / SIZES;
        out[i] = 3 * p * sqrt(2 / (1 - p * p));
    }
}

static void test_law_of_heavy_tails(void **state)
{
    (void)state;
    double sizes[SIZES];
    heavy_sizes(sizes);
    broad__law law = broad__law_fit(sizes, SIZES);
    assert_true(law.freedom == 2 && fabs(law.scale - 3) < 0.02);
    assert_true(fabs(broad__law_log_density(law, 0) - log(1 / sqrt(8) / law.scale)) < 1e-14);
    for (size_t i = 0; i < SIZES; i++) sizes[i] = ((double)i + 0.5) / SIZES; /* no tails at all */
    law = broad__law_fit(sizes, SIZES);
    assert_true(isinf(law.freedom) && fabs(law.scale - sqrt(1.0 / 3)) < 1e-6);
}

/* The integral of every density that a fit can give is 1: sizes with ever fewer far ones have ever more freedom. */
static void test_law_is_a_density(void **state)
{
    (void)state;
    double sizes[SIZES], cut[SIZES], freedom = 0, most = 600;
    size_t forms = 0;
    heavy_sizes(sizes);
    for (int round = 0; round < 530; round++) {
        most *= 0.99;
        for (size_t i = 0; i < SIZES; i++) cut[i] = fmin(sizes[i], most);
        broad__law law = broad__law_fit(cut, SIZES);
        assert_true(law.freedom >= freedom);
        if (law.freedom == freedom) continue;
        freedom = law.freedom;
        forms++;
        double sum = 0, step = 1e-3; /* over x = sinh(t), twice the half line */
        for (int i = 0; i < 14000; i++) {
            double t = (i + 0.5) * step;
            sum += 2 * step * cosh(t) * law.scale * exp(broad__law_log_density(law, law.scale * sinh(t)));
        }
        assert_true(fabs(sum - 1) < 1e-6);
    }
    assert_true(forms == 10 && isinf(freedom));
}

static void test_law_of_zeros(void **state)
{
    (void)state;
    double sizes[100] = {0};
    assert_true(broad__law_fit(sizes, 100).scale == 0 && broad__law_fit(sizes, 0).scale == 0);
    sizes[99] = 10; /* root mean square 1: the density of the others would have no bound */
    assert_true(broad__law_fit(sizes, 100).scale == 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_classes_by_hand),
        cmocka_unit_test(test_first_of_equals_wins),
        cmocka_unit_test(test_macro_means),
        cmocka_unit_test(test_classes_that_are_not_there),
        cmocka_unit_test(test_regression),
        cmocka_unit_test(test_constant_truth),
        cmocka_unit_test(test_no_targets),
        cmocka_unit_test(test_areas),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_correlation),
        cmocka_unit_test(test_ranking_counts_pairs),
        cmocka_unit_test(test_ranking_is_bounded),
        cmocka_unit_test(test_ranking_in_a_file),
        cmocka_unit_test(test_law_of_heavy_tails),
        cmocka_unit_test(test_law_is_a_density),
        cmocka_unit_test(test_law_of_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
