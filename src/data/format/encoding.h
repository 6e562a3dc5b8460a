/* Text that is not UTF-8, as other programs write it: UTF-16 with a byte-order mark, and Windows-1252 (with it Latin-1). */
#ifndef BROAD_DATA_FORMAT_ENCODING_H
#define BROAD_DATA_FORMAT_ENCODING_H

#include "data/format/source.h"
#include "data/notes.h"
#include "data/text.h"

/* The source becomes UTF-8 if it begins with the mark of UTF-16; otherwise it stays as it is. */
int broad__encoding_wide(broad__source *source, broad__notes *notes);

/* The source becomes UTF-8; *out: 0 if it is that already, or no text. Each byte is a character of Windows-1252. */
int broad__encoding_bytes(int *out, broad__source *source, broad__notes *notes);

/* The bytes that a text of such a source had, without a zero at the end; `out` has room for text.count bytes. *out_count: how many;
 * 0 where some of its characters stand for bytes without a character. */
void broad__encoding_back(char *out, size_t *out_count, broad__text text);

#endif
