/* broad data: what a folder of photos or a table holds, and what to mend before training. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/progress.h"
#include "run/data_photos.h"
#include "run/input.h"
#include "run/photo_summary.h"
#include "run/rows_export.h"
#include "run/show.h"
#include "values.h"

/* ---- targets that are numbers ---- */

typedef struct value_range {
    double least, mean, largest;
} value_range;

static value_range range_of(const broad_data *data, size_t output)
{
    value_range range = {INFINITY, 0, -INFINITY};
    for (size_t i = 0; i < broad_data_rows(data); i++) {
        double value = broad_data_value(data, i, output);
        range.least = fmin(range.least, value);
        range.largest = fmax(range.largest, value);
        range.mean += value / (double)broad_data_rows(data);
    }
    return range;
}

/* ---- tables ---- */

typedef struct data_table {
    const broad_data *data;
    size_t *class_counts; /* NULL: no classes */
    size_t *missing;      /* of each input */
    int *constant;        /* of each input */
    size_t empty, with_empty, constants;
} data_table;

static int table_make(data_table *out, const broad_data *data)
{
    size_t rows = broad_data_rows(data), inputs = broad_data_inputs(data);
    *out = (data_table){.data = data, .class_counts = data_class_counts(data)};
    out->missing = calloc(inputs + 1, sizeof *out->missing);
    out->constant = calloc(inputs + 1, sizeof *out->constant);
    if (!out->missing || !out->constant)
        return cli_fail(BROAD_NO_MEMORY, "out of memory: cannot describe %zu columns", inputs);
    for (size_t j = 0; j < inputs; j++) {
        double least = INFINITY, most = -INFINITY;
        for (size_t i = 0; i < rows; i++) {
            double value = broad_data_row(data, i)[j];
            if (isnan(value)) out->missing[j]++;
            else least = fmin(least, value), most = fmax(most, value);
        }
        out->constant[j] = !(most > least);
        out->constants += (size_t)out->constant[j];
        out->empty += out->missing[j];
        out->with_empty += out->missing[j] > 0;
    }
    return BROAD_OK;
}

static void table_clear(data_table *table)
{
    free(table->class_counts);
    free(table->missing);
    free(table->constant);
}

static void table_advise(data_advice *advice, const data_table *table)
{
    if (broad_data_task(table->data) == BROAD_TASK_AUTO)
        data_advise(advice, "there are no targets: give --labels FILE");
    if (table->constants)
        data_advise(advice, "%zu input%s constant and can be removed", table->constants,
                    table->constants == 1 ? " is" : "s are");
    data_advise_targets(advice, table->data, table->class_counts);
}

static void print_inputs(const data_table *table, int constant, int all)
{
    enum { SHOWN = 8 };
    size_t seen = 0, shown = all ? SIZE_MAX : SHOWN;
    for (size_t j = 0; j < broad_data_inputs(table->data); j++) {
        if (constant ? !table->constant[j] : !table->missing[j]) continue;
        if (seen++ >= shown) continue;
        cli_print("%s%s", seen > 1 ? ", " : ": ", broad_data_input_name(table->data, j));
        if (!constant) cli_print(" %zu", table->missing[j]);
    }
    if (seen > shown) cli_print(" and %zu more", seen - shown);
    cli_print("\n");
}

static void print_targets(const broad_data *data, const size_t *counts)
{
    size_t outputs = broad_data_outputs(data);
    if (counts) {
        cli_print("classes ");
        for (size_t c = 0; c < outputs; c++) {
            const char *name = broad_data_output_name(data, c), *mark = cli_listed_mark(name);
            cli_print("%s %s%s%s %zu", c ? "," : "", mark, name, mark, counts[c]);
        }
        cli_print("\n");
        return;
    }
    for (size_t j = 0; j < outputs; j++) {
        value_range range = range_of(data, j);
        cli_print("target   %s: %.6g to %.6g, mean %.6g\n", broad_data_output_name(data, j), range.least, range.largest,
                  range.mean);
    }
}

static void table_print(const data_table *table, int all)
{
    const broad_data *data = table->data;
    cli_print("rows     %zu, with %zu input%s\n", broad_data_rows(data), broad_data_inputs(data),
              cli_plural(broad_data_inputs(data)));
    print_targets(data, table->class_counts);
    cli_print("empty    %zu field%s in %zu input%s", table->empty, cli_plural(table->empty), table->with_empty,
              cli_plural(table->with_empty));
    print_inputs(table, 0, all);
    cli_print("constant %zu input%s", table->constants, cli_plural(table->constants));
    print_inputs(table, 1, all);
}

