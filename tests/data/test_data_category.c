/* Columns of categories: what becomes of them in a table, and with a model. */
#include "data_helper.h"

#include "data/split.h"
#include "rng/philox.h"

static broad_read_options categorical(const char *columns)
{
    broad_read_options options;
    broad_read_options_init(&options);
    options.missing = BROAD_MISSING_ERROR;
    options.categorical = columns;
    return options;
}

static broad_data *read_ok(const char *text, const broad_read_options *options)
{
    broad_data *data;
    int status = read_text(&data, text, options);
    if (status < 0) fail_msg("'%s': %s", text, broad_error_message());
    return data;
}

static int read_with(broad_data **out, const char *text, const broad_read_options *options,
                     const broad__columns *columns)
{
    return broad__read_bytes(out, "data", text, strlen(text), options, columns);
}

/* The table as CSV, inputs only; '?' for NaN. */
static char *table_text(const broad_data *data)
{
    char *text = NULL;
    size_t count = 0;
    FILE *file = open_memstream(&text, &count);
    assert_non_null(file);
    for (size_t j = 0; j < data->inputs; j++)
        fprintf(file, "%s%c", data->input_names[j], j + 1 < data->inputs ? ',' : '\n');
    for (size_t i = 0; i < data->rows * data->inputs; i++) {
        if (isnan(data->x[i])) fputc('?', file);
        else fprintf(file, "%g", data->x[i]);
        fputc((i + 1) % data->inputs ? ',' : '\n', file);
    }
    fclose(file);
    return text;
}

static void check_text(const broad_data *data, const char *expected, const char *what)
{
    char *found = table_text(data);
    if (strcmp(found, expected) != 0) fail_msg("%s gives\n%s where this was expected:\n%s", what, found, expected);
    free(found);
}

typedef struct good_case {
    const char *columns, *text, *expected;
} good_case;

static const good_case good_cases[] = {
    {"c", "a,c,b,y\n1,red,2,0\n3,blue,4,1\n5,red,6,2\n", "a,c=blue,c=red,b\n1,0,1,2\n3,1,0,4\n5,0,1,6\n"},
    {"2", "a,c,b,y\n1,red,2,0\n3,blue,4,1\n", "a,c=blue,c=red,b\n1,0,1,2\n3,1,0,4\n"},
    {"auto", "a,c,b,y\n1,red,2,0\n3,blue,4,1\n", "a,c=blue,c=red,b\n1,0,1,2\n3,1,0,4\n"},
    {"auto", "a,b,y\n1,2,0\n3,4,1\n", "a,b\n1,2\n3,4\n"},
    /* one beside the other, first and last, and nothing else */
    {"c,d", "c,d,y\nu,p,0\nv,q,1\nu,q,2\n", "c=u,c=v,d=p,d=q\n1,0,1,0\n0,1,0,1\n1,0,0,1\n"},
    {" d , c ", "c,d,y\nu,p,0\nv,q,1\n", "c=u,c=v,d=p,d=q\n1,0,1,0\n0,1,0,1\n"},
    /* numbers: sorted by number, as they are written; with auto only if they are named */
    {"z", "z,y\n10,0\n9,1\n100,2\n", "z=9,z=10,z=100\n0,1,0\n1,0,0\n0,0,1\n"},
    {"auto,z", "z,c,y\n10,u,0\n9,v,1\n", "z=9,z=10,c=u,c=v\n0,1,1,0\n1,0,0,1\n"},
    /* a number among words is a level */
    {"auto", "a,c,y\n1,7,0\n2,x,1\n", "a,c=7,c=x\n1,1,0\n2,0,1\n"},
    /* one level only */
    {"c", "c,a,y\nu,1,0\nu,2,1\n", "c=u,a\n1,1\n1,2\n"},
    /* quotes, separators and blanks */
    {"c", "c,a,y\n\"x,\"\"z\"\"\",1,0\n  u v ,2,1\n", "c=u v,c=x,\"z\",a\n0,1,1\n1,0,2\n"},
    /* a name with a comma in it, and one that is a number */
    {"c,d", "\"c,d\",a,y\nu,1,0\nv,2,1\n", "c,d=u,c,d=v,a\n1,0,1\n0,1,2\n"},
    {"1", "a,1,y\n1,u,0\n2,v,1\n", "a,1=u,1=v\n1,1,0\n2,0,1\n"},
    /* no header */
    {"2", "1,red,5\n2,blue,6\n", "x1,x2=blue,x2=red\n1,0,1\n2,1,0\n"},
    {"auto", "red,1,5\nblue,2,6\n", "x1=blue,x1=red,x2\n0,1,1\n1,0,2\n"},
    /* the same name twice, by number */
    {"1,2", "c,c,y\nu,p,0\nv,q,1\n", "c=u,c=v,c=p,c=q\n1,0,1,0\n0,1,0,1\n"},
    /* UTF-8, and letters by their bytes */
    {"c", "c,a,y\n\xC3\xA4,1,0\nZ,2,1\na,3,2\n", "c=Z,c=a,c=\xC3\xA4,a\n0,0,1,1\n1,0,0,2\n0,1,0,3\n"},
};

