/* Cells as people write them: numbers with marks, truth values, dates. */
#include "data_helper.h"

#include "data/format/cell.h"
#include "data/format/date.h"

typedef struct cell_case {
    const char *text;
    broad__cell_format format;
    double value; /* NaN: it is none */
} cell_case;

#define COMMA                                                                                                          \
    {                                                                                                                  \
        .decimal = ','                                                                                                 \
    }
#define POINT                                                                                                          \
    {                                                                                                                  \
        .decimal = '.'                                                                                                 \
    }
#define FORM(name)                                                                                                     \
    {                                                                                                                  \
        .form = BROAD__FORM_##name                                                                                     \
    }

static const cell_case cases[] = {
    {"1,5", COMMA, 1.5},
    {"-1,5", COMMA, -1.5},
    {"1.234.567,8", COMMA, 1234567.8},
    {"1.234", COMMA, 1234},
    {"0,5 %", COMMA, 0.5},
    {"12,50 \xE2\x82\xAC", COMMA, 12.5},
    {"-\xE2\x82\xAC 12,50", COMMA, -12.5},
    {"1 234,5", COMMA, 1234.5},
    {"1\xC2\xA0"
     "234,5",
     COMMA, 1234.5},
    {"1,2,3", COMMA, NAN},
    {"1.23", COMMA, 1.23}, /* no group of three: then it is a plain number */
    {"1,5", POINT, NAN},
    {"1,234,567.8", POINT, 1234567.8},
    {"$1,234.50", POINT, 1234.5},
    {"($1,234.50)", POINT, -1234.5},
    {"USD 7", POINT, 7},
    {"7%", POINT, 7},
    {"1'234.5", POINT, 1234.5},
    {"1,23,456", POINT, NAN},
    {"12,3456", POINT, NAN},
    {"1,234e3", POINT, 1234000},
    {"$", POINT, NAN},
    {"1,5", {0}, NAN},
    {"yes", FORM(TRUTH), 1},
    {"NO", FORM(TRUTH), 0},
    {"True", FORM(TRUTH), 1},
    {"f", FORM(TRUTH), 0},
    {"1", FORM(TRUTH), 1},
    {"maybe", FORM(TRUTH), NAN},
    {"1970-01-02", FORM(DATE), 1},
    {"1969-12-31T12:00", FORM(DATE), -0.5},
    {"2024-02-29", FORM(DATE), 19782},
    {"2023-02-29", FORM(DATE), NAN},
    {"1970-01-01T06:00:00Z", FORM(DATE), 0.25},
    {"1970-01-01 06:00+06:00", FORM(DATE), 0},
    {"1970/01/11", FORM(DATE), 10},
    {"02.01.1970", FORM(DATE), 1},
    {"02.01.70 6:00", FORM(DATE), 1.25},
    {"1/2/1970", FORM(DATE_DAY), 31},
    {"1/2/1970", FORM(DATE_MONTH), 1},
    {"13/2/1970", FORM(DATE_MONTH), NAN},
    {"1/2/1970 6:00 PM", FORM(DATE_MONTH), 1.75},
    {"12:00", FORM(DATE), 0.5},
    {"25:00", FORM(DATE), NAN},
    {"1.2.3", FORM(DATE), NAN},
    {"192.168.1.1", FORM(DATE), NAN},
};

static void test_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double value = NAN;
        broad__number_kind kind = broad__cell_value(&value, broad__text_of(cases[i].text), cases[i].format);
        int number = kind == BROAD__NUMBER;
        if (number == isnan(cases[i].value) || (number && fabs(value - cases[i].value) > 1e-9))
            fail_msg("'%s' is %g where %g was expected", cases[i].text, number ? value : NAN, cases[i].value);
    }
}

static void test_missing_words(void **state)
{
    (void)state;
    static const char *const words[] = {"", " ", "NA", "n/a", "-", "--", "none", "#DIV/0!", "?", "null", "ERROR"};
    double value;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        assert_int_equal(broad__cell_value(&value, broad__text_of(words[i]), (broad__cell_format){0}),
                         BROAD__NUMBER_MISSING);
    assert_int_equal(broad__cell_value(&value, broad__text_of("nine"), (broad__cell_format){0}), BROAD__NUMBER_TEXT);
}

/* Every day of four centuries, one after the other. */
static void test_calendar(void **state)
{
    (void)state;
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    double expected = 0, value;
    for (int year = 1970; year < 2370; year++)
        for (int month = 1; month <= 12; month++) {
            int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
            for (int day = 1; day <= days[month - 1] + (month == 2 && leap); day++) {
                char text[32];
                snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, day);
                assert_int_equal(broad__date_read(&value, broad__text_of(text), 0), BROAD__DATE_SURE);
                assert_true(value == expected++);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_missing_words),
        cmocka_unit_test(test_calendar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
