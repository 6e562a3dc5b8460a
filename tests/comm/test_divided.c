/* Tables that ranks read together: each holds its own rows, and everything comes out as on one process. */
#include "folder.h"
#include "wired_ranks.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "comm/comm.h"
#include "data/row_order.h"
#include "data/table.h"
#include "data/transform/scale.h"
#include "data/twins.h"
#include "layer/wide_sums.h"
#include "model/model.h"

enum { ROWS = 2600, INPUTS = 5 };

/* ---- files --------------------------------------------------------------------------------------------------------- */

/* What is unusual about a file. */
enum {
    TEXT = 1,        /* a column of categories */
    HOLES = 2,       /* missing inputs */
    COPIES = 4,      /* many rows twice */
    VALUES = 8,      /* a regression */
    QUOTES = 16,     /* around the targets */
    WEIGHTS = 32,    /* a column of them */
    GROUPS = 64,     /* likewise */
    GAPS = 128,      /* empty lines */
    NO_TARGETS = 256 /* of some rows */
};

static double input(size_t i, size_t j) { return round(1e4 * sin((double)(i * (j + 3)) * 1.618 + (double)j)) / 1e4; }

static size_t class_of(size_t i)
{
    double sum = input(i, 0) + input(i, 1) * input(i, 2) + 0.2 * input(i, 4);
    return sum < -0.4 ? 2 : sum < 0.3 ? 0 : 1; /* numbered by no order that rows or letters have */
}

static void put_row(FILE *file, size_t i, int how)
{
    static const char *const names[] = {"mid", "high", "low"}, *const colours[] = {"red", "blue", "green, dark"};
    size_t row = how & COPIES && i > 40 && i % 3 == 0 ? i / 2 : i;
    for (size_t j = 0; j < INPUTS; j++)
        if (how & HOLES && (row * 7 + j) % 31 == 0) fprintf(file, ",");
        else fprintf(file, "%.4f,", input(row, j));
    /* One level comes first near the end, so that ranks number levels differently. */
    if (how & TEXT) fprintf(file, "\"%s\",", row > ROWS / 4 * 3 && row % 5 == 0 ? "violet" : colours[row % 3]);
    if (how & WEIGHTS) fprintf(file, "%zu,", 1 + row % 4);
    if (how & GROUPS) fprintf(file, "g%zu,", (ROWS - row) / 7);
    const char *quote = how & QUOTES ? "\"" : "";
    if (how & NO_TARGETS && i % 97 == 5) fprintf(file, "\n");
    else if (how & VALUES) fprintf(file, "%.6f\n", input(row, 0) * 3 + input(row, 1) * input(row, 2));
    else fprintf(file, "%s%s%s\n", quote, names[class_of(row)], quote);
    if (how & GAPS && i % 500 == 7) fprintf(file, "\n");
}

static const char *path_of(char out[HELPER_PATH], const char *name)
{
    snprintf(out, HELPER_PATH, "%.2000s/%.100s", folder, name);
    return out;
}

static void write_csv(const char *name, int how)
{
    char path[HELPER_PATH];
    FILE *file = fopen(path_of(path, name), "w");
    fprintf(file, "a,b,c,d,e%s%s%s,kind\n", how & TEXT ? ",colour" : "", how & WEIGHTS ? ",weight" : "",
            how & GROUPS ? ",group" : "");
    for (size_t i = 0; i < ROWS; i++) put_row(file, i, how);
    fclose(file);
}

static void write_npy(const char *name, const char *type, int fortran, size_t columns)
{
    char path[HELPER_PATH], header[160];
    FILE *file = fopen(path_of(path, name), "wb");
    int used = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': (%d, %zu), }", type,
                        fortran ? "True" : "False", ROWS, columns);
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file);
    fprintf(file, "%-117.*s\n", used, header);
    for (size_t k = 0; k < ROWS * columns; k++) {
        size_t i = fortran ? k % ROWS : k / columns, j = fortran ? k / ROWS : k % columns;
        double value = j < INPUTS ? input(i, j) : (double)class_of(i);
        float single = (float)value;
        if (type[2] == '8') fwrite(&value, sizeof value, 1, file);
        else fwrite(&single, sizeof single, 1, file);
    }
    fclose(file);
}

