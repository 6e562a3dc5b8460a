/* Bytes of a file in the making. The first failure stays, and what is added after it does nothing. */
#ifndef BROAD_EXPORT_DRAFT_H
#define BROAD_EXPORT_DRAFT_H

#include <stddef.h>

/* Begins zeroed. */
typedef struct broad__draft {
    char *bytes;
    size_t count, capacity;
    int status;
} broad__draft;

void broad__draft_bytes(broad__draft *draft, const void *bytes, size_t count);
void broad__draft_text(broad__draft *draft, const char *text);
void broad__draft_print(broad__draft *draft, const char *format, ...) __attribute__((format(printf, 2, 3)));
void broad__draft_clear(broad__draft *draft);
/* Hands the bytes over, with a NUL behind them that is not counted; or fails, and clears it. */
int broad__draft_give(void **out, size_t *out_bytes, broad__draft *draft);

#endif
