/* broad verify: the certificate against the rows. */
#include <stdio.h>

#include "io/progress.h"
#include "run/doubts.h"
#include "run/files.h"
#include "run/input.h"
#include "run/load_model.h"
#include "run/show.h"
#include "values.h"

static int report_json(const cli_arguments *arguments, const broad_verdict *verdict, size_t rows, json_t *photos,
                       json_t *doubts)
{
    json_t *object = cli_json_object("verify");
    cli_json_put(object, "model", cli_json_text(arguments->positional[0]));
    cli_json_put(object, "rows", json_integer((json_int_t)rows));
    cli_json_put(object, "photos", photos ? json_incref(photos) : json_null());
    cli_json_put(object, "holds", json_boolean(verdict->holds));
    cli_json_put(object, "layers", json_integer((json_int_t)verdict->layers));
    cli_json_put(object, "failed_layer", json_integer((json_int_t)verdict->failed_layer));
    cli_json_put(object, "worst_norm_error", cli_json_real(verdict->worst_norm_error));
    cli_json_put(object, "product_bound", cli_json_real(verdict->product_bound));
    cli_json_put(object, "reached", cli_json_real(verdict->reached));
    cli_json_put(object, "since_layer", json_integer((json_int_t)verdict->since_layer));
    cli_json_put(object, "reason", cli_json_text(verdict->reason));
    cli_json_put(object, "stored_groups", json_integer((json_int_t)verdict->stored_groups));
    cli_json_put(object, "stored_metric", json_boolean(verdict->stored_metric));
    if (doubts) cli_json_put(object, "doubts", doubts);
    return cli_json_give(arguments, object);
}

/* What the check takes from the file as it is, because no seed gives it. */
static void print_stored(const broad_verdict *verdict)
{
    if (!verdict->stored_groups) return;
    cli_print("  taken as stored   %zu group%s of feature nodes%s\n", verdict->stored_groups,
              cli_plural(verdict->stored_groups),
              verdict->stored_metric ? " and the learned metric that they were drawn with" : "");
}

static void report_text(const broad_verdict *verdict, const broad_model *model, size_t rows)
{
    char score[256], since[CLI_SINCE_BYTES];
    if (!verdict->holds) {
        cli_print("the certificate does NOT hold: %s\n", verdict->reason);
        return;
    }
    cli_print("the certificate holds: %zu layer%s checked on %zu rows\n", verdict->layers, cli_plural(verdict->layers),
              rows);
    cli_print("  residual norm     %.6f of %s\n", verdict->reached, cli_since_words(since, verdict->since_layer));
    cli_print("  product of bounds %.6f, its upper limit\n", verdict->product_bound);
    if (cli_score_line(score, sizeof score, model)) cli_print("  score             %s\n", score);
    print_stored(verdict);
    cli_print("  largest relative difference from a recorded norm: %.1e\n", verdict->worst_norm_error);
}

int cli_verify(const cli_arguments *arguments)
{
    broad_model *model = NULL;
    broad_data *training = NULL;
    json_t *photos = NULL;
    broad_verdict verdict = {.size = sizeof verdict};
    cli_files files = {0};
    cli_doubts doubts = {0};
    int doubted = cli_given(arguments, "doubts") != NULL;
    size_t threads = 0;
    int status = cli_threads(&threads, arguments);
    if (!status) status = cli_files_after_model(&files, arguments);
    if (!status) status = cli_model_load(&model, arguments);
    if (!status && !files.count) cli_files_complete(&files, model, arguments);
    if (!status) status = cli_read_training(&training, NULL, &photos, model, arguments, &files);
    if (!status) status = broad_verify(&verdict, model, training, cli_watch(threads));
    if (!status && doubted) status = cli_doubts_find(&doubts, model, training, threads);
    if (!status && cli_given(arguments, "json"))
        status = report_json(arguments, &verdict, broad_data_rows(training), photos,
                             doubted ? cli_doubts_json(&doubts, model, training) : NULL);
    else if (!status) {
        report_text(&verdict, model, broad_data_rows(training));
        if (doubted) cli_doubts_print(&doubts, model, training);
    }
    if (!status && !verdict.holds) status = -BROAD_FAILED;
    cli_doubts_clear(&doubts);
    json_decref(photos);
    broad_data_free(training);
    broad_model_free(model);
    return status;
}