static void write_idx(const char *name, size_t columns)
{
    char path[HELPER_PATH];
    FILE *file = fopen(path_of(path, name), "wb");
    const unsigned char head[] = {0, 0, 8, columns > 1 ? 2 : 1, 0, 0, ROWS >> 8, ROWS & 255, 0, 0, 0, INPUTS};
    fwrite(head, 1, columns > 1 ? 12 : 8, file);
    for (size_t k = 0; k < ROWS * columns; k++)
        fputc(columns > 1 ? (int)(127 + 120 * input(k / columns, k % columns)) : (int)class_of(k), file);
    fclose(file);
}

/* Zeros are left out; some rows are nothing else. Of the lines some are empty, or comments. */
static void write_libsvm(const char *name, int how)
{
    char path[HELPER_PATH];
    FILE *file = fopen(path_of(path, name), "w");
    for (size_t i = 0; i < ROWS; i++) {
        if (how & GAPS && i % 300 == 7) fprintf(file, "\n# a comment\n");
        if (how & VALUES) fprintf(file, "%.6f", input(i, 0) * 3 + input(i, 1) * input(i, 2));
        else fprintf(file, "%zu", class_of(i));
        if (how & GROUPS) fprintf(file, " qid:%zu", (ROWS - i) / 7);
        for (size_t j = 0; j < INPUTS && i % 50 != 3; j++)
            if (how & HOLES && (7 * i + j) % 31 == 0) fprintf(file, " %zu:nan", j + 1);
            else if ((i + j) % 3) fprintf(file, " %zu:%.4f", j + 1, input(i, j));
        fprintf(file, "\n");
    }
    fclose(file);
}

static int write_files(void **state)
{
    make_folder(state);
    write_csv("plain.csv", 0);
    write_csv("text.csv", TEXT | QUOTES);
    write_csv("holes.csv", HOLES | VALUES);
    write_csv("values.csv", VALUES);
    write_csv("copies.csv", COPIES);
    write_csv("weights.csv", WEIGHTS | GROUPS);
    write_csv("gaps.csv", GAPS);
    write_csv("targets.csv", NO_TARGETS);
    write_npy("double.npy", "<f8", 0, INPUTS + 1);
    write_npy("inputs.npy", "<f8", 0, INPUTS);
    write_npy("single.npy", "<f4", 0, INPUTS + 1);
    write_npy("fortran.npy", "<f8", 1, INPUTS + 1);
    write_idx("inputs.idx", INPUTS);
    write_idx("classes.idx", 1);
    write_libsvm("plain.svm", 0);
    write_libsvm("values.svm", VALUES | GAPS | HOLES);
    write_libsvm("groups.svm", GROUPS);
    return 0;
}

/* ---- tables -------------------------------------------------------------------------------------------------------- */

typedef struct file_case {
    const char *name, *labels, *group, *weight;
    int divided; /* each rank has its own rows; otherwise all have all */
} file_case;

static const file_case FILES[] = {
    {"plain.csv", NULL, NULL, NULL, 1},           {"text.csv", NULL, NULL, NULL, 1},
    {"holes.csv", NULL, NULL, NULL, 1},           {"copies.csv", NULL, NULL, NULL, 1},
    {"weights.csv", NULL, "group", "weight", 1},  {"gaps.csv", NULL, NULL, NULL, 0},
    {"targets.csv", NULL, NULL, NULL, 0},         {"double.npy", NULL, NULL, NULL, 1},
    {"inputs.npy", "classes.idx", NULL, NULL, 1}, {"single.npy", NULL, NULL, NULL, 1},
    {"fortran.npy", NULL, NULL, NULL, 1},         {"inputs.idx", "classes.idx", NULL, NULL, 1},
    {"plain.svm", NULL, NULL, NULL, 1},           {"values.svm", NULL, NULL, NULL, 1},
    {"groups.svm", NULL, "qid", NULL, 1},
};

