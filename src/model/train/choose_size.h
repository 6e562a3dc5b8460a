/*
 * How many feature nodes a network of preset `auto` gets, where supervision decides what enters it.
 *
 * On a sample of the rows the nodes are doubled, 400, 800, 1,600, as long as leave-one-out of the joint ridge over all
 * of them falls by more than a small part, and by more than its spread from row to row; each step adds to the sums and the factor of the one before. More rows than
 * the sample warrant more nodes, but not in proportion (broad__size_features). The result depends on the rows and the
 * options alone.
 */
#ifndef BROAD_MODEL_TRAIN_CHOOSE_SIZE_H
#define BROAD_MODEL_TRAIN_CHOOSE_SIZE_H

#include "model/train/trainer.h"

/* After the pilot, before the groups are filled: they get their final number of nodes. Leaves networks alone whose size
 * was given, or that have no supervision. */
int broad__trainer_choose_size(broad_trainer *trainer, const broad_data *data);

#endif
