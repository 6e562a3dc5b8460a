/* Which pictures belong together, being copies, near-copies or crops of each other. */
#ifndef BROAD_IMAGE_PRINT_GROUP_H
#define BROAD_IMAGE_PRINT_GROUP_H

#include "image/print/print.h"

/* out[i] is the first of the pictures that picture i belongs with; i where it stands alone. Belonging is passed on: of a
 * and b, b and c alike, all three are one group. Below 2^32 pictures. */
int broad__group_prints(size_t *out, const broad__print *prints, size_t count);

#endif
