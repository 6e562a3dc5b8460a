/* Reviews over HTTP. */
#ifndef BROAD_SERVE_API_REVIEWS_H
#define BROAD_SERVE_API_REVIEWS_H

#include "serve/routes.h"

int serve_api_review(serve_answer *out, const serve_request *request);
int serve_api_doubt_review(serve_answer *out, const serve_request *request);
int serve_api_undo(serve_answer *out, const serve_request *request);
int serve_api_actions(serve_answer *out, const serve_request *request);

#endif
