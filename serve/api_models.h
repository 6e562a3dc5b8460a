/* Learning and versions over HTTP. */
#ifndef BROAD_SERVE_API_MODELS_H
#define BROAD_SERVE_API_MODELS_H

#include "serve/routes.h"

int serve_api_learn(serve_answer *out, const serve_request *request);
int serve_api_train(serve_answer *out, const serve_request *request);
int serve_api_versions(serve_answer *out, const serve_request *request);
int serve_api_version_model(serve_answer *out, const serve_request *request);
int serve_api_changes(serve_answer *out, const serve_request *request);
int serve_api_use(serve_answer *out, const serve_request *request);
int serve_api_verify(serve_answer *out, const serve_request *request);
int serve_api_doubts(serve_answer *out, const serve_request *request);
int serve_api_find_doubts(serve_answer *out, const serve_request *request);

#endif
