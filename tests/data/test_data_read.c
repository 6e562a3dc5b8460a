/* What readers make of good files. */
#include "data_helper.h"

#include <fcntl.h>

#include "rng/philox.h"

static broad_read_options plain(void)
{
    broad_read_options options;
    broad_read_options_init(&options);
    return options;
}

static broad_data *read_ok(const char *text, const broad_read_options *options)
{
    broad_data *data;
    int status = read_text(&data, text, options);
    if (status < 0) fail_msg("'%s': %s", text, broad_error_message());
    return data;
}

/* A good file of two rows, two inputs (1, 2) and (3, 4) and the targets 5 and 6, however it is written. */
static void check_small(const char *text, const broad_read_options *options)
{
    broad_data *data = read_ok(text, options);
    static const double x[4] = {1, 2, 3, 4};
    if (data->rows != 2 || data->inputs != 2 || memcmp(data->x, x, sizeof x) != 0 || data->task != BROAD_TASK_REGRESS ||
        data->values[0] != 5 || data->values[1] != 6)
        fail_msg("'%s' is read incorrectly: %zu rows, %zu inputs", text, data->rows, data->inputs);
    assert_string_equal(data->format, "csv");
    broad_data_free(data);
}

static void test_csv_forms(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "a,b,y\n1,2,5\n3,4,6\n",
        "1,2,5\n3,4,6\n",
        "a,b,y\n1,2,5\n3,4,6",
        "a,b,y\r\n1,2,5\r\n3,4,6\r\n",
        "a,b,y\r\n1,2,5\r\n3,4,6",
        "a,b,y\r1,2,5\r3,4,6\r",
        "\xEF\xBB\xBF"
        "a,b,y\n1,2,5\n3,4,6\n",
        "\xEF\xBB\xBF"
        "1,2,5\n3,4,6\n",
        "a;b;y\n1;2;5\n3;4;6\n",
        "a\tb\ty\n1\t2\t5\n3\t4\t6\n",
        "a|b|y\n1|2|5\n3|4|6\n",
        "a b y\n1 2 5\n3 4 6\n",
        "  1   2  5 \n 3  4    6\n",
        "a, b, y\n1, 2, 5\n3 , 4 , 6 \n",
        "\n\na,b,y\n\n1,2,5\n\r\n   \n3,4,6\n\n\n",
        "\"a\",\"b\",\"y\"\n\"1\",\"2\",\"5\"\n3,4,6\n",
        "\"a\nc\",\"b,d\",\"y\"\"z\"\n1,2,5\n3,4,6\n",
        "a,b,y\n +1 ,2.0,5e0\n3.,.4e1,0.6e+1\n",
        "a,b,\"y;z\"\n1,2,5\n3,4,6\n",
        "1,b,3\n1,2,5\n3,4,6\n",
        ",a,y\n1,2,5\n3,4,6\n",
        "\"1\" \"2\" \"5\"\n3 4 6\n",
    };
    broad_read_options options = plain();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) check_small(texts[i], &options);
}

static void test_csv_overrides(void **state)
{
    (void)state;
    broad_read_options options = plain();
    options.header = "yes";
    check_small("9,9,9\n1,2,5\n3,4,6\n", &options);
    options.header = "no";
    check_small("1,2,5\n3,4,6\n", &options);
    options.header = "auto";
    options.separator = ":";
    check_small("a:b:y\n1:2:5\n3:4:6\n", &options);
    options.separator = "tab";
    check_small("a\tb\ty\n1\t2\t5\n3\t4\t6\n", &options);
    options.separator = "\\t";
    check_small("1\t2\t5\n3\t4\t6\n", &options);
    options.separator = "auto";
    options.target = "y";
    check_small("y,a,b\n5,1,2\n6,3,4\n", &options);
    options.target = "2";
    check_small("a,y,b\n1,5,2\n3,6,4\n", &options);
    check_small("1,5,2\n3,6,4\n", &options);
    options.target = NULL;
    options.group = "g";
    check_small("a,g,b,y\n1,p,2,5\n3,q,4,6\n", &options);
    check_small("a,b,y,g\n1,2,5,p\n3,4,6,q\n", &options);
}

static void test_names(void **state)
{
    (void)state;
    broad_read_options options = plain();
    broad_data *data = read_ok("x one,\"b\"\"q\"\"\",,a,a,label\n1,2,3,4,5,red\n1,2,3,4,5,blue\n", &options);
    static const char *const names[] = {"x one", "b\"q\"", "x3", "a", "a"};
    assert_true(data->named);
    for (size_t i = 0; i < 5; i++) assert_string_equal(broad_data_input_name(data, i), names[i]);
    assert_string_equal(data->target_name, "label");
    assert_string_equal(broad_data_output_name(data, 0), "blue");
    assert_string_equal(broad_data_output_name(data, 1), "red");
    assert_int_equal(broad_data_class(data, 0), 1);
    broad_data_free(data);
    data = read_ok("1,2,3\n4,5,6\n", &options);
    assert_false(data->named);
    assert_string_equal(broad_data_input_name(data, 1), "x2");
    assert_string_equal(broad_data_output_name(data, 0), "target");
    broad_data_free(data);
    options.target = "1";
    data = read_ok("1,2,3\n4,5,6\n", &options);
    assert_string_equal(broad_data_output_name(data, 0), "1");
    broad_data_free(data);
}

static void test_missing_mean(void **state)
{
    (void)state;
    broad_read_options options = plain();
    options.missing = BROAD_MISSING_MEAN;
    broad_data *data = read_ok("a,b,y\n1,,5\nNA,4,6\n?,NaN,7\n\"\",null,8\n", &options);
    static const int there[8] = {1, 0, 0, 1, 0, 0, 0, 0};
    for (size_t i = 0; i < 8; i++) assert_int_equal(!isnan(data->x[i]), there[i]);
    assert_int_equal(data->missing, BROAD_MISSING_MEAN);
    broad_data_free(data);
}

