/* A long text that is taken out of JSON, against jansson, which parses all of it: texts with every escape and every character,
 * damaged ones, and thousands that are put together at random. */
#include "helper.h"

#include <jansson.h>
#include <stdio.h>

#include "base/memory.h"
#include "store/long_text.h"

enum { MOST = 4000, RANDOM = 20000 };
static const char before[] = "{\"a\":\"", after[] = "\",\"b\":[1,\"x\"]}";

/* 1: taken, and equal to what jansson reads; 0: left to it. */
static int taken(const char *inside, size_t inside_bytes)
{
    char json[MOST], *text = NULL, *rest = NULL;
    size_t bytes = 0, rest_bytes = 0;
    memcpy(json, before, sizeof before - 1), bytes += sizeof before - 1;
    memcpy(json + bytes, inside, inside_bytes), bytes += inside_bytes;
    memcpy(json + bytes, after, sizeof after - 1), bytes += sizeof after - 1;

    json_error_t error;
    json_t *whole = json_loadb(json, bytes, JSON_REJECT_DUPLICATES, &error);
    assert_ok(broad__long_text_take(&text, &rest, &rest_bytes, json, bytes, sizeof before - 1));
    assert_int_equal(text != NULL, rest != NULL);
    int was_taken = text != NULL;
    if (was_taken) {
        json_t *without = json_loadb(rest, rest_bytes, JSON_REJECT_DUPLICATES, &error);
        assert_int_equal(whole != NULL, without != NULL); /* what is wrong behind the text is still wrong */
        if (whole) {
            assert_string_equal(json_string_value(json_object_get(whole, "a")), text);
            assert_string_equal(json_string_value(json_object_get(without, "a")), "");
            json_object_del(whole, "a"), json_object_del(without, "a");
            assert_true(json_equal(whole, without));
        }
        json_decref(without);
    }
    json_decref(whole);
    broad__free(text);
    broad__free(rest);
    return was_taken;
}

static int taken_text(const char *inside) { return taken(inside, strlen(inside)); }

static void whole_texts(void **state)
{
    (void)state;
    assert_true(taken_text(""));
    assert_true(taken_text("{\\\"seed\\\":1,\\\"name\\\":\\\"a\\\\\\\\b\\\"}"));
    assert_true(taken_text("\\\"\\\\\\/\\b\\f\\n\\r\\t"));
    assert_true(taken_text("gr\xc3\xb6\xc3\x9f"
                           "e \xe5\xa4\xaa\xe9\x99\xbd \xf0\x9f\x8c\x9e"));
    assert_true(taken_text("ends early\",\"b\":2,\"c\":\"")); /* b twice: refused by jansson, and so without the text */
}

static void left_to_the_parser(void **state)
{
    (void)state;
    assert_false(taken_text("\\u0041"));
    assert_false(taken_text("\\u0000"));
    assert_false(taken_text("\\x"));
    assert_false(taken_text("a\nb"));
    assert_false(taken("a\0b", 3));
    assert_false(taken("a\\\0b", 4));
    assert_false(taken_text("\xc3"));
    assert_false(taken_text("\xed\xa0\x80"));
    assert_false(taken_text("\xf5\x80\x80\x80"));
    char *text = NULL, *rest = NULL;
    size_t bytes = 0;
    static const char *const cut[] = {"{\"a\":\"", "{\"a\":\"abc", "{\"a\":\"abc\\", "{\"a\":\"abc\\\""};
    for (size_t i = 0; i < sizeof cut / sizeof cut[0]; i++) {
        assert_ok(broad__long_text_take(&text, &rest, &bytes, cut[i], strlen(cut[i]), sizeof before - 1));
        assert_null(text);
        assert_null(rest);
    }
}

static void random_texts(void **state)
{
    (void)state;
    static const char *const parts[] = {"a", "\\\"", "\\\\",    "\\n",  "\\/", "\xc3\xa4", "\xe2\x82\xac", "{",
                                        ":", " ",    "\\u0041", "\x7f", "\"",  "\x80",     "\\q",          "\x01"};
    enum { SOUND = 10, PARTS = sizeof parts / sizeof parts[0] };
    uint64_t seed = 1;
    size_t found = 0;
    for (size_t i = 0; i < RANDOM; i++) {
        char inside[400] = "";
        size_t length = i % 60;
        for (size_t k = 0; k < length; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            strcat(inside, parts[(seed >> 33) % (i % 3 ? SOUND : PARTS)]);
        }
        found += (size_t)taken_text(inside);
    }
    assert_in_range(found, RANDOM / 2, RANDOM - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole_texts), cmocka_unit_test(left_to_the_parser),
                                       cmocka_unit_test(random_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
