/* What there is to say about photos that were read, and about their maps. */
#include "run/photo_summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/progress.h"
#include "run/photo_verdict.h"
#include "values.h"

/* ---- near-duplicates ---- */

/* Whether the row is the first one of its file: further boxes follow it, and augmented copies are none. */
static int is_first(const broad_data *data, size_t row)
{
    const broad_photo *photo = broad_data_photo(data, row);
    return photo->copy == 0 && (row == 0 || strcmp(photo->file, broad_data_photo(data, row - 1)->file) != 0);
}

int cli_photo_facts_make(cli_photo_facts *out, const broad_data *data)
{
    size_t rows = broad_data_rows(data);
    int classes = broad_data_task(data) == BROAD_TASK_CLASSIFY;
    memset(out, 0, sizeof *out);
    size_t *members = calloc(rows + 1, sizeof *members);
    out->pairs = calloc(rows + 1, sizeof *out->pairs);
    if (!members || !out->pairs) {
        free(members);
        cli_photo_facts_clear(out);
        return cli_fail(BROAD_NO_MEMORY, "out of memory: cannot group %zu photos", rows);
    }
    for (size_t i = 0; i < rows; i++) {
        const broad_photo *photo = broad_data_photo(data, i);
        out->copies += photo->copy > 0;
        if (!is_first(data, i)) continue;
        out->photos++;
        members[photo->group]++;
        if (classes && broad_data_class(data, i) != broad_data_class(data, photo->group)) {
            out->pairs[out->contradictions][0] = photo->group;
            out->pairs[out->contradictions++][1] = i;
        }
    }
    for (size_t g = 0; g < rows; g++) {
        out->groups += members[g] > 1;
        out->grouped += members[g] > 1 ? members[g] : 0;
    }
    free(members);
    return BROAD_OK;
}

void cli_photo_facts_clear(cli_photo_facts *facts)
{
    free(facts->pairs);
    memset(facts, 0, sizeof *facts);
}

int cli_photos_grouped(const broad_data *data)
{
    for (size_t i = 0; broad_data_maps(data) && i < broad_data_rows(data); i++)
        if (broad_data_photo(data, i)->group != i) return 1;
    return 0;
}

/* ---- notes ---- */

void cli_note_skipped(const broad_data *data, const cli_arguments *arguments)
{
    enum { SHOWN = 5 };
    size_t count = broad_data_skipped_count(data), read = 0;
    if (!count) return;
    for (size_t i = 0; i < broad_data_rows(data); i++) read += (size_t)is_first(data, i);
    cli_note(arguments, "%zu photo%s read, %zu file%s skipped:", read, read == 1 ? "" : "s", count,
             count == 1 ? "" : "s");
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        const broad_skipped *skipped = broad_data_skipped(data, i);
        cli_note(arguments, "  %s: %s", skipped->file, skipped->reason);
    }
    if (count > SHOWN) cli_note(arguments, "  and %zu more; --json lists all of them", count - SHOWN);
}

/* What notes say of a photo, and of how many; copies are none. */
static int is_unlike(const broad_photo *photo) { return broad_photo_is_unlike(photo) && !photo->copy; }
static int is_faulty(const broad_photo *photo) { return photo->faults && !photo->copy; }
static int is_only_faulty(const broad_photo *photo) { return is_faulty(photo) && !is_unlike(photo); }

static void note_photos(const broad_data *data, int (*which)(const broad_photo *), const char *one, const char *several,
                        const cli_arguments *arguments)
{
    enum { SHOWN = 5 };
    size_t count = 0;
    for (size_t i = 0; i < broad_data_rows(data); i++) count += (size_t)which(broad_data_photo(data, i));
    if (!count) return;
    cli_note(arguments, "%zu photo%s %s:", count, cli_plural(count), count == 1 ? one : several);
    for (size_t i = 0, seen = 0; i < broad_data_rows(data) && seen < SHOWN; i++) {
        const broad_photo *photo = broad_data_photo(data, i);
        char faults[CLI_FAULTS_BYTES];
        if (!which(photo)) continue;
        cli_photo_faults(faults, photo);
        cli_note(arguments, "  %s%s%s", photo->name, faults[0] ? ": " : "", faults);
        seen++;
    }
    if (count > SHOWN) cli_note(arguments, "  and %zu more; --json lists all of them", count - SHOWN);
}

void cli_note_doubtful(const broad_data *data, int judged, const cli_arguments *arguments)
{
    if (judged)
        note_photos(data, is_unlike, "is not like the training photos: do not trust its class",
                    "are not like the training photos: do not trust their class", arguments);
    note_photos(data, judged ? is_only_faulty : is_faulty, "may show too little", "may show too little", arguments);
}

void cli_note_facts(const broad_data *data, const cli_photo_facts *facts, const cli_arguments *arguments)
{
    enum { SHOWN = 3 };
    if (facts->groups)
        cli_note(arguments, "%zu photos are near-duplicates, in %zu group%s; %s", facts->grouped, facts->groups,
                 cli_plural(facts->groups),
                 cli_given(arguments, "group") ? "splits keep the groups of --group together, not these"
                                               : "groups are kept together in splits");
    if (!facts->contradictions) return;
    cli_note(arguments, "%zu photo%s a different label from a near-duplicate:", facts->contradictions,
             facts->contradictions == 1 ? " has" : "s have");
    for (size_t i = 0; i < facts->contradictions && i < SHOWN; i++) {
        size_t first = facts->pairs[i][0], other = facts->pairs[i][1];
        cli_note(arguments, "  %s (%s) and %s (%s)", broad_data_photo(data, first)->name,
                 broad_data_output_name(data, broad_data_class(data, first)), broad_data_photo(data, other)->name,
                 broad_data_output_name(data, broad_data_class(data, other)));
    }
    if (facts->contradictions > SHOWN)
        cli_note(arguments, "  and %zu more; 'broad data' lists all of them", facts->contradictions - SHOWN);
    cli_note(arguments, "  give both the same label, or remove one; if they are not near-duplicates, give --no-groups");
}