/* The rule that gives a file its task. */
static void test_tasks(void **state)
{
    (void)state;
    broad_read_options options = plain();
    broad_data *data = read_ok("1,0\n2,1\n3,1\n", &options);
    assert_int_equal(data->task, BROAD_TASK_REGRESS);
    broad_data_free(data);
    data = read_ok("1,yes\n2,no\n3,10\n", &options);
    assert_int_equal(data->task, BROAD_TASK_CLASSIFY);
    assert_int_equal(data->outputs, 3);
    broad_data_free(data);
    options.task = BROAD_TASK_CLASSIFY;
    data = read_ok("1,10\n2,9\n3,-1\n4,09\n", &options);
    /* As written, by number, equal ones by their bytes. */
    static const char *const labels[] = {"-1", "09", "9", "10"};
    assert_int_equal(data->outputs, 4);
    for (size_t i = 0; i < 4; i++) assert_string_equal(data->output_names[i], labels[i]);
    assert_int_equal(data->classes[0], 3);
    broad_data_free(data);
    options.task = BROAD_TASK_AUTO;
    options.target = "y,z";
    data = read_ok("y,a,z\n1,2,3\n4,5,6\n", &options);
    assert_int_equal(data->outputs, 2);
    assert_true(data->values[1] == 3 && data->values[2] == 4);
    assert_string_equal(data->output_names[1], "z");
    broad_data_free(data);
    options.target = "p,q";
    data = read_ok("\"p,q\",a\n1,2\n4,5\n", &options);
    assert_int_equal(data->outputs, 1);
    broad_data_free(data);
}

/* A slow reader that is plainly right, against the fast one on generated files. */

enum { SLOW_CELLS = 4000, SLOW_TEXT = 1 << 17 };

typedef struct slow_sheet {
    char pool[SLOW_TEXT];
    const char *cell[SLOW_CELLS];
    size_t cells, rows;
} slow_sheet;

/* RFC 4180 as a machine with two states, one character after the other. */
static void slow_read(slow_sheet *out, const char *text, char separator)
{
    char *to = out->pool;
    int quoted = 0;
    out->cells = out->rows = 0;
    out->cell[out->cells++] = to;
    for (const char *at = text; *at; at++) {
        if (quoted && *at == '"' && at[1] == '"') {
            *to++ = *at++;
        } else if (*at == '"') {
            quoted = !quoted;
        } else if (!quoted && *at == separator) {
            *to++ = 0;
            out->cell[out->cells++] = to;
        } else if (!quoted && *at == '\r') {
            continue;
        } else if (!quoted && *at == '\n') {
            *to++ = 0;
            out->rows++;
            if (at[1]) out->cell[out->cells++] = to;
        } else {
            *to++ = *at;
        }
    }
    *to = 0;
    if (text[strlen(text) - 1] != '\n') out->rows++;
}

typedef struct dice {
    broad__stream stream;
    uint64_t at;
} dice;

static size_t roll(dice *d, size_t sides) { return (size_t)(broad__random_at(&d->stream, d->at++) * (double)sides); }

static char *put_number(char *to, dice *d)
{
    double value = (broad__random_at(&d->stream, d->at++) - 0.5) * pow(10, (double)roll(d, 12) - 4);
    int quoted = roll(d, 10) == 0;
    if (quoted) *to++ = '"';
    switch (roll(d, 7)) {
    case 0: to += sprintf(to, "%.0f", value); break;
    case 1: to += sprintf(to, "%.3f", value); break;
    case 2: to += sprintf(to, "%g", value); break;
    case 3: to += sprintf(to, "%.17g", value); break;
    case 4: to += sprintf(to, "%e", value); break;
    case 5: to += sprintf(to, "%+.2f", value); break;
    default: to += sprintf(to, "%.9f", value);
    }
    if (quoted) *to++ = '"';
    return to;
}

static char *put_label(char *to, dice *d, char separator)
{
    static const char *const plain_labels[] = {"red", "green", "deep blue", "7 up"};
    size_t choice = roll(d, 7);
    const char *quote = roll(d, 2) ? "\"" : "";
    if (choice < 4) return to + sprintf(to, "%s%s%s", quote, plain_labels[choice], quote);
    if (choice == 4) return to + sprintf(to, "\"with%cseparator\"", separator);
    if (choice == 5) return to + sprintf(to, "\"he said \"\"no\"\"\"");
    return to + sprintf(to, "\"two\nlines\"");
}

static void generate(char *text, dice *d, char separator, size_t columns, size_t rows, size_t target)
{
    const char *newline = roll(d, 2) ? "\n" : "\r\n";
    char *to = text;
    if (roll(d, 2)) {
        for (size_t c = 0; c < columns; c++) to += sprintf(to, "%sname %zu", c ? (char[2]){separator, 0} : "", c);
        to += sprintf(to, "%s", newline);
    }
    for (size_t i = 0; i < rows; i++) {
        for (size_t c = 0; c < columns; c++) {
            if (c) *to++ = separator;
            to = c == target ? put_label(to, d, separator) : put_number(to, d);
        }
        if (i + 1 < rows || roll(d, 2)) to += sprintf(to, "%s", newline);
    }
    *to = 0;
}

static void compare(const char *text, char separator, size_t columns, size_t target)
{
    static slow_sheet sheet;
    broad_read_options options = plain();
    char number[24];
    snprintf(number, sizeof number, "%zu", target + 1);
    options.target = number;
    options.task = BROAD_TASK_CLASSIFY;
    broad_data *data;
    int status = read_text(&data, text, &options);
    if (status == BROAD_BAD_DATA && strstr(broad_error_message(), "only one class")) return;
    if (status < 0) fail_msg("%s: %s", text, broad_error_message());
    slow_read(&sheet, text, separator);
    size_t first = sheet.rows - data->rows;
    assert_int_equal(sheet.cells, sheet.rows * columns);
    assert_int_equal(first, strncmp(text, "name 0", 6) == 0);
    assert_int_equal(data->inputs, columns - 1);
    for (size_t i = 0; i < data->rows; i++) {
        const char *const *cells = &sheet.cell[(first + i) * columns];
        for (size_t c = 0, input = 0; c < columns; c++) {
            if (c == target) continue;
            double expected = strtod(cells[c], NULL);
            if (memcmp(&expected, &data->x[i * data->inputs + input++], sizeof expected) != 0)
                fail_msg("%s: row %zu, column %zu is wrong", text, i, c);
        }
        assert_string_equal(data->output_names[data->classes[i]], cells[target]);
    }
    broad_data_free(data);
}

static void test_csv_against_a_slow_reader(void **state)
{
    (void)state;
    static char text[SLOW_TEXT];
    dice d = {.stream = {.seed = 99, .purpose = BROAD__FOR_DEMO}};
    for (int run = 0; run < 1500; run++) {
        char separator = ",;\t|"[roll(&d, 4)];
        size_t columns = 2 + roll(&d, 12), rows = 2 + roll(&d, 40), target = roll(&d, columns);
        generate(text, &d, separator, columns, rows, target);
        compare(text, separator, columns, target);
    }
}

