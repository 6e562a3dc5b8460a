/* The state of a search: JSON lines, replaced as a whole with every trial, so that a crash loses one trial at most. */
#include "tune/tune_state.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"

enum { TEXT_MAX = 1 << 28 };
static const char *const end_names[] = {"done", "dropped", "failed"};

/* ---- trials as JSON ---- */

json_t *tune_trial_json(const tune_trial *trial)
{
    json_t *object = json_object(), *scores = json_array();
    for (size_t i = 0; i < trial->count; i++) cli_json_append(scores, cli_json_real(trial->scores[i]));
    cli_json_put(object, "settings", tune_setting_json(&trial->setting));
    cli_json_put(object, "status", cli_json_text(end_names[trial->end]));
    cli_json_put(object, "score", cli_json_real(trial->score));
    cli_json_put(object, "sd", cli_json_real(trial->sd));
    cli_json_put(object, "scores", scores);
    cli_json_put(object, "seconds", cli_json_real(trial->seconds));
    cli_json_put(object, "reason", cli_json_text(trial->reason));
    return object;
}

static double real_of(const json_t *value) { return json_is_number(value) ? json_number_value(value) : (double)NAN; }

static int read_scores(tune_trial *out, const json_t *scores)
{
    size_t count = json_array_size(scores);
    out->scores = calloc(count ? count : 1, sizeof *out->scores);
    if (!out->scores) return -1;
    out->count = count;
    for (size_t i = 0; i < count; i++) out->scores[i] = real_of(json_array_get(scores, i));
    return 0;
}

/* -1: it is no trial. */
static int read_trial(tune_trial *out, const json_t *object, const cli_arguments *arguments)
{
    const char *end = json_string_value(json_object_get(object, "status"));
    const char *reason = json_string_value(json_object_get(object, "reason"));
    memset(out, 0, sizeof *out);
    size_t number = 0;
    while (end && number < 3 && strcmp(end, end_names[number]) != 0) number++;
    if (!end || number == 3 || tune_setting_read(&out->setting, json_object_get(object, "settings"))) return -1;
    out->end = (tune_end)number;
    out->score = real_of(json_object_get(object, "score"));
    out->sd = real_of(json_object_get(object, "sd"));
    out->seconds = real_of(json_object_get(object, "seconds"));
    snprintf(out->reason, sizeof out->reason, "%s", reason ? reason : "");
    if (read_scores(out, json_object_get(object, "scores"))) return -1;
    if (out->end != TUNE_FAILED && (!out->count || !isfinite(out->score))) return -1;
    return tune_describe(out, arguments) ? -1 : 0;
}

/* ---- the text ---- */

static int append_line(tune_state *state, json_t *object)
{
    char *line = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(object);
    size_t length = line ? strlen(line) : 0;
    if (line && state->used + length + 2 > state->room) {
        size_t room = 2 * state->room + length + 4096;
        char *more = realloc(state->text, room);
        if (more) {
            state->text = more;
            state->room = room;
        }
    }
    int fits = line && state->used + length + 2 <= state->room;
    if (fits) {
        memcpy(state->text + state->used, line, length);
        state->used += length;
        state->text[state->used++] = '\n';
    }
    free(line);
    return fits ? BROAD_OK : cli_fail(BROAD_NO_MEMORY, "out of memory while storing the state of the search");
}

static int write_text(const tune_state *state)
{
    broad__replacement file;
    int status = broad__replace_begin(&file, state->path);
    if (!status) status = broad__replace_write(&file, state->text, state->used);
    if (!status) return broad__replace_commit(&file);
    broad__replace_abandon(&file);
    return status;
}

/* ---- reading ---- */

