#include "base/plugin.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef BROAD_PLUGIN_FOLDER
#define BROAD_PLUGIN_FOLDER "/usr/local/lib/broad"
#endif

/* The library of one folder; NULL with a reason. A folder without it gives none. */
static void *open_in(char *reason, const char *folder, const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path || access(path, F_OK) != 0) return NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) snprintf(reason, BROAD__PLUGIN_REASON, "%s", dlerror());
    return library;
}

/* The folder of the program or library that this code is in. */
static int own_folder(char out[PATH_MAX])
{
    Dl_info info;
    static const char here = 0;
    if (!dladdr(&here, &info) || !info.dli_fname || !realpath(info.dli_fname, out)) return 0;
    char *slash = strrchr(out, '/');
    if (!slash) return 0;
    *slash = 0;
    return 1;
}

void *broad__plugin_symbol(char *reason, const char *name, const char *symbol)
{
    char own[PATH_MAX];
    const char *named = secure_getenv("BROAD_PLUGINS");
    snprintf(reason, BROAD__PLUGIN_REASON, "%s is not installed", name);
    void *library = named ? open_in(reason, named, name) : NULL;
    if (!library && !named && own_folder(own)) library = open_in(reason, own, name);
    if (!library && !named) library = open_in(reason, BROAD_PLUGIN_FOLDER, name);
    if (!library) return NULL;
    void *found = dlsym(library, symbol);
    if (!found) snprintf(reason, BROAD__PLUGIN_REASON, "%s has no %s: it is not part of this version", name, symbol);
    return found;
}
