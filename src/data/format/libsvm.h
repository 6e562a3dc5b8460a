/* LIBSVM text: `label index:value ...` per line, indices ascending, inputs left out are 0. */
#ifndef BROAD_DATA_FORMAT_LIBSVM_H
#define BROAD_DATA_FORMAT_LIBSVM_H

#include "data/format/source.h"
#include "data/parsed.h"
#include "data/read.h"

typedef struct broad__libsvm {
    const broad__source *source;
    size_t base; /* the first index: 1, or 0 if a 0 appears */
    int qid_required;
} broad__libsvm;

typedef struct broad__libsvm_request {
    const broad__columns *model; /* NULL: none */
    broad_missing missing;
    int divided;   /* each rank of the call reads its own rows */
    size_t memory; /* as for broad__parsed_divides() */
} broad__libsvm_request;

int broad__libsvm_is(const broad__source *source);

/* Labels become targets, qid the group if the options ask for it. `out_reader` serves messages about out's rows. */
int broad__libsvm_read(broad__parsed *out, broad__libsvm *out_reader, const broad__source *source,
                       const broad_read_options *options, const broad__libsvm_request *request);

#endif
