/* UTF-8 against a plain decoder, over all characters and all short byte sequences; and by hand where sequences go wrong. */
#include "helper.h"

#include "base/utf8.h"

/* Decodes by arithmetic on the code point. 0: no character. */
static size_t plain_length(const unsigned char *text, size_t count)
{
    static const unsigned smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = text[0] < 0x80 ? 1 : text[0] >> 5 == 6 ? 2 : text[0] >> 4 == 14 ? 3 : text[0] >> 3 == 30 ? 4 : 0;
    if (length < 2) return length;
    if (count < length) return 0;
    unsigned value = text[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (text[i] >> 6 != 2) return 0;
        value = value << 6 | (text[i] & 0x3Fu);
    }
    return value < smallest[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF) ? 0 : length;
}

static void agrees_with_a_plain_decoder(void **state)
{
    (void)state;
    static const unsigned char last[] = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF};
    size_t valid = 0;
    for (unsigned first = 0; first < 256; first++)
        for (unsigned second = 0; second < 256; second++)
            for (size_t third = 0; third < sizeof last; third++)
                for (size_t fourth = 0; fourth < sizeof last; fourth++)
                    for (size_t count = 1; count <= 4; count++) {
                        unsigned char text[4] = {(unsigned char)first, (unsigned char)second, last[third],
                                                 last[fourth]};
                        size_t length = plain_length(text, count);
                        assert_int_equal(broad__utf8_length((const char *)text, count), length);
                        valid += length > 0;
                    }
    assert_true(valid > 100000);
}

static void test_sequences(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t count;
        int valid;
    } cases[] = {
        {"", 0, 1},
        {"plain", 5, 1},
        {"\xC3\xA9", 2, 1},           /* U+00E9 */
        {"\xE2\x82\xAC", 3, 1},       /* U+20AC */
        {"\xF0\x9F\x98\x80", 4, 1},   /* U+1F600 */
        {"\xF4\x8F\xBF\xBF", 4, 1},   /* U+10FFFF */
        {"a\0b", 3, 1},               /* a zero byte is a character */
        {"\xC0\xAF", 2, 0},           /* overlong, two bytes */
        {"\xE0\x80\xAF", 3, 0},       /* overlong, three bytes */
        {"\xF0\x80\x80\xAF", 4, 0},   /* overlong, four bytes */
        {"\xED\xA0\x80", 3, 0},       /* surrogate U+D800 */
        {"\xED\xBF\xBF", 3, 0},       /* surrogate U+DFFF */
        {"\xF4\x90\x80\x80", 4, 0},   /* U+110000 */
        {"\xF5\x80\x80\x80", 4, 0},   /* no such first byte */
        {"\x80", 1, 0},               /* continuation alone */
        {"\xC3", 1, 0},               /* truncated */
        {"\xE2\x82", 2, 0},           /* truncated */
        {"\xF0\x9F\x98", 3, 0},       /* truncated */
        {"good \xE2\x82 not", 10, 0}, /* broken off in the middle */
        {"\xFF\xFE", 2, 0},           /* a byte-order mark of UTF-16 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(broad__utf8_valid(cases[i].text, cases[i].count), cases[i].valid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_a_plain_decoder),
        cmocka_unit_test(test_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
