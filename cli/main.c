#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "help/help.h"
#include "io/interrupt.h"
#include "io/json.h"
#include "io/profile_table.h"
#include "io/progress.h"
#include "io/ranks.h"

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

/* Commands that several ranks run together; of any other, rank 0 does all the work. */
static int is_shared(const cli_command *command)
{
    static int (*const shared[])(const cli_arguments *) = {cli_fit,  cli_grow,    cli_learn,
                                                           cli_eval, cli_predict, cli_verify};
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (command->run == shared[i]) return 1;
    return 0;
}

static int run_command(const cli_command *command, cli_arguments *arguments)
{
    cli_profile profile;
    /* It becomes another program, which MPI would not know. */
    if (command->run == cli_serve && cli_ranks_begun())
        return cli_fail(BROAD_USAGE, "a server is one process: start 'broad serve' without mpirun");
    int shared = is_shared(command), status = shared ? cli_ranks_join() : BROAD_OK;
    if (status || (!shared && cli_rank())) return status;
    status = cli_profile_begin(&profile, arguments);
    if (!status) status = command->run(arguments);
    return cli_profile_end(&profile, status);
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
        status = run_command(command, &arguments);
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
    clearerr(stdout); /* said once */
    cli_say("cannot write to standard output%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
    return BROAD_IO;
}

/* How the command ended, for speak(). */
static struct {
    int status;
    const char *name;
    int json;
} ended = {.name = ""};

/* Why the command failed, or what an interrupt has left, unless the command said so itself. */
static void speak(void)
{
    int status = ended.status;
    if (status < 0) fflush(stdout);
    if (status == BROAD_INTERRUPTED && cli_interrupted() && strncmp(cli_error(), "interrupted", 11))
        cli_fail(status, "interrupted; %s", cli_kept());
    if (status < 0) cli_say("%s", cli_error());
    if (status < 0 && ended.json) print_error_json(ended.name, status);
}

static int exit_code(int status)
{
    if (status == BROAD_INTERRUPTED && cli_interrupted()) return 128 + cli_interrupted();
    return status < 0 ? -status : status;
}

int main(int count, char **words)
{
    if (count < 2) {
        cli_print_overview();
        return finish_output(BROAD_OK) ? -BROAD_IO : -BROAD_USAGE;
    }
    cli_signals_begin();
    ended.json = wants_json(count, words);
    ended.status = cli_ranks_begin();
    if (!ended.status) ended.status = dispatch(count, words, &ended.name);
    int code = exit_code(ended.status), written = ended.status < 0 ? BROAD_OK : finish_output(BROAD_OK);
    if (cli_ranks_started() > 1 || cli_ranks_apart()) cli_signals_silence();
    code = cli_ranks_end(written < 0 ? -written : code, speak);
    return !code && finish_output(BROAD_OK) ? -BROAD_IO : code;
}
