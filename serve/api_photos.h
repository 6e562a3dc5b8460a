/* Photos over HTTP. */
#ifndef BROAD_SERVE_API_PHOTOS_H
#define BROAD_SERVE_API_PHOTOS_H

#include "serve/routes.h"

int serve_api_photos(serve_answer *out, const serve_request *request);
int serve_api_upload(serve_answer *out, const serve_request *request);
int serve_api_photo(serve_answer *out, const serve_request *request);
int serve_api_thumbnail(serve_answer *out, const serve_request *request);
int serve_api_image(serve_answer *out, const serve_request *request);
int serve_api_heatmap(serve_answer *out, const serve_request *request);
int serve_api_doubt_image(serve_answer *out, const serve_request *request);
int serve_api_file(serve_answer *out, const serve_request *request);
int serve_api_unreadable(serve_answer *out, const serve_request *request);
int serve_api_folders(serve_answer *out, const serve_request *request);
int serve_api_places(serve_answer *out, const serve_request *request);
int serve_api_unlike(serve_answer *out, const serve_request *request);
int serve_api_judge(serve_answer *out, const serve_request *request);

#endif
