/* The option table: every row reads back what it prints, refuses what it must, and says why. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/api_check.h"

static broad_options fresh(void)
{
    broad_options options;
    broad_options_init(&options);
    return options;
}

static void expect_refused(const char *name, const char *value, const char *needle)
{
    broad_options options = fresh(), before = options;
    assert_int_equal(broad_options_set(&options, name, value), BROAD_USAGE);
    if (!strstr(broad_error_message(), needle)) fail_msg("'%s' lacks '%s'", broad_error_message(), needle);
    assert_memory_equal(&options, &before, sizeof options);
}

static void table_is_whole(void **state)
{
    (void)state;
    assert_true(broad_option_count() > 15);
    assert_null(broad_option_at(broad_option_count()));
    for (size_t i = 0; i < broad_option_count(); i++) {
        const broad_option *option = broad_option_at(i);
        assert_non_null(option->name);
        assert_non_null(option->argument);
        assert_true(strlen(option->help) > 10);
        for (size_t j = 0; j < i; j++) assert_string_not_equal(option->name, broad_option_at(j)->name);
    }
}

/* What one field prints, another set of options must read as the same value, for both presets. */
static void values_read_back(void **state)
{
    (void)state;
    for (int preset = 0; preset < 2; preset++) {
        broad_options from = fresh();
        assert_int_equal(broad_options_preset(&from, (broad_preset)preset), BROAD_OK);
        from.gamma_form = BROAD_GAMMA_LIST;
        from.gamma_count = 3;
        from.gamma[0] = 0.1, from.gamma[1] = 1.0 / 3.0, from.gamma[2] = 0.9999999999;
        from.range = 0.30000000000000004;
        from.range_auto = 0;
        from.seed = UINT64_MAX;
        from.positive = "yes";
        from.until = 0.07;
        from.until_relative = preset;
        from.until_accuracy = 0.1 + 0.2;
        from.max_layers = 50;
        from.max_nodes = UINT32_MAX;
        from.max_seconds = 1.0 / 3.0;
        from.patience = 3;
        broad_options to = fresh();
        for (size_t i = 0; i < broad_option_count(); i++) {
            char text[BROAD_LIST_MAX * 32];
            const char *name = broad_option_at(i)->name;
            assert_int_equal(broad_options_get(text, sizeof text, &from, name), BROAD_OK);
            if (strcmp(name, "positive") && strcmp(name, "normal"))
                assert_int_equal(broad_options_set(&to, name, text), BROAD_OK);
        }
        to.positive = from.positive;
        if (from.lambda_auto) to.lambda = from.lambda;
        assert_memory_equal(&from, &to, sizeof from);
    }
}

/* The words of scn's papers stand for others, which is what is read back. */
static const char *meaning(const char *word)
{
    return strcmp(word, "sc1") == 0   ? "chain"
           : strcmp(word, "sc2") == 0 ? "window"
           : strcmp(word, "sc3") == 0 ? "joint"
                                      : word;
}

static void every_choice_is_taken(void **state)
{
    (void)state;
    for (size_t i = 0; i < broad_option_count(); i++) {
        const broad_option *option = broad_option_at(i);
        if (!option->choices) continue;
        for (const char *word = option->choices; *word;) {
            char value[64], text[64];
            broad_options options = fresh();
            size_t length = strcspn(word, "|");
            snprintf(value, sizeof value, "%.*s", (int)length, word);
            assert_int_equal(broad_options_set(&options, option->name, value), BROAD_OK);
            assert_int_equal(broad_options_get(text, sizeof text, &options, option->name), BROAD_OK);
            assert_string_equal(text, meaning(value));
            word += length + (word[length] == '|');
        }
        expect_refused(option->name, "nonsense", option->choices);
        expect_refused(option->name, "", option->choices);
    }
}

