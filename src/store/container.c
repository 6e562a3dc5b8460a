#include "store/container.h"

#include <endian.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "store/fields.h"
#include "store/long_text.h"

/* The header begins with these very bytes: readers of any version find the version where it is here. */
#define START "{\"__metadata__\":{\"format\":\"broad\",\"version\":\""
#define VERSION "1"
#define BEFORE_HEADER_DIGITS START VERSION "\",\"checksum.header\":\""
#define BEFORE_DATA_DIGITS "\",\"checksum.data\":\""
/* What follows as this program writes it, with a word between the two. */
#define BEFORE_WEIGHTS "\",\"weights\":\""
#define BEFORE_MODEL "\",\"model\":\""

enum {
    LENGTH_BYTES = 8,
    ALIGNMENT = 8,
    DIGITS = BROAD__HASH_TEXT - 1,
    HEADER_DIGITS = sizeof BEFORE_HEADER_DIGITS - 1,
    DATA_DIGITS = HEADER_DIGITS + DIGITS + sizeof BEFORE_DATA_DIGITS - 1,
    HEADER_LEAST = DATA_DIGITS + DIGITS + 1,
    HEADER_MOST = 100000000, /* as in the reference implementation */
    MESSAGE_TEXT = 64
};

_Static_assert(LENGTH_BYTES + DATA_DIGITS <= BROAD__CONTAINER_START, "the start of a file has what is at fixed places");

static const char zeros[DIGITS + 1] = "00000000000000000000000000000000";

/* ---- writing --------------------------------------------------------------------------------------------------- */

static int tensor_bytes(size_t *out, const broad__tensor *tensor)
{
    size_t count = tensor->shape[0];
    if (tensor->dims == 2 && broad__multiply(&count, count, tensor->shape[1])) return -1;
    return broad__multiply(out, count, sizeof(double));
}

static json_t *metadata_build(const char *weights, const char *model)
{
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "format", "broad", "version", VERSION, "checksum.header", zeros,
                     "checksum.data", zeros, "weights", weights, "model", model);
}

static json_t *entry_build(const broad__tensor *tensor, size_t begin, size_t end)
{
    json_int_t rows = (json_int_t)tensor->shape[0], columns = (json_int_t)tensor->shape[1];
    if (tensor->dims == 1)
        return json_pack("{s:s,s:[I],s:[I,I]}", "dtype", "F64", "shape", rows, "data_offsets", (json_int_t)begin,
                         (json_int_t)end);
    return json_pack("{s:s,s:[I,I],s:[I,I]}", "dtype", "F64", "shape", rows, columns, "data_offsets", (json_int_t)begin,
                     (json_int_t)end);
}

static int header_build(json_t **out, size_t *out_data_bytes, const char *weights, const char *model,
                        const broad__tensor *tensors, size_t count)
{
    size_t begin = 0, bytes = 0;
    json_t *header = json_object();
    int status = header && json_object_set_new(header, "__metadata__", metadata_build(weights, model)) == 0
                     ? BROAD_OK
                     : broad__json_fail_memory();
    for (size_t i = 0; i < count && !status; i++) {
        if (tensor_bytes(&bytes, &tensors[i]) || bytes > INT64_MAX - begin)
            status = broad__fail(BROAD_NO_MEMORY, "tensor %s is too large", tensors[i].name);
        else if (json_object_set_new(header, tensors[i].name, entry_build(&tensors[i], begin, begin + bytes)) != 0)
            status = broad__json_fail_memory();
        begin += bytes;
    }
    if (status) {
        json_decref(header);
        return status;
    }
    *out = header;
    *out_data_bytes = begin;
    return BROAD_OK;
}

static int fail_not_finite(const broad__tensor *tensor)
{
    const double *values = *tensor->values;
    size_t i = 0;
    while (isfinite(values[i])) i++;
    return broad__fail(BROAD_BAD_MODEL, "tensor %s: value %zu is not finite", tensor->name, i + 1);
}

