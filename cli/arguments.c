/* Words of the command line against the command's row of the table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* ---- the nearest name ---- */

enum { WORD_MAX = 40 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Edits (insert, delete, replace, swap of neighbours) from one word to another: Damerau's distance, restricted. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1];
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length > WORD_MAX || b_length > WORD_MAX) return WORD_MAX;
    for (size_t j = 0; j <= b_length; j++) rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = least(above[j - 1] + (a[i - 1] != b[j - 1]), least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], above2[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

const char *cli_nearest(const char *word, const char *const *candidates, size_t count)
{
    size_t length = strlen(word);
    size_t best = length / 3 + 2;
    const char *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t edits = distance(word, candidates[i]);
        if (length >= 3 && strncmp(word, candidates[i], length) == 0) edits = 1;
        if (edits < best) {
            best = edits;
            nearest = candidates[i];
        }
    }
    return nearest;
}

/* ---- parsing ---- */

static int fail_usage(const cli_command *command, const char *what)
{
    return cli_fail(BROAD_USAGE, "%s (see 'broad help %s')", what, command->name);
}

/* Options of earlier versions, and what to do instead. */
static const struct retired {
    const char *word, *advice;
} retired[] = {
    {"--crop", "'--crop' was removed in version 0.2 together with the built-in finder of panels: crop with boxes from a "
               "file (--boxes) or from a program (--detector); without them photos are looked at as a whole"},
};

static int fail_unknown(const cli_command *command, const char *word, size_t length)
{
    const broad_option *options[CLI_OPTIONS_MAX];
    const char *names[CLI_OPTIONS_MAX];
    char name[WORD_MAX + 1] = {0}, text[256];
    size_t count = cli_command_options(options, command);
    for (size_t i = 0; i < count; i++) names[i] = options[i]->name;
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    for (size_t i = 0; i < sizeof retired / sizeof retired[0]; i++)
        if (strcmp(name, retired[i].word) == 0) return fail_usage(command, retired[i].advice);
    const char *nearest = name[0] == '-' && name[1] == '-' ? cli_nearest(name + 2, names, count) : NULL;
    if (nearest)
        snprintf(text, sizeof text, "'%s' has no option '%s'; did you mean '--%s'?", command->name, name, nearest);
    else snprintf(text, sizeof text, "'%s' has no option '%s'", command->name, name);
    return fail_usage(command, text);
}

static const broad_option *find_name(const cli_command *command, const char *name, size_t length)
{
    const broad_option *options[CLI_OPTIONS_MAX];
    size_t count = cli_command_options(options, command);
    for (size_t i = 0; i < count; i++)
        if (strlen(options[i]->name) == length && memcmp(options[i]->name, name, length) == 0) return options[i];
    return NULL;
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
    char copy[256], text[768];
    const char *words[16];
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", option->choices);
    for (char *rest = copy, *word; (word = strsep(&rest, "|")) && count < 16;) {
        if (strcmp(word, value) == 0) return BROAD_OK;
        words[count++] = word;
    }
    const char *nearest = cli_nearest(value, words, count);
    snprintf(text, sizeof text, "--%s: there is no '%.200s'; give one of %s%s%s%s", option->name, value,
             option->choices, nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "");
    return fail_usage(command, text);
}

static int add_given(cli_arguments *out, const broad_option *option, const char *value)
{
    int status = option->choices ? check_choice(out->command, option, value) : BROAD_OK;
    if (status) return status;
    if (out->given_count == CLI_GIVEN_MAX) return fail_usage(out->command, "there are too many options");
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
        snprintf(text, sizeof text, "'--%s' takes no value; give it alone", option->name);
        return value ? fail_usage(out->command, text) : add_given(out, option, "");
    }
    if (!value && *at + 1 < count) value = words[++*at];
    snprintf(text, sizeof text, "'--%s' needs a value: %s", option->name,
             option->choices ? option->choices : option->argument);
    return value ? add_given(out, option, value) : fail_usage(out->command, text);
}

static int check_positional(const cli_arguments *arguments)
{
    const cli_command *command = arguments->command;
    char text[256];
    if (cli_given(arguments, "help") || arguments->positional_count >= command->fewest) return BROAD_OK;
    snprintf(text, sizeof text, "'broad %s' needs %s, but %zu of %zu were given", command->name, command->positional,
             arguments->positional_count, command->fewest);
    return fail_usage(command, text);
}

int cli_arguments_parse(cli_arguments *out, const cli_command *command, int count, char **words)
{
    memset(out, 0, sizeof *out);
    out->command = command;
    out->positional = calloc((size_t)count + 1, sizeof *out->positional);
    if (!out->positional) return cli_fail(BROAD_NO_MEMORY, "out of memory: no room for the arguments");
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
            snprintf(text, sizeof text, "'%.200s' is one argument too many for 'broad %s %s'", word, command->name,
                     command->positional);
            return fail_usage(command, text);
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
    const broad_option *option = value ? NULL : find_name(arguments->command, name, strlen(name));
    return option ? option->standard : value;
}

