/* The model file: what is saved comes back, equal models give equal bytes, and nothing damaged or made up is taken. */
#include "folder.h"

#include <errno.h>
#include <float.h>
#include <jansson.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "rng/philox.h"
#include "sample_model.h"
#include "store/store.h"

static const sample_form small_form = {.seed = 1,
                                       .task = BROAD_TASK_CLASSIFY,
                                       .inputs = 2,
                                       .outputs = 3,
                                       .groups = 2,
                                       .group_nodes = 1,
                                       .layers = 2,
                                       .layer_nodes = 2};

/* What the small model is not: every other kind of nodes and of weights. */
static const sample_form finally_form = {.seed = 2,
                                         .task = BROAD_TASK_CLASSIFY,
                                         .inputs = 2,
                                         .outputs = 2,
                                         .groups = 1,
                                         .group_nodes = 2,
                                         .layers = 2,
                                         .layer_nodes = 1,
                                         .kind = BROAD_KIND_BRLS,
                                         .weights = BROAD_WEIGHTS_JOINT,
                                         .class_weights = 1};
static const sample_form fitted_form = {.seed = 3,
                                        .task = BROAD_TASK_CLASSIFY,
                                        .inputs = 2,
                                        .outputs = 2,
                                        .groups = 2,
                                        .group_nodes = 1,
                                        .layers = 1,
                                        .layer_nodes = 2,
                                        .kind = BROAD_KIND_BLS,
                                        .weights = BROAD_WEIGHTS_JOINT,
                                        .features = BROAD_FEATURE_WEIGHTS_AUTOENCODER};
static const sample_form linked_form = {.seed = 4,
                                        .task = BROAD_TASK_REGRESS,
                                        .inputs = 3,
                                        .outputs = 1,
                                        .layers = 2,
                                        .layer_nodes = 2,
                                        .kind = BROAD_KIND_RVFL,
                                        .weights = BROAD_WEIGHTS_JOINT};
static const sample_form hidden_form = {.seed = 5,
                                        .task = BROAD_TASK_REGRESS,
                                        .inputs = 2,
                                        .outputs = 1,
                                        .layers = 2,
                                        .layer_nodes = 1,
                                        .kind = BROAD_KIND_SCN,
                                        .weights = BROAD_WEIGHTS_WINDOW};

static const sample_form metric_form = {.seed = 6,
                                        .task = BROAD_TASK_REGRESS,
                                        .inputs = 2,
                                        .outputs = 1,
                                        .groups = 1,
                                        .group_nodes = 2,
                                        .layers = 1,
                                        .layer_nodes = 1,
                                        .metric = 1};
static const sample_form wide_form = {.seed = 6,
                                      .task = BROAD_TASK_REGRESS,
                                      .inputs = 513,
                                      .outputs = 1,
                                      .groups = 1,
                                      .group_nodes = 2,
                                      .layers = 1,
                                      .layer_nodes = 1,
                                      .metric = 2};

static sample_form random_form(unsigned seed)
{
    sample_form form = {.seed = seed,
                        .task = seed % 2 ? BROAD_TASK_CLASSIFY : BROAD_TASK_REGRESS,
                        .inputs = 1 + seed % 7,
                        .outputs = seed % 2 ? 2 + seed % 5 : 1 + seed % 3,
                        .groups = 1 + seed % 4,
                        .group_nodes = 1 + seed % 6,
                        .layers = seed % 6,
                        .layer_nodes = 1 + seed % 9,
                        .late_groups = seed % 6 > 1 && seed % 3 == 0 ? 2 : 0,
                        .kind = (broad_kind)(seed / 2 % 5),
                        .weights = (broad_weights)(seed / 10 % 3)};
    const broad__kind *kind = broad__kind_of(form.kind);
    if (kind->nodes != BROAD__NODES_FEATURES) form.late_groups = 0;
    else form.features = seed % 4 == 3 ? BROAD_FEATURE_WEIGHTS_AUTOENCODER : BROAD_FEATURE_WEIGHTS_RANDOM;
    while (!(kind->weights >> form.weights & 1)) form.weights = (form.weights + 1) % 3;
    if (kind->nodes == BROAD__NODES_FEATURES && form.features == BROAD_FEATURE_WEIGHTS_RANDOM)
        form.metric = (int)(seed / 5 % 3);
    form.class_weights = form.task == BROAD_TASK_CLASSIFY && seed % 3 == 0;
    return form;
}

/* ---- equality, field by field ---------------------------------------------------------------------------------- */

#define SAME_NUMBER(field) assert_memory_equal(&a->field, &b->field, sizeof(double))
#define SAME_WHOLE(field) assert_true(a->field == b->field)

static void same_doubles(const double *a, const double *b, size_t count)
{
    assert_memory_equal(a, b, count * sizeof *a);
}

/* Both or none. */
static void same_block(const double *a, const double *b, size_t count)
{
    assert_true((a == NULL) == (b == NULL));
    if (a) same_doubles(a, b, count);
}

static void same_text(const char *a, const char *b)
{
    assert_true((a == NULL) == (b == NULL));
    if (a) assert_string_equal(a, b);
}

static void same_settings(const broad_options *a, const broad_options *b)
{
    SAME_WHOLE(size);
    SAME_WHOLE(kind);
    SAME_WHOLE(metric);
    SAME_WHOLE(effort);
    SAME_WHOLE(preset);
    SAME_WHOLE(seed);
    SAME_WHOLE(feature_groups);
    SAME_WHOLE(feature_nodes);
    SAME_WHOLE(enhance_nodes);
    SAME_WHOLE(activation);
    SAME_WHOLE(feature_activation);
    SAME_WHOLE(precision);
    SAME_WHOLE(scale);
    SAME_WHOLE(scale_target);
    SAME_WHOLE(lambda_auto);
    SAME_NUMBER(lambda);
    SAME_WHOLE(range_auto);
    SAME_NUMBER(range);
    SAME_WHOLE(range_unit);
    SAME_WHOLE(supervise);
    SAME_WHOLE(gamma_form);
    SAME_WHOLE(gamma_count);
    same_doubles(a->gamma, b->gamma, BROAD_LIST_MAX);
    SAME_WHOLE(tries);
    SAME_WHOLE(range_steps_count);
    same_doubles(a->range_steps, b->range_steps, BROAD_LIST_MAX);
    SAME_NUMBER(relax);
    SAME_WHOLE(relax_count);
    SAME_WHOLE(select);
    SAME_WHOLE(weights);
    SAME_WHOLE(window);
    SAME_WHOLE(loo);
    SAME_WHOLE(feature_weights);
    SAME_NUMBER(sparse_lambda);
    SAME_WHOLE(sparse_steps);
}

static void same_certificate(const broad__certificate *a, const broad__certificate *b)
{
    SAME_WHOLE(origin);
    SAME_WHOLE(test);
    SAME_WHOLE(rows);
    SAME_NUMBER(gamma);
    SAME_NUMBER(mu);
    SAME_NUMBER(bound);
    SAME_NUMBER(norm_before);
    SAME_NUMBER(norm_after);
    SAME_NUMBER(ratio);
    SAME_NUMBER(tested);
    SAME_NUMBER(lambda);
    SAME_NUMBER(range);
    SAME_WHOLE(step);
    SAME_WHOLE(draw);
    SAME_WHOLE(tries);
    SAME_WHOLE(relaxed);
    SAME_WHOLE(passed);
    assert_string_equal(a->weights, b->weights);
}

static void same_layers(const broad_model *left, const broad_model *right)
{
    assert_int_equal(left->layer_count, right->layer_count);
    for (size_t j = 0; j < left->layer_count; j++) {
        const broad__layer *a = &left->layers[j], *b = &right->layers[j];
        SAME_WHOLE(inputs);
        SAME_WHOLE(nodes);
        SAME_WHOLE(first_group);
        SAME_WHOLE(groups);
        SAME_WHOLE(width);
        same_doubles(a->weight, b->weight, a->inputs * a->nodes);
        same_doubles(a->bias, b->bias, a->nodes);
        same_doubles(a->output, b->output, a->width * left->outputs);
        same_block(a->joint, b->joint, a->width * left->outputs);
        same_certificate(&a->certificate, &b->certificate);
    }
}

static void same_groups(const broad_model *left, const broad_model *right)
{
    assert_int_equal(left->group_count, right->group_count);
    for (size_t i = 0; i < left->group_count; i++) {
        const broad__group *a = &left->groups[i], *b = &right->groups[i];
        SAME_WHOLE(source);
        SAME_WHOLE(nodes);
        SAME_WHOLE(step);
        SAME_NUMBER(range);
        same_block(a->weight, b->weight, left->inputs * a->nodes);
        same_block(a->bias, b->bias, a->nodes);
    }
}

static void same_sources(const broad__trained_files *a, const broad__trained_files *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        same_text(a->items[i].path, b->items[i].path);
        same_text(a->items[i].labels, b->items[i].labels);
        assert_int_equal(a->items[i].rows, b->items[i].rows);
        assert_int_equal(a->items[i].photo_count, b->items[i].photo_count);
        for (size_t k = 0; k < a->items[i].photo_count; k++) {
            const broad__trained_photo *one = &a->items[i].photos[k], *other = &b->items[i].photos[k];
            same_text(one->file, other->file);
            assert_string_equal(one->content, other->content);
            assert_int_equal(one->rows, other->rows);
            assert_int_equal(one->held_out, other->held_out);
            assert_int_equal(one->target, other->target);
        }
    }
}

static void same_places(const broad__places *a, const broad__places *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(a->items[i].role, b->items[i].role);
        assert_int_equal(a->items[i].first, b->items[i].first);
        assert_int_equal(a->items[i].count, b->items[i].count);
    }
}