static broad_data *read_case(const file_case *c, const broad_comm *comm)
{
    char path[HELPER_PATH], labels[HELPER_PATH];
    broad_read_options o;
    broad_data *data = NULL;
    broad_read_options_init(&o);
    o.threads = comm ? comm->rank % 2 + 1 : 1;
    o.comm = comm;
    o.in_place = 1;
    o.group = c->group;
    o.weight = c->weight;
    if (c->labels) o.labels = path_of(labels, c->labels);
    must(broad_data_read(&data, path_of(path, c->name), &o));
    return data;
}

static void add_numbers(broad__hash *hash, const void *numbers, size_t count)
{
    if (numbers) broad__hash_add(hash, numbers, count * sizeof(double));
}

/* What each rank has of all rows, and what comes of those that it has of its own. */
static void add_table(broad__hash *hash, const broad_data *t)
{
    enum { SOME = 60 };
    size_t order[SOME], *twins = NULL;
    char fingerprint[BROAD__HASH_TEXT];
    broad_data *some = NULL;
    must(broad__table_fingerprint(fingerprint, t, 0, t->rows));
    broad__hash_add(hash, fingerprint, 32);
    must(broad__table_fingerprint(fingerprint, t, t->rows / 4, t->rows / 2));
    broad__hash_add(hash, fingerprint, 32);
    must(broad__row_order(order, SOME, t, 0, t->rows));
    add_numbers(hash, order, SOME);
    must(broad__table_rows(&some, t, order, SOME));
    add_numbers(hash, some->x, SOME * t->inputs);
    must(broad__twins_find(&twins, t, 0, t->rows));
    add_numbers(hash, twins, t->rows);
    add_numbers(hash, t->classes, t->rows);
    add_numbers(hash, t->values, t->values ? t->rows * t->outputs : 0);
    add_numbers(hash, t->groups, t->rows);
    add_numbers(hash, t->weights, t->rows);
    for (size_t i = 0; i < t->inputs; i++) broad__hash_add(hash, t->input_names[i], strlen(t->input_names[i]));
    for (size_t i = 0; i < t->outputs; i++) broad__hash_add(hash, t->output_names[i], strlen(t->output_names[i]));
    for (size_t i = 0; i < broad_data_note_count(t); i++)
        broad__hash_add(hash, broad_data_note(t, i), strlen(broad_data_note(t, i)));
    broad__free(twins);
    broad_data_free(some);
}

static void check_rows_here(const broad_data *t, const file_case *c, const broad_comm *comm)
{
    if (broad__table_divided(t) != (comm && c->divided)) must(broad__fail(BROAD_BUG, "%s: divided or not", c->name));
    if (!broad__table_divided(t)) return;
    size_t first, end, least = t->rows / comm->ranks / 2;
    broad__owned_rows(&first, &end, t->owned, 0, t->rows);
    if (end - first > 2 * least + 600) must(broad__fail(BROAD_BUG, "%s: %zu rows are here", c->name, end - first));
    for (size_t i = 0; i < t->rows; i++)
        if (!broad_data_row(t, i) != (i < first || i >= end)) must(broad__fail(BROAD_BUG, "%s: row %zu", c->name, i));
}

static void tell_table(char out[RESULT], const file_case *c, const broad_comm *comm)
{
    broad_data *data = read_case(c, comm), *train = NULL, *test = NULL;
    broad_split split = {.size = sizeof split, .holdout = 0.4, .seed = 5};
    broad__hash *hash = broad__hash_open();
    must(broad_data_split(&train, &test, data, &split)); /* outside any call */
    check_rows_here(data, c, comm);
    if (c->divided && comm && !broad__table_divided(train)) must(broad__fail(BROAD_BUG, "%s: the part", c->name));
    const broad_comm *before = broad__comm_enter(comm);
    add_table(hash, data);
    add_table(hash, train);
    must(broad__table_gather(data));
    must(broad__table_gather(test));
    add_numbers(hash, data->x, data->rows * data->inputs);
    add_numbers(hash, test->x, test->rows * test->inputs);
    add_table(hash, data);
    broad__comm_leave(before);
    char text[BROAD__HASH_TEXT];
    broad__hash_close(text, hash);
    snprintf(out, RESULT, "%s %zu rows, %zu inputs, %zu notes", text, data->rows, data->inputs,
             broad_data_note_count(data));
    broad_data_free(data);
    broad_data_free(train);
    broad_data_free(test);
}

