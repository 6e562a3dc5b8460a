/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing beyond U+10FFFF. */
#ifndef BROAD_BASE_UTF8_H
#define BROAD_BASE_UTF8_H

#include <stddef.h>

/* Bytes of the UTF-8 character at `at`, of which `left` bytes can be read; 0: there is none. Overlong forms, surrogates
 * and numbers beyond U+10FFFF are not characters (RFC 3629). */
size_t broad__utf8_length(const char *at, size_t left);
/* Whether the bytes are characters, one after the other. */
int broad__utf8_valid(const char *bytes, size_t count);

/* 'text' in quotation marks for a message: cut to length, control characters and what is no character shown as '?'. Returns
 * out. */
enum { BROAD__QUOTE_BYTES = 64 };
const char *broad__utf8_quote(char out[BROAD__QUOTE_BYTES], const char *bytes, size_t count);

#endif
