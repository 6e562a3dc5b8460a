/*
 * One thread per connection, at most CONNECTIONS of them, and no connection that is silent for SECONDS: a thousand slow ones
 * cost a thousand small stacks and keep no other one waiting.
 */
#include "serve/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/page_files.h"
#include "serve/routes.h"
#include "serve/rows.h"

enum { CONNECTIONS = 2000, SECONDS = 30, STACK_BYTES = 512 << 10, HEADER_BYTES = 32 << 10, JSON_BYTES_MOST = 4 << 20 };
static const double KEEP_ALIVE = 10; /* seconds between signs of life in a stream of events */

struct serve_http {
    serve_server *server;
    struct MHD_Daemon *daemon;
};

/* A request on its way. */
typedef struct exchange {
    char *body;
    size_t count, room;
    int refused; /* the guard, or a limit, has said no: the code of HTTP */
    int first;   /* a cookie is due */
} exchange;

/* ---- what a request brings ---- */

static const char *find_query(const serve_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

static const char *find_header(const serve_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

static serve_pass check(const serve_server *server, struct MHD_Connection *connection, const char *method,
                        const char *path)
{
    const serve_request probe = {.connection = connection};
    const serve_visitor visitor = {.host = find_header(&probe, "Host"),
                                   .origin = find_header(&probe, "Origin"),
                                   .authorization = find_header(&probe, "Authorization"),
                                   .cookie = find_header(&probe, "Cookie"),
                                   .page_token = find_header(&probe, "X-Broad-Token"),
                                   .fetch_site = find_header(&probe, "Sec-Fetch-Site"),
                                   .query_token = strcmp(path, "/") == 0 ? find_query(&probe, "token") : NULL,
                                   .changes = strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0};
    return serve_guard_check(&server->guard, &visitor);
}

/* ---- answers ---- */

/* The page's own files alone: nothing inline, nothing from elsewhere but map tiles where they are asked for, in no frame. */
static void add_policy(struct MHD_Response *response, const serve_server *server)
{
    char policy[SERVE_TILES_BYTES + 256];
    snprintf(policy, sizeof policy,
             "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:%s%s; connect-src "
             "'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
             server->tiles.origin[0] ? " " : "", server->tiles.origin);
    MHD_add_response_header(response, "Content-Security-Policy", policy);
}

static void add_headers(struct MHD_Response *response, const serve_answer *answer)
{
    static const char *const headers[][2] = {
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Permissions-Policy", "camera=(), microphone=(), geolocation=()"},
    };
    char text[192];
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    MHD_add_response_header(response, "Cache-Control",
                            answer->keep_for_good ? "private, max-age=31536000, immutable" : "no-store");
    if (answer->type) MHD_add_response_header(response, "Content-Type", answer->type);
    if (!answer->download[0]) return;
    snprintf(text, sizeof text, "attachment; filename=\"%s\"", answer->download);
    MHD_add_response_header(response, "Content-Disposition", text);
}

static struct MHD_Response *from_json(serve_answer *answer)
{
    size_t count = 0;
    char *text = serve_answer_text(&count, answer);
    answer->type = "application/json";
    return text ? MHD_create_response_from_buffer(count, text, MHD_RESPMEM_MUST_FREE) : NULL;
}

/* ---- events ---- */

typedef struct stream {
    serve_server *server;
    uint64_t at;
    char *text; /* what is being sent */
    size_t sent;
} stream;

static ssize_t read_stream(void *context, uint64_t position, char *out, size_t room)
{
    stream *own = context;
    (void)position;
    if (!own->text) {
        own->text = serve_events_wait(&own->server->events, &own->at, KEEP_ALIVE);
        own->sent = 0;
        if (serve_events_are_over(&own->server->events)) return MHD_CONTENT_READER_END_OF_STREAM;
        if (!own->text) own->text = strdup(": still here\n\n");
        if (!own->text) return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    size_t left = strlen(own->text) - own->sent, count = left < room ? left : room;
    memcpy(out, own->text + own->sent, count);
    own->sent += count;
    if (count == left) {
        free(own->text);
        own->text = NULL;
    }
    return (ssize_t)count;
}

static void close_stream(void *context)
{
    stream *own = context;
    own->server->streams--;
    free(own->text);
    free(own);
}

static struct MHD_Response *from_events(serve_server *server)
{
    stream *own = calloc(1, sizeof *own);
    if (!own) return NULL;
    own->server = server;
    own->at = serve_events_now(&server->events);
    own->text = strdup(": hello\n\n");
    server->streams++;
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, read_stream, own, close_stream);
}

static struct MHD_Response *from_file(serve_answer *answer)
{
    struct stat info;
    int file = answer->file;
    answer->file = 0;
    if (!fstat(file, &info)) return MHD_create_response_from_fd64((uint64_t)info.st_size, file);
    close(file);
    return NULL;
}

static enum MHD_Result send_answer(serve_server *server, struct MHD_Connection *connection, serve_answer *answer,
                                   int first)
{
    char cookie[192];
    struct MHD_Response *response;
    if (answer->json) response = from_json(answer);
    else if (answer->stream) response = from_events(server);
    else if (answer->file > 0) response = from_file(answer);
    else if (answer->constant)
        response = MHD_create_response_from_buffer(answer->count, (void *)answer->constant, MHD_RESPMEM_PERSISTENT);
    else response = MHD_create_response_from_buffer(answer->count, answer->bytes, MHD_RESPMEM_MUST_FREE);
    if (!response) return MHD_NO;
    add_policy(response, server);
    add_headers(response, answer);
    if (first) {
        snprintf(cookie, sizeof cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict", server->guard.cookie_name,
                 server->guard.cookie);
        MHD_add_response_header(response, "Set-Cookie", cookie);
        MHD_add_response_header(response, "Location", "/");
    }
    enum MHD_Result queued = MHD_queue_response(connection, answer->code ? answer->code : 200, response);
    MHD_destroy_response(response);
    return queued;
}

static unsigned code_of(int status)
{
    switch (status) {
    case BROAD_USAGE: return 400;
    case BROAD_NO_INPUT: return 404;
    case BROAD_FAILED: return 409;
    case BROAD_BAD_DATA: return 422;
    case BROAD_NO_MEMORY: return 503;
    case BROAD_CANNOT_WRITE: return 507;
    default: return 500;
    }
}

static void make_error(serve_answer *out, unsigned code, const char *status, const char *message)
{
    json_t *error = json_object();
    json_decref(out->json);
    free(out->rows.text);
    free(out->bytes);
    if (out->file > 0) close(out->file);
    *out = (serve_answer){.code = code, .json = json_object()};
    cli_json_put(error, "status", cli_json_text(status));
    cli_json_put(error, "message", cli_json_text(message));
    cli_json_put(out->json, "error", error);
}

static void make_refusal(serve_answer *out, unsigned code)
{
    static const struct {
        unsigned code;
        const char *status, *message;
    } reasons[] = {
        {401, "no_token",
         "open the address that 'broad serve' has printed, or send its token as Authorization: Bearer"},
        {403, "foreign", "the request does not come from this server's own page"},
        {404, "no_input", "there is nothing here"},
        {405, "usage", "this cannot be asked in this way: use the other one of GET and POST"},
        {413, "too_large", "the body is too large"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].code == code) make_error(out, code, reasons[i].status, reasons[i].message);
}

/* ---- a request ---- */

/* Before the body is read. */
static int admit(exchange *own, const serve_server *server, struct MHD_Connection *connection, const char *method,
                 const char *path)
{
    const serve_request probe = {.connection = connection};
    const char *length = find_header(&probe, "Content-Length"), *type = find_header(&probe, "Content-Type");
    int photo = strcmp(path, "/api/v1/photos") == 0 || strcmp(path, "/api/v1/judge") == 0;
    serve_pass pass = check(server, connection, method, path);
    (void)type;
    own->first = pass == SERVE_PASS_FIRST;
    own->room = photo ? SERVE_PHOTO_BYTES_MOST : JSON_BYTES_MOST;
    if (pass == SERVE_PASS_REFUSED) own->refused = 403;
    else if (pass == SERVE_PASS_STRANGER) own->refused = 401;
    else if (length && strtoull(length, NULL, 10) > own->room) own->refused = 413;
    return own->refused;
}

static void take_bytes(exchange *own, const char *bytes, size_t count)
{
    if (own->refused) return;
    if (own->count + count > own->room) {
        own->refused = 413;
        return;
    }
    char *grown = realloc(own->body, own->count + count + 1);
    if (!grown) {
        own->refused = 413;
        return;
    }
    memcpy(grown + own->count, bytes, count);
    own->count += count;
    grown[own->count] = 0;
    own->body = grown;
}

static void answer_route(serve_answer *out, serve_server *server, struct MHD_Connection *connection,
                         const exchange *own, const char *method, const char *path)
{
    serve_request request = {.server = server, .path = path, .body = own->body ? own->body : ""};
    request.body_bytes = own->count;
    request.query = find_query;
    request.header = find_header;
    request.connection = connection;
    int other = 0;
    const char *asked = strcmp(method, "HEAD") == 0 ? "GET" : method;
    const serve_route *route = serve_route_find(&request, &other, asked, path);
    if (!route) {
        make_refusal(out, other ? 405 : 404);
        return;
    }
    (void)cli_json_lacking(); /* of what this thread did before */
    int status = route->handler(out, &request);
    if (cli_json_lacking() && !status) status = cli_fail(BROAD_NO_MEMORY, "out of memory while answering");
    if (status) make_error(out, code_of(status), broad_status_name(status), broad_error_message());
}

static void answer_page(serve_answer *out, const exchange *own, const char *method, const char *path)
{
    const serve_page_file *file = serve_page_file_find(path);
    if (own->first) {
        out->code = 303;
        out->type = "text/plain";
        out->constant = "";
    } else if (!file) make_refusal(out, 404);
    else if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) make_refusal(out, 405);
    else {
        out->type = file->type;
        out->constant = file->bytes;
        out->count = file->count;
    }
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path, const char *method,
                              const char *version, const char *bytes, size_t *count, void **state)
{
    serve_http *http = context;
    exchange *own = *state;
    serve_answer answer = {0};
    (void)version;
    if (!own) {
        own = calloc(1, sizeof *own);
        if (!own) return MHD_NO;
        *state = own;
        admit(own, http->server, connection, method, path);
        if (!own->refused) return MHD_YES;
    }
    if (*count) {
        take_bytes(own, bytes, *count);
        *count = 0;
        return MHD_YES;
    }
    if (own->refused) make_refusal(&answer, (unsigned)own->refused);
    else if (strncmp(path, "/api/", 5) == 0) answer_route(&answer, http->server, connection, own, method, path);
    else answer_page(&answer, own, method, path);
    return send_answer(http->server, connection, &answer, own->first);
}

static void complete(void *context, struct MHD_Connection *connection, void **state,
                     enum MHD_RequestTerminationCode how)
{
    exchange *own = *state;
    (void)context;
    (void)connection;
    (void)how;
    if (!own) return;
    free(own->body);
    free(own);
    *state = NULL;
}

/* ---- listening ---- */

typedef union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
} address;