static void print_notes(const broad_data *data)
{
    for (size_t i = 0; i < broad_data_note_count(data); i++)
        cli_print("%-8s %s\n", i ? "" : "notes", cli_tool_words(broad_data_note(data, i)));
}

static void table_json(json_t *object, const data_table *table)
{
    json_t *missing = json_object(), *constant = json_array();
    cli_json_put(object, "notes", cli_notes_json(table->data));
    for (size_t j = 0; j < broad_data_inputs(table->data); j++) {
        json_t *name = cli_json_text(broad_data_input_name(table->data, j));
        const char *text = name ? json_string_value(name) : "";
        if (table->missing[j]) cli_json_put(missing, text, json_integer((json_int_t)table->missing[j]));
        if (table->constant[j]) cli_json_append(constant, json_incref(name));
        json_decref(name);
    }
    cli_json_put(object, "missing", missing);
    cli_json_put(object, "constant", constant);
}

/* ---- the command ---- */

static json_t *classes_json(const broad_data *data, const size_t *counts)
{
    if (!counts) return json_null();
    json_t *object = json_object();
    for (size_t c = 0; c < broad_data_outputs(data); c++) {
        json_t *name = cli_json_text(broad_data_output_name(data, c));
        cli_json_put(object, name ? json_string_value(name) : "", json_integer((json_int_t)counts[c]));
        json_decref(name);
    }
    return object;
}

static json_t *targets_json(const broad_data *data)
{
    if (broad_data_task(data) != BROAD_TASK_REGRESS) return json_null();
    json_t *list = json_array();
    for (size_t j = 0; j < broad_data_outputs(data); j++) {
        value_range range = range_of(data, j);
        json_t *object = json_object();
        cli_json_put(object, "name", cli_json_text(broad_data_output_name(data, j)));
        cli_json_put(object, "least", cli_json_real(range.least));
        cli_json_put(object, "mean", cli_json_real(range.mean));
        cli_json_put(object, "largest", cli_json_real(range.largest));
        cli_json_append(list, object);
    }
    return list;
}

static json_t *result_json(const char *path, const broad_data *data, const size_t *counts, json_t *photos,
                           const data_advice *advice)
{
    json_t *object = cli_json_object("data"), *lines = json_array();
    cli_json_put(object, "data", cli_json_text(path));
    cli_json_put(object, "format", cli_json_text(broad_enum_name(BROAD_ENUM_FORMAT, (int)broad_data_format(data))));
    cli_json_put(object, "task",
                 broad_data_task(data) == BROAD_TASK_AUTO ? json_null()
                                                          : cli_json_text(cli_task_name(broad_data_task(data))));
    cli_json_put(object, "rows", json_integer((json_int_t)broad_data_rows(data)));
    cli_json_put(object, "inputs", photos ? json_null() : json_integer((json_int_t)broad_data_inputs(data)));
    cli_json_put(object, "classes", classes_json(data, counts));
    cli_json_put(object, "targets", targets_json(data));
    cli_json_put(object, "photos", photos ? json_incref(photos) : json_null());
    for (size_t i = 0; i < advice->count; i++) cli_json_append(lines, cli_json_text(advice->lines[i]));
    cli_json_put(object, "advice", lines);
    return object;
}

static void print_advice(const data_advice *advice)
{
    for (size_t i = 0; i < advice->count; i++) cli_print("%-8s %s\n", i ? "" : "advice", advice->lines[i]);
}

static int report_photos(const cli_arguments *arguments, const broad_data *data, json_t *record)
{
    data_photos photos;
    data_advice advice = {0};
    int status = data_photos_make(&photos, data);
    if (!status) data_photos_advise(&advice, &photos);
    if (!status && cli_given(arguments, "json")) {
        data_photos_json(record, &photos);
        json_t *object = result_json(arguments->positional[0], data, photos.class_counts, record, &advice);
        cli_json_put(object, "notes", cli_notes_json(data));
        status = cli_json_give(arguments, object);
    } else if (!status) {
        cli_print("data     %s (photos)\n", arguments->positional[0]);
        data_photos_print(&photos, cli_given(arguments, "all") != NULL);
        if (!photos.class_counts) print_targets(data, NULL);
        print_notes(data);
        print_advice(&advice);
    }
    data_photos_clear(&photos);
    return status;
}