static void test_libsvm(void **state)
{
    (void)state;
    broad_read_options options = plain();
    broad_data *data = read_ok("# a comment\n+1 1:0.5 3:2 # more\n\n-1\r\n1.0\t2:-4  4:1e-3\n", &options);
    static const double x[12] = {0.5, 0, 2, 0, 0, 0, 0, 0, 0, -4, 0, 1e-3};
    assert_string_equal(data->format, "libsvm");
    assert_int_equal(data->rows, 3);
    assert_int_equal(data->inputs, 4);
    assert_memory_equal(data->x, x, sizeof x);
    assert_int_equal(data->task, BROAD_TASK_CLASSIFY);
    assert_string_equal(data->output_names[0], "-1");
    assert_string_equal(data->output_names[1], "1");
    assert_int_equal(data->classes[1], 0);
    assert_int_equal(data->classes[2], 1);
    assert_string_equal(data->input_names[0], "x1");
    broad_data_free(data);
    data = read_ok("0.5 1:1 2:2\n3 1:4\n", &options);
    assert_int_equal(data->task, BROAD_TASK_REGRESS);
    assert_true(data->values[0] == 0.5);
    broad_data_free(data);
    data = read_ok("1 0:7 2:8\n2 1:9\n", &options);
    assert_int_equal(data->inputs, 3);
    assert_true(data->x[0] == 7 && data->x[4] == 9);
    assert_string_equal(data->input_names[0], "x0");
    broad_data_free(data);
    options.group = "qid";
    data = read_ok("1 qid:10 1:1\n2 qid:10 1:2\n1 qid:4 1:3\n", &options);
    assert_int_equal(data->groups[0], data->groups[1]);
    assert_int_not_equal(data->groups[0], data->groups[2]);
    assert_string_equal(data->group_name, "qid");
    broad_data_free(data);
}

/* The value v as an item of the given type, little-endian first. */
static void put_item(unsigned char *to, char type, size_t item, int big, double v)
{
    unsigned char raw[8] = {0};
    float f = (float)v;
    int64_t i = (int64_t)v;
    uint64_t u = (uint64_t)v;
    if (type == 'f' && item == 4) memcpy(raw, &f, 4);
    if (type == 'f' && item == 8) memcpy(raw, &v, 8);
    if (type == 'i') memcpy(raw, &i, 8);
    if (type == 'u' || type == 'b') memcpy(raw, &u, 8);
    for (size_t k = 0; k < item; k++) to[k] = raw[big ? item - 1 - k : k];
}

static void check_npy(char type, size_t item, int big, int fortran, int version)
{
    /* 3 rows of 2 x 2 and then of 4: element (i, j) has the value below; 250 needs an unsigned byte. */
    enum { ROWS = 3, COLUMNS = 4 };
    static const double values[ROWS][COLUMNS] = {{1, 0, 1, 1}, {0, 0, 1, 0}, {1, 1, 0, 1}};
    unsigned char data[ROWS * COLUMNS * 8];
    double factor = type == 'b' ? 1 : type == 'u' ? 250 : type == 'i' ? -100 : 2.5;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++)
            put_item(data + (fortran ? j * ROWS + i : i * COLUMNS + j) * item, type, item, big, values[i][j] * factor);
    char dictionary[128];
    snprintf(dictionary, sizeof dictionary, "{'descr': '%c%c%zu', 'fortran_order': %s, 'shape': (3, 4), }",
             item == 1 ? '|'
             : big     ? '>'
                       : '<',
             type, item, fortran ? "True" : "False");
    bytes b = npy_bytes(version, dictionary, data, ROWS * COLUMNS * item);
    broad_read_options options = plain();
    broad_data *table;
    if (broad__read_bytes(&table, "data", b.at, b.count, &options, NULL) < 0)
        fail_msg("%s: %s", dictionary, broad_error_message());
    assert_string_equal(table->format, "npy");
    assert_int_equal(table->inputs, 3);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < 3; j++)
            if (table->x[i * 3 + j] != values[i][j] * factor) fail_msg("%s: (%zu, %zu) is wrong", dictionary, i, j);
        assert_true(table->values[i] == values[i][3] * factor);
    }
    assert_int_equal(table->task, BROAD_TASK_REGRESS);
    broad_data_free(table);
    free(b.at);
}

static void test_npy_types(void **state)
{
    (void)state;
    static const char types[] = "f4f8i1i2i4i8u1u2u4u8b1";
    for (const char *t = types; *t; t += 2)
        for (int form = 0; form < 12; form++)
            check_npy(t[0], (size_t)(t[1] - '0'), form & 1, form >> 1 & 1, form / 4 + 1);
}

/* More than two dimensions: a row is read in C order, in either order of the file. */
static void test_npy_dimensions(void **state)
{
    (void)state;
    char folder[HELPER_PATH], labels[HELPER_PATH];
    temporary_folder(folder);
    join_path(labels, folder, "labels.csv");
    write_text(labels, "0\n1\n0\n1\n1\n");
    double data[5 * 2 * 3 * 2];
    for (int fortran = 0; fortran < 2; fortran++) {
        for (size_t i = 0; i < 5; i++)
            for (size_t j = 0; j < 2; j++)
                for (size_t k = 0; k < 3; k++)
                    for (size_t l = 0; l < 2; l++)
                        data[fortran ? i + 5 * (j + 2 * (k + 3 * l)) : ((i * 2 + j) * 3 + k) * 2 + l] =
                            (double)(1000 * i + 100 * j + 10 * k + l);
        bytes b = npy_bytes(1,
                            fortran ? "{'descr': '<f8', 'fortran_order': True, 'shape': (5, 2, 3, 2)}"
                                    : "{\"shape\": (5L, 2, 3, 2,), 'fortran_order': False, 'descr': '=f8'}",
                            data, sizeof data);
        broad_read_options options = plain();
        options.labels = labels;
        broad_data *table;
        assert_ok(broad__read_bytes(&table, "data", b.at, b.count, &options, NULL));
        assert_int_equal(table->inputs, 12);
        for (size_t i = 0; i < 5; i++)
            for (size_t c = 0; c < 12; c++)
                assert_true(table->x[i * 12 + c] == (double)(1000 * i + 100 * (c / 6) + 10 * (c / 2 % 3) + c % 2));
        broad_data_free(table);
        free(b.at);
    }
    remove_folder(folder);
}

