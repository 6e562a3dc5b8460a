/*
 * What stands between photos as they were read and the rows that a network is trained on: the choice of maps by
 * leave-one-out, and principal components in the place of their inputs. Which of these are due, a table knows from its
 * reader (broad__photo_plan).
 */
#ifndef BROAD_MODEL_TRAIN_PREPARE_PHOTOS_H
#define BROAD_MODEL_TRAIN_PREPARE_PHOTOS_H

#include "model/train/trainer.h"

/* Whether something is due. */
int broad__photos_due(const broad_data *data);

/* *out is the table to be trained on, or NULL where `data` is one already. choice->count is 0 where nothing was chosen.
 * */
int broad__photos_settle(broad_data **out, broad_map_choice *choice, const broad_data *data,
                         const broad_options *options);
/* Further rows, read in the same way, with the maps and components of `like`; *out is NULL where they have them
 * already. */
int broad__photos_follow(broad_data **out, const broad_data *data, const broad_data *like, size_t threads);

/* As broad__trainer_open(), for rows that may be photos with something due: the trainer then owns its own table. */
int broad__trainer_open_photos(broad_trainer **out, const broad_data *data, const broad_options *options);
int broad__trainer_validate_photos(broad_trainer *trainer, const broad_data *rows);

#endif