static int tensor_put(unsigned char *out, const broad__tensor *tensor, size_t count)
{
    const double *values = *tensor->values;
    if (!broad__all_within(values, count, DBL_MAX)) return fail_not_finite(tensor);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        bits = htole64(bits);
        memcpy(out + i * sizeof bits, &bits, sizeof bits);
    }
    return BROAD_OK;
}

static int tensors_put(unsigned char *out, const broad__tensor *tensors, size_t count)
{
    int status = BROAD_OK;
    for (size_t i = 0; i < count && !status; i++) {
        size_t bytes = 0;
        tensor_bytes(&bytes, &tensors[i]); /* fits: header_build() has seen it */
        status = tensor_put(out, &tensors[i], bytes / sizeof(double));
        out += bytes;
    }
    return status;
}

/* The header's checksum is taken over the header in which its own digits are zeros, and the data's are in place. */
static void checksums_put(unsigned char *header, size_t header_bytes, size_t data_bytes)
{
    char digits[BROAD__HASH_TEXT];
    broad__hash_text(digits, header + header_bytes, data_bytes);
    memcpy(header + DATA_DIGITS, digits, DIGITS);
    broad__hash_text(digits, header, header_bytes);
    memcpy(header + HEADER_DIGITS, digits, DIGITS);
}

