#include "data/read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/available.h"
#include "base/common.h"
#include "base/memory.h"
#include "base/status.h"
#include "comm/comm.h"
#include "data/copies.h"
#include "data/detect.h"
#include "data/format/csv_faults.h"
#include "data/format/csv_look.h"
#include "data/format/csv_open.h"
#include "data/format/csv_profile.h"
#include "data/format/encoding.h"
#include "data/format/idx.h"
#include "data/format/libsvm.h"
#include "data/format/npy.h"
#include "data/format/source.h"
#include "data/levels.h"
#include "data/roles.h"
#include "data/targets.h"
#include "data/tidy.h"

/* One file on its way to a table. */
typedef struct reading {
    const broad_read_options *options;
    const broad__columns *model;
    broad__columns fields;    /* the model's columns as a file has them: one for each category, instead of its inputs */
    const char **field_names; /* their names, if they are not the inputs' */
    size_t *model_inputs;     /* of each column: the first of the model's inputs that it stands for */
    size_t rows;              /* that it should have; 0: the file with the inputs */
    int tidy;                 /* a file of labels: its numbers may be written as those of the inputs may */
    int divided;              /* each rank of the call reads its own rows */
    broad__spill *spill;      /* where the table lies, if it has been read already */
    broad__source source;
    const char *format;
    broad__csv csv;
    int profiled; /* all of it was looked at, for what its columns hold */
    broad__matrix matrix;
    int grid; /* each row is a picture */
    broad__libsvm libsvm;
    broad__layout layout;
    broad__roles roles;
    broad__parsed parsed;
    broad__kept kept;
    char **target_names;
    char *group_name, *weight_name;
    broad__notes notes;
} reading;

static void reading_clear(reading *r)
{
    broad__parsed_clear(&r->parsed);
    broad__kept_clear(&r->kept);
    broad__roles_clear(&r->roles);
    broad__csv_close(&r->csv);
    broad__source_close(&r->source);
    broad__free(r->target_names);
    broad__free(r->group_name);
    broad__free(r->weight_name);
    broad__free(r->field_names);
    broad__free(r->model_inputs);
    broad__notes_clear(&r->notes);
}

/* A category stands in the place of its first input. */
static int set_fields(reading *r)
{
    if (!r->model) return BROAD_OK;
    const broad__categories *categories = &r->model->categories;
    r->fields = *r->model;
    if (!categories->count && !r->model->forms.count) return BROAD_OK;
    r->fields.inputs = broad__categories_columns(categories, r->model->inputs);
    r->field_names = broad__alloc_array(r->fields.inputs, sizeof *r->field_names);
    r->model_inputs = broad__alloc_array(r->fields.inputs, sizeof *r->model_inputs);
    if (!r->field_names || !r->model_inputs) return BROAD_NO_MEMORY;
    for (size_t i = 0, k = 0, f = 0; f < r->fields.inputs; f++) {
        int category = k < categories->count && categories->items[k].first == i;
        r->model_inputs[f] = i;
        r->field_names[f] = category ? categories->items[k].name : r->model->input_names[i];
        i += category ? categories->items[k++].count : 1;
    }
    r->fields.input_names = r->field_names;
    return BROAD_OK;
}

static int find_format(reading *r)
{
    const broad__source *source = &r->source;
    const char *separator = r->options->separator;
    if (!source->count) return broad__fail(BROAD_BAD_DATA, "%s: the file is empty", source->name);
    int status = broad__data_refuse(source->name, source->bytes, source->count);
    if (status < 0) return status;
    if (broad__npy_is(source->bytes, source->count)) r->format = "npy";
    else if (broad__idx_is(source->bytes, source->count)) r->format = "idx";
    else if ((!separator || strcmp(separator, "auto") == 0) && broad__libsvm_is(source)) r->format = "libsvm";
    else r->format = "csv";
    return BROAD_OK;
}

