#include "run/measures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/progress.h"
#include "run/show.h"

enum { TARGETS_SHOWN = 8, CLASSES_SHOWN = 60 };

int cli_judge(broad_metrics *out, const broad_model *model, const broad_data *data, size_t threads)
{
    broad_metrics_init(out);
    return broad_eval(out, model, data, cli_watch(threads));
}

int cli_estimate_metrics(broad_metrics *out, const broad_model *model)
{
    broad_estimate e = {.size = sizeof e};
    broad_metrics_init(out);
    if (broad_model_estimate(&e, model) || !e.known) return 0;
    *out = (broad_metrics){
        .size = sizeof *out,
        .task = broad_model_task(model),
        .rows = e.rows,
        .accuracy = e.accuracy,
        .precision = e.precision,
        .recall = e.recall,
        .f1 = e.f1,
        .has_probabilities = 1,
        .brier = e.brier,
        .log_loss = e.log_loss,
        .calibration_error = e.calibration_error,
        .rmse = e.rmse,
        .mae = e.mae,
        .r2 = e.r2,
        .baseline = e.baseline,
        .low = e.low,
        .high = e.high,
        .balanced_accuracy = e.balanced_accuracy,
        .mcc = e.mcc,
        .roc_auc = e.roc_auc,
        .pr_auc = e.pr_auc,
    };
    return 1;
}

static int by_score(const broad_estimate *estimate) { return estimate->method == BROAD_ESTIMATE_METHOD_GCV; }

const char *cli_estimate_name(const broad_estimate *estimate)
{
    return by_score(estimate) ? "cross-validation score" : "leave-one-out";
}

const char *cli_estimate_source(const broad_estimate *estimate)
{
    return by_score(estimate) ? "the chain's cross-validation score" : "leave-one-out";
}

/* Of rows, or of the estimate where metrics is NULL. */
static int class_at(broad_class_metrics *out, const broad_metrics *metrics, const broad_model *model, size_t index)
{
    broad_class_metrics_init(out);
    return metrics ? broad_metrics_class(out, metrics, index) : broad_estimate_class(out, model, index);
}

static int target_at(broad_target_metrics *out, const broad_metrics *metrics, const broad_model *model, size_t index)
{
    broad_target_metrics_init(out);
    return metrics ? broad_metrics_target(out, metrics, index) : broad_estimate_target(out, model, index);
}

/* ---- JSON ---- */

static json_t *classes_json(const broad_metrics *metrics, const broad_model *model)
{
    json_t *list = json_array();
    for (size_t c = 0; c < broad_model_outputs(model); c++) {
        broad_class_metrics m;
        if (class_at(&m, metrics, model, c)) break;
        json_t *object = json_object();
        cli_json_put(object, "class", cli_json_text(broad_model_output_name(model, c)));
        cli_json_put(object, "rows", json_integer((json_int_t)m.rows));
        cli_json_put(object, "precision", cli_json_real(m.precision));
        cli_json_put(object, "recall", cli_json_real(m.recall));
        cli_json_put(object, "f1", cli_json_real(m.f1));
        cli_json_put(object, "roc_auc", cli_json_real(m.roc_auc));
        cli_json_put(object, "pr_auc", cli_json_real(m.pr_auc));
        cli_json_append(list, object);
    }
    return list;
}

static json_t *targets_json(const broad_metrics *metrics, const broad_model *model)
{
    json_t *list = json_array();
    for (size_t j = 0; j < broad_model_outputs(model); j++) {
        broad_target_metrics m;
        if (target_at(&m, metrics, model, j)) break;
        json_t *object = json_object();
        cli_json_put(object, "target", cli_json_text(broad_model_output_name(model, j)));
        cli_json_put(object, "rmse", cli_json_real(m.rmse));
        cli_json_put(object, "mae", cli_json_real(m.mae));
        cli_json_put(object, "r2", cli_json_real(m.r2));
        cli_json_put(object, "baseline", cli_json_real(m.baseline));
        if (metrics) cli_json_put(object, "coverage", cli_json_real(m.coverage));
        if (metrics) cli_json_put(object, "interval_width", cli_json_real(m.interval_width));
        cli_json_append(list, object);
    }
    return list;
}

static void put_baseline(json_t *object, const broad_metrics *m)
{
    json_t *interval = json_array();
    cli_json_put(object, "baseline", cli_json_real(m->baseline));
    cli_json_append(interval, cli_json_real(m->low));
    cli_json_append(interval, cli_json_real(m->high));
    cli_json_put(object, "interval", interval);
}

static void put_values(json_t *object, const broad_metrics *m)
{
    cli_json_put(object, "rmse", cli_json_real(m->rmse));
    cli_json_put(object, "mae", cli_json_real(m->mae));
    cli_json_put(object, "r2", cli_json_real(m->r2));
    put_baseline(object, m);
}