static int report_table(const cli_arguments *arguments, const broad_data *data)
{
    data_table table;
    data_advice advice = {0};
    int status = table_make(&table, data);
    if (!status) table_advise(&advice, &table);
    if (!status && cli_given(arguments, "json")) {
        json_t *object = result_json(arguments->positional[0], data, table.class_counts, NULL, &advice);
        table_json(object, &table);
        status = cli_json_give(arguments, object);
    } else if (!status) {
        cli_print("data     %s (%s)\n", arguments->positional[0],
                  broad_enum_name(BROAD_ENUM_FORMAT, (int)broad_data_format(data)));
        table_print(&table, cli_given(arguments, "all") != NULL);
        print_notes(data);
        print_advice(&advice);
    }
    table_clear(&table);
    return status;
}

/* ---- export ---- */

static int report_export(const cli_arguments *arguments, const broad_data *data, json_t *record,
                         const cli_rows_export *made)
{
    const char *path = arguments->positional[0], *folder = cli_given(arguments, "export");
    data_advice advice = {0};
    if (!cli_given(arguments, "json")) {
        cli_print("data     %s (%s): %zu rows, %zu input%s\n", path,
                  broad_enum_name(BROAD_ENUM_FORMAT, (int)broad_data_format(data)), broad_data_rows(data),
                  broad_data_inputs(data), cli_plural(broad_data_inputs(data)));
        cli_print_maps(&(broad_map_choice){0}, broad_data_maps(data), 0);
        cli_rows_export_print(made, folder);
        return BROAD_OK;
    }
    size_t *counts = data_class_counts(data);
    json_t *object = result_json(path, data, counts, record, &advice);
    free(counts);
    cli_record_maps(record, &(broad_map_choice){0}, broad_data_maps(data));
    cli_json_put(object, "export", cli_rows_export_json(made, folder));
    return cli_json_give(arguments, object);
}

static int export_rows(const cli_arguments *arguments, const broad_data *data, json_t *record)
{
    cli_folder folder = {0};
    cli_rows_export made;
    cli_signals_catch();
    int status = cli_folder_begin(&folder, cli_given(arguments, "export"));
    if (!status) status = cli_rows_export_write(&made, data, &folder);
    int left = status ? cli_folder_abandon(&folder) : BROAD_OK; /* what is left is worse than why */
    if (status == BROAD_INTERRUPTED && !left)
        status = cli_fail(status, "interrupted; %s was not written", cli_given(arguments, "export"));
    if (left) status = left;
    if (!status) status = cli_folder_commit(&folder);
    cli_signals_release();
    return status ? status : report_export(arguments, data, record, &made);
}

/* Before photos are read: what they would be for, and whether there is a place for it. */
static int check_export(const cli_arguments *arguments)
{
    static const char *const for_export[] = {"map", "side", "each-box", "augment", "seed"};
    const char *path = cli_given(arguments, "export");
    cli_folder folder = {0};
    for (size_t i = 0; !path && i < sizeof for_export / sizeof for_export[0]; i++)
        if (cli_given(arguments, for_export[i]))
            return cli_fail(BROAD_USAGE, "--%s only applies to --export; give that too", for_export[i]);
    if (path && cli_given(arguments, "all"))
        return cli_fail(BROAD_USAGE, "--all and --export do not go together; omit one of them");
    if (!path) return BROAD_OK;
    int status = cli_folder_begin(&folder, path);
    return status ? status : cli_folder_abandon(&folder);
}

static int report(const cli_arguments *arguments, const broad_data *data, json_t *record)
{
    if (cli_given(arguments, "export")) return export_rows(arguments, data, record);
    return broad_data_maps(data) ? report_photos(arguments, data, record) : report_table(arguments, data);
}

int cli_data(const cli_arguments *arguments)
{
    broad_data *data = NULL;
    json_t *record = NULL;
    broad_read_options read;
    cli_read_options(&read, arguments);
    read.one_class = !cli_given(arguments, "export");
    const cli_input input = {arguments->positional, 1, &read,
                             cli_given(arguments, "export") ? CLI_TO_COMPUTE : CLI_TO_LOOK, arguments};
    int status = check_export(arguments);
    if (!status) status = cli_input_read(&data, &record, &input);
    if (!status) status = report(arguments, data, record);
    json_decref(record);
    broad_data_free(data);
    return status;
}
