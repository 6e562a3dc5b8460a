#include "run/input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/progress.h"
#include "message.h"
#include "run/photo_summary.h"
#include "run/recall.h"
#include "values.h"

/* ---- what the paths are ---- */

/* *out: whether the paths are photos. What cannot be is refused with the reason. */
static int tell_kind(int *out, const char *const *paths, size_t count, const broad_model *model)
{
    broad_path_kind what = broad_path_look(paths[0]);
    int folder = what == BROAD_PATH_KIND_FOLDER;
    int picture = what == BROAD_PATH_KIND_PICTURE;
    *out = model ? broad_model_maps(model) != 0 : folder;
    if (model && !*out && (folder || picture))
        return cli_fail(BROAD_BAD_DATA,
                        "%s is a %s, but the model was trained on a table of %zu inputs; give a table, or train a "
                        "model on photos with 'broad fit PHOTOS/'",
                        paths[0], folder ? "folder" : "photo", broad_model_inputs(model));
    if (*out && count == 1 && what == BROAD_PATH_KIND_TABLE)
        return cli_fail(
            BROAD_BAD_DATA,
            "%s is not a photo, and the model was trained on photos; give JPEG or PNG files, or a folder of "
            "them",
            paths[0]);
    if (!model && picture)
        return cli_fail(
            BROAD_BAD_DATA,
            "%s is a photo; give the folder that contains the photos, with one sub-folder per class, or with "
            "--labels LIST.csv",
            paths[0]);
    if (!*out && count > 1)
        return cli_fail(BROAD_USAGE,
                        "%zu files were given, but only photos can be given as several files; give one table", count);
    return BROAD_OK;
}

/* Options that would do nothing are a mistake. */
static int check_options(const cli_arguments *arguments, int photos, const char *path)
{
    static const char *const for_photos[] = {"map", "side", "each-box", "augment", "boxes", "detector"};
    static const char *const for_tables[] = {"categorical", "missing", "inputs", "ignore"};
    const char *const *wrong = photos ? for_tables : for_photos;
    size_t count = photos ? sizeof for_tables / sizeof for_tables[0] : sizeof for_photos / sizeof for_photos[0];
    for (size_t i = 0; i < count; i++)
        if (cli_given(arguments, wrong[i]))
            return cli_fail(BROAD_USAGE, "--%s is for %s, and %s is %s", wrong[i], photos ? "tables" : "photos", path,
                            photos ? "a folder or file of photos" : "a table");
    return BROAD_OK;
}

/* ---- reading ---- */

typedef struct reading_bar {
    int visible, drawn;
    double start, last;
} reading_bar;

static int on_progress(const broad_progress *progress, void *context)
{
    reading_bar *bar = context;
    size_t done = progress->done, total = progress->total;
    double now = broad__seconds();
    if (bar->visible && total && (now - bar->last > 0.1 || done == total)) {
        char text[96], left[48];
        double part = (double)done / (double)total;
        cli_bar_left(left, sizeof left, part, now - bar->start);
        snprintf(text, sizeof text, "%zu/%zu%s", done, total, left);
        cli_bar("photos", part, text);
        bar->last = now;
        bar->drawn = 1;
    }
    return cli_interrupted() != 0;
}

static int read_photos(broad_data **out, const cli_input *input)
{
    const cli_arguments *arguments = input->arguments;
    cli_photo_reading reading;
    broad_read_options read = *input->read;
    reading_bar bar = {.visible = isatty(STDERR_FILENO) && !cli_given(arguments, "quiet"), .start = broad__seconds()};
    int status = cli_photo_reading_open(&reading, &read, input->purpose, arguments);
    if (status) return status;
    read.progress = on_progress;
    read.progress_context = &bar;
    read.photos = &reading.options;
    cli_signals_catch();
    status = broad_data_read_photos(out, input->paths, input->count, &read);
    cli_photo_reading_close(&reading);
    cli_signals_release();
    if (bar.drawn) cli_bar_wipe();
    if (status != BROAD_INTERRUPTED) return status;
    return cli_fail(status, "interrupted while reading photos; nothing was written");
}

