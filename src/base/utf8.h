/* Characters of UTF-8. */
#ifndef BROAD_BASE_UTF8_H
#define BROAD_BASE_UTF8_H

#include <stddef.h>

/* Bytes of the UTF-8 character at `at`, of which `left` bytes can be read; 0: there is none. Overlong forms, surrogates
 * and numbers beyond U+10FFFF are not characters (RFC 3629). */
size_t broad__utf8_length(const char *at, size_t left);

#endif
