/* HTTP: connections, limits, the guard before everything, and the routes behind it. */
#ifndef BROAD_SERVE_HTTP_H
#define BROAD_SERVE_HTTP_H

#include "serve/server.h"

typedef struct serve_http serve_http;

int serve_http_check_address(const char *address); /* BROAD_USAGE: it is none */
/* A socket that listens at the address and port of the options. BROAD_CANNOT_WRITE: the port is in use. */
int serve_http_listen(int *out, const serve_options *options);
/* Answers there. Takes the socket over. */
int serve_http_open(serve_http **out, serve_server *server, int listener);
/* Lets requests that are being answered end, for a moment. Accepts NULL. */
void serve_http_close(serve_http *http);

#endif
