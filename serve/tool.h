/* The tool itself, run as a process of its own: what it reads, and what may go wrong in it, stays apart from the server. */
#ifndef BROAD_SERVE_TOOL_H
#define BROAD_SERVE_TOOL_H

#include <jansson.h>
#include <stdatomic.h>

/* `words` are those after "broad", ending with NULL; --json --quiet are added. *out, unless out is NULL, is the object it
 * printed. A failure has the tool's own message. *stop not 0 ends it: BROAD_INTERRUPTED. */
int serve_tool_run(json_t **out, const char *const *words, atomic_int *stop);

#endif
