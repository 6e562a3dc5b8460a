/* What a file is, from its first bytes. */
#ifndef BROAD_DATA_DETECT_H
#define BROAD_DATA_DETECT_H

#include <stddef.h>

typedef enum broad__content {
    BROAD__CONTENT_UNKNOWN,
    BROAD__CONTENT_TABLE,   /* text, NPY, IDX, or gzip of any of them */
    BROAD__CONTENT_PICTURE, /* or a video; `what` says of which format: "a GIF picture" */
    BROAD__CONTENT_FOREIGN  /* a table or document that is not read; `what` says of which format, and what to do */
} broad__content;

typedef struct broad__detected {
    broad__content content;
    const char *what; /* static text; NULL: nothing to say */
} broad__detected;

enum { BROAD__DETECT_BYTES = 16 }; /* are enough */

broad__detected broad__data_detect(const void *bytes, size_t count);

/* Fails for a file that is known to be no table. */
int broad__data_refuse(const char *name, const void *bytes, size_t count);

#endif
