/* Numbers in text, against the C library's own conversion. */
#include "helper.h"

#include <locale.h>

#include "data/format/number.h"
#include "rng/philox.h"

static uint64_t random_bits(uint64_t *counter)
{
    uint32_t word[4], at[4] = {(uint32_t)*counter, (uint32_t)(*counter >> 32), 77, 0};
    const uint32_t key[2] = {2024, 11};
    broad__philox(word, at, key);
    ++*counter;
    return (uint64_t)word[1] << 32 | word[0];
}

static void check_exact(const char *text)
{
    double ours = -1, theirs = strtod(text, NULL);
    size_t count = strlen(text);
    /* A block of exactly this size: reading past its end is found by the sanitizer. */
    char *copy = malloc(count);
    assert_non_null(copy);
    memcpy(copy, text, count);
    if (broad__number_scan(&ours, copy, copy + count) != copy + count) fail_msg("%s was not read", text);
    if (memcmp(&ours, &theirs, sizeof ours) != 0) fail_msg("%s: %a and not %a", text, ours, theirs);
    free(copy);
}

/* Every form in turn: random doubles with 17 digits, random digits with random exponents, short decimals, integers, and
 * places half-way between two doubles, where one digit far behind decides. */
static void random_text(char out[400], uint64_t *counter, int form)
{
    uint64_t a = random_bits(counter), b = random_bits(counter);
    double value;
    switch (form) {
    case 0:
        do {
            memcpy(&value, &a, sizeof value);
            a = random_bits(counter);
        } while (!isfinite(value));
        snprintf(out, 400, "%.17g", value);
        break;
    case 1: snprintf(out, 400, "%s%llue%d", b & 1 ? "-" : "", (unsigned long long)a, (int)(b >> 8) % 40 - 20); break;
    case 2: snprintf(out, 400, "%.*f", (int)(b % 12), ((double)(a >> 11) * 0x1p-53 - 0.5) * 2000); break;
    case 3: snprintf(out, 400, "%lld", (long long)a >> (b % 60)); break;
    case 4: snprintf(out, 400, "%.*g", (int)(b % 20) + 1, (double)(a >> 11) * 0x1p-53); break;
    case 5: snprintf(out, 400, "0.%0*d%llu", (int)(b % 25), 0, (unsigned long long)(a >> (b >> 58))); break;
    case 6: snprintf(out, 400, "%llu.%020llu", (unsigned long long)(a >> 40), (unsigned long long)b); break;
    default:
        value = (double)(a >> 11) * 0x1p-53;
        value = (value + nextafter(value, 2)) / 2; /* rounds to one of them; its long form stands near the middle */
        snprintf(out, 400, "%.*f%s", 60, value, b & 1 ? "1" : "");
    }
}

static void test_random_numbers_are_exact(void **state)
{
    (void)state;
    uint64_t counter = 0;
    char text[400];
    for (int i = 0; i < 1000000; i++) {
        random_text(text, &counter, i % 8);
        check_exact(text);
    }
}

/* m / 2^k and (2m + 1) / 2^(k + 1): exact ties and their neighbours by one unit in the last digit. */
static void test_ties_are_exact(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "9007199254740993",
        "9007199254740992",
        "9007199254740994",
        "9007199254740995",
        "9007199254740993.0",
        "9007199254740993.00001",
        "9007199254740992.99999",
        "18014398509481986",
        "18014398509481989",
        "18014398509481990",
        "36028797018963974",
        "4503599627370496.5",
        "4503599627370497.5",
        "4503599627370497.4999",
        "1.00000000000000011102",
        "1.00000000000000011103",
        "0.500000000000000055511",
        "2.2250738585072012e-308",
        "2.2250738585072011e-308",
        "4.9e-324",
        "2.4e-324",
        "2.5e-324",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "9999999999999999999",
        "18446744073709551615",
        "18446744073709551616",
        "1e22",
        "1e23",
        "1e-22",
        "1e-23",
        "9007199254740993e22",
        "9007199254740993e-22",
        "1e27",
        "1e28",
        "9999999999999999999e27",
        "1e-27",
        "1e-28",
        "0",
        "-0",
        "0.0e500",
        "00000000000000000000001",
        "1e-400",
        ".5",
        "5.",
        "+7",
        "1E5",
        "1e+5",
        "0000000000000000000000000000000000.00000000000000000000000000000012345678901234567",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) check_exact(texts[i]);
}

