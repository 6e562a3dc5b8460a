/*
 * Columns of categories and missing values, in arrays: a category is a code, a missing value NaN.
 *
 *   categories
 *
 * Build: cc categories.c $(pkg-config --cflags --libs broad) -lm -o categories
 */
#include <broad/broad.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 300, COLUMNS = 2, LEVELS = 3 };

static void must(int status)
{
    if (status == BROAD_OK) return;
    fprintf(stderr, "categories: %s\n", broad_error_message());
    exit(EXIT_FAILURE);
}

/* Price by size and material; every tenth size was not noted. */
static void make_rows(double *x, double *price)
{
    static const double factor[LEVELS] = {1, 2.5, 4};
    unsigned seed = 1;
    for (size_t i = 0; i < ROWS; i++) {
        seed = seed * 1664525u + 1013904223u;
        double size = 1 + (double)(seed >> 8) / (1 << 22);
        size_t material = i % LEVELS;
        price[i] = factor[material] * size;
        x[i * COLUMNS] = i % 10 ? size : (double)NAN;
        x[i * COLUMNS + 1] = (double)material;
    }
}

int main(void)
{
    static const char *const materials[LEVELS] = {"wood", "glass", "steel"}, *const names[COLUMNS] = {"size",
                                                                                                      "material"};
    double x[ROWS * COLUMNS], price[ROWS];
    make_rows(x, price);
    broad_array_category category = {1, LEVELS, materials};
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = ROWS, arrays.inputs = COLUMNS, arrays.x = x, arrays.names = names;
    arrays.values = price, arrays.outputs = 1, arrays.missing = BROAD_MISSING_MEAN;
    arrays.categories = &category, arrays.category_count = 1;
    broad_data *data = NULL;
    broad_model *model = NULL;
    broad_options options;
    broad_options_init(&options); /* preset auto: all settings from the rows */
    must(broad_data_from_arrays(&data, &arrays));
    must(broad_fit(&model, NULL, data, &options));

    /* A model has one input per level: 1 for the level that is present, 0 for the others. */
    for (size_t j = 0; j < broad_model_inputs(model); j++)
        printf("input %zu: %s\n", j + 1, broad_model_input_name(model, j));
    double rows[2][1 + LEVELS] = {{3, 0, 0, 0}, {(double)NAN, 0, 0, 0}}, found[2];
    for (size_t j = 1; j < 1 + LEVELS; j++) {
        rows[0][j] = rows[1][j] = 1;
        must(broad_predict(found, model, &rows[0][0], 2, 0));
        printf("%s: %.1f of size 3, %.1f of unknown size\n", broad_model_input_name(model, j), found[0], found[1]);
        rows[0][j] = rows[1][j] = 0;
    }
    broad_model_free(model);
    broad_data_free(data);
    return EXIT_SUCCESS;
}
