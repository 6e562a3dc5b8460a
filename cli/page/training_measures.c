#include "page/training_measures.h"

#include <math.h>
#include <string.h>

#include "page/assets.h"
#include "page/page.h"
#include "run/measures.h"

enum { OUTPUTS_SHOWN = 60 };

/* A template of this page, with slots and without. */
#define PART(output, name, ...) CLI_PAGE_PART(output, cli_asset_training_html, name, __VA_ARGS__)
static void put_plain(cli_output *output, const char *name)
{
    cli_page_part(output, cli_asset_training_html, name, NULL);
}

static void put_number(cli_output *output, double value, char form, int digits)
{
    cli_html_put(output, "<td class=\"n\">");
    if (isfinite(value)) cli_html_put(output, cli_number_real(&(cli_number){""}, value, form, digits));
    cli_html_put(output, "</td>");
}

static void put_head(cli_output *output, const char *const *names)
{
    for (; *names; names++) cli_output_print(output, "<th scope=\"col\" class=\"n\">%s</th>", *names);
    cli_html_put(output, "</tr></thead>\n<tbody>\n");
}

static void put_name(cli_output *output, const char *name)
{
    cli_html_put(output, "<tr><th scope=\"row\">");
    cli_html_text(output, name);
    cli_html_put(output, "</th>");
}

/* ---- all rows ---- */

static double number_at(const void *from, size_t offset)
{
    double value = 0;
    memcpy(&value, (const char *)from + offset, sizeof value);
    return value;
}

enum { NOT_ESTIMATED = -1 };
typedef struct measure_row {
    const char *name;
    long of_rows, estimated; /* offsets in broad_metrics and broad_estimate */
} measure_row;

static void put_measure(cli_output *output, const cli_training *t, const measure_row *row)
{
    put_name(output, row->name);
    if (t->test) put_number(output, number_at(t->test_metrics, (size_t)row->of_rows), 'f', 4);
    if (t->train) put_number(output, number_at(t->train_metrics, (size_t)row->of_rows), 'f', 4);
    if (t->estimate.known)
        put_number(output, row->estimated < 0 ? (double)NAN : number_at(&t->estimate, (size_t)row->estimated), 'f', 4);
    cli_html_put(output, "</tr>\n");
}

#define BOTH(name, field)                                                                                              \
    {                                                                                                                  \
        name, (long)offsetof(broad_metrics, field), (long)offsetof(broad_estimate, field)                              \
    }
#define ROWS(name, field)                                                                                              \
    {                                                                                                                  \
        name, (long)offsetof(broad_metrics, field), NOT_ESTIMATED                                                      \
    }

static void put_all(cli_output *output, const cli_training *t)
{
    static const measure_row rows[] = {
        BOTH("accuracy", accuracy),
        BOTH("95 % interval, from", low),
        BOTH("to", high),
        BOTH("baseline", baseline),
        BOTH("balanced accuracy", balanced_accuracy),
        BOTH("precision", precision),
        BOTH("recall", recall),
        BOTH("F1", f1),
        ROWS("false positive rate", false_positive),
        ROWS("false negative rate", false_negative),
        BOTH("MCC", mcc),
        BOTH("ROC AUC", roc_auc),
        BOTH("PR AUC", pr_auc),
    };
    cli_html_put(output, "<div><h3>Measures</h3>\n<div class=\"scroll\"><table class=\"small\" id=\"measures\">\n"
                         "<thead><tr><th scope=\"col\"></th>");
    const char *names[4] = {NULL};
    size_t count = 0;
    if (t->test) names[count++] = "test rows";
    if (t->train) names[count++] = "training rows";
    if (t->estimate.known) names[count++] = cli_estimate_name(&t->estimate);
    put_head(output, names);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) put_measure(output, t, &rows[i]);
    cli_html_put(output, "</tbody>\n</table></div>\n");
    if (broad_model_outputs(t->model) == 2)
        PART(output, "measures-two", "positive", broad_model_output_name(t->model, broad_model_positive(t->model)));
    else put_plain(output, "measures-many");
    cli_html_put(output, "</div>\n");
}

/* ---- by class ---- */

/* Of the test rows, else of the estimate, else of the training rows. */
static int class_at(broad_class_metrics *out, const cli_training *t, size_t index)
{
    broad_class_metrics_init(out);
    if (t->test) return broad_metrics_class(out, t->test_metrics, index);
    if (t->estimate.known && t->estimate.detailed) return broad_estimate_class(out, t->model, index);
    return broad_metrics_class(out, t->train_metrics, index);
}

static const char *basis(const cli_training *t)
{
    if (t->test) return "test rows";
    return t->estimate.known && t->estimate.detailed ? cli_estimate_name(&t->estimate) : "training rows";
}

static void put_by_class(cli_output *output, const cli_training *t)
{
    static const char *const names[] = {"rows", "precision", "recall", "F1", "ROC AUC", "PR AUC", NULL};
    size_t classes = broad_model_outputs(t->model);
    PART(output, "by-class", "basis", basis(t));
    put_head(output, names);
    for (size_t c = 0; c < classes && c < OUTPUTS_SHOWN; c++) {
        broad_class_metrics m;
        if (class_at(&m, t, c)) break;
        put_name(output, broad_model_output_name(t->model, c));
        cli_output_print(output, "<td class=\"n\">%zu</td>", m.rows);
        const double values[] = {m.precision, m.recall, m.f1, m.roc_auc, m.pr_auc};
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) put_number(output, values[i], 'f', 4);
        cli_html_put(output, "</tr>\n");
    }
    cli_html_put(output, "</tbody>\n</table></div>\n</div>\n");
}

void cli_training_measures(cli_output *output, const cli_training *training)
{
    put_all(output, training);
    put_by_class(output, training);
}

/* ---- by target ---- */

static int target_at(broad_target_metrics *out, const cli_training *t, size_t index)
{
    broad_target_metrics_init(out);
    if (t->test) return broad_metrics_target(out, t->test_metrics, index);
    if (t->estimate.known && t->estimate.detailed) return broad_estimate_target(out, t->model, index);
    return t->train ? broad_metrics_target(out, t->train_metrics, index) : BROAD_USAGE;
}

void cli_training_targets(cli_output *output, const cli_training *training)
{
    const cli_training *t = training;
    static const char *const names[] = {
        "RMSE", "of always the mean", "mean absolute error", "R&sup2;", "coverage", "mean width", NULL};
    size_t targets = broad_model_outputs(t->model);
    broad_target_metrics m;
    if (targets < 2 || target_at(&m, t, 0)) return;
    PART(output, "by-target", "basis", basis(t));
    put_head(output, names);
    for (size_t j = 0; j < targets && j < OUTPUTS_SHOWN; j++) {
        if (target_at(&m, t, j)) break;
        put_name(output, broad_model_output_name(t->model, j));
        put_number(output, m.rmse, 'g', 5);
        put_number(output, m.baseline, 'g', 5);
        put_number(output, m.mae, 'g', 5);
        put_number(output, m.r2, 'f', 4);
        put_number(output, m.coverage, 'f', 4);
        put_number(output, m.interval_width, 'g', 5);
        cli_html_put(output, "</tr>\n");
    }
    cli_html_put(output, "</tbody>\n</table></div>\n");
}
