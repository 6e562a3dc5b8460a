/* Presets: values of all settings to start from. */
#ifndef BROAD_MODEL_PRESET_H
#define BROAD_MODEL_PRESET_H

#include "broad/broad.h"

/* Sets every field that belongs to the preset, for the kind of the options; the others stay. */
void broad__preset_apply(broad_options *o, broad_preset preset);
/* What broad_options_init() gives: kind bscrls, preset auto. */
void broad__options_default(broad_options *out);

#endif
