#include "page/training_choices.h"

#include <stdio.h>
#include <string.h>

#include "page/assets.h"
#include "page/page.h"
#include "run/choices.h"
#include "run/show.h"

/* A template of this page. */
#define PART(output, name, ...) CLI_PAGE_PART(output, cli_asset_training_html, name, __VA_ARGS__)

static const char *style_words(const char *style)
{
    static const char *const words[][2] = {
        {"mix", "nodes on all inputs, and nodes on a few of them, in turn"},
        {"dense", "each on all inputs"},
        {"difference", "each along the difference of two rows"},
        {"sparse", "each on one, two or three inputs, as trees are"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i][0], style) == 0) return words[i][1];
    return "";
}

/* "mix 0.12, dense 0.14" */
static void format_errors(char *out, size_t bytes, const broad_pilot *pilot)
{
    size_t used = 0;
    out[0] = 0;
    for (size_t i = 0; i < BROAD_PILOT_STYLES && used < bytes; i++) {
        if (!(pilot->styles[i].error > 0)) continue;
        int length = snprintf(out + used, bytes - used, "%s%s %.3g", used ? ", " : "", pilot->styles[i].name,
                              pilot->styles[i].error);
        used += length > 0 ? (size_t)length : 0;
    }
}

static void say_style(cli_output *output, const cli_choices *c)
{
    char errors[160], range[32];
    format_errors(errors, sizeof errors, &c->pilot);
    snprintf(range, sizeof range, "%.3g", c->range);
    PART(output, "choice-style", "effort", broad_enum_name(BROAD_ENUM_EFFORT, (int)c->settings.effort), "errors",
         errors, "style", c->style, "words", style_words(c->style), "range", range);
}

static void say_metric(cli_output *output, const cli_choices *c, const broad_model *model)
{
    int used = c->metric.form != BROAD_METRIC_FORM_NONE;
    PART(output, used ? "choice-metric" : "choice-no-metric", "reason", cli_metric_reason(model)->words);
    if (c->metric.optimism > 1)
        PART(output, "choice-optimism", "part", cli_number_share(&(cli_number){""}, c->metric.optimism - 1));
}

static void say_size(cli_output *output, const cli_choices *c, const broad_model *model)
{
    char lambda[32];
    snprintf(lambda, sizeof lambda, "%.3g", c->joint.lambda);
    PART(output, c->settings.features_auto ? "choice-nodes" : "choice-nodes-given", "nodes",
         cli_number_of(&(cli_number){""}, broad_model_nodes(model), "node", "nodes"));
    PART(output, "choice-weights", "fitting", cli_fitting_words(model));
    if (c->joint.known)
        PART(output, c->settings.lambda_auto ? "choice-lambda" : "choice-lambda-given", "lambda", lambda);
}

void cli_training_choices(cli_output *output, const cli_training *training)
{
    cli_choices c;
    if (cli_choices_make(&c, training->model) || !c.chosen) return;
    cli_page_part(output, cli_asset_training_html, "choices", NULL);
    say_style(output, &c);
    say_metric(output, &c, training->model);
    say_size(output, &c, training->model);
    cli_html_put(output, "</p>\n</section>\n");
}
