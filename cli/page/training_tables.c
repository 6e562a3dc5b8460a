/* The tables of a page about training: confusion, settings, certificate. */
#include "page/training_tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "page/assets.h"
#include "page/page.h"
#include "page/training_measures.h"
#include "run/show.h"

enum { CLASSES_SHOWN = 60, CLASSES_LOW = 30, CLASSES_WIDE = 12, PAIRS_SHOWN = 10, LAYERS_OPEN = 12, SHADES = 5 };

/* A template of this page, with slots and without. */
#define PART(output, name, ...) CLI_PAGE_PART(output, cli_asset_training_html, name, __VA_ARGS__)
static void put_plain(cli_output *output, const char *name)
{
    cli_page_part(output, cli_asset_training_html, name, NULL);
}

static void put_number(cli_output *output, double value, char form, int digits)
{
    cli_html_put(output, "<td class=\"n\">");
    cli_html_put(output, cli_number_real(&(cli_number){""}, value, form, digits));
    cli_html_put(output, "</td>");
}

/* ---- confusion ---- */

static size_t at(const broad_metrics *m, size_t truth, size_t verdict)
{
    return m->confusion[truth * m->classes + verdict];
}

static size_t of_class(const broad_metrics *m, size_t truth)
{
    size_t sum = 0;
    for (size_t j = 0; j < m->classes; j++) sum += at(m, truth, j);
    return sum;
}

/* How dark a cell is, by its part of the row: right ones in one colour, wrong ones in another. */
static void put_cell(cli_output *output, const broad_metrics *m, size_t truth, size_t verdict)
{
    size_t count = at(m, truth, verdict), all = of_class(m, truth);
    double part = all ? (double)count / (double)all : 0;
    int shade = count ? 1 + (int)broad__whole(part * SHADES, SHADES - 1) : 0;
    cli_output_print(output, "<td class=\"n %s%d\">", truth == verdict ? "r" : "w", shade);
    if (count) cli_output_print(output, "%zu", count);
    else if (m->classes <= CLASSES_WIDE) cli_html_put(output, "<span class=\"none\">0</span>");
    cli_html_put(output, "</td>");
}

/* Whether names of classes are too long to stand over narrow columns. */
static int any_long(const broad_model *model)
{
    for (size_t j = 0; j < broad_model_outputs(model); j++)
        if (strlen(broad_model_output_name(model, j)) > 3) return 1;
    return 0;
}

static void put_matrix(cli_output *output, const cli_training *t, const broad_metrics *m)
{
    cli_output_print(output,
                     "<div class=\"scroll%s\"><table class=\"confusion%s%s\">\n<thead><tr><th scope=\"col\">truth</th>",
                     m->classes > CLASSES_LOW ? " tall" : "", m->classes > CLASSES_WIDE ? " dense" : "",
                     m->classes > CLASSES_WIDE && any_long(t->model) ? " turned" : "");
    for (size_t j = 0; j < m->classes; j++) {
        cli_html_put(output, "<th scope=\"col\" class=\"n\">");
        cli_html_text(output, broad_model_output_name(t->model, j));
        cli_html_put(output, "</th>");
    }
    cli_html_put(output, "<th scope=\"col\" class=\"n\">correct</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < m->classes; i++) {
        size_t all = of_class(m, i);
        cli_html_put(output, "<tr><th scope=\"row\">");
        cli_html_text(output, broad_model_output_name(t->model, i));
        cli_html_put(output, "</th>");
        for (size_t j = 0; j < m->classes; j++) put_cell(output, m, i, j);
        cli_html_put(output, "<td class=\"n\">");
        if (all) cli_html_put(output, cli_number_share(&(cli_number){""}, (double)at(m, i, i) / (double)all));
        cli_html_put(output, "</td></tr>\n");
    }
    cli_html_put(output, "</tbody>\n</table></div>\n");
}

