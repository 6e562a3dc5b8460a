#include "data/roles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "base/status.h"
#include "data/distinct.h"

enum { SHOWN = 10 };

/* A number from 1 in plain digits; 0: the text is not one. */
static size_t column_number(broad__text text)
{
    size_t number = 0;
    for (size_t i = 0; i < text.count; i++) {
        unsigned digit = (unsigned)(text.bytes[i] - '0');
        if (digit > 9 || number > BROAD__COLUMNS_MAX) return 0;
        number = 10 * number + digit;
    }
    return number;
}

static void list_names(char out[SHOWN * (BROAD__QUOTE_BYTES + 2) + 8], char *const *names, size_t count)
{
    char quoted[BROAD__QUOTE_BYTES];
    char *at = out;
    *at = 0;
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        if (i) at = stpcpy(at, ", ");
        at = stpcpy(at, broad__text_quote(quoted, broad__text_of(names[i])));
    }
    if (count > SHOWN) stpcpy(at, ", ...");
}

static int fail_no_column(const broad__layout *layout, broad__text wanted, const char *option)
{
    char quoted[BROAD__QUOTE_BYTES], list[SHOWN * (BROAD__QUOTE_BYTES + 2) + 8];
    broad__text_quote(quoted, wanted);
    if (!layout->names)
        return broad__fail(BROAD_BAD_DATA,
                           "%s: there is no column %s; the file has no header, so give %s a number from 1 "
                           "to %zu",
                           layout->file, quoted, option, layout->columns);
    list_names(list, layout->names, layout->columns);
    char word[BROAD__NEAREST_BYTES] = "", near[BROAD__QUOTE_BYTES];
    wanted = broad__text_trim(wanted);
    if (wanted.count < sizeof word) memcpy(word, wanted.bytes, wanted.count);
    const char *nearest = broad__nearest(word, (const char *const *)layout->names, layout->columns);
    if (nearest)
        return broad__fail(BROAD_BAD_DATA, "%s: there is no column %s; did you mean %s? The columns are: %s",
                           layout->file, quoted, broad__text_quote(near, broad__text_of(nearest)), list);
    return broad__fail(BROAD_BAD_DATA, "%s: there is no column %s; give %s one of the %zu columns: %s", layout->file,
                       quoted, option, layout->columns, list);
}

/* By name first, then by number from 1. `option` NULL: a number would not do. */
static int find_column(size_t *out, const broad__layout *layout, broad__text wanted, const char *option)
{
    char quoted[BROAD__QUOTE_BYTES], number_hint[64];
    size_t found = 0;
    snprintf(number_hint, sizeof number_hint, "%s by number", option ? option : "");
    wanted = broad__text_trim(wanted);
    for (size_t i = 0; layout->names && i < layout->columns; i++) {
        if (!broad__text_same(broad__text_of(layout->names[i]), wanted)) continue;
        if (found++)
            return broad__fail(BROAD_BAD_DATA, "%s: more than one column is called %s (%zu and %zu); give %s",
                               layout->file, broad__text_quote(quoted, wanted), *out + 1, i + 1,
                               option ? number_hint : "one of them another name");
        *out = i;
    }
    if (found) return BROAD_OK;
    size_t number = column_number(wanted);
    if (number < 1 || number > layout->columns) return fail_no_column(layout, wanted, option);
    *out = number - 1;
    return BROAD_OK;
}

static int has_name(const broad__layout *layout, const char *name)
{
    for (size_t i = 0; layout->names && i < layout->columns; i++)
        if (strcmp(layout->names[i], name) == 0) return 1;
    return 0;
}

static int roles_start(broad__roles *out, const broad__layout *layout, broad__role role)
{
    *out = (broad__roles){.columns = layout->columns};
    if (layout->columns > BROAD__COLUMNS_MAX)
        return broad__fail(BROAD_BAD_DATA, "%s: %zu columns; at most %d can be read", layout->file, layout->columns,
                           BROAD__COLUMNS_MAX);
    out->role = broad__alloc(layout->columns);
    out->index = broad__alloc_array(layout->columns, sizeof *out->index);
    out->formats = broad__alloc_array(layout->columns, sizeof *out->formats);
    out->asked = broad__alloc(layout->columns);
    if (!out->role || !out->index || !out->formats || !out->asked) return BROAD_NO_MEMORY;
    memset(out->role, (int)role, layout->columns - layout->trailing);
    return BROAD_OK;
}

