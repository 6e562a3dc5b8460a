/* broad predict: one line of scores or values for each row, with probabilities or intervals where asked for. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/output.h"
#include "io/progress.h"
#include "io/quote.h"
#include "io/ranks.h"
#include "page/heatmap.h"
#include "run/input.h"
#include "run/load_model.h"
#include "run/paths.h"
#include "run/photo_verdict.h"
#include "run/predict_table.h"
#include "values.h"

static void put_field(cli_output *output, const char *prefix, const char *text, const char *suffix)
{
    cli_output_bytes(output, ",", 1);
    cli_csv_parts(output, prefix, text, suffix);
}

typedef struct predictions {
    broad_model *model;
    broad_data *data;
    json_t *photos; /* what the result says of them; NULL: the rows are not photos */
    int boxes;      /* of parts of photos */
    int heatmaps;   /* they are drawn */
    int distances;  /* photos have a distance from the training photos */
    size_t threads;
    broad_device device;
    int list; /* the result is one object with all of them */
    size_t rows;
    size_t most;           /* rows that are predicted at a time */
    size_t first, count;   /* those whose scores are there */
    double *scores;        /* count x outputs */
    double *probabilities; /* count x outputs; NULL: not asked for */
    double *ends;          /* count x outputs x 2: of the intervals; NULL: not asked for */
    double level;          /* of the intervals */
    int people;            /* a short table on a terminal */
    int shown;             /* the probabilities are part of the result */
    double threshold;      /* of the positive class' probability; 0: the largest score decides */
} predictions;

static int is_classes(const predictions *p) { return broad_model_task(p->model) == BROAD_TASK_CLASSIFY; }

/* Of a row whose scores are there: outputs x 2. */
static const double *ends_of(const predictions *p, size_t row)
{
    return p->ends + (row - p->first) * 2 * broad_model_outputs(p->model);
}

/* The verdict of a row whose scores are there. */
static size_t class_of(const predictions *p, size_t row)
{
    size_t outputs = broad_model_outputs(p->model), at = (row - p->first) * outputs;
    size_t best = broad_best_class(p->model, p->scores + at), positive = broad_model_positive(p->model);
    if (p->threshold > 0) best = p->probabilities[at + positive] >= p->threshold ? positive : 1 - positive;
    return best;
}

static const char *label_of(const predictions *p, size_t row)
{
    return broad_model_output_name(p->model, class_of(p, row));
}

/* What comes before the name of a column of predictions where a kept one is called the same. */
static const char *apart(const predictions *p, const char *prefix, const char *name)
{
    size_t length = strlen(prefix);
    for (size_t k = 0; k < broad_data_kept_count(p->data); k++) {
        const char *kept = broad_data_kept_name(p->data, k);
        if (strncmp(kept, prefix, length) == 0 && strcmp(kept + length, name) == 0) return "predicted_";
    }
    return prefix;
}

/* A photo that is not like the training photos has no class to be believed. */
static const char *verdict_of(const predictions *p, size_t row)
{
    return broad_photo_is_unlike(broad_data_photo(p->data, row)) ? CLI_UNLIKE : label_of(p, row);
}

/* ---- CSV ---- */

static void put_header(cli_output *output, const predictions *p)
{
    size_t outputs = broad_model_outputs(p->model);
    cli_output_print(output, "%s%s", broad_data_maps(p->data) ? "file" : "row",
                     p->boxes ? ",left,top,right,bottom" : "");
    for (size_t k = 0; k < broad_data_kept_count(p->data); k++) {
        cli_output_bytes(output, ",", 1);
        cli_csv_exact(output, broad_data_kept_name(p->data, k));
    }
    if (is_classes(p)) put_field(output, apart(p, "", "label"), "label", "");
    for (size_t j = 0; p->shown && j < outputs; j++)
        put_field(output, "proba_", broad_model_output_name(p->model, j), "");
    for (size_t j = 0; j < outputs; j++) {
        const char *name = broad_model_output_name(p->model, j);
        put_field(output, apart(p, is_classes(p) ? "score_" : "", name), name, "");
        if (p->ends) put_field(output, "", name, "_low");
        if (p->ends) put_field(output, "", name, "_high");
    }
    if (p->distances) cli_output_print(output, "%s,distance,unlike,faults", is_classes(p) ? ",verdict" : "");
    if (p->heatmaps) cli_output_print(output, ",heatmap");
    cli_output_bytes(output, "\n", 1);
}

