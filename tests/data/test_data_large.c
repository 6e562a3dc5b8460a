/*
 * Tables that are read in pieces, by several threads and in little memory: against what was written, and against each other.
 */
#include "data_helper.h"

#include <ctype.h>
#include <sys/stat.h>

#include "data/split.h"
#include "data/transform/scale.h"
#include "rng/philox.h"

/* ---- a table that knows what it wrote -------------------------------------------------------------------------- */

enum { ROWS = HELPER_SANITIZED ? 20000 : 30000, INPUTS = 4, TEXT = 48 };

/* What may be unusual about a file; bits. */
enum {
    BLANK_LINES = 1,
    CARRIAGE_RETURNS = 2,
    QUOTED = 4,       /* words in quotation marks, some with separators, quotes and ends of lines inside */
    STRAY_QUOTES = 8, /* quotation marks inside of words, which mean nothing */
    MISSING = 16,
    LONG_NUMBERS = 32,
    NO_LAST_LINE = 64, /* the file does not end with an end of line */
    NUMBER_LABELS = 128,
    REGRESSION = 256,
    SEMICOLON = 512,
};

typedef struct written {
    char *text;
    size_t count;
    double (*x)[INPUTS];
    char (*label)[TEXT], (*level)[TEXT], (*group)[TEXT];
    double *weight, *value;
    size_t *line; /* where each row begins, from 1 */
} written;

typedef struct dice {
    broad__stream stream;
    uint64_t at;
} dice;

static double roll(dice *d) { return (broad__random_at(&d->stream, d->at++) + 1) / 2; }

static size_t pick_below(dice *d, size_t count)
{
    size_t i = (size_t)(roll(d) * (double)count);
    return i < count ? i : count - 1;
}

static char *put_number(char *at, double *out, dice *d, int flags)
{
    double value = (roll(d) - 0.5) * pow(10, floor(roll(d) * 8) - 2);
    int count = 0;
    switch (flags & LONG_NUMBERS ? pick_below(d, 7) : 0) {
    case 0: count = sprintf(at, "%.6f", value); break;
    case 1: count = sprintf(at, "%.4f", value); break;
    case 2: count = sprintf(at, "%.0f", value); break;
    case 3: count = sprintf(at, "%.3e", value); break;
    case 4: count = sprintf(at, "%.17g", value); break;
    case 5: count = sprintf(at, "%.12g", value); break;
    default: count = sprintf(at, "%+.2f", value); break;
    }
    if (flags & LONG_NUMBERS && pick_below(d, 50) == 0) count = sprintf(at, "  %.5f ", value);
    if (flags & MISSING && pick_below(d, 9) == 0) count = sprintf(at, "%s", pick_below(d, 2) ? "NA" : "");
    *out = isalpha((unsigned char)*at) || !count ? NAN : strtod(at, NULL);
    return at + count;
}

/* A word as a cell, and what is meant by it. */
static char *put_word(char *at, char out[TEXT], dice *d, int flags, size_t kinds)
{
    size_t kind = pick_below(d, kinds);
    sprintf(out, "w%zu", kind);
    if (flags & STRAY_QUOTES && kind % 3 == 0) sprintf(out, "%zu\" pipe", kind);
    if (flags & QUOTED && kind % 3 == 1) sprintf(out, "a,\"b\"\n%zu", kind);
    if (flags & QUOTED && kind % 3 == 2) sprintf(out, "x;y %zu", kind);
    if (!(flags & QUOTED) || kind % 3 == 0) return at + sprintf(at, "%s", out);
    *at++ = '"';
    for (const char *c = out; *c; c++) {
        if (*c == '"') *at++ = '"';
        *at++ = *c;
    }
    *at++ = '"';
    return at;
}

