/* What goes out as files: tables, places, a report, a tree of folders. */
#ifndef BROAD_SERVE_EXPORT_H
#define BROAD_SERVE_EXPORT_H

#include "serve/routes.h"

typedef struct serve_export {
    const char *name, *type, *file;                               /* of the route; of the answer; to save it as */
    int (*write)(const serve_request *request, const char *path); /* NULL: it is no list of photos */
} serve_export;

int serve_export_has_onnx(void);                          /* whether this build of the tool writes ONNX */
const serve_export *serve_export_named(const char *name); /* NULL: there is none */

#endif