static void put_intervals(json_t *object, const broad_metrics *m)
{
    int intervals = m->level > 0;
    cli_json_put(object, "level", intervals ? cli_json_real(m->level) : json_null());
    cli_json_put(object, "coverage", intervals ? cli_json_real(m->coverage) : json_null());
    cli_json_put(object, "interval_width", intervals ? cli_json_real(m->interval_width) : json_null());
    cli_json_put(object, "log_likelihood", intervals ? cli_json_real(m->log_likelihood) : json_null());
}

static void put_classes(json_t *object, const broad_metrics *m)
{
    int known = m->has_probabilities;
    cli_json_put(object, "accuracy", cli_json_real(m->accuracy));
    cli_json_put(object, "precision", cli_json_real(m->precision));
    cli_json_put(object, "recall", cli_json_real(m->recall));
    cli_json_put(object, "f1", cli_json_real(m->f1));
    cli_json_put(object, "brier", known ? cli_json_real(m->brier) : json_null());
    cli_json_put(object, "log_loss", known ? cli_json_real(m->log_loss) : json_null());
    cli_json_put(object, "calibration_error", known ? cli_json_real(m->calibration_error) : json_null());
    cli_json_put(object, "balanced_accuracy", cli_json_real(m->balanced_accuracy));
    cli_json_put(object, "mcc", cli_json_real(m->mcc));
    cli_json_put(object, "roc_auc", cli_json_real(m->roc_auc));
    cli_json_put(object, "pr_auc", cli_json_real(m->pr_auc));
    put_baseline(object, m);
}

static void put_confusion(json_t *object, const broad_metrics *m, const broad_model *model)
{
    cli_json_put(object, "false_positive", cli_json_real(m->false_positive));
    cli_json_put(object, "false_negative", cli_json_real(m->false_negative));
    if (m->classes == 2)
        cli_json_put(object, "positive", cli_json_text(broad_model_output_name(model, broad_model_positive(model))));
    cli_json_put(object, "classes", cli_names_json(broad_model_output_name, model, m->classes));
    if (m->confusion) cli_json_put(object, "confusion", cli_confusion_json(m));
}

json_t *cli_metrics_json(const broad_metrics *metrics, const broad_model *model)
{
    json_t *object = json_object();
    cli_json_put(object, "rows", json_integer((json_int_t)metrics->rows));
    if (metrics->task == BROAD_TASK_REGRESS) {
        put_values(object, metrics);
        put_intervals(object, metrics);
        cli_json_put(object, "targets", targets_json(metrics, model));
        return object;
    }
    put_classes(object, metrics);
    put_confusion(object, metrics, model);
    cli_json_put(object, "by_class", classes_json(metrics, model));
    return object;
}

json_t *cli_estimate_json(const broad_model *model)
{
    broad_metrics m;
    broad_estimate e = {.size = sizeof e};
    if (!cli_estimate_metrics(&m, model) || broad_model_estimate(&e, model)) return json_null();
    json_t *object = json_object();
    cli_json_put(object, "method", cli_json_text(broad_enum_name(BROAD_ENUM_ESTIMATE_METHOD, (int)e.method)));
    cli_json_put(object, "rows", json_integer((json_int_t)m.rows));
    if (m.task == BROAD_TASK_REGRESS) {
        put_values(object, &m);
        cli_json_put(object, "targets", targets_json(NULL, model));
    } else {
        put_classes(object, &m);
        cli_json_put(object, "by_class", classes_json(NULL, model));
    }
    return object;
}

/* ---- lines ---- */

void cli_metrics_line(char *out, size_t bytes, const broad_metrics *metrics)
{
    if (metrics->task == BROAD_TASK_REGRESS) {
        snprintf(out, bytes, "RMSE %.6g, MAE %.6g, R2 %.4f", metrics->rmse, metrics->mae, metrics->r2);
        return;
    }
    int used =
        snprintf(out, bytes, "accuracy %.4f, balanced accuracy %.4f", metrics->accuracy, metrics->balanced_accuracy);
    if (used > 0 && (size_t)used < bytes && isfinite(metrics->roc_auc))
        snprintf(out + used, bytes - (size_t)used, ", ROC AUC %.4f", metrics->roc_auc);
}

/* The class that most rows have. */
static const char *usual_class(const broad_metrics *metrics, const broad_model *model)
{
    size_t most = 0, usual = 0;
    for (size_t c = 0; c < broad_model_outputs(model); c++) {
        broad_class_metrics m;
        if (class_at(&m, metrics, model, c) || m.rows <= most) continue;
        most = m.rows;
        usual = c;
    }
    return broad_model_output_name(model, usual);
}