static void test_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        broad__number_kind kind;
    } cells[] = {
        {"1", BROAD__NUMBER},
        {" 1 ", BROAD__NUMBER},
        {"\t-2.5e3", BROAD__NUMBER},
        {"", BROAD__NUMBER_MISSING},
        {"  ", BROAD__NUMBER_MISSING},
        {"NA", BROAD__NUMBER_MISSING},
        {"nan", BROAD__NUMBER_MISSING},
        {"NaN", BROAD__NUMBER_MISSING},
        {"-nan", BROAD__NUMBER_MISSING},
        {"?", BROAD__NUMBER_MISSING},
        {"NULL", BROAD__NUMBER_MISSING},
        {"n/a", BROAD__NUMBER_MISSING},
        {"inf", BROAD__NUMBER_INFINITE},
        {"-Inf", BROAD__NUMBER_INFINITE},
        {"Infinity", BROAD__NUMBER_INFINITE},
        {"1e999", BROAD__NUMBER_INFINITE},
        {"-1e999", BROAD__NUMBER_INFINITE},
        {"abc", BROAD__NUMBER_TEXT},
        {"1.5x", BROAD__NUMBER_TEXT},
        {"0x10", BROAD__NUMBER_TEXT},
        {"1,5", BROAD__NUMBER_TEXT},
        {"1 2", BROAD__NUMBER_TEXT},
        {"e5", BROAD__NUMBER_TEXT},
        {"1e", BROAD__NUMBER_TEXT},
        {"1e+", BROAD__NUMBER_TEXT},
        {".", BROAD__NUMBER_TEXT},
        {"-", BROAD__NUMBER_MISSING},
        {"#N/A", BROAD__NUMBER_MISSING},
        {"---", BROAD__NUMBER_TEXT},
        {"--1", BROAD__NUMBER_TEXT},
        {"+-1", BROAD__NUMBER_TEXT},
        {"1.2.3", BROAD__NUMBER_TEXT},
        {"nano", BROAD__NUMBER_TEXT},
        {"nan(1)", BROAD__NUMBER_TEXT},
        {"12345678x", BROAD__NUMBER_TEXT},
    };
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        double value = 0;
        broad__number_kind kind = broad__number_read(&value, broad__text_of(cells[i].text));
        if (kind != cells[i].kind) fail_msg("'%s' is read as kind %d", cells[i].text, (int)kind);
    }
}

/* Digits that do not fit the conversion's buffer are refused, not cut. */
static void test_very_long_numbers(void **state)
{
    (void)state;
    size_t count = 100000;
    char *text = malloc(count + 1);
    assert_non_null(text);
    memset(text, '9', count);
    text[count] = 0;
    double value;
    assert_int_equal(broad__number_read(&value, broad__text_of(text)), BROAD__NUMBER_TEXT);
    text[1000] = 0;
    assert_int_equal(broad__number_read(&value, broad__text_of(text)), BROAD__NUMBER_INFINITE);
    text[300] = 0;
    check_exact(text);
    free(text);
}

static void check_print(double value, const char *expected)
{
    char text[BROAD__NUMBER_BYTES];
    double back;
    broad__number_print(text, value);
    if (expected) assert_string_equal(text, expected);
    assert_int_equal(broad__number_read(&back, broad__text_of(text)), BROAD__NUMBER);
    if (back != value) fail_msg("%a is printed as %s", value, text);
}

static void test_print(void **state)
{
    (void)state;
    check_print(3, "3");
    check_print(-1, "-1");
    check_print(-0.0, "0");
    check_print(100000, "100000");
    check_print(0.1, "0.1");
    check_print(1.5, "1.5");
    check_print(1e300, "1e+300");
    check_print(2.0 / 3, "0.6666666666666666");
    uint64_t counter = 1u << 20;
    for (int i = 0; i < 20000; i++) {
        double value;
        uint64_t bits = random_bits(&counter);
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) check_print(value, NULL);
    }
}

/* A locale with a decimal comma: an installed one, or one made for the occasion. */
static const char *comma_locale(const char *folder)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8", "nl_NL.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (setlocale(LC_ALL, names[i])) return names[i];
    char command[HELPER_PATH + 128];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    setenv("LOCPATH", folder, 1);
    return system(command) == 0 ? setlocale(LC_ALL, "de_DE.UTF-8") : NULL;
}

static void test_locale_does_not_matter(void **state)
{
    (void)state;
    char folder[HELPER_PATH];
    temporary_folder(folder);
    const char *found = comma_locale(folder);
    if (found) {
        char comma[8];
        snprintf(comma, sizeof comma, "%.1f", 0.5);
        assert_string_equal(comma, "0,5");
    } else {
        print_message("no locale with a decimal comma can be had here\n");
    }
    double value;
    assert_int_equal(broad__number_read(&value, broad__text_of("1.5")), BROAD__NUMBER);
    assert_true(value == 1.5);
    assert_int_equal(broad__number_read(&value, broad__text_of("1.50000000000000000000000001")), BROAD__NUMBER);
    assert_true(value == 1.5);
    assert_int_equal(broad__number_read(&value, broad__text_of("1,5")), BROAD__NUMBER_TEXT);
    check_print(2.5, "2.5");
    setlocale(LC_ALL, "C");
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_numbers_are_exact),
        cmocka_unit_test(test_ties_are_exact),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_very_long_numbers),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
