/*
 * Charts: ticks, places of marks, and what has no place. With a folder as its argument the program writes each case there as
 * NAME.svg instead, for test_chart_xml.py.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper.h"
#include "page/chart.h"

enum { POINTS = 5 };

/* ---- cases ---- */

typedef struct chart_case {
    const char *name;
    cli_mark mark;
    int log_y;
    double values[POINTS];
    size_t count;
    double most; /* where the y axis ends; 0: as the figures go */
} chart_case;

static const chart_case cases[] = {
    {"empty", CLI_LINE, 0, {0}, 0, 0},
    {"single", CLI_LINE_POINTS, 0, {3}, 1, 0},
    {"single-log", CLI_LINE_POINTS, 1, {3}, 1, 0},
    {"zero", CLI_POINTS, 0, {0}, 1, 0},
    {"flat", CLI_DASHED, 0, {7, 7, 7, 7, 7}, POINTS, 0},
    {"gaps", CLI_LINE, 0, {1, NAN, 2, INFINITY, 3}, POINTS, 0},
    {"nothing-finite", CLI_LINE_POINTS, 0, {NAN, INFINITY, -INFINITY, NAN, NAN}, POINTS, 0},
    {"huge", CLI_LINE_POINTS, 0, {-1e300, 1e300, 1.7e308, 0, 1}, POINTS, 0},
    {"huge-log", CLI_LINE_POINTS, 1, {1e-300, 1e300, 1, 1e-5, 1e5}, POINTS, 0},
    {"tiny", CLI_LINE_POINTS, 0, {1e-310, 2e-310, 3e-310, 0, 0}, POINTS, 0},
    {"close", CLI_LINE_POINTS, 0, {1e9, 1e9 + 1e-6, 1e9 + 2e-6, 1e9, 1e9}, POINTS, 0},
    {"not-positive-log", CLI_LINE_POINTS, 1, {-1, 0, 10, 100, NAN}, POINTS, 0},
    {"bars", CLI_BARS, 0, {0, 1, 1000, NAN, -4}, POINTS, 0},
    {"bars-log", CLI_BARS, 1, {0, 1, 1000, NAN, -4}, POINTS, 0},
    {"steps", CLI_STEPS, 0, {1, 2, NAN, 4, 5}, POINTS, 0},
    {"dotted", CLI_DOTTED, 0, {1, 2, 3, 4, 5}, POINTS, 0},
    {"beyond", CLI_LINE_POINTS, 0, {1, 2, 9, -50, 3}, POINTS, 4},
    {"band", CLI_BAND, 0, {1, 2, NAN, 4, NAN}, POINTS, 0},
};

static cli_chart *add_case(cli_charts *charts, const chart_case *one)
{
    cli_chart *chart = cli_charts_add(charts, "case", "<b>Odd & \"quoted\"</b>\x01\xff", one->count);
    double *values = cli_chart_series(chart, "a </svg> b", one->mark, 1);
    double *low = one->mark == CLI_BAND ? cli_chart_low(chart) : NULL;
    for (size_t i = 0; i < one->count; i++) {
        chart->at[i] = (double)i;
        values[i] = one->values[i];
        if (low) low[i] = one->values[i] / 2;
    }
    chart->x.name = "x < 1 & more";
    chart->y.log = one->log_y;
    if (one->most > 0) chart->y.range[1] = one->most;
    return chart;
}

static void read_back(char **out, const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    *out = calloc(1, 1 << 20);
    assert_non_null(*out);
    size_t count = fread(*out, 1, (1 << 20) - 1, file);
    assert_true(count > 0);
    fclose(file);
}

static char *draw(const cli_chart *chart)
{
    char path[] = "/tmp/broad-chart-XXXXXX", *text = NULL;
    cli_output output;
    close(mkstemp(path));
    assert_int_equal(cli_output_open(&output, path), 0);
    cli_chart_svg(&output, chart);
    assert_int_equal(cli_output_close(&output), 0);
    read_back(&text, path);
    unlink(path);
    return text;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)) != NULL; text++) count++;
    return count;
}

/* ---- ticks ---- */

static size_t ticks_of(double out[CLI_TICKS_MAX], double low, double high, cli_axis axis, size_t most)
{
    double range[2] = {low, high}, step = 0;
    return cli_ticks(out, &step, range, &axis, most);
}

static void test_even_ticks(void **state)
{
    (void)state;
    double ticks[CLI_TICKS_MAX];
    assert_int_equal(ticks_of(ticks, 0, 1, (cli_axis){0}, 5), 6);
    for (int i = 0; i <= 5; i++) assert_true(fabs(ticks[i] - 0.2 * i) < 1e-12);
    assert_int_equal(ticks_of(ticks, -3, 43, (cli_axis){0}, 5), 5);
    assert_true(ticks[0] == 0 && ticks[1] == 10 && ticks[4] == 40);
    assert_int_equal(ticks_of(ticks, 0, 3, (cli_axis){.whole = 1}, 8), 4); /* no halves of what is counted */
    assert_true(ticks[1] == 1);
    assert_int_equal(ticks_of(ticks, 0.5, 1.5, (cli_axis){.whole = 1}, 8), 1);
}