static void same_model(const broad_model *a, const broad_model *b)
{
    SAME_WHOLE(task);
    SAME_WHOLE(inputs);
    SAME_WHOLE(outputs);
    SAME_WHOLE(named);
    SAME_WHOLE(positive);
    SAME_WHOLE(normal);
    SAME_WHOLE(normal_from);
    SAME_WHOLE(missing);
    SAME_NUMBER(range);
    SAME_WHOLE(outcome);
    SAME_WHOLE(rows);
    SAME_WHOLE(segment_count);
    SAME_NUMBER(split_holdout);
    SAME_WHOLE(split_seed);
    SAME_NUMBER(first_norm);
    for (size_t i = 0; i < a->inputs; i++) assert_string_equal(a->input_names[i], b->input_names[i]);
    for (size_t i = 0; i < a->outputs; i++) assert_string_equal(a->output_names[i], b->output_names[i]);
    same_text(a->target_name, b->target_name);
    same_text(a->group_name, b->group_name);
    same_text(a->reason, b->reason);
    for (size_t i = 0; i < a->segment_count; i++) {
        SAME_WHOLE(segments[i].rows);
        SAME_NUMBER(segments[i].weight);
        assert_string_equal(a->segments[i].fingerprint, b->segments[i].fingerprint);
    }
    same_doubles(a->input_shift, b->input_shift, a->inputs);
    same_doubles(a->input_factor, b->input_factor, a->inputs);
    same_doubles(a->input_fill, b->input_fill, a->inputs);
    same_doubles(a->output_shift, b->output_shift, a->outputs);
    same_doubles(a->output_factor, b->output_factor, a->outputs);
    same_block(a->class_weights, b->class_weights, a->outputs);
    SAME_WHOLE(has_relevance);
    SAME_WHOLE(has_root);
    SAME_NUMBER(optimism);
    SAME_NUMBER(pilot[BROAD__STYLE_SPARSE]);
    same_block(a->relevance, b->relevance, a->inputs);
    same_block(a->root, b->root, a->inputs * a->inputs);
    SAME_WHOLE(joint.present);
    SAME_NUMBER(joint.lambda);
    SAME_NUMBER(joint.norm);
    assert_string_equal(a->joint.weights, b->joint.weights);
    same_settings(&a->settings, &b->settings);
    same_groups(a, b);
    same_layers(a, b);
    same_sources(&a->sources, &b->sources);
    same_places(&a->places, &b->places);
}

/* ---- round trips ----------------------------------------------------------------------------------------------- */

static void check_round_trip(const broad_model *model, int compact)
{
    void *bytes = NULL, *again = NULL;
    size_t count = 0, count_again = 0;
    broad_model *back = NULL;
    assert_ok(broad_model_to_memory(&bytes, &count, model, compact));
    assert_ok(broad_model_from_memory(&back, bytes, count));
    same_model(model, back);
    assert_int_equal(back->settings.enhance_layers, model->layer_count);
    assert_ok(broad_model_to_memory(&again, &count_again, back, compact));
    assert_int_equal(count, count_again);
    assert_memory_equal(bytes, again, count);
    broad_model_free(back);
    broad_free(bytes);
    broad_free(again);
}

static void test_round_trip(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 120; seed++) {
        sample_form form = random_form(seed);
        broad_model *model = sample_model(&form);
        check_round_trip(model, 0);
        check_round_trip(model, 1);
        broad_model_free(model);
    }
}

/* Numbers that lose digits easily; texts that JSON has no string for. */
static void test_extremes(void **state)
{
    (void)state;
    broad_model *model = sample_model(&small_form);
    broad__certificate *c = &model->layers[0].certificate;
    c->gamma = -0.0;
    c->mu = -DBL_MAX;
    c->bound = DBL_TRUE_MIN;
    c->norm_before = DBL_MAX;
    c->norm_after = nextafter(1, 2);
    c->ratio = 0.1 + 0.2;
    c->tested = 1e22;
    c->lambda = 5e-324;
    c->step = model->settings.range_steps_count - 1;
    c->draw = 65535;
    broad__layer_draw(&model->layers[0], model, 0);
    model->layers[0].output[0] = -0.0;
    model->layers[0].output[1] = DBL_TRUE_MIN;
    model->settings.seed = UINT64_MAX;
    broad__free(model->reason);
    model->reason = broad__copy_text("\xFF\x01");
    broad__free(model->target_name);
    model->target_name = NULL;
    check_round_trip(model, 0);
    broad_model_free(model);
}

/* Of what only says how to work, nothing is kept. */
static void test_bytes_do_not_depend_on_the_run(void **state)
{
    (void)state;
    broad_model *model = sample_model(&small_form);
    void *bytes = NULL, *again = NULL;
    size_t count = 0, count_again = 0;
    assert_ok(broad_model_to_memory(&bytes, &count, model, 0));
    model->settings.threads = 7;
    model->settings.enhance_layers = 99;
    model->settings.positive = "a text";
    model->settings.progress_context = model;
    assert_ok(broad_model_to_memory(&again, &count_again, model, 0));
    assert_int_equal(count, count_again);
    assert_memory_equal(bytes, again, count);
    broad_free(again);
    model->settings.seed++;
    assert_ok(broad_model_to_memory(&again, &count_again, model, 0));
    assert_true(count != count_again || memcmp(bytes, again, count) != 0);
    broad_free(again);
    broad_free(bytes);
    broad_model_free(model);
}

/* The map from seed to weights as docs/model-format.md has it, number by number. */
static void test_seed_map(void **state)
{
    (void)state;
    sample_form form = {.seed = 5,
                        .task = BROAD_TASK_REGRESS,
                        .inputs = 700,
                        .outputs = 1,
                        .groups = 2,
                        .group_nodes = 3,
                        .layers = 2,
                        .layer_nodes = 4};
    broad_model *model = sample_model(&form);
    for (int unit = 0; unit < 2; unit++) {
        model->settings.range_unit = (broad_range_unit)unit;
        broad__group *group = &model->groups[1];
        broad__layer *layer = &model->layers[1];
        broad__group_draw(group, model, 1);
        broad__layer_draw(layer, model, 1);
        broad__stream f = {model->settings.seed, BROAD__FOR_FEATURES, 1, (uint16_t)group->step, 0};
        broad__stream h = {model->settings.seed, BROAD__FOR_ENHANCEMENT, 1, (uint16_t)layer->certificate.step,
                           (uint16_t)layer->certificate.draw};
        double range = model->range * group->range;
        for (size_t node = 0; node < group->nodes; node++) {
            for (size_t i = 0; i < 700; i++) {
                double w = (2 * broad__random_at(&f, node * 701 + i) - 1) * (unit ? range * sqrt(3.0 / 700) : range);
                assert_true(group->weight[i * group->nodes + node] == w);
            }
            assert_true(group->bias[node] == (2 * broad__random_at(&f, node * 701 + 700) - 1) * range);
        }
        range = model->range * layer->certificate.range;
        size_t fan_in = layer->inputs;
        double scale = unit ? range * sqrt(3.0 / (double)fan_in) : range;
        for (size_t node = 0; node < layer->nodes; node++)
            for (size_t i = 0; i < fan_in; i++)
                assert_true(layer->weight[i * layer->nodes + node] ==
                            (2 * broad__random_at(&h, node * (fan_in + 1) + i) - 1) * scale);
    }
    broad_model_free(model);
}

static void test_json(void **state)
{
    (void)state;
    broad_model *model = sample_model(&small_form);
    char *text = NULL;
    assert_ok(broad_model_json(&text, model));
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(object);
    assert_string_equal(json_string_value(json_object_get(object, "task")), "classify");
    assert_string_equal(json_string_value(json_object_get(json_object_get(object, "settings"), "features")), "3x7");
    const json_t *layer = json_array_get(json_object_get(object, "layers"), 1);
    assert_true(json_real_value(json_object_get(layer, "ratio")) == model->layers[1].certificate.ratio);
    json_decref(object);
    broad_free(text);
    broad_model_free(model);
}

/* ---- the container, by its own rules --------------------------------------------------------------------------- */

/* Walks the file as the safetensors format says, and returns the header. */
static json_t *walk_container(const unsigned char *bytes, size_t count, size_t *out_data)
{
    size_t header = (size_t)sample_header_bytes(bytes), next = 0;
    assert_true(header <= count - 8);
    assert_int_equal((8 + header) % 8, 0);
    assert_int_equal(bytes[8], '{');
    json_t *object = json_loadb((const char *)bytes + 8, header, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(object);
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        if (strcmp(name, "__metadata__") == 0) continue;
        const json_t *offsets = json_object_get(value, "data_offsets"), *shape = json_object_get(value, "shape");
        size_t elements = 1;
        for (size_t i = 0; i < json_array_size(shape); i++)
            elements *= (size_t)json_integer_value(json_array_get(shape, i));
        assert_string_equal(json_string_value(json_object_get(value, "dtype")), "F64");
        assert_int_equal(json_integer_value(json_array_get(offsets, 0)), next);
        next += 8 * elements;
        assert_int_equal(json_integer_value(json_array_get(offsets, 1)), next);
    }
    json_object_foreach(json_object_get(object, "__metadata__"), name, value) assert_true(json_is_string(value));
    assert_int_equal(8 + header + next, count);
    *out_data = 8 + header;
    return object;
}

static void test_container(void **state)
{
    (void)state;
    broad_model *model = sample_model(&small_form);
    void *bytes = NULL;
    size_t count = 0, data = 0;
    assert_ok(broad_model_to_memory(&bytes, &count, model, 0));
    json_t *header = walk_container(bytes, count, &data);
    assert_int_equal(json_object_size(header), 1 + 5 + 2 * 2 + 2 * 3);
    assert_memory_equal((char *)bytes + data, model->input_shift, 2 * sizeof(double));
    const json_t *output = json_object_get(json_object_get(header, "layer.2.output"), "data_offsets");
    size_t begin = (size_t)json_integer_value(json_array_get(output, 0));
    assert_memory_equal((char *)bytes + data + begin, model->layers[1].output,
                        model->layers[1].width * model->outputs * sizeof(double));
    json_decref(header);
    broad_free(bytes);

    assert_ok(broad_model_to_memory(&bytes, &count, model, 1));
    header = walk_container(bytes, count, &data);
    assert_int_equal(json_object_size(header), 1 + 5 + 2);
    assert_null(json_object_get(header, "feature.1.weight"));
    json_decref(header);
    broad_free(bytes);
    broad_model_free(model);
}

