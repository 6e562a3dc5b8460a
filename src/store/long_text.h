/*
 * The description of a model is one text among the metadata, and nearly all of the header. It is taken out before the header is
 * parsed: a parser goes through a text several times over, byte by byte, and this one is parsed once more afterwards.
 */
#ifndef BROAD_STORE_LONG_TEXT_H
#define BROAD_STORE_LONG_TEXT_H

#include <stddef.h>

/* Sets *out_text to what the JSON string at `first` says, behind its opening quote, and *out_rest to the JSON without it: an empty
 * string is in its place. Both are freed with broad__free(); *out_text is NULL where the string is left to the parser: it does not
 * end, is not UTF-8, or has characters or escapes that are rare. */
int broad__long_text_take(char **out_text, char **out_rest, size_t *out_rest_bytes, const char *json, size_t bytes,
                          size_t first);

#endif
