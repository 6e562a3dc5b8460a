/* Photos from and to files, for looking at. Failures go through broad__fail(), as those of jobs must. */
#ifndef BROAD_CLI_PAGE_PICTURE_FILE_H
#define BROAD_CLI_PAGE_PICTURE_FILE_H

#include "broad/broad.h"

/* The upright photo, decoded so large that the part that was looked at has a longer side of `side`, where the photo has as
 * much. What is left of a damaged one is taken: the reader has decided before that it counts. */
int cli_photo_decode(broad_picture **out, const broad_photo *photo, size_t side);
int cli_photo_is_cropped(const broad_photo *photo); /* whether it was not looked at as a whole */
/* Of the photo as it was decoded: the part that was looked at, with a longer side of at most `side`. */
int cli_photo_part(broad_picture **out, const broad_picture *whole, const broad_photo *photo, size_t side);
/* The whole photo likewise, with a frame around that part where it is not all. */
int cli_photo_framed(broad_picture **out, const broad_picture *whole, const broad_photo *photo, size_t side);

int cli_picture_write(const char *path, const broad_picture *picture, int quality); /* JPEG; the file must be new */

#endif
