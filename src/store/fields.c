#include "store/fields.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/enum_names.h"
#include "base/hash.h"
#include "base/json_fault.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/utf8.h"

_Static_assert(sizeof(broad_kind) == sizeof(int), "choices are read and written as int");

enum { SHORT_TEXT = 64 };

int broad__json_fail_memory(void)
{
    return broad__fail(BROAD_NO_MEMORY, "out of memory: the model's JSON has no room");
}

static int lacks_memory(const json_error_t *error, const char *text, size_t count)
{
    return json_error_code(error) == json_error_out_of_memory ||
           broad__json_fault_is_memory(error->text, error->position, text, count);
}

int broad__json_parse(json_t **out, const void *text, size_t count, const char *what)
{
    json_error_t error;
    size_t bytes = 0, first = 0;
    char *wrapped = broad__json_wrap(&bytes, &first, text, count);
    if (!wrapped) return BROAD_NO_MEMORY;
    json_t *pair = json_loadb(wrapped, bytes, JSON_REJECT_DUPLICATES, &error);

    int status = BROAD_OK;
    int short_of_memory =
        pair ? json_string_length(json_array_get(pair, 0)) != first : lacks_memory(&error, wrapped, bytes);
    if (short_of_memory) status = broad__json_fail_memory();
    else if (!pair) status = broad__fail(BROAD_BAD_MODEL, "%s is not valid JSON: %s", what, error.text);
    else if (json_array_size(pair) != 2)
        status = broad__fail(BROAD_BAD_MODEL, "%s is not valid JSON: it has several values", what);
    else *out = json_incref(json_array_get(pair, 1));
    json_decref(pair);
    broad__free(wrapped);
    return status;
}

int broad__json_text(char **out, size_t *out_bytes, const json_t *value)
{
    size_t count = json_dumpb(value, NULL, 0, BROAD__JSON_FLAGS);
    if (count == 0) return broad__json_fail_memory();
    char *text = broad__alloc(count + 1);
    if (!text) return BROAD_NO_MEMORY;
    if (json_dumpb(value, text, count, BROAD__JSON_FLAGS) != count) {
        broad__free(text);
        return broad__json_fail_memory();
    }
    *out = text;
    *out_bytes = count;
    return BROAD_OK;
}

/* ---- text ------------------------------------------------------------------------------------------------------ */

static json_t *bytes_encode(const char *text)
{
    static const char digits[] = "0123456789abcdef";
    size_t length = strlen(text);
    char *hex = broad__alloc_array(length, 2);
    if (!hex) return NULL;
    for (size_t i = 0; i < length; i++) {
        hex[2 * i] = digits[(unsigned char)text[i] >> 4];
        hex[2 * i + 1] = digits[(unsigned char)text[i] & 15];
    }
    json_t *object = json_pack("{s:s%}", "bytes", hex, 2 * length);
    broad__free(hex);
    return object;
}

json_t *broad__text_encode(const char *text)
{
    return broad__utf8_valid(text, strlen(text)) ? json_string_nocheck(text) : bytes_encode(text);
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = c ? strchr(digits, c) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* NUL bytes are refused: what comes after them would be lost. */
static int bytes_decode(char **out, const char *hex, const char *where, const char *name)
{
    size_t length = strlen(hex) / 2;
    char *text = broad__alloc(length + 1);
    if (!text) return BROAD_NO_MEMORY;
    int bad = strlen(hex) % 2 != 0;
    for (size_t i = 0; i < length && !bad; i++) {
        int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);
        bad = high < 0 || low < 0 || (high | low) == 0;
        if (!bad) text[i] = (char)(high << 4 | low);
    }
    if (bad) {
        broad__free(text);
        return broad__fail(BROAD_BAD_MODEL, "%s: %s: bytes are not given as pairs of hexadecimal digits", where, name);
    }
    broad__free(*out);
    *out = text;
    return BROAD_OK;
}

