/* broad info: what a model file holds. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "report.h"

static double file_bytes(const char *path)
{
    struct stat info;
    return stat(path, &info) ? 0 : (double)info.st_size;
}

/* ---- what was chosen ------------------------------------------------------------------------------------------- */

static const char *text_of(const json_t *value)
{
    const char *text = json_string_value(value);
    return text ? text : "?";
}

static int is(const json_t *value, const char *word) { return strcmp(text_of(value), word) == 0; }

/* Feature nodes, style and relevance are of kinds that have such nodes; lambda is that of the weights that predict, and
 * nan where each layer has its own. */
typedef struct choices {
    const json_t *settings, *style; /* style: NULL where nodes are not sampled */
    size_t groups, feature_nodes;
    int features_auto, range_auto, lambda_auto;
    double lambda;
} choices;

static choices find_choices(const json_t *stored, const broad_model *model)
{
    const json_t *settings = json_object_get(stored, "settings"), *groups = json_object_get(stored, "groups");
    const json_t *joint = json_object_get(stored, "joint");
    int direct = is(json_object_get(json_array_get(groups, 0), "source"), "direct");
    int sampled = !direct && is(json_object_get(settings, "feature_weights"), "sampled");
    broad_layer first;
    choices c = {.settings = settings,
                 .style = sampled ? json_object_get(stored, "style") : NULL,
                 .groups = direct ? 0 : json_array_size(groups),
                 .features_auto = !direct && json_is_true(json_object_get(settings, "features_auto")),
                 .range_auto = json_is_true(json_object_get(settings, "range_auto")),
                 .lambda_auto = json_is_true(json_object_get(settings, "lambda_auto")),
                 .lambda = NAN};
    for (size_t i = 0; i < c.groups; i++)
        c.feature_nodes += (size_t)json_integer_value(json_object_get(json_array_get(groups, i), "nodes"));
    if (json_is_object(joint)) c.lambda = json_number_value(json_object_get(joint, "lambda"));
    else if (is(json_object_get(settings, "weights"), "joint") && !broad_model_layer(&first, model, 0))
        c.lambda = first.lambda;
    return c;
}

static json_t *relevance_json(const broad_model *model)
{
    json_t *list = json_array();
    for (size_t i = 0; i < broad_model_inputs(model); i++)
        cli_json_append(list, cli_json_real(broad_model_relevance(model, i)));
    return list;
}

static json_t *chosen_json(const choices *c, const broad_model *model)
{
    json_t *object = json_object(), *automatic = json_array();
    if (c->features_auto) cli_json_append(automatic, cli_json_text("features"));
    if (c->range_auto) cli_json_append(automatic, cli_json_text("range"));
    if (c->lambda_auto) cli_json_append(automatic, cli_json_text("lambda"));
    cli_json_put(object, "auto", automatic);
    cli_json_put(object, "scale", json_incref(json_object_get(c->settings, "scale")));
    cli_json_put(object, "feature_nodes", json_integer((json_int_t)c->feature_nodes));
    cli_json_put(object, "style", c->style ? json_deep_copy(c->style) : json_null());
    cli_json_put(object, "feature_range", cli_json_real(broad_model_feature_range(model)));
    cli_json_put(object, "relevance", c->style ? relevance_json(model) : json_null());
    cli_json_put(object, "lambda", cli_json_real(c->lambda));
    return object;
}

static const char *style_words(const json_t *style)
{
    if (is(style, "mix")) return "directions over all inputs and over two in turn";
    return is(style, "dense") ? "directions over all inputs" : "directions from row to row";
}

/* The inputs that count most, in falling order, or that all count alike. */
static void print_relevance(const broad_model *model)
{
    enum { SHOWN = 5 };
    size_t inputs = broad_model_inputs(model), shown = 0, last = inputs;
    double before = INFINITY, least = INFINITY, most = 0;
    for (size_t i = 0; i < inputs; i++) {
        least = fmin(least, broad_model_relevance(model, i));
        most = fmax(most, broad_model_relevance(model, i));
    }
    printf("relevant %s", most > least ? "" : "all inputs alike\n");
    if (!(most > least)) return;
    for (; shown < inputs && shown < SHOWN; shown++) {
        size_t next = inputs;
        for (size_t i = 0; i < inputs; i++) {
            double r = broad_model_relevance(model, i);
            if (r > before || (r == before && i <= last)) continue;
            if (next == inputs || r > broad_model_relevance(model, next)) next = i;
        }
        before = broad_model_relevance(model, last = next);
        printf("%s%.24s %.2f", shown ? ", " : "", broad_model_input_name(model, next), before);
    }
    if (inputs > shown) printf(" and %zu more", inputs - shown);
    printf(" (1: as all inputs in the mean square)\n");
}

