#include "serve/page_files.h"

#include <string.h>

const serve_page_file *serve_page_file_find(const char *path)
{
    for (size_t i = 0; i < serve_page_file_count; i++)
        if (strcmp(serve_page_files[i].path, path) == 0) return &serve_page_files[i];
    return NULL;
}