/* With a model it is that of its own rows. */
static broad_missing missing_policy(const reading *r) { return r->model ? r->model->missing : r->options->missing; }

static int find_roles(reading *r)
{
    const broad__columns *fields = r->model ? &r->fields : NULL;
    r->layout.file = r->source.name;
    return r->rows ? broad__roles_labels(&r->roles, &r->layout, r->options, fields)
                   : broad__roles_table(&r->roles, &r->layout, r->options, fields);
}

/* Labels go where the table is. Without a limit a table is spilled that takes half of the available memory, and it is spilled
 * where it takes a quarter of the limit. */
static size_t memory_limit(const reading *r)
{
    if (r->rows || r->options->memory) return r->rows ? 0 : r->options->memory;
    double available = broad__memory_available();
    return isfinite(available) ? broad__whole(2 * available, SIZE_MAX - 1) + 1 : 0;
}

/* What the model says about its inputs, for the columns of the file. */
static void take_model_forms(reading *r)
{
    if (!r->model || !r->fields.forms.count) return;
    for (size_t c = 0; c < r->roles.columns; c++)
        if (r->roles.role[c] == BROAD__ROLE_INPUT)
            r->roles.formats[c] =
                broad__cell_format_of(broad__forms_find(&r->fields.forms, r->model_inputs[r->roles.index[c]]));
}

/* No input is left: what was told of the columns, from note `first` on, says why. */
static int fail_left_out(const reading *r, size_t first)
{
    char text[sizeof((broad__failure *)0)->message];
    int used = snprintf(text, sizeof text, "%s", broad_error_message());
    for (size_t i = first; i < r->notes.count && used >= 0 && (size_t)used < sizeof text; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "; %s", r->notes.lines[i]);
    return broad__fail(BROAD_BAD_DATA, "%s", text);
}

/* Looks at all of the file for what its columns hold. */
static int profile(reading *r)
{
    size_t told = r->notes.count;
    r->profiled = 1;
    int status = broad__csv_profile(&r->roles, &r->csv, &r->notes);
    if (status < 0 || r->roles.modelled || r->rows) return status;
    status = broad__roles_renumber(&r->roles, &r->layout);
    return status == BROAD_BAD_DATA ? fail_left_out(r, told) : status;
}

static int fill(reading *r, const broad__csv_request *request)
{
    int status = broad__roles_categories(&r->roles, &r->layout);
    return status == BROAD_OK ? broad__csv_fill(&r->parsed, &r->csv, &r->roles, request) : status;
}

/* Most files hold plain numbers. Only if the start of one, or a failure further on, tells otherwise, all of it is looked at
 * before it is read. */
static int fill_as_found(reading *r, const broad__csv_request *request)
{
    int automatic = r->roles.automatic || r->roles.modelled || r->tidy, status = BROAD_OK;
    if (automatic && broad__csv_unusual(&r->csv, &r->roles)) status = profile(r);
    if (status < 0) return status;
    status = fill(r, request);
    if (status == BROAD_BAD_DATA && automatic && !r->profiled) {
        broad__parsed_clear(&r->parsed);
        status = profile(r);
        if (status == BROAD_OK) status = fill(r, request);
    }
    if (status != BROAD_BAD_DATA || !r->parsed.file) return status;
    broad__parsed_clear(&r->parsed);
    broad__csv_request alone = *request;
    alone.divided = 0;
    return broad__csv_faults(&r->csv, &r->roles, &alone);
}

/* Text that is not UTF-8 is converted first. */
static int open_csv(reading *r, const broad__csv_hints *hints)
{
    size_t before = r->notes.count;
    int converted = 0, status = broad__csv_open(&r->csv, &r->source, hints), open = status == BROAD_OK;
    size_t told = r->notes.count - before;
    if (!r->csv.wide || (!open && status != BROAD_BAD_DATA)) return status;
    int done = broad__encoding_bytes(&converted, &r->source, &r->notes);
    if (done < 0) return done;
    if (!converted) return status;
    broad__csv_close(&r->csv);
    broad__notes_remove(&r->notes, before, told); /* they are told again */
    return broad__csv_open(&r->csv, &r->source, hints);
}