static void table_job(char out[RESULT], const broad_comm *comm, const void *context) { tell_table(out, context, comm); }

static void files_are_read_as_by_one_process(void **state)
{
    (void)state;
    const size_t ranks[] = {2, 3, 8, 13}; /* 13 ranks of 11 shards: some have no rows */
    broad__comm_least_rows = 512;
    for (size_t f = 0; f < sizeof FILES / sizeof *FILES; f++) {
        char alone[RESULT];
        tell_table(alone, &FILES[f], NULL);
        print_message("%s: %s\n", FILES[f].name, alone);
        for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++)
            run_ranks(ranks[r], r % 2, table_job, &FILES[f], alone);
    }
}

/* ---- networks ------------------------------------------------------------------------------------------------------ */

typedef struct network_case {
    size_t file;
    const char *words[16];
    int stays; /* the table is still divided after training */
} network_case;

static const network_case NETWORKS[] = {
    {0, {"preset", "paper", "features", "3x8", "enhance", "20x3"}, 1},
    {1, {"preset", "paper", "supervise", "gcv", "features", "3x8", "enhance", "20x2", "lambda", "auto"}, 1},
    {2, {"preset", "paper", "kind", "brls", "scale", "rank", "features", "3x8", "enhance", "20x2"}, 1},
    {3, {"preset", "paper", "weights", "joint", "features", "3x8", "enhance", "30x2", "scale", "both"}, 1},
    {4, {"preset", "paper", "kind", "rvfl", "enhance", "60x1"}, 1},
    {8, {"preset", "paper", "kind", "scn", "enhance", "5x3"}, 0},
    {11, {"preset", "auto", "features", "2x20", "enhance", "10x1"}, 1},
    {13, {"preset", "paper", "features", "3x8", "enhance", "20x2"}, 1},
};

static void add_predictions(broad__hash *hash, const broad_model *model, const broad_data *data, const broad_comm *comm)
{
    broad_run_options run;
    broad_metrics metrics;
    broad_run_options_init(&run);
    run.comm = comm;
    size_t count = data->rows * model->outputs;
    double *scores = malloc(count * sizeof *scores);
    must(broad_predict_data(scores, model, data, &run));
    add_numbers(hash, scores, count);
    must(broad_predict_part(scores, model, data, 300, 1900, &run));
    add_numbers(hash, scores, 1900 * model->outputs);
    broad_metrics_init(&metrics);
    must(broad_eval(&metrics, model, data, &run));
    add_numbers(hash, &metrics.rmse, 1);
    add_numbers(hash, &metrics.accuracy, 1);
    broad_metrics_clear(&metrics);
    free(scores);
}

