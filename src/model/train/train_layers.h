/* Adding layers to a network that is being built, and what ends that. */
#ifndef BROAD_MODEL_TRAIN_TRAIN_LAYERS_H
#define BROAD_MODEL_TRAIN_TRAIN_LAYERS_H

#include "model/train/trainer.h"

/* Tells the progress function, if there is one; non-zero: it asks to stop. */
int broad__trainer_report(broad_trainer *trainer, const char *stage, size_t draws);

/* A layer to be added: its K starts with the nodes of `groups` groups from `first_group` on. */
typedef struct broad__layer_request {
    size_t nodes;
    broad__origin origin;
    size_t first_group, groups;
    int another; /* one with as many nodes follows, and no groups of its own */
} broad__layer_request;

/* Adds one; trainer->found says what the search for it came to. Without a chain its nodes are all kept, and no search
 * is made. */
int broad__trainer_add_layer(broad_trainer *trainer, const broad__layer_request *request);
/* Adds `layers` layers of `nodes` nodes each, as far as they pass and no rule for stopping is met. */
int broad__trainer_add_layers(broad_trainer *trainer, size_t nodes, size_t layers, broad__origin origin);

/* Looked at before each layer. 0: go on, 1: the run is over and the outcome set, or a status. */
int broad__trainer_run_over(broad_trainer *trainer, size_t next_nodes);
/* The same after a layer was searched; a request to stop after the last one changes nothing. */
int broad__trainer_layer_over(broad_trainer *trainer, int last);

#endif
