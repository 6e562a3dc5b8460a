#include "arguments.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

/* ---- parsing ---- */

enum { ERROR_BYTES = 4096, NAME_BYTES = 64 };

static const broad_option *find_name(const cli_command *command, const char *name, size_t length)
{
    char text[NAME_BYTES];
    if (length >= sizeof text) return NULL;
    memcpy(text, name, length);
    text[length] = 0;
    return cli_option_named(command, text);
}

/* Whether some command has an option by this name. */
static int is_option(const char *name, size_t length)
{
    for (size_t i = 0; i < cli_command_count(); i++)
        if (find_name(cli_command_at(i), name, length)) return 1;
    return 0;
}

const char *cli_error(void) { return cli_tool_words(broad_error_message()); }

const char *cli_tool_words(const char *from)
{
    static _Thread_local char out[ERROR_BYTES];
    static const char word[] = "option ";
    const char *start = from;
    size_t used = 0;
    while (*from && used + 3 < sizeof out) {
        int begins = from == start || !strchr("abcdefghijklmnopqrstuvwxyz", from[-1]);
        const char *name = from + strlen(word);
        if (begins && strncmp(from, word, strlen(word)) == 0 &&
            is_option(name, strspn(name, "abcdefghijklmnopqrstuvwxyz-"))) {
            out[used++] = '-';
            out[used++] = '-';
            from = name;
        } else {
            out[used++] = *from++;
        }
    }
    out[used] = 0;
    return out;
}

int cli_fail_usage(const cli_command *command, const char *message)
{
    return cli_fail(BROAD_USAGE, "%s (see 'broad help %s')", message, command->name);
}

/* Options of earlier versions, and what to do instead. */
static const struct retired {
    const char *word, *advice;
} retired[] = {
    {"--crop",
     "'--crop' was removed in version 0.2 together with the built-in finder of panels: crop with boxes from a "
     "file (--boxes) or from a program (--detector); without them photos are looked at as a whole"},
    {"--precision",
     "'--precision' was removed in version 0.2, because float was not faster: leave it out, and nodes are computed in "
     "double precision; models that were trained with float are still read"},
};

static int fail_unknown(const cli_command *command, const char *word, size_t length)
{
    const broad_option *options[CLI_OPTIONS_MAX];
    const char *names[CLI_OPTIONS_MAX];
    char name[BROAD__NEAREST_BYTES] = {0}, text[256];
    size_t count = cli_command_options(options, command);
    for (size_t i = 0; i < count; i++) names[i] = options[i]->name;
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    for (size_t i = 0; i < sizeof retired / sizeof retired[0]; i++)
        if (strcmp(name, retired[i].word) == 0) return cli_fail_usage(command, retired[i].advice);
    const char *nearest = name[0] == '-' && name[1] == '-' ? broad__nearest(name + 2, names, count) : NULL;
    if (nearest)
        snprintf(text, sizeof text, "'%s' has no option '%s'; did you mean '--%s'?", command->name, name, nearest);
    else snprintf(text, sizeof text, "'%s' has no option '%s'", command->name, name);
    return cli_fail_usage(command, text);
}

static const broad_option *find_letter(const cli_command *command, char letter)
{
    const broad_option *options[CLI_OPTIONS_MAX];
    size_t count = cli_command_options(options, command);
    for (size_t i = 0; i < count; i++)
        if (letter && options[i]->letter == letter) return options[i];
    return NULL;
}

/* The choices are checked here, so that a slip is named before anything is read. */
static int check_choice(const cli_command *command, const broad_option *option, const char *value)
{
    char copy[256], listed[300], text[768];
    const char *words[16];
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", option->choices);
    for (char *rest = copy, *word; (word = strsep(&rest, "|")) && count < 16;) {
        if (strcmp(word, value) == 0) return BROAD_OK;
        words[count++] = word;
    }
    const char *nearest = broad__nearest(value, words, count);
    cli_format_choices(listed, sizeof listed, option->choices);
    snprintf(text, sizeof text, "--%s: unknown value '%.200s'; give %s%s%s%s", option->name, value, listed,
             nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "");
    return cli_fail_usage(command, text);
}

static int add_given(cli_arguments *out, const broad_option *option, const char *value)
{
    int status = option->choices ? check_choice(out->command, option, value) : BROAD_OK;
    if (status) return status;
    if (out->given_count == CLI_GIVEN_MAX) return cli_fail_usage(out->command, "too many options");
    out->given[out->given_count].option = option;
    out->given[out->given_count++].value = value;
    return BROAD_OK;
}