int broad__container_encode(void **out, size_t *out_bytes, const char *weights, const char *model,
                            const broad__tensor *tensors, size_t count)
{
    json_t *header = NULL;
    unsigned char *bytes = NULL;
    size_t data_bytes = 0, text_bytes = 0, header_bytes = 0;
    int status = header_build(&header, &data_bytes, weights, model, tensors, count);
    if (status) return status;

    text_bytes = json_dumpb(header, NULL, 0, BROAD__JSON_FLAGS);
    if (text_bytes == 0) status = broad__json_fail_memory();
    header_bytes = (text_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (header_bytes > HEADER_MOST)
        status =
            broad__fail(BROAD_BAD_MODEL, "its description has %zu bytes and %d is the most", header_bytes, HEADER_MOST);
    if (status) goto cleanup;
    bytes = broad__alloc_unset(LENGTH_BYTES + header_bytes + data_bytes, 1);
    if (!bytes) status = BROAD_NO_MEMORY;
    if (status) goto cleanup;

    uint64_t length = htole64(header_bytes);
    memcpy(bytes, &length, LENGTH_BYTES);
    memset(bytes + LENGTH_BYTES, ' ', header_bytes);
    if (json_dumpb(header, (char *)bytes + LENGTH_BYTES, text_bytes, BROAD__JSON_FLAGS) != text_bytes)
        status = broad__json_fail_memory();
    if (!status) status = tensors_put(bytes + LENGTH_BYTES + header_bytes, tensors, count);
    if (status) goto cleanup;
    checksums_put(bytes + LENGTH_BYTES, header_bytes, data_bytes);
    *out_bytes = LENGTH_BYTES + header_bytes + data_bytes;
    *out = bytes;
    bytes = NULL;
cleanup:
    broad__free(bytes);
    json_decref(header);
    return status;
}

/* ---- opening --------------------------------------------------------------------------------------------------- */

int broad__container_check_start(const void *bytes, size_t count)
{
    const char *text = (const char *)bytes + LENGTH_BYTES;
    size_t start = sizeof START - 1, digits = 0;
    if (count < LENGTH_BYTES + start || memcmp(text, START, start) != 0)
        return broad__fail(BROAD_BAD_MODEL, "this is not a broad model; give a file that `broad fit` has written");
    text += start;
    count -= LENGTH_BYTES + start;
    while (digits < count && digits < 9 && text[digits] >= '0' && text[digits] <= '9') digits++;
    if (digits == 0 || digits == count || text[digits] != '"')
        return broad__fail(BROAD_BAD_MODEL, "damaged: the version of the format cannot be read");
    if (digits == sizeof VERSION - 1 && memcmp(text, VERSION, digits) == 0) return BROAD_OK;
    return broad__fail(BROAD_BAD_MODEL, "written in version %.*s of the format; this program reads version %s only",
                       (int)digits, text, VERSION);
}

/* Sizes, and the two fixed places. */
static int header_locate(size_t *out_bytes, const unsigned char *bytes, size_t count)
{
    uint64_t length;
    memcpy(&length, bytes, LENGTH_BYTES);
    length = le64toh(length);
    if (length > count - LENGTH_BYTES)
        return broad__fail(BROAD_BAD_MODEL, "damaged or cut short: a header of %ju bytes in a file of %zu",
                           (uintmax_t)length, count);
    if (length > HEADER_MOST || length < HEADER_LEAST || length % ALIGNMENT != 0)
        return broad__fail(BROAD_BAD_MODEL, "damaged: a header of %ju bytes is not possible", (uintmax_t)length);
    const char *text = (const char *)bytes + LENGTH_BYTES;
    if (memcmp(text, BEFORE_HEADER_DIGITS, HEADER_DIGITS) != 0 ||
        memcmp(text + HEADER_DIGITS + DIGITS, BEFORE_DATA_DIGITS, sizeof BEFORE_DATA_DIGITS - 1) != 0)
        return broad__fail(BROAD_BAD_MODEL, "damaged: the checksums are not where they should be");
    *out_bytes = (size_t)length;
    return BROAD_OK;
}

static int header_check(const unsigned char *header, size_t bytes)
{
    char digits[BROAD__HASH_TEXT];
    broad__hash *hash = broad__hash_open();
    if (!hash) return BROAD_NO_MEMORY;
    broad__hash_add(hash, header, HEADER_DIGITS);
    broad__hash_add(hash, zeros, DIGITS);
    broad__hash_add(hash, header + HEADER_DIGITS + DIGITS, bytes - HEADER_DIGITS - DIGITS);
    broad__hash_close(digits, hash);
    if (memcmp(digits, header + HEADER_DIGITS, DIGITS) == 0) return BROAD_OK;
    return broad__fail(BROAD_BAD_MODEL, "damaged: the checksum of the header is wrong");
}

static int data_check(const unsigned char *header, const unsigned char *data, size_t bytes)
{
    char digits[BROAD__HASH_TEXT];
    broad__hash_text(digits, data, bytes);
    if (memcmp(digits, header + DATA_DIGITS, DIGITS) == 0) return BROAD_OK;
    return broad__fail(BROAD_BAD_MODEL, "damaged: the checksum of the weights is wrong");
}

static int metadata_read(broad__container *container)
{
    static const char *const names[] = {"format", "version", "checksum.header", "checksum.data", "weights", "model"};
    enum { NAMES = sizeof names / sizeof names[0] };
    const json_t *metadata = json_object_get(container->header, "__metadata__");
    for (size_t i = 0; i < NAMES; i++)
        if (!json_is_string(json_object_get(metadata, names[i])))
            return broad__fail(BROAD_BAD_MODEL, "__metadata__: %s is missing or not text", names[i]);
    if (json_object_size(metadata) != NAMES)
        return broad__fail(BROAD_BAD_MODEL, "__metadata__: there are %zu fields where %d were expected",
                           json_object_size(metadata), NAMES);
    container->weights = json_string_value(json_object_get(metadata, "weights"));
    container->model = container->taken ? container->taken : json_string_value(json_object_get(metadata, "model"));
    return BROAD_OK;
}

/* What the header says of one tensor. */
typedef struct entry {
    size_t dims, shape[2], begin, end;
} entry;

static int whole_read(size_t *out, const json_t *value)
{
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0) return -1;
    *out = (size_t)number;
    return 0;
}