static void write_rows(written *w, dice *d, int flags)
{
    char separator = flags & SEMICOLON ? ';' : ',';
    const char *end = flags & CARRIAGE_RETURNS ? "\r\n" : "\n";
    char *at = w->text;
    size_t line = 2;
    at += sprintf(at, "a;b;c;level;d;weight;\"group\";y%s", end);
    for (char *c = w->text; c < at; c++)
        if (*c == ';') *c = separator;
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t blank = flags & BLANK_LINES ? pick_below(d, 3) / 2 * pick_below(d, 4) : 0; blank; blank--, line++)
            at += sprintf(at, "%s%s", pick_below(d, 2) ? "  " : "", end);
        w->line[i] = line;
        const char *row = at;
        for (size_t j = 0; j < 3; j++, *at++ = separator) at = put_number(at, &w->x[i][j], d, flags);
        at = put_word(at, w->level[i], d, flags, 7), *at++ = separator;
        at = put_number(at, &w->x[i][3], d, flags), *at++ = separator;
        w->weight[i] = (double)(1 + pick_below(d, 9)) / 4;
        at += sprintf(at, "%g%c", w->weight[i], separator);
        at = put_word(at, w->group[i], d, flags, 500), *at++ = separator;
        if (flags & REGRESSION) at = put_number(at, &w->value[i], d, flags & ~MISSING);
        else if (flags & NUMBER_LABELS)
            at += sprintf(at, "%s", strcpy(w->label[i], i % 5 == 1 ? "10.0" : i % 3 ? "9" : "-1"));
        else at = put_word(at, w->label[i], d, flags, 12);
        at += sprintf(at, "%s", i + 1 < ROWS || !(flags & NO_LAST_LINE) ? end : "");
        for (; row < at; row++) line += *row == '\n';
    }
    w->count = (size_t)(at - w->text);
}

static void write_table(written *w, int flags)
{
    dice d = {.stream = {.seed = (uint64_t)flags + 5, .purpose = BROAD__FOR_DEMO}};
    w->text = malloc((size_t)ROWS * 320);
    w->x = malloc(ROWS * sizeof *w->x), w->label = malloc(ROWS * sizeof *w->label);
    w->level = malloc(ROWS * sizeof *w->level), w->group = malloc(ROWS * sizeof *w->group);
    w->weight = malloc(ROWS * sizeof *w->weight), w->value = malloc(ROWS * sizeof *w->value);
    w->line = malloc(ROWS * sizeof *w->line);
    write_rows(w, &d, flags);
    assert_true(w->count > (size_t)4 << 18); /* more than a few pieces */
}

static void written_free(written *w)
{
    free(w->text), free(w->x), free(w->label), free(w->level), free(w->group), free(w->weight), free(w->value);
    free(w->line);
}

static broad_read_options options_for(int flags)
{
    broad_read_options options;
    broad_read_options_init(&options);
    options.weight = "weight", options.group = "group", options.categorical = "level";
    options.missing = flags & MISSING ? BROAD_MISSING_MEAN : BROAD_MISSING_ERROR;
    if (flags & NUMBER_LABELS) options.task = BROAD_TASK_CLASSIFY;
    return options;
}

/* The input of this name. */
static size_t input_called(const broad_data *data, const char *name)
{
    for (size_t j = 0; j < data->inputs; j++)
        if (strcmp(data->input_names[j], name) == 0) return j;
    fail_msg("no input is called %s", name);
    return 0;
}

