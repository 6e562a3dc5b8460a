/* Rows to train on; and rows as a model knows them: the files it was trained on, joined, and the part held out. */
#include "run/rows.h"

#include <math.h>
#include <string.h>

#include "run/photos.h"
#include "values.h"

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
    if (values > 0 && broad_data_rows(data) >= 5 * values)
        cli_note(arguments,
                 "the target has only %zu distinct whole value%s; if these are classes, give --task classify", values,
                 cli_plural(values));
}

int cli_read_table(broad_data **out, json_t **record, const char *path, const broad_read_options *read,
                   const cli_arguments *arguments)
{
    broad_data *data = NULL;
    int status = cli_read(&data, record, &path, 1, read, arguments);
    if (status) return status;
    if (broad_data_task(data) == BROAD_TASK_AUTO) {
        int photos = broad_data_maps(data) != 0;
        broad_data_free(data);
        return cli_fail(BROAD_BAD_DATA, "%s has no targets; %sgive them with --labels %s", path,
                        photos ? "put the photos into one sub-folder per class, or " : "",
                        photos ? "LIST.csv" : "FILE");
    }
    if (read->task == BROAD_TASK_AUTO) hint_task(data, arguments);
    *out = data;
    return BROAD_OK;
}

static int read_file(broad_data **out, json_t **record, const broad_model *model, const cli_arguments *arguments,
                     const cli_files *files, size_t index)
{
    broad_read_options read;
    cli_read_options(&read, arguments);
    read.model = model;
    read.training = 1;
    read.labels = files->labels[index];
    read.weight = NULL; /* the model knows its column; to learn, --weight is something else */
    return cli_read(out, record, &files->paths[index], 1, &read, arguments);
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
    broad_split split;
    broad_data *train = NULL;
    broad_split_init(&split);
    int status = broad_model_split(&split, model);
    if (!status && split.holdout > 0 && broad_data_rows(whole) != broad_model_segment_rows(model, 0))
        status = broad_data_split(&train, out, whole, &split);
    broad_data_free(train);
    return status;
}

int cli_read_training(broad_data **out, broad_data **out_apart, json_t **record, const broad_model *model,
                      const cli_arguments *arguments, const cli_files *files)
{
    broad_data *whole = NULL, *rows = NULL;
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