int cli_choice(const cli_arguments *arguments, const char *name)
{
    const broad_option *option = find_name(arguments->command, name, strlen(name));
    const char *value = cli_value(arguments, name);
    if (!option || !option->choices || !value) return 0;
    char copy[256];
    snprintf(copy, sizeof copy, "%s", option->choices);
    int number = 0;
    for (char *rest = copy, *word; (word = strsep(&rest, "|")); number++)
        if (strcmp(word, value) == 0) return number;
    return 0;
}

/* Only a row of the library's table: a command may have one of its own by the same name. */
static int set_training(broad_options *out, const cli_arguments *arguments, const char *name)
{
    const char *value = find_name(arguments->command, name, strlen(name)) == cli_library_option(name)
                            ? cli_given(arguments, name)
                            : NULL;
    int status = value ? broad_options_set(out, name, value) : BROAD_OK;
    return status ? fail_usage(arguments->command, broad_error_message()) : BROAD_OK;
}

int cli_training_details(broad_options *options, const cli_arguments *arguments)
{
    int status = BROAD_OK;
    for (size_t i = 0; !status && i < broad_option_count(); i++) {
        const char *name = broad_option_at(i)->name;
        if (strcmp(name, "preset") && strcmp(name, "kind")) status = set_training(options, arguments, name);
    }
    return status;
}

int cli_training_options(broad_options *out, const cli_arguments *arguments)
{
    broad_options_init(out);
    int status = set_training(out, arguments, "preset");
    if (!status) status = set_training(out, arguments, "kind");
    return status ? status : cli_training_details(out, arguments);
}

int cli_increment_options(broad_options *out, const cli_arguments *arguments)
{
    char text[64];
    const char *enhance = cli_given(arguments, "enhance"), *features = cli_given(arguments, "features");
    int status = cli_training_options(out, arguments);
    if (!status && enhance && strlen(enhance) + 2 < sizeof text) {
        snprintf(text, sizeof text, "%s%s", enhance, strpbrk(enhance, "xX") ? "" : "x1");
        enhance = text;
    }
    if (status) return status;
    if (enhance) status = broad_options_set(out, "enhance", enhance);
    if (!status && features) status = broad_options_set(out, "features", features);
    return status ? fail_usage(arguments->command, broad_error_message()) : BROAD_OK;
}

int cli_count(size_t *out, const cli_arguments *arguments, const char *name)
{
    const char *value = cli_value(arguments, name);
    char *end = NULL;
    *out = 0;
    if (!value) return BROAD_OK;
    unsigned long long number = strtoull(value, &end, 10);
    *out = (size_t)number;
    if (value[0] >= '0' && value[0] <= '9' && *end == 0 && number >= 1 && number <= 1000000000) return BROAD_OK;
    return cli_fail(BROAD_USAGE, "--%s: '%s' is not a whole number from 1 to 1000000000 (see 'broad help %s')", name,
                    value, arguments->command->name);
}

/* A number between 0 and 1; 0: not given. */
static int parse_fraction(double *out, const cli_arguments *arguments, const char *name, const char *what)
{
    const char *text = cli_given(arguments, name);
    char *end = NULL;
    *out = 0;
    if (!text) return BROAD_OK;
    *out = strtod(text, &end);
    if (end != text && *end == 0 && *out > 0 && *out < 1) return BROAD_OK;
    return cli_fail(BROAD_USAGE, "--%s: '%s' is not a %s", name, text, what);
}

int cli_holdout(double *out, const cli_arguments *arguments)
{
    return parse_fraction(out, arguments, "holdout", "fraction; give a number above 0 and below 1, such as 0.3");
}

int cli_level(double *out, const cli_arguments *arguments)
{
    return parse_fraction(out, arguments, "interval", "level; give a number above 0 and below 1, such as 0.9");
}

void cli_read_options(broad_read_options *out, const cli_arguments *arguments)
{
    broad_read_options_init(out);
    out->target = cli_given(arguments, "target");
    out->labels = cli_given(arguments, "labels");
    out->group = cli_given(arguments, "group");
    out->weight = cli_given(arguments, "weight");
    out->categorical = cli_given(arguments, "categorical");
    out->header = cli_value(arguments, "header");
    out->separator = cli_value(arguments, "separator");
    out->task = (broad_task)cli_choice(arguments, "task");
    out->missing = (broad_missing)cli_choice(arguments, "missing");
}

int cli_threads(size_t *out, const cli_arguments *arguments)
{
    broad_options options;
    broad_options_init(&options);
    int status = set_training(&options, arguments, "threads");
    if (!status) *out = options.threads;
    return status;
}

int cli_memory(size_t *out, const cli_arguments *arguments)
{
    broad_options options;
    broad_options_init(&options);
    int status = set_training(&options, arguments, "memory");
    if (!status) *out = options.memory;
    return status;
}

int cli_seed(uint64_t *out, const cli_arguments *arguments)
{
    broad_options options;
    broad_options_init(&options);
    int status = set_training(&options, arguments, "seed");
    if (!status) *out = options.seed;
    return status;
}
