/* Numbers as text that reads back as the same number. */
#ifndef BROAD_BASE_REAL_TEXT_H
#define BROAD_BASE_REAL_TEXT_H

#include <stddef.h>

enum { BROAD__REAL_BYTES = 32 };

/* What printf's %.15g gives, or %.16g or %.17g where fewer digits would read back as another number, with a decimal
 * point in every locale. Returns the length; there may be no NUL after it. */
size_t broad__real_text(char out[BROAD__REAL_BYTES], double value);

/* snprintf writes the decimal point of the caller's locale: whatever belongs to no plain number becomes one point. Returns
 * the length. */
size_t broad__plain_point(char *text);

#endif