/* ---- JSON ---- */

static void add_count(json_t *record, const char *name, size_t count)
{
    json_int_t before = json_integer_value(json_object_get(record, name));
    cli_json_put(record, name, json_integer(before + (json_int_t)count));
}

static json_t *list_in(json_t *record, const char *name)
{
    if (!json_object_get(record, name)) cli_json_put(record, name, json_array());
    return json_object_get(record, name);
}

static json_t *side_json(const broad_data *data, size_t row)
{
    json_t *object = json_object();
    cli_json_put(object, "file", cli_json_text(broad_data_photo(data, row)->file));
    cli_json_put(object, "label", cli_json_text(broad_data_output_name(data, broad_data_class(data, row))));
    return object;
}

static void record_doubtful(json_t *record, const broad_data *data)
{
    json_t *unlike = list_in(record, "unlike"), *faults = list_in(record, "faults");
    for (size_t i = 0; i < broad_data_rows(data); i++) {
        const broad_photo *photo = broad_data_photo(data, i);
        if (is_unlike(photo)) cli_json_append(unlike, cli_json_text(photo->file));
        if (!is_faulty(photo)) continue;
        json_t *object = json_object();
        cli_json_put(object, "file", cli_json_text(photo->file));
        cli_json_put(object, "faults", cli_photo_faults_json(photo));
        cli_json_append(faults, object);
    }
}

void cli_photos_record(json_t *record, const broad_data *data, const cli_photo_facts *facts)
{
    record_doubtful(record, data);
    json_t *skipped = list_in(record, "skipped"), *contradictions = list_in(record, "contradictions");
    add_count(record, "read", facts->photos);
    add_count(record, "copies", facts->copies);
    add_count(record, "groups", facts->groups);
    add_count(record, "grouped", facts->grouped);
    for (size_t i = 0; i < broad_data_skipped_count(data); i++) {
        const broad_skipped *item = broad_data_skipped(data, i);
        json_t *object = json_object();
        cli_json_put(object, "file", cli_json_text(item->file));
        cli_json_put(object, "reason", cli_json_text(item->reason));
        cli_json_append(skipped, object);
    }
    for (size_t i = 0; i < facts->contradictions; i++) {
        json_t *pair = json_array();
        cli_json_append(pair, side_json(data, facts->pairs[i][0]));
        cli_json_append(pair, side_json(data, facts->pairs[i][1]));
        cli_json_append(contradictions, pair);
    }
}

/* ---- maps ---- */

const char *const cli_map_names[CLI_MAPS] = {"pixels", "descriptors", "windows"};

void cli_format_maps(char *out, size_t bytes, unsigned maps)
{
    size_t used = 0;
    if (bytes) out[0] = 0;
    for (size_t i = 0; i < CLI_MAPS; i++)
        if (maps >> i & 1 && used < bytes)
            used += (size_t)snprintf(out + used, bytes - used, "%s%s", used ? " + " : "", cli_map_names[i]);
}

json_t *cli_maps_json(unsigned maps)
{
    json_t *list = json_array();
    for (size_t i = 0; i < CLI_MAPS; i++)
        if (maps >> i & 1) cli_json_append(list, cli_json_text(cli_map_names[i]));
    return list;
}

void cli_print_maps(const broad_map_choice *choice, unsigned maps, size_t components)
{
    char name[64];
    double error = 0, least = HUGE_VAL;
    size_t others = 0;
    if (!maps) return;
    cli_format_maps(name, sizeof name, maps);
    if (components) cli_print("inputs   %zu components of %s", components, name);
    else cli_print("inputs   %s", name);
    for (size_t i = 0; i < choice->count; i++) {
        if (choice->trials[i].maps == maps) error = choice->trials[i].error;
        least = fmin(least, choice->trials[i].error);
    }
    if (choice->count) cli_print(" (leave-one-out error %.3f", error);
    for (size_t i = 0; i < choice->count; i++) {
        if (choice->trials[i].maps == maps) continue;
        cli_format_maps(name, sizeof name, choice->trials[i].maps);
        cli_print("%s %s %.3f", others++ ? "," : ";", name, choice->trials[i].error);
    }
    if (choice->count) cli_print("%s)", error > least ? ": none better by more than chance" : "");
    cli_print("\n");
}

void cli_record_maps(json_t *record, const broad_map_choice *choice, unsigned maps)
{
    json_t *errors = json_array();
    for (size_t i = 0; record && i < choice->count; i++) {
        json_t *trial = json_object();
        cli_json_put(trial, "maps", cli_maps_json(choice->trials[i].maps));
        cli_json_put(trial, "error", cli_json_real(choice->trials[i].error));
        cli_json_append(errors, trial);
    }
    if (record) cli_json_put(record, "maps", cli_maps_json(maps));
    if (record) cli_json_put(record, "map_errors", choice->count ? json_incref(errors) : json_null());
    json_decref(errors);
}
