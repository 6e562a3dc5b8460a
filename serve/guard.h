/*
 * Who may talk to the server. A request is checked before anything else is done with it:
 *
 *   Host       one of the server's own names, or a page elsewhere could reach it by a name of its own (DNS rebinding): 403
 *   Origin     the server's own where it is given, or the page of another site is asking: 403
 *   token      as `Authorization: Bearer`, or the cookie that the first address of the page was exchanged for: 401
 *   X-Broad    with a cookie, what changes something must have the page's second token in this header: 403
 *
 * Tokens are compared in constant time.
 */
#ifndef BROAD_SERVE_GUARD_H
#define BROAD_SERVE_GUARD_H

#include <stddef.h>

enum { SERVE_TOKEN_BYTES = 65, SERVE_TOKEN_LEAST = 16, SERVE_HOSTS_MOST = 24 };

typedef struct serve_guard {
    char token[SERVE_TOKEN_BYTES];  /* of programs, and of the first address */
    char cookie[SERVE_TOKEN_BYTES]; /* of pages */
    char page[SERVE_TOKEN_BYTES];   /* of what pages change */
    char cookie_name[32];           /* with the port: cookies do not tell ports apart */
    size_t host_count;
    char hosts[SERVE_HOSTS_MOST][272]; /* "127.0.0.1:8420" */
} serve_guard;

/* What a request brings; NULL: it has none. */
typedef struct serve_visitor {
    const char *host, *origin, *authorization, *cookie, *page_token, *fetch_site, *query_token;
    int changes; /* it is a POST */
} serve_visitor;

typedef enum serve_pass {
    SERVE_PASS_YES,
    SERVE_PASS_FIRST,    /* by the token of the first address: a cookie is due */
    SERVE_PASS_STRANGER, /* 401 */
    SERVE_PASS_REFUSED   /* 403 */
} serve_pass;

/* token: NULL: a random one. `names` are those besides the loopback's own. */
int serve_guard_open(serve_guard *out, const char *token, unsigned port, const char *const *names, size_t count);
serve_pass serve_guard_check(const serve_guard *guard, const serve_visitor *visitor);
int serve_guard_read_token(char out[SERVE_TOKEN_BYTES], const char *path); /* of a file that others cannot read */
int serve_guard_is_loopback(const char *address);
int serve_same_text(const char *one, const char *other); /* in a time that depends on the lengths alone */

#endif
