#include "data/targets.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "data/format/cell.h"
#include "data/format/number.h"
#include "data/labels.h"
#include "data/tidy.h"

/* Cells that are text, as CSV has them: coded. */
static int code_numbers(broad__cells *cells, size_t rows, const broad__cell_format *formats)
{
    static const broad__cell_format plain;
    size_t count = rows * cells->columns;
    cells->values = broad__alloc_doubles(rows, cells->columns);
    if (!cells->values) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        broad__cell_format format = formats ? formats[i % cells->columns] : plain;
        broad__number_kind kind = broad__cell_target(&cells->values[i], cells->texts[i], format);
        if (kind == BROAD__NUMBER) continue;
        if (kind == BROAD__NUMBER_MISSING && !cells->missing++) cells->first_missing = i;
        if (kind != BROAD__NUMBER_MISSING && !cells->words++) {
            cells->first_word = i;
            cells->word = cells->texts[i];
        }
    }
    return BROAD_OK;
}

static int fail_missing(const broad__parsed *parsed, const broad__target_facts *facts)
{
    char where[BROAD__WHERE_BYTES], quoted[BROAD__QUOTE_BYTES];
    size_t columns = parsed->targets.columns, cell = parsed->targets.first_missing;
    return broad__fail(BROAD_BAD_DATA, "%s: the target %s is missing; fill it in or remove the row",
                       broad__parsed_where(where, parsed, cell / columns),
                       broad__text_quote(quoted, broad__text_of(facts->names[cell % columns])));
}

static int fail_word(const broad__parsed *parsed, const broad__target_facts *facts, const char *remedy)
{
    char where[BROAD__WHERE_BYTES], quoted[BROAD__QUOTE_BYTES], name[BROAD__QUOTE_BYTES];
    size_t columns = parsed->targets.columns, cell = parsed->targets.first_word;
    return broad__fail(BROAD_BAD_DATA, "%s: %s in the target %s is not a finite number; %s",
                       broad__parsed_where(where, parsed, cell / columns),
                       broad__text_quote(quoted, parsed->targets.word),
                       broad__text_quote(name, broad__text_of(facts->names[cell % columns])), remedy);
}

/* Whether all targets are one of two whole numbers; 1.0 and 1 are the same. Their labels are then the shortest texts. */
static int has_two_values(int *out, broad__parsed *parsed)
{
    enum { ROWS = 10 }; /* fewer tell little */
    broad__cells *cells = &parsed->targets;
    double seen[2] = {0};
    size_t count = 0;
    *out = 0;
    for (size_t i = 0; i < parsed->rows; i++) {
        double value = cells->values[i];
        if (count && value == seen[0]) continue;
        if (count == 2 && value == seen[1]) continue;
        if (count == 2 || value != trunc(value)) return BROAD_OK;
        seen[count++] = value;
    }
    *out = count == 2 && parsed->rows >= ROWS;
    if (*out && parsed->dictionary.labels.count > 2 && !cells->texts) {
        broad__spill_free(parsed->spill, cells->ids);
        cells->ids = NULL;
    }
    return BROAD_OK;
}

/* Text makes classes, numbers make values; two whole numbers make classes, too; whole numbers make classes where that is the habit: LIBSVM labels, and
 * binary files of labels. */
static int choose_task(broad_task *out, broad__parsed *parsed, const broad__target_facts *facts,
                       const broad_read_options *options)
{
    const broad__cells *cells = &parsed->targets;
    char quoted[BROAD__QUOTE_BYTES];
    int two = 0;
    *out = options->task;
    if (*out != BROAD_TASK_AUTO) return BROAD_OK;
    *out = cells->words ? BROAD_TASK_CLASSIFY : BROAD_TASK_REGRESS;
    if (cells->integers && cells->columns == 1 && (facts->apart || parsed->line_of)) *out = BROAD_TASK_CLASSIFY;
    /* A few words among many numbers are slips, not classes. */
    if (cells->words && broad__cell_slips(cells->words, parsed->rows))
        return fail_word(parsed, facts, "correct it, or set option task to classify if it is a class");
    if (*out == BROAD_TASK_CLASSIFY || cells->columns != 1) return BROAD_OK;
    int status = has_two_values(&two, parsed);
    if (status < 0 || !two) return status;
    *out = BROAD_TASK_CLASSIFY;
    return broad__note(facts->notes,
                       "the target %s has two whole values, which are taken as classes; option task regress "
                       "takes them as numbers",
                       broad__text_quote(quoted, broad__text_of(facts->names[0])));
}