static size_t count_tensors(const sample_form *form, int compact, const char *present, const char *absent)
{
    broad_model *model = sample_model(form);
    void *bytes = NULL;
    size_t count = 0, data = 0;
    assert_ok(broad_model_to_memory(&bytes, &count, model, compact));
    json_t *header = walk_container(bytes, count, &data);
    assert_non_null(json_object_get(header, present));
    assert_null(json_object_get(header, absent));
    size_t tensors = json_object_size(header) - 1;
    json_decref(header);
    broad_free(bytes);
    broad_model_free(model);
    return tensors;
}

/* Which tensors a file has follows from its kind: fitted weights are always there, the inputs themselves have none. */
static void test_tensors_of_kinds(void **state)
{
    (void)state;
    assert_int_equal(count_tensors(&finally_form, 0, "layer.2.joint", "layer.3.joint"), 6 + 2 + 2 * 4);
    assert_int_equal(count_tensors(&finally_form, 1, "class.weight", "feature.1.weight"), 6 + 2 * 2);
    assert_int_equal(count_tensors(&fitted_form, 0, "feature.2.bias", "class.weight"), 5 + 4 + 3);
    assert_int_equal(count_tensors(&fitted_form, 1, "feature.2.bias", "layer.1.weight"), 5 + 4 + 1);
    assert_int_equal(count_tensors(&linked_form, 0, "layer.1.weight", "feature.1.weight"), 5 + 2 * 3);
    assert_int_equal(count_tensors(&hidden_form, 1, "layer.2.output", "layer.2.joint"), 5 + 2);
}