static int same_number(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* Every cell of every row, and which groups are the same. */
static void check_table(const broad_data *data, const written *w, int flags)
{
    static const char *const names[INPUTS] = {"a", "b", "c", "d"};
    size_t place[INPUTS], wrong = 0, group_row[512];
    for (size_t j = 0; j < INPUTS; j++) place[j] = input_called(data, names[j]);
    memset(group_row, 0xFF, sizeof group_row);
    assert_int_equal(data->rows, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        const double *row = data->x + i * data->inputs;
        char level[TEXT + 8];
        for (size_t j = 0; j < INPUTS; j++) wrong += !same_number(row[place[j]], w->x[i][j]);
        snprintf(level, sizeof level, "level=%s", w->level[i]);
        for (size_t j = 0; j < data->inputs; j++)
            if (strncmp(data->input_names[j], "level=", 6) == 0)
                wrong += row[j] != (strcmp(data->input_names[j], level) == 0);
        wrong += data->weights[i] != w->weight[i];
        size_t group = data->groups[i];
        assert_true(group < 512);
        if (group_row[group] == SIZE_MAX) group_row[group] = i;
        wrong += strcmp(w->group[group_row[group]], w->group[i]) != 0;
        if (flags & REGRESSION) wrong += data->values[i] != w->value[i];
        else wrong += strcmp(data->output_names[data->classes[i]], w->label[i]) != 0;
    }
    assert_int_equal(wrong, 0);
    for (size_t a = 0; a < 512; a++)
        for (size_t b = a + 1; b < 512 && group_row[a] != SIZE_MAX; b++)
            if (group_row[b] != SIZE_MAX) wrong += strcmp(w->group[group_row[a]], w->group[group_row[b]]) == 0;
    assert_int_equal(wrong, 0);
}

static void check_same(const broad_data *a, const broad_data *b)
{
    char prints[2][33];
    assert_true(a->rows == b->rows && a->inputs == b->inputs && a->outputs == b->outputs && a->task == b->task);
    assert_ok(broad__table_fingerprint(prints[0], a, 0, a->rows));
    assert_ok(broad__table_fingerprint(prints[1], b, 0, b->rows));
    assert_string_equal(prints[0], prints[1]);
    assert_memory_equal(a->x, b->x, a->rows * a->inputs * sizeof *a->x);
    if (a->values) assert_memory_equal(a->values, b->values, a->rows * a->outputs * sizeof *a->values);
    if (a->classes) assert_memory_equal(a->classes, b->classes, a->rows * sizeof *a->classes);
    assert_true(!a->groups == !b->groups && !a->weights == !b->weights && !a->classes == !b->classes);
    if (a->groups) assert_memory_equal(a->groups, b->groups, a->rows * sizeof *a->groups);
    if (a->weights) assert_memory_equal(a->weights, b->weights, a->rows * sizeof *a->weights);
    for (size_t j = 0; j < a->inputs; j++) assert_string_equal(a->input_names[j], b->input_names[j]);
    for (size_t j = 0; j < a->outputs; j++) assert_string_equal(a->output_names[j], b->output_names[j]);
    assert_true(broad__categories_same(&a->categories, &b->categories));
}

/* ---- CSV ------------------------------------------------------------------------------------------------------- */

static void check_csv(int flags)
{
    static const size_t threads[] = {1, 2, 3, 8};
    written w;
    write_table(&w, flags);
    broad_read_options options = options_for(flags);
    broad_data *first = NULL;
    for (size_t t = 0; t < 4; t++) {
        broad_data *data;
        options.threads = threads[t];
        assert_ok(broad__read_bytes(&data, "data", w.text, w.count, &options, NULL));
        if (!first) check_table(data, &w, flags);
        if (first) check_same(first, data);
        if (first) broad_data_free(data);
        else first = data;
    }
    for (size_t t = 1; t < 3; t++) {
        broad_data *data;
        options.threads = threads[t];
        options.memory = 1 << t * 11;
        assert_ok(broad__read_bytes(&data, "data", w.text, w.count, &options, NULL));
        assert_non_null(data->spill);
        check_same(first, data);
        broad_data_free(data);
    }
    broad_data_free(first);
    written_free(&w);
}

static void test_csv_in_pieces(void **state)
{
    (void)state;
    check_csv(0);
    check_csv(SEMICOLON | CARRIAGE_RETURNS | NO_LAST_LINE);
    check_csv(BLANK_LINES | LONG_NUMBERS);
    check_csv(MISSING | LONG_NUMBERS | BLANK_LINES | CARRIAGE_RETURNS);
    check_csv(REGRESSION | LONG_NUMBERS);
    check_csv(NUMBER_LABELS | NO_LAST_LINE);
}

/* Quotation marks hide ends of lines, and where they mean nothing they mislead the guess about that. */
static void test_csv_quotes_in_pieces(void **state)
{
    (void)state;
    check_csv(QUOTED);
    check_csv(QUOTED | BLANK_LINES | MISSING | CARRIAGE_RETURNS);
    check_csv(STRAY_QUOTES);
    check_csv(STRAY_QUOTES | QUOTED | REGRESSION);
}

/* A fault far down is told as it would be with one thread, with its line. */
static void test_csv_faults_far_down(void **state)
{
    (void)state;
    written w;
    write_table(&w, BLANK_LINES | QUOTED);
    broad_read_options options = options_for(0);
    char expected[64];
    for (size_t threads = 1; threads < 4; threads += 2)
        for (int kind = 0; kind < 3; kind++) {
            static const char *const faults[] = {":1: 'u", "cells, but line 1 has 8", ":1: missing value"};
            size_t row = ROWS - 700 * (size_t)(kind + 1), line = 1;
            char *copy = malloc(w.count), *at = copy;
            memcpy(copy, w.text, w.count);
            while (line < w.line[row]) line += *at++ == '\n';
            if (kind == 0) *at = 'u';
            if (kind == 1) at[strcspn(at, ",")] = ' ';
            if (kind == 2) memset(at, ' ', strcspn(at, ","));
            snprintf(expected, sizeof expected, kind == 1 ? "data:%zu: " : "data:%zu%s", w.line[row], faults[kind]);
            broad_data *data;
            options.threads = threads;
            assert_fails(broad__read_bytes(&data, "data", copy, w.count, &options, NULL), BROAD_BAD_DATA, expected);
            assert_non_null(strstr(broad_error_message(), faults[kind]));
            options.memory = 1 << 20;
            assert_fails(broad__read_bytes(&data, "data", copy, w.count, &options, NULL), BROAD_BAD_DATA, expected);
            options.memory = 0;
            free(copy);
        }
    written_free(&w);
}

/* Digits of all lengths, with a point at any place or none: as strtod has them, to the last bit. */
static void test_csv_numbers(void **state)
{
    (void)state;
    enum { COUNT = 20000, COLUMNS = 20, LONGEST = 23 };
    dice d = {.stream = {.seed = 8, .purpose = BROAD__FOR_DEMO}};
    char *text = malloc((size_t)COUNT * COLUMNS * (LONGEST + 3)), *at = text;
    double *expected = malloc((size_t)COUNT * COLUMNS * sizeof *expected);
    for (size_t i = 0; i < (size_t)COUNT * COLUMNS; i++) {
        const char *begin = at;
        size_t digits = 1 + pick_below(&d, LONGEST), point = pick_below(&d, 2 * LONGEST);
        if (pick_below(&d, 2)) *at++ = '-';
        for (size_t k = 0; k < digits; k++) {
            if (k == point) *at++ = '.';
            *at++ = (char)('0' + (pick_below(&d, 4) ? pick_below(&d, 10) : 9 * pick_below(&d, 2)));
        }
        if (pick_below(&d, 20) == 0) at += sprintf(at, "e%d", (int)pick_below(&d, 40) - 20);
        *at = 0;
        expected[i] = strtod(begin, NULL);
        *at++ = i % COLUMNS == COLUMNS - 1 ? '\n' : ',';
    }
    broad_read_options options;
    broad_read_options_init(&options);
    options.task = BROAD_TASK_REGRESS;
    broad_data *data;
    assert_ok(broad__read_bytes(&data, "data", text, (size_t)(at - text), &options, NULL));
    assert_int_equal(data->rows, COUNT);
    size_t wrong = 0;
    for (size_t i = 0; i < (size_t)COUNT * COLUMNS; i++) {
        size_t row = i / COLUMNS, column = i % COLUMNS;
        double read = column + 1 < COLUMNS ? data->x[row * (COLUMNS - 1) + column] : data->values[row];
        wrong += memcmp(&read, &expected[i], sizeof read) != 0;
    }
    assert_int_equal(wrong, 0);
    broad_data_free(data);
    free(text), free(expected);
}

/* More labels than there can be classes: numbers are values, words are an error, whatever piece they are in. */
static void test_csv_many_labels(void **state)
{
    (void)state;
    enum { MANY = 140000 };
    char *text = malloc((size_t)MANY * 32), *at = text;
    at += sprintf(at, "x,y\n");
    for (size_t i = 0; i < MANY; i++) at += sprintf(at, "%zu.5,%zu\n", i % 1000, i);
    broad_read_options options;
    broad_read_options_init(&options);
    broad_data *data;
    assert_ok(broad__read_bytes(&data, "data", text, (size_t)(at - text), &options, NULL));
    assert_true(data->task == BROAD_TASK_REGRESS && data->rows == MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_true(data->values[i] == (double)i && data->x[i] == (double)(i % 1000) + 0.5);
    broad_data_free(data);
    options.task = BROAD_TASK_CLASSIFY;
    assert_fails(broad__read_bytes(&data, "data", text, (size_t)(at - text), &options, NULL), BROAD_BAD_DATA,
                 "more than 65536 different labels");
    free(text);
}

/* Whatever allocation fails, nothing is leaked. A piece that fails is read once more, so that the whole may not fail. */
static void test_every_allocation_fails(void **state)
{
    (void)state;
    written w;
    write_table(&w, QUOTED);
    broad_read_options options = options_for(0);
    options.threads = 1; /* the watch counts for one */
    memory_watch watch = {.requests = 1};
    size_t failed = 0, last = 1;
    for (size_t at = 0; at <= last; at += 1 + at / 8) {
        broad_data *data;
        options.memory = at % 2 ? 1 << 20 : 0;
        watch_start(&watch, at);
        int status = broad__read_bytes(&data, "data", w.text, w.count, &options, NULL);
        if (status == BROAD_OK) broad_data_free(data);
        else assert_null(data);
        watch_stop();
        assert_true(status == BROAD_NO_MEMORY || status == BROAD_OK);
        assert_int_equal(watch.live, 0);
        failed += status == BROAD_NO_MEMORY;
        if (at == 0) last = watch.requests;
    }
    assert_true(failed > 15 && last > 100);
    written_free(&w);
}

/* ---- files in little memory ------------------------------------------------------------------------------------ */

static size_t status_bytes(const char *name)
{
    char line[256];
    size_t kilobytes = 0, length = strlen(name);
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, name, length) == 0) kilobytes = strtoul(line + length, NULL, 10);
    fclose(file);
    return kilobytes << 10;
}