static int read_csv(reading *r)
{
    broad__csv_hints hints = {.header = r->options->header, .separator = r->options->separator, .rows = r->rows};
    hints.threads = r->options->threads;
    hints.divided = r->divided;
    hints.notes = &r->notes;
    if (!r->rows && r->model) hints.model = &r->fields;
    int status = open_csv(r, &hints);
    if (status < 0) return status;
    r->layout = (broad__layout){.columns = r->csv.columns, .names = r->csv.names, .trailing = r->csv.trailing};
    status = find_roles(r);
    if (status < 0) return status;
    take_model_forms(r);
    broad_task task = r->model ? r->model->task : r->options->task;
    broad__csv_request request = {.missing = missing_policy(r), .known = &r->fields.categories, .spill = r->spill};
    request.labels = task != BROAD_TASK_REGRESS;
    request.memory = memory_limit(r);
    request.divided = r->divided;
    request.empty = r->model && r->options->rows_optional;
    status = fill_as_found(r, &request);
    if (status < 0 || r->rows) return status;
    return broad__csv_look(&r->kept, &r->csv, &r->roles, &r->layout, &r->parsed, r->options->keep);
}

static int read_matrix(reading *r)
{
    int status = strcmp(r->format, "npy") == 0 ? broad__npy_open(&r->matrix, &r->source)
                                               : broad__idx_open(&r->matrix, &r->source);
    if (status < 0) return status;
    r->grid = r->matrix.dimensions == 3;
    r->layout = (broad__layout){.columns = r->matrix.columns, .flattened = r->matrix.dimensions > 2};
    status = find_roles(r);
    if (status == BROAD_OK) status = broad__roles_categories(&r->roles, &r->layout);
    if (status < 0) return status;
    broad__matrix_request request = {.missing = missing_policy(r), .known = &r->fields.categories, .spill = r->spill};
    request.memory = memory_limit(r);
    request.divided = r->divided;
    request.threads = r->options->threads;
    request.in_place = r->options->in_place;
    return broad__matrix_fill(&r->parsed, &r->matrix, &r->roles, &request);
}

static int read_libsvm(reading *r)
{
    r->layout = (broad__layout){.file = r->source.name};
    /* A file of labels alone is not read for the model's inputs, and has nothing else. */
    broad_read_options options = *r->options;
    if (r->rows) options.group = options.weight = options.categorical = NULL;
    if (options.memory && (r->spill || broad__table_spills(r->source.count, options.memory)))
        return broad__fail(
            BROAD_BAD_DATA,
            "%s: the table of a LIBSVM file must fit in memory; write it as CSV or NPY, or allow more memory",
            r->source.name);
    broad__libsvm_request request = {.missing = missing_policy(r), .divided = r->divided, .memory = memory_limit(r)};
    if (!r->rows) request.model = r->model;
    return broad__libsvm_read(&r->parsed, &r->libsvm, &r->source, &options, &request);
}

/* "target", or "target1", "target2", ... */
static void default_target_name(char out[32], size_t target, size_t count)
{
    if (count == 1) snprintf(out, 32, "target");
    else snprintf(out, 32, "target%zu", target + 1);
}

