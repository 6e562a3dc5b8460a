/* Training photos whose label is doubtful, and what people say of them: each becomes a photo of the project when it is looked at. */
#ifndef BROAD_SERVE_DOUBTS_H
#define BROAD_SERVE_DOUBTS_H

#include "io/json.h"
#include "serve/server.h"

/* The latest list, {"version", "photos"}, or null. A photo that a person has decided on has "review" and "human". */
int serve_doubts_json(json_t **out, serve_server *server);
/* The photo of the project that it is, or becomes now. BROAD_FAILED: the list is not that of the model in use. */
int serve_doubt_adopt(int64_t *out, serve_server *server, const serve_doubt *doubt);

#endif
