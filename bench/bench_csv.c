/*
 * How fast CSV is read.
 *   bench_csv FILE THREADS        seconds of broad_data_read, and the sum of all inputs and values, to compare with others'
 *   bench_csv [MEGABYTES]         against a plain loop over strtod, on files it makes itself, for three ways to write numbers
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "broad/broad.h"
#include "data/read.h"
#include "data/table.h"
#include "rng/philox.h"

enum { COLUMNS = 20, RUNS = 3 };

typedef struct kind {
    const char *name;
    int decimals; /* -1: 17 digits */
    double factor;
} kind;

static const kind kinds[] = {{"whole numbers", 0, 1000}, {"4 decimals", 4, 100}, {"17 digits", -1, 1}};

static size_t make_file(const char *path, const kind *k, size_t bytes)
{
    broad__stream stream = {.seed = 1, .purpose = BROAD__FOR_DEMO};
    FILE *file = fopen(path, "w");
    if (!file) return 0;
    size_t written = 0;
    for (uint64_t i = 0; written < bytes || i % COLUMNS; i++) {
        double value = k->factor * (broad__random_at(&stream, i) - 0.5);
        int count = k->decimals < 0 ? fprintf(file, "%.17g", value) : fprintf(file, "%.*f", k->decimals, value);
        if (count < 0 || fputc(i % COLUMNS == COLUMNS - 1 ? '\n' : ',', file) == EOF) break;
        written += (size_t)count + 1;
    }
    return fclose(file) == 0 ? written : 0;
}

static double time_read(const char *path, size_t threads, double *sum)
{
    broad_read_options options;
    broad_read_options_init(&options);
    options.threads = threads;
    double start = broad__seconds();
    broad_data *data;
    if (broad_data_read(&data, path, &options) < 0) {
        fprintf(stderr, "bench_csv: %s\n", broad_error_message());
        exit(1);
    }
    double seconds = broad__seconds() - start;
    *sum = 0;
    for (size_t i = 0; i < broad_data_rows(data); i++) {
        const double *row = broad_data_row(data, i);
        for (size_t j = 0; j < broad_data_inputs(data); j++) *sum += row[j];
        *sum += broad_data_value(data, i, 0);
    }
    broad_data_free(data);
    return seconds;
}

static double time_strtod(const char *path, size_t bytes, double *sum)
{
    double start = broad__seconds();
    FILE *file = fopen(path, "r");
    char *text = malloc(bytes + 1);
    double *values = malloc((bytes / 2 + 1) * sizeof *values);
    if (!file || !text || !values || fread(text, 1, bytes, file) != bytes) exit(1);
    text[bytes] = 0;
    size_t count = 0;
    for (char *at = text; *at; at++) values[count++] = strtod(at, &at);
    double seconds = broad__seconds() - start;
    *sum = 0;
    for (size_t i = 0; i < count; i++) *sum += values[i];
    free(values);
    free(text);
    fclose(file);
    return seconds;
}

static double smaller(double a, double b) { return a < b ? a : b; }

static int read_file(const char *path, size_t threads)
{
    double sum, seconds = time_read(path, threads, &sum);
    printf("%.6f %.17g\n", seconds, sum);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3) return read_file(argv[1], strtoul(argv[2], NULL, 10));
    size_t bytes = (argc > 1 ? strtoul(argv[1], NULL, 10) : 64) << 20;
    char path[] = "/tmp/bench_csv_XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) return 1;
    close(fd);
    printf("%-14s %8s %12s %12s\n", "", "MB", "broad MB/s", "strtod MB/s");
    int wrong = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t written = make_file(path, &kinds[i], bytes);
        if (!written) return 1;
        double ours = 1e9, theirs = 1e9, a = 0, b = 0, megabytes = (double)written / 1e6;
        for (int run = 0; run < RUNS; run++) {
            ours = smaller(ours, time_read(path, 1, &a));
            theirs = smaller(theirs, time_strtod(path, written, &b));
        }
        printf("%-14s %8.1f %12.0f %12.0f%s\n", kinds[i].name, megabytes, megabytes / ours, megabytes / theirs,
               a == b ? "" : "  SUMS DIFFER");
        wrong |= a != b;
    }
    unlink(path);
    return wrong;
}
