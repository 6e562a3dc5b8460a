/* The project as a whole over HTTP. */
#ifndef BROAD_SERVE_API_PROJECT_H
#define BROAD_SERVE_API_PROJECT_H

#include "serve/routes.h"

int serve_api_session(serve_answer *out, const serve_request *request);
int serve_api_status(serve_answer *out, const serve_request *request);
int serve_api_events(serve_answer *out, const serve_request *request);
int serve_api_openapi(serve_answer *out, const serve_request *request);
int serve_api_settings(serve_answer *out, const serve_request *request);
int serve_api_classes(serve_answer *out, const serve_request *request);
int serve_api_demo(serve_answer *out, const serve_request *request);
int serve_api_watched(serve_answer *out, const serve_request *request);
int serve_api_watch(serve_answer *out, const serve_request *request);
int serve_api_unwatch(serve_answer *out, const serve_request *request);

#endif
