/* The words of the command line, checked against the command's row of the table. */
#ifndef BROAD_CLI_ARGUMENTS_H
#define BROAD_CLI_ARGUMENTS_H

#include <jansson.h>

#include "commands.h"
#include "message.h"

enum { CLI_GIVEN_MAX = 256 };

struct cli_arguments {
    const cli_command *command;
    char **words; /* as they were given, without the command */
    size_t word_count;
    json_t **result; /* where cli_json_give() puts the result, for a caller in this process; NULL: standard output */
    size_t positional_count, given_count;
    const char **positional; /* owned; the words are not */
    struct cli_given {
        const broad_option *option;
        const char *value;  /* "" for a switch */
    } given[CLI_GIVEN_MAX]; /* in order; of an option given twice the last counts, unless it makes a list */
};

/* Call cli_arguments_clear() afterwards, whatever the status. */
int cli_arguments_parse(cli_arguments *out, const cli_command *command, int count, char **words);
void cli_arguments_clear(cli_arguments *arguments);
const char *cli_given(const cli_arguments *arguments, const char *name); /* NULL: not given */
const char *cli_value(const cli_arguments *arguments, const char *name); /* given, else the table's default */
/* Its number in the choices; the default's if not given. */
int cli_choice(const cli_arguments *arguments, const char *name);
/* All values of an option that makes a list; out has room for CLI_GIVEN_MAX. */
size_t cli_given_all(const char **out, const cli_arguments *arguments, const char *name);
/* The message of the latest failure in the words of the tool: where the library says "option lambda" it is "--lambda".
 * Valid until this thread asks again. */
const char *cli_error(void);
/* The same of any text of the library, valid until the next call. */
const char *cli_tool_words(const char *from);
/* BROAD_USAGE with this message and a pointer to the command's help. */
int cli_fail_usage(const cli_command *command, const char *message);
/* On standard error, unless --quiet. */
void cli_note(const cli_arguments *arguments, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
