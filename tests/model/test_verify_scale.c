/* Columns of any size: their scaling is verified where it is that of the rows, and refused where a number was changed by more
 * than rounding; what the model predicts for any finite row is finite. */
#include <float.h>

#include "helper.h"
#include "model/model.h"

enum { ROWS = 60, COLUMNS = 8 };

/* An offset in units of the spread from none to all that a double resolves, then the least and the largest numbers. */
static double value_of(size_t column, double noise)
{
    const double offsets[] = {0, 1e6, -1e9, 1e12, 1e15};
    if (column < 5) return offsets[column] + noise;
    if (column == 5) return noise * 1e-310;
    return column == 6 ? (noise > 0 ? 1.7e308 : -1.7e308) : 1e300 * noise;
}

static broad_data *make_data(void)
{
    double x[ROWS * COLUMNS], y[ROWS];
    unsigned state = 1;
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        state = state * 1103515245u + 12345u;
        x[i] = value_of(i % COLUMNS, (double)(state >> 8) / (1 << 23) - 1);
    }
    for (size_t i = 0; i < ROWS; i++) y[i] = sin(3 * x[i * COLUMNS]) + 0.2 * (double)(i % 7);
    return data_of_values(x, y, ROWS, COLUMNS);
}

static broad_options small_options(broad_kind kind, broad_scale scale)
{
    broad_options o;
    broad_options_init(&o);
    o.kind = kind;
    assert_ok(broad_options_preset(&o, BROAD_PRESET_PAPER));
    o.feature_groups = 2;
    o.feature_nodes = 4;
    o.enhance_nodes = 6;
    o.enhance_layers = kind == BROAD_KIND_BLS || kind == BROAD_KIND_RVFL ? 1 : 2;
    o.scale = scale;
    o.threads = 1;
    return o;
}

static broad_model *fit(const broad_data *data, broad_kind kind, broad_scale scale)
{
    broad_options o = small_options(kind, scale);
    broad_model *model = NULL;
    assert_ok(broad_fit(&model, NULL, data, &o));
    return model;
}

static void judge(const broad_model *model, const broad_data *data, int holds, const char *what)
{
    broad_verdict verdict = {.size = sizeof verdict};
    assert_ok(broad_verify(&verdict, model, data, THREADS(1)));
    if (verdict.holds != holds || (!holds && !strstr(verdict.reason, "the scaling of input")))
        fail_msg("%s, scale %d: %s", what, (int)model->settings.scale, verdict.holds ? "held" : verdict.reason);
}

static void change(broad_model *model, const broad_data *data, double *number, double step, const char *what)
{
    double old = *number;
    *number += step;
    assert_true(*number != old);
    judge(model, data, 0, what);
    *number = old;
}

static void any_offset_is_verified_and_no_change(void **state)
{
    (void)state;
    broad_data *data = make_data();
    const broad_scale scales[] = {BROAD_SCALE_STANDARD, BROAD_SCALE_BOTH, BROAD_SCALE_MINMAX, BROAD_SCALE_RANK,
                                  BROAD_SCALE_WHOLE};
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++) {
        broad_model *model = fit(data, (broad_kind)(s % 5), scales[s]);
        judge(model, data, 1, "as it was made");
        for (size_t j = 0; j < broad__model_columns(model); j++) {
            double *factor = &model->input_factor[j], *shift = &model->input_shift[j];
            change(model, data, factor, 1e-5 * *factor, "a factor");
            /* A part of the spread, or the last digits of the offset where they are more. */
            change(model, data, shift, fmax(1e-5 / *factor, 4 * DBL_EPSILON * fabs(*shift)), "a shift");
        }
        judge(model, data, 1, "as it was made, again");
        broad_model_free(model);
    }
    broad_data_free(data);
}

static void unscaled_numbers_are_refused_where_nodes_lose_them(void **state)
{
    (void)state;
    broad_data *data = make_data();
    broad_options o = small_options(BROAD_KIND_BLS, BROAD_SCALE_NONE);
    broad_model *model = NULL;
    assert_fails(broad_fit(&model, NULL, data, &o), BROAD_BAD_DATA, "too large for nodes without scaling");
    assert_null(model);
    broad_data_free(data);
}

static void predictions_are_finite(void **state)
{
    (void)state;
    broad_data *data = make_data();
    const double extremes[] = {DBL_MAX, -DBL_MAX, 1e300, 0, -1e30, DBL_TRUE_MIN};
    for (int kind = BROAD_KIND_BSCRLS; kind <= BROAD_KIND_RVFL; kind++) {
        broad_model *model = fit(data, (broad_kind)kind, BROAD_SCALE_STANDARD);
        broad_predictor *predictor = NULL;
        assert_ok(broad_predictor_from_model(&predictor, model));
        void *scratch = malloc(broad_predictor_scratch(predictor, 1));
        for (size_t e = 0; e < sizeof extremes / sizeof extremes[0]; e++) {
            double x[COLUMNS], y = NAN, again = NAN;
            for (size_t j = 0; j < COLUMNS; j++) x[j] = extremes[(e + j) % (1 + e)];
            assert_ok(broad_predict(&y, model, x, 1, 0));
            assert_ok(broad_predictor_row(&again, predictor, x, scratch));
            assert_true(isfinite(y) && y == again);
        }
        free(scratch);
        broad_predictor_free(predictor);
        broad_model_free(model);
    }
    broad_data_free(data);
}

/* Weights that are finite each, and whose sums are not. */
static void overflow_is_a_failure(void **state)
{
    (void)state;
    broad_data *data = make_data();
    broad_model *model = fit(data, BROAD_KIND_BLS, BROAD_SCALE_STANDARD);
    double *w = model->layers[0].joint ? model->layers[0].joint : model->layers[0].output, y[2], x[2 * COLUMNS] = {0};
    for (size_t i = 0; i < model->layers[0].width; i++) w[i] = 1.7e308;
    assert_fails(broad_predict(y, model, x, 2, 0), BROAD_BAD_DATA, "row 1: what the model computes is larger");
    broad_model_free(model);
    broad_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_offset_is_verified_and_no_change),
                                       cmocka_unit_test(unscaled_numbers_are_refused_where_nodes_lose_them),
                                       cmocka_unit_test(predictions_are_finite),
                                       cmocka_unit_test(overflow_is_a_failure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
