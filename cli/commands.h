/*
 * The table of commands.
 *
 * A command is a row of the table in commands.c and a function `int cli_NAME(const cli_arguments *)`. It returns 0, or a
 * negative status whose message main() prints, or the positive exit code of a run that has reported everything itself.
 * Results go to standard output, everything else to standard error.
 */
#ifndef BROAD_CLI_COMMANDS_H
#define BROAD_CLI_COMMANDS_H

#include <stddef.h>
#include <stdint.h>

#include "broad/broad.h"

enum { CLI_OPTIONS_MAX = 96, CLI_EXAMPLES_MAX = 9, CLI_FILES_MAX = 64 };
#define CLI_NO_LIMIT SIZE_MAX /* of positional arguments */

typedef struct cli_arguments cli_arguments;

/* Options under one title, which the next section may share: rows of the tool's own, and rows of the library's table by
 * name ("*": those that no section of the command names, nor the names after the star). */
typedef struct cli_section {
    const char *title;
    const broad_option *options;
    size_t count;
    const char *library;
} cli_section;

typedef struct cli_example {
    const char *line, *comment;
} cli_example;

typedef struct cli_command {
    const char *name, *purpose;
    const char *positional; /* "MODEL DATA" */
    size_t fewest, most;    /* positional arguments */
    int (*run)(const cli_arguments *arguments);
    const cli_section *sections; /* ends with a title of NULL */
    const char *description;
    cli_example examples[CLI_EXAMPLES_MAX]; /* ends with a line of NULL, or full */
} cli_command;

extern const char *const cli_tagline;
extern const char *const cli_exit_codes; /* lines "CODE<tab>meaning" */

size_t cli_command_count(void);
const cli_command *cli_command_at(size_t index);
const cli_command *cli_command_find(const char *name);            /* NULL: none */
int cli_command_named(const cli_command **out, const char *name); /* the same, with a message that suggests another */
int cli_section_starts(const cli_command *command, const cli_section *section); /* its title is not the one before */
/* The options of one section; out has room for CLI_OPTIONS_MAX. */
size_t cli_section_options(const broad_option **out, const cli_command *command, const cli_section *section);
/* The options of all sections. */
size_t cli_command_options(const broad_option **out, const cli_command *command);
const broad_option *cli_library_option(const char *name); /* NULL: none */
/* The option of the command, its own or one of the library; NULL: none. */
const broad_option *cli_option_named(const cli_command *command, const char *name);
/* The default as text, "" if there is none: of the option itself, or what the presets say. */
void cli_option_default(char *out, size_t bytes, const broad_option *option);
/* "a, b or c" of "a|b|c"; bytes > 0. */
void cli_format_choices(char *out, size_t bytes, const char *choices);

/* ---- the commands themselves, each defined in cmd_NAME.c ---- */

int cli_fit(const cli_arguments *arguments);
int cli_grow(const cli_arguments *arguments);
int cli_learn(const cli_arguments *arguments);
int cli_cv(const cli_arguments *arguments);
int cli_tune(const cli_arguments *arguments);
int cli_data(const cli_arguments *arguments);
int cli_undo(const cli_arguments *arguments);
int cli_predict(const cli_arguments *arguments);
int cli_eval(const cli_arguments *arguments);
int cli_report(const cli_arguments *arguments);
int cli_report_training(const cli_arguments *arguments); /* with --training */
int cli_info(const cli_arguments *arguments);
int cli_verify(const cli_arguments *arguments);
int cli_export(const cli_arguments *arguments);
int cli_demo(const cli_arguments *arguments);
int cli_render(const cli_arguments *arguments);
int cli_serve(const cli_arguments *arguments);
int cli_plan(const cli_arguments *arguments);
int cli_doctor(const cli_arguments *arguments);
int cli_version(const cli_arguments *arguments);
int cli_help(const cli_arguments *arguments);

#endif
