/* Libraries that are loaded when they are asked for, so that nothing depends on what they need. */
#ifndef BROAD_BASE_PLUGIN_H
#define BROAD_BASE_PLUGIN_H

#include <stddef.h>

enum { BROAD__PLUGIN_REASON = 512 };

/* The address of `symbol` in the library `name`, such as "libbroad-cuda.so": of the folder that the environment variable
 * BROAD_PLUGINS names, beside the program or the library that asks, or where they are installed. NULL where it cannot be
 * loaded: `reason`, of BROAD__PLUGIN_REASON bytes, says why. It stays loaded. */
void *broad__plugin_symbol(char *reason, const char *name, const char *symbol);

#endif
