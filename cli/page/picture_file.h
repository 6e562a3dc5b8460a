/* Photos from and to files, for looking at. Failures go through broad__fail(), as those of jobs must. */
#ifndef BROAD_CLI_PAGE_PICTURE_FILE_H
#define BROAD_CLI_PAGE_PICTURE_FILE_H

#include "broad/broad.h"
#include "image/image.h"

/* The upright photo, decoded so large that the part that was looked at has a longer side of `side`, where the photo has as
 * much. What is left of a damaged one is taken: the reader has decided before that it counts. */
int cli_photo_decode(broad__image *out, const broad_photo *photo, size_t side);
int cli_photo_is_cropped(const broad_photo *photo); /* whether it was not looked at as a whole */
/* Of the photo as it was decoded: the part that was looked at, with a longer side of at most `side`. */
int cli_photo_part(broad__image *out, const broad__image *whole, const broad_photo *photo, size_t side);
/* The whole photo likewise, with a frame around that part where it is not all. */
int cli_photo_framed(broad__image *out, const broad__image *whole, const broad_photo *photo, size_t side);

int cli_picture_write(const char *path, const broad__image *picture, int quality); /* JPEG; the file must be new */

#endif