/* Gives a column its role, unless another one was asked for as well. */
static int take_column(broad__roles *roles, const broad__layout *layout, size_t column, broad__role role)
{
    static const char *const names[] = {"ignored", "input", "target", "group", "weight", "category"};
    broad__role had = (broad__role)roles->role[column];
    int asked =
        roles->asked[column] == BROAD__ASKED_IGNORED ||
        (roles->asked[column] == BROAD__ASKED_INPUT && role != BROAD__ROLE_CATEGORY && role != BROAD__ROLE_INPUT);
    if (asked || (had != BROAD__ROLE_IGNORED && had != BROAD__ROLE_INPUT))
        return broad__fail(BROAD_BAD_DATA, "%s: column %zu is asked for twice, as %s and as %s%s", layout->file,
                           column + 1, names[role], names[had],
                           had == BROAD__ROLE_TARGET && !roles->chosen
                               ? " (the last column, by default; choose another with option target)"
                               : "");
    roles->role[column] = (unsigned char)role;
    return BROAD_OK;
}

static int add_target(broad__roles *roles, const broad__layout *layout, size_t column)
{
    int status = take_column(roles, layout, column, BROAD__ROLE_TARGET);
    if (status < 0) return status;
    roles->index[column] = (uint32_t)roles->targets;
    roles->target_columns[roles->targets++] = column;
    return BROAD_OK;
}

typedef int (*take_function)(broad__roles *roles, const broad__layout *layout, broad__text wanted);

/* The whole text may be one name with commas in it; else it is a list. */
static int take_list(broad__roles *roles, const broad__layout *layout, const char *list, take_function take)
{
    if (!strchr(list, ',') || has_name(layout, list)) return take(roles, layout, broad__text_of(list));
    int status = BROAD_OK;
    for (const char *at = list; at && status == BROAD_OK; at = strchr(at, ',')) {
        if (at != list) at++;
        status = take(roles, layout, (broad__text){at, strcspn(at, ",")});
    }
    return status;
}

static int take_target(broad__roles *roles, const broad__layout *layout, broad__text wanted)
{
    size_t column;
    roles->chosen = 1;
    int status = find_column(&column, layout, wanted, "option target");
    return status < 0 ? status : add_target(roles, layout, column);
}

/* A column that the options inputs or ignore name. */
static int take_asked(broad__roles *roles, const broad__layout *layout, broad__text wanted, int ignored)
{
    size_t column;
    int status = find_column(&column, layout, wanted, ignored ? "option ignore" : "option inputs");
    if (status < 0) return status;
    status = take_column(roles, layout, column, ignored ? BROAD__ROLE_IGNORED : BROAD__ROLE_INPUT);
    roles->asked[column] = ignored ? BROAD__ASKED_IGNORED : BROAD__ASKED_INPUT;
    return status;
}

static int take_input(broad__roles *roles, const broad__layout *layout, broad__text wanted)
{
    return take_asked(roles, layout, wanted, 0);
}

static int take_ignored(broad__roles *roles, const broad__layout *layout, broad__text wanted)
{
    return take_asked(roles, layout, wanted, 1);
}

static int take_category(broad__roles *roles, const broad__layout *layout, broad__text wanted)
{
    size_t column;
    if (broad__text_same(broad__text_trim(wanted), broad__text_of("auto"))) {
        roles->automatic = 1;
        return BROAD_OK;
    }
    if (broad__text_same(broad__text_trim(wanted), broad__text_of("none")) && !has_name(layout, "none")) {
        roles->automatic = 0;
        return BROAD_OK;
    }
    int status = find_column(&column, layout, wanted, "option categorical");
    return status < 0 ? status : take_column(roles, layout, column, BROAD__ROLE_CATEGORY);
}

static size_t list_length(const char *list)
{
    size_t length = 1;
    for (; *list; list++) length += *list == ',';
    return length;
}

static int alloc_targets(broad__roles *roles, size_t max)
{
    roles->target_columns = broad__alloc_array(max, sizeof *roles->target_columns);
    return roles->target_columns ? BROAD_OK : BROAD_NO_MEMORY;
}

/* Adds the targets that are asked for; NULL: allocates for `otherwise` of them. */
static int add_asked_targets(broad__roles *roles, const broad__layout *layout, const char *asked, size_t otherwise)
{
    int status = alloc_targets(roles, asked ? list_length(asked) : otherwise);
    return status == BROAD_OK && asked ? take_list(roles, layout, asked, take_target) : status;
}

static int take_group(broad__roles *roles, const broad__layout *layout, size_t column)
{
    int status = take_column(roles, layout, column, BROAD__ROLE_GROUP);
    roles->group_column = column;
    roles->groups = status == BROAD_OK;
    return status;
}

static int set_group(broad__roles *roles, const broad__layout *layout, const char *name)
{
    size_t column;
    int status = find_column(&column, layout, broad__text_of(name), "option group");
    return status < 0 ? status : take_group(roles, layout, column);
}

static int take_weight(broad__roles *roles, const broad__layout *layout, size_t column)
{
    int status = take_column(roles, layout, column, BROAD__ROLE_WEIGHT);
    roles->weight_column = column;
    roles->weights = status == BROAD_OK;
    return status;
}

