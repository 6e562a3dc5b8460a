#include "serve/guard.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

/* ---- tokens ---- */

static int draw_token(char out[SERVE_TOKEN_BYTES])
{
    unsigned char bytes[(SERVE_TOKEN_BYTES - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return cli_fail(BROAD_FAILED, "the system gives no random numbers: %s", strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return BROAD_OK;
}

int serve_same_text(const char *one, const char *other)
{
    size_t count = strlen(other);
    unsigned lengths = strlen(one) != count, different = lengths;
    for (size_t i = 0; i < count; i++) different |= (unsigned)(one[lengths ? 0 : i] ^ other[i]) & 255U;
    return !different;
}

static int fail_token(const char *path, const char *why)
{
    return cli_fail(BROAD_USAGE, "--token-file %s: %s", path, why);
}

int serve_guard_read_token(char out[SERVE_TOKEN_BYTES], const char *path)
{
    char text[SERVE_TOKEN_BYTES + 2] = "";
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return fail_token(path, strerror(errno));
    ssize_t count = read(file, text, sizeof text - 1);
    int known = !fstat(file, &info);
    close(file);
    if (count < 0 || !known) return fail_token(path, "cannot be read");
    if (info.st_mode & 077) return fail_token(path, "others can read it; do 'chmod 600' on it first");
    while (count && isspace((unsigned char)text[count - 1])) text[--count] = 0;
    if (count < SERVE_TOKEN_LEAST || count >= SERVE_TOKEN_BYTES)
        return fail_token(path, "must have one line of 16 to 64 characters, as 'openssl rand -hex 32' prints it");
    for (ssize_t i = 0; i < count; i++)
        if (!isalnum((unsigned char)text[i]) && !strchr("-_.~", text[i]))
            return fail_token(path, "may have letters, digits and - _ . ~ alone");
    memcpy(out, text, (size_t)count + 1);
    return BROAD_OK;
}

/* ---- names ---- */

int serve_guard_is_loopback(const char *address)
{
    struct in_addr four;
    if (inet_pton(AF_INET, address, &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
    return strcmp(address, "::1") == 0 || strcmp(address, "localhost") == 0;
}

/* With the port and, for a reverse proxy, without. */
static void add_host(serve_guard *guard, const char *name, unsigned port, int bare)
{
    const char *left = strchr(name, ':') && name[0] != '[' ? "[" : "", *right = *left ? "]" : "";
    for (int i = 0; i < 1 + bare && guard->host_count < SERVE_HOSTS_MOST; i++) {
        char *host = guard->hosts[guard->host_count++];
        if (i) snprintf(host, sizeof guard->hosts[0], "%s%.250s%s", left, name, right);
        else snprintf(host, sizeof guard->hosts[0], "%s%.250s%s:%u", left, name, right, port);
    }
}

int serve_guard_open(serve_guard *out, const char *token, unsigned port, const char *const *names, size_t count)
{
    memset(out, 0, sizeof *out);
    int status = draw_token(out->token);
    if (!status) status = draw_token(out->cookie);
    if (!status) status = draw_token(out->page);
    if (status) return status;
    if (token) snprintf(out->token, sizeof out->token, "%s", token);
    snprintf(out->cookie_name, sizeof out->cookie_name, "broad-%u", port);
    add_host(out, "127.0.0.1", port, 0);
    add_host(out, "localhost", port, 0);
    add_host(out, "::1", port, 0);
    for (size_t i = 0; i < count; i++) add_host(out, names[i], port, 1);
    return BROAD_OK;
}

static int is_own_host(const serve_guard *guard, const char *host)
{
    for (size_t i = 0; host && i < guard->host_count; i++)
        if (strcasecmp(guard->hosts[i], host) == 0) return 1;
    return 0;
}

/* "http://HOST" or, behind a proxy, "https://HOST". */
static int is_own_origin(const serve_guard *guard, const char *origin)
{
    if (strncmp(origin, "http://", 7) == 0) return is_own_host(guard, origin + 7);
    return strncmp(origin, "https://", 8) == 0 && is_own_host(guard, origin + 8);
}

/* ---- the check ---- */

/* The value of the guard's own cookie in "a=b; c=d". */
static int has_cookie(const serve_guard *guard, const char *cookies)
{
    size_t length = strlen(guard->cookie_name);
    for (const char *at = cookies; at && *at;) {
        char value[SERVE_TOKEN_BYTES];
        at += strspn(at, " ;");
        size_t whole = strcspn(at, ";");
        if (whole > length && strncmp(at, guard->cookie_name, length) == 0 && at[length] == '=') {
            snprintf(value, sizeof value, "%.*s", (int)(whole - length - 1), at + length + 1);
            if (serve_same_text(value, guard->cookie)) return 1;
        }
        at += whole;
    }
    return 0;
}

serve_pass serve_guard_check(const serve_guard *guard, const serve_visitor *visitor)
{
    static const char bearer[] = "Bearer ";
    const char *authorization = visitor->authorization, *site = visitor->fetch_site;
    if (!is_own_host(guard, visitor->host)) return SERVE_PASS_REFUSED;
    if (visitor->origin && !is_own_origin(guard, visitor->origin)) return SERVE_PASS_REFUSED;
    if (authorization) {
        if (strncasecmp(authorization, bearer, sizeof bearer - 1)) return SERVE_PASS_STRANGER;
        return serve_same_text(authorization + sizeof bearer - 1, guard->token) ? SERVE_PASS_YES : SERVE_PASS_STRANGER;
    }
    if (visitor->query_token && !visitor->changes)
        return serve_same_text(visitor->query_token, guard->token) ? SERVE_PASS_FIRST : SERVE_PASS_STRANGER;
    if (!visitor->cookie || !has_cookie(guard, visitor->cookie)) return SERVE_PASS_STRANGER;
    if (site && strcmp(site, "same-origin") && strcmp(site, "none")) return SERVE_PASS_REFUSED;
    if (!visitor->changes) return SERVE_PASS_YES;
    return visitor->page_token && serve_same_text(visitor->page_token, guard->page) ? SERVE_PASS_YES
                                                                                    : SERVE_PASS_REFUSED;
}
