/*
 * Training from an array through the C interface, and one row predicted: what the Python package is compared with.
 *
 *   bench_arrays FILE ROWS INPUTS PREDICTED [OPTION VALUE]...
 *
 * FILE: ROWS x INPUTS doubles, then ROWS targets. The options are those of the library. Prints one JSON object: processor time of
 * broad_fit() on one thread, how far the peak of the process rose above its memory before, and the least seconds of one of
 * PREDICTED predictions of a row.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "broad/broad.h"

static void must(int status)
{
    if (status == BROAD_OK) return;
    fprintf(stderr, "bench_arrays: %s\n", broad_error_message());
    exit(1);
}

/* KiB of a line of /proc/self/status. */
static long memory(const char *name)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long found = 0;
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0) found = strtol(line + strlen(name) + 1, NULL, 10);
    if (file) fclose(file);
    return found;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double *read_numbers(const char *path, size_t count)
{
    double *numbers = malloc(count * sizeof *numbers);
    FILE *file = fopen(path, "rb");
    if (!numbers || !file || fread(numbers, sizeof *numbers, count, file) != count) {
        fprintf(stderr, "bench_arrays: %s: there are no %zu numbers to be read\n", path, count);
        exit(1);
    }
    fclose(file);
    return numbers;
}

static double seconds_of_row(const broad_model *model, const double *x, size_t times)
{
    broad_predictor *predictor = NULL;
    must(broad_predictor_from_model(&predictor, model));
    void *scratch = malloc(broad_predictor_scratch(predictor, 1));
    double out[16], least = 1e9;
    for (size_t i = 0; i < times; i++) {
        double began = seconds_now();
        must(broad_predictor_row(out, predictor, x, scratch));
        double taken = seconds_now() - began;
        if (taken < least) least = taken;
    }
    free(scratch);
    broad_predictor_free(predictor);
    return least;
}

int main(int argc, char **argv)
{
    if (argc < 5) return fprintf(stderr, "usage: bench_arrays FILE ROWS INPUTS PREDICTED [OPTION VALUE]...\n"), 2;
    size_t rows = strtoul(argv[2], NULL, 10), inputs = strtoul(argv[3], NULL, 10);
    double *numbers = read_numbers(argv[1], rows * (inputs + 1));
    broad_options options;
    broad_options_init(&options);
    for (int i = 5; i + 1 < argc; i += 2) must(broad_options_set(&options, argv[i], argv[i + 1]));
    options.threads = 1;
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = rows, arrays.inputs = inputs, arrays.x = numbers, arrays.values = numbers + rows * inputs;
    arrays.outputs = 1, arrays.borrow = 1, arrays.missing = BROAD_MISSING_MEAN;
    long before = memory("VmRSS:");
    clock_t began = clock();
    broad_data *data = NULL;
    broad_model *model = NULL;
    must(broad_data_from_arrays(&data, &arrays));
    must(broad_fit(&model, NULL, data, &options));
    double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    long peak = memory("VmHWM:");
    printf("{\"fit\": %.6f, \"memory\": %ld, \"row\": %.9f}\n", seconds, peak - before,
           seconds_of_row(model, numbers, strtoul(argv[4], NULL, 10)));
    broad_model_free(model);
    broad_data_free(data);
    free(numbers);
    return 0;
}
