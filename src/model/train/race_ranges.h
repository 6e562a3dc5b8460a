/*
 * The ranges of feature nodes and of enhancement nodes, by the score of chains (layer/score.h).
 *
 * Layer 1 is looked at with pairs of ranges over six decades. Which pair has the best layer 1 says little about the chain
 * that follows from it: nodes of a small range are nearly linear, and soon there is nothing left that they can learn. So
 * the best pairs race: each goes on for some layers, and the best of them for more.
 */
#ifndef BROAD_MODEL_TRAIN_RACE_RANGES_H
#define BROAD_MODEL_TRAIN_RACE_RANGES_H

#include "model/train/trainer.h"

/* Ranges of both kinds of nodes, and what a network with them is judged by: less is better. */
typedef struct broad__ranges {
    double features, nodes, value;
} broad__ranges;

/* The unit of a grid for nodes with this many inputs: absolute ranges are divided by the root of their number, since a
 * node's argument grows with it. */
double broad__ranges_unit(const broad_options *options, size_t inputs);
/* Puts the ranges in force, and draws the features with theirs. */
int broad__ranges_use(broad_trainer *trainer, double features, double nodes);
/* What a layer (from 0) with the ranges in force is judged by, with just enough nodes to tell ranges apart: its
 * leave-one-out norm, or the score where layers are kept by it. */
int broad__ranges_judge(double *out, broad_trainer *trainer, size_t layer);

/* The best pair, on the trainer's training rows; also where time was up, of those tried so far. The chain is as it was
 * afterwards. */
int broad__ranges_race(broad__ranges *best, broad_trainer *trainer);

#endif