int broad__text_decode(char **out, const json_t *value, const char *where, const char *name)
{
    const json_t *bytes = json_object_size(value) == 1 ? json_object_get(value, "bytes") : NULL;
    if (json_is_string(bytes)) return bytes_decode(out, json_string_value(bytes), where, name);
    if (!json_is_string(value)) return broad__fail(BROAD_BAD_MODEL, "%s: %s is not text", where, name);
    char *text = broad__copy_text(json_string_value(value));
    if (!text) return BROAD_NO_MEMORY;
    broad__free(*out);
    *out = text;
    return BROAD_OK;
}

/* ---- checking -------------------------------------------------------------------------------------------------- */

static const void *place_of(const void *object, size_t offset) { return (const char *)object + offset; }

static void *place_at(void *object, size_t offset) { return (char *)object + offset; }

static int check_range(const broad__field *field, double value, const char *where)
{
    if (isfinite(value) && value >= field->least && value <= field->most) return BROAD_OK;
    char expected[SHORT_TEXT];
    if (field->least == -DBL_MAX) snprintf(expected, sizeof expected, "a finite number");
    else if (field->least == DBL_TRUE_MIN && field->most == DBL_MAX)
        snprintf(expected, sizeof expected, "a number above 0");
    else if (field->most == DBL_MAX) snprintf(expected, sizeof expected, "a number from %.9g up", field->least);
    else snprintf(expected, sizeof expected, "a number from %.9g to %.13g", field->least, field->most);
    return broad__fail(BROAD_BAD_MODEL, "%s: %s is %.9g where %s was expected", where, field->name, value, expected);
}

static int check_list(const broad__field *field, const void *from, const char *where)
{
    size_t count = *(const size_t *)place_of(from, field->partner);
    const double *values = place_of(from, field->offset);
    if (count > BROAD_LIST_MAX)
        return broad__fail(BROAD_BAD_MODEL, "%s: %s has %zu values where %d is the most", where, field->name, count,
                           BROAD_LIST_MAX);
    int status = BROAD_OK;
    for (size_t i = 0; i < count && !status; i++) status = check_range(field, values[i], where);
    return status;
}

static int check_choice(const broad__field *field, const void *from, const char *where)
{
    int value = *(const int *)place_of(from, field->offset);
    if (value >= 0 && value < broad__enum_count(field->choices)) return BROAD_OK;
    return broad__fail(BROAD_BAD_MODEL, "%s: %s is number %d, which is none of %s", where, field->name, value,
                       field->choices);
}

static int check_hash(const broad__field *field, const void *from, const char *where)
{
    const char *text = place_of(from, field->offset);
    size_t digits = 0;
    while (digits < BROAD__HASH_TEXT - 1 && hex_digit(text[digits]) >= 0) digits++;
    if (digits == BROAD__HASH_TEXT - 1 && text[digits] == 0) return BROAD_OK;
    return broad__fail(BROAD_BAD_MODEL, "%s: %s is not a hash of 32 hexadecimal digits", where, field->name);
}

static int field_check(const broad__field *field, const void *from, const char *where)
{
    const void *place = place_of(from, field->offset);
    int status = BROAD_OK;
    switch (field->kind) {
    case BROAD__FIELD_COUNT: return check_range(field, (double)*(const size_t *)place, where);
    case BROAD__FIELD_NUMBER: return check_range(field, *(const double *)place, where);
    case BROAD__FIELD_CHOICE: return check_choice(field, from, where);
    case BROAD__FIELD_LIST: return check_list(field, from, where);
    case BROAD__FIELD_HASH: return check_hash(field, from, where);
    case BROAD__FIELD_PAIR:
        status = check_range(field, (double)*(const size_t *)place, where);
        return status ? status : check_range(field, (double)*(const size_t *)place_of(from, field->partner), where);
    case BROAD__FIELD_TEXT:
        if (*(char *const *)place) return BROAD_OK;
        return broad__fail(BROAD_BAD_MODEL, "%s: %s is not text", where, field->name);
    case BROAD__FIELD_SEED:
    case BROAD__FIELD_FLAG:
    case BROAD__FIELD_TEXT_OR_NULL:
    case BROAD__FIELD_ELSEWHERE: return BROAD_OK;
    }
    return broad__fail(BROAD_BUG, "field %s has no kind", field->name);
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

static json_t *list_encode(const double *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count && list; i++) {
        if (json_array_append_new(list, json_real(values[i])) == 0) continue;
        json_decref(list);
        list = NULL;
    }
    return list;
}

