/* A server of map tiles, which only the person who starts the server can name: without one, pages fetch nothing from elsewhere. */
#ifndef BROAD_SERVE_TILES_H
#define BROAD_SERVE_TILES_H

enum { SERVE_TILES_BYTES = 512 };

typedef struct serve_tiles {
    char address[SERVE_TILES_BYTES]; /* with {z}, {x} and {y}; "": there is none */
    char origin[SERVE_TILES_BYTES];  /* scheme, host and port, as a content security policy names it */
} serve_tiles;

int serve_tiles_open(serve_tiles *out, const char *address); /* NULL: there is none. BROAD_USAGE: it cannot be one */

#endif