/* A target that is the same in all rows. */
static int tell_constant(broad__notes *notes, const broad_data *table)
{
    broad__list list = {0};
    for (size_t j = 0; j < table->outputs && table->rows > 1; j++) {
        char value[32];
        size_t i = 1;
        while (i < table->rows && table->values[i * table->outputs + j] == table->values[j]) i++;
        snprintf(value, sizeof value, "%.6g", table->values[j]);
        if (i == table->rows) broad__list_add(&list, table->output_names[j], value);
    }
    if (!list.count) return BROAD_OK;
    return broad__note(notes, "the same target in every row, so that there is nothing to learn about it: %s",
                       broad__list_end(&list));
}

static int set_values(broad_data *table, broad__parsed *parsed, const broad__target_facts *facts,
                      const broad__columns *model)
{
    size_t outputs = parsed->targets.columns;
    if (parsed->targets.words)
        return fail_word(parsed, facts, "a regression needs numbers; set option task to classify if these are classes");
    broad__text *texts = broad__alloc_array(outputs, sizeof *texts);
    if (!texts) return BROAD_NO_MEMORY;
    for (size_t i = 0; i < outputs; i++) texts[i] = broad__text_of(model ? model->output_names[i] : facts->names[i]);
    table->output_names = broad__names_copy(texts, outputs);
    broad__free(texts);
    if (!table->output_names) return BROAD_NO_MEMORY;
    table->task = BROAD_TASK_REGRESS;
    table->outputs = outputs;
    table->values = parsed->targets.values;
    parsed->targets.values = NULL;
    return model ? BROAD_OK : tell_constant(facts->notes, table);
}

/* The different labels of the rows; *borrowed: the texts belong to `parsed`. */
static int find_labels(broad__distinct *out, int *borrowed, broad__parsed *parsed)
{
    broad__cells *cells = &parsed->targets;
    const broad__dictionary *dictionary = &parsed->dictionary;
    *borrowed = cells->ids != NULL;
    if (cells->texts) return broad__distinct_texts(out, cells->texts, parsed->rows, BROAD__CLASSES_MAX);
    if (!cells->ids) return broad__distinct_values(out, cells->values, parsed->rows, BROAD__CLASSES_MAX, parsed->spill);
    *out = (broad__distinct){.ids = cells->ids, .count = dictionary->labels.count, .texts = dictionary->labels.texts};
    if (dictionary->labels_over) out->count = BROAD__CLASSES_MAX + 1;
    cells->ids = NULL;
    return BROAD_OK;
}

/* Words among numbers that hardly repeat are more likely mistakes than classes: nine in ten are numbers, and more than half of
 * all differ. */
static int tell_words(const broad__parsed *parsed, const broad__target_facts *facts, size_t classes)
{
    char where[BROAD__WHERE_BYTES], quoted[BROAD__QUOTE_BYTES], name[BROAD__QUOTE_BYTES];
    size_t words = parsed->targets.words, rows = parsed->rows;
    if (!words || 10 * words > rows || 2 * classes <= rows) return BROAD_OK;
    return broad__note(facts->notes,
                       "%s: %s in the target %s is not a number, so that its values became %zu classes, though %zu of "
                       "%zu are numbers; if they are meant as numbers, correct it%s and set option task to regress",
                       broad__parsed_where(where, parsed, parsed->targets.first_word),
                       broad__text_quote(quoted, parsed->targets.word),
                       broad__text_quote(name, broad__text_of(facts->names[0])), classes, rows - words, rows,
                       words > 1 ? " and the others" : "");
}