/* Fortran files go through in blocks of rows: more rows than one block, and not a multiple of it. */
static void test_npy_many_rows(void **state)
{
    (void)state;
    enum { ROWS = 333, COLUMNS = 3 };
    float data[ROWS * COLUMNS];
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++) data[j * ROWS + i] = (float)(10 * i + j);
    bytes b = npy_bytes(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (333, 3), }", data, sizeof data);
    broad_read_options options = plain();
    broad_data *table;
    assert_ok(broad__read_bytes(&table, "data", b.at, b.count, &options, NULL));
    for (size_t i = 0; i < ROWS; i++)
        assert_true(table->x[2 * i] == 10.0 * (double)i && table->x[2 * i + 1] == 10.0 * (double)i + 1 &&
                    table->values[i] == 10.0 * (double)i + 2);
    broad_data_free(table);
    free(b.at);
}

/* 40,000 rows of three numbers after a header of so many bytes, and their labels. */
static void write_numbers(const char *path, const char *labels, const char *type, size_t item, double odd, int header)
{
    enum { ROWS = 40000, COLUMNS = 3 };
    char dictionary[128];
    unsigned char *data = malloc(ROWS * COLUMNS * item);
    assert_non_null(data);
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++)
        put_item(data + i * item, type[1], item, type[0] == '>', i == 100001 ? odd : (double)(i % 251));
    char text[100];
    snprintf(text, sizeof text, "{'descr': '%s%zu', 'fortran_order': False, 'shape': (40000, 3), }", type, item);
    snprintf(dictionary, sizeof dictionary, "%-*s", header - 10, text);
    bytes b = npy_bytes(1, dictionary, data, ROWS * COLUMNS * item);
    write_file(path, b.at, b.count);
    FILE *file = fopen(labels, "w");
    assert_non_null(file);
    for (size_t i = 0; i < ROWS; i++) fprintf(file, "%d\n", (int)(i % 2));
    fclose(file);
    free(data);
    free(b.at);
}

static void check_numbers(const broad_data *table)
{
    for (size_t i = 0; i < table->rows * table->inputs; i++)
        if (i != 100001 && table->x[i] != (double)(i % 251)) fail_msg("number %zu is %g", i, table->x[i]);
}

/* Doubles stay in the file, unless one of them is missing or they lie at odd places; other numbers are copied. Parts of the table have their own. */
static void test_npy_in_place(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        size_t item;
        double odd;
        int header, in_place;
    } cases[] = {{"<f", 8, 7, 128, 1}, {"<f", 8, 7, 127, 0}, {"<f", 8, NAN, 128, 0}, {">f", 8, 7, 128, 0},
                 {"<f", 4, 7, 128, 0}, {"|u", 1, 7, 128, 0}, {"<i", 2, 7, 128, 0}};
    char folder[HELPER_PATH], path[HELPER_PATH], labels[HELPER_PATH];
    temporary_folder(folder);
    join_path(path, folder, "x.npy");
    join_path(labels, folder, "labels.csv");
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (int wanted = 0; wanted < 2; wanted++) {
            broad_read_options options = plain();
            options.labels = labels;
            options.in_place = wanted;
            options.threads = 3;
            broad_data *table, *part;
            write_numbers(path, labels, cases[c].type, cases[c].item, cases[c].odd, cases[c].header);
            assert_ok(broad__read(&table, path, &options, NULL));
            assert_int_equal(table->x_file.bytes != NULL, wanted && cases[c].in_place);
            assert_true(isnan(cases[c].odd) ? isnan(table->x[100001]) : table->x[100001] == 7);
            check_numbers(table);
            assert_ok(broad__table_rows(&part, table, (const size_t[]){0, 2, 1}, 3));
            broad_data_free(table);
            assert_true(part->x[0] == 0 && part->x[1] == 1);
            broad_data_free(part);
        }
    remove_folder(folder);
}

static void test_npy_missing(void **state)
{
    (void)state;
    double data[4] = {1, NAN, 3, 4}, infinite[4] = {1, 2, -INFINITY, 4}, target[4] = {1, 2, 3, NAN};
    const char *dictionary = "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), }";
    broad_read_options options = plain();
    broad_data *table;
    bytes b = npy_bytes(1, dictionary, data, sizeof data);
    options.missing = BROAD_MISSING_ERROR;
    assert_fails(broad__read_bytes(&table, "data", b.at, b.count, &options, NULL), BROAD_BAD_DATA,
                 "data: row 2, column 1: missing value (NaN); fill it in, or use the mean (option missing mean)");
    options.missing = BROAD_MISSING_MEAN;
    assert_ok(broad__read_bytes(&table, "data", b.at, b.count, &options, NULL));
    assert_true(isnan(table->x[1]));
    broad_data_free(table);
    free(b.at);
    b = npy_bytes(1, dictionary, target, sizeof target);
    assert_ok(broad__read_bytes(&table, "data", b.at, b.count, &options, NULL));
    assert_true(table->rows == 1 && table->x[0] == 1 && table->values[0] == 3);
    assert_string_equal(broad_data_note(table, 0), "1 row without a target was left out");
    broad_data_free(table);
    free(b.at);
    b = npy_bytes(1, dictionary, infinite, sizeof infinite);
    assert_fails(broad__read_bytes(&table, "data", b.at, b.count, &options, NULL), BROAD_BAD_DATA,
                 "row 1, column 2: the value is infinite");
    free(b.at);
}

static void test_idx_types(void **state)
{
    (void)state;
    static const struct {
        unsigned char code;
        char type;
        size_t item;
        double factor;
    } types[] = {{0x08, 'u', 1, 200},   {0x09, 'i', 1, -7},  {0x0B, 'i', 2, -700},
                 {0x0C, 'i', 4, 70000}, {0x0D, 'f', 4, 0.5}, {0x0E, 'f', 8, 0.1}};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        unsigned char data[6 * 8];
        for (size_t i = 0; i < 6; i++)
            put_item(data + i * types[t].item, types[t].type, types[t].item, 1, (double)(i % 2) * types[t].factor);
        bytes b = idx_bytes(types[t].code, 2, (const uint32_t[]){2, 3}, data, 6 * types[t].item);
        broad_read_options options = plain();
        broad_data *table;
        assert_ok(broad__read_bytes(&table, "data", b.at, b.count, &options, NULL));
        assert_string_equal(table->format, "idx");
        assert_int_equal(table->inputs, 2);
        for (size_t i = 0; i < 6; i++) {
            double found = i % 3 == 2 ? table->values[i / 3] : table->x[i / 3 * 2 + i % 3];
            assert_true(found == (double)(i % 2) * types[t].factor);
        }
        broad_data_free(table);
        free(b.at);
    }
}