static void values_land_in_their_fields(void **state)
{
    (void)state;
    broad_options o = fresh();
    assert_int_equal(broad_options_set(&o, "features", "3x7"), BROAD_OK);
    assert_int_equal(o.feature_groups, 3);
    assert_int_equal(o.feature_nodes, 7);
    assert_int_equal(broad_options_set(&o, "enhance", "20x4"), BROAD_OK);
    assert_int_equal(o.enhance_nodes, 20);
    assert_int_equal(o.enhance_layers, 4);
    assert_int_equal(broad_options_set(&o, "lambda", "1e-3"), BROAD_OK);
    assert_true(o.lambda == 1e-3 && !o.lambda_auto);
    assert_int_equal(broad_options_set(&o, "lambda", "auto"), BROAD_OK);
    assert_true(o.lambda_auto);
    assert_int_equal(broad_options_set(&o, "gamma", "constant:0.9"), BROAD_OK);
    assert_true(o.gamma_form == BROAD_GAMMA_CONSTANT && o.gamma_count == 1 && o.gamma[0] == 0.9);
    assert_int_equal(broad_options_set(&o, "gamma", "list:0.5,0.25"), BROAD_OK);
    assert_true(o.gamma_form == BROAD_GAMMA_LIST && o.gamma_count == 2 && o.gamma[1] == 0.25);
    assert_int_equal(broad_options_set(&o, "range-steps", "1,4"), BROAD_OK);
    assert_true(o.range_steps_count == 2 && o.range_steps[1] == 4 && o.range_steps[2] == 0);
    assert_int_equal(broad_options_set(&o, "seed", "18446744073709551615"), BROAD_OK);
    assert_true(o.seed == UINT64_MAX);
    assert_int_equal(broad_options_set(&o, "until", "12.5"), BROAD_OK);
    assert_true(o.until == 12.5 && !o.until_relative);
    assert_int_equal(broad_options_set(&o, "until", "30%"), BROAD_OK);
    assert_true(o.until == 0.3 && o.until_relative);
    assert_int_equal(broad_options_set(&o, "until-accuracy", "0.9"), BROAD_OK);
    assert_int_equal(broad_options_set(&o, "max-layers", "7"), BROAD_OK);
    assert_int_equal(broad_options_set(&o, "max-nodes", "700"), BROAD_OK);
    assert_int_equal(broad_options_set(&o, "max-seconds", "0.5"), BROAD_OK);
    assert_int_equal(broad_options_set(&o, "patience", "2"), BROAD_OK);
    assert_true(o.until_accuracy == 0.9 && o.max_layers == 7 && o.max_nodes == 700 && o.max_seconds == 0.5);
    assert_int_equal(o.patience, 2);
}

/* Every percentage with two decimals, and some with none that end: what is printed reads back as the same bits. */
static void percentages_read_back(void **state)
{
    (void)state;
    for (int i = 0; i <= 10000; i++) {
        char text[64], again[64];
        broad_options from = fresh(), to = fresh();
        snprintf(text, sizeof text, "%d.%02d%%", i / 100, i % 100);
        if (i % 7 == 0) snprintf(text, sizeof text, "%.17g%%", i / 101.0);
        assert_int_equal(broad_options_set(&from, "until", text), BROAD_OK);
        assert_int_equal(broad_options_get(again, sizeof again, &from, "until"), BROAD_OK);
        assert_int_equal(broad_options_set(&to, "until", again), BROAD_OK);
        assert_memory_equal(&from, &to, sizeof from);
        if (i % 7 && i % 100 == 0) assert_int_equal(strlen(again), strlen(text) - 3);
    }
}

