/* Numbers as text that reads back as the same number. */
#ifndef BROAD_CLI_IO_REAL_TEXT_H
#define BROAD_CLI_IO_REAL_TEXT_H

#include <stddef.h>

enum { CLI_REAL_BYTES = 32 };

/* What printf's %.15g gives, or %.16g or %.17g where fewer digits would read back as another number. Returns the length. */
size_t cli_real_text(char out[CLI_REAL_BYTES], double value);

#endif
