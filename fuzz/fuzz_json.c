/* The reader of JSON in WebAssembly (js/native/json.c): what it takes can be walked through, copied and emptied. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void must(int holds)
{
    if (!holds) abort();
}

static void walk(json_t *value)
{
    const char *key;
    json_t *item, *copy = json_is_object(value) ? json_copy(value) : NULL;
    if (copy) {
        json_object_foreach(value, key, item)
        {
            must(json_object_get(copy, key) == item);
            walk(item);
            must(json_object_del(copy, key) == 0);
        }
        must(json_object_size(copy) == 0);
        json_decref(copy);
    }
    for (size_t i = 0; i < json_array_size(value); i++) walk(json_array_get(value, i));
    if (json_is_string(value)) must(strlen(json_string_value(value)) == json_string_length(value));
    must(json_number_value(value) - json_number_value(value) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    json_error_t error;
    json_t *value = json_loadb((const char *)bytes, count, JSON_REJECT_DUPLICATES, &error);
    must(!value == (error.text[0] != 0));
    if (value) walk(value);
    json_decref(value);
    return 0;
}