static void test_one_hot(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good_cases / sizeof good_cases[0]; i++) {
        const good_case *c = &good_cases[i];
        broad_read_options options = categorical(c->columns);
        broad_data *data = read_ok(c->text, &options);
        check_text(data, c->expected, c->text);
        broad_data_free(data);
    }
}

static void test_what_is_remembered(void **state)
{
    (void)state;
    broad_read_options options = categorical("c,d");
    options.target = "y";
    broad_data *data = read_ok("a,c,b,y,d\n1,red,2,0,p\n3,blue,4,1,p\n", &options);
    assert_int_equal(data->categories.count, 2);
    const broad__category *c = &data->categories.items[0], *d = &data->categories.items[1];
    assert_string_equal(c->name, "c");
    assert_int_equal(c->first, 1);
    assert_int_equal(c->count, 2);
    assert_string_equal(c->levels[1], "red");
    assert_string_equal(d->name, "d");
    assert_int_equal(d->first, 4);
    assert_int_equal(d->count, 1);
    assert_int_equal(broad__categories_columns(&data->categories, data->inputs), 4);
    broad_data_free(data);
}

static void test_missing(void **state)
{
    (void)state;
    broad_read_options options = categorical("c");
    options.missing = BROAD_MISSING_MEAN;
    broad_data *data = read_ok("a,c,y\n1,u,0\n?,,1\n2,NA,2\n3,v,3\n", &options);
    check_text(data, "a,c=(missing),c=u,c=v\n1,0,1,0\n?,1,0,0\n2,1,0,0\n3,0,0,1\n", "missing levels");
    broad_data_free(data);
    assert_fails(read_text(&data, "a,c,y\n1,,0\n2,?,1\n", &options), BROAD_BAD_DATA,
                 "data: column 'c' has no value in any row; remove it");
}

/* A column of numbers with a word in fewer than 1 of 100 rows is no column of categories. */
static void test_slips_are_no_levels(void **state)
{
    (void)state;
    char text[8192] = "a,y\n";
    for (int i = 0; i < 500; i++) sprintf(text + strlen(text), "%s,%d\n", i == 321 ? "4o" : "40", i);
    broad_read_options options = categorical("auto");
    broad_data *data;
    assert_fails(read_text(&data, text, &options), BROAD_BAD_DATA, "data:323:1: '4o' is not a number (column 'a')");
    options.categorical = "a";
    data = read_ok(text, &options);
    assert_int_equal(data->inputs, 2);
    broad_data_free(data);
}

