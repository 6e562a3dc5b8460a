#include "run/show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CONFUSION_CLASSES = 16, NAME_COLUMNS = 12 };

const char *cli_kind_name(broad_kind kind)
{
    static char name[24];
    const broad_option *option = cli_library_option("kind");
    const char *word = option ? option->choices : "";
    for (int i = 0; i < (int)kind && word; i++) {
        word = strchr(word, '|');
        if (word) word++;
    }
    snprintf(name, sizeof name, "%.*s", word ? (int)strcspn(word, "|") : 7, word ? word : "unknown");
    return name;
}

const char *cli_precision_name(broad_precision precision)
{
    return precision == BROAD_PRECISION_FLOAT ? "float" : "double";
}

const char *cli_task_name(broad_task task)
{
    return task == BROAD_TASK_CLASSIFY ? "classify" : task == BROAD_TASK_REGRESS ? "regress" : "none";
}

const char *cli_outcome_name(broad_outcome outcome)
{
    switch (outcome) {
    case BROAD_OUTCOME_COMPLETE: return "complete";
    case BROAD_OUTCOME_STALLED: return "stalled";
    case BROAD_OUTCOME_TARGET_REACHED: return "target_reached";
    case BROAD_OUTCOME_TIME_LIMIT: return "time_limit";
    case BROAD_OUTCOME_STOPPED: return "stopped";
    }
    return "unknown";
}

const char *cli_outcome_words(const broad_model *model)
{
    broad_outcome outcome = broad_model_outcome(model);
    return outcome == BROAD_OUTCOME_STALLED && cli_scored(model) ? "ended by itself" : cli_outcome_name(outcome);
}

const char *cli_fitting_words(const broad_model *model)
{
    static const char *const words[] = {
        [BROAD_FITTING_CHAIN] = "each layer fitted to the residual of those before it (chain)",
        [BROAD_FITTING_JOINT] = "a chain of layers, then one ridge regression over all nodes (joint)",
        [BROAD_FITTING_STEPWISE] = "one ridge regression over all nodes, solved again with each layer (joint)",
        [BROAD_FITTING_WINDOW] = "with each layer, the weights of the last nodes are solved again (window)",
        [BROAD_FITTING_AT_ONCE] = "one ridge regression over all nodes (joint)",
    };
    return words[broad_model_fitting(model)];
}

/* ---- JSON ---- */

json_t *cli_names_json(const char *(*name_at)(const broad_model *, size_t), const broad_model *model, size_t count)
{
    json_t *names = json_array();
    for (size_t i = 0; i < count; i++) cli_json_append(names, cli_json_text(name_at(model, i)));
    return names;
}

json_t *cli_confusion_json(const broad_metrics *metrics)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < metrics->classes; i++) {
        json_t *row = json_array();
        for (size_t j = 0; j < metrics->classes; j++)
            cli_json_append(row, json_integer((json_int_t)metrics->confusion[i * metrics->classes + j]));
        cli_json_append(rows, row);
    }
    return rows;
}

json_t *cli_normal_json(const broad_model *model)
{
    if (broad_model_task(model) != BROAD_TASK_CLASSIFY) return json_null();
    return cli_json_text(broad_model_output_name(model, broad_model_normal(model)));
}

json_t *cli_joint_json(const broad_model *model)
{
    broad_joint joint = {.size = sizeof joint};
    if (broad_model_joint(&joint, model) || !joint.known) return json_null();
    json_t *object = json_object();
    cli_json_put(object, "lambda", cli_json_real(joint.lambda));
    cli_json_put(object, "norm", cli_json_real(joint.norm));
    return object;
}

static json_t *layer_json(const broad_layer *layer)
{
    json_t *object = json_object();
    cli_json_put(object, "origin", cli_json_text(broad_enum_name(BROAD_ENUM_ORIGIN, (int)layer->origin)));
    cli_json_put(object, "width", json_integer((json_int_t)layer->width));
    cli_json_put(object, "first_row", json_integer((json_int_t)layer->first_row));
    cli_json_put(object, "rows", json_integer((json_int_t)layer->rows));
    cli_json_put(object, "gamma", cli_json_real(layer->gamma));
    cli_json_put(object, "mu", cli_json_real(layer->mu));
    cli_json_put(object, "bound", cli_json_real(layer->bound));
    cli_json_put(object, "norm_before", cli_json_real(layer->norm_before));
    cli_json_put(object, "norm_after", cli_json_real(layer->norm_after));
    cli_json_put(object, "ratio", cli_json_real(layer->ratio));
    cli_json_put(object, "tested", cli_json_real(layer->tested));
    cli_json_put(object, "lambda", cli_json_real(layer->lambda));
    cli_json_put(object, "range", cli_json_real(layer->range));
    cli_json_put(object, "tries", json_integer((json_int_t)layer->tries));
    cli_json_put(object, "relaxed", json_integer((json_int_t)layer->relaxed));
    cli_json_put(object, "test", cli_json_text(broad_enum_name(BROAD_ENUM_SUPERVISE, (int)layer->test)));
    cli_json_put(object, "passed", json_boolean(layer->passed));
    if (layer->test == BROAD_SUPERVISE_GCV) {
        cli_json_put(object, "df_before", cli_json_real(layer->df_before));
        cli_json_put(object, "df", cli_json_real(layer->df));
        cli_json_put(object, "df_error", cli_json_real(layer->df_error));
        cli_json_put(object, "score", cli_json_real(layer->score));
        cli_json_put(object, "penalty", cli_json_real(layer->penalty));
    }
    return object;
}

