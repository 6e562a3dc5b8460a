/*
 * Model files of every shape up to a bound: kinds, tasks, inputs, outputs, groups, nodes, layers. Each is written, read and
 * written to the same bytes, and the predictor opens it; and with any side of any tensor one larger or one smaller, in a file
 * whose offsets, lengths and checksums are all in order, it is refused.
 */
#include "helper.h"

#include <jansson.h>

#include "base/memory.h"
#include "sample_model.h"
#include "store/fields.h"
#include "store/store.h"

enum { LENGTH = 8 };

typedef struct file {
    unsigned char *bytes;
    size_t count;
} file;

static int possible(const sample_form *form)
{
    const broad__kind *kind = broad__kind_of(form->kind);
    if (form->task == BROAD_TASK_CLASSIFY && form->outputs < 2) return 0;
    if (kind->nodes != BROAD__NODES_FEATURES && (form->groups > 1 || form->group_nodes > 1)) return 0;
    return kind->weights >> form->weights & 1;
}

/* Shapes and offsets from the header `header`, the tensors as long as that makes them; checksums put right. */
static file assemble(json_t *header, const unsigned char *data, size_t data_bytes)
{
    json_int_t next = 0;
    const char *name;
    json_t *entry;
    json_object_foreach(header, name, entry)
    {
        json_t *shape = json_object_get(entry, "shape"), *offsets = json_object_get(entry, "data_offsets");
        json_int_t bytes = sizeof(double);
        if (!shape) continue;
        for (size_t i = 0; i < json_array_size(shape); i++) bytes *= json_integer_value(json_array_get(shape, i));
        json_array_set_new(offsets, 0, json_integer(next));
        json_array_set_new(offsets, 1, json_integer(next += bytes));
    }
    char *text = json_dumps(header, BROAD__JSON_FLAGS);
    size_t length = (strlen(text) + 7) / 8 * 8, total = LENGTH + length + (size_t)next;
    file out = {malloc(total), total};
    memset(out.bytes, 0, total);
    memset(out.bytes + LENGTH, ' ', length);
    for (int i = 0; i < LENGTH; i++) out.bytes[i] = (unsigned char)(length >> 8 * i);
    memcpy(out.bytes + LENGTH, text, strlen(text));
    memcpy(out.bytes + LENGTH + length, data, (size_t)next < data_bytes ? (size_t)next : data_bytes);
    sample_repair(out.bytes, total);
    free(text);
    return out;
}

static size_t refuse_every_side(const void *bytes, size_t count)
{
    size_t length = (size_t)sample_header_bytes(bytes), tried = 0;
    json_t *header = json_loadb((const char *)bytes + LENGTH, length, 0, NULL);
    const unsigned char *data = (const unsigned char *)bytes + LENGTH + length;
    const char *name;
    json_t *entry;
    void *after;
    file same = assemble(header, data, count - LENGTH - length);
    assert_int_equal(same.count, count);
    assert_memory_equal(same.bytes, bytes, count);
    free(same.bytes);
    json_object_foreach_safe(header, after, name, entry)
    {
        json_t *shape = json_object_get(entry, "shape");
        for (size_t i = 0; i < 2 * json_array_size(shape); i++) {
            json_int_t side = json_integer_value(json_array_get(shape, i / 2));
            broad_model *model = NULL;
            broad_predictor *predictor = NULL;
            json_array_set_new(shape, i / 2, json_integer(i % 2 ? side + 1 : side - 1));
            file changed = assemble(header, data, count - LENGTH - length);
            assert_int_equal(broad__store_decode(&model, changed.bytes, changed.count), BROAD_BAD_MODEL);
            assert_int_equal(broad__store_predictor(&predictor, changed.bytes, changed.count), BROAD_BAD_MODEL);
            assert_true(!model && !predictor);
            free(changed.bytes);
            json_array_set_new(shape, i / 2, json_integer(side));
            tried++;
        }
    }
    json_decref(header);
    return tried;
}

static void check_same(const broad_model *model, int compact)
{
    void *once = NULL, *twice = NULL;
    size_t once_bytes = 0, twice_bytes = 0;
    broad_model *back = NULL;
    broad_predictor *predictor = NULL;
    assert_ok(broad__store_encode(&once, &once_bytes, model, compact));
    assert_ok(broad__store_decode(&back, once, once_bytes));
    assert_ok(broad__store_encode(&twice, &twice_bytes, back, compact));
    assert_int_equal(once_bytes, twice_bytes);
    assert_memory_equal(once, twice, once_bytes);
    assert_ok(broad__store_predictor(&predictor, once, once_bytes));
    assert_int_equal(broad_predictor_inputs(predictor), model->inputs);
    assert_int_equal(broad_predictor_outputs(predictor), model->outputs);
    broad_predictor_free(predictor);
    broad_model_free(back);
    broad__free(once);
    broad__free(twice);
}

static void every_model(void **state)
{
    (void)state;
    /* kind, task, weights, then inputs, outputs, groups, nodes of a group, layers, nodes of a layer */
    static const size_t sizes[] = {5, 2, 3, 2, 3, 2, 2, 3, 2};
    enum { COUNTERS = sizeof sizes / sizeof sizes[0] };
    size_t tried = 0, refused = 0, at[COUNTERS];
    for (size_t number = 0;; number++) {
        size_t rest = number;
        for (size_t i = 0; i < COUNTERS; rest /= sizes[i++]) at[i] = rest % sizes[i];
        if (rest) break;
        sample_form form = {.seed = 2 + 2 * (unsigned)(number % 50),
                            .kind = (broad_kind)at[0],
                            .task = at[1] ? BROAD_TASK_REGRESS : BROAD_TASK_CLASSIFY,
                            .weights = (broad_weights)at[2],
                            .inputs = 1 + at[3],
                            .outputs = 1 + at[4],
                            .groups = 1 + at[5],
                            .group_nodes = 1 + at[6],
                            .layers = at[7],
                            .layer_nodes = 1 + at[8]};
        if (!possible(&form) || (HELPER_SANITIZED && number % 7)) continue;
        broad_model *model = sample_model(&form);
        check_same(model, 0);
        check_same(model, 1);
        if (number % 31 == 0) {
            void *bytes = NULL;
            size_t count = 0;
            assert_ok(broad__store_encode(&bytes, &count, model, 0));
            refused += refuse_every_side(bytes, count);
            broad__free(bytes);
        }
        broad_model_free(model);
        tried++;
    }
    assert_true(tried > (HELPER_SANITIZED ? 100 : 1000) && refused > (HELPER_SANITIZED ? 50 : 500));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