static int tell(json_t **record, const broad_data *data, const cli_input *input)
{
    cli_photo_facts facts;
    int status = cli_photo_facts_make(&facts, data), silent = input->purpose == CLI_TO_LOOK;
    if (status) return status;
    if (!silent) cli_note_skipped(data, input->arguments);
    if (!silent) cli_note_doubtful(data, !input->read->training, input->arguments);
    if (!silent && !input->read->model) cli_note_facts(data, &facts, input->arguments);
    if (record && !*record) *record = json_object();
    if (record) cli_photos_record(*record, data, &facts);
    cli_photo_facts_clear(&facts);
    return BROAD_OK;
}

/* What reading a table did. Rows to predict come in many files: there it would be said again and again. */
static void tell_notes(const broad_data *data, const cli_input *input)
{
    if (input->purpose == CLI_TO_LOOK || input->read->target_optional) return;
    for (size_t i = 0; i < broad_data_note_count(data); i++)
        cli_note(input->arguments, "%s", cli_tool_words(broad_data_note(data, i)));
}

json_t *cli_notes_json(const broad_data *data)
{
    json_t *notes = json_array();
    for (size_t i = 0; i < broad_data_note_count(data); i++)
        cli_json_append(notes, cli_json_text(cli_tool_words(broad_data_note(data, i))));
    return notes;
}

int cli_input_read(broad_data **out, json_t **record, const cli_input *input)
{
    broad_data *data = NULL;
    broad_read_options read = *input->read;
    cli_input now = *input;
    int photos = 0;
    now.read = &read;
    int status = tell_kind(&photos, input->paths, input->count, read.model);
    if (!status) status = check_options(input->arguments, photos, input->paths[0]);
    if (!status) status = cli_memory(&read.memory, input->arguments);
    if (!status) status = cli_threads(&read.threads, input->arguments);
    if (status) return status;
    status = photos ? read_photos(&data, &now) : broad_data_read(&data, input->paths[0], &read);
    if (!status && photos) status = tell(record, data, &now);
    if (!status && !photos) tell_notes(data, &now);
    if (status) broad_data_free(data);
    else *out = data;
    return status;
}

int cli_read(broad_data **out, json_t **record, const char *path, const broad_read_options *read,
             const cli_arguments *arguments)
{
    const cli_input input = {.paths = &path, .count = 1, .read = read, .arguments = arguments};
    return cli_input_read(out, record, &input);
}

/* ---- rows to train on ---- */

/* How many different whole numbers a target has, 0 if there are other numbers or more than `limit`. */
static size_t count_whole_values(const broad_data *data, size_t limit)
{
    double seen[16];
    size_t count = 0;
    for (size_t i = 0; i < broad_data_rows(data); i++) {
        double value = broad_data_value(data, i, 0);
        size_t at = 0;
        while (at < count && seen[at] != value) at++;
        if (at < count) continue;
        if (value != floor(value) || count == limit) return 0;
        seen[count++] = value;
    }
    return count;
}

static void hint_task(const broad_data *data, const cli_arguments *arguments)
{
    if (broad_data_task(data) != BROAD_TASK_REGRESS || broad_data_outputs(data) != 1) return;
    size_t values = count_whole_values(data, 16);
    if (values > 1 && broad_data_rows(data) >= 5 * values)
        cli_note(arguments, "the target has only %zu distinct whole values; if these are classes, give --task classify",
                 values);
}

