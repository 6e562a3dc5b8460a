/* broad info: what a model file holds. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "run/choices.h"
#include "run/importance.h"
#include "run/load_model.h"
#include "run/measures.h"
#include "run/photo_summary.h"
#include "run/relevance.h"
#include "run/show.h"

static double file_bytes(const char *path)
{
    struct stat info;
    return stat(path, &info) ? 0 : (double)info.st_size;
}

/* Weights of the classes by label; null: all count alike. */
static json_t *class_weights_json(const broad_model *model)
{
    if (!broad_model_weighs_classes(model)) return json_null();
    json_t *object = json_object();
    for (size_t c = 0; c < broad_model_outputs(model); c++)
        cli_json_put(object, broad_model_output_name(model, c), cli_json_real(broad_model_class_weight(model, c)));
    return object;
}

static int format_scale(char *out, size_t bytes, const broad_model *model)
{
    broad_options settings;
    broad_options_init(&settings);
    int status = broad_model_settings(&settings, model);
    return status ? status : broad_options_get(out, bytes, &settings, "scale");
}

static json_t *relevance_json(const broad_model *model)
{
    json_t *list = json_array();
    for (size_t i = 0; i < broad_model_inputs(model); i++)
        json_array_append_new(list, cli_json_real(broad_model_relevance(model, i)));
    return list;
}

/* `stored` is what the model's file says, printed as it is. */
static int report_json(const cli_arguments *arguments, const broad_model *model)
{
    const char *path = arguments->positional[0];
    json_t *stored = NULL;
    char scale[64];
    int status = format_scale(scale, sizeof scale, model);
    if (!status) status = cli_json_stored(&stored, model);
    if (status) return status;
    const char *weight = broad_model_weight_name(model);
    json_t *object = cli_json_object("info");
    cli_json_put(object, "path", cli_json_text(path));
    cli_json_put(object, "bytes", json_integer((json_int_t)file_bytes(path)));
    cli_json_put(object, "kind", cli_json_text(cli_kind_name(broad_model_kind(model))));
    cli_json_put(object, "task", cli_json_text(cli_task_name(broad_model_task(model))));
    cli_json_put(object, "rows", json_integer((json_int_t)broad_model_rows(model)));
    cli_json_put(object, "inputs", cli_names_json(broad_model_input_name, model, broad_model_inputs(model)));
    cli_json_put(object, "outputs", cli_names_json(broad_model_output_name, model, broad_model_outputs(model)));
    cli_json_put(object, "normal", cli_normal_json(model));
    cli_json_put(object, "maps", broad_model_maps(model) ? cli_maps_json(broad_model_maps(model)) : json_null());
    cli_json_put(object, "photo", json_incref(json_object_get(stored, "photo")));
    cli_json_put(object, "categories", json_incref(json_object_get(stored, "categories")));
    cli_json_put(object, "weight", weight ? cli_json_text(weight) : json_null());
    cli_json_put(object, "class_weights", class_weights_json(model));
    cli_json_put(object, "scale", cli_json_text(scale));
    cli_json_put(object, "features",
                 cli_json_text(broad_enum_name(BROAD_ENUM_FEATURE_SOURCE, (int)broad_model_feature_source(model))));
    cli_json_put(object, "fitting",
                 cli_json_text(broad_enum_name(BROAD_ENUM_FITTING, (int)broad_model_fitting(model))));
    cli_json_put(object, "joint", cli_joint_json(model));
    cli_json_put(object, "nodes", json_integer((json_int_t)broad_model_nodes(model)));
    cli_json_put(object, "precision", cli_json_text(cli_precision_name(broad_model_precision(model))));
    cli_json_put(object, "seed", cli_json_uint(broad_model_seed(model)));
    cli_json_put(object, "relevance", relevance_json(model));
    cli_json_put(object, "metric", cli_model_metric_json(model));
    cli_json_put(object, "chosen", cli_choices_json(model));
    cli_json_put(object, "importance", cli_importance_json(model));
    cli_json_put(object, "feature_range", cli_json_real(broad_model_feature_range(model)));
    cli_json_put(object, "status", cli_json_text(cli_outcome_name(broad_model_outcome(model))));
    cli_json_put(object, "reason", cli_json_text(broad_model_reason(model)));
    cli_json_put(object, "loo", cli_estimate_json(model));
    json_t *sources = json_object_get(stored, "sources");
    cli_json_put(object, "sources", sources ? json_incref(sources) : json_array());
    cli_json_put(object, "stages", cli_stages_json(model));
    cli_json_put(object, "layers", cli_layers_json(model));
    cli_json_put(object, "stored", stored);
    return cli_json_give(arguments, object);
}

