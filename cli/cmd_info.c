/* broad info: what a model file holds. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "run/load_model.h"
#include "run/photos.h"
#include "run/show.h"

static double file_bytes(const char *path)
{
    struct stat info;
    return stat(path, &info) ? 0 : (double)info.st_size;
}

/* Weights of the classes by label; null: all count alike. */
static json_t *class_weights_json(const broad_model *model, const json_t *stored)
{
    if (!json_is_true(json_object_get(stored, "class_weights"))) return json_null();
    json_t *object = json_object();
    for (size_t c = 0; c < broad_model_outputs(model); c++)
        cli_json_put(object, broad_model_output_name(model, c), cli_json_real(broad_model_class_weight(model, c)));
    return object;
}

/* A member of the first group of feature nodes, or of the settings. */
static json_t *of_group(const json_t *stored, const char *name)
{
    return json_incref(json_object_get(json_array_get(json_object_get(stored, "groups"), 0), name));
}

static json_t *of_settings(const json_t *stored, const char *name)
{
    return json_incref(json_object_get(json_object_get(stored, "settings"), name));
}

static json_t *relevance_json(const broad_model *model)
{
    json_t *list = json_array();
    for (size_t i = 0; i < broad_model_inputs(model); i++)
        json_array_append_new(list, cli_json_real(broad_model_relevance(model, i)));
    return list;
}

static int report_json(const cli_arguments *arguments, const broad_model *model)
{
    const char *path = arguments->positional[0];
    json_t *settings = NULL;
    int status = cli_json_stored(&settings, model);
    if (status) return status;
    json_t *object = cli_json_object("info");
    cli_json_put(object, "path", cli_json_text(path));
    cli_json_put(object, "bytes", json_integer((json_int_t)file_bytes(path)));
    cli_json_put(object, "kind", cli_json_text(cli_kind_name(broad_model_kind(model))));
    cli_json_put(object, "task", cli_json_text(cli_task_name(broad_model_task(model))));
    cli_json_put(object, "rows", json_integer((json_int_t)broad_model_rows(model)));
    cli_json_put(object, "inputs", cli_names_json(broad_model_input_name, model, broad_model_inputs(model)));
    cli_json_put(object, "outputs", cli_names_json(broad_model_output_name, model, broad_model_outputs(model)));
    cli_json_put(object, "maps", broad_model_maps(model) ? cli_maps_json(broad_model_maps(model)) : json_null());
    cli_json_put(object, "photo", json_incref(json_object_get(settings, "photo")));
    cli_json_put(object, "categories", json_incref(json_object_get(settings, "categories")));
    cli_json_put(object, "weight", json_incref(json_object_get(settings, "weight_name")));
    cli_json_put(object, "class_weights", class_weights_json(model, settings));
    cli_json_put(object, "scale", of_settings(settings, "scale"));
    cli_json_put(object, "features", of_group(settings, "source"));
    cli_json_put(object, "fitting", cli_json_text(broad_model_fitting(model)));
    cli_json_put(object, "joint", cli_joint_json(model));
    cli_json_put(object, "nodes", json_integer((json_int_t)broad_model_nodes(model)));
    cli_json_put(object, "precision", cli_json_text(cli_precision_name(broad_model_precision(model))));
    cli_json_put(object, "seed", cli_json_uint(broad_model_seed(model)));
    cli_json_put(object, "relevance", relevance_json(model));
    cli_json_put(object, "feature_range", cli_json_real(broad_model_feature_range(model)));
    cli_json_put(object, "status", cli_json_text(cli_outcome_name(broad_model_outcome(model))));
    cli_json_put(object, "reason", cli_json_text(broad_model_reason(model)));
    cli_json_put(object, "loo", cli_estimate_json(model));
    cli_json_put(object, "stages", cli_stages_json(model));
    cli_json_put(object, "layers", cli_layers_json(model));
    cli_json_put(object, "stored", settings);
    return cli_json_give(arguments, object);
}

static const char *text_of(const json_t *value)
{
    const char *text = json_string_value(value);
    return text ? text : "?";
}

