#include "tune/tune_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/quote.h"
#include "run/photo_summary.h"
#include "run/show.h"
#include "tune/tune_state.h"

/* ---- the command line for fit ---- */

static void put_quoted(FILE *out, const char *before, const char *word)
{
    fputs(before, out);
    cli_shell_word(out, word);
}

/* What was said about reading the data, said again. */
static void put_reading(FILE *out, const cli_arguments *arguments)
{
    for (const cli_section *section = arguments->command->sections; section->title; section++) {
        const broad_option *options[CLI_OPTIONS_MAX];
        size_t count = cli_section_options(options, arguments->command, section);
        if (strcmp(section->title, "Reading DATA") != 0 && strcmp(section->title, "Photos") != 0) continue;
        for (size_t i = 0; i < count; i++) {
            char name[64];
            const char *value = cli_given(arguments, options[i]->name);
            if (!value || strcmp(options[i]->name, "map") == 0) continue; /* maps: put_maps() */
            snprintf(name, sizeof name, "--%s", options[i]->name);
            put_quoted(out, " ", name);
            if (options[i]->argument) put_quoted(out, " ", value);
        }
    }
}

/* The maps of photos that the trials had: fit must not choose others, nor a preset set them. */
static void put_maps(FILE *out, const tune_result *result)
{
    const cli_arguments *arguments = result->search->arguments;
    unsigned maps = broad_data_maps(result->data);
    const char *preset = cli_given(arguments, "preset");
    const char *before = " --map ";
    for (size_t i = 0; i < CLI_MAPS; i++) {
        if (!(maps >> i & 1)) continue;
        put_quoted(out, before, cli_map_names[i]);
        before = ",";
    }
    if (maps && !cli_given(arguments, "components"))
        fputs(broad_data_components(result->data) ? " --components auto" : " --components none", out);
    if (maps & BROAD_PHOTO_MAP_PIXELS && !cli_given(arguments, "side"))
        fputs(preset && strcmp(preset, "paper") == 0 ? " --side 64" : " --side 32", out);
}

/* Freed with free(). NULL: out of memory. */
static char *fit_line(const tune_result *result, const tune_trial *trial)
{
    char *line = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&line, &bytes);
    if (!out) return NULL;
    fputs("broad fit", out);
    int like_option = result->path[0] == '-' && result->path[1];
    put_quoted(out, like_option ? " ./" : " ", result->path);
    put_reading(out, result->search->arguments);
    put_maps(out, result);
    for (size_t i = 0; i < json_array_size(trial->arguments); i++)
        put_quoted(out, " ", json_string_value(json_array_get(trial->arguments, i)));
    if (result->model) put_quoted(out, " ", "-o");
    if (result->model) put_quoted(out, " ", result->model);
    return fclose(out) ? NULL : line;
}

/* ---- JSON ---- */

static size_t count_ends(const tune_search *search, tune_end end)
{
    size_t count = 0;
    for (size_t i = 0; i < search->count; i++) count += search->trials[i].end == end;
    return count;
}

static json_t *best_json(const tune_result *result, const tune_trial *trial, size_t number)
{
    json_t *object = tune_trial_json(trial);
    char *line = fit_line(result, trial);
    cli_json_put(object, "number", json_integer((json_int_t)number + 1));
    cli_json_put(object, "arguments", json_incref(trial->arguments));
    cli_json_put(object, "fit", line ? cli_json_text(line) : NULL);
    free(line);
    return object;
}

static json_t *trials_json(const tune_search *search)
{
    json_t *trials = json_array();
    for (size_t i = 0; i < search->count; i++) {
        json_t *object = tune_trial_json(&search->trials[i]);
        cli_json_put(object, "number", json_integer((json_int_t)i + 1));
        cli_json_append(trials, object);
    }
    return trials;
}

static void put_search(json_t *object, const tune_result *result)
{
    const tune_search *search = result->search;
    cli_json_put(object, "data", cli_json_text(result->path));
    cli_json_put(object, "task", cli_json_text(cli_task_name(broad_data_task(result->data))));
    cli_json_put(object, "rows", json_integer((json_int_t)broad_data_rows(result->data)));
    cli_json_put(object, "searched_rows", json_integer((json_int_t)result->rows));
    cli_json_put(object, "seed", cli_json_uint(search->seed));
    cli_record_maps(result->photos, result->maps, broad_data_maps(result->data));
    cli_json_put(object, "photos", result->photos ? json_incref(result->photos) : json_null());
    cli_json_put(object, "by", cli_json_text(result->by));
    cli_json_put(object, "folds", json_integer((json_int_t)result->folds));
    cli_json_put(object, "metric", cli_json_text(search->measure->name));
    cli_json_put(object, "complete", json_boolean(result->complete));
    cli_json_put(object, "resumed", json_integer((json_int_t)result->resumed));
    cli_json_put(object, "dropped", json_integer((json_int_t)count_ends(search, TUNE_DROPPED)));
    cli_json_put(object, "failed", json_integer((json_int_t)count_ends(search, TUNE_FAILED)));
}