static void test_ticks_of_any_range(void **state)
{
    (void)state;
    for (int power = -300; power <= 299; power += 7)
        for (int head = 1; head < 10; head++)
            for (size_t most = 1; most <= 8; most++) {
                double ticks[CLI_TICKS_MAX], high = head * pow(10, power), low = head % 2 ? 0 : -high / 3;
                size_t count = ticks_of(ticks, low, high, (cli_axis){0}, most);
                assert_true(count >= 1 && count <= most + 1);
                for (size_t i = 0; i < count; i++) {
                    assert_true(ticks[i] >= low - 1e-6 * high && ticks[i] <= high * (1 + 1e-6));
                    assert_true(i == 0 || ticks[i] > ticks[i - 1]);
                }
            }
}

static void test_log_ticks(void **state)
{
    (void)state;
    double ticks[CLI_TICKS_MAX];
    cli_axis axis = {.log = 1};
    assert_int_equal(ticks_of(ticks, 0.09, 11, axis, 5), 7);
    assert_true(fabs(ticks[0] - 0.1) < 1e-12 && fabs(ticks[1] - 0.2) < 1e-12 && fabs(ticks[6] - 10) < 1e-12);
    assert_int_equal(ticks_of(ticks, 0.5, 1.5e5, axis, 5), 6); /* powers alone */
    size_t count = ticks_of(ticks, 1e-300, 1e300, axis, 5);
    assert_true(count >= 4 && count <= 8);
    assert_true(ticks_of(ticks, 0.31, 0.44, axis, 5) >= 2); /* between powers: even ones */
    axis.tick_count = 2;
    axis.ticks[0] = 0.25;
    axis.ticks[1] = 4;
    assert_int_equal(ticks_of(ticks, 0.1, 10, axis, 5), 2); /* those that are given */
    assert_true(ticks[0] == 0.25 && ticks[1] == 4);
}

static void test_tick_texts(void **state)
{
    (void)state;
    static const struct {
        double value, step;
        const char *text;
    } texts[] = {{0.30000000000000004, 0.1, "0.3"},
                 {0, 0.2, "0"},
                 {-1e-17, 0.2, "0"},
                 {1, 0.2, "1.0"},
                 {20000, 10000, "20000"},
                 {2e6, 1e6, "2e6"},
                 {1.5e6, 5e5, "1.5e6"},
                 {1e-5, 0, "1e-5"},
                 {0.25, 0, "0.25"},
                 {-15, 5, "-15"},
                 {2e-6, 1e-6, "2e-6"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char text[CLI_TICK_TEXT];
        assert_string_equal(cli_tick_text(text, texts[i].value, texts[i].step), texts[i].text);
    }
}

/* ---- marks ---- */

/* No number of any case is written that is not one, and nothing gets out of its text. */
static void test_no_wild_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cli_charts charts = {0};
        char *text = draw(add_case(&charts, &cases[i]));
        assert_int_equal(count_of(text, "nan"), 0);
        assert_int_equal(count_of(text, "inf"), 0);
        assert_int_equal(count_of(text, "</svg>"), 1);
        assert_int_equal(count_of(text, "<b>"), 0);
        assert_int_equal(count_of(text, "\x01"), 0);
        free(text);
        cli_charts_clear(&charts);
    }
}

static char *draw_named(const char *name)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(cases[i].name, name) == 0) {
            cli_charts charts = {0};
            char *text = draw(add_case(&charts, &cases[i]));
            cli_charts_clear(&charts);
            return text;
        }
    fail_msg("no case %s", name);
    return NULL;
}

static void expect_marks(const char *name, const char *mark, size_t count)
{
    char *text = draw_named(name);
    size_t found = count_of(text, mark);
    free(text);
    assert_int_equal(found, count);
}

static void test_what_has_no_place(void **state)
{
    (void)state;
    expect_marks("empty", "<circle", 0);
    expect_marks("single", "<circle", 1);
    expect_marks("nothing-finite", "<circle", 0);
    expect_marks("huge", "<circle", 4);             /* 1.7e308 is beyond what has a place */
    expect_marks("not-positive-log", "<circle", 2); /* 10 and 100 */
    expect_marks("bars", "<rect", 3);               /* 0 has none */
    expect_marks("band", "<polygon", 2);            /* two runs */
    char *text = draw_named("gaps");
    const char *line = strstr(text, "class=\"line\" d=\"");
    assert_non_null(line);
    assert_int_equal(count_of(line, "M"), 3); /* a new beginning after each gap */
    free(text);
}

