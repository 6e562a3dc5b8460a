/* Completion scripts for shells, from the table of commands. */
#include <stdio.h>
#include <string.h>

#include "help/completion.h"
#include "message.h"

static void put_choices(const char *choices)
{
    for (; *choices; choices++) putchar(*choices == '|' ? ' ' : *choices);
}

/* Text inside single quotes of a shell; brackets and colons too where zsh would read them. */
static void put_quoted(const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'') fputs("'\\''", stdout);
        else if (strchr(special, *text)) printf("\\%c", *text);
        else putchar(*text);
    }
}

static void put_command_names(void)
{
    for (size_t i = 0; i < cli_command_count(); i++) printf("%s%s", i ? " " : "", cli_command_at(i)->name);
}

/* ---- bash ---- */

static void put_bash_command(const cli_command *command)
{
    const broad_option *options[CLI_OPTIONS_MAX];
    size_t count = cli_command_options(options, command);
    printf("    %s)\n        case $previous in\n", command->name);
    for (size_t i = 0; i < count; i++) {
        if (!options[i]->choices) continue;
        printf("        --%s) COMPREPLY=($(compgen -W '", options[i]->name);
        put_choices(options[i]->choices);
        printf("' -- \"$word\")); return ;;\n");
    }
    printf("        esac\n        options='");
    for (size_t i = 0; i < count; i++) {
        printf("%s--%s", i ? " " : "", options[i]->name);
        if (options[i]->letter) printf(" -%c", options[i]->letter);
    }
    printf("'\n        ;;\n");
}

static void print_bash(void)
{
    printf("# bash completion for broad, made by 'broad help --completion bash'\n"
           "_broad() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} options=\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ] || { [ \"$COMP_CWORD\" -eq 2 ] && [ \"$previous\" = help ] && [[ $word != "
           "-* ]]; }; then\n"
           "        COMPREPLY=($(compgen -W '");
    put_command_names();
    printf("' -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; i < cli_command_count(); i++) put_bash_command(cli_command_at(i));
    printf("    esac\n"
           "    if [[ $word == -* ]]; then\n"
           "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
           "    else\n"
           "        COMPREPLY=($(compgen -f -- \"$word\"))\n"
           "    fi\n"
           "}\n"
           "complete -o filenames -F _broad broad\n");
}

/* ---- zsh ---- */

static void put_zsh_option(const broad_option *option)
{
    printf(" \\\n            ");
    if (option->letter) printf("'(-%c --%s)'{-%c,--%s}'", option->letter, option->name, option->letter, option->name);
    else printf("'--%s", option->name);
    putchar('[');
    put_quoted(option->help, "[]\\");
    putchar(']');
    if (option->argument) {
        putchar(':');
        put_quoted(option->argument, ":\\");
        putchar(':');
    }
    if (option->choices) {
        putchar('(');
        put_choices(option->choices);
        putchar(')');
    } else if (option->argument) {
        printf("_files");
    }
    putchar('\'');
}

static void print_zsh(void)
{
    printf("#compdef broad\n# zsh completion for broad, made by 'broad help --completion zsh'\n"
           "_broad() {\n    local -a commands=(\n");
    for (size_t i = 0; i < cli_command_count(); i++) {
        printf("        '%s:", cli_command_at(i)->name);
        put_quoted(cli_command_at(i)->purpose, ":\\");
        printf("'\n");
    }
    printf("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n"
           "    local command=${words[2]}\n    shift words\n    (( CURRENT-- ))\n    case $command in\n");
    for (size_t i = 0; i < cli_command_count(); i++) {
        const broad_option *options[CLI_OPTIONS_MAX];
        const cli_command *command = cli_command_at(i);
        size_t count = cli_command_options(options, command);
        printf("    %s)\n        _arguments", command->name);
        for (size_t j = 0; j < count; j++) put_zsh_option(options[j]);
        if (command->run == cli_help) printf(" \\\n            '*:command:{_describe command commands}'\n        ;;\n");
        else printf(" \\\n            '*:file:_files'\n        ;;\n");
    }
    printf("    esac\n}\n_broad \"$@\"\n");
}

/* ---- fish ---- */

static void print_fish(void)
{
    printf("# fish completion for broad, made by 'broad help --completion fish'\n");
    for (size_t i = 0; i < cli_command_count(); i++) {
        const broad_option *options[CLI_OPTIONS_MAX];
        const cli_command *command = cli_command_at(i);
        size_t count = cli_command_options(options, command);
        printf("complete -c broad -f -n __fish_use_subcommand -a %s -d '", command->name);
        put_quoted(command->purpose, "");
        printf("'\n");
        for (size_t j = 0; j < count; j++) {
            printf("complete -c broad -n '__fish_seen_subcommand_from %s' -l %s", command->name, options[j]->name);
            if (options[j]->letter) printf(" -s %c", options[j]->letter);
            if (options[j]->argument) printf(" -r");
            if (options[j]->choices) {
                printf(" -f -a '");
                put_choices(options[j]->choices);
                putchar('\'');
            }
            printf(" -d '");
            put_quoted(options[j]->help, "");
            printf("'\n");
        }
    }
}

int cli_print_completion(const char *shell)
{
    if (strcmp(shell, "bash") == 0) print_bash();
    else if (strcmp(shell, "zsh") == 0) print_zsh();
    else if (strcmp(shell, "fish") == 0) print_fish();
    else return cli_fail(BROAD_USAGE, "there is no completion for '%s'", shell);
    return BROAD_OK;
}
