/*
 * Opening a trainer: on a new network, or on one that was trained before. Replaying the layers in the order in which
 * they came gives the same Z and E, bit for bit, as the run that made them.
 */
#ifndef BROAD_MODEL_TRAIN_TRAIN_OPEN_H
#define BROAD_MODEL_TRAIN_TRAIN_OPEN_H

#include "model/train/trainer.h"

int broad__trainer_open(broad_trainer **out, const broad_data *data, const broad_options *options);
/* No more than how well a network with these options could tell the rows: broad__pilot_glance(). */
int broad__trainer_glance(double *out, const broad_data *data, const broad_options *options);
/* data NULL: only forgetful learning is possible. force: other rows than those the model was trained on are accepted.
 * */
int broad__trainer_resume(broad_trainer **out, const broad_model *model, const broad_data *data,
                          const broad_options *run, int force);
/* The same with the storage given, whatever the options say about memory. Its spill is taken over. */
int broad__trainer_open_stored(broad_trainer **out, const broad_data *data, const broad_options *options,
                               const broad__storage *storage);
int broad__trainer_resume_stored(broad_trainer **out, const broad_model *model, const broad_data *data,
                                 const broad_options *run, int force, const broad__storage *storage);
int broad__trainer_validate(broad_trainer *trainer, const broad_data *rows);
void broad__trainer_close(broad_model **out, broad_trainer *trainer);

/* Takes it back to a model it had, and to the first `parts` parts of its training rows. */
int broad__trainer_return(broad_trainer *trainer, const broad_model *model, size_t parts);
/* Recomputes Z and E of both row sets from the rows they have. */
int broad__trainer_rebuild(broad_trainer *trainer);

#endif