static int name_targets(reading *r, int libsvm)
{
    size_t count = r->parsed.targets.columns;
    int status = BROAD_OK;
    broad__text *texts = broad__alloc_array(count, sizeof *texts);
    char **names = broad__alloc_array(count, sizeof *names);
    if (!texts || !names) status = BROAD_NO_MEMORY;
    for (size_t i = 0; i < count && status == BROAD_OK; i++) {
        char otherwise[32];
        default_target_name(otherwise, i, count);
        names[i] = libsvm ? broad__copy_text(otherwise)
                          : broad__roles_name(&r->layout, r->roles.target_columns[i], r->roles.chosen, otherwise);
        if (names[i]) texts[i] = broad__text_of(names[i]);
        else status = BROAD_NO_MEMORY;
    }
    if (status == BROAD_OK) r->target_names = broad__names_copy(texts, count);
    for (size_t i = 0; names && i < count; i++) broad__free(names[i]);
    broad__free(names);
    broad__free(texts);
    return r->target_names ? BROAD_OK : BROAD_NO_MEMORY;
}

/* Targets, group and weights are called as the header says, else by the numbers they were asked for by, else "target", ... */
static int name_columns(reading *r)
{
    int libsvm = strcmp(r->format, "libsvm") == 0, group = r->parsed.groups.columns > 0;
    int weight = r->parsed.weights != NULL;
    int status = name_targets(r, libsvm);
    if (status < 0) return status;
    if (group && libsvm) r->group_name = broad__copy_text("qid");
    else if (group) r->group_name = broad__roles_name(&r->layout, r->roles.group_column, 1, "group");
    if (weight) r->weight_name = broad__roles_name(&r->layout, r->roles.weight_column, 1, "weight");
    return (group && !r->group_name) || (weight && !r->weight_name) ? BROAD_NO_MEMORY : BROAD_OK;
}

static int read_content(reading *r)
{
    int status = broad__encoding_wide(&r->source, &r->notes);
    if (status == BROAD_OK) status = find_format(r);
    if (status < 0) return status;
    if (r->options->keep && !r->rows && strcmp(r->format, "csv") != 0)
        return broad__fail(BROAD_USAGE, "%s: option keep is for columns of text, and this is %s", r->source.name,
                           r->format);
    if (strcmp(r->format, "csv") == 0) status = read_csv(r);
    else if (strcmp(r->format, "libsvm") == 0) status = read_libsvm(r);
    else status = read_matrix(r);
    return status < 0 ? status : name_columns(r);
}

/* The names of the columns that are inputs: from the file or the model, else numbers. */
static char **field_names(const reading *r)
{
    size_t inputs = r->parsed.inputs;
    if (!r->model && !r->layout.names)
        return broad__names_number("x", strcmp(r->format, "libsvm") == 0 ? r->libsvm.base : 1, inputs);
    broad__text *texts = broad__alloc_array(inputs, sizeof *texts);
    if (!texts) return NULL;
    for (size_t i = 0; r->model && i < inputs; i++) texts[i] = broad__text_of(r->fields.input_names[i]);
    for (size_t c = 0; !r->model && c < r->layout.columns; c++)
        if (r->roles.role[c] == BROAD__ROLE_INPUT || r->roles.role[c] == BROAD__ROLE_CATEGORY)
            texts[r->roles.index[c]] = broad__text_of(r->layout.names[c]);
    char **names = broad__names_copy(texts, inputs);
    broad__free(texts);
    return names;
}

/* The inputs that are not simply numbers: each column is one input, after those of the columns before it. */
static int find_forms(broad_data *table, const reading *r)
{
    int status = BROAD_OK;
    for (size_t c = 0; c < r->roles.columns && status == BROAD_OK; c++) {
        if (r->roles.role[c] != BROAD__ROLE_INPUT || broad__cell_format_plain(r->roles.formats[c])) continue;
        size_t input = r->roles.index[c], further = 0;
        for (size_t k = 0; k < table->categories.count && r->roles.category_inputs[k] < input; k++)
            further += table->categories.items[k].count - 1;
        status = broad__forms_add(&table->forms, input + further, broad__cell_format_form(r->roles.formats[c]));
    }
    return status;
}