json_t *cli_layers_json(const broad_model *model)
{
    json_t *layers = json_array();
    for (size_t i = 0; i < broad_model_layers(model); i++) {
        broad_layer layer = {.size = sizeof layer};
        if (broad_model_layer(&layer, model, i) == BROAD_OK) cli_json_append(layers, layer_json(&layer));
    }
    return layers;
}

/* ---- text ---- */

/* Whether the normal class is more than the most frequent one of many, such as a letter of the alphabet. */
static int means_normal(const broad_model *model)
{
    return broad_model_outputs(model) == 2 || broad_model_maps(model) ||
           strcmp(broad_model_normal_reason(model), "the most frequent") != 0;
}

void cli_print_outputs(const broad_model *model, const char *hint)
{
    char names[256];
    size_t outputs = broad_model_outputs(model);
    int classify = broad_model_task(model) == BROAD_TASK_CLASSIFY;
    cli_format_names(names, sizeof names, broad_model_output_name, model, outputs);
    if (outputs == 1) cli_print("%s %s\n", classify ? "class   " : "target  ", names);
    else cli_print("%s %zu: %s", classify ? "classes " : "targets ", outputs, names);
    if (classify && outputs == 2)
        cli_print("; positive class: %s", broad_model_output_name(model, broad_model_positive(model)));
    if (outputs != 1) cli_print("\n");
    if (!classify || outputs < 2 || !means_normal(model)) return;
    cli_print("normal   %s (%s%s)\n", broad_model_output_name(model, broad_model_normal(model)),
              broad_model_normal_reason(model), hint);
}

void cli_print_confusion(const broad_metrics *metrics, const broad_model *model)
{
    size_t classes = metrics->classes;
    if (!metrics->confusion || classes > CONFUSION_CLASSES) return;
    cli_print("\nconfusion matrix (rows: true class, columns: predicted class)\n%*s", NAME_COLUMNS, "");
    for (size_t j = 0; j < classes; j++)
        cli_print(" %*.*s", NAME_COLUMNS, NAME_COLUMNS, broad_model_output_name(model, j));
    for (size_t i = 0; i < classes; i++) {
        cli_print("\n%*.*s", NAME_COLUMNS, NAME_COLUMNS, broad_model_output_name(model, i));
        for (size_t j = 0; j < classes; j++) cli_print(" %*zu", NAME_COLUMNS, metrics->confusion[i * classes + j]);
    }
    cli_print("\n");
}

/* The first five, then about five spread over the rest, and the last. */
static int layer_shown(size_t layer, size_t count)
{
    return layer < 5 || layer + 1 == count || (layer + 1) % ((count + 4) / 5) == 0;
}

int cli_in_blocks(const broad_model *model) { return broad_model_fitting(model) == BROAD_FITTING_AT_ONCE; }

int cli_solved_jointly(const broad_model *model)
{
    broad_fitting fitting = broad_model_fitting(model);
    return fitting == BROAD_FITTING_JOINT || fitting == BROAD_FITTING_AT_ONCE;
}

int cli_scored(const broad_model *model)
{
    broad_options settings;
    broad_options_init(&settings);
    if (broad_model_settings(&settings, model) || settings.supervise != BROAD_SUPERVISE_GCV) return 0;
    broad_layer last = {.size = sizeof last};
    size_t count = broad_model_layers(model);
    return !count || (!broad_model_layer(&last, model, count - 1) && last.test == BROAD_SUPERVISE_GCV);
}

int cli_score_line(char *out, size_t bytes, const broad_model *model)
{
    size_t count = broad_model_layers(model), first = count;
    broad_layer last = {.size = sizeof last}, layer = {.size = sizeof layer};
    if (!count || broad_model_layer(&last, model, count - 1) || last.test != BROAD_SUPERVISE_GCV) return 0;
    double begin = last.score;
    while (first && !broad_model_layer(&layer, model, first - 1) && layer.rows == last.rows &&
           layer.first_row == last.first_row && layer.test == BROAD_SUPERVISE_GCV) {
        begin = layer.score / layer.tested;
        first--;
    }
    snprintf(out, bytes,
             "fell to %.4g of what it was, in %zu layer%s; the chain has %s%.0f degree%s of freedom on %zu rows",
             begin > 0 ? last.score / begin : 0, count - first, cli_plural(count - first),
             last.df_error > 0 ? "about " : "", last.df, fabs(last.df - 1) < 0.5 ? "" : "s", last.rows);
    return 1;
}