static void print_reasons(const choices *c)
{
    if (c->features_auto) printf("why      feature nodes: as many as the rows of the first fit warrant\n");
    if (c->range_auto && c->style)
        printf("%-8s directions, range, relevance: least leave-one-out error of trials on some rows\n",
               c->features_auto ? "" : "why");
    else if (c->range_auto)
        printf("%-8s ranges: least leave-one-out error of the first layer over a small grid\n",
               c->features_auto ? "" : "why");
    if (c->lambda_auto && isfinite(c->lambda))
        printf("%-8s lambda: least leave-one-out error with all nodes\n",
               c->features_auto || c->range_auto ? "" : "why");
}

static void print_chosen(const choices *c, const broad_model *model)
{
    printf("scaling  %s\n", text_of(json_object_get(c->settings, "scale")));
    if (c->feature_nodes)
        printf("features %zu nodes in %zu group%s, %s, range %.3g\n", c->feature_nodes, c->groups,
               c->groups == 1 ? "" : "s",
               c->style ? style_words(c->style) : text_of(json_object_get(c->settings, "feature_weights")),
               broad_model_feature_range(model));
    else printf("range    %.3g, of the random weights\n", broad_model_feature_range(model));
    if (c->style) print_relevance(model);
    if (isfinite(c->lambda)) printf("lambda   %.3g, of the ridge regression over all nodes\n", c->lambda);
    print_reasons(c);
}

/* ---- the report ------------------------------------------------------------------------------------------------ */

static int report_json(const char *path, const broad_model *model)
{
    json_t *stored = NULL;
    int status = cli_json_stored(&stored, model);
    if (status) return status;
    json_t *object = cli_json_object("info");
    cli_json_put(object, "path", cli_json_text(path));
    cli_json_put(object, "bytes", json_integer((json_int_t)file_bytes(path)));
    cli_json_put(object, "kind", cli_json_text(cli_kind_name(broad_model_kind(model))));
    cli_json_put(object, "task", cli_json_text(cli_task_name(broad_model_task(model))));
    cli_json_put(object, "rows", json_integer((json_int_t)broad_model_rows(model)));
    cli_json_put(object, "inputs", cli_names_json(broad_model_input_name, model, broad_model_inputs(model)));
    cli_json_put(object, "outputs", cli_names_json(broad_model_output_name, model, broad_model_outputs(model)));
    cli_json_put(object, "categories", json_incref(json_object_get(stored, "categories")));
    cli_json_put(object, "weight", json_incref(json_object_get(stored, "weight_name")));
    cli_json_put(object, "nodes", json_integer((json_int_t)broad_model_nodes(model)));
    cli_json_put(object, "seed", cli_json_uint(broad_model_seed(model)));
    cli_json_put(object, "feature_range", cli_json_real(broad_model_feature_range(model)));
    choices chosen = find_choices(stored, model);
    cli_json_put(object, "chosen", chosen_json(&chosen, model));
    cli_json_put(object, "status", cli_json_text(cli_outcome_name(broad_model_outcome(model))));
    cli_json_put(object, "reason", cli_json_text(broad_model_reason(model)));
    cli_json_put(object, "loo", cli_estimate_json(model));
    cli_json_put(object, "stages", cli_stages_json(model));
    cli_json_put(object, "layers", cli_layers_json(model));
    cli_json_put(object, "stored", stored);
    return cli_json_print(object);
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
static void print_columns(const json_t *stored)
{
    const json_t *categories = json_object_get(stored, "categories");
    for (size_t i = 0; i < json_array_size(categories); i++) print_category(json_array_get(categories, i), i == 0);
    const json_t *weight = json_object_get(stored, "weight_name");
    if (!json_is_null(weight)) printf("weights  column %.40s\n", text_of(weight));
}

static int report_text(const char *path, const broad_model *model, int all)
{
    char size[32], names[256], estimate[256];
    json_t *stored = NULL;
    int status = cli_json_stored(&stored, model);
    if (status) return status;
    choices chosen = find_choices(stored, model);
    const char *reason = broad_model_reason(model);
    size_t layers = broad_model_layers(model), outputs = broad_model_outputs(model);
    int classify = broad_model_task(model) == BROAD_TASK_CLASSIFY;
    cli_format_bytes(size, sizeof size, file_bytes(path));
    printf("file     %s (%s)\n", path, size);
    printf("network  %s, %zu nodes in %zu layer%s, seed %llu\n", cli_kind_name(broad_model_kind(model)),
           broad_model_nodes(model), layers, layers == 1 ? "" : "s", (unsigned long long)broad_model_seed(model));
    cli_format_names(names, sizeof names, broad_model_input_name, model, broad_model_inputs(model));
    printf("inputs   %zu (%s)\n", broad_model_inputs(model), names);
    print_columns(stored);
    cli_format_names(names, sizeof names, broad_model_output_name, model, outputs);
    printf("%s  %zu (%s)\n", classify ? "classes" : "targets", outputs, names);
    printf("trained  on %zu rows; %s%s%s\n", broad_model_rows(model), cli_outcome_name(broad_model_outcome(model)),
           reason[0] ? ": " : "", reason);
    if (cli_estimate_line(estimate, sizeof estimate, model)) printf("loo      leave-one-out estimate: %s\n", estimate);
    print_chosen(&chosen, model);
    json_decref(stored);
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
