/* A user of the installed library: fits from arrays, predicts, saves, loads, and predicts the same. */
#include <broad/broad.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 20, ROWS = SIDE * SIDE };

static double x[ROWS][2];
static const char *labels[ROWS];

/* Is the point inside a circle? No line separates the two. */
static void make_rows(void)
{
    for (int i = 0; i < ROWS; i++) {
        x[i][0] = -1 + 2.0 * (i % SIDE) / (SIDE - 1);
        x[i][1] = -1 + 2.0 * (i / SIDE) / (SIDE - 1);
        labels[i] = x[i][0] * x[i][0] + x[i][1] * x[i][1] < 0.5 ? "inside" : "outside";
    }
}

static void must(int status, const char *what)
{
    if (status == BROAD_OK) return;
    fprintf(stderr, "%s: %s\n", what, broad_error_message());
    exit(1);
}

int main(int count, char **arguments)
{
    const char *path = count > 1 ? arguments[1] : "consumer.broad";
    make_rows();

    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = ROWS;
    arrays.inputs = 2;
    arrays.x = &x[0][0];
    arrays.labels = labels;
    broad_data *data;
    must(broad_data_from_arrays(&data, &arrays), "data");

    broad_options options;
    broad_options_init(&options);
    must(broad_options_set(&options, "features", "2x10"), "features");
    must(broad_options_set(&options, "enhance", "20x5"), "enhance");
    broad_model *model, *loaded;
    must(broad_fit(&model, NULL, data, &options), "fit");
    must(broad_model_save(model, path, 0), "save");
    must(broad_model_load(&loaded, path), "load");

    static double scores[ROWS][2], again[ROWS][2];
    must(broad_predict(&scores[0][0], model, &x[0][0], ROWS, 2), "predict");
    must(broad_predict(&again[0][0], loaded, &x[0][0], ROWS, 2), "predict with the loaded model");
    int right = 0;
    for (int i = 0; i < ROWS; i++)
        right += strcmp(broad_model_output_name(loaded, broad_best_class(loaded, again[i])), labels[i]) == 0;

    broad_verdict verdict = {.size = sizeof verdict};
    must(broad_verify(&verdict, loaded, data, NULL), "verify");
    int same = memcmp(scores, again, sizeof scores) == 0;
    printf("broad %s: %d of %d right, loaded model %s, certificate %s\n", broad_version(), right, ROWS,
           same ? "agrees" : "differs", verdict.holds ? "holds" : verdict.reason);

    broad_model_free(loaded);
    broad_model_free(model);
    broad_data_free(data);
    return right > ROWS * 9 / 10 && same && verdict.holds ? 0 : 1;
}