static void put_real(cli_output *output, double value)
{
    cli_output_bytes(output, ",", 1);
    cli_output_real(output, value);
}

/* What the row is: its number; or the photo, and which part of it. */
static void put_place(cli_output *output, const predictions *p, size_t row)
{
    const broad_photo *photo = broad_data_photo(p->data, row);
    if (!photo) {
        cli_output_count(output, row + 1);
        return;
    }
    cli_csv_text(output, photo->file);
    const double sides[] = {photo->left, photo->top, photo->right, photo->bottom};
    for (size_t i = 0; p->boxes && i < sizeof sides / sizeof sides[0]; i++) put_real(output, sides[i]);
}

/* What is to be thought of the photo, by a model that can tell. */
static void put_photo(cli_output *output, const predictions *p, size_t row)
{
    const broad_photo *photo = broad_data_photo(p->data, row);
    char faults[CLI_FAULTS_BYTES];
    if (!p->distances) return;
    cli_photo_faults(faults, photo);
    if (is_classes(p)) put_field(output, "", verdict_of(p, row), "");
    put_real(output, photo->distance);
    put_field(output, "", cli_photo_unlike(photo), "");
    put_field(output, "", faults, "");
}

static void put_row(cli_output *output, const predictions *p, size_t row)
{
    size_t outputs = broad_model_outputs(p->model);
    const double *scores = p->scores + (row - p->first) * outputs;
    put_place(output, p, row);
    for (size_t k = 0; k < broad_data_kept_count(p->data); k++) {
        cli_output_bytes(output, ",", 1);
        cli_csv_exact(output, broad_data_kept_text(p->data, row, k));
    }
    if (is_classes(p)) put_field(output, "", label_of(p, row), "");
    for (size_t j = 0; p->shown && j < outputs; j++) put_real(output, p->probabilities[(row - p->first) * outputs + j]);
    for (size_t j = 0; j < outputs; j++) {
        put_real(output, scores[j]);
        if (p->ends) put_real(output, ends_of(p, row)[2 * j]);
        if (p->ends) put_real(output, ends_of(p, row)[2 * j + 1]);
    }
    put_photo(output, p, row);
    if (p->heatmaps) {
        char name[NAME_MAX];
        cli_heatmap_name(name, broad_data_photo(p->data, row), row);
        put_field(output, "", name, "");
    }
    cli_output_bytes(output, "\n", 1);
}

static void put_csv(cli_output *output, const predictions *p)
{
    if (p->first == 0) put_header(output, p);
    for (size_t i = p->first; i < p->first + p->count && !output->status; i++) put_row(output, p, i);
}

/* ---- JSON ---- */

static json_t *pair_json(double low, double high)
{
    json_t *pair = json_array();
    cli_json_append(pair, cli_json_real(low));
    cli_json_append(pair, cli_json_real(high));
    return pair;
}

/* An object by output: of intervals where `ends` is not NULL, else of the values. */
static json_t *by_output(const broad_model *model, const double *values, const double *ends)
{
    json_t *object = json_object();
    for (size_t j = 0; j < broad_model_outputs(model); j++) {
        json_t *name = cli_json_text(broad_model_output_name(model, j));
        json_t *value = ends ? pair_json(ends[2 * j], ends[2 * j + 1]) : cli_json_real(values[j]);
        cli_json_put(object, name ? json_string_value(name) : "", value);
        json_decref(name);
    }
    return object;
}

static void put_place_json(json_t *object, const predictions *p, size_t row)
{
    const broad_photo *photo = broad_data_photo(p->data, row);
    if (photo) cli_json_put(object, "file", cli_json_text(photo->file));
    else cli_json_put(object, "row", json_integer((json_int_t)row + 1));
    if (!photo || !p->boxes) return;
    json_t *box = pair_json(photo->left, photo->top);
    cli_json_append(box, cli_json_real(photo->right));
    cli_json_append(box, cli_json_real(photo->bottom));
    cli_json_put(object, "box", box);
    if (isfinite(photo->box_score)) cli_json_put(object, "box_score", cli_json_real(photo->box_score));
}