static json_t *field_encode(const broad__field *field, const void *from)
{
    const void *place = place_of(from, field->offset);
    char text[SHORT_TEXT];
    switch (field->kind) {
    case BROAD__FIELD_COUNT: return json_integer((json_int_t) * (const size_t *)place);
    case BROAD__FIELD_NUMBER: return json_real(*(const double *)place);
    case BROAD__FIELD_FLAG: return json_boolean(*(const int *)place);
    case BROAD__FIELD_LIST: return list_encode(place, *(const size_t *)place_of(from, field->partner));
    case BROAD__FIELD_HASH: return json_string(place);
    case BROAD__FIELD_TEXT: return broad__text_encode(*(char *const *)place);
    case BROAD__FIELD_TEXT_OR_NULL:
        return *(char *const *)place ? broad__text_encode(*(char *const *)place) : json_null();
    case BROAD__FIELD_CHOICE: broad__enum_name(text, field->choices, *(const int *)place); return json_string(text);
    case BROAD__FIELD_SEED: snprintf(text, sizeof text, "%" PRIu64, *(const uint64_t *)place); return json_string(text);
    case BROAD__FIELD_PAIR:
        snprintf(text, sizeof text, "%zux%zu", *(const size_t *)place, *(const size_t *)place_of(from, field->partner));
        return json_string(text);
    case BROAD__FIELD_ELSEWHERE: break;
    }
    return NULL;
}

int broad__fields_encode(json_t *object, const void *from, const broad__field *fields, size_t count, const char *where)
{
    for (size_t i = 0; i < count; i++) {
        if (fields[i].kind == BROAD__FIELD_ELSEWHERE) continue;
        int status = field_check(&fields[i], from, where);
        if (status) return status;
        if (json_object_set_new(object, fields[i].name, field_encode(&fields[i], from)) != 0)
            return broad__json_fail_memory();
    }
    return BROAD_OK;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static int fail_type(const broad__field *field, const char *where, const char *expected)
{
    return broad__fail(BROAD_BAD_MODEL, "%s: %s is not %s", where, field->name, expected);
}

static int count_decode(void *to, const broad__field *field, const json_t *value, const char *where)
{
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0) return fail_type(field, where, "a whole number from 0 up");
    *(size_t *)place_at(to, field->offset) = (size_t)number;
    return BROAD_OK;
}

static int list_decode(void *to, const broad__field *field, const json_t *value, const char *where)
{
    double *values = place_at(to, field->offset);
    size_t count = json_array_size(value);
    if (!json_is_array(value) || count > BROAD_LIST_MAX) return fail_type(field, where, "a list of up to 256 numbers");
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(value, i);
        if (!json_is_number(item)) return fail_type(field, where, "a list of up to 256 numbers");
        values[i] = json_number_value(item);
    }
    *(size_t *)place_at(to, field->partner) = count;
    return BROAD_OK;
}

static int choice_decode(void *to, const broad__field *field, const json_t *value, const char *where)
{
    const char *word = json_string_value(value);
    int found = word ? broad__enum_find(field->choices, word) : -1;
    if (found < 0)
        return broad__fail(BROAD_BAD_MODEL, "%s: %s is '%.40s', which is none of %s", where, field->name,
                           word ? word : "no text", field->choices);
    *(int *)place_at(to, field->offset) = found;
    return BROAD_OK;
}

/* A number has one text only, so what is read must print as what was there: no sign, no space, no leading zero. */
static int seed_decode(void *to, const broad__field *field, const json_t *value, const char *where)
{
    char text[SHORT_TEXT];
    const char *given = json_is_string(value) ? json_string_value(value) : "";
    uint64_t seed = strtoull(given, NULL, 10);
    snprintf(text, sizeof text, "%" PRIu64, seed);
    if (strcmp(text, given) != 0) return fail_type(field, where, "a whole number below 2^64 as text");
    *(uint64_t *)place_at(to, field->offset) = seed;
    return BROAD_OK;
}