/* A column of categories with the first of its levels. */
static void print_category(const json_t *category, int first)
{
    enum { SHOWN = 8 };
    const json_t *levels = json_object_get(category, "levels");
    size_t count = json_array_size(levels);
    cli_print("%-8s %.40s: %zu categor%s (", first ? "columns" : "", text_of(json_object_get(category, "name")), count,
              count == 1 ? "y" : "ies");
    for (size_t i = 0; i < count && i < SHOWN; i++)
        cli_print("%s%.24s", i ? ", " : "", text_of(json_array_get(levels, i)));
    if (count > SHOWN) cli_print(" and %zu more", count - SHOWN);
    cli_print(")\n");
}

/* How photos become its inputs; nothing for a model of other rows. */
static void print_photo(const broad_model *model, const json_t *stored)
{
    const json_t *photo = json_object_get(stored, "photo");
    const char *crop = text_of(json_object_get(photo, "crop"));
    unsigned maps = broad_model_maps(model);
    char names[64];
    if (!maps) return;
    cli_format_maps(names, sizeof names, maps);
    json_int_t components = json_integer_value(json_object_get(photo, "components"));
    cli_print("photos   ");
    if (components) cli_print("%lld components of ", (long long)components);
    cli_print("%s", names);
    if (maps & BROAD_MAP_PIXELS) {
        json_int_t side = json_integer_value(json_object_get(photo, "side"));
        cli_print(", %lld x %lld pixels", (long long)side, (long long)side);
    }
    if (strcmp(crop, "none") == 0) cli_print(", whole photos\n");
    else if (strcmp(crop, "find") == 0) cli_print(", the region that looks most like a panel\n");
    else
        cli_print(", %s %s\n", json_is_true(json_object_get(photo, "each_box")) ? "each box" : "the best box",
                  strcmp(crop, "boxes") == 0 ? "in a file" : "that a detector finds");
}

/* What columns of the file are besides inputs and targets. */
static void print_columns(const json_t *stored)
{
    const json_t *categories = json_object_get(stored, "categories");
    for (size_t i = 0; i < json_array_size(categories); i++) print_category(json_array_get(categories, i), i == 0);
    const json_t *weight = json_object_get(stored, "weight_name");
    if (!json_is_null(weight)) cli_print("weights  column %.40s\n", text_of(weight));
}

static void print_class_weights(const broad_model *model, const json_t *stored)
{
    enum { SHOWN = 16 };
    size_t count = broad_model_outputs(model);
    if (!json_is_true(json_object_get(stored, "class_weights"))) return;
    cli_print("weights  by class: ");
    for (size_t c = 0; c < count && c < SHOWN; c++)
        cli_print("%s%.24s %.4g", c ? ", " : "", broad_model_output_name(model, c), broad_model_class_weight(model, c));
    cli_print(count > SHOWN ? ", ...\n" : "\n");
}

/* Which nodes there are, what they see, and where the output weights come from. */
static void print_choices(const broad_model *model, const json_t *stored)
{
    static const char *const words[][2] = {
        {"chain", "each layer fitted to the residual of those before it (chain)"},
        {"joint", "a chain of layers, then one ridge regression over all nodes (joint)"},
        {"stepwise", "one ridge regression over all nodes, solved again with each layer (joint)"},
        {"window", "with each layer, the weights of the last nodes are solved again (window)"},
        {"at_once", "one ridge regression over all nodes (joint)"},
    };
    const json_t *groups = json_object_get(stored, "groups"), *settings = json_object_get(stored, "settings");
    const char *source = text_of(json_object_get(json_array_get(groups, 0), "source"));
    const char *fitting = broad_model_fitting(model);
    if (strcmp(source, "direct") == 0) cli_print("features the inputs themselves");
    else cli_print("features %zu groups of nodes, %s", json_array_size(groups), source);
    cli_print("; inputs scaled: %s\n", text_of(json_object_get(settings, "scale")));
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i][0], fitting) == 0) cli_print("outputs  %s\n", words[i][1]);
    cli_print_joint(model);
}