static void put_kept_json(json_t *object, const predictions *p, size_t row)
{
    if (!broad_data_kept_count(p->data)) return;
    json_t *kept = json_object();
    for (size_t k = 0; k < broad_data_kept_count(p->data); k++) {
        json_t *name = cli_json_text(broad_data_kept_name(p->data, k));
        cli_json_put(kept, name ? json_string_value(name) : "", cli_json_text(broad_data_kept_text(p->data, row, k)));
        json_decref(name);
    }
    cli_json_put(object, "kept", kept);
}

/* By column of categories, where there are levels that the model does not know. */
static json_t *unknown_json(const predictions *p)
{
    json_t *object = json_object();
    for (size_t c = 0; c < broad_model_categories(p->model); c++) {
        if (!broad_data_unknown_levels(p->data, c)) continue;
        json_t *about = json_object();
        cli_json_put(about, "rows", json_integer((json_int_t)broad_data_unknown_levels(p->data, c)));
        cli_json_put(about, "first", cli_json_text(broad_data_unknown_level(p->data, c)));
        cli_json_put(object, broad_model_category_name(p->model, c), about);
    }
    return object;
}

static void put_photo_json(json_t *object, const predictions *p, size_t row)
{
    const broad_photo *photo = broad_data_photo(p->data, row);
    if (!photo) return;
    if (is_classes(p)) cli_json_put(object, "verdict", cli_json_text(verdict_of(p, row)));
    cli_json_put(object, "distance", cli_json_real(photo->distance));
    cli_json_put(object, "unlike", cli_photo_unlike_json(photo));
    cli_json_put(object, "faults", cli_photo_faults_json(photo));
    if (!p->heatmaps) return;
    char name[NAME_MAX];
    cli_heatmap_name(name, photo, row);
    cli_json_put(object, "heatmap", cli_json_text(name));
}

static json_t *row_json(const predictions *p, size_t row)
{
    const broad_model *model = p->model;
    size_t at = (row - p->first) * broad_model_outputs(model);
    const double *scores = p->scores + at;
    json_t *object = json_object();
    put_place_json(object, p, row);
    put_kept_json(object, p, row);
    if (is_classes(p)) cli_json_put(object, "label", cli_json_text(label_of(p, row)));
    if (p->shown) cli_json_put(object, "probabilities", by_output(model, p->probabilities + at, NULL));
    cli_json_put(object, is_classes(p) ? "scores" : "values", by_output(model, scores, NULL));
    if (p->ends) cli_json_put(object, "intervals", by_output(model, scores, ends_of(p, row)));
    put_photo_json(object, p, row);
    return object;
}

static void put_jsonl(cli_output *output, const predictions *p)
{
    for (size_t i = p->first; i < p->first + p->count && !output->status; i++) {
        json_t *object = row_json(p, i);
        char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
        json_decref(object);
        if (!text) output->status = cli_fail(BROAD_NO_MEMORY, "out of memory while writing row %zu", i + 1);
        else cli_output_bytes(output, text, strlen(text));
        free(text);
        cli_output_bytes(output, "\n", 1);
    }
}

/* With the predictions themselves unless these went to a file. */
static int print_json(const cli_arguments *arguments, const predictions *p)
{
    const char *path = cli_value(arguments, "output");
    json_t *object = cli_json_object("predict"), *list = json_array();
    cli_json_put(object, "model", cli_json_text(arguments->positional[0]));
    cli_json_put(object, "rows", json_integer((json_int_t)p->rows));
    cli_json_put(object, "photos", p->photos ? json_incref(p->photos) : json_null());
    cli_json_put(object, "unknown", unknown_json(p));
    if (p->ends) cli_json_put(object, "level", cli_json_real(p->level));
    cli_json_put(object, "output", cli_json_text(path));
    for (size_t i = 0; p->list && i < p->rows; i++) cli_json_append(list, row_json(p, i));
    cli_json_put(object, "predictions", p->list ? json_incref(list) : json_null());
    json_decref(list);
    return cli_json_give(arguments, object);
}

/* ---- the command ---- */

static int new_numbers(double **out, size_t rows, size_t columns)
{
    *out = calloc(rows ? rows : 1, columns * sizeof **out);
    return *out ? BROAD_OK : cli_fail(BROAD_NO_MEMORY, "out of memory: cannot store the scores of %zu rows", rows);
}