static int pair_decode(void *to, const broad__field *field, const json_t *value, const char *where)
{
    char text[SHORT_TEXT];
    const char *given = json_is_string(value) ? json_string_value(value) : "";
    char *middle = NULL;
    size_t first = (size_t)strtoull(given, &middle, 10);
    size_t second = *middle ? (size_t)strtoull(middle + 1, NULL, 10) : 0;
    snprintf(text, sizeof text, "%zux%zu", first, second);
    if (strcmp(text, given) != 0) return fail_type(field, where, "two numbers such as 10x10");
    *(size_t *)place_at(to, field->offset) = first;
    *(size_t *)place_at(to, field->partner) = second;
    return BROAD_OK;
}

static int hash_decode(void *to, const broad__field *field, const json_t *value, const char *where)
{
    char *place = place_at(to, field->offset);
    if (json_string_length(value) != BROAD__HASH_TEXT - 1)
        return fail_type(field, where, "a hash of 32 hexadecimal digits");
    memcpy(place, json_string_value(value), BROAD__HASH_TEXT);
    return BROAD_OK;
}

static int field_decode(void *to, const broad__field *field, const json_t *value, const char *where)
{
    void *place = place_at(to, field->offset);
    switch (field->kind) {
    case BROAD__FIELD_COUNT: return count_decode(to, field, value, where);
    case BROAD__FIELD_SEED: return seed_decode(to, field, value, where);
    case BROAD__FIELD_CHOICE: return choice_decode(to, field, value, where);
    case BROAD__FIELD_PAIR: return pair_decode(to, field, value, where);
    case BROAD__FIELD_LIST: return list_decode(to, field, value, where);
    case BROAD__FIELD_HASH: return hash_decode(to, field, value, where);
    case BROAD__FIELD_FLAG:
        if (!json_is_boolean(value)) return fail_type(field, where, "true or false");
        *(int *)place = json_is_true(value);
        return BROAD_OK;
    case BROAD__FIELD_NUMBER:
        if (!json_is_number(value)) return fail_type(field, where, "a number");
        *(double *)place = json_number_value(value);
        return BROAD_OK;
    case BROAD__FIELD_TEXT_OR_NULL:
        if (json_is_null(value)) return BROAD_OK;
        return broad__text_decode(place, value, where, field->name);
    case BROAD__FIELD_TEXT: return broad__text_decode(place, value, where, field->name);
    case BROAD__FIELD_ELSEWHERE: return BROAD_OK;
    }
    return broad__fail(BROAD_BUG, "field %s has no kind", field->name);
}

static int fail_unknown(const json_t *object, const broad__field *fields, size_t count, const char *where)
{
    const char *key = "";
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        size_t i = 0;
        while (i < count && strcmp(fields[i].name, key) != 0) i++;
        if (i == count) break;
    }
    return broad__fail(BROAD_BAD_MODEL, "%s: there is no field '%.60s' in this version of the format", where, key);
}

int broad__fields_decode_later(void *to, const json_t *object, const broad__field *fields, size_t count, size_t later,
                               const char *where)
{
    size_t found = 0;
    if (!json_is_object(object)) return broad__fail(BROAD_BAD_MODEL, "%s is not a JSON object", where);
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_object_get(object, fields[i].name);
        if (!value && i + later >= count) continue;
        if (!value) return broad__fail(BROAD_BAD_MODEL, "%s: %s is missing", where, fields[i].name);
        int status = field_decode(to, &fields[i], value, where);
        if (!status) status = field_check(&fields[i], to, where);
        if (status) return status;
        found++;
    }
    return json_object_size(object) == found ? BROAD_OK : fail_unknown(object, fields, count, where);
}

int broad__fields_decode(void *to, const json_t *object, const broad__field *fields, size_t count, const char *where)
{
    return broad__fields_decode_later(to, object, fields, count, 0, where);
}