/* Random tables against their one-hot form, written by hand and read as numbers. */
static void test_against_one_hot_by_hand(void **state)
{
    (void)state;
    enum { ROWS = 300 };
    static const char *const words[] = {"oak", "ash", "elm", "fir", "yew"}, *const sorted[] = {"ash", "elm", "fir",
                                                                                               "oak", "yew"};
    char raw[ROWS * 64] = "p,tree,q,code,y\n",
                    hot[ROWS * 64] = "p,tree=ash,tree=elm,tree=fir,tree=oak,tree=yew,q,code=2,code=10,code=33,y\n";
    static const int codes[] = {10, 33, 2}, ranks[] = {1, 2, 0};
    broad__stream stream = {.seed = 11, .purpose = BROAD__FOR_DEMO};
    char *r = raw + strlen(raw), *h = hot + strlen(hot);
    for (size_t i = 0; i < ROWS; i++) {
        double p = broad__random_at(&stream, 4 * i), q = broad__random_at(&stream, 4 * i + 1);
        size_t word = (size_t)(5 * broad__random_at(&stream, 4 * i + 2));
        size_t code = (size_t)(3 * broad__random_at(&stream, 4 * i + 3));
        r += sprintf(r, "%.5f,%s,%.5f,%d,%zu\n", p, words[word], q, codes[code], i);
        h += sprintf(h, "%.5f,", p);
        for (int l = 0; l < 5; l++) h += sprintf(h, "%d,", strcmp(words[word], sorted[l]) == 0);
        h += sprintf(h, "%.5f,", q);
        for (int l = 0; l < 3; l++) h += sprintf(h, "%d,", ranks[code] == l);
        h += sprintf(h, "%zu\n", i);
    }
    broad_read_options options = categorical("code,tree"), plain = categorical(NULL);
    broad_data *data = read_ok(raw, &options), *expected = read_ok(hot, &plain);
    assert_int_equal(data->inputs, expected->inputs);
    assert_memory_equal(data->x, expected->x, ROWS * expected->inputs * sizeof(double));
    for (size_t j = 0; j < data->inputs; j++) assert_string_equal(data->input_names[j], expected->input_names[j]);
    char a[33], b[33];
    assert_ok(broad__table_fingerprint(a, data, 0, ROWS));
    assert_ok(broad__table_fingerprint(b, expected, 0, ROWS));
    assert_string_equal(a, b);
    broad_data_free(data);
    broad_data_free(expected);
}

static void test_numbers_in_binary(void **state)
{
    (void)state;
    double numbers[12] = {1, 7, 0, 2, 0.5, 1, 3, 7, 2, 4, -1, 3};
    const char *dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 3), }";
    broad_read_options options = categorical("2");
    broad_data *data, *again;
    bytes b = npy_bytes(1, dictionary, numbers, sizeof numbers);
    assert_ok(broad__read_bytes(&data, "data", b.at, b.count, &options, NULL));
    check_text(data, "x1,x2=-1,x2=0.5,x2=7\n1,0,0,1\n2,0,1,0\n3,0,0,1\n4,1,0,0\n", "NPY");
    free(b.at);
    /* ... and with a model of them. */
    static const char *const names[] = {"x1", "x2=-1", "x2=0.5", "x2=7"}, *const output[] = {"target"};
    broad__columns columns = {.inputs = 4,
                              .outputs = 1,
                              .task = BROAD_TASK_REGRESS,
                              .input_names = names,
                              .output_names = output,
                              .categories = data->categories};
    options = categorical(NULL);
    numbers[1] = -1;
    numbers[4] = 3;
    b = npy_bytes(1, dictionary, numbers, sizeof numbers);
    assert_fails(broad__read_bytes(&again, "data", b.at, b.count, &options, &columns), BROAD_BAD_DATA,
                 "data: row 2: '3' is not a level of column 2; the model has 3: '-1', '0.5', '7'");
    columns.missing = BROAD_MISSING_MEAN;
    assert_ok(broad__read_bytes(&again, "data", b.at, b.count, &options, &columns));
    check_text(again, "x1,x2=-1,x2=0.5,x2=7\n1,1,0,0\n2,?,?,?\n3,0,0,1\n4,1,0,0\n", "NPY with a model");
    broad_data_free(again);
    columns.missing = BROAD_MISSING_ERROR;
    free(b.at);
    numbers[4] = NAN;
    b = npy_bytes(1, dictionary, numbers, sizeof numbers);
    assert_fails(broad__read_bytes(&again, "data", b.at, b.count, &options, &columns), BROAD_BAD_DATA,
                 "data: row 2, column 2: missing value (NaN)");
    free(b.at);
    /* CSV without header, by place; 7.0 is 7. */
    assert_ok(read_with(&again, "5,7.0,1\n6,.5,1\n", &options, &columns));
    check_text(again, "x1,x2=-1,x2=0.5,x2=7\n5,0,0,1\n6,0,1,0\n", "CSV with a model of NPY");
    broad_data_free(again);
    broad_data_free(data);
}

