/*
 * A project of `broad serve` without a network, a queue or a learner, as the handlers of requests need it: a database in memory with
 * some photos in every state, classes, versions and what they changed.
 */
#ifndef BROAD_FUZZ_SERVE_PROJECT_H
#define BROAD_FUZZ_SERVE_PROJECT_H

#include <stddef.h>
#include <stdint.h>

#include "serve/routes.h"

enum { FUZZ_PARAMETERS = 16, FUZZ_PHOTOS = 12 };

/* Text of a request, cut into lines in place: a path, then what is asked for. */
typedef struct fuzz_request {
    serve_request request; /* first: what handlers get leads back here */
    size_t count;
    const char *names[FUZZ_PARAMETERS], *values[FUZZ_PARAMETERS];
} fuzz_request;

/* A copy of the input that ends with a zero, for free(), cut after its first line; *out_rest: what follows that, or NULL. NULL: no
 * memory. */
char *fuzz_request_text(char **out_rest, const uint8_t *data, size_t size);

/* The same for all inputs: begun with the first call, and put back to what it was by fuzz_project_reset(). */
serve_server *fuzz_project(void);
void fuzz_project_reset(void);
int64_t fuzz_project_count(const char *sql); /* what a query for one number gives */

/* Answers the request by its route and checks that the answer is one: JSON, or a refusal with a reason. Routes that start work
 * or ask a decoder are left out. Returns the status; 1: there is no such route. */
int fuzz_project_answer(fuzz_request *own, const char *method, const char *path);
void fuzz_must(int holds);

#endif