/* Forgets the largest size so far; 0: the system does not let us. */
static int reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file) return 0;
    int done = fputs("5", file) >= 0;
    return fclose(file) == 0 && done;
}

enum { LARGE_ROWS = HELPER_SANITIZED ? 40000 : 180000, LARGE_COLUMNS = 21 };
enum { LARGE_MEMORY = (HELPER_SANITIZED ? 4 : 24) << 20 };

static double large_value(size_t i, size_t j)
{
    uint64_t bits = (i * LARGE_COLUMNS + j + 1) * 0x9E3779B97F4A7C15u;
    bits ^= bits >> 31;
    return (double)((int64_t)(bits % 2000000) - 1000000) / 1e4;
}

static void write_large_csv(const char *path, int gzip)
{
    FILE *file = gzip ? NULL : fopen(path, "w");
    gzFile packed = gzip ? gzopen(path, "w1") : NULL;
    char row[LARGE_COLUMNS * 16];
    for (size_t i = 0; i < LARGE_ROWS; i++) {
        char *at = row;
        for (size_t j = 0; j + 1 < LARGE_COLUMNS; j++) at += sprintf(at, "%.4f,", large_value(i, j));
        at += sprintf(at, "%s\n", i % 3 ? "no" : "yes");
        if (gzip) assert_true(gzwrite(packed, row, (unsigned)(at - row)) > 0);
        else assert_true(fwrite(row, 1, (size_t)(at - row), file) > 0);
    }
    if (gzip) gzclose(packed);
    else fclose(file);
}