static int set_weight(broad__roles *roles, const broad__layout *layout, const char *name)
{
    size_t column;
    int status = find_column(&column, layout, broad__text_of(name), "option weight");
    return status < 0 ? status : take_weight(roles, layout, column);
}

static void number_inputs(broad__roles *roles)
{
    for (size_t i = 0; i < roles->columns; i++)
        if (roles->role[i] == BROAD__ROLE_INPUT) roles->index[i] = (uint32_t)roles->inputs++;
}

static int may_be_target(const broad__roles *roles, size_t column)
{
    return roles->role[column] == BROAD__ROLE_INPUT && !roles->asked[column];
}

/* The last `count` columns that are inputs so far, unasked, become targets. */
static int add_last_targets(broad__roles *roles, const broad__layout *layout, size_t count)
{
    size_t column = roles->columns;
    for (size_t left = count; left && column; left -= (size_t)may_be_target(roles, column)) column--;
    for (size_t added = 0; added < count && column < roles->columns; column++) {
        if (!may_be_target(roles, column)) continue;
        int status = add_target(roles, layout, column);
        if (status < 0) return status;
        added++;
    }
    return BROAD_OK;
}

static int add_plain_targets(broad__roles *roles, const broad__layout *layout, const broad_read_options *options)
{
    if (layout->flattened)
        return broad__fail(BROAD_BAD_DATA,
                           "%s: each row has more than one dimension, so no column is the target; give the targets as "
                           "option labels",
                           layout->file);
    int status = add_asked_targets(roles, layout, options->target, 1);
    return status == BROAD_OK && !options->target ? add_last_targets(roles, layout, 1) : status;
}

static int fail_no_inputs(const broad__roles *roles, const broad__layout *layout)
{
    return broad__fail(BROAD_BAD_DATA, "%s: no input column is left: %zu column%s, of which %zu target%s%s%s",
                       layout->file, roles->columns, roles->columns == 1 ? "" : "s", roles->targets,
                       roles->targets == 1 ? "" : "s", roles->groups ? " and one group" : "",
                       roles->weights ? " and one weight" : "");
}

/* Marks the columns that options ask for as inputs, or to be ignored. */
static int mark_asked(broad__roles *roles, const broad__layout *layout, const broad_read_options *options)
{
    int status = options->inputs ? take_list(roles, layout, options->inputs, take_input) : BROAD_OK;
    return status == BROAD_OK && options->ignore ? take_list(roles, layout, options->ignore, take_ignored) : status;
}

/* If some inputs are asked for, no others are inputs. */
static void drop_unasked(broad__roles *roles)
{
    for (size_t c = 0; c < roles->columns; c++)
        if (roles->role[c] == BROAD__ROLE_INPUT && !roles->asked[c]) roles->role[c] = BROAD__ROLE_IGNORED;
}

static int roles_plain(broad__roles *out, const broad__layout *layout, const broad_read_options *options)
{
    int status = roles_start(out, layout, BROAD__ROLE_INPUT);
    out->automatic = 1;
    if (status == BROAD_OK) status = mark_asked(out, layout, options);
    if (status == BROAD_OK && options->group) status = set_group(out, layout, options->group);
    if (status == BROAD_OK && options->weight) status = set_weight(out, layout, options->weight);
    if (status == BROAD_OK && !options->labels) status = add_plain_targets(out, layout, options);
    if (status < 0) return status;
    if (options->inputs) drop_unasked(out);
    number_inputs(out);
    if (!out->inputs) return fail_no_inputs(out, layout);
    return options->categorical ? take_list(out, layout, options->categorical, take_category) : BROAD_OK;
}

int broad__roles_match(size_t *out, char *const *names, size_t columns, const broad__columns *model)
{
    int status = BROAD_NO_MEMORY;
    size_t all = columns + model->inputs;
    broad__distinct joint = {0};
    broad__text *texts = broad__alloc_array(all, sizeof *texts);
    size_t *next = broad__alloc_array(columns, sizeof *next); /* 1 + next column of the same name, 0: none */
    size_t *first = broad__alloc_array(all, sizeof *first);   /* the same for each name */
    if (!texts || !next || !first) goto cleanup;
    for (size_t i = 0; i < columns; i++) texts[i] = broad__text_of(names[i]);
    for (size_t i = 0; i < model->inputs; i++) texts[columns + i] = broad__text_of(model->input_names[i]);
    status = broad__distinct_texts(&joint, texts, all, all);
    if (status < 0) goto cleanup;
    for (size_t i = columns; i-- > 0;) {
        next[i] = first[joint.ids[i]];
        first[joint.ids[i]] = i + 1;
    }
    for (size_t i = 0; i < model->inputs; i++) {
        size_t *head = &first[joint.ids[columns + i]];
        out[i] = *head ? *head - 1 : columns;
        if (*head) *head = next[*head - 1];
    }

cleanup:
    broad__distinct_clear(&joint, NULL);
    broad__free(texts);
    broad__free(next);
    broad__free(first);
    return status;
}

