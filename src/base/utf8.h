/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing beyond U+10FFFF. */
#ifndef BROAD_BASE_UTF8_H
#define BROAD_BASE_UTF8_H

#include <stddef.h>

/* The number of bytes of the character at `text`, where `count` bytes are left; 0: there is no valid one. */
size_t broad__utf8_length(const char *text, size_t count);
int broad__utf8_valid(const char *text, size_t count);

/* 'text' in quotation marks for a message: cut to length, control characters and what is no character shown as '?'. Returns
 * out. */
enum { BROAD__QUOTE_BYTES = 64 };
const char *broad__utf8_quote(char out[BROAD__QUOTE_BYTES], const char *text, size_t count);

#endif