/* 29 MB of text and as many of numbers, once more in parts, while the process grows by less than the 24 MB it is allowed. */
static void check_large(const char *path, const char *labels, broad_data **out)
{
    broad_read_options options;
    broad_read_options_init(&options);
    options.memory = LARGE_MEMORY;
    options.threads = 2;
    options.labels = labels;
    broad_data *data;
    int measured = reset_peak();
    size_t before = status_bytes("VmRSS:");
    assert_ok(broad_data_read(&data, path, &options));
    char print[33];
    assert_ok(broad__table_fingerprint(print, data, 0, data->rows));
    broad_split split;
    broad_split_init(&split);
    broad_data *train, *test;
    assert_ok(broad_data_split(&train, &test, data, &split));
    assert_true(data->spill && train->spill && data->rows == LARGE_ROWS && data->inputs == LARGE_COLUMNS - 1);
    if (!HELPER_SANITIZED && measured && status_bytes("VmHWM:") > before + options.memory)
        fail_msg("%s: from %zu to %zu", path, before, status_bytes("VmHWM:"));
    for (size_t i = 0; i < LARGE_ROWS; i += 999)
        for (size_t j = 0; j + 1 < LARGE_COLUMNS; j++) assert_true(data->x[i * data->inputs + j] == large_value(i, j));
    assert_int_equal(train->rows + test->rows, LARGE_ROWS);
    broad_data_free(train), broad_data_free(test);
    *out = data;
}

