/* Explanations of photos: the grid and its smoothing against plain loops, the evidence against predictions of pictures with a part
 * painted over. */
#include "photo_folder.h"

#include "model/predict/explain.h"

static void grids(void **state)
{
    (void)state;
    static const size_t cases[][4] = {{256, 256, 8, 8}, {256, 171, 8, 5}, {144, 256, 5, 8},
                                      {128, 128, 4, 4}, {10, 256, 1, 8},  {1, 1, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t width = 0, height = 0;
        broad__explain_grid(&width, &height, cases[i][0], cases[i][1]);
        assert_int_equal(width, cases[i][2]);
        assert_int_equal(height, cases[i][3]);
    }
}

/* Both directions at once, with the weights (1 2 1) x (1 2 1) of the cells that are there. */
static double smoothed(const double *cells, size_t width, size_t height, size_t x, size_t y)
{
    double sum = 0, weights = 0;
    for (size_t j = y ? y - 1 : 0; j <= y + 1 && j < height; j++)
        for (size_t i = x ? x - 1 : 0; i <= x + 1 && i < width; i++) {
            double weight = (i == x ? 2 : 1) * (j == y ? 2 : 1);
            sum += weight * cells[j * width + i];
            weights += weight;
        }
    return sum / weights;
}

static void smoothing(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{8, 5}, {1, 8}, {3, 1}, {1, 1}, {2, 2}};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        double cells[64];
        size_t width = sizes[k][0], height = sizes[k][1];
        double before[64];
        for (size_t i = 0; i < width * height; i++) before[i] = cells[i] = sin((double)(7 * i + k)) * 3;
        assert_int_equal(broad__explain_smooth(cells, width, height), BROAD_OK);
        for (size_t i = 0; i < width * height; i++)
            assert_true(fabs(cells[i] - smoothed(before, width, height, i % width, i / width)) < 1e-14);
    }
}

/* ---- evidence -------------------------------------------------------------------------------------------------- */

enum { PHOTOS = 24, SIDE = 64, HALF = SIDE / 2 };

/* Grey, with a red left half where it is Dusty; a little different each. */
static void save_red(const char *folder, const char *name, unsigned number, int dusty)
{
    broad__image picture;
    draw_waves(&picture, number, SIDE, SIDE);
    for (size_t i = 0; i < SIDE * SIDE; i++) {
        int red = dusty && i % SIDE < HALF;
        for (size_t c = 0; c < 3; c++) picture.pixels[3 * i + c] = (unsigned char)(picture.pixels[3 * i + c] / 8 + 100);
        if (red) picture.pixels[3 * i] = 255;
    }
    save_picture(folder, name, &picture, 0);
}

static void red_is_the_evidence(void **state)
{
    (void)state;
    char folder[HELPER_PATH], name[64];
    photo_run run;
    broad_model *model = NULL;
    broad_options options;
    broad_explainer *explainer = NULL;
    broad_explanation both[2];
    temporary_folder(folder);
    for (unsigned i = 0; i < PHOTOS; i++) {
        snprintf(name, sizeof name, i % 2 ? "Dusty/%02u.png" : "Clean/%02u.png", i);
        save_red(folder, name, i, i % 2);
    }
    photo_run_init(&run);
    run.photos.components = 4;
    broad_options_init(&options);
    options.threads = 1;
    broad_data *data = must_read(folder, &run);
    assert_ok(broad_fit(&model, NULL, data, &options));
    broad_data_free(data);
    run.options.model = model;
    data = must_read(folder, &run);
    size_t row = row_of(data, "Dusty/03.png");
    const broad_photo *photos[2] = {broad_data_photo(data, row), broad_data_photo(data, row)};
    const size_t outputs[2] = {1, 0};
    broad_explanation_init(&both[0]);
    broad_explanation_init(&both[1]);
    assert_ok(broad_explainer_open(&explainer, model));
    assert_ok(broad_photo_explain(both, explainer, photos, outputs, 2));
    assert_true(both[0].width == both[1].width && both[0].width >= 2);
    /* For Dusty the left half counts more than the right one; of two classes one is against what the other is for. */
    double left = 0, right = 0;
    for (size_t i = 0; i < both[0].width * both[0].height; i++) {
        if (i % both[0].width < both[0].width / 2) left += both[0].cells[i];
        if (i % both[0].width >= (both[0].width + 1) / 2) right += both[0].cells[i];
        assert_true(fabs(both[0].cells[i] + both[1].cells[i]) < 1e-6 * (1 + fabs(both[0].cells[i])));
    }
    assert_true(left > right);
    assert_fails(broad_photo_explain(both, explainer, photos, outputs, 2), BROAD_USAGE, "broad_explanation_init");
    broad_explanation_clear(&both[0]);
    broad_explanation_clear(&both[1]);
    broad_explainer_close(explainer);
    broad_data_free(data);
    broad_model_free(model);
    remove_folder(folder);
}

static void models_of_tables_are_refused(void **state)
{
    (void)state;
    static const double x[] = {0, 1, 2, 3, 4, 5, 6, 7}, y[] = {0, 1, 2, 3, 4, 5, 6, 7};
    broad_arrays arrays;
    broad_options options;
    broad_data *data = NULL;
    broad_model *model = NULL;
    broad_explainer *explainer = NULL;
    broad_arrays_init(&arrays);
    broad_options_init(&options);
    arrays.rows = 8;
    arrays.inputs = arrays.outputs = 1;
    arrays.x = x;
    arrays.values = y;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    assert_ok(broad_fit(&model, NULL, data, &options));
    assert_fails(broad_explainer_open(&explainer, model), BROAD_USAGE, "not trained on photos");
    assert_null(explainer);
    broad_model_free(model);
    broad_data_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids),
        cmocka_unit_test(smoothing),
        cmocka_unit_test(red_is_the_evidence),
        cmocka_unit_test(models_of_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
