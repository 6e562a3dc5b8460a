#include "io/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static _Thread_local int out_of_memory;

json_t *cli_json_text(const char *text)
{
    size_t left = strlen(text);
    char *clean = malloc(3 * left + 1);
    if (!clean) return NULL;
    char *to = clean;
    for (size_t bytes; left > 0; text += bytes, left -= bytes) {
        bytes = broad__utf8_length(text, left);
        memcpy(to, bytes ? text : "\xef\xbf\xbd", bytes ? bytes : 3);
        to += bytes ? bytes : 3;
        if (!bytes) bytes = 1;
    }
    *to = 0;
    json_t *value = json_string(clean);
    free(clean);
    return value;
}

json_t *cli_json_real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

json_t *cli_json_uint(uint64_t value)
{
    char text[32];
    if (value <= INT64_MAX) return json_integer((json_int_t)value);
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return json_string(text);
}

void cli_json_put(json_t *object, const char *name, json_t *value)
{
    if (json_object_set_new(object, name, value)) out_of_memory = 1;
}

void cli_json_append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value)) out_of_memory = 1;
}

int cli_json_lacking(void)
{
    int lacking = out_of_memory;
    out_of_memory = 0;
    return lacking;
}

int cli_json_stored(json_t **out, const broad_model *model)
{
    char *text = NULL;
    json_error_t error;
    *out = NULL;
    int status = broad_model_json(&text, model);
    if (status) return status;
    *out = json_loads(text, 0, &error);
    broad_free(text);
    return *out ? BROAD_OK : cli_fail(BROAD_BUG, "the model's own JSON cannot be read: %s", error.text);
}

json_t *cli_json_object(const char *command)
{
    json_t *object = json_object();
    cli_json_put(object, "command", cli_json_text(command));
    return object;
}

int cli_json_print(json_t *object)
{
    char *text = out_of_memory ? NULL : json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(object);
    if (!text) return cli_fail(BROAD_NO_MEMORY, "out of memory while writing the result as JSON");
    int failed = puts(text) == EOF || fflush(stdout) == EOF;
    free(text);
    return failed ? cli_fail(BROAD_IO, "cannot write to standard output: %s", strerror(errno)) : BROAD_OK;
}

int cli_json_give(const cli_arguments *arguments, json_t *object)
{
    if (!arguments->result) return cli_json_print(object);
    json_decref(*arguments->result);
    *arguments->result = object;
    if (object && !out_of_memory) return BROAD_OK;
    return cli_fail(BROAD_NO_MEMORY, "out of memory while assembling the result");
}
