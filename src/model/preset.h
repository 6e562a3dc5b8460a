/* Presets: values of all settings to start from. */
#ifndef BROAD_MODEL_PRESET_H
#define BROAD_MODEL_PRESET_H

#include "broad/broad.h"

/* Sets every field that belongs to the preset, for the kind of the options; the others stay. */
void broad__preset_apply(broad_options *o, broad_preset preset);
/* The test that goes with the weights of the options, unless they have another than the kind's own. */
void broad__preset_test(broad_options *o);
/* How a layer is searched: what the test of the options has for itself, otherwise what the preset has. */
void broad__preset_search(broad_options *o);
/* What broad_options_init() gives: kind bscrls, preset auto. */
void broad__options_default(broad_options *out);

#endif