/* ---- with a model ---------------------------------------------------------------------------------------------- */

static char *colours[] = {"blue", "green", "red"}, *shapes[] = {"round", "square"}, colour[] = "colour",
            shape[] = "shape";
static broad__category model_categories[] = {{colour, 1, 3, colours}, {shape, 5, 2, shapes}};
static const char *const model_inputs[] = {"a", "colour=blue", "colour=green", "colour=red",
                                           "b", "shape=round", "shape=square"};
static const char *const model_classes[] = {"no", "yes"};

static broad__columns painter(void)
{
    return (broad__columns){.inputs = 7,
                            .outputs = 2,
                            .task = BROAD_TASK_CLASSIFY,
                            .input_names = model_inputs,
                            .output_names = model_classes,
                            .target_name = "label",
                            .named = 1,
                            .categories = {2, model_categories}};
}

#define MODEL_HEADER "a,colour=blue,colour=green,colour=red,b,shape=round,shape=square\n"

static void check_with(const char *text, const broad_read_options *options, const broad__columns *columns,
                       const char *rows)
{
    broad_data *data;
    char expected[1024] = MODEL_HEADER;
    if (read_with(&data, text, options, columns) < 0) fail_msg("'%s': %s", text, broad_error_message());
    strcat(expected, rows);
    check_text(data, expected, text);
    assert_true(broad__categories_same(&data->categories, &columns->categories));
    broad_data_free(data);
}

static void test_model_levels(void **state)
{
    (void)state;
    broad__columns columns = painter();
    broad_read_options options = categorical(NULL);
    static const char rows[] = "1,0,0,1,2,0,1\n3,1,0,0,4,0,1\n";
    check_with("a,colour,b,shape,label\n1,red,2,square,no\n3,blue,4,square,yes\n", &options, &columns, rows);
    check_with("label,shape,x,colour,b,a\nno,square,?,red,2,1\nyes,square,u,blue,4,3\n", &options, &columns, rows);
    check_with("1,red,2,square,no\n3,blue,4,square,yes\n", &options, &columns, rows);
    options.target_optional = 1;
    check_with("shape,colour,b,a\nsquare,red,2,1\nsquare,blue,4,3\n", &options, &columns, rows);
    check_with("1,red,2,square\n3,blue,4,square\n", &options, &columns, rows);
    /* What the file was fitted with does not matter now. */
    options.categorical = "auto";
    check_with("1,red,2,square\n3,blue,4,square\n", &options, &columns, rows);
    columns.missing = BROAD_MISSING_MEAN;
    check_with("colour,shape,a,b\npurple,square,1,2\n,round,3,\n", &options, &columns,
               "1,?,?,?,2,0,1\n3,?,?,?,?,1,0\n");
}

