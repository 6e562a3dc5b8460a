/* Text that is not UTF-8, as other programs write it: UTF-16 with a byte-order mark, and Windows-1252 (with it Latin-1). */
#ifndef BROAD_DATA_FORMAT_ENCODING_H
#define BROAD_DATA_FORMAT_ENCODING_H

#include "data/format/source.h"
#include "data/notes.h"

/* The source becomes UTF-8 if it begins with the mark of UTF-16; otherwise it stays as it is. */
int broad__encoding_wide(broad__source *source, broad__notes *notes);

/* The source becomes UTF-8; *out: 0 if it is that already. Each byte is a character of Windows-1252. */
int broad__encoding_bytes(int *out, broad__source *source, broad__notes *notes);

#endif
