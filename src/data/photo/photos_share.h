/* Photos that several ranks read together (comm/comm.h): each decodes some of them, and all get what came of all. */
#ifndef BROAD_DATA_PHOTO_PHOTOS_SHARE_H
#define BROAD_DATA_PHOTO_PHOTOS_SHARE_H

#include "data/photo/photos_list.h"
#include "data/photo/photos_prepare.h"

/* Which files of a list this rank decodes: so many, every step-th from the first on, since neighbours are alike in size. */
void broad__photos_share_own(size_t *out_first, size_t *out_step, size_t *out_count, size_t files);

/* All of these are called by all ranks. BROAD_BAD_DATA: the ranks have met different files in the folders, named by `path`. */
int broad__photos_share_check(const broad__photo_list *list, const char *path);
/* What the other ranks have made of their files, and their reasons for leaving some out. inputs: of a row. */
int broad__photos_share(broad__prepared *prepared, char **reasons, size_t count, size_t inputs);

#endif