static int parse_address(address *out, const char *text, unsigned port)
{
    memset(out, 0, sizeof *out);
    if (strcmp(text, "localhost") == 0) text = "127.0.0.1";
    if (inet_pton(AF_INET, text, &out->four.sin_addr) == 1) {
        out->four.sin_family = AF_INET;
        out->four.sin_port = htons((uint16_t)port);
        return BROAD_OK;
    }
    if (inet_pton(AF_INET6, text, &out->six.sin6_addr) == 1) {
        out->six.sin6_family = AF_INET6;
        out->six.sin6_port = htons((uint16_t)port);
        return BROAD_OK;
    }
    return cli_fail(BROAD_USAGE, "--listen: '%s' is no address; give one such as 127.0.0.1 or ::1", text);
}

int serve_http_check_address(const char *text) { return parse_address(&(address){0}, text, 0); }

static int fail_listen(const serve_options *options, int number)
{
    return cli_fail(BROAD_CANNOT_WRITE, "nothing can listen at %s port %u: %s%s", options->listen, options->port,
                    number ? strerror(number) : "unknown reason",
                    number == EADDRINUSE ? ". Give another port, such as --port 8421" : "");
}

int serve_http_listen(int *out, const serve_options *options)
{
    address at;
    int yes = 1, status = parse_address(&at, options->listen, options->port);
    if (status) return status;
    int six = at.any.sa_family == AF_INET6;
    int listener = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0) return fail_listen(options, errno);
    int failed = setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) ||
                 (six && setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes)) ||
                 bind(listener, &at.any, six ? sizeof at.six : sizeof at.four) || listen(listener, SOMAXCONN);
    if (failed) {
        status = fail_listen(options, errno);
        close(listener);
        return status;
    }
    *out = listener;
    return BROAD_OK;
}

int serve_http_open(serve_http **out, serve_server *server, int listener)
{
    serve_http *http = calloc(1, sizeof *http);
    if (!http) return cli_fail(BROAD_NO_MEMORY, "out of memory");
    http->server = server;
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL | MHD_USE_ITC;
    errno = 0;
    http->daemon = MHD_start_daemon(
        flags, (uint16_t)server->options->port, NULL, NULL, handle, http, MHD_OPTION_LISTEN_SOCKET, listener,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SECONDS,
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES,
        MHD_OPTION_NOTIFY_COMPLETED, complete, NULL, MHD_OPTION_END);
    if (!http->daemon) {
        int number = errno;
        free(http);
        return fail_listen(server->options, number);
    }
    *out = http;
    return BROAD_OK;
}

void serve_http_close(serve_http *http)
{
    if (!http) return;
    MHD_stop_daemon(http->daemon);
    free(http);
}
