/* Help and the Markdown reference, from the table of commands. */
#include <stdio.h>
#include <string.h>

#include "help/help.h"

enum { TEXT_WIDTH = 80, HELP_COLUMN = 28, OVERVIEW_COLUMN = 22 };

/* Prints words from column `column` on, wrapped, each further line indented by `indent`. */
static void print_wrapped(const char *text, size_t column, size_t indent)
{
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column > indent && column + 1 + word > TEXT_WIDTH) {
            printf("\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            putchar(' ');
            column++;
        }
        printf("%.*s", (int)word, text);
        column += word;
        text += word + strspn(text + word, " ");
    }
    putchar('\n');
}

static void describe(char *out, size_t bytes, const broad_option *option)
{
    char standard[512];
    cli_option_default(standard, sizeof standard, option);
    int length = snprintf(out, bytes, "%s", option->help);
    size_t used = length > 0 && (size_t)length < bytes ? (size_t)length : 0;
    if (option->choices) {
        for (const char *word = option->choices; word && *word;) {
            size_t size = strcspn(word, "|");
            used += (size_t)snprintf(out + used, bytes - used, "%s%.*s", word == option->choices ? " (" : ", ",
                                     (int)size, word);
            word = word[size] ? word + size + 1 : NULL;
        }
        used += (size_t)snprintf(out + used, bytes - used, ")");
    }
    if (standard[0]) snprintf(out + used, bytes - used, " [%s]", standard);
}

static void print_option(const broad_option *option)
{
    char left[96], right[1024];
    if (option->letter) snprintf(left, sizeof left, "  -%c, --%s", option->letter, option->name);
    else snprintf(left, sizeof left, "      --%s", option->name);
    if (option->argument) {
        size_t used = strlen(left);
        snprintf(left + used, sizeof left - used, " %s", option->argument);
    }
    describe(right, sizeof right, option);
    printf("%s", left);
    if (strlen(left) + 2 > HELP_COLUMN) printf("\n%*s", HELP_COLUMN, "");
    else printf("%*s", (int)(HELP_COLUMN - strlen(left)), "");
    print_wrapped(right, HELP_COLUMN, HELP_COLUMN);
}

/* Paragraphs end with a newline in the table, and with an empty line here. */
static void print_paragraphs(const char *text)
{
    char paragraph[2048];
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        snprintf(paragraph, sizeof paragraph, "%.*s", (int)length, text);
        print_wrapped(paragraph, 0, 0);
        if (text[length]) putchar('\n');
    }
}

static int has_defaults(const cli_command *command)
{
    const broad_option *options[CLI_OPTIONS_MAX];
    size_t count = cli_command_options(options, command);
    char text[512] = "";
    for (size_t i = 0; i < count && !text[0]; i++) cli_option_default(text, sizeof text, options[i]);
    return text[0] != 0;
}

void cli_print_command(const cli_command *command)
{
    printf("broad %s: %s\n\nUsage: broad %s%s%s [options]\n\n", command->name, command->purpose, command->name,
           command->positional[0] ? " " : "", command->positional);
    print_paragraphs(command->description);
    if (has_defaults(command)) printf("\nDefaults are in [brackets].\n");
    for (const cli_section *section = command->sections; section->title; section++) {
        const broad_option *options[CLI_OPTIONS_MAX];
        size_t count = cli_section_options(options, command, section);
        if (cli_section_starts(command, section)) printf("\n%s\n", section->title);
        for (size_t i = 0; i < count; i++) print_option(options[i]);
    }
    printf("\nExamples\n");
    for (size_t i = 0; i < CLI_EXAMPLES_MAX && command->examples[i].line; i++) {
        if (command->examples[i].comment) printf("  # %s\n", command->examples[i].comment);
        printf("  %s\n", command->examples[i].line);
    }
}

void cli_print_overview(void)
{
    printf("broad %s\n", broad_version());
    print_wrapped(cli_tagline, 0, 0);
    printf("\nUsage: broad COMMAND [arguments] [options]\n\n");
    for (size_t i = 0; i < cli_command_count(); i++) {
        const cli_command *command = cli_command_at(i);
        char left[64];
        snprintf(left, sizeof left, "%s %s", command->name, command->positional);
        if (strlen(left) > OVERVIEW_COLUMN) printf("  %s\n  %*s %s\n", left, OVERVIEW_COLUMN, "", command->purpose);
        else printf("  %-*s %s\n", OVERVIEW_COLUMN, left, command->purpose);
    }
    printf("\nStart with 'broad demo', or 'broad fit DATA.csv --holdout 0.3'.\n"
           "'broad help COMMAND' explains a command and its options.\n\nExit codes\n");
    for (const char *line = cli_exit_codes; *line;) {
        size_t code = strcspn(line, "\t"), length = strcspn(line, "\n");
        printf("  %-9.*s %.*s\n", (int)code, line, (int)(length - code - 1), line + code + 1);
        line += length + 1;
    }
}

/* ---- Markdown ---- */

/* Text of a table cell: bars would end it. */
static void print_cell(const char *text)
{
    for (; *text; text++) {
        if (*text == '|') putchar('\\');
        putchar(*text);
    }
}

static void print_markdown_option(const broad_option *option)
{
    char text[1024];
    printf("| `");
    if (option->letter) printf("-%c, ", option->letter);
    printf("--%s", option->name);
    if (option->argument) {
        putchar(' ');
        print_cell(option->argument);
    }
    printf("` | ");
    describe(text, sizeof text, option);
    print_cell(text);
    printf(" |\n");
}

static void print_markdown_command(const cli_command *command)
{
    printf("\n## broad %s\n\n", command->name);
    printf("`broad %s%s%s [options]`: %s.\n\n", command->name, command->positional[0] ? " " : "", command->positional,
           command->purpose);
    print_paragraphs(command->description);
    for (const cli_section *section = command->sections; section->title; section++) {
        const broad_option *options[CLI_OPTIONS_MAX];
        size_t count = cli_section_options(options, command, section);
        if (cli_section_starts(command, section)) printf("\n| %s | |\n|---|---|\n", section->title);
        for (size_t i = 0; i < count; i++) print_markdown_option(options[i]);
    }
    printf("\n```\n");
    for (size_t i = 0; i < CLI_EXAMPLES_MAX && command->examples[i].line; i++) {
        if (command->examples[i].comment) printf("# %s\n", command->examples[i].comment);
        printf("%s\n", command->examples[i].line);
    }
    printf("```\n");
}

void cli_print_markdown(void)
{
    printf(
        "# Commands of broad\n\n<!-- made by 'broad help --markdown' -->\n\nDefaults are in square brackets. "
        "Results go to standard output, progress and messages to standard error. `--json` is described in "
        "[json.md](json.md).\nThe same text is installed as manual pages: `man broad`, `man broad-fit` and so on.\n");
    for (size_t i = 0; i < cli_command_count(); i++) print_markdown_command(cli_command_at(i));
    printf("\n## Exit codes\n\n| code | meaning |\n|---|---|\n");
    for (const char *line = cli_exit_codes; *line;) {
        size_t code = strcspn(line, "\t"), length = strcspn(line, "\n");
        printf("| %.*s | %.*s |\n", (int)code, line, (int)(length - code - 1), line + code + 1);
        line += length + 1;
    }
}