static void test_list_tensors(void **state)
{
    (void)state;
    const char *source = getenv("BROAD_SOURCE_DIR"), *python = getenv("BROAD_PYTHON");
    if (!source || !python || !*python) skip();
    char path[HELPER_PATH], command[3 * HELPER_PATH], text[4096] = "";
    broad_model *model = sample_model(&small_form);
    join_path(path, folder, "model.broad");
    assert_ok(broad_model_save(model, path, 0));
    snprintf(command, sizeof command, "'%s' '%s/scripts/list_tensors.py' '%s'", python, source, path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t got = fread(text, 1, sizeof text - 1, pipe);
    assert_int_equal(pclose(pipe), 0);
    text[got] = 0;
    assert_non_null(strstr(text, "input.shift F64 [2] 0 16\n"));
    assert_non_null(strstr(text, "feature.2.weight F64 [2, 2] "));
    assert_non_null(strstr(text, "layer.1.output F64 [5, 3] "));
    broad_model_free(model);
}

/* ---- damage ---------------------------------------------------------------------------------------------------- */

static void refuse(const void *bytes, size_t count, const char *what, size_t place)
{
    broad_model *back = NULL;
    int status = broad_model_from_memory(&back, bytes, count);
    if (status == BROAD_BAD_MODEL && !back && broad_error_message()[0]) return;
    fail_msg("%s %zu: status %d, %s", what, place, status, broad_error_message());
}

static void check_damage(const sample_form *form, int compact)
{
    broad_model *model = sample_model(form);
    void *made = NULL;
    size_t count = 0;
    assert_ok(broad_model_to_memory(&made, &count, model, compact));
    unsigned char *bytes = malloc(count + 8);
    memcpy(bytes, made, count);
    memset(bytes + count, 0, 8);
    for (size_t bit = 0; bit < 8 * count; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        refuse(bytes, count, "flipped bit", bit);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    for (size_t cut = 0; cut < count; cut++) {
        unsigned char *exact = malloc(cut + !cut); /* so that reading past the end shows */
        memcpy(exact, bytes, cut);
        refuse(exact, cut, "cut at byte", cut);
        free(exact);
    }
    for (size_t more = 1; more <= 8; more++) refuse(bytes, count + more, "bytes appended:", more);
    broad_model *back = NULL;
    assert_ok(broad_model_from_memory(&back, bytes, count));
    broad_model_free(back);
    broad_model_free(model);
    broad_free(made);
    free(bytes);
}

static void test_damage(void **state)
{
    (void)state;
    check_damage(&small_form, 0);
    check_damage(&small_form, 1);
    check_damage(&finally_form, 1);
}

/* ---- made-up models, with good checksums ----------------------------------------------------------------------- */

/* A file taken apart; put together again with whatever was done to its parts. */
typedef struct parts {
    json_t *header, *model;
    unsigned char *data;
    size_t data_bytes;
} parts;

static parts take_apart(const sample_form *form, int compact)
{
    broad_model *model = sample_model(form);
    unsigned char *bytes = NULL;
    size_t count = 0, data = 0;
    parts p = {0};
    assert_ok(broad_model_to_memory((void **)&bytes, &count, model, compact));
    p.header = walk_container(bytes, count, &data);
    p.data_bytes = count - data;
    p.data = malloc(p.data_bytes + 64);
    memcpy(p.data, bytes + data, p.data_bytes);
    const json_t *metadata = json_object_get(p.header, "__metadata__");
    p.model = json_loads(json_string_value(json_object_get(metadata, "model")), 0, NULL);
    assert_non_null(p.model);
    broad_free(bytes);
    broad_model_free(model);
    return p;
}

static void drop_parts(parts *p)
{
    json_decref(p->header);
    json_decref(p->model);
    free(p->data);
}

/* The text of the header; `p` keeps what it had. */
static char *header_text(parts *p)
{
    size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(17);
    json_t *metadata = json_object_get(p->header, "__metadata__");
    if (json_is_string(json_object_get(metadata, "model")) && p->model) {
        char *model = json_dumps(p->model, flags | JSON_ENCODE_ANY);
        json_object_set_new(metadata, "model", json_string(model));
        free(model);
    }
    return json_dumps(p->header, flags);
}

static unsigned char *put_together(size_t *out_bytes, const char *text, const unsigned char *data, size_t data_bytes)
{
    size_t length = strlen(text), header = (length + 7) / 8 * 8;
    unsigned char *bytes = malloc(8 + header + data_bytes);
    for (size_t i = 0; i < 8; i++) bytes[i] = (unsigned char)(header >> 8 * i);
    memset(bytes + 8, ' ', header);
    memcpy(bytes + 8, text, length);
    memcpy(bytes + 8 + header, data, data_bytes);
    *out_bytes = 8 + header + data_bytes;
    sample_repair(bytes, *out_bytes);
    return bytes;
}

/* Sets, or with NULL removes, the value at a path such as "layers/0/ratio". */
static void edit(json_t *object, const char *path, const char *value)
{
    char step[64];
    const char *slash;
    while ((slash = strchr(path, '/')) != NULL) {
        snprintf(step, sizeof step, "%.*s", (int)(slash - path), path);
        object =
            json_is_array(object) ? json_array_get(object, strtoul(step, NULL, 10)) : json_object_get(object, step);
        if (!object) fail_msg("no %s", path);
        path = slash + 1;
    }
    json_t *fresh = value ? json_loads(value, JSON_DECODE_ANY, NULL) : NULL;
    if (value && !fresh) fail_msg("bad test value %s", value);
    if (json_is_array(object))
        assert_int_equal(value ? json_array_set_new(object, strtoul(path, NULL, 10), fresh)
                               : json_array_remove(object, strtoul(path, NULL, 10)),
                         0);
    else assert_int_equal(value ? json_object_set_new(object, path, fresh) : json_object_del(object, path), 0);
}

static void expect_refusal(const unsigned char *bytes, size_t count, const char *what, const char *message)
{
    broad_model *back = NULL;
    int status = broad_model_from_memory(&back, bytes, count);
    if (status != BROAD_BAD_MODEL || back || !strstr(broad_error_message(), message))
        fail_msg("%s: status %d, \"%s\" where \"%s\" was expected", what, status, broad_error_message(), message);
}

/* In the description (path from "model/") or in the header. small_form: 2 inputs, 3 classes, groups of 1 and 2 nodes,
 * layers of 2 and 3 nodes, 11 rows in segments of 5 and 6. */
typedef struct bad_row {
    const char *path, *value, *message;
} bad_row;

static const bad_row bad_rows[] = {
    {"model/task", "\"auto\"", "model: task is auto"},
    {"model/task", "\"cluster\"", "model: task is 'cluster', which is none of auto|classify|regress"},
    {"model/task", "1", "model: task is 'no text'"},
    {"model/task", NULL, "model: task is missing"},
    {"model/colour", "\"red\"", "model: there is no field 'colour'"},
    {"model/inputs", "3", "input_names is not a list of 3 names"},
    {"model/inputs", "0", "model: inputs is 0 where a number from 1 to 1099511627776 was expected"},
    {"model/inputs", "-1", "model: inputs is not a whole number"},
    {"model/inputs", "2.0", "model: inputs is not a whole number"},
    {"model/inputs", "9223372036854775807", "model: inputs is 9.22337204e+18"},
    {"model/outputs", "1099511627776", "output_names is not a list of 1099511627776 names"},
    {"model/outputs", "\"3\"", "model: outputs is not a whole number"},
    {"model/named", "1", "model: named is not true or false"},
    {"model/target_name", "3", "model: target_name is not text"},
    {"model/group_name", "{\"bytes\":\"4\"}", "group_name: bytes are not given as pairs of hexadecimal digits"},
    {"model/group_name", "{\"bytes\":\"ff00\"}", "group_name: bytes are not given as pairs"},
    {"model/group_name", "{\"bytes\":\"FF\"}", "group_name: bytes are not given as pairs"},
    {"model/group_name", "{\"byte\":\"ff\"}", "model: group_name is not text"},
    {"model/positive", "3", "the positive class is number 3 of 3"},
    {"model/normal", "3", "the normal class is number 3 of 3"},
    {"model/normal_from", "\"luck\"", "normal_from is 'luck'"},
    {"model/missing", "\"median\"", "missing is 'median', which is none of error|mean"},
    {"model/range", "0", "model: range is 0 where a number above 0 was expected"},
    {"model/range", "\"1\"", "model: range is not a number"},
    {"model/outcome", "\"lost\"", "outcome is 'lost'"},
    {"model/reason", "null", "model: reason is not text"},
    {"model/rows", "12", "12 training rows, but 11 in the segments"},
    {"model/rows", "0", "model: rows is 0"},
    {"model/split_holdout", "1", "a split that keeps all rows apart"},
    {"model/split_holdout", "-0.1", "split_holdout is -0.1 where a number from 0 to 1 was expected"},
    {"model/split_seed", "7", "split_seed is not a whole number below 2^64 as text"},
    {"model/split_seed", "\"007\"", "split_seed is not a whole number below 2^64 as text"},
    {"model/split_seed", "\"18446744073709551616\"", "split_seed is not a whole number below 2^64"},
    {"model/split_seed", "\"-1\"", "split_seed is not a whole number below 2^64"},
    {"model/first_norm", "-1.5", "first_norm is -1.5 where a number from 0 up was expected"},
    {"model/seed_map", "0", "seed_map is not a whole number from 1 up"},
    {"model/seed_map", "\"1\"", "seed_map is not a whole number from 1 up"},
    {"model/seed_map", NULL, "model: seed_map is missing"},
    {"model/estimate", NULL, "model: estimate is missing"},
    {"model/input_names", "{}", "input_names is not a list of 2 names"},
    {"model/input_names/1", NULL, "input_names is not a list of 2 names"},
    {"model/input_names/1", "\"\"", "input_names: name 2 is empty"},
    {"model/input_names/0", "null", "input_names: name 1 is not text"},
    {"model/output_names/0", "\"\"", "output_names: name 1 is empty"},
    {"model/output_names/0", "{\"bytes\":\"\"}", "output_names: name 1 is empty"},
    {"model/output_names", "[\"b\",\"a\",\"b\"]", "two classes are called 'b'"},
    {"model/output_names", "[\"a\",\"b\"]", "output_names is not a list of 3 names"},
    {"model/settings", "[]", "settings is not a JSON object"},
    {"model/settings", NULL, "model: settings is missing"},
    {"model/settings/kind", "\"svm\"", "settings: kind is 'svm', which is none of bscrls|brls"},
    {"model/settings/preset", "\"\"", "settings: preset is ''"},
    {"model/settings/threads", "4", "settings: there is no field 'threads'"},
    {"model/settings/seed", "0", "settings: seed is not a whole number below 2^64 as text"},
    {"model/settings/features", "\"10\"", "settings: features is not two numbers such as 10x10"},
    {"model/settings/features", "\"10x10 \"", "settings: features is not two numbers"},
    {"model/settings/features", "\"-1x3\"", "settings: features is not two numbers"},
    {"model/settings/features", "\"10x99999999999999\"", "settings: features is 1e+14"},
    {"model/settings/enhance_nodes", "true", "settings: enhance_nodes is not a whole number"},
    {"model/settings/activation", "\"swish\"", "settings: activation is 'swish'"},
    {"model/settings/lambda", "-1e-9", "settings: lambda is -1e-09 where a number from 0 up"},
    {"model/settings/lambda", "\"auto\"", "settings: lambda is not a number"},
    {"model/settings/lambda_auto", "\"yes\"", "settings: lambda_auto is not true or false"},
    {"model/settings/gamma", "0.9", "settings: gamma is not a list of up to 256 numbers"},
    {"model/settings/gamma", "[0.9,\"x\"]", "settings: gamma is not a list of up to 256 numbers"},
    {"model/settings/range_steps", "[1,0]", "settings: range_steps is 0 where a number above 0"},
    {"model/settings/relax", "1.5", "settings: relax is 1.5 where a number from 0 to 1"},
    {"model/settings/select", NULL, "settings: select is missing"},
    {"model/columns", "3", "columns is not a list"},
    {"model/columns", "[3]", "columns 1 is not a JSON object"},
    {"model/columns", "[{\"role\":\"label\",\"first\":0,\"count\":1}]",
     "columns 1: role is 'label', which is none of ignored|input|target|group|weight"},
    {"model/columns", "[{\"role\":\"input\",\"first\":0,\"count\":0}]", "columns 1: count is 0"},
    {"model/columns", "[{\"role\":\"input\",\"first\":1,\"count\":2}]",
     "columns 1: they do not go with the columns before them"},
    {"model/columns", "[{\"role\":\"input\",\"first\":0,\"count\":1}]",
     "they are not those of a file with the inputs of the model"},
    {"model/columns", "[{\"role\":\"input\",\"first\":0,\"count\":3}]",
     "they are not those of a file with the inputs of the model"},
    {"model/columns",
     "[{\"role\":\"target\",\"first\":0,\"count\":1},{\"role\":\"target\",\"first\":0,\"count\":1},{\"role\":\"input\","
     "\"first\":0,\"count\":2}]",
     "columns 2: they do not go with the columns before them"},
    {"model/columns", "[{\"role\":\"target\",\"first\":1,\"count\":1},{\"role\":\"input\",\"first\":0,\"count\":2}]",
     "columns 1: they do not go with the columns before them"},
    {"model/columns", "[{\"role\":\"target\",\"first\":0,\"count\":2},{\"role\":\"input\",\"first\":0,\"count\":2}]",
     "columns 1: they do not go with the columns before them"},
    {"model/columns", "[{\"role\":\"group\",\"first\":0,\"count\":2},{\"role\":\"input\",\"first\":0,\"count\":2}]",
     "columns 1: they do not go with the columns before them"},
    {"model/columns",
     "[{\"role\":\"weight\",\"first\":0,\"count\":1},{\"role\":\"input\",\"first\":0,\"count\":2},{\"role\":\"weight\","
     "\"first\":0,\"count\":1}]",
     "columns 3: they do not go with the columns before them"},
    {"model/columns",
     "[{\"role\":\"input\",\"first\":0,\"count\":2},{\"role\":\"ignored\",\"first\":0,\"count\":4194304}]",
     "they are not those of a file with the inputs of the model"},
    {"model/segments", "3", "segments is not a list"},
    {"model/sources", "3", "sources is not a list"},
    {"model/sources", "[{\"path\":\"a\",\"labels\":null,\"rows\":1}]", "photos"},
    {"model/sources", "[{\"path\":3,\"labels\":null,\"rows\":1,\"photos\":[]}]", "path is not text"},
    {"model/sources",
     "[{\"path\":\"a\",\"labels\":null,\"rows\":1,\"photos\":[{\"file\":\"b\",\"content\":"
     "\"00000000000000000000000000000000\",\"rows\":1,\"held_out\":false,\"class\":99}]}]",
     "source 1: photo 1 is of a class that there is not"},
    {"model/segments/0/rows", "4", "11 training rows, but 10 in the segments"},
    {"model/segments/1/rows", "0", "segment 2: rows is 0"},
    {"model/segments/1/weight", "0", "segment 2: weight is 0"},
    {"model/segments/1/weight", "-1", "segment 2: weight is -1"},
    {"model/segments/0/weight", "1e300", "segment 1: weight is 1e+300"},
    {"model/segments/0/weight", "\"1\"", "segment 1: weight is not a number"},
    {"model/segments/1/fingerprint", "\"abc\"", "segment 2: fingerprint is not a hash of 32"},
    {"model/segments/0/fingerprint", "\"0123456789ABCDEF0123456789abcdef\"", "segment 1: fingerprint is not a hash"},
    {"model/segments/0", "null", "segment 1 is not a JSON object"},
    {"model/groups", "null", "groups is not a list"},
    {"model/groups/0", NULL, "layer 1: it reads 3 feature nodes, which no number of groups has"},
    {"model/groups/1/nodes", "0", "group 2: nodes is 0"},
    {"model/groups/1/nodes", "3", "layer 1: it reads 3 feature nodes, which no number of groups has"},
    {"model/groups/0/step", "65536", "group 1: step is 65536 where a number from 0 to 65535"},
    {"model/groups/0/range", "-1", "group 1: range is -1 where a number above 0"},
    {"model/groups/1/weight", "1", "group 2: there is no field 'weight'"},
    {"model/layers", "{}", "layers is not a list"},
    {"model/layers/1", "7", "layer 2 is not a JSON object"},
    {"model/layers/1/inputs", "1", "layer 2: it reads 1 feature nodes, which no number of groups has"},
    {"model/layers/1/inputs", "0", "layer 2: inputs is 0"},
    {"model/layers/1/nodes", "4", "layer 2: its width is 3 where its nodes make 4"},
    {"model/layers/0/width", "6", "layer 1: its width is 6 where its nodes make 5"},
    {"model/layers/0/groups", "3", "layer 1: groups 1 to 3 are not there to be used"},
    {"model/layers/0/step", "4", "layer 1: range number 4 of 4"},
    {"model/groups/0/step", "300", "group 1: range number 300 of 4"},
    {"model/layers/0/first_row", "12", "from row 13"},
    {"model/layers/0/solved_again", "1", "solved_again"},
    {"model/layers/0/origin", "\"stolen\"", "origin is 'stolen'"},
    {"model/layers/0/first_group", "1099511627776", "layer 1: groups 1099511627777 to 1099511627778 are not there"},
    {"model/layers/1/groups", "1", "layer 2: groups 1 to 1 are not there to be used"},
    {"model/layers/0/origin", "\"heaven\"", "layer 1: origin is 'heaven'"},
    {"model/layers/0/test", "\"\"", "layer 1: test is ''"},
    {"model/layers/0/rows", "12", "layer 1: fitted to 12 of 11 rows"},
    {"model/layers/0/gamma", "null", "layer 1: gamma is not a number"},
    {"model/layers/0/bound", "[1]", "layer 1: bound is not a number"},
    {"model/layers/1/norm_before", "-1", "layer 2: norm_before is -1 where a number from 0 up"},
    {"model/layers/1/norm_after", "-0.5", "layer 2: norm_after is -0.5"},
    {"model/layers/1/ratio", "-1", "layer 2: ratio is -1 where a number from 0 up"},
    {"model/layers/1/ratio", NULL, "layer 2: ratio is missing"},
    {"model/layers/1/tested", "\"nan\"", "layer 2: tested is not a number"},
    {"model/layers/0/range", "0", "layer 1: range is 0 where a number above 0"},
    {"model/layers/0/draw", "70000", "layer 1: draw is 70000 where a number from 0 to 65535"},
    {"model/layers/0/passed", "\"true\"", "layer 1: passed is not true or false"},
    {"model/layers/0/output_hash", "\"\"", "layer 1: output_hash is not a hash of 32 hexadecimal digits"},
    {"model/layers/0", NULL, "tensor layer.1.weight: shape [3, 2] where [3, 3] was expected"},
    {"__metadata__/weights", "\"guessed\"", "weights are 'guessed' where stored or drawn was expected"},
    {"__metadata__/weights", "1", "__metadata__: weights is missing or not text"},
    {"__metadata__/weights", "\"drawn\"", "tensor feature.1.weight: stands where layer.1.output was expected"},
    {"__metadata__/model", NULL, "__metadata__: model is missing or not text"},
    {"__metadata__/date", "\"today\"", "__metadata__: there are 7 fields where 6 were expected"},
    {"input.shift/dtype", "\"F32\"", "tensor input.shift: dtype is not F64"},
    {"input.shift/dtype", "64", "tensor input.shift: dtype is not F64"},
    {"input.shift/shape", NULL, "tensor input.shift: not exactly dtype, shape and data_offsets"},
    {"input.shift/note", "1", "tensor input.shift: not exactly dtype, shape and data_offsets"},
    {"input.shift", "[]", "tensor input.shift: not exactly dtype"},
    {"input.shift/shape", "[]", "tensor input.shift: shape is not one or two whole numbers"},
    {"input.shift/shape", "[1,1,2]", "tensor input.shift: shape is not one or two whole numbers"},
    {"input.shift/shape", "[-2]", "tensor input.shift: shape is not one or two whole numbers"},
    {"input.shift/shape", "[3]", "tensor input.shift: data_offsets do not fit its shape"},
    {"input.shift/shape", "[4611686018427387904,2]", "tensor input.shift: data_offsets do not fit its shape"},
    {"input.shift/shape", "[1,2]", "tensor input.shift: shape [1, 2] where [2] was expected"},
    {"layer.2.output/shape", "[1,9]", "tensor layer.2.output: shape [1, 9] where [3, 3] was expected"},
    {"layer.1.output/shape", "[15]", "tensor layer.1.output: shape [15] where [5, 3] was expected"},
    {"feature.2.weight/shape", "[4,1]", "tensor feature.2.weight: shape [4, 1] where [2, 2] was expected"},
    {"input.factor/data_offsets", "[8,24]", "tensor input.factor: begins at byte 8 where 16 was expected"},
    {"input.factor/data_offsets", "[24,40]", "tensor input.factor: begins at byte 24 where 16 was expected"},
    {"input.factor/data_offsets", "[32,16]", "tensor input.factor: data_offsets do not fit its shape"},
    {"input.factor/data_offsets", "[16]", "tensor input.factor: data_offsets are not two whole numbers"},
    {"input.factor/data_offsets", "[16.0,32]", "tensor input.factor: data_offsets are not two whole numbers"},
    {"input.factor/data_offsets", "[-16,0]", "tensor input.factor: data_offsets are not two whole numbers"},
    {"input.factor", NULL, "tensor input.fill: begins at byte 32 where 16 was expected"},
    {"layer.2.output", NULL, "damaged or cut short: 520 bytes of weights where 448 were expected"},
};

/* What does not go with the kind; in the description, two edits where one alone would show elsewhere. */
typedef struct bad_kind {
    const sample_form *form;
    bad_row row;
    const char *path, *value;
} bad_kind;

static const bad_kind bad_kinds[] = {
    {&small_form, {"metric", "true", "tensor input.metric is missing"}, NULL, NULL},
    {&small_form, {"relevance", "true", "tensor input.relevance is missing"}, NULL, NULL},
    {&small_form,
     {"metric", "true", "model: a learned metric where the settings have none"},
     "settings/metric",
     "\"no\""},
    {&metric_form, {"metric", "false", "tensor input.metric: stands where output.shift was expected"}, NULL, NULL},
    {&metric_form, {"metric", NULL, "tensor input.metric: stands where output.shift was expected"}, NULL, NULL},
    {&metric_form, {"metric", "1", "model: metric is not true or false"}, NULL, NULL},
    {&metric_form, {"relevance", "false", "tensor input.relevance: stands where input.metric was"}, NULL, NULL},
    {&metric_form, {"optimism", "-1", "model: optimism is -1 where a number from 0 up was expected"}, NULL, NULL},
    {&metric_form,
     {"settings/metric", "\"no\"", "group 1: it is sampled where the settings make it drawn"},
     NULL,
     NULL},
    {&metric_form, {"settings/effort", "\"huge\"", "settings: effort is 'huge', which is none of fast|"}, NULL, NULL},
    {&metric_form,
     {"settings/feature_weights", "\"sampled\"", "model: relevance is true, and sampled nodes have theirs"},
     NULL,
     NULL},
    {&fitted_form, {"relevance", "true", "model: a learned metric where the settings have none"}, NULL, NULL},
    {&linked_form, {"metric", "true", "model: a learned metric where the settings have none"}, NULL, NULL},
    {&wide_form, {"metric", "true", "model: a metric of 513 columns where 512 are the most"}, NULL, NULL},
    {&small_form,
     {"settings/kind", "\"bls\"", "settings: option kind bls does not go with option supervise"},
     NULL,
     NULL},
    {&small_form,
     {"settings/weights", "\"window\"", "settings: option kind bscrls does not go with option weights window"},
     NULL,
     NULL},
    {&small_form,
     {"settings/supervise", "\"output\"", "settings: option kind bscrls does not go with option supervise output"},
     NULL,
     NULL},
    {&small_form,
     {"settings/weights", "\"all\"", "settings: weights is 'all', which is none of chain|joint|window"},
     NULL,
     NULL},
    {&small_form, {"settings/window", "0", "settings: window is 0"}, NULL, NULL},
    {&small_form, {"settings/loo", "\"maybe\"", "settings: loo is 'maybe'"}, NULL, NULL},
    {&small_form, {"settings/sparse_lambda", "-1", "settings: sparse_lambda is -1"}, NULL, NULL},
    {&small_form, {"settings/sparse_steps", "0", "settings: sparse_steps is 0"}, NULL, NULL},
    {&small_form,
     {"settings/feature_weights", "\"autoencoder\"", "group 1: it is drawn where the settings make it autoencoder"},
     NULL,
     NULL},
    {&small_form,
     {"groups/1/source", "\"autoencoder\"", "group 2: it is autoencoder where the settings make it drawn"},
     NULL,
     NULL},
    {&small_form,
     {"groups/0/source", "\"direct\"", "group 1: it is direct where the settings make it drawn"},
     NULL,
     NULL},
    {&small_form,
     {"groups/0/source", "\"bought\"", "group 1: source is 'bought', which is none of drawn|direct|autoencoder"},
     NULL,
     NULL},
    {&small_form, {"layers/1/test", "\"output\"", "layer 2: its kind has no test 'output'"}, NULL, NULL},
    {&small_form, {"class_weights", "true", "tensor class.weight is missing"}, NULL, NULL},
    {&small_form, {"class_weights", "1", "model: class_weights is not true or false"}, NULL, NULL},
    {&small_form,
     {"joint", "{\"lambda\":1,\"norm\":1,\"output_hash\":\"0123456789abcdef0123456789abcdef\"}",
      "joint: weights of all layers together do not go with these settings"},
     NULL,
     NULL},
    {&finally_form, {"joint", "null", "tensor layer.1.joint: stands where layer.2.weight was expected"}, NULL, NULL},
    {&finally_form, {"joint", "7", "joint is not a JSON object"}, NULL, NULL},
    {&finally_form, {"joint/lambda", "-1", "joint: lambda is -1 where a number from 0 up was expected"}, NULL, NULL},
    {&finally_form, {"joint/norm", NULL, "joint: norm is missing"}, NULL, NULL},
    {&finally_form, {"joint/output_hash", "\"x\"", "joint: output_hash is not a hash"}, NULL, NULL},
    {&finally_form, {"joint/present", "true", "joint: there is no field 'present'"}, NULL, NULL},
    {&finally_form,
     {"settings/weights", "\"chain\"", "joint: weights of all layers together do not go with"},
     NULL,
     NULL},
    {&finally_form, {"settings/kind", "\"bls\"", "joint: weights of all layers together do not go with"}, NULL, NULL},
    {&finally_form, {"layers", "[]", "joint: weights of all layers together where there is no layer"}, NULL, NULL},
    {&finally_form,
     {"class_weights", "false", "tensor class.weight: stands where feature.1.weight was expected"},
     NULL,
     NULL},
    {&finally_form, {"task", "\"regress\"", "model: a regression has no class weights"}, "positive", "0"},
    {&finally_form,
     {"settings/kind", "\"rvfl\"", "group 1: it is drawn where the settings make it direct"},
     NULL,
     NULL},
    {&fitted_form,
     {"groups/0/source", "\"drawn\"", "group 1: it is drawn where the settings make it autoencoder"},
     NULL,
     NULL},
    {&linked_form, {"groups/0/nodes", "4", "group 1: 4 nodes that are the 3 inputs themselves"}, "layers", "[]"},
    {&linked_form, {"groups", "[]", "0 groups where this kind has one, the inputs"}, "layers", "[]"},
    {&linked_form,
     {"groups",
      "[{\"source\":\"direct\",\"nodes\":3,\"step\":0,\"range\":1},"
      "{\"source\":\"direct\",\"nodes\":3,\"step\":0,\"range\":1}]",
      "2 groups where this kind has one, the inputs"},
     NULL,
     NULL},
    {&linked_form,
     {"layers/0/groups", "0", "layer 1: the inputs are columns of the first layer, and of no other"},
     "layers/0/width",
     "2"},
    {&linked_form,
     {"settings/kind", "\"scn\"", "settings: option kind scn does not go with option supervise none"},
     NULL,
     NULL},
    {&linked_form,
     {"settings/feature_weights", "\"autoencoder\"", "settings: this kind has no feature nodes"},
     NULL,
     NULL},
    {&linked_form, {"layers/0/test", "\"residual\"", "layer 1: its kind has no test 'residual'"}, NULL, NULL},
    {&hidden_form,
     {"layers/0/groups", "1", "layer 1: its kind has hidden nodes alone, and here are groups"},
     "layers/0/width",
     "3"},
    {&hidden_form, {"layers/1/inputs", "1", "layer 2: it reads 1 feature nodes"}, NULL, NULL},
    {&hidden_form,
     {"groups/0/source", "\"drawn\"", "group 1: it is drawn where the settings make it direct"},
     NULL,
     NULL},
};

static void check_bad_row(const bad_row *row, int compact)
{
    char what[200];
    size_t count = 0;
    parts p = take_apart(&small_form, compact);
    snprintf(what, sizeof what, "%s = %s", row->path, row->value ? row->value : "nothing");
    if (strncmp(row->path, "model/", 6) == 0) edit(p.model, row->path + 6, row->value);
    else edit(p.header, row->path, row->value);
    char *text = header_text(&p);
    unsigned char *bytes = put_together(&count, text, p.data, p.data_bytes);
    expect_refusal(bytes, count, what, row->message);
    free(bytes);
    free(text);
    drop_parts(&p);
}

static void test_bad_fields(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_rows / sizeof bad_rows[0]; i++) check_bad_row(&bad_rows[i], 0);
}

static void test_bad_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_kinds / sizeof bad_kinds[0]; i++) {
        const bad_kind *bad = &bad_kinds[i];
        char what[200];
        size_t count = 0;
        parts p = take_apart(bad->form, 0);
        snprintf(what, sizeof what, "%zu: %s = %s", i, bad->row.path, bad->row.value ? bad->row.value : "nothing");
        edit(p.model, bad->row.path, bad->row.value);
        if (bad->path) edit(p.model, bad->path, bad->value);
        char *text = header_text(&p);
        unsigned char *bytes = put_together(&count, text, p.data, p.data_bytes);
        expect_refusal(bytes, count, what, bad->row.message);
        free(bytes);
        free(text);
        drop_parts(&p);
    }
}