static int fail_absent(const broad__layout *layout, const broad__columns *model, const size_t *found)
{
    size_t absent = 0;
    char *shown[SHOWN] = {0};
    char list[SHOWN * (BROAD__QUOTE_BYTES + 2) + 8];
    for (size_t i = 0; i < model->inputs; i++) {
        if (found[i] < layout->columns) continue;
        if (absent < SHOWN) memcpy(&shown[absent], &model->input_names[i], sizeof shown[0]);
        absent++;
    }
    list_names(list, shown, absent);
    return broad__fail(BROAD_BAD_DATA, "%s: %zu column%s that the model was trained on %s missing: %s", layout->file,
                       absent, absent == 1 ? "" : "s", absent == 1 ? "is" : "are", list);
}

static size_t model_targets(const broad__columns *model)
{
    return model->task == BROAD_TASK_CLASSIFY ? 1 : model->outputs;
}

static int check_target_count(const broad__roles *roles, const broad__layout *layout, const broad__columns *model)
{
    if (roles->targets == model_targets(model)) return BROAD_OK;
    return broad__fail(BROAD_BAD_DATA, "%s: %zu target columns, but the model has %zu; choose with option target",
                       layout->file, roles->targets, model_targets(model));
}

static const char *model_target_name(const broad__columns *model, size_t target)
{
    return model->task == BROAD_TASK_CLASSIFY ? model->target_name : model->output_names[target];
}

static int fail_no_target(const broad__layout *layout, const broad__columns *model)
{
    char quoted[BROAD__QUOTE_BYTES];
    const char *name = model_target_name(model, 0);
    return broad__fail(BROAD_BAD_DATA,
                       "%s: there is no column for the target %s; choose one with option target, or give a file of "
                       "targets as option labels",
                       layout->file, broad__text_quote(quoted, broad__text_of(name ? name : "target")));
}

static int has_target_names(const broad__layout *layout, const broad__columns *model)
{
    for (size_t i = 0; i < model_targets(model); i++) {
        const char *name = model_target_name(model, i);
        if (!name || !has_name(layout, name)) return 0;
    }
    return 1;
}

/* The columns that are called like the model's targets. */
static int add_named_targets(broad__roles *roles, const broad__layout *layout, const broad__columns *model)
{
    int status = BROAD_OK;
    for (size_t i = 0, column; i < model_targets(model) && status == BROAD_OK; i++) {
        status = find_column(&column, layout, broad__text_of(model_target_name(model, i)), "option target");
        if (status == BROAD_OK) status = add_target(roles, layout, column);
    }
    return status;
}

/* The targets that are asked for, else the model's by their names; none if any of these is missing. */
static int add_targets_by_name(broad__roles *roles, const broad__layout *layout, const broad_read_options *options,
                               const broad__columns *model)
{
    int status = add_asked_targets(roles, layout, options->target, model_targets(model));
    if (status < 0 || options->target) return status;
    if (has_target_names(layout, model)) return add_named_targets(roles, layout, model);
    return options->target_optional ? BROAD_OK : fail_no_target(layout, model);
}

/* Group and weight: as asked for, else the model's if columns are called like them. */
static int add_others_by_name(broad__roles *roles, const broad__layout *layout, const broad_read_options *options,
                              const broad__columns *model)
{
    const char *group = options->group, *weight = options->weight;
    if (!group && model && model->group_name && has_name(layout, model->group_name)) group = model->group_name;
    if (!weight && model && model->weight_name && has_name(layout, model->weight_name)) weight = model->weight_name;
    int status = group ? set_group(roles, layout, group) : BROAD_OK;
    return status == BROAD_OK && weight ? set_weight(roles, layout, weight) : status;
}

static int add_inputs_by_name(broad__roles *roles, const broad__layout *layout, const broad__columns *model)
{
    size_t *found = broad__alloc_array(model->inputs, sizeof *found);
    int status = found ? broad__roles_match(found, layout->names, layout->columns, model) : BROAD_NO_MEMORY;
    for (size_t i = 0; i < model->inputs && status == BROAD_OK; i++) {
        if (found[i] == layout->columns) {
            status = fail_absent(layout, model, found);
        } else {
            roles->role[found[i]] = BROAD__ROLE_INPUT;
            roles->index[found[i]] = (uint32_t)i;
        }
    }
    broad__free(found);
    roles->inputs = model->inputs;
    return status;
}

/* What options asked for has taken no input away, and is as many targets as the model has. */
static int check_asked(const broad__roles *roles, const broad__layout *layout, const broad__columns *model)
{
    size_t inputs = 0;
    for (size_t i = 0; i < layout->columns; i++) inputs += roles->role[i] == BROAD__ROLE_INPUT;
    if (inputs != model->inputs)
        return broad__fail(BROAD_BAD_DATA,
                           "%s: a column that the model was trained on cannot also be its target, group or weight",
                           layout->file);
    return roles->targets ? check_target_count(roles, layout, model) : BROAD_OK;
}

