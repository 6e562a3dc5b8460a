/* broad help: the tables in every form. */
#include <stdio.h>

#include "help/completion.h"
#include "help/help.h"
#include "help/manual.h"
#include "io/json.h"

static json_t *option_json(const broad_option *option, const char *section)
{
    char standard[512], letter[2] = {option->letter, 0};
    cli_option_default(standard, sizeof standard, option);
    json_t *object = json_object();
    cli_json_put(object, "name", cli_json_text(option->name));
    cli_json_put(object, "letter", option->letter ? cli_json_text(letter) : json_null());
    cli_json_put(object, "argument", option->argument ? cli_json_text(option->argument) : json_null());
    cli_json_put(object, "choices", option->choices ? cli_json_text(option->choices) : json_null());
    cli_json_put(object, "default", standard[0] ? cli_json_text(standard) : json_null());
    cli_json_put(object, "section", cli_json_text(section));
    cli_json_put(object, "help", cli_json_text(option->help));
    return object;
}

static json_t *command_json(const cli_command *command)
{
    json_t *object = json_object(), *list = json_array();
    for (const cli_section *section = command->sections; section->title; section++) {
        const broad_option *options[CLI_OPTIONS_MAX];
        size_t count = cli_section_options(options, command, section);
        for (size_t i = 0; i < count; i++) cli_json_append(list, option_json(options[i], section->title));
    }
    cli_json_put(object, "name", cli_json_text(command->name));
    cli_json_put(object, "purpose", cli_json_text(command->purpose));
    cli_json_put(object, "arguments", cli_json_text(command->positional));
    cli_json_put(object, "description", cli_json_text(command->description));
    cli_json_put(object, "options", list);
    return object;
}

static int print_json(const cli_arguments *arguments, const cli_command *command)
{
    json_t *object = cli_json_object("help"), *list = json_array();
    for (size_t i = 0; i < cli_command_count(); i++)
        if (!command || command == cli_command_at(i)) cli_json_append(list, command_json(cli_command_at(i)));
    cli_json_put(object, "version", cli_json_text(broad_version()));
    cli_json_put(object, "commands", list);
    return cli_json_give(arguments, object);
}

int cli_help(const cli_arguments *arguments)
{
    const cli_command *command = NULL;
    int status = arguments->positional_count ? cli_command_named(&command, arguments->positional[0]) : BROAD_OK;
    if (status) return status;
    if (cli_given(arguments, "write-man")) return cli_write_manuals(cli_given(arguments, "write-man"));
    if (cli_given(arguments, "completion")) return cli_print_completion(cli_given(arguments, "completion"));
    if (cli_given(arguments, "man")) return cli_print_manual(command);
    if (cli_given(arguments, "json")) return print_json(arguments, command);
    if (cli_given(arguments, "markdown")) cli_print_markdown();
    else if (cli_given(arguments, "help")) cli_print_command(cli_command_find("help"));
    else if (command) cli_print_command(command);
    else cli_print_overview();
    return BROAD_OK;
}