void cli_format_size(char *out, size_t bytes, const broad_model *model)
{
    size_t nodes = broad_model_nodes(model), parts = broad_model_layers(model);
    const char *word = cli_in_blocks(model) ? "block" : "layer";
    if (!parts) snprintf(out, bytes, "%zu nodes and no %s", nodes, word);
    else if (parts == 1 && cli_in_blocks(model)) snprintf(out, bytes, "%zu nodes in one block", nodes);
    else snprintf(out, bytes, "%zu nodes in %zu %s%s", nodes, parts, word, parts == 1 ? "" : "s");
}

void cli_print_joint(const broad_model *model)
{
    broad_joint joint = {.size = sizeof joint};
    if (broad_model_joint(&joint, model) || !joint.known) return;
    cli_print("joint    one ridge regression over all nodes: lambda %.3g, ||E|| %.5g\n", joint.lambda, joint.norm);
}

/* What there is to say about blocks whose weights are all of one fit. */
static void print_blocks(const broad_model *model)
{
    cli_print("  %5s %6s %9s %7s\n", "block", "width", "origin", "range");
    for (size_t i = 0; i < broad_model_layers(model); i++) {
        broad_layer layer = {.size = sizeof layer};
        if (broad_model_layer(&layer, model, i)) continue;
        cli_print("  %5zu %6zu %9s %7.4g\n", i + 1, layer.width, broad_enum_name(BROAD_ENUM_ORIGIN, (int)layer.origin),
                  layer.range);
    }
}

static void print_layer(const broad_layer *layer, size_t number, int scored)
{
    cli_print("  %5zu %6zu %9.5f %9.5f %9.5f %11.5g", number, layer->width, layer->gamma, layer->bound, layer->tested,
              layer->norm_after);
    if (scored) cli_print(" %9.5g %11.5g", layer->df, layer->score);
    cli_print(" %9.1e %7.4g %6zu%s\n", layer->lambda, layer->range, layer->tries, layer->passed ? "" : "  forced");
}

void cli_print_layers(const broad_model *model, int all)
{
    size_t count = broad_model_layers(model), skipped = 0;
    int scored = cli_scored(model);
    if (!count) return;
    if (cli_in_blocks(model)) {
        print_blocks(model);
        return;
    }
    cli_print("  %5s %6s %9s %9s %9s %11s", "layer", "width", "gamma", "bound", "tested", "||E||");
    if (scored) cli_print(" %9s %11s", "df", "score");
    cli_print(" %9s %7s %6s\n", "lambda", "range", "tries");
    for (size_t i = 0; i < count; i++) {
        broad_layer layer = {.size = sizeof layer};
        if (broad_model_layer(&layer, model, i)) continue;
        if (!all && !layer_shown(i, count)) {
            skipped++;
            continue;
        }
        if (skipped) cli_print("  %5s\n", "...");
        skipped = 0;
        print_layer(&layer, i + 1, scored);
    }
}

/* ---- figures after each layer ---- */

json_t *cli_curve_json(const broad_curve_point *points, const broad_model *model)
{
    json_t *array = json_array();
    int classify = broad_model_task(model) == BROAD_TASK_CLASSIFY;
    for (size_t i = 0; i < broad_model_layers(model); i++) {
        json_t *object = json_object();
        cli_json_put(object, "layer", json_integer((json_int_t)points[i].layer));
        cli_json_put(object, "nodes", json_integer((json_int_t)points[i].nodes));
        cli_json_put(object, "norm", cli_json_real(points[i].norm));
        if (classify) cli_json_put(object, "accuracy", cli_json_real(points[i].accuracy));
        else cli_json_put(object, "rmse", cli_json_real(points[i].rmse));
        cli_json_put(object, "loo", cli_json_real(points[i].loo));
        cli_json_append(array, object);
    }
    return array;
}