/* Without an edit the parts make a good model again: otherwise the refusals above would mean nothing. */
static void test_parts_are_good(void **state)
{
    (void)state;
    for (int compact = 0; compact < 2; compact++) {
        size_t count = 0;
        broad_model *back = NULL;
        parts p = take_apart(&small_form, compact);
        char *text = header_text(&p);
        unsigned char *bytes = put_together(&count, text, p.data, p.data_bytes);
        assert_ok(broad_model_from_memory(&back, bytes, count));
        broad_model *model = sample_model(&small_form);
        same_model(model, back);
        broad_model_free(model);
        broad_model_free(back);
        free(bytes);
        free(text);
        drop_parts(&p);
    }
}

/* Edits of the header's text: `from` is replaced by `to`, once. */
typedef struct text_row {
    const char *from, *to, *message;
} text_row;

static const text_row text_rows[] = {
    {"\"dtype\":\"F64\"", "\"dtype\":\"F64\",\"dtype\":\"F64\"", "the header is not valid JSON: duplicate object key"},
    {"\"input.factor\":", "\"input.shift\":", "the header is not valid JSON: duplicate object key"},
    {"\"input.factor\":", "\"input.factoR\":", "tensor input.factor is missing"},
    {"\"layer.2.output\":", "\"layer.3.output\":", "tensor layer.2.output is missing"},
    {"\\\"task\\\":\\\"classify\\\"", "\\\"task\\\":\\\"classify\\\",\\\"task\\\":\\\"classify\\\"",
     "the model's description is not valid JSON: duplicate object key"},
    {"\\\"seed_map\\\":1", "\\\"seed_map\\\":1,,", "the model's description is not valid JSON"},
    {"\\\"seed_map\\\":1", "\\\"seed_map\\\":NaN", "the model's description is not valid JSON"},
    {"\\\"rows\\\":11", "\\\"rows\\\":99999999999999999999",
     "the model's description is not valid JSON: too big integer"},
    {"\\\"first_norm\\\":", "\\\"first_norm\\\":1e999,\\\"x\\\":",
     "description is not valid JSON: real number overflow"},
    {"\\\"reason\\\":\\\"", "\\\"reason\\\":\\\"\\\\u0000", "the model's description is not valid JSON"},
    {"\"weights\":", "\"weights\":\xFF", "the header is not valid JSON"},
    {"\"shape\":", "\"shape\" ", "the header is not valid JSON"},
    {"\"model\":\"{", "\"model\":\"{},{", "the model's description is not valid JSON: it has several values"},
    {"\"model\":\"{", "\"model\":\"7,{", "the model's description is not valid JSON: it has several values"},
    {"}}", "}}}", "the header is not valid JSON"},
    {"\"model\":\"", "\"model\":\"[]\",\"no\":\"", "__metadata__: there are 7 fields"},
    {"checksum.header", "checksum.leader", "damaged: the checksums are not where they should be"},
    {"checksum.data", "checksum.date", "damaged: the checksums are not where they should be"},
    {"\"format\":\"broad\"", "\"format\":\"tight\"", "this is not a broad model"},
    {"\"__metadata__\"", " \"__metadata__\"", "this is not a broad model"},
    {"\"version\":\"1\"", "\"version\":\"2\"", "written in version 2 of the format; this program reads version 1 only"},
    {"\"version\":\"1\"", "\"version\":\"10\"", "written in version 10 of the format"},
    {"\"version\":\"1\"", "\"version\":\"\"", "damaged: the version of the format cannot be read"},
    {"\"version\":\"1\"", "\"version\":\"one\"", "damaged: the version of the format cannot be read"},
    {"\"version\":\"1\"", "\"version\":\"12345678901234\"", "damaged: the version of the format cannot be read"},
};

