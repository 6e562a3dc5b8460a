/*
 * A file of C99 in the making: code from templates, and tables, whose bytes are counted.
 *
 * In a template @ stands for the prefix of all names with its underscore, $ for the same in capitals, ` for the nodes that
 * it is about.
 */
#ifndef BROAD_EXPORT_C_FILE_H
#define BROAD_EXPORT_C_FILE_H

#include "broad/broad.h"
#include "export/draft.h"

enum { BROAD__C_NAME_MOST = 40 };

typedef struct broad__c_file {
    broad__draft draft;
    const char *name;
    char upper[BROAD__C_NAME_MOST + 1];
    const char *nodes; /* "feature" or "layer" */
    broad_export_precision precision;
    size_t table_bytes; /* of all tables so far; a pointer counts four bytes */
} broad__c_file;

/* BROAD_USAGE: the name is no identifier of C, or too long. */
int broad__c_file_begin(broad__c_file *out, const char *name, broad_export_precision precision);
size_t broad__c_real_bytes(const broad__c_file *file); /* of a number in the file's precision */

void broad__c_code(broad__c_file *file, const char *template_text);
/* One #define-like constant: enum { $NAME = value }; name without prefix. */
void broad__c_count(broad__c_file *file, const char *name, size_t value);

/* static const tables called @name; an empty one has one zero. */
void broad__c_reals(broad__c_file *file, const char *name, const double *values, size_t count);
void broad__c_sizes(broad__c_file *file, const char *name, const size_t *values,
                    size_t count); /* unsigned, as small as fits */
void broad__c_bytes(broad__c_file *file, const char *name, const signed char *values, size_t count);
/* A number of the file's precision, as it stands in code. */
void broad__c_real(broad__c_file *file, double value);
/* A literal with its quotes. */
void broad__c_string(broad__c_file *file, const char *text);

#endif