static void wrong_values_are_refused(void **state)
{
    (void)state;
    expect_refused("lambda", "abc", "option lambda: 'abc' is not a number; give a number >= 0 or auto");
    expect_refused("lambda", "-1", "not in range");
    expect_refused("lambda", "nan", "not a number");
    expect_refused("lambda", "inf", "not a number");
    expect_refused("lambda", "1e999", "not a number");
    expect_refused("lambda", "0x10", "not a number");
    expect_refused("lambda", "1 ", "not a number");
    expect_refused("lambda", "", "not a number");
    expect_refused("range", "0", "a number > 0");
    expect_refused("relax", "1", "below 1");
    expect_refused("tries", "0", "from 1");
    expect_refused("tries", "2.5", "whole");
    expect_refused("tries", "-3", "whole");
    expect_refused("seed", "18446744073709551616", "whole");
    expect_refused("threads", "1025", "1024");
    expect_refused("features", "10", "AxB");
    expect_refused("features", "0x5", "in range");
    expect_refused("features", "5x", "AxB");
    expect_refused("features", "5x5x5", "AxB");
    expect_refused("enhance", "1x99999999999999999999", "AxB");
    expect_refused("enhance", "1000000x100000", "in range");
    expect_refused("gamma", "0.9", "schedule");
    expect_refused("gamma", "linear:0.9", "schedule");
    expect_refused("gamma", "constant:1", "schedule");
    expect_refused("gamma", "constant:0.1,0.2", "schedule");
    expect_refused("gamma", "harmonic:0", "schedule");
    expect_refused("gamma", "harmonic:2", "schedule");
    expect_refused("gamma", "list:", "schedule");
    expect_refused("gamma", "list:0.1,,0.2", "schedule");
    expect_refused("range-steps", "1,0", "list");
    expect_refused("range-steps", "1,", "list");
    expect_refused("until", "-1", "in range");
    expect_refused("until", "101%", "in range");
    expect_refused("until", "30 %", "not a number");
    expect_refused("until", "%", "not a number");
    expect_refused("until", "30%%", "such as 30%");
    expect_refused("until", "inf", "not a number");
    expect_refused("until-accuracy", "1.01", "from 0 to 1");
    expect_refused("until-accuracy", "95%", "not a number");
    expect_refused("max-layers", "-1", "whole");
    expect_refused("max-layers", "100001", "100000");
    expect_refused("max-nodes", "4294967296", "4294967295");
    expect_refused("max-seconds", "-0.1", "seconds");
    expect_refused("max-seconds", "1e10", "in range");
    expect_refused("patience", "1.5", "whole");
    expect_refused("no-such", "1", "no option 'no-such'");
    expect_refused("lambda", NULL, "needs a value");
}

static void lists_have_a_limit(void **state)
{
    (void)state;
    char text[2 * (BROAD_LIST_MAX + 1)];
    for (size_t i = 0; i <= BROAD_LIST_MAX; i++) memcpy(text + 2 * i, "1,", 2);
    text[2 * BROAD_LIST_MAX - 1] = 0;
    broad_options options = fresh();
    assert_int_equal(broad_options_set(&options, "range-steps", text), BROAD_OK);
    assert_int_equal(options.range_steps_count, BROAD_LIST_MAX);
    text[2 * BROAD_LIST_MAX - 1] = ',';
    text[2 * BROAD_LIST_MAX + 1] = 0;
    expect_refused("range-steps", text, "at most 256");
}

static void one_option_may_set_another(void **state)
{
    (void)state;
    broad_options o = fresh();
    assert_int_equal(broad_options_set(&o, "activation", "relu"), BROAD_OK);
    assert_int_equal(o.feature_activation, BROAD_ACTIVATION_RELU);
    assert_int_equal(broad_options_set(&o, "feature-activation", "sine"), BROAD_OK);
    assert_int_equal(o.activation, BROAD_ACTIVATION_RELU);
    assert_int_equal(o.feature_activation, BROAD_ACTIVATION_SINE);

    broad_supervise usual = o.supervise;
    assert_int_not_equal(usual, BROAD_SUPERVISE_NONE);
    assert_int_equal(broad_options_set(&o, "kind", "brls"), BROAD_OK);
    assert_int_equal(o.supervise, BROAD_SUPERVISE_NONE);
    assert_int_equal(broad_options_set(&o, "preset", "paper"), BROAD_OK);
    assert_int_equal(o.supervise, BROAD_SUPERVISE_NONE);
    assert_int_equal(o.activation, BROAD_ACTIVATION_SIGMOID);
    assert_int_equal(broad_options_set(&o, "kind", "bscrls"), BROAD_OK);
    assert_int_equal(o.supervise, BROAD_SUPERVISE_RESIDUAL);
    assert_int_equal(broad_options_set(&o, "preset", "auto"), BROAD_OK);
    assert_int_equal(o.supervise, usual);
}

static void preset_leaves_the_rest(void **state)
{
    (void)state;
    broad_options o = fresh();
    o.seed = 7;
    o.threads = 3;
    o.positive = "a";
    o.kind = BROAD_KIND_BRLS;
    assert_int_equal(broad_options_preset(&o, BROAD_PRESET_PAPER), BROAD_OK);
    assert_true(o.seed == 7 && o.threads == 3 && o.kind == BROAD_KIND_BRLS);
    assert_string_equal(o.positive, "a");
    assert_true(o.lambda == 1e-8 && !o.lambda_auto && o.range == 1 && !o.range_auto);
    assert_int_equal(broad_options_preset(&o, (broad_preset)99), BROAD_USAGE);
}

