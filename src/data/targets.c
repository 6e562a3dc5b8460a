#include "data/targets.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/labels.h"
#include "data/number.h"

/* Target cells as numbers, and what stands against taking them so. */
typedef struct numeric_view {
    double *values;       /* rows x columns */
    size_t texts;         /* cells that are no finite numbers */
    size_t first_text;    /* cell number of the first of them */
    int missing;          /* a cell is missing ... */
    size_t first_missing; /* ... this one first */
} numeric_view;

static int view_numbers(numeric_view *out, const broad__content *content)
{
    const broad__cells *cells = &content->targets;
    size_t count = content->rows * cells->columns;
    *out = (numeric_view){0};
    out->values = broad__alloc_doubles(content->rows, cells->columns);
    if (!out->values) return BROAD_NO_MEMORY;
    if (cells->values) {
        memcpy(out->values, cells->values, count * sizeof *out->values);
        return BROAD_OK;
    }
    for (size_t i = 0; i < count; i++) {
        broad__number_kind kind = broad__number_read(&out->values[i], cells->texts[i]);
        if (kind == BROAD__NUMBER) continue;
        if (kind == BROAD__NUMBER_MISSING && !out->missing++) out->first_missing = i;
        if (kind != BROAD__NUMBER_MISSING && !out->texts++) out->first_text = i;
        if (out->missing > 1) out->missing = 1;
    }
    return BROAD_OK;
}

static int fail_missing(const broad__content *content, const broad__target_facts *facts, size_t cell)
{
    char where[BROAD__WHERE_BYTES], quoted[BROAD__QUOTE_BYTES];
    size_t columns = content->targets.columns;
    return broad__fail(BROAD_BAD_DATA, "%s: the target %s is missing; fill it in or remove the row",
                       broad__content_where(where, content, cell / columns),
                       broad__text_quote(quoted, broad__text_of(facts->names[cell % columns])));
}

static int fail_text(const broad__content *content, const broad__target_facts *facts, size_t cell, const char *remedy)
{
    char where[BROAD__WHERE_BYTES], quoted[BROAD__QUOTE_BYTES], name[BROAD__QUOTE_BYTES];
    size_t columns = content->targets.columns;
    return broad__fail(BROAD_BAD_DATA, "%s: %s in the target %s is not a finite number; %s",
                       broad__content_where(where, content, cell / columns),
                       broad__text_quote(quoted, content->targets.texts[cell]),
                       broad__text_quote(name, broad__text_of(facts->names[cell % columns])), remedy);
}

/* Text makes classes, numbers make values; whole numbers make classes where that is the habit: LIBSVM labels, and
 * binary files of labels. */
static int choose_task(broad_task *out, const numeric_view *view, const broad__content *content,
                       const broad__target_facts *facts, const broad_read_options *options)
{
    *out = options->task;
    if (*out != BROAD_TASK_AUTO) return BROAD_OK;
    *out = view->texts ? BROAD_TASK_CLASSIFY : BROAD_TASK_REGRESS;
    if (content->targets.values && content->targets.integers && content->targets.columns == 1 &&
        (facts->apart || content->line_of))
        *out = BROAD_TASK_CLASSIFY;
    /* A few words among many numbers are slips, not classes. */
    if (view->texts && view->texts < content->rows / 100)
        return fail_text(content, facts, view->first_text, "correct it, or say --task classify if it is a class");
    return BROAD_OK;
}

static int set_values(broad_data *table, numeric_view *view, const broad__content *content,
                      const broad__target_facts *facts, const broad__columns *model)
{
    size_t outputs = content->targets.columns;
    if (view->texts)
        return fail_text(content, facts, view->first_text, "a regression needs numbers; --task classify makes classes");
    broad__text *texts = broad__alloc_array(outputs, sizeof *texts);
    if (!texts) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < outputs; i++) texts[i] = broad__text_of(model ? model->output_names[i] : facts->names[i]);
    table->output_names = broad__names_copy(texts, outputs);
    broad__free(texts);
    if (!table->output_names) return BROAD_NO_MEMORY;
    table->task = BROAD_TASK_REGRESS;
    table->outputs = outputs;
    table->values = view->values;
    view->values = NULL;
    return BROAD_OK;
}

static int set_classes(broad_data *table, const broad__content *content, const broad__target_facts *facts,
                       const broad_read_options *options, const broad__columns *model)
{
    const broad__cells *cells = &content->targets;
    if (cells->columns != 1)
        return broad__fail(BROAD_BAD_DATA, "%s: %zu target columns; a classification has one: choose it with --target",
                           content->file, cells->columns);
    broad__distinct labels;
    int status = cells->values ? broad__distinct_values(&labels, cells->values, content->rows, BROAD__CLASSES_MAX)
                               : broad__distinct_texts(&labels, cells->texts, content->rows, BROAD__CLASSES_MAX);
    if (status < 0) return status;
    char quoted[BROAD__QUOTE_BYTES], column[BROAD__QUOTE_BYTES + 16];
    snprintf(column, sizeof column, "target %s", broad__text_quote(quoted, broad__text_of(facts->names[0])));
    if (model && labels.count <= BROAD__CLASSES_MAX)
        status = broad__labels_match(table, &labels, model->output_names, model->outputs, options->new_classes);
    else status = broad__labels_sort(table, &labels, column);
    broad__distinct_clear(&labels);
    if (status == BROAD_BAD_DATA) return broad__fail_in(status, content->file);
    if (status < 0) return status;
    const char *name = model && model->target_name ? model->target_name : facts->names[0];
    table->target_name = broad__copy_text(name);
    return table->target_name ? BROAD_OK : BROAD_NO_MEMORY;
}

int broad__targets_set(broad_data *table, const broad__content *content, const broad__target_facts *facts,
                       const broad_read_options *options, const broad__columns *model)
{
    if (!content->targets.columns) return BROAD_OK;
    numeric_view view;
    broad_task task = model ? model->task : BROAD_TASK_AUTO;
    int status = view_numbers(&view, content);
    if (status == BROAD_OK && view.missing) status = fail_missing(content, facts, view.first_missing);
    if (status == BROAD_OK && !model) status = choose_task(&task, &view, content, facts, options);
    if (status == BROAD_OK && task == BROAD_TASK_CLASSIFY) status = set_classes(table, content, facts, options, model);
    if (status == BROAD_OK && task == BROAD_TASK_REGRESS) status = set_values(table, &view, content, facts, model);
    broad__free(view.values);
    /* Rows to predict may have targets that are blank or foreign: then they have none. */
    if (status == BROAD_BAD_DATA && model && options->target_optional) status = BROAD_OK;
    return status;
}

int broad__groups_set(broad_data *table, const broad__content *content, const char *name)
{
    const broad__cells *cells = &content->groups;
    if (!cells->columns) return BROAD_OK;
    double value;
    for (size_t i = 0; cells->texts && i < content->rows; i++) {
        char where[BROAD__WHERE_BYTES];
        if (broad__number_read(&value, cells->texts[i]) == BROAD__NUMBER_MISSING)
            return broad__fail(BROAD_BAD_DATA, "%s: the group is missing; fill it in or remove the row",
                               broad__content_where(where, content, i));
    }
    broad__distinct groups;
    int status = cells->values ? broad__distinct_values(&groups, cells->values, content->rows, content->rows)
                               : broad__distinct_texts(&groups, cells->texts, content->rows, content->rows);
    if (status == BROAD_OK) status = broad__labels_group(table, &groups, name);
    broad__distinct_clear(&groups);
    return status;
}