/* A figure in the middle of its range lies in the middle of the frame; the axes are where the ticks say. */
static void test_places(void **state)
{
    (void)state;
    cli_charts charts = {0};
    cli_chart *chart = cli_charts_add(&charts, "places", "Places", 3);
    double *y = cli_chart_series(chart, "y", CLI_POINTS, 1), cx[3], cy[3];
    for (int i = 0; i < 3; i++) {
        chart->at[i] = 2 - i; /* points are written from the last to the first */
        y[i] = pow(10, 2 - i);
    }
    chart->y.log = 1;
    chart->x.range[0] = 0;
    chart->x.range[1] = 2;
    chart->y.range[0] = 1;
    chart->y.range[1] = 100;
    char *text = draw(chart), *at = text;
    for (int i = 0; i < 3; i++) {
        at = strstr(at + 1, "<circle cx=\"");
        assert_non_null(at);
        assert_int_equal(sscanf(at, "<circle cx=\"%lf\" cy=\"%lf\"", &cx[i], &cy[i]), 2);
    }
    assert_true(fabs(cx[1] - (cx[0] + cx[2]) / 2) < 0.11 && fabs(cy[1] - (cy[0] + cy[2]) / 2) < 0.11);
    assert_true(cx[0] < cx[2] && cy[0] > cy[2]); /* upwards */
    assert_true(cx[2] <= chart->width && cy[0] <= chart->height && cy[2] >= 0);
    free(text);
    y[0] = 1000; /* beyond a range that is given: no mark */
    text = draw(chart);
    assert_int_equal(count_of(text, "<circle"), 2);
    free(text);
    cli_charts_clear(&charts);
}

/* One metre is as long to the east as to the north, and tags say where a point leads. */
static void test_map(void **state)
{
    (void)state;
    cli_charts charts = {0};
    cli_chart *chart = cli_charts_add(&charts, "map", "Map", 3);
    double *north = cli_chart_series(chart, "photos", CLI_POINTS, 1), cx[3], cy[3];
    const double east[3] = {0, 100, 0};
    chart->tags = calloc(3, sizeof *chart->tags);
    for (int i = 0; i < 3; i++) {
        chart->at[i] = east[i];
        north[i] = i == 2 ? 100 : 0;
        chart->tags[i] = (cli_tag){.colour = 10, .number = (size_t)i + 1, .linked = i == 0, .text = "<name>"};
    }
    chart->map = 1;
    char *text = draw(chart), *at = text;
    assert_int_equal(count_of(text, "<a href=\"#p1\">"), 1);
    assert_int_equal(count_of(text, "&lt;name&gt;"), 3);
    for (int i = 2; i >= 0; i--) {
        at = strstr(at + 1, "<circle");
        assert_non_null(at);
        assert_int_equal(sscanf(strstr(at, "cx="), "cx=\"%lf\" cy=\"%lf\"", &cx[i], &cy[i]), 2);
    }
    assert_true(fabs((cx[1] - cx[0]) - (cy[0] - cy[2])) < 0.21 && cx[1] > cx[0]);
    free(text);
    cli_charts_clear(&charts);
}

static void test_too_many(void **state)
{
    (void)state;
    cli_charts charts = {0};
    for (size_t i = 0; i < CLI_CHARTS_MAX; i++) assert_non_null(cli_charts_add(&charts, "one", "One", 1));
    assert_null(cli_charts_add(&charts, "more", "More", 1));
    for (size_t i = 0; i < CLI_SERIES_MAX; i++) assert_non_null(cli_chart_series(&charts.items[0], "s", CLI_LINE, 1));
    assert_null(cli_chart_series(&charts.items[0], "s", CLI_LINE, 1));
    assert_null(cli_charts_find(&charts, "none"));
    cli_charts_clear(&charts);
}

/* ---- for test_chart_xml.py ---- */

static int write_cases(const char *folder)
{
    char path[4096];
    cli_output output;
    int status = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0] && !status; i++) {
        static const unsigned char cells[4] = {0, 1, 1, 0};
        cli_charts charts = {0};
        add_case(&charts, &cases[i])->diagonal = 1;
        cli_chart *bare = add_case(&charts, &cases[i]);
        bare->bare = 1;
        bare->cells = cells;
        bare->cell_side = 2;
        snprintf(path, sizeof path, "%s/%s.svg", folder, cases[i].name);
        status = cli_output_open(&output, path);
        cli_charts_picture(&output, &charts, "<Title> & more");
        status = cli_output_close(&output);
        cli_charts_clear(&charts);
    }
    return status;
}

int main(int count, char **words)
{
    if (count > 1) return write_cases(words[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_even_ticks),      cmocka_unit_test(test_ticks_of_any_range),
        cmocka_unit_test(test_log_ticks),       cmocka_unit_test(test_tick_texts),
        cmocka_unit_test(test_no_wild_numbers), cmocka_unit_test(test_what_has_no_place),
        cmocka_unit_test(test_places),          cmocka_unit_test(test_map),
        cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