void cli_figure_line(char *out, size_t bytes, const broad_metrics *metrics, const broad_model *model)
{
    broad_metrics estimate = {.size = sizeof estimate};
    const broad_metrics *m = metrics ? metrics : &estimate;
    if (!metrics && !cli_estimate_metrics(&estimate, model)) estimate = (broad_metrics){0};
    int regress = broad_model_task(model) == BROAD_TASK_REGRESS, used = 0;
    if (isnan(m->baseline)) { /* the estimate of a model of 0.1 */
        if (regress) snprintf(out, bytes, "RMSE %.6g, MAE %.6g, R2 %.4f", m->rmse, m->mae, m->r2);
        else snprintf(out, bytes, "accuracy %.4f", m->accuracy);
        return;
    }
    if (!regress)
        snprintf(out, bytes, "accuracy %.4f (95 %% interval %.4f to %.4f; always %.24s: %.4f)", m->accuracy, m->low,
                 m->high, usual_class(metrics, model), m->baseline);
    else
        used = snprintf(out, bytes, "RMSE %.6g (95 %% interval %.4g to %.4g; always the mean: %.4g)", m->rmse, m->low,
                        m->high, m->baseline);
    if (used > 0 && (size_t)used < bytes) snprintf(out + used, bytes - (size_t)used, ", R2 %.4f", m->r2);
}

int cli_estimate_line(char *out, size_t bytes, const broad_model *model)
{
    broad_estimate estimate = {.size = sizeof estimate};
    char line[256];
    if (broad_model_estimate(&estimate, model) || !estimate.known) return 0;
    cli_figure_line(line, sizeof line, NULL, model);
    snprintf(out, bytes, "%s on new rows (%s%s on %zu row%s)", line, by_score(&estimate) ? "from " : "",
             cli_estimate_source(&estimate), estimate.rows, cli_plural(estimate.rows));
    return 1;
}

/* ---- the measures that matter ---- */

static void print_targets(const broad_metrics *metrics, const broad_model *model, size_t most)
{
    size_t count = broad_model_outputs(model);
    for (size_t j = 0; count > 1 && j < count && j < most; j++) {
        broad_target_metrics m;
        if (target_at(&m, metrics, model, j)) return;
        cli_print("         %.24s: RMSE %.4g (always the mean: %.4g), R2 %.4f", broad_model_output_name(model, j),
                  m.rmse, m.baseline, m.r2);
        if (isfinite(m.coverage)) cli_print(", coverage %.3f, width %.4g", m.coverage, m.interval_width);
        cli_print("\n");
    }
    if (count > most) cli_print("         and %zu more targets: --json\n", count - most);
}

/* The class of which the smallest part is recognised, of those that occur. */
static size_t least_recognised(broad_class_metrics *out, const broad_metrics *metrics, const broad_model *model)
{
    size_t least = 0;
    *out = (broad_class_metrics){.size = sizeof *out, .recall = 2};
    for (size_t c = 0; c < broad_model_outputs(model); c++) {
        broad_class_metrics m;
        if (class_at(&m, metrics, model, c) || !m.rows || m.recall >= out->recall) continue;
        least = c;
        *out = m;
    }
    return least;
}

static void print_area(const char *before, double area)
{
    if (isfinite(area)) cli_print("%sROC AUC %.4f", before, area);
}

void cli_print_more(const broad_metrics *metrics, const broad_model *model)
{
    broad_metrics estimate;
    const broad_metrics *m = metrics;
    if (!m && !cli_estimate_metrics(&estimate, model)) return;
    if (!m) m = &estimate;
    if (broad_model_task(model) == BROAD_TASK_REGRESS) {
        print_targets(metrics, model, TARGETS_SHOWN);
        return;
    }
    if (isnan(m->balanced_accuracy)) return;
    cli_print("         balanced accuracy %.4f", m->balanced_accuracy);
    print_area(", ", m->roc_auc);
    if (broad_model_outputs(model) == 2)
        cli_print("; %.24s: precision %.4f, recall %.4f\n", broad_model_output_name(model, broad_model_positive(model)),
                  m->precision, m->recall);
    else {
        broad_class_metrics least;
        size_t class = least_recognised(&least, metrics, model);
        if (least.rows)
            cli_print("; least recognised: %.24s, %.4f of %zu", broad_model_output_name(model, class), least.recall,
                      least.rows);
        cli_print("\n");
    }
}