static int entry_read(entry *out, const json_t *object, const char *name)
{
    const json_t *dtype = json_object_get(object, "dtype");
    const json_t *shape = json_object_get(object, "shape");
    const json_t *offsets = json_object_get(object, "data_offsets");
    if (!dtype || !shape || !offsets || json_object_size(object) != 3)
        return broad__fail(BROAD_BAD_MODEL, "tensor %.60s: not exactly dtype, shape and data_offsets", name);
    if (!json_is_string(dtype) || strcmp(json_string_value(dtype), "F64") != 0)
        return broad__fail(BROAD_BAD_MODEL, "tensor %.60s: dtype is not F64", name);
    *out = (entry){.dims = json_array_size(shape)};
    int bad = out->dims < 1 || out->dims > 2;
    for (size_t i = 0; i < out->dims && !bad; i++) bad = whole_read(&out->shape[i], json_array_get(shape, i));
    if (bad) return broad__fail(BROAD_BAD_MODEL, "tensor %.60s: shape is not one or two whole numbers", name);
    if (json_array_size(offsets) != 2 || whole_read(&out->begin, json_array_get(offsets, 0)) ||
        whole_read(&out->end, json_array_get(offsets, 1)))
        return broad__fail(BROAD_BAD_MODEL, "tensor %.60s: data_offsets are not two whole numbers", name);

    size_t bytes = 0;
    broad__tensor tensor = {.dims = out->dims, .shape = {out->shape[0], out->shape[1]}};
    if (out->begin > out->end || tensor_bytes(&bytes, &tensor) || bytes != out->end - out->begin)
        return broad__fail(BROAD_BAD_MODEL, "tensor %.60s: data_offsets do not fit its shape", name);
    return BROAD_OK;
}

static int is_metadata(const char *key) { return strcmp(key, "__metadata__") == 0; }

/* No holes, no overlap, nothing behind: together the tensors are the data. */
static int entries_check(const broad__container *container)
{
    size_t next = 0;
    const char *name;
    json_t *object;
    json_object_foreach(container->header, name, object)
    {
        if (is_metadata(name)) continue;
        entry read;
        int status = entry_read(&read, object, name);
        if (status) return status;
        if (read.begin != next)
            return broad__fail(BROAD_BAD_MODEL, "tensor %.60s: begins at byte %zu where %zu was expected", name,
                               read.begin, next);
        next = read.end;
    }
    if (next == container->data_bytes) return BROAD_OK;
    return broad__fail(BROAD_BAD_MODEL, "damaged or cut short: %zu bytes of weights where %zu were expected",
                       container->data_bytes, next);
}

int broad__container_header_bytes(size_t *out, const void *start, size_t start_bytes, size_t count)
{
    size_t header_bytes = 0;
    int status = broad__container_check_start(start, start_bytes);
    if (!status) status = header_locate(&header_bytes, start, count);
    if (!status) *out = LENGTH_BYTES + header_bytes;
    return status;
}

/* Where the text of the model begins, if it is where this program writes it; otherwise 0. */
static size_t find_model(const char *header, size_t bytes)
{
    size_t at = DATA_DIGITS + DIGITS, weights = sizeof BEFORE_WEIGHTS - 1, model = sizeof BEFORE_MODEL - 1;
    if (bytes - at < weights || memcmp(header + at, BEFORE_WEIGHTS, weights) != 0) return 0;
    for (at += weights; at < bytes && header[at] >= 'a' && header[at] <= 'z';) at++;
    return bytes - at >= model && memcmp(header + at, BEFORE_MODEL, model) == 0 ? at + model : 0;
}

static int header_parse(broad__container *container, size_t bytes)
{
    const char *text = (const char *)container->text;
    char *rest = NULL;
    size_t rest_bytes = 0, model = find_model(text, bytes);
    int status = model ? broad__long_text_take(&container->taken, &rest, &rest_bytes, text, bytes, model) : BROAD_OK;
    if (!status)
        status = broad__json_parse(&container->header, rest ? rest : text, rest ? rest_bytes : bytes, "the header");
    broad__free(rest);
    return status;
}

int broad__container_open_header(broad__container *out, const void *bytes, size_t count)
{
    size_t before = 0;
    broad__container made = {.text = (const unsigned char *)bytes + LENGTH_BYTES};
    int status = broad__container_header_bytes(&before, bytes, count, count);
    if (!status) status = header_check(made.text, before - LENGTH_BYTES);
    if (!status) status = header_parse(&made, before - LENGTH_BYTES);
    made.data_bytes = count - before;
    if (!status) status = metadata_read(&made);
    if (!status) status = entries_check(&made);
    if (status) broad__container_close(&made);
    else *out = made;
    return status;
}

int broad__container_take_data(broad__container *container, const void *data)
{
    container->data = data;
    return data_check(container->text, data, container->data_bytes);
}

