/* Which photo maps become the inputs of a network. */
#ifndef BROAD_MODEL_TRAIN_CHOOSE_PHOTO_MAPS_H
#define BROAD_MODEL_TRAIN_CHOOSE_PHOTO_MAPS_H

#include "model/model.h"

/* Each map alone and all together, as components, by the least leave-one-out error that the first trials of the
 * pilot find (broad__pilot_glance()): the best one alone if it is better by more than chance, else
 * all. Of many rows some are used. */
int broad__choose_maps(broad_map_choice *out, const broad_data *data, const broad_options *options);

#endif