/* A column of categories with the first of its levels. */
static void print_category(const broad_model *model, size_t category)
{
    enum { SHOWN = 8 };
    size_t count = broad_model_category_levels(model, category);
    cli_print("%-8s %.40s: %zu categor%s (", category ? "" : "columns", broad_model_category_name(model, category),
              count, count == 1 ? "y" : "ies");
    for (size_t i = 0; i < count && i < SHOWN; i++)
        cli_print("%s%.24s", i ? ", " : "", broad_model_category_level(model, category, i));
    if (count > SHOWN) cli_print(" and %zu more", count - SHOWN);
    cli_print(")\n");
}

/* How photos become its inputs; nothing for a model of other rows. */
static void print_photo(const broad_model *model)
{
    broad_photo_spec photo = {.size = sizeof photo};
    char names[64];
    if (broad_model_photo(&photo, model) || !photo.maps) return;
    cli_format_maps(names, sizeof names, photo.maps);
    cli_print("photos   ");
    if (photo.components) cli_print("%zu components of ", photo.components);
    cli_print("%s", names);
    if (photo.maps & BROAD_PHOTO_MAP_PIXELS) cli_print(", %zu x %zu pixels", photo.side, photo.side);
    if (photo.crop == BROAD_CROP_NONE) cli_print(", whole photos\n");
    else
        cli_print(", %s %s\n", photo.each_box ? "each box" : "the best box",
                  photo.crop == BROAD_CROP_BOXES ? "in a file" : "that a detector finds");
}

/* What columns of the file are besides inputs and targets. */
static void print_columns(const broad_model *model)
{
    const char *weight = broad_model_weight_name(model);
    for (size_t i = 0; i < broad_model_categories(model); i++) print_category(model, i);
    if (weight) cli_print("weights  column %.40s\n", weight);
}

static void print_class_weights(const broad_model *model)
{
    enum { SHOWN = 16 };
    size_t count = broad_model_outputs(model);
    if (!broad_model_weighs_classes(model)) return;
    cli_print("weights  by class: ");
    for (size_t c = 0; c < count && c < SHOWN; c++)
        cli_print("%s%.24s %.4g", c ? ", " : "", broad_model_output_name(model, c), broad_model_class_weight(model, c));
    cli_print(count > SHOWN ? ", ...\n" : "\n");
}

/* Which nodes there are, what they see, and where the output weights come from. */
static int print_choices(const broad_model *model)
{
    char scale[64];
    broad_feature_source source = broad_model_feature_source(model);
    int status = format_scale(scale, sizeof scale, model);
    if (status) return status;
    if (source == BROAD_FEATURE_SOURCE_DIRECT) cli_print("features the inputs themselves");
    else
        cli_print("features %zu groups of nodes, %s", broad_model_feature_groups(model),
                  broad_enum_name(BROAD_ENUM_FEATURE_SOURCE, (int)source));
    cli_print("; inputs scaled: %s\n", scale);
    cli_print("outputs  %s\n", cli_fitting_words(model));
    cli_print_joint(model);
    return BROAD_OK;
}

/* What the pilot of `auto` decided, and by which figures. */
static void print_pilot(const broad_model *model)
{
    broad_pilot pilot = {.size = sizeof pilot};
    if (broad_model_pilot(&pilot, model) || !pilot.known) return;
    cli_print("pilot    %s nodes with range %.3g; leave-one-out errors on a part of the rows, relative to the targets:",
              pilot.styles[pilot.chosen].name, broad_model_feature_range(model));
    for (size_t i = 0, shown = 0; i < BROAD_PILOT_STYLES; i++)
        if (pilot.styles[i].error > 0)
            cli_print("%s %s %.4g", shown++ ? "," : "", pilot.styles[i].name, pilot.styles[i].error);
    cli_print("\n");
}