static int roles_by_name(broad__roles *out, const broad__layout *layout, const broad_read_options *options,
                         const broad__columns *model)
{
    int status = roles_start(out, layout, BROAD__ROLE_IGNORED);
    if (status == BROAD_OK) status = add_inputs_by_name(out, layout, model);
    if (status == BROAD_OK) status = add_others_by_name(out, layout, options, model);
    if (status == BROAD_OK && !options->labels) status = add_targets_by_name(out, layout, options, model);
    return status == BROAD_OK ? check_asked(out, layout, model) : status;
}

/* ---- by position ----------------------------------------------------------------------------------------------------- */

static int fail_width(const broad__layout *layout, const broad__columns *model, size_t targets)
{
    char whole[64] = "";
    size_t width = broad__places_width(&model->places);
    if (width) snprintf(whole, sizeof whole, ", or the %zu columns of its training file", width);
    const char *remedy = "";
    if (layout->columns > model->inputs + targets)
        remedy = model->named ? "; remove the others, or add the header of the training file" : "; remove the others";
    return broad__fail(BROAD_BAD_DATA,
                       "%s: %zu column%s; the model needs %zu input%s, or %zu columns with the target%s%s%s%s",
                       layout->file, layout->columns, layout->columns == 1 ? "" : "s", model->inputs,
                       model->inputs == 1 ? "" : "s", model->inputs + targets, targets == 1 ? "" : "s",
                       model->weight_name ? ", besides its column of weights" : "", whole, remedy);
}

/* The number, from 1, of a model's group or weights in a file that has no columns but inputs, targets, group and weights; 0:
 * none, or not known. Models of earlier versions tell it by the name, if their file had none. */
static size_t position_of(const broad__columns *model, broad__role role, const char *name)
{
    if (model->places.count) return broad__places_find(&model->places, role);
    return name && !model->named ? column_number(broad__text_of(name)) : 0;
}

/* The model's column `number` in a file that may lack its group and its weights. */
static size_t shifted_position(size_t number, const broad__roles *roles, const broad__columns *model)
{
    size_t group = position_of(model, BROAD__ROLE_GROUP, model->group_name), absent = 0;
    size_t weight = position_of(model, BROAD__ROLE_WEIGHT, model->weight_name);
    if (!roles->groups && group && group < number) absent++;
    if (!roles->weights && weight && weight < number) absent++;
    return number - absent;
}

/* Group and weights of a file without names: as asked for, else the model's if there are enough columns for all of them. */
static int add_others_by_position(broad__roles *roles, const broad__layout *layout, const broad_read_options *options,
                                  const broad__columns *model, size_t targets)
{
    size_t group = options->group ? 0 : position_of(model, BROAD__ROLE_GROUP, model->group_name);
    size_t weight = options->weight ? 0 : position_of(model, BROAD__ROLE_WEIGHT, model->weight_name);
    size_t others = (size_t)(options->group || group) + (size_t)(options->weight || weight);
    size_t width = layout->columns - layout->trailing;
    if (width < model->inputs + targets + others) group = weight = 0;
    int status = options->group ? set_group(roles, layout, options->group) : BROAD_OK;
    if (status == BROAD_OK && options->weight) status = set_weight(roles, layout, options->weight);
    if (status == BROAD_OK && group && group <= width) status = take_group(roles, layout, group - 1);
    return status == BROAD_OK && weight && weight <= width ? take_weight(roles, layout, weight - 1) : status;
}

/* Models of earlier versions whose file had no names: those of their targets are column numbers. */
static int add_numbered_targets(broad__roles *roles, const broad__layout *layout, const broad__columns *model,
                                size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = model_target_name(model, i);
        size_t number = name && !model->named ? column_number(broad__text_of(name)) : 0;
        if (number) number = shifted_position(number, roles, model);
        if (number < 1 || number > layout->columns) break;
        int status = add_target(roles, layout, number - 1);
        if (status < 0) return status;
    }
    if (roles->targets == count) return BROAD_OK;
    return roles->targets ? fail_no_target(layout, model) : add_last_targets(roles, layout, count);
}

enum {
    IGNORED_BIT = 1 << BROAD__ROLE_IGNORED,
    TARGET_BIT = 1 << BROAD__ROLE_TARGET,
    GROUP_BIT = 1 << BROAD__ROLE_GROUP,
    WEIGHT_BIT = 1 << BROAD__ROLE_WEIGHT
};