/* Takes the option at words[*at], and its value from the same word or the next. */
static int parse_option(cli_arguments *out, int *at, int count, char **words)
{
    const char *word = words[*at], *value = NULL;
    const broad_option *option = NULL;
    size_t length = strcspn(word, "=");
    char text[256];
    if (word[1] == '-') {
        option = find_name(out->command, word + 2, length - 2);
        if (word[length]) value = word + length + 1;
    } else {
        option = find_letter(out->command, word[1]);
        if (word[2]) value = word + 2;
        length = 2;
    }
    if (!option) return fail_unknown(out->command, word, length);
    if (!option->argument) {
        snprintf(text, sizeof text, "'--%s' takes no value", option->name);
        return value ? cli_fail_usage(out->command, text) : add_given(out, option, "");
    }
    if (!value && *at + 1 < count) value = words[++*at];
    char listed[160];
    cli_format_choices(listed, sizeof listed, option->choices ? option->choices : option->argument);
    snprintf(text, sizeof text, "'--%s' needs a value: %s", option->name, listed);
    return value ? add_given(out, option, value) : cli_fail_usage(out->command, text);
}

static int check_positional(const cli_arguments *arguments)
{
    const cli_command *command = arguments->command;
    char text[256];
    if (cli_given(arguments, "help") || arguments->positional_count >= command->fewest) return BROAD_OK;
    snprintf(text, sizeof text, "missing argument; usage: broad %s %s", command->name, command->positional);
    return cli_fail_usage(command, text);
}

int cli_arguments_parse(cli_arguments *out, const cli_command *command, int count, char **words)
{
    memset(out, 0, sizeof *out);
    out->command = command;
    out->words = words;
    out->word_count = (size_t)count;
    out->positional = calloc((size_t)count + 1, sizeof *out->positional);
    if (!out->positional) return cli_fail(BROAD_NO_MEMORY, "out of memory while reading the arguments");
    int options_ended = 0;
    for (int i = 0; i < count; i++) {
        const char *word = words[i];
        if (!options_ended && strcmp(word, "--") == 0) {
            options_ended = 1;
        } else if (!options_ended && word[0] == '-' && word[1]) {
            int status = parse_option(out, &i, count, words);
            if (status) return status;
        } else if (out->positional_count < command->most) {
            out->positional[out->positional_count++] = word;
        } else {
            char text[512];
            snprintf(text, sizeof text, "unexpected argument '%.200s'; usage: broad %s %s", word, command->name,
                     command->positional);
            return cli_fail_usage(command, text);
        }
    }
    return check_positional(out);
}

void cli_arguments_clear(cli_arguments *arguments)
{
    free(arguments->positional);
    arguments->positional = NULL;
    arguments->positional_count = 0;
}

/* ---- looking up ---- */

const char *cli_given(const cli_arguments *arguments, const char *name)
{
    for (size_t i = arguments->given_count; i-- > 0;)
        if (strcmp(arguments->given[i].option->name, name) == 0) return arguments->given[i].value;
    return NULL;
}

size_t cli_given_all(const char **out, const cli_arguments *arguments, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < arguments->given_count; i++)
        if (strcmp(arguments->given[i].option->name, name) == 0) out[count++] = arguments->given[i].value;
    return count;
}

const char *cli_value(const cli_arguments *arguments, const char *name)
{
    const char *value = cli_given(arguments, name);
    const broad_option *option = value ? NULL : cli_option_named(arguments->command, name);
    return option ? option->default_value : value;
}

int cli_choice(const cli_arguments *arguments, const char *name)
{
    const broad_option *option = cli_option_named(arguments->command, name);
    const char *value = cli_value(arguments, name);
    if (!option || !option->choices || !value) return 0;
    char copy[256];
    snprintf(copy, sizeof copy, "%s", option->choices);
    int number = 0;
    for (char *rest = copy, *word; (word = strsep(&rest, "|")); number++)
        if (strcmp(word, value) == 0) return number;
    return 0;
}

void cli_note(const cli_arguments *arguments, const char *format, ...)
{
    if (cli_given(arguments, "quiet")) return;
    va_list list;
    va_start(list, format);
    cli_say_list(format, list);
    va_end(list);
}