/* The inputs that count most, where a pilot has told them apart. */
static void print_relevance(const broad_model *model)
{
    enum { SHOWN = 5 };
    size_t inputs = broad_model_inputs(model), shown = 0;
    double limit = INFINITY;
    for (; shown < SHOWN && shown < inputs; shown++) {
        size_t best = inputs;
        for (size_t i = 0; i < inputs; i++) {
            double value = broad_model_relevance(model, i);
            if (value < limit && (best == inputs || value > broad_model_relevance(model, best))) best = i;
        }
        if (best == inputs || (shown == 0 && broad_model_relevance(model, best) < 1 + 1e-9)) break;
        limit = broad_model_relevance(model, best);
        cli_print("%s%.40s %.2f", shown ? ", " : "relevant ", broad_model_input_name(model, best), limit);
    }
    if (shown) cli_print(" (how strongly predictions depend on an input; the mean is 1)\n");
}

/* What the pilot of `auto` decided, and by which figures. */
static void print_pilot(const broad_model *model, const json_t *stored)
{
    static const char *const styles[] = {"mix", "dense", "difference"};
    if (!(json_number_value(json_object_get(stored, "pilot_mix")) > 0)) return;
    cli_print("pilot    %s nodes with range %.3g; leave-one-out errors on a part of the rows, relative to the targets:",
              text_of(json_object_get(stored, "style")), broad_model_feature_range(model));
    for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++) {
        char key[32];
        snprintf(key, sizeof key, "pilot_%s", styles[i]);
        cli_print("%s %s %.4g", i ? "," : "", styles[i], json_number_value(json_object_get(stored, key)));
    }
    cli_print("\n");
    print_relevance(model);
}

static int report_text(const char *path, const broad_model *model, int all)
{
    char size[64], names[256], estimate[256];
    json_t *stored = NULL;
    const char *reason = broad_model_reason(model);
    size_t layers = broad_model_layers(model);
    cli_format_bytes(size, sizeof size, file_bytes(path));
    cli_print("file     %s (%s)\n", path, size);
    cli_format_size(size, sizeof size, model);
    cli_print("network  %s, %s%s, seed %llu\n", cli_kind_name(broad_model_kind(model)), size,
              broad_model_precision(model) == BROAD_FLOAT ? ", in single precision" : "",
              (unsigned long long)broad_model_seed(model));
    cli_format_names(names, sizeof names, broad_model_input_name, model, broad_model_inputs(model));
    cli_print("inputs   %zu (%s)\n", broad_model_inputs(model), names);
    int status = cli_json_stored(&stored, model);
    if (status) return status;
    print_photo(model, stored);
    print_columns(stored);
    cli_print_outputs(model);
    print_class_weights(model, stored);
    print_choices(model, stored);
    print_pilot(model, stored);
    json_decref(stored);
    cli_print("trained  on %zu rows; %s%s%s\n", broad_model_rows(model), cli_outcome_name(broad_model_outcome(model)),
              reason[0] ? ": " : "", reason);
    if (cli_estimate_line(estimate, sizeof estimate, model)) cli_print("estimate %s\n", estimate);
    cli_print_stages(model);
    cli_print_layers(model, all);
    broad_layer first, last;
    if (layers && !cli_in_blocks(model) && !broad_model_layer(&first, model, 0) &&
        !broad_model_layer(&last, model, layers - 1))
        cli_print("norm     of the residual: %.6g -> %.6g, %.4f of the initial norm\n", first.norm_before,
                  last.norm_after, first.norm_before > 0 ? last.norm_after / first.norm_before : 0);
    return BROAD_OK;
}

int cli_info(const cli_arguments *arguments)
{
    broad_model *model = NULL;
    const char *path = arguments->positional[0];
    int status = cli_model_load(&model, arguments);
    if (!status && cli_given(arguments, "json")) status = report_json(arguments, model);
    else if (!status) status = report_text(path, model, cli_given(arguments, "layers") != NULL);
    broad_model_free(model);
    return status;
}
