/* A model as one file of C99: constants and loops, without allocation, state or any library but libm. */
#ifndef BROAD_EXPORT_C_SOURCE_H
#define BROAD_EXPORT_C_SOURCE_H

#include "export/flat.h"

/* The text, with a NUL that is not counted, freed with broad__free(). options: checked, and with their defaults. */
int broad__c_source(char **out, size_t *out_bytes, broad_exported *about, const broad__flat *flat,
                    const broad_export_options *options);

#endif
