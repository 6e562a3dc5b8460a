/*
 * NPY and IDX files of every shape up to a bound, with every type and order: the numbers come back where plain loops over
 * the indices find them. A byte more or less than the shape claims is refused, and so is every shape with a side of 0 or with
 * sides whose product no file can have.
 */
#include "data_helper.h"

enum { SIDE_MOST = 3, DIMENSIONS = 4, CELLS_MOST = 81 };

typedef struct form {
    const char *npy;
    unsigned char idx; /* 0: there is no such type */
    size_t item;
} form;

static const form forms[] = {{"<f8", 0, 8},    {">f8", 0x0E, 8}, {"<f4", 0, 4},    {">f4", 0x0D, 4}, {"|u1", 0x08, 1},
                             {"|i1", 0x09, 1}, {"|b1", 0, 1},    {">i2", 0x0B, 2}, {"<u2", 0, 2},    {">i4", 0x0C, 4},
                             {"<u4", 0, 4},    {"<i8", 0, 8},    {">u8", 0, 8}};

enum { FORMS = sizeof forms / sizeof forms[0] };

/* The number of cell i, as the type has it. */
static void put_number(unsigned char *to, const form *type, size_t value)
{
    unsigned char little[8] = {0};
    double f8 = (double)value;
    float f4 = (float)value;
    if (type->npy[1] == 'f' && type->item == 8) memcpy(little, &f8, 8);
    else if (type->npy[1] == 'f') memcpy(little, &f4, 4);
    else little[0] = (unsigned char)value;
    for (size_t i = 0; i < type->item; i++) to[i] = little[type->npy[0] == '>' ? type->item - 1 - i : i];
}

static size_t cells_of(const size_t *shape, size_t dimensions)
{
    size_t cells = 1;
    for (size_t d = 0; d < dimensions; d++) cells *= shape[d];
    return cells;
}

/* Where cell (row, column) of the table lies in the file: column counts through all but the first index, the last fastest. */
static size_t place_of(const size_t *shape, size_t dimensions, int fortran, size_t row, size_t column)
{
    size_t index[DIMENSIONS] = {row}, place = 0;
    for (size_t d = dimensions; d-- > 1; column /= shape[d]) index[d] = column % shape[d];
    if (fortran)
        for (size_t d = dimensions; d-- > 0;) place = place * shape[d] + index[d];
    else
        for (size_t d = 0; d < dimensions; d++) place = place * shape[d] + index[d];
    return place;
}

static void check_table(const broad_data *data, const size_t *shape, size_t dimensions, int fortran)
{
    size_t rows = shape[0], columns = cells_of(shape, dimensions) / rows;
    assert_int_equal(data->rows, rows);
    assert_int_equal(data->inputs, columns);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            assert_true(data->x[i * columns + j] == (double)place_of(shape, dimensions, fortran, i, j));
}

/* As a model reads rows that it predicts: all columns are inputs. */
static int read_table(broad_data **out, const unsigned char *from, size_t count, size_t columns)
{
    static const char *names[CELLS_MOST];
    for (size_t i = 0; i < CELLS_MOST; i++) names[i] = "x";
    const broad__columns model = {
        .inputs = columns, .outputs = 1, .task = BROAD_TASK_REGRESS, .input_names = names, .output_names = names};
    broad_read_options options;
    broad_read_options_init(&options);
    options.target_optional = 1;
    options.threads = 1;
    /* Exactly these bytes, so that a sanitizer sees one that is read behind them. */
    unsigned char *exact = malloc(count + !count);
    memcpy(exact, from, count);
    int status = broad__read_bytes(out, "data", exact, count, &options, &model);
    free(exact);
    return status;
}

