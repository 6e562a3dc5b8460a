#include "serve/server.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "io/interrupt.h"
#include "io/json.h"
#include "serve/heap.h"
#include "serve/http.h"
#include "serve/sandbox.h"
#include "serve/versions.h"
#include "serve/watch.h"

/* ---- the model ---- */

serve_model *serve_server_model(serve_server *server)
{
    pthread_mutex_lock(&server->model_lock);
    serve_model *model = serve_model_hold(server->model);
    pthread_mutex_unlock(&server->model_lock);
    return model;
}

void serve_server_use(serve_server *server, serve_model *model)
{
    pthread_mutex_lock(&server->model_lock);
    serve_model *before = server->model;
    server->model = model;
    pthread_mutex_unlock(&server->model_lock);
    serve_model_drop(before);
}

void serve_server_note(serve_server *server, const char *trouble)
{
    char *text = trouble ? strdup(trouble) : NULL;
    pthread_mutex_lock(&server->model_lock);
    char *before = server->trouble;
    server->trouble = text;
    pthread_mutex_unlock(&server->model_lock);
    free(before);
}

json_t *serve_server_noted(serve_server *server)
{
    pthread_mutex_lock(&server->model_lock);
    json_t *text = server->trouble ? cli_json_text(server->trouble) : json_null();
    pthread_mutex_unlock(&server->model_lock);
    return text;
}

void serve_server_trouble(serve_server *server)
{
    json_t *data = json_object();
    cli_say("%s", broad_error_message());
    cli_json_put(data, "message", cli_json_text(broad_error_message()));
    serve_events_post(&server->events, "trouble", data);
}

/* ---- running ---- */

static int open_guard(serve_server *server)
{
    const serve_options *options = server->options;
    char token[SERVE_TOKEN_BYTES];
    const char *names[SERVE_HOSTS_MOST / 2];
    size_t count = 0;
    int loopback = serve_guard_is_loopback(options->listen);
    if (!loopback && !options->token_file)
        return cli_fail(BROAD_USAGE,
                        "--listen %s can be reached from other machines: give --token-file FILE too, with a token of "
                        "your own, and put a reverse proxy with TLS before it (docs/serve.md)",
                        options->listen);
    if (!loopback) names[count++] = options->listen;
    for (size_t i = 0; i < options->host_count && count < SERVE_HOSTS_MOST / 2; i++) names[count++] = options->hosts[i];
    int status = options->token_file ? serve_guard_read_token(token, options->token_file) : BROAD_OK;
    if (status) return status;
    return serve_guard_open(&server->guard, options->token_file ? token : NULL, options->port, names, count);
}

/* Many connections may be open at a time. */
static void raise_limits(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files)) return;
    files.rlim_cur = files.rlim_max < 8192 ? files.rlim_max : 8192;
    setrlimit(RLIMIT_NOFILE, &files);
}

/* A project that is there says first that another server has it. A new one is made only when the port is known to be free, so
 * that nothing is left of a start that fails. */
static int open_project(int *listener, serve_server *server)
{
    const serve_options *options = server->options;
    int known = serve_project_is_there(options->project);
    int status = known ? BROAD_OK : serve_http_listen(listener, options);
    if (!status) status = serve_project_open(&server->project, options->project, options->copy);
    return !status && known ? serve_http_listen(listener, options) : status;
}

static int open_http(serve_http **out, serve_server *server, int *listener)
{
    int taken = *listener;
    *listener = -1;
    return serve_http_open(out, server, taken);
}

static int open_all(serve_server *server, serve_http **http)
{
    const serve_options *options = server->options;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    /* One more than processors: while one reads or writes, the others decode. */
    size_t threads = options->threads ? options->threads : processors > 0 ? (size_t)processors + 1 : 2;
    int listener = -1, status = serve_http_check_address(options->listen);
    if (!status) status = serve_tiles_open(&server->tiles, options->tiles);
    if (!status) status = open_guard(server);
    if (!status) status = open_project(&listener, server);
    if (!status) status = serve_versions_start(server);
    if (!status) status = serve_queue_open(&server->queue, server, threads);
    if (!status) status = serve_learner_open(&server->learner, server);
    if (!status) status = serve_watch_start(server);
    if (!status) status = open_http(http, server, &listener);
    if (listener >= 0) close(listener);
    return status;
}

/* What was accepted is finished first: verdicts and answers are written, then all is closed. */
static void close_all(serve_server *server, serve_http *http)
{
    server->over = 1;
    serve_events_end(&server->events);
    serve_learner_end(server->learner);
    serve_queue_end(server->queue);
    serve_http_close(http);
    serve_watch_stop(server);
    serve_learner_free(server->learner);
    serve_queue_free(server->queue);
    serve_project_close(&server->project);
    serve_model_drop(server->model);
    serve_events_close(&server->events);
    free(server->trouble);
    pthread_mutex_destroy(&server->model_lock);
}

static void open_browser(const char *address)
{
    if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY")) return;
    pid_t process = fork();
    if (process) return;
    if (fork() == 0) {
        execlp("xdg-open", "xdg-open", address, (char *)NULL);
        _exit(127);
    }
    _exit(0);
}

static void announce(const serve_server *server)
{
    const serve_options *options = server->options;
    char address[512];
    int colon = strchr(options->listen, ':') != NULL;
    if (!serve_sandbox_available())
        cli_say("this system cannot limit system calls (seccomp): photos are decoded in processes of their own with "
                "limits on memory and time alone");
    snprintf(address, sizeof address, "http://%s%s%s:%u/?token=%s", colon ? "[" : "", options->listen, colon ? "]" : "",
             options->port, server->guard.token);
    if (options->json) {
        json_t *object = cli_json_object("serve");
        cli_json_put(object, "project", cli_json_text(server->project.folder));
        cli_json_put(object, "address", cli_json_text(address));
        cli_json_put(object, "token", cli_json_text(server->guard.token));
        cli_json_print(object);
        return;
    }
    cli_print("project  %s\n", server->project.folder);
    if (options->token_file)
        cli_print("page     http://%s%s%s:%u/?token=... (the token is in %s)\n", colon ? "[" : "", options->listen,
                  colon ? "]" : "", options->port, options->token_file);
    else cli_print("page     %s\n", address);
    cli_print("Press Ctrl-C to end.\n");
    fflush(stdout);
    if (options->browser) open_browser(address);
}

int serve_run(const serve_options *options)
{
    serve_server server = {.options = options, .project = {.lock = -1}};
    serve_http *http = NULL;
    pthread_mutex_init(&server.model_lock, NULL);
    serve_events_open(&server.events);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a write that fails, as on a full disk */
    raise_limits();
    serve_heap_share();
    cli_signals_catch();
    int status = open_all(&server, &http);
    if (!status) announce(&server);
    while (!status && !cli_interrupted()) nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    close_all(&server, http);
    return status;
}