static void test_labels_apart(void **state)
{
    (void)state;
    char folder[HELPER_PATH], images[HELPER_PATH], labels[HELPER_PATH];
    temporary_folder(folder);
    join_path(images, folder, "images");
    join_path(labels, folder, "labels");
    bytes b = idx_bytes(0x08, 3, (const uint32_t[]){3, 2, 2}, "abcdefghijkl", 12);
    write_file(images, b.at, b.count);
    free(b.at);
    b = idx_bytes(0x08, 1, (const uint32_t[]){3}, "\x07\x03\x07", 3);
    write_file(labels, b.at, b.count);
    broad_read_options options = plain();
    options.labels = labels;
    broad_data *data;
    assert_ok(broad_data_read(&data, images, &options));
    assert_int_equal(data->inputs, 4);
    assert_true(data->x[5] == 'f');
    assert_int_equal(data->task, BROAD_TASK_CLASSIFY);
    assert_string_equal(data->output_names[0], "3");
    assert_int_equal(data->classes[2], 1);
    broad_data_free(data);
    free(b.at);
    options.task = BROAD_TASK_REGRESS;
    assert_ok(broad_data_read(&data, images, &options));
    assert_true(data->values[1] == 3);
    broad_data_free(data);
    options.task = BROAD_TASK_AUTO;

    /* Text with and without header: the number of rows tells. */
    write_text(labels, "cat\ndog\ncat\n");
    assert_ok(broad_data_read(&data, images, &options));
    assert_string_equal(data->output_names[data->classes[1]], "dog");
    broad_data_free(data);
    write_text(labels, "animal\ncat\ndog\ncat\n");
    assert_ok(broad_data_read(&data, images, &options));
    assert_int_equal(data->outputs, 2);
    assert_string_equal(data->target_name, "animal");
    broad_data_free(data);
    write_text(labels, "1.5\n2\n3\n");
    assert_ok(broad_data_read(&data, images, &options));
    assert_int_equal(data->task, BROAD_TASK_REGRESS);
    broad_data_free(data);
    write_text(labels, "u,v\n1,2\n3,4\n5,6\n");
    assert_ok(broad_data_read(&data, images, &options));
    assert_int_equal(data->outputs, 2);
    assert_true(data->values[5] == 6);
    assert_string_equal(data->output_names[1], "v");
    broad_data_free(data);
    options.target = "u";
    assert_ok(broad_data_read(&data, images, &options));
    assert_int_equal(data->outputs, 1);
    broad_data_free(data);
    options.target = NULL;

    write_text(labels, "1\n2\n");
    assert_fails(broad_data_read(&data, images, &options), BROAD_BAD_DATA, "labels has 2 rows, ");
    assert_non_null(strstr(broad_error_message(), "images has 3: each row needs its target"));
    write_text(labels, "p,q\na,b\nc,d\ne,f\n");
    assert_fails(broad_data_read(&data, images, &options), BROAD_BAD_DATA,
                 "2 target columns, but a classification has one");
    write_text(labels, "1\n\"\"\n2\n");
    assert_fails(broad_data_read(&data, images, &options), BROAD_BAD_DATA, "labels:2: the target 'target' is missing");
    double floats[3] = {0, 1, 0};
    b = npy_bytes(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", floats, sizeof floats);
    write_file(labels, b.at, b.count);
    assert_ok(broad_data_read(&data, images, &options));
    assert_int_equal(data->task, BROAD_TASK_REGRESS);
    broad_data_free(data);
    free(b.at);
    options.labels = folder;
    assert_fails(broad_data_read(&data, images, &options), BROAD_NO_INPUT, "is a folder");
    remove_folder(folder);
}

static void test_gzip(void **state)
{
    (void)state;
    char folder[HELPER_PATH], path[HELPER_PATH];
    temporary_folder(folder);
    join_path(path, folder, "looks-like.npy");
    bytes a = gzip_bytes("a,b,y\n1,2,5\n", 12), b = gzip_bytes("3,4,6\n", 6);
    bytes joined = {calloc(a.count + b.count + 16, 1), a.count + b.count};
    assert_non_null(joined.at);
    memcpy(joined.at, a.at, a.count);
    memcpy(joined.at + a.count, b.at, b.count);
    broad_data *data;
    for (size_t padding = 0; padding <= 16; padding += 16) {
        write_file(path, joined.at, joined.count + padding);
        assert_ok(broad_data_read(&data, path, NULL));
        assert_int_equal(data->rows, 2);
        assert_true(data->x[3] == 4 && data->values[1] == 6);
        broad_data_free(data);
    }
    joined.at[joined.count] = 'x';
    write_file(path, joined.at, joined.count + 1);
    assert_fails(broad_data_read(&data, path, NULL), BROAD_BAD_DATA, "1 bytes follow the end of the gzip data");
    free(joined.at);
    free(a.at);
    free(b.at);
    remove_folder(folder);
}

/* Standard input: a pipe that is filled bit by bit, and a file. */
static void test_standard_input(void **state)
{
    (void)state;
    int kept = dup(STDIN_FILENO), ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        int failed = write(ends[1], "a,y\n", 4) != 4;
        for (int i = 0; i < 100000; i++) {
            char line[32];
            int count = snprintf(line, sizeof line, "%d,%d\n", i, 2 * i);
            failed |= write(ends[1], line, (size_t)count) != count;
        }
        _exit(failed);
    }
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    broad_data *data;
    assert_ok(broad_data_read(&data, "-", NULL));
    assert_int_equal(data->rows, 100000);
    for (size_t i = 0; i < data->rows; i++) assert_true(data->x[i] == (double)i && data->values[i] == 2 * (double)i);
    broad_data_free(data);
    assert_fails(broad_data_read(&data, "-", NULL), BROAD_BAD_DATA, "standard input: the file is empty");
    dup2(kept, STDIN_FILENO);
    close(kept);
}

static const char *const model_inputs[] = {"a", "b"};
static const char *const model_classes[] = {"no", "yes", "3"};
static const char *const model_values[] = {"y", "z"};