static char *replace_text(const char *text, const char *from, const char *to)
{
    const char *found = strstr(text, from);
    if (!found) fail_msg("no %s in the header", from);
    char *made = malloc(strlen(text) + strlen(to) + 1);
    sprintf(made, "%.*s%s%s", (int)(found - text), text, to, found + strlen(from));
    return made;
}

static void test_bad_text(void **state)
{
    (void)state;
    parts p = take_apart(&small_form, 0);
    char *text = header_text(&p);
    for (size_t i = 0; i < sizeof text_rows / sizeof text_rows[0]; i++) {
        size_t count = 0;
        char *edited = replace_text(text, text_rows[i].from, text_rows[i].to);
        unsigned char *bytes = put_together(&count, edited, p.data, p.data_bytes);
        expect_refusal(bytes, count, text_rows[i].to, text_rows[i].message);
        free(bytes);
        free(edited);
    }
    free(text);
    drop_parts(&p);
}

/* Tensors that are there, but in another order, or one more than the model has. */
/* A shape that its numbers would fit, but not the model. */
static void test_bad_metric_shape(void **state)
{
    (void)state;
    static const char *const shapes[] = {"[1,4]", "[4]", "[4,1]"};
    for (size_t i = 0; i < 3; i++) {
        parts p = take_apart(&metric_form, 0);
        size_t count = 0;
        edit(p.header, "input.metric/shape", shapes[i]);
        char *text = header_text(&p);
        unsigned char *bytes = put_together(&count, text, p.data, p.data_bytes);
        expect_refusal(bytes, count, shapes[i], "tensor input.metric: ");
        free(bytes);
        free(text);
        drop_parts(&p);
    }
}

static void test_bad_order(void **state)
{
    (void)state;
    parts p = take_apart(&small_form, 0);
    size_t count = 0;
    char *text = header_text(&p);
    char *first = replace_text(text, "\"input.shift\":", "\"input.\":");
    char *second = replace_text(first, "\"input.factor\":", "\"input.shift\":");
    char *third = replace_text(second, "\"input.\":", "\"input.factor\":");
    unsigned char *bytes = put_together(&count, third, p.data, p.data_bytes);
    expect_refusal(bytes, count, "swapped", "tensor input.factor: stands where input.shift was expected");
    free(bytes);
    free(first);
    free(second);
    free(third);
    free(text);

    char entry[100];
    snprintf(entry, sizeof entry, "{\"dtype\":\"F64\",\"shape\":[0],\"data_offsets\":[%zu,%zu]}", p.data_bytes,
             p.data_bytes);
    edit(p.header, "layer.3.output", entry);
    text = header_text(&p);
    bytes = put_together(&count, text, p.data, p.data_bytes);
    expect_refusal(bytes, count, "one more", "tensor layer.3.output: does not belong to this model");
    free(bytes);
    free(text);
    drop_parts(&p);
}

/* Where output.factor lies: 3 tensors of 2 values and one of 3 come before it. In the other model, one of 2 does, and then
 * class.weight; layer.1.joint comes after 6 + 3 + 6 numbers more. */
