#include "serve/tiles.h"

#include <stdio.h>
#include <string.h>

#include "message.h"

/* What may stand in an address; nothing that would end a value in a header or an attribute. */
static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?&=%@{}[]+";

static int is_address(const char *text)
{
    size_t scheme = strncmp(text, "https://", 8) == 0 ? 8 : strncmp(text, "http://", 7) == 0 ? 7 : 0;
    size_t host = scheme ? strcspn(text + scheme, "/{}?@%") : 0;
    return host && text[scheme + host] == '/' && strlen(text) < SERVE_TILES_BYTES &&
           strspn(text, LETTERS) == strlen(text) && strstr(text, "{z}") && strstr(text, "{x}") && strstr(text, "{y}");
}

int serve_tiles_open(serve_tiles *out, const char *address)
{
    memset(out, 0, sizeof *out);
    if (!address) return BROAD_OK;
    if (!is_address(address))
        return cli_fail(BROAD_USAGE, "--tiles: give the address of map tiles with {z}, {x} and {y} in it, such as "
                                     "https://tiles.example.org/{z}/{x}/{y}.png");
    const char *path = strchr(strstr(address, "//") + 2, '/');
    snprintf(out->address, sizeof out->address, "%s", address);
    snprintf(out->origin, sizeof out->origin, "%.*s", (int)(path - address), address);
    return BROAD_OK;
}