/* Whether its nodes look at some inputs more than at others. */
static void print_metric(const broad_model *model)
{
    broad_learned_metric metric = {.size = sizeof metric};
    if (broad_model_feature_source(model) == BROAD_FEATURE_SOURCE_NONE || broad_model_metric(&metric, model)) return;
    if (metric.form == BROAD_METRIC_FORM_NONE)
        cli_print("metric   none is learned: %s\n", cli_metric_reason(model)->words);
    else cli_print("metric   learned, %s; --relevance shows it\n", cli_metric_reason(model)->brief);
}

/* --relevance: what it looks at, and nothing else. */
static int report_relevance(const broad_model *model)
{
    cli_relevance relevance;
    int status = cli_relevance_make(&relevance, model);
    if (!status) cli_print_relevance(&relevance);
    cli_relevance_clear(&relevance);
    return status;
}

/* Which files the rows came from. */
static void print_sources(const broad_model *model)
{
    enum { SHOWN = 8 };
    size_t count = broad_model_sources(model);
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        broad_source source = {.size = sizeof source};
        size_t held = 0;
        if (broad_model_source(&source, model, i)) return;
        for (size_t k = 0; k < source.photos; k++) {
            broad_source_photo photo = {.size = sizeof photo};
            held += !broad_model_source_photo(&photo, model, i, k) && photo.held_out;
        }
        cli_print("%-8s %zu row%s of %s%s%s", i ? "" : "from", source.rows, cli_plural(source.rows), source.path,
                  source.labels ? ", labels from " : "", source.labels ? source.labels : "");
        if (source.photos) cli_print(" (%zu photo%s", source.photos, cli_plural(source.photos));
        if (held) cli_print(", %zu of them held out", held);
        cli_print(source.photos ? ")\n" : "\n");
    }
    if (count > SHOWN) cli_print("%-8s and %zu more\n", "", count - SHOWN);
}

/* How far the layers brought the residual down, on the rows of the last one. */
static void print_norm(const broad_model *model)
{
    size_t since = cli_since_layer(model);
    char words[CLI_SINCE_BYTES];
    broad_layer first = {.size = sizeof first}, last = {.size = sizeof last};
    if (!since || cli_in_blocks(model) || broad_model_layer(&first, model, since - 1) ||
        broad_model_layer(&last, model, broad_model_layers(model) - 1))
        return;
    cli_print("norm     of the residual: %.6g -> %.6g, %.4f of %s\n", first.norm_before, last.norm_after,
              first.norm_before > 0 ? last.norm_after / first.norm_before : 0, cli_since_words(words, since));
}

static int report_text(const char *path, const broad_model *model, int all)
{
    char size[64], names[256], line[256];
    const char *reason = broad_model_reason(model);
    cli_format_bytes(size, sizeof size, file_bytes(path));
    cli_print("file     %s (%s)\n", path, size);
    cli_format_size(size, sizeof size, model);
    cli_print("network  %s, %s%s, seed %llu\n", cli_kind_name(broad_model_kind(model)), size,
              broad_model_precision(model) == BROAD_PRECISION_FLOAT ? ", in single precision" : "",
              (unsigned long long)broad_model_seed(model));
    cli_format_names(names, sizeof names, broad_model_input_name, model, broad_model_inputs(model));
    cli_print("inputs   %zu (%s)\n", broad_model_inputs(model), names);
    print_photo(model);
    print_columns(model);
    cli_print_outputs(model, "");
    print_class_weights(model);
    int status = print_choices(model);
    if (status) return status;
    print_pilot(model);
    print_metric(model);
    cli_print_importance(model);
    cli_print("trained  on %zu rows; %s%s%s\n", broad_model_rows(model), cli_outcome_words(model),
              reason[0] ? ": " : "", reason);
    print_sources(model);
    if (cli_estimate_line(line, sizeof line, model)) cli_print("estimate %s\n", line);
    if (cli_score_line(line, sizeof line, model)) cli_print("score    %s\n", line);
    cli_print_stages(model);
    cli_print_layers(model, all);
    print_norm(model);
    return BROAD_OK;
}

int cli_info(const cli_arguments *arguments)
{
    broad_model *model = NULL;
    const char *path = arguments->positional[0];
    int status = cli_model_load(&model, arguments);
    if (!status && cli_given(arguments, "json")) status = report_json(arguments, model);
    else if (!status && cli_given(arguments, "relevance")) status = report_relevance(model);
    else if (!status) status = report_text(path, model, cli_given(arguments, "layers") != NULL);
    broad_model_free(model);
    return status;
}
