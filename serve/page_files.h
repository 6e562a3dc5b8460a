/* The files of the page, which are in the program. */
#ifndef BROAD_SERVE_PAGE_FILES_H
#define BROAD_SERVE_PAGE_FILES_H

#include <stddef.h>

typedef struct serve_page_file {
    const char *path, *type; /* "/app.js" */
    const char *bytes;
    size_t count;
} serve_page_file;

/* Made by the build from serve/page. */
extern const serve_page_file serve_page_files[];
extern const size_t serve_page_file_count;

const serve_page_file *serve_page_file_find(const char *path); /* NULL: there is none */

#endif