/* Spreads the categories and names the inputs. */
static int set_inputs(broad_data *table, reading *r)
{
    broad__level_limits limits = {.bytes = r->source.count, .memory = memory_limit(r)};
    char **fields = field_names(r);
    if (!fields) return BROAD_NO_MEMORY;
    int status = broad__levels_spread(&table->categories, &r->parsed, &r->roles, fields, &r->fields.categories, limits);
    if (status == BROAD_OK) table->input_names = broad__category_inputs(fields, r->parsed.inputs, &table->categories);
    if (fields != table->input_names) broad__free(fields);
    if (status < 0) return status;
    table->inputs = r->parsed.inputs;
    table->x = r->parsed.x;
    table->owned = r->parsed.owned;
    r->parsed.owned = NULL;
    if (r->parsed.x_in_place) broad__source_take(&table->x_file, &r->source);
    table->spill = r->parsed.spill;
    r->parsed.x = NULL;
    r->parsed.spill_borrowed = 1;
    if (!table->input_names) return BROAD_NO_MEMORY;
    return r->model ? broad__forms_copy(&table->forms, &r->model->forms) : find_forms(table, r);
}

static int set_places(broad_data *table, const reading *r)
{
    return r->model ? broad__places_copy(&table->places, &r->model->places)
                    : broad__places_take(&table->places, &r->roles, r->layout.columns - r->layout.trailing);
}

/* The table takes inputs and weights over. */
static int make_table(broad_data **out, reading *r)
{
    broad_data *table = broad__alloc(sizeof *table);
    *out = table;
    if (!table) return BROAD_NO_MEMORY;
    table->rows = r->parsed.rows;
    table->format = r->format;
    table->missing = missing_policy(r);
    table->named = r->model ? r->model->named : r->layout.names != NULL;
    int status = set_inputs(table, r);
    if (status == BROAD_OK) status = set_places(table, r);
    if (status < 0) return status;
    if (r->grid && table->inputs == r->matrix.shape[1] * r->matrix.shape[2]) {
        table->grid_height = r->matrix.shape[1];
        table->grid_width = r->matrix.shape[2];
    }
    if (r->kept.columns && r->kept.cells != table->rows * r->kept.columns)
        return broad__fail(BROAD_USAGE, "%s: rows were left out, so that option keep cannot be used", r->source.name);
    table->kept = r->kept;
    r->kept = (broad__kept){0};
    table->weights = r->parsed.weights;
    table->weight_name = r->weight_name;
    r->parsed.weights = NULL;
    r->weight_name = NULL;
    return broad__groups_set(table, &r->parsed, r->group_name ? r->group_name : "group");
}

static int set_targets(broad_data *table, reading *r)
{
    broad__target_facts facts = {.names = r->target_names, .apart = r->rows > 0, .notes = &table->notes};
    return broad__targets_set(table, &r->parsed, &facts, r->options, r->model);
}

/* Whether each rank may read its own rows alone: texts that are kept, levels that a model does not know, and arrays that lie
 * in files are looked for in all of them. */
static int is_divided(const broad_read_options *options, const broad__columns *model)
{
    return broad__comm_ranks() > 1 && !options->keep && !options->memory && !(model && model->categories.count);
}

static broad__source_maps mapped_files(const reading *r)
{
    return r->divided ? BROAD__MAP_ALL : r->options->in_place ? BROAD__MAP_NUMBERS : BROAD__MAP_LARGE;
}

static int read_labels(broad_data *table, const reading *inputs)
{
    reading r = {.options = inputs->options, .model = inputs->model, .rows = table->rows, .spill = table->spill};
    r.tidy = strcmp(inputs->format, "csv") != 0 || inputs->roles.automatic || inputs->roles.modelled;
    int status = set_fields(&r);
    if (status == BROAD_OK)
        status = broad__source_open(&r.source, r.options->labels, r.options->memory, mapped_files(&r));
    if (status == BROAD_OK) status = read_content(&r);
    if (status == BROAD_OK && r.parsed.rows != table->rows)
        status = broad__fail(BROAD_BAD_DATA, "%s has %zu rows, %s has %zu: each row needs its target", r.source.name,
                             r.parsed.rows, inputs->source.name, table->rows);
    for (size_t i = 0; status == BROAD_OK && !r.model && i < r.notes.count; i++)
        status = broad__note(&table->notes, "%s", r.notes.lines[i]);
    if (status == BROAD_OK) status = set_targets(table, &r);
    reading_clear(&r);
    return status;
}