/* Targets of a file without names: as asked for, else where they were in training, else at the end. */
static int add_targets_by_position(broad__roles *roles, const broad__layout *layout, const broad_read_options *options,
                                   const broad__columns *model)
{
    size_t count = model_targets(model);
    int status = add_asked_targets(roles, layout, options->target, count);
    if (status < 0 || options->target) return status;
    if (!model->places.count) return add_numbered_targets(roles, layout, model, count);
    if (!broad__places_columns(&model->places, BROAD__ROLE_TARGET)) return add_last_targets(roles, layout, count);
    broad__places_give(roles, &model->places, IGNORED_BIT | GROUP_BIT | WEIGHT_BIT, 0);
    return BROAD_OK;
}

/* The file has inputs and targets, at most the model's group and weights besides, and nothing that was left out in training. */
static int roles_in_order(broad__roles *out, const broad__layout *layout, const broad_read_options *options,
                          const broad__columns *model)
{
    size_t targets = model_targets(model);
    int status = roles_start(out, layout, BROAD__ROLE_INPUT);
    if (status == BROAD_OK) status = add_others_by_position(out, layout, options, model, options->labels ? 0 : targets);
    if (status < 0) return status;
    size_t left = out->columns - layout->trailing - out->groups - out->weights;
    if (left == model->inputs) {
        if (!options->labels && !options->target_optional) return fail_no_target(layout, model);
    } else if (left == model->inputs + targets && !options->labels && !layout->flattened) {
        status = add_targets_by_position(out, layout, options, model);
        if (status < 0) return status;
    }
    number_inputs(out);
    return out->inputs == model->inputs ? BROAD_OK : fail_width(layout, model, targets);
}

/* Targets in columns that are empty are none. */
static int drop_empty_targets(broad__roles *roles, const broad__layout *layout, const broad_read_options *options,
                              const broad__columns *model)
{
    for (size_t c = layout->columns - layout->trailing; c < layout->columns; c++) {
        roles->targets -= roles->role[c] == BROAD__ROLE_TARGET;
        roles->role[c] = BROAD__ROLE_IGNORED;
    }
    int wanted = !options->labels && !options->target && !options->target_optional;
    return wanted && !roles->targets ? fail_no_target(layout, model) : BROAD_OK;
}

/* The file has the columns of the training file, but for those of the roles in `without`. */
static int roles_by_places(broad__roles *out, const broad__layout *layout, const broad_read_options *options,
                           const broad__columns *model, unsigned without)
{
    unsigned left = 0;
    if (options->labels || options->target) left |= TARGET_BIT;
    if (options->group) left |= GROUP_BIT;
    if (options->weight) left |= WEIGHT_BIT;
    int status = roles_start(out, layout, BROAD__ROLE_IGNORED);
    if (status == BROAD_OK) status = alloc_targets(out, model_targets(model));
    if (status < 0) return status;
    broad__places_give(out, &model->places, without, left);
    out->inputs = model->inputs;
    status = drop_empty_targets(out, layout, options, model);
    if (status < 0) return status;
    if (options->group) status = set_group(out, layout, options->group);
    if (status == BROAD_OK && options->weight) status = set_weight(out, layout, options->weight);
    if (status == BROAD_OK && options->target && !options->labels) {
        broad__free(out->target_columns);
        status = add_asked_targets(out, layout, options->target, 0);
    }
    return status == BROAD_OK ? check_asked(out, layout, model) : status;
}

/* Whether these columns may be the training file's without its targets. A width that inputs and targets have as well is
 * refused, unless the inputs are the same columns either way: numbers from wrong columns would look like any others. */
static int lacks_targets(int *out, const broad__layout *layout, const broad_read_options *options,
                         const broad__columns *model)
{
    const broad__places *places = &model->places;
    size_t targets = broad__places_columns(places, BROAD__ROLE_TARGET), all = broad__places_width(places);
    size_t width = layout->columns - layout->trailing,
           others = all - broad__places_columns(places, BROAD__ROLE_IGNORED);
    *out = 0;
    if (!targets || width != all - targets) return BROAD_OK;
    *out = options->labels || (options->target_optional && !options->target);
    if (!*out || options->labels) return BROAD_OK;
    unsigned without = IGNORED_BIT;
    if (width == model->inputs + targets) without |= GROUP_BIT | WEIGHT_BIT;
    else if (width != others) return BROAD_OK;
    *out = 0;
    if (broad__places_agree(places, TARGET_BIT, without)) return BROAD_OK;
    return broad__fail(BROAD_BAD_DATA,
                       "%s: %zu columns may be those of the training file without the target, or the inputs with it; "
                       "give all %zu columns of the training file (the target may be empty), or the %zu inputs alone%s",
                       layout->file, layout->columns, all, model->inputs, model->named ? ", or a header" : "");
}

/* Whether there are as many columns as in the training file: empty ones at the end may be separators alone. */
static int is_whole(const broad__layout *layout, const broad__places *places)
{
    size_t width = broad__places_width(places);
    return layout->columns - layout->trailing == width ||
           (layout->columns == width && broad__places_spare(places, layout->trailing));
}