/* The wrong pair with the most rows, no more than `before` of them; later ones of as many come after `after`. 0: none. */
static size_t next_pair(size_t *pair, const broad_metrics *m, size_t before, size_t after)
{
    size_t best = 0, cells = m->classes * m->classes;
    for (size_t k = 0; k < cells; k++) {
        size_t count = m->confusion[k];
        if (k / m->classes == k % m->classes || count <= best) continue;
        if (count < before || (count == before && k > after)) {
            best = count;
            *pair = k;
        }
    }
    return best;
}

static void put_pairs(cli_output *output, const cli_training *t, const broad_metrics *m)
{
    size_t pair = 0, count = next_pair(&pair, m, SIZE_MAX, 0);
    if (!count) return;
    cli_html_put(output, "<p>Most often confused:</p>\n<ol class=\"pairs\">\n");
    for (int shown = 0; count && shown < PAIRS_SHOWN; shown++) {
        cli_html_put(output, "<li><b>");
        cli_html_text(output, broad_model_output_name(t->model, pair / m->classes));
        cli_html_put(output, "</b> taken for <b>");
        cli_html_text(output, broad_model_output_name(t->model, pair % m->classes));
        cli_output_print(output, "</b>: %zu</li>\n", count);
        count = next_pair(&pair, m, count, pair);
    }
    cli_html_put(output, "</ol>\n");
}

static void put_one_confusion(cli_output *output, const cli_training *t, const broad_metrics *m, const char *heading)
{
    cli_output_print(output, "<div><h3>%s</h3>\n", heading);
    if (m->classes <= CLASSES_SHOWN) put_matrix(output, t, m);
    else PART(output, "too-many-classes", "classes", cli_number_count(&(cli_number){""}, m->classes));
    if (m->classes > 6) put_pairs(output, t, m);
    cli_html_put(output, "</div>\n");
}

void cli_training_confusion(cli_output *output, const cli_training *training)
{
    const cli_training *t = training;
    if (broad_model_task(t->model) != BROAD_TASK_CLASSIFY || (!t->train && !t->test)) return;
    put_plain(output, "confusion");
    if (t->test) put_one_confusion(output, t, t->test_metrics, "Test rows");
    if (t->train) put_one_confusion(output, t, t->train_metrics, "Training rows");
    cli_training_measures(output, t);
    cli_html_put(output, "</div>\n</section>\n");
}

/* ---- settings ---- */

static void put_json_value(cli_output *output, const json_t *value)
{
    if (json_is_string(value)) cli_html_text(output, json_string_value(value));
    else if (json_is_boolean(value)) cli_html_put(output, json_is_true(value) ? "yes" : "no");
    else if (json_is_number(value)) cli_output_real(output, json_number_value(value));
    else if (json_is_array(value))
        for (size_t i = 0; i < json_array_size(value); i++) {
            if (i) cli_html_put(output, ", ");
            put_json_value(output, json_array_get(value, i));
        }
    else cli_html_put(output, "none");
}

/* As an option is called: "feature-weights". */
static void option_name(char out[64], const char *key)
{
    snprintf(out, 64, "%s", strcmp(key, "metric") == 0 ? "learned_metric" : key);
    for (char *c = out; *c; c++)
        if (*c == '_') *c = '-';
}

static void put_setting(cli_output *output, const char *name, const char *lead, const json_t *value, const char *help)
{
    cli_html_put(output, "<tr><th scope=\"row\">");
    cli_html_text(output, name);
    cli_html_put(output, "</th><td>");
    cli_html_text(output, lead);
    if (value) put_json_value(output, value);
    cli_html_put(output, "</td><td>");
    cli_html_text(output, help);
    cli_html_put(output, "</td></tr>\n");
}