static void test_model_errors(void **state)
{
    (void)state;
    broad__columns columns = painter();
    broad_read_options options = categorical(NULL);
    broad_data *data;
    assert_fails(
        read_with(&data, "a,shape,colour,b,label\n1,round,red,2,no\n1,round,purple,2,no\n", &options, &columns),
        BROAD_BAD_DATA,
        "data:3:3: 'purple' is not a level of column 'colour'; the model has 3: 'blue', 'green', 'red'; correct "
        "it, or fit again, with such rows or with option missing mean");
    /* It is no class either, whatever 'learn --new-classes' could do about those. */
    assert_null(strstr(broad_error_message(), "the model does not know"));
    assert_fails(read_with(&data, "a,shape,colour,b,label\n1,,red,2,no\n", &options, &columns), BROAD_BAD_DATA,
                 "data:2:2: missing value (column 'shape')");
    assert_fails(read_with(&data, "a,shape,b,label\n1,round,2,no\n", &options, &columns), BROAD_BAD_DATA,
                 "1 column that the model was trained on is missing: 'colour'");
    assert_fails(read_with(&data, "1,red,2\n", &options, &columns), BROAD_BAD_DATA,
                 "3 columns; the model needs 4 inputs, or 5 columns with the target");
    assert_fails(read_with(&data, "a,shape,colour,b,label\nx,round,red,2,no\n1,round,red,2,no\n", &options, &columns),
                 BROAD_BAD_DATA,
                 "data:2:1: 'x' is not a number (column 'a'), but the model was trained on numbers there; correct it");
    assert_fails(read_with(&data, "1 1:2\n-1 2:3\n", &options, &columns), BROAD_BAD_DATA,
                 "a LIBSVM file has only numbers; the model has columns of categories: give the rows as CSV");
    /* Many levels: the first are named. */
    char *many[9], names[9][4];
    for (int i = 0; i < 9; i++) {
        sprintf(names[i], "l%d", i);
        many[i] = names[i];
    }
    broad__category category = {colour, 0, 9, many};
    static const char *const inputs[] = {"colour=l0", "colour=l1", "colour=l2", "colour=l3", "colour=l4",
                                         "colour=l5", "colour=l6", "colour=l7", "colour=l8"};
    columns.inputs = 9;
    columns.input_names = inputs;
    columns.categories = (broad__categories){1, &category};
    assert_fails(read_with(&data, "colour,label\nl9,no\n", &options, &columns), BROAD_BAD_DATA,
                 "the model has 9: 'l0', 'l1', 'l2', 'l3', 'l4', 'l5', ...;");
}

/* ---- limits ---------------------------------------------------------------------------------------------------- */

static char *many_levels(int rows, int different, const char *more)
{
    size_t each = 24 + strlen(more);
    char *text = malloc(((size_t)rows + 1) * each);
    assert_non_null(text);
    char *at = text + sprintf(text, "id,y\n");
    for (int i = 0; i < rows; i++) at += sprintf(at, "row%d%s,%d\n", i % different, more, i);
    return text;
}

static void test_many_levels(void **state)
{
    (void)state;
    broad_read_options options = categorical("id");
    broad_data *data;
    char *text = many_levels(10001, 10001, "");
    assert_fails(read_text(&data, text, &options), BROAD_BAD_DATA,
                 "data:10002:1: more than 10000 levels in column 'id'; does it name or number the rows?");
    free(text);
    /* So many levels are few enough, but the table would be a thousand times the file. */
    text = many_levels(10000, 9000, "");
    memory_watch watch;
    watch_start(&watch, 0);
    int status = read_text(&data, text, &options);
    watch_stop();
    assert_fails(status, BROAD_BAD_DATA,
                 "data: a table of 10000 rows and 9000 inputs, most of them levels, would be out of");
    assert_int_equal(watch.live, 0);
    assert_true(watch.peak < 100 * strlen(text));
    free(text);
    text = many_levels(3000, 2000, "-a-long-name-for-a-level"); /* 48 MB from 100 KB: not yet */
    assert_ok(read_text(&data, text, &options));
    assert_int_equal(data->inputs, 2000);
    double sum = 0;
    for (size_t i = 0; i < data->rows * data->inputs; i++) sum += data->x[i];
    assert_true(sum == 3000);
    broad_data_free(data);
    free(text);
}