static int set_classes(broad_data *table, broad__parsed *parsed, const broad__target_facts *facts,
                       const broad_read_options *options, const broad__columns *model)
{
    if (parsed->targets.columns != 1)
        return broad__fail(BROAD_BAD_DATA,
                           "%s: %zu target columns, but a classification has one: choose it with option target",
                           parsed->file, parsed->targets.columns);
    broad__distinct labels;
    int borrowed, status = find_labels(&labels, &borrowed, parsed);
    if (status < 0) return status;
    char quoted[BROAD__QUOTE_BYTES], column[BROAD__QUOTE_BYTES + 16];
    snprintf(column, sizeof column, "target %s", broad__text_quote(quoted, broad__text_of(facts->names[0])));
    if (model && labels.count <= BROAD__CLASSES_MAX)
        status = broad__labels_match(table, &labels, model->output_names, model->outputs, options->new_classes);
    else status = broad__labels_sort(table, &labels, column, options->one_class ? 1 : 2);
    if (borrowed) labels.texts = NULL;
    broad__distinct_clear(&labels, parsed->spill);
    if (status == BROAD_BAD_DATA) return broad__fail_in(status, parsed->file);
    if (status < 0) return status;
    const char *name = model && model->target_name ? model->target_name : facts->names[0];
    table->target_name = broad__copy_text(name);
    if (!table->target_name) return BROAD_NO_MEMORY;
    if (model) return BROAD_OK;
    if (options->task == BROAD_TASK_AUTO) status = tell_words(parsed, facts, table->outputs);
    return status < 0 ? status : broad__tidy_labels(facts->notes, table->output_names, table->outputs);
}

int broad__targets_set(broad_data *table, broad__parsed *parsed, const broad__target_facts *facts,
                       const broad_read_options *options, const broad__columns *model)
{
    if (!parsed->targets.columns) return BROAD_OK;
    broad_task task = model ? model->task : BROAD_TASK_AUTO;
    int status = parsed->targets.texts ? code_numbers(&parsed->targets, parsed->rows, facts->formats) : BROAD_OK;
    if (status == BROAD_OK && parsed->targets.missing) status = fail_missing(parsed, facts);
    if (status == BROAD_OK && !model) status = choose_task(&task, parsed, facts, options);
    if (status == BROAD_OK && task == BROAD_TASK_CLASSIFY) status = set_classes(table, parsed, facts, options, model);
    if (status == BROAD_OK && task == BROAD_TASK_REGRESS) status = set_values(table, parsed, facts, model);
    /* Rows to predict may have targets that are blank or foreign: then they have none. */
    if (status == BROAD_BAD_DATA && model && options->target_optional) status = BROAD_OK;
    return status;
}

static int fail_group(const broad__parsed *parsed, size_t row)
{
    char where[BROAD__WHERE_BYTES];
    return broad__fail(BROAD_BAD_DATA, "%s: the group is missing; fill it in or remove the row",
                       broad__parsed_where(where, parsed, row));
}

int broad__groups_set(broad_data *table, broad__parsed *parsed, const char *name)
{
    broad__cells *cells = &parsed->groups;
    broad__distinct groups = {0};
    double value;
    int status = BROAD_OK;
    if (!cells->columns) return BROAD_OK;
    for (size_t i = 0; cells->texts && i < parsed->rows; i++)
        if (broad__number_read(&value, cells->texts[i]) == BROAD__NUMBER_MISSING) return fail_group(parsed, i);
    if (cells->missing) return fail_group(parsed, cells->first_missing);
    if (cells->texts) status = broad__distinct_texts(&groups, cells->texts, parsed->rows, parsed->rows);
    else if (cells->values)
        status = broad__distinct_values(&groups, cells->values, parsed->rows, parsed->rows, parsed->spill);
    else groups.ids = cells->ids;
    if (groups.ids == cells->ids) cells->ids = NULL;
    if (status == BROAD_OK) status = broad__labels_group(table, &groups, name);
    broad__distinct_clear(&groups, parsed->spill);
    return status;
}