/* Rows that are predicted at a time: all where all are shown at once, or where each rank has its own, else as many as take little
 * memory, or more where they pass through a device. */
static size_t rows_at_once(const predictions *p, const cli_arguments *arguments)
{
    enum { NUMBERS = 1 << 19, LEAST = 256, DEVICE_TIMES = 256 };
    int together = cli_given(arguments, "heatmap") || p->list || cli_ranks() > 1;
    size_t numbers = p->device == BROAD_DEVICE_CPU ? NUMBERS : (size_t)DEVICE_TIMES * NUMBERS;
    size_t most = numbers / (broad_model_inputs(p->model) + broad_model_outputs(p->model));
    if (most < LEAST) most = LEAST;
    return together || p->rows < most ? p->rows : most;
}

static int predict(predictions *p, size_t first, size_t count)
{
    p->first = first;
    p->count = count;
    broad_run_options run = *cli_watch(p->threads);
    run.device = p->device;
    int status = broad_predict_part(p->scores, p->model, p->data, first, count, &run);
    if (!status && p->ends) status = broad_intervals(p->ends, p->model, p->scores, count, p->level);
    if (status || !p->probabilities) return status;
    return broad_probabilities(p->probabilities, p->model, p->scores, count);
}

static int predict_first(predictions *p, const cli_arguments *arguments)
{
    size_t outputs = broad_model_outputs(p->model);
    p->rows = broad_data_rows(p->data);
    p->most = rows_at_once(p, arguments);
    int status = new_numbers(&p->scores, p->most, outputs);
    if (!status && (p->shown || p->threshold > 0)) status = new_numbers(&p->probabilities, p->most, outputs);
    if (!status && p->level > 0) status = new_numbers(&p->ends, p->most, 2 * outputs);
    if (status || !p->rows) return status;
    return predict(p, 0, p->most);
}

/* The next rows, if any are left: *more says so. */
static int predict_next(int *more, predictions *p)
{
    size_t next = p->first + p->count, left = p->rows - next;
    *more = left > 0;
    return *more ? predict(p, next, left < p->most ? left : p->most) : BROAD_OK;
}

static int print_table(predictions *p)
{
    cli_predict_table table;
    size_t outputs = broad_model_outputs(p->model);
    double *ends = calloc(2 * outputs + 1, sizeof *ends);
    int more = 1, status = ends ? BROAD_OK : cli_fail(BROAD_NO_MEMORY, "out of memory while printing");
    if (!status) status = cli_predict_table_open(&table, p->model, p->data, p->ends != NULL, p->probabilities != NULL);
    if (status) {
        free(ends);
        return status;
    }
    while (!status && more) {
        for (size_t row = p->first; row < p->first + p->count; row++) {
            size_t at = (row - p->first) * outputs;
            cli_predicted told = {.verdict = is_classes(p) ? class_of(p, row) : 0, .scores = p->scores + at};
            if (p->probabilities) told.probabilities = p->probabilities + at;
            told.unlike = broad_photo_is_unlike(broad_data_photo(p->data, row));
            for (size_t j = 0; p->ends && j < outputs; j++) {
                ends[j] = ends_of(p, row)[2 * j];
                ends[outputs + j] = ends_of(p, row)[2 * j + 1];
            }
            if (p->ends) told.low = ends, told.high = ends + outputs;
            cli_predict_table_add(&table, &told);
        }
        status = predict_next(&more, p);
    }
    if (!status) cli_predict_table_print(&table);
    cli_predict_table_close(&table);
    free(ends);
    return status;
}

static void note_unknown(const cli_arguments *arguments, const predictions *p)
{
    for (size_t c = 0; c < broad_model_categories(p->model); c++) {
        size_t rows = broad_data_unknown_levels(p->data, c);
        if (!rows) continue;
        cli_note(
            arguments,
            "column %.40s: %zu row%s a category that the model does not know, such as '%.40s'; it counts as missing",
            broad_model_category_name(p->model, c), rows, rows == 1 ? " has" : "s have",
            broad_data_unknown_level(p->data, c));
    }
}

/* For people, unless something was said about the form. */
static int for_people(const cli_arguments *arguments)
{
    return strcmp(cli_value(arguments, "output"), "-") == 0 && !cli_given(arguments, "format") &&
           !cli_given(arguments, "json") && cli_on_terminal();
}