int broad__container_open(broad__container *out, const void *bytes, size_t count)
{
    broad__container made;
    int status = broad__container_open_header(&made, bytes, count);
    if (status) return status;
    status = broad__container_take_data(&made, (const unsigned char *)bytes + count - made.data_bytes);
    if (status) broad__container_close(&made);
    else *out = made;
    return status;
}

void broad__container_close(broad__container *container)
{
    json_decref(container->header);
    broad__free(container->taken);
    *container = (broad__container){0};
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static void shape_print(char out[MESSAGE_TEXT], size_t dims, const size_t shape[2])
{
    if (dims == 1) snprintf(out, MESSAGE_TEXT, "[%zu]", shape[0]);
    else snprintf(out, MESSAGE_TEXT, "[%zu, %zu]", shape[0], shape[1]);
}

static int check_finite(const broad__tensor *tensor, size_t count)
{
    const double *values = *tensor->values;
    for (size_t i = 0; !broad__all_within(values, count, DBL_MAX) && i < count; i++)
        if (!isfinite(values[i]))
            return broad__fail(BROAD_BAD_MODEL, "tensor %s: value %zu is not finite", tensor->name, i + 1);
    return BROAD_OK;
}

/* Numbers in the order of this machine's bytes, at a place where it can read them. */
static int usable_in_place(const unsigned char *bytes)
{
    return htole64(1) == 1 && (uintptr_t)bytes % _Alignof(double) == 0;
}

static int values_copy(double **out, const unsigned char *bytes, size_t count)
{
    double *values = *out = broad__alloc_unset(count, sizeof *values);
    if (!values) return BROAD_NO_MEMORY;
    memcpy(values, bytes, count * sizeof *values);
    for (size_t i = 0; htole64(1) != 1 && i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        bits = le64toh(bits);
        memcpy(&values[i], &bits, sizeof bits);
    }
    return BROAD_OK;
}

/* The file's shape has been held against the bytes that are there, so a shape equal to it is safe to allocate. */
static int tensor_read(const broad__container *container, const broad__tensor *tensor, const json_t *object,
                       broad__in_place in_place)
{
    entry have;
    int status = entry_read(&have, object, tensor->name);
    if (status) return status;
    if (have.dims != tensor->dims || have.shape[0] != tensor->shape[0] || have.shape[1] != tensor->shape[1]) {
        char found[MESSAGE_TEXT], expected[MESSAGE_TEXT];
        shape_print(found, have.dims, have.shape);
        shape_print(expected, tensor->dims, tensor->shape);
        return broad__fail(BROAD_BAD_MODEL, "tensor %s: shape %s where %s was expected", tensor->name, found, expected);
    }
    size_t count = (have.end - have.begin) / sizeof(double);
    const unsigned char *bytes = container->data + have.begin;
    int stays = in_place == BROAD__IN_PLACE_ALL || (in_place == BROAD__IN_PLACE_LARGE && tensor->large);
    if (stays && usable_in_place(bytes)) memcpy(tensor->values, &bytes, sizeof bytes);
    else status = values_copy(tensor->values, bytes, count);
    return status ? status : check_finite(tensor, count);
}

int broad__container_read(const broad__container *container, const broad__tensor *tensors, size_t count,
                          broad__in_place in_place)
{
    size_t i = 0;
    const char *name;
    json_t *object;
    json_object_foreach(container->header, name, object)
    {
        if (is_metadata(name)) continue;
        if (i == count) return broad__fail(BROAD_BAD_MODEL, "tensor %.60s: does not belong to this model", name);
        if (strcmp(name, tensors[i].name) != 0) {
            if (!json_object_get(container->header, tensors[i].name))
                return broad__fail(BROAD_BAD_MODEL, "tensor %s is missing", tensors[i].name);
            return broad__fail(BROAD_BAD_MODEL, "tensor %.60s: stands where %s was expected", name, tensors[i].name);
        }
        int status = tensor_read(container, &tensors[i], object, in_place);
        if (status) return status;
        i++;
    }
    if (i == count) return BROAD_OK;
    return broad__fail(BROAD_BAD_MODEL, "tensor %s is missing", tensors[i].name);
}
