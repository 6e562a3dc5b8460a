/* A tar archive (ustar), written piece by piece. */
#ifndef BROAD_SERVE_TAR_H
#define BROAD_SERVE_TAR_H

#include "io/output.h"

/* One file. The name, with folders before it, is at most 100 bytes. */
void serve_tar_add(cli_output *output, const char *name, const void *bytes, size_t count, long long changed);
void serve_tar_end(cli_output *output);
/* A name from anywhere as part of a path: letters, digits, dots, dashes and bytes of UTF-8; never "", "." or "..". */
void serve_tar_name(char *out, size_t bytes, const char *text);

#endif