static int write_predictions(const cli_arguments *arguments, predictions *p)
{
    const char *path = cli_value(arguments, "output");
    int json = cli_given(arguments, "json") != NULL, lines = cli_choice(arguments, "format") == 1, status = BROAD_OK;
    cli_output output;
    note_unknown(arguments, p);
    if (p->list) return print_json(arguments, p);
    if (p->people) return print_table(p);
    status = cli_output_open(&output, path);
    for (int more = 1; !status && more;) {
        if (lines) put_jsonl(&output, p);
        else put_csv(&output, p);
        if (output.status) break;
        status = predict_next(&more, p);
    }
    if (status) {
        cli_output_abandon(&output);
        return status;
    }
    status = cli_output_close(&output);
    if (!status && json) return print_json(arguments, p);
    if (!status && strcmp(path, "-"))
        cli_note(arguments, "wrote %zu prediction%s to %s", p->rows, cli_plural(p->rows), path);
    return status;
}

static int check_paths(const cli_arguments *arguments)
{
    const char *path = cli_value(arguments, "output");
    int status = BROAD_OK;
    for (size_t i = 0; !status && i < arguments->positional_count; i++)
        status = cli_check_apart(path, arguments->positional[i]);
    return status ? status : cli_check_writable(path);
}

/* What the model cannot give is refused before DATA is read. */
static int prepare(predictions *p, const cli_arguments *arguments)
{
    int status = cli_model_load(&p->model, arguments);
    if (!status && p->threshold > 0 && (!is_classes(p) || broad_model_outputs(p->model) != 2))
        return cli_fail(BROAD_USAGE, "--threshold is for models of two classes, and this one has %zu %s",
                        broad_model_outputs(p->model), is_classes(p) ? "classes" : "targets");
    if (!status && (p->shown || p->threshold > 0)) status = broad_probabilities(NULL, p->model, NULL, 0);
    broad_estimate estimate = {.size = sizeof estimate};
    if (!status && p->people && is_classes(p)) p->shown = !broad_model_estimate(&estimate, p->model) && estimate.known;
    if (status || !(p->level > 0)) return status;
    return broad_intervals(NULL, p->model, NULL, 0, p->level);
}

static int read_rows(predictions *p, const cli_arguments *arguments)
{
    cli_paths paths;
    broad_read_options read;
    cli_read_options(&read, arguments);
    read.model = p->model;
    read.target_optional = 1;
    read.rows_optional = 1;
    read.keep = cli_given(arguments, "keep");
    broad_photo_spec photo = {.size = sizeof photo};
    int status = broad_model_photo(&photo, p->model);
    if (status) return status;
    p->boxes = photo.crop != BROAD_CROP_NONE;
    p->distances = photo.distances;
    status = cli_paths_take(&paths, arguments, 1, broad_model_maps(p->model) != 0);
    const cli_input input = {paths.items, paths.count, &read, CLI_TO_COMPUTE, arguments};
    if (!status) status = cli_input_read(&p->data, &p->photos, &input);
    cli_paths_clear(&paths);
    return status;
}

int cli_predict(const cli_arguments *arguments)
{
    predictions p = {0};
    int status = cli_threads(&p.threads, arguments);
    if (!status) status = cli_device(&p.device, arguments);
    p.heatmaps = cli_given(arguments, "heatmap") != NULL;
    p.list = cli_given(arguments, "json") && strcmp(cli_value(arguments, "output"), "-") == 0;
    p.shown = cli_given(arguments, "proba") != NULL;
    p.people = for_people(arguments);
    if (!status) status = cli_level(&p.level, arguments);
    if (!status) status = cli_threshold(&p.threshold, arguments);
    if (!status) status = check_paths(arguments);
    if (!status) status = prepare(&p, arguments);
    if (!status) status = cli_heatmaps_check(arguments, p.model);
    if (!status) status = read_rows(&p, arguments);
    if (!status) status = predict_first(&p, arguments);
    if (!status) status = cli_heatmaps_write(arguments, p.model, p.data, p.scores, p.threads);
    if (!status) status = write_predictions(arguments, &p);
    free(p.scores);
    free(p.probabilities);
    free(p.ends);
    json_decref(p.photos);
    broad_data_free(p.data);
    broad_model_free(p.model);
    return status;
}