static void test_bad_values(void **state)
{
    (void)state;
    static const struct {
        size_t index;
        double value;
        const char *message;
        const sample_form *form;
    } rows[] = {
        {0, NAN, "tensor input.shift: value 1 is not finite", &small_form},
        {3, INFINITY, "tensor input.factor: value 2 is not finite", &small_form},
        {5, -INFINITY, "tensor input.fill: value 2 is not finite", &small_form},
        {9, 0, "tensor output.factor: value 1 is 0", &small_form},
        {11, -0.0, "tensor output.factor: value 3 is 0", &small_form},
        {12, NAN, "tensor feature.1.weight: value 1 is not finite", &small_form},
        {10, 0, "tensor class.weight: value 1 is not above 0", &finally_form},
        {11, -1, "tensor class.weight: value 2 is not above 0", &finally_form},
        {6, -1e-9, "tensor input.relevance: value 1 is below 0", &metric_form},
        {7, NAN, "tensor input.relevance: value 2 is not finite", &metric_form},
        {8, NAN, "tensor input.metric: value 1 is not finite", &metric_form},
        {10, 7, "tensor input.metric: it is not symmetric at 2, 1", &metric_form},
        {27, NAN, "tensor layer.1.joint: value 1 is not finite", &finally_form},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t count = 0;
        parts p = take_apart(rows[i].form, 0);
        memcpy(p.data + 8 * rows[i].index, &rows[i].value, 8);
        char *text = header_text(&p);
        unsigned char *bytes = put_together(&count, text, p.data, p.data_bytes);
        expect_refusal(bytes, count, "a value", rows[i].message);
        free(bytes);
        free(text);
        drop_parts(&p);
    }
}

static void test_bad_sizes(void **state)
{
    (void)state;
    static const struct {
        uint64_t length;
        const char *message;
    } rows[] = {
        {UINT64_MAX, "damaged or cut short: a header of 18446744073709551615 bytes"},
        {1000000, "damaged or cut short: a header of 1000000 bytes"},
        {0, "damaged: a header of 0 bytes is not possible"},
        {8, "damaged: a header of 8 bytes is not possible"},
        {1001, "damaged: a header of 1001 bytes is not possible"},
        {1000, "damaged: the checksum of the header is wrong"},
    };
    parts p = take_apart(&small_form, 0);
    size_t count = 0;
    char *text = header_text(&p);
    unsigned char *bytes = put_together(&count, text, p.data, p.data_bytes);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t k = 0; k < 8; k++) bytes[k] = (unsigned char)(rows[i].length >> 8 * k);
        expect_refusal(bytes, count, "a header length", rows[i].message);
    }
    free(bytes);
    bytes = put_together(&count, text, p.data, p.data_bytes + 8);
    expect_refusal(bytes, count, "longer data", "damaged or cut short: 528 bytes of weights where 520 were expected");
    free(bytes);
    bytes = put_together(&count, text, p.data, p.data_bytes - 1);
    expect_refusal(bytes, count, "shorter data", "damaged or cut short: 519 bytes of weights where 520 were expected");
    free(bytes);
    free(text);
    drop_parts(&p);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

typedef struct memory_count {
    size_t calls, fail_at, live, asked;
    int failed;
} memory_count;

static memory_count memory;

static void *count_allocate(size_t bytes, void *context)
{
    (void)context;
    memory.asked += bytes;
    if (++memory.calls == memory.fail_at) {
        memory.failed = 1;
        return NULL;
    }
    memory.live++;
    return malloc(bytes);
}

static void count_release(void *block, void *context)
{
    (void)context;
    if (block) memory.live--;
    free(block);
}

static void *json_allocate(size_t bytes) { return count_allocate(bytes, NULL); }

static void json_release(void *block) { count_release(block, NULL); }

static void count_memory(int on)
{
    broad_allocator counting = {count_allocate, count_release, NULL};
    broad_set_allocator(on ? &counting : NULL);
    json_set_alloc_funcs(on ? json_allocate : malloc, on ? json_release : free);
    memory = (memory_count){0};
}