/* NAME_auto says that NAME was chosen, and gamma_form what the numbers of gamma are: each is told with the other. */
static void put_trained(cli_output *output, const json_t *settings, const char *key, const json_t *value)
{
    char name[64], companion[80], lead[80] = "";
    size_t length = strlen(key);
    if ((length > 5 && strcmp(key + length - 5, "_auto") == 0) || strcmp(key, "gamma_form") == 0) return;
    option_name(name, key);
    const broad_option *option = cli_library_option(strcmp(key, "enhance_nodes") == 0 ? "enhance" : name);
    snprintf(companion, sizeof companion, "%s_auto", key);
    int chosen = json_is_true(json_object_get(settings, companion)), shown = !chosen || strcmp(key, "features") == 0;
    if (chosen) snprintf(lead, sizeof lead, shown ? "auto: " : "auto");
    if (strcmp(key, "gamma") == 0)
        snprintf(lead, sizeof lead, "%s: ", json_string_value(json_object_get(settings, "gamma_form")));
    put_setting(output, name, lead, shown ? value : NULL, option ? option->help : "");
}

/* What is known of the rows besides. */
static void put_of_rows(cli_output *output, const json_t *stored)
{
    static const char *const rows[][3] = {
        {"split_holdout", "holdout", "part of the rows that was held out; 0: none"},
        {"split_seed", "split seed", "seed that chose these rows"},
        {"target_name", "target", "column of the targets"},
        {"group_name", "group", "rows with the same value here belong together"},
        {"weight_name", "weight", "column of the row weights"},
        {"missing", "missing", "how empty fields were treated"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        put_setting(output, rows[i][1], "", json_object_get(stored, rows[i][0]), rows[i][2]);
}

static void put_of_photos(cli_output *output, const json_t *photo)
{
    static const char *const rows[][2] = {
        {"side", "side of the square, in pixels"},
        {"crop", "which part of a photo is used"},
        {"components", "number of principal components used as inputs; 0: the inputs are used as they are"},
        {"augment", "augmented copies of each photo that were trained on"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        put_setting(output, rows[i][0], "", json_object_get(photo, rows[i][0]), rows[i][1]);
}

void cli_training_settings(cli_output *output, const cli_training *training)
{
    json_t *settings = json_object_get(training->stored, "settings");
    put_plain(output, "settings");
    for (void *item = json_object_iter(settings); item; item = json_object_iter_next(settings, item))
        put_trained(output, settings, json_object_iter_key(item), json_object_iter_value(item));
    put_of_rows(output, training->stored);
    if (broad_model_maps(training->model)) put_of_photos(output, json_object_get(training->stored, "photo"));
    put_plain(output, "settings-end");
}

/* ---- certificate ---- */

static void put_verdict(cli_output *output, const cli_training *t)
{
    const broad_verdict *v = &t->verdict;
    char layers[64], seconds[32], since[CLI_SINCE_BYTES];
    if (!t->verified) {
        put_plain(output, "not-checked");
        return;
    }
    if (!v->holds) {
        PART(output, "broken", "reason", v->reason);
        return;
    }
    snprintf(layers, sizeof layers, "%zu %s%s", v->layers, cli_in_blocks(t->model) ? "block" : "layer",
             v->layers == 1 ? " was" : "s were");
    snprintf(seconds, sizeof seconds, "%.2f", t->verify_seconds);
    PART(output, "holds", "layers", layers, "rows",
         cli_number_of(&(cli_number){""}, broad_data_rows(t->train), "training row", "training rows"), "seconds",
         seconds, "since", cli_since_words(since, v->since_layer), "reached",
         cli_number_real(&(cli_number){""}, v->reached, 'g', 6), "bound",
         cli_number_real(&(cli_number){""}, v->product_bound, 'g', 6), "error",
         cli_number_real(&(cli_number){""}, v->worst_norm_error, 'g', 2));
}

static const char *origin_name(const broad_layer *layer)
{
    return broad_enum_name(BROAD_ENUM_ORIGIN, (int)layer->origin);
}

static const char *origin_words(broad_origin origin)
{
    static const char *const words[] = {
        [BROAD_ORIGIN_INITIAL] = "the network as it was first drawn",
        [BROAD_ORIGIN_ENHANCE] = "more enhancement nodes",
        [BROAD_ORIGIN_FEATURES] = "new feature nodes, and enhancement nodes on them",
        [BROAD_ORIGIN_DATA] = "fitted after further rows were added",
        [BROAD_ORIGIN_FORGETFUL] = "fitted to further rows alone",
    };
    return (unsigned)origin < sizeof words / sizeof words[0] ? words[origin] : "";
}

static int same_stage(const broad_layer *a, const broad_layer *b)
{
    return a->rows == b->rows && a->first_row == b->first_row && a->origin == b->origin;
}

static void put_stages(cli_output *output, const cli_training *t)
{
    if (t->layer_count < 2) return;
    put_plain(output, "stages");
    for (size_t first = 0, end; first < t->layer_count; first = end) {
        const broad_layer *layer = &t->layers[first];
        for (end = first + 1; end < t->layer_count && same_stage(layer, &t->layers[end]);) end++;
        cli_output_print(output, "<tr><td>%zu", first + 1);
        if (end > first + 1) cli_output_print(output, " to %zu", end);
        cli_output_print(output, "</td><td>%s</td><td>%s</td><td>%zu to %zu</td></tr>\n", origin_name(layer),
                         origin_words(layer->origin), layer->first_row + 1, layer->first_row + layer->rows);
    }
    cli_html_put(output, "</tbody>\n</table></div>\n");
}

static void put_layer(cli_output *output, const broad_layer *layer, size_t index, int scored)
{
    cli_output_print(output, "<tr><td class=\"n\">%zu</td><td>%s</td><td class=\"n\">%zu</td>", index + 1,
                     origin_name(layer), layer->width);
    put_number(output, layer->gamma, 'f', 5);
    put_number(output, layer->mu, 'f', 5);
    put_number(output, layer->bound, 'f', 5);
    put_number(output, layer->norm_before, 'g', 5);
    put_number(output, layer->norm_after, 'g', 5);
    put_number(output, layer->ratio, 'f', 5);
    put_number(output, layer->tested, 'f', 5);
    if (scored) {
        put_number(output, layer->df, 'g', 5);
        put_number(output, layer->df_error, 'g', 2);
        put_number(output, layer->score, 'g', 5);
    }
    put_number(output, layer->lambda, 'g', 2);
    put_number(output, layer->range, 'g', 4);
    cli_output_print(output, "<td class=\"n\">%zu</td><td class=\"n\">%zu</td><td>%s</td><td>%s</td></tr>\n",
                     layer->tries, layer->relaxed, broad_enum_name(BROAD_ENUM_SUPERVISE, (int)layer->test),
                     layer->passed ? "yes" : "no");
}

static void put_layers(cli_output *output, const cli_training *t)
{
    static const char *const heads[] = {"layer",      "origin", "width",   "gamma", "mu",       "bound", "norm before",
                                        "norm after", "ratio",  "tested",  "df",    "\302\261", "score", "lambda",
                                        "range",      "draws",  "relaxed", "test",  "passed"};
    static const char columns[] = "ntnnnnnnnnsssnnnntt"; /* of numbers, of text, of scored chains alone */
    int scored = cli_training_scored(t);
    if (!t->layer_count) return;
    cli_output_print(output,
                     "<details%s><summary>Every layer as a table</summary>\n<div class=\"scroll tall\">"
                     "<table id=\"layers\">\n<thead><tr>",
                     t->layer_count <= LAYERS_OPEN ? " open" : "");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        if (columns[i] != 's' || scored)
            cli_output_print(output, "<th scope=\"col\"%s>%s</th>", columns[i] == 't' ? "" : " class=\"n\"", heads[i]);
    cli_html_put(output, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < t->layer_count; i++) put_layer(output, &t->layers[i], i, scored);
    cli_html_put(output, "</tbody>\n</table></div>\n</details>\n");
}

void cli_training_certificate(cli_output *output, const cli_training *training)
{
    put_plain(output, "certificate");
    put_verdict(output, training);
    put_stages(output, training);
    put_layers(output, training);
    cli_html_put(output, "</section>\n");
}