static void train(char out[RESULT], const network_case *c, const broad_comm *comm)
{
    const file_case *file = &FILES[c->file];
    broad_data *data = read_case(file, comm);
    broad_options o;
    broad_model *model = NULL;
    broad_run_options run;
    broad_verdict verdict = {.size = sizeof verdict};
    void *bytes = NULL;
    size_t count = 0;
    broad_options_init(&o);
    broad_run_options_init(&run);
    run.comm = o.comm = comm;
    o.threads = run.threads = comm ? comm->rank % 2 + 1 : 2;
    for (size_t i = 0; c->words[i]; i += 2) must(broad_options_set(&o, c->words[i], c->words[i + 1]));
    must(broad_fit(&model, NULL, data, &o));
    must(broad_model_to_memory(&bytes, &count, model, BROAD_FILE_FULL));
    broad__hash *hash = broad__hash_open();
    broad__hash_add(hash, bytes, count);
    if (comm && broad__table_divided(data) != c->stays) must(broad__fail(BROAD_BUG, "%s: stays", file->name));
    add_predictions(hash, model, data, comm);
    must(broad_verify(&verdict, model, data, &run));
    if (comm && broad__table_divided(data) != c->stays) must(broad__fail(BROAD_BUG, "%s: verified", file->name));
    int holds = verdict.holds;
    model->input_shift[0] += 0.125; /* of no data */
    must(broad_verify(&verdict, model, data, &run));
    char text[BROAD__HASH_TEXT];
    broad__hash_close(text, hash);
    snprintf(out, RESULT, "%s %d %zu, then %d: %.60s", text, holds, verdict.layers, verdict.holds, verdict.reason);
    broad_free(bytes);
    broad_model_free(model);
    broad_data_free(data);
}

static void train_job(char out[RESULT], const broad_comm *comm, const void *context) { train(out, context, comm); }

static void networks_have_the_bytes_of_one_process(void **state)
{
    (void)state;
    broad__comm_least_rows = broad__wide_least_rows = 512;
    for (size_t c = 0; c < sizeof NETWORKS / sizeof *NETWORKS; c++) {
        char alone[RESULT];
        train(alone, &NETWORKS[c], NULL);
        print_message("%s: %s\n", FILES[NETWORKS[c].file].name, alone);
        run_ranks(c % 2 ? 3 : 4, c % 3 == 0, train_job, &NETWORKS[c], alone);
    }
}

/* A program that forgets the ranks of a table in later calls gets the same, if all of its ranks make them. */
static void alone_job(char out[RESULT], const broad_comm *comm, const void *context)
{
    broad_data *data = read_case(&FILES[0], comm);
    broad_options o;
    broad_model *model = NULL;
    void *bytes = NULL;
    size_t count = 0;
    (void)context;
    broad_options_init(&o);
    must(broad_options_set(&o, "preset", "paper"));
    must(broad_options_set(&o, "features", "2x5"));
    must(broad_options_set(&o, "enhance", "10x2"));
    must(broad_fit(&model, NULL, data, &o));
    must(broad_model_to_memory(&bytes, &count, model, BROAD_FILE_FULL));
    broad__hash_text(out, bytes, count);
    broad_free(bytes);
    broad_model_free(model);
    broad_data_free(data);
}

/* ---- faults -------------------------------------------------------------------------------------------------------- */

/* A copy of a file in which one line is another. */
static void spoil(const char *name, const char *of, size_t row, const char *line)
{
    char path[HELPER_PATH], text[512];
    FILE *from = fopen(path_of(path, of), "r"), *to = fopen(path_of(path, name), "w");
    size_t changed = row + (strstr(of, ".csv") != NULL); /* after the header */
    for (size_t i = 0; fgets(text, sizeof text, from); i++) {
        fputs(i == changed ? line : text, to);
        if (i == changed) fputc('\n', to);
    }
    fclose(from);
    fclose(to);
}

/* context: the name of a file */
static void fault_job(char out[RESULT], const broad_comm *comm, const void *context)
{
    char path[HELPER_PATH];
    const char *name = context;
    broad_read_options o;
    broad_data *data = NULL;
    broad_read_options_init(&o);
    o.comm = comm;
    o.missing = BROAD_MISSING_ERROR;
    if (strstr(name, ".csv")) o.categorical = "none";
    else o.group = "qid";
    int status = broad_data_read(&data, path_of(path, name), &o);
    const char *message = strstr(broad_error_message(), name);
    snprintf(out, RESULT, "%d %.120s", status, status < 0 && message ? message : "read");
    broad_data_free(data);
}

static void try_fault(const char *name)
{
    char alone[RESULT];
    fault_job(alone, NULL, name);
    print_message("%s\n", alone);
    assert_null(strstr(alone, "0 read"));
    run_ranks(3, 0, fault_job, name, alone);
}

