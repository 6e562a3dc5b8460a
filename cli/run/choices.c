#include "run/choices.h"

#include <stdio.h>

/* ---- reasons ---- */

/* Whether there are nodes that a metric could have been learned for. */
static int learnable(const broad_model *model, const broad_options *settings)
{
    int slope = settings->feature_activation != BROAD_ACTIVATION_SINE &&
                settings->feature_activation != BROAD_ACTIVATION_GAUSSIAN;
    broad_feature_source source = broad_model_feature_source(model);
    return slope && (source == BROAD_FEATURE_SOURCE_SAMPLED || source == BROAD_FEATURE_SOURCE_DRAWN);
}

typedef enum why { WHY_UNKNOWN, WHY_ASKED, WHY_OLD, WHY_BETTER, WHY_UNWANTED, WHY_IMPOSSIBLE, WHY_UNPROVED } why;

static why why_metric(const broad_model *model)
{
    broad_learned_metric metric = {.size = sizeof metric};
    broad_options settings;
    broad_options_init(&settings);
    if (broad_model_metric(&metric, model) || broad_model_settings(&settings, model)) return WHY_UNKNOWN;
    if (metric.form == BROAD_METRIC_FORM_NONE) {
        if (settings.metric == BROAD_LEARNED_NO) return WHY_UNWANTED;
        return learnable(model, &settings) ? WHY_UNPROVED : WHY_IMPOSSIBLE;
    }
    if (settings.metric == BROAD_LEARNED_YES) return WHY_ASKED;
    return settings.metric == BROAD_LEARNED_NO ? WHY_OLD : WHY_BETTER;
}

const cli_reason *cli_metric_reason(const broad_model *model)
{
    static const cli_reason reasons[] = {
        [WHY_UNKNOWN] = {"", ""},
        [WHY_ASKED] = {"--learned-metric yes asked for it", "--learned-metric yes"},
        [WHY_OLD] = {"the pilot of version 0.1 weighed the inputs", "by the pilot of 0.1"},
        [WHY_BETTER] = {"rows that it had not seen were predicted better with it, by more than the spread of that gain "
                        "from row to row",
                        "better on rows it had not seen"},
        [WHY_UNWANTED] = {"it was trained with --learned-metric no, with preset paper or by version 0.1",
                          "none was wanted"},
        [WHY_IMPOSSIBLE] = {"nodes of this kind have none", "nodes of this kind have none"},
        [WHY_UNPROVED] =
            {"none predicted rows that it had not seen better by more than chance; with few rows, or little time, "
             "none can be told from chance",
             "none proved better on rows it had not seen"},
    };
    return &reasons[why_metric(model)];
}

/* ---- choices ---- */

int cli_choices_make(cli_choices *out, const broad_model *model)
{
    *out = (cli_choices){.range = broad_model_feature_range(model), .style = ""};
    broad_pilot_init(&out->pilot);
    broad_learned_metric_init(&out->metric);
    broad_joint_init(&out->joint);
    broad_options_init(&out->settings);
    int status = broad_model_pilot(&out->pilot, model);
    if (!status) status = broad_model_metric(&out->metric, model);
    if (!status) status = broad_model_joint(&out->joint, model);
    if (!status) status = broad_model_settings(&out->settings, model);
    if (status || !out->pilot.known) return status;
    out->chosen = 1;
    out->style = out->pilot.styles[out->pilot.chosen].name;
    return BROAD_OK;
}

void cli_print_choices(const broad_model *model)
{
    cli_choices c;
    if (cli_choices_make(&c, model) || !c.chosen) return;
    cli_print("chosen   %s nodes of range %.3g, %s a learned metric (%s)", c.style, c.range,
              c.metric.form == BROAD_METRIC_FORM_NONE ? "without" : "drawn with", cli_metric_reason(model)->brief);
    if (c.joint.known) cli_print(", lambda %.2g", c.joint.lambda);
    cli_print("; effort %s\n", broad_enum_name(BROAD_ENUM_EFFORT, (int)c.settings.effort));
}

json_t *cli_choices_json(const broad_model *model)
{
    cli_choices c;
    if (cli_choices_make(&c, model) || !c.chosen) return json_null();
    json_t *object = json_object(), *errors = json_object();
    for (size_t i = 0; i < BROAD_PILOT_STYLES; i++)
        if (c.pilot.styles[i].error > 0)
            cli_json_put(errors, c.pilot.styles[i].name, cli_json_real(c.pilot.styles[i].error));
    cli_json_put(object, "style", cli_json_text(c.style));
    cli_json_put(object, "style_errors", errors);
    cli_json_put(object, "range", cli_json_real(c.range));
    cli_json_put(object, "metric", cli_json_text(broad_enum_name(BROAD_ENUM_METRIC_FORM, (int)c.metric.form)));
    cli_json_put(object, "metric_reason", cli_json_text(cli_metric_reason(model)->words));
    cli_json_put(object, "optimism", cli_json_real(c.metric.optimism));
    cli_json_put(object, "nodes", json_integer((json_int_t)broad_model_nodes(model)));
    cli_json_put(object, "lambda", c.joint.known ? cli_json_real(c.joint.lambda) : json_null());
    cli_json_put(object, "fitting",
                 cli_json_text(broad_enum_name(BROAD_ENUM_FITTING, (int)broad_model_fitting(model))));
    cli_json_put(object, "effort", cli_json_text(broad_enum_name(BROAD_ENUM_EFFORT, (int)c.settings.effort)));
    return object;
}