void cli_note_missed(const cli_arguments *arguments, const broad_metrics *metrics, const broad_model *model)
{
    size_t classes = broad_model_outputs(model), rows = 0;
    broad_class_metrics m;
    if (broad_model_task(model) != BROAD_TASK_CLASSIFY || classes < 2 || broad_model_weighs_classes(model)) return;
    for (size_t c = 0; c < classes; c++)
        if (!class_at(&m, metrics, model, c)) rows += m.rows;
    size_t missed = 0, which = 0, count = 0;
    double recall = 0;
    for (size_t c = 0; c < classes; c++) {
        if (class_at(&m, metrics, model, c) || !m.rows || m.recall >= 0.5 || 2 * classes * m.rows > rows) continue;
        if (missed++ == 0 || m.rows > count) which = c, count = m.rows, recall = m.recall;
    }
    if (!missed) return;
    cli_note(arguments,
             "class %.40s is rare (%zu of %zu rows) and mostly missed: %.0f %% of its rows are recognised%s; "
             "--class-weight balanced makes rare classes count as much as frequent ones",
             broad_model_output_name(model, which), count, rows, 100 * recall,
             missed > 1 ? ", and other rare classes fare no better" : "");
}

void cli_note_untested(const cli_arguments *arguments, const broad_metrics *metrics, const broad_model *model)
{
    size_t untested = 0, which = 0;
    broad_class_metrics m;
    for (size_t c = 0; c < metrics->classes; c++)
        if (!class_at(&m, metrics, model, c) && !m.rows && untested++ == 0) which = c;
    if (!untested) return;
    const char *name = broad_model_output_name(model, which);
    if (untested == 1)
        cli_note(arguments, "class %.40s has none of the %zu test rows: how well it is recognised was not measured",
                 name, metrics->rows);
    else
        cli_note(arguments,
                 "%zu classes, %.40s and others, have none of the %zu test rows: how well they are recognised was not "
                 "measured",
                 untested, name, metrics->rows);
}

/* ---- all measures ---- */

static void print_defined(const char *name, double value)
{
    if (isfinite(value)) cli_print("%-15s %.6f\n", name, value);
}

static void print_values(const broad_metrics *m, const broad_model *model)
{
    cli_print("RMSE            %.9g\nMAE             %.9g\nR2              %.6f\n", m->rmse, m->mae, m->r2);
    cli_print("95 %% interval   %.6g to %.6g, of the RMSE\nbaseline        %.9g, the RMSE of always the mean\n", m->low,
              m->high, m->baseline);
    if (m->level > 0)
        cli_print("coverage        %.6f of the intervals of level %g\nmean width      %.9g\n", m->coverage, m->level,
                  m->interval_width);
    if (m->level > 0) print_defined("log-likelihood", m->log_likelihood);
    print_targets(m, model, CLASSES_SHOWN);
}

static void print_number(double value)
{
    if (isfinite(value)) cli_print(" %10.4f", value);
    else cli_print(" %10s", "-");
}

static void print_by_class(const broad_metrics *metrics, const broad_model *model)
{
    size_t classes = broad_model_outputs(model);
    cli_print("\n%-16s %8s %10s %10s %10s %10s %10s\n", "class", "rows", "precision", "recall", "F1", "ROC AUC",
              "PR AUC");
    for (size_t c = 0; c < classes && c < CLASSES_SHOWN; c++) {
        broad_class_metrics m;
        if (class_at(&m, metrics, model, c)) return;
        cli_print("%-16.16s %8zu", broad_model_output_name(model, c), m.rows);
        const double values[] = {m.precision, m.recall, m.f1, m.roc_auc, m.pr_auc};
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) print_number(values[i]);
        cli_print("\n");
    }
    if (classes > CLASSES_SHOWN) cli_print("and %zu more classes: --json\n", classes - CLASSES_SHOWN);
}

static void print_classes(const broad_metrics *m, const broad_model *model)
{
    cli_print("accuracy        %.6f\n95 %% interval   %.6f to %.6f, of the accuracy\n", m->accuracy, m->low, m->high);
    cli_print("baseline        %.6f, the accuracy of always %.40s\n", m->baseline, usual_class(m, model));
    cli_print("balanced        %.6f, the mean recall of the classes\n", m->balanced_accuracy);
    cli_print("precision       %.6f\nrecall          %.6f\nF1              %.6f\n", m->precision, m->recall, m->f1);
    cli_print("false positive  %.6f\nfalse negative  %.6f\n", m->false_positive, m->false_negative);
    print_defined("MCC", m->mcc);
    print_defined("ROC AUC", m->roc_auc);
    print_defined("PR AUC", m->pr_auc);
    if (m->has_probabilities)
        cli_print("Brier score     %.6f\nlog loss        %.6f\ncalibration     %.6f error\n", m->brier, m->log_loss,
                  m->calibration_error);
    if (m->classes == 2) cli_print("positive class  %s\n", broad_model_output_name(model, broad_model_positive(model)));
    print_by_class(m, model);
    cli_print_confusion(m, model);
}

void cli_print_measures(const broad_metrics *metrics, const broad_model *model)
{
    cli_print("rows            %zu\n", metrics->rows);
    if (metrics->task == BROAD_TASK_REGRESS) print_values(metrics, model);
    else print_classes(metrics, model);
}
