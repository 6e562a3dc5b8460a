#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "help/help.h"
#include "io/json.h"
#include "io/profile_table.h"
#include "io/progress.h"

static int wants_json(int count, char **words)
{
    for (int i = 1; i < count && strcmp(words[i], "--"); i++)
        if (strcmp(words[i], "--json") == 0) return 1;
    return 0;
}

static void print_error_json(const char *command, int status)
{
    json_t *object = cli_json_object(command);
    json_t *error = json_object();
    cli_json_put(error, "status", cli_json_text(broad_status_name(status)));
    cli_json_put(error, "code", json_integer(-status));
    cli_json_put(error, "message", cli_json_text(cli_error()));
    cli_json_put(object, "error", error);
    cli_json_print(object);
}

/* Says what an interrupt has left, unless the command did. Returns the exit code. */
static int end_interrupted(int status)
{
    if (status < 0 && strncmp(cli_error(), "interrupted", 11)) status = cli_fail(status, "interrupted; %s", cli_kept());
    if (status < 0) cli_say("%s", cli_error());
    return 128 + cli_interrupted();
}

static int dispatch(int count, char **words, const char **out_name)
{
    const char *word = words[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) word = "help";
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) word = "version";
    const cli_command *command = NULL;
    cli_arguments arguments;
    int status = cli_command_named(&command, word);
    if (status) return status;
    *out_name = command->name;
    status = cli_arguments_parse(&arguments, command, count - 2, words + 2);
    if (!status && cli_given(&arguments, "help") && command->run != cli_help) {
        cli_print_command(command);
    } else if (!status) {
        cli_profile profile;
        status = cli_profile_begin(&profile, &arguments);
        if (!status) status = command->run(&arguments);
        status = cli_profile_end(&profile, status);
    }
    cli_arguments_clear(&arguments);
    return status;
}

/* Output that was buffered and could not be written is known only now; the reason may have been lost on the way. */
static int finish_output(int status)
{
    errno = 0;
    int failed = fflush(stdout) || ferror(stdout);
    if (!failed || status < 0) return status;
    cli_say("cannot write to standard output%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
    return BROAD_IO;
}

int main(int count, char **words)
{
    const char *name = "";
    if (count < 2) {
        cli_print_overview();
        return finish_output(BROAD_OK) ? -BROAD_IO : -BROAD_USAGE;
    }
    cli_signals_begin();
    int status = dispatch(count, words, &name), failed = status;
    if (status < 0) fflush(stdout);
    if (status == BROAD_INTERRUPTED && cli_interrupted()) status = end_interrupted(status);
    else if (status < 0) cli_say("%s", cli_error());
    if (failed < 0 && wants_json(count, words)) print_error_json(name, failed);
    status = finish_output(status);
    return status < 0 ? -status : status;
}