static broad__columns classifier(void)
{
    return (broad__columns){.inputs = 2,
                            .outputs = 3,
                            .task = BROAD_TASK_CLASSIFY,
                            .input_names = model_inputs,
                            .output_names = model_classes,
                            .target_name = "label",
                            .named = 1};
}

static int read_with(broad_data **out, const char *text, const broad_read_options *options,
                     const broad__columns *columns)
{
    return broad__read_bytes(out, "data", text, strlen(text), options, columns);
}

static void check_with(const char *text, const broad_read_options *options, const broad__columns *columns,
                       broad_task task)
{
    broad_data *data;
    static const double x[4] = {1, 2, 3, 4};
    if (read_with(&data, text, options, columns) < 0) fail_msg("'%s': %s", text, broad_error_message());
    if (data->rows != 2 || data->inputs != 2 || memcmp(data->x, x, sizeof x) != 0)
        fail_msg("'%s' is read incorrectly", text);
    assert_int_equal(data->task, task);
    if (task == BROAD_TASK_CLASSIFY) {
        assert_int_equal(data->outputs, 3);
        assert_int_equal(data->classes[0], 1);
        assert_int_equal(data->classes[1], 2);
    } else if (task == BROAD_TASK_REGRESS) {
        assert_int_equal(data->outputs, 2);
        assert_true(data->values[0] == 5 && data->values[1] == 6 && data->values[2] == 7 && data->values[3] == 8);
    } else {
        assert_int_equal(data->outputs, 0);
    }
    assert_string_equal(data->input_names[1], "b");
    broad_data_free(data);
}

static void test_model_by_name(void **state)
{
    (void)state;
    broad_read_options options = plain();
    broad__columns columns = classifier();
    check_with("a,b,label\n1,2,yes\n3,4,3\n", &options, &columns, BROAD_TASK_CLASSIFY);
    check_with("label,b,extra,a\nyes,2,what,1\n3.0,4,ever,3\n", &options, &columns, BROAD_TASK_CLASSIFY);
    options.target = "truth";
    check_with("truth,b,a\nyes,2,1\n3,4,3\n", &options, &columns, BROAD_TASK_CLASSIFY);
    options.target = NULL;
    options.target_optional = 1;
    check_with("b,a\n2,1\n4,3\n", &options, &columns, BROAD_TASK_AUTO);
    check_with("b,a,label\n2,1,\n4,3,?\n", &options, &columns, BROAD_TASK_AUTO);
    check_with("b,a,label\n2,1,green\n4,3,yes\n", &options, &columns, BROAD_TASK_AUTO);
    options.target_optional = 0;
    columns.task = BROAD_TASK_REGRESS;
    columns.outputs = 2;
    columns.output_names = model_values;
    check_with("z,a,b,y\n6,1,2,5\n8,3,4,7\n", &options, &columns, BROAD_TASK_REGRESS);
    /* Names that look like numbers: the model says that the first row is a header. */
    static const char *const numbers[] = {"0", "b"};
    columns.input_names = numbers;
    options.target_optional = 1;
    check_with("0,b\n1,2\n3,4\n", &options, &columns, BROAD_TASK_AUTO);
    /* Equal names: the first for the first. */
    static const char *const equal[] = {"b", "b"};
    columns.input_names = equal;
    check_with("b,c,b\n1,9,2\n3,9,4\n", &options, &columns, BROAD_TASK_AUTO);
}

static void test_model_by_place(void **state)
{
    (void)state;
    broad_read_options options = plain();
    broad__columns columns = classifier();
    check_with("1,2,yes\n3,4,3\n", &options, &columns, BROAD_TASK_CLASSIFY);
    columns.named = 0;
    check_with("u,v,w\n1,2,yes\n3,4,3\n", &options, &columns, BROAD_TASK_CLASSIFY);
    options.header = "no"; /* 'yes' above a 3 looks like one */
    options.target = "1";
    check_with("yes,1,2\n3,3,4\n", &options, &columns, BROAD_TASK_CLASSIFY);
    options.target = NULL;
    columns.target_name = "2"; /* trained with --target 2 on a file without header */
    check_with("1,yes,2\n3,3,4\n", &options, &columns, BROAD_TASK_CLASSIFY);
    columns.group_name = "1";
    columns.target_name = "target";
    check_with("7,1,2,yes\n8,3,4,3\n", &options, &columns, BROAD_TASK_CLASSIFY);
    columns.group_name = NULL;
    options.target_optional = 1;
    check_with("1,2\n3,4\n", &options, &columns, BROAD_TASK_AUTO);
    columns.task = BROAD_TASK_REGRESS;
    columns.outputs = 2;
    columns.output_names = model_values;
    check_with("1,2,5,6\n3,4,7,8\n", &options, &columns, BROAD_TASK_REGRESS);
}

static void test_model_errors(void **state)
{
    (void)state;
    broad_read_options options = plain();
    broad__columns columns = classifier();
    broad_data *data;
    assert_fails(read_with(&data, "c,label\n1,yes\n", &options, &columns), BROAD_BAD_DATA,
                 "2 columns that the model was trained on are missing: 'a', 'b'");
    assert_fails(read_with(&data, "a,c,label\n1,2,yes\n", &options, &columns), BROAD_BAD_DATA,
                 "1 column that the model was trained on is missing: 'b'");
    assert_fails(read_with(&data, "a,b\n1,2\n", &options, &columns), BROAD_BAD_DATA,
                 "there is no column for the target 'label'");
    assert_fails(read_with(&data, "1,2\n3,4\n", &options, &columns), BROAD_BAD_DATA,
                 "there is no column for the target 'label'");
    assert_fails(read_with(&data, "1,2,3,4\n5,6,7,8\n", &options, &columns), BROAD_BAD_DATA,
                 "4 columns; the model needs 2 inputs, or 3 columns with the target");
    assert_fails(read_with(&data, "a,b,label\n1,2,green\n1,2,blue\n1,2,yes\n", &options, &columns), BROAD_BAD_DATA,
                 "2 labels the model does not know: 'green', 'blue'");
    assert_fails(read_with(&data, "a,b,label\n1,2,\n", &options, &columns), BROAD_BAD_DATA,
                 "data:2: the target 'label' is missing");
    options.missing = BROAD_MISSING_ERROR;
    assert_fails(read_with(&data, "a,b,label\n1,NA,yes\n", &options, &columns), BROAD_BAD_DATA, "option missing mean");
    options.target = "a";
    assert_fails(read_with(&data, "a,b,label\n1,2,yes\n", &options, &columns), BROAD_BAD_DATA,
                 "cannot also be its target, group or weight");
    options.target = NULL;
    columns.missing = BROAD_MISSING_MEAN;
    assert_ok(read_with(&data, "a,b,label\n1,NA,yes\n", &options, &columns));
    broad_data_free(data);
    char text[2048] = "a,b,label\n";
    for (int i = 0; i < 30; i++) sprintf(text + strlen(text), "1,2,new%d\n", i);
    assert_fails(read_with(&data, text, &options, &columns), BROAD_BAD_DATA,
                 "30 labels the model does not know: 'new0'");
    assert_non_null(strstr(broad_error_message(), "'new9', ..."));
    assert_null(strstr(broad_error_message(), "'new10'"));
}

