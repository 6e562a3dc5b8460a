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
