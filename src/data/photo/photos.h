/* Tables from photos: files, folders, their labels, groups of near-duplicates. */
#ifndef BROAD_DATA_PHOTO_PHOTOS_H
#define BROAD_DATA_PHOTO_PHOTOS_H

#include "data/read.h"

/* As broad_data_read_photos() tells. `how` is options->photos, settled; options->model is not looked at here: `columns` is
 * what it was trained on, or NULL. */
int broad__read_photos(broad_data **out, const char *const *paths, size_t count, const broad_read_options *options,
                       const broad_photo_options *how, const broad__columns *columns);

#endif