static void check_file(bytes file, const size_t *shape, size_t dimensions, int fortran)
{
    broad_data *data = NULL;
    size_t cells = cells_of(shape, dimensions), columns = cells ? cells / shape[0] : 1;
    int status = read_table(&data, file.at, file.count, columns);
    if (cells) {
        if (status) fail_msg("%zu dimensions: %s", dimensions, broad_error_message());
        check_table(data, shape, dimensions, fortran);
        broad_data_free(data);
        assert_int_equal(read_table(&data, file.at, file.count - 1, columns), BROAD_BAD_DATA);
        assert_int_equal(read_table(&data, file.at, file.count + 1, columns), BROAD_BAD_DATA);
    } else assert_int_equal(status, BROAD_BAD_DATA);
    free(file.at);
}

static void check_shape(const size_t *shape, size_t dimensions, const form *type)
{
    unsigned char numbers[CELLS_MOST * 8 + 8];
    uint32_t short_shape[DIMENSIONS];
    char text[128], sides[64] = "";
    size_t cells = cells_of(shape, dimensions), length = cells * type->item;
    for (size_t i = 0; i < cells; i++) put_number(numbers + i * type->item, type, i);
    for (size_t d = 0; d < dimensions; d++) {
        snprintf(sides + strlen(sides), sizeof sides - strlen(sides), "%zu,", shape[d]);
        short_shape[d] = (uint32_t)shape[d];
    }
    for (int fortran = 0; fortran < 2; fortran++) {
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }\n", type->npy,
                 fortran ? "True" : "False", sides);
        check_file(npy_bytes(1 + fortran, text, numbers, length), shape, dimensions, fortran);
    }
    if (type->idx)
        check_file(idx_bytes(type->idx, (unsigned char)dimensions, short_shape, numbers, length), shape, dimensions, 0);
}

static void every_shape(void **state)
{
    (void)state;
    size_t tried = 0;
    for (size_t dimensions = 1; dimensions <= DIMENSIONS; dimensions++) {
        size_t shapes = 1;
        for (size_t d = 0; d < dimensions; d++) shapes *= SIDE_MOST + 1;
        for (size_t s = 0; s < shapes; s++) {
            size_t shape[DIMENSIONS] = {0}, rest = s;
            for (size_t d = 0; d < dimensions; d++, rest /= SIDE_MOST + 1) shape[d] = rest % (SIDE_MOST + 1);
            /* Of four dimensions every shape has a few types, and every type a few shapes. */
            for (size_t t = dimensions == DIMENSIONS ? s % 4 : 0; t < FORMS; t += dimensions == DIMENSIONS ? 4 : 1) {
                check_shape(shape, dimensions, &forms[t]);
                tried++;
            }
        }
    }
    assert_true(tried > 1500);
}

/* Sides whose product overflows, or is more than any file has. */
static void every_huge_shape(void **state)
{
    (void)state;
    static const char *const sides[] = {"1",
                                        "3",
                                        "65536",
                                        "4294967295",
                                        "4294967296",
                                        "9223372036854775807",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "99999999999999999999999"};
    enum { SIDES = sizeof sides / sizeof sides[0] };
    for (size_t i = 0; i < SIDES * SIDES * SIDES; i++) {
        if (i % SIDES < 2 && i / SIDES % SIDES < 2 && i / SIDES / SIDES < 2) continue;
        char text[192];
        broad_data *data = NULL;
        snprintf(text, sizeof text, "{'descr': '<f8', 'fortran_order': False, 'shape': (%s, %s, %s), }\n",
                 sides[i % SIDES], sides[i / SIDES % SIDES], sides[i / SIDES / SIDES]);
        bytes file = npy_bytes(1, text, "12345678", 8);
        assert_int_equal(read_table(&data, file.at, file.count, 1), BROAD_BAD_DATA);
        assert_null(data);
        free(file.at);
    }
    static const uint32_t wide[] = {1, 2, 65536, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    for (size_t i = 0; i < 6 * 6 * 6; i++) {
        const uint32_t shape[] = {wide[i % 6], wide[i / 6 % 6], wide[i / 36]};
        broad_data *data = NULL;
        bytes file = idx_bytes(0x0E, 3, shape, "1234567", 7);
        assert_int_equal(read_table(&data, file.at, file.count, 1), BROAD_BAD_DATA);
        free(file.at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_shape), cmocka_unit_test(every_huge_shape)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
