/* broad predict: one line of scores or values for each row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "output.h"

/* A CSV field, quoted where RFC 4180 asks for it. */
static void put_field(cli_output *output, const char *prefix, const char *text)
{
    int quote = strpbrk(text, ",\"\r\n") != NULL;
    if (quote) cli_output_bytes(output, "\"", 1);
    cli_output_bytes(output, prefix, strlen(prefix));
    for (const char *c = text; *c; c++) {
        if (*c == '"') cli_output_bytes(output, "\"", 1);
        cli_output_bytes(output, c, 1);
    }
    if (quote) cli_output_bytes(output, "\"", 1);
}

static void put_csv(cli_output *output, const broad_model *model, const double *scores, size_t rows)
{
    size_t outputs = broad_model_outputs(model);
    int classify = broad_model_task(model) == BROAD_TASK_CLASSIFY;
    cli_output_print(output, classify ? "row,label" : "row");
    for (size_t j = 0; j < outputs; j++) {
        cli_output_bytes(output, ",", 1);
        put_field(output, classify ? "score_" : "", broad_model_output_name(model, j));
    }
    cli_output_bytes(output, "\n", 1);
    for (size_t i = 0; i < rows && !output->status; i++, scores += outputs) {
        cli_output_print(output, "%zu", i + 1);
        if (classify) {
            cli_output_bytes(output, ",", 1);
            put_field(output, "", broad_model_output_name(model, broad_best_class(model, scores)));
        }
        for (size_t j = 0; j < outputs; j++) {
            cli_output_bytes(output, ",", 1);
            cli_output_real(output, scores[j]);
        }
        cli_output_bytes(output, "\n", 1);
    }
}

static json_t *row_json(const broad_model *model, const double *scores, size_t row)
{
    int classify = broad_model_task(model) == BROAD_TASK_CLASSIFY;
    json_t *object = json_object(), *values = json_object();
    cli_json_put(object, "row", json_integer((json_int_t)row));
    if (classify)
        cli_json_put(object, "label", cli_json_text(broad_model_output_name(model, broad_best_class(model, scores))));
    for (size_t j = 0; j < broad_model_outputs(model); j++) {
        json_t *name = cli_json_text(broad_model_output_name(model, j));
        if (name) cli_json_put(values, json_string_value(name), cli_json_real(scores[j]));
        json_decref(name);
    }
    cli_json_put(object, classify ? "scores" : "values", values);
    return object;
}

static void put_jsonl(cli_output *output, const broad_model *model, const double *scores, size_t rows)
{
    size_t outputs = broad_model_outputs(model);
    for (size_t i = 0; i < rows && !output->status; i++, scores += outputs) {
        json_t *object = row_json(model, scores, i + 1);
        char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
        json_decref(object);
        if (!text) output->status = cli_fail(BROAD_NO_MEMORY, "out of memory while writing row %zu", i + 1);
        else cli_output_bytes(output, text, strlen(text));
        free(text);
        cli_output_bytes(output, "\n", 1);
    }
}

/* With the predictions themselves unless these went to a file. */
static int print_json(const cli_arguments *arguments, const broad_model *model, const double *scores, size_t rows)
{
    const char *path = cli_value(arguments, "output");
    json_t *object = cli_json_object("predict"), *predictions = json_array();
    cli_json_put(object, "model", cli_json_text(arguments->positional[0]));
    cli_json_put(object, "rows", json_integer((json_int_t)rows));
    cli_json_put(object, "output", cli_json_text(path));
    for (size_t i = 0; strcmp(path, "-") == 0 && i < rows; i++)
        cli_json_append(predictions, row_json(model, scores + i * broad_model_outputs(model), i + 1));
    cli_json_put(object, "predictions", strcmp(path, "-") ? json_null() : json_incref(predictions));
    json_decref(predictions);
    return cli_json_print(object);
}

static int write_predictions(const cli_arguments *arguments, const broad_model *model, const double *scores,
                             size_t rows)
{
    const char *path = cli_value(arguments, "output");
    int json = cli_given(arguments, "json") != NULL, to_file = strcmp(path, "-") != 0;
    cli_output output;
    if (json && !to_file) return print_json(arguments, model, scores, rows);
    int status = cli_output_open(&output, path);
    if (!status && cli_choice(arguments, "format") == 1) put_jsonl(&output, model, scores, rows);
    else if (!status) put_csv(&output, model, scores, rows);
    status = cli_output_close(&output);
    if (!status && json) return print_json(arguments, model, scores, rows);
    if (!status && to_file) cli_note(arguments, "wrote %zu predictions to %s", rows, path);
    return status;
}

int cli_predict(const cli_arguments *arguments)
{
    broad_model *model = NULL;
    broad_data *data = NULL;
    double *scores = NULL;
    broad_read_options read;
    size_t threads = 0, rows = 0;
    const char *path = cli_value(arguments, "output");
    int status = cli_threads(&threads, arguments);
    if (!status) status = cli_check_apart(path, arguments->positional[0]);
    if (!status) status = cli_check_apart(path, arguments->positional[1]);
    if (!status) status = cli_check_writable(path);
    if (!status) status = broad_model_load(&model, arguments->positional[0]);
    if (!status) {
        cli_read_options(&read, arguments);
        read.model = model;
        read.target_optional = 1;
        status = broad_data_read(&data, arguments->positional[1], &read);
    }
    if (!status) {
        rows = broad_data_rows(data);
        scores = calloc(rows ? rows : 1, broad_model_outputs(model) * sizeof *scores);
        if (!scores) status = cli_fail(BROAD_NO_MEMORY, "out of memory: no room for the scores of %zu rows", rows);
    }
    if (!status) status = broad_predict_data(scores, model, data, threads);
    if (!status) status = write_predictions(arguments, model, scores, rows);
    free(scores);
    broad_data_free(data);
    broad_model_free(model);
    return status;
}