static void faults_have_one_message(void **state)
{
    (void)state;
    static const char *const cells[] = {"1,2,3,x,5,low",   "1,2,,4,5,low",    "1,2,3,4,low",
                                        "1,2,3,4,5,6,low", "1,2,3,4,5,\"low", "1,2,3,inf,5,low"};
    static const char *const pairs[] = {"1 qid:1 1:x", "1 qid:1 2:1 1:1", "? qid:1 1:1",
                                        "1 1:0.5",     "1 qid:1 4:nan",   "1 qid:1 0:1 99999999:1"};
    broad__comm_least_rows = 512;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        spoil("fault.csv", "plain.csv", i * (ROWS - 1) / 5, cells[i]);
        try_fault("fault.csv");
        spoil("fault.svm", "groups.svm", i * (ROWS - 1) / 5, pairs[i]);
        try_fault("fault.svm");
    }
    spoil("fault.csv", "values.csv", ROWS / 2, "1,2,3,4,5,x"); /* a word among the numbers of the target */
    try_fault("fault.csv");
    remove(path_of((char[HELPER_PATH]){0}, "fault.csv"));
    try_fault("fault.csv");
}

typedef struct grouped_case {
    const char *name;
    const broad_model *model; /* whose rows had groups */
} grouped_case;

static void grouped_job(char out[RESULT], const broad_comm *comm, const void *context)
{
    const grouped_case *c = context;
    char path[HELPER_PATH], text[BROAD__HASH_TEXT];
    broad_read_options o;
    broad_data *data = NULL;
    broad_read_options_init(&o);
    o.comm = comm;
    o.model = c->model;
    must(broad_data_read(&data, path_of(path, c->name), &o));
    if (comm && !broad__table_divided(data)) must(broad__fail(BROAD_BUG, "%s: not divided", c->name));
    broad__hash *hash = broad__hash_open();
    const broad_comm *before = broad__comm_enter(comm);
    add_table(hash, data);
    broad__comm_leave(before);
    broad__hash_close(text, hash);
    snprintf(out, RESULT, "%s %s", text, data->groups ? "groups" : "no groups");
    broad_data_free(data);
}

/* Rows for a model that was trained with groups may come without, and one such row is enough, whichever rank reads it. */
static void groups_of_a_model_are_those_of_all_rows(void **state)
{
    (void)state;
    char alone[RESULT];
    broad_options o;
    broad_model *model = NULL;
    broad_data *data = read_case(&FILES[14], NULL);
    broad__comm_least_rows = 512;
    broad_options_init(&o);
    must(broad_options_set(&o, "preset", "paper"));
    must(broad_options_set(&o, "features", "2x5"));
    must(broad_options_set(&o, "enhance", "10x1"));
    must(broad_fit(&model, NULL, data, &o));
    for (size_t i = 0; i < 4; i++) {
        grouped_case c = {i < 3 ? "some.svm" : "groups.svm", model};
        spoil("some.svm", "groups.svm", i * (ROWS - 1) / 2, "1 1:0.5");
        grouped_job(alone, NULL, &c);
        print_message("%s\n", alone);
        assert_int_equal(strstr(alone, "no groups") != NULL, i < 3);
        run_ranks(3, 0, grouped_job, &c, alone);
    }
    broad_model_free(model);
    broad_data_free(data);
}

static void calls_without_ranks_bring_the_rows_together(void **state)
{
    (void)state;
    char alone[RESULT];
    broad__comm_least_rows = 512;
    alone_job(alone, NULL, NULL);
    run_ranks(3, 0, alone_job, NULL, alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_as_by_one_process),
        cmocka_unit_test(networks_have_the_bytes_of_one_process),
        cmocka_unit_test(calls_without_ranks_bring_the_rows_together),
        cmocka_unit_test(faults_have_one_message),
        cmocka_unit_test(groups_of_a_model_are_those_of_all_rows),
    };
    return cmocka_run_group_tests(tests, write_files, drop_folder);
}
