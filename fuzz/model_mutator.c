#include "model_mutator.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sample_model.h"
#include "store/fields.h"

enum { LENGTH = 8, TEXT_MOST = 64, GROWTH_MOST = 4096 };

/* A file taken apart: the header, the description inside it, and the tensors. */
typedef struct parts {
    json_t *header, *model;
    unsigned char *data;
    size_t data_bytes;
} parts;

static unsigned draw(unsigned *state, unsigned below)
{
    *state = *state * 1664525u + 1013904223u;
    return below ? (*state >> 8) % below : 0;
}

/* ---- values ---- */

static json_t *other_whole(unsigned *state, json_int_t now)
{
    static const json_int_t known[] = {0,         1, 2, 3, 7, 255, 65536, 1 << 24, 2147483647, (json_int_t)1 << 53,
                                       INT64_MAX, -1};
    unsigned way = draw(state, 4);
    if (way == 0) return json_integer(now == INT64_MAX ? now : now + 1);
    if (way == 1) return json_integer(now == INT64_MIN ? now : now - 1);
    return json_integer(known[draw(state, sizeof known / sizeof known[0])]);
}

static json_t *other_real(unsigned *state, double now)
{
    static const double known[] = {0, -0.0, 1, -1, 0.5, 1e-300, 4.9e-324, 1.7e308, -1.7e308, 1e15};
    if (draw(state, 3) == 0 && isfinite(2 * now)) return json_real(2 * now);
    return json_real(known[draw(state, sizeof known / sizeof known[0])]);
}

/* A word that means something somewhere in a file, or the old one, disturbed. */
static json_t *other_text(unsigned *state, const char *now)
{
    static const char *const known[] = {"",
                                        "auto",
                                        "classify",
                                        "regress",
                                        "bscrls",
                                        "brls",
                                        "bls",
                                        "scn",
                                        "rvfl",
                                        "tanh",
                                        "sigmoid",
                                        "relu",
                                        "linear",
                                        "double",
                                        "float",
                                        "standard",
                                        "rank",
                                        "none",
                                        "joint",
                                        "chain",
                                        "residual",
                                        "loo",
                                        "gcv",
                                        "operator",
                                        "drawn",
                                        "sampled",
                                        "direct",
                                        "10x10",
                                        "18446744073709551615",
                                        "1x0",
                                        "autoencoder"};
    char text[TEXT_MOST];
    size_t length = strlen(now);
    if (draw(state, 2) || length + 8 >= sizeof text)
        return json_string(known[draw(state, sizeof known / sizeof known[0])]);
    memcpy(text, now, length);
    length = LLVMFuzzerMutate((uint8_t *)text, length, sizeof text - 1);
    json_t *made = json_stringn(text, length);
    return made ? made : json_string("");
}

static json_t *other_value(unsigned *state, const json_t *now)
{
    unsigned way = draw(state, 12);
    if (way == 0) return json_null();
    if (way == 1) return json_array();
    if (json_is_integer(now)) return other_whole(state, json_integer_value(now));
    if (json_is_real(now)) return other_real(state, json_real_value(now));
    if (json_is_boolean(now)) return json_boolean(!json_is_true(now));
    if (json_is_string(now)) return other_text(state, json_string_value(now));
    return json_integer(draw(state, 5));
}

/* ---- places ---- */

static void change_object(unsigned *state, json_t *object);

static void change_array(unsigned *state, json_t *array)
{
    size_t count = json_array_size(array), at = draw(state, (unsigned)count);
    unsigned way = draw(state, 8);
    if (!count) {
        json_array_append_new(array, json_integer(draw(state, 9)));
        return;
    }
    json_t *item = json_array_get(array, at);
    if (way == 0) json_array_remove(array, at);
    else if (way == 1) json_array_insert_new(array, at, json_deep_copy(item));
    else if (json_is_object(item)) change_object(state, item);
    else if (json_is_array(item)) change_array(state, item);
    else json_array_set_new(array, at, other_value(state, item));
}

static void change_object(unsigned *state, json_t *object)
{
    size_t count = json_object_size(object), at = draw(state, (unsigned)count);
    void *place = json_object_iter(object);
    while (at-- && place) place = json_object_iter_next(object, place);
    if (!place) return;
    json_t *item = json_object_iter_value(place);
    unsigned way = draw(state, 16);
    if (way == 0) json_object_del(object, json_object_iter_key(place));
    else if (json_is_object(item) && way < 15) change_object(state, item);
    else if (json_is_array(item) && way < 15) change_array(state, item);
    else json_object_iter_set_new(object, place, other_value(state, item));
}

/* ---- tensors ---- */

static void change_numbers(unsigned *state, parts *file)
{
    static const double known[] = {0, -0.0, 1, -1, 1.7e308, -1.7e308, 4.9e-324, 1e15, NAN, INFINITY};
    size_t count = file->data_bytes / sizeof(double);
    if (!count) return;
    size_t at = draw(state, (unsigned)count);
    memcpy(file->data + at * sizeof(double), &known[draw(state, sizeof known / sizeof known[0])], sizeof(double));
}