static void write_large_npy(const char *path, int fortran)
{
    char head[128];
    int length = snprintf(head, sizeof head, "{'descr': '<f8', 'fortran_order': %s, 'shape': (%d, %d), }",
                          fortran ? "True" : "False", LARGE_ROWS, LARGE_COLUMNS - 1);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite("\x93NUMPY\x01\0", 1, 8, file);
    fputc(length, file), fputc(0, file);
    fwrite(head, 1, (size_t)length, file);
    for (size_t k = 0; k < (size_t)LARGE_ROWS * (LARGE_COLUMNS - 1); k++) {
        size_t i = fortran ? k % LARGE_ROWS : k / (LARGE_COLUMNS - 1);
        double value = large_value(i, fortran ? k / LARGE_ROWS : k % (LARGE_COLUMNS - 1));
        fwrite(&value, sizeof value, 1, file);
    }
    fclose(file);
}

static void write_large_labels(const char *path)
{
    uint32_t shape[] = {LARGE_ROWS};
    unsigned char *labels = malloc(LARGE_ROWS);
    for (size_t i = 0; i < LARGE_ROWS; i++) labels[i] = i % 3 ? 0 : 1;
    bytes b = idx_bytes(8, 1, shape, labels, LARGE_ROWS);
    write_file(path, b.at, b.count);
    free(b.at), free(labels);
}

static void test_large_files(void **state)
{
    (void)state;
    char folder[HELPER_PATH], path[HELPER_PATH], labels[HELPER_PATH];
    broad_data *data, *whole, *packed;
    broad_read_options options;
    broad_read_options_init(&options);
    temporary_folder(folder);
    join_path(path, folder, "large.csv");
    write_large_csv(path, 0);
    check_large(path, NULL, &data);
    assert_ok(broad_data_read(&whole, path, &options));
    assert_null(whole->spill);
    check_same(whole, data);
    write_large_csv(path, 1);
    check_large(path, NULL, &packed);
    check_same(whole, packed);
    broad_data_free(packed), broad_data_free(data);
    join_path(labels, folder, "labels.idx");
    write_large_labels(labels);
    for (int fortran = 0; fortran < 2; fortran++) {
        write_large_npy(path, fortran);
        check_large(path, labels, &data);
        assert_memory_equal(data->x, whole->x, (size_t)LARGE_ROWS * (LARGE_COLUMNS - 1) * sizeof(double));
        assert_memory_equal(data->classes, whole->classes,
                            LARGE_ROWS * sizeof *data->classes); /* 0 and 1, no and yes */
        broad_data_free(data);
    }
    broad_data_free(whole);
    remove_folder(folder);
}

