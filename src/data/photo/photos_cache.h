/*
 * Prepared photos on disk: a file for each, found by the content of the photo and all that its rows depend on. What is
 * damaged or cannot be read or written is as good as not there; nothing here fails but for lack of memory.
 */
#ifndef BROAD_DATA_PHOTO_PHOTOS_CACHE_H
#define BROAD_DATA_PHOTO_PHOTOS_CACHE_H

#include "data/photo/photos_prepare.h"

/* Makes the folder where it is missing. */
int broad__photo_cache_open(broad__photo_cache **out, const char *folder);
/* Removes the oldest entries where they take more than `most` bytes together. Accepts NULL. */
void broad__photo_cache_close(broad__photo_cache *cache, size_t most);

/* The entry `key`; nothing (maps 0) where there is none that is whole. `side` of the pixels is part of the key. */
int broad__photo_cache_load(broad__prepared *out, broad__photo_cache *cache, const char key[BROAD__HASH_TEXT],
                            size_t side);
void broad__photo_cache_store(broad__photo_cache *cache, const char key[BROAD__HASH_TEXT],
                              const broad__prepared *prepared, size_t side);

/* The bytes of an entry: nothing (maps 0) where they are not whole. Of those written, a block for broad__free(); NULL: out of
 * memory. */
int broad__photo_entry_decode(broad__prepared *out, const void *bytes, size_t count, size_t side);
void *broad__photo_entry_encode(size_t *out_bytes, const broad__prepared *prepared, size_t side);

#endif
