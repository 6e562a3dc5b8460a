/*
 * Predicts values with intervals: of new values nine of ten lie inside. The noise of these rows grows with x, and so do the intervals.
 *
 *   intervals
 *
 * Build: cc intervals.c $(pkg-config --cflags --libs broad) -lm -o intervals
 */
#include <broad/broad.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 600, NEW_ROWS = 400 };

static void must(int status)
{
    if (status == BROAD_OK) return;
    fprintf(stderr, "intervals: %s\n", broad_error_message());
    exit(EXIT_FAILURE);
}

static double uniform(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 24);
}

static void make_rows(double *x, double *y, size_t rows, unsigned seed)
{
    for (size_t i = 0; i < rows; i++) {
        x[i] = 5 * uniform(&seed);
        double noise = uniform(&seed) + uniform(&seed) + uniform(&seed) - 1.5;
        y[i] = sin(2 * x[i]) + 2 * x[i] + (0.1 + 0.2 * x[i]) * noise;
    }
}

int main(void)
{
    double x[ROWS], y[ROWS], x_new[NEW_ROWS], y_new[NEW_ROWS], values[NEW_ROWS], ends[NEW_ROWS][2];
    make_rows(x, y, ROWS, 1);
    make_rows(x_new, y_new, NEW_ROWS, 2);
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = ROWS, arrays.inputs = 1, arrays.x = x, arrays.values = y, arrays.outputs = 1;
    broad_data *data = NULL;
    broad_model *model = NULL;
    broad_options options;
    broad_options_init(&options); /* preset auto: all settings from the rows */
    must(broad_data_from_arrays(&data, &arrays));
    must(broad_fit(&model, NULL, data, &options));

    must(broad_predict(values, model, x_new, NEW_ROWS, 0));
    must(broad_intervals(&ends[0][0], model, values, NEW_ROWS, 0.9));
    size_t inside = 0;
    for (size_t i = 0; i < NEW_ROWS; i++) inside += ends[i][0] <= y_new[i] && y_new[i] <= ends[i][1];
    for (size_t i = 0; i < 3; i++)
        printf("x %.2f: %.2f, between %.2f and %.2f\n", x_new[i], values[i], ends[i][0], ends[i][1]);
    printf("%.1f %% of %d new values lie inside\n", 100.0 * (double)inside / NEW_ROWS, NEW_ROWS);
    broad_model_free(model);
    broad_data_free(data);
    return EXIT_SUCCESS;
}