void cli_print_curve(const broad_curve_point *points, const broad_model *model)
{
    size_t count = broad_model_layers(model), skipped = 0;
    int classify = broad_model_task(model) == BROAD_TASK_CLASSIFY, loo = count && !isnan(points[count - 1].loo);
    if (count > 1 && isnan(points[0].norm))
        cli_print("curve    only for the whole network: its output weights were computed together, so a part of the "
                  "network has none of its own\n");
    cli_print("  %5s %6s %11s %11s%s\n", "layer", "nodes", "||E||", classify ? "accuracy" : "RMSE",
              loo ? "         loo" : "");
    for (size_t i = 0; i < count; i++) {
        const broad_curve_point *point = &points[i];
        if (isnan(point->norm) || !layer_shown(i, count)) {
            skipped += isnan(point->norm) ? 0 : 1;
            continue;
        }
        if (skipped) cli_print("  %5s\n", "...");
        skipped = 0;
        cli_print("  %5zu %6zu %11.5g %11.6g", point->layer, point->nodes, point->norm,
                  classify ? point->accuracy : point->rmse);
        if (loo) cli_print(" %11.5g", point->loo);
        cli_print("\n");
    }
}

/* ---- stages: layers that came about in the same way on the same rows ---- */

/* The layer after the last one of the stage that `first` begins; *out is the first one's certificate. */
static size_t stage_end(broad_layer *out, const broad_model *model, size_t first)
{
    size_t end = first + 1;
    broad_layer next = {.size = sizeof next};
    broad_layer_init(out);
    if (broad_model_layer(out, model, first)) return end;
    while (end < broad_model_layers(model) && !broad_model_layer(&next, model, end) && next.rows == out->rows &&
           next.first_row == out->first_row && next.origin == out->origin)
        end++;
    return end;
}

json_t *cli_stages_json(const broad_model *model)
{
    json_t *stages = json_array();
    for (size_t first = 0, end; first < broad_model_layers(model); first = end) {
        broad_layer layer = {.size = sizeof layer};
        json_t *object = json_object();
        end = stage_end(&layer, model, first);
        cli_json_put(object, "first_layer", json_integer((json_int_t)first + 1));
        cli_json_put(object, "layers", json_integer((json_int_t)(end - first)));
        cli_json_put(object, "origin", cli_json_text(broad_enum_name(BROAD_ENUM_ORIGIN, (int)layer.origin)));
        cli_json_put(object, "first_row", json_integer((json_int_t)layer.first_row));
        cli_json_put(object, "rows", json_integer((json_int_t)layer.rows));
        cli_json_append(stages, object);
    }
    return stages;
}

void cli_print_stages(const broad_model *model)
{
    for (size_t first = 0, end; first < broad_model_layers(model); first = end) {
        broad_layer layer = {.size = sizeof layer};
        char layers[64];
        end = stage_end(&layer, model, first);
        const char *word = cli_in_blocks(model) ? "block" : "layer";
        if (end - first == 1) snprintf(layers, sizeof layers, "%s %zu", word, end);
        else snprintf(layers, sizeof layers, "%ss %zu-%zu", word, first + 1, end);
        cli_print("%-8s %s: %s, on rows %zu-%zu\n", first ? "" : "stages", layers,
                  broad_enum_name(BROAD_ENUM_ORIGIN, (int)layer.origin), layer.first_row + 1,
                  layer.first_row + layer.rows);
    }
}

const char *cli_since_words(char out[CLI_SINCE_BYTES], size_t since)
{
    if (since <= 1) return "the initial norm";
    snprintf(out, CLI_SINCE_BYTES, "the norm when the rows last changed, before layer %zu", since);
    return out;
}

size_t cli_since_layer(const broad_model *model)
{
    size_t since = broad_model_layers(model);
    broad_layer last = {.size = sizeof last}, before = {.size = sizeof before};
    if (!since || broad_model_layer(&last, model, since - 1)) return 0;
    while (since > 1 && !broad_model_layer(&before, model, since - 2) && before.first_row == last.first_row &&
           before.rows == last.rows)
        since--;
    return since;
}

/* ---- amounts ---- */

static void format_amount(char *out, size_t bytes, double count, const char *const units[5])
{
    size_t unit = 0;
    for (; count >= 1000 && unit < 4; unit++) count /= 1000;
    snprintf(out, bytes, unit ? "%.1f %s" : "%.0f %s", count, units[unit]);
}

void cli_format_bytes(char *out, size_t bytes, double count)
{
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
    format_amount(out, bytes, count, units);
}

void cli_format_flops(char *out, size_t bytes, double count)
{
    static const char *const units[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"};
    format_amount(out, bytes, count, units);
}

const char *cli_listed_mark(const char *name) { return strchr(name, ',') ? "'" : ""; }

void cli_format_names(char *out, size_t bytes, const char *(*name_at)(const broad_model *, size_t),
                      const broad_model *model, size_t count)
{
    size_t used = 0, i = 0;
    out[0] = 0;
    for (; i < count && i < 8 && used + 60 < bytes; i++) {
        const char *name = name_at(model, i), *mark = count > 1 ? cli_listed_mark(name) : "";
        used += (size_t)snprintf(out + used, bytes - used, "%s%s%.24s%s", i ? ", " : "", mark, name, mark);
    }
    if (i < count) snprintf(out + used, bytes - used, " and %zu more", count - i);
}