/* Bytes, whose table is eight times the file. */
static void test_idx(void **state)
{
    (void)state;
    uint32_t shape[] = {3000, 784};
    size_t count = (size_t)3000 * 28 * 28;
    unsigned char *points = malloc(count);
    for (size_t i = 0; i < count; i++) points[i] = (unsigned char)(i * i >> 7);
    bytes b = idx_bytes(8, 2, shape, points, count), packed = gzip_bytes(b.at, b.count);
    broad_read_options options;
    broad_read_options_init(&options);
    broad_data *whole, *spilled;
    assert_ok(broad__read_bytes(&whole, "data", b.at, b.count, &options, NULL));
    options.memory = 8 << 20;
    assert_ok(broad__read_bytes(&spilled, "data", packed.at, packed.count, &options, NULL));
    assert_true(spilled->spill && spilled->inputs == 783);
    for (size_t i = 0; i < count; i++)
        assert_true(points[i] == (i % 784 == 783 ? spilled->values[i / 784] : spilled->x[i / 784 * 783 + i % 784]));
    check_same(whole, spilled);
    broad_data_free(whole), broad_data_free(spilled);
    free(b.at), free(packed.at), free(points);
}

static void test_libsvm_is_refused(void **state)
{
    (void)state;
    char *text = malloc(1 << 20), *at = text;
    for (size_t i = 0; i < 20000; i++) at += sprintf(at, "%d 1:%zu.5 2:3\n", i % 2 ? 1 : -1, i % 100);
    broad_read_options options;
    broad_read_options_init(&options);
    options.memory = 1 << 18;
    broad_data *data;
    assert_fails(broad__read_bytes(&data, "data", text, (size_t)(at - text), &options, NULL), BROAD_BAD_DATA, "LIBSVM");
    free(text);
}

/* ---- what is made of tables ------------------------------------------------------------------------------------ */

static void test_parts_are_the_same(void **state)
{
    (void)state;
    written w;
    write_table(&w, MISSING);
    broad_read_options options = options_for(MISSING);
    broad_data *whole, *spilled, *parts[2][2], *joined[2], *picked[2];
    assert_ok(broad__read_bytes(&whole, "data", w.text, w.count, &options, NULL));
    options.memory = 1 << 20;
    assert_ok(broad__read_bytes(&spilled, "data", w.text, w.count, &options, NULL));
    const broad_data *tables[] = {whole, spilled};
    size_t some[900];
    for (size_t i = 0; i < 900; i++) some[i] = (i * 7919) % ROWS;
    for (int t = 0; t < 2; t++) {
        assert_ok(broad__split(&parts[t][0], &parts[t][1], tables[t], 0.3, 5));
        assert_ok(broad__table_append(&joined[t], parts[t][0], parts[t][1]));
        assert_ok(broad__table_rows(&picked[t], tables[t], some, 900));
    }
    assert_true(parts[1][0]->spill && joined[1]->spill && !parts[0][0]->spill && !picked[1]->spill);
    check_same(parts[0][0], parts[1][0]);
    check_same(parts[0][1], parts[1][1]);
    check_same(joined[0], joined[1]);
    check_same(picked[0], picked[1]);
    size_t cells = whole->rows * whole->outputs;
    double *targets[2] = {malloc(cells * sizeof(double)), malloc(cells * sizeof(double))};
    for (int t = 0; t < 2; t++) {
        broad__table_targets(targets[t], tables[t]);
        broad_data_free(parts[t][0]), broad_data_free(parts[t][1]), broad_data_free(joined[t]);
        broad_data_free(picked[t]);
    }
    assert_memory_equal(targets[0], targets[1], cells * sizeof(double));
    free(targets[0]), free(targets[1]);
    broad_data_free(whole), broad_data_free(spilled);
    written_free(&w);
}

/* The held-out rows are those with the smallest keys: of a regression the first in the shuffled order. */
static void test_selection_is_that_of_sorting(void **state)
{
    (void)state;
    enum { COUNT = 70001 };
    broad_data *table, *train, *test;
    assert_ok(broad__table_new(&table, COUNT, 1));
    for (size_t i = 0; i < COUNT; i++) table->x[i] = (double)i;
    for (uint64_t seed = 0; seed < 3; seed++) {
        assert_ok(broad__split(&train, &test, table, 0.2, seed));
        size_t *order = broad__shuffled(COUNT, seed), wanted = (size_t)floor(COUNT * 0.2 + 0.5);
        unsigned char *apart = calloc(COUNT, 1);
        for (size_t i = 0; i < wanted; i++) apart[order[i]] = 1;
        assert_int_equal(test->rows, wanted);
        for (size_t i = 0; i < wanted; i++) assert_true(apart[(size_t)test->x[i]]);
        broad_free(order);
        free(apart);
        broad_data_free(train), broad_data_free(test);
    }
    broad_data_free(table);
}