/* Another shape of one tensor, with the offsets of all behind it, and as many numbers as that makes. */
static void change_shape(unsigned *state, parts *file)
{
    size_t count = json_object_size(file->header), chosen = 1 + draw(state, (unsigned)count - 1), index = 0;
    json_int_t next = 0;
    const char *name;
    json_t *entry;
    if (count < 2) return;
    json_object_foreach(file->header, name, entry)
    {
        if (index++ == 0) continue; /* the metadata */
        json_t *shape = json_object_get(entry, "shape"), *offsets = json_object_get(entry, "data_offsets");
        json_int_t bytes = sizeof(double);
        if (index - 1 == chosen) {
            size_t side = draw(state, (unsigned)json_array_size(shape));
            json_int_t now = json_integer_value(json_array_get(shape, side));
            json_array_set_new(
                shape, side,
                json_integer(now < 1 || (now < 1 << 16 && draw(state, 2)) ? 1 + (now < 0 ? 0 : now) : now - 1));
        }
        for (size_t i = 0; i < json_array_size(shape); i++) {
            json_int_t side = json_integer_value(json_array_get(shape, i));
            if (side < 0 || side > 1 << 16 || bytes > 1 << 24) return;
            bytes *= side;
        }
        json_array_set_new(offsets, 0, json_integer(next));
        json_array_set_new(offsets, 1, json_integer(next += bytes));
    }
    if (next < 0 || (size_t)next > file->data_bytes + GROWTH_MOST) return;
    file->data = realloc(file->data, (size_t)next + 1);
    if ((size_t)next > file->data_bytes) memset(file->data + file->data_bytes, 0, (size_t)next - file->data_bytes);
    file->data_bytes = (size_t)next;
}

/* ---- apart and together ---- */

static int take_apart(parts *out, const uint8_t *bytes, size_t size)
{
    if (size < SAMPLE_HEADER_LEAST) return -1;
    uint64_t length = sample_header_bytes(bytes);
    if (length > size - LENGTH) return -1;
    out->header = json_loadb((const char *)bytes + LENGTH, (size_t)length, 0, NULL);
    const json_t *text = json_object_get(json_object_get(out->header, "__metadata__"), "model");
    if (json_is_string(text)) out->model = json_loads(json_string_value(text), 0, NULL);
    if (!json_is_object(out->header) || !json_is_object(out->model)) return -1;
    out->data_bytes = size - LENGTH - (size_t)length;
    out->data = malloc(out->data_bytes + 1);
    memcpy(out->data, bytes + LENGTH + length, out->data_bytes);
    return 0;
}

static size_t put_together(uint8_t *bytes, size_t room, const parts *file)
{
    char *model = json_dumps(file->model, BROAD__JSON_FLAGS), *header = NULL;
    size_t length = 0, total = 0;
    if (model) json_object_set_new(json_object_get(file->header, "__metadata__"), "model", json_string(model));
    if (model) header = json_dumps(file->header, BROAD__JSON_FLAGS);
    if (header) {
        length = strlen(header);
        total = (length + 7) / 8 * 8;
    }
    if (header && LENGTH + total + file->data_bytes <= room) {
        for (int i = 0; i < LENGTH; i++) bytes[i] = (uint8_t)(total >> 8 * i);
        memset(bytes + LENGTH, ' ', total);
        memcpy(bytes + LENGTH, header, length);
        memcpy(bytes + LENGTH + total, file->data, file->data_bytes);
        sample_repair(bytes, LENGTH + total + file->data_bytes);
        total += LENGTH + file->data_bytes;
    } else total = 0;
    free(header);
    free(model);
    return total;
}

/* ---- in place, which is quicker ---- */

static void change_character(unsigned *state, uint8_t *at)
{
    static const char known[] = "0123456789-+.eE,:[]{}\" ntx";
    if (*at >= '0' && *at <= '9') *at = (uint8_t)('0' + draw(state, 10));
    else if (draw(state, 8) == 0) *at = (uint8_t)known[draw(state, sizeof known - 1)];
    else if (*at >= 'a' && *at <= 'z') *at = (uint8_t)('a' + draw(state, 26));
}

/* Some characters of the header and numbers of the tensors, at the places that they have. */
static size_t change_in_place(unsigned *state, uint8_t *bytes, size_t size)
{
    if (size < SAMPLE_HEADER_LEAST) return 0;
    uint64_t length = sample_header_bytes(bytes);
    if (length > size - LENGTH || !length) return 0;
    parts file = {.data = bytes + LENGTH + length, .data_bytes = size - LENGTH - (size_t)length};
    for (unsigned i = 0, changes = 1 + draw(state, 4); i < changes; i++) {
        if (draw(state, 4) == 0) change_numbers(state, &file);
        else change_character(state, bytes + LENGTH + draw(state, (unsigned)length));
    }
    sample_repair(bytes, size);
    return size;
}

size_t fuzz_mutate_model(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    parts file = {0};
    size_t made = 0;
    unsigned state = seed * 2654435761u + 1;
    if (size > 1 && draw(&state, 2)) made = change_in_place(&state, data + 1, size - 1);
    if (made) return made + 1;
    if (size > 1 && take_apart(&file, data + 1, size - 1) == 0) {
        for (unsigned i = 0, changes = 1 + draw(&state, 3); i < changes; i++) {
            unsigned way = draw(&state, 8);
            if (way == 0) change_numbers(&state, &file);
            else if (way == 1) change_shape(&state, &file);
            else if (way == 2) change_object(&state, file.header);
            else change_object(&state, file.model);
        }
        made = put_together(data + 1, max_size - 1, &file);
        if (made) made++;
    }
    json_decref(file.header);
    json_decref(file.model);
    free(file.data);
    return made;
}
