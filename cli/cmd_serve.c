/* broad serve: the page where photos are judged and corrected. */
#include "values.h"

#ifdef BROAD_WITH_SERVE

#include "serve/server.h"

static int take_options(serve_options *out, const char **hosts, const cli_arguments *arguments)
{
    size_t port = 0;
    *out = (serve_options){.project = arguments->positional_count ? arguments->positional[0] : "broad-project",
                           .listen = cli_value(arguments, "listen"),
                           .token_file = cli_given(arguments, "token-file"),
                           .hosts = hosts,
                           .host_count = cli_given_all(hosts, arguments, "host"),
                           .browser = !cli_given(arguments, "no-browser"),
                           .copy = !cli_given(arguments, "no-copy"),
                           .tiles = cli_given(arguments, "tiles"),
                           .json = cli_given(arguments, "json") != NULL};
    int status = cli_threads(&out->threads, arguments);
    if (!status) status = cli_count(&port, arguments, "port");
    if (!status && (port < 1 || port > 65535))
        status = cli_fail(BROAD_USAGE, "--port: %zu is out of range; give 1 to 65535", port);
    out->port = (unsigned)port;
    return status;
}

int cli_serve(const cli_arguments *arguments)
{
    const char *hosts[CLI_GIVEN_MAX];
    serve_options options;
    int status = take_options(&options, hosts, arguments);
    return status ? status : serve_run(&options);
}

#elif defined(BROAD_SERVE_PROGRAM)

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Becomes the program in this folder, given from that of this one; returns where it is not there. */
static void become(const char *own, const char *folder, char **words)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s%s", own, folder, BROAD_SERVE_PROGRAM);
    execv(path, words);
}

/* The folder of this program; "" where that is unknown. out: PATH_MAX characters. */
static void own_folder(char *out)
{
    ssize_t length = readlink("/proc/self/exe", out, PATH_MAX - 1);
    out[length > 0 ? length : 0] = 0;
    char *last = strrchr(out, '/');
    if (last) *last = 0;
}

/* Beside this program, as both are built, or where it is installed; with the same words. */
int cli_serve(const cli_arguments *arguments)
{
    char own[PATH_MAX], name[] = "broad", command[] = "serve";
    char **words = calloc(arguments->word_count + 3, sizeof *words);
    if (!words) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    words[0] = name;
    words[1] = command;
    for (size_t i = 0; i < arguments->word_count; i++) words[2 + i] = arguments->words[i];
    own_folder(own);
    become(own, "", words);
    become(own, "../" BROAD_SERVE_FOLDER "/", words);
    int status =
        cli_fail(BROAD_FAILED, "the server, " BROAD_SERVE_PROGRAM ", cannot be started: %s; install broad again",
                 strerror(errno));
    free(words);
    return status;
}

#else

int cli_serve(const cli_arguments *arguments)
{
    (void)arguments;
    return cli_fail(
        BROAD_FAILED,
        "this build of broad has no server, because libmicrohttpd or SQLite were missing when it was built. "
        "Install them (Debian: apt install libmicrohttpd-dev libsqlite3-dev), then configure and build "
        "again");
}

#endif
