/*
 * What the sub-commands of the tool share.
 *
 * A sub-command is a row of the table in commands.c and a function `int cli_NAME(const cli_arguments *)`. It returns 0,
 * or a negative status whose message main() prints, or the positive exit code of a run that has said everything itself.
 * Results go to standard output, everything else to standard error.
 */
#ifndef BROAD_CLI_CLI_H
#define BROAD_CLI_CLI_H

#include <stddef.h>
#include <stdint.h>

#include "broad/broad.h"

enum { CLI_OPTIONS_MAX = 96, CLI_EXAMPLES_MAX = 8, CLI_FILES_MAX = 64, CLI_GIVEN_MAX = 256 };
#define CLI_NO_LIMIT SIZE_MAX /* of positional arguments */

/* ---- the command table (commands.c) ---- */

typedef struct cli_arguments cli_arguments;

/* Options under one title, which the next section may share: rows of our own, and rows of the library's table by name
 * ("*": those no section names, of the command, nor it itself after the star). */
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
/* The default as text, "" if there is none: of the option itself, or what the presets say. */
void cli_option_default(char *out, size_t bytes, const broad_option *option);

int cli_fit(const cli_arguments *arguments);
int cli_grow(const cli_arguments *arguments);
int cli_learn(const cli_arguments *arguments);
int cli_cv(const cli_arguments *arguments);
int cli_tune(const cli_arguments *arguments);
int cli_data(const cli_arguments *arguments);
int cli_predict(const cli_arguments *arguments);
int cli_eval(const cli_arguments *arguments);
int cli_report(const cli_arguments *arguments);
int cli_report_training(const cli_arguments *arguments); /* with --training */
int cli_info(const cli_arguments *arguments);
int cli_verify(const cli_arguments *arguments);
int cli_demo(const cli_arguments *arguments);
int cli_render(const cli_arguments *arguments);
int cli_doctor(const cli_arguments *arguments);
int cli_version(const cli_arguments *arguments);
int cli_help(const cli_arguments *arguments);

/* ---- arguments (arguments.c) ---- */

struct cli_arguments {
    const cli_command *command;
    size_t positional_count, given_count;
    const char **positional; /* owned; the words are not */
    struct cli_given {
        const broad_option *option;
        const char *value;  /* "" for a switch */
    } given[CLI_GIVEN_MAX]; /* in order; of an option given twice the last counts, unless it makes a list */
};

/* Whatever comes out, cli_arguments_clear() is to follow. */
int cli_arguments_parse(cli_arguments *out, const cli_command *command, int count, char **words);
void cli_arguments_clear(cli_arguments *arguments);
const char *cli_given(const cli_arguments *arguments, const char *name); /* NULL: not given */
const char *cli_value(const cli_arguments *arguments, const char *name); /* given, else the table's default */
int cli_choice(const cli_arguments *arguments,
               const char *name); /* its number in the choices; the default's if not given */
/* All values of an option that makes a list; out has room for CLI_GIVEN_MAX. */
size_t cli_given_all(const char **out, const cli_arguments *arguments, const char *name);
/* The candidate nearest to a misspelt word, NULL if none is near. */
const char *cli_nearest(const char *word, const char *const *candidates, size_t count);

/* Training options: preset first, then kind, then the others, whatever their order on the command line. */
int cli_training_options(broad_options *out, const cli_arguments *arguments);
/* Those of them that were given, besides preset and kind, on top of what is there. */
int cli_training_details(broad_options *options, const cli_arguments *arguments);
/* The same for an increment: --enhance may be Q alone, which is Qx1. */
int cli_increment_options(broad_options *out, const cli_arguments *arguments);
void cli_read_options(broad_read_options *out, const cli_arguments *arguments);
int cli_threads(size_t *out, const cli_arguments *arguments);
int cli_memory(size_t *out, const cli_arguments *arguments); /* 0: no limit */
int cli_seed(uint64_t *out, const cli_arguments *arguments);
int cli_count(size_t *out, const cli_arguments *arguments, const char *name); /* 0: not given, no default */
int cli_holdout(double *out, const cli_arguments *arguments);                 /* 0: not given */
int cli_level(double *out, const cli_arguments *arguments);                   /* --interval; 0: not given */

/* ---- messages (message.c) ---- */

int cli_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *cli_message(void); /* of the last failure, ours or the library's */
void cli_message_clear(void);  /* for a command that goes on after a failure */
void cli_note(const cli_arguments *arguments, const char *format, ...) __attribute__((format(printf, 2, 3)));
double cli_seconds(void); /* of a clock that never goes back */

/* ---- rows for a model (rows.c) ---- */

/* Files of rows in order, each with its file of labels or NULL. */
typedef struct cli_files {
    size_t count;
    const char *paths[CLI_GIVEN_MAX], *labels[CLI_GIVEN_MAX];
} cli_files;

/* The arguments after MODEL, with --labels for each or none. */
int cli_files_after_model(cli_files *out, const cli_arguments *arguments);
/* The values of an option that makes a list, with those of another for their labels. */
int cli_files_given(cli_files *out, const cli_arguments *arguments, const char *option, const char *labels);
int cli_files_apart(const cli_files *files, const char *output); /* cli_check_apart() of each */
/* ---- help from the table (help.c, manual.c, completion.c) ---- */

/* Prints to standard output. */
void cli_print_overview(void);
void cli_print_command(const cli_command *command);
int cli_print_manual(const cli_command *command); /* NULL: of the tool itself */
int cli_write_manuals(const char *folder);
void cli_print_markdown(void);
int cli_print_completion(const char *shell);

/* ---- files that must not be mixed up (output.c) ---- */

int cli_same_file(const char *one, const char *other);
/* Fails if the output path names the same file as an input. Either may be NULL or "-". */
int cli_check_apart(const char *output, const char *input);
/* Fails now, not after the work, if nothing can be written there. */
int cli_check_writable(const char *path);

#endif