static void test_model_and_libsvm(void **state)
{
    (void)state;
    static const char *const classes[] = {"-1", "1"}, *const from_one[] = {"x1", "x2", "x3"},
                             *const from_zero[] = {"x0", "x1", "x2"};
    broad__columns columns = {.inputs = 3,
                              .outputs = 2,
                              .task = BROAD_TASK_CLASSIFY,
                              .input_names = from_one,
                              .output_names = classes,
                              .target_name = "target"};
    broad_read_options options = plain();
    broad_data *data;
    assert_ok(read_with(&data, "+1 2:5\n", &options, &columns)); /* fewer indices than the model, one class only */
    assert_int_equal(data->inputs, 3);
    assert_int_equal(data->classes[0], 1);
    assert_true(data->x[1] == 5);
    broad_data_free(data);
    assert_fails(read_with(&data, "+1 4:5\n", &options, &columns), BROAD_BAD_DATA,
                 "there is an index 4, but the model has only 3 inputs");
    assert_fails(read_with(&data, "+1 0:5\n", &options, &columns), BROAD_BAD_DATA, "there is an index 0");
    assert_fails(read_with(&data, "2 1:5\n", &options, &columns), BROAD_BAD_DATA, "the model does not know: '2'");
    options.target_optional = 1;
    assert_ok(read_with(&data, "0 1:5\n", &options, &columns));
    assert_int_equal(data->task, BROAD_TASK_AUTO);
    broad_data_free(data);
    columns.input_names = from_zero;
    assert_ok(read_with(&data, "1 2:5\n", &options, &columns));
    assert_true(data->x[2] == 5);
    broad_data_free(data);
}

/* Row weights: read where they are asked for or where the model had them, and nowhere an input. */
static void test_weights(void **state)
{
    (void)state;
    broad_read_options options = plain();
    options.weight = "w";
    broad_data *data = read_ok("a,w,b,y\n1,0.5,2,5\n3,2e3,4,6\n", &options);
    static const double x[4] = {1, 2, 3, 4};
    assert_int_equal(data->inputs, 2);
    assert_memory_equal(data->x, x, sizeof x);
    assert_string_equal(data->weight_name, "w");
    assert_true(broad_data_weight(data, 0) == 0.5 && broad_data_weight(data, 1) == 2000);
    broad_data_free(data);
    options.weight = NULL;
    check_small("a,b,y\n1,2,5\n3,4,6\n", &options);
    data = read_ok("a,b,y\n1,2,5\n", &options);
    assert_null(data->weights);
    assert_true(broad_data_weight(data, 0) == 1);
    broad_data_free(data);

    double numbers[8] = {7, 1, 2, 5, 8, 3, 4, 6};
    bytes b = npy_bytes(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 4), }", numbers, sizeof numbers);
    options.weight = "1";
    assert_ok(broad__read_bytes(&data, "data", b.at, b.count, &options, NULL));
    assert_string_equal(data->weight_name, "1");
    assert_memory_equal(data->x, x, sizeof x);
    assert_true(data->weights[0] == 7 && data->weights[1] == 8);
    broad_data_free(data);
    free(b.at);
    static const char *const bad[][2] = {{"-1", "-1"}, {"inf", "inf"}, {"nan", "missing (NaN)"}};
    for (size_t i = 0; i < 3; i++) {
        numbers[4] = strtod(bad[i][0], NULL);
        b = npy_bytes(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 4), }", numbers, sizeof numbers);
        assert_fails(broad__read_bytes(&data, "data", b.at, b.count, &options, NULL), BROAD_BAD_DATA,
                     "data: row 2, column 1: the weight ");
        assert_non_null(strstr(broad_error_message(), bad[i][1]));
        free(b.at);
    }
}

static void test_weights_of_a_model(void **state)
{
    (void)state;
    broad_read_options options = plain();
    broad__columns columns = classifier();
    broad_data *data;
    columns.weight_name = "w";
    static const char with[] = "w,a,b,label\n7,1,2,yes\n8,3,4,3\n", without[] = "a,b,label\n1,2,yes\n3,4,3\n",
                      broken[] = "w,a,b,label\n-1,1,2,yes\n,3,4,3\n";
    check_with(with, &options, &columns, BROAD_TASK_CLASSIFY);
    assert_ok(read_with(&data, with, &options, &columns));
    assert_true(data->weights && data->weights[1] == 8);
    broad_data_free(data);
    check_with(without, &options, &columns, BROAD_TASK_CLASSIFY); /* to measure with */
    options.training = 1;
    assert_fails(read_with(&data, without, &options, &columns), BROAD_BAD_DATA,
                 "data: the column of weights 'w' that the model was trained with is missing; add it");
    assert_fails(read_with(&data, broken, &options, &columns), BROAD_BAD_DATA, "data:2:1: the weight '-1'");
    assert_fails(read_with(&data, "1 1:2\n", &options, &columns), BROAD_BAD_DATA,
                 "a LIBSVM file has no column of weights; the model was trained with weights");
    options.training = 0;
    options.target_optional = 1; /* to predict: not used */
    check_with(broken, &options, &columns, BROAD_TASK_CLASSIFY);
    assert_ok(read_with(&data, with, &options, &columns));
    assert_null(data->weights);
    broad_data_free(data);

    /* By place: column 1 the weights, column 3 the target, column 4 the group. */
    columns.named = 0;
    columns.weight_name = "1";
    columns.target_name = "3";
    columns.group_name = "4";
    options = plain();
    options.header = "no";
    options.training = 1;
    check_with("7,1,yes,p,2\n8,3,3,q,4\n", &options, &columns, BROAD_TASK_CLASSIFY);
    assert_fails(read_with(&data, "1,yes,p,2\n3,3,q,4\n", &options, &columns), BROAD_BAD_DATA,
                 "4 columns; the model needs 2 inputs, or 3 columns with the target, besides its column of weights");
    assert_fails(read_with(&data, "1,yes,2\n3,3,4\n", &options, &columns), BROAD_BAD_DATA,
                 "the column of weights '1' that the model was trained with is missing");
    options.training = 0;
    check_with("1,yes,2\n3,3,4\n", &options, &columns, BROAD_TASK_CLASSIFY); /* the target moves up */
    options.target_optional = 1;
    check_with("7,1,yes,p,2\n8,3,3,q,4\n", &options, &columns, BROAD_TASK_CLASSIFY);
    check_with("1,2\n3,4\n", &options, &columns, BROAD_TASK_AUTO);
}

