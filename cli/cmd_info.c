/* broad info: what a model file holds. */
#include <stdio.h>
#include <sys/stat.h>

#include "cli.h"
#include "report.h"

static double file_bytes(const char *path)
{
    struct stat info;
    return stat(path, &info) ? 0 : (double)info.st_size;
}

static int report_json(const char *path, const broad_model *model)
{
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
    cli_json_put(object, "categories", json_incref(json_object_get(settings, "categories")));
    cli_json_put(object, "weight", json_incref(json_object_get(settings, "weight_name")));
    cli_json_put(object, "nodes", json_integer((json_int_t)broad_model_nodes(model)));
    cli_json_put(object, "seed", cli_json_uint(broad_model_seed(model)));
    cli_json_put(object, "feature_range", cli_json_real(broad_model_feature_range(model)));
    cli_json_put(object, "status", cli_json_text(cli_outcome_name(broad_model_outcome(model))));
    cli_json_put(object, "reason", cli_json_text(broad_model_reason(model)));
    cli_json_put(object, "loo", cli_estimate_json(model));
    cli_json_put(object, "stages", cli_stages_json(model));
    cli_json_put(object, "layers", cli_layers_json(model));
    cli_json_put(object, "stored", settings);
    return cli_json_print(object);
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
    printf("%-8s %.40s: %zu level%s (", first ? "columns" : "", text_of(json_object_get(category, "name")), count,
           count == 1 ? "" : "s");
    for (size_t i = 0; i < count && i < SHOWN; i++)
        printf("%s%.24s", i ? ", " : "", text_of(json_array_get(levels, i)));
    if (count > SHOWN) printf(" and %zu more", count - SHOWN);
    printf(")\n");
}

/* What columns of the file are besides inputs and targets. */
static int print_columns(const broad_model *model)
{
    json_t *stored = NULL;
    int status = cli_json_stored(&stored, model);
    if (status) return status;
    const json_t *categories = json_object_get(stored, "categories");
    for (size_t i = 0; i < json_array_size(categories); i++) print_category(json_array_get(categories, i), i == 0);
    const json_t *weight = json_object_get(stored, "weight_name");
    if (!json_is_null(weight)) printf("weights  column %.40s\n", text_of(weight));
    json_decref(stored);
    return BROAD_OK;
}

static int report_text(const char *path, const broad_model *model, int all)
{
    char size[32], names[256], estimate[256];
    const char *reason = broad_model_reason(model);
    size_t layers = broad_model_layers(model), outputs = broad_model_outputs(model);
    int classify = broad_model_task(model) == BROAD_TASK_CLASSIFY;
    cli_format_bytes(size, sizeof size, file_bytes(path));
    printf("file     %s (%s)\n", path, size);
    printf("network  %s, %zu nodes in %zu layer%s, seed %llu\n", cli_kind_name(broad_model_kind(model)),
           broad_model_nodes(model), layers, layers == 1 ? "" : "s", (unsigned long long)broad_model_seed(model));
    cli_format_names(names, sizeof names, broad_model_input_name, model, broad_model_inputs(model));
    printf("inputs   %zu (%s)\n", broad_model_inputs(model), names);
    int status = print_columns(model);
    if (status) return status;
    cli_format_names(names, sizeof names, broad_model_output_name, model, outputs);
    printf("%s  %zu (%s)\n", classify ? "classes" : "targets", outputs, names);
    printf("trained  on %zu rows; %s%s%s\n", broad_model_rows(model), cli_outcome_name(broad_model_outcome(model)),
           reason[0] ? ": " : "", reason);
    if (cli_estimate_line(estimate, sizeof estimate, model)) printf("loo      leave-one-out estimate: %s\n", estimate);
    cli_print_stages(model);
    cli_print_layers(model, all);
    broad_layer first, last;
    if (layers && !broad_model_layer(&first, model, 0) && !broad_model_layer(&last, model, layers - 1))
        printf("norm     %.6g -> %.6g, %.4f of the first\n", first.norm_before, last.norm_after,
               first.norm_before > 0 ? last.norm_after / first.norm_before : 0);
    return BROAD_OK;
}

int cli_info(const cli_arguments *arguments)
{
    broad_model *model = NULL;
    const char *path = arguments->positional[0];
    int status = broad_model_load(&model, path);
    if (!status && cli_given(arguments, "json")) status = report_json(path, model);
    else if (!status) status = report_text(path, model, cli_given(arguments, "layers") != NULL);
    broad_model_free(model);
    return status;
}