/* A compact file of a few kilobytes claims weights of any size: refused before anything is allocated for them. */
static void test_claims(void **state)
{
    (void)state;
    static const bad_row rows[] = {
        {"model/groups", "[{\"source\":\"drawn\",\"nodes\":1000000000,\"step\":0,\"range\":1}]",
         "bytes of weights to be drawn again"},
        {"model/groups",
         "[{\"source\":\"drawn\",\"nodes\":1,\"step\":0,\"range\":1},{\"source\":\"drawn\",\"nodes\":2,\"step\":0,"
         "\"range\":1},"
         "{\"source\":\"drawn\",\"nodes\":1099511627776,\"step\":0,\"range\":1}]",
         "bytes of weights to be drawn again"},
        {"model/groups",
         "[{\"source\":\"drawn\",\"nodes\":1,\"step\":0,\"range\":1},{\"source\":\"drawn\",\"nodes\":2,\"step\":0,"
         "\"range\":1},"
         "{\"source\":\"drawn\",\"nodes\":1099511627776,\"step\":0,\"range\":1},{\"source\":\"drawn\",\"nodes\":"
         "1099511627776,\"step\":0,\"range\":1}]",
         "bytes of weights to be drawn again"},
        {"model/inputs", "1000000000", "input_names is not a list of 1000000000 names"},
        {"model/seed_map", "2", "drawn by seed map 2 and this program knows map 1"},
        {"model/range", "1e308", "group 1: the weights that its range draws are not finite"},
        {"model/layers/1/range", "1.7e308", "layer 2: the weights that its range draws are not finite"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t count = 0;
        broad_model *back = NULL;
        parts p = take_apart(&small_form, 1);
        edit(p.model, rows[i].path + 6, rows[i].value);
        if (i == 0)
            edit(p.model, "layers", "[]"); /* no tensor depends on the groups, so only the claim itself is wrong */
        if (strstr(rows[i].path, "layers/1/range")) edit(p.model, "range", "100"); /* the two are multiplied */
        char *text = header_text(&p);
        unsigned char *bytes = put_together(&count, text, p.data, p.data_bytes);
        count_memory(1);
        assert_fails(broad_model_from_memory(&back, bytes, count), BROAD_BAD_MODEL, rows[i].message);
        assert_int_equal(memory.live, 0);
        if (memory.asked > 100 * count) fail_msg("%zu bytes asked for by a file of %zu", memory.asked, count);
        count_memory(0);
        free(bytes);
        free(text);
        drop_parts(&p);
    }
}

/* Weights that are in the file need no map. */
static void test_other_seed_map(void **state)
{
    (void)state;
    size_t count = 0;
    broad_model *back = NULL;
    parts p = take_apart(&small_form, 0);
    edit(p.model, "seed_map", "2");
    char *text = header_text(&p);
    unsigned char *bytes = put_together(&count, text, p.data, p.data_bytes);
    assert_ok(broad_model_from_memory(&back, bytes, count));
    broad_model_free(back);
    free(bytes);
    free(text);
    drop_parts(&p);
}

static broad_model *work_model;
static void *work_bytes[2];
static size_t work_counts[2];
static char work_path[HELPER_PATH];

static int work_encode(int compact)
{
    void *bytes = NULL;
    size_t count = 0;
    int status = broad_model_to_memory(&bytes, &count, work_model, compact);
    assert_true((status == BROAD_OK) == (bytes != NULL));
    broad_free(bytes);
    return status;
}

static int work_decode(int compact)
{
    broad_model *back = NULL;
    int status = broad_model_from_memory(&back, work_bytes[compact], work_counts[compact]);
    assert_true((status == BROAD_OK) == (back != NULL));
    broad_model_free(back);
    return status;
}

static int work_save(int compact) { return broad_model_save(work_model, work_path, compact); }

static int work_load(int compact)
{
    (void)compact;
    broad_model *back = NULL;
    int status = broad_model_load(&back, work_path);
    assert_true((status == BROAD_OK) == (back != NULL));
    broad_model_free(back);
    return status;
}

static int work_json(int compact)
{
    (void)compact;
    char *text = NULL;
    int status = broad_model_json(&text, work_model);
    broad_free(text);
    return status;
}

/* Runs `work` with the first allocation failing, ours or the JSON library's, then the second, ... until none is left. */
static size_t fail_in_turn(int (*work)(int compact), int compact)
{
    size_t live = memory.live;
    for (size_t n = 1;; n++) {
        memory.calls = 0;
        memory.failed = 0;
        memory.fail_at = n;
        int status = work(compact);
        memory.fail_at = 0;
        assert_int_equal(memory.live, live);
        if (!memory.failed) {
            assert_ok(status);
            return n - 1;
        }
        if (status != BROAD_NO_MEMORY) fail_msg("allocation %zu: status %d, %s", n, status, broad_error_message());
    }
}

static void fail_every_allocation(const sample_form *form)
{
    size_t old_bytes = 0, count = 0;
    count_memory(1);
    work_model = sample_model(form);
    join_path(work_path, folder, "model.broad");
    assert_ok(broad_model_save(work_model, work_path, 0));
    char *old = read_file(&old_bytes, work_path);
    for (int compact = 0; compact < 2; compact++) {
        assert_ok(broad_model_to_memory(&work_bytes[compact], &work_counts[compact], work_model, compact));
        assert_true(fail_in_turn(work_encode, compact) > 100);
        assert_true(fail_in_turn(work_save, compact) > 100);
    }
    assert_true(fail_in_turn(work_json, 0) > 100);
    size_t tried = fail_in_turn(work_decode, 0) + fail_in_turn(work_decode, 1);
    assert_ok(broad_model_save(work_model, work_path, 0));
    tried += fail_in_turn(work_load, 0);
    assert_true(tried > 500);
    char *now = read_file(&count, work_path);
    assert_int_equal(count, old_bytes);
    assert_memory_equal(old, now, count);
    free(old);
    free(now);
    for (int compact = 0; compact < 2; compact++) broad_free(work_bytes[compact]);
    broad_model_free(work_model);
    assert_int_equal(memory.live, 0);
    count_memory(0);
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    fail_every_allocation(&small_form);
    fail_every_allocation(&finally_form);
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

static void test_save_and_load(void **state)
{
    (void)state;
    char path[HELPER_PATH];
    broad_model *model = sample_model(&small_form), *back = NULL;
    join_path(path, folder, "model.broad");
    for (int compact = 0; compact < 2; compact++) {
        assert_ok(broad_model_save(model, path, compact));
        assert_ok(broad_model_load(&back, path));
        same_model(model, back);
        broad_model_free(back);
    }
    broad_model_free(model);
}

/* Weights stay where the file was read to: neither the file nor its place is needed any more, and copies have their own. */
static void test_loaded_without_its_file(void **state)
{
    (void)state;
    char path[HELPER_PATH];
    broad_model *model = sample_model(&small_form), *back = NULL, *copy = NULL;
    join_path(path, folder, "model.broad");
    assert_ok(broad_model_save(model, path, 0));
    assert_ok(broad_model_load(&back, path));
    assert_true(broad__borrowed_has(&back->data, back->layers[0].weight));
    assert_true(broad__borrowed_has(&back->data, back->groups[0].weight));
    assert_int_equal(truncate(path, 0), 0);
    same_model(model, back);
    assert_ok(broad__model_copy(&copy, back));
    assert_null(copy->data.bytes);
    broad_model_free(back);
    same_model(model, copy);
    broad_model_free(copy);
    broad_model_free(model);
}

/* A file that goes on behind its weights is refused by its sizes, whatever it claims to be: a hole of a terabyte is not read. */
static void test_load_of_a_hole(void **state)
{
    (void)state;
    char path[HELPER_PATH];
    broad_model *model = sample_model(&small_form), *back = NULL;
    join_path(path, folder, "model.broad");
    assert_ok(broad_model_save(model, path, 0));
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    assert_fails(broad_model_load(&back, path), BROAD_BAD_MODEL, "damaged or cut short");
    assert_null(back);
    broad_model_free(model);
}

static void test_load_refuses(void **state)
{
    (void)state;
    char path[HELPER_PATH], expected[HELPER_PATH + 64];
    broad_model *model = sample_model(&small_form), *back = NULL;
    join_path(path, folder, "none.broad");
    assert_fails(broad_model_load(&back, path), BROAD_NO_INPUT, "No such file");
    assert_fails(broad_model_load(&back, folder), BROAD_NO_INPUT, "is a folder");
    join_path(path, folder, "data.csv");
    snprintf(expected, sizeof expected, "%s: this is not a broad model", path);
    write_text(path, "");
    assert_fails(broad_model_load(&back, path), BROAD_BAD_MODEL, expected);
    write_text(path,
               "a,b,class\n1,2,yes\n3,4,no\n1,2,yes\n3,4,no\n1,2,yes\n3,4,no\n1,2,yes\n3,4,no\n1,2,yes\n3,4,no\n");
    assert_fails(broad_model_load(&back, path), BROAD_BAD_MODEL, expected);
    write_file(path, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
    assert_fails(broad_model_load(&back, path), BROAD_BAD_MODEL, expected);
    write_file(path, "\x48\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}   ", 60);
    assert_fails(broad_model_load(&back, path), BROAD_BAD_MODEL, expected);
    assert_int_equal(truncate(path, (off_t)1 << 40), 0); /* a terabyte, mostly a hole: not read, not allocated */
    assert_fails(broad_model_load(&back, path), BROAD_BAD_MODEL, expected);

    assert_ok(broad_model_save(model, path, 0));
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(truncate(path, about.st_size - 1), 0);
    snprintf(expected, sizeof expected, "%s: damaged or cut short", path);
    assert_fails(broad_model_load(&back, path), BROAD_BAD_MODEL, expected);
    assert_null(back);
    broad_model_free(model);
}

/* What could not be read again is not written. */
static void test_save_refuses(void **state)
{
    (void)state;
    void *bytes = NULL;
    size_t count = 0;
    broad_model *model = sample_model(&small_form);
    const char *whole = "this model cannot be saved: ";
    double *output = model->layers[1].output, old = output[4];
    output[4] = NAN;
    assert_fails(broad_model_to_memory(&bytes, &count, model, 0), BROAD_FAILED, whole);
    assert_fails(broad_model_to_memory(&bytes, &count, model, 0), BROAD_FAILED,
                 "tensor layer.2.output: value 5 is not finite");
    output[4] = old;
    model->layers[0].certificate.ratio = NAN;
    assert_fails(broad_model_to_memory(&bytes, &count, model, 0), BROAD_FAILED, "layer 1: ratio is");
    char *text = NULL;
    assert_fails(broad_model_json(&text, model), BROAD_FAILED, "cannot be described: layer 1: ratio is");
    model->layers[0].certificate.ratio = 0.5;
    model->layers[1].bias[0] += 1e-12;
    assert_ok(broad_model_to_memory(&bytes, &count, model, 0));
    broad_free(bytes);
    assert_fails(broad_model_to_memory(&bytes, &count, model, 1), BROAD_FAILED,
                 "layer 2: its weights are not those of the seed; save it in full");
    model->groups[0].weight[0] = 0;
    assert_fails(broad_model_to_memory(&bytes, &count, model, 1), BROAD_FAILED, "group 1: its weights are not those");
    model->settings.kind = (broad_kind)17;
    assert_fails(broad_model_to_memory(&bytes, &count, model, 0), BROAD_FAILED, "settings: kind is number 17");
    assert_null(bytes);
    broad_model_free(model);
}

static void test_save_refuses_kinds(void **state)
{
    (void)state;
    void *bytes = NULL;
    size_t count = 0;
    broad_model *model = sample_model(&finally_form);
    double *joint = model->layers[1].joint;
    model->layers[1].joint = NULL;
    assert_fails(broad_model_to_memory(&bytes, &count, model, 0), BROAD_FAILED, "layer 2: it has no joint weights");
    model->joint.present = 0;
    assert_fails(broad_model_to_memory(&bytes, &count, model, 0), BROAD_FAILED,
                 "layer 1: joint weights without their record");
    model->joint.present = 1;
    model->layers[1].joint = joint;
    model->class_weights[1] = 0;
    assert_fails(broad_model_to_memory(&bytes, &count, model, 1), BROAD_FAILED, "class.weight: value 2 is not above 0");
    model->class_weights[1] = 1;
    double *weight = model->groups[0].weight;
    model->groups[0].weight = NULL;
    assert_fails(broad_model_to_memory(&bytes, &count, model, 0), BROAD_FAILED, "group 1: it has no weights");
    model->groups[0].weight = weight;
    assert_ok(broad_model_to_memory(&bytes, &count, model, 0));
    broad_free(bytes);
    broad_model_free(model);
    model = sample_model(&metric_form);
    model->has_root = 0;
    assert_fails(broad_model_to_memory(&bytes, &count, model, 0), BROAD_FAILED, "the learned metric is not as the");
    broad_model_free(model);
    model = sample_model(&linked_form);
    model->groups[0].bias = broad__alloc_doubles(3, 1);
    assert_fails(broad_model_to_memory(&bytes, &count, model, 0), BROAD_FAILED,
                 "group 1: weights where the inputs themselves are the nodes");
    model->settings.kind = BROAD_KIND_SCN;
    assert_fails(broad_model_to_memory(&bytes, &count, model, 0), BROAD_FAILED,
                 "does not go with option supervise none");
    broad_model_free(model);
}

static broad__file_calls genuine;
static size_t writes;

static ssize_t full_disk(int fd, const void *bytes, size_t count)
{
    if (++writes == 1) return genuine.write(fd, bytes, count / 2);
    errno = ENOSPC;
    return -1;
}

/* Every call that can fail is tried in test_file.c; here, that saving passes it on and keeps the old model. */
static void test_save_on_a_full_disk(void **state)
{
    (void)state;
    char path[HELPER_PATH];
    sample_form other = small_form;
    other.seed = 2;
    broad_model *model = sample_model(&small_form), *second = sample_model(&other), *back = NULL;
    join_path(path, folder, "model.broad");
    assert_ok(broad_model_save(model, path, 0));
    genuine = broad__file_calls_used;
    broad__file_calls_used.write = full_disk;
    writes = 0;
    int status = broad_model_save(second, path, 0);
    broad__file_calls_used = genuine;
    assert_int_equal(writes, 2);
    assert_fails(status, BROAD_IO, "No space left");
    assert_ok(broad_model_load(&back, path));
    same_model(model, back);
    broad_model_free(back);
    broad_model_free(second);
    broad_model_free(model);
}

static void test_usage(void **state)
{
    (void)state;
    broad_model *model = NULL;
    void *bytes = NULL;
    size_t count = 0;
    char *text = NULL;
    assert_fails(broad_model_save(NULL, "x", 0), BROAD_USAGE, "broad_model_save");
    assert_fails(broad_model_load(&model, NULL), BROAD_USAGE, "broad_model_load");
    assert_fails(broad_model_to_memory(&bytes, &count, NULL, 0), BROAD_USAGE, "broad_model_to_memory");
    assert_fails(broad_model_from_memory(&model, NULL, 0), BROAD_USAGE, "broad_model_from_memory");
    assert_fails(broad_model_json(&text, NULL), BROAD_USAGE, "broad_model_json");
    broad_model_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_bytes_do_not_depend_on_the_run),
        cmocka_unit_test(test_seed_map),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_container),
        cmocka_unit_test(test_tensors_of_kinds),
        cmocka_unit_test_setup_teardown(test_list_tensors, make_folder, drop_folder),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_parts_are_good),
        cmocka_unit_test(test_bad_fields),
        cmocka_unit_test(test_bad_kinds),
        cmocka_unit_test(test_bad_text),
        cmocka_unit_test(test_bad_metric_shape),
        cmocka_unit_test(test_bad_order),
        cmocka_unit_test(test_bad_values),
        cmocka_unit_test(test_bad_sizes),
        cmocka_unit_test(test_claims),
        cmocka_unit_test(test_other_seed_map),
        cmocka_unit_test_setup_teardown(test_every_allocation_fails, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_save_and_load, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_loaded_without_its_file, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_load_of_a_hole, make_folder, drop_folder),
        cmocka_unit_test_setup_teardown(test_load_refuses, make_folder, drop_folder),
        cmocka_unit_test(test_save_refuses),
        cmocka_unit_test(test_save_refuses_kinds),
        cmocka_unit_test_setup_teardown(test_save_on_a_full_disk, make_folder, drop_folder),
        cmocka_unit_test(test_usage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
