/* Messages: the newest failure counts, of the tool or the library; and what a terminal may be sent. */
#include "helper.h"
#include "message.h"

static void the_newest_failure_counts(void **state)
{
    (void)state;
    broad_model *model = NULL;
    assert_int_equal(cli_fail(BROAD_USAGE, "from the tool"), BROAD_USAGE);
    assert_string_equal(broad_error_message(), "from the tool");
    assert_int_equal(broad_model_load(&model, "no/such/model.broad"), BROAD_NO_INPUT);
    assert_non_null(strstr(broad_error_message(), "no/such/model.broad"));
    assert_int_equal(cli_fail(BROAD_IO, "again: %s", broad_error_message()), BROAD_IO);
    assert_non_null(strstr(broad_error_message(), "again: no/such/model.broad"));
}

static void assert_printed(const char *text, size_t bytes, const char *keep, const char *expected)
{
    char *shown = NULL;
    size_t count = 0;
    FILE *to = open_memstream(&shown, &count);
    assert_non_null(to);
    cli_put_plain(to, text, bytes, keep);
    assert_int_equal(fclose(to), 0);
    assert_string_equal(shown, expected);
    free(shown);
}

static void control_characters_are_shown(void **state)
{
    (void)state;
    assert_printed("plain, Straße, 太阳", 22, "", "plain, Straße, 太阳");
    assert_printed("\x1b]0;x\x07", 6, "", "\\x1b]0;x\\x07");
    assert_printed("a\nb\tc\r", 6, "\n", "a\nb\\x09c\\x0d");
    assert_printed("\x7f\xc2\x9b\xc2\xa0", 5, "", "\\x7f\\xc2\\x9b\xc2\xa0"); /* DEL, C1, a no-break space */
    assert_printed("\xff\x9b[", 3, "", "\\xff\\x9b[");
    assert_printed("a\0b", 3, "\n", "a\\x00b");
}

/* Every byte that a terminal could obey, in the middle of text. */
static void no_control_byte_passes(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        char text[3] = {'a', (char)byte, 'b'}, *shown = NULL;
        size_t count = 0;
        FILE *to = open_memstream(&shown, &count);
        assert_non_null(to);
        cli_put_plain(to, text, sizeof text, "");
        assert_int_equal(fclose(to), 0);
        for (size_t i = 0; i < count; i++) assert_in_range((unsigned char)shown[i], 0x20, 0x7e);
        assert_int_equal(count, byte >= 0x20 && byte < 0x7f ? 3 : 6);
        free(shown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_failure_counts),
        cmocka_unit_test(control_characters_are_shown),
        cmocka_unit_test(no_control_byte_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