static int fail_other(const char *path, const char *name, const json_t *there, const json_t *here)
{
    char *was = there ? json_dumps(there, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    char *is = here ? json_dumps(here, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    int status =
        cli_fail(BROAD_USAGE,
                 "%s is the state of a different search: '%s' is %.300s there and %.300s here; give another --state, "
                 "or remove the file",
                 path, name, was ? was : "nothing", is ? is : "nothing");
    free(was);
    free(is);
    return status;
}

static int check_key(const char *path, const json_t *there, json_t *here)
{
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach(here, name, value)
    {
        const json_t *other = json_object_get(there, name);
        if (!json_equal(other, value)) return fail_other(path, name, other, value);
    }
    return BROAD_OK;
}

static int read_lines(tune_search *search, const char *path, const char *text, size_t bytes, json_t *key)
{
    int status = BROAD_OK;
    size_t number = 0;
    for (size_t at = 0; !status && at < bytes;) {
        json_error_t error;
        tune_trial trial;
        const char *end = memchr(text + at, '\n', bytes - at);
        size_t length = end ? (size_t)(end - text) - at : bytes - at;
        json_t *object = json_loadb(text + at, length, 0, &error);
        number++;
        memset(&trial, 0, sizeof trial);
        if (!json_is_object(object) || (number > 1 && read_trial(&trial, object, search->arguments))) {
            status = cli_fail(BROAD_BAD_DATA,
                              "%s:%zu: this is not a state file of 'broad tune'; give another --state, or remove it",
                              path, number);
            tune_trial_clear(&trial);
        } else if (number == 1) {
            status = check_key(path, object, key);
        } else {
            status = tune_add(search, &trial);
        }
        json_decref(object);
        at += length + 1;
    }
    return !status && number == 0 ? cli_fail(BROAD_BAD_DATA, "%s is empty; remove it", path) : status;
}

static int read_file(tune_state *state, tune_search *search, json_t *key)
{
    void *bytes = NULL;
    size_t count = 0;
    int status = broad__file_read(&bytes, &count, state->path, TEXT_MAX);
    if (!status) status = read_lines(search, state->path, bytes, count, key);
    broad_free(bytes);
    for (size_t i = 0; !status && i < search->count; i++)
        status = append_line(state, tune_trial_json(&search->trials[i]));
    return status;
}

int tune_state_open(tune_state *out, tune_search *search, const char *path, json_t *key)
{
    *out = (tune_state){.path = path};
    int status = path ? append_line(out, json_incref(key)) : BROAD_OK;
    if (path && !status && access(path, F_OK) == 0) status = read_file(out, search, key);
    if (path && !status) status = write_text(out);
    json_decref(key);
    return status;
}

int tune_state_add(tune_state *state, const tune_search *search)
{
    if (!state->path) return BROAD_OK;
    int status = append_line(state, tune_trial_json(&search->trials[search->count - 1]));
    return status ? status : write_text(state);
}

void tune_state_close(tune_state *state)
{
    free(state->text);
    memset(state, 0, sizeof *state);
}

/* ---- data ---- */

int tune_data_hash(char out[33], const broad_data *data)
{
    broad__hash *hash = broad__hash_open();
    if (!hash) return BROAD_NO_MEMORY;
    size_t inputs = broad_data_inputs(data), outputs = broad_data_outputs(data);
    uint64_t shape[4] = {broad_data_rows(data), inputs, outputs, (uint64_t)broad_data_task(data)};
    broad__hash_add(hash, shape, sizeof shape);
    for (size_t i = 0; i < outputs; i++) {
        const char *name = broad_data_output_name(data, i);
        broad__hash_add(hash, name, strlen(name) + 1);
    }
    for (size_t i = 0; i < shape[0]; i++) {
        broad__hash_add(hash, broad_data_row(data, i), inputs * sizeof(double));
        uint64_t class = broad_data_class(data, i);
        broad__hash_add(hash, &class, sizeof class);
        for (size_t k = 0; broad_data_task(data) == BROAD_TASK_REGRESS && k < outputs; k++) {
            double value = broad_data_value(data, i, k);
            broad__hash_add(hash, &value, sizeof value);
        }
    }
    broad__hash_close(out, hash);
    return BROAD_OK;
}