/* Options of a program that was built before there was a metric: its paper preset draws nodes as the paper does. */
static void older_programs_have_no_metric(void **state)
{
    (void)state;
    for (int paper = 0; paper < 2; paper++) {
        broad_options o, taken;
        broad_options_init_sized(&o, offsetof(broad_options, metric));
        memset((char *)&o + offsetof(broad_options, metric), 0xA5, sizeof o - offsetof(broad_options, metric));
        assert_int_equal(broad_options_preset(&o, paper ? BROAD_PRESET_PAPER : BROAD_PRESET_AUTO), BROAD_OK);
        assert_int_equal(broad__training_options_take(&taken, &o), BROAD_OK);
        assert_int_equal(taken.metric, paper ? BROAD_LEARNED_NO : BROAD_LEARNED_AUTO);
        assert_int_equal(taken.effort, BROAD_EFFORT_NORMAL);
    }
    broad_options o = fresh(), taken;
    assert_int_equal(broad_options_preset(&o, BROAD_PRESET_PAPER), BROAD_OK);
    o.metric = BROAD_LEARNED_YES;
    assert_int_equal(broad__training_options_take(&taken, &o), BROAD_OK);
    assert_int_equal(taken.metric, BROAD_LEARNED_YES);
}

static void unset_options_are_refused(void **state)
{
    (void)state;
    broad_options o;
    char text[16];
    memset(&o, 0, sizeof o);
    assert_int_equal(broad_options_set(&o, "seed", "1"), BROAD_USAGE);
    assert_int_equal(broad_options_preset(&o, BROAD_PRESET_AUTO), BROAD_USAGE);
    assert_int_equal(broad_options_get(text, sizeof text, &o, "seed"), BROAD_USAGE);
    o = fresh();
    assert_int_equal(broad_options_get(text, 3, &o, "features"), BROAD_USAGE);
    assert_int_equal(broad_options_get(text, 6, &o, "features"), BROAD_OK);
}

/* A program that speaks German must still read and write a point. */
static void locale_does_not_matter(void **state)
{
    (void)state;
    const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    int found = 0;
    for (size_t i = 0; i < 3 && !found; i++) found = setlocale(LC_ALL, locales[i]) != NULL;
    broad_options o = fresh();
    char text[32];
    assert_int_equal(broad_options_set(&o, "range", "0.25"), BROAD_OK);
    assert_true(o.range == 0.25);
    assert_int_equal(broad_options_get(text, sizeof text, &o, "range"), BROAD_OK);
    assert_string_equal(text, "0.25");
    setlocale(LC_ALL, "C");
    if (!found) print_message("no locale with a decimal comma is installed: only C was tried\n");
}

/* Written into the struct, sizes of features count only once features_auto is 0. */
static void sizes_beside_auto(void **state)
{
    (void)state;
    broad_options as_it_comes = fresh(), o = fresh();
    broad_plan wanted = {.size = sizeof wanted}, plan = {.size = sizeof plan};
    o.feature_groups = 3, o.feature_nodes = 7;
    assert_int_equal(broad_plan_run(&wanted, &as_it_comes, NULL, 500, 4, 2), BROAD_OK);
    assert_int_equal(broad_plan_run(&plan, &o, NULL, 500, 4, 2), BROAD_OK);
    assert_true(as_it_comes.features_auto && plan.nodes == wanted.nodes);
    o.features_auto = 0;
    assert_int_equal(broad_plan_run(&plan, &o, NULL, 500, 4, 2), BROAD_OK);
    assert_true(plan.nodes == 3 * 7 + (double)(o.enhance_nodes * o.enhance_layers) && plan.nodes < wanted.nodes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_whole),
        cmocka_unit_test(values_read_back),
        cmocka_unit_test(every_choice_is_taken),
        cmocka_unit_test(values_land_in_their_fields),
        cmocka_unit_test(percentages_read_back),
        cmocka_unit_test(wrong_values_are_refused),
        cmocka_unit_test(lists_have_a_limit),
        cmocka_unit_test(one_option_may_set_another),
        cmocka_unit_test(preset_leaves_the_rest),
        cmocka_unit_test(older_programs_have_no_metric),
        cmocka_unit_test(unset_options_are_refused),
        cmocka_unit_test(locale_does_not_matter),
        cmocka_unit_test(sizes_beside_auto),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