/* With more rows than knots are chosen among: they are values that are there, with the ranks they have among all, the ends
 * among them, at about equal distances; and a spilled table has the same bits. */
static void test_ranks_of_many_rows(void **state)
{
    (void)state;
    enum { COUNT = 300000, COLUMNS = 3 };
    broad__spill *spill;
    assert_ok(broad__spill_open(&spill, 1 << 20));
    double *x = malloc((size_t)COUNT * COLUMNS * sizeof *x);
    for (size_t i = 0; i < COUNT; i++) {
        x[i * COLUMNS] = large_value(i, 0) * large_value(i, 1);
        x[i * COLUMNS + 1] = i % 7 == 0 ? (double)NAN : floor(large_value(i, 2) / 40);
        x[i * COLUMNS + 2] = i == 12345 ? 1e9 : large_value(i, 3);
    }
    double *copy = broad__spill_alloc(spill, (size_t)COUNT * COLUMNS, sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, x, (size_t)COUNT * COLUMNS * sizeof *x);
    double made[2][4 * COLUMNS + COLUMNS + 2 * BROAD__KNOTS * COLUMNS];
    for (int t = 0; t < 2; t++) {
        double *m = made[t];
        broad__scaling_arrays arrays = {m, m + 2 * COLUMNS, m + 4 * COLUMNS, m + 5 * COLUMNS};
        broad__column_rows rows = {t ? copy : x, COUNT, COLUMNS, t ? spill : NULL, NULL};
        assert_ok(broad__scaling_fit(&arrays, BROAD_SCALE_BOTH, &rows));
    }
    assert_memory_equal(made[0], made[1], sizeof made[0]);
    for (size_t j = 0; j < COLUMNS; j++) {
        const double *knots = made[0] + 5 * COLUMNS + j * 2 * BROAD__KNOTS, *ranks = knots + BROAD__KNOTS;
        double largest_gap = 0;
        for (size_t k = 0; k < BROAD__KNOTS; k += j == 1 ? 1 : 9) {
            size_t below = 0, same = 0, all = 0;
            for (size_t i = 0; i < COUNT; i++) {
                all += isnan(x[i * COLUMNS + j]) ? 0 : 1;
                below += x[i * COLUMNS + j] < knots[k] ? 1 : 0;
                same += x[i * COLUMNS + j] == knots[k] ? 1 : 0;
            }
            assert_true(same > 0);
            assert_true(fabs(ranks[k] - ((double)below + (double)same / 2) / (double)all) < 1e-12);
            if (k == 0) assert_int_equal(below, 0);
        }
        for (size_t k = 1; k < BROAD__KNOTS; k++) largest_gap = fmax(largest_gap, ranks[k] - ranks[k - 1]);
        assert_true(largest_gap < (j == 1 ? 0.25 : 0.01));
    }
    assert_true(made[0][5 * COLUMNS + 2 * 2 * BROAD__KNOTS + BROAD__KNOTS - 1] == 1e9);
    free(x);
    broad__spill_close(spill);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv_in_pieces),
        cmocka_unit_test(test_csv_quotes_in_pieces),
        cmocka_unit_test(test_csv_faults_far_down),
        cmocka_unit_test(test_csv_numbers),
        cmocka_unit_test(test_csv_many_labels),
        cmocka_unit_test(test_every_allocation_fails),
        cmocka_unit_test(test_large_files),
        cmocka_unit_test(test_idx),
        cmocka_unit_test(test_libsvm_is_refused),
        cmocka_unit_test(test_parts_are_the_same),
        cmocka_unit_test(test_selection_is_that_of_sorting),
        cmocka_unit_test(test_ranks_of_many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
