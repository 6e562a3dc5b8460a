/* Manual pages in man(7) macros, from the table of commands. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "help/manual.h"
#include "io/output.h"

/* Backslashes and hyphens are escaped, no line starts like a request, and a newline begins a paragraph. */
static void put_text(FILE *to, const char *text)
{
    if (*text == '.' || *text == '\'') fputs("\\&", to);
    for (; *text; text++) {
        if (*text == '\\') fputs("\\e", to);
        else if (*text == '-') fputs("\\-", to);
        else if (*text == '\n') fputs("\n.PP\n", to);
        else fputc(*text, to);
    }
}

static void put_title(FILE *to, const char *name)
{
    fputs(".TH ", to);
    for (const char *c = name; *c; c++) {
        if (*c == '-') fputs("\\-", to);
        else fputc(toupper((unsigned char)*c), to);
    }
    fprintf(to, " 1 \"\" \"broad %s\" \"broad manual\"\n.SH NAME\n", broad_version());
    put_text(to, name);
    fputs(" \\- ", to);
}

static void put_option(FILE *to, const broad_option *option)
{
    char standard[512];
    cli_option_default(standard, sizeof standard, option);
    fputs(".TP\n", to);
    if (option->letter) fprintf(to, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", to);
    put_text(to, option->name);
    fputs("\\fR", to);
    if (option->argument) {
        fputs(" \\fI", to);
        put_text(to, option->argument);
        fputs("\\fR", to);
    }
    fputc('\n', to);
    put_text(to, option->help);
    fputs(".\n", to);
    if (option->choices) {
        fputs("One of ", to);
        for (const char *c = option->choices; *c; c++) {
            if (*c == '|') fputs(", ", to);
            else if (*c == '-') fputs("\\-", to);
            else fputc(*c, to);
        }
        fputs(".\n", to);
    }
    if (standard[0]) {
        fputs("Default: ", to);
        put_text(to, standard);
        fputs(".\n", to);
    }
}

static void put_exit_codes(FILE *to)
{
    fputs(".SH EXIT STATUS\n", to);
    for (const char *line = cli_exit_codes; *line;) {
        size_t code = strcspn(line, "\t"), length = strcspn(line, "\n");
        fprintf(to, ".TP\n%.*s\n%.*s\n", (int)code, line, (int)(length - code - 1), line + code + 1);
        line += length + 1;
    }
}

static void put_examples(FILE *to, const cli_command *command)
{
    fputs(".SH EXAMPLES\n", to);
    for (size_t i = 0; i < CLI_EXAMPLES_MAX && command->examples[i].line; i++) {
        const cli_example *example = &command->examples[i];
        fputs(".TP\n\\fB", to);
        put_text(to, example->line);
        fputs("\\fR\n", to);
        put_text(to, example->comment ? example->comment : command->purpose);
        fputc('\n', to);
    }
}

static void put_command(FILE *to, const cli_command *command)
{
    char name[64];
    snprintf(name, sizeof name, "broad-%s", command->name);
    put_title(to, name);
    put_text(to, command->purpose);
    fprintf(to, "\n.SH SYNOPSIS\n\\fBbroad %s\\fR \\fI%s\\fR [options]\n.SH DESCRIPTION\n", command->name,
            command->positional);
    put_text(to, command->description);
    fputs("\n.SH OPTIONS\n", to);
    for (const cli_section *section = command->sections; section->title; section++) {
        const broad_option *options[CLI_OPTIONS_MAX];
        size_t count = cli_section_options(options, command, section);
        if (cli_section_starts(command, section)) fprintf(to, ".SS %s\n", section->title);
        for (size_t i = 0; i < count; i++) put_option(to, options[i]);
    }
    put_examples(to, command);
    put_exit_codes(to);
    fputs(".SH SEE ALSO\n.BR broad (1)\n", to);
}

static void put_tool(FILE *to)
{
    put_title(to, "broad");
    put_text(to, cli_tagline);
    fputs("\n.SH SYNOPSIS\n\\fBbroad\\fR \\fICOMMAND\\fR [arguments] [options]\n.SH DESCRIPTION\n"
          "Each command has a manual page of its own, such as\n.BR broad\\-fit (1).\n.SH COMMANDS\n",
          to);
    for (size_t i = 0; i < cli_command_count(); i++) {
        const cli_command *command = cli_command_at(i);
        fprintf(to, ".TP\n\\fB%s\\fR \\fI%s\\fR\n", command->name, command->positional);
        put_text(to, command->purpose);
        fputc('\n', to);
    }
    fputs(".SH ENVIRONMENT\n.TP\n\\fBBROAD_KERNELS\\fR\nKernels to compute with: avx512, avx2 or plain. Default: the "
          "best ones that the processor can run.\n",
          to);
    put_exit_codes(to);
}

static int make_page(char **out, size_t *out_bytes, const cli_command *command)
{
    FILE *memory = open_memstream(out, out_bytes);
    if (!memory) return cli_fail(BROAD_NO_MEMORY, "out of memory while writing a manual page");
    if (command) put_command(memory, command);
    else put_tool(memory);
    if (fclose(memory) == 0) return BROAD_OK;
    return cli_fail(BROAD_NO_MEMORY, "out of memory while writing a manual page");
}

int cli_print_manual(const cli_command *command)
{
    char *page = NULL;
    size_t bytes = 0;
    int status = make_page(&page, &bytes, command);
    if (!status) fwrite(page, 1, bytes, stdout);
    free(page);
    return status;
}

static int write_page(const char *folder, const cli_command *command)
{
    char path[4096], *page = NULL;
    size_t bytes = 0;
    cli_output output;
    snprintf(path, sizeof path, "%s/broad%s%s.1", folder, command ? "-" : "", command ? command->name : "");
    int status = make_page(&page, &bytes, command);
    if (!status) {
        cli_output_open(&output, path);
        cli_output_bytes(&output, page, bytes);
        status = cli_output_close(&output);
    }
    free(page);
    return status;
}

int cli_write_manuals(const char *folder)
{
    if (mkdir(folder, 0777) && errno != EEXIST)
        return cli_fail(BROAD_CANNOT_WRITE, "%s: cannot create this folder: %s", folder, strerror(errno));
    int status = write_page(folder, NULL);
    for (size_t i = 0; !status && i < cli_command_count(); i++) status = write_page(folder, cli_command_at(i));
    return status;
}
