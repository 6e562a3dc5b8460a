/* What every suite needs: cmocka with its headers in order, a scratch folder, files, relative differences. */
#ifndef BROAD_TESTS_SUPPORT_HELPER_H
#define BROAD_TESTS_SUPPORT_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broad/broad.h"

enum { HELPER_PATH = 4096 };

/* 1 in a build whose every load and store is checked: several times slower, with memory and addresses of its own. Suites
 * try fewer and smaller problems there, but each path of the code at least once; the other build tries them all. The build
 * that counts what was run sets it, too. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HELPER_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HELPER_SANITIZED 1
#endif
#endif
#ifndef HELPER_SANITIZED
#define HELPER_SANITIZED 0
#endif

/* How a call runs, for functions that take broad_run_options. */
#define THREADS(count) (&(const broad_run_options){.size = sizeof(broad_run_options), .threads = (count)})

/* Fails the test with the library's message where `call` does not return BROAD_OK. */
#define assert_ok(call)                                                                                                \
    do {                                                                                                               \
        int status_ = (call);                                                                                          \
        if (status_ != BROAD_OK) fail_msg("%s: %s: %s", #call, broad_status_name(status_), broad_error_message());     \
    } while (0)

/* Fails the test unless `call` returns `expected` and leaves a message that contains `fragment`. */
#define assert_fails(call, expected, fragment)                                                                         \
    do {                                                                                                               \
        int status_ = (call);                                                                                          \
        if (status_ != (expected))                                                                                     \
            fail_msg("%s: %s where %s was expected: %s", #call, broad_status_name(status_),                            \
                     broad_status_name(expected), broad_error_message());                                              \
        if (!strstr(broad_error_message(), (fragment)))                                                                \
            fail_msg("%s: no \"%s\" in \"%s\"", #call, (fragment), broad_error_message());                             \
    } while (0)

/* Ends a forked process, without what the parent has registered for its own end. Where it is counted what was run, so is what
 * this process has run. */
static inline _Noreturn void leave_process(int status)
{
#ifdef HELPER_COUNTED
    void __gcov_dump(void);
    __gcov_dump();
#endif
    _exit(status);
}

/* A regression of one target. */
static inline broad_data *data_of_values(const double *x, const double *values, size_t rows, size_t inputs)
{
    broad_arrays arrays;
    broad_arrays_init(&arrays);
    arrays.rows = rows;
    arrays.inputs = inputs;
    arrays.x = x;
    arrays.values = values;
    arrays.outputs = 1;
    broad_data *data = NULL;
    assert_ok(broad_data_from_arrays(&data, &arrays));
    return data;
}

static inline void temporary_folder(char out[HELPER_PATH])
{
    const char *base = getenv("TMPDIR");
    snprintf(out, HELPER_PATH, "%s/broad-test-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(out)) fail_msg("no temporary folder %s", out);
}

static inline int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static inline void remove_folder(const char *folder) { nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

static inline void join_path(char out[HELPER_PATH], const char *folder, const char *name)
{
    if (snprintf(out, HELPER_PATH, "%s/%s", folder, name) >= HELPER_PATH) fail_msg("the path of %s is too long", name);
}

static inline void write_file(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    if (!file) fail_msg("cannot make %s", path);
    if (fwrite(bytes, 1, count, file) != count || fclose(file) != 0) fail_msg("cannot write %s", path);
}

static inline void write_text(const char *path, const char *text) { write_file(path, text, strlen(text)); }

/* The whole file, with a NUL after it; freed with free(). */
static inline char *read_file(size_t *out_bytes, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) fail_msg("cannot read %s", path);
    size_t count = (size_t)ftell(file);
    char *bytes = malloc(count + 1);
    rewind(file);
    if (!bytes || fread(bytes, 1, count, file) != count) fail_msg("cannot read %s", path);
    fclose(file);
    bytes[count] = 0;
    if (out_bytes) *out_bytes = count;
    return bytes;
}

/* |a - b| relative to the larger of |a|, |b| and `floor`. */
static inline double relative_difference(double a, double b, double floor)
{
    double scale = fmax(fmax(fabs(a), fabs(b)), floor);
    return scale > 0 ? fabs(a - b) / scale : 0;
}

/* ||a - b|| / ||b|| in the Frobenius norm; ||a|| where b is zero. NaN where any value is NaN, so test with `<=`. */
static inline double relative_distance(const double *a, const double *b, size_t count)
{
    double difference = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        difference += (a[i] - b[i]) * (a[i] - b[i]);
        size += b[i] * b[i];
    }
    return size > 0 ? sqrt(difference / size) : sqrt(difference);
}

/* A model as its file would be; `at` is to be given to broad_free(). */
typedef struct model_bytes {
    void *at;
    size_t count;
} model_bytes;

static inline model_bytes model_bytes_of(const broad_model *model)
{
    model_bytes b = {0};
    assert_ok(broad_model_to_memory(&b.at, &b.count, model, 0));
    return b;
}

#endif