static int roles_by_position(broad__roles *out, const broad__layout *layout, const broad_read_options *options,
                             const broad__columns *model)
{
    const broad__places *places = &model->places;
    int asked_target = options->target && !options->labels, lacking = 0;
    int asked = asked_target || options->group || options->weight;
    size_t targets = broad__places_columns(places, BROAD__ROLE_TARGET);
    /* Columns that are asked for may lie elsewhere than in training if all other columns are inputs. */
    if (!places->count || (asked && !broad__places_columns(places, BROAD__ROLE_IGNORED)) ||
        (layout->flattened && targets))
        return roles_in_order(out, layout, options, model);
    int sufficient = targets || asked_target || options->labels || options->target_optional;
    if (is_whole(layout, places) && sufficient) return roles_by_places(out, layout, options, model, 0);
    int status = lacks_targets(&lacking, layout, options, model);
    if (status < 0) return status;
    return lacking ? roles_by_places(out, layout, options, model, TARGET_BIT)
                   : roles_in_order(out, layout, options, model);
}

/* Rows to train on need the model's weights; rows to predict do not. */
static int settle_weights(broad__roles *roles, const broad__layout *layout, const broad_read_options *options,
                          const broad__columns *model)
{
    char quoted[BROAD__QUOTE_BYTES];
    if (model->weight_name && options->training && !roles->weights)
        return broad__fail(BROAD_BAD_DATA,
                           "%s: the column of weights %s that the model was trained with is missing; add it",
                           layout->file, broad__text_quote(quoted, broad__text_of(model->weight_name)));
    if (!roles->weights || options->weight || !options->target_optional) return BROAD_OK;
    roles->role[roles->weight_column] = BROAD__ROLE_IGNORED;
    roles->weights = 0;
    return BROAD_OK;
}

/* The inputs that are categories in the model. Each is one column here, so its index is that of its first input less the
 * further levels of earlier categories. */
static int take_model_categories(broad__roles *roles, const broad__columns *model)
{
    if (!model->categories.count) return BROAD_OK;
    unsigned char *is = broad__alloc(model->inputs);
    if (!is) return BROAD_NO_MEMORY;
    for (size_t k = 0, further = 0; k < model->categories.count; k++) {
        is[model->categories.items[k].first - further] = 1;
        further += model->categories.items[k].count - 1;
    }
    for (size_t c = 0; c < roles->columns; c++)
        if (roles->role[c] == BROAD__ROLE_INPUT && is[roles->index[c]]) roles->role[c] = BROAD__ROLE_CATEGORY;
    broad__free(is);
    return BROAD_OK;
}

static int roles_like_model(broad__roles *out, const broad__layout *layout, const broad_read_options *options,
                            const broad__columns *model)
{
    int status = model->named && layout->names ? roles_by_name(out, layout, options, model)
                                               : roles_by_position(out, layout, options, model);
    out->modelled = 1;
    if (status == BROAD_OK) status = settle_weights(out, layout, options, model);
    return status == BROAD_OK ? take_model_categories(out, model) : status;
}

int broad__roles_table(broad__roles *out, const broad__layout *layout, const broad_read_options *options,
                       const broad__columns *model)
{
    int status = model ? roles_like_model(out, layout, options, model) : roles_plain(out, layout, options);
    if (status < 0) broad__roles_clear(out);
    return status;
}

int broad__roles_renumber(broad__roles *roles, const broad__layout *layout)
{
    roles->inputs = 0;
    for (size_t c = 0; c < roles->columns; c++)
        if (roles->role[c] == BROAD__ROLE_INPUT || roles->role[c] == BROAD__ROLE_CATEGORY)
            roles->index[c] = (uint32_t)roles->inputs++;
    return roles->inputs ? BROAD_OK : fail_no_inputs(roles, layout);
}

int broad__roles_categories(broad__roles *roles, const broad__layout *layout)
{
    size_t count = 0;
    broad__free(roles->category);
    broad__free(roles->category_inputs);
    roles->category = NULL;
    roles->category_inputs = NULL;
    roles->categories = 0;
    for (size_t c = 0; c < roles->columns; c++) count += roles->role[c] == BROAD__ROLE_CATEGORY;
    if (!count) return BROAD_OK;
    if (count > BROAD__CATEGORIES_MAX)
        return broad__fail(BROAD_BAD_DATA, "%s: %zu columns of categories; at most %d can be read", layout->file, count,
                           BROAD__CATEGORIES_MAX);
    roles->category = broad__alloc_array(roles->columns, sizeof *roles->category);
    roles->category_inputs = broad__alloc_array(count, sizeof *roles->category_inputs);
    size_t *column_of = broad__alloc_array(roles->inputs, sizeof *column_of); /* 1 + column, 0: no category */
    int status = roles->category && roles->category_inputs && column_of ? BROAD_OK : BROAD_NO_MEMORY;
    for (size_t c = 0; c < roles->columns && status == BROAD_OK; c++)
        if (roles->role[c] == BROAD__ROLE_CATEGORY) column_of[roles->index[c]] = c + 1;
    for (size_t i = 0; i < roles->inputs && status == BROAD_OK; i++) {
        if (!column_of[i]) continue;
        roles->category[column_of[i] - 1] = (uint32_t)roles->categories;
        roles->category_inputs[roles->categories++] = i;
    }
    broad__free(column_of);
    return status;
}