/* Fails every request for memory in turn: the status says so, nothing is handed out, nothing is lost. */
static void fail_each(const void *file, size_t count, const broad_read_options *options, const broad__columns *columns)
{
    memory_watch watch;
    size_t failures = 0;
    for (size_t n = 1;; n++) {
        broad_data *data = NULL;
        watch_start(&watch, n);
        int status = broad__read_bytes(&data, "data", file, count, options, columns);
        if (status == BROAD_OK) broad_data_free(data);
        watch_stop();
        assert_int_equal(watch.live, 0);
        if (status == BROAD_OK) break;
        if (status != BROAD_NO_MEMORY) fail_msg("request %zu: %s", n, broad_error_message());
        assert_null(data);
        failures++;
    }
    assert_true(failures >= 5); /* the failures really happened */
    assert_true(watch.requests == failures);
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    char folder[HELPER_PATH], labels[HELPER_PATH];
    temporary_folder(folder);
    join_path(labels, folder, "labels");
    static const char csv[] = "a,\"b\"\"\",g,w,label\n1,2,p,1,\"y\"\"es\"\n3,4,q,2,no\n5,,p,3,no\n";
    static const char libsvm[] = "1 qid:1 1:2\n2 qid:2 3:4\n";
    broad_read_options options = plain();
    options.group = "g";
    options.weight = "w";
    options.missing = BROAD_MISSING_MEAN;
    fail_each(csv, sizeof csv - 1, &options, NULL);
    static const char *const names[] = {"a", "b\""}, *const classes[] = {"no", "y\"es"};
    broad__columns columns = {.inputs = 2,
                              .outputs = 2,
                              .task = BROAD_TASK_CLASSIFY,
                              .input_names = names,
                              .output_names = classes,
                              .target_name = "label",
                              .missing = BROAD_MISSING_MEAN,
                              .named = 1};
    fail_each(csv, sizeof csv - 1, &options, &columns);
    static const char messy[] = "Title;;;;;;\n# note\nid;a;when;ok;c;note;y;\n"
                                "n1;1,5;1.1.2024;yes;red;caf\xE9;10 %;\nn2;2;2.1.2024;no;-;x;20 %;\n"
                                "n3;3;3.1.2024;yes;blue;y;30 %;\nn3;3;3.1.2024;yes;blue;y;30 %;\nn4;3;;yes;blue;y;;\n";
    broad_read_options open = plain();
    fail_each(messy, sizeof messy - 1, &open, NULL);
    static const char faulty[] = "a,b,y\n1,2,3\n1,2\n1,2,3,4\n5,6,7\n";
    broad_data *none = NULL;
    assert_fails(read_text(&none, faulty, &open), BROAD_BAD_DATA, "; also data:4: 4 cells");
    bytes packed = gzip_bytes(csv, sizeof csv - 1);
    fail_each(packed.at, packed.count, &options, NULL);
    free(packed.at);
    options.weight = NULL;
    options.group = "qid";
    fail_each(libsvm, sizeof libsvm - 1, &options, NULL);
    options = plain();
    write_text(labels, "name\nu\nv\n");
    options.labels = labels;
    double numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    bytes b = npy_bytes(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2, 2), }", numbers, sizeof numbers);
    fail_each(b.at, b.count, &options, NULL);
    free(b.at);
    remove_folder(folder);
}

/* About the size of the data: the table, its targets, and what it takes to see that they are no classes. */
static void test_memory_in_proportion(void **state)
{
    (void)state;
    enum { ROWS = 100000, COLUMNS = 21 };
    char *text = malloc((size_t)ROWS * COLUMNS * 9 + 1), *at = text;
    assert_non_null(text);
    dice d = {.stream = {.seed = 4, .purpose = BROAD__FOR_DEMO}};
    for (size_t i = 0; i < ROWS; i++)
        for (size_t c = 0; c < COLUMNS; c++)
            at += sprintf(at, "%.4f%c", broad__random_at(&d.stream, d.at++), c + 1 < COLUMNS ? ',' : '\n');
    broad_read_options options = plain();
    options.threads = 1; /* the watch counts for one */
    broad_data *data;
    memory_watch watch;
    watch_start(&watch, 0);
    int status = broad__read_bytes(&data, "data", text, (size_t)(at - text), &options, NULL);
    watch_stop();
    assert_int_equal(status, BROAD_OK);
    assert_int_equal(data->rows, ROWS);
    assert_true(watch.peak < (size_t)ROWS * COLUMNS * sizeof(double) * 5 / 4 + ((size_t)4 << 20));
    assert_true(watch.requests < 2000); /* none a row */
    broad_allocator allocator = {watch_allocate, watch_release, &watch};
    broad_set_allocator(&allocator);
    broad_data_free(data);
    watch_stop();
    assert_int_equal(watch.live, 0);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv_forms),
        cmocka_unit_test(test_csv_overrides),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_missing_mean),
        cmocka_unit_test(test_tasks),
        cmocka_unit_test(test_csv_against_a_slow_reader),
        cmocka_unit_test(test_libsvm),
        cmocka_unit_test(test_npy_types),
        cmocka_unit_test(test_npy_dimensions),
        cmocka_unit_test(test_npy_in_place),
        cmocka_unit_test(test_npy_many_rows),
        cmocka_unit_test(test_npy_missing),
        cmocka_unit_test(test_idx_types),
        cmocka_unit_test(test_labels_apart),
        cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_standard_input),
        cmocka_unit_test(test_model_by_name),
        cmocka_unit_test(test_model_by_place),
        cmocka_unit_test(test_model_errors),
        cmocka_unit_test(test_model_and_libsvm),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_weights_of_a_model),
        cmocka_unit_test(test_every_allocation_fails),
        cmocka_unit_test(test_memory_in_proportion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