/* Rows without a target are left out, unless they are rows to predict or nothing may be missing; rows of weight 0 do not count. */
static int drop_rows(reading *r)
{
    size_t missing = 0, weightless = 0;
    int targets =
        !r->options->labels && !(r->model && r->options->target_optional) && missing_policy(r) == BROAD_MISSING_MEAN;
    if (r->parsed.targets.texts || r->parsed.groups.texts) return BROAD_OK;
    if (!r->parsed.weights && !(targets && r->parsed.targets.missing)) return BROAD_OK;
    int status = broad__parsed_drop(&missing, &weightless, &r->parsed, targets);
    if (status == BROAD_OK && missing)
        status = broad__note(&r->notes, "%zu row%s without a target %s left out", missing, missing == 1 ? "" : "s",
                             missing == 1 ? "was" : "were");
    if (status == BROAD_OK && weightless)
        status = broad__note(&r->notes, "%zu row%s of weight 0 %s left out", weightless, weightless == 1 ? "" : "s",
                             weightless == 1 ? "was" : "were");
    return status;
}

/* Rows to train on that are copies of others become groups; those of a model, if its own were. */
static int group_copies(broad_data *table, const reading *r)
{
    int like_model = r->model && r->model->group_name && strcmp(r->model->group_name, BROAD__COPIES) == 0;
    if (table->groups || table->task == BROAD_TASK_AUTO || r->options->no_groups || (r->model && !like_model))
        return BROAD_OK;
    return broad__tidy_copies(table, r->model != NULL);
}

static int read_table(broad_data **out, reading *r)
{
    broad_data *table = NULL;
    int status = read_content(r);
    if (status == BROAD_OK) status = drop_rows(r);
    if (status == BROAD_OK) status = broad__tidy_missing(&r->notes, &r->parsed, &r->roles, &r->layout);
    if (status == BROAD_OK) status = make_table(&table, r);
    if (status == BROAD_OK) {
        table->notes = r->notes;
        r->notes = (broad__notes){0};
        status = r->options->labels ? read_labels(table, r) : set_targets(table, r);
    }
    if (status == BROAD_OK) status = group_copies(table, r);
    if (status < 0) {
        broad__parsed_clear(&r->parsed); /* the rest of it lies in the table's spill */
        broad__table_free(table);
        table = NULL;
    }
    *out = table;
    return status;
}

int broad__read(broad_data **out, const char *path, const broad_read_options *options, const broad__columns *columns)
{
    *out = NULL;
    if (options->labels && strcmp(path, "-") == 0 && strcmp(options->labels, "-") == 0)
        return broad__fail(BROAD_USAGE, "data and labels cannot both come from standard input");
    reading r = {.options = options, .model = columns};
    int status = set_fields(&r);
    r.divided = is_divided(options, columns);
    if (status == BROAD_OK) status = broad__source_open(&r.source, path, options->memory, mapped_files(&r));
    if (r.divided) status = broad__comm_settle(status);
    if (status == BROAD_OK) status = read_table(out, &r);
    reading_clear(&r);
    return status;
}

int broad__read_bytes(broad_data **out, const char *name, const void *bytes, size_t count,
                      const broad_read_options *options, const broad__columns *columns)
{
    *out = NULL;
    reading r = {.options = options, .model = columns};
    int status = set_fields(&r);
    if (status == BROAD_OK) status = broad__source_memory(&r.source, name, bytes, count);
    if (status == BROAD_OK) status = read_table(out, &r);
    reading_clear(&r);
    return status;
}