int broad__roles_labels(broad__roles *out, const broad__layout *layout, const broad_read_options *options,
                        const broad__columns *model)
{
    int status = roles_start(out, layout, options->target ? BROAD__ROLE_IGNORED : BROAD__ROLE_INPUT);
    if (status == BROAD_OK) status = add_asked_targets(out, layout, options->target, layout->columns);
    if (status == BROAD_OK && !options->target) status = add_last_targets(out, layout, layout->columns);
    if (status == BROAD_OK && model) status = check_target_count(out, layout, model);
    if (status < 0) broad__roles_clear(out);
    return status;
}

/* ---- lists of photos --------------------------------------------------------------------------------------------- */

/* The column called "file", else the first. */
static int find_file_column(size_t *out, const broad__layout *layout)
{
    *out = 0;
    return has_name(layout, "file") ? find_column(out, layout, broad__text_of("file"), NULL) : BROAD_OK;
}

/* The columns that are asked for, else those called like the model's targets, else the last. */
static int add_photo_targets(broad__roles *roles, const broad__layout *layout, const broad_read_options *options,
                             const broad__columns *model)
{
    if (options->target) return take_list(roles, layout, options->target, take_target);
    if (model && has_target_names(layout, model)) return add_named_targets(roles, layout, model);
    return add_last_targets(roles, layout, model ? model_targets(model) : 1);
}

static int check_photo_targets(const broad__roles *roles, const broad__layout *layout, const broad__columns *model)
{
    size_t wanted = model ? model_targets(model) : 1, columns = layout->columns;
    if (roles->targets >= 2 && (!model || roles->targets - 1 == wanted)) return BROAD_OK;
    return broad__fail(BROAD_BAD_DATA,
                       "%s: a list of photos needs a column of file names and %zu target column%s; this one has %zu "
                       "column%s",
                       layout->file, wanted, wanted == 1 ? "" : "s", columns, columns == 1 ? "" : "s");
}

int broad__roles_photos(broad__roles *out, const broad__layout *layout, const broad_read_options *options,
                        const broad__columns *model)
{
    size_t file;
    int status = roles_start(out, layout, BROAD__ROLE_INPUT);
    if (status == BROAD_OK)
        status = alloc_targets(out, 1 + (options->target ? list_length(options->target) : layout->columns));
    if (status == BROAD_OK) status = find_file_column(&file, layout);
    if (status == BROAD_OK) status = add_target(out, layout, file);
    if (status == BROAD_OK) status = add_others_by_name(out, layout, options, model);
    if (status == BROAD_OK && model) status = settle_weights(out, layout, options, model);
    if (status == BROAD_OK) status = add_photo_targets(out, layout, options, model);
    if (status == BROAD_OK) status = check_photo_targets(out, layout, model);
    for (size_t i = 0; status == BROAD_OK && i < out->columns; i++)
        if (out->role[i] == BROAD__ROLE_INPUT) out->role[i] = BROAD__ROLE_IGNORED;
    if (status < 0) broad__roles_clear(out);
    return status;
}

void broad__roles_clear(broad__roles *roles)
{
    broad__free(roles->role);
    broad__free(roles->index);
    broad__free(roles->target_columns);
    broad__free(roles->category_inputs);
    broad__free(roles->category);
    broad__free(roles->formats);
    broad__free(roles->asked);
    *roles = (broad__roles){0};
}

char *broad__roles_name(const broad__layout *layout, size_t column, int chosen, const char *otherwise)
{
    char number[24];
    if (layout->names) return broad__copy_text(layout->names[column]);
    if (!chosen) return broad__copy_text(otherwise);
    snprintf(number, sizeof number, "%zu", column + 1);
    return broad__copy_text(number);
}

int broad__roles_list(size_t *out, size_t *out_count, const broad__layout *layout, const char *list, const char *option)
{
    int whole = !strchr(list, ',') || has_name(layout, list), status = BROAD_OK;
    size_t count = 0;
    for (const char *at = list; at && status == BROAD_OK; at = whole ? NULL : strchr(at, ',')) {
        size_t column = 0, before = 0;
        if (at != list) at++;
        status = find_column(&column, layout, (broad__text){at, whole ? strlen(at) : strcspn(at, ",")}, option);
        while (status == BROAD_OK && before < count && out[before] != column) before++;
        if (status == BROAD_OK && before == count) out[count++] = column;
    }
    *out_count = count;
    return status;
}