int cli_read_table(broad_data **out, json_t **record, const char *path, const broad_read_options *read,
                   const cli_arguments *arguments)
{
    broad_data *data = NULL;
    int status = cli_read(&data, record, path, read, arguments);
    if (status) return status;
    if (broad_data_task(data) == BROAD_TASK_AUTO) {
        int photos = broad_data_maps(data) != 0;
        broad_data_free(data);
        return cli_fail(BROAD_BAD_DATA, "%s has no targets; %sgive them with --labels %s", path,
                        photos ? "put the photos into one sub-folder per class, or " : "",
                        photos ? "LIST.csv" : "FILE");
    }
    enum { FEW = 20 };
    size_t rows = broad_data_rows(data);
    if (read->task == BROAD_TASK_AUTO) hint_task(data, arguments);
    if (rows < FEW)
        cli_note(arguments, "only %zu row%s to learn from; no figure of such a model says much", rows,
                 cli_plural(rows));
    *out = data;
    return BROAD_OK;
}

/* ---- rows as a model knows them ---- */

static int read_file(broad_data **out, json_t **record, const broad_model *model, const cli_arguments *arguments,
                     const cli_files *files, size_t index)
{
    broad_read_options read;
    cli_read_options(&read, arguments);
    read.model = model;
    read.training = 1;
    read.labels = files->labels[index];
    read.weight = NULL; /* the model knows its column; to learn, --weight is something else */
    return cli_read(out, record, files->paths[index], &read, arguments);
}

/* Takes over both; *data becomes the two together. */
static int append(broad_data **data, broad_data *more)
{
    broad_data *both = NULL;
    int status = broad_data_append(&both, *data, more);
    broad_data_free(more);
    if (status) return status;
    broad_data_free(*data);
    *data = both;
    return BROAD_OK;
}

/* The rows of the file that fit held out; NULL where it held out none, or where they are not in the file. */
static int held_out(broad_data **out, const broad_data *whole, const broad_model *model)
{
    broad_split split = {.size = sizeof split};
    broad_data *train = NULL;
    int status = broad_model_split(&split, model);
    if (!status && split.holdout > 0 && broad_data_rows(whole) != broad_model_segment_rows(model, 0))
        status = broad_data_split(&train, out, whole, &split);
    broad_data_free(train);
    return status;
}

/* Photos that the model remembers, wherever they are now. */
static int recall_training(broad_data **out, broad_data **out_apart, json_t **record, const broad_model *model,
                           const cli_arguments *arguments, const cli_files *files)
{
    cli_recall *recall = NULL;
    double *weights = NULL;
    size_t plain = 0;
    int status = cli_recall_open(&recall, record, model, arguments, files, NULL);
    if (status) return status;
    cli_recall_note(recall, 0);
    if (out_apart) cli_recall_note_held_out(recall);
    status = cli_recall_check(recall);
    if (!status) status = cli_recall_training(out, &plain, &weights, recall);
    if (!status && out_apart) status = cli_recall_held_out(out_apart, recall);
    if (status) {
        broad_data_free(*out);
        *out = NULL;
    }
    free(weights);
    cli_recall_close(recall);
    return status;
}

int cli_read_training(broad_data **out, broad_data **out_apart, json_t **record, const broad_model *model,
                      const cli_arguments *arguments, const cli_files *files)
{
    broad_data *whole = NULL, *rows = NULL;
    if (cli_recall_possible(model)) return recall_training(out, out_apart, record, model, arguments, files);
    if (!files->count)
        return cli_fail(BROAD_USAGE,
                        "the training rows are needed, and the model does not remember files that are still "
                        "there; give DATA, the files it was trained on, in order");
    int status = read_file(&whole, record, model, arguments, files, 0);
    if (!status) status = broad_data_training_part(&rows, whole, model);
    if (!status && out_apart) status = held_out(out_apart, whole, model);
    broad_data_free(whole);
    for (size_t i = 1; !status && i < files->count; i++) {
        broad_data *more = NULL;
        status = read_file(&more, record, model, arguments, files, i);
        if (!status) status = append(&rows, more);
    }
    if (status) broad_data_free(rows);
    else *out = rows;
    return status;
}
