/* A scratch folder of a suite: `folder` between make_folder() and drop_folder(), its set-up and tear-down. */
#ifndef BROAD_TESTS_SUPPORT_FOLDER_H
#define BROAD_TESTS_SUPPORT_FOLDER_H

#include "helper.h"

static char folder[HELPER_PATH];

static inline int make_folder(void **state)
{
    (void)state;
    temporary_folder(folder);
    return 0;
}

static inline int drop_folder(void **state)
{
    (void)state;
    remove_folder(folder);
    return 0;
}

#endif