static void test_many_columns(void **state)
{
    (void)state;
    enum { COLUMNS = 70000 };
    char *text = malloc((size_t)COLUMNS * 4 + 8);
    assert_non_null(text);
    char *at = text;
    for (int row = 0; row < 2; row++) {
        for (int c = 0; c < COLUMNS; c++) at += sprintf(at, "u,");
        at += sprintf(at, "%d\n", row);
    }
    broad_read_options options = categorical("auto");
    broad_data *data;
    assert_fails(read_text(&data, text, &options), BROAD_BAD_DATA,
                 "data: 70000 columns of categories; at most 65536 can be read");
    free(text);
}

/* ---- tables and memory ----------------------------------------------------------------------------------------- */

static void test_rows_and_joins(void **state)
{
    (void)state;
    broad_read_options options = categorical("c");
    broad_data *data = read_ok("c,a,y\nu,1,0\nv,2,1\nu,3,2\nv,4,3\n", &options), *rows, *train, *test, *both,
               *other = read_ok("c,a,y\nu,1,0\nw,2,1\n", &options);
    assert_ok(broad__table_rows(&rows, data, (const size_t[]){3, 0}, 2));
    check_text(rows, "c=u,c=v,a\n0,1,4\n1,0,1\n", "rows");
    assert_true(broad__categories_same(&rows->categories, &data->categories));
    assert_ok(broad__split(&train, &test, data, 0.5, 1));
    assert_true(broad__categories_same(&train->categories, &data->categories));
    assert_true(broad__categories_same(&test->categories, &data->categories));
    assert_ok(broad_data_append(&both, train, test));
    assert_true(broad__categories_same(&both->categories, &data->categories));
    broad_data_free(both);
    other->named = 0; /* then the names of the inputs do not tell */
    assert_fails(broad_data_append(&both, data, other), BROAD_BAD_DATA, "have different levels");
    broad_data_free(rows);
    broad_data_free(train);
    broad_data_free(test);
    broad_data_free(other);
    broad_data_free(data);
}

static void fail_each(const char *text, const broad_read_options *options, const broad__columns *columns)
{
    memory_watch watch;
    size_t failures = 0;
    for (size_t n = 1;; n++, failures++) {
        broad_data *data = NULL, *train = NULL, *test = NULL, *both = NULL;
        watch_start(&watch, n);
        int status = read_with(&data, text, options, columns);
        if (status == BROAD_OK) status = broad__split(&train, &test, data, 0.5, 1);
        if (status == BROAD_OK) status = broad__table_append(&both, train, test);
        broad_data_free(data);
        broad_data_free(train);
        broad_data_free(test);
        broad_data_free(both);
        watch_stop();
        assert_int_equal(watch.live, 0);
        if (status == BROAD_OK) break;
        if (status != BROAD_NO_MEMORY) fail_msg("request %zu: %s", n, broad_error_message());
    }
    assert_true(failures > 30 && failures == watch.requests);
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    static const char text[] = "a,colour,b,shape,w,label\n1,red,2,\"ro\"\"und\",1,no\n3,blue,4,square,2,yes\n"
                               "1,red,2,square,2,yes\n";
    static const char known[] = "a,colour,b,shape,w,label\n1,red,2,\"round\",1,no\n3,blue,4,square,2,yes\n"
                                "1,red,2,square,2,yes\n2,green,3,round,1,no\n";
    broad_read_options options = categorical("colour,auto");
    options.weight = "w";
    fail_each(text, &options, NULL);
    broad__columns columns = painter();
    fail_each(known, &options, &columns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_hot),
        cmocka_unit_test(test_what_is_remembered),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_slips_are_no_levels),
        cmocka_unit_test(test_against_one_hot_by_hand),
        cmocka_unit_test(test_numbers_in_binary),
        cmocka_unit_test(test_model_levels),
        cmocka_unit_test(test_model_errors),
        cmocka_unit_test(test_many_levels),
        cmocka_unit_test(test_many_columns),
        cmocka_unit_test(test_rows_and_joins),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