int tune_report_json(const tune_result *result)
{
    const tune_search *search = result->search;
    size_t best[TUNE_TOP], count = tune_best(best, TUNE_TOP, search);
    json_t *object = cli_json_object("tune"), *top = json_array(), *seconds = json_object();
    put_search(object, result);
    for (size_t i = 0; i < count; i++) cli_json_append(top, json_integer((json_int_t)best[i] + 1));
    cli_json_put(object, "best", count ? best_json(result, &search->trials[best[0]], best[0]) : json_null());
    cli_json_put(object, "top", top);
    cli_json_put(object, "state", result->state ? cli_json_text(result->state) : json_null());
    cli_json_put(object, "model", result->model ? cli_json_text(result->model) : json_null());
    cli_json_put(seconds, "read", cli_json_real(result->read_seconds));
    cli_json_put(seconds, "search", cli_json_real(result->search_seconds));
    cli_json_put(seconds, "total", cli_json_real(result->total_seconds));
    cli_json_put(object, "seconds", seconds);
    cli_json_put(object, "trials", trials_json(search));
    return cli_json_give(result->search->arguments, object);
}

/* ---- text ---- */

static void print_score(const tune_search *search, const tune_trial *trial)
{
    char score[32], sd[32];
    cli_format_measure(score, sizeof score, search->measure->task, trial->score);
    cli_format_measure(sd, sizeof sd, search->measure->task, trial->sd);
    cli_print("%s", score);
    if (isfinite(trial->sd)) cli_print(" ± %s", sd);
}

static void print_top(const tune_search *search, const size_t *best, size_t count)
{
    cli_print("  %4s  %-20s %8s  settings\n", "rank", search->measure->title, "seconds");
    for (size_t i = 0; i < count; i++) {
        const tune_trial *trial = &search->trials[best[i]];
        char score[32], sd[32] = "", both[80];
        cli_format_measure(score, sizeof score, search->measure->task, trial->score);
        if (isfinite(trial->sd)) cli_format_measure(sd, sizeof sd, search->measure->task, trial->sd);
        snprintf(both, sizeof both, "%s%s%s", score, sd[0] ? " ± " : "", sd);
        /* The sign takes two bytes for one column. */
        cli_print("  %4zu  %-*s %8.2f ", i + 1, sd[0] ? 21 : 20, both, trial->seconds);
        for (size_t k = 0; k < json_array_size(trial->arguments); k++)
            put_quoted(stdout, " ", json_string_value(json_array_get(trial->arguments, k)));
        cli_print("\n");
    }
}

/* Each reason once, with how many trials had it. */
static void print_failures(const tune_search *search)
{
    for (size_t i = 0; i < search->count; i++) {
        const tune_trial *trial = &search->trials[i];
        size_t alike = 0, before = 0;
        for (size_t k = 0; trial->end == TUNE_FAILED && k < search->count; k++) {
            int same = search->trials[k].end == TUNE_FAILED && strcmp(search->trials[k].reason, trial->reason) == 0;
            alike += (size_t)same;
            before += (size_t)(same && k < i);
        }
        if (alike && !before) cli_print("failed   %zu trial%s: %s\n", alike, cli_plural(alike), trial->reason);
    }
}

/* What plain fit comes to: the first trial, unless kinds or presets were given. */
static void print_plain(const tune_search *search)
{
    const tune_trial *plain = &search->trials[0];
    broad_options first;
    char kind[32], preset[32];
    broad_options_init(&first);
    if (plain->end != TUNE_DONE || broad_options_get(kind, sizeof kind, &first, "kind") ||
        broad_options_get(preset, sizeof preset, &first, "preset") || strcmp(plain->setting.kind, kind) != 0 ||
        strcmp(plain->setting.preset, preset) != 0)
        return;
    cli_print("plain    trial 1, fit without further settings: %s ", search->measure->title);
    print_score(search, plain);
    cli_print("\n");
}

int tune_report_text(const tune_result *result)
{
    const tune_search *search = result->search;
    size_t best[TUNE_TOP], count = tune_best(best, TUNE_TOP, search);
    if (!count) return BROAD_OK;
    char *line = fit_line(result, &search->trials[best[0]]);
    if (!line) return cli_fail(BROAD_NO_MEMORY, "out of memory while writing the command line");
    cli_print("data     %s: %zu rows", result->path, broad_data_rows(result->data));
    if (result->rows < broad_data_rows(result->data)) cli_print(", search on %zu of them", result->rows);
    cli_print("\n");
    cli_print_maps(result->maps, broad_data_maps(result->data), broad_data_components(result->data));
    cli_print("search   %zu trial%s, %zu dropped early, %zu failed, %.1f s; %s by ", search->count,
              cli_plural(search->count), count_ends(search, TUNE_DROPPED), count_ends(search, TUNE_FAILED),
              result->search_seconds, search->measure->title);
    if (strcmp(result->by, "cv") == 0) cli_print("%zu folds", result->folds);
    else cli_print("leave-one-out");
    if (result->resumed) cli_print("; %zu of the trials are from %s", result->resumed, result->state);
    cli_print("\nbest     trial %zu: %s ", best[0] + 1, search->measure->title);
    print_score(search, &search->trials[best[0]]);
    cli_print("\n");
    print_plain(search);
    print_top(search, best, count);
    print_failures(search);
    if (result->model) cli_print("model    %s\n", result->model);
    cli_print("next     %s\n", line);
    free(line);
    return BROAD_OK;
}
