/* Exports over HTTP. */
#ifndef BROAD_SERVE_API_EXPORTS_H
#define BROAD_SERVE_API_EXPORTS_H

#include "serve/routes.h"

int serve_api_export(serve_answer *out, const serve_request *request);

#endif
