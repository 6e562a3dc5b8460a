/* The feature groups of a network that is being built: made, then drawn, sampled or fitted. */
#ifndef BROAD_MODEL_TRAIN_FEATURES_H
#define BROAD_MODEL_TRAIN_FEATURES_H

#include "feature/sample.h"
#include "model/train/trainer.h"

/* Allocates one more group, without weights; it counts only once model->group_count says so. */
int broad__model_make_group(broad_model *model, broad__weight_source source, size_t nodes);
/* The groups that the model's settings ask for, without weights. */
int broad__model_make_groups(broad_model *model);
/* All groups get so many nodes each, to be filled. */
int broad__model_resize_groups(broad_model *model, size_t nodes);
broad__direction broad__style_direction(broad__style style, size_t group);
/* Gives group number `index` its weights. */
int broad__trainer_fill_group(broad_trainer *trainer, size_t index);
/* The same for all groups. */
int broad__trainer_fill_groups(broad_trainer *trainer);
/* Gives every group the range of `step` and new weights, and recomputes Z. context: the trainer. */
int broad__trainer_draw_features(void *context, size_t step);

#endif
