/*
 * What every entry point checks of its arguments, in one wording, and how structs of another size are taken and given.
 *
 * `own` is the size that this library knows, and `type` the name of the struct for messages.
 */
#ifndef BROAD_API_API_CHECK_H
#define BROAD_API_API_CHECK_H

#include <stddef.h>

#include "base/profile.h"
#include "base/watch.h"
#include "broad/broad.h"

int broad__missing_argument(const char *function); /* BROAD_USAGE: one of its arguments is NULL */

/* Whether the struct's size can be one that its _init() function set. */
int broad__struct_known(const void *given, size_t own);
/* BROAD_USAGE where the struct's size cannot be one that its _init() function set. */
int broad__struct_check(const void *given, size_t own, const char *type);

/* Copies as much of a result as the caller has room for; what the library does not know becomes zero. Sizes are
 * checked. */
void broad__result_give(void *out, const void *full, size_t own);

/* Copies the fields that the caller has over the defaults in `full`. Fields that only a newer program knows must be
 * zero. NULL: the defaults stay. */
int broad__options_take(void *full, size_t own, const void *given, const char *type);
/* The same for options of training, over the defaults of broad_options_init(). */
int broad__training_options_take(broad_options *full, const broad_options *given);
/* Gives options back, as much of them as fits into `size` bytes. */
void broad__options_give(void *out, size_t size, const void *full, size_t own);

/* A call that trains by `run`: watched, and counted in its profile, from begin to end. */
typedef struct broad__training {
    broad__profile_scope scope;
    broad__watch watch;
    broad__watch *before;
    const broad_comm *comm_before;
} broad__training;

void broad__training_begin(broad__training *training, const char *stage, const broad_options *run);
int broad__training_end(const broad__training *training, int status); /* returns the status */

/* A call with broad_run_options, watched from begin to end. */
typedef struct broad__call {
    broad_run_options run;
    broad__watch watch;
    broad__watch *before;
    const broad_comm *comm_before;
} broad__call;

int broad__call_begin(broad__call *call, const char *stage, const broad_run_options *run); /* if it fails, no end */
int broad__call_end(const broad__call *call, int status);                                  /* returns the status */

#endif
